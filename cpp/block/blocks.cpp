#include "blocks.hpp"

#include "cached_blocks.hpp"
#include "stored_blocks.hpp"

namespace ordsvm::block {

template <class T>
std::unique_ptr<Blocks<T>> make_blocks(RowCache<T>& cache, Crew& crew) {
  const RowSource& source = cache.source();
  if (!fits_tiles(source)) return std::make_unique<CachedBlocks<T>>(cache);
  const double bytes = sizeof(T) * static_cast<double>(source.features()->n_columns) * source.size();
  const bool keep = bytes <= 0.25 * static_cast<double>(cache.budget());
  if (row_length(*source.features()) <= long_row) return std::make_unique<FusedBlocks<T>>(source, crew, keep);
  return std::make_unique<StoredBlocks<T>>(cache, crew, keep);
}

template std::unique_ptr<Blocks<float>> make_blocks(RowCache<float>&, Crew&);
template std::unique_ptr<Blocks<double>> make_blocks(RowCache<double>&, Crew&);

}  // namespace ordsvm::block
