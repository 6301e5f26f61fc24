// AsyGCD and AsyAGCD, asynchronous greedy coordinate descent (Gu et al. 2020, Algorithms 1, 2 and 3; Gu et al. 2018).
//
// Solves    box problems: no thresholds or penalised ones.
// Keeps     scores, shared in one of two ways (shared_states.hpp); a block of hinges for every thread.
// Step      every thread, without waiting for any other: the hinge of its block with the longest projected step (9)
//           goes to its minimum (10) on the scores as the thread sees them.
// Shrinks   (AsyAGCD) after every max_shrink_steps steps of a thread, hinges at a bound that are beyond all violations
//           of its block leave the block (owner.hpp). When the others are solved, the scores that were not kept
//           meanwhile are rebuilt by (17): from the part that comes from hinges at their caps, and the free hinges.
// Stops     when all threads, having seen all steps, find nothing to do; then scores are recomputed in double from
//           alpha, and the largest |projected gradient| (11) over all hinges and the duality gap decide. AsyAGCD
//           works to tol / 2, so that M - m <= tol, its paper's rule.
// Cost      a look at the hinges of the block; a row of K, added to n scores by atomics, or to the block's scores.
//
// What the papers leave open:
// - When to stop. A count of steps is the clock: a thread without work says up to which step it has looked; if that is
//   the last step for every thread, nobody can find work any more.
// - Drift: sums of concurrent additions, and float rows, are recomputed before the end; the threads go on from the
//   exact scores if these disagree.
// - Two threads may step against each other on the same stale score. Both see the sum afterwards and correct it; a log
//   bounds how stale a score can be.
// - Algorithm 2 never advances k in its shrinking branch and would shrink for ever; here a step comes between.
// - With atomic sharing the shared scores are complete, so shrinking shortens the search only, not the additions.
#pragma once

#include "monitor.hpp"
#include "owner.hpp"
#include "solvers/solver.hpp"
#include "threads.hpp"

namespace ordsvm {

/// How the hinges are divided and steps passed on.
enum class Sharing { atomic, log };
struct Team {
  int n_threads = 1;
  Partition partition = Partition::sample;
  Sharing sharing = Sharing::log;
  Index max_shrink_steps = 0;  // 0: no shrinking, AsyGCD
};

/// M - m, the papers' measure of optimality: the largest less the smallest projected gradient, by scores in double.
inline double exact_spread(const Hinges& h, const Variables& variables) {
  double most = 0.0, least = 0.0;
  for (Index v = 0; v < h.size(); ++v) {
    const double decision = variables.score[h.sample[v]] - variables.threshold[h.threshold[v]];
    const double gradient = h.sign[v] * decision - h.offset[v];
    const bool may_move = gradient < 0 ? variables.alpha[v] < h.cap[v] : variables.alpha[v] > 0.0;
    if (may_move) most = std::max(most, gradient), least = std::min(least, gradient);
  }
  return most - least;
}

template <class T>
class AsyGcd {
 public:
  AsyGcd(const Hinges& hinges, RowCache<T>& cache, const Variables& variables, const Team& team)
      : hinges_(hinges),
        cache_(cache),
        variables_(variables),
        team_(team),
        diagonal_(diagonal_of<T>(cache.source())),
        blocks_(partitioned(hinges, team.partition, team.n_threads)),
        rows_before_(cache.rows_computed()) {}

  Outcome run(const Limits& limits, Monitor& monitor) {
    Finish<T> finish(limits.tol, hinges_.n_samples, monitor);
    for (Index round = std::max<Index>(100 * hinges_.n_samples, 200000); finish.tol() >= least_tol<T>; round *= 2) {
      const bool quiet = solve(finish.reach(), {limits.tol, std::min(limits.max_steps, steps_ + round)}, monitor);
      if (monitor.stopped()) return outcome(Status::stopped);
      if (!recompute(cache_.source(), hinges_, variables_, monitor, steps_, rows())) return outcome(Status::stopped);
      if (imprecise_) return outcome(Status::imprecise);
      finish.set_floor(resolution<T>(hinges_, variables_.alpha, diagonal_));
      const double exact = shrinks() ? exact_spread(hinges_, variables_) : exact_violation(hinges_, variables_);
      if (quiet || exact <= finish.reach())
        if (const auto end = finish.decide(exact)) return outcome(*end);
      if (steps_ >= limits.max_steps) return outcome(Status::max_iter);
    }
    return outcome(Status::imprecise);
  }

 private:
  bool shrinks() const { return team_.max_shrink_steps > 0; }

  /// AsyGCD: until the team is quiet. AsyAGCD: until it is quiet with all hinges, after rebuilding the scores. False if
  /// steps ran out before.
  bool solve(double tol, const Limits& limits, Monitor& monitor) {
    bool quiet = true;
    Index before = steps_;
    do {
      before = steps_;
      quiet = team_.sharing == Sharing::log ? work<LogState<T>>(tol, limits, monitor)
                                            : work<AtomicState<T>>(tol, limits, monitor);
    } while (shrinks() && quiet && steps_ > before && !monitor.stopped() && exact_spread(hinges_, variables_) > tol);
    return quiet;
  }

