// Newton's method on hinges with rounded corners, for none, penalised and free thresholds.
//
// Solves    min 1/2 beta'K beta [+ 1/2 |b|^2] + sum_v h(s (f - b) - o),   f = K beta
//           where h is the hinge whose corner is a parabola of some width: its slope falls from -cap to 0 while the
//           margin G = s (f - b) - o rises from -width/2 to width/2. At the minimum alpha = -h'(G) is feasible, and
//           hinges between their bounds have |G| < width/2: the violation of the hinge problem is at most the width.
// Step      samples with a hinge on a parabola are unknown, others are known: one system, by Cholesky, with
//           K + diag(width / cap), which is positive definite whatever K is. Then the best place on the way there, so
//           that it converges from anywhere.
// Widths    fall to what the tolerance asks for. The first step for a new width expects every hinge on its old piece.
//           Where that was wrong for too many, the width falls by less.
// Cost      of a step n_free^3 / 3 and a product. Steps on pairs (steps.hpp) find out quickly who is at which bound and
//           need many steps for the last digits, if C is large and K badly conditioned; here it is the other way round.
#pragma once

#include <functional>

#include "../states.hpp"
#include "known.hpp"

namespace ordsvm::search {

struct Widths {
  double first, last;
};

/// Moves alpha, its scores and penalised thresholds to the minimum for the last width. False if that was not reached,
/// and all is as it was.
bool newton(const Known& known, const Hinges& hinges, const Variables& variables, const Widths& widths,
            const std::function<bool()>& stop);

}  // namespace ordsvm::search
