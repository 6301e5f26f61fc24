// GCD, greedy coordinate descent (Gu et al. 2020, Algorithm 1 with one thread).
//
// Solves    box problems: no thresholds or penalised ones.
// Keeps     scores f = K beta, thresholds b = -gamma, and what the box leaves each hinge (not the n*m gradients of
//           the paper: they are functions of f and b).
// Step      the hinge with the longest projected step (9) (the lowest number among equals) goes to its minimum (10).
// Stops     when the largest |projected gradient| (11) <= tol with scores recomputed in double from alpha, and the
//           judge accepts the duality gap.
// Cost      one look at all hinges (in float where the rows are) and one row of K.
//
// What the paper leaves open: Algorithm 1 has no stopping rule. (9) can be within tol while (11) is not, for a hinge
// that is nearer to its bound than tol; from then on hinges are chosen by (11), which puts those at their bounds.
#pragma once

#include "base/stopping.hpp"
#include "optimality/coordinate_step.hpp"
#include "optimality/frontier.hpp"
#include "optimality/projections.hpp"

namespace ordsvm {

/// The hinge with the largest |projected gradient| (11), and that number.
struct Worst {
  double violation = 0.0;
  Index hinge = -1;
};

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

/// By (9), or by (11) where no projected step is longer than tol; -1 if nothing is left to do. A choice that only
/// rounding to float makes longer than tol is none.
template <class T, ScoreState S>
Worst choose_hinge(const Hinges& hinges, const S& state, const Projections<T>& projections, const Frontier<T>& frontier,
                   std::span<const double> threshold, double tol) {
  const auto violates = [&](Index v) { return std::abs(slope_of(hinges, state, v)) > tol; };
  const simd::Largest longest = projections.longest(threshold);
  if (longest.size > tol && violates(longest.at)) return {longest.size, longest.at};
  const Worst left = worst_hinge(hinges, frontier, threshold);
  return left.violation > tol && violates(left.hinge) ? left : Worst{};
}

/// The largest |projected gradient| (11) by scores in double.
inline double exact_violation(const Hinges& hinges, const Variables& variables) {
  const Frontier<double> frontier(hinges, variables.score, variables.alpha);
  return worst_hinge(hinges, frontier, variables.threshold).violation;
}

template <class T>
class Gcd {
 public:
  Gcd(const Hinges& hinges, KernelState<T>& state, const Variables& variables)
      : hinges_(hinges),
        state_(state),
        variables_(variables),
        projections_(hinges, state.scores().working(), variables.alpha),
        frontier_(hinges, state.scores().working(), variables.alpha) {}

  Outcome run(const Limits& limits, Monitor& monitor) {
    return iterate<T>(*this, state_, hinges_.n_samples, limits, monitor);
  }

  bool choose(double tol) {
    chosen_ = choose_hinge(hinges_, state_, projections_, frontier_, variables_.threshold, tol).hinge;
    return chosen_ >= 0;
  }

  void step() {
    coordinate_step(hinges_, state_, variables_.alpha[chosen_], chosen_);
    projections_.update(chosen_, variables_.alpha[chosen_]);
    frontier_.update(chosen_, variables_.alpha[chosen_]);
  }

  double exact_violation() const { return ordsvm::exact_violation(hinges_, variables_); }

 private:
  const Hinges& hinges_;
  KernelState<T>& state_;
  Variables variables_;
  Projections<T> projections_;
  Frontier<T> frontier_;
  Index chosen_ = -1;
};

}  // namespace ordsvm
