// Steps on pairs of hinges with all of K in memory: the two inner tiers of the block method, on a matrix that stays.
//
// Solves    all treatments of thresholds.
// Keeps     scores of all samples in T, by which small sets are chosen and worked off, and what beta has moved by since
//           scores were exact. When the violation by these is within tol, the exact ones follow by rows of K in double:
//           only samples that have moved cost anything.
//           Up to Kernel::max_whole_size samples are one set, whose rows are read only where a step needs them.
// Leaves    off where Newton's method (newton.py) is expected to end sooner (`HandOver`).
// Stops     when the violation by exact scores is at most tol.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "base/stopping.hpp"
#include "simd/loops.hpp"
#include "solvers/block/newton_cost.hpp"
#include "solvers/block/progress.hpp"
#include "solvers/block/small_set.hpp"
#include "solvers/block/working_set.hpp"
#include "solvers/full_kernel/full_kernel.hpp"
#include "solvers/full_kernel/look.hpp"

namespace ordsvm::full_kernel {

enum class End { converged, hands_over, imprecise, stopped };

/// When steps on pairs leave off for Newton's method: at a violation of `newton_start` where that is expected to end
/// sooner, and after `patience` steps at any rate. `steps_before`: that earlier calls have taken, or that the start is
/// taken to have cost.
struct HandOver {
  double newton_start = 0.0;
  Index steps_before = 0;
  Index patience = std::numeric_limits<Index>::max();
};

template <class T, class Kernel>
class Steps {
 public:
  /// The scores are padded to whole vectors.
  Steps(const Kernel& kernel, const Hinges& hinges, const Variables& variables)
      : kernel_(kernel),
        hinges_(hinges),
        variables_(variables),
        slots_(hinges, variables.alpha),
        balance_(hinges, variables),
        tier_(hinges.n_samples, hinges.n_thresholds),
        is_whole_(hinges.n_samples <= Kernel::max_whole_size),
        set_(is_whole_ ? 0 : std::min(small_size, hinges.n_samples), balance_),
        inner_(tier_, slots_, balance_),
        moved_(hinges.n_samples, 0.0) {
    tier_.start(slots_, hinges.n_samples);
    for (Index i = 0; i < hinges.n_samples; ++i) tier_.diagonal()[i] = static_cast<T>(kernel.diagonal(i));
    round_scores();
  }

  Index done() const { return done_; }
  double violation() const { return violation_; }

  /// Calls of the monitor, and looks where there are any, come after every set.
  struct Watch {
    Monitor& monitor;
    Looks* looks;
  };

  End run(double tol, const HandOver& hand_over, const Watch& watch) {
    const double aim = min_tol<T> > 0.0 ? 0.95 * tol : tol;
    const bool waits = block::newton_is_expected(hand_over.newton_start, tol);
    for (int attempt = 0; attempt <= max_recomputations; ++attempt) {
      const Index before = done_;
      for (double now = tier_.rank(balance_); now > aim; now = tier_.rank(balance_)) {
        progress_.see(now, done_ + set_overhead_steps * sets_++);
        const bool due = done_ >= hand_over.patience || (waits && newton_is_due(now, tol, hand_over));
        if (due) return settle(), End::hands_over;
        if (watch.looks != nullptr && watch.looks->due()) watch.looks->take(look(hand_over.steps_before));
        if (watch.monitor.stop_now(done_, 0)) return settle(), End::stopped;
        if (stalled(aim) || !(is_whole_ ? work(aim) : work_off(now, tol))) break;
      }
      settle();
      if (violation_ <= tol) return End::converged;
      if (done_ == before) break;
    }
    return End::imprecise;
  }

 private:
  static constexpr Index set_overhead_steps = 150;  // steps that take as long as all else that is done for a set
  static constexpr Index small_size = 128;  // rows stay in a cache from when they are gathered until they are added

  /// Exact scores, and the violation by them.
  void settle() {
    follow_exactly();
    violation_ = exact_violation(variables_.score);
  }

  /// What alpha proves now, by exact scores of its own: nothing changes, so that looks do not change an answer.
  Look look(Index steps_before) const {
    std::vector<double> score(variables_.score.begin(), variables_.score.end());
    const Change change(moved_);
    add_rows(kernel_, change.rows, change.weights, score.data());
    const auto b = balance_.thresholds();
    const std::span<const double> own(score.data(), static_cast<std::size_t>(hinges_.n_samples));
    const Proof proof = prove(hinges_, variables_.alpha, {own, {}}, {0.0, 0.0});
    return {steps_before + done_, exact_violation(score), {b.begin(), b.end()}, proof};
  }

