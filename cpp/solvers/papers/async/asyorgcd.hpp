// AsyORGCD (Gu et al. 2020, Algorithm 4): shares that work on private scores, refreshed only when they are done.
//
// Solves    box problems: no thresholds or penalised ones.
// Keeps     global scores, right at the start of every outer iteration; for every share private scores that have its
//           own steps and none that others took since its last refresh.
// Step      every thread: the hinge of its share with the longest projected step (9), by its private scores, goes to
//           its minimum (10); at most max_inner_steps of them an outer iteration.
// Outer     all threads meet; the steps of all are added to the global scores; shares that found nothing to do
//           ("optimal") take fresh private scores.
// Stops     when every share, refreshed, finds nothing to do at once; then as the others: recomputed scores, gap.
// Cost      a look at the hinges of the share and a row of K for its scores, and once more for the global ones.
//
// What the paper leaves open, or gets wrong:
// - The threads add their steps to the global scores by atomics while they work, but none reads those before the next
//   outer iteration. Here they are added then, which is the same up to rounding, needs no atomics, and makes the method
//   deterministic for a given number of threads.
// - "All optimal" (lines 4-6) is judged by stale private scores and proves nothing: shares are refreshed and
//   have to find nothing to do once more.
// - Blocks that work long on stale scores can make the objective rise, diverge, or go to and fro for very long (seen
//   with 4 and 8 shares). The change of the objective along the common direction d is known when the threads meet:
//   grad'd + d'Qd/2. If that is less than half of what the best step along d would gain, the best step is taken instead
//   (Manno et al. 2018, the gathering step), and all shares are refreshed. So the objective always falls.
// - Without gathering all that the shares did is taken: the paper's iterates. It converges with two shares where it was
//   tried, at about the steps of the other, and not with four or eight (benchmarks/results/asy-gathering.json). Lines 4
//   to 6 are not followed even then: where all shares are optimal, lines 7 to 12 refresh them all, and the next outer
//   iteration shows whether that was the end. After some 100 n steps scores are recomputed and all shares refreshed.
// - A share that is optimal (lines 16 to 18) takes no further steps; printed, it goes on with steps below epsilon.
#pragma once

#include <algorithm>

#include "solvers/papers/async/owner.hpp"
#include "solvers/papers/async/team_solver.hpp"

namespace ordsvm {

/// The hinges of one thread with private scores.
template <class T>
class PrivateHinges {
 public:
  PrivateHinges(const OwnedHinges& owned, Commons<T>& commons, const Start& start)
      : owned_(owned), commons_(commons), state_(owned, commons, start), alpha_(owned.id.size()) {
    for (std::size_t v = 0; v < alpha_.size(); ++v) alpha_[v] = start.variables.alpha[owned.id[v]];
    projections_ = std::make_unique<Projections<T>>(owned.hinges, state_.working(), alpha_);
    frontier_ = std::make_unique<Frontier<T>>(owned.hinges, state_.working(), alpha_);
  }

  /// Up to `max_steps` steps on private scores; optimal(): whether it ran out of work.
  void work(double tol, Index max_steps) {
    optimal_ = false;
    for (steps_ = 0; steps_ < max_steps && !commons_.stop; ++steps_) {
      commons_.wait_for_report();
      const Index v = choose_hinge(owned_.hinges, state_, *projections_, *frontier_, state_.threshold(), tol).hinge;
      if (v < 0) {
        optimal_ = true;
        return;
      }
      coordinate_step(owned_.hinges, state_, alpha_[v], v);
      commons_.set_alpha(owned_.id[v], alpha_[v]);
      commons_.steps.fetch_add(1, std::memory_order_relaxed);
      projections_->update(v, alpha_[v]);
      frontier_->update(v, alpha_[v]);
    }
  }

  /// Takes over the global scores, thresholds and alpha.
  void refresh(const Variables& global) {
    state_.assign(global);
    for (std::size_t v = 0; v < alpha_.size(); ++v) {
      alpha_[v] = global.alpha[owned_.id[v]];
      projections_->update(v, alpha_[v]);
      frontier_->update(v, alpha_[v]);
    }
  }

  bool optimal() const { return optimal_; }
  Index steps() const { return steps_; }

 private:
  /// Scores to which only the owner's steps are added.
  class PrivateState : public OwnScores<T> {
   public:
    using OwnScores<T>::OwnScores;
    void add(Index i, Index k, double delta) {
      this->apply({this->global(i), static_cast<SampleIndex>(k), delta, 0.0});
    }
    void assign(const Variables& global) {
      this->scores_.assign(this->picked(global.score, *this->owned_));
      std::copy(global.threshold.begin(), global.threshold.end(), this->threshold_.begin());
    }
  };

