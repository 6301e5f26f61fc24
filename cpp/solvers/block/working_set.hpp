// The choice of a working set: half of its samples with the largest violation upwards, half with the largest downwards.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "solvers/block/tier.hpp"

namespace ordsvm::block {

/// Positions of at most `size` samples of a ranked tier: first those that violate most, without which there might be
/// no step, then `kept`, then those that violate by more than `least`, which is below 0 so that samples that are about
/// to violate come too. Ranks of the chosen are overwritten.
template <class T>
class WorkingSet {
 public:
  std::vector<Index> choose(Tier<T>& tier, std::span<const Index> kept, Index size, double most, double least) {
    for (const Index p : tier.worst()) take(tier, p);
    for (const Index p : kept)
      if (count() < size) take(tier, p);
    take_top(tier.up(), tier.down(), tier.count(), (size - count()) / 2, most, least);
    take_top(tier.down(), tier.up(), tier.count(), size - count(), most, least);
    return std::exchange(chosen_, {});
  }

 private:
  static constexpr T infinity = std::numeric_limits<T>::infinity();
  Index count() const { return static_cast<Index>(chosen_.size()); }

  void take(Tier<T>& tier, Index p) {
    if (tier.up()[p] == -infinity && tier.down()[p] == -infinity) return;  // chosen already
    chosen_.push_back(p);
    tier.up()[p] = tier.down()[p] = -infinity;
  }

  /// About `wanted` of the largest values. All above the cut come first, what is about as large afterwards: else those
  /// at the front of many equal ones would be chosen again and again.
  void take_top(T* values, T* others, Index n, Index wanted, double most, double least) {
    if (wanted <= 0) return;
    T low = static_cast<T>(least), high = static_cast<T>(most);
    if (above(values, n, low) > wanted) {
      for (int turn = 0; turn < 20; ++turn) {
        const T middle = (low + high) / 2;
        const Index found = above(values, n, middle);
        (found > wanted ? low : high) = middle;
        if (found <= wanted && found >= wanted - wanted / 16) break;
      }
      wanted -= take_above(values, others, n, wanted, high);
    }
    take_above(values, others, n, wanted, low);
  }

  static Index above(const T* values, Index n, T cut) {
    const Index whole = n / 16 * 16;
    Index found = count_above(values, whole, cut);
    for (Index p = whole; p < n; ++p) found += values[p] > cut;
    return found;
  }

  Index take_above(T* values, T* others, Index n, Index wanted, T cut) {
    Index taken = 0;
    for (Index p = 0; p < n && taken < wanted; ++p)
      if (values[p] > cut) {
        chosen_.push_back(p);
        values[p] = others[p] = -infinity;
        ++taken;
      }
    return taken;
  }

  std::vector<Index> chosen_;
};

/// The last of these positions whose samples are free, at most so many, in their order.
template <class T>
std::vector<Index> last_free(const Tier<T>& tier, std::span<const Index> positions, Index most) {
  std::vector<Index> kept;
  for (Index p = static_cast<Index>(positions.size()) - 1; p >= 0 && static_cast<Index>(kept.size()) < most; --p)
    if (tier.is_free(p)) kept.push_back(positions[p]);
  std::reverse(kept.begin(), kept.end());
  return kept;
}

}  // namespace ordsvm::block
