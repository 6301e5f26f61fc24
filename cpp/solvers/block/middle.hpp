// The middle tier: a working set of a few thousand samples with its part of K, worked off by small sets.
//
// Up to four threads each work on a small set of their own at a time, where there are several thresholds without an
// order. All sets start from the same scores, so that their moves may work against each other: those of the first are
// made, and those of another if the objective still falls by them.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "simd/loops.hpp"
#include "solvers/block/row_blocks.hpp"
#include "solvers/block/small_set.hpp"
#include "solvers/block/working_set.hpp"

namespace ordsvm::block {

/// What a run may still do, and whether it should end at once.
struct Allowance {
  std::function<Index(Index)> steps;  // steps taken in this round -> how many more there may be before it should end
  StopCheck stop;
};

/// How far a working set is worked off: to `share` of its violation, or to `tol`. `is_last`: nothing else will change its
/// scores, so that it may end just within tol, not well below.
struct Goal {
  double tol, share;
  bool is_last;
};

template <class T>
class Middle {
 public:
  Middle(Slots& slots, Balance& balance, RowBlocks<T>& row_blocks, ThreadPool& pool, Index capacity, Index small_size)
      : slots_(slots),
        balance_(balance),
        row_blocks_(row_blocks),
        pool_(pool),
        tier_(capacity, balance.n_thresholds()),
        small_size_(small_size),
        values_(padded_to(capacity, lanes<T>) * padded_to(capacity, lanes<T>)) {
    const int n_sets = suits_several(balance) ? std::min(pool.size(), max_small_sets) : 1;
    for (int s = 0; s < n_sets; ++s) sets_.push_back(std::make_unique<SmallSet<T>>(small_size, balance));
  }

  Tier<T>& tier() { return tier_; }
  T* values() { return values_.data(); }
  Index stride() const { return padded_to(tier_.count(), lanes<T>); }

  /// Works on tier() with K in values(). Returns the number of steps.
  Index run(const Goal& goal, const Allowance& allowance) {
    const double tol = goal.tol;
    kept_.clear();
    Index steps = 0;
    double start = -1.0;
    const Index many = 20 * tier_.count() * tier_.n_thresholds();  // rounding may keep it from its end
    while (steps < many && allowance.steps(steps) > 0) {
      const double violation = tier_.rank(balance_);
      if (start < 0.0) start = violation;
      if (!(violation > std::max((goal.is_last ? 0.9 : 0.3) * tol, goal.share * start))) break;
      const Index left = allowance.steps(steps), n_sets = sets_at_a_time(left);
      auto chosen = choice_.choose(tier_, kept_, n_sets * small_size_, violation, -std::max(violation, 10.0 * tol));
      const bool had_kept = !kept_.empty();
      kept_.clear();
      const double share_of_sets = n_sets == 1 ? 0.3 : 0.1;  // several at a time do more between two exchanges
      const Effort effort{(goal.is_last ? 0.8 : 0.2) * tol, share_of_sets, std::min(8 * small_size_, left / n_sets)};
      const Index done =
          static_cast<Index>(chosen.size()) <= small_size_ ? one(std::move(chosen), effort) : several(chosen, effort);
      steps += done;
      if ((done == 0 && !had_kept) || allowance.stop()) break;
      if (done == 0) kept_.clear();
    }
    return steps;
  }

 private:
  static constexpr int max_small_sets = 4;
  static constexpr Index near_bytes = 1 << 20;  // of K of a working set: within the second cache of most processors
  static constexpr Index min_sizes_for_several = 4;  // sizes of a small set: smaller working sets have one at a time

  /// Moves of mu are sequential. With one threshold sets work against each other: 0.8 to 1.1 times as fast.
  static bool suits_several(const Balance& balance) { return !balance.is_ordered() && balance.n_thresholds() > 1; }

  Index sets_at_a_time(Index steps_left) const {
    const Index n_sets = static_cast<Index>(sets_.size());
    return tier_.count() < min_sizes_for_several * small_size_ || steps_left < n_sets * small_size_ ? 1 : n_sets;
  }

