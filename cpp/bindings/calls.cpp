// The count of native calls, and the end of all of them.
#include "bindings/calls.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "bindings/bind.hpp"

namespace ordsvm {
namespace {

namespace nb = nanobind;
using namespace nb::literals;

struct Calls {
  std::mutex mutex;
  std::condition_variable changed;
  int running = 0;                   // calls that have begun and not returned
  int locked = 0;                    // times that one of them has the interpreter's lock, or waits for it
  bool abandoned = false;            // those still running may not take the lock any more
  std::atomic<bool> ending = false;  // set after `ender`
  std::thread::id ender;             // the thread that ends the process: its own calls go on

  bool has_ended_here() const { return ending && std::this_thread::get_id() != ender; }

  void count(int& number, int change) {
    const std::lock_guard guard(mutex);
    number += change;
    if (change < 0) changed.notify_all();
  }

  /// Counts a thread that is about to take the interpreter's lock; one that may not waits for the end of the process.
  void before_lock() {
    std::unique_lock guard(mutex);
    changed.wait(guard, [&] { return !abandoned || std::this_thread::get_id() == ender; });
    ++locked;
  }
};

Calls* calls = new Calls;  // never deleted: threads may outlive everything else

thread_local std::vector<const StopToken*> tokens;  // those this thread is inside of

/// A thread that the interpreter unwinds waits for the end of the process, which comes soon, where it may not go on.
void wait_for_the_end() {
  if (!calls->has_ended_here()) std::abort();
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

/// Whether this thread has the interpreter's lock. The stable interface tells by the dictionary of the current thread.
bool has_lock() {
#ifdef Py_LIMITED_API
  return PyThreadState_GetDict() != nullptr;
#else
  return PyGILState_Check() != 0;
#endif
}

/// Ends all calls of other threads; false where some did not end within so many seconds.
bool end_calls(double seconds) {
  calls->ender = std::this_thread::get_id();
  calls->ending = true;
  const nb::gil_scoped_release release;
  std::unique_lock guard(calls->mutex);
  const auto wait_until_0 = [&](const int& number, double most) {
    return calls->changed.wait_for(guard, std::chrono::duration<double>(most), [&] { return number <= 0; });
  };
  if (wait_until_0(calls->running, seconds)) return true;
  calls->abandoned = true;
  // A callback of Python's that does not return within that time either is unwound by the interpreter.
  if (!wait_until_0(calls->locked, seconds)) std::set_terminate(wait_for_the_end);
  return false;
}

void translate(const std::exception_ptr& error, void*) {
  try {
    std::rethrow_exception(error);
  } catch (const Ended&) {
    PyErr_SetString(PyExc_SystemExit, "the computation was ended with its thread");
  }
}

}  // namespace

void check_ended() {
  const auto is_set = [](const StopToken* token) { return token->is_set(); };
  if (calls->has_ended_here() || std::any_of(tokens.begin(), tokens.end(), is_set)) throw Ended();
}

Call::Call() {
  check_ended();
  calls->count(calls->running, 1);
}

Call::~Call() { calls->count(calls->running, -1); }

Unlocked::Unlocked() : state_(PyEval_SaveThread()) {}

Unlocked::~Unlocked() {
  calls->before_lock();
  PyEval_RestoreThread(state_);
  calls->count(calls->locked, -1);
}

Locked::Locked() {
  check_ended();
  calls->before_lock();
  state_ = PyGILState_Ensure();
}

Locked::~Locked() {
  if (calls->has_ended_here() && !has_lock()) wait_for_the_end();
  PyGILState_Release(state_);
  calls->count(calls->locked, -1);
}

void bind_calls(nb::module_& m) {
  nb::register_exception_translator(translate);
  nb::class_<StopToken>(m, "StopToken")
      .def(nb::init<>())
      .def("set", &StopToken::set)
      .def_prop_ro("is_set", &StopToken::is_set)
      .def("__enter__", [](const StopToken& token) { tokens.push_back(&token); })
      .def("__exit__", [](const StopToken&, nb::args) { tokens.pop_back(); });
  m.def("check_ended", &check_ended);
  m.def("end_calls", &end_calls, "seconds"_a);
  m.def("forget_calls", [] { calls = new Calls; });  // in a child process, which has none of the threads
  m.def("warn_of_leaks", [](bool on) { nb::set_leak_warnings(on); }, "on"_a);
}

}  // namespace ordsvm
