// Several problems in one call: groups of samples, rows that threads share, and answers by the definitions.
#include "check.hpp"
#include "in_threads.hpp"
#include "solve.hpp"
#include "solvers/together/groups.hpp"
#include "solvers/together/together.hpp"

namespace ordsvm {
namespace {

using together::Found, together::GroupedKernel, together::LazyRows, together::Partition, together::Problems;

/// Every rank against every other, or each against the rest, as tables one after the other.
struct Tables {
  std::vector<HingeTable> each;
  std::vector<SampleIndex> sample;
  std::vector<double> sign, offset, cap;
  std::vector<Index> begin = {0};

  Tables(const Data& data, bool pairs, Treatment treatment) {
    for (Index a = 0; a < data.n_ranks; ++a)
      for (Index b = pairs ? a + 1 : a; b < (pairs ? data.n_ranks : a + 1); ++b) add(data, a, b, treatment);
  }

  void add(const Data& data, Index a, Index b, Treatment treatment) {
    HingeTable table{data.n, 1, treatment};
    for (Index i = 0; i < data.n; ++i)
      if (a == b || data.rank[i] == a || data.rank[i] == b) table.add(i, 0, data.rank[i] == a ? 1.0 : -1.0, 1.0, 2.0);
    sample.insert(sample.end(), table.sample.begin(), table.sample.end());
    sign.insert(sign.end(), table.sign.begin(), table.sign.end());
    offset.insert(offset.end(), table.offset.begin(), table.offset.end());
    cap.insert(cap.end(), table.cap.begin(), table.cap.end());
    begin.push_back(static_cast<Index>(sample.size()));
    each.push_back(table);
  }

  Problems problems() const { return {sample, sign, offset, cap, begin, each[0].n_samples, each[0].treatment}; }
  Partition partition() const {
    std::vector<std::span<const SampleIndex>> samples;
    for (const HingeTable& table : each) samples.push_back(table.sample);
    return Partition(each[0].n_samples, samples);
  }
};

struct Solved {
  bool done;
  std::vector<double> alpha, score;
  std::vector<Found> found;
};

Solved solve(const Tables& tables, const RowSource& rows, double tol, int n_threads, double budget = 1e9) {
  const Problems problems = tables.problems();
  Solved solved{false, std::vector<double>(problems.sample.size(), 0.0),
                std::vector<double>(problems.count() * problems.n_samples, 0.0), std::vector<Found>(problems.count())};
  solved.done = together::solve(rows, problems, solved.alpha, solved.score, solved.found,
                                {tol, 0.0, 1000000, 0, 0.0, 10.0, budget, n_threads}, [] { return false; });
  return solved;
}

TEST(groups_are_samples_of_the_same_problems) {
  Random random(91);
  const Data data(random, 30, 2, 3, 1.0);
  const Partition pairs = Tables(data, true, Treatment::free).partition();
  CHECK(pairs.members.size() == 3 && pairs.meet_once());
  for (Index i = 0; i < data.n; ++i) {
    CHECK(data.rank[pairs.members[pairs.group[i]][0]] == data.rank[i]);
    CHECK(pairs.members[pairs.group[i]][pairs.place[i]] == i);
  }
  for (const auto& groups : pairs.groups_of) CHECK(groups.size() == 2);
  const Partition rest = Tables(data, false, Treatment::free).partition();
  CHECK(rest.members.size() == 1 && rest.size_of(2) == data.n);
}

TEST(rows_of_groups_are_those_of_the_kernel_whoever_makes_them) {
  Random random(92);
  const Data data(random, 80, 3, 3, 1.0);
  const Space space(rbf, data);
  const Partition partition = Tables(data, true, Treatment::free).partition();
  for (const bool shares : {true, false}) {
    const GroupedKernel kernel(*space.rows, partition, shares);
    LazyRows rows(true);
    kernel.start(rows, partition.groups_of[1]);
    std::vector<Index> samples;
    for (const Index g : partition.groups_of[1])
      samples.insert(samples.end(), partition.members[g].begin(), partition.members[g].end());
    in_threads(3, [&](int) {
      for (Index i = 0; i < rows.size(); ++i)
        for (Index j = 0; j < rows.size(); ++j) {
          CHECK(std::abs(rows.row_as(i, double())[j] - space.matrix[samples[i] * data.n + samples[j]]) < 1e-12);
          CHECK(rows.row_as(i, float())[j] == static_cast<float>(rows.row_as(i, double())[j]));
        }
    });
    CHECK(rows.made() == rows.size());
  }
}

TEST(problems_are_solved_whatever_the_number_of_threads) {
  Random random(93);
  const Data data(random, 90, 2, 4, 1.0);
  const Space space(rbf, data);
  for (const Treatment treatment : {Treatment::none, Treatment::penalized, Treatment::free})
    for (const bool pairs : {true, false})
      for (const double tol : {1e-4, 1e-8}) {
        const Tables tables(data, pairs, treatment);
        const Solved one = solve(tables, *space.rows, tol, 1), three = solve(tables, *space.rows, tol, 3);
        CHECK(one.done && three.done && one.alpha == three.alpha);
        for (std::size_t p = 0; p < tables.each.size(); ++p) {
          CHECK(one.found[p].end == together::End::converged && one.found[p].violation <= tol);
          CHECK(one.found[p].gap <= tol * one.found[p].primal);
          const Index first = tables.begin[p], count = tables.begin[p + 1] - first;
          const auto beta = tables.each[p].hinges().beta(std::span(one.alpha).subspan(first, count));
          for (Index i = 0; i < data.n; ++i) {
            if (pairs && beta[i] == 0.0) continue;
            double score = 0.0;
            for (Index j = 0; j < data.n; ++j) score += space.matrix[i * data.n + j] * beta[j];
            CHECK(std::abs(score - one.score[p * data.n + i]) < 1e-9);
          }
        }
      }
}

TEST(without_memory_for_rows_nothing_is_done) {
  Random random(94);
  const Data data(random, 60, 2, 3, 1.0);
  const Space space(rbf, data);
  for (const bool pairs : {true, false}) {
    const Solved solved = solve(Tables(data, pairs, Treatment::free), *space.rows, 1e-3, 2, 1000.0);
    CHECK(!solved.done);
    for (const double alpha : solved.alpha) CHECK(alpha == 0.0);
  }
}

}  // namespace
}  // namespace ordsvm
