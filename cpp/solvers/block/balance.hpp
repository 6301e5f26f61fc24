// What samples share besides K: thresholds or mu, and the optimality conditions they make.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "optimality/score_state.hpp"
#include "optimality/ties.hpp"
#include "solvers/block/scans.hpp"
#include "solvers/block/slots.hpp"

namespace ordsvm::block {

/// May be copied: the original can follow what was done with a copy.
class Balance {
 public:
  /// The largest violation, and the thresholds of its up and its down index; -1 where there is none.
  struct Worst {
    double violation = -infinite;
    Index up = -1, down = -1;
  };

  Balance(const Hinges& hinges, const Variables& variables)
      : treatment_(hinges.treatment),
        penalty_(hinges.penalty()),
        threshold_(variables.threshold.begin(), variables.threshold.end()),
        ties_(hinges, variables.alpha) {}

  Index n_thresholds() const { return static_cast<Index>(threshold_.size()); }
  bool is_ordered() const { return treatment_ == Treatment::ordered; }
  bool has_equalities() const { return treatment_ == Treatment::free || is_ordered(); }
  double penalty() const { return penalty_; }
  double threshold(Index k) const { return threshold_[k]; }
  std::span<const double> thresholds() const { return threshold_; }

  /// A hinge at threshold k has moved.
  void follow(Index k, const Slots::Move& move) {
    threshold_[k] -= penalty_ * move.beta;
    ties_.count(move.alpha);
  }
  /// Hinges of a copy have moved so that its thresholds went from one place to another.
  void follow(const Balance& from, const Balance& to) {
    for (Index k = 0; k < n_thresholds(); ++k) threshold_[k] += to.threshold_[k] - from.threshold_[k];
  }

  /// How far gamma may rise at one threshold and fall at another.
  double distance_to_bound(Index up, Index down) const { return ties_.distance_to_bound(down, up); }
  void follow_pair(Index up, Index down, double t) {
    if (up == down) return;
    ties_.move(down, up, t);
    ties_.clear_rounding();
  }

  /// A hinge that rises at threshold k may have its partner at any threshold up to this one: beyond k only as far as
  /// mu > 0 ties them. Without an order partners are at the same threshold.
  Index last_partner(Index k) const { return ties_.last_tied(k); }
  Index first_partner(Index k) const { return is_ordered() ? 0 : k; }

  Worst worst(std::span<const Reach> reach) const {
    if (is_ordered()) return worst_ordered(reach);
    if (treatment_ == Treatment::free) {
      const auto [most, k] = largest([&](Index k) { return reach[k].rise - reach[k].fall; });
      return {most, k, k};
    }
    const auto up = [&](Index k) { return threshold_[k] + reach[k].rise; };
    const auto down = [&](Index k) { return -(threshold_[k] + reach[k].fall); };
    const auto [most, k] = largest([&](Index k) { return std::max(up(k), down(k)); });
    if (k < 0) return {};
    return up(k) >= down(k) ? Worst{most, k, -1} : Worst{most, -1, k};
  }

  /// Thresholds by which samples are ranked: given ones, or the middle of what hinges that may move leave them.
  template <class T>
  void ranking(std::span<const Reach> reach, std::span<T> b) const {
    const Index m = n_thresholds();
    if (!has_equalities()) {
      std::copy(threshold_.begin(), threshold_.end(), b.begin());
      return;
    }
    std::vector<double> low(m), up(m);
    for (Index k = 0; k < m; ++k) low[k] = -reach[k].fall, up[k] = -reach[k].rise;
    if (is_ordered()) {
      for (Index k = 1; k < m; ++k) low[k] = std::max(low[k], low[k - 1]);
      for (Index k = m - 2; k >= 0; --k) up[k] = std::min(up[k], up[k + 1]);
      for (Index k = m - 2; k >= 0; --k) low[k] = ties_.tied(k + 1) ? low[k + 1] : low[k];
      for (Index k = 1; k < m; ++k) up[k] = ties_.tied(k) ? up[k - 1] : up[k];
    }
    for (Index k = 0; k < m; ++k) {
      const bool below = low[k] > -infinite, above = up[k] < infinite;
      b[k] = static_cast<T>(below && above ? 0.5 * (low[k] + up[k]) : below ? low[k] : above ? up[k] : 0.0);
    }
  }

 private:
  /// The largest value(k), and k. Without branches: after every step another threshold may be the worst, and a wrong
  /// guess costs more than the loop.
  template <class Value>
  std::pair<double, Index> largest(const Value& value) const {
    double most = -infinite;
    Index at = -1;
    for (Index k = 0; k < n_thresholds(); ++k) {
      const double here = value(k);
      at = here > most ? k : at;
      most = here > most ? here : most;
    }
    return {most, at};
  }

  Worst worst_ordered(std::span<const Reach> reach) const {
    const Ties::Worst worst =
        ties_.worst([&](Index k) { return -reach[k].fall; }, [&](Index k) { return -reach[k].rise; });
    return {worst.violation, worst.up, worst.low};
  }

  Treatment treatment_;
  double penalty_;
  std::vector<double> threshold_;
  Ties ties_;
};

}  // namespace ordsvm::block
