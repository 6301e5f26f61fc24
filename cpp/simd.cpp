#include "simd.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

// One source, three instruction sets. The sanitizers' start-up code runs after the resolvers that
// target_clones makes, so they get the plain version.
#if defined(__x86_64__) && defined(__ELF__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define ORDSVM_DISPATCH __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define ORDSVM_DISPATCH
#endif
#define ORDSVM_INLINE __attribute__((always_inline)) inline

namespace ordsvm::simd {
namespace {

constexpr Index width = 8;  // doubles in a vector of the compiler's vector extension
using Vector [[gnu::vector_size(width * sizeof(double))]] = double;
constexpr Index vectors = lanes / width;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double least_curvature = 1e-12;
constexpr Index chunk = 128;  // hinges per partial reduction: long enough to vectorise, short enough to search

template <class T>
ORDSVM_INLINE void load(Vector& value, const T* from) {
  using Narrow [[gnu::vector_size(width * sizeof(T))]] = T;
  Narrow narrow;
  std::memcpy(&narrow, from, sizeof narrow);
  value = __builtin_convertvector(narrow, Vector);
}

template <Reduction reduction, class T>
ORDSVM_INLINE void accumulate(Vector& sum, const T* column, double x) {
  Vector value;
  load(value, column);
  if constexpr (reduction == Reduction::dot) {
    sum += value * x;
  } else {
    const Vector difference = value - x;
    if constexpr (reduction == Reduction::squared_distance)
      sum += difference * difference;
    else
      sum += difference < 0 ? -difference : difference;
  }
}

template <Reduction reduction, class T>
ORDSVM_INLINE void reduce(const T* tiles, const double* x, Index n_tiles, Index n_features, double* out) {
  for (Index tile = 0; tile < n_tiles; ++tile, out += lanes) {
    Vector sum[vectors] = {};
    for (Index feature = 0; feature < n_features; ++feature, tiles += lanes)
      for (Index part = 0; part < vectors; ++part) accumulate<reduction>(sum[part], tiles + part * width, x[feature]);
    std::memcpy(out, sum, sizeof sum);
  }
}

template <class T>
ORDSVM_INLINE void reduce(Reduction reduction, const T* tiles, const double* x, Index n_tiles, Index n_features,
                          double* out) {
  switch (reduction) {
    case Reduction::dot:
      return reduce<Reduction::dot>(tiles, x, n_tiles, n_features, out);
    case Reduction::squared_distance:
      return reduce<Reduction::squared_distance>(tiles, x, n_tiles, n_features, out);
    case Reduction::manhattan:
      return reduce<Reduction::manhattan>(tiles, x, n_tiles, n_features, out);
  }
}

// exp(y) = 2^n exp(r), n = round(y / ln 2), |r| <= ln(2)/2; Taylor's series to degree 13 is exact to an ulp there.
// Adding 1.5 * 2^52 leaves n in the low bits of the sum, ready to be shifted into the exponent.
ORDSVM_INLINE double exponential_of(double y) {
  constexpr double shifter = 6755399441055744.0;
  constexpr double log2_e = 1.4426950408889634, ln2_high = 0.6931471803691238, ln2_low = 1.9082149292705877e-10;
  y = y < -700.0 ? -700.0 : y;
  y = y > 700.0 ? 700.0 : y;
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

template <class T>
ORDSVM_INLINE void add(double* score, double delta, const T* row, Index n) {
#pragma omp simd
  for (Index j = 0; j < n; ++j) score[j] += delta * static_cast<double>(row[j]);
}

template <class T>
ORDSVM_INLINE void add(double* score, double delta, const T* row_plus, const T* row_minus, Index n) {
#pragma omp simd
  for (Index j = 0; j < n; ++j)
    score[j] += delta * (static_cast<double>(row_plus[j]) - static_cast<double>(row_minus[j]));
}

template <bool gather>
ORDSVM_INLINE Index sample_of(const Range& range, Index v) {
  if constexpr (gather) return range.sample[v];
  return range.base + v;
}

template <bool gather, class T>
ORDSVM_INLINE void load(Vector& value, const T* from, const Range& range, Index v) {
  if constexpr (gather)
    for (Index l = 0; l < width; ++l) value[l] = static_cast<double>(from[range.sample[v + l]]);
  else
    load(value, from + range.base + v);
}

ORDSVM_INLINE double minimum(const Vector& value) {
  double least = value[0];
  for (Index l = 1; l < width; ++l) least = value[l] < least ? value[l] : least;
  return least;
}

// Whole chunks by vectors, keeping only the chunk of each extreme; the position is looked up at the end.
template <bool gather>
ORDSVM_INLINE Extremes find_extremes(const Range& range) {
  Extremes best{infinity, -1, -infinity, -1};
  Index up_chunk = -1, low_chunk = -1;
  for (Index begin = 0; begin < range.count; begin += chunk) {
    const Index end = std::min(begin + chunk, range.count);
    Vector up_least = Vector{} + infinity, minus_low_least = Vector{} + infinity;
    Vector score = {}, up = {}, low = {};
    Index v = begin;
    for (; v + width <= end; v += width) {
      load<gather>(score, range.score, range, v);
      load(up, range.up + v);
      load(low, range.low + v);
      up += score;
      low = -(low + score);
      up_least = up < up_least ? up : up_least;
      minus_low_least = low < minus_low_least ? low : minus_low_least;
    }
    double chunk_up = minimum(up_least), chunk_low = -minimum(minus_low_least);
    for (; v < end; ++v) {
      chunk_up = std::min(chunk_up, range.score[sample_of<gather>(range, v)] + range.up[v]);
      chunk_low = std::max(chunk_low, range.score[sample_of<gather>(range, v)] + range.low[v]);
    }
    if (chunk_up < best.up) best.up = chunk_up, up_chunk = begin;
    if (chunk_low > best.low) best.low = chunk_low, low_chunk = begin;
  }
  const auto level = [&](const double* levels, Index v) {
    return range.score[sample_of<gather>(range, v)] + levels[v];
  };
  if (up_chunk >= 0)
    for (best.up_at = up_chunk; level(range.up, best.up_at) != best.up;) ++best.up_at;
  if (low_chunk >= 0)
    for (best.low_at = low_chunk; level(range.low, best.low_at) != best.low;) ++best.low_at;
  return best;
}

template <bool gather, class T>
ORDSVM_INLINE double gain_of(const Range& range, const Anchor<T>& anchor, Index v) {
  const Index i = sample_of<gather>(range, v);
  const double slope = std::max(anchor.level - (range.score[i] + range.up[v]), 0.0);
  const double curvature = anchor.own_diagonal + anchor.diagonal[i] - 2.0 * static_cast<double>(anchor.row[i]);
  return slope * slope / std::max(curvature, least_curvature);
}

template <bool gather, class T>
ORDSVM_INLINE Partner find_partner(const Range& range, const Anchor<T>& anchor) {
  Partner best{0.0, -1};
  for (Index begin = 0; begin < range.count; begin += chunk) {
    const Index size = std::min(chunk, range.count - begin);
    double gains[chunk];
    Vector minus_most = {}, slope = {}, up = {}, row = {}, curvature = {};
    Index p = 0;
    for (; p + width <= size; p += width) {
      load<gather>(slope, range.score, range, begin + p);
      load(up, range.up + begin + p);
      load<gather>(row, anchor.row, range, begin + p);
      load<gather>(curvature, anchor.diagonal, range, begin + p);
      slope = anchor.level - (slope + up);
      slope = slope > 0.0 ? slope : Vector{};
      curvature = anchor.own_diagonal + curvature - 2.0 * row;
      curvature = curvature > least_curvature ? curvature : Vector{} + least_curvature;
      const Vector gain = slope * slope / curvature;
      std::memcpy(gains + p, &gain, sizeof gain);
      minus_most = -gain < minus_most ? -gain : minus_most;
    }
    double most = -minimum(minus_most);
    for (; p < size; ++p) most = std::max(most, gains[p] = gain_of<gather>(range, anchor, begin + p));
    if (most > best.gain) best = {most, begin + (std::find(gains, gains + size, most) - gains)};
  }
  return best;
}

}  // namespace

ORDSVM_DISPATCH void reduce_tiles(Reduction reduction, const double* tiles, const double* x, Index n_tiles,
                                  Index n_features, double* out) {
  reduce(reduction, tiles, x, n_tiles, n_features, out);
}

ORDSVM_DISPATCH void reduce_tiles(Reduction reduction, const float* tiles, const double* x, Index n_tiles,
                                  Index n_features, double* out) {
  reduce(reduction, tiles, x, n_tiles, n_features, out);
}

ORDSVM_DISPATCH void exponential(double factor, double* values, Index n) {
#pragma omp simd
  for (Index j = 0; j < n; ++j) values[j] = exponential_of(factor * values[j]);
}

ORDSVM_DISPATCH void convert(const double* values, float* out, Index n) {
#pragma omp simd
  for (Index j = 0; j < n; ++j) out[j] = static_cast<float>(values[j]);
}

void convert(const double* values, double* out, Index n) { std::copy(values, values + n, out); }

ORDSVM_DISPATCH void add_row(double* score, double delta, const float* row, Index n) { add(score, delta, row, n); }

ORDSVM_DISPATCH void add_row(double* score, double delta, const double* row, Index n) { add(score, delta, row, n); }

ORDSVM_DISPATCH void add_rows(double* score, double delta, const float* row_plus, const float* row_minus, Index n) {
  add(score, delta, row_plus, row_minus, n);
}

ORDSVM_DISPATCH void add_rows(double* score, double delta, const double* row_plus, const double* row_minus, Index n) {
  add(score, delta, row_plus, row_minus, n);
}

ORDSVM_DISPATCH Extremes extremes(const Range& range) {
  return range.sample ? find_extremes<true>(range) : find_extremes<false>(range);
}

ORDSVM_DISPATCH Partner best_partner(const Range& range, const Anchor<float>& anchor) {
  return range.sample ? find_partner<true>(range, anchor) : find_partner<false>(range, anchor);
}

ORDSVM_DISPATCH Partner best_partner(const Range& range, const Anchor<double>& anchor) {
  return range.sample ? find_partner<true>(range, anchor) : find_partner<false>(range, anchor);
}

}  // namespace ordsvm::simd
