// What alpha proves: both objectives, the best thresholds for its scores, the gap and the violation. The certificate in
// Python is the same (problem/hinges.py); here it costs a fraction of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "base/hinges.hpp"

namespace ordsvm {

struct Proof {
  double primal = 0.0, dual = 0.0, gap = 0.0, violation = 0.0;
  std::vector<double> thresholds, gamma;

  double relative_gap() const {
    const double scale = std::max(std::abs(primal), std::abs(dual));
    return scale != 0.0 ? gap / scale : 0.0;
  }
};

/// How far a score that is summed in double may be off, by an estimate: KernelMatrix.rounding in Python. `values`:
/// roundings of a value of K; `largest`: the largest value.
struct ScoreRounding {
  double values, largest;
  double of(std::span<const double> beta) const;
};

/// What is known of the scores of samples: f = K beta but for rounding, and but for `error` where that is not empty.
struct KnownScores {
  std::span<const double> score, error;
};

/// None, penalised and free thresholds. Where a score is not finite, nothing is proven and the gap is NaN.
Proof prove(const Hinges& hinges, std::span<const double> alpha, const KnownScores& known, const ScoreRounding& round);

}  // namespace ordsvm
