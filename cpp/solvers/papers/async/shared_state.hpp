// Scores that several threads keep up to date together, each for the samples of its own hinges.
//
// Both kinds give an owner a private copy of the scores it looks at, brought up to date by catch_up() before every
// choice; in between, steps of others make it stale. They differ in how a step reaches the others:
// - AtomicState, the papers' way: the step is added to all n shared scores by relaxed atomic additions.
// - LogState: the step is written to the owner's log; every other owner reads it and adds it to its own scores. No
//   score is written by two threads, so all loops are plain and vectorised.
//
// The part of the scores that comes from hinges at their caps ("capped", the papers' G-bar) is kept in the same way
// where shrinking needs it, for all samples of the owner's share.
#pragma once

#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "kernels/row_cache.hpp"
#include "optimality/score_state.hpp"
#include "parallel/partition.hpp"
#include "parallel/shared_number.hpp"
#include "parallel/step_log.hpp"

namespace ordsvm {

/// What all owners have in common.
template <class T>
struct Commons {
  RowCache<T>& cache;
  std::span<const T> diagonal;
  double penalty;             // 1 for penalised thresholds, else 0
  std::vector<double> alpha;  // of all hinges, each written by its owner alone
  std::atomic<bool> stop = false;
  std::atomic<bool> meet = false;    // all owners leave off, having read all steps, to go on later
  std::atomic<Index> steps = 0;      // taken by all, counted after they have been passed on
  double pace = 0.0;                 // a step shorter than this share of the longest one of another owner waits
  std::vector<double> lengths = {};  // of the steps that owners are about to take, each written by one

  /// Publishes the length of the step that an owner has chosen, and returns the longest of all owners.
  double compare(int owner, double length) {
    SharedNumber(lengths[owner]).store(length);
    double longest = length;
    for (double& other : lengths) longest = std::max(longest, SharedNumber(other).load());
    return longest;
  }

  std::atomic<Index> pause_at = std::numeric_limits<Index>::max();  // steps at which all wait for the report

  std::function<bool()> watch_alone = {};  // where the only owner works on the thread that watches

  void wait_for_report() {
    if (watch_alone && !stop && watch_alone()) stop = true;
    while (steps.load(std::memory_order_relaxed) >= pause_at.load(std::memory_order_relaxed) && !stop)
      std::this_thread::yield();
  }

  void set_alpha(Index v, double value) { SharedNumber(alpha[v]).store(value); }

  /// alpha as it is, while all work. Whatever the moments at which its elements are read, it is in the box.
  void show(std::span<double> into) {
    for (std::size_t v = 0; v < alpha.size(); ++v) into[v] = SharedNumber(alpha[v]).load();
  }
};

/// Where all owners start from. `capped` is empty where it is not kept.
struct Start {
  Variables variables;
  std::span<const double> capped = {};
};

/// An owner's private scores and thresholds.
template <class T>
class OwnScores {
 public:
  OwnScores(const OwnedHinges& owned, Commons<T>& commons, const Start& start)
      : commons_(commons),
        owned_(&owned),
        first_(owned.size() > 0 ? owned.samples.front() : 0),
        score_(picked(start.variables.score, owned)),
        capped_(start.capped.empty() ? std::vector<double>() : picked(start.capped, owned)),
        threshold_(start.variables.threshold.begin(), start.variables.threshold.end()),
        scores_(score_) {}
  OwnScores(const OwnScores&) = delete;

  double decision(Index i, Index k) const { return score_[i] - threshold_[k]; }
  double curvature(Index i, Index) const { return commons_.diagonal[global(i)] + commons_.penalty; }
  std::span<const T> working() const { return scores_.working(); }
  std::span<const double> threshold() const { return threshold_; }
  std::span<const double> score() const { return score_; }
  std::span<const double> capped() const { return capped_; }
  /// By numbers of the whole table, for samples whose score is kept and for all samples of the first share.
  double score_of(SampleIndex i) const { return score_[narrowed_ ? local(i) : i - first_]; }
  double capped_of(SampleIndex i) const { return capped_[i - first_]; }

  /// Continues with a share of fewer hinges over the same samples.
  void renumber(const OwnedHinges& owned) { owned_ = &owned; }

  /// Continues with the scores of a smaller share, whose samples are a subset of this one's.
  void narrow(const OwnedHinges& owned) {
    std::vector<double> kept;
    for (const SampleIndex i : owned.samples) kept.push_back(score_[local(i)]);
    owned_ = &owned;
    narrowed_ = true;
    score_ = std::move(kept);
    scores_ = Scores<T>(score_);
  }

