// GCD, greedy coordinate descent (Gu et al. 2020, Algorithm 1 with one thread).
//
// Solves    box problems: no thresholds or penalised ones.
// Keeps     scores f = K beta, thresholds b = -gamma, the frontier (not the n*m gradients of the paper: they
//           are functions of f and b).
// Step      the hinge with the largest |projected gradient| (the lowest number on ties) goes to its minimum.
// Stops     when the largest |projected gradient| <= tol with scores recomputed in double from alpha, and the judge
//           accepts the duality gap.
//           (The paper stops on M - m < epsilon, which is between one and two times that.)
// Cost      one look at all hinges (in float where the rows are) and one row of K.
#pragma once

#include "coordinate_step.hpp"
#include "frontier.hpp"
#include "solvers/solver.hpp"

namespace ordsvm {

struct Worst {
  double violation = 0.0;
  Index hinge = -1;
};

/// The hinge with the largest |projected gradient|.
template <class T>
Worst worst_hinge(const Hinges& hinges, const Frontier<T>& frontier, std::span<const double> threshold) {
  Worst worst;
  for (Index k = 0; k < hinges.n_thresholds; ++k) {
    const simd::Extremes found = frontier.extremes(k);
    const double rise = threshold[k] - found.up, fall = found.low - threshold[k];
    const bool rises = rise > fall || (rise == fall && found.up_at < found.low_at);
    const Worst here = rises ? Worst{rise, found.up_at} : Worst{fall, found.low_at};
    if (here.violation > worst.violation) worst = here;
  }
  return worst;
}

template <class T>
Outcome gcd(const Hinges& hinges, KernelState<T>& state, const Variables& variables, const Limits& limits,
            Monitor& monitor) {
  Frontier<T> frontier(hinges, state.scores().working(), variables.alpha);
  double tol = limits.tol;
  int recomputations = 0;
  for (Index steps = 0;; ++steps) {
    const auto outcome = [&](Status status) { return Outcome{status, steps, state.rows_computed()}; };
    Worst worst = worst_hinge(hinges, frontier, variables.threshold);
    if (worst.violation <= tol) {
      if (!state.recompute(monitor, steps)) return outcome(Status::stopped);
      const Frontier<double> exact(hinges, variables.score, variables.alpha);
      if (worst_hinge(hinges, exact, variables.threshold).violation <= tol) {
        const double judged = monitor.judge(tol);
        if (judged >= tol) return outcome(Status::converged);
        tol = judged;
        recomputations = 0;
      }
      worst = worst_hinge(hinges, frontier, variables.threshold);
      if (worst.violation <= tol || ++recomputations > max_recomputations) return outcome(Status::imprecise);
    }
    if (steps >= limits.max_steps) return outcome(Status::max_iter);
    if (monitor.stop(steps, state.rows_computed())) return outcome(Status::stopped);
    if (coordinate_step(hinges, state, variables.alpha, worst.hinge) == 0.0) return outcome(Status::imprecise);
    frontier.update(worst.hinge, variables.alpha[worst.hinge]);
  }
}

}  // namespace ordsvm
