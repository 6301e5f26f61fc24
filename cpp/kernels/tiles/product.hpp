// f = K beta in double: fused where the samples are known (block/exact.hpp), else from rows of K made for the purpose.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "base/monitor.hpp"
#include "kernels/many_rows.hpp"
#include "kernels/row_source.hpp"
#include "kernels/tiles/exact.hpp"
#include "kernels/tiles/samples.hpp"
#include "simd/loops.hpp"

namespace ordsvm {

/// out += K[:, support] @ beta[support], a few rows at a time: the threads make rows, then each of them adds all rows to
/// its part of `out`, so that sums do not depend on their number. before_block() returns true to stop.
template <class Ask>
void add_product(const RowSource& source, std::span<const double> beta, std::span<const Index> support,
                 std::span<double> out, Crew& crew, Ask before_block) {
  const std::size_t n = out.size(), block = 16 * crew.size();
  std::vector<double> rows(std::min(block, support.size()) * n);
  for (std::size_t begin = 0; begin < support.size(); begin += block) {
    if (before_block()) return;
    const auto which = support.subspan(begin, std::min(block, support.size() - begin));
    many_rows(source, which, rows, crew);
    crew.split(n, which.size() * n, [&](std::size_t first, std::size_t last) {
      for (std::size_t r = 0; r < which.size(); ++r)
        simd::add_row(out.data() + first, beta[which[r]], rows.data() + r * n + first, last - first);
    });
  }
}

/// out = K @ beta over the support vectors (beta_i != 0), which several threads divide among them where there are
/// enough; `crew` are threads that are there already. What comes out for samples that `left_out` names means nothing.
/// False if the monitor asked to stop on the way.
inline bool product(const RowSource& source, std::span<const double> beta, std::span<double> out, Monitor& monitor,
                    Index steps, Index kernel_rows, int n_threads = 1, Crew* crew = nullptr,
                    std::span<const char> left_out = {}) {
  std::vector<Index> support;
  for (Index i = 0; i < source.size(); ++i)
    if (beta[i] != 0.0) support.push_back(i);
  const auto ask = [&] { return monitor.stop_now(steps, kernel_rows); };
  std::fill(out.begin(), out.end(), 0.0);
  constexpr std::size_t worth_a_thread = 1 << 18;  // elements of K
  if (support.size() * out.size() < worth_a_thread * n_threads) n_threads = 1;
  std::optional<Crew> own;
  if (crew == nullptr) crew = &own.emplace(n_threads);
  if (tiles::fits_tiles(source)) {
    std::vector<double> weight(support.size());
    std::transform(support.begin(), support.end(), weight.begin(), [&](Index i) { return beta[i]; });
    tiles::add_exact_product(source, support, weight, out, *crew, ask, left_out);
  } else {
    add_product(source, beta, support, out, *crew, ask);
  }
  return !monitor.stopped();
}

}  // namespace ordsvm
