// Problems, runs of a solver on them, and the checks of what came out: by the definitions alone (plain.hpp).
#pragma once

#include <string>

#include "base/stopping.hpp"
#include "check.hpp"
#include "hinge_table.hpp"
#include "optimality/score_state.hpp"
#include "plain.hpp"

namespace ordsvm {

inline std::string name(Treatment treatment) {
  return std::vector<const char*>{"none", "penalised", "free", "ordered"}[static_cast<int>(treatment)];
}

/// Samples with their kernel: rows from the library, the matrix from the formula.
struct Space {
  Kernel kernel;
  Index n;
  std::unique_ptr<RowSource> rows;
  std::vector<double> matrix;

  Space(const Kernel& kernel, const std::vector<double>& x, Index n, Index d)
      : kernel(kernel),
        n(n),
        rows(make_rows(kernel, DenseView<double>{x.data(), n, d})),
        matrix(plain::kernel_matrix(kernel, x, n, d)) {}
  Space(const Kernel& kernel, const Data& data) : Space(kernel, data.x, data.n, data.d) {}
};

inline const Kernel rbf{KernelKind::rbf, 1.0, 0.0, 3.0};
inline const Kernel linear{KernelKind::linear, 1.0, 0.0, 3.0};

inline constexpr std::size_t large_cache = 1 << 20;
inline constexpr Index many_steps = 1000000;

/// What a run is given besides the problem.
struct Options {
  double tol;
  Index max_steps;
  std::size_t cache_bytes;
  bool double_rows;
};
inline constexpr Options precise{1e-6, many_steps, large_cache, true};
inline constexpr Options single{1e-4, many_steps, large_cache, false};

struct Fit {
  Outcome outcome;
  std::vector<double> alpha, score, threshold;
  Index active = -1;     // hinges that are not shrunk, where the solver counts them
  bool screens = false;  // whether scores of samples without support may be those of float rows: block/screening.hpp

  Variables variables() { return {alpha, score, threshold, {&active, 1}}; }

  static Fit zero(const HingeTable& table) {
    return {{},
            std::vector<double>(table.size(), 0.0),
            std::vector<double>(table.n_samples, 0.0),
            std::vector<double>(table.n_thresholds, 0.0)};
  }
};

inline bool same(const Fit& a, const Fit& b) {
  return a.outcome.status == b.outcome.status && a.outcome.steps == b.outcome.steps && a.alpha == b.alpha &&
         a.score == b.score && a.threshold == b.threshold;
}

inline bool go_on(Index, Index) { return false; }

template <class Solver>
bool screens_samples(const Solver&) {
  return false;
}

/// A solver is anything with a `run(hinges, cache, solver, limits, variables, monitor)` of its own.
template <class T, class Solver>
Outcome run_with_rows(const Hinges& hinges, const RowSource& rows, const Solver& solver, const Options& options,
                      const Variables& variables, Monitor& monitor) {
  RowCache<T> cache(rows, options.cache_bytes);
  return run(hinges, cache, solver, Limits{options.tol, options.max_steps}, variables, monitor);
}

/// Changes `fit`, from which it starts, even when it ends by an exception.
template <class Solver>
void solve_from(Fit& fit, const HingeTable& table, const RowSource& rows, const Solver& solver, const Options& options,
                Monitor monitor = Monitor(go_on)) {
  const Hinges hinges = table.hinges();
  fit.screens = screens_samples(solver);
  fit.outcome = options.double_rows ? run_with_rows<double>(hinges, rows, solver, options, fit.variables(), monitor)
                                    : run_with_rows<float>(hinges, rows, solver, options, fit.variables(), monitor);
}

template <class Solver>
Fit solve(const HingeTable& table, const RowSource& rows, const Solver& solver, const Options& options,
          Monitor monitor = Monitor(go_on)) {
  Fit fit = Fit::zero(table);
  solve_from(fit, table, rows, solver, options, std::move(monitor));
  return fit;
}

inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0.0;
  for (std::size_t j = 0; j < a.size(); ++j) worst = std::max(worst, std::abs(a[j] - b[j]));
  return worst;
}

inline double total_cap(const HingeTable& table) { return std::accumulate(table.cap.begin(), table.cap.end(), 0.0); }

/// Scores and thresholds belong to alpha, which is feasible, whether or not the solver has got to its end.
inline void check_state(const HingeTable& table, const Space& space, const Fit& fit, double precision) {
  const plain::Point point(table, space.matrix, fit.alpha);
  CHECK(point.is_in_box());
  CHECK(point.infeasibility() <= 1e-10);
  std::vector<char> matters(table.n_samples, !fit.screens);
  for (Index v = 0; v < table.size(); ++v) matters[table.sample[v]] |= fit.alpha[v] > 0.0;
  for (Index i = 0; i < table.n_samples; ++i)
    CHECK(std::abs(fit.score[i] - point.score()[i]) <= (matters[i] ? precision : std::max(precision, 1e-4)));
  std::vector<double> expected(table.n_thresholds, 0.0);  // what is not penalised is not touched
  if (table.treatment == Treatment::penalized)
    for (Index k = 0; k < table.n_thresholds; ++k) expected[k] = -point.gamma()[k];
  CHECK(largest_difference(fit.threshold, expected) <= 1e-9);
}

/// The fit is an optimum within the tolerance: with slopes of tol at most, P - D <= tol * sum of caps.
inline void check_optimum(const HingeTable& table, const Space& space, const Fit& fit, double tol) {
  CHECK(fit.outcome.status == Status::converged);
  check_state(table, space, fit, 1e-9);
  const plain::Point point(table, space.matrix, fit.alpha);
  CHECK(point.violation() <= tol + 1e-9);
  CHECK(point.gap() >= -1e-9);
  CHECK(point.gap() <= tol * total_cap(table) + 1e-9);
}

template <class Solver>
void check_all_precisions(const HingeTable& table, const Space& space, const Solver& solver) {
  for (const Options& options : {precise, single}) {
    const check::Context here(name(solver) + ", " + name(table.treatment) +
                              (options.double_rows ? ", double" : ", float"));
    check_optimum(table, space, solve(table, *space.rows, solver, options), options.tol);
  }
}

/// How far scores may be from those of alpha before they are recomputed.
inline double state_precision(const Options& options) { return options.double_rows ? 1e-9 : 1e-4; }

}  // namespace ordsvm
