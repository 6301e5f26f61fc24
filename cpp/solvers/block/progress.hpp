// How a violation has fallen so far, and whether rounding may be why it does not.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/hinges.hpp"
#include "solvers/block/slots.hpp"

namespace ordsvm::block {

/// Whether scores in T, which are as large as these, are too coarse to distinguish a violation of `aim` from none.
template <class T>
bool too_coarse(std::span<const double> score, double aim) {
  double largest = 0.0;
  for (const double f : score) largest = std::max(largest, std::abs(f));
  return aim < 64.0 * std::numeric_limits<T>::epsilon() * largest;
}

class Progress {
 public:
  /// A violation, after so much work of any kind in all.
  void see(double violation, Index work) {
    if (violation < 0.9 * least_) {
      least_ = violation;
      fell_at_ = work;
      looks_without_progress_ = 0;
    }
    ++looks_without_progress_;
    work_without_progress_ = work - fell_at_;
  }

  /// Since the violation last fell by a tenth.
  Index looks_without_progress() const { return looks_without_progress_; }
  Index work_without_progress() const { return work_without_progress_; }

 private:
  double least_ = infinite;
  Index fell_at_ = 0, looks_without_progress_ = 0, work_without_progress_ = 0;
};

}  // namespace ordsvm::block
