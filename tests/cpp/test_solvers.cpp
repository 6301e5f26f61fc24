// The solvers on small problems: every answer is judged by the definitions alone (plain.hpp).
#include <chrono>
#include <stdexcept>
#include <thread>

#include "check.hpp"
#include "plain.hpp"
#include "solvers/gcd.hpp"
#include "solvers/smo.hpp"
#include "table.hpp"

namespace ordsvm {
namespace {

using std::chrono::milliseconds;

enum class Method { smo_mvp, smo_second_order, gcd };
const std::vector<Method> pair_methods = {Method::smo_mvp, Method::smo_second_order};

const char* name(Method method) {
  return method == Method::gcd ? "gcd" : method == Method::smo_mvp ? "smo mvp" : "smo second order";
}

std::string name(Thresholds treatment) {
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

const Kernel rbf{KernelKind::rbf, 1.0, 0.0, 3.0};
const Kernel linear{KernelKind::linear, 1.0, 0.0, 3.0};

constexpr std::size_t large_cache = 1 << 20;
constexpr Index many_steps = 1000000;

/// What a run is given besides the problem.
struct Options {
  double tol;
  Index max_steps;
  std::size_t cache_bytes;
  bool double_rows;
};
constexpr Options precise{1e-6, many_steps, large_cache, true};
constexpr Options single{1e-4, many_steps, large_cache, false};

struct Fit {
  Outcome outcome;
  std::vector<double> alpha, score, threshold;

  static Fit zero(const Table& table) {
    return {{},
            std::vector<double>(table.size(), 0.0),
            std::vector<double>(table.n_samples, 0.0),
            std::vector<double>(table.n_thresholds, 0.0)};
  }
};

bool same(const Fit& a, const Fit& b) {
  return a.outcome.status == b.outcome.status && a.outcome.steps == b.outcome.steps && a.alpha == b.alpha &&
         a.score == b.score && a.threshold == b.threshold;
}

bool go_on(Index, Index) { return false; }
double accept(double tol, double) { return tol; }

template <class T>
Outcome run(const Hinges& hinges, RowCache<T>& cache, Method method, const Options& options, const Variables& variables,
            Monitor& monitor) {
  KernelState<T> state(cache, hinges, variables);
  const Limits limits{options.tol, options.max_steps};
  if (method == Method::gcd) return Gcd(hinges, state, variables).run(limits, monitor);
  const Selection selection = method == Method::smo_mvp ? Selection::mvp : Selection::second_order;
  return Smo(hinges, state, variables, selection).run(limits, monitor);
}

template <class T>
Outcome run(const Hinges& hinges, const RowSource& rows, Method method, const Options& options,
            const Variables& variables, Monitor& monitor) {
  RowCache<T> cache(rows, options.cache_bytes);
  return run(hinges, cache, method, options, variables, monitor);
}

/// Changes `fit`, from which it starts, even when it ends by an exception.
void solve_from(Fit& fit, const Table& table, const RowSource& rows, Method method, const Options& options,
                const Monitor::Report& report = go_on, const Monitor::Judge& judge = accept) {
  Monitor monitor(report, judge);
  const Hinges hinges = table.hinges();
  const Variables variables{fit.alpha, fit.score, fit.threshold};
  fit.outcome = options.double_rows ? run<double>(hinges, rows, method, options, variables, monitor)
                                    : run<float>(hinges, rows, method, options, variables, monitor);
}

Fit solve(const Table& table, const RowSource& rows, Method method, const Options& options,
          const Monitor::Report& report = go_on, const Monitor::Judge& judge = accept) {
  Fit fit = Fit::zero(table);
  solve_from(fit, table, rows, method, options, report, judge);
  return fit;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0.0;
  for (std::size_t j = 0; j < a.size(); ++j) worst = std::max(worst, std::abs(a[j] - b[j]));
  return worst;
}

double total_cap(const Table& table) { return std::accumulate(table.cap.begin(), table.cap.end(), 0.0); }

/// Scores and thresholds belong to alpha, which is feasible, whether or not the solver has got to its end.
void check_state(const Table& table, const Space& space, const Fit& fit, double precision) {
  const plain::Point point(table, space.matrix, fit.alpha);
  CHECK(point.is_in_box());
  CHECK(point.infeasibility() <= 1e-10);
  CHECK(largest_difference(fit.score, point.score()) <= precision);
  std::vector<double> expected(table.n_thresholds, 0.0);  // what is not penalised is not touched
  if (table.treatment == Thresholds::penalized)
    for (Index k = 0; k < table.n_thresholds; ++k) expected[k] = -point.gamma()[k];
  CHECK(largest_difference(fit.threshold, expected) <= 1e-9);
}

/// The fit is an optimum within the tolerance: with slopes of tol at most, P - D <= tol * sum of caps.
void check_optimum(const Table& table, const Space& space, const Fit& fit, double tol) {
  CHECK(fit.outcome.status == Status::converged);
  check_state(table, space, fit, 1e-9);
  const plain::Point point(table, space.matrix, fit.alpha);
  CHECK(point.violation() <= tol + 1e-9);
  CHECK(point.gap() >= -1e-9);
  CHECK(point.gap() <= tol * total_cap(table) + 1e-9);
}

void check_all_precisions(const Table& table, const Space& space, Method method) {
  for (const Options& options : {precise, single}) {
    const check::Context here(std::string(name(method)) + ", " + name(table.treatment) +
                              (options.double_rows ? ", double" : ", float"));
    check_optimum(table, space, solve(table, *space.rows, method, options), options.tol);
  }
}

// Tables and products

TEST(tables_know_where_thresholds_begin_and_whether_samples_are_consecutive) {
  Table table{6, 4, Thresholds::free};
  for (const Index i : {2, 3, 4}) table.add(i, 0, 1.0, 1.0, 1.0);
  for (const Index i : {0, 1, 3}) table.add(i, 2, -1.0, 1.0, 1.0);
  for (const Index i : {5, 5}) table.add(i, 3, 1.0, 1.0, 1.0);
  const Hinges hinges = table.hinges();
  CHECK(hinges.first == std::vector<Index>({0, 3, 3, 6, 8}));
  CHECK(hinges.consecutive[0] && !hinges.consecutive[2] && !hinges.consecutive[3]);
  const std::vector<double> alpha = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0};
  CHECK(hinges.beta(alpha) == std::vector<double>({-4.0, -5.0, 1.0, 2.0 - 6.0, 3.0, 15.0}));
}

TEST(product_is_the_matrix_times_beta) {
  Random random(45);
  const Data data(random, 37, 3, 2, 1.0);
  const Space space(rbf, data);
  std::vector<double> beta = random.uniforms(data.n, -1.0, 1.0), out(data.n, 99.0), expected;
  for (Index i = 0; i < data.n; i += 3) beta[i] = 0.0;
  for (Index i = 0; i < data.n; ++i) expected.push_back(plain::dot(&space.matrix[i * data.n], beta.data(), data.n));
  Monitor patient(go_on);
  CHECK(product(*space.rows, beta, out, patient, 0, 0));
  CHECK(largest_difference(out, expected) <= 1e-13);
  Monitor hasty([](Index, Index) { return true; });
  std::this_thread::sleep_for(milliseconds(60));
  CHECK(!product(*space.rows, beta, out, hasty, 0, 0));
}

// Optima of the models

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
      check_all_precisions(implicit_table(data, Thresholds::free, cap), space, method);
      check_all_precisions(with_random_caps(implicit_table(data, Thresholds::free, cap), random), space, method);
    }
  });
}