  Matrix<T> matrix() const { return {values_.data(), stride()}; }

  Index one(std::vector<Index>&& chosen, const Effort& effort) {
    SmallSet<T>& set = *sets_[0];
    set.take(tier_, slots_, balance_, std::move(chosen));
    const Index done = set.work(filler(set, false), effort);
    balance_ = set.balance();
    take_over(set);
    apply(set);
    return done;
  }

  Index several(std::span<const Index> chosen, const Effort& effort) {
    const int n_sets = static_cast<int>(std::min(sets_.size(), chosen.size() / 2));
    chosen = chosen.first(std::min<std::size_t>(chosen.size(), n_sets * small_size_));
    std::vector<Index> done(n_sets);
    pool_.run(n_sets, [&](int s, int) {
      sets_[s]->take(tier_, slots_, balance_, deal(chosen, s, n_sets));
      done[s] = sets_[s]->work(filler(*sets_[s], true), effort);
      sets_[s]->respond(matrix(), tier_.length());
    });
    Index steps = 0;
    for (int s = 0; s < n_sets; ++s) {
      if (s > 0 && !sets_[s]->pays(tier_.score(), slots_, balance_)) continue;
      steps += done[s];
      sets_[s]->carry(balance_);
      take_over(*sets_[s]);
      for (Index p = 0; p < tier_.length(); ++p) tier_.score()[p] += sets_[s]->response()[p];
    }
    return steps;
  }

  /// K of a small set: values[np.ix_(chosen, chosen)], or made again where all values are more than a cache holds and
  /// making them costs less. `alone`: by the calling thread only.
  auto filler(const SmallSet<T>& set, bool alone) {
    return [this, &set, alone](std::span<const Index> samples, T* out, Index stride) {
      const bool is_near = tier_.count() * stride_bytes() <= near_bytes;
      if (!is_near && row_blocks_.remake(samples, out, stride, alone)) return;
      const auto chosen = set.chosen();
      for (std::size_t p = 0; p < chosen.size(); ++p)
        simd::gather(matrix().row(chosen[p]), chosen.data(), static_cast<Index>(chosen.size()), out + p * stride);
    };
  }
  Index stride_bytes() const { return stride() * static_cast<Index>(sizeof(T)); }

  /// What set s gets: every n_sets-th sample, but that the first two, which may be the pair that violates most, stay
  /// together.
  static std::vector<Index> deal(std::span<const Index> chosen, std::size_t s, std::size_t n_sets) {
    std::vector<Index> dealt;
    for (std::size_t i = s; i < chosen.size(); i += n_sets) {
      const bool swapped = n_sets > 1 && (i == 1 || i == n_sets);
      dealt.push_back(chosen[swapped ? n_sets + 1 - i : i]);
    }
    return dealt;
  }

  void take_over(const SmallSet<T>& set) {
    set.give_back(tier_, slots_);
    const auto kept = last_free(set.tier(), set.chosen(), small_size_ / 2);
    kept_.insert(kept_.end(), kept.begin(), kept.end());
  }

  /// score += moved @ values[chosen]
  void apply(SmallSet<T>& set) {
    const auto& [rows, weights] = set.movers(matrix());
    constexpr std::size_t min_values_for_threads = 1 << 16;  // values of K
    const int n_tasks = rows.size() * tier_.length() < min_values_for_threads ? 1 : pool_.n_tasks();
    pool_.run(n_tasks, [&, &rows = rows, &weights = weights](int task, int) {
      const Share share(tier_.length() / 16, task, n_tasks);
      for (std::size_t r = 0; r < rows.size(); r += 4)
        add_four(tier_.score(), weights.data() + r, rows.data() + r, 16 * share.begin, 16 * share.end);
    });
  }

  Slots& slots_;
  Balance& balance_;
  RowBlocks<T>& row_blocks_;
  ThreadPool& pool_;
  Tier<T> tier_;
  Index small_size_;
  WorkingSet<T> choice_;
  Buffer<T> values_;
  std::vector<std::unique_ptr<SmallSet<T>>> sets_;
  std::vector<Index> kept_;
};

}  // namespace ordsvm::block
