// Support vectors side by side, ready for vector instructions: a few of them at a time, so that they stay in a cache.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/buffer.hpp"
#include "base/views.hpp"
#include "prediction/panel.hpp"

namespace ordsvm::prediction {

/// sum(x**2) of every row.
template <class T>
std::vector<double> square_norms(const DenseView<T>& data) {
  std::vector<double> norms(data.n_rows, 0.0);
  for (Index i = 0; i < data.n_rows; ++i)
    for (Index j = 0; j < data.n_columns; ++j) {
      const double value = data.values[i * data.n_columns + j];
      norms[i] += value * value;
    }
  return norms;
}

/// Norms of dense samples and support vectors, from which distances come if they serve; else they are empty.
struct Norms {
  std::vector<double> samples, support;
  bool serve() const { return !support.empty(); }
};

/// Dense support vectors: values[feature][lane].
template <class Compute, class T>
class SupportGroup {
 public:
  SupportGroup(const DenseView<T>& support, const Norms& norms)
      : support_(support), norms_(norms), values_(support.n_columns * lanes<Compute>) {}

  /// Takes `count` support vectors from `first` on; the last of them stands in the lanes left over.
  void take(Index first, Index count) {
    constexpr Index at_once = 64;  // features: what is written stays in the first-level cache until it is full
    const Index d = support_.n_columns;
    const auto row = [&](Index lane) { return first + std::min(lane, count - 1); };
    for (Index begin = 0; begin < d; begin += at_once)
      for (Index lane = 0; lane < lanes<Compute>; ++lane)
        for (Index j = begin; j < std::min(begin + at_once, d); ++j)
          values_.data()[j * lanes<Compute> + lane] = static_cast<Compute>(support_.values[row(lane) * d + j]);
    if (!norms_.serve()) return;
    for (Index lane = 0; lane < lanes<Compute>; ++lane) norm_[lane] = norms_.support[row(lane)];
  }

  /// out[row][lane] for `count` samples from `first` on.
  void reduce(simd::Reduction reduction, const DenseView<T>& samples, Index first, Index count, Compute* out) const {
    const DenseView<T> rows{samples.values + first * samples.n_columns, count, samples.n_columns};
    reduce_panel(norms_.serve() ? simd::Reduction::dot : reduction, rows, values_.data(), out);
    if (norms_.serve()) take_distances(norms_.samples.data() + first, count, norm_, out);
  }

 private:
  DenseView<T> support_;
  const Norms& norms_;
  Buffer<Compute> values_;
  double norm_[lanes<Compute>];
};

/// CSR support vectors: values[slot][lane], a slot for every feature that one of them has. Features get their slots
/// anew for every group, so that ten thousand words cost no more than those that occur.
///   |x-y|^2 = |x|^2 + |y|^2 - 2 x.y    |x-y|_1 = |x|_1 + |y|_1 - sum over shared features (|x| + |y| - |x-y|)
template <class T, class I>
class SparseSupportGroup {
 public:
  SparseSupportGroup(const CsrView<T, I>& support, const Norms&)
      : support_(support), slot_(support.n_columns, absent) {}

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
    const SparseGroupView group{slot_.data(), values_.data(), norm};
    for (Index i = first; i < first + count; ++i, out += lanes<double>) {
      const I start = samples.starts[i];
      const SparseRow<T, I> row{samples.values + start, samples.columns + start, samples.starts[i + 1] - start};
      reduce_row(reduction, row, group, out);
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
