#include "solvers/full_kernel/full_kernel.hpp"

#include <numeric>

#include "kernels/tiles/part.hpp"

namespace ordsvm::full_kernel {
FullKernel::FullKernel(const RowSource& source, ThreadPool& pool)
    : n_(source.size()), stride_(block::padded(n_)), values_(n_ * stride_), rounded_(n_ * stride_) {
  constexpr Index part_bytes = 1 << 22;
  const Index part = std::clamp<Index>(part_bytes / static_cast<Index>(sizeof(double) * n_), 1, n_);
  std::vector<Index> all(n_);
  std::iota(all.begin(), all.end(), Index{0});
  std::vector<double> made(part * n_);
  for (Index begin = 0; begin < n_; begin += part) {
    const Index count = std::min(part, n_ - begin);
    tiles::fill_part(source, std::span<const Index>(all).subspan(begin, count), all, made, pool);
    take(begin, count, made.data(), pool);
  }
}

void FullKernel::take(Index first, Index count, const double* rows, ThreadPool& pool) {
  pool.split(count, count * n_, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      const double* row = rows + r * n_;
      std::copy_n(row, n_, values_.data() + (first + r) * stride_);
      std::transform(row, row + n_, rounded_.data() + (first + r) * stride_,
                     [](double x) { return static_cast<float>(x); });
    }
  });
  for (Index r = 0; r < count; ++r) largest_ = std::max(largest_, std::abs(rows[r * n_ + first + r]));
}

}  // namespace ordsvm::full_kernel
