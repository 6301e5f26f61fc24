#include "simd/loops.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "simd/exponential.hpp"
#include "simd/vectors.hpp"

namespace ordsvm::simd {
namespace {

// 32 bytes, or less where registers are shorter: longer ones gain nothing here.
constexpr Index bytes = wide::bytes < 32 ? wide::bytes : 32;
template <class T>
constexpr Index width = bytes / sizeof(T);
template <class T>
using Vector [[gnu::vector_size(bytes)]] = T;
template <class T>
constexpr T infinity = std::numeric_limits<T>::infinity();

constexpr Index vectors = 8;  // whose sums are in registers together
constexpr Index chunk = 128;  // hinges per partial reduction: long enough to vectorise, short enough to search

/// As many values as the vector holds, converted to its type.
template <class T, class U>
ORDSVM_INLINE void load(Vector<T>& value, const U* from) {
  using Raw [[gnu::vector_size(width<T> * sizeof(U))]] = U;
  Raw raw;
  std::memcpy(&raw, from, sizeof raw);
  value = __builtin_convertvector(raw, Vector<T>);
}

template <Reduction reduction, class T>
ORDSVM_INLINE void accumulate(Vector<double>& sum, const T* column, double x) {
  Vector<double> value;
  load<double>(value, column);
  if constexpr (reduction == Reduction::dot) {
    sum += value * x;
  } else {
    const Vector<double> difference = value - x;
    if constexpr (reduction == Reduction::squared_distance)
      sum += difference * difference;
    else
      sum += difference < 0 ? -difference : difference;
  }
}

template <Reduction reduction, class T>
ORDSVM_INLINE void reduce(const T* tiles, const double* x, Index n_tiles, Index n_features, double* out) {
  for (Index tile = 0; tile < n_tiles; ++tile, tiles += n_features * lanes)
    for (Index lane = 0; lane < lanes; lane += vectors * width<double>, out += vectors * width<double>) {
      Vector<double> sum[vectors] = {};
      const T* column = tiles + lane;
      for (Index feature = 0; feature < n_features; ++feature, column += lanes)
        for (Index part = 0; part < vectors; ++part)
          accumulate<reduction>(sum[part], column + part * width<double>, x[feature]);
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

template <bool gather, class Hinges>
ORDSVM_INLINE Index sample_of(const Hinges& range, Index v) {
  if constexpr (gather) return range.sample[v];
  return range.base + v;
}

/// from[sample] for as many hinges as the vector holds.
template <bool gather, class T, class Hinges>
ORDSVM_INLINE void load_samples(Vector<T>& value, const T* from, const Hinges& range, Index v) {
  if constexpr (gather)
    for (Index l = 0; l < width<T>; ++l) value[l] = from[range.sample[v + l]];
  else
    load<T>(value, from + range.base + v);
}

template <class T>
ORDSVM_INLINE T minimum(const Vector<T>& value) {
  T least = value[0];
  for (Index l = 1; l < width<T>; ++l) least = value[l] < least ? value[l] : least;
  return least;
}

/// The first place of a value that is one of them.
template <class T>
ORDSVM_INLINE Index place_of(T value, const T* values, Index count) {
  Index at = 0;
  while (at + 1 < count && values[at] != value) ++at;
  return at;
}

// Whole chunks by vectors, keeping only the chunk of each extreme; the position is looked up at the end.
template <bool gather, class T>
ORDSVM_INLINE Extremes find_extremes(const Range<T>& range) {
  const auto level = [&](const T* levels, Index v) { return range.score[sample_of<gather>(range, v)] + levels[v]; };
  T best_up = infinity<T>, best_low = -infinity<T>;
  Index up_at = -1, low_at = -1;
  for (Index begin = 0; begin < range.count; begin += chunk) {
    const Index end = std::min(begin + chunk, range.count);
    Vector<T> least_up = Vector<T>{} + infinity<T>, least_minus_low = least_up;
    Vector<T> score = {}, up = {}, low = {};
    Index v = begin;
    for (; v + width<T> <= end; v += width<T>) {
      load_samples<gather, T>(score, range.score, range, v);
      load<T>(up, range.up + v);
      load<T>(low, range.low + v);
      up += score;
      low = -(low + score);
      least_up = up < least_up ? up : least_up;
      least_minus_low = low < least_minus_low ? low : least_minus_low;
    }
    T chunk_up = minimum<T>(least_up), chunk_low = -minimum<T>(least_minus_low);
    for (; v < end; ++v) {
      chunk_up = std::min(chunk_up, level(range.up, v));
      chunk_low = std::max(chunk_low, level(range.low, v));
    }
    if (chunk_up < best_up) best_up = chunk_up, up_at = begin;
    if (chunk_low > best_low) best_low = chunk_low, low_at = begin;
  }
  if (up_at >= 0)
    while (level(range.up, up_at) != best_up) ++up_at;
  if (low_at >= 0)
    while (level(range.low, low_at) != best_low) ++low_at;
  return {best_up, up_at, best_low, low_at};
}

// Below this share of K_oo + K_uu a curvature is rounding.
template <class T>
constexpr T min_curvature_share = sizeof(T) == sizeof(float) ? T(5e-7) : T(5e-13);

template <bool gather, class T>
ORDSVM_INLINE T gain_of(const Range<T>& range, const Anchor<T>& anchor, Index v) {
  const Index i = sample_of<gather>(range, v);
  const T slope = std::max(anchor.level - (range.score[i] + range.up[v]), T(0));
  const T together = anchor.own_diagonal + anchor.diagonal[i];
  return slope * slope / std::max(together - 2 * anchor.row[i], min_curvature_share<T> * together);
}

template <bool gather, class T>
ORDSVM_INLINE Partner find_partner(const Range<T>& range, const Anchor<T>& anchor) {
  T best = 0;
  Index best_at = -1;
  for (Index begin = 0; begin < range.count; begin += chunk) {
    const Index size = std::min(chunk, range.count - begin);
    T gains[chunk];
    Vector<T> minus_most = {}, slope = {}, up = {}, row = {}, curvature = {};
    Index p = 0;
    for (; p + width<T> <= size; p += width<T>) {
      load_samples<gather, T>(slope, range.score, range, begin + p);
      load<T>(up, range.up + begin + p);
      load_samples<gather, T>(row, anchor.row, range, begin + p);
      load_samples<gather, T>(curvature, anchor.diagonal, range, begin + p);
      slope = anchor.level - (slope + up);
      slope = slope > 0 ? slope : Vector<T>{};
      const Vector<T> together = anchor.own_diagonal + curvature, least = min_curvature_share<T> * together;
      curvature = together - 2 * row;
      curvature = curvature > least ? curvature : least;
      const Vector<T> gain = slope * slope / curvature;
      std::memcpy(gains + p, &gain, sizeof gain);
      minus_most = -gain < minus_most ? -gain : minus_most;
    }
    T most = -minimum<T>(minus_most);
    for (; p < size; ++p) most = std::max(most, gains[p] = gain_of<gather>(range, anchor, begin + p));
    if (most > best) best = most, best_at = begin + place_of(most, gains, size);
  }
  return {best, best_at};
}

template <bool gather, class T>
ORDSVM_INLINE Largest find_longest(const BoxDistances<T>& box, T threshold) {
  T best = -1;
  Index best_at = -1;
  for (Index begin = 0; begin < box.count; begin += chunk) {
    const Index size = std::min(chunk, box.count - begin);
    T lengths[chunk];
    Vector<T> longest = {}, step = {}, shift = {}, rise = {}, fall = {};
    Index p = 0;
    for (; p + width<T> <= size; p += width<T>) {
      load_samples<gather, T>(step, box.score, box, begin + p);
      load<T>(shift, box.shift + begin + p);
      load<T>(rise, box.rise + begin + p);
      load<T>(fall, box.fall + begin + p);
      step = threshold - (step + shift);
      step = step < rise ? step : rise;
      step = step > -fall ? step : -fall;
      step = step < 0 ? -step : step;
      std::memcpy(lengths + p, &step, sizeof step);
      longest = step > longest ? step : longest;
    }
    T most = -minimum<T>(-longest);
    for (; p < size; ++p) {
      const T full = threshold - (box.score[sample_of<gather>(box, begin + p)] + box.shift[begin + p]);
      lengths[p] = std::abs(std::max(std::min(full, box.rise[begin + p]), -box.fall[begin + p]));
      most = std::max(most, lengths[p]);
    }
    if (most > best) best = most, best_at = begin + place_of(most, lengths, size);
  }
  return {best, best_at};
}

}  // namespace

ORDSVM_DISPATCH(void, reduce_tiles,
                (Reduction reduction, const double* tiles, const double* x, Index n_tiles, Index n_features,
                 double* out),
                (reduction, tiles, x, n_tiles, n_features, out)) {
  reduce(reduction, tiles, x, n_tiles, n_features, out);
}

ORDSVM_DISPATCH(void, reduce_tiles,
                (Reduction reduction, const float* tiles, const double* x, Index n_tiles, Index n_features,
                 double* out),
                (reduction, tiles, x, n_tiles, n_features, out)) {
  reduce(reduction, tiles, x, n_tiles, n_features, out);
}

ORDSVM_DISPATCH(void, exponential, (double factor, double* values, Index n), (factor, values, n)) {
#pragma omp simd
  for (Index j = 0; j < n; ++j) values[j] = exponential_of(factor * values[j]);
}

ORDSVM_DISPATCH(void, exponential, (float factor, float* values, Index n), (factor, values, n)) {
#pragma omp simd
  for (Index j = 0; j < n; ++j) values[j] = exponential_of(factor * values[j]);
}

ORDSVM_DISPATCH(void, convert, (const double* values, float* out, Index n), (values, out, n)) {
#pragma omp simd
  for (Index j = 0; j < n; ++j) out[j] = static_cast<float>(values[j]);
}

ORDSVM_DISPATCH(void, add_row, (double* score, double delta, const double* row, Index n), (score, delta, row, n)) {
#pragma omp simd
  for (Index j = 0; j < n; ++j) score[j] += delta * row[j];
}

ORDSVM_DISPATCH(void, add_row, (double* score, double delta, const float* row, Index n), (score, delta, row, n)) {
  for (Index i = 0; i < n; ++i) score[i] += delta * static_cast<double>(row[i]);
}

ORDSVM_DISPATCH(void, add_row, (double* score, float* rounded, double delta, const float* row, Index n),
                (score, rounded, delta, row, n)) {
#pragma omp simd
  for (Index j = 0; j < n; ++j) {
    score[j] += delta * static_cast<double>(row[j]);
    rounded[j] = static_cast<float>(score[j]);
  }
}

ORDSVM_DISPATCH(void, add_rows, (double* score, double delta, const double* row_plus, const double* row_minus, Index n),
                (score, delta, row_plus, row_minus, n)) {
#pragma omp simd
  for (Index j = 0; j < n; ++j) score[j] += delta * (row_plus[j] - row_minus[j]);
}

ORDSVM_DISPATCH(void, add_rows,
                (double* score, float* rounded, double delta, const float* row_plus, const float* row_minus, Index n),
                (score, rounded, delta, row_plus, row_minus, n)) {
#pragma omp simd
  for (Index j = 0; j < n; ++j) {
    score[j] += delta * (static_cast<double>(row_plus[j]) - static_cast<double>(row_minus[j]));
    rounded[j] = static_cast<float>(score[j]);
  }
}

ORDSVM_DISPATCH(Extremes, extremes, (const Range<float>& range), (range)) {
  return range.sample ? find_extremes<true>(range) : find_extremes<false>(range);
}

ORDSVM_DISPATCH(Extremes, extremes, (const Range<double>& range), (range)) {
  return range.sample ? find_extremes<true>(range) : find_extremes<false>(range);
}

ORDSVM_DISPATCH(Partner, best_partner, (const Range<float>& range, const Anchor<float>& anchor), (range, anchor)) {
  return range.sample ? find_partner<true>(range, anchor) : find_partner<false>(range, anchor);
}

ORDSVM_DISPATCH(Partner, best_partner, (const Range<double>& range, const Anchor<double>& anchor), (range, anchor)) {
  return range.sample ? find_partner<true>(range, anchor) : find_partner<false>(range, anchor);
}

ORDSVM_DISPATCH(Largest, longest_projection, (const BoxDistances<float>& box, float threshold), (box, threshold)) {
  return box.sample ? find_longest<true>(box, threshold) : find_longest<false>(box, threshold);
}

ORDSVM_DISPATCH(Largest, longest_projection, (const BoxDistances<double>& box, double threshold), (box, threshold)) {
  return box.sample ? find_longest<true>(box, threshold) : find_longest<false>(box, threshold);
}

ORDSVM_DISPATCH(void, gather, (const float* row, const Index* places, Index count, float* out),
                (row, places, count, out)) {
#pragma omp simd
  for (Index q = 0; q < count; ++q) out[q] = row[places[q]];
}

ORDSVM_DISPATCH(void, gather, (const double* row, const Index* places, Index count, double* out),
                (row, places, count, out)) {
#pragma omp simd
  for (Index q = 0; q < count; ++q) out[q] = row[places[q]];
}

}  // namespace ordsvm::simd