TEST(smo_finds_the_optimum_of_explicit_tables) {
  for_problems([](const Data& data, Random& random, double cap) {
    const Space space(rbf, data);
    for (const Method method : pair_methods)
      for (const Thresholds treatment : {Thresholds::ordered, Thresholds::free}) {
        check_all_precisions(explicit_table(data, treatment, cap), space, method);
        check_all_precisions(with_random_caps(explicit_table(data, treatment, cap), random), space, method);
      }
  });
}

TEST(smo_finds_the_optimum_of_classification_and_regression) {
  for_problems([](const Data& data, Random&, double cap) {
    const Space space(rbf, data);
    for (const Method method : pair_methods) {
      check_all_precisions(classification_table(data, Thresholds::free, cap), space, method);
      check_all_precisions(regression_table(data, Thresholds::free, cap), space, method);
    }
  });
}

TEST(gcd_finds_the_optimum_of_box_problems) {
  for_problems([](const Data& data, Random& random, double cap) {
    const Space space(rbf, data);
    for (const Thresholds treatment : {Thresholds::none, Thresholds::penalized}) {
      check_all_precisions(classification_table(data, treatment, cap), space, Method::gcd);
      check_all_precisions(regression_table(data, treatment, cap), space, Method::gcd);
    }
    check_all_precisions(implicit_table(data, Thresholds::penalized, cap), space, Method::gcd);
    check_all_precisions(with_random_caps(explicit_table(data, Thresholds::penalized, cap), random), space,
                         Method::gcd);
  });
}

