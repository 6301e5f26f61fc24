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

  /// work(t) for t = 0 .. size() - 1, on as many threads; the caller is number 0. Comes back when all have ended, and
  /// passes an exception of the caller's own share on; the other shares must not throw.
  template <class Work>
  void run(const Work& work) {
    if (threads_.empty()) return work(0);
    work_ = [&work](int t) { work(t); };
    pending_.store(static_cast<int>(threads_.size()), std::memory_order_relaxed);
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
    std::exception_ptr failure;
    try {
      work(0);
    } catch (...) {
      failure = std::current_exception();
    }
    for (int left; (left = pending_.load(std::memory_order_acquire)) > 0;)
      if (!spin([&] { return pending_.load(std::memory_order_acquire) < left; })) pending_.wait(left);
    if (failure) std::rethrow_exception(failure);
  }

 private:
  void dismiss() {
    for (std::jthread& thread : threads_) thread.request_stop();
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
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
      if (!spin([&] { return round_.load(std::memory_order_acquire) != seen; })) round_.wait(seen);
      const unsigned now = round_.load(std::memory_order_acquire);
      if (now == seen) continue;
      seen = now;
      if (end.stop_requested()) return;
      work_(t);
      pending_.fetch_sub(1, std::memory_order_release);
      pending_.notify_one();
    }
  }

  std::function<void(int)> work_;
  std::atomic<unsigned> round_ = 0;
  std::atomic<int> pending_ = 0;
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
