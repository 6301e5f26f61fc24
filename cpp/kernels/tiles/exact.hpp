// f = K beta in double, for the proof at the end of every solver.
//
// K is symmetric, so between support vectors every value is computed once and used twice: for the scores of the tile's
// samples and, across the lanes, for those of the rows.
#pragma once

#include <span>

#include "base/monitor.hpp"
#include "kernels/row_source.hpp"
#include "parallel/thread_pool.hpp"

namespace ordsvm::tiles {

/// out += weight @ K[support], for a source with features that fits tiles. `support` has no duplicates. Samples that
/// `left_out` marks, unless it is empty, are left out; none of them is in `support`. The order of every sum does not
/// depend on the number of threads. False if stop_check ended it.
bool add_exact_product(const RowSource& source, std::span<const Index> support, std::span<const double> weight,
                       std::span<double> out, ThreadPool& pool, const StopCheck& stop_check,
                       std::span<const char> left_out = {});

}  // namespace ordsvm::tiles
