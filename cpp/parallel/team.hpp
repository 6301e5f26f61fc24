// A team of threads, and a callback by which the calling thread watches it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <vector>

#include "parallel/joining_thread.hpp"

namespace ordsvm {

/// Runs work(t) for t = 0 .. n_threads - 1, each on a thread of its own, while the calling thread calls watch() every
/// two milliseconds, or whatever `interval` is. `stop` is set when watch() returns true, or when anything throws; work
/// must then return soon. The first exception is passed on after all threads have ended.
template <class Work, class Watch>
void run_team(int n_threads, std::atomic<bool>& stop, Work work, Watch watch,
              std::chrono::microseconds interval = std::chrono::milliseconds(2)) {
  std::mutex mutex;
  std::condition_variable ended;
  std::exception_ptr failure;
  int running = n_threads;
  const auto fail = [&] {  // called with the lock
    if (!failure) failure = std::current_exception();
    stop = true;
  };
  const auto member = [&](int t) {
    try {
      work(t);
    } catch (...) {
      const std::lock_guard lock(mutex);
      fail();
    }
    const std::lock_guard lock(mutex);
    --running;
    ended.notify_one();
  };
  std::vector<JoiningThread> team;
  try {
    for (int t = 0; t < n_threads; ++t) team.emplace_back(member, t);
  } catch (...) {  // the system has no more threads: those that run must not wait for the others
    stop = true;
    throw;
  }
  std::unique_lock lock(mutex);
  while (!ended.wait_for(lock, interval, [&] { return running == 0; })) {
    if (failure) continue;
    lock.unlock();
    bool enough = true;
    try {
      enough = watch();
    } catch (...) {
      const std::lock_guard relock(mutex);
      fail();
    }
    if (enough) stop = true;
    lock.lock();
  }
  lock.unlock();
  team.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace ordsvm
