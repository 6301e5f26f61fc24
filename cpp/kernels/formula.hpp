// The formula of every kernel, once: rows, tiles, lookups of binary features and prediction all compute values of K by
// it.
//
// A kernel is a function of a reduction of two samples: their dot product, squared distance or Manhattan distance.
// `Formula<kind>` derives from OfDotProduct, OfSquaredDistance or OfManhattanDistance, which have what follows from
// that, and has
//   value<Math>(x, p)   turns Math::count reductions x into values of K, in place; Math and the parameters p are those
//                       of primitives.hpp
//   bound(kernel, x)    how far such values are off, at most, for what is known of the reductions x (rounding.hpp)
// A kernel without a formula, or without its case in with_formula, does not compile. docs/add_a_kernel.md is the guide.
#pragma once

#include <cmath>

#include "kernels/kernel.hpp"
#include "kernels/primitives.hpp"
#include "kernels/rounding.hpp"
#include "simd/loops.hpp"

namespace ordsvm {

/// A kernel whose formula has no `bound` of its own has none: no proof relies on its values in float.
struct Unbounded {
  static ValueBound bound(const Kernel&, const ReductionBound&) { return ValueBound::none(); }
};

struct OfDotProduct : Unbounded {
  static constexpr simd::Reduction reduction = simd::Reduction::dot;
};

struct OfSquaredDistance : Unbounded {
  static constexpr simd::Reduction reduction = simd::Reduction::squared_distance;
};

struct OfManhattanDistance : Unbounded {
  static constexpr simd::Reduction reduction = simd::Reduction::manhattan;
};

template <KernelKind kind>
struct Formula;

/// x.y
template <>
struct Formula<KernelKind::linear> : OfDotProduct {
  template <class Math>
  ORDSVM_INLINE static void value(typename Math::Value*, const Parameters<typename Math::Real>&) {}

  static ValueBound bound(const Kernel&, const ReductionBound& x) { return rounding::of_product(x); }
};

/// exp(-gamma |x-y|^2)
template <>
struct Formula<KernelKind::rbf> : OfSquaredDistance {
  template <class Math>
  ORDSVM_INLINE static void value(typename Math::Value* x, const Parameters<typename Math::Real>& p) {
    Math::decay(x, p);
  }

  static ValueBound bound(const Kernel& kernel, const ReductionBound& x) { return rounding::of_decay(kernel, x); }
};

/// (gamma x.y + coef0)^degree
template <>
struct Formula<KernelKind::polynomial> : OfDotProduct {
  template <class Math>
  ORDSVM_INLINE static void value(typename Math::Value* x, const Parameters<typename Math::Real>& p) {
    for (Index v = 0; v < Math::count; ++v) {
      x[v] = p.gamma * x[v] + p.coef0;
      Math::raise(x[v], p);
    }
  }

  static ValueBound bound(const Kernel& kernel, const ReductionBound& x) {
    return rounding::of_power(kernel, Parameters<double>(kernel).whole_degree, x);
  }
};

/// tanh(gamma x.y + coef0)
template <>
struct Formula<KernelKind::sigmoid> : OfDotProduct {
  template <class Math>
  ORDSVM_INLINE static void value(typename Math::Value* x, const Parameters<typename Math::Real>& p) {
    for (Index v = 0; v < Math::count; ++v) x[v] = p.gamma * x[v] + p.coef0;
    Math::tangent(x);
  }

  static ValueBound bound(const Kernel& kernel, const ReductionBound& x) { return rounding::of_tangent(kernel, x); }
};

/// exp(-gamma |x-y|_1)
template <>
struct Formula<KernelKind::laplacian> : OfManhattanDistance {
  template <class Math>
  ORDSVM_INLINE static void value(typename Math::Value* x, const Parameters<typename Math::Real>& p) {
    Math::decay(x, p);
  }

  static ValueBound bound(const Kernel& kernel, const ReductionBound& x) { return rounding::of_decay(kernel, x); }
};

/// use.operator()<Formula<kind>>(): from a kernel chosen at run time to its formula.
template <class Use>
ORDSVM_INLINE constexpr auto with_formula(KernelKind kind, Use use) {
  switch (kind) {
    case KernelKind::linear:
      return use.template operator()<Formula<KernelKind::linear>>();
    case KernelKind::rbf:
      return use.template operator()<Formula<KernelKind::rbf>>();
    case KernelKind::polynomial:
      return use.template operator()<Formula<KernelKind::polynomial>>();
    case KernelKind::sigmoid:
      return use.template operator()<Formula<KernelKind::sigmoid>>();
    case KernelKind::laplacian:
      return use.template operator()<Formula<KernelKind::laplacian>>();
  }
  __builtin_unreachable();
}

/// What a kernel is a function of.
constexpr simd::Reduction reduction_of(KernelKind kind) {
  return with_formula(kind, []<class F>() { return F::reduction; });
}
constexpr bool is_distance(KernelKind kind) { return reduction_of(kind) != simd::Reduction::dot; }

/// A value of K from a reduction, by the functions of the standard library.
inline double value_of(const Kernel& kernel, double reduction) {
  with_formula(kernel.kind,
               [&]<class F>() { F::template value<StandardMath>(&reduction, Parameters<double>(kernel)); });
  return reduction;
}

/// What a feature adds to the norm of a sample from which distances are made: |value| or value^2.
inline double part_of_norm(simd::Reduction reduction, double value) {
  return reduction == simd::Reduction::manhattan ? std::abs(value) : value * value;
}

}  // namespace ordsvm
