// exp without branches and tables, so that loops over it become vector instructions.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "simd/dispatch.hpp"

namespace ordsvm {

// exp(y) = 2^n exp(r), n = round(y / ln 2), |r| <= ln(2)/2. Adding 1.5 * 2^52 (2^23 in float) leaves n in the low bits
// of the sum, ready to be shifted into the exponent.

/// y within +-bound; what is no number stays that.
template <class T>
ORDSVM_INLINE T clipped(T y, T bound) {
#if defined(__aarch64__)  // gcc makes ten instructions of two conditions there, and one of a maximum
  const T within = std::fmin(std::fmax(y, -bound), bound);
  return y == y ? within : y;
#else
  y = y < -bound ? -bound : y;
  return y > bound ? bound : y;
#endif
}

/// Relative error below 4e-16 (Taylor's series to degree 13); arguments beyond +-700 count as +-700.
ORDSVM_INLINE double exponential_of(double y) {
  constexpr double shifter = 6755399441055744.0;
  constexpr double log2_e = 1.4426950408889634, ln2_high = 0.6931471803691238, ln2_low = 1.9082149292705877e-10;
  y = clipped(y, 700.0);
  const double shifted = y * log2_e + shifter;
  const double n = shifted - shifter;
  const double r = (y - n * ln2_high) - n * ln2_low;
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  const auto exponent = static_cast<std::uint64_t>(std::bit_cast<std::int64_t>(shifted)) << 52;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(p) + exponent);
}

/// Relative error below 2e-7 (degree 7); arguments beyond +-87 count as +-87.
ORDSVM_INLINE float exponential_of(float y) {
  constexpr float shifter = 12582912.0f;
  constexpr float log2_e = 1.44269504f, ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
  y = clipped(y, 87.0f);
  const float shifted = y * log2_e + shifter;
  const float n = shifted - shifter;
  const float r = (y - n * ln2_high) - n * ln2_low;
  float p = 1.0f / 5040.0f;
  p = p * r + 1.0f / 720.0f;
  p = p * r + 1.0f / 120.0f;
  p = p * r + 1.0f / 24.0f;
  p = p * r + 1.0f / 6.0f;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  const auto exponent = std::bit_cast<std::uint32_t>(shifted) << 23;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(p) + exponent);
}

}  // namespace ordsvm
