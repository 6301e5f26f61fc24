// Dual coordinate descent for one weight vector and several thresholds: all thresholds of a sample move together.
//
// Solves    min 1/2 |w|^2 + 1/2 |b|^2 + sum_ik cap_ik max(0, 1 - sign_ik (w.x_i - b_k)) (or its square), by the dual in
//           t_ik = sign_ik alpha_ik:  w = sum_ik t_ik x_i,  b_k = - sum_i t_ik.
// Keeps     w, the thresholds b, and t[sample][threshold].
// Step      one product f = w.x_i serves all thresholds of sample i. They are coupled through S = sum_k Delta_k alone:
//           Delta_k(S) = clip((b_k + sign_k - f - |x_i|^2 S) / rho, what the box leaves), S = sum_k Delta_k(S): one
//           equation in one unknown, solved by Newton's method within a bracket.
// Bias      thresholds are proximal, as the biases in lanes.hpp are.
// Stops     outside: the caller decides by the sums of a pass, see machine.hpp.
#pragma once

#include "linear/lanes.hpp"

namespace ordsvm::linear {

/// What the label of a sample means at every threshold; [label * n_thresholds + threshold]. cap 0: no such hinge.
struct ThresholdTable {
  std::vector<double> sign, cap;
  Index n_labels = 0;
  Index n_thresholds = 0;
};

std::unique_ptr<Machine> make_thresholds(const ThresholdTable& table, const LabelledSamples& samples, Index n_features,
                                         const Options& options);

}  // namespace ordsvm::linear
