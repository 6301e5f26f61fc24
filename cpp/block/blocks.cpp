#include "blocks.hpp"

#include "cached_blocks.hpp"
#include "stored_blocks.hpp"

namespace ordsvm::block {

template <class T>
std::unique_ptr<Blocks<T>> make_blocks(RowCache<T>& cache, Crew& crew, double budget) {
  const RowSource& source = cache.source();
  if (!fits_tiles(source)) return std::make_unique<CachedBlocks<T>>(cache);
  if (row_length(*source.features()) <= long_row) return std::make_unique<FusedBlocks<T>>(source, crew);
  return std::make_unique<StoredBlocks<T>>(source, crew, budget);
}

template std::unique_ptr<Blocks<float>> make_blocks(RowCache<float>&, Crew&, double);
template std::unique_ptr<Blocks<double>> make_blocks(RowCache<double>&, Crew&, double);

}  // namespace ordsvm::block
