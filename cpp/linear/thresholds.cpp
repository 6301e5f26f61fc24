#include "linear/thresholds.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "linear/gather.hpp"
#include "simd/dispatch.hpp"

namespace ordsvm::linear {
namespace {

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

template <class Row, class W>
ORDSVM_INLINE void add_row(const Row& row, W step, W* weights) {
  for (Index p = 0; p < row.size; ++p) weights[row.column(p)] += static_cast<W>(row.value(p)) * step;
}

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

#define ORDSVM_VISIT(VIEW, W)                                                                               \
  ORDSVM_DISPATCH void visit(const VIEW& rows, const VisitState<W>& g, Place place, Index from, Index to) { \
    visit_rows(rows, g, place, from, to);                                                                   \
  }
#define ORDSVM_VISIT_BOTH(VIEW) ORDSVM_VISIT(VIEW, float) ORDSVM_VISIT(VIEW, double)
ORDSVM_VISIT_BOTH(CsrFloat)
ORDSVM_VISIT_BOTH(CsrFloatLong)
ORDSVM_VISIT_BOTH(CsrDouble)
ORDSVM_VISIT_BOTH(CsrDoubleLong)
ORDSVM_VISIT_BOTH(DenseView<float>)
ORDSVM_VISIT_BOTH(DenseView<double>)

template <class W>
class ThresholdMachine final : public Machine {
 public:
  ThresholdMachine(const ThresholdTable& table, const LabelledSamples& samples, Index n_features,
                   const Options& options)
      : Machine(n_features, 1),
        coding_(table),
        typed_(table),
        samples_(samples),
        options_(options),
        order_(options.seed),
        weights_(n_features),
        variables_(static_cast<Index>(samples.label.size()) * table.n_thresholds),
        threshold_(table.n_thresholds, 0),
        total_(table.n_thresholds, 0),
        counted_(table.n_thresholds, 0),
        work_(4 * table.n_thresholds),
        seen_(static_cast<Index>(samples.label.size())) {}

  Sums take_sums() override {
    const double scale = seen_.take_scale();
    sums_.gap *= scale, sums_.loss *= scale;
    for (std::size_t k = 0; k < total_.size(); ++k) {
      sums_.gap += 0.5 * (threshold_[k] + total_[k]) * (threshold_[k] + total_[k]);
      sums_.moved += 0.5 * (total_[k] * total_[k] - counted_[k] * counted_[k]);
      counted_[k] = total_[k];
    }
    return std::exchange(sums_, Sums{});
  }
  void rebuild(const Rows& rows, Index first) override {
    std::vector<double> total(total_.size(), 0.0);
    std::visit(
        [&](const auto& view) {
          for (Index i = 0; i < view.n_rows; ++i) {
            double beta = 0.0;
            get_beta(first + i, &beta);
            for (Index k = 0; k < n_variables(); ++k) total[k] += variable(first + i, k);
            if (beta != 0.0) add_row(row_of(view, i), static_cast<W>(beta), weights_.data());
          }
        },
        rows);
    for (std::size_t k = 0; k < total.size(); ++k) counted_[k] = total_[k] += static_cast<W>(total[k]);
  }
  void set_weights(std::span<const double> weights, std::span<const double> sums) override {
    std::copy(weights.begin(), weights.end(), weights_.data());
    std::copy(sums.begin(), sums.end(), total_.begin());
    std::copy(sums.begin(), sums.end(), counted_.begin());
  }
  std::vector<double> biases() const override { return {threshold_.begin(), threshold_.end()}; }
  void set_biases(std::span<const double> values) override {
    std::copy(values.begin(), values.end(), threshold_.begin());
  }
  Index n_variables() const override { return coding_.n_thresholds; }
  void get_variables(Index i, double* out) const override {
    for (Index k = 0; k < n_variables(); ++k) out[k] = variable(i, k);
  }
  void put_variables(Index i, const double* values) override {
    for (Index k = 0; k < n_variables(); ++k)
      variables_.data()[i * n_variables() + k] = static_cast<W>(in_box(i, k, values[k]));
  }
  std::vector<Kept> take_variables() override {
    std::vector<Kept> kept;
    kept.push_back(keep(std::move(variables_), n_variables()));
    return kept;
  }

