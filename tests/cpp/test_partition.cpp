// The hinges divided among owners: every hinge has one, with all that belongs to it.
#include "check.hpp"
#include "parallel/partition.hpp"
#include "table.hpp"

namespace ordsvm {
namespace {

/// Tables with all hinges, with some, with several of a sample, with holes, and with none.
std::vector<Table> tables() {
  Random random(61);
  const Data data(random, 23, 2, 5, 1.0);
  Table sparse{40, 3, Thresholds::penalized};
  for (Index k = 0; k < 3; ++k)
    for (Index i = 5; i < 40; ++i)
      if (random.chance(0.2)) sparse.add(i, k, random.chance(0.5) ? 1.0 : -1.0, random.uniform(-1.0, 1.0), 1.0);
  return {with_random_caps(implicit_table(data, Thresholds::penalized, 1.0), random),
          explicit_table(data, Thresholds::penalized, 1.0), regression_table(data, Thresholds::none, 1.0), sparse,
          Table{7, 2, Thresholds::penalized}};
}

/// `function(table, hinges, blocks)` for all tables and numbers of owners, up to many more than there are hinges.
template <class Function>
void for_partitions(Partition partition, Function function) {
  for (const Table& table : tables())
    for (const int n_owners : {1, 2, 3, 8, 64, 200}) {
      const check::Context here(std::to_string(table.size()) + " hinges, " + std::to_string(n_owners) + " owners");
      const Hinges hinges = table.hinges();
      const std::vector<Block> blocks = partitioned(hinges, partition, n_owners);
      CHECK(static_cast<int>(blocks.size()) == n_owners);
      function(table, hinges, blocks);
    }
}

/// The block says of its hinges what the table says of them.
void check_columns(const Hinges& hinges, const Block& block) {
  CHECK(std::is_sorted(block.id.begin(), block.id.end()));
  CHECK(block.table.size() == static_cast<Index>(block.id.size()));
  CHECK(block.table.n_samples == block.size() && block.table.n_thresholds == hinges.n_thresholds);
  CHECK(block.table.treatment == hinges.treatment);
  for (Index p = 0; p < block.table.size(); ++p) {
    const Index v = block.id[p];
    CHECK(block.samples[block.table.sample[p]] == hinges.sample[v]);
    CHECK(block.table.threshold[p] == hinges.threshold[v] && block.table.sign[p] == hinges.sign[v]);
    CHECK(block.table.offset[p] == hinges.offset[v] && block.table.cap[p] == hinges.cap[v]);
  }
}

/// Where its thresholds begin, and which of them look at samples without a hole.
void check_index(const Block& block) {
  const Hinges& h = block.table;
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
void check_range(const Hinges& hinges, const Block& block) {
  if (block.id.empty()) {
    CHECK(block.size() == 0);
    return;
  }
  for (Index i = 1; i < block.size(); ++i) CHECK(block.samples[i] == block.samples[i - 1] + 1);
  const auto looks_at = [&](SampleIndex i) {
    return std::ranges::any_of(block.id, [&](Index v) { return hinges.sample[v] == i; });
  };
  CHECK(looks_at(block.samples.front()) && looks_at(block.samples.back()));
}

void check_blocks(const Table& table, const Hinges& hinges, const std::vector<Block>& blocks) {
  std::vector<int> owners(table.size(), 0);
  for (const Block& block : blocks) {
    for (const Index v : block.id) ++owners[v];
    check_columns(hinges, block);
    check_index(block);
    check_range(hinges, block);
  }
  CHECK(owners == std::vector<int>(table.size(), 1));
}

TEST(every_hinge_has_one_owner) {
  for (const Partition partition : {Partition::sample, Partition::threshold}) for_partitions(partition, check_blocks);
}

TEST(a_sample_partition_keeps_the_hinges_of_a_sample_together) {
  for_partitions(Partition::sample, [](const Table& table, const Hinges& hinges, const std::vector<Block>& blocks) {
    std::vector<int> owner(table.n_samples, -1);
    SampleIndex next = 0;
    for (int t = 0; t < static_cast<int>(blocks.size()); ++t) {
      if (blocks[t].size() > 0) {
        CHECK(blocks[t].samples.front() >= next);  // ranges in ascending order that don't overlap
        next = blocks[t].samples.back() + 1;
      }
      for (const Index v : blocks[t].id) {
        CHECK(owner[hinges.sample[v]] == -1 || owner[hinges.sample[v]] == t);
        owner[hinges.sample[v]] = t;
      }
      CHECK(blocks[t].size() <= table.n_samples / static_cast<Index>(blocks.size()) + 1);
    }
  });
}

TEST(a_threshold_partition_gives_everybody_as_many_hinges_in_a_row) {
  for_partitions(Partition::threshold, [](const Table& table, const Hinges&, const std::vector<Block>& blocks) {
    Index next = 0;
    const Index least = table.size() / static_cast<Index>(blocks.size());
    for (const Block& block : blocks) {
      for (const Index v : block.id) CHECK(v == next++);
      CHECK(static_cast<Index>(block.id.size()) == least || static_cast<Index>(block.id.size()) == least + 1);
    }
    CHECK(next == table.size());
  });
}

TEST(a_block_may_choose_its_samples) {
  const Table table = tables().front();
  const Hinges hinges = table.hinges();
  const Block block(hinges, {2, 9, 25, 32, 91}, {2, 9, 22});  // samples 2, 9, 2, 9, 22
  CHECK(block.sample == std::vector<SampleIndex>({0, 1, 0, 1, 2}));
  CHECK(block.table.first == std::vector<Index>({0, 2, 4, 4, 5}));
  check_columns(hinges, block);
  check_index(block);
}

TEST(a_block_can_be_moved) {
  const Table table = tables().front();
  const Hinges hinges = table.hinges();
  std::vector<Block> all = partitioned(hinges, Partition::sample, 3);
  const std::vector<Index> ids = all[1].id;
  const Block moved = std::move(all[1]);
  all.clear();
  CHECK(moved.id == ids);
  CHECK(moved.table.sample.data() == moved.sample.data() && moved.table.cap.data() == moved.cap.data());
  check_columns(hinges, moved);
}

}  // namespace
}  // namespace ordsvm
