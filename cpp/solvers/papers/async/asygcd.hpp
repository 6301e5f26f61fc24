// AsyGCD and AsyAGCD, asynchronous greedy coordinate descent (Gu et al. 2020, Algorithms 1, 2 and 3; Gu et al. 2018).
//
// Solves    box problems: no thresholds or penalised ones.
// Keeps     scores, shared in one of two ways (shared_state.hpp); a share of the hinges for every thread.
// Step      every thread, without waiting for any other: the hinge of its share with the longest projected step (9)
//           goes to its minimum (10) on the scores as the thread sees them.
// Shrinks   (AsyAGCD) after every max_shrink_steps steps of a thread, hinges at a bound that are beyond all violations
//           of its share leave the share (owner.hpp); or after so many steps of all, those beyond all violations. When
//           the others are solved, the scores that were not kept meanwhile are rebuilt by (17): from the part that
//           comes from hinges at their caps, and the free hinges.
// Meets     (safeguard.hpp) after n steps at first: where simultaneous steps undo each other, fewer threads go on.
// Stops     when all threads, having seen all steps, find nothing to do; then scores are recomputed in double from
//           alpha, and the largest |projected gradient| (11) over all hinges and the duality gap decide. AsyAGCD
//           works to tol / 2, so that M - m <= tol, its paper's rule.
// Cost      a look at the hinges of the share; a row of K, added to n scores by atomics, or to the share's scores.
//
// What the papers leave open:
// - When to stop. A count of steps is the clock: a thread without work publishes up to which step it has looked;
//   if that is the last step for every thread, no thread can find work any more.
// - Drift: sums of concurrent additions, and float rows, are recomputed before the end; the threads go on from the
//   exact scores if these disagree.
// - Threads may step against each other on the same stale scores. Two see the sum afterwards and correct it; many can
//   overshoot for ever, which safeguard.hpp ends.
// - A thread that is far ahead of the others solves its share again and again for scores that are about to change. With
//   pace > 0 it waits while its longest step is below that share of another thread's. Two threads, C = 1, steps with
//   pace 0 and 0.1 (serial): a9a 352,000 and 131,000 (70,000), ijcnn1 463,000 and 157,000 (62,000), california 248,000
//   and 247,000 (156,000). With 0.5 and 0.8 threads wait too long for each other.
// - Algorithm 2 never advances k in its shrinking branch and would shrink for ever; here a step comes between.
// - The papers' M, m and k are of all groups: Shrink::global, for which all threads meet, at k = 0 of every outer
//   iteration too, as line 4 has it. The papers' threads do not wait for each other there; how they then agree on M and
//   m is left open. Shrink::block needs no meeting: a thread shrinks by the violations of its own hinges, which are
//   fewer, so that more hinges go, after so many steps of its own. Two threads took 1.0 to 1.2 times the processor's
//   time with global bounds and 0.8 to 1.0 times the steps (first 8000 rows of three data sets, 10,000 steps between,
//   medians of five: benchmarks/results/asy-active.json); on small data, where meetings weigh more, 1.4 times the time.
//   Block is the default.
// - With atomic sharing the shared scores are complete, so shrinking shortens the search only, not the additions.
#pragma once

#include <algorithm>
#include <optional>

#include "solvers/papers/async/owner.hpp"
#include "solvers/papers/async/safeguard.hpp"
#include "solvers/papers/async/team_solver.hpp"

namespace ordsvm {

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
class AsyGcd final : public TeamSolver<T> {
 public:
  AsyGcd(const Hinges& hinges, RowCache<T>& cache, const Variables& variables, const Team& team)
      : TeamSolver<T>(hinges, cache, variables, team), safeguard_(team_.n_threads, hinges.n_samples) {
    // A report may come before the first count, while the scores of hinges at their caps are summed up.
    if (!variables.active.empty()) variables.active[0] = hinges.size();
  }

