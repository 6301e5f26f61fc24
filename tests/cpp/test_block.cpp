// The block method: its kernel products by the formula, its optima by the definitions, its threads by each other.
#include "check.hpp"
#include "kernels/tiles/exact.hpp"
#include "kernels/tiles/samples.hpp"
#include "odd_rows.hpp"
#include "solve.hpp"
#include "solvers/block/block_smo.hpp"

namespace ordsvm {

/// Sets so small that all levels have something to do.
struct Blocked {
  Index q1, q2;
  int n_threads;
};

bool screens_samples(const Blocked&) { return true; }

std::string name(const Blocked& blocked) {
  return "block " + std::to_string(blocked.q1) + ", " + std::to_string(blocked.q2) + ", " +
         std::to_string(blocked.n_threads) + " threads";
}

template <class T>
Outcome run(const Hinges& hinges, RowCache<T>& cache, const Blocked& blocked, const Limits& limits,
            const Variables& variables, Monitor& monitor) {
  const block::Options options{blocked.q1, blocked.q2, blocked.n_threads};
  return block::BlockSmo<T>(hinges, cache, variables, options).run(limits, monitor);
}

namespace {

const std::vector<Blocked> blockeds = {{0, 256, 1}, {16, 4, 1}, {16, 4, 3}, {3, 2, 1}};

std::vector<HingeTable> tables_on(const Data& data, double cap) {
  std::vector<HingeTable> tables = {explicit_table(data, Treatment::ordered, cap)};
  for (const Treatment treatment : {Treatment::penalized, Treatment::free}) {
    tables.push_back(implicit_table(data, treatment, cap));
    tables.push_back(explicit_table(data, treatment, cap));
  }
  for (const Treatment treatment : {Treatment::none, Treatment::penalized, Treatment::free}) {
    tables.push_back(classification_table(data, treatment, cap));
    tables.push_back(regression_table(data, treatment, cap));
  }
  return tables;
}

TEST(block_finds_the_optimum_of_every_table) {
  Random random(71);
  for (const double noise : {0.3, 3.0}) {
    const Data data(random, 45, 2, 4, noise);
    const Space space(rbf, data);
    for (const HingeTable& table : tables_on(data, 2.0))
      for (const Blocked& blocked : blockeds) check_all_precisions(with_random_caps(table, random), space, blocked);
  }
}

TEST(block_needs_no_curvature) {
  Random random(72);
  const Data data(random, 30, 1, 3, 1.0);
  const Space line(linear, data), nothing(linear, std::vector<double>(30, 0.0), 30, 1);
  for (const HingeTable& table : tables_on(data, 1.0))
    for (const Space* space : {&line, &nothing}) check_all_precisions(table, *space, Blocked{8, 4, 1});
}

TEST(block_gives_the_same_answer_whenever_the_number_of_threads_is) {
  Random random(73);
  const Data data(random, 3000, 3, 4, 1.0);  // enough for threads, and for several sets at a time
  const Space space(rbf, data);
  for (const HingeTable& table : tables_on(data, 1.0))
    for (const int n_threads : {1, 2, 3}) {
      const Blocked blocked{256, 32, n_threads};
      const Fit fit = solve(table, *space.rows, blocked, single);
      CHECK(fit.outcome.status == Status::converged);
      check_state(table, space, fit, single.tol);
      CHECK(same(fit, solve(table, *space.rows, blocked, single)));
    }
}

TEST(block_keeps_to_its_limits) {
  Random random(74);
  const Data data(random, 60, 2, 4, 1.0);
  const Space space(rbf, data);
  for (const HingeTable& table : tables_on(data, 5.0))
    for (const Index max_steps : {0, 1, 7, 30}) {
      const Fit fit = solve(table, *space.rows, Blocked{16, 4, 2}, {1e-9, max_steps, large_cache, true});
      CHECK(fit.outcome.status == Status::max_iter);
      CHECK(fit.outcome.steps == max_steps);
      check_state(table, space, fit, 1e-9);
    }
}

TEST(block_reports_after_as_many_steps_as_asked_for) {
  Random random(75);
  const Data data(random, 60, 2, 4, 1.0);
  const Space space(rbf, data);
  for (const HingeTable& table : tables_on(data, 5.0)) {
    std::vector<Index> seen;
    Monitor monitor([&](Index steps, Index) { return seen.push_back(steps), steps >= 30; });
    monitor.report_every(10);
    Fit fit = Fit::zero(table);
    solve_from(fit, table, *space.rows, Blocked{16, 4, 1}, {1e-9, many_steps, large_cache, true}, monitor);
    CHECK(fit.outcome.status == Status::stopped);
    CHECK(seen == std::vector<Index>{10, 20, 30});
    check_state(table, space, fit, 1e-9);
  }
}

TEST(block_can_be_interrupted_in_the_middle_of_a_round) {
  Random random(76);
  const Data data(random, 1500, 2, 4, 3.0);  // so many that no processor is done before the first look at the clock
  const Space space(rbf, data);
  const HingeTable table = implicit_table(data, Treatment::penalized, 1e6);
  Monitor stopped([](Index, Index) { return false; }, [](double tol, double) { return tol; }, [] { return true; });
  Fit fit = Fit::zero(table);
  solve_from(fit, table, *space.rows, Blocked{0, 32, 2}, {1e-12, Index{1} << 40, large_cache, true}, stopped);
  CHECK(fit.outcome.status == Status::stopped);
  CHECK(plain::Point(table, space.matrix, fit.alpha).is_in_box());
}

const std::vector<Kernel> kernels = {{KernelKind::linear, 1.0, 0.0, 3.0},      {KernelKind::rbf, 0.7, 0.0, 3.0},
                                     {KernelKind::polynomial, 0.5, 1.0, 2.0},  {KernelKind::polynomial, 0.5, 1.0, 0.0},
                                     {KernelKind::polynomial, 0.01, 2.0, 1.5}, {KernelKind::sigmoid, 0.3, 0.1, 3.0},
                                     {KernelKind::laplacian, 0.4, 0.0, 3.0}};

/// A matrix as CSR.
struct Sparse {
  std::vector<double> values;
  std::vector<std::int32_t> columns, starts{0};
  Index n_rows, n_columns;

