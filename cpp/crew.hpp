// Threads that help the calling one, task by task.
//
// For solvers that one thread leads: what it hands out takes microseconds, so helpers look for the next task a while
// before they sleep. What threads did is seen by all when `run` returns.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace ordsvm {

class Crew {
 public:
  explicit Crew(int n_threads) {
    try {
      for (int t = 1; t < n_threads; ++t) helpers_.emplace_back([this, t] { help(t); });
    } catch (...) {  // no more threads to be had
      dismiss();
      throw;
    }
  }
  ~Crew() { dismiss(); }
  Crew(const Crew&) = delete;

  int size() const { return static_cast<int>(helpers_.size()) + 1; }

  /// Runs task(t) for t = 0 .. size() - 1, the first of them on this thread. The first exception is passed on after all
  /// have ended.
  void run(const std::function<void(int)>& task) {
    task_ = &task;
    failure_ = nullptr;
    busy_ = size() - 1;
    announce();
    attempt(0);
    wait_while(busy_, [](int left) { return left > 0; });
    if (failure_) std::rethrow_exception(failure_);
  }

  /// Runs task(begin, end) on parts of 0 .. count - 1: one for every thread where all of it is worth that, else one.
  template <class Task>
  void split(std::size_t count, std::size_t work, const Task& task) {
    constexpr std::size_t worth_a_thread = 1 << 15;  // elements read or written: about ten microseconds
    if (size() == 1 || work < worth_a_thread * size()) return task(std::size_t{0}, count);
    run([&](int t) { task(count * t / size(), count * (t + 1) / size()); });
  }

 private:
  void help(int t) {
    for (int done = 0;; ++done) {
      wait_while(round_, [done](int round) { return round == done; });
      if (leaving_) return;
      attempt(t);
      if (--busy_ == 0) busy_.notify_one();
    }
  }

  void attempt(int t) {
    try {
      (*task_)(t);
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
    leaving_ = true;
    announce();
    helpers_.clear();
  }

  /// Looks a while, letting others run, before it sleeps.
  template <class Condition>
  static void wait_while(std::atomic<int>& value, Condition condition) {
    int now = value;
    for (int looks = 0; condition(now) && looks < 200; ++looks, now = value) std::this_thread::yield();
    for (; condition(now); now = value) value.wait(now);
  }

  const std::function<void(int)>* task_ = nullptr;
  std::atomic<int> round_ = 0, busy_ = 0;
  std::atomic<bool> leaving_ = false;
  std::exception_ptr failure_;
  std::mutex mutex_;
  std::vector<std::jthread> helpers_;
};

}  // namespace ordsvm
