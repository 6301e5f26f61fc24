// Screening of inactive samples: those whose exact score a proof does not need.
//
// A hinge that is at 0 and satisfied adds nothing to either objective, to the gap or to the violation, by however much
// it is satisfied. So the scores of samples that have no other hinges, by more than scores can be off, need not be made
// anew: that spares most of the product where few samples are support vectors. How far they can be off is proven
// (docs/rounding.md) and goes to the caller with them, who adds it to what is claimed.
#pragma once

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/tiles/value_bound.hpp"
#include "solvers/block/tier.hpp"

namespace ordsvm::block {

/// How far scores may be off that have been kept up to date, with values of K in T, since they were all exact.
///
/// Four weights and values at a time make a sum in T: six roundings of each product at most, that of the weight's own
/// difference included. The sums are added up in double, two roundings a row.
template <class T>
class Drift {
 public:
  explicit Drift(const RowSource& source) : source_(source) {}

  /// All scores are exact for this beta.
  void start(std::vector<double> beta) {
    beta_ = std::move(beta);
    start_ = travelled_ = rows_ = 0.0;
    for (const double weight : beta_) start_ += std::abs(weight);
  }
  /// What beta_i has moved by since the scores followed it, by which they are to follow now.
  double follow(Index i, double beta) {
    const double moved = beta - std::exchange(beta_[i], beta);
    travelled_ += std::abs(moved);
    rows_ += moved != 0.0;
    return moved;
  }

  double bound() {
    constexpr Arithmetic in = Arithmetic::of<T>();
    if (!value_) value_ = tiles::value_bound<T>(source_);
    const double largest = value_->largest + value_->error;
    if (!(largest * travelled_ <= in.most / 16.0)) return infinite;
    return travelled_ * (value_->error + largest * in.share(6.0)) + 8.0 * rows_ * in.least * (1.0 + largest) +
           Arithmetic::of<double>().share(2.0 * rows_ + 2.0) * largest * (start_ + travelled_);
  }

 private:
  const RowSource& source_;
  std::optional<ValueBound> value_;
  std::vector<double> beta_;  // that the scores are those of
  double start_ = 0.0, travelled_ = 0.0, rows_ = 0.0;
};

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
