// The hinges divided among owners: every hinge has one, and only its owner moves it.
#pragma once

#include <algorithm>
#include <vector>

#include "base/hinges.hpp"

namespace ordsvm {

/// sample: consecutive samples with all their hinges. threshold: consecutive hinges in the table's order, threshold by
/// threshold, which is Gu et al.'s index i = (j - 1) n + t; hinges of one sample then have several owners.
enum class Partition { sample, threshold };

/// Some hinges as a table of their own, over the samples `samples`, in ascending order, which it numbers from 0.
struct OwnedHinges {
  std::vector<Index> id;  // numbers in the table they were taken from
  std::vector<SampleIndex> samples, sample, threshold;
  std::vector<double> sign, offset, cap;
  Hinges hinges;

  OwnedHinges(const Hinges& all, std::vector<Index> ids, std::vector<SampleIndex> its_samples)
      : id(std::move(ids)), samples(std::move(its_samples)) {
    for (const Index v : id) {
      const auto place = std::lower_bound(samples.begin(), samples.end(), all.sample[v]);
      sample.push_back(static_cast<SampleIndex>(place - samples.begin()));
      threshold.push_back(all.threshold[v]);
      sign.push_back(all.sign[v]);
      offset.push_back(all.offset[v]);
      cap.push_back(all.cap[v]);
    }
    hinges = {sample, threshold, sign, offset, cap, size(), all.n_thresholds, all.treatment, {}, {}};
    hinges.index();
  }
  OwnedHinges(OwnedHinges&&) = default;  // the table's columns move along
  OwnedHinges(const OwnedHinges&) = delete;

  Index size() const { return static_cast<Index>(samples.size()); }
};

/// All samples from the lowest to the highest that the hinges look at: scores of a range are cheaper than of a choice.
inline std::vector<SampleIndex> sample_range(const Hinges& hinges, const std::vector<Index>& ids) {
  if (ids.empty()) return {};
  const auto by_sample = [&](Index u, Index v) { return hinges.sample[u] < hinges.sample[v]; };
  const auto [lowest, highest] = std::minmax_element(ids.begin(), ids.end(), by_sample);
  std::vector<SampleIndex> samples;
  for (SampleIndex i = hinges.sample[*lowest]; i <= hinges.sample[*highest]; ++i) samples.push_back(i);
  return samples;
}

inline std::vector<OwnedHinges> partitioned(const Hinges& hinges, Partition partition, int n_owners) {
  std::vector<std::vector<Index>> ids(n_owners);
  for (Index v = 0; v < hinges.size(); ++v) {
    const Index owner = partition == Partition::sample ? hinges.sample[v] * Index{n_owners} / hinges.n_samples
                                                       : v * Index{n_owners} / hinges.size();
    ids[owner].push_back(v);
  }
  std::vector<OwnedHinges> owned;
  for (auto& own : ids) {
    auto samples = sample_range(hinges, own);
    owned.emplace_back(hinges, std::move(own), std::move(samples));
  }
  return owned;
}

}  // namespace ordsvm
