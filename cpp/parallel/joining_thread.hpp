// A thread that is joined where it goes out of scope: C++20 has such a one, and libc++ from version 18 on.
#pragma once

#include <thread>
#include <type_traits>
#include <utility>

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

}  // namespace ordsvm
