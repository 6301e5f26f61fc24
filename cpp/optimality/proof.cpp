#include "optimality/proof.hpp"

#include <utility>

namespace ordsvm {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// Adds up numbers in short rows, so that roundings do not grow with their count.
class Sum {
 public:
  void add(double x) {
    row_ += x;
    if (++count_ == 128) total_ += std::exchange(row_, 0.0), count_ = 0;
  }
  double value() const { return total_ + row_; }

 private:
  double total_ = 0.0, row_ = 0.0;
  int count_ = 0;
};

/// The hinges of one threshold: where they change slope, and the bounds that those free to move put on it.
class Levels {
 public:
  Levels(const Hinges& h, std::span<const double> alpha, const KnownScores& known, Index k) {
    const Index first = h.first[k], count = h.first[k + 1] - first;
    level_.resize(count);
    cap_ = h.cap.subspan(first, count);
    Sum below, total;
    for (Index j = 0; j < count; ++j) {
      const Index v = first + j;
      const bool above = h.sign[v] > 0.0, may_grow = alpha[v] < cap_[j], may_shrink = alpha[v] > 0.0;
      const double error = known.error.empty() ? 0.0 : known.error[h.sample[v]];
      const double level = level_[j] = known.score[h.sample[v]] - h.sign[v] * (h.offset[v] + error);
      if (above ? may_grow : may_shrink) up = std::min(up, level);
      if (above ? may_shrink : may_grow) low = std::max(low, level);
      total.add(cap_[j]);
      if (!above) below.add(cap_[j]);
      (above ? any_above_ : any_below_) = true;
    }
    below_ = below.value(), total_ = total.value();
  }

  double low = -infinity, up = infinity;

  /// The middle of the thresholds that cost least: see `minimisers` in thresholds.py.
  double free_threshold() const {
    const double rounding = 1e-12 * total_;
    const auto crossing = [&](double passed_before, auto begin, auto end) -> std::pair<double, double> {
      double left = infinity, passed = passed_before;
      for (auto place = begin; place != end; ++place) {
        passed += place->second;
        if (left == infinity && passed >= below_ - rounding) left = place->first;
        if (passed > below_ + rounding) return {left, place->first};
      }
      return {left, infinity};
    };
    if (any_above_ && any_below_ && std::isfinite(low) && std::isfinite(up)) {
      const Near near(*this, 0.5 * (low + up));
      if (near.passed < below_ - rounding) {
        const auto [left, right] = crossing(near.passed, near.inside.begin(), near.inside.end());
        if (right < infinity) return 0.5 * (left + right);
      }
    }
    const auto all = ascending();
    auto [left, right] = crossing(0.0, all.begin(), all.end());
    if (!any_below_) left = -infinity;
    if (any_above_ && right == infinity) right = all.back().first;
    return 0.5 * (left + right);
  }

  /// The one that costs least together with half its square: see `penalized_thresholds` in problem.py. `guess`: where
  /// it is at the optimum.
  double penalized_threshold(double guess) const {
    if (std::isfinite(guess)) {
      const Near near(*this, guess);
      if (near.highest_before + near.passed < below_) {
        double passed = near.passed;
        for (const auto& [level, cap] : near.inside) {
          if (level + passed + cap >= below_) return std::min(between(passed), level);
          passed += cap;
        }
      }
    }
    double passed = 0.0;
    for (const auto& [level, cap] : ascending()) {
      if (level + passed + cap >= below_) return std::min(between(passed), level);
      passed += cap;
    }
    return between(passed);
  }

 private:
  using Pairs = std::vector<std::pair<double, double>>;  // level, cap

  /// Levels around a place in ascending order, and the sum of the caps before them.
  struct Near {
    Near(const Levels& all, double place) {
      const double reach = 0.02 * (1.0 + std::abs(place)), from = place - reach, to = place + reach;
      Sum before;
      for (std::size_t j = 0; j < all.level_.size(); ++j) {
        const double level = all.level_[j];
        if (level < from)
          before.add(all.cap_[j]), highest_before = std::max(highest_before, level);
        else if (level <= to)
          inside.emplace_back(level, all.cap_[j]);
      }
      passed = before.value();
      std::sort(inside.begin(), inside.end());
    }
    double passed = 0.0, highest_before = -infinity;
    Pairs inside;
  };

