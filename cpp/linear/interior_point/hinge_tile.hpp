// The hinges of one column, a weight vector or a threshold, for the rows of a tile: their step, and what they add to
// Newton's system.
//
// The central path has alpha * lambda = tau * c and (c - alpha) * xi = tau * c with lambda - xi = G, for every hinge of
// cap c: tau is a length on the scale of the scores, the same for all caps. lambda and xi are functions of alpha, G and
// tau, so alpha alone is kept:
//   G > 0:   xi = tau c / (c - alpha),  lambda = G + xi         else   lambda = tau c / alpha,  xi = lambda - G
// Squared losses have no cap; G + alpha / 2c takes the place of G, lambda is at least that, and there is no xi.
#pragma once

#include <cmath>

#include "base/hinges.hpp"
#include "simd/dispatch.hpp"

namespace ordsvm::linear {

/// What a step does to alpha: Newton's step towards tau, or the point of the central path for the new score.
enum class Move { newton, centre };

/// Of one weight vector, or of one with all thresholds: how far to go along the direction, and from which tau to which.
struct PathStep {
  double length = 1.0, old_tau = 1.0, tau = 1.0;
  Move move = Move::newton;
};

/// Sums over hinges.
struct HingeSums {
  double loss = 0.0;             // the primal's
  double linear = 0.0;           // the dual's part that is not quadratic in the weights
  double complementarity = 0.0;  // alpha lambda + (c - alpha) xi
  double moved = 0.0;            // |change of alpha| as the direction has it
  double cut = 0.0;              // the part of that beyond a bound
  double violation = 0.0;        // the largest |slope|: no alpha is at a bound

