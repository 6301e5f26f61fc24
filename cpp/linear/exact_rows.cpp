#include "linear/exact_rows.hpp"

#include <algorithm>
#include <cstring>

#include "linear/gather.hpp"
#include "simd/packs.hpp"

namespace ordsvm::linear {
namespace {

// Columns are taken 16 (or 4, or 1) at a time; where fewer are left, the vector reaches into the next feature's
// weights: these are multiplied by 0 and stay what they are.
template <int P>
using Columns = wide::Lanes<double, P>;

/// Both lines where P numbers lie on two.
template <int P>
ORDSVM_INLINE void fetch(const double* weights) {
  __builtin_prefetch(weights);
  if (P > 1) __builtin_prefetch(weights + P - 1);
}

template <int P, class Row>
ORDSVM_INLINE void add_columns(const Row& row, const double* beta, double* weights, Index stride, const Row& next) {
  Columns<P> step;
  std::memcpy(&step, beta, sizeof step);
  for (Index p = 0; p < row.size; ++p) {
    if (p < next.size) fetch<P>(weights + next.column(p) * stride);
    Columns<P> weight;
    double* const at = weights + row.column(p) * stride;
    std::memcpy(&weight, at, sizeof weight);
    weight += static_cast<double>(row.value(p)) * step;
    std::memcpy(at, &weight, sizeof weight);
  }
}

template <int P, class Row>
ORDSVM_INLINE void dot_columns(const Row& row, double* product, const double* weights, Index stride, const Row& next) {
  Columns<P> even = {}, odd = {}, weight;
  Index p = 0;
  for (; p + 2 <= row.size; p += 2) {
    if (p + 2 <= next.size)
      fetch<P>(weights + next.column(p) * stride), fetch<P>(weights + next.column(p + 1) * stride);
    std::memcpy(&weight, weights + row.column(p) * stride, sizeof weight);
    even += static_cast<double>(row.value(p)) * weight;
    std::memcpy(&weight, weights + row.column(p + 1) * stride, sizeof weight);
    odd += static_cast<double>(row.value(p + 1)) * weight;
  }
  if (p < row.size) {
    std::memcpy(&weight, weights + row.column(p) * stride, sizeof weight);
    even += static_cast<double>(row.value(p)) * weight;
  }
  even += odd;
  std::memcpy(product, &even, sizeof even);
}

template <class Row>
ORDSVM_INLINE void add_row(const Row& row, const double* beta, double* weights, Index n_columns, const Row& next) {
  if (n_columns == 1) return add_columns<1>(row, beta, weights, 1, next);
  if (n_columns <= 4) return add_columns<4>(row, beta, weights, n_columns, next);
  if (n_columns <= 8) return add_columns<8>(row, beta, weights, n_columns, next);
  for (Index c = 0; c < n_columns; c += 16) add_columns<16>(row, beta + c, weights + c, n_columns, next);
}

template <class Row>
ORDSVM_INLINE void dot_row(const Row& row, double* result, const double* weights, Index n_columns, const Row& next) {
  if (n_columns == 1) return void(*result = product(row, weights));
  if (n_columns <= 4) return dot_columns<4>(row, result, weights, n_columns, next);
  if (n_columns <= 8) return dot_columns<8>(row, result, weights, n_columns, next);
  for (Index c = 0; c < n_columns; c += 16) dot_columns<16>(row, result + c, weights + c, n_columns, next);
}

}  // namespace

#define ORDSVM_EXACT(VIEW)                                                                                            \
  ORDSVM_DISPATCH(void, add_exact, (const VIEW& rows, Index i, const double* beta, double* weights, Index n_columns), \
                  (rows, i, beta, weights, n_columns)) {                                                              \
    add_row(row_of(rows, i), beta, weights, n_columns, row_of(rows, std::min(i + 1, rows.n_rows - 1)));               \
  }                                                                                                                   \
  ORDSVM_DISPATCH(void, dot_exact,                                                                                    \
                  (const VIEW& rows, Index i, double* product, const double* weights, Index n_columns),               \
                  (rows, i, product, weights, n_columns)) {                                                           \
    dot_row(row_of(rows, i), product, weights, n_columns, row_of(rows, std::min(i + 1, rows.n_rows - 1)));            \
  }
ORDSVM_ALL_VIEWS(ORDSVM_EXACT)

}  // namespace ordsvm::linear
