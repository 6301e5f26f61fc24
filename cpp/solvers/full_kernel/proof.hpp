// What alpha proves: both objectives and the best thresholds for its scores. The certificate in Python is the same
// (problem.py); here it costs a fraction of it.
#pragma once

#include "optimality/score_state.hpp"

namespace ordsvm::full_kernel {

struct Proof {
  double primal = 0.0, dual = 0.0, gap = 0.0;
  std::vector<double> thresholds;

  double relative_gap() const {
    const double scale = std::max(std::abs(primal), std::abs(dual));
    return scale != 0.0 ? gap / scale : 0.0;
  }
};

/// None, penalised and free thresholds. `rounding`: how far a score may be off.
Proof prove(const Hinges& hinges, const Variables& variables, double rounding);

}  // namespace ordsvm::full_kernel
