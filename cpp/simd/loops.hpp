// The few hot loops, compiled for several instruction sets and chosen when the library is loaded.
// Each has its NumPy line beside it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/hinges.hpp"

namespace ordsvm::simd {

/// Samples in one tile of transposed data: tile[feature][lane].
inline constexpr Index lanes = 32;

enum class Reduction { dot, squared_distance, manhattan };

/// out[j] = dot(X[j], x), or sum((X[j] - x)**2), or sum(abs(X[j] - x)), for the samples j of `n_tiles` tiles.
void reduce_tiles(Reduction reduction, const double* tiles, const double* x, Index n_tiles, Index n_features,
                  double* out);
void reduce_tiles(Reduction reduction, const float* tiles, const double* x, Index n_tiles, Index n_features,
                  double* out);

/// values = exp(factor * values); accuracy and range as in exponential.hpp.
void exponential(double factor, double* values, Index n);
void exponential(float factor, float* values, Index n);

/// out = values.astype(out.dtype)
void convert(const double* values, float* out, Index n);
inline void convert(const double* values, double* out, Index n) { std::copy(values, values + n, out); }

/// out = row[places]
void gather(const float* row, const Index* places, Index count, float* out);
void gather(const double* row, const Index* places, Index count, double* out);

/// score += delta * row; with float rows `rounded` follows as score.astype(float32).
void add_row(double* score, double delta, const double* row, Index n);
void add_row(double* score, double delta, const float* row, Index n);
void add_row(double* score, float* rounded, double delta, const float* row, Index n);

/// score += delta * (row_plus - row_minus); `rounded` as above.
void add_rows(double* score, double delta, const double* row_plus, const double* row_minus, Index n);
void add_rows(double* score, float* rounded, double delta, const float* row_plus, const float* row_minus, Index n);

/// Hinges of one threshold: those that may push gamma up, and down, with their levels (see frontier.hpp).
/// Hinge v looks at the score of sample[v], or of base + v where `sample` is null.
template <class T>
struct Range {
  const T* score;
  const SampleIndex* sample;
  Index base;
  const T* up;
  const T* low;
  Index count;
};

struct Extremes {
  double up;  // (score[sample] + up).min()
  Index up_at;
  double low;  // (score[sample] + low).max()
  Index low_at;
};

/// Both extremes with their first positions; +-infinity and position -1 where there is none.
Extremes extremes(const Range<float>& range);
Extremes extremes(const Range<double>& range);

/// The hinge already chosen for a pair: its level, its row of K and the diagonal of K.
template <class T>
struct Anchor {
  T level;
  T own_diagonal;
  const T* row;
  const T* diagonal;
};

struct Partner {
  double gain;
  Index at;
};

/// argmax of max(level - (score + up), 0)**2 / max(K_oo + K_uu - 2 K_ou, tiny): the second-order choice of
/// the hinge that rises while the anchor falls. Position -1 where no hinge gains.
Partner best_partner(const Range<float>& range, const Anchor<float>& anchor);
Partner best_partner(const Range<double>& range, const Anchor<double>& anchor);

/// Hinges of one threshold with the distances to the bounds: how far gamma may rise and fall through each before alpha
/// is at a bound. Samples as in Range; shift = -sign * offset.
template <class T>
struct BoxDistances {
  const T* score;
  const SampleIndex* sample;
  Index base;
  const T* shift;
  const T* rise;
  const T* fall;
  Index count;
};

struct Largest {
  double size;
  Index at;
};

/// argmax of abs(clip(threshold - (score + shift), -fall, rise)): the longest projected unit step, and the first
/// position of that length; -1 if there is no hinge.
Largest longest_projection(const BoxDistances<float>& box, float threshold);
Largest longest_projection(const BoxDistances<double>& box, double threshold);

}  // namespace ordsvm::simd
