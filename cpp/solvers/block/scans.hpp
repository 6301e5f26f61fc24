// The hot loops over a tier of the block method, dispatched by instruction set, each with its NumPy line beside it.
//
// Lengths are multiples of 16 (`padded`); positions past the end of a tier have rise = -inf and fall = +inf.
#pragma once

#include "base/hinges.hpp"

namespace ordsvm::block {

inline constexpr Index padded(Index count) { return (count + 15) / 16 * 16; }

/// How far the samples of a tier may push one threshold. With F = f - rise or f - fall, the level of a hinge, this is
/// -b_up and -b_low of frontier.hpp.
struct Reach {
  double rise;  // (rise - score).max()
  Index rise_at;
  double fall;  // (fall - score).min()
  Index fall_at;
};

template <class T>
struct Moves {
  const T* score;
  const T* rise;  // of one threshold: sign * offset where it may rise, or -inf
  const T* fall;  // where it may fall, or +inf
  Index count;
};

Reach reach(const Moves<float>& moves);
Reach reach(const Moves<double>& moves);

/// The sample already chosen for a pair.
template <class T>
struct Chosen {
  const T* row;       // of K
  const T* diagonal;  // of K
  T own_diagonal;
  T slope;  // its slope: rise - score, plus the threshold where there is a given one
};

struct Best {
  double gain;
  Index at;
};

/// argmax of max(slope - (fall - score), 0)**2 / (K_ii + K_jj - 2 K_ij): the down index j for the chosen up index i.
Best best_down(const Moves<float>& moves, const Chosen<float>& chosen);
Best best_down(const Moves<double>& moves, const Chosen<double>& chosen);

/// Of a box problem: argmax of w_j**2 / (Q_jj - Q_ij**2 / Q_ii), where w_j is what is left of j's slope after i has
/// moved: w_j = max(threshold + rise - score - Q_ij slope / Q_ii, -(threshold + fall - score - Q_ij slope / Q_ii), 0)
/// and Q = K + penalty.
Best best_second(const Moves<float>& moves, const Chosen<float>& chosen, float threshold, float penalty);
Best best_second(const Moves<double>& moves, const Chosen<double>& chosen, double threshold, double penalty);

/// up = (threshold + rise).max(axis=0) - score; down = score - (threshold + fall).min(axis=0), for arrays
/// rise[k * stride + p]; returns max(up.max(), down.max()).
float rank(const Moves<float>& moves, Index stride, const float* threshold, Index n_thresholds, float* up, float* down);
double rank(const Moves<double>& moves, Index stride, const double* threshold, Index n_thresholds, double* up,
            double* down);

/// score += a * row_a + b * row_b
void add_two(float* score, float a, const float* row_a, float b, const float* row_b, Index count);
void add_two(double* score, double a, const double* row_a, double b, const double* row_b, Index count);

/// score[begin:end] += weight @ rows[:, begin:end], for four rows
void add_four(float* score, const double* weight, const float* const* rows, Index begin, Index end);
void add_four(double* score, const double* weight, const double* const* rows, Index begin, Index end);

/// (values > cut).sum()
Index count_above(const float* values, Index count, float cut);
Index count_above(const double* values, Index count, double cut);

}  // namespace ordsvm::block
