// A fit with all of K in memory: steps on pairs, and the proof.
#pragma once

#include "optimality/proof.hpp"
#include "solvers/full_kernel/full_kernel.hpp"
#include "solvers/full_kernel/steps.hpp"

namespace ordsvm::full_kernel {

/// converged: the violation is at most `tol` and so is the relative gap; that of ordered thresholds is not looked at.
/// hands_over: Newton's method should go on.
struct Fit {
  bool converged = false, hands_over = false;
  Index steps = 0;
  double violation = 0.0;
  Proof proof;
};

/// Of alpha and its exact scores; those of ordered thresholds are not here (`prove`).
template <class Kernel>
Proof proof_of(const Kernel& kernel, const Hinges& hinges, const Variables& variables) {
  const auto score = variables.score.first(hinges.n_samples);  // which are padded
  return prove(hinges, variables.alpha, {score, {}}, {kernel.roundings(), kernel.largest()});
}

/// From alpha, its exact scores and, where they are penalised, its thresholds, all of which are kept up to date.
/// Kernel: FullKernel, or whatever else has its rows.
template <class Kernel>
class Solver {
 public:
  Solver(const Kernel& kernel, const Hinges& hinges, const Variables& variables, double tol, const HandOver& hand_over,
         Monitor& monitor, Looks* looks = nullptr)
      : kernel_(kernel),
        hinges_(hinges),
        variables_(variables),
        tol_(tol),
        aim_(tol),
        hand_over_(hand_over),
        monitor_(monitor),
        looks_(looks) {}

  Fit run() {
    bool rounded = kernel_.largest() < 1e30;
    while (true) {
      rounded = rounded && aim_ >= min_tol<float>;
      const End end = rounded ? work<float>() : work<double>();
      if (end == End::imprecise && rounded) {
        rounded = false;
        continue;
      }
      fit_.hands_over = end == End::hands_over;
      fit_.converged = end == End::converged;
      if (hinges_.treatment == Treatment::ordered) return fit_;
      fit_.proof = proof_of(kernel_, hinges_, variables_);
      if (!fit_.converged) return fit_;
      const double gap = fit_.proof.relative_gap();
      fit_.converged = gap <= tol_;
      if (fit_.converged || !(aim_ > 1e-9 * tol_)) return fit_;
      aim_ = std::min(aim_, fit_.violation) * std::clamp(0.7 * tol_ / gap, 0.1, 0.5);
    }
  }

 private:
  template <class T>
  End work() {
    Steps<T, Kernel> steps(kernel_, hinges_, variables_);
    const End end = steps.run(aim_, hand_over_, {monitor_, looks_});
    fit_.steps += steps.done();
    hand_over_.steps_before += steps.done();
    hand_over_.patience -= steps.done();
    fit_.violation = steps.violation();
    return end;
  }

  const Kernel& kernel_;
  const Hinges& hinges_;
  Variables variables_;
  double tol_, aim_;
  HandOver hand_over_;
  Monitor& monitor_;
  Looks* looks_;
  Fit fit_;
};

}  // namespace ordsvm::full_kernel
