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
  constexpr std::size_t block = 16;
  std::vector<Index> support;
  for (Index i = 0; i < source.size(); ++i)
    if (beta[i] != 0.0) support.push_back(i);
  std::vector<double> rows(std::min(block, support.size()) * source.size());
  std::fill(out.begin(), out.end(), 0.0);
  for (std::size_t begin = 0; begin < support.size(); begin += block) {
    if (monitor.stop_now(steps, kernel_rows)) return false;
    const auto which = std::span(support).subspan(begin, std::min(block, support.size() - begin));
    source.rows(which, rows);
    for (std::size_t r = 0; r < which.size(); ++r)
      simd::add_row(out.data(), beta[which[r]], rows.data() + r * source.size(), source.size());
  }
  return true;
}

}  // namespace ordsvm