 private:
  int n_groups() const override { return 1; }
  void visit(int, const Rows& rows, Place place, Index part, Index parts) override {
    if (part == 0) order_.shuffle(count(rows));
    if (seen_.turns_late()) sums_.gap = sums_.loss = 0.0;
    const VisitState<W> state{weights_.data(),
                              variables_.data(),
                              threshold_.data(),
                              total_.data(),
                              typed_,
                              samples_,
                              static_cast<W>(options_.rho),
                              options_.squared,
                              order_,
                              sums_,
                              work_.data()};
    const Index from = order_.n_row_blocks() * part / parts, to = order_.n_row_blocks() * (part + 1) / parts;
    std::visit([&](const auto& view) { linear::visit(view, state, place, from, to); }, rows);
    seen_.add(order_.n_rows(from, to));
  }
  void catch_up(int, double share) override {
    const W way = static_cast<W>(std::min(1.0, share * options_.rho));
    for (std::size_t k = 0; k < total_.size(); ++k) threshold_[k] += way * (-total_[k] - threshold_[k]);
  }
  const Order& order() const override { return order_; }
  void release() override { weights_ = Buffer<W>(0); }
  void clear() override {
    weights_ = Buffer<W>(n_features());
    std::fill(total_.begin(), total_.end(), W{0});
  }
  void get_beta(Index i, double* out) const override {
    *out = 0.0;
    for (Index k = 0; k < n_variables(); ++k) *out += variable(i, k);
  }

  /// In the box, whatever rounding to float has made of it.
  double variable(Index i, Index k) const { return in_box(i, k, variables_.data()[i * n_variables() + k]); }
  double in_box(Index i, Index k, double t) const {
    const Index at = samples_.label[i] * n_variables() + k;
    const double cap = coding_.cap[at] * samples_.weight_of(i);
    const double bound = options_.squared && cap > 0 ? std::numeric_limits<double>::infinity() : cap;
    return coding_.sign[at] > 0 ? std::clamp(t, 0.0, bound) : std::clamp(t, -bound, 0.0);
  }

  void add_proof(Index i, const double* product, Sums& sums) const override {
    for (Index k = 0; k < n_variables(); ++k) {
      const Index at = samples_.label[i] * n_variables() + k;
      const double side = coding_.sign[at], cap = coding_.cap[at] * samples_.weight_of(i);
      const double t = variable(i, k), slope = *product - threshold_[k] - side;
      const double error = std::max(0.0, -side * slope), ridge = options_.squared && cap > 0 ? 0.5 / cap : 0.0;
      const double bound = options_.squared && cap > 0 ? std::numeric_limits<double>::infinity() : cap;
      sums.loss += cap * error * (options_.squared ? error : 1.0);
      sums.linear += -side * t + 0.5 * ridge * t * t;
      const double violation =
          projected_gradient(slope + ridge * t, 0.0, t, side > 0 ? 0.0 : -bound, side > 0 ? bound : 0.0);
      sums.violation = std::max(sums.violation, violation);
    }
  }

  std::pair<double, double> squared_biases(std::span<const double>) const override {
    std::vector<double> exact(total_.size(), 0.0);
    for (Index i = 0; i < static_cast<Index>(samples_.label.size()); ++i)
      for (Index k = 0; k < n_variables(); ++k) exact[k] += variable(i, k);
    double primal = 0.0, dual = 0.0;
    for (const double b : threshold_) primal += b * b;
    for (const double b : exact) dual += b * b;
    return {primal, dual};
  }

  ThresholdTable coding_;
  TypedTable<W> typed_;
  LabelledSamples samples_;
  Options options_;
  Order order_;
  Buffer<W> weights_, variables_;
  std::vector<W> threshold_, total_, counted_, work_;  // counted_: total_ as the last sums had it
  Sums sums_;
  Seen seen_;
};

}  // namespace

std::unique_ptr<Machine> make_thresholds(const ThresholdTable& table, const LabelledSamples& samples, Index n_features,
                                         const Options& options) {
  if (options.precise) return std::make_unique<ThresholdMachine<double>>(table, samples, n_features, options);
  return std::make_unique<ThresholdMachine<float>>(table, samples, n_features, options);
}

}  // namespace ordsvm::linear
