// Threads that start together.
#pragma once

#include <latch>
#include <thread>
#include <vector>

/// function(t) for t = 0 .. count - 1 at once; returns when all have ended.
template <class Function>
void in_threads(int count, Function function) {
  std::latch start(count);
  std::vector<std::jthread> threads;
  for (int t = 0; t < count; ++t)
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      function(t);
    });
}
