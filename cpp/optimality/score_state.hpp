// What a solver keeps up to date: the scores f = K beta and, for penalised thresholds, b = -gamma.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <vector>

#include "base/monitor.hpp"
#include "kernels/row_cache.hpp"
#include "kernels/tiles/product.hpp"
#include "simd/loops.hpp"

namespace ordsvm {

/// decision(i, k) = f_i - b_k; curvature(i, k) = the diagonal of the dual's matrix for a hinge of sample i at
/// threshold k; add(i, k, delta) moves beta_i and gamma_k by delta.
template <class S>
concept ScoreState = requires(S state, Index i, Index k, double delta) {
  { state.decision(i, k) } -> std::convertible_to<double>;
  { state.curvature(i, k) } -> std::convertible_to<double>;
  state.add(i, k, delta);
};

/// The live variables of a fit. They belong to the caller, which may read them whenever the monitor calls.
struct Variables {
  std::span<double> alpha;
  std::span<double> score;
  std::span<double> threshold;
  std::span<Index> active = {};  // one number, or none: how many hinges are not shrunk
  std::span<double> error = {};  // a number a sample, or none: how far its score may be off when a solver converges
};

/// Scores and penalised thresholds from alpha alone, with rows of K in double: what rounding in cached float rows and
/// in long sums has added up to is gone, but for the scores of samples that `left_out` marks. False if the monitor
/// stopped it; all is then as it was.
inline bool recompute(const RowSource& source, const Hinges& hinges, const Variables& variables, Monitor& monitor,
                      Index steps, Index kernel_rows, int n_threads = 1, ThreadPool* pool = nullptr,
                      std::span<const char> left_out = {}) {
  std::vector<double> exact(source.size());
  const std::vector<double> beta = hinges.beta(variables.alpha);
  if (!product(source, beta, exact, monitor, steps, kernel_rows, n_threads, pool, left_out)) return false;
  for (Index i = 0; i < source.size(); ++i)
    if (left_out.empty() || !left_out[i]) variables.score[i] = exact[i];
  if (hinges.penalty() > 0.0) {
    std::fill(variables.threshold.begin(), variables.threshold.end(), 0.0);
    for (Index v = 0; v < hinges.size(); ++v)
      variables.threshold[hinges.threshold[v]] -= hinges.sign[v] * variables.alpha[v];
  }
  return true;
}

template <class T>
std::vector<T> diagonal_of(const RowSource& source) {
  std::vector<T> diagonal(source.size());
  for (Index i = 0; i < source.size(); ++i) diagonal[i] = static_cast<T>(source.diagonal(i));
  return diagonal;
}

/// What rounding in double leaves of a score at worst: no smaller violation can be distinguished from none.
template <class T>
double resolution(const Hinges& hinges, std::span<const double> alpha, std::span<const T> diagonal) {
  double total = 0.0;
  for (const double beta : hinges.beta(alpha)) total += std::abs(beta);
  return std::numeric_limits<double>::epsilon() * total * *std::max_element(diagonal.begin(), diagonal.end());
}

/// The scores f, in double; with rows of K in float also rounded to float, which is what steps are chosen by.
template <class T>
class Scores;

template <>
class Scores<double> {
 public:
  explicit Scores(std::span<double> exact) : exact_(exact) {}
  std::span<const double> working() const { return exact_; }
  void assign(std::span<const double> values) { std::copy(values.begin(), values.end(), exact_.begin()); }
  void add(double delta, const double* row) { simd::add_row(exact_.data(), delta, row, exact_.size()); }
  void add(double delta, const double* row, std::span<const SampleIndex> samples) {
    for (std::size_t p = 0; p < samples.size(); ++p) exact_[p] += delta * row[samples[p]];
  }
  void add(double delta, const double* row_plus, const double* row_minus) {
    simd::add_rows(exact_.data(), delta, row_plus, row_minus, exact_.size());
  }
  void add(double delta, const double* row, std::size_t begin, std::size_t end) {
    simd::add_row(exact_.data() + begin, delta, row + begin, end - begin);
  }

