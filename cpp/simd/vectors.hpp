// Vectors as wide as the registers of the instruction set, and powers of two on them. Only for files whose functions are
// dispatched by instruction set.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/hinges.hpp"
#include "simd/dispatch.hpp"

namespace ordsvm::wide {
inline namespace ORDSVM_OWN {

#if defined(__AVX512F__)
inline constexpr Index bytes = 64, registers = 32;
#elif defined(__AVX__)
inline constexpr Index bytes = 32, registers = 16;
#elif defined(__aarch64__)
inline constexpr Index bytes = 16, registers = 32;
#else
inline constexpr Index bytes = 16, registers = 16;
#endif

template <class T>
inline constexpr Index width = bytes / sizeof(T);
template <class T>
using Vector [[gnu::vector_size(bytes)]] = T;
/// Whole numbers as wide as T, for bits and positions.
template <class T>
using Whole = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

template <class V, class T>
ORDSVM_INLINE void load(V& value, const T* from) {
  static_assert(sizeof value == width<T> * sizeof(T));
  std::memcpy(&value, from, sizeof value);
}

template <class V, class T>
ORDSVM_INLINE void store(T* to, const V& value) {
  static_assert(sizeof value == width<T> * sizeof(T));
  std::memcpy(to, &value, sizeof value);
}

/// sum += value, in double.
ORDSVM_INLINE void add_to(Vector<double>* sum, const Vector<double>& value) { sum[0] += value; }

ORDSVM_INLINE void add_to(Vector<double>* sum, const Vector<float>& value) {
  using Half [[gnu::vector_size(bytes / 2)]] = float;
  Half halves[2];
  std::memcpy(halves, &value, sizeof value);
  sum[0] += __builtin_convertvector(halves[0], Vector<double>);
  sum[1] += __builtin_convertvector(halves[1], Vector<double>);
}

/// What 2^y is made of: y = n + r, n whole and |r| <= 1/2, and the polynomial for 2^r with the smallest largest
/// relative error. Adding `shifter` leaves n in the low bits of the sum, ready to be shifted into the exponent.
template <class T>
struct PowerOfTwo;

template <>
struct PowerOfTwo<float> {  // off by at most 1.6e-8 of the value, and rounding (docs/rounding.md)
  static constexpr float shifter = 12582912.0f, least = -126.0f;
  static constexpr int exponent = 23;
  static constexpr float terms[] = {
      1.53458122e-4f, 1.33999312e-3f, 9.61848896e-3f, 0.0555032878f, 0.240226469f, 0.693147206f, 1.0f};
};

template <>
struct PowerOfTwo<double> {  // 2.8e-16
  static constexpr double shifter = 6755399441055744.0, least = -1020.0;
  static constexpr int exponent = 52;
  static constexpr double terms[] = {7.0372795305828038e-09,
                                     1.0208537904552164e-07,
                                     1.3215662831846104e-06,
                                     1.5252658116561384e-05,
                                     1.5403529961135955e-04,
                                     0.0013333558228561476,
                                     0.0096181291080345895,
                                     0.055504108664458832,
                                     0.24022650695908768,
                                     0.69314718055994973,
                                     1.0};
};

/// y = 2**max(y, least) for each of `count` vectors, for y below about 120. They go through the polynomial side by
/// side: a product waits for the one before, so that one vector at a time would leave most of the core idle.
template <Index count, class T>
ORDSVM_INLINE void powers_of_two(Vector<T>* y) {
  using P = PowerOfTwo<T>;
  Vector<T> shifted[count], rest[count], p[count];
  for (Index v = 0; v < count; ++v) {
    y[v] = y[v] > P::least ? y[v] : Vector<T>{} + P::least;
    shifted[v] = y[v] + P::shifter;
    rest[v] = y[v] - (shifted[v] - P::shifter);
    p[v] = rest[v] * P::terms[0] + P::terms[1];
  }
  for (std::size_t t = 2; t < std::size(P::terms); ++t)
    for (Index v = 0; v < count; ++v) p[v] = p[v] * rest[v] + P::terms[t];
  for (Index v = 0; v < count; ++v) {
    Vector<Whole<T>> bits, scale;
    std::memcpy(&bits, &p[v], sizeof bits);
    std::memcpy(&scale, &shifted[v], sizeof scale);
    bits += scale << P::exponent;
    std::memcpy(&y[v], &bits, sizeof bits);
  }
}

}  // namespace ORDSVM_OWN
}  // namespace ordsvm::wide
