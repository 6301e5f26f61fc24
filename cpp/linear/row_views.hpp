// Rows of the data as a linear machine reads them: CSR or dense, where they lie.
#pragma once

#include <variant>

#include "../kernels.hpp"

namespace ordsvm::linear {

/// The non-zeros of one row: value(p) of feature column(p), p < size.
template <class T, class I>
struct SparseRow {
  const T* values;
  const I* columns;
  Index size;
  T value(Index p) const { return values[p]; }
  Index column(Index p) const { return static_cast<Index>(columns[p]); }
  void prefetch() const {
    for (Index p = 0; p < size; p += 64 / sizeof(I)) __builtin_prefetch(columns + p);
    for (Index p = 0; p < size; p += 64 / sizeof(T)) __builtin_prefetch(values + p);
  }
};

template <class T>
struct DenseRow {
  const T* values;
  Index size;
  T value(Index p) const { return values[p]; }
  Index column(Index p) const { return p; }
  void prefetch() const {}
};

template <class T, class I>
SparseRow<T, I> row_of(const CsrView<T, I>& rows, Index i) {
  const Index start = static_cast<Index>(rows.starts[i]);
  return {rows.values + start, rows.columns + start, static_cast<Index>(rows.starts[i + 1]) - start};
}

template <class T>
DenseRow<T> row_of(const DenseView<T>& rows, Index i) {
  return {rows.values + i * rows.n_columns, rows.n_columns};
}

using CsrFloat = CsrView<float, std::int32_t>;
using CsrFloatLong = CsrView<float, std::int64_t>;
using CsrDouble = CsrView<double, std::int32_t>;
using CsrDoubleLong = CsrView<double, std::int64_t>;
using Rows = std::variant<CsrFloat, CsrFloatLong, CsrDouble, CsrDoubleLong, DenseView<float>, DenseView<double>>;

inline Index count(const Rows& rows) {
  return std::visit([](const auto& view) { return view.n_rows; }, rows);
}

/// |x_i|^2 for the rows of a block.
inline void squared_norms(const Rows& rows, float* norms) {
  std::visit(
      [&](const auto& view) {
        for (Index i = 0; i < view.n_rows; ++i) {
          const auto row = row_of(view, i);
          double sum = 0.0;
          for (Index p = 0; p < row.size; ++p) sum += static_cast<double>(row.value(p)) * row.value(p);
          norms[i] = static_cast<float>(sum);
        }
      },
      rows);
}

}  // namespace ordsvm::linear