 private:
  using TeamSolver<T>::hinges_, TeamSolver<T>::variables_, TeamSolver<T>::team_, TeamSolver<T>::owned_;
  using TeamSolver<T>::steps_, TeamSolver<T>::cache_;

  static constexpr Index never = std::numeric_limits<Index>::max();
  template <class State>
  using Owners = std::vector<std::unique_ptr<Owner<T, State>>>;

  bool shrinks() const { return team_.max_shrink_steps > 0; }
  bool shrinks_together() const { return shrinks() && team_.shrink == Shrink::global; }
  double optimality() const override {
    return shrinks() ? exact_spread(hinges_, variables_) : exact_violation(hinges_, variables_);
  }

  /// AsyGCD: until the team is quiet. AsyAGCD: until it is quiet with all hinges, after rebuilding the scores. Either
  /// starts anew with fewer owners where the safeguard demands it.
  bool work(double tol, Index max_steps, Monitor& monitor) override {
    bool quiet = true, again = true;
    while (again) {
      const Index before = steps_;
      quiet = team_.sharing == Sharing::log ? work_by<LogState<T>>(tol, max_steps, monitor)
                                            : work_by<AtomicState<T>>(tol, max_steps, monitor);
      const bool fewer = static_cast<int>(owned_.size()) > safeguard_.n_owners();
      if (fewer) {
        owned_ = partitioned(hinges_, team_.partition, safeguard_.n_owners());
        window_.reset();
      }
      again = !monitor.stopped() &&
              (fewer ? steps_ < max_steps : shrinks() && quiet && steps_ > before && optimality() > tol);
    }
    return quiet;
  }

  template <class State>
  bool work_by(double tol, Index max_steps, Monitor& monitor) {
    const std::vector<double> capped = shrinks() ? capped_scores(monitor) : std::vector<double>();
    const Start start{variables_, capped};
    Commons<T> commons = this->commons();
    commons.stop = monitor.stopped();
    const int n_owners = static_cast<int>(owned_.size());
    Quiet quiet(n_owners);
    auto shared = State::share(start, n_owners);
    Owners<State> owners;
    for (int t = 0; t < n_owners; ++t)
      owners.push_back(std::make_unique<Owner<T, State>>(t, hinges_, owned_[t], commons, start, shared));
    count_active_ = [&] {
      Index active = 0;
      for (const auto& owner : owners) active += owner->active();
      return active;
    };
    const Limits limits{shrinks() ? tol / 2 : tol, max_steps};
    const auto verdict = work_together(owners, commons, limits, quiet, monitor);
    commons.show(variables_.alpha);
    for (auto& owner : owners) owner->gather(variables_.score);
    const auto threshold = owners.front()->state().threshold();
    std::copy(threshold.begin(), threshold.end(), variables_.threshold.begin());
    steps_ = commons.steps;
    if (verdict == Safeguard::Verdict::back)
      go_back(monitor);
    else if (shrinks() && !monitor.stopped())
      rebuild(owners, monitor);
    return quiet.reached;
  }

  /// Works from one meeting of the owners to the next: where the safeguard judges, or all shrink.
  template <class State>
  Safeguard::Verdict work_together(Owners<State>& owners, Commons<T>& commons, const Limits& limits, Quiet& quiet,
                                   Monitor& monitor) {
    if (!window_ && owners.size() > 1) begin_window(owners, commons);
    const Index shrink_every = shrinks() && !shrinks_together() ? team_.max_shrink_steps : never;
    for (Index next_shrink = shrinks_together() ? commons.steps.load() : never;;) {
      if (commons.steps >= next_shrink) {
        shrink_all(owners);
        next_shrink = commons.steps + team_.max_shrink_steps;
      }
      const Index until = std::min({limits.max_steps, next_shrink, window_ ? window_->end : never});
      commons.meet = false;
      this->together(commons, monitor, [&](int t) { owners[t]->work(limits.tol, until, shrink_every, quiet); });
      for (auto& owner : owners) {
        owner->catch_up();
        if (window_) window_->predicted += owner->predicted();
      }
      if (commons.stop) return Safeguard::Verdict::go_on;
      if (window_ && commons.steps >= window_->end) {
        const double fallen = window_->objective - objective(owners, commons.alpha);
        const auto verdict = safeguard_.judge(window_->predicted, fallen);
        if (verdict != Safeguard::Verdict::go_on) return verdict;
        begin_window(owners, commons);
      }
      if (commons.steps >= limits.max_steps) return Safeguard::Verdict::go_on;
    }
  }

