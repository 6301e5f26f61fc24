// One visit of a row by the machines of lanes.hpp: scores in all lanes, the step, and the weights after it.
#pragma once

#include <cstring>
#include <type_traits>

#include "linear/gather.hpp"
#include "linear/lane_group.hpp"
#include "simd/packs.hpp"

namespace ordsvm::linear {
inline namespace ORDSVM_OWN {

using wide::any, wide::Lanes, wide::larger, wide::load_pack, wide::smaller, wide::store_pack, wide::where_positive;

template <int P, class Row, class W>
ORDSVM_INLINE void score(Lanes<W, P>& result, const Row& row, const W* weights) {
  if constexpr (P == 1) {
    result = product(row, weights);
    return;
  }
  Lanes<W, P> sums[4] = {};
  const auto add = [&](Lanes<W, P>& sum, Index p) __attribute__((always_inline)) {
    Lanes<W, P> weight;
    load_pack(weight, weights + row.column(p) * P);
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
    load_pack(weight, weights + row.column(p) * P);
    weight += static_cast<W>(row.value(p)) * step;
    store_pack(weights + row.column(p) * P, weight);
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
  load_pack(lower, entry.lower), load_pack(upper, entry.upper), load_pack(offset, entry.offset);
  load_pack(epsilon, entry.epsilon), load_pack(cap, entry.cap), load_pack(ridge, entry.ridge), load_pack(loaded, at);
  load_pack(bias, g.bias), load_pack(total, g.total), load_pack(present, g.present);
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

  const V below = where_positive(upper, larger(zero, zero - slope - epsilon));  // how far the score is too low
  const V above = where_positive(zero - lower, larger(zero, slope - epsilon));  // and too high
  const V error = below + above, one = zero + W{1};
  const V lost = cap * error * (one + g.squared * (error - one));
  const V size_before = larger(beta, zero - beta);
  loss += lost;
  gap += lost + beta * slope + epsilon * size_before + static_cast<W>(0.5) * ridge * beta * beta;

  const V gradient = slope + ridge * beta;
  const V curvature = ridge + (static_cast<W>(g.samples.norm[sample]) + g.rho);
  const W least = static_cast<W>(1e-20);  // without a bias, a row of zeros, or nearly so, goes to a bound
  const V inverse = one / larger(curvature, zero + least);
  const V wanted = beta - gradient * inverse, threshold = epsilon * inverse;
  const V soft = larger(zero, wanted - threshold) + smaller(wanted + threshold, zero);  // then the box
  const V target = smaller(upper, larger(lower, soft));
  const V step = target - beta;
  if (!any(step)) return;
  store_pack(at, target + others);
  const V size_after = larger(target, zero - target);
  moved += step * (gradient - bias) + static_cast<W>(0.5) * (curvature - g.rho) * step * step +
           epsilon * (size_after - size_before);
  bias += g.rho * step;
  total += step;
  store_pack(g.bias, bias), store_pack(g.total, total);
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

}  // namespace ORDSVM_OWN
}  // namespace ordsvm::linear
