#include "solvers/block/row_blocks.hpp"

#include "solvers/block/cached_row_blocks.hpp"
#include "solvers/block/stored_row_blocks.hpp"

namespace ordsvm::block {

using tiles::fits_tiles, tiles::row_length;

template <class T>
std::size_t kept_bytes(const RowCache<T>& cache) {
  const auto features = cache.source().features();
  if (!fits_tiles(cache.source())) return 0;
  const double packed = features->density < 1.0 ? (sizeof(T) + sizeof(SampleIndex)) * row_length(*features) : 0.0;
  const double bytes = (sizeof(T) * features->n_columns + packed) * cache.source().size();
  return bytes <= 0.25 * static_cast<double>(cache.budget()) ? static_cast<std::size_t>(bytes) : 0;
}

template <class T>
std::unique_ptr<Blocks<T>> make_blocks(RowCache<T>& cache, Crew& crew) {
  const RowSource& source = cache.source();
  if (!fits_tiles(source)) return std::make_unique<CachedBlocks<T>>(cache, crew);
  const bool keep = kept_bytes(cache) > 0;
  if (row_length(*source.features()) <= tiles::long_row) return std::make_unique<FusedBlocks<T>>(source, crew, keep);
  return std::make_unique<StoredBlocks<T>>(cache, crew, keep);
}

template std::size_t kept_bytes(const RowCache<float>&);
template std::size_t kept_bytes(const RowCache<double>&);
template std::unique_ptr<Blocks<float>> make_blocks(RowCache<float>&, Crew&);
template std::unique_ptr<Blocks<double>> make_blocks(RowCache<double>&, Crew&);

}  // namespace ordsvm::block
