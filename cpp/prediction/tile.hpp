// Support vectors side by side, ready for vector instructions: a few of them at a time, so that they stay in a cache.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels.hpp"
#include "prediction/panel.hpp"

namespace ordsvm::prediction {

/// Dense support vectors: values[feature][lane].
template <class Compute, class T>
class Tile {
 public:
  explicit Tile(const DenseView<T>& support) : support_(support), values_(support.n_columns * lanes<Compute>) {}

  /// Takes `count` support vectors from `first` on; the last of them stands in the lanes left over.
  void take(Index first, Index count) {
    const T* const from = support_.values + first * support_.n_columns;
    for (Index lane = 0; lane < lanes<Compute>; ++lane) {
      const T* const x = from + std::min(lane, count - 1) * support_.n_columns;
      for (Index j = 0; j < support_.n_columns; ++j) values_[j * lanes<Compute> + lane] = static_cast<Compute>(x[j]);
    }
  }

  /// out[row][lane] for `count` samples from `first` on.
  void reduce(simd::Reduction reduction, const DenseView<T>& samples, Index first, Index count, Compute* out) const {
    reduce_panel(reduction, {samples.values + first * samples.n_columns, count, samples.n_columns}, values_.data(),
                 out);
  }

 private:
  DenseView<T> support_;
  std::vector<Compute> values_;
};

/// CSR support vectors: values[slot][lane], a slot for every feature that one of them has. Features get their slots
/// anew for every tile, so that ten thousand words cost no more than those that occur.
///   |x-y|^2 = |x|^2 + |y|^2 - 2 x.y    |x-y|_1 = |x|_1 + |y|_1 - sum over shared features (|x| + |y| - |x-y|)
template <class T, class I>
class SparseTile {
 public:
  explicit SparseTile(const CsrView<T, I>& support) : support_(support), slot_(support.n_columns, absent) {}

  void take(Index first, Index count) {
    for (const I column : features_) slot_[column] = absent;
    features_.clear();
    for (I p = support_.starts[first]; p < support_.starts[first + count]; ++p) place(support_.columns[p]);
    values_.assign(features_.size() * lanes<double>, 0.0);
    for (Index lane = 0; lane < lanes<double>; ++lane) {
      const Index i = first + std::min(lane, count - 1);
      for (I p = support_.starts[i]; p < support_.starts[i + 1]; ++p)
        values_[slot_[support_.columns[p]] * lanes<double> + lane] = support_.values[p];
      squares_[lane] = norm(support_, i, [](double value) { return value * value; });
      absolutes_[lane] = norm(support_, i, [](double value) { return std::abs(value); });
    }
  }

  void reduce(simd::Reduction reduction, const CsrView<T, I>& samples, Index first, Index count, double* out) const {
    const double* const norm = reduction == simd::Reduction::manhattan ? absolutes_ : squares_;
    const SparseTileView tile{slot_.data(), values_.data(), norm};
    for (Index i = first; i < first + count; ++i, out += lanes<double>) {
      const I start = samples.starts[i];
      const SparseRow<T, I> row{samples.values + start, samples.columns + start, samples.starts[i + 1] - start};
      reduce_row(reduction, row, tile, out);
    }
  }

 private:
  static constexpr std::int32_t absent = -1;

  void place(I column) {
    if (slot_[column] != absent) return;
    slot_[column] = static_cast<std::int32_t>(features_.size());
    features_.push_back(column);
  }

  template <class Part>
  static double norm(const CsrView<T, I>& data, Index i, Part part) {
    double total = 0.0;
    for (I p = data.starts[i]; p < data.starts[i + 1]; ++p) total += part(data.values[p]);
    return total;
  }

  CsrView<T, I> support_;
  std::vector<std::int32_t> slot_;
  std::vector<I> features_;
  std::vector<double> values_;
  double squares_[lanes<double>], absolutes_[lanes<double>];
};

}  // namespace ordsvm::prediction
