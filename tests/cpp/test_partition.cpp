// The hinges divided among owners: every hinge has one, with all that belongs to it.
#include <algorithm>

#include "check.hpp"
#include "hinge_table.hpp"
#include "parallel/partition.hpp"

namespace ordsvm {
namespace {

/// Tables with all hinges, with some, with several of a sample, with holes, and with none.
std::vector<HingeTable> tables() {
  Random random(61);
  const Data data(random, 23, 2, 5, 1.0);
  HingeTable sparse{40, 3, Treatment::penalized};
  for (Index k = 0; k < 3; ++k)
    for (Index i = 5; i < 40; ++i)
      if (random.chance(0.2)) sparse.add(i, k, random.chance(0.5) ? 1.0 : -1.0, random.uniform(-1.0, 1.0), 1.0);
  return {with_random_caps(implicit_table(data, Treatment::penalized, 1.0), random),
          explicit_table(data, Treatment::penalized, 1.0), regression_table(data, Treatment::none, 1.0), sparse,
          HingeTable{7, 2, Treatment::penalized}};
}

/// `function(table, hinges, owned)` for all tables and numbers of owners, up to many more than there are hinges.
template <class Function>
void for_partitions(Partition partition, Function function) {
  for (const HingeTable& table : tables())
    for (const int n_owners : {1, 2, 3, 8, 64, 200}) {
      const check::Context here(std::to_string(table.size()) + " hinges, " + std::to_string(n_owners) + " owners");
      const Hinges hinges = table.hinges();
      const std::vector<OwnedHinges> owned = partitioned(hinges, partition, n_owners);
      CHECK(static_cast<int>(owned.size()) == n_owners);
      function(table, hinges, owned);
    }
}

/// Owned hinges have the columns that the table has for them.
void check_columns(const Hinges& hinges, const OwnedHinges& owned) {
  CHECK(std::is_sorted(owned.id.begin(), owned.id.end()));
  CHECK(owned.hinges.size() == static_cast<Index>(owned.id.size()));
  CHECK(owned.hinges.n_samples == owned.size() && owned.hinges.n_thresholds == hinges.n_thresholds);
  CHECK(owned.hinges.treatment == hinges.treatment);
  for (Index p = 0; p < owned.hinges.size(); ++p) {
    const Index v = owned.id[p];
    CHECK(owned.samples[owned.hinges.sample[p]] == hinges.sample[v]);
    CHECK(owned.hinges.threshold[p] == hinges.threshold[v] && owned.hinges.sign[p] == hinges.sign[v]);
    CHECK(owned.hinges.offset[p] == hinges.offset[v] && owned.hinges.cap[p] == hinges.cap[v]);
  }
}

/// Where its thresholds begin, and which of them look at samples without a hole.
void check_index(const OwnedHinges& owned) {
  const Hinges& h = owned.hinges;
  CHECK(h.first.front() == 0 && h.first.back() == h.size());
  for (Index k = 0; k < h.n_thresholds; ++k) {
    bool without_hole = true;
    for (Index v = h.first[k]; v < h.first[k + 1]; ++v) {
      CHECK(h.threshold[v] == k);
      if (v > h.first[k]) without_hole = without_hole && h.sample[v] == h.sample[v - 1] + 1;
    }
    CHECK(h.consecutive[k] == without_hole);
  }
}

/// Its samples are a range, and none at its ends is idle.
void check_range(const Hinges& hinges, const OwnedHinges& owned) {
  if (owned.id.empty()) {
    CHECK(owned.size() == 0);
    return;
  }
  for (Index i = 1; i < owned.size(); ++i) CHECK(owned.samples[i] == owned.samples[i - 1] + 1);
  const auto looks_at = [&](SampleIndex i) {
    return std::any_of(owned.id.begin(), owned.id.end(), [&](Index v) { return hinges.sample[v] == i; });
  };
  CHECK(looks_at(owned.samples.front()) && looks_at(owned.samples.back()));
}

void check_blocks(const HingeTable& table, const Hinges& hinges, const std::vector<OwnedHinges>& owned) {
  std::vector<int> owners(table.size(), 0);
  for (const OwnedHinges& owned : owned) {
    for (const Index v : owned.id) ++owners[v];
    check_columns(hinges, owned);
    check_index(owned);
    check_range(hinges, owned);
  }
  CHECK(owners == std::vector<int>(table.size(), 1));
}

TEST(every_hinge_has_one_owner) {
  for (const Partition partition : {Partition::sample, Partition::threshold}) for_partitions(partition, check_blocks);
}

TEST(a_sample_partition_keeps_the_hinges_of_a_sample_together) {
  for_partitions(Partition::sample,
                 [](const HingeTable& table, const Hinges& hinges, const std::vector<OwnedHinges>& owned) {
                   std::vector<int> owner(table.n_samples, -1);
                   SampleIndex next = 0;
                   for (int t = 0; t < static_cast<int>(owned.size()); ++t) {
                     if (owned[t].size() > 0) {
                       CHECK(owned[t].samples.front() >= next);  // ranges in ascending order that don't overlap
                       next = owned[t].samples.back() + 1;
                     }
                     for (const Index v : owned[t].id) {
                       CHECK(owner[hinges.sample[v]] == -1 || owner[hinges.sample[v]] == t);
                       owner[hinges.sample[v]] = t;
                     }
                     CHECK(owned[t].size() <= table.n_samples / static_cast<Index>(owned.size()) + 1);
                   }
                 });
}

TEST(a_threshold_partition_gives_everybody_as_many_hinges_in_a_row) {
  for_partitions(
      Partition::threshold, [](const HingeTable& table, const Hinges&, const std::vector<OwnedHinges>& owned) {
        Index next = 0;
        const Index least = table.size() / static_cast<Index>(owned.size());
        for (const OwnedHinges& owned : owned) {
          for (const Index v : owned.id) CHECK(v == next++);
          CHECK(static_cast<Index>(owned.id.size()) == least || static_cast<Index>(owned.id.size()) == least + 1);
        }
        CHECK(next == table.size());
      });
}

TEST(a_block_may_choose_its_samples) {
  const HingeTable table = tables().front();
  const Hinges hinges = table.hinges();
  const OwnedHinges owned(hinges, {2, 9, 25, 32, 91}, {2, 9, 22});  // samples 2, 9, 2, 9, 22
  CHECK(owned.sample == std::vector<SampleIndex>({0, 1, 0, 1, 2}));
  CHECK(owned.hinges.first == std::vector<Index>({0, 2, 4, 4, 5}));
  check_columns(hinges, owned);
  check_index(owned);
}

TEST(a_block_can_be_moved) {
  const HingeTable table = tables().front();
  const Hinges hinges = table.hinges();
  std::vector<OwnedHinges> all = partitioned(hinges, Partition::sample, 3);
  const std::vector<Index> ids = all[1].id;
  const OwnedHinges moved = std::move(all[1]);
  all.clear();
  CHECK(moved.id == ids);
  CHECK(moved.hinges.sample.data() == moved.sample.data() && moved.hinges.cap.data() == moved.cap.data());
  check_columns(hinges, moved);
}

}  // namespace
}  // namespace ordsvm
