// Threads that start together.
#pragma once

#include <latch>
#include <vector>

#include "parallel/joining_thread.hpp"

/// function(t) for t = 0 .. count - 1 at once; returns when all have ended.
template <class Function>
void in_threads(int count, Function function) {
  std::latch start(count);
  std::vector<ordsvm::JoiningThread> threads;
  for (int t = 0; t < count; ++t)
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      function(t);
    });
}
