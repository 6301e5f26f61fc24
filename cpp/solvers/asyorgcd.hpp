// AsyORGCD (Gu et al. 2020, Algorithm 4): blocks that work on private scores, refreshed only when they are done.
//
// Solves    box problems: no thresholds or penalised ones.
// Keeps     global scores, right at the start of every outer iteration; for every block private scores that know of its
//           own steps and of nothing that others did since its last refresh.
// Step      every thread: the hinge of its block with the longest projected step (9), by its private scores, goes to
//           its minimum (10); at most max_inner_steps of them an outer iteration.
// Outer     all threads meet; the steps of all are added to the global scores; blocks that found nothing to do
//           ("optimal") take fresh private scores.
// Stops     when every block, refreshed, finds nothing to do at once; then as the others: recomputed scores, gap.
// Cost      a look at the hinges of the block and a row of K for its scores, and once more for the global ones.
//
// What the paper leaves open, or gets wrong:
// - The threads add their steps to the global scores by atomics while they work, but nobody reads those before the next
//   outer iteration. Here they are added then, which is the same up to rounding, needs no atomics, and makes the method
//   deterministic for a given number of threads.
// - "All blocks optimal" (lines 4-6) is judged by stale private scores and proves nothing: blocks are refreshed and
//   have to find nothing to do once more.
// - Blocks that work long on stale scores can make the objective rise, and diverge (seen with 4 and 8 blocks). The
//   change of the objective along the common direction d is known when the threads meet: grad'd + d'Qd/2. If it is
//   not a decrease, the step along d that minimises the objective is taken instead (Manno et al. 2018, the gathering
//   step), and all blocks are refreshed. So the objective never rises.
#pragma once

#include <limits>

#include "coordinate_step.hpp"
#include "monitor.hpp"
#include "owner.hpp"
#include "solvers/asygcd.hpp"
#include "threads.hpp"

namespace ordsvm {

/// A block with private scores.
template <class T>
class PrivateBlock {
 public:
  PrivateBlock(const Block& block, Commons<T>& commons, const Start& start)
      : block_(block), commons_(commons), state_(block, commons, start), alpha_(block.id.size()) {
    for (std::size_t v = 0; v < alpha_.size(); ++v) alpha_[v] = start.variables.alpha[block.id[v]];
    projections_ = std::make_unique<Projections<T>>(block.table, state_.working(), alpha_);
    frontier_ = std::make_unique<Frontier<T>>(block.table, state_.working(), alpha_);
  }

  /// Up to `max_steps` steps on private scores; optimal() tells whether it ran out of work.
  void work(double tol, Index max_steps, const std::atomic<bool>& stop) {
    optimal_ = false;
    for (steps_ = 0; steps_ < max_steps && !stop; ++steps_) {
      const Index v = choose_hinge(block_.table, *projections_, *frontier_, state_.threshold(), tol);
      if (v < 0) {
        optimal_ = true;
        return;
      }
      if (std::abs(slope_of(block_.table, state_, v)) <= tol) {
        commons_.imprecise = true;
        return;
      }
      coordinate_step(block_.table, state_, alpha_[v], v);
      projections_->update(v, alpha_[v]);
      frontier_->update(v, alpha_[v]);
    }
  }

  /// Takes over the global scores, thresholds and alpha.
  void refresh(const Variables& global) {
    state_.assign(global);
    for (std::size_t v = 0; v < alpha_.size(); ++v) {
      alpha_[v] = global.alpha[block_.id[v]];
      projections_->update(v, alpha_[v]);
      frontier_->update(v, alpha_[v]);
    }
  }

  bool optimal() const { return optimal_; }
  Index steps() const { return steps_; }
  std::span<const double> alpha() const { return alpha_; }

 private:
  /// Scores to which only the owner's steps are added.
  class PrivateState : public OwnScores<T> {
   public:
    using OwnScores<T>::OwnScores;
    void add(Index i, Index k, double delta) {
      this->apply({this->global(i), static_cast<SampleIndex>(k), delta, 0.0});
    }
    void assign(const Variables& global) {
      this->scores_.assign(this->picked(global.score, *this->block_));
      std::copy(global.threshold.begin(), global.threshold.end(), this->threshold_.begin());
    }
  };

  const Block& block_;
  Commons<T>& commons_;
  PrivateState state_;
  std::vector<double> alpha_;
  std::unique_ptr<Projections<T>> projections_;
  std::unique_ptr<Frontier<T>> frontier_;
  bool optimal_ = false;
  Index steps_ = 0;
};

template <class T>
class AsyOrgcd {
 public:
  AsyOrgcd(const Hinges& hinges, RowCache<T>& cache, const Variables& variables, const Team& team,
           Index max_inner_steps)
      : hinges_(hinges),
        cache_(cache),
        variables_(variables),
        team_(team),
        max_inner_steps_(max_inner_steps),
        diagonal_(diagonal_of<T>(cache.source())),
        blocks_(partitioned(hinges, team.partition, team.n_threads)),
        commons_{cache, diagonal_, hinges.penalty()},
        rows_before_(cache.rows_computed()) {}

