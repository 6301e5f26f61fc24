// A part of K in double, for systems of equations.
#pragma once

#include <span>

#include "kernels/row_source.hpp"
#include "parallel/thread_pool.hpp"

namespace ordsvm::tiles {

/// out[r * columns.size() + c] = K[rows[r], columns[c]]
void fill_part(const RowSource& source, std::span<const Index> rows, std::span<const Index> columns,
               std::span<double> out, ThreadPool& pool);

}  // namespace ordsvm::tiles
