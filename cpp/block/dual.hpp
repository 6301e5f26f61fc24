// What all levels of the block method share: alpha, the thresholds or mu, and the optimality conditions.
//
// A slot is what a sample has at a threshold: one hinge, two (regression), or none. Through a slot gamma_k and beta_i
// may rise or fall together; each way leads through one hinge, the one that pays most.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "../states.hpp"
#include "../ties.hpp"
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
        ties_(hinges, variables.alpha) {
    for (Index v = hinges.size() - 1; v >= 0; --v) {
      SampleIndex& first = first_[hinges.threshold[v] * hinges.n_samples + hinges.sample[v]];
      next_[v] = std::exchange(first, static_cast<SampleIndex>(v));
    }
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
    ties_.count(alpha_[v] - before);
    threshold_[hinges_.threshold[v]] -= hinges_.penalty() * change;
    return change;
  }

  /// Moves a pair, `riser` up and `faller` down, by t = min(wanted, what the box and mu >= 0 leave).
  double move_pair(Index riser, Index faller, double wanted) {
    const Index up_k = hinges_.threshold[riser], low_k = hinges_.threshold[faller];
    const double t = std::min({wanted, room_up(riser), room_down(faller), ties_.room(low_k, up_k)});
    move(riser, t);
    move(faller, -t);
    if (low_k != up_k) {
      ties_.move(low_k, up_k, t);
      ties_.settle();
    }
    return t;
  }

  /// A hinge that rises at threshold k may have its partner at any threshold up to this one: beyond k only as far as
  /// mu > 0 ties them. Without an order partners are at the same threshold.
  Index last_partner(Index k) const { return ties_.last_tied(k); }
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
      for (Index k = m - 2; k >= 0; --k) low[k] = ties_.tied(k + 1) ? low[k + 1] : low[k];
      for (Index k = 1; k < m; ++k) up[k] = ties_.tied(k) ? up[k - 1] : up[k];
    }
    for (Index k = 0; k < m; ++k) {
      const bool below = low[k] > -infinity, above = up[k] < infinity;
      b[k] = static_cast<T>(below && above ? 0.5 * (low[k] + up[k]) : below ? low[k] : above ? up[k] : 0.0);
    }
  }

 private:
  Worst worst_ordered(std::span<const Reach> reach) const {
    const Ties::Worst worst =
        ties_.worst([&](Index k) { return -reach[k].fall; }, [&](Index k) { return -reach[k].rise; });
    return {worst.violation, worst.up, worst.low};
  }

  const Hinges& hinges_;
  std::span<double> alpha_, threshold_;
  std::vector<SampleIndex> first_;  // of the slot of sample i at threshold k, at k * n_samples + i; -1: it is empty
  std::vector<SampleIndex> next_;   // hinge of the same slot
  Ties ties_;
};

}  // namespace ordsvm::block
