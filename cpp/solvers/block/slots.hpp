// The hinges of some samples, sample by sample: alpha, its bounds, and moves of them.
//
// A slot is what a sample has at a threshold: one hinge, two (regression), or none. Through a slot gamma_k and beta_i
// may rise or fall together; each way leads through one hinge, the one with the largest gain.
// The up index of a slot is the hinge through which gamma_k rises, the down index that through which it falls (the sets
// I_up and I_low of Chu & Keerthi).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "base/hinges.hpp"
#include "optimality/score_state.hpp"

namespace ordsvm::block {

inline constexpr double infinite = std::numeric_limits<double>::infinity();

class Slots {
 public:
  /// sign * offset of the hinge through which a slot may rise, and fall, and the hinge itself; -1 where it may not.
  /// The two are equal where one hinge is between its bounds.
  struct Ways {
    double rise = -infinite, fall = infinite;
    Index up = -1, down = -1;
  };
  /// What a hinge has moved by.
  struct Move {
    double beta, alpha;
  };

  /// Of no samples.
  explicit Slots(Index n_thresholds) : n_thresholds_(n_thresholds), begin_(1, 0) {}

  /// Of all samples.
  Slots(const Hinges& hinges, std::span<const double> alpha)
      : n_thresholds_(hinges.n_thresholds),
        hinge_(hinges.size()),
        begin_(hinges.n_samples * hinges.n_thresholds + 1, 0) {
    const auto slot = [&](Index v) { return hinges.sample[v] * hinges.n_thresholds + hinges.threshold[v]; };
    for (Index v = 0; v < hinges.size(); ++v) ++begin_[slot(v) + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    std::vector<SampleIndex> next(begin_.begin(), begin_.end() - 1);
    for (Index v = 0; v < hinges.size(); ++v)
      hinge_[next[slot(v)]++] = {alpha[v], hinges.cap[v], hinges.sign[v] * hinges.offset[v],
                                 static_cast<SampleIndex>(v), hinges.sign[v] > 0 ? 1 : -1};
  }

  Ways ways(Index p, Index k) const {
    Ways found;
    const Index slot = p * n_thresholds_ + k;
    if (begin_[slot + 1] - begin_[slot] == 1) return ways_of_one(begin_[slot]);
    for (Index h = begin_[slot]; h < begin_[slot + 1]; ++h) {
      if (distance_up(h) > 0.0 && hinge_[h].level > found.rise) found.rise = hinge_[h].level, found.up = h;
      if (distance_down(h) > 0.0 && hinge_[h].level < found.fall) found.fall = hinge_[h].level, found.down = h;
    }
    return found;
  }

  /// How far gamma may rise, and fall, through a hinge.
  double distance_up(Index h) const { return hinge_[h].sign > 0 ? hinge_[h].cap - hinge_[h].alpha : hinge_[h].alpha; }
  double distance_down(Index h) const { return hinge_[h].sign > 0 ? hinge_[h].alpha : hinge_[h].cap - hinge_[h].alpha; }

  /// Moves gamma and beta by `change` through a hinge; a change as large as the distance to the bound, or larger, ends
  /// there.
  Move move(Index h, double change) {
    Hinge& hinge = hinge_[h];
    const double before = hinge.alpha, up = distance_up(h), down = distance_down(h);
    const bool plus = hinge.sign > 0;
    if (change >= up || change <= -down) {
      hinge.alpha = plus == (change >= up) ? hinge.cap : 0.0;
      change = change >= up ? up : -down;
    } else {
      hinge.alpha = std::clamp(before + (plus ? change : -change), 0.0, hinge.cap);
    }
    return {change, hinge.alpha - before};
  }

  /// Copies the slots of the samples at these positions of a larger set.
  void take(const Slots& from, std::span<const Index> positions) {
    hinge_.clear();
    begin_.assign(1, 0);
    for (const Index p : positions) {
      const SampleIndex* begin = &from.begin_[p * n_thresholds_];
      const SampleIndex shift = static_cast<SampleIndex>(hinge_.size()) - begin[0];
      for (Index k = 1; k <= n_thresholds_; ++k) begin_.push_back(begin[k] + shift);
      hinge_.insert(hinge_.end(), from.hinge_.begin() + begin[0], from.hinge_.begin() + begin[n_thresholds_]);
    }
  }

  /// Copies alpha back to the larger set.
  void give_back(Slots& to, std::span<const Index> positions) const {
    const Hinge* hinge = hinge_.data();
    for (const Index p : positions) {
      const Index first = to.begin_[p * n_thresholds_], end = to.begin_[(p + 1) * n_thresholds_];
      for (Index h = first; h < end; ++h) to.hinge_[h].alpha = (hinge++)->alpha;
    }
  }

  /// (offset * change of alpha).sum(): the part of the dual's gain by moves since `take` that is linear in alpha.
  double linear_gain(const Slots& from, std::span<const Index> positions) const {
    double sum = 0.0;
    const Hinge* hinge = hinge_.data();
    for (const Index p : positions)
      for (Index h = from.begin_[p * n_thresholds_]; h < from.begin_[(p + 1) * n_thresholds_]; ++h, ++hinge)
        sum += hinge->level * hinge->sign * (hinge->alpha - from.hinge_[h].alpha);
    return sum;
  }

  Index count() const { return (static_cast<Index>(begin_.size()) - 1) / n_thresholds_; }
  /// Whether the sample at position p has an alpha above 0.
  bool supports(Index p) const {
    return std::any_of(hinge_.begin() + begin_[p * n_thresholds_], hinge_.begin() + begin_[(p + 1) * n_thresholds_],
                       [](const Hinge& hinge) { return hinge.alpha > 0.0; });
  }
  /// beta of a sample, summed as Hinges::beta does.
  double beta(Index p) const {
    double total = 0.0;
    for (Index h = begin_[p * n_thresholds_]; h < begin_[(p + 1) * n_thresholds_]; ++h)
      total += hinge_[h].sign * hinge_[h].alpha;
    return total;
  }
  Index count_support() const {
    Index total = 0;
    for (Index p = 0; p < count(); ++p) total += supports(p);
    return total;
  }

  /// Writes alpha of these samples to the table of hinges.
  void write(std::span<const Index> positions, std::span<double> alpha) const {
    for (const Index p : positions)
      for (Index h = begin_[p * n_thresholds_]; h < begin_[(p + 1) * n_thresholds_]; ++h)
        alpha[hinge_[h].number] = hinge_[h].alpha;
  }

 private:
  /// In one place, for hinges are met in no order.
  struct Hinge {
    double alpha, cap, level;  // level = sign * offset
    SampleIndex number;        // in the table of hinges
    std::int32_t sign;
  };

  /// Of a slot with one hinge; without branches, which a step is too short to guess.
  Ways ways_of_one(Index h) const {
    const Hinge& hinge = hinge_[h];
    const bool plus = hinge.sign > 0, grows = hinge.cap - hinge.alpha > 0.0, shrinks = hinge.alpha > 0.0;
    const bool up = (plus & grows) | (!plus & shrinks), down = (plus & shrinks) | (!plus & grows);
    const double rise[2] = {-infinite, hinge.level}, fall[2] = {infinite, hinge.level};
    return {rise[up], fall[down], up ? h : -1, down ? h : -1};
  }

  Index n_thresholds_;
  std::vector<Hinge> hinge_;        // slot by slot, sample by sample
  std::vector<SampleIndex> begin_;  // of the slot of sample p at threshold k, at p * n_thresholds + k
};

}  // namespace ordsvm::block
