// Everything the core computes cleverly, from the definitions: what the tests compare it with.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "hinge_table.hpp"
#include "kernels/row_source.hpp"

namespace ordsvm::plain {

inline double dot(const double* x, const double* y, Index d) {
  double total = 0.0;
  for (Index feature = 0; feature < d; ++feature) total += x[feature] * y[feature];
  return total;
}

/// sum |x - y|^power
inline double distance(const double* x, const double* y, Index d, int power) {
  double total = 0.0;
  for (Index feature = 0; feature < d; ++feature) total += std::pow(std::abs(x[feature] - y[feature]), power);
  return total;
}

inline double kernel_value(const Kernel& kernel, const double* x, const double* y, Index d) {
  switch (kernel.kind) {
    case KernelKind::linear:
      return dot(x, y, d);
    case KernelKind::rbf:
      return std::exp(-kernel.gamma * distance(x, y, d, 2));
    case KernelKind::polynomial:
      return std::pow(kernel.gamma * dot(x, y, d) + kernel.coef0, kernel.degree);
    case KernelKind::sigmoid:
      return std::tanh(kernel.gamma * dot(x, y, d) + kernel.coef0);
    case KernelKind::laplacian:
      return std::exp(-kernel.gamma * distance(x, y, d, 1));
  }
  return 0.0;
}

/// K[i * n + j]
inline std::vector<double> kernel_matrix(const Kernel& kernel, const std::vector<double>& x, Index n, Index d) {
  std::vector<double> matrix(n * n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) matrix[i * n + j] = kernel_value(kernel, &x[i * d], &x[j * d], d);
  return matrix;
}

/// A point of the dual and all that follows from it.
class Point {
 public:
  Point(const HingeTable& table, const std::vector<double>& matrix, const std::vector<double>& alpha)
      : table_(table), alpha_(alpha), beta_(table.n_samples, 0.0), gamma_(table.n_thresholds, 0.0) {
    for (Index v = 0; v < table.size(); ++v) {
      beta_[table.sample[v]] += table.sign[v] * alpha[v];
      gamma_[table.threshold[v]] += table.sign[v] * alpha[v];
    }
    for (Index i = 0; i < table.n_samples; ++i)
      score_.push_back(dot(&matrix[i * table.n_samples], beta_.data(), table.n_samples));
    find_mu();
    find_levels();
  }

  const std::vector<double>& score() const { return score_; }
  const std::vector<double>& gamma() const { return gamma_; }
  const std::vector<double>& mu() const { return mu_; }

  bool is_in_box() const {
    for (Index v = 0; v < table_.size(); ++v)
      if (!(0.0 <= alpha_[v] && alpha_[v] <= table_.cap[v])) return false;
    return true;
  }

  /// How far the thresholds' constraints are broken: gamma = 0, or mu >= 0 and its last = 0.
  double infeasibility() const {
    double worst = 0.0;
    if (table_.treatment == Treatment::free)
      for (const double gamma : gamma_) worst = std::max(worst, std::abs(gamma));
    if (table_.treatment == Treatment::ordered) {
      for (const double mu : mu_) worst = std::max(worst, -mu);
      worst = std::max(worst, std::abs(mu_.back()));
    }
    return worst;
  }

  /// The largest slope of a feasible direction: along one hinge, or along a pair whose gamma (or mu) allow it.
  double violation() const {
    double worst = 0.0;
    for (Index k = 0; k < table_.n_thresholds; ++k)
      if (is_box()) {
        worst = std::max({worst, low_[k] - box_threshold(k), box_threshold(k) - up_[k]});
      } else {
        for (Index other = 0; other < table_.n_thresholds; ++other)
          if (may_pair(k, other)) worst = std::max(worst, low_[k] - up_[other]);
      }
    return worst;
  }

  /// Thresholds for the primal: given by gamma, or the middle of the minimisers.
  std::vector<double> thresholds() const {
    std::vector<double> b;
    for (Index k = 0; k < table_.n_thresholds; ++k) {
      if (is_box()) {
        b.push_back(box_threshold(k));
        continue;
      }
      double low = least_level_, up = most_level_;  // in place of infinities
      for (Index other = 0; other < table_.n_thresholds; ++other) {
        if (may_pair(other, k)) low = std::max(low, low_[other]);
        if (may_pair(k, other)) up = std::min(up, up_[other]);
      }
      b.push_back(0.5 * (low + up));
    }
    return b;
  }

  double dual() const { return linear() - 0.5 * squared_norm() - (is_penalized() ? 0.5 * square(gamma_) : 0.0); }

  double primal(const std::vector<double>& b) const {
    double loss = 0.0;
    for (Index v = 0; v < table_.size(); ++v) {
      const double decision = score_[table_.sample[v]] - b[table_.threshold[v]];
      loss += table_.cap[v] * std::max(0.0, table_.offset[v] - table_.sign[v] * decision);
    }
    return 0.5 * squared_norm() + (is_penalized() ? 0.5 * square(b) : 0.0) + loss;
  }

  double gap() const { return primal(thresholds()) - dual(); }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  static constexpr double active = 1e-10;  // a mu below it is rounding

  bool is_penalized() const { return table_.treatment == Treatment::penalized; }
  bool is_box() const { return is_penalized() || table_.treatment == Treatment::none; }
  double box_threshold(Index k) const { return is_penalized() ? -gamma_[k] : 0.0; }

  static double square(const std::vector<double>& x) { return dot(x.data(), x.data(), static_cast<Index>(x.size())); }
  double squared_norm() const { return dot(beta_.data(), score_.data(), table_.n_samples); }
  double linear() const { return dot(table_.offset.data(), alpha_.data(), table_.size()); }

  /// mu[k] ties thresholds k - 1 and k; the first and the last are no variables.
  void find_mu() {
    mu_ = {0.0};
    for (const double gamma : gamma_) mu_.push_back(mu_.back() - gamma);
  }

  /// May gamma fall at threshold `low` while it rises as much at `up`?
  bool may_pair(Index low, Index up) const {
    if (table_.treatment == Treatment::free) return low == up;
    for (Index k = up + 1; k <= low; ++k)
      if (mu_[k] <= active) return false;
    return true;
  }

  void find_levels() {
    up_.assign(table_.n_thresholds, infinity);
    low_.assign(table_.n_thresholds, -infinity);
    for (Index v = 0; v < table_.size(); ++v) {
      const Index k = table_.threshold[v];
      const double level = score_[table_.sample[v]] - table_.sign[v] * table_.offset[v];
      const bool alpha_may_rise = alpha_[v] < table_.cap[v], alpha_may_fall = alpha_[v] > 0.0;
      if (table_.sign[v] > 0 ? alpha_may_rise : alpha_may_fall) up_[k] = std::min(up_[k], level);
      if (table_.sign[v] > 0 ? alpha_may_fall : alpha_may_rise) low_[k] = std::max(low_[k], level);
      least_level_ = std::min(least_level_, level);
      most_level_ = std::max(most_level_, level);
    }
  }

  const HingeTable& table_;
  const std::vector<double>& alpha_;
  std::vector<double> beta_, gamma_, mu_, score_;
  std::vector<double> up_, low_;  // b_up and b_low of every threshold
  double least_level_ = infinity, most_level_ = -infinity;
};

}  // namespace ordsvm::plain
