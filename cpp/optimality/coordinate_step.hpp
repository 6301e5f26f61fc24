// The exact minimisation along one hinge: the step of every coordinate descent in this library.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/hinges.hpp"
#include "optimality/score_state.hpp"

namespace ordsvm {

/// G_v, the gradient of the dual along hinge v.
template <ScoreState S>
double slope_of(const Hinges& h, const S& state, Index v) {
  return h.sign[v] * state.decision(h.sample[v], h.threshold[v]) - h.offset[v];
}

/// Minimises the dual exactly along hinge v, whose variable is `alpha`, and returns how far alpha moved.
template <ScoreState S>
double coordinate_step(const Hinges& h, S& state, double& alpha, Index v) {
  const double slope = slope_of(h, state, v);
  const double curvature = state.curvature(h.sample[v], h.threshold[v]);
  const double bound = slope > 0.0 ? 0.0 : h.cap[v];  // without curvature the minimum is at a bound
  const double target = curvature > 0.0 ? std::clamp(alpha - slope / curvature, 0.0, h.cap[v]) : bound;
  const double move = target - alpha;
  if (move != 0.0) state.add(h.sample[v], h.threshold[v], h.sign[v] * move);  // score += sign*move*K[:, i]
  alpha = target;
  return std::abs(move);
}

}  // namespace ordsvm
