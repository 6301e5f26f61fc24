// Rows with a 1 appended for the bias, for machines that keep one weight vector at a time.
//
// CSR rows may be unsorted, and a feature may come more than once in a row: its values add up.
#pragma once

#include <vector>

#include "linear/row_views.hpp"

namespace ordsvm::linear {

/// Rows (x_i, 1), or (x_i, 0) without a bias: weights have one number more than there are columns, the bias, which
/// without one stays 0.
template <class View>
class BiasedRows {
 public:
  BiasedRows(const View& data, bool bias) : data_(data), one_(bias ? 1.0 : 0.0) {}

  Index size() const { return data_.n_rows; }
  std::size_t n_weights() const { return data_.n_columns + 1; }

  double dot(Index i, const std::vector<double>& w) const {
    const auto row = row_of(data_, i);
    const double* const weights = w.data();
    double total = one_ * weights[data_.n_columns];
#pragma omp simd reduction(+ : total)
    for (Index p = 0; p < row.size; ++p) total += row.value(p) * weights[row.column(p)];
    return total;
  }

  /// w += delta * (x_i, 1)
  void add(Index i, double delta, std::vector<double>& w) const {
    const auto row = row_of(data_, i);
    double* const weights = w.data();
    for (Index p = 0; p < row.size; ++p) weights[row.column(p)] += delta * row.value(p);
    weights[data_.n_columns] += one_ * delta;
  }

  std::vector<double> squared_norms() const {
    SquaredNorms squared(data_.n_columns);
    std::vector<double> norms(size());
    for (Index i = 0; i < size(); ++i) norms[i] = squared.of(row_of(data_, i)) + one_;
    return norms;
  }

 private:
  View data_;
  double one_;
};

}  // namespace ordsvm::linear
