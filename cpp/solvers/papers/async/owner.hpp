// One thread's share of a problem: hinges that only it moves, and its view of the scores.
#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "optimality/coordinate_step.hpp"
#include "optimality/frontier.hpp"
#include "optimality/projections.hpp"
#include "parallel/partition.hpp"
#include "solvers/gcd.hpp"
#include "solvers/papers/async/shared_state.hpp"

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

/// The largest and the smallest projected gradient (11), where they are above and below 0: M and m of (14).
struct Spread {
  double most = 0.0, least = 0.0;

  void include(double gradient) { most = std::max(most, gradient), least = std::min(least, gradient); }
  void include(const Spread& other) { include(other.most), include(other.least); }
};

template <class T, class State>
class Owner {
 public:
  Owner(int number, const Hinges& all, const OwnedHinges& owned, Commons<T>& commons, const Start& start,
        typename State::Shared& shared)
      : number_(number),
        all_(all),
        share_(owned),
        owned_(&owned),
        commons_(commons),
        keeps_capped_(!start.capped.empty()),
        state_(number, owned, commons, start, shared) {
    for (const Index v : owned.id) alpha_.push_back(start.variables.alpha[v]);
    begin();
  }

  /// Steps until all owners agree that nothing is left to do, `stop` is set, or so many steps have been taken by all:
  /// then all owners leave off. Shrinks after every so many steps of its own.
  void work(double tol, Index until, Index shrink_every, Quiet& quiet) {
    while (!commons_.stop && !commons_.meet) {
      commons_.wait_for_report();
      const Index steps = commons_.steps;
      state_.catch_up();
      const auto [length, hinge] =
          choose_hinge(owned_->hinges, state_, *projections_, *frontier_, state_.threshold(), tol);
      const double longest = commons_.compare(number_, length);
      if (hinge < 0) {
        if (quiet.agreed(number_, steps, commons_.steps)) commons_.stop = quiet.reached = true;
        std::this_thread::yield();
      } else if (steps >= until) {
        commons_.meet = true;
      } else if (length < commons_.pace * longest) {
        std::this_thread::yield();
      } else {
        move(hinge);
        if (++own_steps_ % shrink_every == 0) {
          state_.catch_up();
          shrink(spread());
        }
      }
    }
    state_.catch_up();  // an owner that waits for readers of its log can end its step
  }

  // Between runs of work(), by one thread for all owners:

  /// Reads all steps of others.
  void catch_up() { state_.catch_up(); }

  /// What its steps since the last call were to gain, each alone.
  double predicted() { return std::exchange(predicted_, 0.0); }

  /// Its hinges' part of the dual objective of `alpha`: of beta'K beta / 2 - o'alpha. The scores of hinges at their
  /// caps may not be kept; with c for the part of beta at the caps and r for the rest, beta'K beta is c'Kc + r'(Kc + K
  /// beta), and Kc is kept.
  double objective(std::span<const double> alpha) const {
    double value = 0.0;
    for (std::size_t v = 0; v < share_.id.size(); ++v) {
      const double a = alpha[share_.id[v]];
      if (a == 0.0) continue;
      const SampleIndex i = share_.samples[share_.sample[v]];
      double score = 0.0;
      if (keeps_capped_) score = state_.capped_of(i);
      if (!keeps_capped_ || a < share_.cap[v]) score += state_.score_of(i);
      value += a * (0.5 * share_.sign[v] * score - share_.offset[v]);
    }
    return value;
  }

  Spread spread() const {
    Spread spread;
    for (Index v = 0; v < owned_->hinges.size(); ++v) {
      const double gradient = slope_of(owned_->hinges, state_, v);
      if (gradient < 0 ? alpha_[v] < owned_->cap[v] : alpha_[v] > 0.0) spread.include(gradient);
    }
    return spread;
  }

  /// Gu et al. 2020, Algorithm 3 on this owner's hinges: those at a bound whose gradient is beyond all violations go.
  void shrink(const Spread& spread) {
    std::vector<Index> kept;
    std::vector<double> kept_alpha;
    for (Index v = 0; v < owned_->hinges.size(); ++v) {
      const double gradient = slope_of(owned_->hinges, state_, v);
      const bool at_zero = alpha_[v] == 0.0 && spread.most > 0.0 && gradient > spread.most;
      const bool at_cap = alpha_[v] == owned_->cap[v] && spread.least < 0.0 && gradient < spread.least;
      if (at_zero || at_cap) continue;
      kept.push_back(owned_->id[v]);
      kept_alpha.push_back(alpha_[v]);
    }
    if (kept.size() == alpha_.size()) return;
    alpha_ = std::move(kept_alpha);
    narrow(std::move(kept));
  }

  /// Writes the scores it keeps where they belong, having read all steps of others.
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
    const Hinges& h = owned_->hinges;
    const double before = alpha_[v], slope = std::abs(slope_of(h, state_, v)), cap = h.cap[v], sign = h.sign[v];
    const double curvature = state_.curvature(h.sample[v], h.threshold[v]);
    const double length = coordinate_step(h, state_, alpha_[v], v);
    predicted_ += length * (slope - 0.5 * length * curvature);
    if (length == 0.0) commons_.steps.fetch_add(1);  // nothing is passed on, but limits and meetings count it
    commons_.set_alpha(owned_->id[v], alpha_[v]);
    projections_->update(v, alpha_[v]);
    frontier_->update(v, alpha_[v]);
    if (keeps_capped_ && (before == cap) != (alpha_[v] == cap))
      state_.add_capped(h.sample[v], alpha_[v] == cap ? sign * cap : -sign * cap);
  }

  /// Goes on with fewer hinges, and with the scores of their samples alone where they are few enough to gain by it.
  void narrow(std::vector<Index> kept) {
    std::vector<SampleIndex> samples;
    for (const Index v : kept) samples.push_back(all_.sample[v]);
    std::sort(samples.begin(), samples.end());
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
  const OwnedHinges& share_;
  const OwnedHinges* owned_;               // what of the share is active
  std::unique_ptr<OwnedHinges> narrowed_;  // after shrinking
  Commons<T>& commons_;
  bool keeps_capped_;
  std::vector<double> alpha_;  // of the active hinges
  State state_;
  std::unique_ptr<Projections<T>> projections_;
  std::unique_ptr<Frontier<T>> frontier_;
  std::atomic<Index> active_ = 0;
  Index own_steps_ = 0;
  double predicted_ = 0.0;
};

}  // namespace ordsvm
