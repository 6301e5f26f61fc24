// A kernel matrix of which all values are in memory, as a search keeps it for all folds and all values of C.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "kernels/row_source.hpp"
#include "parallel/thread_pool.hpp"
#include "solvers/block/scans.hpp"

namespace ordsvm::full_kernel {

/// K in double and rounded to float; rows are padded to whole vectors by 0.
class FullKernel {
 public:
  static constexpr Index max_whole_size = 0;  // of a problem that is worked on as one set: none

  FullKernel(const RowSource& source, ThreadPool& pool);

  Index size() const { return n_; }
  Index stride() const { return stride_; }
  double largest() const { return largest_; }
  /// How far a value may be off, in roundings of the largest.
  double roundings() const { return 8.0; }
  double diagonal(Index i) const { return row(i)[i]; }
  const double* row(Index i) const { return values_.data() + i * stride_; }
  const double* row_as(Index i, double) const { return row(i); }
  const float* row_as(Index i, float) const { return rounded_.data() + i * stride_; }

 private:
  /// values_[first:first + count] = rows, and rounded.
  void take(Index first, Index count, const double* rows, ThreadPool& pool);

  Index n_, stride_;
  Buffer<double> values_;
  Buffer<float> rounded_;
  double largest_ = 0.0;
};

/// score += weight @ K[rows], for scores padded to whole vectors; Kernel: FullKernel, or whatever else has its rows.
template <class T, class Kernel>
void add_rows(const Kernel& kernel, std::span<const Index> rows, std::span<const double> weight, T* score) {
  const T* four[4];
  double with[4];
  for (std::size_t r = 0; r < rows.size(); r += 4) {
    for (std::size_t q = 0; q < 4; ++q) {
      const bool there = r + q < rows.size();
      four[q] = kernel.row_as(rows[there ? r + q : r], T());
      with[q] = there ? weight[r + q] : 0.0;
    }
    block::add_four(score, with, four, 0, kernel.stride());
  }
}

/// The samples that a vector moves, and by how much.
struct Change {
  std::vector<Index> rows;
  std::vector<double> weights;

  explicit Change(std::span<const double> moved) {
    for (std::size_t i = 0; i < moved.size(); ++i)
      if (moved[i] != 0.0) {
        rows.push_back(static_cast<Index>(i));
        weights.push_back(moved[i]);
      }
  }
};

}  // namespace ordsvm::full_kernel
