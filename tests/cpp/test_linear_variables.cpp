// Dual variables of linear machines: starts, row blocks, and their way out of the machine.
#include "check.hpp"
#include "linear_machines.hpp"

namespace ordsvm::linear {
namespace {

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

/// Rows may come in row blocks of neighbours, or of any samples that a list names.
TEST(linear_row_blocks_are_one_whole) {
  ordsvm::Random random(13);
  const LinearData data(random, 60, 6, n_labels);
  const std::vector<Index> backwards = reversed(data.n);
  const Numbers mirrored = rows_in(data, backwards);
  for (const bool thresholds : {false, true}) {
    const Setting setting(data, random, thresholds, 6, {.precise = true});
    Monitor monitor = unwatched();
    const auto each_row_block = [&](auto visit) {
      for (const Index first : {40, 0, 20}) visit(data.part(first, 20), first);
    };
    each_row_block(
        [&](const Rows& rows, Index first) { setting.machine->pass(rows, Place{first}, 1, 0.5, 1, monitor); });
    const DenseView<double> listed{mirrored.data(), data.n, data.d};
    setting.machine->pass(listed, Place{0, backwards.data()}, 2, 1.0, 1, monitor);
    setting.machine->begin_proof();
    each_row_block([&](const Rows& rows, Index first) { setting.machine->build(rows, first); });
    each_row_block([&](const Rows& rows, Index first) { setting.machine->score(rows, first, 2, monitor); });
    const Driver driver = setting.over(data.kinds().front());
    const Certificate proof = setting.machine->certificate();
    setting.check(proof, driver.variables());
    driver.resume();
    driver.pass(30);
    const Certificate after = driver.prove();
    CHECK(after.primal - after.dual < 0.5 * (proof.primal - proof.dual));
  }
}

TEST(linear_variables_are_taken_as_they_are) {
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

}  // namespace
}  // namespace ordsvm::linear
