// b_low and b_up of every threshold, tile by tile: after some hinges were left out only their tiles are looked at again.
#pragma once

#include <vector>

#include "optimality/frontier.hpp"
#include "parallel/thread_pool.hpp"

namespace ordsvm {

template <class T>
class Tiles {
 public:
  Tiles(const Hinges& hinges, const Frontier<T>& frontier) : hinges_(hinges), frontier_(frontier) {
    for (Index k = 0; k < hinges.n_thresholds; ++k) {
      first_.push_back(static_cast<Index>(tiles_.size()));
      for (Index begin = hinges.first[k]; begin < hinges.first[k + 1]; begin += size)
        tiles_.push_back({k, begin, std::min(begin + size, hinges.first[k + 1]), nothing});
    }
    first_.push_back(static_cast<Index>(tiles_.size()));
  }

  /// To be called when scores have changed: looks at every hinge.
  void refresh(Crew& crew) {
    crew.split(tiles_.size(), hinges_.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t tile = begin; tile < end; ++tile) look(tiles_[tile]);
    });
  }

  /// To be called when hinge v alone has changed.
  void refresh(Index v) {
    const Index k = hinges_.threshold[v];
    look(tiles_[first_[k] + (v - hinges_.first[k]) / size]);
  }

  /// As those of the frontier.
  simd::Extremes extremes(Index k) const {
    simd::Extremes best = nothing;
    for (Index tile = first_[k]; tile < first_[k + 1]; ++tile) {
      const simd::Extremes& found = tiles_[tile].found;
      if (found.up < best.up) best.up = found.up, best.up_at = found.up_at;
      if (found.low > best.low) best.low = found.low, best.low_at = found.low_at;
    }
    return best;
  }

 private:
  static constexpr Index size = 1024;
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  static constexpr simd::Extremes nothing{infinity, -1, -infinity, -1};

  struct Tile {
    Index threshold, begin, end;
    simd::Extremes found;
  };

  void look(Tile& tile) { tile.found = frontier_.extremes(tile.threshold, tile.begin, tile.end); }

  const Hinges& hinges_;
  const Frontier<T>& frontier_;
  std::vector<Tile> tiles_;
  std::vector<Index> first_;  // tiles of threshold k: first_[k] <= tile < first_[k + 1]
};

}  // namespace ordsvm