TEST(implicit_thresholds_are_in_order_by_themselves) {
  Random random(32);
  for (int trial = 0; trial < 3; ++trial) {
    const Data data(random, 30, 2, 4, 2.0);
    const Space space(rbf, data);
    const Table free = implicit_table(data, Thresholds::free, 1.0);
    const Table ordered = implicit_table(data, Thresholds::ordered, 1.0);
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
    const Table table = with_random_caps(explicit_table(data, Thresholds::ordered, 1.0), random);
    for (const Method method : pair_methods) {
      check_all_precisions(table, space, method);
      const Fit fit = solve(table, *space.rows, method, precise);
      longest = std::max(longest, longest_run(plain::Point(table, space.matrix, fit.alpha).mu()));
    }
  }
  CHECK(longest >= 3);  // else the test would test nothing
}

// Answers known in advance

TEST(two_samples_have_a_closed_form) {
  for (const double distance : {0.3, 1.0, 2.0})
    for (const double cap : {0.5, 1e6}) {
      const std::vector<double> x = {-1.0, -1.0 + distance};
      const Space space(linear, x, 2, 1);
      Table table{2, 1, Thresholds::free};
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
  for (const Thresholds treatment : {Thresholds::none, Thresholds::penalized})
    for (const double cap : {0.01, 5.0}) {
      Table table{1, 1, treatment};
      table.add(0, 0, 1.0, 1.0, cap);
      const Fit fit = solve(table, *space.rows, Method::gcd, options);
      check_optimum(table, space, fit, options.tol);
      CHECK(std::abs(fit.alpha[0] - std::min(cap, treatment == Thresholds::none ? 0.25 : 0.2)) <= 1e-12);
    }
}

TEST(two_hinges_of_one_sample_may_make_a_pair) {
  const std::vector<double> x = {2.0};
  const Space space(linear, x, 1, 1);
  Table table{1, 1, Thresholds::free};
  table.add(0, 0, 1.0, 3.0, 1.5);
  table.add(0, 0, -1.0, -2.0, 1.0);  // the offsets' sum is positive: both go up until one is full
  for (const Method method : pair_methods) {
    const Fit fit = solve(table, *space.rows, method, {1e-9, 100, sizeof(double), true});
    check_optimum(table, space, fit, 1e-9);
    CHECK(fit.alpha == std::vector<double>({1.0, 1.0}));
  }
}

TEST(a_pair_without_curvature_goes_to_the_boundary_at_once) {
  const std::vector<double> x = {0.7, 0.7};  // one place, two classes: no score can tell them apart
  for (const Kernel& kernel : {linear, rbf}) {
    const Space space(kernel, x, 2, 1);
    Table table{2, 1, Thresholds::free};
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
    Table table{2, 1, Thresholds::free};
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
  for (const Thresholds treatment : {Thresholds::free, Thresholds::ordered, Thresholds::none, Thresholds::penalized}) {
    const Table table{2, 2, treatment};
    const bool is_box = treatment == Thresholds::none || treatment == Thresholds::penalized;
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
  for (const Thresholds treatment : {Thresholds::free, Thresholds::ordered}) {
    Table table{data.n, 2, treatment};
    for (Index k = 0; k < 2; ++k)
      for (Index i = 0; i < data.n; ++i) table.add(i, k, 1.0, 1.0, 1.0);  // all above: b = -infinity serves
    for (const Method method : pair_methods) {
      const Fit fit = solve(table, *space.rows, method, precise);
      CHECK(fit.outcome.status == Status::converged && fit.outcome.steps == 0);
    }
  }
}

/// The same without the hinges of one threshold.
Table without_threshold(const Table& table, Index k) {
  Table rest{table.n_samples, table.n_thresholds, table.treatment};
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
      for (const Thresholds treatment : {Thresholds::ordered, Thresholds::free})
        check_all_precisions(without_threshold(explicit_table(data, treatment, 1.0), k), space, method);
    check_all_precisions(without_threshold(implicit_table(data, Thresholds::penalized, 1.0), k), space, Method::gcd);
  }
}

// Semidefinite kernels

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
        check_all_precisions(implicit_table(data, Thresholds::free, cap), space, method);
        check_all_precisions(explicit_table(data, Thresholds::ordered, cap), space, method);
        check_all_precisions(regression_table(data, Thresholds::free, cap), space, method);
      }
      check_all_precisions(implicit_table(data, Thresholds::penalized, cap), space, Method::gcd);
      check_all_precisions(classification_table(data, Thresholds::none, cap), space, Method::gcd);
    }
}

