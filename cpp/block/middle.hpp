// The middle level: a working set of a few thousand samples with its part of K, worked off by small sets.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "blocks.hpp"
#include "inner.hpp"
#include "working_set.hpp"

namespace ordsvm::block {

/// What a run may still do, and whether it should end at once.
struct Allowance {
  std::function<Index(Index)> steps;  // steps taken in this round -> how many more there may be before it should end
  Ask stop;
};

template <class T>
class Middle {
 public:
  Middle(Dual& dual, Blocks<T>& blocks, Crew& crew, Index capacity, Index small_size)
      : dual_(dual),
        blocks_(blocks),
        crew_(crew),
        inner_(dual),
        level_(capacity, dual.hinges().n_thresholds),
        small_(small_size, dual.hinges().n_thresholds),
        small_size_(small_size),
        values_(stride_for(capacity) * stride_for(capacity)),
        small_values_(stride_for(small_size) * small_size),
        moved_(capacity),
        small_moved_(small_size) {}

  static Index stride_for(Index count) { return (count + lanes<T> - 1) / lanes<T> * lanes<T>; }

  Level<T>& level() { return level_; }
  T* values() { return values_.data(); }
  Index stride() const { return stride_for(level_.count()); }
  std::span<const double> moved() const { return {moved_.data(), static_cast<std::size_t>(level_.count())}; }

  /// Works on level() with K in values(); moved() tells how far each sample's beta went. Returns the number of steps.
  Index run(double tol, double share, const Allowance& allowance) {
    std::fill(moved_.begin(), moved_.end(), 0.0);
    kept_.clear();
    Index steps = 0;
    double start = -1.0;
    const Index many = 20 * level_.count() * level_.n_thresholds();  // rounding may keep it from its end
    while (steps < many && allowance.steps(steps) > 0) {
      const double violation = level_.rank(dual_);
      if (start < 0.0) start = violation;
      if (!(violation > std::max(0.3 * tol, share * start))) break;
      const auto chosen = set_.choose(level_, kept_, small_size_, violation, -std::max(violation, 10.0 * tol));
      const Index done = work_off(chosen, {0.2 * tol, 0.3, std::min(8 * small_size_, allowance.steps(steps))});
      steps += done;
      if ((done == 0 && kept_.empty()) || allowance.stop()) break;
      kept_ = done == 0 ? std::vector<Index>() : last_free(small_, chosen, small_size_ / 2);
    }
    return steps;
  }

 private:
  Index work_off(std::span<const Index> chosen, const Effort& effort) {
    small_.take(level_, chosen);
    gather(chosen);
    std::fill(small_moved_.begin(), small_moved_.end(), 0.0);
    const Index done = inner_.run(small_, {small_values_.data(), stride_for(small_.count())}, small_moved_, effort);
    small_.give_back(level_, chosen);
    apply(chosen);
    return done;
  }

  /// small_values = values[np.ix_(chosen, chosen)]
  void gather(std::span<const Index> chosen) {
    const Index count = small_.count(), length = stride_for(count);
    if (blocks_.remake(small_.samples(), small_values_.data(), length)) return;
    for (Index p = 0; p < count; ++p) {
      const T* from = values_.data() + chosen[p] * stride();
      for (Index q = 0; q < count; ++q) small_values_.data()[p * length + q] = from[chosen[q]];
    }
  }

  /// score += small_moved @ values[chosen]
  void apply(std::span<const Index> chosen) {
    rows_.clear();
    weights_.clear();
    for (std::size_t p = 0; p < chosen.size(); ++p)
      if (small_moved_[p] != 0.0) {
        moved_[chosen[p]] += small_moved_[p];
        rows_.push_back(values_.data() + chosen[p] * stride());
        weights_.push_back(small_moved_[p]);
      }
    while (rows_.size() % 4 != 0) rows_.push_back(rows_.back()), weights_.push_back(0.0);
    constexpr std::size_t worth_threads = 1 << 16;  // values of K
    const int n_tasks = rows_.size() * level_.length() < worth_threads ? 1 : crew_.n_tasks();
    crew_.run(n_tasks, [&](int task, int) {
      const Share share(level_.length() / 16, task, n_tasks);
      for (std::size_t r = 0; r < rows_.size(); r += 4)
        add_four(level_.score(), weights_.data() + r, rows_.data() + r, 16 * share.begin, 16 * share.end);
    });
  }

  Dual& dual_;
  Blocks<T>& blocks_;
  Crew& crew_;
  Inner<T> inner_;
  Level<T> level_, small_;
  Index small_size_;
  WorkingSet<T> set_;
  Buffer<T> values_, small_values_;
  std::vector<double> moved_, small_moved_;
  std::vector<Index> kept_;
  std::vector<const T*> rows_;
  std::vector<double> weights_;
};

}  // namespace ordsvm::block
