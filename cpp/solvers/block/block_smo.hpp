// Block SMO on three tiers (all samples, working set, small set), with a fused kernel product.
//
// Solves    all treatments of thresholds: none, penalised, free, ordered.
// Keeps     scores f = K beta of all samples in double; on every tier which way slots may move; thresholds or mu.
// Round     a working set of the samples that violate most is optimised on its own, with its part of K in memory
//           (middle.hpp), by ever new small sets of it (inner.hpp); then f += K[:, moved] @ moved for all samples, with
//           a K that is computed on the way (tiles.hpp) and not kept where rows are short: that costs no more than to
//           read them from a cache, and needs no memory. A step costs a fraction of a microsecond, whatever n is.
// Leaves    off at a violation of `newton_start` where Newton's method (newton.py) is expected to end sooner.
// Stops     when the violation is at most tol with scores recomputed in double from alpha (but for samples that are
//           screened: screening.hpp), and the judge accepts the duality gap. If the recomputed scores violate more, it
//           goes on from them: what is left to move is small, and so is the rounding of its product.
// Threads   divide the tiles of products, of K of working sets and of the recomputation, and work on a small set each,
//           up to four of them. The answer depends on their number only.
#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "base/stopping.hpp"
#include "kernels/tiles/samples.hpp"
#include "solvers/block/middle.hpp"
#include "solvers/block/newton_cost.hpp"
#include "solvers/block/progress.hpp"
#include "solvers/block/row_blocks.hpp"
#include "solvers/block/screening.hpp"

namespace ordsvm::block {

using tiles::fits_tiles, tiles::row_length;

struct Options {
  Index q1 = 0;    // samples in a working set; 0: from the number of free hinges
  Index q2 = 256;  // samples in a small set
  int n_threads = 1;
  double newton_start = 0.0;  // a violation at which to stop if Newton's method would end sooner
  Index steps_of_start = 0;   // steps that the given start is taken to have cost
};

template <class T>
class BlockSmo {
 public:
  BlockSmo(const Hinges& hinges, RowCache<T>& cache, const Variables& variables, const Options& options)
      : hinges_(hinges),
        source_(cache.source()),
        variables_(variables),
        options_(options),
        pool_(uses_threads(hinges, source_) ? options.n_threads : 1),
        capacity_(largest_set(cache)),
        cache_(cache),
        row_blocks_(make_row_blocks<T>(leaving(cache, sizeof(T) * capacity_ * capacity_ + kept_bytes(cache)), pool_)),
        slots_(hinges, variables.alpha),
        balance_(hinges, variables),
        top_(hinges.n_samples, hinges.n_thresholds),
        drift_(source_),
        middle_(slots_, balance_, *row_blocks_, pool_, capacity_, std::min(options.q2, capacity_)) {
    top_.start(slots_, hinges.n_samples);
    for (Index i = 0; i < hinges.n_samples; ++i) top_.diagonal()[i] = static_cast<T>(source_.diagonal(i));
    round_scores();
    drift_.start(hinges.beta(variables.alpha));
  }

  ~BlockSmo() { cache_.leave(0); }  // the whole budget is for rows again
  BlockSmo(const BlockSmo&) = delete;
  BlockSmo& operator=(const BlockSmo&) = delete;

  Outcome run(const Limits& limits, Monitor& monitor) {
    Finish<T> finish(limits.tol, hinges_.n_samples, monitor);
    const auto outcome = [&](Status status) { return Outcome{status, steps_, kernel_rows()}; };
    const Allowance allowance{
        [&](Index more) { return std::min(limits.max_steps, monitor.next_step()) - steps_ - more; },
        [&] { return monitor.interrupted(); }};
    const bool waits = newton_is_expected(options_.newton_start, limits.tol);
    before_ = options_.steps_of_start + limits.steps_before;
    for (bool moved = true;;) {
      double violation = top_.rank(balance_);
      progress_.see(violation, steps_);
      const bool far = waits && violation > options_.newton_start;
      const bool hands_over =
          waits && !far && violation > finish.aim() && hands_over_to_newton(violation, finish.tol());
      if (!far && !hands_over && finish.tol() < min_tol<T>) return outcome(Status::imprecise);
      if (!(violation > finish.aim())) {
        const auto exact_violation = recompute(monitor, finish.tol());
        if (!exact_violation) return outcome(Status::stopped);
        if (const auto end = finish.decide(*exact_violation)) return outcome(*end);
        violation = top_.rank(balance_);
        if (!(violation > finish.aim())) return outcome(Status::imprecise);
      }
      if (stalled(finish.aim())) return outcome(Status::imprecise);
      if (steps_ >= limits.max_steps) return outcome(Status::max_iter);
      if (monitor.stop_now(steps_, kernel_rows())) return outcome(Status::stopped);
      if (hands_over) return outcome(Status::hands_over);
      const bool had_moved =
          std::exchange(moved, round(violation, goal(far ? options_.newton_start : finish.aim(), far), allowance));
      if (monitor.stopped()) return outcome(Status::stopped);
      if (!moved && !had_moved) return outcome(Status::imprecise);
    }
  }

