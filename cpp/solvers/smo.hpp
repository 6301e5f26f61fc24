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
// - (18) reaches one neighbour of an active mu only: see ties.hpp.
// - A cross update may pair two hinges of one sample: then the curvature is 0, f does not change and t goes to
//   the boundary, as it does wherever a semidefinite K makes (25)'s denominator vanish.
// - "second-order" with ordered thresholds takes `up` from any threshold that the pair may reach, not only from the one
//   that sets B_up; `low` is still the one that sets B_low, so every step starts from a violation of at least tol.
// - The thresholds of the model are those that minimise the primal at the final f (problem/hinges.py). At the optimum they are
//   the paper's, the midpoints of [B_low, B_up]; before it they give a smaller objective.
// - In float a pair may violate by rounding alone; it then counts as none.
// - A denominator of (25) below the epsilon of T times K_oo + K_uu may be rounding and counts as 0 (pairs.hpp), so that a
//   step in float may pass the minimum between two samples that are nearly the same; rows in double finish such a fit.
// - A mu of at most 1e-12 times the sum of alpha counts as 0 (ties.hpp).
#pragma once

#include "base/stopping.hpp"
#include "optimality/frontier.hpp"
#include "optimality/pairs.hpp"
#include "optimality/score_state.hpp"

namespace ordsvm {

enum class Selection { mvp, second_order };

template <class T>
class Smo {
 public:
  Smo(const Hinges& hinges, KernelState<T>& state, const Variables& variables, Selection selection)
      : hinges_(hinges),
        state_(state),
        alpha_(variables.alpha),
        selection_(selection),
        frontier_(hinges, state.scores().working(), variables.alpha),
        pairs_(hinges, variables) {}

  Outcome run(const Limits& limits, Monitor& monitor) {
    return iterate<T>(*this, state_, hinges_.n_samples, limits, monitor);
  }

  bool choose(double tol) {
    pair_ = pairs_.worst(frontier_);
    return pairs_.violates(pair_, tol);
  }

  double exact_violation() { return pairs_.exact_violation(); }

  /// Minimises along the pair.
  void step() {
    const Index low_sample = hinges_.sample[pair_.low];
    const auto low_row = state_.pin(low_sample);
    if (selection_ == Selection::second_order) {
      const simd::Anchor<T> anchor{static_cast<T>(pairs_.level(pair_.low)), state_.diagonal()[low_sample],
                                   low_row.data(), state_.diagonal().data()};
      const Index partner = frontier_.best_partner(pair_.first_up, pair_.last_up, anchor);
      if (partner >= 0 && pairs_.slope(pair_.low, partner) > 0.0) pair_.up = partner;
    }
    const Index up_sample = hinges_.sample[pair_.up];
    const double wanted =
        pairs_.slope(pair_.low, pair_.up) / pair_curvature(state_, low_sample, up_sample, low_row.data());
    const PairStep step{pair_.low, pair_.up, std::min(wanted, pairs_.distance_to_bound(pair_.low, pair_.up))};
    pairs_.apply({&step, 1}, 1.0, [&](Index v) { frontier_.update(v, alpha_[v]); });
    if (low_sample != up_sample) state_.scores().add(step.length, state_.pin(up_sample).data(), low_row.data());
  }

 private:
  const Hinges& hinges_;
  KernelState<T>& state_;
  std::span<double> alpha_;
  Selection selection_;
  Frontier<T> frontier_;
  Pairs pairs_;
  Pair pair_{};
};

}  // namespace ordsvm
