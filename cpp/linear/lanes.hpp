// Dual coordinate descent on several weight vectors at once: one pass over a sparse row serves all of them.
//
// Solves    for every lane l:  min 1/2 |w|^2 + 1/2 b^2 + sum_i cap_i loss(w.x_i + b), by its dual in beta_i:
//           1/2 |w|^2 + 1/2 b^2 - offset_i beta_i + epsilon_i |beta_i| (+ beta_i^2 / 4 cap_i for squared losses),
//           lower_i <= beta_i <= upper_i, w = sum beta_i x_i, b = sum beta_i. The label of a sample determines its
//           bounds, offset and epsilon in every lane: NPSVOR and one-vs-rest differ in that table alone.
// Keeps     weights W[feature][lane] and beta[sample][lane], side by side, so that one vector holds all lanes.
// Step      all lanes of a sample go to their minimum at once, a soft threshold cut off at the box (Shi et al. 2021,
//           (24)).
// Bias      proximal: scores use b, which is kept apart from the sum of beta it should be; a step moves it by rho of
//           what the sum moves, and a few times a pass it goes a share rho of the rest of the way. The fixed point is
//           the same. A bias that follows at once couples all samples, and takes twice the passes.
// Stops     outside: the caller decides by the sum of the duality gaps at the visits of a pass, see machine.hpp.
// Cost      a pass reads every row once and writes it once where something moved.
#pragma once

#include "linear/machine.hpp"

namespace ordsvm::linear {

/// What the label of a sample means in every lane; [label * n_lanes + lane].
struct LaneTable {
  std::vector<double> lower, upper, offset, epsilon;
  Index n_labels = 0;
  Index n_lanes = 0;
};

struct Options {
  bool intercept = true;
  bool squared = false;
  bool precise = false;  // weights in double
  double rho = 0.01;
  int n_threads = 1;
  std::uint64_t seed = 0;
};

/// Lanes are divided among threads, which do not wait for each other: the result does not depend on when they run.
std::unique_ptr<Machine> make_lanes(const LaneTable& table, const LabelledSamples& samples, Index n_features,
                                    const Options& options);

}  // namespace ordsvm::linear
