// PARSMO, several pairs of hinges at once (Manno, Palagi & Sagratella 2018, Algorithm 2), for free and ordered
// thresholds.
//
// Solves    what SMO solves (smo.hpp).
// Keeps     scores f = K beta, the frontier (b_low and b_up of every threshold, range by range), and mu.
// Step      q pairs that have no hinge in common, the most violating one first. Each would go to its own minimum,
//           clipped to the box, (10); the sum of these moves is a direction, along which one exact step (29) is taken,
//           the gathering step: without it pairs that pull at the same scores overshoot together, and iterates
//           oscillate. "light": the q most violating pairs, one after the other among the hinges that are left.
//           "cache": beside the first pair only hinges whose rows of K are in the cache, so that a step computes at
//           most two rows.
// Stops     as SMO does: max_j (B_low_j - B_up_j) <= tol, the paper's eta in (41), with scores recomputed in double.
// Cost      a look at all hinges (cache: two) and 2q rows of K, of which those not in the cache are computed side by
//           side. The gathering step needs no further kernel value: all values it uses stand in those rows.
// Threads   divide the missing rows, the samples whose scores change, the ranges of hinges, and the scores recomputed
//           at the end; the result does not depend on them.
//
// Where the paper is vague or slips, and what is done here:
// - (29) as printed gives the distance to the bound as the longest step; it has to be divided by |d_i|. Its max with 0
//   is left out: a sum of pairs that descend descends.
// - S.5 counts t_h twice; (19) is meant. Scores are kept instead of the gradient, which is a function of them.
// - Pairs must be disjoint, else the sum may leave the box at once; a pair that violates by no more than tol is not
//   used, so that there may be fewer than q.
// - The paper's one equality constraint becomes one for every threshold, and the q pairs are the worst of all of them:
//   the chains of inequalities in section 7 hold within one. With ordered thresholds pairs also share mu: the longest
//   step keeps mu >= 0, and may then be shorter than 1, though never 0.
// - With the epsilon-perturbed index sets a hinge closer to a bound than that (here a share of its cap) counts as being
//   at it. (41) can then hold where (5) does not: at that point epsilon becomes 0, for a certificate is about the exact
//   sets.
// - "cache": the paper's set C are the rows cached once those of the first pair are there, which may have driven others
//   out.
// - A process is a pair in the paper. Here threads divide rows, samples and ranges whatever q is; kernel evaluations a
//   process are still all of them divided by q.
// - The paper's start is 0; any feasible alpha with its scores will do.
// - q is cut to the capacity of the cache: the rows of all pairs are in it at once.
// - Lemma 1 assumes curvature along every pair. Where it is no more than rounding, as for equal samples, (10) and (29)
//   go to the bound.
// - eta is a little less than tol with rows in float, and less still where the duality gap requires it (Finish, the
//   rule of all solvers). The index sets are those of hinges that may move at all.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/stopping.hpp"
#include "optimality/frontier.hpp"
#include "optimality/pairs.hpp"
#include "optimality/score_state.hpp"
#include "parallel/thread_pool.hpp"
#include "solvers/papers/parsmo/cached_hinges.hpp"
#include "solvers/papers/parsmo/range_extremes.hpp"

namespace ordsvm {

enum class Others { light, cache };

struct ParsmoOptions {
  Others others = Others::light;  // where the pairs beside the most violating one come from
  Index n_pairs = 1;
  double epsilon = 0.0;
  bool gathering = true;
  int n_threads = 1;
};

template <class T>
class Parsmo {
 public:
  Parsmo(const Hinges& hinges, KernelState<T>& state, const Variables& variables, const ParsmoOptions& options)
      : hinges_(hinges),
        state_(state),
        alpha_(variables.alpha),
        options_(options),
        n_pairs_(std::min<Index>(options.n_pairs, state.cache().capacity() / 2)),
        pool_(options.n_threads),
        pairs_(hinges, variables) {
    look_at_bounds(options.epsilon);
    state_.lend(&pool_);
  }
  ~Parsmo() { state_.lend(nullptr); }
  Parsmo(const Parsmo&) = delete;
  Parsmo& operator=(const Parsmo&) = delete;

  Outcome run(const Limits& limits, Monitor& monitor) {
    return iterate<T>(*this, state_, hinges_.n_samples, limits, monitor);
  }

  bool choose(double tol) {
    tol_ = tol;
    extremes_->refresh(pool_);
    first_ = pairs_.worst(*extremes_);
    if (pairs_.violates(first_, tol)) return true;
    if (epsilon_ == 0.0) return false;
    look_at_bounds(0.0);
    return choose(tol);
  }

  double exact_violation() { return pairs_.exact_violation(); }

  void step() {
    steps_.clear();
    samples_.clear();
    rows_.clear();
    take(first_);
    if (cached_) {
      fetch_rows();
      cached_->refresh(state_.cache(), pool_);
      hide(first_);
      take_more(cached_->extremes());
    } else {
      hide(first_);
      take_more(*extremes_);
    }
    fetch_rows();
    for (PairStep& step : steps_) step.length = alone(step);
    advance(gathered());
  }

 private:
  using Row = typename RowCache<T>::Pin;

