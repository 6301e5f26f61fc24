// Kernel rows of every kind of data against the formula, and against each other.
#include <cmath>

#include "check.hpp"
#include "kernels/row_source.hpp"
#include "parallel/joining_thread.hpp"
#include "plain.hpp"
#include "random.hpp"

namespace ordsvm {
namespace {

const std::vector<Kernel> kernels = {
    {KernelKind::linear, 1.0, 0.0, 3.0},     {KernelKind::rbf, 0.7, 0.0, 3.0},
    {KernelKind::polynomial, 0.5, 1.0, 3.0}, {KernelKind::polynomial, 0.3, -0.5, 2.0},
    {KernelKind::sigmoid, 0.3, -0.2, 3.0},   {KernelKind::laplacian, 0.4, 0.0, 3.0},
};

std::string describe(const Kernel& kernel, Index n, Index d) {
  return "kernel " + std::to_string(static_cast<int>(kernel.kind)) + ", n = " + std::to_string(n) +
         ", features = " + std::to_string(d);
}

/// Random data with zeros and whole rows of zeros; every value is a float, so that all types hold the same data.
std::vector<double> sparse_data(Random& random, Index n, Index d) {
  std::vector<double> x(n * d, 0.0);
  for (Index i = 0; i < n; ++i)
    if (n == 1 || i % 5 != 3)
      for (Index feature = 0; feature < d; ++feature)
        if (random.chance(0.6)) x[i * d + feature] = static_cast<float>(random.uniform(-1.5, 1.5));
  return x;
}

template <class T, class I>
struct Csr {
  std::vector<T> values;
  std::vector<I> columns, starts = {0};
  Index n, d;

