// Linear machines: what they prove against the definitions, for all widths, kinds of rows and both precisions; threads,
// stops, starts and blocks.
#include <stdexcept>
#include <string>
#include <thread>

#include "check.hpp"
#include "linear/gather.hpp"
#include "linear_data.hpp"

namespace ordsvm::linear {
namespace {

using Numbers = std::vector<double>;

constexpr Index n_labels = 3;

Monitor unwatched() {
  return Monitor([](Index, Index) { return false; });
}

Monitor overdue(Monitor::Report report) {
  Monitor monitor(std::move(report));
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  return monitor;
}

/// Who drives a machine over one block of rows.
struct Driver {
  Machine& machine;
  Rows rows;
  Index n;
  int n_threads = 1;

  void pass(int count, Index parts = 3, bool ahead = false) const {
    Monitor monitor = unwatched();
    for (int p = 0; p < count; ++p) machine.pass(rows, Place{0}, parts, 1.0, n_threads, monitor, ahead);
  }
  Certificate prove() const {
    Monitor monitor = unwatched();
    machine.begin_proof();
    machine.build(rows, 0);
    machine.score(rows, 0, n_threads, monitor);
    return machine.certificate();
  }
  void resume() const {
    machine.resume();
    machine.rebuild(rows, 0);
  }
  Numbers variables() const {
    Numbers values(n * machine.n_variables());
    for (Index i = 0; i < n; ++i) machine.get_variables(i, &values[i * machine.n_variables()]);
    return values;
  }
  void start(const Numbers& values) const {
    for (Index i = 0; i < n; ++i) machine.set_variables(i, &values[i * machine.n_variables()]);
    machine.rebuild(rows, 0);
  }
};

bool near(double a, double b, double share) {
  return std::abs(a - b) <= share * std::max({1.0, std::abs(a), std::abs(b)});
}

bool near(const Numbers& a, const Numbers& b, double share) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [&](double x, double y) { return near(x, y, share); });
}

std::vector<Index> reversed(Index n) {
  std::vector<Index> samples(n);
  for (Index i = 0; i < n; ++i) samples[i] = n - 1 - i;
  return samples;
}

Numbers rows_in(const LinearData& data, const std::vector<Index>& order) {
  Numbers rows;
  for (const Index i : order) rows.insert(rows.end(), &data.x[i * data.d], &data.x[i * data.d] + data.d);
  return rows;
}

/// A machine of either sort on some data, and the definitions it is held against.
struct Setting {
  const LinearData& data;
  Options options;
  bool thresholds;
  LaneTable table;
  std::unique_ptr<Machine> machine;

  Setting(const LinearData& data, ordsvm::Random& random, bool thresholds, Index size, const Options& options)
      : data(data), options(options), thresholds(thresholds) {
    if (thresholds) {
      const ThresholdTable hinges = random_thresholds(random, n_labels, size);
      table = as_lanes(hinges);
      machine = make_thresholds(hinges, data.samples(false), data.d, options);
    } else {
      table = random_lanes(random, n_labels, size);
      machine = make_lanes(table, data.samples(true), data.d, options);
    }
  }

  Driver over(const Rows& rows, int n_threads = 1) const { return {*machine, rows, data.n, n_threads}; }

  void check(const Certificate& proof, const Numbers& variables) const {
    PlainProof plain(data, table, thresholds, options, !thresholds);
    Numbers bias = machine->biases();
    for (double& b : bias) b = thresholds ? -b : b;
    const Certificate expected = plain.of(variables, bias);
    CHECK(plain.in_box());
    CHECK(near(proof.primal, expected.primal, 1e-12));
    CHECK(near(proof.dual, expected.dual, 1e-12));
    CHECK(near(proof.violation, expected.violation, 1e-10));
    CHECK(proof.primal >= proof.dual - 1e-12);
  }
};

std::string name(const Options& options, bool thresholds, Index size, std::size_t kind) {
  return std::string(thresholds ? "thresholds " : "lanes ") + std::to_string(size) + ", rows " + std::to_string(kind) +
         (options.precise ? ", double" : ", float") + (options.squared ? ", squared" : "") +
         (options.intercept ? "" : ", no intercept");
}

