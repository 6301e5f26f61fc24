// Scores that several threads keep up to date together, each for the samples of its own block.
//
// Both kinds give an owner a private copy of the scores it looks at, brought up to date by catch_up() before every
// choice; in between, steps of others make it stale. They differ in how a step reaches the others:
// - AtomicState, the papers' way: the step is added to all n shared scores by relaxed atomic additions.
// - LogState: the step is written to the owner's log; every other owner reads it and adds it to its own scores. No
// score
//   is written by two threads, so all loops are plain and vectorised.
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "partition.hpp"
#include "row_cache.hpp"
#include "states.hpp"
#include "step_log.hpp"

namespace ordsvm {

/// What all owners have in common.
template <class T>
struct Commons {
  RowCache<T>& cache;
  std::span<const T> diagonal;
  double penalty;  // 1 for penalised thresholds, else 0
  std::atomic<bool> stop = false;
  std::atomic<Index> steps = 0;  // taken by all, counted after they have been passed on
};

/// An owner's private scores and thresholds, and steps applied to them.
template <class T>
class OwnScores {
 public:
  OwnScores(const Block& block, Commons<T>& commons, const Variables& start)
      : commons_(commons),
        first_(block.first_sample),
        score_(start.score.begin() + first_, start.score.begin() + first_ + block.n_samples),
        threshold_(start.threshold.begin(), start.threshold.end()),
        scores_(score_) {}
  OwnScores(const OwnScores&) = delete;

  double decision(Index i, Index k) const { return score_[i] - threshold_[k]; }
  double curvature(Index i, Index) const { return commons_.diagonal[first_ + i] + commons_.penalty; }
  std::span<const T> working() const { return scores_.working(); }
  std::span<const double> threshold() const { return threshold_; }
  std::span<const double> score() const { return score_; }

 protected:
  Commons<T>& commons_;
  Index first_;
  std::vector<double> score_, threshold_;
  Scores<T> scores_;
};

template <class T>
class LogState : public OwnScores<T> {
 public:
  using Shared = std::vector<std::unique_ptr<StepLog>>;  // one log an owner

  static Shared share(const Variables&, int n_owners) {
    Shared logs;
    for (int owner = 0; owner < n_owners; ++owner) {
      logs.push_back(std::make_unique<StepLog>(256, n_owners));
      logs.back()->ignore(owner);
    }
    return logs;
  }

  LogState(int owner, const Block& block, Commons<T>& commons, const Variables& start, Shared& logs)
      : OwnScores<T>(block, commons, start), owner_(owner), logs_(logs) {}

  void catch_up() {
    for (int other = 0; other < static_cast<int>(logs_.size()); ++other)
      if (other != owner_) logs_[other]->read(owner_, [this](const Step& step) { apply(step); });
  }

  void add(Index i, Index k, double delta) {
    const Step step{static_cast<SampleIndex>(this->first_ + i), static_cast<SampleIndex>(k), delta};
    apply(step);
    while (!logs_[owner_]->try_append(step)) {  // somebody is far behind: wait, and keep up meanwhile
      if (this->commons_.stop) return;
      catch_up();
      std::this_thread::yield();
    }
    this->commons_.steps.fetch_add(1);
  }

 private:
  void apply(const Step& step) {
    const auto row = this->commons_.cache.pin(step.sample);
    this->scores_.add(step.delta, row.data() + this->first_);
    this->threshold_[step.threshold] -= this->commons_.penalty * step.delta;
  }

  int owner_;
  Shared& logs_;
};

template <class T>
class AtomicState : public OwnScores<T> {
 public:
  struct Shared {
    std::vector<double> score, threshold;
  };

  static Shared share(const Variables& start, int) {
    return {{start.score.begin(), start.score.end()}, {start.threshold.begin(), start.threshold.end()}};
  }

  AtomicState(int, const Block& block, Commons<T>& commons, const Variables& start, Shared& shared)
      : OwnScores<T>(block, commons, start), shared_(shared), fresh_(this->score_.size()) {}

  void catch_up() {
    for (std::size_t i = 0; i < fresh_.size(); ++i) fresh_[i] = load(shared_.score[this->first_ + i]);
    this->scores_.assign(fresh_);
    for (std::size_t k = 0; k < this->threshold_.size(); ++k) this->threshold_[k] = load(shared_.threshold[k]);
  }

  void add(Index i, Index k, double delta) {
    const auto row = this->commons_.cache.pin(this->first_ + i);
    for (std::size_t j = 0; j < shared_.score.size(); ++j) increase(shared_.score[j], delta * row.data()[j]);
    if (this->commons_.penalty > 0.0) increase(shared_.threshold[k], -delta);
    this->commons_.steps.fetch_add(1);
  }

 private:
  static double load(double& value) { return std::atomic_ref(value).load(std::memory_order_relaxed); }
  static void increase(double& value, double by) { std::atomic_ref(value).fetch_add(by, std::memory_order_relaxed); }

  Shared& shared_;
  std::vector<double> fresh_;
};

}  // namespace ordsvm
