#include "solvers/full_kernel/proof.hpp"

namespace ordsvm::full_kernel {
namespace {

/// The hinges of one threshold by level, and the sums of their caps.
struct Levels {
  std::vector<std::pair<double, double>> ascending;  // level, cap
  double below = 0.0, total = 0.0;                   // caps of sign -1, and all
  bool any_below = false, any_above = false;

  void gather(const Hinges& h, std::span<const double> score, Index k) {
    ascending.clear();
    below = total = 0.0;
    any_below = any_above = false;
    for (Index v = h.first[k]; v < h.first[k + 1]; ++v) {
      ascending.emplace_back(score[h.sample[v]] - h.sign[v] * h.offset[v], h.cap[v]);
      total += h.cap[v];
      if (h.sign[v] < 0.0)
        below += h.cap[v], any_below = true;
      else
        any_above = true;
    }
    std::sort(ascending.begin(), ascending.end());
  }
};

/// The middle of the thresholds that cost least: see `minimisers` in thresholds.py.
double free_threshold(const Levels& levels) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double rounding = 1e-12 * levels.total;
  double left = levels.any_below ? infinity : -infinity, right = infinity, passed = 0.0;
  for (const auto& [level, cap] : levels.ascending) {
    passed += cap;
    if (left == infinity && passed >= levels.below - rounding) left = level;
    if (passed > levels.below + rounding) {
      right = level;
      break;
    }
  }
  if (levels.any_above && right == infinity) right = levels.ascending.back().first;
  return 0.5 * (left + right);
}

/// The one that costs least together with half its square: see `penalized_thresholds` in problem.py.
double penalized_threshold(const Levels& levels) {
  double passed = 0.0;
  for (const auto& [level, cap] : levels.ascending) {
    if (level + passed + cap >= levels.below) return std::min(levels.below - passed, level);
    passed += cap;
  }
  return levels.below - passed;
}

}  // namespace

Proof prove(const Hinges& h, const Variables& variables, double rounding) {
  Proof proof;
  const auto beta = h.beta(variables.alpha);
  std::vector<double> gamma(h.n_thresholds, 0.0);
  for (Index v = 0; v < h.size(); ++v) gamma[h.threshold[v]] += h.sign[v] * variables.alpha[v];
  proof.thresholds.assign(h.n_thresholds, 0.0);
  Levels levels;
  double norm = 0.0, penalty = 0.0, dual_penalty = 0.0, distance = 0.0;
  for (Index i = 0; i < h.n_samples; ++i) norm += beta[i] * variables.score[i];
  for (Index k = 0; k < h.n_thresholds; ++k) {
    if (h.treatment == Treatment::none || h.treatment == Treatment::ordered) continue;
    levels.gather(h, variables.score, k);
    const bool penalized = h.treatment == Treatment::penalized;
    const double b = proof.thresholds[k] = penalized ? penalized_threshold(levels) : free_threshold(levels);
    if (penalized) penalty += b * b, dual_penalty += gamma[k] * gamma[k], distance += (b + gamma[k]) * (b + gamma[k]);
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
  proof.dual = offsets - 0.5 * (norm + dual_penalty);
  proof.gap = std::max(terms + 0.5 * distance, proof.primal - proof.dual) + rounding * bounds;
  return proof;
}

}  // namespace ordsvm::full_kernel