  Pairs ascending() const {
    Pairs pairs;
    for (std::size_t j = 0; j < level_.size(); ++j) pairs.emplace_back(level_[j], cap_[j]);
    std::sort(pairs.begin(), pairs.end());
    return pairs;
  }

  /// A difference of equal sums is 0: what rounding leaves of it would be the objective where that is 0.
  double between(double passed) const {
    const double difference = below_ - passed;
    return std::abs(difference) <= static_cast<double>(level_.size()) * epsilon * below_ ? 0.0 : difference;
  }

  std::vector<double> level_;
  std::span<const double> cap_;
  double below_ = 0.0, total_ = 0.0;  // caps of sign -1, and all
  bool any_below_ = false, any_above_ = false;
};

bool all_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

/// The best threshold k for these scores; adds its violation to the proof.
double best_threshold(const Hinges& h, std::span<const double> alpha, const KnownScores& known, Index k, Proof& proof) {
  const Levels levels(h, alpha, known, k);
  if (h.treatment == Treatment::free) {
    proof.violation = std::max(proof.violation, levels.low - levels.up);
    return levels.free_threshold();
  }
  const bool penalized = h.treatment == Treatment::penalized;
  const double b = penalized ? -proof.gamma[k] : 0.0;
  proof.violation = std::max({proof.violation, levels.low - b, b - levels.up});
  return penalized ? levels.penalized_threshold(b) : 0.0;
}

}  // namespace

double ScoreRounding::of(std::span<const double> beta) const {
  double total = 0.0, count = 0.0;
  for (const double b : beta) total += std::abs(b), count += b != 0.0;
  return (values + 0.5 * std::sqrt(count)) * epsilon * largest * total;
}

Proof prove(const Hinges& h, std::span<const double> alpha, const KnownScores& known, const ScoreRounding& round) {
  Proof proof;
  proof.thresholds.assign(h.n_thresholds, 0.0);
  proof.gamma.assign(h.n_thresholds, 0.0);
  for (Index v = 0; v < h.size(); ++v) proof.gamma[h.threshold[v]] += h.sign[v] * alpha[v];
  if (!all_finite(known.score) || !all_finite(proof.gamma)) {
    proof.gap = proof.primal = proof.dual = proof.violation = std::numeric_limits<double>::quiet_NaN();
    return proof;
  }
  const std::vector<double> beta = h.beta(alpha);
  double penalty = 0.0, dual_penalty = 0.0, distance = 0.0;
  for (Index k = 0; k < h.n_thresholds; ++k) {
    const double b = proof.thresholds[k] = best_threshold(h, alpha, known, k, proof), gamma = proof.gamma[k];
    if (h.treatment == Treatment::penalized)
      penalty += b * b, dual_penalty += gamma * gamma, distance += (b + gamma) * (b + gamma);
  }
  Sum norm, losses, offsets, terms, bounds;
  for (Index i = 0; i < h.n_samples; ++i) norm.add(beta[i] * known.score[i]);
  for (Index v = 0; v < h.size(); ++v) {
    const double offset = h.offset[v] + (known.error.empty() ? 0.0 : known.error[h.sample[v]]);
    const double slope = h.sign[v] * (known.score[h.sample[v]] - proof.thresholds[h.threshold[v]]) - offset;
    const double loss = h.cap[v] * std::max(0.0, -slope);
    losses.add(loss);
    terms.add(loss + alpha[v] * slope);
    offsets.add(offset * alpha[v]);
    bounds.add(h.cap[v] + alpha[v]);
  }
  proof.primal = 0.5 * (norm.value() + penalty) + losses.value();
  proof.dual = offsets.value() - 0.5 * (norm.value() + dual_penalty);
  proof.gap = std::max(terms.value() + 0.5 * distance, proof.primal - proof.dual) + round.of(beta) * bounds.value();
  return proof;
}

}  // namespace ordsvm
