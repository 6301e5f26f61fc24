// When Newton's method (newton.py) is expected to end sooner than steps on pairs. All costs are in such steps.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/hinges.hpp"

namespace ordsvm::block {

/// Whether a violation of `newton_start`, from which on it is tried, comes well before the end.
inline bool newton_is_expected(double newton_start, double tol) { return newton_start > 3.0 * tol; }

/// Whether it is expected to cost half as much as the steps that are left, or as those without progress, since the
/// violation last fell by a tenth. By measurement, every factor of e by which it is to fall takes nearly half of the
/// steps so far, and a step as long as 0.6 microseconds. Of the samples `free` have a hinge between its bounds; the
/// method takes `products`, and systems of these samples.
inline bool newton_pays(Index steps, Index without_progress, double violation, double tol, Index free,
                        double products) {
  constexpr double max_free_samples = 8192.0,
                   start_steps = 5000.0;  // larger systems take seconds, and nothing interrupts them
  const double z = static_cast<double>(free), systems = 0.02 * z * z + 1.3e-5 * z * z * z;
  const double left = 0.45 * static_cast<double>(steps) * std::log(violation / tol);
  const double cost = start_steps + products + systems;
  return z > 0.0 && z <= max_free_samples && std::max(left, static_cast<double>(without_progress)) > 2.0 * cost;
}

}  // namespace ordsvm::block
