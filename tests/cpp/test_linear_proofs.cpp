// Linear machines: what they prove against the definitions, for all widths, kinds of rows and both precisions.
#include "check.hpp"
#include "linear_machines.hpp"

namespace ordsvm::linear {
namespace {

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

TEST(linear_lanes_prove_what_the_definitions_give) { check_all_kinds(false, {1, 3, 4, 5, 8, 9, 16, 17, 33}); }

TEST(linear_thresholds_prove_what_the_definitions_give) { check_all_kinds(true, {1, 2, 3, 4, 7, 20}); }

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

/// Long rows beside a bias of 1, thresholds that pull in different directions: no step may lead uphill.
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

}  // namespace
}  // namespace ordsvm::linear
