// The formula of every kernel, once: rows, tiles, lookups of binary features and prediction all compute values of K by
// it.
//
// A kernel is a function of a reduction of two samples: their dot product, squared distance or Manhattan distance.
// `Formula<kind>` derives from OfDotProduct, OfSquaredDistance or OfManhattanDistance, which have what follows from
// that, and has
//   value<Math>(x, p)   turns Math::count reductions x into values of K, in place; Math and the parameters p are those
//                       of primitives.hpp
// A kernel without a formula, or without its case in with_formula, does not compile. docs/add_a_kernel.md is the guide.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/kernel.hpp"
#include "kernels/primitives.hpp"
#include "simd/loops.hpp"

namespace ordsvm {

/// What the error of a value of K depends on, for values made in T of features rounded to T; errors in epsilons of T.
struct RoundingSources {
  Kernel kernel;
  double largest_norm;  // over all samples: sum of squares, or of absolute values for Manhattan distances
  double roundings;     // of the sums that make a reduction, relative to it
  bool by_norms;        // whether distances come from norms, which cancel
  double scaled_norm() const { return kernel.gamma * largest_norm; }
};

/// An error of a kernel of distances where |K| <= 1 and |x dK/dx| <= 1. Features far from 0 are rounded by more than
/// their differences: by `of_features`, in units of gamma times a distance.
inline double error_of_distances(const RoundingSources& from, double of_features) {
  return (from.roundings + of_features) * (from.by_norms ? std::max(1.0, from.scaled_norm() / 2.0) : 1.0);
}

struct OfDotProduct {
  static constexpr simd::Reduction reduction = simd::Reduction::dot;
};

/// `error` bounds the error of a value of K; a kernel with |K| > 1 or |x dK/dx| > 1 needs its own.
struct OfSquaredDistance {
  static constexpr simd::Reduction reduction = simd::Reduction::squared_distance;
  static double error(const RoundingSources& from) {
    return error_of_distances(from, 2.0 * std::sqrt(from.scaled_norm()));
  }
};

struct OfManhattanDistance {
  static constexpr simd::Reduction reduction = simd::Reduction::manhattan;
  static double error(const RoundingSources& from) { return error_of_distances(from, from.scaled_norm()); }
};

template <KernelKind kind>
struct Formula;

/// x.y
template <>
struct Formula<KernelKind::linear> : OfDotProduct {
  template <class Math>
  ORDSVM_INLINE static void value(typename Math::Value*, const Parameters<typename Math::Real>&) {}

  static double error(const RoundingSources& from) { return from.roundings * from.largest_norm; }
};

/// exp(-gamma |x-y|^2)
template <>
struct Formula<KernelKind::rbf> : OfSquaredDistance {
  template <class Math>
  ORDSVM_INLINE static void value(typename Math::Value* x, const Parameters<typename Math::Real>& p) {
    Math::decay(x, p);
  }
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

  static double error(const RoundingSources& from) {
    const double degree = from.kernel.degree, largest = from.scaled_norm() + std::abs(from.kernel.coef0);
    return from.roundings * std::max(1.0, degree / 4.0) * std::pow(largest, degree);
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

  static double error(const RoundingSources& from) { return from.roundings * std::max(1.0, from.scaled_norm()); }
};

/// exp(-gamma |x-y|_1)
template <>
struct Formula<KernelKind::laplacian> : OfManhattanDistance {
  template <class Math>
  ORDSVM_INLINE static void value(typename Math::Value* x, const Parameters<typename Math::Real>& p) {
    Math::decay(x, p);
  }
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

/// What a feature adds to the norm of a sample from which distances are made: |value| or value^2.
inline double part_of_norm(simd::Reduction reduction, double value) {
  return reduction == simd::Reduction::manhattan ? std::abs(value) : value * value;
}

}  // namespace ordsvm
