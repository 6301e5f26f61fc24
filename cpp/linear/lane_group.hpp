// A group of neighbouring lanes as the hot loop of lanes.cpp has it: one visit of all rows.
#pragma once

#include <limits>
#include <vector>

#include "linear/lanes.hpp"

namespace ordsvm::linear {

/// The table, widened to P lanes; lanes that are not there have bounds 0 and stay at 0.
template <class W, int P>
struct WideTable {
  struct Entry {
    alignas(64) W lower[P], upper[P], offset[P], epsilon[P], cap[P], ridge[P];
  };
  std::vector<Entry> entries;

  WideTable(const LaneTable& table, bool squared) : entries(table.n_labels) {
    constexpr W unbounded = std::numeric_limits<W>::max();
    for (Index y = 0; y < table.n_labels; ++y) {
      entries[y] = {};
      for (Index l = 0; l < table.n_lanes; ++l) {
        const Index at = y * table.n_lanes + l;
        const double cap = std::max(-table.lower[at], table.upper[at]);
        entries[y].lower[l] = static_cast<W>(squared && table.lower[at] < 0 ? -unbounded : table.lower[at]);
        entries[y].upper[l] = static_cast<W>(squared && table.upper[at] > 0 ? unbounded : table.upper[at]);
        entries[y].offset[l] = static_cast<W>(table.offset[at]);
        entries[y].epsilon[l] = static_cast<W>(table.epsilon[at]);
        entries[y].cap[l] = static_cast<W>(cap);
        entries[y].ridge[l] = static_cast<W>(squared && cap > 0 ? 0.5 / cap : 0.0);
      }
    }
  }
};

/// All that a visit reads and writes.
template <class W, int P>
struct Group {
  W* weights;        // [feature][P]
  W* beta;           // [sample][n_lanes]; a vector of P reaches into the next sample's
  W* bias;           // [P], aligned
  W* total;          // [P]: the sum of beta, which the bias follows
  const W* present;  // [P]: 1 where there is a lane, else 0
  Index n_lanes;
  const WideTable<W, P>& table;
  const LabelledSamples& samples;
  W rho;
  W squared;  // 1 or 0
  const Order& order;
  double* gap;    // [P] sums
  double* loss;   // [P]
  double* moved;  // [P]; without the square of the sum of beta
};

// Visits of the rows of some row blocks: one function for every kind of rows, precision and number of lanes.
#define ORDSVM_LANE_VISIT(VIEW, W, P) \
  void visit(const VIEW& rows, const Group<W, P>& g, Place place, Index from, Index to);
#define ORDSVM_VISITS_OF(DO, VIEW) \
  DO(VIEW, float, 1)               \
  DO(VIEW, float, 4) DO(VIEW, float, 8) DO(VIEW, float, 16) DO(VIEW, double, 1) DO(VIEW, double, 4) DO(VIEW, double, 8)
#define ORDSVM_ALL_VISITS(DO)        \
  ORDSVM_VISITS_OF(DO, CsrFloat)     \
  ORDSVM_VISITS_OF(DO, CsrFloatLong) \
  ORDSVM_VISITS_OF(DO, CsrDouble)    \
  ORDSVM_VISITS_OF(DO, CsrDoubleLong) ORDSVM_VISITS_OF(DO, DenseView<float>) ORDSVM_VISITS_OF(DO, DenseView<double>)
ORDSVM_ALL_VISITS(ORDSVM_LANE_VISIT)
#undef ORDSVM_LANE_VISIT

}  // namespace ordsvm::linear
