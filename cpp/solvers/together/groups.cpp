#include "solvers/together/groups.hpp"

#include <algorithm>
#include <utility>

#include "kernels/tiles/value_bound.hpp"

namespace ordsvm::together {

Partition::Partition(Index n_samples, std::span<const std::span<const SampleIndex>> problems)
    : group(n_samples, -1), place(n_samples, 0) {
  // A problem divides a group of which it has some samples and not others: the former become a new group.
  std::vector<Index> size = {n_samples}, hits = {0}, renamed = {0}, touched, own;
  std::vector<Index> seen(n_samples, -1);
  std::fill(group.begin(), group.end(), Index{0});
  for (std::size_t p = 0; p < problems.size(); ++p) {
    own.clear();
    touched.clear();
    for (const SampleIndex i : problems[p]) {
      if (std::exchange(seen[i], static_cast<Index>(p)) == static_cast<Index>(p)) continue;
      own.push_back(i);
      if (hits[group[i]]++ == 0) touched.push_back(group[i]);
    }
    for (const Index g : touched) {
      renamed[g] = g;
      if (hits[g] < size[g]) {
        renamed[g] = static_cast<Index>(size.size());
        size[g] -= hits[g];
        size.push_back(hits[g]);
        renamed.push_back(0);
        hits.push_back(0);
      }
      hits[g] = 0;
    }
    for (const Index i : own) group[i] = renamed[group[i]];
  }
  for (Index i = 0; i < n_samples; ++i)
    if (seen[i] < 0) group[i] = -1;
  const Index n_groups = static_cast<Index>(size.size());
  std::vector<Index> number(n_groups, -1);
  for (Index i = 0; i < n_samples; ++i) {
    if (group[i] < 0) continue;
    Index& g = number[group[i]];
    if (g < 0) g = static_cast<Index>(members.size()), members.emplace_back();
    group[i] = g;
    place[i] = static_cast<Index>(members[g].size());
    members[g].push_back(i);
  }
  std::vector<char> is_in(members.size());
  for (const auto& samples : problems) {
    std::fill(is_in.begin(), is_in.end(), 0);
    for (const SampleIndex i : samples) is_in[group[i]] = 1;
    auto& groups = groups_of.emplace_back();
    for (std::size_t g = 0; g < members.size(); ++g)
      if (is_in[g]) groups.push_back(static_cast<Index>(g));
  }
}

Index Partition::size_of(Index problem) const {
  Index total = 0;
  for (const Index g : groups_of[problem]) total += static_cast<Index>(members[g].size());
  return total;
}

bool Partition::meet_once() const {
  std::vector<char> met(members.size() * members.size(), 0);
  for (const auto& groups : groups_of)
    for (std::size_t a = 0; a < groups.size(); ++a)
      for (std::size_t b = 0; b < a; ++b)
        if (std::exchange(met[groups[a] * members.size() + groups[b]], 1) != 0) return false;
  return true;
}

GroupedKernel::GroupedKernel(const RowSource& source, const Partition& partition, bool shares)
    : source_(source), partition_(partition), roundings_(tiles::roundings(source)), kept_(partition.members.size()) {
  if (tiles::fits_tiles(source)) {
    samples_ = std::make_unique<tiles::TiledSamples<double>>(source, alone_, false);
    for (std::size_t g = 0; g < partition.members.size(); ++g) tiled_.emplace_back();
  } else {
    whole_ = std::make_unique<LazyRows>(false);
    whole_->start(std::vector<double>(source.size()), roundings_, [this](Index i, double* out) {
      source_.row(i, std::span<double>(out, static_cast<std::size_t>(source_.size())));
    });
  }
  std::vector<char> is_alone(kept_.size(), 0);
  for (const auto& groups : partition.groups_of)
    if (groups.size() == 1) is_alone[groups[0]] = 1;
  for (Index g = 0; g < static_cast<Index>(kept_.size()); ++g) {
    if (!shares && !is_alone[g]) continue;
    kept_[g] = std::make_unique<LazyRows>(is_alone[g] != 0);
    kept_[g]->start(diagonal(members(g)), roundings_, [this, g](Index i, double* out) { make(g, i, g, out); });
  }
}

void GroupedKernel::start(LazyRows& rows, std::span<const Index> groups) const {
  std::vector<double> all;
  for (const Index g : groups)
    for (const double value : diagonal(members(g))) all.push_back(value);
  rows.start(std::move(all), roundings_, [this, groups](Index i, double* out) {
    std::size_t at = 0;
    for (; i >= static_cast<Index>(members(groups[at]).size()); ++at)
      i -= static_cast<Index>(members(groups[at]).size());
    for (const Index other : groups) {
      copy(groups[at], i, other, out);
      out += members(other).size();
    }
  });
}

std::vector<double> GroupedKernel::diagonal(std::span<const Index> samples) const {
  std::vector<double> values;
  for (const Index i : samples) values.push_back(source_.diagonal(i));
  return values;
}

const GroupedKernel::Tiled& GroupedKernel::tiled(Index group) const {
  Tiled& tiled = tiled_[group];
  std::call_once(tiled.made, [&] {
    const std::span<const Index> all(members(group));
    tiled.rows = samples_->pack(all);
    for (std::size_t first = 0; first < all.size(); first += tiles::lanes<double>) {
      const std::size_t count = std::min<std::size_t>(tiles::lanes<double>, all.size() - first);
      tiled.space.push_back(samples_->scratch());
      tiled.tiles.push_back(samples_->tile(all.subspan(first, count), tiled.space.back()));
    }
  });
  return tiled;
}

void GroupedKernel::copy(Index group, Index i, Index other, double* out) const {
  if (group == other && kept_[group])
    std::copy_n(kept_[group]->row_as(i, double()), members(group).size(), out);
  else
    make(group, i, other, out);
}

void GroupedKernel::make(Index group, Index i, Index other, double* out) const {
  const auto& columns = members(other);
  if (whole_) {
    const double* const row = whole_->row_as(members(group)[i], double());
    for (std::size_t c = 0; c < columns.size(); ++c) out[c] = row[columns[c]];
    return;
  }
  constexpr Index width = tiles::lanes<double>;
  const auto& rows = tiled(group).rows;
  const auto& all = tiled(other).tiles;
  alignas(64) double values[width];
  for (Index t = 0, n = static_cast<Index>(columns.size()); t * width < n; ++t) {
    fill_values(samples_->kernel(), all[t], rows, i, i + 1, values, width);
    std::copy_n(values, std::min(width, n - t * width), out + t * width);
  }
}

}  // namespace ordsvm::together
