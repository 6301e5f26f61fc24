// What the asynchronous solvers have in common: rounds of work by a team, each followed by an exact look at the result.
#pragma once

#include <algorithm>
#include <atomic>
#include <limits>
#include <vector>

#include "base/monitor.hpp"
#include "base/stopping.hpp"
#include "parallel/partition.hpp"
#include "parallel/team.hpp"
#include "solvers/gcd.hpp"
#include "solvers/papers/async/shared_state.hpp"

namespace ordsvm {

/// How the hinges are divided and steps passed on.
enum class Sharing { atomic, log };
/// By which bounds AsyAGCD leaves hinges out, and when: those of a share after so many steps of its owner, or those of
/// all shares after so many steps of all, as in the papers.
enum class Shrink { block, global };
struct Team {
  int n_threads = 1;
  Partition partition = Partition::sample;
  Sharing sharing = Sharing::log;
  Index max_shrink_steps = 0;  // 0: no shrinking, AsyGCD
  double pace = 0.0;           // see Commons
  Shrink shrink = Shrink::block;
};

template <class T>
class TeamSolver {
 public:
  virtual ~TeamSolver() = default;

  Outcome run(const Limits& limits, Monitor& monitor) {
    Finish<T> finish(limits.tol, hinges_.n_samples, monitor);
    // A start that is a solution is left alone: threads work to less than tol, and would step from it.
    if (const double exact = optimality(); exact <= finish.tol())
      if (const auto end = finish.decide(exact)) return outcome(*end);
    for (Index round = std::max<Index>(100 * hinges_.n_samples, 200000); finish.tol() >= min_tol<T>; round *= 2) {
      const Index before = steps_;
      const bool quiet = work(finish.aim(), std::min(limits.max_steps, steps_ + round), monitor);
      if (monitor.stopped()) return outcome(Status::stopped);
      if (!recompute(cache_.source(), hinges_, variables_, monitor, steps_, rows(), team_.n_threads))
        return outcome(Status::stopped);
      finish.set_floor(resolution<T>(hinges_, variables_.alpha, diagonal_));
      const double exact = optimality();
      const bool stuck =
          quiet && steps_ == before && exact > finish.reach();  // no thread sees a violation that exact scores have
      if (quiet || exact <= finish.reach())
        if (const auto end = finish.decide(exact)) return outcome(*end);
      if (steps_ >= limits.max_steps) return outcome(Status::max_iter);
      if (stuck) break;
    }
    return outcome(Status::imprecise);
  }

 protected:
  TeamSolver(const Hinges& hinges, RowCache<T>& cache, const Variables& variables, const Team& team)
      : hinges_(hinges),
        cache_(cache),
        variables_(variables),
        team_(team),
        diagonal_(diagonal_of<T>(cache.source())),
        rows_before_(cache.rows_computed()) {
    // Owners wait for each other: there are as many as the system starts threads, or one, on the calling thread.
    team_.n_threads = std::max(1, threads_.grow(team.n_threads));
    owned_ = partitioned(hinges, team.partition, team_.n_threads);
  }

  /// Steps on alpha, scores and thresholds until no thread finds a violation above tol. False if it ended before.
  virtual bool work(double tol, Index max_steps, Monitor& monitor) = 0;

  /// What has to come down to tol, by exact scores.
  virtual double optimality() const { return exact_violation(hinges_, variables_); }

  Commons<T> commons() const {
    return {cache_,
            diagonal_,
            hinges_.penalty(),
            {variables_.alpha.begin(), variables_.alpha.end()},
            {},
            {},
            steps_,
            team_.pace,
            std::vector<double>(owned_.size(), 0.0)};
  }

  /// Runs task(t) for every share, each on a thread; this one reports to the monitor: the caller finds alpha as it
  /// is. Where reports are due by steps, threads wait for them, so that none is late.
  template <class Task>
  void together(Commons<T>& commons, Monitor& monitor, Task task) {
    const bool by_steps = monitor.next_step() < std::numeric_limits<Index>::max();
    commons.pause_at = monitor.next_step();
    const auto watch = [&] {
      const Index steps = commons.steps;
      if (!monitor.due(steps)) return monitor.stopped();
      commons.show(variables_.alpha);
      show();
      const bool enough = monitor.stop_now(steps, rows());
      commons.pause_at = monitor.next_step();
      return enough;
    };
    if (threads_.grow(1) == 0) commons.watch_alone = watch;
    threads_.run(static_cast<int>(owned_.size()), commons.stop, task, watch,
                 std::chrono::microseconds(by_steps ? 100 : 2000));
    commons.watch_alone = nullptr;
  }
  /// Called before the monitor is.
  virtual void show() {}

  /// K beta by cached rows, every thread for an equal part of the samples. Interruptible: incomplete after a
  /// stop; else the monitor is not called, as alpha and the number of steps may not belong together at this moment.
  enum class Interruptible { no, yes };
  std::vector<double> scores_of(const std::vector<double>& beta, Monitor& monitor,
                                Interruptible interruptible = Interruptible::yes) {
    std::vector<double> score(hinges_.n_samples, 0.0);
    std::atomic<bool> stop = interruptible == Interruptible::yes && monitor.stopped();
    threads_.run(
        team_.n_threads, stop,
        [&](int t) {
          const Index first = hinges_.n_samples * t / team_.n_threads;
          const Index last = hinges_.n_samples * (t + 1) / team_.n_threads;
          for (Index i = 0; i < hinges_.n_samples && !stop; ++i) {
            if (beta[i] == 0.0) continue;
            const auto row = cache_.pin(i);
            simd::add_row(score.data() + first, beta[i], row.data() + first, last - first);
          }
        },
        [&] { return interruptible == Interruptible::yes && monitor.stop_now(steps_, rows()); },
        std::chrono::milliseconds(2));
    return score;
  }

  Index rows() const { return cache_.rows_computed() - rows_before_; }
  Outcome outcome(Status status) const { return {status, steps_, rows()}; }

  const Hinges& hinges_;
  RowCache<T>& cache_;
  Variables variables_;
  Team team_;
  std::vector<T> diagonal_;
  std::vector<OwnedHinges> owned_;
  Index rows_before_;
  Index steps_ = 0;
  LastingTeam threads_;
};

}  // namespace ordsvm
