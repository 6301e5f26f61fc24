// The hot loops of a proof: one row and the weights of several columns, in double.
#pragma once

#include "linear/row_views.hpp"

namespace ordsvm::linear {

#define ORDSVM_ALL_VIEWS(DO) \
  DO(CsrFloat) DO(CsrFloatLong) DO(CsrDouble) DO(CsrDoubleLong) DO(DenseView<float>) DO(DenseView<double>)

// add_exact: weights[j][c] += rows[i][j] * beta[c]; dot_exact: product[c] = sum_j rows[i][j] * weights[j][c]. Both beta
// and product have room for Machine::widest columns more.
#define ORDSVM_EXACT(VIEW)                                                                         \
  void add_exact(const VIEW& rows, Index i, const double* beta, double* weights, Index n_columns); \
  void dot_exact(const VIEW& rows, Index i, double* product, const double* weights, Index n_columns);
ORDSVM_ALL_VIEWS(ORDSVM_EXACT)
#undef ORDSVM_EXACT

}  // namespace ordsvm::linear
