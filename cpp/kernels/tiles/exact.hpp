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

/// out += weight @ K[support], for a source with features that fits tiles. `support` has nobody twice. Samples that
/// `left_out` names, unless it is empty, are left out; they are none of the support. Every sum has its order whatever the
/// number of threads. False if it was asked to stop.
bool add_exact_product(const RowSource& source, std::span<const Index> support, std::span<const double> weight,
                       std::span<double> out, Crew& crew, const Ask& ask, std::span<const char> left_out = {});

}  // namespace ordsvm::tiles
