// The greedy choice of Gu et al. 2020, (9): the hinge whose unit gradient step, cut off at the box, is longest.
//
// A unit gradient step through hinge v moves gamma_k by b_k - F_v, with the level F_v = f_i - sign_v offset_v. It is
// cut off at the distance to the bound above (sign +1: cap - alpha, sign -1: alpha) and below (the other way round).
#pragma once

#include <vector>

#include "base/hinges.hpp"
#include "simd/loops.hpp"

namespace ordsvm {

template <class T>
class Projections {
 public:
  Projections(const Hinges& hinges, std::span<const T> score, std::span<const double> alpha)
      : hinges_(hinges), score_(score), shift_(hinges.size()), rise_(hinges.size()), fall_(hinges.size()) {
    for (Index v = 0; v < hinges.size(); ++v) {
      shift_[v] = static_cast<T>(-hinges.sign[v] * hinges.offset[v]);
      update(v, alpha[v]);
    }
  }

  /// To be called when alpha_v has moved.
  void update(Index v, double alpha) {
    const T above_zero = static_cast<T>(alpha), below_cap = static_cast<T>(hinges_.cap[v] - alpha);
    rise_[v] = hinges_.sign[v] > 0 ? below_cap : above_zero;
    fall_[v] = hinges_.sign[v] > 0 ? above_zero : below_cap;
  }

  /// The hinge with the longest projected step, of all thresholds; the lowest number among equals.
  simd::Largest longest(std::span<const double> threshold) const {
    simd::Largest best{-1.0, -1};
    for (Index k = 0; k < hinges_.n_thresholds; ++k) {
      const simd::Largest found = simd::longest_projection(box(k), static_cast<T>(threshold[k]));
      if (found.size > best.size) best = {found.size, found.at + hinges_.first[k]};
    }
    return best;
  }

 private:
  simd::BoxDistances<T> box(Index k) const {
    const Index begin = hinges_.first[k], count = hinges_.first[k + 1] - begin;
    const bool consecutive = hinges_.consecutive[k] && count > 0;
    return {score_.data(),
            consecutive ? nullptr : hinges_.sample.data() + begin,
            consecutive ? hinges_.sample[begin] : 0,
            shift_.data() + begin,
            rise_.data() + begin,
            fall_.data() + begin,
            count};
  }

  const Hinges& hinges_;
  std::span<const T> score_;
  std::vector<T> shift_, rise_, fall_;
};

}  // namespace ordsvm