  template <class State>
  bool work(double tol, const Limits& limits, Monitor& monitor) {
    std::vector<double> capped;
    if (shrinks() && !capped_scores(capped, monitor)) return false;
    const Start start{variables_, capped};
    Commons<T> commons{cache_, diagonal_, hinges_.penalty(), {}, steps_, {}};
    Quiet quiet(team_.n_threads);
    auto shared = State::share(start, team_.n_threads);
    Owners<State> owners;
    for (int t = 0; t < team_.n_threads; ++t)
      owners.push_back(std::make_unique<Owner<T, State>>(t, hinges_, blocks_[t], commons, start, shared));
    run_team(
        team_.n_threads, commons.stop,
        [&](int t) {
          const Index shrink_after = shrinks() ? team_.max_shrink_steps : never;
          owners[t]->work(shrinks() ? tol / 2 : tol, limits.max_steps, shrink_after, quiet);
        },
        [&] {
          if (monitor.due(commons.steps)) picture(owners, commons);
          return monitor.stop_now(commons.steps, rows());
        });
    for (auto& owner : owners) owner->gather(variables_);
    steps_ = commons.steps;
    imprecise_ = imprecise_ || commons.imprecise;
    if (shrinks() && !monitor.stopped()) rebuild(owners, monitor);
    return quiet.reached;
  }

  template <class State>
  using Owners = std::vector<std::unique_ptr<Owner<T, State>>>;

  /// A picture of the run in the caller's variables, each owner's share taken between two of its steps.
  template <class State>
  void picture(Owners<State>& owners, Commons<T>& commons) {
    for (auto& owner : owners) owner->ask();
    Index active = 0;
    for (auto& owner : owners) {
      while (!owner->shown() && !commons.stop) std::this_thread::yield();
      if (!owner->shown()) return;
      owner->fetch(variables_);
      active += owner->active();
    }
    if (!variables_.active.empty()) variables_.active[0] = active;
  }

  /// The part of the scores that comes from hinges at their caps, (16). False if asked to stop on the way.
  bool capped_scores(std::vector<double>& scores, Monitor& monitor) {
    std::vector<double> beta(hinges_.n_samples, 0.0);
    for (Index v = 0; v < hinges_.size(); ++v)
      if (variables_.alpha[v] == hinges_.cap[v]) beta[hinges_.sample[v]] += hinges_.sign[v] * hinges_.cap[v];
    scores.assign(hinges_.n_samples, 0.0);
    return add(scores, beta, monitor);
  }

  /// (17) for the samples whose scores an owner no longer kept.
  template <class State>
  void rebuild(const Owners<State>& owners, Monitor& monitor) {
    std::vector<char> kept(hinges_.n_samples, 0);
    std::vector<double> scores(hinges_.n_samples, 0.0);
    for (std::size_t t = 0; t < owners.size(); ++t) {
      for (const SampleIndex i : owners[t]->block().samples) kept[i] = 1;
      for (Index i = 0; i < blocks_[t].size(); ++i) scores[blocks_[t].samples[i]] = owners[t]->state().capped()[i];
    }
    if (std::ranges::find(kept, 0) == kept.end()) return;
    std::vector<double> beta(hinges_.n_samples, 0.0);
    for (Index v = 0; v < hinges_.size(); ++v)
      if (variables_.alpha[v] < hinges_.cap[v]) beta[hinges_.sample[v]] += hinges_.sign[v] * variables_.alpha[v];
    if (!add(scores, beta, monitor)) return;
    for (Index i = 0; i < hinges_.n_samples; ++i)
      if (!kept[i]) variables_.score[i] = scores[i];
  }

  /// scores += K beta by cached rows. False if asked to stop on the way.
  bool add(std::vector<double>& scores, const std::vector<double>& beta, Monitor& monitor) {
    for (Index i = 0; i < hinges_.n_samples; ++i) {
      if (beta[i] == 0.0) continue;
      if (monitor.stop_now(steps_, rows())) return false;
      const auto row = cache_.pin(i);
      for (Index j = 0; j < hinges_.n_samples; ++j) scores[j] += beta[i] * static_cast<double>(row.data()[j]);
    }
    return true;
  }

  Index rows() const { return cache_.rows_computed() - rows_before_; }
  Outcome outcome(Status status) const { return {status, steps_, rows()}; }

  static constexpr Index never = std::numeric_limits<Index>::max();
  const Hinges& hinges_;
  RowCache<T>& cache_;
  Variables variables_;
  Team team_;
  std::vector<T> diagonal_;
  std::vector<Block> blocks_;
  Index rows_before_;
  Index steps_ = 0;
  bool imprecise_ = false;
};

}  // namespace ordsvm
