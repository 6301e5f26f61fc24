// Rows of K in double, divided among threads, unless a callable kernel makes them.
#pragma once

#include <algorithm>
#include <span>

#include "kernels/row_source.hpp"
#include "parallel/thread_pool.hpp"

namespace ordsvm {

/// out = K[which]
inline void many_rows(const RowSource& source, std::span<const Index> which, std::span<double> out, ThreadPool& pool) {
  const int n_parts = source.is_callable() ? 1 : static_cast<int>(std::min<std::size_t>(pool.size(), which.size()));
  pool.run(n_parts, [&](int t, int) {
    const Share share(which.size(), t, n_parts);
    const std::size_t begin = share.begin, count = share.end - share.begin, n = source.size();
    source.rows(which.subspan(begin, count), out.subspan(begin * n, count * n));
  });
}

}  // namespace ordsvm