 private:
  static constexpr Index max_working_set = 4096, min_working_set = 1024;

  /// Whether the violation has not fallen by a tenth for long, and rounding of scores to T may be why.
  bool stalled(double aim) const {
    if (progress_.looks_without_progress() < 10) return false;
    return too_coarse<T>(variables_.score, aim) || (progress_.looks_without_progress() > 500 && min_tol<T> > 0.0);
  }

  /// Small problems are solved before other threads have started.
  static bool uses_threads(const Hinges& hinges, const RowSource& source) {
    const double n = static_cast<double>(hinges.n_samples);
    return n * n * cost_of_a_value(source) * hinges.n_thresholds > 1e8;
  }

  /// In features of a row; what does not depend on them counts as ten.
  static double cost_of_a_value(const RowSource& source) {
    return 10.0 + (fits_tiles(source) ? row_length(*source.features()) : source.cost_of_a_value());
  }

  /// Newton's method takes eight products of all samples with those that have a free hinge, one with all support
  /// vectors, and three matrices of the former.
  bool hands_over_to_newton(double violation, double tol) {
    const Index free = top_.count_free_samples(), rows = 8 * free + slots_.count_support();
    const std::size_t bytes = 3 * sizeof(double) * free * free;
    const double products = 5e-5 * cost_of_a_value(source_) * static_cast<double>(hinges_.n_samples * rows);
    if (bytes > cache_.budget()) return false;
    if (!newton_pays(before_ + steps_, progress_.work_without_progress(), violation, tol, free, products)) return false;
    cache_.leave(bytes);
    return true;
  }

  static RowCache<T>& leaving(RowCache<T>& cache, std::size_t bytes) {
    cache.leave(bytes);
    return cache;
  }

  /// Its part of K takes at most half of what rows may take; where it is made of whole rows, half of these may be its.
  Index largest_set(const RowCache<T>& cache) const {
    Index wanted = std::min(hinges_.n_samples, options_.q1 > 0 ? options_.q1 : max_working_set);
    const Index rows = static_cast<Index>(cache.capacity());
    if (options_.q1 == 0 && rows < hinges_.n_samples && !fits_tiles(source_))
      wanted = std::min(wanted, std::max<Index>(2, rows / 2));
    const double fitting = std::sqrt(0.5 * static_cast<double>(cache.budget()) / sizeof(T));
    return std::min(wanted, std::max<Index>(2, static_cast<Index>(fitting)));
  }

  Index set_size() const {
    if (options_.q1 > 0) return capacity_;
    return std::min(capacity_, std::max(min_working_set, top_.count_free_slots() * 3 / 2 / 64 * 64));
  }

  bool whole() const { return capacity_ == hinges_.n_samples; }

  Goal goal(double tol, bool newton_follows) const { return {tol, whole() ? 0.05 : 0.3, whole() && !newton_follows}; }

  /// False if no step was possible.
  bool round(double violation, const Goal& goal, const Allowance& allowance) {
    const bool fresh = choose(violation, goal.tol);
    Tier<T>& tier = middle_.tier();
    tier.take(top_, positions_);
    if (fresh && !row_blocks_->gram(positions_, middle_.values(), middle_.stride(), allowance.stop)) return true;
    const Index done = middle_.run(goal, allowance);
    steps_ += done;
    tier.give_back(top_, positions_);
    publish();
    apply(allowance.stop);
    kept_ = done > 0 ? last_free(tier, positions_, set_size() / 2) : std::vector<Index>();
    return done > 0;
  }

