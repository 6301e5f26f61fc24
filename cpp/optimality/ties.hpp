// The mu of ordered thresholds: what a violating pair may do between thresholds, and what ties them.
//
// gamma_k = mu_k - mu_{k+1}, mu >= 0, mu_0 = mu_m = 0. A pair through which gamma falls at threshold `low` and rises at
// threshold `up` is taken up by the mu between them: they fall where up < low, and rise where low < up. Thresholds with
// mu > 0 between them are tied: they are equal, and a pair may go down from one to the other. Other treatments of the
// thresholds have no mu: all are 0, and low = up.
//
// Where Chu & Keerthi 2007 needs help: (18) reaches one neighbour of an active mu. Over a run of active mu all
// thresholds are tied, so B_low must be taken at the run's last threshold and B_up at its first, else one can stop
// before the optimum.
#pragma once

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "base/hinges.hpp"

namespace ordsvm {

class Ties {
 public:
  /// Thresholds of the most violating pair; -1 where there is none.
  struct Worst {
    double violation = -std::numeric_limits<double>::infinity();
    Index low = -1, up = -1;
  };

  Ties(const Hinges& hinges, std::span<const double> alpha)
      : alpha_sum_(std::accumulate(alpha.begin(), alpha.end(), 0.0)), mu_(hinges.n_thresholds + 1, 0.0) {
    if (hinges.treatment != Treatment::ordered) return;
    for (Index v = 0; v < hinges.size(); ++v) mu_[hinges.threshold[v] + 1] -= hinges.sign[v] * alpha[v];
    std::partial_sum(mu_.begin(), mu_.end(), mu_.begin());
    clear_rounding();
    mu_.back() = 0.0;
  }

  /// Whether thresholds k - 1 and k are tied.
  bool tied(Index k) const { return mu_[k] > 0.0; }

  /// The ends of the run of tied thresholds around k.
  Index first_tied(Index k) const {
    while (tied(k)) --k;
    return k;
  }
  Index last_tied(Index k) const {
    while (tied(k + 1)) ++k;
    return k;
  }

  /// How far a pair may go before one of the mu is used up.
  double distance_to_bound(Index low, Index up) const {
    double t = std::numeric_limits<double>::infinity();
    for (Index k = up + 1; k <= low; ++k) t = std::min(t, mu_[k]);
    return t;
  }

  /// Moves mu as a pair of length t does. After the last pair that is done together, `clear_rounding`.
  void move(Index low, Index up, double t) { move(mu_, low, up, t); }

  /// By which factor pairs that do this to mu, all together, can be lengthened.
  double longest(std::span<const double> change) const {
    double factor = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < mu_.size(); ++k)
      if (change[k] < 0.0) factor = std::min(factor, mu_[k] / -change[k]);
    return factor;
  }

  /// The same move of other numbers than mu.
  static void move(std::span<double> mu, Index low, Index up, double t) {
    for (Index k = up + 1; k <= low; ++k) mu[k] -= t;
    for (Index k = low + 1; k <= up; ++k) mu[k] += t;
  }

  /// A mu that is there by rounding alone counts as 0: else pairs would pass it to and fro.
  void clear_rounding() {
    for (double& mu : mu_) mu = mu > 1e-12 * alpha_sum_ ? mu : 0.0;
  }

  /// To be called when a hinge has moved.
  void count(double change_of_alpha) { alpha_sum_ += change_of_alpha; }

  /// The active threshold J of (17), with (18) carried over whole runs; low(k) and up(k) are b_low and b_up. Against
  /// b_up of a threshold stand the b_low of all before it, and of those tied to it. Among equals, the first b_low and
  /// the last b_up.
  template <class Low, class Up>
  Worst worst(Low low, Up up) const {
    const Index m = static_cast<Index>(mu_.size()) - 1;
    Worst worst;
    for (Index k = 0, seen = 0, low_at = 0; k < m; ++k) {
      for (; seen <= k || (seen < m && tied(seen)); ++seen)
        if (low(seen) > low(low_at)) low_at = seen;
      const double violation = low(low_at) - up(k);
      if (violation > worst.violation || (violation == worst.violation && low_at == worst.low))
        worst = {violation, low_at, k};
    }
    return worst;
  }

 private:
  double alpha_sum_;
  std::vector<double> mu_;  // mu_[k] ties thresholds k - 1 and k
};

}  // namespace ordsvm
