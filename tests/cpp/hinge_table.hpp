// Hinge tables that own their columns, for the models of the library.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/hinges.hpp"
#include "random.hpp"

namespace ordsvm {

struct HingeTable {
  Index n_samples = 0, n_thresholds = 0;
  Treatment treatment = Treatment::none;
  std::vector<SampleIndex> sample = {}, threshold = {};
  std::vector<double> sign = {}, offset = {}, cap = {};

  Index size() const { return static_cast<Index>(sample.size()); }

  /// To be called in ascending order of thresholds.
  void add(Index i, Index k, double hinge_sign, double hinge_offset, double hinge_cap) {
    sample.push_back(static_cast<SampleIndex>(i));
    threshold.push_back(static_cast<SampleIndex>(k));
    sign.push_back(hinge_sign);
    offset.push_back(hinge_offset);
    cap.push_back(hinge_cap);
  }

  /// A view: the table must outlive it.
  Hinges hinges() const {
    Hinges view{sample, threshold, sign, offset, cap, n_samples, n_thresholds, treatment, {}, {}};
    view.index();
    return view;
  }
};

/// Samples in the cube [-1, 1]^d, ranked by a noisy linear function into equally many of every rank.
struct Data {
  Index n, d, n_ranks;
  std::vector<double> x;
  std::vector<Index> rank;

  Data(Random& random, Index n, Index d, Index n_ranks, double noise) : n(n), d(d), n_ranks(n_ranks), rank(n) {
    x = random.uniforms(n * d, -1.0, 1.0);
    std::vector<double> level(n, 0.0);
    for (Index i = 0; i < n; ++i) {
      for (Index feature = 0; feature < d; ++feature) level[i] += x[i * d + feature];
      level[i] += random.uniform(-noise, noise);
    }
    std::vector<Index> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](Index a, Index b) { return level[a] < level[b]; });
    for (Index place = 0; place < n; ++place) rank[order[place]] = place * n_ranks / n;
  }
};

/// Every sample at every threshold: SVORIM (free), the concise SVOR (penalised).
inline HingeTable implicit_table(const Data& data, Treatment treatment, double cap) {
  HingeTable table{data.n, data.n_ranks - 1, treatment};
  for (Index k = 0; k + 1 < data.n_ranks; ++k)
    for (Index i = 0; i < data.n; ++i) table.add(i, k, data.rank[i] > k ? 1.0 : -1.0, 1.0, cap);
  return table;
}

/// Only the thresholds next to a sample's rank: SVOREX (ordered), Shashua-Levin (free).
inline HingeTable explicit_table(const Data& data, Treatment treatment, double cap) {
  HingeTable table{data.n, data.n_ranks - 1, treatment};
  for (Index k = 0; k + 1 < data.n_ranks; ++k)
    for (Index i = 0; i < data.n; ++i)
      if (data.rank[i] == k || data.rank[i] == k + 1) table.add(i, k, data.rank[i] > k ? 1.0 : -1.0, 1.0, cap);
  return table;
}

/// C-SVC: the upper half of the ranks against the lower. One threshold, which is 0 if the treatment is none.
inline HingeTable classification_table(const Data& data, Treatment treatment, double cap) {
  HingeTable table{data.n, 1, treatment};
  for (Index i = 0; i < data.n; ++i) table.add(i, 0, 2 * data.rank[i] >= data.n_ranks ? 1.0 : -1.0, 1.0, cap);
  return table;
}

/// epsilon-SVR on the rank: two hinges per sample.
inline HingeTable regression_table(const Data& data, Treatment treatment, double cap) {
  constexpr double epsilon = 0.2;
  HingeTable table{data.n, 1, treatment};
  for (Index i = 0; i < data.n; ++i) {
    const double target = static_cast<double>(data.rank[i]);
    table.add(i, 0, 1.0, target - epsilon, cap);
    table.add(i, 0, -1.0, -target - epsilon, cap);
  }
  return table;
}

/// The same with caps of their own for all hinges.
inline HingeTable with_random_caps(HingeTable table, Random& random) {
  for (double& cap : table.cap) cap *= random.uniform(0.2, 1.8);
  return table;
}

}  // namespace ordsvm
