// How a violation has fallen so far.
#pragma once

#include "../hinges.hpp"
#include "slots.hpp"

namespace ordsvm::block {

class Progress {
 public:
  /// A violation, after so much work of any kind in all.
  void see(double violation, Index work) {
    if (violation < 0.9 * least_) {
      least_ = violation;
      fell_at_ = work;
      looks_in_vain_ = 0;
    }
    ++looks_in_vain_;
    work_in_vain_ = work - fell_at_;
  }

  /// Since the violation last fell by a tenth.
  Index looks_in_vain() const { return looks_in_vain_; }
  Index work_in_vain() const { return work_in_vain_; }

 private:
  double least_ = infinite;
  Index fell_at_ = 0, looks_in_vain_ = 0, work_in_vain_ = 0;
};

}  // namespace ordsvm::block
