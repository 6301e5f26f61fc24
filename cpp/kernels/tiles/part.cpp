#include "kernels/tiles/part.hpp"

#include <algorithm>
#include <vector>

#include "kernels/many_rows.hpp"
#include "kernels/tiles/samples.hpp"

namespace ordsvm::tiles {
namespace {

/// From whole rows, a few at a time, where there are no features: those of the shorter side, for K is symmetric.
void pick_from_rows(const RowSource& source, std::span<const Index> rows, std::span<const Index> columns, double* out,
                    ThreadPool& pool) {
  const bool turned = columns.size() < rows.size();
  const auto made = turned ? columns : rows, picked = turned ? rows : columns;
  const std::size_t n = source.size(), at_a_time = 16 * pool.size();
  std::vector<double> some(std::min(at_a_time, made.size()) * n);
  for (std::size_t begin = 0; begin < made.size(); begin += at_a_time) {
    const auto which = made.subspan(begin, std::min(at_a_time, made.size() - begin));
    many_rows(source, which, some, pool);
    for (std::size_t r = 0; r < which.size(); ++r)
      for (std::size_t p = 0; p < picked.size(); ++p)
        out[turned ? p * columns.size() + begin + r : (begin + r) * columns.size() + p] = some[r * n + picked[p]];
  }
}

}  // namespace

void fill_part(const RowSource& source, std::span<const Index> rows, std::span<const Index> columns,
               std::span<double> out, ThreadPool& pool) {
  if (!fits_tiles(source)) return pick_from_rows(source, rows, columns, out.data(), pool);
  constexpr Index width = lanes<double>, at_a_time = 64;
  const TiledSamples<double> samples(source, pool, false);
  const PackedRows<double> packed = samples.pack(rows);
  const Index n = static_cast<Index>(columns.size());
  std::vector<Scratch<double>> scratch = samples.scratches(pool.size());
  const int n_tasks = pool.n_tasks();
  pool.run(n_tasks, [&](int task, int thread) {
    std::vector<double> values(at_a_time * width);
    const Share share(TiledSamples<double>::tiles_for(n), task, n_tasks);
    for (Index t = share.begin; t < share.end; ++t) {
      const Index first = t * width, count = std::min(width, n - first);
      const Tile<double> tile = samples.tile(columns.subspan(first, count), scratch[thread]);
      for (Index begin = 0; begin < packed.count; begin += at_a_time) {
        const Index end = std::min(begin + at_a_time, packed.count);
        fill_values(samples.kernel(), tile, packed, begin, end, values.data(), width);
        for (Index r = begin; r < end; ++r)
          std::copy_n(values.data() + (r - begin) * width, count, out.data() + r * n + first);
      }
    }
  });
}

}  // namespace ordsvm::tiles
