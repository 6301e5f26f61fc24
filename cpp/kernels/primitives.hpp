// Functions that formulas of kernels are made of, on the numbers of each place where values of K are computed.
//
// A formula (kernels/formula.hpp) is a template over one of three classes:
//   LoopMath<T>        one float or double at a time, without branches and calls: loops over it become vector
//                      instructions
//   VectorMath<T, n>   n vectors of the instruction set side by side, so that the steps of one do not wait for those of
//                      another
//   StandardMath       one double at a time by the standard library: for tables that are made once
// Each has `Real`, the type of a number, `Value`, what arithmetic is written on, `count`, the number of those, and the
// functions below, which change values in place: `raise` one of them, the others all `count`.
#pragma once

#include <cmath>

#include "kernels/kernel.hpp"
#include "simd/dispatch.hpp"
#include "simd/exponential.hpp"
#include "simd/vectors.hpp"

namespace ordsvm {

/// The parameters of a kernel as formulas use them.
template <class T>
struct Parameters {
  T gamma, coef0, degree;
  T exponent;        // -gamma * log2(e), rounded once
  int whole_degree;  // -1: the degree is not a whole number, or too large for repeated squaring

  ORDSVM_INLINE explicit Parameters(const Kernel& kernel)
      : gamma(static_cast<T>(kernel.gamma)),
        coef0(static_cast<T>(kernel.coef0)),
        degree(static_cast<T>(kernel.degree)),
        exponent(static_cast<T>(-kernel.gamma * 1.4426950408889634)),
        whole_degree(is_whole(kernel.degree) ? static_cast<int>(kernel.degree) : -1) {}

 private:
  static constexpr double largest_squared_degree = 64.0;  // above it, and between whole numbers, std::pow
  ORDSVM_INLINE static bool is_whole(double degree) {
    return degree >= 0.0 && degree <= largest_squared_degree && degree == std::floor(degree);
  }
};

/// x = x**degree, for a whole number, by squaring.
template <class Value>
ORDSVM_INLINE void raise_by_squaring(Value& x, int degree) {
  Value result = Value{} + 1;
  for (int bits = degree; bits > 0; bits >>= 1) {
    if (bits & 1) result *= x;
    x *= x;
  }
  x = result;
}

template <class T>
struct LoopMath {
  using Real = T;
  using Value = T;
  static constexpr Index count = 1;

  /// x = exp(-gamma * x)
  ORDSVM_INLINE static void decay(T* x, const Parameters<T>& p) { *x = exponential_of(-p.gamma * *x); }

  /// x = tanh(x), as 1 - 2 / (exp(2x) + 1), or near 0, where that cancels, by the series.
  ORDSVM_INLINE static void tangent(T* x) {
    const T z = *x, square = z * z;
    const T far = 1 - 2 / (exponential_of(2 * z) + 1);
    const T near =
        z *
        (1 + square * (T(-1.0 / 3) +
                       square * (T(2.0 / 15) +
                                 square * (T(-17.0 / 315) + square * (T(62.0 / 2835) - square * T(1382.0 / 155925))))));
    *x = square < T(0.0025) ? near : far;
  }

  /// x = x**degree
  ORDSVM_INLINE static void raise(T& x, const Parameters<T>& p) {
    if (p.whole_degree >= 0)
      raise_by_squaring(x, p.whole_degree);
    else
      x = std::pow(x, p.degree);
  }
};

inline namespace ORDSVM_OWN {

template <class T, Index n>
struct VectorMath {
  using Real = T;
  using Value = wide::Vector<T>;
  static constexpr Index count = n;

  /// x = exp(-gamma * x) for x >= 0; a distance from norms that comes out below 0 counts as 0.
  ORDSVM_INLINE static void decay(Value* x, const Parameters<T>& p) {
    for (Index v = 0; v < n; ++v) {
      x[v] *= p.exponent;
      x[v] = x[v] < 0 ? x[v] : Value{};
    }
    wide::powers_of_two<n, T>(x);
  }

  /// x = tanh(x) = 1 - 2 / (exp(2x) + 1)
  ORDSVM_INLINE static void tangent(Value* x) {
    constexpr T twice_log2_e = T(2.8853900817779268), saturated = T(100);
    for (Index v = 0; v < n; ++v) {
      x[v] *= twice_log2_e;
      x[v] = x[v] < saturated ? x[v] : Value{} + saturated;
    }
    wide::powers_of_two<n, T>(x);
    for (Index v = 0; v < n; ++v) x[v] = T(1) - T(2) / (x[v] + T(1));
  }

  /// x = x**degree
  ORDSVM_INLINE static void raise(Value& x, const Parameters<T>& p) {
    if (p.whole_degree >= 0)
      raise_by_squaring(x, p.whole_degree);
    else
      for (Index l = 0; l < wide::width<T>; ++l) x[l] = std::pow(x[l], p.degree);
  }
};

}  // namespace ORDSVM_OWN

struct StandardMath {
  using Real = double;
  using Value = double;
  static constexpr Index count = 1;
  static void decay(double* x, const Parameters<double>& p) { *x = std::exp(-p.gamma * *x); }
  static void tangent(double* x) { *x = std::tanh(*x); }
  static void raise(double& x, const Parameters<double>& p) { x = std::pow(x, p.degree); }
};

}  // namespace ordsvm
