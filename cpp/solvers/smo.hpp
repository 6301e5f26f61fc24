// SMO for free and for ordered thresholds (Chu & Keerthi 2007: section 3 for SVOREX, section 4.4 for SVORIM).
//
// Solves    free: gamma_k = 0 for every k.  Ordered: gamma_k = mu_k - mu_{k+1}, mu >= 0, mu_0 = mu_m = 0.
// Keeps     scores f = K beta, the frontier (b_low and b_up of every threshold), and mu.
// Step      a pair of hinges: `low` falls (its share of gamma goes down by t), `up` rises by t, to the minimum
//           along that line, clipped to the box. With ordered thresholds the two may sit at different
//           thresholds (the paper's cross update); the mu between them take up the difference.
//           "mvp": the most violating pair of the active threshold, as in the paper.
//           "second-order": `low` by violation, `up` by the largest decrease (Fan, Chen & Lin 2005).
// Stops     when max_j (B_low_j - B_up_j) <= tol, (19) or (41), with scores recomputed in double from alpha, and
//           the judge accepts the duality gap.
// Cost      a look at all hinges (in float where the rows are) and two rows of K.
//
// Tried and left out, with steps on 2,000 samples of california housing (5 ranks, SVORIM, C = 10, tol 1e-3):
// - Looking only at the threshold that was worst when last looked at: 1,070,000 steps instead of 38,000, for
//   the thresholds pull at the same scores and undo each other's work.
// - The double loop of Keerthi et al. 2001 (free hinges to the tolerance, then a look at all): 1,090,000. Ended
//   at half of the violation it started from: 44,000, and no faster, as the look at all hinges costs less than a
//   third of a step here. The same at n = 5,000 and 20,640, at C = 1 and 100, and for SVOREX.
//
// Where the paper needs help:
// - (18) reaches one neighbour of an active mu. Over a run of active mu all thresholds are tied, so B_low must
//   be taken at the run's last threshold and B_up at its first, else the method can stop before the optimum.
// - A cross update may pair two hinges of one sample: then the curvature is 0, f does not change and t goes to
//   the boundary, as it does wherever a semidefinite K makes (25)'s denominator vanish.
// - "second-order" with ordered thresholds takes `up` from any threshold that the pair may reach, not only from the one
//   that sets B_up; `low` is still the one that sets B_low, so every step starts from a violation of at least tol.
// - The thresholds of the model are those that minimise the primal at the final f (problem.py). At the optimum they are
//   the paper's, the midpoints of [B_low, B_up]; before it they give a smaller objective.
// - In float a pair may violate by rounding alone; it then counts as none.
#pragma once

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "frontier.hpp"
#include "solvers/solver.hpp"
#include "states.hpp"

namespace ordsvm {

enum class Selection { mvp, second_order };

template <class T>
class Smo {
 public:
  Smo(const Hinges& hinges, KernelState<T>& state, const Variables& variables, Selection selection)
      : hinges_(hinges),
        state_(state),
        alpha_(variables.alpha),
        score_(variables.score),
        selection_(selection),
        ordered_(hinges.treatment == Thresholds::ordered),
        frontier_(hinges, state.scores().working(), variables.alpha),
        bounds_(hinges.n_thresholds),
        alpha_sum_(std::accumulate(variables.alpha.begin(), variables.alpha.end(), 0.0)),
        mu_(hinges.n_thresholds + 1, 0.0) {
    if (ordered_) start_mu();
  }

