// Steps on pairs of hinges with all of K in memory: the two inner levels of the block method, on a matrix that stays.
//
// Solves    all treatments of thresholds.
// Keeps     scores of all samples in T, by which small sets are chosen and worked off, and what beta has moved by since
//           scores were exact. Where those say that the end is near, the exact ones follow by rows of K in double: only
//           samples that have moved cost anything.
// Leaves    off at a violation of `near` where Newton's method (newton.py) is expected to end sooner.
// Stops     when the violation by exact scores is at most tol.
#pragma once

#include <cmath>
#include <vector>

#include "base/stopping.hpp"
#include "solvers/block/newton_cost.hpp"
#include "solvers/block/progress.hpp"
#include "solvers/block/small_set.hpp"
#include "solvers/block/working_set.hpp"
#include "solvers/full_kernel/full_kernel.hpp"

namespace ordsvm::search {

enum class End { converged, near, imprecise, stopped };

template <class T>
class Steps {
 public:
  /// The scores have room for whole vectors.
  Steps(const Known& known, const Hinges& hinges, const Variables& variables)
      : known_(known),
        hinges_(hinges),
        variables_(variables),
        slots_(hinges, variables.alpha),
        balance_(hinges, variables),
        level_(hinges.n_samples, hinges.n_thresholds),
        set_(std::min(small_size, hinges.n_samples), balance_),
        moved_(hinges.n_samples, 0.0) {
    level_.start(slots_, hinges.n_samples);
    for (Index i = 0; i < hinges.n_samples; ++i) level_.diagonal()[i] = static_cast<T>(known.row(i)[i]);
    round_scores();
  }

  Index done() const { return done_; }
  double violation() const { return violation_; }

  End run(double tol, double near, Monitor& monitor) {
    const double aim = least_tol<T> > 0.0 ? 0.95 * tol : tol;
    const bool waits = block::worth_waiting(near, tol);
    for (int attempt = 0; attempt <= max_recomputations; ++attempt) {
      const Index before = done_;
      for (double now = level_.rank(balance_); now > aim; now = level_.rank(balance_)) {
        progress_.see(now, done_ + steps_of_a_set * sets_++);
        if (waits && now <= near && newton_pays(now, tol)) return follow_exactly(), End::near;
        if (monitor.stop_now(done_, 0)) return follow_exactly(), End::stopped;
        if (crawls(aim) || !work_off(now, tol)) break;
      }
      follow_exactly();
      violation_ = exact_violation();
      if (violation_ <= tol) return End::converged;
      if (done_ == before) break;
    }
    return End::imprecise;
  }

 private:
  static constexpr Index steps_of_a_set = 150;  // take as long as all else that is done for a set
  static constexpr Index small_size = 128;      // rows stay in a cache from when they are gathered until they are added

  /// Products are cheap with all of K in memory.
  bool newton_pays(double violation, double tol) const {
    const Index free = level_.count_free_samples();
    const double products = 4e-3 * static_cast<double>(hinges_.n_samples * free);
    return block::newton_pays(done_, progress_.work_in_vain(), violation, tol, free, products);
  }

  /// Whether the violation has not fallen by a tenth for long, and rounding of scores to T may be why.
  bool crawls(double aim) const {
    if (progress_.looks_in_vain() % 50 != 0) return false;
    return block::too_coarse<T>(variables_.score, aim) || progress_.looks_in_vain() > 5000;
  }

  /// False if no step was possible.
  bool work_off(double violation, double tol) {
    const bool had_kept = !kept_.empty();
    set_.take(level_, slots_, balance_,
              choice_.choose(level_, kept_, std::min(small_size, hinges_.n_samples), violation,
                             -std::max(violation, 10.0 * tol)));
    const auto gather_all = [&](std::span<const Index> samples, T* out, Index stride) {
      for (std::size_t p = 0; p < samples.size(); ++p) {
        if (p + 1 < samples.size()) fetch(known_.row_as(samples[p + 1], T()));
        gather(known_.row_as(samples[p], T()), samples, out + p * stride);
      }
    };
    const Index steps = set_.work(gather_all, {0.2 * tol, 0.3, 8 * small_size});
    balance_ = set_.balance();
    set_.give_back(level_, slots_);
    slots_.write(set_.chosen(), variables_.alpha);
    apply();
    done_ += steps;
    kept_ = steps == 0 ? std::vector<Index>() : block::last_free(set_.level(), set_.chosen(), small_size / 2);
    return steps > 0 || had_kept;
  }

  /// Has a row on its way from memory.
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
    known_.add<T>(rows_, weights_, level_.score());
  }

  /// Brings the exact scores up to date. Steps in double, which are for fine tolerances, have them summed anew, so that
  /// roundings do not add up.
  void follow_exactly() {
    if constexpr (least_tol<T> > 0.0) {
      const Change change(moved_);
      known_.add<double>(change.rows, change.weights, variables_.score.data());
    } else {
      const Change all(hinges_.beta(variables_.alpha));
      std::fill(variables_.score.begin(), variables_.score.end(), 0.0);
      known_.add<double>(all.rows, all.weights, variables_.score.data());
    }
    std::fill(moved_.begin(), moved_.end(), 0.0);
    std::copy(balance_.thresholds().begin(), balance_.thresholds().end(), variables_.threshold.begin());
    round_scores();
  }

  void round_scores() {
    for (Index i = 0; i < hinges_.n_samples; ++i) level_.score()[i] = static_cast<T>(variables_.score[i]);
  }

  double exact_violation() const {
    block::Level<double> exact(hinges_.n_samples, hinges_.n_thresholds);
    exact.start(slots_, hinges_.n_samples);
    std::copy_n(variables_.score.data(), hinges_.n_samples, exact.score());
    return std::max(0.0, exact.rank(balance_));
  }

  const Known& known_;
  const Hinges& hinges_;
  Variables variables_;
  block::Slots slots_;
  block::Balance balance_;
  block::Level<T> level_;
  block::SmallSet<T> set_;
  block::WorkingSet<T> choice_;
  std::vector<double> moved_, weights_;
  std::vector<Index> kept_, rows_;
  Index done_ = 0, sets_ = 0;
  double violation_ = 0.0;
  block::Progress progress_;
};

}  // namespace ordsvm::search
