#include "solvers/full_kernel/proof.hpp"

namespace ordsvm::full_kernel {
namespace {

/// The middle of the thresholds that cost least for given levels: see `minimisers` in thresholds.py.
double best_threshold(const Hinges& h, std::span<const double> score, Index k,
                      std::vector<std::pair<double, double>>& levels) {
  levels.clear();
  double below = 0.0, total = 0.0;
  bool any_below = false, any_above = false;
  for (Index v = h.first[k]; v < h.first[k + 1]; ++v) {
    levels.emplace_back(score[h.sample[v]] - h.sign[v] * h.offset[v], h.cap[v]);
    total += h.cap[v];
    if (h.sign[v] < 0.0)
      below += h.cap[v], any_below = true;
    else
      any_above = true;
  }
  std::sort(levels.begin(), levels.end());
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double rounding = 1e-12 * total;
  double left = any_below ? infinity : -infinity, right = infinity, passed = 0.0;
  for (const auto& [level, cap] : levels) {
    passed += cap;
    if (left == infinity && passed >= below - rounding) left = level;
    if (passed > below + rounding) {
      right = level;
      break;
    }
  }
  if (any_above && right == infinity) right = levels.back().first;
  return 0.5 * (left + right);
}

}  // namespace

Proof prove(const Hinges& h, const Variables& variables, double rounding) {
  Proof proof;
  const auto beta = h.beta(variables.alpha);
  std::vector<double> gamma(h.n_thresholds, 0.0);
  for (Index v = 0; v < h.size(); ++v) gamma[h.threshold[v]] += h.sign[v] * variables.alpha[v];
  proof.thresholds.assign(h.n_thresholds, 0.0);
  std::vector<std::pair<double, double>> levels;
  double norm = 0.0, penalty = 0.0;
  for (Index i = 0; i < h.n_samples; ++i) norm += beta[i] * variables.score[i];
  for (Index k = 0; k < h.n_thresholds; ++k) {
    if (h.treatment == Treatment::penalized) proof.thresholds[k] = -gamma[k], penalty += gamma[k] * gamma[k];
    if (h.treatment == Treatment::free) proof.thresholds[k] = best_threshold(h, variables.score, k, levels);
  }
  double losses = 0.0, offsets = 0.0, terms = 0.0, bounds = 0.0;
  for (Index v = 0; v < h.size(); ++v) {
    const double alpha = variables.alpha[v];
    const double slope = h.sign[v] * (variables.score[h.sample[v]] - proof.thresholds[h.threshold[v]]) - h.offset[v];
    const double loss = h.cap[v] * std::max(0.0, -slope);
    losses += loss;
    terms += loss + alpha * slope;
    offsets += h.offset[v] * alpha;
    bounds += h.cap[v] + alpha;
  }
  proof.primal = 0.5 * (norm + penalty) + losses;
  proof.dual = offsets - 0.5 * (norm + penalty);
  proof.gap = std::max(terms, proof.primal - proof.dual) + rounding * bounds;
  return proof;
}

}  // namespace ordsvm::full_kernel
