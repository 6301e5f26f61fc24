// Small problems whose answers are known in advance.
#include "check.hpp"
#include "methods.hpp"

namespace ordsvm {
namespace {

TEST(tables_know_where_thresholds_begin_and_whether_samples_are_consecutive) {
  HingeTable table{6, 4, Treatment::free};
  for (const Index i : {2, 3, 4}) table.add(i, 0, 1.0, 1.0, 1.0);
  for (const Index i : {0, 1, 3}) table.add(i, 2, -1.0, 1.0, 1.0);
  for (const Index i : {5, 5}) table.add(i, 3, 1.0, 1.0, 1.0);
  const Hinges hinges = table.hinges();
  CHECK(hinges.first == std::vector<Index>({0, 3, 3, 6, 8}));
  CHECK(hinges.consecutive[0] && !hinges.consecutive[2] && !hinges.consecutive[3]);
  const std::vector<double> alpha = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0};
  CHECK(hinges.beta(alpha) == std::vector<double>({-4.0, -5.0, 1.0, 2.0 - 6.0, 3.0, 15.0}));
}

TEST(two_samples_have_a_closed_form) {
  for (const double distance : {0.3, 1.0, 2.0})
    for (const double cap : {0.5, 1e6}) {
      const std::vector<double> x = {-1.0, -1.0 + distance};
      const Space space(linear, x, 2, 1);
      HingeTable table{2, 1, Treatment::free};
      table.add(0, 0, -1.0, 1.0, cap);
      table.add(1, 0, 1.0, 1.0, cap);
      const double expected = std::min(cap, 2.0 / (distance * distance));
      for (const Method method : pair_methods) {
        const Fit fit = solve(table, *space.rows, method, precise);
        check_optimum(table, space, fit, precise.tol);
        for (const double alpha : fit.alpha) CHECK(std::abs(alpha - expected) <= 1e-6 * expected);
      }
    }
}

TEST(one_sample_has_a_closed_form) {
  const std::vector<double> x = {2.0};
  const Space space(linear, x, 1, 1);
  const Options options{1e-9, 100, sizeof(double), true};  // a cache of one row is all there is
  for (const Treatment treatment : {Treatment::none, Treatment::penalized})
    for (const double cap : {0.01, 5.0}) {
      HingeTable table{1, 1, treatment};
      table.add(0, 0, 1.0, 1.0, cap);
      const Fit fit = solve(table, *space.rows, Method::gcd, options);
      check_optimum(table, space, fit, options.tol);
      CHECK(std::abs(fit.alpha[0] - std::min(cap, treatment == Treatment::none ? 0.25 : 0.2)) <= 1e-12);
    }
}

TEST(two_hinges_of_one_sample_may_make_a_pair) {
  const std::vector<double> x = {2.0};
  const Space space(linear, x, 1, 1);
  HingeTable table{1, 1, Treatment::free};
  table.add(0, 0, 1.0, 3.0, 1.5);
  table.add(0, 0, -1.0, -2.0, 1.0);  // the offsets' sum is positive: both go up until one is full
  for (const Method method : pair_methods) {
    const Fit fit = solve(table, *space.rows, method, {1e-9, 100, sizeof(double), true});
    check_optimum(table, space, fit, 1e-9);
    CHECK(fit.alpha == std::vector<double>({1.0, 1.0}));
  }
}

TEST(a_pair_without_curvature_goes_to_the_boundary_at_once) {
  const std::vector<double> x = {0.7, 0.7};  // one place, two classes: no score separates them
  for (const Kernel& kernel : {linear, rbf}) {
    const Space space(kernel, x, 2, 1);
    HingeTable table{2, 1, Treatment::free};
    table.add(0, 0, -1.0, 1.0, 1e6);
    table.add(1, 0, 1.0, 1.0, 1e6);
    for (const Method method : pair_methods) {
      const Fit fit = solve(table, *space.rows, method, precise);
      CHECK(fit.outcome.status == Status::converged && fit.outcome.steps == 1);
      CHECK(fit.alpha == table.cap);
    }
  }
}

TEST(steps_to_a_cap_end_on_it) {
  Random random(46);
  const std::vector<double> x = {-0.5, 0.5};
  const Space space(linear, x, 2, 1);
  for (int trial = 0; trial < 200; ++trial) {  // alpha + (cap - alpha) is often not cap
    const double cap = random.uniform(0.1, 1.0), start = random.uniform(0.0, cap);
    HingeTable table{2, 1, Treatment::free};
    table.add(0, 0, -1.0, 1.0, cap);
    table.add(1, 0, 1.0, 1.0, cap);
    Fit fit = Fit::zero(table);
    fit.alpha = {start, start};
    fit.score = {-0.5 * start, 0.5 * start};
    solve_from(fit, table, *space.rows, Method::smo_mvp, precise);
    CHECK(fit.outcome.status == Status::converged && fit.outcome.steps == 1);
    CHECK(fit.alpha == table.cap);
  }
}

TEST(no_hinges_is_a_problem_too) {
  const std::vector<double> x = {2.0, 3.0};
  const Space space(linear, x, 2, 1);
  for (const Treatment treatment : {Treatment::free, Treatment::ordered, Treatment::none, Treatment::penalized}) {
    const HingeTable table{2, 2, treatment};
    const bool is_box = treatment == Treatment::none || treatment == Treatment::penalized;
    for (const Method method : is_box ? std::vector<Method>{Method::gcd} : pair_methods) {
      const Fit fit = solve(table, *space.rows, method, precise);
      CHECK(fit.outcome.status == Status::converged);
      CHECK(fit.outcome.steps == 0 && fit.outcome.kernel_rows == 0);
    }
  }
}

TEST(one_sided_thresholds_need_no_step) {
  Random random(34);
  const Data data(random, 12, 2, 3, 0.5);
  const Space space(rbf, data);
  for (const Treatment treatment : {Treatment::free, Treatment::ordered}) {
    HingeTable table{data.n, 2, treatment};
    for (Index k = 0; k < 2; ++k)
      for (Index i = 0; i < data.n; ++i) table.add(i, k, 1.0, 1.0, 1.0);  // all above: b = -infinity serves
    for (const Method method : pair_methods) {
      const Fit fit = solve(table, *space.rows, method, precise);
      CHECK(fit.outcome.status == Status::converged && fit.outcome.steps == 0);
    }
  }
}

TEST(samples_at_the_origin_of_a_linear_kernel) {
  const std::vector<double> x = {0.0, 0.0, 1.0, -1.0};
  const Space space(linear, x, 4, 1);
  HingeTable box{4, 1, Treatment::none}, free{4, 1, Treatment::free};
  for (Index i = 0; i < 4; ++i) {
    box.add(i, 0, i % 2 ? -1.0 : 1.0, 1.0, 2.0);
    free.add(i, 0, i % 2 ? -1.0 : 1.0, 1.0, 2.0);
  }
  const Fit fit = solve(box, *space.rows, Method::gcd, precise);
  check_optimum(box, space, fit, precise.tol);
  CHECK(fit.alpha[0] == 2.0 && fit.alpha[1] == 2.0);  // no score can help them
  for (const Method method : pair_methods) check_all_precisions(free, space, method);
}

}  // namespace
}  // namespace ordsvm
