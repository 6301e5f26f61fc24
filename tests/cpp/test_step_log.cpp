// A log of steps: nothing is lost, nothing comes twice or out of order, and no reader falls behind by more than it
// holds.
#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "check.hpp"
#include "in_threads.hpp"
#include "parallel/step_log.hpp"
#include "random.hpp"

namespace ordsvm {
namespace {

/// The number of a step is in all its fields, so that a torn one is seen.
Step step_of(Index number) {
  const double value = 0.5 * static_cast<double>(number);
  return {static_cast<SampleIndex>(number), static_cast<SampleIndex>(-number), value, -value};
}

/// -1 if the fields don't fit together.
Index number_of(const Step& step) {
  const bool whole =
      step.threshold == -step.sample && step.delta == 0.5 * step.sample && step.capped == -0.5 * step.sample;
  return whole ? step.sample : -1;
}

std::vector<Index> unread(StepLog& log, int reader) {
  std::vector<Index> numbers;
  log.read(reader, [&](const Step& step) { numbers.push_back(number_of(step)); });
  return numbers;
}

TEST(a_log_is_read_in_order_and_once) {
  StepLog log(8, 2);
  CHECK(unread(log, 0).empty());
  for (Index number = 0; number < 3; ++number) CHECK(log.try_append(step_of(number)));
  CHECK(unread(log, 0) == std::vector<Index>({0, 1, 2}));
  CHECK(unread(log, 0).empty());
  for (Index number = 3; number < 5; ++number) CHECK(log.try_append(step_of(number)));
  CHECK(unread(log, 0) == std::vector<Index>({3, 4}));
  CHECK(unread(log, 1) == std::vector<Index>({0, 1, 2, 3, 4}));
}

TEST(a_log_goes_round_without_losing_anything) {
  Random random(60);
  for (const Index capacity : {1, 2, 3, 7, 256}) {
    const check::Context here("capacity " + std::to_string(capacity));
    StepLog log(capacity, 3);
    Index written = 0;
    std::vector<Index> read(3, 0);
    for (int round = 0; round < 400; ++round) {
      const bool there_is_room = written - *std::min_element(read.begin(), read.end()) < capacity;
      CHECK(log.try_append(step_of(written)) == there_is_room);
      written += there_is_room;
      if (random.chance(0.5)) continue;
      const int reader = static_cast<int>(random.index(3));
      for (const Index number : unread(log, reader)) CHECK(number == read[reader]++);
      CHECK(read[reader] == written);
    }
    CHECK(written > 3 * capacity || capacity == 256);
  }
}

TEST(a_reader_who_does_not_read_holds_the_writer_back) {
  StepLog log(4, 3);
  log.ignore(2);  // the writer itself
  for (Index number = 0; number < 4; ++number) {
    CHECK(log.try_append(step_of(number)));
    unread(log, 0);
  }
  for (int again = 0; again < 10; ++again) CHECK(!log.try_append(step_of(99)));
  CHECK(unread(log, 0).empty());
  CHECK(unread(log, 1) == std::vector<Index>({0, 1, 2, 3}));  // as they were
  CHECK(log.try_append(step_of(4)));
  CHECK(unread(log, 1) == std::vector<Index>({4}));
}

TEST(a_log_nobody_reads_never_fills) {
  StepLog log(2, 1);
  log.ignore(0);
  for (Index number = 0; number < 100; ++number) CHECK(log.try_append(step_of(number)));
}

TEST(a_step_is_not_overwritten_while_a_reader_looks_at_it) {
  StepLog log(2, 1);
  CHECK(log.try_append(step_of(0)) && log.try_append(step_of(1)));
  std::vector<bool> room;
  log.read(0, [&](const Step&) { room.push_back(log.try_append(step_of(2))); });
  CHECK(room == std::vector<bool>({false, true}));  // step 0 was free when step 1 was looked at
  CHECK(unread(log, 0) == std::vector<Index>({2}));
}

/// One writer and several readers, the last of which is now and then slow; returns how often the writer found no room.
Index write_and_read(Index capacity, int n_readers, Index count) {
  StepLog log(capacity, n_readers);
  std::vector<std::atomic<Index>> seen(n_readers);
  Index refused = 0;
  in_threads(n_readers + 1, [&](int t) {
    if (t == n_readers) {
      for (Index number = 0; number < count; ++number) {
        for (; !log.try_append(step_of(number)); ++refused) std::this_thread::yield();
        for (const auto& reader : seen) CHECK(number - reader < capacity);
      }
    } else {
      const bool is_slow = t == n_readers - 1;
      while (seen[t] < count) {
        log.read(t, [&](const Step& step) {
          CHECK(number_of(step) == seen[t]);
          ++seen[t];
        });
        if (is_slow && seen[t] % 64 == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
        std::this_thread::yield();
      }
    }
  });
  for (const auto& reader : seen) CHECK(reader == count);
  return refused;
}

TEST(threads_read_all_of_a_log_in_order) {
  for (const Index capacity : {1, 3, 256})
    for (const int n_readers : {1, 3, 7}) {
      const check::Context here("capacity " + std::to_string(capacity) + ", readers " + std::to_string(n_readers));
      write_and_read(capacity, n_readers, capacity == 256 ? 3000 : 500);
    }
}

TEST(a_slow_reader_bounds_how_far_the_writer_gets) {
  CHECK(write_and_read(4, 2, 1000) > 0);  // the writer had to wait, and no reader was ever more than 4 behind
}

}  // namespace
}  // namespace ordsvm
