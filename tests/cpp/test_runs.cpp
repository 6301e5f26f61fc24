// How the solvers of one thread run: steps, caches, tolerances, limits, stops.
#include "check.hpp"
#include "methods.hpp"
#include "odd_rows.hpp"
#include "parallel/joining_thread.hpp"

namespace ordsvm {
namespace {

TEST(a_cache_of_two_rows_changes_nothing) {
  Random random(36);
  const Data data(random, 30, 2, 4, 1.0);
  const Space space(rbf, data);
  for_cases(data, [&](const HingeTable& table, Method method, Options options) {
    const Fit large = solve(table, *space.rows, method, options);
    CHECK(large.outcome.kernel_rows <= data.n);
    options.cache_bytes = 2 * data.n * (options.double_rows ? sizeof(double) : sizeof(float));
    const Fit tiny = solve(table, *space.rows, method, options);
    CHECK(same(large, tiny));
    CHECK(tiny.outcome.kernel_rows > large.outcome.kernel_rows);
  });
}

TEST(a_cache_serves_one_run_after_another) {
  Random random(51);
  const Data data(random, 30, 2, 4, 1.0);
  const Space space(rbf, data);
  RowCache<double> cache(*space.rows, large_cache);
  for (const auto& [table, method] : cases_on(data)) {
    const check::Context here(name(method) + ", " + name(table.treatment));
    const Hinges hinges = table.hinges();
    const Fit alone = solve(table, *space.rows, method, precise);
    for (const bool again : {false, true}) {
      Fit fit = Fit::zero(table);
      Monitor monitor(go_on);
      const Index before = cache.rows_computed();
      fit.outcome = run(hinges, cache, method, {precise.tol, precise.max_steps}, fit.variables(), monitor);
      CHECK(same(fit, alone));
      CHECK(fit.outcome.kernel_rows == cache.rows_computed() - before);  // its own, not those of earlier runs
      if (again) CHECK(fit.outcome.kernel_rows == 0);
    }
  }
}

TEST(step_limits_are_kept_and_runs_can_be_taken_up_again) {
  Random random(37);
  const Data data(random, 25, 2, 4, 1.0);
  const Space space(rbf, data);
  for_cases(data, [&](const HingeTable& table, Method method, Options options) {
    Fit fit = Fit::zero(table);
    for (const Index max_steps : {0, 1, 7, 20}) {
      options.max_steps = max_steps;
      solve_from(fit, table, *space.rows, method, options);
      CHECK(fit.outcome.status == Status::max_iter);
      CHECK(fit.outcome.steps == max_steps);
      CHECK(fit.outcome.kernel_rows <= 2 * max_steps);
      check_state(table, space, fit, state_precision(options));
    }
    options.max_steps = many_steps;
    solve_from(fit, table, *space.rows, method, options);
    CHECK(fit.outcome.steps > 0);
    check_optimum(table, space, fit, options.tol);
    const Fit before = fit;
    solve_from(fit, table, *space.rows, method, options);  // there is nothing left to do
    CHECK(fit.outcome.status == Status::converged);
    CHECK(fit.outcome.steps == 0);
    CHECK(largest_difference(fit.alpha, before.alpha) <= 1e-12);
  });
}

TEST(an_optimum_needs_no_steps_allowed) {
  Random random(43);
  const Data data(random, 25, 2, 4, 1.0);
  const Space space(rbf, data);
  for_cases(data, [&](const HingeTable& table, Method method, Options options) {
    Fit fit = solve(table, *space.rows, method, options);
    options.max_steps = 0;
    solve_from(fit, table, *space.rows, method, options);
    CHECK(fit.outcome.status == Status::converged && fit.outcome.steps == 0);
  });
}

TEST(what_float_rows_cannot_do_is_said_and_double_rows_finish) {
  Random random(5);
  Data data(random, 40, 1, 3, 0.3);
  for (double& x : data.x) x += 1000.0;  // K is about 1e6, what matters in it about 1: seven digits are not enough
  const Space space(linear, data);
  const HingeTable table = implicit_table(data, Treatment::free, 100.0);
  for (const Method method : pair_methods) {
    const check::Context here(name(method));
    Fit fit = solve(table, *space.rows, method, {1e-3, 100000, large_cache, false});
    CHECK(fit.outcome.status == Status::imprecise);
    const plain::Point point(table, space.matrix, fit.alpha);
    CHECK(point.is_in_box() && point.infeasibility() <= 1e-9);
    solve_from(fit, table, *space.rows, method, {1e-3, 100000, large_cache, true});
    CHECK(fit.outcome.status == Status::converged);
    const plain::Point end(table, space.matrix, fit.alpha);
    CHECK(end.is_in_box() && end.infeasibility() <= 1e-9);
    CHECK(end.violation() <= 1e-3 + 1e-6);
    CHECK(end.gap() <= 1e-3 * total_cap(table) + 1e-4);
  }
}

TEST(a_strict_judge_gets_a_tighter_tolerance) {
  Random random(47);
  const Data data(random, 25, 2, 4, 1.0);
  const Space space(rbf, data);
  for (const Case& each : cases_on(data)) {
    const auto& table = each.table;
    const auto& method = each.method;
    const check::Context here(name(method) + ", " + name(table.treatment));
    std::vector<double> asked;
    Fit fit = Fit::zero(table);
    const auto judge = [&](double tol, double violation) {
      asked.push_back(tol);
      const plain::Point point(table, space.matrix, fit.alpha);
      CHECK(violation <= tol && std::abs(point.violation() - violation) <= 1e-9);
      CHECK(largest_difference(fit.score, point.score()) <= 1e-9);  // the judge is called with exact scores
      return asked.size() < 3 ? 0.01 * tol : tol;
    };
    solve_from(fit, table, *space.rows, method, {0.1, many_steps, large_cache, true}, Monitor(go_on, judge));
    CHECK(asked == std::vector<double>({0.1, 0.01 * 0.1, 0.01 * (0.01 * 0.1)}));
    check_optimum(table, space, fit, 1e-5);
  }
}

TEST(a_judge_who_is_never_content_does_no_harm) {
  Random random(48);
  const Data data(random, 25, 2, 4, 1.0);
  const Space space(rbf, data);
  for_cases(data, [&](const HingeTable& table, Method method, Options options) {
    options.max_steps = 10000;
    const auto discontent = [](double tol, double violation) { return 1e-3 * std::min(tol, violation); };
    const Fit content = solve(table, *space.rows, method, options);
    const Fit fit = solve(table, *space.rows, method, options, Monitor(go_on, discontent));
    CHECK(fit.outcome.status == Status::imprecise ||
          (options.double_rows && fit.outcome.status == Status::max_iter));  // double goes on about rounding
    const plain::Point point(table, space.matrix, fit.alpha);
    CHECK(point.is_in_box() && point.infeasibility() <= 1e-10);
    CHECK(point.dual() >= plain::Point(table, space.matrix, content.alpha).dual() - 1e-9);
  });
}

TEST(float_rows_are_refused_for_tolerances_out_of_their_reach) {
  Random random(50);
  const Data data(random, 12, 2, 3, 1.0);
  const Space space(rbf, data);
  for_cases(data, [&](const HingeTable& table, Method method, Options options) {
    options.tol = 1e-8;
    const Fit fit = solve(table, *space.rows, method, options);
    CHECK(fit.outcome.status == (options.double_rows ? Status::converged : Status::imprecise));
    check_state(table, space, fit, state_precision(options));
  });
}

TEST(every_step_climbs_the_dual) {
  Random random(38);
  const Data data(random, 20, 2, 4, 1.0);
  const Space space(rbf, data);
  for (const auto& [table, method] : cases_on(data)) {
    const check::Context here(name(method) + ", " + name(table.treatment));
    double last = 0.0;  // at alpha = 0
    for (Index max_steps = 1; max_steps <= 60; ++max_steps) {
      const Fit fit = solve(table, *space.rows, method, {1e-6, max_steps, large_cache, true});
      if (fit.outcome.status == Status::converged) break;
      const double dual = plain::Point(table, space.matrix, fit.alpha).dual();
      CHECK(dual > last);
      last = dual;
    }
  }
}

/// One step of Gu et al. 2020, (9) and (10), from the definitions.
void plain_greedy_step(const HingeTable& table, const Space& space, std::vector<double>& alpha) {
  const plain::Point point(table, space.matrix, alpha);
  const std::vector<double> b = point.thresholds();
  double longest = -1.0, target = 0.0;
  Index chosen = 0;
  for (Index v = 0; v < table.size(); ++v) {
    const Index i = table.sample[v];
    const double slope = table.sign[v] * (point.score()[i] - b[table.threshold[v]]) - table.offset[v];
    const double length = std::abs(std::clamp(alpha[v] - slope, 0.0, table.cap[v]) - alpha[v]);
    if (length <= longest) continue;
    const double curvature = space.matrix[i * space.n + i] + (table.treatment == Treatment::penalized ? 1.0 : 0.0);
    longest = length;
    chosen = v;
    target = std::clamp(alpha[v] - slope / curvature, 0.0, table.cap[v]);
  }
  alpha[chosen] = target;
}

TEST(gcd_takes_the_steps_of_the_paper) {
  Random random(49);
  const Data data(random, 20, 2, 4, 1.0);
  const Space space(rbf, data);
  for (const HingeTable& table :
       {implicit_table(data, Treatment::penalized, 0.7), regression_table(data, Treatment::none, 0.7)}) {
    std::vector<double> expected(table.size(), 0.0);
    for (Index steps = 1; steps <= 40; ++steps) {
      plain_greedy_step(table, space, expected);
      const Fit fit = solve(table, *space.rows, Method::gcd, {1e-6, steps, large_cache, true});
      CHECK(largest_difference(fit.alpha, expected) <= 1e-9);
    }
  }
}

TEST(a_stop_in_the_middle_leaves_a_feasible_point) {
  Random random(39);
  const Data data(random, 25, 2, 4, 1.0);
  const Space space(rbf, data);
  const SlowRows slow(*space.rows, milliseconds(12), milliseconds(0));
  for (const auto& [table, method] : cases_on(data)) {
    const check::Context here(name(method) + ", " + name(table.treatment));
    Index seen_steps = 0, seen_rows = 0;
    Fit fit = solve(table, slow, method, single, Monitor([&](Index steps, Index rows) {
                      seen_steps = steps;
                      seen_rows = rows;
                      return steps > 0;
                    }));
    CHECK(fit.outcome.status == Status::stopped);
    CHECK(fit.outcome.steps > 0 && fit.outcome.steps == seen_steps);
    CHECK(fit.outcome.kernel_rows > 0 && fit.outcome.kernel_rows == seen_rows);
    check_state(table, space, fit, state_precision(single));
    solve_from(fit, table, *space.rows, method, single);
    check_optimum(table, space, fit, single.tol);
  }
}

TEST(a_stop_while_scores_are_recomputed_leaves_them_as_they_were) {
  Random random(40);
  const Data data(random, 25, 2, 4, 1.0);
  const Space space(rbf, data);
  const SlowRows slow(*space.rows, milliseconds(0), milliseconds(12));
  for (const auto& [table, method] : cases_on(data)) {
    const check::Context here(name(method) + ", " + name(table.treatment));
    const Fit undisturbed = solve(table, *space.rows, method, single);
    const Fit fit = solve(table, slow, method, single, Monitor([](Index steps, Index) { return steps > 0; }));
    CHECK(fit.outcome.status == Status::stopped);
    CHECK(0 < fit.outcome.steps && fit.outcome.steps <= undisturbed.outcome.steps);
    check_state(table, space, fit, state_precision(single));
  }
}

TEST(exceptions_of_the_report_and_of_rows_come_out) {
  Random random(41);
  const Data data(random, 25, 2, 4, 1.0);
  const Space space(rbf, data);
  const SlowRows slow(*space.rows, milliseconds(12), milliseconds(0));
  for (const Case& each : cases_on(data)) {
    const auto& table = each.table;
    const auto& method = each.method;
    const check::Context here(name(method) + ", " + name(table.treatment));
    const auto interrupt = [](Index, Index) -> bool { throw std::runtime_error("interrupted"); };
    Fit fit = Fit::zero(table);
    CHECK(check::throws<std::runtime_error>([&] { solve_from(fit, table, slow, method, single, Monitor(interrupt)); }));
    check_state(table, space, fit, state_precision(single));
    const BrokenRows broken(*space.rows, 5);
    fit = Fit::zero(table);
    CHECK(check::throws<std::runtime_error>([&] { solve_from(fit, table, broken, method, single); }));
    CHECK(plain::Point(table, space.matrix, fit.alpha).is_in_box());
  }
}

// Several solvers at once

TEST(solvers_in_threads_give_what_they_give_alone) {
  Random random(42);
  const Data data(random, 30, 2, 4, 1.0);
  const Space space(rbf, data);
  const std::vector<Case> cases = cases_on(data);
  std::vector<Fit> alone;
  for (const auto& [table, method] : cases)
    for (const Options& options : {precise, single}) alone.push_back(solve(table, *space.rows, method, options));
  std::vector<JoiningThread> threads;
  for (std::size_t thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (std::size_t j = 0; j < alone.size(); ++j) {
        const std::size_t job = (j + 3 * thread) % alone.size();  // another order in every thread
        const auto& [table, method] = cases[job / 2];
        CHECK(same(solve(table, *space.rows, method, job % 2 ? single : precise), alone[job]));
      }
    });
}

}  // namespace
}  // namespace ordsvm
