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
template <class T, template <class> class StateOf>
class Owner {
 public:
  Owner(int number, const Block& block, Commons<T>& commons, const Variables& start,
        typename StateOf<T>::Shared& shared)
      : number_(number),
        block_(block),
        commons_(commons),
        alpha_(block.id.size()),
        state_(number, block, commons, start, shared),
        projections_(block.table, state_.working(), own_alpha(start)),
        frontier_(block.table, state_.working(), alpha_) {}

  void work(double tol, Index max_steps, Quiet& quiet) {
    while (!commons_.stop) {
      const Index steps = commons_.steps;
      state_.catch_up();
      const Index hinge = choose_hinge(block_.table, projections_, frontier_, state_.threshold(), tol);
      if (hinge < 0) {
        if (quiet.agreed(number_, steps, commons_.steps)) commons_.stop = true;
        std::this_thread::yield();
      } else {
        if (steps >= max_steps) return;
        move(hinge);
      }
    }
  }

  /// alpha as it is now, into its places in the whole table; safe while the owner works.
  void show(std::span<double> alpha) {
    for (std::size_t v = 0; v < alpha_.size(); ++v)
      alpha[block_.id[v]] = std::atomic_ref(alpha_[v]).load(std::memory_order_relaxed);
  }

 private:
  std::span<const double> own_alpha(const Variables& start) {
    for (std::size_t v = 0; v < alpha_.size(); ++v) alpha_[v] = start.alpha[block_.id[v]];
    return alpha_;
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
  StateOf<T> state_;
  Projections<T> projections_;
  Frontier<T> frontier_;
};

}  // namespace ordsvm