  Sparse(const std::vector<double>& x, Index n, Index d) : n_rows(n), n_columns(d) {
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < d; ++j)
        if (x[i * d + j] != 0.0) values.push_back(x[i * d + j]), columns.push_back(static_cast<std::int32_t>(j));
      starts.push_back(static_cast<std::int32_t>(values.size()));
    }
  }
  CsrView<double, std::int32_t> view() const {
    return {values.data(), columns.data(), starts.data(), n_rows, n_columns};
  }
};

/// Values between -1 and 1, or ones, but for some that are 0.
std::vector<double> samples_of(Random& random, Index size, double density, bool ones) {
  std::vector<double> x = random.uniforms(size, -1.0, 1.0);
  for (double& value : x) value = !random.chance(density) ? 0.0 : ones ? 1.0 : value;
  return x;
}

/// `function(space)` for all kernels, rows that are stored as dense and as sparse ones, short and long, of zeros and
/// ones and of others.
template <class Function>
void for_spaces(Index n, Function function) {
  Random random(77);
  for (const bool ones : {false, true})
    for (const double density : {1.0, 0.5, 0.2})
      for (const Index d : {3, 40}) {
        const std::vector<double> x = samples_of(random, n * d, density, ones);
        const Sparse sparse(x, n, d);
        for (const Kernel& kernel : kernels) {
          const check::Context here("kernel " + std::to_string(static_cast<int>(kernel.kind)) +
                                    ", d = " + std::to_string(d) + ", density = " + std::to_string(density) +
                                    (ones ? ", ones" : ""));
          Space space(kernel, x, n, d);
          function(space);
          space.rows = make_rows(kernel, sparse.view());
          function(space);
        }
      }
}

tiles::Form form_of(const Kernel& kernel, const std::vector<double>& x, Index n, bool as_csr = false) {
  const Index d = static_cast<Index>(x.size()) / n;
  const Sparse sparse(x, n, d);
  const auto rows = as_csr ? make_rows(kernel, sparse.view()) : make_rows(kernel, DenseView<double>{x.data(), n, d});
  ThreadPool pool(1);
  return tiles::TiledSamples<double>(*rows, pool, false).form();
}

TEST(samples_are_met_in_the_form_that_suits_them) {
  using tiles::Form;
  Random random(79);
  const Index n = 30, d = 40;
  const std::vector<double> dense = samples_of(random, n * d, 1.0, false), few = samples_of(random, n * d, 0.2, false),
                            ones = samples_of(random, n * d, 0.2, true), many = std::vector<double>(n * d, 1.0);
  CHECK(form_of({KernelKind::rbf, 0.01}, dense, n) == Form::norms);
  CHECK(form_of({KernelKind::rbf, 10.0}, dense, n) == Form::differences);  // norms would cancel
  CHECK(form_of({KernelKind::laplacian, 0.01}, dense, n) == Form::differences);
  CHECK(form_of({KernelKind::rbf, 10.0}, few, n, true) == Form::sparse);
  CHECK(form_of({KernelKind::rbf, 10.0}, ones, n, true) == Form::binary);
  CHECK(form_of({KernelKind::rbf, 10.0}, ones, n) == Form::binary);
  CHECK(form_of({KernelKind::rbf, 10.0}, many, n) == Form::differences);  // distances up to 80 are too many
}