 protected:
  static std::vector<double> picked(std::span<const double> values, const OwnedHinges& owned) {
    std::vector<double> own;
    for (const SampleIndex i : owned.samples) own.push_back(values[i]);
    return own;
  }

  SampleIndex global(Index i) const { return owned_->samples[i]; }
  Index local(SampleIndex i) const {
    const auto& samples = owned_->samples;
    return std::lower_bound(samples.begin(), samples.end(), i) - samples.begin();
  }

  void apply(const Step& step) {
    const auto row = commons_.cache.pin(step.sample);
    if (step.delta != 0.0) {
      if (narrowed_)
        scores_.add(step.delta, row.data(), owned_->samples);
      else
        scores_.add(step.delta, row.data() + first_);
      threshold_[step.threshold] -= commons_.penalty * step.delta;
    }
    if (step.capped != 0.0) simd::add_row(capped_.data(), step.capped, row.data() + first_, capped_.size());
  }

  Commons<T>& commons_;
  const OwnedHinges* owned_;
  SampleIndex first_;  // of the first share, a range of samples
  bool narrowed_ = false;
  std::vector<double> score_, capped_, threshold_;
  Scores<T> scores_;
};

template <class T>
class LogState : public OwnScores<T> {
 public:
  using Shared = std::vector<std::unique_ptr<StepLog>>;  // one log an owner

  static Shared share(const Start&, int n_owners) {
    Shared logs;
    for (int owner = 0; owner < n_owners; ++owner) {
      logs.push_back(std::make_unique<StepLog>(256, n_owners));
      logs.back()->ignore(owner);
    }
    return logs;
  }

  LogState(int owner, const OwnedHinges& owned, Commons<T>& commons, const Start& start, Shared& logs)
      : OwnScores<T>(owned, commons, start), owner_(owner), logs_(logs) {}

  void catch_up() {
    for (int other = 0; other < static_cast<int>(logs_.size()); ++other)
      if (other != owner_) logs_[other]->read(owner_, [this](const Step& step) { this->apply(step); });
  }

  void add(Index i, Index k, double delta) {
    pass_on({this->global(i), static_cast<SampleIndex>(k), delta, 0.0});
    this->commons_.steps.fetch_add(1);
  }

  /// A hinge of sample i has come to its cap, or left it: its share of beta there has changed by delta.
  void add_capped(Index i, double delta) { pass_on({this->global(i), 0, 0.0, delta}); }

 private:
  void pass_on(const Step& step) {
    this->apply(step);
    while (!logs_[owner_]->try_append(step)) {  // a reader is far behind: wait, and read the other logs meanwhile
      if (this->commons_.stop) return;
      catch_up();
      std::this_thread::yield();
    }
  }

  int owner_;
  Shared& logs_;
};

template <class T>
class AtomicState : public OwnScores<T> {
 public:
  struct Shared {
    std::vector<double> score, threshold, capped;
  };

  static Shared share(const Start& start, int) {
    const auto copy = [](std::span<const double> values) { return std::vector<double>(values.begin(), values.end()); };
    return {copy(start.variables.score), copy(start.variables.threshold), copy(start.capped)};
  }

  AtomicState(int, const OwnedHinges& owned, Commons<T>& commons, const Start& start, Shared& shared)
      : OwnScores<T>(owned, commons, start), shared_(shared) {}

  void catch_up() {
    std::vector<double> fresh(this->score_.size());
    for (std::size_t i = 0; i < fresh.size(); ++i) fresh[i] = load(shared_.score[this->global(i)]);
    this->scores_.assign(fresh);
    for (std::size_t k = 0; k < this->threshold_.size(); ++k) this->threshold_[k] = load(shared_.threshold[k]);
    for (std::size_t i = 0; i < this->capped_.size(); ++i) this->capped_[i] = load(shared_.capped[this->first_ + i]);
  }

  void add(Index i, Index k, double delta) {
    increase(shared_.score, this->global(i), delta);
    if (this->commons_.penalty > 0.0) increase(shared_.threshold[k], -delta);
    this->commons_.steps.fetch_add(1);
  }

  void add_capped(Index i, double delta) { increase(shared_.capped, this->global(i), delta); }

 private:
  void increase(std::vector<double>& values, SampleIndex sample, double delta) {
    const auto row = this->commons_.cache.pin(sample);
    for (std::size_t j = 0; j < values.size(); ++j) increase(values[j], delta * static_cast<double>(row.data()[j]));
  }
  static double load(double& value) { return SharedNumber(value).load(); }
  static void increase(double& value, double by) { SharedNumber(value).add(by); }

  Shared& shared_;
};

}  // namespace ordsvm
