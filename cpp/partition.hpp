// The hinges divided among owners: every hinge has one, and only its owner moves it.
#pragma once

#include <algorithm>
#include <vector>

#include "hinges.hpp"

namespace ordsvm {

/// sample: consecutive samples with all their hinges. threshold: consecutive hinges in the table's order, threshold by
/// threshold, which is Gu et al.'s index i = (j - 1) n + t; hinges of one sample then have several owners.
enum class Partition { sample, threshold };

/// The hinges of one owner as a table of their own, whose samples are numbered from `first_sample`.
struct Block {
  std::vector<Index> id;  // numbers in the whole table
  std::vector<SampleIndex> sample, threshold;
  std::vector<double> sign, offset, cap;
  Index first_sample = 0, n_samples = 0;
  Hinges table;

  Block(const Hinges& all, std::vector<Index> ids) : id(std::move(ids)) {
    const auto by_sample = [&](Index u, Index v) { return all.sample[u] < all.sample[v]; };
    if (!id.empty()) {
      first_sample = all.sample[*std::ranges::min_element(id, by_sample)];
      n_samples = all.sample[*std::ranges::max_element(id, by_sample)] - first_sample + 1;
    }
    for (const Index v : id) {
      sample.push_back(static_cast<SampleIndex>(all.sample[v] - first_sample));
      threshold.push_back(all.threshold[v]);
      sign.push_back(all.sign[v]);
      offset.push_back(all.offset[v]);
      cap.push_back(all.cap[v]);
    }
    table = {sample, threshold, sign, offset, cap, n_samples, all.n_thresholds, all.treatment, {}, {}};
    table.index();
  }
  Block(Block&&) = default;  // the table's columns move along
  Block(const Block&) = delete;
};

inline std::vector<Block> partitioned(const Hinges& hinges, Partition partition, int n_owners) {
  std::vector<std::vector<Index>> ids(n_owners);
  for (Index v = 0; v < hinges.size(); ++v) {
    const Index owner =
        partition == Partition::sample ? hinges.sample[v] * n_owners / hinges.n_samples : v * n_owners / hinges.size();
    ids[owner].push_back(v);
  }
  std::vector<Block> blocks;
  for (auto& own : ids) blocks.emplace_back(hinges, std::move(own));
  return blocks;
}

}  // namespace ordsvm
