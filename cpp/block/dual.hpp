// What all levels of the block method share: alpha, the thresholds or mu, and the optimality conditions.
//
// A slot is what a sample has at a threshold: one hinge, two (regression), or none. Through a slot gamma_k and beta_i
// may rise or fall together; each way leads through one hinge, the one that pays most.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
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
        hinge_(hinges.size()),
        begin_(hinges.n_samples * hinges.n_thresholds + 1, 0),
        ties_(hinges, variables.alpha) {
    const auto slot = [&](Index v) { return hinges.sample[v] * hinges.n_thresholds + hinges.threshold[v]; };
    for (Index v = 0; v < hinges.size(); ++v) ++begin_[slot(v) + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    std::vector<SampleIndex> next(begin_.begin(), begin_.end() - 1);
    for (Index v = 0; v < hinges.size(); ++v)
      hinge_[next[slot(v)]++] = {alpha_[v], hinges.cap[v], hinges.sign[v] * hinges.offset[v],
                                 static_cast<SampleIndex>(v), hinges.sign[v] > 0 ? 1 : -1};
  }

  const Hinges& hinges() const { return hinges_; }
  bool has_equalities() const {
    return hinges_.treatment == Thresholds::free || hinges_.treatment == Thresholds::ordered;
  }
  double threshold(Index k) const { return threshold_[k]; }

  Ways ways(Index i, Index k) const {
    Ways found;
    const Index slot = i * hinges_.n_thresholds + k;
    for (Index h = begin_[slot]; h < begin_[slot + 1]; ++h) {
      if (room_up(h) > 0.0 && hinge_[h].level > found.rise) found.rise = hinge_[h].level, found.riser = h;
      if (room_down(h) > 0.0 && hinge_[h].level < found.fall) found.fall = hinge_[h].level, found.faller = h;
    }
    return found;
  }

  /// How far gamma may rise, and fall, through a hinge.
  double room_up(Index h) const { return hinge_[h].sign > 0 ? hinge_[h].cap - hinge_[h].alpha : hinge_[h].alpha; }
  double room_down(Index h) const { return hinge_[h].sign > 0 ? hinge_[h].alpha : hinge_[h].cap - hinge_[h].alpha; }

  /// Moves gamma and beta by `change` through a hinge at threshold k; a change as large as the room, or larger, ends at
  /// the bound.
  double move(Index k, Index h, double change) {
    Hinge& hinge = hinge_[h];
    const double before = hinge.alpha, up = room_up(h), down = room_down(h);
    const bool plus = hinge.sign > 0;
    if (change >= up || change <= -down) {
      hinge.alpha = plus == (change >= up) ? hinge.cap : 0.0;
      change = change >= up ? up : -down;
    } else {
      hinge.alpha = std::clamp(before + (plus ? change : -change), 0.0, hinge.cap);
    }
    alpha_[hinge.number] = hinge.alpha;
    ties_.count(hinge.alpha - before);
    threshold_[k] -= hinges_.penalty() * change;
    return change;
  }

  /// A hinge and the threshold it is at.
  struct At {
    Index threshold, hinge;
  };

  /// Moves a pair, `riser` up and `faller` down, by t = min(wanted, what the box and mu >= 0 leave).
  double move_pair(const At& riser, const At& faller, double wanted) {
    const Index up_k = riser.threshold, low_k = faller.threshold;
    const double t = std::min({wanted, room_up(riser.hinge), room_down(faller.hinge), ties_.room(low_k, up_k)});
    move(up_k, riser.hinge, t);
    move(low_k, faller.hinge, -t);
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
  /// What steps ask of a hinge, in one place: hinges are met in no order.
  struct Hinge {
    double alpha, cap, level;  // level = sign * offset
    SampleIndex number;        // in the table
    std::int32_t sign;
  };

  Worst worst_ordered(std::span<const Reach> reach) const {
    const Ties::Worst worst =
        ties_.worst([&](Index k) { return -reach[k].fall; }, [&](Index k) { return -reach[k].rise; });
    return {worst.violation, worst.up, worst.low};
  }

  const Hinges& hinges_;
  std::span<double> alpha_, threshold_;
  std::vector<Hinge> hinge_;        // slot by slot, sample by sample
  std::vector<SampleIndex> begin_;  // of the slot of sample i at threshold k, at i * n_thresholds + k
  Ties ties_;
};

}  // namespace ordsvm::block
