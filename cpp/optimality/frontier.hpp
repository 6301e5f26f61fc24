// Which hinges may move, and how far the thresholds may go: the optimality conditions in one place.
//
// A hinge has the level F_v = f_i - sign_v offset_v, the threshold at which its slope vanishes:
//   gamma_k may rise through v  (sign +1 below its cap, or sign -1 above 0)   requires   b_k <= F_v
//   gamma_k may fall through v  (sign +1 above 0, or sign -1 below its cap)   requires   b_k >= F_v
// The tightest of them are b_up = min F over the first set and b_low = max F over the second
// (Chu & Keerthi 2007, (16) and (40)). A free threshold is optimal when b_low <= b_up; a given b_k
// (penalised, or none: b = 0) is when b_low <= b_k <= b_up: its distance outside is the projected gradient.
#pragma once

#include <limits>
#include <vector>

#include "base/hinges.hpp"
#include "simd/loops.hpp"

namespace ordsvm {

/// T is the precision of scores and levels: float is enough to choose steps by, double to decide to stop.
template <class T>
class Frontier {
 public:
  /// `margin`: the share of its cap within which a hinge counts as being at a bound (the epsilon of Manno et al. 2018).
  Frontier(const Hinges& hinges, std::span<const T> score, std::span<const double> alpha, double margin = 0.0)
      : hinges_(hinges), score_(score), margin_(margin), up_(hinges.size()), low_(hinges.size()) {
    for (Index v = 0; v < hinges.size(); ++v) update(v, alpha[v]);
  }

  /// To be called when alpha_v has moved.
  void update(Index v, double alpha) {
    const T shift = static_cast<T>(-hinges_.sign[v] * hinges_.offset[v]);
    const double margin = margin_ * hinges_.cap[v];
    const bool above_zero = alpha > margin, below_cap = alpha < hinges_.cap[v] - margin;
    up_[v] = (hinges_.sign[v] > 0 ? below_cap : above_zero) ? shift : infinity;
    low_[v] = (hinges_.sign[v] > 0 ? above_zero : below_cap) ? shift : -infinity;
  }

  /// Leaves a hinge out until it is updated.
  void hide(Index v) {
    up_[v] = infinity;
    low_[v] = -infinity;
  }

  /// b_up and b_low of threshold k with the hinges that set them (numbers of the whole table, or -1).
  simd::Extremes extremes(Index k) const { return extremes(k, hinges_.first[k], hinges_.first[k + 1]); }

  /// The same for some of its hinges, begin <= v < end.
  simd::Extremes extremes(Index k, Index begin, Index end) const {
    simd::Extremes found = simd::extremes(range(k, begin, end));
    if (found.up_at >= 0) found.up_at += begin;
    if (found.low_at >= 0) found.low_at += begin;
    return found;
  }

  /// The hinge of thresholds first..last that gains most by rising while the anchor falls, or -1.
  Index best_partner(Index first, Index last, const simd::Anchor<T>& anchor) const {
    simd::Partner best{0.0, -1};
    for (Index k = first; k <= last; ++k) {
      const simd::Partner found = simd::best_partner(range(k, hinges_.first[k], hinges_.first[k + 1]), anchor);
      if (found.gain > best.gain) best = {found.gain, found.at + hinges_.first[k]};
    }
    return best.at;
  }

 private:
  static constexpr T infinity = std::numeric_limits<T>::infinity();

  simd::Range<T> range(Index k, Index begin, Index end) const {
    const Index count = end - begin;
    const bool consecutive = hinges_.consecutive[k] && count > 0;
    return {score_.data(),
            consecutive ? nullptr : hinges_.sample.data() + begin,
            consecutive ? hinges_.sample[begin] : 0,
            up_.data() + begin,
            low_.data() + begin,
            count};
  }

  const Hinges& hinges_;
  std::span<const T> score_;
  double margin_;
  std::vector<T> up_, low_;
};

}  // namespace ordsvm
