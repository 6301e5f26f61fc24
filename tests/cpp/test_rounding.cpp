// The bounds of docs/rounding.md against values and scores in long double: they always hold, and not by far too much.
#include <functional>

#include "check.hpp"
#include "kernels/tiles/value_bound.hpp"
#include "random.hpp"
#include "solvers/block/fused_row_blocks.hpp"
#include "solvers/block/screening.hpp"

namespace ordsvm {
namespace {

using Exact = long double;
// Elsewhere (Apple's processors, Microsoft's compilers) it is double, which is exact enough for float alone.
constexpr bool is_exact_for_double = std::numeric_limits<Exact>::digits > std::numeric_limits<double>::digits;

Exact exact_value(const Kernel& kernel, const double* x, const double* y, Index d) {
  Exact dot = 0, squares = 0, manhattan = 0;
  for (Index j = 0; j < d; ++j) {
    const Exact difference = Exact(x[j]) - Exact(y[j]);
    dot += Exact(x[j]) * Exact(y[j]);
    squares += difference * difference;
    manhattan += std::abs(difference);
  }
  const Exact affine = Exact(kernel.gamma) * dot + Exact(kernel.coef0);
  switch (kernel.kind) {
    case KernelKind::linear:
      return dot;
    case KernelKind::rbf:
      return std::exp(-Exact(kernel.gamma) * squares);
    case KernelKind::polynomial:
      return std::pow(affine, Exact(kernel.degree));
    case KernelKind::sigmoid:
      return std::tanh(affine);
    case KernelKind::laplacian:
      return std::exp(-Exact(kernel.gamma) * manhattan);
    default:
      return std::numeric_limits<Exact>::quiet_NaN();  // a kernel that another test adds
  }
}

/// Samples, as dense or as sparse rows.
struct Samples {
  Index n, d;
  std::vector<double> x;
  std::vector<double> values;
  std::vector<std::int32_t> columns, starts{0};

  Samples(Index n, Index d, const std::function<double(Index, Index)>& feature) : n(n), d(d), x(n * d) {
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < d; ++j)
        if ((x[i * d + j] = feature(i, j)) != 0.0)
          values.push_back(x[i * d + j]), columns.push_back(static_cast<std::int32_t>(j));
      starts.push_back(static_cast<std::int32_t>(values.size()));
    }
  }
  double largest_norm(bool squares) const {
    double largest = 0.0;
    for (Index i = 0; i < n; ++i) {
      double norm = 0.0;
      for (Index j = 0; j < d; ++j) norm += squares ? x[i * d + j] * x[i * d + j] : std::abs(x[i * d + j]);
      largest = std::max(largest, norm);
    }
    return largest;
  }
  std::unique_ptr<RowSource> rows(const Kernel& kernel, bool sparse) const {
    if (sparse)
      return make_rows(kernel, CsrView<double, std::int32_t>{values.data(), columns.data(), starts.data(), n, d});
    return make_rows(kernel, DenseView<double>{x.data(), n, d});
  }
};

/// Inputs whose roundings are as bad as they get: every one has its scale, its number of features and its way to cancel.
std::vector<Samples> awkward_samples() {
  std::vector<Samples> all;
  Random random(5);
  const auto add = [&](Index n, Index d, auto feature) { all.emplace_back(n, d, feature); };
  for (const Index d : {1, 2, 3, 17, 300})
    for (const double scale : {1e-8, 1.0, 1e8})
      add(30, d, [&, scale](Index, Index) { return scale * random.uniform(-1.0, 1.0); });
  for (const double third : {1.0 / 3.0, 0.7, 1.0 + 0x1p-24, 0.1})  // all sums round the same way, for long
    add(4, 3000, [=](Index i, Index) { return third * static_cast<double>(1 + i); });
  add(20, 40, [&](Index i, Index j) { return (j % 2 ? -1.0 : 1.0) * (i % 2 ? 1e4 : 1.0) + random.uniform(-1, 1); });
  add(20, 2,
      [&](Index, Index j) { return 0x1p19 * static_cast<double>(j) + random.uniform(-2.0, 2.0); });  // far from 0
  add(20, 3, [&](Index, Index) { return 1e-40 * random.uniform(-1.0, 1.0); });  // below the normal numbers of float
  add(20, 3, [&](Index, Index) { return 1e-21 * random.uniform(-1.0, 1.0); });  // as are their squares
  add(20, 3, [&](Index i, Index) { return std::pow(10.0, 2.0 * static_cast<double>(i) - 20.0); });
  add(40, 30, [&](Index, Index) { return random.chance(0.2) ? random.uniform(-1.0, 1.0) : 0.0; });
  add(40, 30, [&](Index, Index) { return random.chance(0.3) ? 1.0 : 0.0; });
  add(40, 300, [&](Index, Index) { return random.chance(0.03) ? 100.0 * random.uniform(0.9, 1.0) : 0.0; });
  return all;
}