  void add(const HingeSums& other) {
    loss += other.loss, linear += other.linear, complementarity += other.complementarity;
    moved += other.moved, cut += other.cut, violation = violation > other.violation ? violation : other.violation;
  }
};

/// Arrays over the rows of a tile.
struct HingeTile {
  const double *sign, *offset, *cap;  // cap 0: no hinge
  const double *score, *change;       // s (score) - offset = G before the step; how the score changes by a full step
  const double* from;                 // alpha, or minus its distance to the cap where that is nearer
  double* to;
  double *weight, *pull, *push, *beta;  // added to: v, s v (-G), s v (1/alpha - 1/(c - alpha)) c, s alpha
};

constexpr double way_to_bound = 0.99;   // the share of the way to a bound that a step may go
constexpr double least_weight = 1e-10;  // keeps weights of hinges finite
constexpr double least_cap = 1e-280;    // a hinge of a smaller one is none: 1 / alpha would not be finite

/// 1 / v, from 1/alpha, 1/(c - alpha) and tau c.
ORDSVM_INLINE double curvature_of(double slope, double by_alpha, double by_rest, double barrier) {
  const double xi = slope > 0.0 ? barrier * by_rest : barrier * by_alpha - slope;
  const double lambda = slope > 0.0 ? slope + xi : barrier * by_alpha;
  return lambda * by_alpha + xi * by_rest;
}

ORDSVM_INLINE double larger(double a, double b) { return a > b ? a : b; }
ORDSVM_INLINE double smaller(double a, double b) { return a < b ? a : b; }

/// Where tau c / alpha - tau c / (c - alpha) = |slope|: alpha as a share of c, at most 1/2.
ORDSVM_INLINE double central_share(double slope, double tau) {
  const double steep = std::fabs(slope);
  return 2.0 * tau / (steep + 2.0 * tau + std::sqrt(steep * steep + 4.0 * tau * tau));
}

template <Move move>
ORDSVM_INLINE HingeSums step_hinges(const HingeTile& h, Index count, const PathStep& step) {
  const double *const sign = h.sign, *const offset = h.offset, *const cap = h.cap, *const from = h.from;
  const double *const score = h.score, *const change = h.change;
  double *const to = h.to, *const weight = h.weight, *const pull = h.pull, *const push = h.push, *const beta = h.beta;
  double loss = 0.0, linear = 0.0, complementarity = 0.0, moved = 0.0, cut = 0.0, violation = 0.0;
#pragma omp simd reduction(+ : loss, linear, complementarity, moved, cut) reduction(max : violation)
  for (Index t = 0; t < count; ++t) {
    const double s = sign[t], exists = cap[t] > least_cap ? 1.0 : 0.0, c = cap[t] > least_cap ? cap[t] : 1.0;
    const double slope = s * score[t] - offset[t], new_slope = slope + step.length * s * change[t];
    const double barrier = step.tau * c;
    double alpha, rest;
    if constexpr (move == Move::newton) {
      alpha = from[t] > 0.0 ? from[t] : c + from[t];
      rest = from[t] > 0.0 ? c - from[t] : -from[t];
      const double by_alpha = 1.0 / alpha, by_rest = 1.0 / rest;
      const double curvature = curvature_of(slope, by_alpha, by_rest, step.old_tau * c) + least_weight / c;
      const double wanted = step.length * (barrier * (by_alpha - by_rest) - slope - s * change[t]) / curvature;
      const double taken = larger(-way_to_bound * alpha, smaller(wanted, way_to_bound * rest));
      moved += exists * std::fabs(wanted);
      cut += exists * std::fabs(wanted - taken);
      alpha += taken;
      rest -= taken;
    } else {
      const double near = c * central_share(new_slope, step.tau);
      alpha = new_slope > 0.0 ? near : c - near;
      rest = new_slope > 0.0 ? c - near : near;
    }
    to[t] = alpha < rest ? alpha : -rest;
    const double by_alpha = 1.0 / alpha, by_rest = 1.0 / rest;
    const double xi = new_slope > 0.0 ? barrier * by_rest : barrier * by_alpha - new_slope;
    const double lambda = new_slope > 0.0 ? new_slope + xi : barrier * by_alpha;
    const double v = exists / (lambda * by_alpha + xi * by_rest + least_weight / c);
    weight[t] += v;
    pull[t] -= s * v * new_slope;
    push[t] += s * v * c * (by_alpha - by_rest);
    beta[t] += exists * s * alpha;
    loss += exists * c * larger(0.0, -new_slope);
    linear += exists * offset[t] * alpha;
    complementarity += exists * (lambda * alpha + xi * rest);
    violation = larger(violation, exists * std::fabs(new_slope));
  }
  return {loss, linear, complementarity, moved, cut, violation};
}

/// The same for squared losses.
template <Move move>
ORDSVM_INLINE HingeSums step_squared_hinges(const HingeTile& h, Index count, const PathStep& step) {
  const double *const sign = h.sign, *const offset = h.offset, *const cap = h.cap, *const from = h.from;
  const double *const score = h.score, *const change = h.change;
  double *const to = h.to, *const weight = h.weight, *const pull = h.pull, *const push = h.push, *const beta = h.beta;
  double loss = 0.0, linear = 0.0, complementarity = 0.0, moved = 0.0, cut = 0.0, violation = 0.0;
#pragma omp simd reduction(+ : loss, linear, complementarity, moved, cut) reduction(max : violation)
  for (Index t = 0; t < count; ++t) {
    const double s = sign[t], exists = cap[t] > least_cap ? 1.0 : 0.0, c = cap[t] > least_cap ? cap[t] : 1.0;
    const double bend = 0.5 / c, barrier = step.tau * c;
    const double distance = s * score[t] - offset[t], new_distance = distance + step.length * s * change[t];
    double alpha;
    if constexpr (move == Move::newton) {
      alpha = from[t];
      const double by_alpha = 1.0 / alpha, slope = distance + bend * alpha;
      const double lambda = larger(slope, step.old_tau * c * by_alpha);
      const double wanted = step.length * (barrier * by_alpha - slope - s * change[t]) / (lambda * by_alpha + bend);
      const double taken = larger(wanted, -way_to_bound * alpha);
      moved += exists * std::fabs(wanted);
      cut += exists * std::fabs(wanted - taken);
      alpha += taken;
    } else {
      const double steep = c * std::fabs(new_distance);
      const double root = std::sqrt(steep * steep + 2.0 * c * barrier);
      alpha = new_distance > 0.0 ? 2.0 * c * barrier / (steep + root) : steep + root;
    }
    to[t] = alpha;
    const double by_alpha = 1.0 / alpha, slope = new_distance + bend * alpha;
    const double lambda = larger(slope, barrier * by_alpha);
    const double v = exists / (lambda * by_alpha + bend);
    const double short_by = larger(0.0, -new_distance);
    weight[t] += v;
    pull[t] -= s * v * slope;
    push[t] += s * v * c * by_alpha;
    beta[t] += exists * s * alpha;
    loss += exists * c * short_by * short_by;
    linear += exists * alpha * (offset[t] - 0.5 * bend * alpha);
    complementarity += exists * lambda * alpha;
    violation = larger(violation, exists * std::fabs(slope));
  }
  return {loss, linear, complementarity, moved, cut, violation};
}

}  // namespace ordsvm::linear
