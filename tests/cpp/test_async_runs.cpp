// How teams of threads run: limits, reports, stops, exceptions, tolerances.
#include "check.hpp"
#include "odd_rows.hpp"
#include "teams.hpp"

namespace ordsvm {
namespace {

/// One problem for all tests of this file.
struct Ordinal {
  Random random{80};
  Data data{random, 20, 2, 4, 1.0};
  Space space{rbf, data};
  HingeTable table = implicit_table(data, Treatment::penalized, 1.0);

  /// Room for so few float rows that hardly a step finds its row there.
  Options with_two_rows() const { return {1e-3, many_steps, 2 * data.n * sizeof(float), false}; }

  double dual(const Fit& fit) const { return plain::Point(table, space.matrix, fit.alpha).dual(); }
  bool is_in_box(const Fit& fit) const { return plain::Point(table, space.matrix, fit.alpha).is_in_box(); }

  /// Scores and thresholds of alpha: what a solver starts from.
  void start_anew(Fit& fit) const {
    const plain::Point point(table, space.matrix, fit.alpha);
    fit.score = point.score();
    fit.threshold = point.thresholds();
  }
};

bool shrinks(const Parallel& solver) { return solver.team.max_shrink_steps > 0; }

// Limits

TEST(teams_keep_step_limits_and_can_be_taken_up_again) {
  const Ordinal problem;
  for_variants({1, 4}, [&](const Parallel& solver) {
    Fit fit = Fit::zero(problem.table);
    for (const Index max_steps : {0, 1, 7, 20}) {
      solve_from(fit, problem.table, *problem.space.rows, solver, {1e-3, max_steps, large_cache, false});
      CHECK(fit.outcome.status == Status::max_iter);
      CHECK(fit.outcome.steps >= max_steps);
      CHECK(fit.outcome.steps < max_steps + solver.team.n_threads);  // one step each that had begun
      check_state(problem.table, problem.space, fit, 1e-9);
    }
    solve_from(fit, problem.table, *problem.space.rows, solver, coarse);
    CHECK(fit.outcome.steps > 0 && fit.outcome.kernel_rows <= problem.data.n);
    check_optimum(problem.table, problem.space, fit, coarse.tol);
    const Fit before = fit;
    solve_from(fit, problem.table, *problem.space.rows, solver, {1e-3, 0, large_cache, true});
    CHECK(fit.outcome.status == Status::converged && fit.outcome.steps == 0);  // an optimum needs no steps
    CHECK(fit.alpha == before.alpha);
  });
}

TEST(teams_get_a_tighter_tolerance_from_a_strict_judge) {
  const Ordinal problem;
  for_variants({3}, [&](const Parallel& solver) {
    std::vector<double> asked;
    Fit fit = Fit::zero(problem.table);
    const auto judge = [&](double tol, double violation) {
      asked.push_back(tol);
      check_state(problem.table, problem.space, fit, 1e-9);  // the report comes with exact scores
      const plain::Point point(problem.table, problem.space.matrix, fit.alpha);
      CHECK(violation <= tol && point.violation() <= violation + 1e-9);  // AsyAGCD's is the spread, M - m
      return asked.size() < 3 ? 0.1 * tol : tol;
    };
    solve_from(fit, problem.table, *problem.space.rows, solver, {0.1, many_steps, large_cache, true},
               Monitor(go_on, judge));
    CHECK(asked == std::vector<double>({0.1, 0.1 * 0.1, 0.1 * (0.1 * 0.1)}));
    check_optimum(problem.table, problem.space, fit, 1e-3);
  });
}

TEST(teams_refuse_float_rows_for_tolerances_out_of_their_reach) {
  const Ordinal problem;
  for_variants({3}, [&](const Parallel& solver) {
    const Fit fit = solve(problem.table, *problem.space.rows, solver, {1e-8, many_steps, large_cache, false});
    CHECK(fit.outcome.status == Status::imprecise && fit.outcome.steps == 0);
  });
}

// The end

TEST(threads_are_quiet_when_all_have_seen_the_last_step) {
  const std::atomic<Index> steps = 7;
  Quiet quiet(3);
  CHECK(!quiet.agreed(0, 7, steps));
  CHECK(!quiet.agreed(1, 6, steps));  // before the last step
  CHECK(!quiet.agreed(2, 7, steps));
  CHECK(quiet.agreed(1, 7, steps));
  const std::atomic<Index> later = 8;
  CHECK(!quiet.agreed(0, 7, later));  // a step has come since
}

TEST(a_team_that_finds_nothing_to_do_is_right) {
  Random random(81);
  for (int round = 0; round < 5; ++round) {
    const Data data(random, 10, 2, 3, 1.0);
    const Space space(rbf, data);
    const HingeTable table = implicit_table(data, Treatment::penalized, 0.5);
    for_variants({3}, [&](const Parallel& solver) {
      const SlowRows slow(*space.rows, microseconds(20), microseconds(0));
      const Fit fit = solve(table, slow, solver, {1e-2, many_steps, 2 * data.n * sizeof(float), false});
      check_optimum(table, space, fit, 1e-2);
      CHECK(slow.made_in_double() <= data.n);  // scores were recomputed once, and confirmed it
    });
  }
}

// AsyORGCD leaves nothing to chance

TEST(asyorgcd_does_the_same_every_time) {
  const Ordinal problem;
  for (const Partition partition : {Partition::sample, Partition::threshold})
    for (const Index max_inner_steps : {2, 1000}) {
      const Parallel solver{{4, partition}, max_inner_steps};
      const check::Context here(name(solver));
      for (const Options& options : {Options{1e-6, 150, large_cache, true}, Options{1e-2, 150, large_cache, false}}) {
        const Fit first = solve(problem.table, *problem.space.rows, solver, options);
        check_state(problem.table, problem.space, first, 1e-9);
        CHECK(same(solve(problem.table, *problem.space.rows, solver, options), first));
      }
    }
}

TEST(asyorgcd_never_loses_ground) {
  Ordinal problem;
  problem.space = Space({KernelKind::rbf, 0.05, 0.0, 3.0}, problem.data);  // shares work against each other
  for (const Index max_inner_steps : {2, 20, 200}) {
    const Parallel solver{{5, Partition::sample}, max_inner_steps};
    const check::Context here(name(solver));
    Fit fit = Fit::zero(problem.table);
    for (int meetings = 0; meetings < 6; ++meetings) {
      const double before = problem.dual(fit);
      solve_from(fit, problem.table, *problem.space.rows, solver, {1e-3, 5 * max_inner_steps, large_cache, true});
      check_state(problem.table, problem.space, fit, 1e-9);
      CHECK(problem.dual(fit) > before || fit.outcome.status == Status::converged);
    }
  }
}

// Reports

TEST(reports_of_teams_show_a_feasible_alpha) {
  const Ordinal problem;
  const SlowRows slow(*problem.space.rows, milliseconds(1), milliseconds(0));
  for_variants({4}, [&](const Parallel& solver) {
    Fit fit = Fit::zero(problem.table);
    Index reports = 0, last_steps = 0, last_rows = 0, least_active = problem.table.size();
    Monitor monitor([&](Index steps, Index rows) {
      ++reports;
      CHECK(last_steps <= steps && last_rows <= rows);
      last_steps = steps;
      last_rows = rows;
      CHECK(problem.is_in_box(fit));
      if (!solver.is_orgcd()) CHECK(0 <= fit.active && fit.active <= problem.table.size());
      least_active = std::min(least_active, fit.active);
      return false;
    });
    monitor.report_every(1);
    Options options = problem.with_two_rows();
    options.max_steps = 80;
    solve_from(fit, problem.table, slow, solver, options, std::move(monitor));
    check_state(problem.table, problem.space, fit, 1e-9);
    CHECK(reports > 0 && last_steps <= fit.outcome.steps && last_rows <= fit.outcome.kernel_rows);
    CHECK((least_active < problem.table.size()) == (shrinks(solver) || solver.is_orgcd()));  // AsyORGCD leaves -1
  });
}

// Stops

TEST(a_stop_in_the_middle_of_a_team_leaves_a_feasible_point) {
  const Ordinal problem;
  const SlowRows slow(*problem.space.rows, milliseconds(2), milliseconds(0));
  for_variants({1, 4}, [&](const Parallel& solver) {
    Index seen_steps = 0;
    Monitor monitor([&](Index steps, Index) { return (seen_steps = steps) >= 5; });
    monitor.report_every(1);
    Fit fit = solve(problem.table, slow, solver, problem.with_two_rows(), std::move(monitor));
    CHECK(fit.outcome.status == Status::stopped);
    CHECK(5 <= seen_steps && seen_steps <= fit.outcome.steps);
    CHECK(fit.outcome.steps <= seen_steps + 100);  // soon: the whole way is many hundreds
    CHECK(problem.is_in_box(fit));
    if (!shrinks(solver)) check_state(problem.table, problem.space, fit, state_precision(single));
    problem.start_anew(fit);
    solve_from(fit, problem.table, *problem.space.rows, solver, coarse_single);
    check_optimum(problem.table, problem.space, fit, coarse_single.tol);
  });
}

TEST(a_stop_at_any_moment_leaves_a_feasible_point) {
  const Ordinal problem;
  const SlowRows slow(*problem.space.rows, milliseconds(1), milliseconds(1));
  for_variants({3}, [&](const Parallel& solver) {
    for (const int last : {1, 2, 4, 8, 16}) {
      int reports = 0;
      Monitor monitor([&](Index, Index) { return ++reports == last; });
      monitor.report_every(1);
      const Fit fit = solve(problem.table, slow, solver, problem.with_two_rows(), std::move(monitor));
      CHECK(reports <= last);  // never again after a stop
      CHECK((fit.outcome.status == Status::stopped) == (reports == last));
      CHECK(problem.is_in_box(fit));
    }
  });
}

TEST(a_stop_while_a_teams_scores_are_recomputed_leaves_them_as_they_were) {
  const Ordinal problem;
  for_variants({2}, [&](const Parallel& solver) {
    const SlowRows slow(*problem.space.rows, milliseconds(0), milliseconds(5));  // in double: when they are recomputed
    const Fit fit = solve(problem.table, slow, solver, coarse_single,
                          Monitor([&](Index, Index) { return slow.made_in_double() > 0; }));
    CHECK(fit.outcome.status == Status::stopped);
    check_state(problem.table, problem.space, fit, state_precision(coarse_single));
  });
}

// Exceptions

TEST(exceptions_of_the_report_come_out_of_a_team) {
  const Ordinal problem;
  const SlowRows slow(*problem.space.rows, milliseconds(1), milliseconds(0));
  for_variants({1, 4}, [&](const Parallel& solver) {
    Fit fit = Fit::zero(problem.table);
    Monitor monitor([](Index steps, Index) {
      if (steps > 3) throw std::runtime_error("interrupted");
      return false;
    });
    monitor.report_every(1);
    CHECK(check::throws<std::runtime_error>(
        [&] { solve_from(fit, problem.table, slow, solver, problem.with_two_rows(), std::move(monitor)); }));
    CHECK(problem.is_in_box(fit));
  });
}

TEST(exceptions_of_the_judge_come_out_of_a_team) {
  const Ordinal problem;
  const auto judge = [](double, double) -> double { throw std::runtime_error("no judgement"); };
  for_variants({3}, [&](const Parallel& solver) {
    Fit fit = Fit::zero(problem.table);
    CHECK(check::throws<std::runtime_error>(
        [&] { solve_from(fit, problem.table, *problem.space.rows, solver, coarse, Monitor(go_on, judge)); }));
    check_state(problem.table, problem.space, fit, 1e-9);
  });
}

TEST(rows_that_throw_end_a_team) {
  const Ordinal problem;
  for_variants({1, 4}, [&](const Parallel& solver) {
    for (const int count : {0, 1, 5, 30}) {
      const BrokenRows broken(*problem.space.rows, count);
      Fit fit = Fit::zero(problem.table);
      CHECK(check::throws<std::runtime_error>(
          [&] { solve_from(fit, problem.table, broken, solver, problem.with_two_rows()); }));
      CHECK(problem.is_in_box(fit));
    }
  });
}

}  // namespace
}  // namespace ordsvm