/// Kernels with parameters in proportion to the samples, from flat to steep.
std::vector<Kernel> kernels_for(const Samples& samples) {
  std::vector<Kernel> kernels = {{KernelKind::linear, 1.0, 0.0, 1.0}};
  for (const double steepness : {1e-3, 0.3, 3.0, 100.0}) {
    kernels.push_back({KernelKind::rbf, steepness / samples.largest_norm(true), 0.0, 1.0});
    kernels.push_back({KernelKind::laplacian, steepness / samples.largest_norm(false), 0.0, 1.0});
    for (const double coef0 : {-1.0, 0.0, 1.0 / 3.0, 30.0})
      kernels.push_back({KernelKind::sigmoid, steepness / samples.largest_norm(true), coef0, 1.0});
  }
  for (const double degree : {0.0, 1.0, 2.0, 3.0, 7.0, 16.0, 31.0, 64.0})
    for (const double coef0 : {0.0, 0.1, -0.4})
      kernels.push_back({KernelKind::polynomial, 1.3 / samples.largest_norm(true), coef0, degree});
  return kernels;
}

struct Measured {
  Exact error;
  ValueBound bound;
};

/// The largest error of a value of K in T.
template <class T>
Measured measure(const Samples& samples, const Kernel& kernel, bool sparse) {
  const auto source = samples.rows(kernel, sparse);
  ThreadPool pool(1);
  block::FusedRowBlocks<T> row_blocks(*source, pool, false);
  std::vector<Index> all(samples.n);
  std::iota(all.begin(), all.end(), Index{0});
  const Index stride = (samples.n + 63) / 64 * 64;
  std::vector<T> values(samples.n * stride);
  row_blocks.gram(all, values.data(), stride, [] { return false; });
  Measured measured{0, tiles::value_bound<T>(*source)};
  for (Index i = 0; i < samples.n; ++i)
    for (Index j = 0; j < samples.n; ++j) {
      const Exact value = exact_value(kernel, &samples.x[i * samples.d], &samples.x[j * samples.d], samples.d);
      const Exact error = std::abs(Exact(values[i * stride + j]) - value);
      measured.error = error > measured.error || std::isnan(error) ? error : measured.error;
    }
  return measured;
}

std::string about(const Samples& samples, const Kernel& kernel) {
  return "kernel " + std::to_string(static_cast<int>(kernel.kind)) + ", gamma " + std::to_string(kernel.gamma) +
         ", coef0 " + std::to_string(kernel.coef0) + ", degree " + std::to_string(kernel.degree) + ", d " +
         std::to_string(samples.d) + ", x " + std::to_string(samples.x[0]);
}

template <class T>
void check_values() {
  for (const Samples& samples : awkward_samples())
    for (const Kernel& kernel : kernels_for(samples))
      for (const bool sparse : {false, true}) {
        const check::Context here(about(samples, kernel));
        const Measured measured = measure<T>(samples, kernel, sparse);
        CHECK(measured.error <= measured.bound.error || std::isinf(measured.bound.error));
      }
}

TEST(values_in_float_are_within_their_bound) { check_values<float>(); }
TEST(values_in_double_are_within_their_bound) {
  if (is_exact_for_double) check_values<double>();
}

/// The largest error as a share of its bound, over samples of d features.
double tightness(const Kernel& kernel, Index d, bool sparse) {
  double most = 0.0;
  Random random(11);
  for (int turn = 0; turn < 10; ++turn) {
    const Samples samples(40, d, [&](Index, Index j) { return sparse && j % 5 ? 0.0 : random.uniform(0.4, 1.0); });
    const Measured measured = measure<float>(samples, kernel, sparse);
    most = std::max(most, static_cast<double>(measured.error / measured.bound.error));
  }
  return most;
}

TEST(bounds_are_not_much_larger_than_what_occurs) {
  for (const bool sparse : {false, true}) {
    CHECK(tightness({KernelKind::linear, 1.0, 0.0, 1.0}, 2, sparse) > 0.2);
    CHECK(tightness({KernelKind::linear, 1.0, 0.0, 1.0}, 200, sparse) > 0.01);
    CHECK(tightness({KernelKind::rbf, 1.0, 0.0, 1.0}, 5, sparse) > 0.05);
    CHECK(tightness({KernelKind::rbf, 0.02, 0.0, 1.0}, 100, sparse) > 0.002);
    CHECK(tightness({KernelKind::laplacian, 1.0, 0.0, 1.0}, 5, sparse) > 0.05);
    CHECK(tightness({KernelKind::polynomial, 0.7, 0.3, 3.0}, 2, sparse) > 0.1);
    CHECK(tightness({KernelKind::polynomial, 0.5, 0.3, 60.0}, 2, sparse) > 0.1);
    CHECK(tightness({KernelKind::sigmoid, 0.5, -0.7, 1.0}, 2, sparse) > 0.05);
  }
}

