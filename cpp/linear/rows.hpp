// Rows of data as linear machines use them: dense or CSR, where they lie, with a 1 appended for the bias.
//
// CSR rows may be unsorted, and a feature may come more than once in a row: its values add up.
#pragma once

#include <vector>

#include "kernels.hpp"

namespace ordsvm {

/// x_i . w
template <class T>
double dot(const DenseView<T>& data, Index i, const double* w) {
  const T* x = data.values + i * data.n_columns;
  double total = 0.0;
#pragma omp simd reduction(+ : total)
  for (Index j = 0; j < data.n_columns; ++j) total += x[j] * w[j];
  return total;
}

template <class T, class I>
double dot(const CsrView<T, I>& data, Index i, const double* w) {
  double total = 0.0;
#pragma omp simd reduction(+ : total)
  for (I p = data.starts[i]; p < data.starts[i + 1]; ++p) total += data.values[p] * w[data.columns[p]];
  return total;
}

/// w += delta * x_i
template <class T>
void add(const DenseView<T>& data, Index i, double delta, double* w) {
  const T* x = data.values + i * data.n_columns;
#pragma omp simd
  for (Index j = 0; j < data.n_columns; ++j) w[j] += delta * x[j];
}

template <class T, class I>
void add(const CsrView<T, I>& data, Index i, double delta, double* w) {
  for (I p = data.starts[i]; p < data.starts[i + 1]; ++p) w[data.columns[p]] += delta * data.values[p];
}

/// w = 0 wherever x_i has an entry
template <class T>
void clear(const DenseView<T>& data, Index, double* w) {
  std::fill(w, w + data.n_columns, 0.0);
}

template <class T, class I>
void clear(const CsrView<T, I>& data, Index i, double* w) {
  for (I p = data.starts[i]; p < data.starts[i + 1]; ++p) w[data.columns[p]] = 0.0;
}

/// Rows (x_i, 1), or (x_i, 0) without a bias: weights have one number more than there are columns, the bias, which
/// without one stays 0.
template <class View>
class LinearRows {
 public:
  LinearRows(const View& data, bool bias) : data_(data), one_(bias ? 1.0 : 0.0) {}

  Index size() const { return data_.n_rows; }
  std::size_t n_weights() const { return data_.n_columns + 1; }

  double dot(Index i, const std::vector<double>& w) const {
    return ordsvm::dot(data_, i, w.data()) + one_ * w[data_.n_columns];
  }
  void add(Index i, double delta, std::vector<double>& w) const {
    ordsvm::add(data_, i, delta, w.data());
    w[data_.n_columns] += one_ * delta;
  }

  /// x_i . x_i of every row, by way of weights that hold it, so that values of one feature have added up.
  std::vector<double> squared_norms() const {
    std::vector<double> w(n_weights(), 0.0), norms(size());
    for (Index i = 0; i < size(); ++i) {
      ordsvm::add(data_, i, 1.0, w.data());
      norms[i] = ordsvm::dot(data_, i, w.data()) + one_;
      ordsvm::clear(data_, i, w.data());
    }
    return norms;
  }

 private:
  View data_;
  double one_;
};

}  // namespace ordsvm
