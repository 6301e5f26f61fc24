// Native calls under way: how they release the interpreter's lock, and how they end before the process does.
//
// When a process ends, CPython (before 3.14) ends every other thread that waits for its lock by unwinding its stack,
// and C++ frames that may not throw, such as destructors, turn that into std::terminate. So every call that may wait
// for the lock is counted. `end_calls`, at exit, makes the running ones throw `Ended` where they check for a stop,
// refuses new ones, and returns when none is left. A call that does not return in time never touches the lock again.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>

namespace ordsvm {

/// Thrown by a computation that has to end because the process, or its thread's share of some work, does. It becomes
/// SystemExit, which ends a thread without a message.
struct Ended {};

/// Ends the computations of the threads that are inside of it: for threads that a search has started.
class StopToken {
 public:
  void set() { is_set_ = true; }
  bool is_set() const { return is_set_; }

 private:
  std::atomic<bool> is_set_ = false;
};

/// Throws `Ended` where the computations of this thread have to end. Needs no lock of the interpreter.
void check_ended();

/// A native call that may wait for the interpreter's lock. Made with the lock.
class Call {
 public:
  Call();
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
};

/// A native call without the interpreter's lock.
class Unlocked {
 public:
  Unlocked();
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  Call call_;
  PyThreadState* state_;
};

/// The interpreter's lock inside of a call that has released it, by whichever thread. Throws `Ended` as `check_ended`.
class Locked {
 public:
  Locked();
  ~Locked();
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  PyGILState_STATE state_;
};

}  // namespace ordsvm