/// Sums that round the same way at every term come near to the bound even where there are thousands.
TEST(the_bound_of_long_sums_is_approached) {
  const Samples samples(2, 3000, [](Index, Index) { return std::sqrt(0.7); });
  const Measured measured = measure<float>(samples, {KernelKind::linear, 1.0, 0.0, 1.0}, false);
  CHECK(measured.error > 0.1 * measured.bound.error);
}

/// 2 (4 + d) max(1, degree / 4) epsilons of the largest value, which stood here before there was a proof.
double former_estimate(const Samples& samples, const Kernel& kernel) {
  const double largest = std::pow(kernel.gamma * samples.largest_norm(true) + std::abs(kernel.coef0), kernel.degree);
  return 2.0 * (4.0 + static_cast<double>(samples.d)) * std::max(1.0, kernel.degree / 4.0) * 0x1p-23 * largest;
}

TEST(polynomials_of_high_or_broken_degree_exceed_an_estimate_but_not_the_bound) {
  const Samples one(1, 1, [](Index, Index) { return 0x1.001b94ff1f470p+0; });  // all roundings go the same way
  const Kernel high{KernelKind::polynomial, 0x1.000dd0ef0ee47p+0, 0.0, 64.0};
  const Measured measured = measure<float>(one, high, false);
  CHECK(measured.error > former_estimate(one, high));
  CHECK(measured.error <= measured.bound.error);
  CHECK(measured.error > 0.5 * measured.bound.error);
  const Samples large(1, 1, [](Index, Index) { return 1e14; });
  const Kernel broken{KernelKind::polynomial, 1.0, 0.0, 1.0 + 0x1.fp-25};  // 1 in float
  CHECK(measure<float>(large, broken, false).error > former_estimate(large, broken));
}

TEST(what_has_no_proof_has_no_bound) {
  const Samples samples(3, 2, [](Index i, Index j) { return 0.1 * static_cast<double>(1 + i + j); });
  const auto bound = [&](const Kernel& kernel) {
    return tiles::value_bound<float>(*samples.rows(kernel, false)).error;
  };
  for (const double degree : {65.0, 100.0, 2.5, 1.0 + 0x1p-25})  // std::pow
    CHECK(std::isinf(bound({KernelKind::polynomial, 1.0, 0.0, degree})));
  CHECK(std::isfinite(bound({KernelKind::polynomial, 1.0, 0.0, 64.0})));
  CHECK(std::isinf(bound({KernelKind::polynomial, 1e20, 0.0, 3.0})));  // overflows in float
  CHECK(std::isinf(bound({KernelKind::rbf, 1e-40, 0.0, 1.0})));        // gamma is not a normal number of float
  const Samples large(3, 2, [](Index, Index) { return 1e30; });
  CHECK(std::isinf(tiles::value_bound<float>(*large.rows({KernelKind::linear}, false)).error));
}

/// Rounds of changes of beta, by which scores follow as those of the block method do.
template <class T>
void check_drift(const Samples& samples, const Kernel& kernel, double size, Random& random) {
  const auto source = samples.rows(kernel, false);
  ThreadPool pool(1);
  block::FusedRowBlocks<T> row_blocks(*source, pool, false);
  block::Drift<T> drift(*source);
  std::vector<double> beta(samples.n, 0.0), score(samples.n, 0.0);
  drift.start(beta);
  for (int round = 0; round < 30; ++round) {
    std::vector<Index> rows;
    std::vector<double> weights;
    for (Index i = 0; i < samples.n; ++i)
      if (random.chance(0.6)) {
        beta[i] = size * random.uniform(-1.0, 1.0);
        rows.push_back(i);
        weights.push_back(drift.follow(i, beta[i]));
      }
    row_blocks.add_product(rows, weights, score, [] { return false; });
  }
  Exact worst = 0;
  for (Index i = 0; i < samples.n; ++i) {
    Exact exact = 0;
    for (Index j = 0; j < samples.n; ++j)
      exact += Exact(beta[j]) * exact_value(kernel, &samples.x[i * samples.d], &samples.x[j * samples.d], samples.d);
    worst = std::max(worst, std::abs(Exact(score[i]) - exact));
  }
  const double bound = drift.bound();
  CHECK(worst <= bound || !std::isfinite(bound));
}

TEST(scores_are_within_their_bound) {
  Random random(23);
  for (const Samples& samples : awkward_samples())
    for (const Kernel& kernel : kernels_for(samples)) {
      if (!random.chance(0.4)) continue;
      const double size = random.chance(0.5) ? 1e-3 : 1e5;
      const check::Context here(about(samples, kernel) + ", beta " + std::to_string(size));
      check_drift<float>(samples, kernel, size, random);
      if (is_exact_for_double) check_drift<double>(samples, kernel, size, random);
    }
}

}  // namespace
}  // namespace ordsvm
