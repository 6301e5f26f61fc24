// Several pairs at once: optima, threads, caches, failures; and what it is made of: a pool, ranges of hinges, cached hinges.
#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "check.hpp"
#include "methods.hpp"
#include "odd_rows.hpp"
#include "solvers/papers/parsmo/parsmo.hpp"

namespace ordsvm {

std::string name(const ParsmoOptions& options) {
  return std::string(options.others == Others::light ? "light" : "cache") + ", " + std::to_string(options.n_pairs) +
         " pairs, " + std::to_string(options.n_threads) + " threads";
}

template <class T>
Outcome run(const Hinges& hinges, RowCache<T>& cache, const ParsmoOptions& options, const Limits& limits,
            const Variables& variables, Monitor& monitor) {
  KernelState<T> state(cache, hinges, variables);
  return Parsmo(hinges, state, variables, options).run(limits, monitor);
}

namespace {

std::vector<ParsmoOptions> variants() {
  return {{Others::light, 1, 1e-12, true, 1}, {Others::light, 5, 1e-12, true, 3}, {Others::cache, 3, 1e-12, true, 2}};
}

TEST(a_crew_runs_every_task_once_and_divides_what_is_worth_it) {
  for (const int n_threads : {1, 3}) {
    ThreadPool pool(n_threads);
    CHECK(pool.size() == n_threads);
    for (int round = 0; round < 100; ++round) {
      std::vector<int> ran(n_threads, 0);
      pool.run(n_threads, [&](int t, int) { ++ran[t]; });
      CHECK(std::accumulate(ran.begin(), ran.end(), 0) == n_threads && ran.back() == 1);
      std::vector<int> seen(1000, 0);
      pool.split(seen.size(), round % 2 == 0 ? 1 : 1 << 30, [&](std::size_t begin, std::size_t end) {
        for (; begin < end; ++begin) ++seen[begin];
      });
      CHECK(seen == std::vector<int>(1000, 1));
    }
  }
}

TEST(a_crew_passes_an_exception_on_and_goes_on) {
  ThreadPool pool(3);
  for (int round = 0; round < 50; ++round) {
    bool caught = false;
    std::atomic<int> ran = 0;
    try {
      pool.run(3, [&](int t, int) {
        ++ran;
        if (t == round % 3) throw std::runtime_error("no");
      });
    } catch (const std::runtime_error&) {
      caught = true;
    }
    CHECK(caught && ran == 3);
  }
}

TEST(ranges_give_the_extremes_of_the_frontier_also_without_some_hinges) {
  Random random(61);
  const Data data(random, 2500, 2, 3, 1.0);  // several ranges a threshold
  for (const HingeTable& table :
       {implicit_table(data, Treatment::free, 1.0), explicit_table(data, Treatment::free, 1.0)}) {
    const Hinges hinges = table.hinges();
    std::vector<double> score, alpha;
    for (Index i = 0; i < hinges.n_samples; ++i) score.push_back(random.quantized());  // many ties
    for (Index v = 0; v < hinges.size(); ++v) alpha.push_back(0.5 * static_cast<double>(random.index(3)));
    Frontier<double> frontier(hinges, score, alpha);
    RangeExtremes<double> extremes(hinges, frontier);
    ThreadPool pool(2);
    extremes.refresh(pool);
    for (int hidden = 0; hidden < 20; ++hidden)
      for (Index k = 0; k < hinges.n_thresholds; ++k) {
        const simd::Extremes expected = frontier.extremes(k), found = extremes.extremes(k);
        CHECK(found.low == expected.low && found.low_at == expected.low_at);
        CHECK(found.up == expected.up && found.up_at == expected.up_at);
        for (const Index v : {found.low_at, found.up_at}) {
          frontier.hide(v);
          extremes.refresh(v);
        }
      }
  }
}

TEST(hinges_with_rows_follow_the_cache) {
  Random random(62);
  const Data data(random, 30, 2, 4, 1.0);
  const Space space(rbf, data);
  const HingeTable table = implicit_table(data, Treatment::free, 1.0);
  const Hinges hinges = table.hinges();
  const std::vector<double> score(data.n, 0.0), alpha(hinges.size(), 0.5);
  RowCache<double> cache(*space.rows, 4 * data.n * sizeof(double));
  CachedHinges<double> cached(hinges, score, alpha, 0.0);
  ThreadPool pool(1);
  std::vector<Index> latest;
  for (int round = 0; round < 40; ++round) {
    const Index i = random.index(data.n);
    {
      const auto row = cache.pin(i);
    }
    std::erase(latest, i);
    latest.push_back(i);
    if (latest.size() > 4) latest.erase(latest.begin());
    cached.refresh(cache, pool);
    for (Index k = 0; k < hinges.n_thresholds; ++k) {
      std::vector<Index> expected, found;
      for (Index v = hinges.first[k]; v < hinges.first[k + 1]; ++v)
        if (std::count(latest.begin(), latest.end(), hinges.sample[v]) > 0) expected.push_back(v);
      for (;;) {  // hinges in the middle of their box: all of them may fall
        const Index v = cached.extremes().extremes(k).low_at;
        if (v < 0) break;
        found.push_back(v);
        cached.hide(v);
      }
      std::sort(found.begin(), found.end());
      CHECK(found == expected);
      for (const Index v : found) cached.update(v);
    }
    CHECK(cache.pin_if_cached(i).has_value());
  }
}

TEST(parsmo_finds_the_optimum_of_every_table) {
  Random random(63);
  for (const double cap : {0.1, 3.0}) {
    const Data data(random, 30, 2, 4, 2.0);
    const Space space(cap < 1.0 ? linear : rbf, data);
    for (const ParsmoOptions& options : variants()) {
      check_all_precisions(implicit_table(data, Treatment::free, cap), space, options);
      check_all_precisions(explicit_table(data, Treatment::free, cap), space, options);
      check_all_precisions(with_random_caps(explicit_table(data, Treatment::ordered, cap), random), space, options);
      check_all_precisions(regression_table(data, Treatment::free, cap), space, options);
    }
  }
}

TEST(parsmo_is_the_same_on_any_number_of_threads) {
  Random random(64);
  const Data data(random, 9000, 2, 3, 1.0);  // worth dividing
  const std::unique_ptr<RowSource> rows = make_rows(rbf, DenseView<double>{data.x.data(), data.n, data.d});
  for (const Others others : {Others::light, Others::cache})
    for (const HingeTable& table :
         {implicit_table(data, Treatment::free, 1.0), explicit_table(data, Treatment::ordered, 1.0)}) {
      const Options options{1e-3, 60, 30 * data.n * sizeof(float), false};
      const Fit one = solve(table, *rows, ParsmoOptions{others, 6, 1e-12, true, 1}, options);
      const Fit more = solve(table, *rows, ParsmoOptions{others, 6, 1e-12, true, 3}, options);
      CHECK(same(one, more) && one.outcome.kernel_rows == more.outcome.kernel_rows);
      CHECK(one.outcome.status == Status::max_iter && one.outcome.steps == 60);
    }
}

TEST(parsmo_recomputes_scores_on_its_threads_to_the_same_bits) {
  Random random(66);
  const Data data(random, 1200, 2, 3, 1.0);  // a product worth several threads
  const std::unique_ptr<RowSource> rows = make_rows(rbf, DenseView<double>{data.x.data(), data.n, data.d});
  const SlowRows without_tiles(*rows, microseconds(0), microseconds(0));
  const HingeTable table = implicit_table(data, Treatment::free, 0.1);
  for (const bool tiles : {true, false}) {
    const RowSource& source = tiles ? *rows : static_cast<const RowSource&>(without_tiles);
    const Options options{1e-2, 1 << 20, 400 * data.n * sizeof(double), true};
    const Fit one = solve(table, source, ParsmoOptions{Others::light, 6, 1e-12, true, 1}, options);
    const Fit more = solve(table, source, ParsmoOptions{Others::light, 6, 1e-12, true, 3}, options);
    CHECK(one.outcome.status == Status::converged && same(one, more));
  }
}

TEST(parsmo_passes_on_what_rows_throw) {
  Random random(65);
  const Data data(random, 40, 2, 4, 1.0);
  const Space space(rbf, data);
  const HingeTable table = implicit_table(data, Treatment::free, 2.0);
  for (const ParsmoOptions& options : variants()) {
    const check::Context here(name(options));
    const BrokenRows broken(*space.rows, 7);
    Fit fit = Fit::zero(table);
    bool caught = false;
    try {
      solve_from(fit, table, broken, options, single);
    } catch (const std::runtime_error&) {
      caught = true;
    }
    CHECK(caught);
    const plain::Point point(table, space.matrix, fit.alpha);
    CHECK(point.is_in_box() && point.infeasibility() <= 1e-10);
  }
}

}  // namespace
}  // namespace ordsvm
