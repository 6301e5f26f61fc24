// b_low and b_up of every threshold from ranges of hinges: after some were left out only their ranges are scanned
// again.
#pragma once

#include <vector>

#include "optimality/frontier.hpp"
#include "parallel/thread_pool.hpp"

namespace ordsvm {

template <class T>
class RangeExtremes {
 public:
  RangeExtremes(const Hinges& hinges, const Frontier<T>& frontier) : hinges_(hinges), frontier_(frontier) {
    for (Index k = 0; k < hinges.n_thresholds; ++k) {
      first_.push_back(static_cast<Index>(ranges_.size()));
      for (Index begin = hinges.first[k]; begin < hinges.first[k + 1]; begin += range_size)
        ranges_.push_back({k, begin, std::min(begin + range_size, hinges.first[k + 1]), nothing});
    }
    first_.push_back(static_cast<Index>(ranges_.size()));
  }

  /// To be called when scores have changed: looks at every hinge.
  void refresh(ThreadPool& pool) {
    pool.split(ranges_.size(), hinges_.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t range = begin; range < end; ++range) look(ranges_[range]);
    });
  }

  /// To be called when hinge v alone has changed.
  void refresh(Index v) {
    const Index k = hinges_.threshold[v];
    look(ranges_[first_[k] + (v - hinges_.first[k]) / range_size]);
  }

  /// As those of the frontier.
  simd::Extremes extremes(Index k) const {
    simd::Extremes best = nothing;
    for (Index range = first_[k]; range < first_[k + 1]; ++range) {
      const simd::Extremes& found = ranges_[range].found;
      if (found.up < best.up) best.up = found.up, best.up_at = found.up_at;
      if (found.low > best.low) best.low = found.low, best.low_at = found.low_at;
    }
    return best;
  }

 private:
  static constexpr Index range_size = 1024;
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  static constexpr simd::Extremes nothing{infinity, -1, -infinity, -1};

  struct Range {
    Index threshold, begin, end;
    simd::Extremes found;
  };

  void look(Range& range) { range.found = frontier_.extremes(range.threshold, range.begin, range.end); }

  const Hinges& hinges_;
  const Frontier<T>& frontier_;
  std::vector<Range> ranges_;
  std::vector<Index> first_;  // ranges of threshold k: first_[k] <= range < first_[k + 1]
};

}  // namespace ordsvm
