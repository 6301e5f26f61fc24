// Steps on pairs of hinges with all of K in memory: the two inner levels of the block method, on matrices that stay.
//
// Solves    all treatments of thresholds.
// Keeps     scores of all samples in T, by which small sets are chosen and worked off, and what beta has moved by since
//           scores were exact. Where those say that the end is near, the exact ones follow by rows of K in double: only
//           samples that have moved cost anything.
// Stops     when the violation by exact scores is at most tol; or after so many steps that Newton's method may be
//           better (newton.hpp).
#pragma once

#include <vector>

#include "../block/inner.hpp"
#include "../block/working_set.hpp"
#include "../solvers/solver.hpp"
#include "known.hpp"

namespace ordsvm::search {

enum class End { converged, spent, imprecise, stopped };

template <class T>
class Steps {
 public:
  /// The scores have room for whole vectors.
  Steps(const Known& known, const Hinges& hinges, const Variables& variables)
      : known_(known),
        hinges_(hinges),
        variables_(variables),
        dual_(hinges, variables),
        inner_(dual_),
        level_(hinges.n_samples, hinges.n_thresholds),
        small_(std::min(small_size, hinges.n_samples), hinges.n_thresholds),
        values_(small_size * small_size),
        moved_(hinges.n_samples, 0.0),
        small_moved_(small_size) {
    level_.start(dual_);
    for (Index i = 0; i < hinges.n_samples; ++i) level_.diagonal()[i] = static_cast<T>(known.row(i)[i]);
    round_scores();
  }

  Index done() const { return done_; }
  double violation() const { return violation_; }
  /// Samples with a hinge between its bounds.
  Index count_free() const {
    Index total = 0;
    for (Index i = 0; i < hinges_.n_samples; ++i) total += level_.is_free(i);
    return total;
  }

  /// spent(steps done) says when it is enough.
  template <class Spent>
  End run(double tol, Monitor& monitor, Spent spent) {
    const double aim = least_tol<T> > 0.0 ? 0.95 * tol : tol;
    for (int attempt = 0; attempt <= max_recomputations; ++attempt) {
      const Index before = done_;
      for (double now = level_.rank(dual_); now > aim; now = level_.rank(dual_)) {
        if (spent(done_)) return follow_exactly(), End::spent;
        if (monitor.stop_now(done_, 0)) return follow_exactly(), End::stopped;
        if (crawls(now, aim) || !work_off(now, tol)) break;
      }
      follow_exactly();
      violation_ = exact_violation();
      if (violation_ <= tol) return End::converged;
      if (done_ == before) break;
    }
    return End::imprecise;
  }

 private:
  static constexpr Index small_size =
      128;  // their rows stay in a cache from when they are gathered until they are added

  /// Whether the violation has not fallen by a tenth for long, and rounding of scores to T may be why.
  bool crawls(double violation, double aim) {
    if (violation < 0.9 * least_violation_) {
      least_violation_ = violation;
      sets_since_ = 0;
    }
    if (++sets_since_ % 50 != 0) return false;
    double largest = 0.0;
    for (const double score : variables_.score) largest = std::max(largest, std::abs(score));
    return aim < 64.0 * std::numeric_limits<T>::epsilon() * largest || sets_since_ > 5000;
  }

  /// False if no step was possible.
  bool work_off(double violation, double tol) {
    const auto chosen = set_.choose(level_, kept_, std::min(small_size, hinges_.n_samples), violation,
                                    -std::max(violation, 10.0 * tol));
    const bool had_kept = !kept_.empty();
    small_.take(level_, chosen);
    const Index count = small_.count(), stride = block::padded(count);
    for (Index p = 0; p < count; ++p) {
      if (p + 1 < count) fetch(known_.row_as(chosen[p + 1], T()));
      gather(known_.row_as(chosen[p], T()), chosen, values_.data() + p * stride);
    }
    std::fill(small_moved_.begin(), small_moved_.end(), 0.0);
    const Index steps = inner_.run(small_, {values_.data(), stride}, small_moved_, {0.2 * tol, 0.3, 8 * small_size});
    small_.give_back(level_, chosen);
    for (Index p = 0; p < count; ++p) moved_[chosen[p]] += small_moved_[p];
    apply(chosen);
    done_ += steps;
    kept_ = steps == 0 ? std::vector<Index>() : block::last_free(small_, chosen, small_size / 2);
    return steps > 0 || had_kept;
  }

  /// Has a row on its way from memory.
  void fetch(const T* row) const {
    constexpr Index line = 64 / sizeof(T);
    for (Index i = 0; i < hinges_.n_samples; i += line) __builtin_prefetch(row + i);
  }

  void apply(std::span<const Index> chosen) {
    rows_.clear();
    weights_.clear();
    for (std::size_t p = 0; p < chosen.size(); ++p)
      if (small_moved_[p] != 0.0) {
        rows_.push_back(chosen[p]);
        weights_.push_back(small_moved_[p]);
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
    round_scores();
  }

  void round_scores() {
    for (Index i = 0; i < hinges_.n_samples; ++i) level_.score()[i] = static_cast<T>(variables_.score[i]);
  }

  double exact_violation() const {
    block::Level<double> exact(hinges_.n_samples, hinges_.n_thresholds);
    exact.start(dual_);
    std::copy_n(variables_.score.data(), hinges_.n_samples, exact.score());
    return std::max(0.0, exact.rank(dual_));
  }

  const Known& known_;
  const Hinges& hinges_;
  Variables variables_;
  block::Dual dual_;
  block::Inner<T> inner_;
  block::Level<T> level_, small_;
  block::WorkingSet<T> set_;
  Buffer<T> values_;
  std::vector<double> moved_, small_moved_;
  std::vector<Index> kept_, rows_;
  std::vector<double> weights_;
  Index done_ = 0, sets_since_ = 0;
  double violation_ = 0.0, least_violation_ = block::Dual::infinity;
};

}  // namespace ordsvm::search