  Outcome run(const Limits& limits, Monitor& monitor) {
    Finish<T> finish(limits.tol, hinges_.n_samples, monitor);
    for (Index steps = 0;; ++steps) {
      const auto outcome = [&](Status status) { return Outcome{status, steps, state_.rows_computed()}; };
      if (!finish.trusted(state_, steps)) return outcome(Status::imprecise);
      Pair pair = select(frontier_);
      if (!violates(pair, finish.aim())) {
        if (!state_.recompute(monitor, steps)) return outcome(Status::stopped);
        if (const auto end = finish.decide(select(Frontier<double>(hinges_, score_, alpha_)).violation))
          return outcome(*end);
        pair = select(frontier_);
        if (!violates(pair, finish.aim())) return outcome(Status::imprecise);
      }
      if (steps >= limits.max_steps) return outcome(Status::max_iter);
      if (monitor.stop(steps, state_.rows_computed())) return outcome(Status::stopped);
      optimise(pair);
    }
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  /// A violating pair: gamma falls through `low` and rises through `up`, which may sit at thresholds
  /// first_up..last_up.
  struct Pair {
    double violation;
    Index low, up;
    Index first_up, last_up;
  };

  void start_mu() {
    for (Index v = 0; v < hinges_.size(); ++v) mu_[hinges_.threshold[v] + 1] -= hinges_.sign[v] * alpha_[v];
    for (Index k = 0; k < hinges_.n_thresholds; ++k) mu_[k + 1] += mu_[k];
    for (double& mu : mu_) mu = active_part(mu);
    mu_.back() = 0.0;
  }

  /// A mu that is there by rounding alone counts as 0: else pairs would pass it to and fro.
  double active_part(double mu) const { return mu > 1e-12 * alpha_sum_ ? mu : 0.0; }

  template <class U>
  Pair select(const Frontier<U>& frontier) {
    for (Index k = 0; k < hinges_.n_thresholds; ++k) bounds_[k] = frontier.extremes(k);
    return ordered_ ? select_ordered() : select_free();
  }

  /// The active threshold J = argmax (b_low - b_up) of section 4.4.
  Pair select_free() const {
    Pair worst{-infinity, -1, -1, 0, 0};
    for (Index k = 0; k < hinges_.n_thresholds; ++k) {
      const double violation = bounds_[k].low - bounds_[k].up;
      if (violation > worst.violation) worst = {violation, bounds_[k].low_at, bounds_[k].up_at, k, k};
    }
    return worst;
  }

  /// The active threshold J of (17), with (18) carried over whole runs of active mu. (At the last threshold of a run
  /// the running maximum of b_low is the run's, so it need not be carried back.)
  Pair select_ordered() const {
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

  /// In double: a violation by rounding to float alone is none.
  bool violates(const Pair& pair, double tol) const {
    return pair.violation > tol && level(pair.low) - level(pair.up) > tol;
  }

  /// Minimises along the pair.
  void optimise(Pair pair) {
    const Index low_sample = hinges_.sample[pair.low];
    const auto low_row = state_.pin(low_sample);
    if (selection_ == Selection::second_order) {
      const simd::Anchor<T> anchor{static_cast<T>(level(pair.low)), state_.diagonal()[low_sample], low_row.data(),
                                   state_.diagonal().data()};
      const Index partner = frontier_.best_partner(pair.first_up, pair.last_up, anchor);
      if (partner >= 0 && level(partner) < level(pair.low)) pair.up = partner;
    }
    const double slope = level(pair.low) - level(pair.up);
    const Index up_sample = hinges_.sample[pair.up];
    const double together = state_.curvature(low_sample, 0) + state_.curvature(up_sample, 0);
    const double curvature = low_sample == up_sample ? 0.0 : together - 2.0 * low_row.data()[up_sample];
    const bool vanishes = curvature <= std::numeric_limits<T>::epsilon() * together;  // but for rounding
    const double move = step(pair, vanishes ? infinity : slope / curvature);
    if (low_sample != up_sample) state_.scores().add(move, state_.pin(up_sample).data(), low_row.data());
  }

  /// F_v, the threshold at which the slope of hinge v vanishes.
  double level(Index v) const { return score_[hinges_.sample[v]] - hinges_.sign[v] * hinges_.offset[v]; }

  /// Moves both hinges and the mu between their thresholds by t = min(wanted, what the box and mu >= 0 leave).
  double step(const Pair& pair, double wanted) {
    const double low_room = hinges_.sign[pair.low] > 0 ? alpha_[pair.low] : hinges_.cap[pair.low] - alpha_[pair.low];
    const double up_room = hinges_.sign[pair.up] > 0 ? hinges_.cap[pair.up] - alpha_[pair.up] : alpha_[pair.up];
    const Index low_k = hinges_.threshold[pair.low], up_k = hinges_.threshold[pair.up];
    double t = std::min({wanted, low_room, up_room});
    for (Index k = up_k + 1; k <= low_k; ++k) t = std::min(t, mu_[k]);
    for (Index k = up_k + 1; k <= low_k; ++k) mu_[k] = active_part(mu_[k] - t);
    for (Index k = low_k + 1; k <= up_k; ++k) mu_[k] += t;
    move(pair.low, -t, t == low_room);
    move(pair.up, t, t == up_room);
    return t;
  }

  /// gamma changes by t through hinge v; where that ends at a bound, alpha is put exactly there.
  void move(Index v, double t, bool to_bound) {
    const bool rises = (t > 0) == (hinges_.sign[v] > 0);
    const double bound = rises ? hinges_.cap[v] : 0.0;
    const double before = alpha_[v];
    alpha_[v] = to_bound ? bound : std::clamp(before + hinges_.sign[v] * t, 0.0, hinges_.cap[v]);
    alpha_sum_ += alpha_[v] - before;
    frontier_.update(v, alpha_[v]);
  }

  const Hinges& hinges_;
  KernelState<T>& state_;
  std::span<double> alpha_;
  std::span<double> score_;
  Selection selection_;
  bool ordered_;
  Frontier<T> frontier_;
  std::vector<simd::Extremes> bounds_;  // b_low and b_up of every threshold
  double alpha_sum_;
  std::vector<double> mu_;  // mu_[k] ties thresholds k - 1 and k
};

}  // namespace ordsvm
