// A linear machine in training: passes of coordinate descent over row blocks, and the exact proof of how far it got.
//
// The caller passes it all rows, row block by row block: those of an array in memory are one, those of a file many.
//   pass(rows, place)        visits every row once
//   take_sums()              what the visits saw: an estimate of the duality gap
//   pass(rows, place, ahead) the same; where there is a thread to spare and these are all rows, that thread does the
//                            first half of the proof meanwhile, for every row that has been visited
//   begin_proof(), build(rows, first) for all row blocks, then score(rows, first) for all row blocks, certificate()
//                            weights in double from beta alone, in place of the working ones, and both objectives
//   resume(), rebuild(rows, first) for all row blocks
//                            back to work: working weights and sums from beta alone
// Where a machine has a share of the rows only, and the weights are those of all rows: set_weights in place of rebuild,
// begin_scores in place of begin_proof and build, and proof() for this share of the sums.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "base/monitor.hpp"
#include "linear/order.hpp"
#include "linear/row_views.hpp"
#include "parallel/team.hpp"

namespace ordsvm::linear {

/// Sums over samples of what makes the objectives.
struct Sums {
  double gap = 0.0;        // loss of the score + conjugate of beta + beta * score
  double loss = 0.0;       // the primal's
  double moved = 0.0;      // by how much the dual objective fell
  double linear = 0.0;     // the dual's part that is not quadratic in the weights
  double violation = 0.0;  // the largest projected gradient

  void add(const Sums& other) {
    gap += other.gap, loss += other.loss, moved += other.moved, linear += other.linear;
    violation = std::max(violation, other.violation);
  }
};

/// The gap of a pass is estimated by the visits of its last quarter, which see the weights nearly as they are in the
/// end; rows come in random order, so a quarter of them stands for all where they are many.
class Seen {
 public:
  explicit Seen(Index n_samples) : early_(n_samples < 30000 ? n_samples : n_samples * 3 / 4) {}
  /// Whether the last quarter begins: what has been seen is to be forgotten.
  bool turns_late() {
    if (late_ < all_ || all_ < early_) return false;
    late_ = 0;
    return true;
  }
  void add(Index n_rows) { all_ += n_rows, late_ += n_rows; }
  /// By how much the late ones are to be multiplied to stand for all.
  double take_scale() {
    const double scale = late_ > 0 ? static_cast<double>(all_) / static_cast<double>(late_) : 1.0;
    all_ = late_ = 0;
    return scale;
  }

 private:
  Index early_, all_ = 0, late_ = 0;
};

struct Certificate {
  double primal, dual, violation;
};

/// The samples: label codes and, where given, weights that multiply the bounds, and offsets of their own.
struct LabelledSamples {
  std::span<const std::int32_t> label;
  std::span<const double> weight;
  std::span<const double> target;
  std::span<const float> norm;  // |x|^2

  ORDSVM_INLINE double weight_of(Index i) const { return weight.empty() ? 1.0 : weight[i]; }
  ORDSVM_INLINE double target_of(Index i) const { return target.empty() ? 0.0 : target[i]; }
};

/// Dual variables as a machine has kept them: [sample][column].
struct Kept {
  std::shared_ptr<void> owner;
  const void* values;
  bool precise;  // doubles, not floats
  Index columns;
};

template <class W>
Kept keep(Buffer<W>&& buffer, Index columns) {
  auto owner = std::make_shared<Buffer<W>>(std::move(buffer));
  const void* const values = owner->data();
  return {std::move(owner), values, sizeof(W) == sizeof(double), columns};
}

class Machine {
 public:
  virtual ~Machine() = default;

  /// In `parts` parts; after each the biases catch up, by `share` of what rho makes them. Groups of columns are
  /// independent of each other: it makes no difference to them how many threads there are, and few rows are visited by
  /// one thread. But threads decide how many groups there are, and a group of one column sums in another order than a
  /// wide one.
  void pass(const Rows& rows, Place place, Index parts, double share, int n_threads, Monitor& monitor,
            bool ahead = false) {
    const bool uses_team = count(rows) >= 1000 && n_threads > 1;
    const int team = uses_team ? std::min(n_threads, n_groups()) : 1;
    const auto watch = [&] { return monitor.stop_now(0, 0); };
    is_built_ = false;
    if (ahead && uses_team && n_groups() == 1) return pass_and_build(rows, place, parts, share, watch);
    const auto work = [&](int t, auto enough) {
      for (Index part = 0; part < parts && !enough(); ++part)
        for (int group = t; group < n_groups(); group += team) {
          visit(group, rows, place, part, parts);
          catch_up(group, share);
        }
    };
    if (team == 1) return work(0, watch);
    std::atomic<bool> stop = false;
    run_watched(team, stop, work, watch);
  }

  virtual Sums take_sums() = 0;

  void begin_proof() {
    release();
    proof_ = {};
    if (!is_built_) clear_exact();
  }
  /// For the proof of weights [feature][column] that are given.
  void begin_scores(std::span<const double> weights) {
    is_built_ = false;
    begin_proof();
    std::copy(weights.begin(), weights.end(), exact_.data());
  }
  void build(const Rows& rows, Index first);
  void score(const Rows& rows, Index first, int n_threads, Monitor& monitor);
  Certificate certificate() const {
    double squares = 0.0;
    for (Index j = 0; j < n_features_ * n_columns_; ++j) squares += exact_.data()[j] * exact_.data()[j];
    const auto [primal, dual] = squared_biases(total_);
    return {0.5 * (squares + primal) + proof_.loss, -0.5 * (squares + dual) - proof_.linear, proof_.violation};
  }

