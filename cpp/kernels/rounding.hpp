// How far values of K that are made in float or double can be from the exact ones. docs/rounding.md has the proofs.
//
// Every operation of T rounds its exact result by at most a share u of it or, below the normal numbers of T, by its
// smallest normal number. n of them in a row make a factor within 1 +- nu / (1 - nu) (Higham 2002, section 3.1). From
// what is known of a reduction (a dot product or distance) made so, a kernel's formula bounds the error of its values.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/kernel.hpp"

namespace ordsvm {

/// The arithmetic of T.
struct Arithmetic {
  double unit;         // a result is off by this share of itself, or less
  double least, most;  // the smallest normal number, and the largest one
  double of_power;     // what 2^y (simd/vectors.hpp) is off by, in units

  template <class T>
  static constexpr Arithmetic of() {
    using Limits = std::numeric_limits<T>;
    return {Limits::epsilon() / 2.0, Limits::min(), Limits::max(), sizeof(T) == sizeof(float) ? 3.0 : 5.0};
  }

  /// What `count` roundings in a row change a number by, at most, as a share of it.
  double share(double count) const {
    const double sum = count * unit;
    return sum < 0.5 ? sum / (1.0 - sum) : std::numeric_limits<double>::infinity();
  }
};

/// A reduction x of two samples comes out as x' (1 + r) + a, |r| <= relative and |a| <= absolute, where x' is x for a dot
/// product or Manhattan distance, and |sqrt(x') - sqrt(x)| <= of_root for a squared distance.
struct ReductionBound {
  Arithmetic arithmetic;
  double largest_norm;  // over all samples: sum of squares, or of absolute values for Manhattan distances
  double relative = 0.0, absolute = 0.0, of_root = 0.0;
};

/// Values of K: |K| <= largest, and one that is made is off by `error` at most.
struct ValueBound {
  double error, largest;
  static constexpr ValueBound none() { return {std::numeric_limits<double>::infinity(), 0.0}; }
};

namespace rounding {

/// Whether a parameter is rounded as results are.
inline bool is_normal(double parameter, const Arithmetic& in) {
  return parameter == 0.0 || (std::abs(parameter) >= 2.0 * in.least && std::abs(parameter) <= in.most / 4.0);
}

/// x.y
inline ValueBound of_product(const ReductionBound& x) { return {x.absolute, x.largest_norm}; }

/// exp(-gamma x) of a distance x.
inline ValueBound of_decay(const Kernel& kernel, const ReductionBound& x) {
  const Arithmetic& in = x.arithmetic;
  const double relative = x.relative + (1.0 + x.relative) * in.share(4.0);
  if (!is_normal(kernel.gamma, in) || kernel.gamma < 0.0 || !(relative < 0.5)) return ValueBound::none();
  const double of_features = std::sqrt(2.0 / std::exp(1.0) * kernel.gamma) * x.of_root;
  const double of_distance = relative / (std::exp(1.0) * (1.0 - relative));
  const double of_cancellation = std::min(1.0, kernel.gamma * x.absolute * (1.0 + in.share(4.0)));
  return {of_features + of_distance + of_cancellation + in.of_power * in.unit + 4.0 * in.least, 1.0};
}

/// gamma x + coef0 of a dot product x.
inline ValueBound of_affine(const Kernel& kernel, const ReductionBound& x) {
  const Arithmetic& in = x.arithmetic;
  const double gamma = std::abs(kernel.gamma), largest = gamma * x.largest_norm + std::abs(kernel.coef0);
  if (!is_normal(kernel.gamma, in) || !(largest <= in.most / 4.0)) return ValueBound::none();
  return {gamma * x.absolute * (1.0 + in.share(3.0)) + largest * in.share(3.0) + 4.0 * in.least, largest};
}

/// (gamma x + coef0)^degree by repeated squaring. What std::pow makes of other degrees has no bound here.
inline ValueBound of_power(const Kernel& kernel, int whole_degree, const ReductionBound& x) {
  const Arithmetic& in = x.arithmetic;
  const ValueBound base = of_affine(kernel, x);
  if (whole_degree < 0 || !std::isfinite(base.error)) return ValueBound::none();
  const double degree = whole_degree, scale = std::max(base.largest, in.least);
  const double growth = degree * std::log1p(base.error / scale) + std::log1p(in.share(std::max(0.0, degree - 1.0)));
  const double largest = std::pow(scale, degree);
  if (!(largest * std::exp(growth) <= in.most / 4.0)) return ValueBound::none();
  return {largest * std::expm1(growth) + 2.0 * degree * in.least, largest};
}

/// tanh(gamma x + coef0)
inline ValueBound of_tangent(const Kernel& kernel, const ReductionBound& x) {
  return {of_affine(kernel, x).error + (6.0 + x.arithmetic.of_power) * x.arithmetic.unit, 1.0};
}

}  // namespace rounding
}  // namespace ordsvm
