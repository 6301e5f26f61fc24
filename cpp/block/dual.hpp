// What all levels of the block method share: alpha, the thresholds or mu, and the optimality conditions.
//
// A slot is what a sample has at a threshold: one hinge, two (regression), or none. Through a slot gamma_k and beta_i
// may rise or fall together; each way leads through one hinge, the one that pays most.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "../states.hpp"
#include "scans.hpp"

namespace ordsvm::block {

class Dual {
 public:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  /// sign * offset of the hinge through which a slot may rise, and fall, and the hinge itself; -1 where it may not.
  /// The two are equal where one hinge is between its bounds.
  struct Ways {
    double rise = -infinity, fall = infinity;
    Index riser = -1, faller = -1;
  };

  /// The largest violation, and the thresholds where a hinge should rise and where one should fall; -1 where none is
  /// needed.
  struct Worst {
    double violation = -infinity;
    Index riser = -1, faller = -1;
  };

  Dual(const Hinges& hinges, const Variables& variables)
      : hinges_(hinges),
        alpha_(variables.alpha),
        threshold_(variables.threshold),
        first_(hinges.n_samples * hinges.n_thresholds, -1),
        next_(hinges.size(), -1),
        mu_(hinges.n_thresholds + 1, 0.0) {
    for (Index v = hinges.size() - 1; v >= 0; --v) {
      SampleIndex& first = first_[hinges.threshold[v] * hinges.n_samples + hinges.sample[v]];
      next_[v] = std::exchange(first, static_cast<SampleIndex>(v));
    }
    for (const double alpha : alpha_) alpha_sum_ += alpha;
    if (hinges.treatment == Thresholds::ordered) start_mu();
  }

  const Hinges& hinges() const { return hinges_; }
  bool has_equalities() const {
    return hinges_.treatment == Thresholds::free || hinges_.treatment == Thresholds::ordered;
  }
  double threshold(Index k) const { return threshold_[k]; }

  Ways ways(Index i, Index k) const {
    Ways found;
    for (Index v = first_[k * hinges_.n_samples + i]; v >= 0; v = next_[v]) {
      const double level = hinges_.sign[v] * hinges_.offset[v];
      if (room_up(v) > 0.0 && level > found.rise) found.rise = level, found.riser = v;
      if (room_down(v) > 0.0 && level < found.fall) found.fall = level, found.faller = v;
    }
    return found;
  }

  /// How far gamma may rise, and fall, through hinge v.
  double room_up(Index v) const { return hinges_.sign[v] > 0 ? hinges_.cap[v] - alpha_[v] : alpha_[v]; }
  double room_down(Index v) const { return hinges_.sign[v] > 0 ? alpha_[v] : hinges_.cap[v] - alpha_[v]; }

  /// Moves gamma and beta by `change` through hinge v; a change as large as the room, or larger, ends at the bound.
  double move(Index v, double change) {
    const double before = alpha_[v], up = room_up(v), down = room_down(v);
    const bool plus = hinges_.sign[v] > 0;
    if (change >= up || change <= -down) {
      alpha_[v] = plus == (change >= up) ? hinges_.cap[v] : 0.0;
      change = change >= up ? up : -down;
    } else {
      alpha_[v] = std::clamp(before + (plus ? change : -change), 0.0, hinges_.cap[v]);
    }
    alpha_sum_ += alpha_[v] - before;
    threshold_[hinges_.threshold[v]] -= hinges_.penalty() * change;
    return change;
  }

  /// Moves a pair, `riser` up and `faller` down, by t = min(wanted, what the box and mu >= 0 leave).
  double move_pair(Index riser, Index faller, double wanted) {
    const Index up_k = hinges_.threshold[riser], low_k = hinges_.threshold[faller];
    double t = std::min({wanted, room_up(riser), room_down(faller)});
    for (Index k = up_k + 1; k <= low_k; ++k) t = std::min(t, mu_[k]);
    for (Index k = up_k + 1; k <= low_k; ++k) mu_[k] = active_part(mu_[k] - t);
    for (Index k = low_k + 1; k <= up_k; ++k) mu_[k] += t;
    move(riser, t);
    move(faller, -t);
    return t;
  }

