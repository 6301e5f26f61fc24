// K beta, by one thread and by several.
#include "check.hpp"
#include "kernels/tiles/part.hpp"
#include "kernels/tiles/product.hpp"
#include "odd_rows.hpp"
#include "solve.hpp"

namespace ordsvm {
namespace {

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

TEST(parts_of_k_are_what_the_formula_says) {
  Random random(46);
  const Data data(random, 150, 3, 2, 1.0);
  const Space space(rbf, data);
  std::vector<Index> rows, columns;
  for (Index i = 0; i < data.n; i += 2) rows.push_back((7 * i) % data.n), columns.push_back(i / 3);
  columns.resize(33);
  for (const int n_threads : {1, 3}) {
    ThreadPool pool(n_threads);
    std::vector<double> out(rows.size() * columns.size());
    tiles::fill_part(*space.rows, rows, columns, out, pool);
    const double* value = out.data();
    for (const Index i : rows)
      for (const Index j : columns) CHECK(std::abs(*value++ - space.matrix[i * data.n + j]) <= 1e-14);
  }
}

/// Numbers x_i with K = x x': enough of them for several threads, and K beta = x (x'beta) is known.
struct Line {
  Index n = 1100;
  Random random{62};
  std::vector<double> x = random.uniforms(n, -1.0, 1.0), beta = random.uniforms(n, -1.0, 1.0);
  std::unique_ptr<RowSource> rows = make_rows(linear, DenseView<double>{x.data(), n, 1});

  double error_of(const std::vector<double>& out) const {
    const double slope = plain::dot(x.data(), beta.data(), n);
    double worst = 0.0;
    for (Index i = 0; i < n; ++i) worst = std::max(worst, std::abs(out[i] - x[i] * slope));
    return worst;
  }
};

TEST(threads_divide_a_product_among_them) {
  const Line line;
  for (const int n_threads : {1, 2, 3, 4}) {
    std::vector<double> out(line.n, 99.0);
    Monitor monitor(go_on);
    CHECK(product(*line.rows, line.beta, out, monitor, 0, 0, n_threads));
    CHECK(line.error_of(out) <= 1e-11);
  }
}

TEST(a_product_by_a_crew_is_that_of_one_thread_to_the_bit) {
  const Line line;
  const SlowRows plain_rows(*line.rows, microseconds(0), microseconds(0));  // no features: no tiles
  std::vector<double> alone(line.n, 99.0);
  Monitor monitor(go_on);
  CHECK(product(plain_rows, line.beta, alone, monitor, 0, 0));
  for (const int n_threads : {1, 2, 3}) {
    ThreadPool pool(n_threads);
    std::vector<double> out(line.n, 99.0);
    CHECK(product(plain_rows, line.beta, out, monitor, 0, 0, n_threads, &pool));
    CHECK(out == alone && line.error_of(out) <= 1e-11);
    Monitor hasty([](Index, Index) { return true; });
    std::this_thread::sleep_for(milliseconds(60));
    CHECK(!product(plain_rows, line.beta, out, hasty, 0, 0, n_threads, &pool));
  }
}

TEST(a_product_by_threads_can_be_stopped) {
  const Line line;
  const SlowRows slow(*line.rows, milliseconds(0), milliseconds(1));
  std::vector<double> out(line.n);
  Monitor hasty([](Index steps, Index rows) { return CHECK(steps == 12 && rows == 34), true; });
  CHECK(!product(slow, line.beta, out, hasty, 12, 34, 4));
  Monitor raging([](Index, Index) -> bool { throw std::runtime_error("interrupted"); });
  CHECK(check::throws<std::runtime_error>([&] { product(slow, line.beta, out, raging, 0, 0, 4); }));
}

}  // namespace
}  // namespace ordsvm
