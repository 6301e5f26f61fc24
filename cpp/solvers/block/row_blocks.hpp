// Blocks of rows of K for the block method: products with all of K, and K of a working set.
#pragma once

#include <memory>
#include <span>

#include "base/monitor.hpp"
#include "kernels/row_cache.hpp"
#include "parallel/thread_pool.hpp"

namespace ordsvm::block {

/// T is the precision of kernel values; sums are in double. What stop_check ended returns false and leaves its
/// output incomplete.
template <class T>
class RowBlocks {
 public:
  virtual ~RowBlocks() = default;
  /// score += weight @ K[rows]
  virtual bool add_product(std::span<const Index> rows, std::span<const double> weight, std::span<double> score,
                           const StopCheck& stop_check) = 0;
  /// out[p * stride + q] = K[samples[p], samples[q]]; a row of `out` is padded to whole tiles.
  virtual bool gram(std::span<const Index> samples, T* out, Index stride, const StopCheck& stop_check) = 0;
  /// The same for a small set, if it is made faster than it is gathered from a larger part of K; else false. Such
  /// values are not counted: they were computed before. `alone`: by the calling thread only, beside others that do the
  /// same.
  virtual bool remake(std::span<const Index>, T*, Index, bool /*alone*/) { return false; }
  /// Values of K that were computed so far.
  virtual double values_computed() const = 0;
};

/// The fastest way for this source of rows. By measurement:
/// - A value computed costs 0.25 ns and 0.022 ns for every feature of a row (AVX-512, 3.7 GHz); one that is read from
///   memory 0.5 ns. So rows of up to two dozen features are never kept.
/// - Rows that are longer are kept in `cache`, first come, first served. To gather K of a small set from a working set
///   whose K is larger than a cache reads a line of memory for a value: it takes as long as to make values of 64 to 100
///   features.
/// - Where the source has nothing but rows, or tiles would not fit into a cache, whole rows are computed and kept.
/// Tiles are made once where they take at most a quarter of the cache's budget, else whenever they are needed.
template <class T>
std::unique_ptr<RowBlocks<T>> make_row_blocks(RowCache<T>& cache, ThreadPool& pool);

/// Bytes that these tiles take.
template <class T>
std::size_t kept_bytes(const RowCache<T>& cache);

extern template std::size_t kept_bytes(const RowCache<float>&);
extern template std::size_t kept_bytes(const RowCache<double>&);
extern template std::unique_ptr<RowBlocks<float>> make_row_blocks(RowCache<float>&, ThreadPool&);
extern template std::unique_ptr<RowBlocks<double>> make_row_blocks(RowCache<double>&, ThreadPool&);

}  // namespace ordsvm::block
