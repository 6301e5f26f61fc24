#include "linear/threshold_visit.hpp"

#include "linear/gather.hpp"

namespace ordsvm::linear {
namespace {

template <class W>
ORDSVM_INLINE W between(W value, W least, W most) {
  const W raised = value < least ? least : value;
  return raised > most ? most : raised;
}

template <class W>
constexpr bool is_float = sizeof(W) == sizeof(float);

/// How exactly the common step is found, as a share of it; what is left is seen to at the next visit.
template <class W>
constexpr W close = is_float<W> ? W(1e-6) : W(1e-13);

/// Errors of the single steps reach the score |x|^2 / rho times as large. Where |x|^2 dwarfs rho, steps are therefore
/// taken with rho this share of |x|^2: they are shorter, and still downhill.
template <class W>
constexpr W min_curvature_share = is_float<W> ? W(1e-3) : W(1e-9);

/// The S that equals the sum of the steps it brings about. That sum falls as S rises, so S lies between 0 and the sum
/// at 0; nor is it so large that all thresholds would move back.
template <class W>
ORDSVM_INLINE W common_step(const W* wanted, const W* give, const W* least, const W* most, Index m, W norm) {
  W low = 0, high = 0, step = 0, least_wanted = 0, most_wanted = 0;
  for (Index k = 0; k < m; ++k) {
    least_wanted = std::min(least_wanted, wanted[k]);
    most_wanted = std::max(most_wanted, wanted[k]);
  }
  for (int round = 0; round < 100; ++round) {
    W sum = 0, slope = 1;
    for (Index k = 0; k < m; ++k) {
      const W free = (wanted[k] - norm * step) * give[k];
      sum += between(free, least[k], most[k]);
      slope += free > least[k] && free < most[k] ? norm * give[k] : 0;
    }
    const W error = step - sum;
    W then = step - error / slope;
    if (round == 0) {
      if (sum > 0) high = std::min(sum, most_wanted / norm);
      if (sum < 0) low = std::max(sum, least_wanted / norm);
      then = between(then, low, high);
    } else {
      (error > 0 ? high : low) = step;
      if (!(then > low && then < high)) then = (low + high) / 2;
    }
    if (std::abs(then - step) <= close<W> * std::abs(then)) return then;
    step = then;
  }
  return step;
}

template <class View, class W>
ORDSVM_INLINE void visit_sample(const View& rows, const VisitState<W>& g, Place place, Index i) {
  const Index m = g.table.n_thresholds, sample = place.sample(i);
  const auto row = row_of(rows, i);
  const W weight = static_cast<W>(g.samples.weight_of(sample)), norm = static_cast<W>(g.samples.norm[sample]);
  const W* const sides = g.table.side.data() + g.samples.label[sample] * m;
  const W* const caps = g.table.cap.data() + g.samples.label[sample] * m;
  W* const t = g.variables + sample * m;
  W *const wanted = g.work, *const give = wanted + m, *const least = give + m, *const most = least + m;
  const W f = product(row, g.weights), rho = std::max(g.rho, min_curvature_share<W> * norm);
  W gap = 0, loss = 0;
  for (Index k = 0; k < m; ++k) {
    const W side = sides[k], cap = caps[k] * weight, slope = f - g.threshold[k] - side;
    const W miss = -side * slope, error = miss > 0 ? miss : 0, lost = cap * error * (g.squared ? error : W{1});
    const W ridge = g.squared && cap > 0 ? W{0.5} / cap : W{0};
    const W bound = g.squared && cap > 0 ? g.table.unbounded : cap;
    loss += lost;
    gap += lost + t[k] * slope + W{0.5} * ridge * t[k] * t[k];
    wanted[k] = -(slope + ridge * t[k]);
    give[k] = 1 / (rho + ridge);
    least[k] = (side > 0 ? 0 : -bound) - t[k];
    most[k] = (side > 0 ? bound : 0) - t[k];
  }
  g.sums.gap += gap;
  g.sums.loss += loss;
  const W common = common_step(wanted, give, least, most, m, norm);
  W moved = 0, sum = 0;
  for (Index k = 0; k < m; ++k) {
    const W free = (wanted[k] - norm * common) * give[k], step = between(free, least[k], most[k]);
    const W bound = g.squared && caps[k] * weight > 0 ? g.table.unbounded : caps[k] * weight;
    const W moved_to = free < least[k]  ? (sides[k] > 0 ? 0 : -bound)  // exactly
                       : free > most[k] ? (sides[k] > 0 ? bound : 0)
                                        : t[k] + step;
    moved += step * (W{0.5} * step * (1 / give[k] - rho) - wanted[k] + g.threshold[k]);
    t[k] = moved_to;
    g.threshold[k] -= g.rho * step;
    g.total[k] += step;
    sum += step;
  }
  g.sums.moved += moved + W{0.5} * norm * sum * sum;
  if (sum != 0) add_row(row, sum, g.weights);
}

template <class View, class W>
ORDSVM_INLINE void visit_rows(const View& rows, const VisitState<W>& g, Place place, Index from, Index to) {
  for (Index block = from; block < to; ++block) {
    const Index last = g.order.last(block);
    const Index then = block + 1 < to ? g.order.first(block + 1) : g.order.first(block);
    for (Index i = g.order.first(block); i < last; ++i) {
      row_of(rows, i + 2 < last ? i + 2 : then).prefetch();
      visit_sample(rows, g, place, i);
    }
  }
}

}  // namespace

#define ORDSVM_THRESHOLD_VISIT_IN(VIEW, W)                                                                    \
  ORDSVM_DISPATCH(void, visit, (const VIEW& rows, const VisitState<W>& g, Place place, Index from, Index to), \
                  (rows, g, place, from, to)) {                                                               \
    visit_rows(rows, g, place, from, to);                                                                     \
  }
#define ORDSVM_THRESHOLD_VISIT(VIEW) ORDSVM_THRESHOLD_VISIT_IN(VIEW, float) ORDSVM_THRESHOLD_VISIT_IN(VIEW, double)
ORDSVM_ALL_VIEWS(ORDSVM_THRESHOLD_VISIT)

}  // namespace ordsvm::linear