TEST(samples_at_the_origin_of_a_linear_kernel) {
  const std::vector<double> x = {0.0, 0.0, 1.0, -1.0};
  const Space space(linear, x, 4, 1);
  Table box{4, 1, Thresholds::none}, free{4, 1, Thresholds::free};
  for (Index i = 0; i < 4; ++i) {
    box.add(i, 0, i % 2 ? -1.0 : 1.0, 1.0, 2.0);
    free.add(i, 0, i % 2 ? -1.0 : 1.0, 1.0, 2.0);
  }
  const Fit fit = solve(box, *space.rows, Method::gcd, precise);
  check_optimum(box, space, fit, precise.tol);
  CHECK(fit.alpha[0] == 2.0 && fit.alpha[1] == 2.0);  // no score can help them
  for (const Method method : pair_methods) check_all_precisions(free, space, method);
}

// Caches, options, stops

struct Case {
  Table table;
  Method method;
};

/// A problem of every kind on the same data.
std::vector<Case> cases_on(const Data& data) {
  const Table free = implicit_table(data, Thresholds::free, 2.0),
              ordered = explicit_table(data, Thresholds::ordered, 2.0);
  return {{free, Method::smo_mvp},
          {free, Method::smo_second_order},
          {ordered, Method::smo_mvp},
          {ordered, Method::smo_second_order},
          {implicit_table(data, Thresholds::penalized, 2.0), Method::gcd},
          {regression_table(data, Thresholds::none, 2.0), Method::gcd}};
}

/// `function(table, method, options)` for every case in both precisions.
template <class Function>
void for_cases(const Data& data, Function function) {
  for (const auto& [table, method] : cases_on(data))
    for (const Options& options : {precise, single}) {
      const check::Context here(std::string(name(method)) + ", " + name(table.treatment) +
                                (options.double_rows ? ", double" : ", float"));
      function(table, method, options);
    }
}

double state_precision(const Options& options) { return options.double_rows ? 1e-9 : 1e-4; }

