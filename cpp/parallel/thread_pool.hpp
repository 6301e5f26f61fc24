// A pool of threads that last for a fit: its tasks take microseconds, and to start threads for them would take longer.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "parallel/joining_thread.hpp"

namespace ordsvm {

/// Part t of n_parts of the numbers 0 .. count - 1.
struct Share {
  std::int64_t begin, end;
  Share(std::int64_t count, int t, int n_parts) : begin(count * t / n_parts), end(count * (t + 1) / n_parts) {}
};

class ThreadPool {
 public:
  /// Of so many threads, the calling one among them; of fewer where the system refuses some.
  explicit ThreadPool(int n_threads) {
    start_threads(helpers_, n_threads - 1, [this](int t) { help(t + 1); });
  }
  ~ThreadPool() { dismiss(); }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return static_cast<int>(helpers_.size()) + 1; }
  /// Into how many tasks work is best divided: a few for each thread, as one may lose its core for a while.
  int n_tasks() const { return helpers_.empty() ? 1 : 4 * size(); }

  /// task(number, thread) for numbers 0 .. n_tasks - 1, by whichever threads are free; the caller is thread 0 and does
  /// all of them if the others are not. The first exception is passed on after all tasks have ended.
  template <class Task>
  void run(int n_tasks, const Task& task) {
    if (n_tasks == 1) return task(0, 0);
    task_ = [&task](int number, int thread) { task(number, thread); };
    n_tasks_ = n_tasks;
    next_ = 0;
    failure_ = nullptr;
    open_ = true;
    announce();
    take_tasks(0);
    open_ = false;  // no helper enters from here on; wait for those at work
    for (int inside; (inside = inside_) > 0;)
      if (!soon([&] { return inside_ < inside; })) inside_.wait(inside);
    if (failure_) std::rethrow_exception(failure_);
  }

  /// task(begin, end) on parts of 0 .. count - 1: one for every thread where there is enough work, else one.
  template <class Task>
  void split(std::size_t count, std::size_t work, const Task& task) {
    constexpr std::size_t min_work_per_thread = 1 << 15;  // elements read or written: about ten microseconds
    const int n_parts = work < min_work_per_thread * size() ? 1 : size();
    run(n_parts, [&](int part, int) { task(count * part / n_parts, count * (part + 1) / n_parts); });
  }

 private:
  void help(int thread) {
    for (unsigned seen = 0;;) {
      if (!soon([&] { return round_ != seen; })) round_.wait(seen);
      const unsigned now = round_;
      if (now == seen) continue;
      seen = now;
      if (dismissed_) return;
      ++inside_;
      if (open_) take_tasks(thread);
      --inside_;
      inside_.notify_one();
    }
  }

  void take_tasks(int thread) {
    for (int number; (number = next_.fetch_add(1)) < n_tasks_;) try {
        task_(number, thread);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
      }
  }

  void announce() {
    ++round_;
    round_.notify_all();
  }

  void dismiss() {
    dismissed_ = true;
    announce();
  }

  /// Whether the condition came true soon. Tasks come every few hundred microseconds, and to wake a thread takes a
  /// hundred: first it spins, then it yields its core, for a few milliseconds.
  template <class Condition>
  static bool soon(const Condition& condition) {
    for (int turn = 0; turn < 1000; ++turn) {
      if (condition()) return true;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
    while (std::chrono::steady_clock::now() < end) {
      if (condition()) return true;
      std::this_thread::yield();
    }
    return false;
  }

  std::function<void(int, int)> task_;
  int n_tasks_ = 0;
  std::atomic<int> next_ = 0, inside_ = 0;  // the next task; helpers that are at work
  std::atomic<bool> open_ = false, dismissed_ = false;
  std::atomic<unsigned> round_ = 0;
  std::exception_ptr failure_;
  std::mutex mutex_;
  std::vector<JoiningThread> helpers_;  // last: they end before what they use goes
};

/// Sets `stop`, which all threads read, if stop_check() returns true or throws.
template <class StopCheck>
void check_for_all(const StopCheck& stop_check, std::atomic<bool>& stop) {
  try {
    if (stop_check()) stop = true;
  } catch (...) {
    stop = true;
    throw;
  }
}

}  // namespace ordsvm