  /// Products are cheap with all of K in memory.
  bool newton_is_due(double violation, double tol, const HandOver& hand_over) const {
    if (violation > hand_over.newton_start) return false;
    const Index free = tier_.count_free_samples();
    const double products = 4e-3 * static_cast<double>(hinges_.n_samples * free);
    const Index steps = hand_over.steps_before + done_;
    return block::newton_pays(steps, progress_.work_without_progress(), violation, tol, free, products);
  }

  /// Whether the violation has not fallen by a tenth for long, and rounding of scores to T may be why.
  bool stalled(double aim) const {
    if (progress_.looks_without_progress() % 50 != 0) return false;
    return block::too_coarse<T>(variables_.score, aim) || progress_.looks_without_progress() > 5000;
  }

  /// Rows of all samples.
  struct Rows {
    const Kernel* kernel;
    const T* row(Index p) const { return kernel->row_as(p, T()); }
  };

  /// Steps on all samples; false if none was possible.
  bool work(double aim) {
    const Index steps = inner_.run({&kernel_}, moved_, {0.99 * aim, 0.1, 8 * small_size});
    slots_.write(tier_.samples(), variables_.alpha);
    done_ += steps;
    return steps > 0;
  }

  /// Steps on a small set; false if none was possible.
  bool work_off(double violation, double tol) {
    const bool had_kept = !kept_.empty();
    set_.take(tier_, slots_, balance_,
              choice_.choose(tier_, kept_, std::min(small_size, hinges_.n_samples), violation,
                             -std::max(violation, 10.0 * tol)));
    const auto gather_all = [&](std::span<const Index> samples, T* out, Index stride) {
      for (std::size_t p = 0; p < samples.size(); ++p) {
        if (p + 1 < samples.size()) fetch(kernel_.row_as(samples[p + 1], T()));
        simd::gather(kernel_.row_as(samples[p], T()), samples.data(), static_cast<Index>(samples.size()),
                     out + p * stride);
      }
    };
    const Index steps = set_.work(gather_all, {0.2 * tol, 0.3, 8 * small_size});
    balance_ = set_.balance();
    set_.give_back(tier_, slots_);
    slots_.write(set_.chosen(), variables_.alpha);
    apply();
    done_ += steps;
    kept_ = steps == 0 ? std::vector<Index>() : block::last_free(set_.tier(), set_.chosen(), small_size / 2);
    return steps > 0 || had_kept;
  }

  /// Prefetches a row.
  void fetch(const T* row) const {
    constexpr Index line = 64 / sizeof(T);
    for (Index i = 0; i < hinges_.n_samples; i += line) __builtin_prefetch(row + i);
  }

  void apply() {
    rows_.clear();
    weights_.clear();
    for (std::size_t p = 0; p < set_.chosen().size(); ++p)
      if (const double moved = set_.moved()[p]; moved != 0.0) {
        rows_.push_back(set_.chosen()[p]);
        weights_.push_back(moved);
        moved_[set_.chosen()[p]] += moved;
      }
    add_rows(kernel_, rows_, weights_, tier_.score());
  }

  /// Brings the exact scores up to date. Steps in double, which are for fine tolerances, have them summed anew, so that
  /// roundings do not add up.
  void follow_exactly() {
    if constexpr (min_tol<T> > 0.0) {
      const Change change(moved_);
      add_rows(kernel_, change.rows, change.weights, variables_.score.data());
    } else {
      const Change all(hinges_.beta(variables_.alpha));
      std::fill(variables_.score.begin(), variables_.score.end(), 0.0);
      add_rows(kernel_, all.rows, all.weights, variables_.score.data());
    }
    std::fill(moved_.begin(), moved_.end(), 0.0);
    std::copy(balance_.thresholds().begin(), balance_.thresholds().end(), variables_.threshold.begin());
    round_scores();
  }

  void round_scores() {
    for (Index i = 0; i < hinges_.n_samples; ++i) tier_.score()[i] = static_cast<T>(variables_.score[i]);
  }

  double exact_violation(std::span<const double> score) const {
    block::Tier<double> exact(hinges_.n_samples, hinges_.n_thresholds);
    exact.start(slots_, hinges_.n_samples);
    std::copy_n(score.data(), hinges_.n_samples, exact.score());
    return std::max(0.0, exact.rank(balance_));
  }

  const Kernel& kernel_;
  const Hinges& hinges_;
  Variables variables_;
  block::Slots slots_;
  block::Balance balance_;
  block::Tier<T> tier_;
  bool is_whole_;
  block::SmallSet<T> set_;
  block::Inner<T, Rows> inner_;
  block::WorkingSet<T> choice_;
  std::vector<double> moved_, weights_;
  std::vector<Index> kept_, rows_;
  Index done_ = 0, sets_ = 0;
  double violation_ = 0.0;
  block::Progress progress_;
};

}  // namespace ordsvm::full_kernel
