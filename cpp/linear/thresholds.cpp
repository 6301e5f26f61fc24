#include "linear/thresholds.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "linear/threshold_visit.hpp"

namespace ordsvm::linear {
namespace {

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
