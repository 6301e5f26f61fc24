// What every solver takes and gives back.
#pragma once

#include <algorithm>

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

/// Float rows of K make scores that are right to about 1e-7 of |K| times the sum of |beta|, so they serve for coarse
/// tolerances only. Below least_tol, where they have drifted by more than tol, or where scores recomputed in double
/// disagree with them too often, a solver returns Status::imprecise, to be gone on with in double.
template <class T>
inline constexpr double least_tol = sizeof(T) == sizeof(float) ? 1e-5 : 0.0;
inline constexpr int max_recomputations = 8;

/// Looks now and then whether the arithmetic still carries: after 20 steps a sample, then after twice as many each
/// time, so that it costs little however long a fit takes. In double `floor` is the violation that can still be told
/// from none.
template <class T>
class PrecisionCheck {
 public:
  explicit PrecisionCheck(Index n_samples) : next_(20 * n_samples) {}

  template <class State>
  bool passed(State& state, double tol, Monitor& monitor, Index steps) {
    if (tol < least_tol<T>) return false;
    if (steps < next_) return true;
    next_ *= 2;
    floor = state.resolution();
    return state.carries(std::max(tol, floor), monitor, steps);
  }

  double floor = 0.0;

 private:
  Index next_;
};

}  // namespace ordsvm
