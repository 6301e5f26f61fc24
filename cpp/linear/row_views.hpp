// Rows of the data as a linear machine reads them: CSR or dense, where they lie.
#pragma once

#include <map>
#include <variant>

#include "base/buffer.hpp"
#include "base/views.hpp"
#include "parallel/team.hpp"
#include "simd/dispatch.hpp"

namespace ordsvm::linear {

/// The non-zeros of one row: value(p) of feature column(p), p < size.
template <class T, class I>
struct SparseRow {
  const T* values;
  const I* columns;
  Index size;
  ORDSVM_INLINE T value(Index p) const { return values[p]; }
  ORDSVM_INLINE Index column(Index p) const { return static_cast<Index>(columns[p]); }
  ORDSVM_INLINE void prefetch() const {
    for (Index p = 0; p < size; p += 64 / sizeof(I)) __builtin_prefetch(columns + p);
    for (Index p = 0; p < size; p += 64 / sizeof(T)) __builtin_prefetch(values + p);
  }
};

template <class T>
struct DenseRow {
  const T* values;
  Index size;
  ORDSVM_INLINE T value(Index p) const { return values[p]; }
  ORDSVM_INLINE Index column(Index p) const { return p; }
  ORDSVM_INLINE void prefetch() const {}
};

template <class T, class I>
ORDSVM_INLINE SparseRow<T, I> row_of(const CsrView<T, I>& rows, Index i) {
  const Index start = static_cast<Index>(rows.starts[i]);
  return {rows.values + start, rows.columns + start, static_cast<Index>(rows.starts[i + 1]) - start};
}

template <class T>
ORDSVM_INLINE DenseRow<T> row_of(const DenseView<T>& rows, Index i) {
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

/// Which samples the rows of a row block are: neighbours, or those that a list names.
struct Place {
  Index first = 0;
  const Index* listed = nullptr;
  ORDSVM_INLINE Index sample(Index i) const { return listed ? listed[i] : first + i; }
};

/// |x|^2 of rows, where a column that comes twice in a row counts with the sum of its values.
class SquaredNorms {
 public:
  explicit SquaredNorms(Index n_features) : row_of_column_(n_features) {}

  template <class T, class I>
  double of(const SparseRow<T, I>& row) {
    ++row_;
    double sum = 0.0;
    bool twice = false;
    for (Index p = 0; p < row.size; ++p) {
      std::uint32_t& last = row_of_column_.data()[row.column(p)];
      twice = twice || last == row_;
      last = row_;
      sum += static_cast<double>(row.value(p)) * row.value(p);
    }
    return twice ? of_sums(row) : sum;
  }

  template <class T>
  double of(const DenseRow<T>& row) {
    double sum = 0.0;
    for (Index p = 0; p < row.size; ++p) sum += static_cast<double>(row.value(p)) * row.value(p);
    return sum;
  }

 private:
  template <class Row>
  static double of_sums(const Row& row) {
    std::map<Index, double> value;
    for (Index p = 0; p < row.size; ++p) value[row.column(p)] += row.value(p);
    double sum = 0.0;
    for (const auto& [column, total] : value) sum += total * total;
    return sum;
  }

  Buffer<std::uint32_t> row_of_column_;  // the last row, counted from 1, in which the column came
  std::uint32_t row_ = 0;
};

/// norms[i] = |x_i|^2 for the rows of a row block.
inline void squared_norms(const Rows& rows, float* norms, int n_threads) {
  std::visit(
      [&](const auto& view) {
        std::atomic<bool> stop = false;
        const auto work = [&](int t) {
          SquaredNorms squared(view.n_columns);
          for (Index i = view.n_rows * t / n_threads; i < view.n_rows * (t + 1) / n_threads; ++i)
            norms[i] = static_cast<float>(squared.of(row_of(view, i)));
        };
        if (n_threads == 1)
          work(0);
        else
          run_team(n_threads, stop, work, [] { return false; });
      },
      rows);
}

}  // namespace ordsvm::linear
