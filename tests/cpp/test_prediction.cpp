// Scores of samples against support vectors: the plain sums, whatever the shape, and stopping on the way.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "check.hpp"
#include "plain.hpp"
#include "prediction/scores.hpp"
#include "random.hpp"

namespace ordsvm {
namespace {

const Kernel rbf{KernelKind::rbf, 0.4};
const Kernel laplacian{KernelKind::laplacian, 0.4};
const Kernel cubic{KernelKind::polynomial, 0.4, 0.7, 3.0};
const Kernel sigmoid{KernelKind::sigmoid, 0.4, 0.7};

double value_of(const Kernel& kernel, const double* x, const double* y, Index n_features) {
  double dot = 0.0, square = 0.0, absolute = 0.0;
  for (Index j = 0; j < n_features; ++j) {
    dot += x[j] * y[j];
    square += (x[j] - y[j]) * (x[j] - y[j]);
    absolute += std::abs(x[j] - y[j]);
  }
  if (kernel.kind == KernelKind::rbf) return std::exp(-kernel.gamma * square);
  if (kernel.kind == KernelKind::laplacian) return std::exp(-kernel.gamma * absolute);
  if (kernel.kind == KernelKind::sigmoid) return std::tanh(kernel.gamma * dot + kernel.coef0);
  return std::pow(kernel.gamma * dot + kernel.coef0, kernel.degree);
}

/// Samples, support vectors and weights, a third of the values 0, and what the scores should be.
struct Case {
  Index n, n_support, n_features, n_machines;
  Random random{81};
  std::vector<double> samples = values(n), support = values(n_support);
  std::vector<double> weights = random.uniforms(n_support * n_machines, -1.0, 1.0);

  std::vector<double> values(Index rows) {
    std::vector<double> made = random.uniforms(rows * n_features, -1.0, 1.0);
    for (std::size_t i = 0; i < made.size(); i += 3) made[i] = 0.0;
    return made;
  }

  prediction::Weights shared() const { return {weights, n_machines}; }

  double error_of(const Kernel& kernel, const std::vector<double>& out) const {
    double worst = 0.0;
    for (Index i = 0; i < n; ++i)
      for (Index machine = 0; machine < n_machines; ++machine) {
        double expected = 0.0;
        for (Index v = 0; v < n_support; ++v)
          expected += weights[v * n_machines + machine] *
                      value_of(kernel, &samples[i * n_features], &support[v * n_features], n_features);
        worst = std::max(worst, std::abs(out[i * n_machines + machine] - expected));
      }
    return worst;
  }
};

const auto go_on = [] { return false; };

template <class T>
std::vector<double> dense(const Kernel& kernel, const Case& c, int n_threads = 1) {
  const std::vector<T> X(c.samples.begin(), c.samples.end()), Y(c.support.begin(), c.support.end());
  std::vector<double> out(c.n * c.n_machines, 99.0);
  prediction::scores(kernel, DenseView<T>{X.data(), c.n, c.n_features},
                     DenseView<T>{Y.data(), c.n_support, c.n_features}, c.shared(), out, n_threads, go_on);
  return out;
}

template <class T, class I>
struct Sparse {
  std::vector<T> values;
  std::vector<I> columns, starts{0};
  Sparse(const std::vector<double>& dense, Index n_features) {
    for (std::size_t i = 0; i < dense.size(); ++i) {
      if (dense[i] != 0.0) values.push_back(static_cast<T>(dense[i])), columns.push_back(i % n_features);
      if ((i + 1) % n_features == 0) starts.push_back(values.size());
    }
  }
  CsrView<T, I> view(Index n_features) const {
    return {values.data(), columns.data(), starts.data(), static_cast<Index>(starts.size()) - 1, n_features};
  }
};

template <class T, class I>
std::vector<double> csr(const Kernel& kernel, const Case& c) {
  const Sparse<T, I> X(c.samples, c.n_features), Y(c.support, c.n_features);
  std::vector<double> out(c.n * c.n_machines, 99.0);
  prediction::scores(kernel, X.view(c.n_features), Y.view(c.n_features), c.shared(), out, 1, go_on);
  return out;
}

TEST(scores_are_sums_of_kernel_values) {
  for (const Case& c : {Case{1, 1, 1, 1}, Case{5, 31, 2, 1}, Case{37, 33, 66, 3}, Case{300, 70, 3, 2}})
    for (const Kernel& kernel : {rbf, laplacian, cubic, sigmoid}) {
      CHECK(c.error_of(kernel, dense<double>(kernel, c)) <= 1e-9);
      CHECK(c.error_of(kernel, dense<float>(kernel, c)) <= 1e-4);
      CHECK((c.error_of(kernel, csr<double, std::int32_t>(kernel, c)) <= 1e-9));
      CHECK((c.error_of(kernel, csr<double, std::int64_t>(kernel, c)) <= 1e-9));
      CHECK((c.error_of(kernel, csr<float, std::int32_t>(kernel, c)) <= 1e-4));
    }
}

TEST(distances_from_norms_are_as_good_where_norms_are_small) {
  const Case c{75, 70, 70, 2};
  for (const double gamma : {0.01, 0.4}) {  // norms serve, and do not
    const Kernel kernel{KernelKind::rbf, gamma};
    CHECK(c.error_of(kernel, dense<double>(kernel, c)) <= 1e-13);
    CHECK(c.error_of(kernel, dense<float>(kernel, c)) <= 1e-4);
  }
}

TEST(threads_do_not_change_a_score) {
  const Case c{1500, 400, 3, 2};
  const std::vector<double> alone = dense<double>(rbf, c);
  CHECK(c.error_of(rbf, alone) <= 1e-11);
  for (const int n_threads : {2, 3, 5}) CHECK(dense<double>(rbf, c, n_threads) == alone);
}

TEST(scoring_can_be_stopped_and_interrupted) {
  const Case c{20000, 3000, 2, 1};
  std::vector<double> out(c.n);
  const DenseView<double> X{c.samples.data(), c.n, 2}, Y{c.support.data(), c.n_support, 2};
  for (const int n_threads : {1, 3}) {
    int asked = 0;
    std::fill(out.begin(), out.end(), -1.0);
    prediction::scores(rbf, X, Y, c.shared(), out, n_threads, [&] { return ++asked, true; });
    CHECK(n_threads == 1 ? asked == 1 : asked >= 1);  // a team may take a while to stop
    CHECK(std::count(out.begin(), out.end(), -1.0) > 0);
    const auto interrupt = []() -> bool { throw std::runtime_error("interrupted"); };
    CHECK(check::throws<std::runtime_error>(
        [&] { prediction::scores(rbf, X, Y, c.shared(), out, n_threads, interrupt); }));
  }
}

}  // namespace
}  // namespace ordsvm