  template <class State>
  void begin_window(const Owners<State>& owners, const Commons<T>& commons) {
    window_ = {commons.alpha, objective(owners, commons.alpha), commons.steps + safeguard_.window()};
  }

  template <class State>
  double objective(const Owners<State>& owners, std::span<const double> alpha) const {
    double value = 0.0;
    for (const auto& owner : owners) value += owner->objective(alpha);
    for (const double b : owners.front()->state().threshold()) value += 0.5 * hinges_.penalty() * b * b;
    return value;
  }

  /// Gu et al. 2020, lines 14 to 16 of Algorithm 2, with bounds of all shares.
  template <class State>
  static void shrink_all(Owners<State>& owners) {
    Spread spread;
    for (const auto& owner : owners) spread.include(owner->spread());
    for (auto& owner : owners) owner->shrink(spread);
  }

  /// To the alpha of the last meeting.
  void go_back(Monitor& monitor) {
    std::copy(window_->alpha.begin(), window_->alpha.end(), variables_.alpha.begin());
    recompute(cache_.source(), hinges_, variables_, monitor, steps_, this->rows(), team_.n_threads);
  }

  void show() override {
    if (!variables_.active.empty()) variables_.active[0] = count_active_();
  }

  /// The part of the scores that comes from hinges at their caps, (16).
  std::vector<double> capped_scores(Monitor& monitor) {
    std::vector<double> beta(hinges_.n_samples, 0.0);
    for (Index v = 0; v < hinges_.size(); ++v)
      if (variables_.alpha[v] == hinges_.cap[v]) beta[hinges_.sample[v]] += hinges_.sign[v] * hinges_.cap[v];
    return this->scores_of(beta, monitor);
  }

  /// (17) for the samples whose scores an owner no longer kept.
  template <class State>
  void rebuild(const Owners<State>& owners, Monitor& monitor) {
    std::vector<char> kept(hinges_.n_samples, 0);
    std::vector<double> capped(hinges_.n_samples, 0.0);
    for (std::size_t t = 0; t < owners.size(); ++t) {
      for (const SampleIndex i : owners[t]->owned().samples) kept[i] = 1;
      for (Index i = 0; i < owned_[t].size(); ++i) capped[owned_[t].samples[i]] = owners[t]->state().capped()[i];
    }
    if (std::find(kept.begin(), kept.end(), 0) == kept.end()) return;
    std::vector<double> beta(hinges_.n_samples, 0.0);
    for (Index v = 0; v < hinges_.size(); ++v)
      if (variables_.alpha[v] < hinges_.cap[v]) beta[hinges_.sample[v]] += hinges_.sign[v] * variables_.alpha[v];
    const std::vector<double> rest = this->scores_of(beta, monitor);
    for (Index i = 0; i < hinges_.n_samples; ++i)
      if (!kept[i]) variables_.score[i] = capped[i] + rest[i];
  }

  /// What is remembered of the last meeting that the safeguard judged at.
  struct Window {
    std::vector<double> alpha;
    double objective;
    Index end;               // the number of steps at the next one
    double predicted = 0.0;  // gains of the steps since, each alone
  };

  std::function<Index()> count_active_;
  Safeguard safeguard_;
  std::optional<Window> window_;
};

}  // namespace ordsvm
