// The dual problem as data: a table of hinges and the treatment of the thresholds.
//
//   primal   min  1/2 |w|^2 [+ 1/2 |b|^2]  +  sum_v cap_v max(0, offset_v - sign_v (f_i - b_k))
//   dual     min  1/2 beta'K beta [+ 1/2 gamma'gamma]  -  offset'alpha,     0 <= alpha_v <= cap_v
//            beta_i = sum of sign*alpha over the hinges of sample i, gamma_k over those of threshold k
//
// The table is grouped by threshold, so that the hinges of one threshold are one contiguous range.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ordsvm {

using Index = std::int64_t;
using SampleIndex = std::int32_t;

enum class Treatment { none, penalized, free, ordered };

struct Hinges {
  std::span<const SampleIndex> sample;
  std::span<const SampleIndex> threshold;  // ascending
  std::span<const double> sign;
  std::span<const double> offset;
  std::span<const double> cap;
  Index n_samples = 0;
  Index n_thresholds = 0;
  Treatment treatment = Treatment::none;
  std::vector<Index> first;       // hinges of threshold k: first[k] <= v < first[k + 1]
  std::vector<char> consecutive;  // threshold k looks at samples i, i + 1, i + 2, ... without a hole

  Index size() const { return static_cast<Index>(sample.size()); }
  /// What penalised thresholds add to the dual's matrix for hinges of the same threshold.
  double penalty() const { return treatment == Treatment::penalized ? 1.0 : 0.0; }

  /// Fills `first` and `consecutive` from the columns.
  void index() {
    first.assign(n_thresholds + 1, 0);
    for (const SampleIndex k : threshold) ++first[k + 1];
    for (Index k = 0; k < n_thresholds; ++k) first[k + 1] += first[k];
    consecutive.assign(n_thresholds, 1);
    for (Index k = 0; k < n_thresholds; ++k)
      for (Index v = first[k] + 1; v < first[k + 1]; ++v)
        if (sample[v] != sample[v - 1] + 1) consecutive[k] = 0;
  }

  /// beta_i = sum_v sign_v alpha_v over the hinges v of sample i.
  std::vector<double> beta(std::span<const double> alpha) const {
    std::vector<double> total(n_samples, 0.0);
    for (Index v = 0; v < size(); ++v) total[sample[v]] += sign[v] * alpha[v];
    return total;
  }
};

}  // namespace ordsvm
