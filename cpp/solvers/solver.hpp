// What every solver takes and gives back.
#pragma once

#include "hinges.hpp"
#include "monitor.hpp"

namespace ordsvm {

struct Limits {
  double tol = 1e-3;
  Index max_steps = 0;
  std::size_t cache_bytes = 0;
  bool double_rows = false;  // cached rows of K in double instead of float
};

struct Outcome {
  Status status = Status::converged;
  Index steps = 0;
  Index kernel_rows = 0;
};

/// A solver that keeps float rows of K ends only when scores recomputed in double agree that it may. If they
/// disagree this often, or float scores show no step where double ones do, the tolerance is out of reach of
/// floats: Status::imprecise, to be gone on with in double.
inline constexpr int max_recomputations = 8;

}  // namespace ordsvm
