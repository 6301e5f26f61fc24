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

/// A look at a fit under way.
struct Look {
  Index steps = 0;
  double violation = 0.0;
  std::vector<double> thresholds;  // those of the solver: -gamma where they are penalised
  Proof proof;
};

/// Takes looks whenever one is due.
class Looks {
 public:
  virtual ~Looks() = default;
  virtual bool due() = 0;
  virtual void take(const Look& look) = 0;
};

}  // namespace ordsvm::full_kernel