  /// Sums over the samples scored, which is what the certificate has besides squares of weights and biases.
  const Sums& proof() const { return proof_; }

  void resume() {
    is_built_ = false;
    exact_ = Buffer<double>(0);
    clear();
  }
  virtual void rebuild(const Rows& rows, Index first) = 0;
  /// Working weights [feature][column], and the sums of the dual variables, which the biases follow.
  virtual void set_weights(std::span<const double> weights, std::span<const double> sums) = 0;

  /// The proven weights [feature][column], which are given away.
  Buffer<double> take_weights() {
    is_built_ = false;
    return std::move(exact_);
  }
  Index n_features() const { return n_features_; }
  Index n_columns() const { return n_columns_; }
  /// One a column; for threshold machines the thresholds.
  virtual std::vector<double> biases() const = 0;
  virtual void set_biases(std::span<const double> values) = 0;
  /// Dual variables, one sample after the other.
  virtual Index n_variables() const = 0;  // of a sample
  virtual void get_variables(Index i, double* out) const = 0;
  /// Values outside the box are brought in; weights follow when all row blocks have been rebuilt.
  void set_variables(Index i, const double* values) {
    is_built_ = false;
    put_variables(i, values);
  }
  /// Gives them away as they are, up to rounding to float in the box; the machine is of no use after that.
  virtual std::vector<Kept> take_variables() = 0;

 protected:
  static constexpr Index widest = 16;

  Machine(Index n_features, Index n_columns) : n_features_(n_features), n_columns_(n_columns), exact_(0) {}

  virtual void put_variables(Index i, const double* values) = 0;
  virtual int n_groups() const = 0;
  /// In which rows are visited, of a machine with one group.
  virtual const Order& order() const = 0;
  virtual void visit(int group, const Rows& rows, Place place, Index part, Index parts) = 0;
  /// Moves the biases towards their values by beta.
  virtual void catch_up(int group, double share) = 0;
  virtual void release() = 0;
  virtual void clear() = 0;
  /// beta of every column, by which the row of sample i enters the weights.
  virtual void get_beta(Index i, double* out) const = 0;
  /// Adds sample i, whose row gives these products with the weights.
  virtual void add_proof(Index i, const double* product, Sums& sums) const = 0;
  /// The squares of the biases as the primal has them, and as the dual does; `total` is the sum of beta a column.
  virtual std::pair<double, double> squared_biases(std::span<const double> total) const = 0;

 private:
  void clear_exact() {
    exact_ = Buffer<double>(n_features_ * n_columns_ + widest);
    total_.assign(n_columns_, 0.0);
  }
  template <class Each>
  void build_rows(const Rows& rows, const Each& each);
  void build(const Rows& rows, Place place, Index from, Index to);
  template <class Watch>
  void pass_and_build(const Rows& rows, Place place, Index parts, double share, Watch watch);

  Index n_features_, n_columns_;
  Buffer<double> exact_;
  bool is_built_ = false;  // exact_ and total_ are those of beta as it is
  std::vector<double> total_;
  Sums proof_;
};

/// One thread visits rows, part by part, and another builds the exact weights from those parts that are done.
template <class Watch>
void Machine::pass_and_build(const Rows& rows, Place place, Index parts, double share, Watch watch) {
  clear_exact();
  std::atomic<bool> stop = false;
  std::atomic<Index> visited = 0;
  const auto tell = [&](Index part) {
    visited = part;
    visited.notify_one();
  };
  const auto descend = [&] {
    for (Index part = 0; part < parts && !stop; ++part) {
      visit(0, rows, place, part, parts);
      catch_up(0, share);
      tell(part + 1);
    }
  };
  const auto follow = [&] {
    for (Index part = 0; part < parts; ++part) {
      for (Index seen = 0; (seen = visited) <= part;) visited.wait(seen);
      if (stop) return;
      build(rows, place, order().n_row_blocks() * part / parts, order().n_row_blocks() * (part + 1) / parts);
    }
  };
  const auto work = [&](int t) {
    if (t == 1) return follow();
    try {
      descend();
    } catch (...) {
      stop = true;
      tell(parts);
      throw;
    }
    tell(parts);  // also after a stop, for the other waits
  };
  run_team(2, stop, work, watch);
  is_built_ = !stop;
}

/// |G| unless the box forbids a step downhill. G is the gradient at beta != 0; at 0 there may be a kink of epsilon.
inline double projected_gradient(double slope, double epsilon, double beta, double lower, double upper) {
  const double rising = slope + (beta >= 0.0 ? epsilon : -epsilon);  // the slope to the right
  const double falling = slope + (beta > 0.0 ? epsilon : -epsilon);  // the slope to the left
  const double up = beta < upper ? std::max(0.0, -rising) : 0.0;
  const double down = beta > lower ? std::max(0.0, falling) : 0.0;
  return std::max(up, down);
}

}  // namespace ordsvm::linear