  /// A hinge that rises at threshold k may have its partner at any threshold up to this one: beyond k only as far as
  /// mu > 0 ties them. Without an order partners are at the same threshold.
  Index last_partner(Index k) const {
    if (hinges_.treatment == Thresholds::ordered)
      while (k + 1 < hinges_.n_thresholds && mu_[k + 1] > 0.0) ++k;
    return k;
  }
  Index first_partner(Index k) const { return hinges_.treatment == Thresholds::ordered ? 0 : k; }

  Worst worst(std::span<const Reach> reach) const {
    if (hinges_.treatment == Thresholds::ordered) return worst_ordered(reach);
    Worst worst;
    for (Index k = 0; k < hinges_.n_thresholds; ++k) {
      if (hinges_.treatment == Thresholds::free) {
        if (reach[k].rise - reach[k].fall > worst.violation) worst = {reach[k].rise - reach[k].fall, k, k};
        continue;
      }
      const double up = threshold_[k] + reach[k].rise, down = -(threshold_[k] + reach[k].fall);
      if (std::max(up, down) > worst.violation) worst = up >= down ? Worst{up, k, -1} : Worst{down, -1, k};
    }
    return worst;
  }

  /// Thresholds by which samples are ranked: given ones, or the middle of what hinges that may move leave them.
  template <class T>
  void ranking(std::span<const Reach> reach, std::span<T> b) const {
    const Index m = hinges_.n_thresholds;
    if (!has_equalities()) {
      std::copy(threshold_.begin(), threshold_.end(), b.begin());
      return;
    }
    std::vector<double> low(m), up(m);
    for (Index k = 0; k < m; ++k) low[k] = -reach[k].fall, up[k] = -reach[k].rise;
    if (hinges_.treatment == Thresholds::ordered) {
      for (Index k = 1; k < m; ++k) low[k] = std::max(low[k], low[k - 1]);
      for (Index k = m - 2; k >= 0; --k) up[k] = std::min(up[k], up[k + 1]);
      for (Index k = m - 2; k >= 0; --k) low[k] = mu_[k + 1] > 0.0 ? low[k + 1] : low[k];
      for (Index k = 1; k < m; ++k) up[k] = mu_[k] > 0.0 ? up[k - 1] : up[k];
    }
    for (Index k = 0; k < m; ++k) {
      const bool below = low[k] > -infinity, above = up[k] < infinity;
      b[k] = static_cast<T>(below && above ? 0.5 * (low[k] + up[k]) : below ? low[k] : above ? up[k] : 0.0);
    }
  }

 private:
  void start_mu() {
    for (Index v = 0; v < hinges_.size(); ++v) mu_[hinges_.threshold[v] + 1] -= hinges_.sign[v] * alpha_[v];
    for (Index k = 0; k < hinges_.n_thresholds; ++k) mu_[k + 1] += mu_[k];
    for (double& mu : mu_) mu = active_part(mu);
    mu_.back() = 0.0;
  }

  /// A mu that is there by rounding alone counts as 0: else pairs would pass it to and fro.
  double active_part(double mu) const { return mu > 1e-12 * alpha_sum_ ? mu : 0.0; }

  /// b_low at k may come from any threshold before it, b_up from any behind the first of the run that mu ties to k; see
  /// solvers/smo.hpp.
  Worst worst_ordered(std::span<const Reach> reach) const {
    const Index m = hinges_.n_thresholds;
    std::vector<Index> up_at(m);
    for (Index k = m - 1; k >= 0; --k)
      up_at[k] = k + 1 < m && reach[up_at[k + 1]].rise >= reach[k].rise ? up_at[k + 1] : k;
    Worst worst;
    for (Index k = 0, low_at = 0, run_first = 0; k < m; ++k) {
      if (reach[k].fall < reach[low_at].fall) low_at = k;
      if (mu_[k] <= 0.0) run_first = k;
      const Index up = up_at[run_first];
      const double violation = reach[up].rise - reach[low_at].fall;
      if (violation > worst.violation) worst = {violation, up, low_at};
    }
    return worst;
  }

  const Hinges& hinges_;
  std::span<double> alpha_, threshold_;
  std::vector<SampleIndex> first_;  // of the slot of sample i at threshold k, at k * n_samples + i; -1: it is empty
  std::vector<SampleIndex> next_;   // hinge of the same slot
  std::vector<double> mu_;          // mu_[k] ties thresholds k - 1 and k
  double alpha_sum_ = 0.0;
};

}  // namespace ordsvm::block
