#include "kernels/row_source.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/evaluate.hpp"
#include "kernels/formula.hpp"
#include "simd/loops.hpp"

namespace ordsvm {
namespace {

constexpr Index chunk = 64 * simd::lanes;  // values made at a time: they stay in the first-level cache

/// Both precisions of `row` from one function that makes a chunk of reductions.
template <class Derived>
class ChunkedRows : public RowSource {
 public:
  explicit ChunkedRows(const Kernel& kernel) : kernel_(kernel) {}
  double diagonal(Index i) const override {
    double value = self().own_reduction(i);
    evaluate(kernel_, {&value, 1});
    return value;
  }
  void row(Index i, std::span<float> out) const override { fill(i, out); }
  void row(Index i, std::span<double> out) const override { fill(i, out); }

 protected:
  Kernel kernel_;

 private:
  const Derived& self() const { return static_cast<const Derived&>(*this); }

  template <class T>
  void fill(Index i, std::span<T> out) const {
    const std::vector<double> x = self().expand(i);
    double values[chunk];
    for (Index begin = 0; begin < this->size(); begin += chunk) {
      const Index count = std::min(chunk, this->size() - begin);
      self().reduce(i, x, begin, count, values);
      evaluate(kernel_, {values, static_cast<std::size_t>(count)});
      simd::convert(values, out.data() + begin, count);
    }
  }
};

template <class T>
class DenseRows final : public ChunkedRows<DenseRows<T>> {
 public:
  DenseRows(const Kernel& kernel, const DenseView<T>& data)
      : ChunkedRows<DenseRows<T>>(kernel), n_(data.n_rows), n_features_(data.n_columns) {
    const Index n_tiles = (n_ + simd::lanes - 1) / simd::lanes;
    tiles_.assign(n_tiles * n_features_ * simd::lanes, T(0));
    for (Index i = 0; i < n_; ++i)
      for (Index feature = 0; feature < n_features_; ++feature)
        tiles_[place(i, feature)] = data.values[i * n_features_ + feature];
    for (Index i = 0; i < n_; ++i) {
      double norm = 0.0;
      for (Index feature = 0; feature < n_features_; ++feature)
        norm += part_of_norm(reduction_of(kernel.kind), data.values[i * n_features_ + feature]);
      largest_norm_ = std::max(largest_norm_, norm);
    }
  }
  Index size() const override { return n_; }
  std::optional<Features> features() const override { return Features{this->kernel_, n_features_, 1.0, largest_norm_}; }
  Index nonzeros(Index i, SampleIndex* columns, double* values) const override {
    for (Index feature = 0; feature < n_features_; ++feature) {
      columns[feature] = static_cast<SampleIndex>(feature);
      values[feature] = tiles_[place(i, feature)];
    }
    return n_features_;
  }

  std::vector<double> expand(Index i) const {
    std::vector<double> x(n_features_);
    for (Index feature = 0; feature < n_features_; ++feature) x[feature] = tiles_[place(i, feature)];
    return x;
  }
  /// `values` is padded to whole tiles.
  void reduce(Index, const std::vector<double>& x, Index begin, Index count, double* values) const {
    simd::reduce_tiles(reduction_of(this->kernel_.kind), tiles_.data() + begin * n_features_, x.data(),
                       (count + simd::lanes - 1) / simd::lanes, n_features_, values);
  }
  double own_reduction(Index i) const {
    if (reduction_of(this->kernel_.kind) != simd::Reduction::dot) return 0.0;
    double total = 0.0;
    for (const double value : expand(i)) total += value * value;
    return total;
  }

 private:
  Index place(Index i, Index feature) const {
    return (i / simd::lanes * n_features_ + feature) * simd::lanes + i % simd::lanes;
  }
  Index n_, n_features_;
  std::vector<T> tiles_;
  double largest_norm_ = 0.0;
};

/// One sparse row is spread over a dense vector; the others are read once. Distances come from norms:
///   |x-y|^2 = |x|^2 + |y|^2 - 2 x.y    |x-y|_1 = |x|_1 + |y|_1 - sum over shared features (|x| + |y| - |x-y|)
template <class T, class I>
class CsrRows final : public ChunkedRows<CsrRows<T, I>> {
 public:
  CsrRows(const Kernel& kernel, const CsrView<T, I>& data) : ChunkedRows<CsrRows<T, I>>(kernel), data_(data) {
    norm_.resize(data.n_rows);
    for (Index i = 0; i < data.n_rows; ++i)
      for (I p = data.starts[i]; p < data.starts[i + 1]; ++p)
        norm_[i] += part_of_norm(reduction_of(kernel.kind), data.values[p]);
  }
  Index size() const override { return data_.n_rows; }
  std::optional<Features> features() const override {
    const double cells = static_cast<double>(data_.n_rows) * data_.n_columns;
    return Features{this->kernel_, data_.n_columns, data_.starts[data_.n_rows] / std::max(1.0, cells),
                    norm_.empty() ? 0.0 : *std::max_element(norm_.begin(), norm_.end())};
  }
  Index nonzeros(Index i, SampleIndex* columns, double* values) const override {
    const I begin = data_.starts[i], end = data_.starts[i + 1];
    std::copy(data_.columns + begin, data_.columns + end, columns);
    std::copy(data_.values + begin, data_.values + end, values);
    return end - begin;
  }

