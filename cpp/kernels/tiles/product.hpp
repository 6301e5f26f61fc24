// f = K beta in double: fused where the source has features (exact.hpp), else from rows of K made for the purpose.
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

/// out += K[:, support] @ beta[support], a few rows at a time: the threads make rows, then each of them adds all rows
/// to its part of `out`, so that sums do not depend on their number. stop_check() is called before each group and
/// returns true to stop.
template <class Check>
void add_product(const RowSource& source, std::span<const double> beta, std::span<const Index> support,
                 std::span<double> out, ThreadPool& pool, Check stop_check) {
  const std::size_t n = out.size(), rows_at_once = 16 * pool.size();
  std::vector<double> rows(std::min(rows_at_once, support.size()) * n);
  for (std::size_t begin = 0; begin < support.size(); begin += rows_at_once) {
    if (stop_check()) return;
    const auto which = support.subspan(begin, std::min(rows_at_once, support.size() - begin));
    many_rows(source, which, rows, pool);
    pool.split(n, which.size() * n, [&](std::size_t first, std::size_t last) {
      for (std::size_t r = 0; r < which.size(); ++r)
        simd::add_row(out.data() + first, beta[which[r]], rows.data() + r * n + first, last - first);
    });
  }
}

/// out = K @ beta over the support vectors (beta_i != 0), which several threads divide among them where there are
/// enough; `pool` are threads to use, if there are any. The output for samples that `left_out` marks is undefined.
/// False if the monitor stopped it.
inline bool product(const RowSource& source, std::span<const double> beta, std::span<double> out, Monitor& monitor,
                    Index steps, Index kernel_rows, int n_threads = 1, ThreadPool* pool = nullptr,
                    std::span<const char> left_out = {}) {
  std::vector<Index> support;
  for (Index i = 0; i < source.size(); ++i)
    if (beta[i] != 0.0) support.push_back(i);
  const auto stop_check = [&] { return monitor.stop_now(steps, kernel_rows); };
  std::fill(out.begin(), out.end(), 0.0);
  constexpr std::size_t min_work_per_thread = 1 << 18;  // elements of K
  if (support.size() * out.size() < min_work_per_thread * n_threads) n_threads = 1;
  std::optional<ThreadPool> own;
  if (pool == nullptr) pool = &own.emplace(n_threads);
  if (tiles::fits_tiles(source)) {
    std::vector<double> weight(support.size());
    std::transform(support.begin(), support.end(), weight.begin(), [&](Index i) { return beta[i]; });
    tiles::add_exact_product(source, support, weight, out, *pool, stop_check, left_out);
  } else {
    add_product(source, beta, support, out, *pool, stop_check);
  }
  return !monitor.stopped();
}

}  // namespace ordsvm
