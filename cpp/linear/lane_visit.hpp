// One visit of a row by the machines of lanes.hpp: scores in all lanes, the step, and the weights after it.
#pragma once

#include <cstring>
#include <limits>
#include <type_traits>

#include "linear/gather.hpp"
#include "linear/lanes.hpp"

namespace ordsvm::linear {

template <class W, int P>
struct VectorOf {
  using Type [[gnu::vector_size(P * sizeof(W))]] = W;
};
template <class W>
struct VectorOf<W, 1> {
  using Type = W;
};
/// P numbers that are computed with at once.
template <class W, int P>
using Lanes = typename VectorOf<W, P>::Type;

template <class V, class W>
ORDSVM_INLINE void load(V& value, const W* from) {
  std::memcpy(&value, from, sizeof value);
}
template <class V, class W>
ORDSVM_INLINE void store(W* to, const V& value) {
  std::memcpy(to, &value, sizeof value);
}

template <class V>
ORDSVM_INLINE void larger(V& result, const V& a, const V& b) {
  result = a > b ? a : b;
}

/// Differences of numbers are 0 in all bits or not 0.
template <class V>
ORDSVM_INLINE bool any(const V& difference) {
  using Word = std::conditional_t<sizeof(V) % 8 == 0, std::uint64_t, std::uint32_t>;
  Word words[sizeof(V) / sizeof(Word)], all = 0;
  std::memcpy(words, &difference, sizeof words);
  for (const Word word : words) all |= word;
  return all != 0;
}

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

template <int P, class Row, class W>
ORDSVM_INLINE void score(Lanes<W, P>& result, const Row& row, const W* weights) {
  if constexpr (P == 1) {
    result = product(row, weights);
    return;
  }
  Lanes<W, P> sums[4] = {};
  const auto add = [&](Lanes<W, P>& sum, Index p) __attribute__((always_inline)) {
    Lanes<W, P> weight;
    load(weight, weights + row.column(p) * P);
    sum += static_cast<W>(row.value(p)) * weight;
  };
  Index p = 0;
  for (; p + 4 <= row.size; p += 4)
    for (int s = 0; s < 4; ++s) add(sums[s], p + s);
  for (; p < row.size; ++p) add(sums[0], p);
  result = (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// weights += step * row, while the weights of the row to come are fetched, if there is more than one lane: of one the
/// caches hold enough.
template <int P, class Row, class W>
ORDSVM_INLINE void add_row(const Row& row, const Lanes<W, P>& step, W* weights, const Row& next) {
  const auto add = [&](Index p) __attribute__((always_inline)) {
    Lanes<W, P> weight;
    load(weight, weights + row.column(p) * P);
    weight += static_cast<W>(row.value(p)) * step;
    store(weights + row.column(p) * P, weight);
  };
  const Index both = P == 1 ? 0 : std::min(row.size, next.size);
  Index p = 0;
  for (; p < both; ++p) {
    __builtin_prefetch(weights + next.column(p) * P);
    add(p);
  }
  for (; p < row.size; ++p) add(p);
}

template <class View, class W, int P>
ORDSVM_INLINE void visit_sample(const View& rows, const Group<W, P>& g, Place place, Index i, Index next,
                                Lanes<W, P>& gap, Lanes<W, P>& loss, Lanes<W, P>& moved) {
  using V = Lanes<W, P>;
  const V zero = {};
  const auto row = row_of(rows, i);
  const Index sample = place.sample(i);
  const auto& entry = g.table.entries[g.samples.label[sample]];
  W* const at = g.beta + sample * g.n_lanes;
  V lower, upper, offset, epsilon, cap, ridge, loaded, present, bias, total, slope;
  load(lower, entry.lower), load(upper, entry.upper), load(offset, entry.offset), load(epsilon, entry.epsilon);
  load(cap, entry.cap), load(ridge, entry.ridge), load(loaded, at);
  load(bias, g.bias), load(total, g.total), load(present, g.present);
  const V beta = loaded * present, others = loaded - beta;
  if (!g.samples.weight.empty()) {
    const W weight = static_cast<W>(g.samples.weight[sample]);
    if (weight == 0) return;
    if (g.squared == 0) lower *= weight, upper *= weight;
    cap *= weight, ridge /= weight;
  }
  if (!g.samples.target.empty()) offset += static_cast<W>(g.samples.target[sample]);
  score<P>(slope, row, g.weights);
  slope += bias - offset;

  V below, above, size_before, size_after;
  larger(below, zero, static_cast<V>(-slope - epsilon));  // how far the score is too low, and too high
  larger(above, zero, static_cast<V>(slope - epsilon));
  below = upper > zero ? below : zero;
  above = lower < zero ? above : zero;
  const V error = below + above, one = zero + 1;
  const V lost = cap * error * (one + g.squared * (error - one));
  larger(size_before, beta, static_cast<V>(-beta));
  loss += lost;
  gap += lost + beta * slope + epsilon * size_before + static_cast<W>(0.5) * ridge * beta * beta;

  const V gradient = slope + ridge * beta;
  const V curvature = ridge + (static_cast<W>(g.samples.norm[sample]) + g.rho);
  const W least = static_cast<W>(1e-20);  // without a bias, a row of zeros, or nearly so, goes to a bound
  const V inverse = one / (curvature > least ? curvature : zero + least);
  const V wanted = beta - gradient * inverse, threshold = epsilon * inverse;
  V target = wanted - threshold;  // soft threshold, then the box
  larger(target, zero, target);
  const V fallen = wanted + threshold;
  target += fallen < zero ? fallen : zero;
  target = target < lower ? lower : target;
  target = target > upper ? upper : target;
  const V step = target - beta;
  if (!any(step)) return;
  store(at, static_cast<V>(target + others));
  larger(size_after, target, static_cast<V>(-target));
  moved += step * (gradient - bias) + static_cast<W>(0.5) * (curvature - g.rho) * step * step +
           epsilon * (size_after - size_before);
  bias += g.rho * step;
  total += step;
  store(g.bias, bias), store(g.total, total);
  add_row<P>(row, step, g.weights, row_of(rows, next));
}

template <class View, class W, int P>
ORDSVM_INLINE void visit_rows(const View& rows, const Group<W, P>& g, Place place, Index from, Index to) {
  double* const sums[3] = {g.gap, g.loss, g.moved};
  for (Index block = from; block < to; ++block) {
    Lanes<W, P> parts[3] = {};
    const Index last = g.order.last(block);
    const Index then = block + 1 < to ? g.order.first(block + 1) : g.order.first(block);
    for (Index i = g.order.first(block); i < last; ++i) {
      row_of(rows, i + 2 < last ? i + 2 : then).prefetch();
      visit_sample(rows, g, place, i, i + 1 < last ? i + 1 : then, parts[0], parts[1], parts[2]);
    }
    for (int s = 0; s < 3; ++s) {
      W flat[P];
      std::memcpy(flat, &parts[s], sizeof flat);
      for (int l = 0; l < P; ++l) sums[s][l] += static_cast<double>(flat[l]);
    }
  }
}

}  // namespace ordsvm::linear
