// A fit with all of K in memory: steps on pairs, Newton's method where that takes long, and the proof.
#pragma once

#include "known.hpp"
#include "newton.hpp"
#include "proof.hpp"
#include "steps.hpp"

namespace ordsvm::search {

/// converged: the violation is at most `tol` and so is the relative gap; that of ordered thresholds is not looked at.
struct Fit {
  bool converged = false;
  Index steps = 0, jumps = 0;  // steps on pairs; times that Newton's method was used and got there
  double violation = 0.0;
  Proof proof;
};

/// How far a score may be off, by an estimate.
inline double rounding(const Known& known, const Hinges& hinges, const Variables& variables) {
  double total = 0.0;
  for (const double beta : hinges.beta(variables.alpha)) total += std::abs(beta);
  return 8.0 * std::numeric_limits<double>::epsilon() * known.largest() * total;
}

/// From alpha, its exact scores and, where they are penalised, its thresholds, all of which are kept up to date.
/// Newton's method is used after steps that have cost as much, or sooner if one is `eager`.
class Solver {
 public:
  Solver(const Known& known, const Hinges& hinges, const Variables& variables, double tol, bool eager, Monitor& monitor)
      : known_(known),
        hinges_(hinges),
        variables_(variables),
        tol_(tol),
        aim_(tol),
        monitor_(monitor),
        patience_(eager ? 0.15 : 1.0) {}

  Fit run() {
    bool rounded = known_.largest() < 1e30;
    while (true) {
      rounded = rounded && aim_ >= least_tol<float>;
      const End end = rounded ? work<float>() : work<double>();
      if (end == End::spent) {
        jump();
        continue;
      }
      if (end == End::imprecise && rounded) {
        rounded = false;
        continue;
      }
      if (end != End::converged || hinges_.treatment == Thresholds::ordered) {
        fit_.converged = end == End::converged;
        return fit_;
      }
      fit_.proof = prove(hinges_, variables_, rounding(known_, hinges_, variables_));
      const double gap = fit_.proof.relative_gap();
      fit_.converged = gap <= tol_;
      if (fit_.converged || !(aim_ > 1e-9 * tol_)) return fit_;
      aim_ = std::min(aim_, fit_.violation) * std::clamp(0.7 * tol_ / gap, 0.1, 0.5);
    }
  }

 private:
  template <class T>
  End work() {
    Steps<T> steps(known_, hinges_, variables_);
    const bool may_jump = hinges_.treatment != Thresholds::ordered;
    const End end = steps.run(aim_, monitor_, [&](Index done) {
      return may_jump && done > patience_ * cost_of_newton(static_cast<double>(steps.count_free()));
    });
    fit_.steps += steps.done();
    fit_.violation = steps.violation();
    return end;
  }

  /// In steps on pairs, by measurement: about thirty systems.
  static double cost_of_newton(double n_free) { return 2e4 + 65.0 * n_free + 7e-4 * n_free * n_free * n_free; }

  void jump() {
    const auto stop = [this] { return monitor_.stop_now(fit_.steps, 0); };
    fit_.jumps += newton(known_, hinges_, variables_, {0.1, 0.5 * aim_}, stop);
    patience_ *= 4.0;
  }

  const Known& known_;
  const Hinges& hinges_;
  Variables variables_;
  double tol_, aim_;
  Monitor& monitor_;
  Fit fit_;
  double patience_;  // times the cost of Newton's method: how many steps are taken before it
};

}  // namespace ordsvm::search