  /// Frontiers anew, from alpha.
  void look_at_bounds(double epsilon) {
    epsilon_ = epsilon;
    const auto score = state_.scores().working();
    frontier_.emplace(hinges_, score, alpha_, epsilon);
    extremes_.emplace(hinges_, *frontier_);
    if (options_.others == Others::cache && n_pairs_ > 1)
      cached_ = std::make_unique<CachedHinges<T>>(hinges_, score, alpha_, epsilon);
  }

  void take(const Pair& pair) {
    steps_.push_back({pair.low, pair.up, 0.0});
    for (const Index v : {pair.low, pair.up})
      if (place(hinges_.sample[v]) == samples_.size()) samples_.push_back(hinges_.sample[v]);
  }

  void hide(const Pair& pair) {
    for (const Index v : {pair.low, pair.up}) {
      if (cached_) {
        cached_->hide(v);
      } else {
        frontier_->hide(v);
        extremes_->refresh(v);
      }
    }
  }

  /// Pairs from one more look, while there are any that violate.
  void take_more(const RangeExtremes<T>& extremes) {
    while (static_cast<Index>(steps_.size()) < n_pairs_) {
      const Pair pair = pairs_.worst(extremes);
      if (!pairs_.violates(pair, tol_)) return;
      take(pair);
      hide(pair);
    }
  }

  /// Where the row of a sample is.
  std::size_t place(Index sample) const {
    return std::find(samples_.begin(), samples_.end(), sample) - samples_.begin();
  }
  const T* row(Index sample) const { return rows_[place(sample)]->data(); }

  /// Those in the cache are pinned before others are computed, so that which ones are evicted is deterministic.
  void fetch_rows() {
    std::vector<std::size_t> missing;
    for (std::size_t at = rows_.size(); at < samples_.size(); ++at) {
      rows_.push_back(state_.cache().pin_if_cached(samples_[at]));
      if (!rows_.back()) missing.push_back(at);
    }
    constexpr std::size_t effort = 8;  // of a kernel value, in elements read: at least
    pool_.split(missing.size(), effort * missing.size() * hinges_.n_samples, [&](std::size_t begin, std::size_t end) {
      for (; begin < end; ++begin) rows_[missing[begin]].emplace(state_.pin(samples_[missing[begin]]));
    });
  }

  /// How far a pair goes if no other moves, (10).
  double alone(const PairStep& step) const {
    const Index low = hinges_.sample[step.low], up = hinges_.sample[step.up];
    const double curvature = pair_curvature(state_, low, up, row(low));
    return std::min(pairs_.slope(step.low, step.up) / curvature, pairs_.distance_to_bound(step.low, step.up));
  }

  /// The factor (29) for the sum of all steps; what moves is left in weights_, the change of beta of every sample.
  double gathered() {
    weights_.assign(samples_.size(), 0.0);
    double slope = 0.0;
    for (const PairStep& step : steps_) {
      slope += step.length * pairs_.slope(step.low, step.up);
      weights_[place(hinges_.sample[step.low])] -= step.length;
      weights_[place(hinges_.sample[step.up])] += step.length;
    }
    if (steps_.size() == 1) return 1.0;
    const double longest = pairs_.longest(steps_);
    if (!options_.gathering) return std::min(1.0, longest);
    const double curvature = curvature_of_all();
    return curvature > 0.0 ? std::min(slope / curvature, longest) : longest;
  }

  /// d'Qd = weights' K weights; 0 where it vanishes but for rounding.
  double curvature_of_all() const {
    double curvature = 0.0, size = 0.0;
    for (std::size_t a = 0; a < samples_.size(); ++a)
      for (std::size_t b = 0; b < samples_.size(); ++b) {
        const double term = weights_[a] * weights_[b] * rows_[a]->data()[samples_[b]];
        curvature += term;
        size += std::abs(term);
      }
    return curvature > std::numeric_limits<T>::epsilon() * size ? curvature : 0.0;
  }

  void advance(double factor) {
    pairs_.apply(steps_, factor, [&](Index v) {
      frontier_->update(v, alpha_[v]);
      if (cached_) cached_->update(v);
    });
    constexpr std::size_t stretch = 2048;  // scores stay in the innermost cache while all rows are added
    pool_.split(hinges_.n_samples, samples_.size() * hinges_.n_samples, [&](std::size_t begin, std::size_t end) {
      for (; begin < end; begin += stretch)
        for (std::size_t at = 0; at < samples_.size(); ++at)
          if (weights_[at] != 0.0)
            state_.scores().add(factor * weights_[at], rows_[at]->data(), begin, std::min(begin + stretch, end));
    });
  }

  const Hinges& hinges_;
  KernelState<T>& state_;
  std::span<double> alpha_;
  ParsmoOptions options_;
  Index n_pairs_;
  double epsilon_ = 0.0, tol_ = 0.0;
  ThreadPool pool_;
  Pairs pairs_;
  std::optional<Frontier<T>> frontier_;
  std::optional<RangeExtremes<T>> extremes_;
  std::unique_ptr<CachedHinges<T>> cached_;  // "cache" only
  Pair first_{};
  std::vector<PairStep> steps_;
  std::vector<Index> samples_;            // whose rows the step needs, each once
  std::vector<std::optional<Row>> rows_;  // theirs
  std::vector<double> weights_;           // theirs
};

}  // namespace ordsvm