  /// The working set; false if it is that of the last round, so that its part of K is there.
  bool choose(double violation, double tol) {
    if (!whole()) {
      positions_ = set_.choose(top_, kept_, set_size(), violation, -std::max(violation, 10.0 * tol));
      return true;
    }
    if (!positions_.empty()) return false;
    positions_.resize(capacity_);
    for (Index i = 0; i < capacity_; ++i) positions_[i] = i;
    return true;
  }

  void publish() {
    slots_.write(positions_, variables_.alpha);
    std::copy(balance_.thresholds().begin(), balance_.thresholds().end(), variables_.threshold.begin());
  }

  /// score += K[:, moved] @ moved
  void apply(const StopCheck& stop_check) {
    rows_.clear();
    weights_.clear();
    for (const Index i : positions_)
      if (const double moved = drift_.follow(i, slots_.beta(i)); moved != 0.0) {
        rows_.push_back(i);
        weights_.push_back(moved);
      }
    if (whole())
      for (std::size_t r = 0; r < rows_.size(); ++r)
        simd::add_row(variables_.score.data(), weights_[r], middle_.values() + rows_[r] * middle_.stride(),
                      hinges_.n_samples);
    else
      row_blocks_->add_product(rows_, weights_, variables_.score, stop_check);
    round_scores();
  }

  void round_scores() {
    for (Index i = 0; i < hinges_.n_samples; ++i) top_.score()[i] = static_cast<T>(variables_.score[i]);
  }

  /// The violation by exact scores; nothing if the monitor stopped it. Samples that are screened, if any can be left
  /// out, keep the scores they have, and how far these may be off is noted, unless the others are off by more than
  /// that: arithmetic is then not what the bound takes it to be.
  std::optional<double> recompute(Monitor& monitor, double tol) {
    std::vector<char> screened;
    double bound = 0.0, off = 0.0;
    if (fits_tiles(source_)) {
      bound = drift_.bound();
      screened = find_screened(top_, slots_, 4.0 * bound + 10.0 * tol);
    }
    const std::vector<double> before(variables_.score.begin(), variables_.score.end());
    if (!recompute_all_but(monitor, screened, bound)) return std::nullopt;
    for (Index i = 0; i < hinges_.n_samples; ++i) off = std::max(off, std::abs(variables_.score[i] - before[i]));
    Tier<double> exact = exact_tier();
    const double violation = exact.rank(balance_);
    if (screened.empty() || (off <= bound + tol && stay_screened(exact, screened, bound))) return violation;
    if (!recompute_all_but(monitor, {}, 0.0)) return std::nullopt;
    exact = exact_tier();
    return exact.rank(balance_);
  }

  bool recompute_all_but(Monitor& monitor, std::span<const char> left_out, double bound) {
    const Index rows = kernel_rows();
    if (!ordsvm::recompute(source_, hinges_, variables_, monitor, steps_, rows, pool_.size(), &pool_, left_out))
      return false;
    if (left_out.empty()) drift_.start(hinges_.beta(variables_.alpha));
    for (std::size_t i = 0; i < variables_.error.size(); ++i)
      variables_.error[i] = !left_out.empty() && left_out[i] ? bound : 0.0;
    balance_ = Balance(hinges_, variables_);
    round_scores();
    return true;
  }

  Tier<double> exact_tier() const {
    Tier<double> exact(hinges_.n_samples, hinges_.n_thresholds);
    exact.start(slots_, hinges_.n_samples);
    std::copy(variables_.score.begin(), variables_.score.end(), exact.score());
    return exact;
  }

  Index kernel_rows() const { return static_cast<Index>(row_blocks_->values_computed() / hinges_.n_samples); }

  const Hinges& hinges_;
  const RowSource& source_;
  Variables variables_;
  Options options_;
  ThreadPool pool_;
  Index capacity_;
  RowCache<T>& cache_;
  std::unique_ptr<RowBlocks<T>> row_blocks_;
  Slots slots_;
  Balance balance_;
  Tier<T> top_;
  Drift<T> drift_;
  Middle<T> middle_;
  WorkingSet<T> set_;
  std::vector<Index> positions_, kept_, rows_;
  std::vector<double> weights_;
  Index before_ = 0, steps_ = 0;
  Progress progress_;
};

extern template class BlockSmo<float>;
extern template class BlockSmo<double>;

}  // namespace ordsvm::block
