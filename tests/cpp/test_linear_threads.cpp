// Linear machines on several threads: the same answer, proofs begun during a pass, and stops.
#include <stdexcept>

#include "check.hpp"
#include "linear_machines.hpp"

namespace ordsvm::linear {
namespace {

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
        CHECK(serial.variables() == threaded.variables());  // the same groups of lanes, on whichever thread
        if (expected.empty()) expected = serial.variables();
        CHECK(near(serial.variables(), expected, precise ? 1e-10 : 1e-3));
        const Certificate one = serial.prove(), many = threaded.prove();
        CHECK(near(one.primal, many.primal, 1e-12) && near(one.dual, many.dual, 1e-12));
        CHECK(one.violation == many.violation);
        team.check(many, threaded.variables());
      }
    }
}

TEST(linear_passes_stop_with_the_monitor) {
  ordsvm::Random random(10);
  const LinearData data(random, 1200, 5, n_labels);
  for (const bool thresholds : {false, true}) {
    const Setting setting(data, random, thresholds, 9, {.precise = true, .n_threads = 3});
    const Driver driver = setting.over(data.kinds().front());
    Monitor stopping = overdue([](Index, Index) { return true; });
    setting.machine->pass(driver.rows, Place{0}, 8, 1.0, 1, stopping);
    CHECK(stopping.stopped());
    for (const double value : driver.variables()) CHECK(value == 0.0);
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

}  // namespace
}  // namespace ordsvm::linear
