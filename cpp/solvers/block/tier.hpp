// A tier of the block method: some samples with their scores, and which way their slots may move.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "solvers/block/balance.hpp"
#include "solvers/block/scans.hpp"
#include "solvers/block/slots.hpp"

namespace ordsvm::block {

template <class T>
class Tier {
 public:
  Tier(Index capacity, Index n_thresholds)
      : n_thresholds_(n_thresholds),
        score_(padded(capacity)),
        diagonal_(padded(capacity)),
        rise_(padded(capacity) * n_thresholds),
        fall_(padded(capacity) * n_thresholds),
        up_(padded(capacity)),
        down_(padded(capacity)),
        reach_(n_thresholds),
        ranking_(n_thresholds) {}

  Index count() const { return count_; }
  Index length() const { return padded(count_); }
  Index n_thresholds() const { return n_thresholds_; }
  Index sample(Index p) const { return sample_[p]; }
  std::span<const Index> samples() const { return sample_; }
  T* score() { return score_.data(); }
  T* diagonal() { return diagonal_.data(); }
  T* up() { return up_.data(); }
  T* down() { return down_.data(); }
  std::span<Reach> reaches() { return reach_; }

  Moves<T> moves(Index k) const {
    return {score_.data(), rise_.data() + k * length(), fall_.data() + k * length(), length()};
  }
  Reach reach(Index k) const { return block::reach(moves(k)); }

  /// Whether a hinge of the sample at position p is between its bounds.
  bool is_free(Index p) const {
    for (Index k = 0; k < n_thresholds_; ++k)
      if (rise_.data()[k * length() + p] == fall_.data()[k * length() + p]) return true;
    return false;
  }
  Index count_free_slots() const {
    Index total = 0;
    for (Index j = 0; j < n_thresholds_ * length(); ++j) total += rise_.data()[j] == fall_.data()[j];
    return total;
  }
  Index count_free_samples() const {
    Index total = 0;
    for (Index p = 0; p < count_; ++p) total += is_free(p);
    return total;
  }

  void set_ways(Index p, Index k, const Slots::Ways& ways) {
    rise_.data()[k * length() + p] = static_cast<T>(ways.rise);
    fall_.data()[k * length() + p] = static_cast<T>(ways.fall);
  }

  /// All samples.
  void start(const Slots& slots, Index n_samples) {
    sample_.resize(n_samples);
    for (Index p = 0; p < n_samples; ++p) sample_[p] = p;
    resize(n_samples);
    for (Index p = 0; p < count_; ++p)
      for (Index k = 0; k < n_thresholds_; ++k) set_ways(p, k, slots.ways(p, k));
  }

  /// The samples at these positions of a larger tier.
  void take(const Tier& from, std::span<const Index> positions) {
    sample_.resize(positions.size());
    resize(static_cast<Index>(positions.size()));
    for (Index p = 0; p < count_; ++p) {
      sample_[p] = from.sample_[positions[p]];
      score_.data()[p] = from.score_.data()[positions[p]];
      diagonal_.data()[p] = from.diagonal_.data()[positions[p]];
    }
    for (Index k = 0; k < n_thresholds_; ++k)
      for (Index p = 0; p < count_; ++p) {
        rise_.data()[k * length() + p] = from.rise_.data()[k * from.length() + positions[p]];
        fall_.data()[k * length() + p] = from.fall_.data()[k * from.length() + positions[p]];
      }
  }

  /// Copies which way slots may move to the larger tier.
  void give_back(Tier& to, std::span<const Index> positions) const {
    for (Index k = 0; k < n_thresholds_; ++k)
      for (Index p = 0; p < count_; ++p) {
        to.rise_.data()[k * to.length() + positions[p]] = rise_.data()[k * length() + p];
        to.fall_.data()[k * to.length() + positions[p]] = fall_.data()[k * length() + p];
      }
  }

  /// The violation; up() and down() are then each sample's violations upwards and downwards.
  double rank(const Balance& balance) {
    for (Index k = 0; k < n_thresholds_; ++k) reach_[k] = reach(k);
    balance.ranking<T>(reach_, ranking_);
    block::rank(moves(0), length(), ranking_.data(), n_thresholds_, up_.data(), down_.data());
    worst_ = balance.worst(reach_);
    return worst_.violation;
  }
  /// The positions that violated most when ranked: of the up index, of the down index, or of both.
  std::vector<Index> worst() const {
    std::vector<Index> positions;
    if (worst_.up >= 0) positions.push_back(reach_[worst_.up].rise_at);
    if (worst_.down >= 0) positions.push_back(reach_[worst_.down].fall_at);
    return positions;
  }

 private:
  /// Past the end nothing may move.
  void resize(Index count) {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    count_ = count;
    for (Index p = count_; p < length(); ++p) {
      score_.data()[p] = T(0);
      diagonal_.data()[p] = T(1);
      for (Index k = 0; k < n_thresholds_; ++k)
        rise_.data()[k * length() + p] = -infinity, fall_.data()[k * length() + p] = infinity;
    }
  }

  Index count_ = 0, n_thresholds_;
  std::vector<Index> sample_;
  Buffer<T> score_, diagonal_, rise_, fall_, up_, down_;
  std::vector<Reach> reach_;
  std::vector<T> ranking_;
  Balance::Worst worst_;
};

}  // namespace ordsvm::block
