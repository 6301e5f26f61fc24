// How many owners may step at once: fewer, where simultaneous steps undo each other.
//
// A step is exact for the scores its owner sees. Steps that others take meanwhile are not in them; where the hinges are
// correlated, several owners go the whole way at once and overshoot together, and nothing in Algorithms 1 and 2 of Gu
// et al. 2020 ends that: with 24 threads the objective can go to and fro for ever.
//
// Owners therefore meet now and then. For every step, its owner has added up what the step gains by the scores it
// saw, |move| (|G| - |move| Q / 2) > 0; when all have met, the true fall of the dual objective is known. It is the sum
// of the predicted gains if no steps were simultaneous. Where it is less than `least_share` of them, half of the owners
// go on, with twice as many hinges each, down to one; where the objective has risen, from the alpha of the meeting
// before. The number of owners never grows again.
//
// Why this ends, for every tol > 0 and any timing of the threads (in exact arithmetic):
// - A step is taken along a hinge with |projected gradient| > tol by its owner's scores. There are three kinds. It ends
//   between the bounds: predicted gain G^2 / 2Q > tol^2 / 2Q, with Q the largest curvature. Or it goes from one bound
//   to the other, as it does without curvature: at least cap tol / 2. Or it goes from between the bounds to one of them;
//   then a step of the first kind has brought that hinge there before, in the same run of accepted windows, or it
//   was there when that run began. So of p steps in accepted windows, with L hinges and r runs of these, at least
//   (p - r L) / 2 are of the first two kinds, and the predicted gains are at least g > 0 for each of these.
// - In windows that are accepted the objective D falls by least_share of the predicted gains; in none does it rise, as
//   going back undoes that; and it is bounded on the box. So these windows have at most
//   r L + 2 (D at the start - min D) / (g least_share) steps in all, GCD's bound over least_share, whatever the number
//   of threads.
// - At most ceil(log2(n_threads)) windows are not accepted, each of which ends a run and has a bounded number of steps:
//   r <= 1 + ceil(log2(n_threads)).
// - One owner sees all steps, gains what it predicts, and needs no meetings: that is GCD.
//
// Where few steps are simultaneous, nearly all that is predicted is gained (4000 random samples, rows in the cache, 2
// to 24 threads on two cores: 65 to 100 % in every window), and meetings, one in n steps or fewer, cost nothing to
// speak of.
#pragma once

#include <algorithm>
#include <limits>

#include "base/hinges.hpp"

namespace ordsvm {

class Safeguard {
 public:
  enum class Verdict { go_on, fewer, back };  // back: with fewer owners from where the window began

  Safeguard(int n_owners, Index n_samples)
      : n_owners_(n_owners), first_window_(std::max<Index>(n_samples, least_window)), window_(first_window_) {}

  int n_owners() const { return n_owners_; }

  /// Steps from one meeting to the next.
  Index window() const { return n_owners_ > 1 ? window_ : std::numeric_limits<Index>::max(); }

  /// After a window: what its steps were to gain, one by one, and by how much the dual objective has fallen.
  Verdict judge(double predicted, double fallen) {
    if (n_owners_ == 1 || fallen >= least_share * predicted) {
      window_ = std::min(2 * window_, longest_window * first_window_);
      return Verdict::go_on;
    }
    n_owners_ = (n_owners_ + 1) / 2;
    window_ = first_window_;
    return fallen < 0.0 ? Verdict::back : Verdict::fewer;
  }

 private:
  static constexpr double least_share = 0.5;
  static constexpr Index least_window = 1000, longest_window = 8;  // steps; times the first one

  int n_owners_;
  Index first_window_, window_;
};

}  // namespace ordsvm
