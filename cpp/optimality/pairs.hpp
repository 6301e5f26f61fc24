// Violating pairs of hinges, and moves along them, for free and for ordered thresholds.
//
// Along a pair gamma falls by t through the hinge `low` and rises by t through the hinge `up`. Free thresholds: both
// sit at the same one, so gamma stays 0. Ordered: the two may sit at different thresholds (Chu & Keerthi's cross
// update), and the mu between them take up the difference (ties.hpp).
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "optimality/frontier.hpp"
#include "optimality/score_state.hpp"
#include "optimality/ties.hpp"

namespace ordsvm {

/// gamma falls through `low` and rises through `up`, for which thresholds first_up..last_up are open.
struct Pair {
  double violation;
  Index low, up;
  Index first_up, last_up;
};

/// A pair with how far it goes.
struct PairStep {
  Index low, up;
  double length;
};

/// K_ll + K_uu - 2 K_lu, the curvature along a pair of these samples; 0 where it vanishes but for rounding.
template <class T>
double pair_curvature(const KernelState<T>& state, Index low, Index up, const T* low_row) {
  if (low == up) return 0.0;
  const double together = state.curvature(low, 0) + state.curvature(up, 0);
  const double curvature = together - 2.0 * low_row[up];
  return curvature > std::numeric_limits<T>::epsilon() * together ? curvature : 0.0;
}

class Pairs {
 public:
  Pairs(const Hinges& hinges, const Variables& variables)
      : hinges_(hinges),
        alpha_(variables.alpha),
        score_(variables.score),
        ordered_(hinges.treatment == Treatment::ordered),
        bounds_(hinges.n_thresholds),
        ties_(hinges, variables.alpha) {}

  /// The most violating pair, where `frontier.extremes(k)` gives b_low and b_up of threshold k.
  template <class Extremes>
  Pair worst(const Extremes& frontier) {
    for (Index k = 0; k < hinges_.n_thresholds; ++k) bounds_[k] = frontier.extremes(k);
    return ordered_ ? worst_ordered() : worst_free();
  }

  /// By scores in double, and mu built anew from alpha: the mu of many steps have added up roundings, and a factor common
  /// to several steps leaves small residues in both, so that they need not agree about what is tied.
  double exact_violation() {
    ties_ = Ties(hinges_, alpha_);
    return worst(Frontier<double>(hinges_, score_, alpha_)).violation;
  }

  /// In double: a violation by rounding to float alone is none.
  bool violates(const Pair& pair, double tol) const { return pair.violation > tol && slope(pair.low, pair.up) > tol; }

  /// F_v, the threshold at which the slope of hinge v vanishes.
  double level(Index v) const { return score_[hinges_.sample[v]] - hinges_.sign[v] * hinges_.offset[v]; }

  /// How fast the objective falls along a pair.
  double slope(Index low, Index up) const { return level(low) - level(up); }

  /// How far a pair can go within the box and mu >= 0.
  double distance_to_bound(Index low, Index up) const {
    return std::min(
        {distance_down(low), distance_up(up), ties_.distance_to_bound(hinges_.threshold[low], hinges_.threshold[up])});
  }

  /// By which factor all steps together can be lengthened, (29) of Manno et al.: the distance to the bound divided by
  /// the move. Every hinge is in one step at most.
  double longest(std::span<const PairStep> steps) {
    double factor = infinity;
    mu_move_.assign(hinges_.n_thresholds + 1, 0.0);
    for (const PairStep& step : steps) {
      factor = std::min({factor, distance_down(step.low) / step.length, distance_up(step.up) / step.length});
      Ties::move(mu_move_, hinges_.threshold[step.low], hinges_.threshold[step.up], step.length);
    }
    return std::min(factor, ties_.longest(mu_move_));
  }

  /// Moves the hinges of all steps, and mu, by `factor` times their lengths; then calls moved(hinge) for every one.
  template <class Moved>
  void apply(std::span<const PairStep> steps, double factor, Moved moved) {
    for (const PairStep& step : steps) {
      const double t = factor * step.length;
      ties_.move(hinges_.threshold[step.low], hinges_.threshold[step.up], t);
      move(step.low, -t, reaches(t, distance_down(step.low)));
      move(step.up, t, reaches(t, distance_up(step.up)));
      moved(step.low);
      moved(step.up);
    }
    ties_.clear_rounding();
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  /// The active threshold J = argmax (b_low - b_up) of section 4.4.
  Pair worst_free() const {
    Pair worst{-infinity, -1, -1, 0, 0};
    for (Index k = 0; k < hinges_.n_thresholds; ++k) {
      const double violation = bounds_[k].low - bounds_[k].up;
      if (violation > worst.violation) worst = {violation, bounds_[k].low_at, bounds_[k].up_at, k, k};
    }
    return worst;
  }

  Pair worst_ordered() const {
    const Ties::Worst worst =
        ties_.worst([&](Index k) { return bounds_[k].low; }, [&](Index k) { return bounds_[k].up; });
    if (worst.low < 0) return {worst.violation, -1, -1, 0, 0};
    return {worst.violation, bounds_[worst.low].low_at, bounds_[worst.up].up_at, ties_.first_tied(worst.low),
            hinges_.n_thresholds - 1};
  }

  double distance_down(Index v) const { return hinges_.sign[v] > 0 ? alpha_[v] : hinges_.cap[v] - alpha_[v]; }
  double distance_up(Index v) const { return hinges_.sign[v] > 0 ? hinges_.cap[v] - alpha_[v] : alpha_[v]; }

  /// But for the rounding of a factor.
  static bool reaches(double t, double distance) {
    return t >= distance * (1.0 - 4.0 * std::numeric_limits<double>::epsilon());
  }

  /// gamma changes by t through hinge v; where that ends at a bound, alpha is put exactly there.
  void move(Index v, double t, bool to_bound) {
    const bool rises = (t > 0) == (hinges_.sign[v] > 0);
    const double bound = rises ? hinges_.cap[v] : 0.0;
    const double before = alpha_[v];
    alpha_[v] = to_bound ? bound : std::clamp(before + hinges_.sign[v] * t, 0.0, hinges_.cap[v]);
    ties_.count(alpha_[v] - before);
  }

  const Hinges& hinges_;
  std::span<double> alpha_;
  std::span<double> score_;
  bool ordered_;
  std::vector<simd::Extremes> bounds_;  // b_low and b_up of every threshold
  Ties ties_;
  std::vector<double> mu_move_;
};

}  // namespace ordsvm
