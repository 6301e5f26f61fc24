// A few hundred samples of a working set, worked on with all of their K in memory and everything else unchanged.
//
// A set has copies of all that its steps change, so several sets can be worked on at a time; what came of it is taken
// over, or not, afterwards.
#pragma once

#include <span>
#include <vector>

#include "kernels/tiles/tiles.hpp"
#include "solvers/block/inner.hpp"

namespace ordsvm::block {

using tiles::lanes;

inline constexpr Index padded_to(Index count, Index width) { return (count + width - 1) / width * width; }

template <class T>
class SmallSet {
 public:
  SmallSet(Index capacity, const Balance& balance)
      : tier_(capacity, balance.n_thresholds()),
        slots_(balance.n_thresholds()),
        before_(balance),
        balance_(balance),
        inner_(tier_, slots_, balance_),
        values_(padded_to(capacity, lanes<T>) * capacity),
        moved_(capacity) {}

  const Tier<T>& tier() const { return tier_; }
  const Balance& balance() const { return balance_; }
  std::span<const Index> chosen() const { return chosen_; }
  std::span<const double> moved() const { return {moved_.data(), chosen_.size()}; }

  /// The samples at these positions of a working set.
  void take(const Tier<T>& tier, const Slots& slots, const Balance& balance, std::vector<Index>&& chosen) {
    chosen_ = std::move(chosen);
    tier_.take(tier, chosen_);
    slots_.take(slots, tier_.samples());
    before_ = balance_ = balance;
    std::fill(moved_.begin(), moved_.end(), 0.0);
  }

  /// Steps on them; returns how many. fill(samples, out, stride) makes K of these samples; a row is padded to whole
  /// tiles.
  template <class Fill>
  Index work(const Fill& fill, const Effort& effort) {
    const Index stride = padded_to(tier_.count(), lanes<T>);
    fill(tier_.samples(), values_.data(), stride);
    return inner_.run({values_.data(), stride}, moved_, effort);
  }

  /// Rows of the working set's K for samples that have moved, and by how much; a multiple of four, of which the last
  /// may have no weight.
  struct Movers {
    std::vector<const T*> rows;
    std::vector<double> weights;
  };
  const Movers& movers(const Matrix<T>& matrix) {
    auto& [rows, weights] = movers_;
    rows.clear();
    weights.clear();
    for (std::size_t p = 0; p < chosen_.size(); ++p)
      if (moved_[p] != 0.0) {
        rows.push_back(matrix.row(chosen_[p]));
        weights.push_back(moved_[p]);
      }
    while (rows.size() % 4 != 0) rows.push_back(rows.back()), weights.push_back(0.0);
    return movers_;
  }

  /// response = moved @ K[chosen]
  void respond(const Matrix<T>& matrix, Index length) {
    response_.assign(length, T(0));
    const auto& [rows, weights] = movers(matrix);
    for (std::size_t r = 0; r < rows.size(); r += 4)
      add_four(response_.data(), weights.data() + r, rows.data() + r, 0, length);
  }
  std::span<const T> response() const { return response_; }

  /// Whether the objective falls by these moves when they are made after others: scores of the working set and `now`
  /// are those of today.
  bool pays(const T* score, const Slots& slots, const Balance& now) const {
    double change = -slots_.linear_gain(slots, tier_.samples());
    for (std::size_t p = 0; p < chosen_.size(); ++p)
      change += moved_[p] * (score[chosen_[p]] + 0.5 * static_cast<double>(response_[chosen_[p]]));
    for (Index k = 0; k < now.n_thresholds(); ++k) {
      const double risen = before_.threshold(k) - balance_.threshold(k);  // gamma
      change += risen * (0.5 * risen - now.threshold(k));
    }
    return change < 0.0;
  }

  /// Copies the moves to the working set, but for scores and thresholds.
  void give_back(Tier<T>& tier, Slots& slots) const {
    tier_.give_back(tier, chosen_);
    slots_.give_back(slots, tier_.samples());
  }
  /// The thresholds of `other` move as those of this set have.
  void carry(Balance& other) const { other.follow(before_, balance_); }

 private:
  std::vector<Index> chosen_;
  Tier<T> tier_;
  Slots slots_;
  Balance before_, balance_;
  Inner<T> inner_;
  Buffer<T> values_;
  std::vector<double> moved_;
  std::vector<T> response_;
  Movers movers_;
};

}  // namespace ordsvm::block
