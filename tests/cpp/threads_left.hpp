// A system that refuses threads.
#pragma once

#include <limits>

#include "parallel/joining_thread.hpp"

namespace ordsvm {

/// The system starts so many threads, and no more, while this exists.
struct ThreadsLeft {
  explicit ThreadsLeft(int count) { threads_to_start = count; }
  ~ThreadsLeft() { threads_to_start = std::numeric_limits<int>::max(); }
};

}  // namespace ordsvm