/// Passes and proofs in turn: every proof is right, and the gap closes.
void check_proofs(const LinearData& data, bool thresholds, Index size, const Options& options, std::size_t kind) {
  const check::Context context(name(options, thresholds, size, kind));
  ordsvm::Random random(size);
  const Setting setting(data, random, thresholds, size, options);
  const Driver driver = setting.over(data.kinds()[kind]);
  Certificate first{}, last{};
  for (int round = 0; round < 3; ++round) {
    driver.pass(round == 1 ? 4 : 1);
    last = driver.prove();
    setting.check(last, driver.variables());
    if (round == 0) first = last;
    driver.resume();
  }
  CHECK(last.primal - last.dual < 0.9 * (first.primal - first.dual));
}

void check_all_kinds(bool thresholds, std::initializer_list<Index> sizes) {
  ordsvm::Random random(1);
  const LinearData data(random, 40, 6, n_labels);
  for (const Index size : sizes)
    for (const bool precise : {false, true})
      for (const bool squared : {false, true})
        for (std::size_t kind = 0; kind < data.kinds().size(); ++kind)
          check_proofs(data, thresholds, size, {.squared = squared, .precise = precise, .rho = 1.0}, kind);
}

TEST(linear_lanes_prove_what_the_definitions_say) { check_all_kinds(false, {1, 3, 4, 5, 8, 9, 16, 17, 33}); }
TEST(linear_thresholds_prove_what_the_definitions_say) { check_all_kinds(true, {1, 2, 3, 4, 7, 20}); }

TEST(linear_lanes_without_an_intercept) {
  ordsvm::Random random(2);
  const LinearData data(random, 40, 6, n_labels);
  for (const bool precise : {false, true})
    for (const bool squared : {false, true})
      check_proofs(data, false, 5, {.intercept = false, .squared = squared, .precise = precise}, 2);
}

TEST(linear_kinds_of_rows_and_precisions_agree) {
  ordsvm::Random random(3);
  const LinearData data(random, 40, 6, n_labels);
  for (const bool thresholds : {false, true}) {
    Numbers expected;
    for (const bool precise : {true, false})
      for (std::size_t kind = 0; kind < data.kinds().size(); ++kind) {
        const check::Context context(name({.precise = precise}, thresholds, 5, kind));
        ordsvm::Random same(4);
        const Setting setting(data, same, thresholds, 5, {.precise = precise, .rho = 0.1});
        const Driver driver = setting.over(data.kinds()[kind]);
        driver.pass(3);
        if (expected.empty()) expected = driver.variables();
        CHECK(near(driver.variables(), expected, precise ? 1e-10 : 1e-3));
      }
  }
}

TEST(linear_plain_passes_raise_the_dual_to_the_primal) {
  ordsvm::Random random(5);
  const LinearData data(random, 40, 6, n_labels);
  for (const bool thresholds : {false, true})
    for (const bool squared : {false, true}) {
      const Setting setting(data, random, thresholds, 4, {.squared = squared, .precise = true, .rho = 1.0});
      const Driver driver = setting.over(data.kinds().front());
      double dual = 0.0;
      Certificate proof{};
      for (int p = 0; p < 400; ++p) {
        driver.pass(1);
        const double moved = setting.machine->take_sums().moved;
        proof = driver.prove();
        CHECK(proof.dual >= dual - 1e-12);
        CHECK(near(proof.dual, dual - moved, 1e-9));
        dual = proof.dual;
        driver.resume();
      }
      CHECK(proof.primal - proof.dual < 1e-3 * proof.primal);
    }
}

/// Also while the biases lag behind the sums of the variables.
TEST(linear_sums_of_steps_are_what_the_dual_rises_by) {
  ordsvm::Random random(16);
  const LinearData data(random, 40, 6, n_labels);
  for (const bool thresholds : {false, true})
    for (const bool squared : {false, true}) {
      const Setting setting(data, random, thresholds, 4, {.squared = squared, .precise = true, .rho = 0.05});
      const Driver driver = setting.over(data.kinds().front());
      setting.machine->set_biases(Numbers(4, 0.5));
      double dual = 0.0;
      for (int round = 0; round < 3; ++round) {
        driver.pass(2);
        dual -= setting.machine->take_sums().moved;
        CHECK(near(driver.prove().dual, dual, 1e-9));
        driver.resume();
      }
    }
}

