// Violating pairs of hinges, and moves along them, for free and for ordered thresholds.
//
// Along a pair gamma falls by t through the hinge `low` and rises by t through the hinge `up`. Free thresholds: both sit at
// the same one, so gamma stays 0. Ordered: gamma_k = mu_k - mu_{k+1}, mu >= 0, mu_0 = mu_m = 0; the two may sit at
// different thresholds (Chu & Keerthi's cross update), and the mu between them take up the difference.
//
// Where that paper needs help: (18) reaches one neighbour of an active mu. Over a run of active mu all thresholds are
// tied, so B_low must be taken at the run's last threshold and B_up at its first, else one can stop before the optimum.
#pragma once

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "frontier.hpp"
#include "states.hpp"

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
        ordered_(hinges.treatment == Thresholds::ordered),
        bounds_(hinges.n_thresholds),
        alpha_sum_(std::accumulate(variables.alpha.begin(), variables.alpha.end(), 0.0)),
        mu_(hinges.n_thresholds + 1, 0.0) {
    if (ordered_) start_mu();
  }

  /// The most violating pair, where `frontier.extremes(k)` gives b_low and b_up of threshold k.
  template <class Extremes>
  Pair worst(const Extremes& frontier) {
    for (Index k = 0; k < hinges_.n_thresholds; ++k) bounds_[k] = frontier.extremes(k);
    return ordered_ ? worst_ordered() : worst_free();
  }

  /// By scores in double.
  double exact_violation() { return worst(Frontier<double>(hinges_, score_, alpha_)).violation; }

  /// In double: a violation by rounding to float alone is none.
  bool violates(const Pair& pair, double tol) const { return pair.violation > tol && slope(pair.low, pair.up) > tol; }

  /// F_v, the threshold at which the slope of hinge v vanishes.
  double level(Index v) const { return score_[hinges_.sample[v]] - hinges_.sign[v] * hinges_.offset[v]; }

  /// How fast the objective falls along a pair.
  double slope(Index low, Index up) const { return level(low) - level(up); }

  /// How far a pair can go within the box and mu >= 0.
  double room(Index low, Index up) const {
    double t = std::min(fall_room(low), rise_room(up));
    for (Index k = hinges_.threshold[up] + 1; k <= hinges_.threshold[low]; ++k) t = std::min(t, mu_[k]);
    return t;
  }

  /// By which factor all steps together can be lengthened, (29) of Manno et al.: the room divided by the move. Every hinge
  /// is in one step at most.
  double longest(std::span<const PairStep> steps) {
    double factor = infinity;
    mu_move_.assign(mu_.size(), 0.0);
    for (const PairStep& step : steps) {
      factor = std::min({factor, fall_room(step.low) / step.length, rise_room(step.up) / step.length});
      add_mu(mu_move_, step, step.length);
    }
    for (std::size_t k = 0; k < mu_.size(); ++k)
      if (mu_move_[k] < 0.0) factor = std::min(factor, mu_[k] / -mu_move_[k]);
    return factor;
  }

  /// Moves the hinges of all steps, and mu, by `factor` times their lengths; then calls moved(hinge) for every one.
  template <class Moved>
  void apply(std::span<const PairStep> steps, double factor, Moved moved) {
    for (const PairStep& step : steps) {
      const double t = factor * step.length;
      add_mu(mu_, step, t);
      move(step.low, -t, reaches(t, fall_room(step.low)));
      move(step.up, t, reaches(t, rise_room(step.up)));
      moved(step.low);
      moved(step.up);
    }
    for (double& mu : mu_) mu = active_part(mu);
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  void start_mu() {
    for (Index v = 0; v < hinges_.size(); ++v) mu_[hinges_.threshold[v] + 1] -= hinges_.sign[v] * alpha_[v];
    for (Index k = 0; k < hinges_.n_thresholds; ++k) mu_[k + 1] += mu_[k];
    for (double& mu : mu_) mu = active_part(mu);
    mu_.back() = 0.0;
  }

  /// A mu that is there by rounding alone counts as 0: else pairs would pass it to and fro.
  double active_part(double mu) const { return mu > 1e-12 * alpha_sum_ ? mu : 0.0; }

  /// The active threshold J = argmax (b_low - b_up) of section 4.4.
  Pair worst_free() const {
    Pair worst{-infinity, -1, -1, 0, 0};
    for (Index k = 0; k < hinges_.n_thresholds; ++k) {
      const double violation = bounds_[k].low - bounds_[k].up;
      if (violation > worst.violation) worst = {violation, bounds_[k].low_at, bounds_[k].up_at, k, k};
    }
    return worst;
  }

  /// The active threshold J of (17), with (18) carried over whole runs of active mu. (At the last threshold of a run
  /// the running maximum of b_low is the run's, so it need not be carried back.)
  Pair worst_ordered() const {
    const Index m = hinges_.n_thresholds;
    std::vector<Index> low_at(m), up_at(m), run_first(m);
    for (Index k = 0; k < m; ++k) {  // running maximum of b_low, first threshold of the run
      low_at[k] = k > 0 && bounds_[low_at[k - 1]].low >= bounds_[k].low ? low_at[k - 1] : k;
      run_first[k] = k > 0 && mu_[k] > 0.0 ? run_first[k - 1] : k;
    }
    for (Index k = m - 1; k >= 0; --k)  // running minimum of b_up
      up_at[k] = k + 1 < m && bounds_[up_at[k + 1]].up <= bounds_[k].up ? up_at[k + 1] : k;
    Pair worst{-infinity, -1, -1, 0, 0};
    for (Index k = 0; k < m; ++k) {
      const Index low = low_at[k], up = up_at[run_first[k]];
      const double violation = bounds_[low].low - bounds_[up].up;
      if (violation > worst.violation)
        worst = {violation, bounds_[low].low_at, bounds_[up].up_at, run_first[low], m - 1};
    }
    return worst;
  }

  double fall_room(Index v) const { return hinges_.sign[v] > 0 ? alpha_[v] : hinges_.cap[v] - alpha_[v]; }
  double rise_room(Index v) const { return hinges_.sign[v] > 0 ? hinges_.cap[v] - alpha_[v] : alpha_[v]; }

  /// But for the rounding of a factor.
  static bool reaches(double t, double room) {
    return t >= room * (1.0 - 4.0 * std::numeric_limits<double>::epsilon());
  }

  void add_mu(std::vector<double>& mu, const PairStep& step, double t) const {
    const Index low = hinges_.threshold[step.low], up = hinges_.threshold[step.up];
    for (Index k = up + 1; k <= low; ++k) mu[k] -= t;
    for (Index k = low + 1; k <= up; ++k) mu[k] += t;
  }

  /// gamma changes by t through hinge v; where that ends at a bound, alpha is put exactly there.
  void move(Index v, double t, bool to_bound) {
    const bool rises = (t > 0) == (hinges_.sign[v] > 0);
    const double bound = rises ? hinges_.cap[v] : 0.0;
    const double before = alpha_[v];
    alpha_[v] = to_bound ? bound : std::clamp(before + hinges_.sign[v] * t, 0.0, hinges_.cap[v]);
    alpha_sum_ += alpha_[v] - before;
  }

  const Hinges& hinges_;
  std::span<double> alpha_;
  std::span<double> score_;
  bool ordered_;
  std::vector<simd::Extremes> bounds_;  // b_low and b_up of every threshold
  double alpha_sum_;
  std::vector<double> mu_, mu_move_;  // mu_[k] ties thresholds k - 1 and k
};

}  // namespace ordsvm
