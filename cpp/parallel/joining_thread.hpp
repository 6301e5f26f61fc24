// A thread that is joined where it goes out of scope: C++20 has such a one, and libc++ from version 18 on.
#pragma once

#include <atomic>
#include <exception>
#include <limits>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace ordsvm {

class JoiningThread {
 public:
  template <class Function, class... Arguments>
    requires(!std::is_same_v<std::remove_cvref_t<Function>, JoiningThread>)  // a thread is no function
  explicit JoiningThread(Function&& function, Arguments&&... arguments)
      : thread_(std::forward<Function>(function), std::forward<Arguments>(arguments)...) {}
  JoiningThread(JoiningThread&&) = default;
  JoiningThread& operator=(JoiningThread&&) = delete;
  ~JoiningThread() {
    if (thread_.joinable()) thread_.join();
  }

  void join() { thread_.join(); }

 private:
  std::thread thread_;
};

/// How many more threads start_threads may start: no limit but in tests of a system that refuses threads.
inline std::atomic<int> threads_to_start = std::numeric_limits<int>::max();

/// Adds threads that run body(t), t from threads.size() on, until there are `count`, or the system refuses one, as it
/// does where a limit of processes is reached: the caller goes on with those that there are.
template <class Body>
void start_threads(std::vector<JoiningThread>& threads, int count, Body body) {
  for (int t = static_cast<int>(threads.size()); t < count; ++t) {
    if (threads_to_start-- <= 0) {
      threads_to_start++;
      return;
    }
    try {
      threads.emplace_back(body, t);
    } catch (const std::exception&) {  // std::system_error, or no memory for its stack
      return;
    }
  }
}

}  // namespace ordsvm
