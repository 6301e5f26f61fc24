// A kernel matrix whose rows are made when they are first read, by whichever thread reads one first, and then kept.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "base/buffer.hpp"
#include "solvers/block/scans.hpp"

namespace ordsvm::together {

/// Memory for rows, a chunk of several at a time, each twice as large as the one before: few rows touch little of it,
/// and many lie on huge pages.
class RowMemory {
 public:
  /// All memory is free again; rows have so many bytes, a multiple of 64, from now on.
  void start(Index row_bytes) {
    row_bytes_ = row_bytes;
    next_chunk_ = 0;
    left_ = 0;
  }

  std::byte* take() {
    const std::lock_guard lock(mutex_);
    while (left_ < row_bytes_) {
      if (next_chunk_ == chunks_.size()) chunks_.emplace_back(std::max(row_bytes_, next_bytes()));
      at_ = chunks_[next_chunk_].data();
      left_ = chunks_[next_chunk_++].size();
    }
    left_ -= row_bytes_;
    return std::exchange(at_, at_ + row_bytes_);
  }

 private:
  static constexpr Index first_bytes = Index{1} << 17, most_bytes = Index{1} << 24;
  Index next_bytes() const { return chunks_.empty() ? first_bytes : std::min(most_bytes, 2 * chunks_.back().size()); }

  std::mutex mutex_;
  std::vector<Buffer<std::byte>> chunks_;
  std::size_t next_chunk_ = 0;
  std::byte* at_ = nullptr;
  Index row_bytes_ = 64, left_ = 0;
};

/// K in double and, if `has_rounded`, rounded to float; rows are padded to whole vectors by 0.
class LazyRows {
 public:
  /// Of a problem that is worked on as one set. A small set would have the rows of all of its samples made.
  static constexpr Index max_whole_size = 1024;

  /// Writes row i, without the padding.
  using Make = std::function<void(Index i, double* out)>;

  explicit LazyRows(bool has_rounded) : has_rounded_(has_rounded) {}

  /// Leaves all rows behind: from now on they are of a matrix with this diagonal, made by `make`.
  void start(std::vector<double>&& diagonal, double roundings, Make make) {
    n_ = static_cast<Index>(diagonal.size());
    stride_ = block::padded(n_);
    diagonal_ = std::move(diagonal);
    roundings_ = roundings;
    make_ = std::move(make);
    largest_ = 0.0;
    for (const double value : diagonal_) largest_ = std::max(largest_, std::abs(value));
    if (n_ > capacity_) rows_ = std::make_unique<std::atomic<double*>[]>(capacity_ = n_);
    for (Index i = 0; i < n_; ++i) rows_[i].store(nullptr, std::memory_order_relaxed);
    memory_.start(stride_ * static_cast<Index>(sizeof(double) + (has_rounded_ ? sizeof(float) : 0)));
    made_ = 0;
  }

  Index size() const { return n_; }
  Index stride() const { return stride_; }
  double largest() const { return largest_; }
  double roundings() const { return roundings_; }
  double diagonal(Index i) const { return diagonal_[i]; }
  Index made() const { return made_; }

  const double* row_as(Index i, double) const {
    const double* const row = rows_[i].load(std::memory_order_acquire);
    return row != nullptr && row != &busy_ && row != &failed_ ? row : make(i);
  }
  /// The rounded row follows.
  const float* row_as(Index i, float) const { return reinterpret_cast<const float*>(row_as(i, double()) + stride_); }

 private:
  const double* make(Index i) const {
    for (double* found = nullptr; !rows_[i].compare_exchange_weak(found, &busy_, std::memory_order_acquire);
         found = nullptr) {
      if (found == &failed_) throw std::bad_alloc();  // nothing else fails
      if (found != nullptr && found != &busy_) return found;
      std::this_thread::yield();  // a row takes microseconds
    }
    double* row = nullptr;
    try {
      row = reinterpret_cast<double*>(memory_.take());
      make_(i, row);
    } catch (...) {
      rows_[i].store(&failed_, std::memory_order_release);
      throw;
    }
    std::fill(row + n_, row + stride_, 0.0);
    if (has_rounded_)
      std::transform(row, row + stride_, reinterpret_cast<float*>(row + stride_),
                     [](double x) { return static_cast<float>(x); });
    ++made_;
    rows_[i].store(row, std::memory_order_release);
    return row;
  }

  bool has_rounded_;
  Index n_ = 0, stride_ = 0, capacity_ = 0;
  double largest_ = 0.0, roundings_ = 0.0;
  std::vector<double> diagonal_;
  Make make_;
  std::unique_ptr<std::atomic<double*>[]> rows_;  // null before they are made; or busy_, or failed_
  mutable RowMemory memory_;
  mutable std::atomic<Index> made_ = 0;
  mutable double busy_ = 0.0, failed_ = 0.0;  // their addresses are marks
};

}  // namespace ordsvm::together
