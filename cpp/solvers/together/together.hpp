// Several problems of one threshold each over the same samples, as one-vs-one, one-vs-rest and NPSVOR make them.
//
// Solves    none, penalised and free thresholds.
// Does      a problem on one thread, the largest ones first, by steps on pairs (full_kernel/steps.hpp). Rows of K are
//           made when a step first needs them, and those that problems share are made once (groups.hpp).
// Stops     a problem when its violation by exact scores and its relative gap are at most tol; or leaves it to another
//           method, where Newton's is expected to end sooner or steps get nowhere.
// Answers   depend on no other problem, and on no number of threads.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/hinges.hpp"
#include "kernels/row_source.hpp"

namespace ordsvm::together {

/// Tables of hinges, one after the other: those of problem p are begin[p] <= v < begin[p + 1].
struct Problems {
  std::span<const SampleIndex> sample;
  std::span<const double> sign, offset, cap;
  std::span<const Index> begin;
  Index n_samples;
  Treatment treatment;

  Index count() const { return static_cast<Index>(begin.size()) - 1; }
};

/// How a problem has ended. unfinished: another method has to go on; stopped: by the clock, or before it began.
enum class End : Index { converged, unfinished, stopped };

/// A look at a problem under way.
struct Look {
  double primal, dual, gap, violation, threshold, seconds;
  Index steps, kernel_rows, n_support;
  double dual_threshold;  // -gamma where the threshold is penalised
};

/// What is found of a problem. Rows of K that problems share are counted with the first one.
struct Found {
  double primal = 0.0, dual = 0.0, gap = 0.0, violation = 0.0, threshold = 0.0, seconds = 0.0;
  Index steps = 0, kernel_rows = 0;
  End end = End::stopped;
  std::vector<Look> looks;
};

struct Options {
  double tol;
  double newton_share;                 // of the spread of sign * offset: the violation where Newton's method may begin
  Index max_steps, max_steps_a_hinge;  // and for every hinge as many, before a problem is left to another method
  double seconds;                      // for all problems together; 0: no limit
  double look_seconds;                 // of a problem, between two looks
  double budget;                       // bytes of rows
  int n_threads;
};

/// From alpha, which is kept up to date; score: f of all samples in every problem, or nothing. False where memory for
/// rows does not suffice: nothing is done then. watch() is called some twenty times a second by the calling thread, and
/// stops all problems when it returns true.
bool solve(const RowSource& source, const Problems& problems, std::span<double> alpha, std::span<double> score,
           std::span<Found> found, const Options& options, const std::function<bool()>& watch);

}  // namespace ordsvm::together
