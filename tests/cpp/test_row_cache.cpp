// The row cache: its budget, its order, its pins, and several threads at once.
#include <array>
#include <chrono>
#include <latch>
#include <list>
#include <map>
#include <optional>
#include <stdexcept>
#include <thread>

#include "check.hpp"
#include "in_threads.hpp"
#include "kernels/row_cache.hpp"
#include "parallel/joining_thread.hpp"
#include "random.hpp"

namespace ordsvm {
namespace {

using std::chrono::milliseconds;

/// K[i][j] = 1000 i + j, exact in float. Counts how often every row is made; may be slow, and may fail.
class CountingRows final : public RowSource {
 public:
  explicit CountingRows(Index n, milliseconds pause = milliseconds(0)) : n_(n), pause_(pause), made_(n) {}

  Index size() const override { return n_; }
  double diagonal(Index i) const override { return value(i, i); }
  void row(Index i, std::span<float> out) const override { fill(i, out); }
  void row(Index i, std::span<double> out) const override { fill(i, out); }

  static double value(Index i, Index j) { return static_cast<double>(1000 * i + j); }
  Index made(Index i) const { return made_[i]; }
  /// The next `count` rows are not made, but throw.
  void fail(int count) { failures_ = count; }

 private:
  template <class T>
  void fill(Index i, std::span<T> out) const {
    if (pause_.count() > 0) std::this_thread::sleep_for(pause_);
    const bool fails = failures_ > 0 && failures_-- > 0;
    for (Index j = 0; j < n_; ++j) out[j] = static_cast<T>(value(i, j) + (fails ? 0.5 : 0.0));
    if (fails) throw std::runtime_error("no row");
    ++made_[i];
  }

  Index n_;
  milliseconds pause_;
  mutable std::vector<std::atomic<Index>> made_;
  mutable std::atomic<int> failures_ = 0;
};

template <class T>
bool holds_row(const typename RowCache<T>::Pin& pin, Index i, Index n) {
  for (Index j = 0; j < n; ++j)
    if (pin.data()[j] != static_cast<T>(CountingRows::value(i, j))) return false;
  return true;
}

std::size_t budget_of(Index rows, Index n) { return rows * n * sizeof(float); }

// One thread

template <class T>
void check_capacity() {
  const Index n = 10;
  const std::size_t row = n * sizeof(T);
  const CountingRows rows(n);
  for (const auto& [budget, capacity] : std::vector<std::pair<std::size_t, std::size_t>>{
           {0, 0}, {row - 1, 0}, {row, 1}, {2 * row - 1, 1}, {2 * row, 2}, {10 * row, 10}, {1000 * row, 10}}) {
    RowCache<T> cache(rows, budget);
    CHECK(cache.capacity() == capacity);
    CHECK(cache.bytes() == 0);
  }
}

TEST(cache_capacity_is_what_fits_but_at_most_n_rows) {
  check_capacity<float>();
  check_capacity<double>();
}

template <class T>
void check_budget(std::size_t budget) {
  const Index n = 20;
  const CountingRows rows(n);
  RowCache<T> cache(rows, budget);
  Random random(21);
  for (int step = 0; step < 500; ++step) {
    const Index i = random.index(n);
    const auto pin = cache.pin(i);
    CHECK(holds_row<T>(pin, i, n));
    CHECK(cache.bytes() <= budget);
  }
  CHECK(cache.bytes() == cache.capacity() * n * sizeof(T));
}

TEST(cache_never_exceeds_its_budget) {
  for (const std::size_t budget : {160, 200, 333, 1000, 1599, 1600, 100000}) {
    check_budget<float>(budget);
    check_budget<double>(budget);
  }
}

TEST(cache_takes_over_rows_and_leaves_room_to_others) {
  const Index n = 10;
  const CountingRows rows(n);
  RowCache<float> cache(rows, budget_of(6, n));
  cache.leave(budget_of(2, n) - 1);
  CHECK(cache.capacity() == 4);
  for (const Index i : {3, 7}) {
    auto row = std::make_unique<float[]>(n);
    rows.row(i, std::span<float>(row.get(), n));
    cache.add(i, std::move(row));
  }
  CHECK(cache.size() == 2);
  CHECK(cache.find(3) != nullptr && cache.find(4) == nullptr);
  CHECK(holds_row<float>(cache.pin(7), 7, n));
  CHECK(rows.made(7) == 1);
  for (const Index i : {0, 1, 2, 4, 5}) cache.pin(i);  // rows that were taken over give way as all do
  CHECK(cache.size() == 4);
  CHECK(cache.find(3) == nullptr);
  cache.leave(budget_of(2, n));
  CHECK(cache.find(5) != nullptr);  // as many as before: nothing goes
  cache.leave(budget_of(6, n));
  CHECK(cache.capacity() == 2);
  CHECK(cache.size() == 0);
  CHECK(holds_row<float>(cache.pin(5), 5, n));
}

TEST(cache_of_all_rows_makes_every_row_once) {
  const Index n = 20;
  const CountingRows rows(n);
  RowCache<float> cache(rows, 1 << 20);
  Random random(22);
  for (int step = 0; step < 500; ++step) cache.pin(random.index(n));
  for (Index i = 0; i < n; ++i) CHECK(rows.made(i) <= 1);
  CHECK(cache.rows_computed() <= n);
}

TEST(cache_drops_the_row_unpinned_for_the_longest) {
  const CountingRows rows(10);
  RowCache<float> cache(rows, budget_of(3, 10));
  for (const Index i : {0, 1, 2, 0, 3}) cache.pin(i);  // 1 gives way to 3
  for (const Index i : {2, 0, 3}) cache.pin(i);
  CHECK(cache.rows_computed() == 4);
  cache.pin(1);  // 2 gives way
  cache.pin(0);
  cache.pin(3);
  CHECK(cache.rows_computed() == 5);
  cache.pin(2);
  CHECK(rows.made(0) == 1 && rows.made(1) == 2 && rows.made(2) == 2 && rows.made(3) == 1);
}

/// The cache's rules in the simplest words, for one thread.
class Model {
 public:
  explicit Model(std::size_t capacity) : capacity_(capacity) {}
  void pin(Index i) {
    if (pins_.count(i) == 0) {
      if (pins_.size() == capacity_) {
        pins_.erase(unpinned_.front());
        unpinned_.pop_front();
      }
      pins_[i] = 0;
      ++made_[i];
    }
    if (pins_[i]++ == 0) unpinned_.remove(i);
  }
  void release(Index i) {
    if (--pins_[i] == 0) unpinned_.push_back(i);
  }
  Index made(Index i) { return made_[i]; }

