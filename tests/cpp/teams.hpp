// The asynchronous solvers in all their variants, and how what they leave behind is judged.
#pragma once

#include "methods.hpp"
#include "solvers/papers/async/asygcd.hpp"
#include "solvers/papers/async/asyorgcd.hpp"

namespace ordsvm {

/// AsyGCD; AsyAGCD where the team shrinks; AsyORGCD with so many inner steps.
struct Parallel {
  Team team;
  Index max_inner_steps = 0;
  bool gathering = true;

  bool is_orgcd() const { return max_inner_steps > 0; }
};

inline std::string name(const Parallel& solver) {
  const Team& team = solver.team;
  std::string text = team.max_shrink_steps > 0 ? "asyagcd" : "asygcd";
  if (team.shrink == Shrink::global) text += ", global bounds";
  text += team.sharing == Sharing::log ? ", log" : ", atomic";
  if (solver.is_orgcd()) text = "asyorgcd, inner steps " + std::to_string(solver.max_inner_steps);
  return text + (team.partition == Partition::sample ? ", by sample, " : ", by threshold, ") +
         std::to_string(team.n_threads) + " threads";
}

template <class T>
Outcome run(const Hinges& hinges, RowCache<T>& cache, const Parallel& solver, const Limits& limits,
            const Variables& variables, Monitor& monitor) {
  if (solver.is_orgcd())
    return AsyOrgcd(hinges, cache, variables, solver.team, {solver.max_inner_steps, solver.gathering})
        .run(limits, monitor);
  return AsyGcd(hinges, cache, variables, solver.team).run(limits, monitor);
}

/// Every variant with so many threads. Those that shrink do so early.
inline std::vector<Parallel> variants(int n_threads) {
  std::vector<Parallel> all;
  for (const Partition partition : {Partition::sample, Partition::threshold}) {
    for (const Sharing sharing : {Sharing::log, Sharing::atomic}) {
      for (const Index max_shrink_steps : {0, 3}) all.push_back({{n_threads, partition, sharing, max_shrink_steps}});
      all.push_back({{n_threads, partition, sharing, 3, 0.0, Shrink::global}});
    }
    all.push_back({{n_threads, partition}, 30});
  }
  return all;
}

/// Tolerances for many small runs.
inline constexpr Options coarse{1e-3, many_steps, large_cache, true};
inline constexpr Options coarse_single{1e-3, many_steps, large_cache, false};

/// `function(solver)` for every variant with every number of threads.
template <class Function>
void for_variants(const std::vector<int>& thread_counts, Function function) {
  for (const int n_threads : thread_counts)
    for (const Parallel& solver : variants(n_threads)) {
      const check::Context here(name(solver));
      function(solver);
    }
}

/// A run in either precision finds the optimum, and as good a one as a single thread: both duals are within tol times
/// the sum of caps of the largest.
inline void check_team(const HingeTable& table, const Space& space, const Parallel& solver) {
  for (const Options& options : {coarse, coarse_single}) {
    const check::Context here(name(table.treatment) + (options.double_rows ? ", double" : ", float"));
    const Fit fit = solve(table, *space.rows, solver, options);
    check_optimum(table, space, fit, options.tol);
    const Fit alone = solve(table, *space.rows, Method::gcd, options);
    const plain::Point end(table, space.matrix, fit.alpha), expected(table, space.matrix, alone.alpha);
    CHECK(std::abs(end.dual() - expected.dual()) <= options.tol * total_cap(table) + 1e-9);
  }
}

}  // namespace ordsvm