TEST(linear_passes_may_begin_the_proof) {
  ordsvm::Random random(17);
  const LinearData data(random, 1200, 6, n_labels);
  for (const bool thresholds : {false, true})
    for (const Rows& rows : {data.kinds()[0], data.kinds()[3]}) {
      const Index size = thresholds ? 3 : 1;
      const Setting setting(data, random, thresholds, size, {.precise = true, .rho = 0.5, .n_threads = 2});
      const Driver driver = setting.over(rows, 2);
      driver.pass(3, 4, true);
      const Certificate ahead = driver.prove();
      setting.check(ahead, driver.variables());
      driver.resume();
      CHECK(near(driver.prove().primal, ahead.primal, 1e-12));
      driver.resume();
      driver.pass(1, 4, true);
      driver.pass(1);  // what the pass before has begun no longer holds
      setting.check(driver.prove(), driver.variables());
      driver.resume();
      driver.pass(1, 4, true);
      driver.start(Numbers(data.n * size, 0.0));
      setting.check(driver.prove(), driver.variables());
    }
}

TEST(linear_stops_leave_no_half_begun_proof) {
  ordsvm::Random random(18);
  const LinearData data(random, 1200, 6, n_labels);
  const Setting setting(data, random, false, 1, {.precise = true, .rho = 0.5, .n_threads = 2});
  const Driver driver = setting.over(data.kinds()[2], 2);
  for (int round = 0; round < 10; ++round) {
    Monitor monitor = overdue([](Index, Index) { return true; });
    setting.machine->pass(driver.rows, Place{0}, 400, 0.01, 2, monitor, true);
    setting.check(driver.prove(), driver.variables());
    driver.resume();
  }
}

TEST(linear_products_by_gathers_are_those_by_loads) {
  ordsvm::Random random(19);
  Numbers weights(50), values(60);
  for (double& weight : weights) weight = random.quantized();
  for (double& value : values) value = random.quantized();
  std::vector<std::int32_t> columns(values.size());
  for (auto& column : columns) column = static_cast<std::int32_t>(random.index(50));
  const std::vector<float> few(weights.begin(), weights.end()), floats(values.begin(), values.end());
  for (Index size = 0; size <= 60; ++size) {
    const SparseRow<double, std::int32_t> row{values.data(), columns.data(), size};
    const SparseRow<float, std::int32_t> narrow{floats.data(), columns.data(), size};
    double expected = 0.0;
    for (Index p = 0; p < size; ++p) expected += values[p] * weights[columns[p]];
    CHECK(near(product(row, weights.data()), expected, 1e-13));
    CHECK(near(product(narrow, weights.data()), expected, 1e-6));
    CHECK(near(product(row, few.data()), expected, 1e-5));
    CHECK(near(product(narrow, few.data()), expected, 1e-5));
  }
}

/// At a standstill the visits see the gap that a proof finds.
TEST(linear_sums_of_visits_are_the_gap) {
  ordsvm::Random random(6);
  const LinearData data(random, 40, 6, n_labels);
  for (const bool thresholds : {false, true}) {
    const Setting setting(data, random, thresholds, 3, {.squared = true, .precise = true, .rho = 1.0});
    const Driver driver = setting.over(data.kinds().front());
    driver.pass(2000);
    setting.machine->take_sums();
    driver.pass(1);
    const Sums sums = setting.machine->take_sums();
    const Certificate proof = driver.prove();
    CHECK(near(sums.gap, proof.primal - proof.dual, 1e-6));
    CHECK(sums.loss > 0.0);
    CHECK(sums.loss < proof.primal);
  }
}

