// A few hundred samples of a working set, worked on with all of their K at hand and everything else left alone.
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
      : level_(capacity, balance.n_thresholds()),
        slots_(balance.n_thresholds()),
        before_(balance),
        balance_(balance),
        inner_(level_, slots_, balance_),
        values_(padded_to(capacity, lanes<T>) * capacity),
        moved_(capacity) {}

  const Level<T>& level() const { return level_; }
  const Balance& balance() const { return balance_; }
  std::span<const Index> chosen() const { return chosen_; }
  std::span<const double> moved() const { return {moved_.data(), chosen_.size()}; }

  /// The samples at these positions of a working set.
  void take(const Level<T>& level, const Slots& slots, const Balance& balance, std::vector<Index>&& chosen) {
    chosen_ = std::move(chosen);
    level_.take(level, chosen_);
    slots_.take(slots, level_.samples());
    before_ = balance_ = balance;
    std::fill(moved_.begin(), moved_.end(), 0.0);
  }

  /// Steps on them; returns how many. fill(samples, out, stride) makes K of these samples; a row has room for whole tiles.
  template <class Fill>
  Index work(const Fill& fill, const Effort& effort) {
    const Index stride = padded_to(level_.count(), lanes<T>);
    fill(level_.samples(), values_.data(), stride);
    return inner_.run({values_.data(), stride}, moved_, effort);
  }

  /// Rows of the working set's K for samples that have moved, and by how much; a multiple of four, of which the last may
  /// have no weight.
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

  /// Whether the objective falls by these moves when they are made after others: scores of the working set and `now` are
  /// those of today.
  bool pays(const T* score, const Slots& slots, const Balance& now) const {
    double change = -slots_.earned(slots, level_.samples());
    for (std::size_t p = 0; p < chosen_.size(); ++p)
      change += moved_[p] * (score[chosen_[p]] + 0.5 * static_cast<double>(response_[chosen_[p]]));
    for (Index k = 0; k < now.n_thresholds(); ++k) {
      const double risen = before_.threshold(k) - balance_.threshold(k);  // gamma
      change += risen * (0.5 * risen - now.threshold(k));
    }
    return change < 0.0;
  }

  /// Makes the moves known, but for scores and thresholds.
  void give_back(Level<T>& level, Slots& slots) const {
    level_.give_back(level, chosen_);
    slots_.give_back(slots, level_.samples());
  }
  /// The thresholds of somebody else move as those of this set have.
  void carry(Balance& other) const { other.follow(before_, balance_); }

 private:
  std::vector<Index> chosen_;
  Level<T> level_;
  Slots slots_;
  Balance before_, balance_;
  Inner<T> inner_;
  Buffer<T> values_;
  std::vector<double> moved_;
  std::vector<T> response_;
  Movers movers_;
};

}  // namespace ordsvm::block
