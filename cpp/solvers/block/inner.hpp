// The innermost tier: steps on pairs of hinges, with all of its K in memory.
//
// Box problems: i is the worst hinge, j at the same threshold the one with which it gains most; both go to the minimum
// of the two-dimensional problem. Equalities: i rises and j falls by the same amount, j by second order.
// Only the thresholds of the pair that was worst when last looked at are looked at again: with a few hundred samples
// and a bounded number of steps that is as good as looking at all, and cheaper.
#pragma once

#include <cmath>
#include <vector>

#include "solvers/block/balance.hpp"
#include "solvers/block/slots.hpp"
#include "solvers/block/tier.hpp"

namespace ordsvm::block {

/// A part of K: row p is at values + p * stride.
template <class T>
struct Matrix {
  const T* values;
  Index stride;
  const T* row(Index p) const { return values + p * stride; }
};

struct Effort {
  double tol;       // end at this violation
  double share;     // or at this share of the violation at the start
  Index max_steps;  // or after so many steps
};

/// Rows: a Matrix, or whatever else has a row(p).
template <class T, class Rows = Matrix<T>>
class Inner {
 public:
  /// The tier's samples have these slots.
  Inner(Tier<T>& tier, Slots& slots, Balance& balance)
      : tier_(tier), slots_(slots), balance_(balance), fresh_(tier.n_thresholds()) {}

  /// Adds what every sample's beta has moved by to `moved`. Returns the number of steps.
  Index run(const Rows& matrix, std::span<double> moved, const Effort& effort) {
    matrix_ = matrix;
    moved_ = moved;
    std::fill(fresh_.begin(), fresh_.end(), 0);
    refresh_all();
    const double target = std::max(effort.tol, effort.share * balance_.worst(tier_.reaches()).violation);
    Index steps = 0;
    while (steps < effort.max_steps) {
      const Balance::Worst worst = balance_.worst(tier_.reaches());
      const bool up = refresh(worst.up), down = refresh(worst.down);  // both are brought up to date
      if (up || down) continue;
      if (!(worst.violation > target)) {
        if (refresh_all()) continue;
        break;
      }
      if (!(balance_.has_equalities() ? step_pair(worst) : step_box(worst))) break;
      std::fill(fresh_.begin(), fresh_.end(), 0);
      ++steps;
    }
    return steps;
  }

 private:
  bool refresh(Index k) {
    if (k < 0 || fresh_[k]) return false;
    tier_.reaches()[k] = tier_.reach(k);
    fresh_[k] = 1;
    return true;
  }
  bool refresh_all() {
    bool any = false;
    for (Index k = 0; k < tier_.n_thresholds(); ++k) any |= refresh(k);
    return any;
  }

  Chosen<T> chosen(Index p, double slope) const {
    return {matrix_.row(p), tier_.diagonal(), tier_.diagonal()[p], static_cast<T>(slope)};
  }
  double diagonal(Index p) const { return tier_.diagonal()[p]; }

  /// False where rounding leaves nothing to do.
  bool step_pair(const Balance::Worst& worst) {
    const Reach& reach = tier_.reaches()[worst.up];
    const Index p = reach.rise_at;
    Index q = tier_.reaches()[worst.down].fall_at, k = worst.down;
    double gain = 0.0;
    for (Index l = balance_.first_partner(worst.up); l <= balance_.last_partner(worst.up); ++l)
      if (const Best best = best_down(tier_.moves(l), chosen(p, reach.rise)); best.at >= 0 && best.gain > gain)
        gain = best.gain, q = best.at, k = l;
    const Index up_hinge = slots_.ways(p, worst.up).up;
    const Slots::Ways partner = slots_.ways(q, k);
    const double slope = reach.rise - (partner.fall - tier_.score()[q]);
    if (!(slope > 0.0)) return false;
    const double together = diagonal(p) + diagonal(q), curvature = p == q ? 0.0 : together - 2.0 * matrix_.row(p)[q];
    const bool vanishes = !(curvature > std::numeric_limits<T>::epsilon() * std::abs(together));
    const double wanted = vanishes ? infinite : slope / curvature;
    const double t = std::min({wanted, slots_.distance_up(up_hinge), slots_.distance_down(partner.down),  //
                               balance_.distance_to_bound(worst.up, k)});
    move(worst.up, up_hinge, t);
    move(k, partner.down, -t);
    balance_.follow_pair(worst.up, k, t);
    update(p, worst.up);
    update(q, k);
    if (p != q) add(p, t, q, -t);
    return t > 0.0;
  }