TEST(exact_products_use_every_value_once_each_way) {
  const Index n = 203;
  for_spaces(n, [&](const Space& space) {
    Random random(78);
    std::vector<double> beta(n, 0.0);
    for (Index i = 0; i < n; ++i)
      if (i % 3 != 1) beta[i] = random.uniform(-1.0, 1.0);
    std::vector<double> expected;
    double scale = 0.0;
    for (Index i = 0; i < n; ++i) {
      expected.push_back(plain::dot(&space.matrix[i * n], beta.data(), n));
      scale = std::max(scale, std::abs(space.matrix[i * n + i]));
    }
    Monitor monitor(go_on);
    std::vector<double> alone(n), together(n);
    ThreadPool pool(3);
    CHECK(product(*space.rows, beta, alone, monitor, 0, 0));
    CHECK(product(*space.rows, beta, together, monitor, 0, 0, 3, &pool));
    CHECK(largest_difference(alone, expected) <= 1e-12 * scale);
    CHECK(alone == together);
  });
}

TEST(a_product_may_leave_out_samples) {
  const Index n = 203;
  for_spaces(n, [&](const Space& space) {
    std::vector<double> beta(n, 0.0), all(n), some(n);
    std::vector<char> left_out(n, 0);
    for (Index i = 0; i < n; ++i) {
      if (i % 3 == 0) beta[i] = 0.1 * (i % 7) - 0.33;
      left_out[i] = i % 3 == 1;
    }
    Monitor monitor(go_on);
    ThreadPool pool(2);
    CHECK(product(*space.rows, beta, all, monitor, 0, 0, 2, &pool));
    CHECK(product(*space.rows, beta, some, monitor, 0, 0, 2, &pool, left_out));
    double worst = 0.0, scale = 1.0;
    for (Index i = 0; i < n; ++i) {
      scale = std::max(scale, std::abs(all[i]));
      if (!left_out[i]) worst = std::max(worst, std::abs(all[i] - some[i]));
    }
    CHECK(worst <= 1e-13 * scale);
  });
}

void check_blocks(const Space& space, const RowSource& source, std::size_t rows, const std::vector<Index>& some) {
  const Index n = space.n;
  const StopCheck never = [] { return false; };
  RowCache<float> cache(source, sizeof(float) * n * rows);
  ThreadPool pool(2);
  const auto row_blocks = block::make_row_blocks<float>(cache, pool);
  for (int turn = 0; turn < 2; ++turn) {  // the second time some rows are there
    std::vector<float> gram(some.size() * 64);
    CHECK(row_blocks->gram(some, gram.data(), 64, never));
    std::vector<double> weight(some.size(), 0.5), out(n, 1.0);
    CHECK(row_blocks->add_product(some, weight, out, never));
    double worst = 0.0, scale = 1.0;
    for (std::size_t p = 0; p < some.size(); ++p)
      for (std::size_t q = 0; q < some.size(); ++q) {
        const double value = space.matrix[some[p] * n + some[q]];
        worst = std::max(worst, std::abs(gram[p * 64 + q] - value));
        scale = std::max(scale, std::abs(value));
      }
    CHECK(worst <= 1e-5 * scale);
    for (Index i = 0; i < n; ++i) {
      double expected = 1.0;
      for (const Index j : some) expected += 0.5 * space.matrix[j * n + i];
      CHECK(std::abs(out[i] - expected) <= 2e-5 * scale);
    }
    CHECK(cache.size() <= rows);
  }
}

TEST(blocks_of_k_and_products_agree_with_the_formula) {
  const Index n = 203;
  for_spaces(n, [&](const Space& space) {
    const SlowRows plain(*space.rows, {}, {});  // has nothing but rows
    for (const std::size_t rows : {2, 6, 203})  // of K that there is room for
      for (const RowSource* source : std::initializer_list<const RowSource*>{space.rows.get(), &plain}) {
        check_blocks(space, *source, rows, {5, 200, 7, 7 + 64, 0, 130, 131, 132, 133});
        check_blocks(space, *source, rows, {1});
      }
  });
}

