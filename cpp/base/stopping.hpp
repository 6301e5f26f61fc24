// Limits and outcome of every solver, and the rule by which it stops.
#pragma once

#include <algorithm>
#include <optional>

#include "base/hinges.hpp"
#include "base/monitor.hpp"

namespace ordsvm {

struct Limits {
  double tol = 1e-3;
  Index max_steps = 0;
  Index steps_before = 0;  // steps that earlier calls have taken on the way here
};

struct Outcome {
  Status status = Status::converged;
  Index steps = 0;
  Index kernel_rows = 0;
};

/// Float rows of K make scores that are right to about 1e-7 of |K| times the sum of |beta|, so they serve for coarse
/// tolerances only. Below min_tol, where they have drifted by more than tol, or where scores recomputed in double
/// disagree with them too often, a solver returns Status::imprecise, to be gone on with in double.
template <class T>
inline constexpr double min_tol = sizeof(T) == sizeof(float) ? 1e-5 : 0.0;
inline constexpr int max_recomputations = 8;

/// The stopping rule of every solver, and the precision it may use until then.
///
/// When the violation by working scores is at most `aim()`, scores are recomputed in double from alpha and `decide`
/// decides by the exact violation: the end, or a tolerance to go on with. Now and then (after 20 steps a
/// sample, then after twice as many each time, so that it costs little) `trusted` checks whether scores have drifted by
/// more than tol, and how small a violation double sums can still distinguish from none.
template <class T>
class Finish {
 public:
  Finish(double tol, Index n_samples, Monitor& monitor) : tol_(tol), next_(20 * n_samples), monitor_(monitor) {}

  double tol() const { return tol_; }
  double reach() const { return std::max(tol_, floor_); }
  /// What to work to: a little less than reach() where violations are rounded to float, so that the end is found once.
  double aim() const { return min_tol<T> > 0.0 ? 0.95 * reach() : reach(); }

  void set_floor(double floor) { floor_ = floor; }

  template <class State>
  bool trusted(State& state, Index steps) {
    if (tol_ < min_tol<T>) return false;
    if (steps < next_) return true;
    next_ *= 2;
    floor_ = state.resolution();
    const bool carried = state.carries(reach(), monitor_, steps);
    return carried || min_tol<T> == 0.0;  // double scores are exact by now; float ones would drift again
  }

  std::optional<Status> decide(double exact_violation) {
    if (exact_violation <= tol_) {
      const double judged = monitor_.judge(tol_, exact_violation);
      if (judged >= tol_) return Status::converged;
      tol_ = judged;
      recomputations_ = 0;
    } else if (exact_violation <= floor_ || ++recomputations_ > max_recomputations) {
      return Status::imprecise;
    }
    return std::nullopt;
  }

 private:
  double tol_, floor_ = 0.0;
  Index next_;
  int recomputations_ = 0;
  Monitor& monitor_;
};

/// The loop of a solver that one thread leads. A method can `choose(tol)` what to do next (false if nothing violates by
/// more than tol), take that `step()`, and compute the `exact_violation()` once scores are recomputed.
template <class T, class Method, class State>
Outcome iterate(Method& method, State& state, Index n_samples, const Limits& limits, Monitor& monitor) {
  Finish<T> finish(limits.tol, n_samples, monitor);
  for (Index steps = 0;; ++steps) {
    const auto outcome = [&](Status status) { return Outcome{status, steps, state.rows_computed()}; };
    if (!finish.trusted(state, steps)) return outcome(Status::imprecise);
    if (!method.choose(finish.aim())) {
      if (!state.recompute(monitor, steps)) return outcome(Status::stopped);
      if (const auto end = finish.decide(method.exact_violation())) return outcome(*end);
      if (!method.choose(finish.aim())) return outcome(Status::imprecise);
    }
    if (steps >= limits.max_steps) return outcome(Status::max_iter);
    if (monitor.stop(steps, state.rows_computed())) return outcome(Status::stopped);
    method.step();
  }
}

}  // namespace ordsvm
