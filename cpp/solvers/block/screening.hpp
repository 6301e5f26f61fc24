// Screening of inactive samples: those whose exact score a proof does not need.
//
// A hinge that is at 0 and satisfied adds nothing to either objective, to the gap or to the violation, by however much
// it is satisfied. So the scores of samples that have no other hinges, by more than scores can be off, need not be made
// anew: that spares most of the product where few samples are support vectors.
#pragma once

#include <limits>
#include <vector>

#include "kernels/tiles/samples.hpp"
#include "solvers/block/tier.hpp"

namespace ordsvm::block {

/// How far scores may be off that were kept up to date while all |moves| of beta added up to `travelled`.
template <class T>
double drift(const RowSource& source, double travelled) {
  return std::numeric_limits<T>::epsilon() * tiles::largest_error(source) * travelled;
}

/// Which samples of a tier that has been ranked are not support vectors and satisfied by more than `margin`; none where
/// there are few.
template <class T>
std::vector<char> find_screened(Tier<T>& tier, const Slots& slots, double margin) {
  std::vector<char> screened(tier.count());
  Index total = 0;
  for (Index p = 0; p < tier.count(); ++p)
    total += screened[p] = std::max(tier.up()[p], tier.down()[p]) < -margin && !slots.supports(p);
  if (total < tier.count() / 8) screened.clear();
  return screened;
}

/// Whether they are satisfied by more than `margin` still.
template <class T>
bool stay_screened(Tier<T>& tier, std::span<const char> screened, double margin) {
  for (Index p = 0; p < tier.count(); ++p)
    if (screened[p] && !(std::max(tier.up()[p], tier.down()[p]) < -margin)) return false;
  return true;
}

}  // namespace ordsvm::block
