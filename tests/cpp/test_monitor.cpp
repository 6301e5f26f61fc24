// The solver's ear to the outside: how often it listens, and that a stop stays a stop.
#include <stdexcept>
#include <thread>

#include "base/monitor.hpp"
#include "check.hpp"

namespace ordsvm {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

void wait_past_the_interval() { std::this_thread::sleep_for(milliseconds(60)); }

TEST(monitor_reports_at_most_every_50_ms) {
  std::vector<Clock::time_point> times = {Clock::now()};
  Monitor monitor([&](Index, Index) {
    times.push_back(Clock::now());
    return false;
  });
  bool stopped = false;
  for (Index steps = 0; times.size() < 5; ++steps)
    stopped |= steps % 2 ? monitor.stop(steps, steps) : monitor.stop_now(steps, steps);
  CHECK(!stopped);
  for (std::size_t j = 1; j < times.size(); ++j) CHECK(times[j] - times[j - 1] >= milliseconds(50));
}

TEST(monitor_is_silent_in_short_runs) {
  int reports = 0;
  const auto start = Clock::now();
  Monitor monitor([&](Index, Index) { return ++reports > 0; });
  for (Index steps = 0; steps < 100; ++steps) monitor.stop(steps, steps);
  CHECK(reports == 0 || Clock::now() - start >= milliseconds(50));
}

TEST(monitor_looks_at_the_clock_every_16_steps_and_after_every_row) {
  int reports = 0;
  Monitor monitor([&](Index, Index) { return ++reports, false; });
  wait_past_the_interval();
  for (Index steps = 1; steps < 16; ++steps) monitor.stop(steps, 0);
  CHECK(reports == 0);
  monitor.stop(16, 0);
  CHECK(reports == 1);
  wait_past_the_interval();
  monitor.stop(17, 1);
  CHECK(reports == 2);
  wait_past_the_interval();
  monitor.stop(18, 1);
  CHECK(reports == 2);
  monitor.stop_now(18, 1);
  CHECK(reports == 3);
}

TEST(monitor_hands_on_steps_and_rows) {
  Index seen_steps = -1, seen_rows = -1;
  Monitor monitor([&](Index steps, Index rows) {
    seen_steps = steps;
    seen_rows = rows;
    return false;
  });
  wait_past_the_interval();
  monitor.stop(123, 45);
  CHECK(seen_steps == 123);
  CHECK(seen_rows == 45);
}

TEST(monitor_stops_for_good) {
  int reports = 0;
  Monitor monitor([&](Index, Index) { return ++reports == 1; });
  CHECK(!monitor.stop_now(0, 0));
  wait_past_the_interval();
  CHECK(monitor.stop_now(1, 1));
  for (Index steps = 2; steps < 40; ++steps) CHECK(monitor.stop(steps, 1 + steps / 4));
  wait_past_the_interval();
  CHECK(monitor.stop_now(40, 40));
  CHECK(reports == 1);
}

TEST(monitor_lets_exceptions_through) {
  Monitor monitor([](Index, Index) -> bool { throw std::runtime_error("interrupted"); });
  wait_past_the_interval();
  CHECK(check::throws<std::runtime_error>([&] { monitor.stop_now(0, 0); }));
}

}  // namespace
}  // namespace ordsvm
