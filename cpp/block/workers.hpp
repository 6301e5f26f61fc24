// Threads that last for a fit and wait for work between products: starting threads would cost more than most products.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace ordsvm::block {

/// Part t of n_parts of the numbers 0 .. count - 1.
struct Share {
  std::int64_t begin, end;
  Share(std::int64_t count, int t, int n_parts) : begin(count * t / n_parts), end(count * (t + 1) / n_parts) {}
};

class Workers {
 public:
  explicit Workers(int n_threads) {
    try {
      for (int t = 1; t < n_threads; ++t)
        threads_.emplace_back([this, t](const std::stop_token& end) { serve(t, end); });
    } catch (...) {  // no more threads to be had: those that sleep must not be waited for
      dismiss();
      throw;
    }
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers() { dismiss(); }

  int size() const { return static_cast<int>(threads_.size()) + 1; }
  /// Into how many tasks work is best divided: a few for each thread, as one may be kept from its core for a while.
  int n_tasks() const { return threads_.empty() ? 1 : 4 * size(); }

  /// work(task, thread) for all tasks 0 .. n_tasks - 1, by whichever threads have time; the caller is thread 0 and does
  /// all of it if the others have none. Passes an exception of the caller's on; those of the others must not be.
  template <class Work>
  void run(int n_tasks, const Work& work) {
    if (threads_.empty() || n_tasks <= 1) {
      for (int task = 0; task < n_tasks; ++task) work(task, 0);
      return;
    }
    work_ = [&work](int task, int thread) { work(task, thread); };
    n_tasks_ = n_tasks;
    next_ = 0;
    open_ = true;
    ++round_;
    round_.notify_all();
    std::exception_ptr failure;
    try {
      take_tasks(0);
    } catch (...) {
      failure = std::current_exception();
      next_ = n_tasks;
    }
    open_ = false;  // from here on nobody comes in; wait for those who are in
    for (int inside; (inside = inside_) > 0;)
      if (!spin([&] { return inside_ < inside; })) inside_.wait(inside);
    if (failure) std::rethrow_exception(failure);
  }

 private:
  void dismiss() {
    for (std::jthread& thread : threads_) thread.request_stop();
    ++round_;
    round_.notify_all();
  }

  void take_tasks(int thread) {
    for (int task; (task = next_.fetch_add(1)) < n_tasks_;) work_(task, thread);
  }

  /// Whether it came true soon. Work comes every few hundred microseconds, and to wake a sleeper takes a hundred: first
  /// it waits without giving way, then it gives way to others, for a few milliseconds.
  template <class Condition>
  static bool spin(const Condition& condition) {
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

  void serve(int t, const std::stop_token& end) {
    for (unsigned seen = 0;;) {
      if (!spin([&] { return round_ != seen; })) round_.wait(seen);
      const unsigned now = round_;
      if (now == seen) continue;
      seen = now;
      if (end.stop_requested()) return;
      ++inside_;
      if (open_) take_tasks(t);
      --inside_;
      inside_.notify_one();
    }
  }

  std::function<void(int, int)> work_;
  int n_tasks_ = 0;
  std::atomic<int> next_ = 0, inside_ = 0;  // the next task; threads, but for the caller, that are at work
  std::atomic<bool> open_ = false;
  std::atomic<unsigned> round_ = 0;
  std::vector<std::jthread> threads_;  // last: they end before what they use goes
};

/// Asks whether to stop; the answer, and that asking threw, goes to all threads that look at `stop`.
template <class Ask>
void ask_for_all(const Ask& ask, std::atomic<bool>& stop) {
  try {
    if (ask()) stop = true;
  } catch (...) {
    stop = true;
    throw;
  }
}

}  // namespace ordsvm::block