TEST(a_cache_of_two_rows_changes_nothing) {
  Random random(36);
  const Data data(random, 30, 2, 4, 1.0);
  const Space space(rbf, data);
  for_cases(data, [&](const Table& table, Method method, Options options) {
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
    const check::Context here(std::string(name(method)) + ", " + name(table.treatment));
    const Hinges hinges = table.hinges();
    const Fit alone = solve(table, *space.rows, method, precise);
    for (const bool again : {false, true}) {
      Fit fit = Fit::zero(table);
      Monitor monitor(go_on);
      const Index before = cache.rows_computed();
      fit.outcome = run(hinges, cache, method, precise, {fit.alpha, fit.score, fit.threshold}, monitor);
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
  for_cases(data, [&](const Table& table, Method method, Options options) {
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
  for_cases(data, [&](const Table& table, Method method, Options options) {
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
  const Table table = implicit_table(data, Thresholds::free, 100.0);
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
  for (const auto& [table, method] : cases_on(data)) {
    const check::Context here(std::string(name(method)) + ", " + name(table.treatment));
    std::vector<double> asked;
    Fit fit = Fit::zero(table);
    const auto judge = [&](double tol, double violation) {
      asked.push_back(tol);
      const plain::Point point(table, space.matrix, fit.alpha);
      CHECK(violation <= tol && std::abs(point.violation() - violation) <= 1e-9);
      CHECK(largest_difference(fit.score, point.score()) <= 1e-9);  // it is asked about exact scores
      return asked.size() < 3 ? 0.01 * tol : tol;
    };
    solve_from(fit, table, *space.rows, method, {0.1, many_steps, large_cache, true}, go_on, judge);
    CHECK(asked == std::vector<double>({0.1, 0.01 * 0.1, 0.01 * (0.01 * 0.1)}));
    check_optimum(table, space, fit, 1e-5);
  }
}

TEST(a_judge_who_is_never_content_does_no_harm) {
  Random random(48);
  const Data data(random, 25, 2, 4, 1.0);
  const Space space(rbf, data);
  for_cases(data, [&](const Table& table, Method method, Options options) {
    options.max_steps = 10000;
    const Fit content = solve(table, *space.rows, method, options);
    const Fit fit = solve(table, *space.rows, method, options, go_on,
                          [](double tol, double violation) { return 1e-3 * std::min(tol, violation); });
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
  for_cases(data, [&](const Table& table, Method method, Options options) {
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
    const check::Context here(std::string(name(method)) + ", " + name(table.treatment));
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
void plain_greedy_step(const Table& table, const Space& space, std::vector<double>& alpha) {
  const plain::Point point(table, space.matrix, alpha);
  const std::vector<double> b = point.thresholds();
  double longest = -1.0, target = 0.0;
  Index chosen = 0;
  for (Index v = 0; v < table.size(); ++v) {
    const Index i = table.sample[v];
    const double slope = table.sign[v] * (point.score()[i] - b[table.threshold[v]]) - table.offset[v];
    const double length = std::abs(std::clamp(alpha[v] - slope, 0.0, table.cap[v]) - alpha[v]);
    if (length <= longest) continue;
    const double curvature = space.matrix[i * space.n + i] + (table.treatment == Thresholds::penalized ? 1.0 : 0.0);
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
  for (const Table& table :
       {implicit_table(data, Thresholds::penalized, 0.7), regression_table(data, Thresholds::none, 0.7)}) {
    std::vector<double> expected(table.size(), 0.0);
    for (Index steps = 1; steps <= 40; ++steps) {
      plain_greedy_step(table, space, expected);
      const Fit fit = solve(table, *space.rows, Method::gcd, {1e-6, steps, large_cache, true});
      CHECK(largest_difference(fit.alpha, expected) <= 1e-9);
    }
  }
}

/// Rows that take their time, in single or in double precision.
class SlowRows final : public RowSource {
 public:
  SlowRows(const RowSource& rows, milliseconds single_pause, milliseconds double_pause)
      : rows_(rows), single_pause_(single_pause), double_pause_(double_pause) {}
  Index size() const override { return rows_.size(); }
  double diagonal(Index i) const override { return rows_.diagonal(i); }
  void row(Index i, std::span<float> out) const override {
    std::this_thread::sleep_for(single_pause_);
    rows_.row(i, out);
  }
  void row(Index i, std::span<double> out) const override {
    std::this_thread::sleep_for(double_pause_);
    rows_.row(i, out);
  }

 private:
  const RowSource& rows_;
  milliseconds single_pause_, double_pause_;
};

TEST(a_stop_in_the_middle_leaves_a_feasible_point) {
  Random random(39);
  const Data data(random, 25, 2, 4, 1.0);
  const Space space(rbf, data);
  const SlowRows slow(*space.rows, milliseconds(12), milliseconds(0));
  for (const auto& [table, method] : cases_on(data)) {
    const check::Context here(std::string(name(method)) + ", " + name(table.treatment));
    Index seen_steps = 0, seen_rows = 0;
    Fit fit = solve(table, slow, method, single, [&](Index steps, Index rows) {
      seen_steps = steps;
      seen_rows = rows;
      return steps > 0;
    });
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
    const check::Context here(std::string(name(method)) + ", " + name(table.treatment));
    const Fit undisturbed = solve(table, *space.rows, method, single);
    const Fit fit = solve(table, slow, method, single, [](Index steps, Index) { return steps > 0; });
    CHECK(fit.outcome.status == Status::stopped);
    CHECK(0 < fit.outcome.steps && fit.outcome.steps <= undisturbed.outcome.steps);
    check_state(table, space, fit, state_precision(single));
  }
}

TEST(exceptions_of_the_report_and_of_rows_come_out) {
  class BrokenRows final : public RowSource {
   public:
    explicit BrokenRows(const RowSource& rows) : rows_(rows) {}
    Index size() const override { return rows_.size(); }
    double diagonal(Index i) const override { return rows_.diagonal(i); }
    void row(Index i, std::span<float> out) const override {
      if (++made_ > 5) throw std::runtime_error("no row");
      rows_.row(i, out);
    }
    void row(Index i, std::span<double> out) const override { rows_.row(i, out); }

   private:
    const RowSource& rows_;
    mutable int made_ = 0;
  };
  Random random(41);
  const Data data(random, 25, 2, 4, 1.0);
  const Space space(rbf, data);
  const SlowRows slow(*space.rows, milliseconds(12), milliseconds(0));
  for (const auto& [table, method] : cases_on(data)) {
    const check::Context here(std::string(name(method)) + ", " + name(table.treatment));
    const auto interrupt = [](Index, Index) -> bool { throw std::runtime_error("interrupted"); };
    Fit fit = Fit::zero(table);
    CHECK(check::throws<std::runtime_error>([&] { solve_from(fit, table, slow, method, single, interrupt); }));
    check_state(table, space, fit, state_precision(single));
    const BrokenRows broken(*space.rows);
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
  std::vector<std::jthread> threads;
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