  const OwnedHinges& owned_;
  Commons<T>& commons_;
  PrivateState state_;
  std::vector<double> alpha_;
  std::unique_ptr<Projections<T>> projections_;
  std::unique_ptr<Frontier<T>> frontier_;
  bool optimal_ = false;
  Index steps_ = 0;
};

struct OuterIterations {
  Index max_inner_steps;
  bool gathering = true;  // false: all that the shares did is taken, as printed
};

template <class T>
class AsyOrgcd final : public TeamSolver<T> {
 public:
  AsyOrgcd(const Hinges& hinges, RowCache<T>& cache, const Variables& variables, const Team& team,
           const OuterIterations& outer)
      : TeamSolver<T>(hinges, cache, variables, team), outer_(outer) {}

 private:
  using TeamSolver<T>::hinges_, TeamSolver<T>::variables_, TeamSolver<T>::team_, TeamSolver<T>::owned_;
  using TeamSolver<T>::steps_;

  /// Outer iterations.
  bool work(double tol, Index max_steps, Monitor& monitor) override {
    Commons<T> commons = this->commons();
    std::vector<std::unique_ptr<PrivateHinges<T>>> team;
    for (const OwnedHinges& owned : owned_)
      team.push_back(std::make_unique<PrivateHinges<T>>(owned, commons, Start{variables_}));
    met_.assign(variables_.alpha.begin(), variables_.alpha.end());
    for (bool all_fresh = true; steps_ < max_steps;) {
      const Index most = std::min(outer_.max_inner_steps, (max_steps - steps_ - 1) / team_.n_threads + 1);
      this->together(commons, monitor, [&](int t) { team[t]->work(tol, most); });
      Index taken = 0;
      bool all_optimal = true;
      for (auto& owned : team) taken += owned->steps(), all_optimal = all_optimal && owned->optimal();
      if (taken == 0 && all_fresh && all_optimal) return true;
      const bool refresh_all = !gather(commons, monitor) || all_optimal;
      steps_ += taken;  // alpha has these steps by now
      if (monitor.stop_now(steps_, this->rows())) return false;
      all_fresh = true;
      for (auto& owned : team)
        if (refresh_all || owned->optimal())
          owned->refresh(variables_);
        else
          all_fresh = false;
    }
    return false;
  }

  /// Adds what all shares did to alpha, scores and thresholds. False if it had to be shortened.
  bool gather(Commons<T>& commons, Monitor& monitor) {
    std::vector<double> moved(hinges_.size(), 0.0), beta(hinges_.n_samples, 0.0), gamma(hinges_.n_thresholds, 0.0);
    double slope = 0.0;  // grad'd
    for (Index v = 0; v < hinges_.size(); ++v) {
      moved[v] = commons.alpha[v] - met_[v];
      if (moved[v] == 0.0) continue;
      const Index i = hinges_.sample[v], k = hinges_.threshold[v];
      slope += moved[v] * (hinges_.sign[v] * (variables_.score[i] - variables_.threshold[k]) - hinges_.offset[v]);
      beta[i] += hinges_.sign[v] * moved[v];
      gamma[k] += hinges_.penalty() * hinges_.sign[v] * moved[v];
    }
    const std::vector<double> score = this->scores_of(beta, monitor, TeamSolver<T>::Interruptible::no);
    double curvature = 0.0;  // d'Qd
    for (Index i = 0; i < hinges_.n_samples; ++i) curvature += beta[i] * score[i];
    for (const double g : gamma) curvature += g * g;
    const double length = outer_.gathering ? step_length(slope, curvature) : 1.0;
    for (Index v = 0; v < hinges_.size(); ++v)  // a whole step goes exactly where the shares went: bounds stay exact
      met_[v] = length == 1.0 ? commons.alpha[v] : met_[v] + length * moved[v];
    for (Index i = 0; i < hinges_.n_samples; ++i) variables_.score[i] += length * score[i];
    for (Index k = 0; k < hinges_.n_thresholds; ++k) variables_.threshold[k] -= length * gamma[k];
    commons.alpha = met_;
    std::copy(met_.begin(), met_.end(), variables_.alpha.begin());
    return length == 1.0;
  }

  /// 1, unless that gains less than half of what the best step along the direction would.
  static double step_length(double slope, double curvature) {
    if (curvature <= 0.0) return 1.0;
    const double best = std::clamp(-slope / curvature, 0.0, 1.0);
    const auto change = [&](double t) { return t * (slope + 0.5 * t * curvature); };
    return change(1.0) <= 0.5 * change(best) ? 1.0 : best;
  }

  OuterIterations outer_;
  std::vector<double> met_;  // alpha when all last met
};

}  // namespace ordsvm
