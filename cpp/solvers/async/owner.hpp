// One thread's share of a problem: hinges that only it moves, and its view of the scores.
#pragma once

#include <memory>
#include <numeric>
#include <vector>

#include "optimality/coordinate_step.hpp"
#include "optimality/frontier.hpp"
#include "optimality/projections.hpp"
#include "parallel/partition.hpp"
#include "solvers/async/shared_state.hpp"
#include "solvers/gcd.hpp"

namespace ordsvm {

/// Detects that no work is left: every thread has looked at everything up to the last step, and found nothing.
class Quiet {
 public:
  explicit Quiet(int n_threads) : looked_(n_threads) {
    for (auto& looked : looked_) looked = -1;
  }
  /// Thread t found nothing to do after the first `steps` steps. True if that holds for all and no step came since.
  bool agreed(int t, Index steps, const std::atomic<Index>& now) {
    looked_[t] = steps;
    for (const auto& looked : looked_)
      if (looked != steps) return false;
    return now == steps;
  }

  std::atomic<bool> reached = false;

 private:
  std::vector<std::atomic<Index>> looked_;
};

template <class T, class State>
class Owner {
 public:
  Owner(int number, const Hinges& all, const OwnedHinges& owned, Commons<T>& commons, const Start& start,
        typename State::Shared& shared)
      : number_(number),
        all_(all),
        owned_(&owned),
        commons_(commons),
        keeps_capped_(!start.capped.empty()),
        state_(number, owned, commons, start, shared) {
    for (const Index v : owned.id) alpha_.push_back(start.variables.alpha[v]);
    begin();
  }

  /// Steps until all owners agree that nothing is left to do, or `stop` is set. Shrinks after every so many steps.
  void work(double tol, Index max_steps, Index max_shrink_steps, Quiet& quiet) {
    for (Index own_steps = 0; !commons_.stop;) {
      commons_.wait_for_report();
      const Index steps = commons_.steps;
      state_.catch_up();
      const auto [length, hinge] =
          choose_hinge(owned_->hinges, state_, *projections_, *frontier_, state_.threshold(), tol);
      const double longest = commons_.compare(number_, length);
      if (hinge < 0) {
        if (quiet.agreed(number_, steps, commons_.steps)) commons_.stop = quiet.reached = true;
        std::this_thread::yield();
      } else if (steps >= max_steps) {
        commons_.stop = true;
      } else if (length < commons_.pace * longest) {
        std::this_thread::yield();
      } else {
        move(hinge);
        if (++own_steps % max_shrink_steps == 0) shrink();
      }
    }
  }

  /// Writes the scores it keeps where they belong, having read all steps of others. To be called after all threads have
  /// ended.
  void gather(std::span<double> score) {
    state_.catch_up();
    for (Index i = 0; i < owned_->size(); ++i) score[owned_->samples[i]] = state_.score()[i];
  }

  Index active() const { return active_; }
  const State& state() const { return state_; }
  const OwnedHinges& owned() const { return *owned_; }

 private:
  void begin() {
    projections_ = std::make_unique<Projections<T>>(owned_->hinges, state_.working(), alpha_);
    frontier_ = std::make_unique<Frontier<T>>(owned_->hinges, state_.working(), alpha_);
    active_ = static_cast<Index>(alpha_.size());
  }

  void move(Index v) {
    const double before = alpha_[v];
    coordinate_step(owned_->hinges, state_, alpha_[v], v);
    commons_.set_alpha(owned_->id[v], alpha_[v]);
    projections_->update(v, alpha_[v]);
    frontier_->update(v, alpha_[v]);
    const double cap = owned_->hinges.cap[v], sign = owned_->hinges.sign[v];
    if (keeps_capped_ && (before == cap) != (alpha_[v] == cap))
      state_.add_capped(owned_->hinges.sample[v], alpha_[v] == cap ? sign * cap : -sign * cap);
  }

  /// Gu et al. 2020, Algorithm 3 on this owner's hinges: those at a bound whose gradient is beyond all violations go.
  void shrink() {
    state_.catch_up();
    const Hinges& h = owned_->hinges;
    std::vector<double> gradient(h.size());
    double most = 0.0, least = 0.0;  // M and m; (14) uses them only where M > 0 and m < 0
    for (Index v = 0; v < h.size(); ++v) {
      gradient[v] = h.sign[v] * state_.decision(h.sample[v], h.threshold[v]) - h.offset[v];
      const bool may_move = gradient[v] < 0 ? alpha_[v] < h.cap[v] : alpha_[v] > 0.0;
      if (may_move) most = std::max(most, gradient[v]), least = std::min(least, gradient[v]);
    }
    std::vector<Index> kept;
    std::vector<double> kept_alpha;
    for (Index v = 0; v < h.size(); ++v) {
      const bool at_zero = alpha_[v] == 0.0 && most > 0.0 && gradient[v] > most;
      const bool at_cap = alpha_[v] == h.cap[v] && least < 0.0 && gradient[v] < least;
      if (at_zero || at_cap) continue;
      kept.push_back(owned_->id[v]);
      kept_alpha.push_back(alpha_[v]);
    }
    if (kept.size() == alpha_.size()) return;
    alpha_ = std::move(kept_alpha);
    narrow(std::move(kept));
  }

  /// Goes on with fewer hinges, and with the scores of their samples alone where they are few enough to gain by it.
  void narrow(std::vector<Index> kept) {
    std::vector<SampleIndex> samples;
    for (const Index v : kept) samples.push_back(all_.sample[v]);
    std::ranges::sort(samples);
    samples.erase(std::unique(samples.begin(), samples.end()), samples.end());
    const bool few = samples.size() * 3 < owned_->samples.size();
    auto smaller = std::make_unique<OwnedHinges>(all_, std::move(kept), few ? std::move(samples) : owned_->samples);
    owned_ = smaller.get();
    if (few)
      state_.narrow(*owned_);
    else
      state_.renumber(*owned_);
    narrowed_ = std::move(smaller);
    begin();
  }

  int number_;
  const Hinges& all_;
  const OwnedHinges* owned_;
  std::unique_ptr<OwnedHinges> narrowed_;  // after shrinking
  Commons<T>& commons_;
  bool keeps_capped_;
  std::vector<double> alpha_;  // of the hinges in the share
  State state_;
  std::unique_ptr<Projections<T>> projections_;
  std::unique_ptr<Frontier<T>> frontier_;
  std::atomic<Index> active_ = 0;
};

}  // namespace ordsvm