 private:
  std::size_t capacity_;
  std::map<Index, int> pins_, made_;
  std::list<Index> unpinned_;
};

TEST(cache_follows_its_model_with_pins_held) {
  const Index n = 16;
  for (const Index capacity : {1, 2, 3, 5, 15, 16}) {
    const check::Context here("capacity " + std::to_string(capacity));
    const CountingRows rows(n);
    RowCache<float> cache(rows, budget_of(capacity, n));
    Model model(capacity);
    Random random(23);
    std::vector<std::pair<Index, RowCache<float>::Pin>> held;  // one row may be in it twice
    for (int step = 0; step < 2000; ++step) {
      if (!held.empty() && (static_cast<Index>(held.size()) == capacity || random.chance(0.5))) {
        const Index place = random.index(static_cast<Index>(held.size()));
        std::vector<std::pair<Index, RowCache<float>::Pin>> others;
        for (Index j = 0; j < static_cast<Index>(held.size()); ++j)
          if (j != place) others.push_back(std::move(held[j]));
        model.release(held[place].first);
        held.swap(others);
      } else {
        const Index i = random.index(n);
        held.emplace_back(i, cache.pin(i));
        model.pin(i);
      }
      for (const auto& [i, pin] : held) CHECK(holds_row<float>(pin, i, n));
    }
    for (Index i = 0; i < n; ++i) CHECK(rows.made(i) == model.made(i));
  }
}

TEST(pinned_rows_stay_while_others_come_and_go) {
  const Index n = 30;
  const CountingRows rows(n);
  RowCache<double> cache(rows, 3 * n * sizeof(double));
  const auto first = cache.pin(7), again = cache.pin(7), second = cache.pin(8);
  CHECK(first.data() == again.data());
  for (Index i = 0; i < n; ++i) CHECK(holds_row<double>(cache.pin(i), i, n));
  CHECK(holds_row<double>(first, 7, n));
  CHECK(holds_row<double>(second, 8, n));
  CHECK(rows.made(7) == 1 && rows.made(8) == 1);
}

TEST(a_moved_pin_lets_go_once) {
  const CountingRows rows(5);
  RowCache<float> cache(rows, budget_of(1, 5));
  {
    auto pin = cache.pin(2);
    const auto moved = std::move(pin);
    CHECK(holds_row<float>(moved, 2, 5));
  }
  CHECK(holds_row<float>(cache.pin(3), 3, 5));
  CHECK(holds_row<float>(cache.pin(2), 2, 5));
  CHECK(cache.rows_computed() == 3);
}

// Rows that can't be made

TEST(a_row_that_throws_leaves_the_cache_usable) {
  const Index n = 12, capacity = 3;
  CountingRows rows(n);
  RowCache<float> cache(rows, budget_of(capacity, n));
  for (int round = 0; round < 4; ++round) {
    const check::Context here("round " + std::to_string(round));
    rows.fail(5);  // more often than there are slots
    for (Index i = 0; i < 5; ++i) CHECK(check::throws<std::runtime_error>([&] { cache.pin(6 + i); }));
    CHECK(cache.rows_computed() == capacity * round);
    CHECK(cache.bytes() <= budget_of(capacity, n));
    const auto a = cache.pin(0), b = cache.pin(1), c = cache.pin(2);  // no slot has been lost
    CHECK(holds_row<float>(a, 0, n) && holds_row<float>(b, 1, n) && holds_row<float>(c, 2, n));
    CHECK(cache.bytes() == budget_of(capacity, n));
  }
}

TEST(a_row_that_throws_spares_the_pinned_rows) {
  const Index n = 12;
  CountingRows rows(n);
  RowCache<float> cache(rows, budget_of(2, n));
  const auto held = cache.pin(4);
  rows.fail(1);
  CHECK(check::throws<std::runtime_error>([&] { cache.pin(5); }));
  CHECK(holds_row<float>(held, 4, n));
  CHECK(holds_row<float>(cache.pin(5), 5, n));
  CHECK(rows.made(4) == 1 && rows.made(5) == 1);
}

// Several threads

TEST(threads_share_a_small_cache) {
  const Index n = 48;
  const CountingRows rows(n);
  RowCache<float> cache(rows, budget_of(8, n));
  in_threads(4, [&](int thread) {
    Random random(100 + thread);
    for (int step = 0; step < 3000; ++step) {
      const Index i = random.index(n), j = random.index(n);
      const auto first = cache.pin(i);
      CHECK(holds_row<float>(first, i, n));
      if (step % 3 != 0) continue;
      const auto second = cache.pin(j);  // two pins for each of four threads: all of the capacity
      CHECK(holds_row<float>(second, j, n));
      CHECK(holds_row<float>(first, i, n));
    }
  });
  CHECK(cache.bytes() == budget_of(8, n));
  Index made = 0;
  for (Index i = 0; i < n; ++i) made += rows.made(i);
  CHECK(cache.rows_computed() == made);
}

TEST(threads_that_want_the_same_missing_row_make_it_once) {
  const Index n = 8;
  const CountingRows rows(n, milliseconds(15));
  RowCache<float> cache(rows, budget_of(4, n));
  for (Index i = 0; i < n; ++i) {
    in_threads(4, [&](int) { CHECK(holds_row<float>(cache.pin(i), i, n)); });
    CHECK(rows.made(i) == 1);
  }
}

TEST(rows_are_made_side_by_side) {
  /// Returns only when two rows are in the making at once.
  class MeetingRows final : public RowSource {
   public:
    Index size() const override { return 4; }
    double diagonal(Index) const override { return 1.0; }
    void row(Index, std::span<float> out) const override {
      meeting_.arrive_and_wait();
      std::fill(out.begin(), out.end(), 1.0f);
    }
    void row(Index, std::span<double>) const override {}

   private:
    mutable std::latch meeting_{2};
  };
  const MeetingRows rows;
  RowCache<float> cache(rows, budget_of(2, 4));
  in_threads(2, [&](int thread) { CHECK(cache.pin(thread).data()[3] == 1.0f); });
}

TEST(a_thread_waits_for_room) {
  const Index n = 6;
  const CountingRows rows(n);
  RowCache<float> cache(rows, budget_of(1, n));
  std::optional<RowCache<float>::Pin> held(cache.pin(0));
  std::atomic<bool> served = false;
  JoiningThread other([&] {
    CHECK(holds_row<float>(cache.pin(1), 1, n));
    served = true;
  });
  std::this_thread::sleep_for(milliseconds(30));
  CHECK(!served);
  CHECK(holds_row<float>(*held, 0, n));
  held.reset();
  other.join();
  CHECK(served);
}

TEST(threads_that_wait_for_a_row_that_throws_make_it_themselves) {
  const Index n = 6, capacity = 2;
  CountingRows rows(n, milliseconds(10));
  RowCache<float> cache(rows, budget_of(capacity, n));
  rows.fail(2);
  std::atomic<int> thrown = 0;
  in_threads(4, [&](int) {
    try {
      CHECK(holds_row<float>(cache.pin(3), 3, n));
    } catch (const std::runtime_error&) {
      ++thrown;
    }
  });
  CHECK(thrown == 2);
  CHECK(rows.made(3) == 1);
}

TEST(threads_survive_rows_that_throw_now_and_then) {
  const Index n = 24;
  CountingRows rows(n);
  RowCache<float> cache(rows, budget_of(8, n));
  std::atomic<int> thrown = 0;
  rows.fail(200);
  in_threads(4, [&](int thread) {
    Random random(200 + thread);
    for (int step = 0; step < 1000; ++step) {
      const Index i = random.index(n);
      try {
        CHECK(holds_row<float>(cache.pin(i), i, n));
      } catch (const std::runtime_error&) {
        ++thrown;
      }
    }
  });
  CHECK(thrown == 200);
  CHECK(cache.bytes() == budget_of(8, n));
}

}  // namespace
}  // namespace ordsvm
