// What every solver takes and gives back.
#pragma once

#include "hinges.hpp"
#include "monitor.hpp"

namespace ordsvm {

struct Limits {
  double tol = 1e-3;
  Index max_steps = 0;
};

struct Outcome {
  Status status = Status::converged;
  Index steps = 0;
  Index kernel_rows = 0;
};

/// Float rows of K make scores that are right to about 1e-7 of the sum of |beta|, so they serve for coarse tolerances
/// only. Below this one, or where scores recomputed in double disagree with them this often, a solver returns
/// Status::imprecise, to be gone on with in double.
template <class T>
inline constexpr double least_tol = sizeof(T) == sizeof(float) ? 1e-5 : 0.0;
inline constexpr int max_recomputations = 8;

}  // namespace ordsvm