  Csr(const std::vector<double>& x, Index n, Index d) : n(n), d(d) {
    for (Index i = 0; i < n; ++i) {
      for (Index feature = 0; feature < d; ++feature) add(x[i * d + feature], feature);
      starts.push_back(static_cast<I>(values.size()));
    }
  }
  void add(double value, Index feature) {
    if (value == 0.0 && feature % 4 != 2) return;  // some zeros are stored
    values.push_back(static_cast<T>(value));
    columns.push_back(static_cast<I>(feature));
  }
  CsrView<T, I> view() const { return {values.data(), columns.data(), starts.data(), n, d}; }
};

std::vector<double> row_of(const RowSource& source, Index i) {
  std::vector<double> row(source.size());
  source.row(i, std::span<double>(row));
  return row;
}

double error_of_row(const std::vector<double>& row, const std::vector<double>& matrix, Index i) {
  const Index n = static_cast<Index>(row.size());
  double worst = 0.0;
  for (Index j = 0; j < n; ++j) {
    const double expected = matrix[i * n + j];
    worst = std::max(worst, std::abs(row[j] - expected) / std::max(1.0, std::abs(expected)));
  }
  return worst;
}

bool is_rounded(const RowSource& source, Index i, const std::vector<double>& row) {
  std::vector<float> narrow(source.size());
  source.row(i, std::span<float>(narrow));
  for (std::size_t j = 0; j < row.size(); ++j)
    if (narrow[j] != static_cast<float>(row[j])) return false;
  return true;
}

bool is_distance_kernel(const Kernel& kernel) {
  return kernel.kind == KernelKind::rbf || kernel.kind == KernelKind::laplacian;
}

/// Rows i = 0, step, 2 step, ... in double and float, and the diagonal.
void check_rows(const RowSource& source, const Kernel& kernel, const std::vector<double>& matrix, Index n) {
  CHECK(source.size() == n);
  for (Index i = 0; i < n; ++i) {
    const std::vector<double> row = row_of(source, i);
    CHECK(error_of_row(row, matrix, i) < 1e-12);
    CHECK(is_rounded(source, i, row));
    CHECK(std::abs(source.diagonal(i) - row[i]) <= 1e-14 * std::abs(row[i]));
    if (is_distance_kernel(kernel)) CHECK(row[i] == 1.0 && source.diagonal(i) == 1.0);
  }
}

template <class T>
void check_dense(const Kernel& kernel, const std::vector<double>& x, const std::vector<double>& matrix, Index n,
                 Index d) {
  const check::Context here(sizeof(T) == 4 ? "dense float" : "dense double");
  std::vector<T> data(x.begin(), x.end());
  const auto source = make_rows(kernel, DenseView<T>{data.data(), n, d});
  std::fill(data.begin(), data.end(), T(99));  // the data have been copied
  check_rows(*source, kernel, matrix, n);
}

template <class T, class I>
void check_csr(const Kernel& kernel, const std::vector<double>& x, const std::vector<double>& matrix, Index n,
               Index d) {
  const check::Context here(std::string("csr ") + (sizeof(T) == 4 ? "float" : "double") + " int" +
                            std::to_string(8 * sizeof(I)));
  const Csr<T, I> data(x, n, d);
  check_rows(*make_rows(kernel, data.view()), kernel, matrix, n);
}

TEST(rows_of_all_data_agree_with_the_formula) {
  Random random(11);
  for (const auto& [n, d] : std::vector<std::pair<Index, Index>>{{1, 1}, {1, 4}, {2, 3}, {31, 5}, {33, 1}, {70, 9}}) {
    const std::vector<double> x = sparse_data(random, n, d);
    for (const Kernel& kernel : kernels) {
      const check::Context here(describe(kernel, n, d));
      const std::vector<double> matrix = plain::kernel_matrix(kernel, x, n, d);
      check_dense<float>(kernel, x, matrix, n, d);
      check_dense<double>(kernel, x, matrix, n, d);
      check_csr<float, std::int32_t>(kernel, x, matrix, n, d);
      check_csr<float, std::int64_t>(kernel, x, matrix, n, d);
      check_csr<double, std::int32_t>(kernel, x, matrix, n, d);
      check_csr<double, std::int64_t>(kernel, x, matrix, n, d);
    }
  }
}

TEST(rows_longer_than_a_chunk_have_no_seam) {
  Random random(12);
  const Index n = 2 * 2048 + 37, d = 3;
  const std::vector<double> x = sparse_data(random, n, d);
  const Csr<double, std::int32_t> sparse(x, n, d);
  for (const Kernel& kernel : kernels) {
    const check::Context here(describe(kernel, n, d));
    const auto dense_source = make_rows(kernel, DenseView<double>{x.data(), n, d});
    const auto sparse_source = make_rows(kernel, sparse.view());
    for (const Index i : {Index{0}, Index{2047}, Index{2048}, Index{4096}, n - 1}) {
      std::vector<double> expected(n);
      for (Index j = 0; j < n; ++j) expected[j] = plain::kernel_value(kernel, &x[i * d], &x[j * d], d);
      CHECK(error_of_row(row_of(*dense_source, i), expected, 0) < 1e-12);
      CHECK(error_of_row(row_of(*sparse_source, i), expected, 0) < 1e-12);
      CHECK(is_rounded(*dense_source, i, row_of(*dense_source, i)));
      CHECK(is_rounded(*sparse_source, i, row_of(*sparse_source, i)));
    }
  }
}

TEST(csr_columns_may_come_in_any_order) {
  const std::vector<double> values = {1.0, -2.0, 0.5, 3.0};
  const std::vector<std::int32_t> columns = {2, 0, 1, 0}, starts = {0, 2, 2, 4};
  const std::vector<double> x = {-2.0, 0.0, 1.0, 0.0, 0.0, 0.0, 3.0, 0.5, 0.0};
  for (const Kernel& kernel : kernels) {
    const check::Context here(describe(kernel, 3, 3));
    const auto source =
        make_rows(kernel, CsrView<double, std::int32_t>{values.data(), columns.data(), starts.data(), 3, 3});
    check_rows(*source, kernel, plain::kernel_matrix(kernel, x, 3, 3), 3);
  }
}

TEST(far_apart_samples_give_tiny_normal_values) {
  const std::vector<double> x = {-1e10, 1e10, 0.0};
  for (const KernelKind kind : {KernelKind::rbf, KernelKind::laplacian}) {
    const auto source = make_rows(Kernel{kind, 1.0, 0.0, 3.0}, DenseView<double>{x.data(), 3, 1});
    const std::vector<double> row = row_of(*source, 0);
    CHECK(row[0] == 1.0);
    CHECK(row[1] < 1e-300 && row[2] < 1e-300);
    CHECK(std::isnormal(row[1]) && std::isnormal(row[2]));
  }
}

template <class T>
void check_precomputed(Random& random, Index n) {
  const std::vector<T> matrix = random.uniforms<T>(n * n, -1.0, 1.0);
  const auto source = make_precomputed(DenseView<T>{matrix.data(), n, n});
  CHECK(source->size() == n);
  for (Index i = 0; i < n; ++i) {
    const std::vector<double> row = row_of(*source, i);
    CHECK(std::equal(row.begin(), row.end(), matrix.begin() + i * n));
    CHECK(is_rounded(*source, i, row));
    CHECK(source->diagonal(i) == row[i]);
  }
}

TEST(precomputed_rows_are_the_matrix) {
  Random random(13);
  for (const Index n : {1, 2, 33}) {
    check_precomputed<float>(random, n);
    check_precomputed<double>(random, n);
  }
}

TEST(rows_can_be_made_by_several_threads) {
  Random random(14);
  const Index n = 67, d = 4;
  const std::vector<double> x = sparse_data(random, n, d);
  const Csr<double, std::int32_t> sparse(x, n, d);
  const Kernel kernel = kernels[1];
  const auto dense_source = make_rows(kernel, DenseView<double>{x.data(), n, d});
  const auto sparse_source = make_rows(kernel, sparse.view());
  const std::vector<double> matrix = plain::kernel_matrix(kernel, x, n, d);
  std::vector<JoiningThread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      for (Index i = 0; i < n; ++i) {
        CHECK(error_of_row(row_of(*dense_source, i), matrix, i) < 1e-12);
        CHECK(error_of_row(row_of(*sparse_source, i), matrix, i) < 1e-12);
      }
    });
}

}  // namespace
}  // namespace ordsvm
