// What the bindings of solvers share: the problem on arrays of Python's, a cache of rows, and the call of a solver.
#pragma once

#include <memory>
#include <optional>
#include <variant>

#include "base/stopping.hpp"
#include "bindings/arrays.hpp"
#include "kernels/row_cache.hpp"
#include "optimality/score_state.hpp"

namespace ordsvm {

/// A hinge table on arrays of Python's, which it keeps alive.
struct HingeArrays {
  Vector<const SampleIndex> sample, threshold;
  Vector<const double> sign, offset, cap;
  Hinges hinges;
};

struct LiveArrays {
  Vector<double> alpha, score, threshold;
  Vector<Index> active;
  std::optional<Vector<double>> error;
  Variables variables() const {
    return {span(alpha), span(score), span(threshold), span(active), error ? span(*error) : std::span<double>()};
  }
};

/// A cache of rows in float or double, which may serve several solves. It holds on to Python's rows itself, so that
/// the garbage collector sees it do so.
struct Cache {
  std::variant<std::unique_ptr<RowCache<float>>, std::unique_ptr<RowCache<double>>> rows;
  nb::object source;
};

/// Runs `solver(cache, variables, monitor)` without the interpreter's lock.
template <class Solver>
Outcome solve(const Cache& cache, const LiveArrays& live, const nb::object& watch, Solver solver) {
  const Call call;
  Monitor monitor = monitor_by(watch);
  if (const Index every = nb::cast<Index>(watch.attr("report_every")); every > 0) monitor.report_every(every);
  const Unlocked unlocked;
  return std::visit([&](const auto& rows) { return solver(*rows, live.variables(), monitor); }, cache.rows);
}

}  // namespace ordsvm
