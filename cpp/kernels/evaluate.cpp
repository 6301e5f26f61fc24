#include "kernels/evaluate.hpp"

#include <cmath>

#include "simd/dispatch.hpp"
#include "simd/exponential.hpp"

namespace ordsvm {
namespace {

constexpr double largest_power = 64;  // above it, and between whole numbers, std::pow

/// values = (gamma * values + coef0)**degree, a whole number, by squaring.
template <class T>
ORDSVM_INLINE void power(T gamma, T coef0, int degree, std::span<T> values) {
#pragma omp simd
  for (std::size_t j = 0; j < values.size(); ++j) {
    T base = gamma * values[j] + coef0, result = 1;
    for (int left = degree; left > 0; left >>= 1) {
      if (left & 1) result *= base;
      base *= base;
    }
    values[j] = result;
  }
}

/// values = tanh(gamma * values + coef0), as 1 - 2 / (exp(2z) + 1), or near 0, where that cancels, by the series.
template <class T>
ORDSVM_INLINE void tangent(T gamma, T coef0, std::span<T> values) {
#pragma omp simd
  for (std::size_t j = 0; j < values.size(); ++j) {
    const T z = gamma * values[j] + coef0, square = z * z;
    const T far = 1 - 2 / (exponential_of(2 * z) + 1);
    const T near =
        z *
        (1 + square * (T(-1.0 / 3) +
                       square * (T(2.0 / 15) +
                                 square * (T(-17.0 / 315) + square * (T(62.0 / 2835) - square * T(1382.0 / 155925))))));
    values[j] = square < T(0.0025) ? near : far;
  }
}

template <class T>
ORDSVM_INLINE void evaluate_all(const Kernel& kernel, std::span<T> values) {
  const T gamma = static_cast<T>(kernel.gamma), coef0 = static_cast<T>(kernel.coef0);
  switch (kernel.kind) {
    case KernelKind::linear:
      return;
    case KernelKind::rbf:
    case KernelKind::laplacian:
      return simd::exponential(-gamma, values.data(), static_cast<Index>(values.size()));
    case KernelKind::sigmoid:
      return tangent(gamma, coef0, values);
    case KernelKind::polynomial:
      if (kernel.degree <= largest_power && kernel.degree == std::floor(kernel.degree))
        return power(gamma, coef0, static_cast<int>(kernel.degree), values);
      for (T& value : values) value = std::pow(gamma * value + coef0, static_cast<T>(kernel.degree));
  }
}

}  // namespace

ORDSVM_DISPATCH void evaluate(const Kernel& kernel, std::span<double> values) { evaluate_all(kernel, values); }
ORDSVM_DISPATCH void evaluate(const Kernel& kernel, std::span<float> values) { evaluate_all(kernel, values); }

}  // namespace ordsvm
