// One visit of all rows by the machine of thresholds.cpp: the hot loop.
#pragma once

#include <limits>
#include <vector>

#include "linear/exact_rows.hpp"
#include "linear/thresholds.hpp"
#include "simd/dispatch.hpp"

namespace ordsvm::linear {

/// The table in the precision of the weights.
template <class W>
struct TypedTable {
  std::vector<W> side, cap;
  Index n_thresholds;
  static constexpr W unbounded = std::numeric_limits<W>::max() / 64;

  explicit TypedTable(const ThresholdTable& table)
      : side(table.sign.begin(), table.sign.end()),
        cap(table.cap.begin(), table.cap.end()),
        n_thresholds(table.n_thresholds) {}
};

/// All that a visit reads and writes.
template <class W>
struct VisitState {
  W* weights;
  W* variables;  // t, [sample][threshold]
  W* threshold;
  W* total;  // the sum of t at every threshold, of which the threshold is the negative
  const TypedTable<W>& table;
  const LabelledSamples& samples;
  W rho;
  bool squared;
  const Order& order;
  Sums& sums;
  W* work;  // 4 numbers a threshold
};

/// weights += step * row
template <class Row, class W>
ORDSVM_INLINE void add_row(const Row& row, W step, W* weights) {
  for (Index p = 0; p < row.size; ++p) weights[row.column(p)] += static_cast<W>(row.value(p)) * step;
}

// Visits of the rows of some row blocks.
#define ORDSVM_THRESHOLD_VISIT(VIEW)                                                           \
  void visit(const VIEW& rows, const VisitState<float>& g, Place place, Index from, Index to); \
  void visit(const VIEW& rows, const VisitState<double>& g, Place place, Index from, Index to);
ORDSVM_ALL_VIEWS(ORDSVM_THRESHOLD_VISIT)
#undef ORDSVM_THRESHOLD_VISIT

}  // namespace ordsvm::linear