/// Long rows beside a bias of 1, each threshold wanting something else: no step may lead uphill.
TEST(linear_thresholds_of_long_rows_never_lose) {
  ordsvm::Random random(7);
  LinearData data(random, 40, 6, n_labels);
  for (double& value : data.x) value *= 1e5;
  squared_norms(data.kinds().front(), data.norm.data(), 1);
  for (const bool squared : {false, true}) {
    const Setting setting(data, random, true, 5, {.squared = squared, .precise = true, .rho = 1.0});
    const Driver driver = setting.over(data.kinds().front());
    double dual = 0.0;
    for (int p = 0; p < 50; ++p) {
      driver.pass(1);
      const Certificate proof = driver.prove();
      CHECK(proof.dual >= dual - 1e-6 * std::abs(dual));
      dual = proof.dual;
      driver.resume();
    }
    CHECK(dual > 0.0);
  }
}

TEST(linear_threads_change_nothing) {
  ordsvm::Random random(8);
  const LinearData data(random, 1200, 5, n_labels);  // enough for a team
  for (const bool precise : {false, true})
    for (const Index lanes : {2, 9, 33}) {
      Numbers expected;
      for (const int n_threads : {1, 2, 4}) {
        ordsvm::Random same(9);
        const Options options{.precise = precise, .rho = 0.1, .n_threads = n_threads};
        const Setting alone(data, same, false, lanes, options);
        same = ordsvm::Random(9);
        const Setting team(data, same, false, lanes, options);
        const Driver serial = alone.over(data.kinds()[3]), threaded = team.over(data.kinds()[3], n_threads);
        serial.pass(3);
        threaded.pass(3);
        CHECK(serial.variables() == threaded.variables());  // the same groups of lanes, whoever works on them
        if (expected.empty()) expected = serial.variables();
        CHECK(near(serial.variables(), expected, precise ? 1e-10 : 1e-3));
        const Certificate one = serial.prove(), many = threaded.prove();
        CHECK(near(one.primal, many.primal, 1e-12) && near(one.dual, many.dual, 1e-12));
        CHECK(one.violation == many.violation);
        team.check(many, threaded.variables());
      }
    }
}

TEST(linear_passes_stop_when_told_to) {
  ordsvm::Random random(10);
  const LinearData data(random, 1200, 5, n_labels);
  for (const bool thresholds : {false, true}) {
    const Setting setting(data, random, thresholds, 9, {.precise = true, .n_threads = 3});
    const Driver driver = setting.over(data.kinds().front());
    Monitor stopping = overdue([](Index, Index) { return true; });
    setting.machine->pass(driver.rows, Place{0}, 8, 1.0, 1, stopping);
    CHECK(stopping.stopped());
    CHECK(std::ranges::all_of(driver.variables(), [](double value) { return value == 0.0; }));
    Monitor failing = overdue([](Index, Index) -> bool { throw std::runtime_error("interrupted"); });
    CHECK(check::throws<std::runtime_error>([&] { setting.machine->pass(driver.rows, Place{0}, 8, 1.0, 1, failing); }));
    setting.check(driver.prove(), driver.variables());
  }
}

/// Stopped in the midst of a pass, by whichever part that is, a team leaves a machine that can prove and go on.
TEST(linear_teams_stop_in_the_midst_of_a_pass) {
  ordsvm::Random random(11);
  const LinearData data(random, 20000, 5, n_labels);
  const Setting setting(data, random, false, 17, {.n_threads = 3});
  const Driver driver = setting.over(data.kinds()[3], 3);
  Monitor stopping = overdue([](Index, Index) { return true; });
  setting.machine->pass(driver.rows, Place{0}, 5000, 1.0, 3, stopping);
  const Certificate stopped = driver.prove();
  setting.check(stopped, driver.variables());
  driver.resume();
  driver.pass(2);
  const Certificate after = driver.prove();
  CHECK(after.primal - after.dual < stopped.primal - stopped.dual);
}