 private:
  std::span<double> exact_;
};

template <>
class Scores<float> {
 public:
  explicit Scores(std::span<double> exact) : exact_(exact), rounded_(exact.begin(), exact.end()) {}
  std::span<const float> working() const { return rounded_; }
  void assign(std::span<const double> values) {
    std::copy(values.begin(), values.end(), exact_.begin());
    rounded_.assign(values.begin(), values.end());
  }
  void add(double delta, const float* row) { simd::add_row(exact_.data(), rounded_.data(), delta, row, exact_.size()); }
  /// The same for a selection of samples.
  void add(double delta, const float* row, std::span<const SampleIndex> samples) {
    for (std::size_t p = 0; p < samples.size(); ++p) {
      exact_[p] += delta * static_cast<double>(row[samples[p]]);
      rounded_[p] = static_cast<float>(exact_[p]);
    }
  }
  void add(double delta, const float* row_plus, const float* row_minus) {
    simd::add_rows(exact_.data(), rounded_.data(), delta, row_plus, row_minus, exact_.size());
  }
  /// The same for samples begin <= i < end.
  void add(double delta, const float* row, std::size_t begin, std::size_t end) {
    simd::add_row(exact_.data() + begin, rounded_.data() + begin, delta, row + begin, end - begin);
  }

 private:
  std::span<double> exact_;
  std::vector<float> rounded_;
};

/// Scores by cached rows of K with elements of type T, summed in double. One thread steps; recomputing uses those
/// of a pool where it has one.
template <class T>
class KernelState {
 public:
  KernelState(RowCache<T>& cache, const Hinges& hinges, const Variables& variables)
      : cache_(cache),
        hinges_(hinges),
        variables_(variables),
        scores_(variables.score),
        diagonal_(diagonal_of<T>(cache.source())),
        penalty_(hinges.penalty()),
        rows_before_(cache.rows_computed()) {}

  double decision(Index i, Index k) const { return variables_.score[i] - variables_.threshold[k]; }
  double curvature(Index i, Index) const { return diagonal_[i] + penalty_; }

  void add(Index i, Index k, double delta) {
    scores_.add(delta, cache_.pin(i).data());
    variables_.threshold[k] -= penalty_ * delta;
  }

  RowCache<T>& cache() { return cache_; }
  auto pin(Index i) { return cache_.pin(i); }
  Scores<T>& scores() { return scores_; }
  std::span<const T> diagonal() const { return diagonal_; }
  /// Threads for recomputing; nullptr for none.
  void lend(ThreadPool* pool) { pool_ = pool; }
  /// Since this state was made.
  Index rows_computed() const { return cache_.rows_computed() - rows_before_; }

  /// Recomputes the scores and returns whether they had drifted by at most tol.
  bool carries(double tol, Monitor& monitor, Index steps) {
    const std::vector<double> before(variables_.score.begin(), variables_.score.end());
    if (!recompute(monitor, steps)) return true;  // stopped: not for lack of precision
    double drift = 0.0;
    for (std::size_t i = 0; i < before.size(); ++i) drift = std::max(drift, std::abs(before[i] - variables_.score[i]));
    return drift <= tol;
  }

  double resolution() const { return ordsvm::resolution<T>(hinges_, variables_.alpha, diagonal_); }

  /// See `recompute` above. The scores that steps are chosen by follow.
  bool recompute(Monitor& monitor, Index steps) {
    const int n_threads = pool_ != nullptr ? pool_->size() : 1;
    if (!ordsvm::recompute(cache_.source(), hinges_, variables_, monitor, steps, rows_computed(), n_threads, pool_))
      return false;
    scores_.assign(variables_.score);
    return true;
  }

 private:
  RowCache<T>& cache_;
  const Hinges& hinges_;
  Variables variables_;
  Scores<T> scores_;
  std::vector<T> diagonal_;
  double penalty_;
  Index rows_before_;
  ThreadPool* pool_ = nullptr;
};

}  // namespace ordsvm
