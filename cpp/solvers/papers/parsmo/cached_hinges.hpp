// The hinges whose samples have their row of K in the cache: those that can move without a kernel evaluation.
#pragma once

#include <vector>

#include "kernels/row_cache.hpp"
#include "optimality/frontier.hpp"
#include "parallel/thread_pool.hpp"
#include "solvers/papers/parsmo/range_extremes.hpp"

namespace ordsvm {

template <class T>
class CachedHinges {
 public:
  CachedHinges(const Hinges& hinges, std::span<const T> score, std::span<const double> alpha, double margin)
      : hinges_(hinges),
        alpha_(alpha),
        frontier_(hinges, score, alpha, margin),
        extremes_(hinges, frontier_),
        cached_(hinges.n_samples, 0),
        now_(hinges.n_samples, 0),
        first_(hinges.n_samples + 1, 0),
        of_sample_(hinges.size()) {
    for (const SampleIndex i : hinges.sample) ++first_[i + 1];
    for (Index i = 0; i < hinges.n_samples; ++i) first_[i + 1] += first_[i];
    std::vector<Index> next(first_.begin(), first_.end() - 1);
    for (Index v = 0; v < hinges.size(); ++v) of_sample_[next[hinges.sample[v]]++] = v;
    for (Index v = 0; v < hinges.size(); ++v) frontier_.hide(v);
  }

  /// To be called when scores or the cache have changed.
  void refresh(RowCache<T>& cache, ThreadPool& pool) {
    if (cache.rows_computed() != rows_seen_) follow(cache);
    extremes_.refresh(pool);
  }

  /// To be called when alpha_v has moved.
  void update(Index v) {
    if (cached_[hinges_.sample[v]]) frontier_.update(v, alpha_[v]);
  }

  /// Leaves a hinge out until it is updated.
  void hide(Index v) {
    frontier_.hide(v);
    extremes_.refresh(v);
  }

  const RangeExtremes<T>& extremes() const { return extremes_; }

 private:
  void follow(RowCache<T>& cache) {
    rows_seen_ = cache.rows_computed();
    cache.list(now_);
    for (Index i = 0; i < hinges_.n_samples; ++i) {
      if (now_[i] == cached_[i]) continue;
      cached_[i] = now_[i];
      for (Index at = first_[i]; at < first_[i + 1]; ++at) {
        const Index v = of_sample_[at];
        cached_[i] ? frontier_.update(v, alpha_[v]) : frontier_.hide(v);
      }
    }
  }

  const Hinges& hinges_;
  std::span<const double> alpha_;
  Frontier<T> frontier_;
  RangeExtremes<T> extremes_;
  std::vector<char> cached_, now_;
  std::vector<Index> first_, of_sample_;  // hinges of sample i: of_sample_[first_[i]] .. of_sample_[first_[i + 1] - 1]
  Index rows_seen_ = -1;
};

}  // namespace ordsvm
