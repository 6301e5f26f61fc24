// The samples of several problems in groups: samples of a group are in the same problems.
//
// One class against another: a group is a class, and values of K within it are used by all problems about the class.
// One class against the rest, or a problem for every rank: all samples are one group, and so all values are shared.
#pragma once

#include <deque>
#include <mutex>
#include <span>
#include <vector>

#include "kernels/tiles/samples.hpp"
#include "solvers/together/lazy_rows.hpp"

namespace ordsvm::together {

/// Where the samples are: those of group g are members[g], and `group` and `place` tell of every sample where it is in
/// them; group -1 is in no problem. groups_of[p]: the groups of problem p.
struct Partition {
  std::vector<std::vector<Index>> members, groups_of;
  std::vector<Index> group, place;

  /// Of samples 0 .. n_samples - 1 in problems that have these, each of them one or several times.
  Partition(Index n_samples, std::span<const std::span<const SampleIndex>> problems);

  Index size_of(Index problem) const;
  /// Whether two groups are together in one problem at most, so that values of K between them are used once.
  bool meet_once() const;
};

/// Values of K between samples and groups; those within a group are kept if problems share them.
class GroupedKernel {
 public:
  /// Rows of single groups are rounded to float as well, if problems have one group each.
  GroupedKernel(const RowSource& source, const Partition& partition, bool shares);

  /// The rows of a problem with one group.
  const LazyRows& own(Index group) const { return *kept_[group]; }
  /// Brings `rows` to the matrix of these groups, one after the other.
  void start(LazyRows& rows, std::span<const Index> groups) const;

 private:
  /// A group as rows, and as tiles.
  struct Tiled {
    std::once_flag made;
    tiles::PackedRows<double> rows;
    std::vector<tiles::Scratch<double>> space;
    std::vector<tiles::Tile<double>> tiles;
  };

  const std::vector<Index>& members(Index group) const { return partition_.members[group]; }
  std::vector<double> diagonal(std::span<const Index> samples) const;
  const Tiled& tiled(Index group) const;
  /// out = K[member i of group, members of other]
  void copy(Index group, Index i, Index other, double* out) const;
  void make(Index group, Index i, Index other, double* out) const;

  const RowSource& source_;
  const Partition& partition_;
  double roundings_;
  ThreadPool alone_{1};
  std::unique_ptr<tiles::TiledSamples<double>> samples_;  // none where K is not made of tiles
  mutable std::deque<Tiled> tiled_;
  std::unique_ptr<LazyRows> whole_;              // rows of all samples, where K is not made of tiles
  std::vector<std::unique_ptr<LazyRows>> kept_;  // of every group; none where values are not shared
};

}  // namespace ordsvm::together
