// AsyGCD, asynchronous greedy coordinate descent (Gu et al. 2020, Algorithm 1; Gu et al. 2018, Algorithm 1).
//
// Solves    box problems: no thresholds or penalised ones.
// Keeps     scores, shared in one of two ways (shared_states.hpp); a block of hinges for every thread.
// Step      every thread, without waiting for any other: the hinge of its block with the longest projected step (9)
// goes
//           to its minimum (10) on the scores as the thread sees them.
// Stops     when all threads in turn, having seen all steps, find nothing to do; then scores are recomputed in double
//           from alpha, and the largest |projected gradient| (11) and the duality gap decide.
// Cost      a look at the hinges of the block; a row of K, added to n scores by atomics or to the block's scores.
//
// What the papers leave open:
// - When to stop. A count of steps is the clock: a thread without work says up to which step it has looked; if that is
// the
//   last step for every thread, nobody can find work any more.
// - Drift: sums of concurrent additions, and float rows, are recomputed before the end; the threads go on from the
// exact
//   scores if these disagree.
// - Two threads may step against each other on the same stale score. Both see the sum afterwards and correct it.
#pragma once

#include <memory>
#include <numeric>

#include "coordinate_step.hpp"
#include "monitor.hpp"
#include "partition.hpp"
#include "projections.hpp"
#include "shared_states.hpp"
#include "solvers/gcd.hpp"
#include "solvers/solver.hpp"
#include "threads.hpp"

namespace ordsvm {

/// Decides that nobody has work left: every thread has looked at everything up to the last step, and found nothing.
class Quiet {
 public:
  explicit Quiet(int n_threads) : looked_(n_threads) {
    for (auto& looked : looked_) looked = -1;
  }
  /// Thread t found nothing to do after the first `steps` steps. True if that holds for all and no step came since.
  bool agreed(int t, Index steps, const std::atomic<Index>& now) {
    looked_[t] = steps;
    for (const auto& looked : looked_)
      if (looked != steps) return false;
    return now == steps;
  }

 private:
  std::vector<std::atomic<Index>> looked_;
};

/// One thread's share: its block, its alpha and its view of the scores.
template <class T, class State>
class Owner {
 public:
  Owner(int number, const Block& block, Commons<T>& commons, const Variables& start, typename State::Shared& shared)
      : number_(number),
        block_(block),
        commons_(commons),
        alpha_(own_alpha(block, start)),
        state_(number, block, commons, start, shared),
        projections_(block.table, state_.working(), alpha_),
        frontier_(block.table, state_.working(), alpha_) {}

  /// Steps until all owners agree that nothing is left to do, or somebody says stop.
  void work(double tol, Index max_steps, Quiet& quiet) {
    while (!commons_.stop) {
      const Index steps = commons_.steps;
      state_.catch_up();
      const Index hinge = choose_hinge(block_.table, projections_, frontier_, state_.threshold(), tol);
      if (hinge < 0) {
        if (quiet.agreed(number_, steps, commons_.steps)) commons_.stop = true;
        std::this_thread::yield();
      } else if (steps >= max_steps) {
        commons_.stop = true;
      } else {
        move(hinge);
      }
    }
  }

  /// alpha as it is now, put into its places in the whole table; safe while the owner works.
  void show(std::span<double> alpha) {
    for (std::size_t v = 0; v < alpha_.size(); ++v)
      alpha[block_.id[v]] = std::atomic_ref(alpha_[v]).load(std::memory_order_relaxed);
  }

 private:
  static std::vector<double> own_alpha(const Block& block, const Variables& start) {
    std::vector<double> alpha(block.id.size());
    for (std::size_t v = 0; v < alpha.size(); ++v) alpha[v] = start.alpha[block.id[v]];
    return alpha;
  }

  void move(Index hinge) {
    double alpha = alpha_[hinge];
    coordinate_step(block_.table, state_, alpha, hinge);
    std::atomic_ref(alpha_[hinge]).store(alpha, std::memory_order_relaxed);
    projections_.update(hinge, alpha);
    frontier_.update(hinge, alpha);
  }

  int number_;
  const Block& block_;
  Commons<T>& commons_;
  std::vector<double> alpha_;
  State state_;
  Projections<T> projections_;
  Frontier<T> frontier_;
};

/// How the hinges are divided and steps passed on.
enum class Sharing { atomic, log };
struct Team {
  int n_threads = 1;
  Partition partition = Partition::sample;
  Sharing sharing = Sharing::log;
};

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
    double tol = limits.tol;
    for (int recomputations = 0;; ++recomputations) {
      if (tol < least_tol<T>) return outcome(Status::imprecise);
      if (team_.sharing == Sharing::log)
        work<LogState<T>>(tol, limits, monitor);
      else
        work<AtomicState<T>>(tol, limits, monitor);
      if (monitor.stopped()) return outcome(Status::stopped);
      if (!recompute(cache_.source(), hinges_, variables_, monitor, steps_, rows())) return outcome(Status::stopped);
      const Frontier<double> exact(hinges_, variables_.score, variables_.alpha);
      if (worst_hinge(hinges_, exact, variables_.threshold).violation <= tol) {
        const double judged = monitor.judge(tol);
        if (judged >= tol) return outcome(Status::converged);
        tol = judged;
        recomputations = 0;
      } else if (recomputations > max_recomputations) {
        return outcome(Status::imprecise);
      }
      if (steps_ >= limits.max_steps) return outcome(Status::max_iter);
    }
  }

 private:
  /// Lets the team work until it is quiet, and gathers alpha.
  template <class State>
  void work(double tol, const Limits& limits, Monitor& monitor) {
    Commons<T> commons{cache_, diagonal_, hinges_.penalty(), {}, steps_};
    Quiet quiet(team_.n_threads);
    auto shared = State::share(variables_, team_.n_threads);
    std::vector<std::unique_ptr<Owner<T, State>>> owners;
    for (int t = 0; t < team_.n_threads; ++t)
      owners.push_back(std::make_unique<Owner<T, State>>(t, blocks_[t], commons, variables_, shared));
    run_team(
        team_.n_threads, commons.stop, [&](int t) { owners[t]->work(tol, limits.max_steps, quiet); },
        [&] { return monitor.stop_now(commons.steps, rows()); });
    for (auto& owner : owners) owner->show(variables_.alpha);
    steps_ = commons.steps;
  }

  Index rows() const { return cache_.rows_computed() - rows_before_; }
  Outcome outcome(Status status) const { return {status, steps_, rows()}; }

  const Hinges& hinges_;
  RowCache<T>& cache_;
  Variables variables_;
  Team team_;
  std::vector<T> diagonal_;
  std::vector<Block> blocks_;
  Index rows_before_;
  Index steps_ = 0;
};

}  // namespace ordsvm