  Outcome run(const Limits& limits, Monitor& monitor) {
    Finish<T> finish(limits.tol, hinges_.n_samples, monitor);
    for (Index round = std::max<Index>(100 * hinges_.n_samples, 200000); finish.tol() >= least_tol<T>; round *= 2) {
      const bool done =
          outer_iterations(finish.reach(), {limits.tol, std::min(limits.max_steps, steps_ + round)}, monitor);
      if (monitor.stopped()) return outcome(Status::stopped);
      if (!recompute(cache_.source(), hinges_, variables_, monitor, steps_, rows())) return outcome(Status::stopped);
      if (commons_.imprecise) return outcome(Status::imprecise);
      finish.set_floor(resolution<T>(hinges_, variables_.alpha, diagonal_));
      const double exact = exact_violation(hinges_, variables_);
      if (done || exact <= finish.reach())
        if (const auto end = finish.decide(exact)) return outcome(*end);
      if (steps_ >= limits.max_steps) return outcome(Status::max_iter);
    }
    return outcome(Status::imprecise);
  }

 private:
  /// False if steps ran out, or somebody said stop.
  bool outer_iterations(double tol, const Limits& limits, Monitor& monitor) {
    std::vector<std::unique_ptr<PrivateBlock<T>>> team;
    for (const Block& block : blocks_)
      team.push_back(std::make_unique<PrivateBlock<T>>(block, commons_, Start{variables_}));
    for (bool all_fresh = true; steps_ < limits.max_steps;) {
      const Index most = std::min(max_inner_steps_, (limits.max_steps - steps_ - 1) / team_.n_threads + 1);
      together([&](int t) { team[t]->work(tol, most, commons_.stop); }, monitor);
      Index taken = 0;
      bool all_optimal = true;
      for (auto& block : team) taken += block->steps(), all_optimal = all_optimal && block->optimal();
      steps_ += taken;
      if (taken == 0 && all_fresh && all_optimal) return true;
      const bool refresh_all = !gather(team, monitor) || all_optimal;
      all_fresh = true;
      for (auto& block : team)
        if (refresh_all || block->optimal())
          block->refresh(variables_);
        else
          all_fresh = false;
      if (monitor.stop_now(steps_, rows()) || commons_.imprecise) return false;
    }
    return false;
  }

  /// Adds what all blocks did to alpha, scores and thresholds. False if it had to be shortened.
  bool gather(const std::vector<std::unique_ptr<PrivateBlock<T>>>& team, Monitor& monitor) {
    std::vector<double> moved(hinges_.size(), 0.0), beta(hinges_.n_samples, 0.0), gamma(hinges_.n_thresholds, 0.0);
    double slope = 0.0;  // grad'd
    for (std::size_t t = 0; t < team.size(); ++t)
      for (std::size_t p = 0; p < blocks_[t].id.size(); ++p) {
        const Index v = blocks_[t].id[p];
        moved[v] = team[t]->alpha()[p] - variables_.alpha[v];
        if (moved[v] == 0.0) continue;
        const Index i = hinges_.sample[v], k = hinges_.threshold[v];
        slope += moved[v] * (hinges_.sign[v] * (variables_.score[i] - variables_.threshold[k]) - hinges_.offset[v]);
        beta[i] += hinges_.sign[v] * moved[v];
        gamma[k] += hinges_.penalty() * hinges_.sign[v] * moved[v];
      }
    const std::vector<double> score = scores_of(beta, monitor);
    double curvature = 0.0;  // d'Qd
    for (Index i = 0; i < hinges_.n_samples; ++i) curvature += beta[i] * score[i];
    for (const double g : gamma) curvature += g * g;
    const bool falls = slope + 0.5 * curvature <= 0.0;
    const double length = falls || curvature <= 0.0 ? 1.0 : std::clamp(-slope / curvature, 0.0, 1.0);
    for (std::size_t t = 0; t < team.size(); ++t)
      for (std::size_t p = 0; p < blocks_[t].id.size(); ++p) {
        const Index v = blocks_[t].id[p];  // a whole step goes exactly where the block went: bounds stay exact
        variables_.alpha[v] = length == 1.0 ? team[t]->alpha()[p] : variables_.alpha[v] + length * moved[v];
      }
    for (Index i = 0; i < hinges_.n_samples; ++i) variables_.score[i] += length * score[i];
    for (Index k = 0; k < hinges_.n_thresholds; ++k) variables_.threshold[k] -= length * gamma[k];
    return length == 1.0;
  }

  /// K beta, every thread for an equal part of the samples.
  std::vector<double> scores_of(const std::vector<double>& beta, Monitor& monitor) {
    std::vector<double> score(hinges_.n_samples, 0.0);
    together(
        [&](int t) {
          const Index first = hinges_.n_samples * t / team_.n_threads;
          const Index last = hinges_.n_samples * (t + 1) / team_.n_threads;
          for (Index i = 0; i < hinges_.n_samples; ++i) {
            if (beta[i] == 0.0) continue;
            const auto row = cache_.pin(i);
            for (Index j = first; j < last; ++j) score[j] += beta[i] * static_cast<double>(row.data()[j]);
          }
        },
        monitor);
    return score;
  }

  template <class Work>
  void together(Work work, Monitor& monitor) {
    commons_.stop = monitor.stopped();
    run_team(team_.n_threads, commons_.stop, work, [&] { return monitor.stop_now(steps_, rows()); });
  }

  Index rows() const { return cache_.rows_computed() - rows_before_; }
  Outcome outcome(Status status) const { return {status, steps_, rows()}; }

  const Hinges& hinges_;
  RowCache<T>& cache_;
  Variables variables_;
  Team team_;
  Index max_inner_steps_;
  std::vector<T> diagonal_;
  std::vector<Block> blocks_;
  Commons<T> commons_;
  Index rows_before_;
  Index steps_ = 0;
};

}  // namespace ordsvm
