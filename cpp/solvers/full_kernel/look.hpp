// What a fit under way proves, for those who watch it.
#pragma once

#include <vector>

#include "optimality/proof.hpp"

namespace ordsvm::full_kernel {

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
