// A thread's own steps, for the others to read: one writer, several readers, no locks.
//
// The writer never overwrites a step that a reader has yet to see, so nothing is lost, and no reader can fall behind by
// more than the capacity: that bounds how stale a score can be.
#pragma once

#include <atomic>
#include <limits>
#include <vector>

#include "base/hinges.hpp"

namespace ordsvm {

/// beta of a sample and gamma of a threshold have moved by delta; the part of beta that comes from hinges at their caps
/// has moved by `capped`.
struct Step {
  SampleIndex sample;
  SampleIndex threshold;
  double delta;
  double capped;
};

class StepLog {
 public:
  StepLog(Index capacity, int n_readers) : steps_(capacity), read_(n_readers) {}

  /// Writer: false if some reader is a whole capacity behind.
  bool try_append(const Step& step) {
    const Index written = written_.load(std::memory_order_relaxed);
    for (const auto& read : read_)
      if (written - read.load(std::memory_order_acquire) >= static_cast<Index>(steps_.size())) return false;
    steps_[written % steps_.size()] = step;
    written_.store(written + 1, std::memory_order_release);
    return true;
  }

  /// Reader: calls apply(step) for every step it has not seen yet.
  template <class Apply>
  void read(int reader, Apply apply) {
    const Index written = written_.load(std::memory_order_acquire);
    for (Index next = read_[reader].load(std::memory_order_relaxed); next < written; ++next) {
      apply(steps_[next % steps_.size()]);
      read_[reader].store(next + 1, std::memory_order_release);
    }
  }

  /// A reader that reads nothing (the writer itself) must not block the writer.
  void ignore(int reader) { read_[reader].store(std::numeric_limits<Index>::max() / 2); }

 private:
  std::vector<Step> steps_;
  std::atomic<Index> written_ = 0;
  std::vector<std::atomic<Index>> read_;
};

}  // namespace ordsvm