  bool step_box(const Balance::Worst& worst) {
    const bool rises = worst.up >= 0;
    const Index k = rises ? worst.up : worst.down;
    const Reach& reach = tier_.reaches()[k];
    const Index p = rises ? reach.rise_at : reach.fall_at;
    const double b = balance_.threshold(k), penalty = balance_.penalty();
    const double slope = b + (rises ? reach.rise : reach.fall);
    const Slots::Ways ways = slots_.ways(p, k);
    const Index v = rises ? ways.up : ways.down;
    const Best second = best_second(tier_.moves(k), chosen(p, slope), static_cast<T>(b), static_cast<T>(penalty));
    const double own = diagonal(p) + penalty;
    const Index q = second.at;
    const double other = q < 0 ? 0.0 : diagonal(q) + penalty;
    if (q < 0 || q == p || !(own > 0.0 && other > 0.0)) {  // kernels that are not positive semidefinite: to the bound
      const double x = move(k, v, own > 0.0 ? slope / own : std::copysign(infinite, slope));
      update(p, k);
      add(p, x, p, 0.0);
      return x != 0.0;
    }
    const double cross = matrix_.row(p)[q] + penalty;
    const Slots::Ways others = slots_.ways(q, k);
    const double left = b - tier_.score()[q] - cross * slope / own;  // q's slope when p has moved, but for its tier
    const bool up = left + others.rise > -(left + others.fall);
    const Index w = up ? others.up : others.down;
    const double q_slope = b + (up ? others.rise : others.fall) - tier_.score()[q];
    const auto [x, y] = best_in_box({own, other, cross, slope, q_slope}, v, w);
    const double x_done = move(k, v, x), y_done = move(k, w, y);
    update(p, k);
    update(q, k);
    add(p, x_done, q, y_done);
    return x_done != 0.0 || y_done != 0.0;
  }

  /// ½ own x² + ½ other y² + cross x y − x_slope x − y_slope y
  struct Quadratic {
    double own, other, cross, x_slope, y_slope;
    double operator()(double x, double y) const {
      return 0.5 * (own * x * x + other * y * y) + cross * x * y - x_slope * x - y_slope * y;
    }
  };

  /// The minimum over the box of what hinges v and w may move by: inside, or on the side where the free minimum is cut.
  std::pair<double, double> best_in_box(const Quadratic& f, Index v, Index w) const {
    const auto within = [&](Index u, double z) {
      return std::clamp(z, -slots_.distance_down(u), slots_.distance_up(u));
    };
    const double determinant = std::max(f.own * f.other - f.cross * f.cross, 1e-7 * f.own * f.other);
    const double x = within(v, (f.other * f.x_slope - f.cross * f.y_slope) / determinant);
    const double y = within(w, (f.own * f.y_slope - f.cross * f.x_slope) / determinant);
    const double y_then = within(w, (f.y_slope - f.cross * x) / f.other);
    const double x_then = within(v, (f.x_slope - f.cross * y) / f.own);
    return f(x, y_then) < f(x_then, y) ? std::pair(x, y_then) : std::pair(x_then, y);
  }

  /// Returns how far it went.
  double move(Index k, Index hinge, double change) {
    const Slots::Move done = slots_.move(hinge, change);
    balance_.follow(k, done);
    return done.beta;
  }

  void update(Index p, Index k) { tier_.set_ways(p, k, slots_.ways(p, k)); }

  void add(Index p, double x, Index q, double y) {
    moved_[p] += x;
    moved_[q] += y;
    add_two(tier_.score(), static_cast<T>(x), matrix_.row(p), static_cast<T>(y), matrix_.row(q), tier_.length());
  }

  Tier<T>& tier_;
  Slots& slots_;
  Balance& balance_;
  Rows matrix_{};
  std::span<double> moved_;
  std::vector<char> fresh_;  // whether a threshold was looked at since the last step
};

}  // namespace ordsvm::block
