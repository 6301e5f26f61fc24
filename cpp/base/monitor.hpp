// The callbacks of a solver: one is the clock, the trace, the progress bar and Ctrl-C, another decides whether an
// answer is good enough.
#pragma once

#include <chrono>
#include <functional>
#include <limits>

#include "base/hinges.hpp"

namespace ordsvm {

/// Called by the calling thread every few milliseconds of a long computation: true stops it, and so does whatever it
/// throws.
using StopCheck = std::function<bool()>;

/// hands_over: Newton's method is expected to be faster from here on; not the end.
enum class Status { converged, max_iter, stopped, imprecise, hands_over };

class Monitor {
 public:
  /// Called with (steps, kernel rows computed) about twenty times a second; returns true to stop the solver.
  using Report = std::function<bool(Index, Index)>;
  /// Called with (tol, violation) when a solver's own stopping rule holds with exact scores: returns tol to accept, or
  /// a tolerance below the violation to go on with, should the duality gap still be too large.
  using Judge = std::function<double(double, double)>;
  /// Called instead of Report where the variables are in the middle of a change; returns true to stop the solver.
  using Interrupt = std::function<bool()>;

  explicit Monitor(
      Report report, Judge judge = [](double tol, double) { return tol; }, Interrupt interrupt = [] { return false; })
      : report_(std::move(report)), judge_(std::move(judge)), interrupt_(std::move(interrupt)) {}

  double judge(double tol, double violation) const { return judge_(tol, violation); }
  bool stopped() const { return stopped_; }

  /// Reports every so many steps as well.
  void report_every(Index steps) { every_ = next_step_ = steps; }

  /// The number of steps at which the next report is due, whatever the time; very large if none is.
  Index next_step() const { return next_step_; }

  /// To be called at every step. Looks at the clock every few steps, and after every computed kernel row.
  bool stop(Index steps, Index rows) {
    if (steps % 16 != 0 && rows == rows_ && steps < next_step_) return stopped_;
    return stop_now(steps, rows);
  }

  /// The same from inside a long computation: looks at the clock at once.
  bool stop_now(Index steps, Index rows) {
    rows_ = rows;
    if (!due(steps)) return stopped_;
    stopped_ = stopped_ || report_(steps, rows);
    next_ = std::chrono::steady_clock::now() + interval;
    while (next_step_ <= steps) next_step_ += every_;
    return stopped_;
  }

  /// Where the variables may not be read: checks the clock and signals only, as often as there are reports.
  bool interrupted() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_interrupt_) return stopped_;
    next_interrupt_ = now + interval;
    return stopped_ = stopped_ || interrupt_();
  }

  /// Whether the next call will report.
  bool due(Index steps) const { return steps >= next_step_ || std::chrono::steady_clock::now() >= next_; }

 private:
  static constexpr std::chrono::milliseconds interval{50};
  static constexpr Index never = std::numeric_limits<Index>::max();
  Report report_;
  Judge judge_;
  Interrupt interrupt_;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + interval;
  std::chrono::steady_clock::time_point next_interrupt_ = next_;
  Index every_ = never, next_step_ = never;
  Index rows_ = 0;
  bool stopped_ = false;
};

}  // namespace ordsvm
