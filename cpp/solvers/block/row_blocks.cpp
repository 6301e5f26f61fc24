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
std::unique_ptr<RowBlocks<T>> make_row_blocks(RowCache<T>& cache, ThreadPool& pool) {
  const RowSource& source = cache.source();
  if (!fits_tiles(source)) return std::make_unique<CachedRowBlocks<T>>(cache, pool);
  const bool keep = kept_bytes(cache) > 0;
  if (row_length(*source.features()) <= tiles::min_kept_row_length)
    return std::make_unique<FusedRowBlocks<T>>(source, pool, keep);
  return std::make_unique<StoredRowBlocks<T>>(cache, pool, keep);
}

template std::size_t kept_bytes(const RowCache<float>&);
template std::size_t kept_bytes(const RowCache<double>&);
template std::unique_ptr<RowBlocks<float>> make_row_blocks(RowCache<float>&, ThreadPool&);
template std::unique_ptr<RowBlocks<double>> make_row_blocks(RowCache<double>&, ThreadPool&);

}  // namespace ordsvm::block
