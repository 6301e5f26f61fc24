// Teams of threads, and a callback by which the calling thread watches them.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "parallel/joining_thread.hpp"

namespace ordsvm {

/// Threads that last, for teams that work again and again: to start threads takes longer than many a team works.
class LastingTeam {
 public:
  LastingTeam() = default;
  ~LastingTeam() {
    {
      const std::lock_guard lock(mutex_);
      dismissed_ = true;
    }
    begun_.notify_all();
  }
  LastingTeam(const LastingTeam&) = delete;
  LastingTeam& operator=(const LastingTeam&) = delete;

  /// Has that many threads from now on, or fewer where the system refuses some: returns how many of them there are.
  int grow(int n_threads) {
    start_threads(members_, n_threads, [this, round = round_](int t) { stay(t, round); });
    return std::min(n_threads, static_cast<int>(members_.size()));
  }

  /// Runs work(t) for t = 0 .. n_tasks - 1, each on a thread of its own, while the calling thread calls watch() every
  /// `interval`. `stop` is set when watch() returns true, or when anything throws; work must then return soon. The
  /// first exception is passed on after all have ended. Where the system refuses threads, those that there are do
  /// several tasks, one after the other in the order of t; where it refuses all of them, the calling thread does, with
  /// a look at watch() before each. Tasks that wait for each other need a thread each: see grow().
  template <class Work, class Watch>
  void run(int n_tasks, std::atomic<bool>& stop, Work work, Watch watch, std::chrono::microseconds interval) {
    const int n_threads = grow(n_tasks);
    if (n_threads == 0) return run_alone(n_tasks, stop, work, watch);
    std::unique_lock lock(mutex_);
    work_ = std::ref(work);
    stop_ = &stop;
    failure_ = nullptr;
    n_tasks_ = n_tasks;
    running_ = n_at_work_ = n_threads;
    ++round_;
    begun_.notify_all();
    while (!ended_.wait_for(lock, interval, [&] { return running_ == 0; })) {
      if (failure_) continue;
      lock.unlock();
      bool enough = true;
      try {
        enough = watch();
      } catch (...) {
        const std::lock_guard relock(mutex_);
        fail();
      }
      if (enough) stop = true;
      lock.lock();
    }
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  template <class Work, class Watch>
  static void run_alone(int n_tasks, std::atomic<bool>& stop, Work work, Watch watch) {
    try {
      for (int t = 0; t < n_tasks; ++t) {
        if (watch()) stop = true;
        work(t);
      }
    } catch (...) {
      stop = true;
      throw;
    }
  }

  /// Member t takes part in every round of more than t threads after round `seen`.
  void stay(int t, unsigned seen) {
    std::unique_lock lock(mutex_);
    for (;;) {
      begun_.wait(lock, [&] { return dismissed_ || round_ != seen; });
      if (dismissed_) return;
      seen = round_;
      if (t >= n_at_work_) continue;
      const int n_tasks = n_tasks_, n_threads = n_at_work_;
      lock.unlock();
      try {
        for (int task = t; task < n_tasks; task += n_threads) work_(task);
        lock.lock();
      } catch (...) {
        lock.lock();
        fail();
      }
      if (--running_ == 0) ended_.notify_one();
    }
  }

  void fail() {  // called with the lock
    if (!failure_) failure_ = std::current_exception();
    *stop_ = true;
  }

  std::mutex mutex_;
  std::condition_variable begun_, ended_;
  std::function<void(int)> work_;  // of this round
  std::atomic<bool>* stop_ = nullptr;
  std::exception_ptr failure_;
  int n_tasks_ = 0, n_at_work_ = 0, running_ = 0;
  unsigned round_ = 0;
  bool dismissed_ = false;
  std::vector<JoiningThread> members_;  // last: they end before what they use goes
};

/// One round of threads of its own, watched every two milliseconds, or whatever `interval` is: see LastingTeam::run.
template <class Work, class Watch>
void run_team(int n_tasks, std::atomic<bool>& stop, Work work, Watch watch,
              std::chrono::microseconds interval = std::chrono::milliseconds(2)) {
  LastingTeam().run(n_tasks, stop, work, watch, interval);
}

/// The same for work(t, enough), which returns soon after enough() is true: by a team that is `stop`; where the calling
/// thread works because the system refuses threads, enough() calls watch().
template <class Work, class Watch>
void run_watched(int n_tasks, std::atomic<bool>& stop, Work work, Watch watch,
                 std::chrono::microseconds interval = std::chrono::milliseconds(2)) {
  LastingTeam team;
  if (team.grow(n_tasks) > 0)
    return team.run(
        n_tasks, stop, [&](int t) { work(t, [&] { return stop.load(std::memory_order_relaxed); }); }, watch, interval);
  const auto enough = [&] {
    if (!stop && watch()) stop = true;
    return stop.load();
  };
  for (int t = 0; t < n_tasks; ++t) work(t, enough);
}

}  // namespace ordsvm
