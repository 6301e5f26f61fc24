// Teams of threads, and a callback by which the calling thread watches them.
#pragma once

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

  /// Runs work(t) for t = 0 .. n_threads - 1, each on a thread of its own, while the calling thread calls watch() every
  /// `interval`. `stop` is set when watch() returns true, or when anything throws; work must then return soon. The
  /// first exception is passed on after all have ended.
  template <class Work, class Watch>
  void run(int n_threads, std::atomic<bool>& stop, Work work, Watch watch, std::chrono::microseconds interval) {
    for (int t = static_cast<int>(members_.size()); t < n_threads; ++t)  // throws where the system has no more threads
      members_.emplace_back([this, t, round = round_] { stay(t, round); });
    std::unique_lock lock(mutex_);
    work_ = std::ref(work);
    stop_ = &stop;
    failure_ = nullptr;
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
  /// Member t takes part in every round of more than t threads after round `seen`.
  void stay(int t, unsigned seen) {
    std::unique_lock lock(mutex_);
    for (;;) {
      begun_.wait(lock, [&] { return dismissed_ || round_ != seen; });
      if (dismissed_) return;
      seen = round_;
      if (t >= n_at_work_) continue;
      lock.unlock();
      try {
        work_(t);
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
  int n_at_work_ = 0, running_ = 0;
  unsigned round_ = 0;
  bool dismissed_ = false;
  std::vector<JoiningThread> members_;  // last: they end before what they use goes
};

/// One round of threads of its own, watched every two milliseconds, or whatever `interval` is: see LastingTeam::run.
template <class Work, class Watch>
void run_team(int n_threads, std::atomic<bool>& stop, Work work, Watch watch,
              std::chrono::microseconds interval = std::chrono::milliseconds(2)) {
  LastingTeam().run(n_threads, stop, work, watch, interval);
}

}  // namespace ordsvm
