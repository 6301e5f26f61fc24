// The solvers of one thread find the optimum of every model.
#include "check.hpp"
#include "methods.hpp"

namespace ordsvm {
namespace {

struct Size {
  Index n, ranks;
  double cap;
};
const std::vector<Size> problem_sizes = {{12, 3, 1.0}, {25, 4, 0.1}, {25, 4, 10.0}, {40, 3, 3.0}, {40, 4, 1.0}};

/// `function(data, random, cap)` for every size, with little and with much noise.
template <class Function>
void for_problems(Function function) {
  Random random(31);
  for (const auto& [n, ranks, cap] : problem_sizes)
    for (const double noise : {0.3, 3.0}) {
      const check::Context here("n = " + std::to_string(n) + ", ranks = " + std::to_string(ranks) +
                                ", cap = " + std::to_string(cap) + ", noise = " + std::to_string(noise));
      const Data data(random, n, 2, ranks, noise);
      function(data, random, cap);
    }
}

TEST(smo_finds_the_optimum_of_implicit_tables) {
  for_problems([](const Data& data, Random& random, double cap) {
    const Space space(rbf, data);
    for (const Method method : pair_methods) {
      check_all_precisions(implicit_table(data, Treatment::free, cap), space, method);
      check_all_precisions(with_random_caps(implicit_table(data, Treatment::free, cap), random), space, method);
    }
  });
}

TEST(smo_finds_the_optimum_of_explicit_tables) {
  for_problems([](const Data& data, Random& random, double cap) {
    const Space space(rbf, data);
    for (const Method method : pair_methods)
      for (const Treatment treatment : {Treatment::ordered, Treatment::free}) {
        check_all_precisions(explicit_table(data, treatment, cap), space, method);
        check_all_precisions(with_random_caps(explicit_table(data, treatment, cap), random), space, method);
      }
  });
}

TEST(smo_finds_the_optimum_of_classification_and_regression) {
  for_problems([](const Data& data, Random&, double cap) {
    const Space space(rbf, data);
    for (const Method method : pair_methods) {
      check_all_precisions(classification_table(data, Treatment::free, cap), space, method);
      check_all_precisions(regression_table(data, Treatment::free, cap), space, method);
    }
  });
}

TEST(gcd_finds_the_optimum_of_box_problems) {
  for_problems([](const Data& data, Random& random, double cap) {
    const Space space(rbf, data);
    for (const Treatment treatment : {Treatment::none, Treatment::penalized}) {
      check_all_precisions(classification_table(data, treatment, cap), space, Method::gcd);
      check_all_precisions(regression_table(data, treatment, cap), space, Method::gcd);
    }
    check_all_precisions(implicit_table(data, Treatment::penalized, cap), space, Method::gcd);
    check_all_precisions(with_random_caps(explicit_table(data, Treatment::penalized, cap), random), space, Method::gcd);
  });
}

TEST(implicit_thresholds_are_in_order_by_themselves) {
  Random random(32);
  for (int trial = 0; trial < 3; ++trial) {
    const Data data(random, 30, 2, 4, 2.0);
    const Space space(rbf, data);
    const HingeTable free = implicit_table(data, Treatment::free, 1.0);
    const HingeTable ordered = implicit_table(data, Treatment::ordered, 1.0);
    const Fit with_free = solve(free, *space.rows, Method::smo_second_order, precise);
    const Fit with_ordered = solve(ordered, *space.rows, Method::smo_second_order, precise);
    check_optimum(ordered, space, with_ordered, precise.tol);
    const plain::Point a(free, space.matrix, with_free.alpha), b(ordered, space.matrix, with_ordered.alpha);
    CHECK(std::abs(a.dual() - b.dual()) <= precise.tol * total_cap(free));
    const std::vector<double> thresholds = a.thresholds();
    for (std::size_t k = 1; k < thresholds.size(); ++k) CHECK(thresholds[k - 1] <= thresholds[k] + precise.tol);
  }
}

Index longest_run(const std::vector<double>& mu) {
  Index longest = 0, run = 0;
  for (const double value : mu) longest = std::max(longest, run = value > 1e-6 ? run + 1 : 0);
  return longest;
}

TEST(smo_carries_bounds_over_long_runs_of_tied_thresholds) {
  Random random(33);
  Index longest = 0;
  for (int trial = 0; trial < 8; ++trial) {
    const check::Context here("trial " + std::to_string(trial));
    Data data(random, 36, 1, 6, 0.4);
    const std::vector<Index> shuffled = {0, 4, 3, 2, 1, 5};  // ranks that run against the line
    if (trial % 2 == 0)
      for (Index& rank : data.rank) rank = shuffled[rank];
    else
      for (Index& rank : data.rank) rank = random.index(6);
    const Space space(trial % 4 < 2 ? linear : rbf, data);
    const HingeTable table = with_random_caps(explicit_table(data, Treatment::ordered, 1.0), random);
    for (const Method method : pair_methods) {
      check_all_precisions(table, space, method);
      const Fit fit = solve(table, *space.rows, method, precise);
      longest = std::max(longest, longest_run(plain::Point(table, space.matrix, fit.alpha).mu()));
    }
  }
  CHECK(longest >= 3);  // else the test would test nothing
}

/// The same without the hinges of one threshold.
HingeTable without_threshold(const HingeTable& table, Index k) {
  HingeTable rest{table.n_samples, table.n_thresholds, table.treatment};
  for (Index v = 0; v < table.size(); ++v)
    if (table.threshold[v] != k)
      rest.add(table.sample[v], table.threshold[v], table.sign[v], table.offset[v], table.cap[v]);
  return rest;
}

TEST(thresholds_without_hinges_are_passed_over) {
  Random random(44);
  const Data data(random, 30, 2, 4, 1.0);
  const Space space(rbf, data);
  for (Index k = 0; k < 3; ++k) {
    const check::Context here("threshold " + std::to_string(k));
    for (const Method method : pair_methods)
      for (const Treatment treatment : {Treatment::ordered, Treatment::free})
        check_all_precisions(without_threshold(explicit_table(data, treatment, 1.0), k), space, method);
    check_all_precisions(without_threshold(implicit_table(data, Treatment::penalized, 1.0), k), space, Method::gcd);
  }
}

Data doubled(Random& random, Index n, Index n_ranks) {
  Data data(random, n, 1, n_ranks, 0.5);
  for (Index i = 0; i < n; i += 2) data.x[i + 1] = data.x[i];  // the same place, and often another rank
  return data;
}

TEST(semidefinite_kernels_with_duplicated_samples) {
  Random random(35);
  for (const double cap : {0.3, 3.0})
    for (const Kernel& kernel : {linear, rbf}) {
      const check::Context here(kernel.kind == KernelKind::linear ? "linear" : "rbf");
      const Data data = doubled(random, 24, 3);
      const Space space(kernel, data);
      for (const Method method : pair_methods) {
        check_all_precisions(implicit_table(data, Treatment::free, cap), space, method);
        check_all_precisions(explicit_table(data, Treatment::ordered, cap), space, method);
        check_all_precisions(regression_table(data, Treatment::free, cap), space, method);
      }
      check_all_precisions(implicit_table(data, Treatment::penalized, cap), space, Method::gcd);
      check_all_precisions(classification_table(data, Treatment::none, cap), space, Method::gcd);
    }
}

}  // namespace
}  // namespace ordsvm
