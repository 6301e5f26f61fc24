// DCD-1 (Shi et al. 2021, Algorithm 1): the dual (6) of NPSVOR by the coordinate descent of Hsieh et al. 2008.
//
// Solves    (6) for one rank: n + l variables, two for each of the l samples of the rank.
// Keeps     w.
// Step      every variable in turn goes to its minimum (13): the alpha+ of the rank, then its alpha-, then the beta of
//           the others; with `permute` in a fresh random order every epoch, as LIBLINEAR does and the paper does not
//           say.
// Stops     when the largest |violation| (15) met in an epoch is at most eps.
// Cost      of an epoch: n + l rows.
//
// Slips of the paper: it names the blocks alpha-, alpha+, beta, but (12) and (14) treat the first as (7) treats alpha+
// and the second as alpha-, and leave side out of the third. Algorithm 1 says "while alpha is not optimal"; the text
// below it has the largest violation stop. Shrinking is mentioned there without a rule, so there is none here.
#pragma once

#include <numeric>

#include "linear/dcd.hpp"

namespace ordsvm::linear {

template <class Rows>
class Dcd1 {
 public:
  Dcd1(const RankSamples<Rows>& samples, const RankProblem& problem, const DcdOptions& options)
      : samples_(samples), problem_(problem), permute_(options.permute), random_(options.seed) {
    for (const bool own : {true, false}) {
      for (Index i = 0; i < samples.rows.size(); ++i)
        if (samples.weight[i] > 0.0 && (samples.label[i] == problem.rank) == own) sample_.push_back(i);
      if (own) n_own_ = sample_.size();
    }
    alpha_.assign(sample_.size() + n_own_, 0.0);
    order_.resize(alpha_.size());
    std::iota(order_.begin(), order_.end(), 0);
    w_.assign(samples.rows.n_weights(), 0.0);
  }

  /// One epoch, or what is left of one that had to pause: it pauses when `stop` is set.
  void epoch(double, const std::atomic<bool>& stop) {
    if (position_ == 0) {
      if (permute_) shuffle_order(order_, random_);
      met_ = {};
    }
    for (; position_ < order_.size(); ++position_) {
      if ((position_ + 1) % visits_between_looks == 0 && stop) return;
      visit(order_[position_]);
    }
    position_ = 0;
    violation_ = met_.largest;
    double parts = 0.0;
    for (std::size_t v = 0; v < alpha_.size(); ++v) parts += alpha_[v] * std::sqrt(samples_.curvature[sample(v)]);
    rounding_ = rounding_in(1.0, samples_.longest, parts);
    ++epochs_;
  }

  /// From other variables, given as weights of the rows, after so many epochs; w is made from them by the caller.
  void restore(std::span<const double> beta, Index epochs, double) {
    for (std::size_t v = 0; v < alpha_.size(); ++v) alpha_[v] = std::max(0.0, direction(v) * beta[sample(v)]);
    epochs_ = epochs;
  }

  bool optimal(double eps) const { return epochs_ > 0 && violation_ <= std::max(eps, rounding_); }
  double violation() const { return violation_; }
  double reference() const { return 1.0; }
  Index epochs() const { return epochs_; }
  Index active() const { return static_cast<Index>(alpha_.size()); }
  std::vector<double>& w() { return w_; }
  const std::vector<double>& w() const { return w_; }

  /// The weights of the rows in w (7).
  std::vector<double> beta() const {
    std::vector<double> beta(samples_.rows.size(), 0.0);
    for (std::size_t v = 0; v < alpha_.size(); ++v) beta[sample(v)] += direction(v) * alpha_[v];
    return beta;
  }

 private:
  bool own(std::size_t v) const { return v < 2 * n_own_; }
  Index sample(std::size_t v) const { return sample_[v < n_own_ ? v : v - n_own_]; }
  /// Which way w goes along x when the variable grows.
  double direction(std::size_t v) const {
    if (own(v)) return v < n_own_ ? -1.0 : 1.0;
    return problem_.side(samples_.label[sample(v)]);
  }

  void visit(std::size_t v) {
    const Index i = sample(v);
    const double cap = samples_.weight[i] * (own(v) ? problem_.C1 : problem_.C2);
    const double slope = direction(v) * samples_.rows.dot(i, w_) + (own(v) ? problem_.epsilon : -1.0);  // (12)
    const double violation = projected_slope(slope, alpha_[v], cap);
    met_.note(violation);
    if (violation == 0.0) return;
    const double target = std::clamp(alpha_[v] + step_to_minimum(slope, samples_.curvature[i]), 0.0, cap);  // (13)
    samples_.rows.add(i, direction(v) * (target - alpha_[v]), w_);                                          // (14)
    alpha_[v] = target;
  }

  const RankSamples<Rows>& samples_;
  RankProblem problem_;
  bool permute_;
  Random random_;
  std::vector<Index> sample_;  // those of the rank, then the others
  std::size_t n_own_ = 0;
  std::vector<double> alpha_;  // alpha+ and alpha- of the rank, beta of the others
  std::vector<double> w_;
  std::vector<std::size_t> order_;
  std::size_t position_ = 0;
  Violations met_;
  double violation_ = std::numeric_limits<double>::infinity(), rounding_ = 0.0;
  Index epochs_ = 0;
};

}  // namespace ordsvm::linear
