// How far values of K that are made in float or double can be from the exact ones. docs/rounding.md has the proofs.
//
// Every operation of T rounds its exact result by at most a share u of it or, below the normal numbers of T, by its
// smallest normal number. n of them in a row make a factor within 1 +- nu / (1 - nu) (Higham 2002, section 3.1). From
// what is known of a reduction (a dot product or distance) made so, a kernel's formula bounds the error of its values.
// Bounds may be infinite: they are computed in rounding.cpp, since tiles.cpp is compiled for finite numbers alone.
#pragma once

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
  double share(double count) const;
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
  static ValueBound none();  // an error of any size
};

namespace rounding {

/// x.y
ValueBound of_product(const ReductionBound& x);

/// exp(-gamma x) of a distance x.
ValueBound of_decay(const Kernel& kernel, const ReductionBound& x);

/// gamma x + coef0 of a dot product x.
ValueBound of_affine(const Kernel& kernel, const ReductionBound& x);

/// (gamma x + coef0)^degree by repeated squaring. What std::pow makes of other degrees has no bound here.
ValueBound of_power(const Kernel& kernel, int whole_degree, const ReductionBound& x);

/// tanh(gamma x + coef0)
ValueBound of_tangent(const Kernel& kernel, const ReductionBound& x);

}  // namespace rounding
}  // namespace ordsvm