  std::vector<double> expand(Index i) const {
    std::vector<double> x(data_.n_columns, 0.0);
    for (I p = data_.starts[i]; p < data_.starts[i + 1]; ++p) x[data_.columns[p]] = data_.values[p];
    return x;
  }
  void reduce(Index i, const std::vector<double>& x, Index begin, Index count, double* values) const {
    switch (reduction_of(this->kernel_.kind)) {
      case simd::Reduction::dot:
        for (Index j = 0; j < count; ++j) values[j] = dot(x, begin + j);
        return;
      case simd::Reduction::squared_distance:
        for (Index j = 0; j < count; ++j)
          values[j] = std::max(0.0, norm_[i] + norm_[begin + j] - 2.0 * dot(x, begin + j));
        break;
      case simd::Reduction::manhattan:
        for (Index j = 0; j < count; ++j) values[j] = std::max(0.0, norm_[i] + norm_[begin + j] - shared(x, begin + j));
        break;
    }
    if (begin <= i && i < begin + count) values[i - begin] = 0.0;  // the distance to itself, without rounding
  }
  double own_reduction(Index i) const {
    return reduction_of(this->kernel_.kind) == simd::Reduction::dot ? norm_[i] : 0.0;
  }

 private:
  double dot(const std::vector<double>& x, Index j) const {
    double total = 0.0;
    for (I p = data_.starts[j]; p < data_.starts[j + 1]; ++p) total += data_.values[p] * x[data_.columns[p]];
    return total;
  }
  double shared(const std::vector<double>& x, Index j) const {
    double total = 0.0;
    for (I p = data_.starts[j]; p < data_.starts[j + 1]; ++p) {
      const double a = x[data_.columns[p]], b = data_.values[p];
      total += std::abs(a) + std::abs(b) - std::abs(a - b);
    }
    return total;
  }
  CsrView<T, I> data_;
  std::vector<double> norm_;
};

template <class T>
class PrecomputedRows final : public RowSource {
 public:
  explicit PrecomputedRows(const DenseView<T>& matrix) : matrix_(matrix) {}
  Index size() const override { return matrix_.n_rows; }
  double diagonal(Index i) const override { return matrix_.values[i * matrix_.n_columns + i]; }
  void row(Index i, std::span<float> out) const override { copy(i, out); }
  void row(Index i, std::span<double> out) const override { copy(i, out); }
  double cost_of_a_value() const override { return 30.0; }

 private:
  template <class U>
  void copy(Index i, std::span<U> out) const {
    const T* from = matrix_.values + i * matrix_.n_columns;
    std::transform(from, from + size(), out.data(), [](T value) { return static_cast<U>(value); });
  }
  DenseView<T> matrix_;
};

}  // namespace

double Features::rounding_of_norms() const {
  return is_distance(kernel.kind) ? 4.0 * kernel.gamma * largest_norm : 0.0;
}

template <class T>
std::unique_ptr<RowSource> make_rows(const Kernel& kernel, const DenseView<T>& data) {
  return std::make_unique<DenseRows<T>>(kernel, data);
}

template <class T, class I>
std::unique_ptr<RowSource> make_rows(const Kernel& kernel, const CsrView<T, I>& data) {
  return std::make_unique<CsrRows<T, I>>(kernel, data);
}

template <class T>
std::unique_ptr<RowSource> make_precomputed(const DenseView<T>& matrix) {
  return std::make_unique<PrecomputedRows<T>>(matrix);
}

template std::unique_ptr<RowSource> make_rows(const Kernel&, const DenseView<float>&);
template std::unique_ptr<RowSource> make_rows(const Kernel&, const DenseView<double>&);
template std::unique_ptr<RowSource> make_rows(const Kernel&, const CsrView<float, std::int32_t>&);
template std::unique_ptr<RowSource> make_rows(const Kernel&, const CsrView<float, std::int64_t>&);
template std::unique_ptr<RowSource> make_rows(const Kernel&, const CsrView<double, std::int32_t>&);
template std::unique_ptr<RowSource> make_rows(const Kernel&, const CsrView<double, std::int64_t>&);
template std::unique_ptr<RowSource> make_precomputed(const DenseView<float>&);
template std::unique_ptr<RowSource> make_precomputed(const DenseView<double>&);

}  // namespace ordsvm
