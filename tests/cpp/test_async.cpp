// Teams of threads find the optimum, whatever the team: judged by the definitions, and against one thread.
#include "check.hpp"
#include "in_threads.hpp"
#include "teams.hpp"
#include "threads_left.hpp"

namespace ordsvm {
namespace {

TEST(teams_of_all_sizes_find_the_optimum) {
  Random random(70);
  const Data data(random, 14, 2, 4, 1.0);
  const Space space(rbf, data);
  const HingeTable regression = regression_table(data, Treatment::none, 1.0);
  const HingeTable ordinal = implicit_table(data, Treatment::penalized, 1.0);
  for_variants({1, 2, 4, 8}, [&](const Parallel& solver) {
    check_team(regression, space, solver);
    check_team(ordinal, space, solver);
  });
}

TEST(a_team_has_as_many_owners_as_the_system_starts_threads) {
  Random random(70);
  const Data data(random, 14, 2, 4, 1.0);
  const Space space(rbf, data);
  const HingeTable ordinal = implicit_table(data, Treatment::penalized, 1.0);
  for (const int left : {0, 1, 2}) {
    const check::Context here(std::to_string(left) + " threads left");
    for_variants({4}, [&](const Parallel& solver) {
      const ThreadsLeft limit(left);
      check_team(ordinal, space, solver);
    });
  }
}

TEST(teams_find_the_optimum_of_all_box_problems) {
  Random random(71);
  const Data data(random, 21, 2, 3, 3.0);
  const Space space(rbf, data);
  for (const HingeTable& table :
       {classification_table(data, Treatment::none, 2.0), classification_table(data, Treatment::penalized, 2.0),
        regression_table(data, Treatment::penalized, 0.5),
        with_random_caps(explicit_table(data, Treatment::penalized, 0.5), random)})
    for_variants({3}, [&](const Parallel& solver) { check_team(table, space, solver); });
}

TEST(one_thread_takes_the_steps_of_gcd) {
  Random random(72);
  const Data data(random, 20, 2, 4, 1.0);
  const Space space(rbf, data);
  for (const HingeTable& table :
       {implicit_table(data, Treatment::penalized, 0.7), regression_table(data, Treatment::none, 0.7)})
    for_variants({1}, [&](const Parallel& solver) {
      if (solver.team.max_shrink_steps > 0) return;  // chooses among fewer hinges
      for (const Index max_steps : {1, 2, 9, 10, 11, 40}) {
        const Options options{1e-6, max_steps, large_cache, true};
        const Fit fit = solve(table, *space.rows, solver, options);
        const Fit expected = solve(table, *space.rows, Method::gcd, options);
        CHECK(fit.outcome.status == expected.outcome.status && fit.outcome.steps == expected.outcome.steps);
        CHECK(largest_difference(fit.alpha, expected.alpha) <= 1e-9);
      }
    });
}

TEST(teams_find_the_optimum_again_and_again) {
  Random random(73);
  for (int round = 0; round < 10; ++round) {
    const check::Context here("round " + std::to_string(round));
    const Data data(random, 10 + random.index(10), 2, 3, 1.0);
    const Space space(rbf, data);
    const HingeTable table =
        round % 2 ? implicit_table(data, Treatment::penalized, 1.0) : regression_table(data, Treatment::none, 1.0);
    for_variants({2, 5}, [&](const Parallel& solver) {
      if (solver.is_orgcd() && round > 1) return;  // nothing in it depends on chance
      const Options& options = round % 3 ? coarse : coarse_single;
      check_optimum(table, space, solve(table, *space.rows, solver, options), options.tol);
    });
  }
}

TEST(teams_on_duplicated_samples) {
  Random random(74);
  Data data(random, 14, 1, 3, 0.5);
  for (Index i = 0; i < data.n; i += 2) data.x[i + 1] = data.x[i];  // the same place, and often another rank
  for (const Kernel& kernel : {linear, rbf}) {
    const check::Context here(kernel.kind == KernelKind::linear ? "linear" : "rbf");
    const Space space(kernel, data);
    for_variants({3}, [&](const Parallel& solver) {
      check_team(implicit_table(data, Treatment::penalized, 0.5), space, solver);
      check_team(classification_table(data, Treatment::none, 0.5), space, solver);
    });
  }
}

TEST(threads_that_get_in_each_others_way_find_the_optimum) {
  Random random(75);
  const Data data(random, 16, 2, 2, 2.0);
  const Space space({KernelKind::rbf, 0.05, 0.0, 3.0}, data);  // every step moves every score almost as much as its own
  for_variants({4}, [&](const Parallel& solver) {
    check_team(classification_table(data, Treatment::none, 1.0), space, solver);
    check_team(classification_table(data, Treatment::penalized, 1.0), space, solver);
  });
}

TEST(threads_that_wait_for_longer_steps_find_the_optimum) {
  Random random(82);
  const Data data(random, 14, 2, 4, 1.0);
  const Space space(rbf, data);
  for (const double pace : {0.1, 1.0})  // with 1 only the longest step of all is taken
    for_variants({4}, [&](Parallel solver) {
      if (solver.is_orgcd()) return;
      const check::Context here("pace " + std::to_string(pace));
      solver.team.pace = pace;
      check_team(implicit_table(data, Treatment::penalized, 1.0), space, solver);
      check_team(regression_table(data, Treatment::none, 1.0), space, solver);
    });
}

TEST(more_threads_than_samples_or_hinges) {
  Random random(76);
  for (const Index n : {1, 3}) {
    const check::Context here("n = " + std::to_string(n));
    const Data data(random, n, 2, 2, 1.0);
    const Space space(rbf, data);
    for_variants({5}, [&](const Parallel& solver) {
      check_team(implicit_table(data, Treatment::penalized, 1.0), space, solver);
      check_team(regression_table(data, Treatment::none, 1.0), space, solver);
    });
  }
}

TEST(teams_without_hinges_are_done_at_once) {
  const std::vector<double> x = {2.0, 3.0};
  const Space space(linear, x, 2, 1);
  for (const Treatment treatment : {Treatment::none, Treatment::penalized})
    for_variants({1, 3}, [&](const Parallel& solver) {
      const Fit fit = solve(HingeTable{2, 2, treatment}, *space.rows, solver, precise);
      CHECK(fit.outcome.status == Status::converged);
      CHECK(fit.outcome.steps == 0 && fit.outcome.kernel_rows == 0);
    });
}

TEST(samples_and_thresholds_without_hinges_are_passed_over) {
  Random random(77);
  const Data data(random, 20, 2, 4, 1.0);
  const Space space(rbf, data);
  const HingeTable all = implicit_table(data, Treatment::penalized, 1.0);
  HingeTable some{data.n, 3, Treatment::penalized};
  for (Index v = 0; v < all.size(); ++v)
    if (all.threshold[v] != 1 && all.sample[v] >= 7 && all.sample[v] % 3 > 0)  // the first third has nothing at all
      some.add(all.sample[v], all.threshold[v], all.sign[v], all.offset[v], all.cap[v]);
  for_variants({3}, [&](const Parallel& solver) { check_team(some, space, solver); });
}

TEST(teams_with_a_cache_of_two_rows) {
  Random random(78);
  const Data data(random, 20, 2, 4, 1.0);
  const Space space(rbf, data);
  const HingeTable table = implicit_table(data, Treatment::penalized, 1.0);
  for_variants({5}, [&](const Parallel& solver) {
    for (Options options : {coarse, coarse_single}) {
      options.cache_bytes = 2 * data.n * (options.double_rows ? sizeof(double) : sizeof(float));
      const Fit fit = solve(table, *space.rows, solver, options);
      check_optimum(table, space, fit, options.tol);
      CHECK(fit.outcome.kernel_rows > data.n);
    }
  });
}

TEST(two_teams_share_a_cache) {
  Random random(79);
  const Data data(random, 20, 2, 4, 1.0);
  const Space space(rbf, data);
  const std::vector<HingeTable> tables = {implicit_table(data, Treatment::penalized, 1.0),
                                          regression_table(data, Treatment::none, 1.0)};
  for (const Index rows : {2, 7}) {
    RowCache<float> cache(*space.rows, rows * data.n * sizeof(float));
    for_variants({3}, [&](const Parallel& solver) {
      std::vector<Fit> fits = {Fit::zero(tables[0]), Fit::zero(tables[1])};
      in_threads(2, [&](int t) {
        Monitor monitor(go_on);
        const Hinges hinges = tables[t].hinges();
        fits[t].outcome = run(hinges, cache, solver, {coarse.tol, coarse.max_steps}, fits[t].variables(), monitor);
      });
      for (int t = 0; t < 2; ++t) check_optimum(tables[t], space, fits[t], coarse.tol);
    });
    CHECK(cache.bytes() <= rows * data.n * sizeof(float));
  }
}

}  // namespace
}  // namespace ordsvm
