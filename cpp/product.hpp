// f = K beta in double, from rows of K made for the purpose and thrown away.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels.hpp"
#include "monitor.hpp"
#include "simd.hpp"

namespace ordsvm {

/// out = K @ beta over the support vectors (beta_i != 0). False if the monitor asked to stop on the way.
inline bool product(const RowSource& source, std::span<const double> beta, std::span<double> out, Monitor& monitor,
                    Index steps, Index kernel_rows) {
  std::vector<double> row(source.size());
  std::fill(out.begin(), out.end(), 0.0);
  for (Index i = 0; i < source.size(); ++i) {
    if (beta[i] == 0.0) continue;
    if (monitor.stop_now(steps, kernel_rows)) return false;
    source.row(i, std::span<double>(row));
    simd::add_row(out.data(), beta[i], row.data(), source.size());
  }
  return true;
}

}  // namespace ordsvm
