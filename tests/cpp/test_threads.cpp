// A team of threads: all of them work, the caller watches, a stop and an exception reach all.
#include <set>
#include <stdexcept>
#include <string>

#include "check.hpp"
#include "in_threads.hpp"
#include "parallel/shared_number.hpp"
#include "parallel/team.hpp"
#include "parallel/thread_pool.hpp"
#include "threads_left.hpp"

namespace ordsvm {
namespace {

using std::chrono::milliseconds;

const auto no_watch = [] { return false; };

/// Waits until the condition holds; gives up after some seconds, so that a test fails instead of hanging.
template <class Condition>
bool comes_true(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  return condition();
}

/// What the run throws, or "" if it throws nothing.
template <class Work, class Watch>
std::string thrown_by(int n_threads, std::atomic<bool>& stop, Work work, Watch watch) {
  try {
    run_team(n_threads, stop, work, watch);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST(everybody_works_once_on_a_thread_of_its_own) {
  for (const int n_threads : {0, 1, 2, 5, 16}) {
    const check::Context here(std::to_string(n_threads) + " threads");
    std::atomic<bool> stop = false;
    std::atomic<int> present = 0;
    std::vector<int> worked(n_threads, 0);  // plain: what a team has done can be read when it has ended
    std::vector<std::thread::id> thread(n_threads);
    const auto work = [&](int t) {
      ++worked[t];
      thread[t] = std::this_thread::get_id();
      ++present;
      CHECK(comes_true([&] { return present == n_threads; }));  // all are there at once
    };
    run_team(n_threads, stop, work, no_watch);
    CHECK(worked == std::vector<int>(n_threads, 1));
    CHECK(!stop);
    std::set<std::thread::id> ids(thread.begin(), thread.end());
    ids.insert(std::this_thread::get_id());
    CHECK(static_cast<int>(ids.size()) == n_threads + 1);
  }
}

TEST(the_caller_watches_until_the_last_thread_has_ended) {
  std::atomic<bool> stop = false;
  std::atomic<int> looks = 0, ended = 0;
  bool in_time = true, by_caller = true;
  const auto caller = std::this_thread::get_id();
  const auto work = [&](int t) {
    CHECK(comes_true([&] { return looks >= 2 * t + 1; }));  // one after the other
    ++ended;
  };
  run_team(3, stop, work, [&] {
    in_time = in_time && !stop;
    by_caller = by_caller && std::this_thread::get_id() == caller;
    ++looks;
    return false;
  });
  CHECK(looks >= 5 && ended == 3);
  CHECK(in_time && by_caller && !stop);
  const int looks_then = looks;
  std::this_thread::sleep_for(milliseconds(10));
  CHECK(looks == looks_then);
}

TEST(a_watch_that_has_seen_enough_stops_the_team) {
  std::atomic<bool> stop = false;
  std::atomic<int> looks = 0;
  run_team(4, stop, [&](int) { CHECK(comes_true([&] { return stop.load(); })); }, [&] { return ++looks == 3; });
  CHECK(stop && looks >= 3);
}

TEST(a_stop_from_outside_reaches_the_team) {
  std::atomic<bool> stop = true;
  std::atomic<int> saw_it = 0;
  run_team(3, stop, [&](int) { saw_it += stop; }, no_watch);
  CHECK(stop && saw_it == 3);
}

TEST(an_exception_of_a_thread_stops_the_others_and_comes_out) {
  for (const int culprit : {0, 2, 3}) {
    std::atomic<bool> stop = false;
    std::atomic<int> ended = 0;
    const auto work = [&](int t) {
      if (t == culprit) throw std::runtime_error("thread " + std::to_string(t));
      CHECK(comes_true([&] { return stop.load(); }));
      std::this_thread::sleep_for(milliseconds(5));
      ++ended;
    };
    CHECK(thrown_by(4, stop, work, no_watch) == "thread " + std::to_string(culprit));
    CHECK(stop && ended == 3);  // it came out after all had ended
  }
}

TEST(the_first_exception_is_the_one_that_comes_out) {
  std::atomic<bool> stop = false;
  const auto work = [&](int t) {
    if (t != 1) CHECK(comes_true([&] { return stop.load(); }));
    throw std::runtime_error(t == 1 ? "the first" : "a later one");
  };
  CHECK(thrown_by(4, stop, work, no_watch) == "the first");
  stop = false;
  const auto by_stop = [&](int) {
    CHECK(comes_true([&] { return stop.load(); }));
    throw std::runtime_error("a later one");
  };
  CHECK(thrown_by(4, stop, by_stop, []() -> bool { throw std::logic_error("the watch's"); }) == "the watch's");
}

TEST(threads_may_all_throw_at_once) {
  for (int round = 0; round < 50; ++round) {
    std::atomic<bool> stop = false;
    const std::string what = thrown_by(4, stop, [](int t) { throw std::runtime_error(std::to_string(t)); }, no_watch);
    CHECK(what.size() == 1 && what[0] >= '0' && what[0] <= '3');
    CHECK(stop);
  }
}

TEST(an_exception_of_the_watch_stops_the_team_and_comes_out) {
  std::atomic<bool> stop = false;
  std::atomic<int> ended = 0;
  const auto work = [&](int) {
    CHECK(comes_true([&] { return stop.load(); }));
    ++ended;
  };
  CHECK(thrown_by(3, stop, work, []() -> bool { throw std::runtime_error("interrupted"); }) == "interrupted");
  CHECK(stop && ended == 3);
}

TEST(teams_may_follow_one_another_quickly) {
  std::atomic<bool> stop = false;
  long total = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<long> part(3, 0);
    run_team(3, stop, [&](int t) { part[t] = round + t; }, no_watch);
    for (const long value : part) total += value;
  }
  CHECK(total == 3 * (199 * 200 / 2) + 3 * 200);
}

static_assert(std::is_move_constructible_v<JoiningThread> && !std::is_constructible_v<JoiningThread, JoiningThread&>);

TEST(a_team_does_all_of_its_tasks_whatever_threads_the_system_refuses) {
  for (const int left : {0, 1, 2, 3, 5, 9}) {
    const check::Context here(std::to_string(left) + " threads left");
    const ThreadsLeft limit(left);
    LastingTeam team;
    const int expected = std::min(left, 5);
    CHECK(team.grow(5) == expected);
    std::atomic<bool> stop = false;
    std::vector<int> worked(5, 0);
    std::vector<std::thread::id> thread(5);
    for (int round = 0; round < 3; ++round) {
      const auto work = [&](int t) {
        ++worked[t];
        thread[t] = std::this_thread::get_id();
      };
      team.run(5, stop, work, no_watch, milliseconds(1));
    }
    CHECK(worked == std::vector<int>(5, 3));
    CHECK(static_cast<int>(std::set<std::thread::id>(thread.begin(), thread.end()).size()) == std::max(1, expected));
    CHECK((thread[0] == std::this_thread::get_id()) == (left == 0));
    CHECK(!stop);
  }
}

TEST(an_exception_comes_out_where_threads_are_refused) {
  for (const int left : {0, 1, 2}) {
    const ThreadsLeft limit(left);
    std::atomic<bool> stop = false;
    const auto work = [](int t) {
      if (t == 1) throw std::runtime_error("task " + std::to_string(t));
    };
    CHECK(thrown_by(4, stop, work, no_watch) == "task 1");
    CHECK(stop);
  }
}

TEST(a_watched_team_of_the_calling_thread_alone_is_stopped_by_its_watch) {
  for (const int left : {0, 1}) {
    const ThreadsLeft limit(left);
    std::atomic<bool> stop = false;
    std::atomic<int> looks = 0, ended = 0;
    const auto work = [&](int, const auto& enough) {
      CHECK(comes_true([&] { return enough(); }));
      ++ended;
    };
    run_watched(3, stop, work, [&] { return ++looks == 3; });
    CHECK(looks == 3 && ended == 3 && stop);
  }
}

TEST(a_pool_works_with_the_threads_that_the_system_starts) {
  for (const int left : {0, 2, 7}) {
    const ThreadsLeft limit(left);
    ThreadPool pool(4);
    CHECK(pool.size() == 1 + std::min(left, 3));
    std::atomic<int> sum = 0;
    pool.run(100, [&](int task, int thread) {
      CHECK(thread < pool.size());
      sum += task;
    });
    CHECK(sum == 4950);
  }
}

TEST(a_thread_is_joined_where_it_goes_out_of_scope) {
  std::atomic<bool> ended = false;
  {
    std::vector<JoiningThread> threads;
    threads.emplace_back([&] {
      std::this_thread::sleep_for(milliseconds(20));
      ended = true;
    });
    threads.emplace_back([] {});  // the first one moves
  }
  CHECK(ended);
}

TEST(no_addition_to_a_shared_number_is_lost) {
  const int n_threads = 4, n_additions = 5000;
  double sum = 0.5;
  in_threads(n_threads, [&](int t) {
    for (int i = 0; i < n_additions; ++i) SharedNumber(sum).add(t + 1.0);
  });
  CHECK(SharedNumber(sum).load() == 0.5 + 10.0 * n_additions);  // 1 + 2 + 3 + 4, exact in double
  SharedNumber(sum).store(-2.0);
  CHECK(sum == -2.0);
}

}  // namespace
}  // namespace ordsvm