TEST(linear_starts_are_brought_into_the_box) {
  ordsvm::Random random(12);
  const LinearData data(random, 40, 6, n_labels);
  for (const bool thresholds : {false, true})
    for (const bool squared : {false, true})
      for (const bool precise : {false, true}) {
        const Options options{.squared = squared, .precise = precise, .rho = 1.0};
        const Setting setting(data, random, thresholds, 5, options);
        const Driver driver = setting.over(data.kinds()[4]);
        driver.start(random.uniforms(data.n * 5, -4.0, 4.0));
        setting.machine->set_biases(random.uniforms(5, -1.0, 1.0));
        setting.check(driver.prove(), driver.variables());
        driver.resume();
        driver.pass(300);
        const Certificate proof = driver.prove();
        setting.check(proof, driver.variables());
        CHECK(proof.primal - proof.dual < 0.02 * proof.primal);
      }
}

/// Rows may come in blocks of neighbours, or of any samples that a list names.
TEST(linear_blocks_are_one_whole) {
  ordsvm::Random random(13);
  const LinearData data(random, 60, 6, n_labels);
  const std::vector<Index> backwards = reversed(data.n);
  const Numbers mirrored = rows_in(data, backwards);
  for (const bool thresholds : {false, true}) {
    const Setting setting(data, random, thresholds, 6, {.precise = true});
    Monitor monitor = unwatched();
    const auto each_block = [&](auto visit) {
      for (const Index first : {40, 0, 20}) visit(data.part(first, 20), first);
    };
    each_block([&](const Rows& rows, Index first) { setting.machine->pass(rows, Place{first}, 1, 0.5, 1, monitor); });
    const DenseView<double> listed{mirrored.data(), data.n, data.d};
    setting.machine->pass(listed, Place{0, backwards.data()}, 2, 1.0, 1, monitor);
    setting.machine->begin_proof();
    each_block([&](const Rows& rows, Index first) { setting.machine->build(rows, first); });
    each_block([&](const Rows& rows, Index first) { setting.machine->score(rows, first, 2, monitor); });
    const Driver driver = setting.over(data.kinds().front());
    const Certificate proof = setting.machine->certificate();
    setting.check(proof, driver.variables());
    driver.resume();
    driver.pass(30);
    const Certificate after = driver.prove();
    CHECK(after.primal - after.dual < 0.5 * (proof.primal - proof.dual));
  }
}

TEST(linear_variables_are_given_away_as_they_are) {
  ordsvm::Random random(14);
  const LinearData data(random, 40, 6, n_labels);
  for (const bool thresholds : {false, true}) {
    const Setting setting(data, random, thresholds, 19, {.precise = true});
    const Driver driver = setting.over(data.kinds().front());
    driver.pass(2);
    driver.prove();
    const Numbers expected = driver.variables();
    const Buffer<double> weights = setting.machine->take_weights();
    CHECK(weights.size() >= data.d * setting.machine->n_columns());
    Index before = 0;
    for (const Kept& kept : setting.machine->take_variables()) {
      const auto* const values = static_cast<const double*>(kept.values);
      CHECK(kept.precise);
      for (Index i = 0; i < data.n; ++i)
        for (Index l = 0; l < kept.columns; ++l) CHECK(values[i * kept.columns + l] == expected[i * 19 + before + l]);
      before += kept.columns;
    }
    CHECK(before == 19);
  }
}

TEST(linear_orders_hold_every_row_once) {
  Order order(3);
  for (const Index n : {1, 7, 8, 9, 1000}) {
    std::vector<int> visits(n, 0);
    order.shuffle(n);
    for (Index p = 0; p < order.n_blocks(); ++p)
      for (Index i = order.first(p); i < order.last(p); ++i) ++visits[i];
    CHECK(std::ranges::all_of(visits, [](int count) { return count == 1; }));
  }
}

TEST(linear_norms_of_columns_that_come_twice) {
  ordsvm::Random random(15);
  const LinearData data(random, 50, 6, n_labels);
  for (const Rows& rows : data.kinds())
    for (const int n_threads : {1, 3}) {
      std::vector<float> norms(data.n);
      squared_norms(rows, norms.data(), n_threads);
      CHECK(norms == data.norm);
    }
}

}  // namespace
}  // namespace ordsvm::linear