TEST(what_two_long_rows_have_in_common_is_computed_once) {
  const Index n = 330, d = 340, portion = 140;
  Random random(81);
  const StopCheck never = [] { return false; };
  for (const double density : {1.0, 0.9}) {
    const std::vector<double> x = samples_of(random, n * d, density, false);
    const Sparse sparse(x, n, d);
    for (const Kernel& kernel : {kernels[0], kernels[1], kernels[2], kernels[6]})
      for (const bool as_csr : {false, true}) {
        const check::Context here("kernel " + std::to_string(static_cast<int>(kernel.kind)) +
                                  ", density = " + std::to_string(density) + (as_csr ? ", sparse" : ""));
        Space space(kernel, x, n, d);
        if (as_csr) space.rows = make_rows(kernel, sparse.view());
        RowCache<float> cache(*space.rows, sizeof(float) * n * n);
        ThreadPool pool(2);
        const auto row_blocks = block::make_row_blocks<float>(cache, pool);
        for (Index begin = 0; begin < n; begin += portion) {
          std::vector<Index> some;  // neither in order nor side by side
          for (Index i = std::min(begin + portion, n) - 1; i >= begin; --i) some.push_back(i * 101 % n);
          std::vector<double> weight(some.size(), 0.5), out(n, 1.0);
          CHECK(row_blocks->add_product(some, weight, out, never));
          for (Index i = 0; i < n; ++i) {
            double expected = 1.0, scale = 1.0;
            for (const Index j : some) {
              expected += 0.5 * space.matrix[j * n + i];
              scale = std::max(scale, std::abs(space.matrix[j * n + i]));
            }
            CHECK(std::abs(out[i] - expected) <= 1e-4 * scale);
          }
        }
        const double first = portion * n, second = portion * (n - portion),
                     last = (n - 2 * portion) * (n - 2 * portion);
        const double spared = 64 * 64;  // of the two tiles that a portion fills, with each other
        CHECK(row_blocks->values_computed() == first + second + last - 2 * spared);
      }
  }
}

TEST(blocks_of_rows_keep_those_that_were_asked_for_last) {
  const Index n = 60;
  Random random(80);
  const Space space(rbf, Data(random, n, 3, 4, 1.0));
  const SlowRows plain(*space.rows, {}, {});
  RowCache<double> cache(plain, sizeof(double) * n * 10);
  ThreadPool pool(2);
  const auto row_blocks = block::make_row_blocks<double>(cache, pool);
  const StopCheck never = [] { return false; };
  std::vector<double> gram(8 * 64), out(n), weight(8, 1.0);
  for (Index first = 0; first + 8 <= n; first += 4) {  // half of every set comes again, and its rows with it
    std::vector<Index> some(8);
    std::iota(some.begin(), some.end(), first);
    CHECK(row_blocks->gram(some, gram.data(), 64, never));
    CHECK(row_blocks->add_product(some, weight, out, never));
  }
  CHECK(row_blocks->values_computed() == static_cast<double>(n * n));
}

TEST(newton_is_tried_where_it_costs_less_than_what_is_left_or_what_was_in_vain) {
  const double violation = 0.05, tol = 1e-3;
  CHECK(!block::newton_pays(1000, 0, violation, tol, 100, 0.0));
  CHECK(block::newton_pays(100000, 0, violation, tol, 100, 0.0));
  CHECK(block::newton_pays(1000, 100000, violation, tol, 100, 0.0));
  CHECK(!block::newton_pays(1000, 100000, violation, tol, 2000, 0.0));
  CHECK(!block::newton_pays(1000000000, 1000000000, violation, tol, 0, 0.0));
  block::Progress progress;
  for (const auto& [seen, work] : std::vector<std::pair<double, Index>>{{1.0, 0}, {0.95, 50}, {0.8, 100}, {0.79, 170}})
    progress.see(seen, work);
  CHECK(progress.work_without_progress() == 70);
  CHECK(progress.looks_without_progress() == 2);
}

TEST(a_crew_passes_on_what_the_caller_throws_and_goes_on) {
  ThreadPool pool(3);
  for (int turn = 0; turn < 50; ++turn) {
    std::atomic<bool> raging = false;  // the others leave the caller a task
    const auto rage = [&](int, int thread) {
      if (thread == 0) raging = true, throw std::runtime_error("caller");
      while (!raging) std::this_thread::yield();
    };
    CHECK(check::throws<std::runtime_error>([&] { pool.run(20, rage); }));
    std::vector<int> visits(20, 0);
    pool.run(20, [&](int task, int) { ++visits[task]; });
    CHECK(visits == std::vector<int>(20, 1));
  }
}

}  // namespace
}  // namespace ordsvm
