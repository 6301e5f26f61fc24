// DCD-2 (Shi et al. 2021, Algorithm 2): one variable a sample, a relative stopping rule, and shrinking.
//
// Solves    (17) for one rank: alpha_i = alpha+_i - alpha-_i in [-C1, C1] on the rank, which pays epsilon |alpha_i|,
//           and in [0, C2] elsewhere; w = sum_i side_i alpha_i x_i, so that side_i alpha_i is the weight of row i.
// Keeps     w, and the set T of samples that are not left out.
// Step      the samples of T in a fresh random order, each to its minimum (19), (23)-(24), or out of T, if it is at a
//           bound and its slope holds it there by more than M, the largest violation of the epoch before (29)-(31).
// Stops     when the sum of |violations| (21), (27) met in an epoch over all samples is at most eps times that of the
//           first epoch (28). If it is over fewer, all of them come back first.
// Cost      of an epoch: |T| rows.
//
// Slips of the paper: (29) tests v, which is 0 for every variable that it should leave out: the slope h' is meant.
// Lines 27-30 stand inside the loop over samples and belong after it, line 30 would undo the M of line 28, and nothing
// ends the outer loop. v^0 in (28) is that of the first iteration, number 1 in the algorithm. (28) holds with equality
// too: where no sample is of another rank all violations are 0.
#pragma once

#include "linear/dcd.hpp"

namespace ordsvm::linear {

template <class Rows>
class Dcd2 {
 public:
  Dcd2(const RankSamples<Rows>& samples, const RankProblem& problem, const DcdOptions& options)
      : samples_(samples), problem_(problem), shrink_(options.shrink), random_(options.seed) {
    for (Index i = 0; i < samples.rows.size(); ++i)
      if (samples.weight[i] > 0.0) all_.push_back(static_cast<SampleIndex>(i));
    active_ = all_;
    alpha_.assign(samples.rows.size(), 0.0);
    w_.assign(samples.rows.n_weights(), 0.0);
  }

  /// One epoch, or what is left of one that had to pause: it pauses when `stop` is set.
  void epoch(double eps, const std::atomic<bool>& stop) {
    if (position_ == 0) {
      shuffle_order(active_, random_);
      met_ = {};
      kept_ = 0;
    }
    for (; position_ < active_.size(); ++position_) {
      if ((position_ + 1) % visits_between_looks == 0 && stop) return;
      const SampleIndex i = active_[position_];
      if (visit(i)) active_[kept_++] = i;
    }
    active_.resize(kept_);
    position_ = 0;
    finish(eps);
  }

  /// From other variables, given as weights of the rows, after so many epochs, the first of which met violations of
  /// this sum; w is made from them by the caller.
  void restore(std::span<const double> beta, Index epochs, double first) {
    for (std::size_t i = 0; i < alpha_.size(); ++i) alpha_[i] = problem_.side(samples_.label[i]) * beta[i];
    epochs_ = epochs;
    first_ = first;
  }

  bool optimal(double eps) const { return complete_ && within(eps); }
  double violation() const { return first_ > 0.0 ? sum_ / first_ : sum_; }
  double reference() const { return first_; }
  Index epochs() const { return epochs_; }
  Index active() const { return static_cast<Index>(active_.size()); }
  std::vector<double>& w() { return w_; }
  const std::vector<double>& w() const { return w_; }

  std::vector<double> beta() const {
    std::vector<double> beta(alpha_.size());
    for (std::size_t i = 0; i < beta.size(); ++i) beta[i] = problem_.side(samples_.label[i]) * alpha_[i];
    return beta;
  }

 private:
  struct Visit {
    double target, violation;
    bool stuck;  // at a bound by more than M
  };

  /// Lines 7-26; false if the sample is left out.
  bool visit(SampleIndex i) {
    const double side = problem_.side(samples_.label[i]);
    const double B = side * samples_.rows.dot(i, w_);
    const Visit visit = samples_.label[i] == problem_.rank ? own(i, B) : other(i, B);
    if (shrink_ && visit.stuck) return false;
    met_.note(visit.violation);
    if (visit.target != alpha_[i]) samples_.rows.add(i, (visit.target - alpha_[i]) * side, w_);  // (26)
    alpha_[i] = visit.target;
    return true;
  }

  /// Lines 10-15: a sample of another rank.
  Visit other(SampleIndex i, double B) const {
    const double alpha = alpha_[i], cap = samples_.weight[i] * problem_.C2, slope = B - 1.0;
    return {.target = std::clamp(alpha + step_to_minimum(slope, samples_.curvature[i]), 0.0, cap),  // (19)
            .violation = projected_slope(slope, alpha, cap),                                        // (21)
            .stuck = (alpha == 0.0 && slope > bar_) || (alpha == cap && slope < -bar_)};            // (29)
  }

  /// Lines 18-23: a sample of the rank. `up` and `down` are the slopes g'_p and g'_n on the sides of alpha = 0.
  Visit own(SampleIndex i, double B) const {
    const double alpha = alpha_[i], cap = samples_.weight[i] * problem_.C1, A = samples_.curvature[i];
    const double up = B + problem_.epsilon, down = B - problem_.epsilon;
    double step = -alpha;  // (24)
    if (up < A * alpha) step = step_to_minimum(up, A);
    if (down > A * alpha) step = step_to_minimum(down, A);
    const bool stuck = (alpha == 0.0 && down < -bar_ && up > bar_) || (alpha == cap && up < -bar_) ||
                       (alpha == -cap && down > bar_);                                         // (30)
    return {std::clamp(alpha + step, -cap, cap), own_violation(alpha, cap, up, down), stuck};  // (23)
  }

  /// (27)
  static double own_violation(double alpha, double cap, double up, double down) {
    if (alpha == 0.0) return std::max(0.0, down) - std::min(0.0, up);
    if (alpha == cap) return std::max(0.0, up);
    if (alpha == -cap) return std::min(0.0, down);
    return alpha > 0.0 ? up : down;
  }

  /// Lines 27-30.
  void finish(double eps) {
    sum_ = met_.sum;
    if (++epochs_ == 1) first_ = sum_;
    double parts = 0.0;
    for (const SampleIndex i : all_) parts += std::abs(alpha_[i]) * std::sqrt(samples_.curvature[i]);
    rounding_ = rounding_in(static_cast<double>(all_.size()), samples_.length, parts);
    complete_ = active_.size() == all_.size();
    bar_ = met_.largest;
    if (within(eps) && !complete_) {
      active_ = all_;
      bar_ = std::numeric_limits<double>::infinity();
    }
  }

  bool within(double eps) const { return sum_ <= std::max(eps * first_, rounding_); }

  const RankSamples<Rows>& samples_;
  RankProblem problem_;
  bool shrink_;
  Random random_;
  std::vector<double> alpha_, w_;
  std::vector<SampleIndex> all_, active_;                 // T
  double bar_ = std::numeric_limits<double>::infinity();  // M
  std::size_t position_ = 0, kept_ = 0;                   // in T, during an epoch
  Violations met_;
  double sum_ = std::numeric_limits<double>::infinity(), first_ = 0.0, rounding_ = 0.0;
  bool complete_ = false;  // whether the last epoch was over all samples
  Index epochs_ = 0;
};

}  // namespace ordsvm::linear
