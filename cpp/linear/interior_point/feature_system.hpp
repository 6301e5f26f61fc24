// Newton's system of an interior-point method for linear machines, summed over rows: the unknowns are the weights of the
// features, so its size does not depend on the number of rows.
//
// Solves    nothing by itself: the caller takes the sums of a pass, solves for the next direction and hands it to the
//           next pass (src/ordsvm/solvers/linear/interior_point.py).
// Keeps     alpha of every hinge, twice: as the last accepted pass has left it, and as the present one makes it.
// Pass      one read of every row, whatever the number of weight vectors or thresholds. A tile of rows gives scores of
//           the old weights and of the direction; every hinge takes its step (hinge_tile.hpp); at the new point
//             weight vectors   H_l = X'diag(v_l)X                               with a 1 appended to the rows, or not
//             thresholds       H = [[X'diag(sum_k v_k)X, -X'V], [., diag(sum_i v_ik)]]
//           and the right sides X'beta, X'pull, X'push are added up in double, and both objectives.
// Cost      d^2 / 2 products a row and weight vector; alpha is all that is stored for rows.
#pragma once

#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "base/monitor.hpp"
#include "linear/interior_point/hinge_tile.hpp"
#include "linear/row_views.hpp"

namespace ordsvm::linear {

/// Hinges by [column * n_labels + label], where columns are weight vectors or thresholds; cap 0: none. A label may have
/// a second hinge in some columns, of sign -1, and at most n_second of them: second_place numbers them.
struct HingeColumns {
  Index n_labels = 0, n_columns = 0, n_second = 0;
  std::vector<double> sign, offset, cap;
  std::vector<double> second_offset, second_cap;
  std::vector<Index> second_place;  // -1: none
};

struct SampleData {
  std::span<const std::int32_t> label;
  std::span<const double> weight, target;  // empty: 1, 0
};

struct SystemShape {
  Index n_features = 0;
  bool has_thresholds = false;  // one weight vector; otherwise one for every column
  bool appends_one = false;     // to the rows, for intercepts
  bool is_squared = false;
};

/// Weights [weight vector][feature, and intercept], thresholds, and how all of these change by a full step.
struct Direction {
  std::vector<double> weights, change, thresholds, threshold_change;
  std::vector<PathStep> steps;  // one a weight vector
};

/// Sums of one weight vector: panel [feature][width] has the upper triangle of H, then a column for X'v of every
/// threshold, X'beta, X'pull and X'push; `columns` has the sums of v, beta, pull and push, of every threshold.
struct SystemSums {
  std::vector<double> panel, columns;
  HingeSums hinges;
};

class FeatureSystem {
 public:
  FeatureSystem(HingeColumns hinges, SampleData samples, SystemShape shape, int n_threads);

  /// Begins a pass: sums are 0.
  void begin(Direction direction);
  /// Adds a row block whose first row is that of sample `first`; false where the monitor has stopped it.
  bool add(const Rows& rows, Index first, Monitor& monitor);
  /// The steps of rows whose scores and changes of scores are given, [row][weight vector], for a caller that adds up
  /// panel and columns: v, beta, pull and push, [kind][column][row]. Sums of hinges are added as by `add`.
  std::vector<double> step_rows(Index first, Index n_rows, const double* scores, const double* changes);
  /// From now on alpha of this weight vector is what the pass has made it.
  void accept(Index vector) { current_[vector] = !current_[vector]; }

  const SystemSums& sums(Index vector) const { return sums_[vector]; }
  Index n_vectors() const { return shape_.has_thresholds ? 1 : hinges_.n_columns; }
  Index n_columns() const { return hinges_.n_columns; }
  Index n_samples() const { return static_cast<Index>(samples_.label.size()); }
  Index length() const { return shape_.n_features + (shape_.appends_one ? 1 : 0); }  // of a weight vector
  Index width() const { return padded(length()) + padded(n_extra()); }
  Index first_extra() const { return padded(length()); }
  Index reads() const { return reads_; }
  /// sign * alpha, summed over the hinges of a column, [sample][column].
  std::vector<double> beta() const;

  static Index padded(Index size) { return (size + 7) / 8 * 8; }

 private:
  struct Tile;
  Index n_extra() const { return 3 + (shape_.has_thresholds ? hinges_.n_columns : 0); }
  Index vector_of(Index column) const { return shape_.has_thresholds ? 0 : column; }
  Index rows_of_tile() const;
  template <class View>
  void add_rows(const View& view, Index first, Index begin, Index end, Tile& tile, std::vector<SystemSums>& sums);
  void step_tile(Tile& tile, Index sample, Index count, std::vector<SystemSums>& sums);
  void step_columns(Tile& tile, Index sample, Index count, std::vector<SystemSums>& sums);
  void step_column(Tile& tile, Index column, Index sample, Index count, HingeSums& sums);
  void step_second(Tile& tile, Index column, Index sample, Index count, HingeSums& sums);
  double linear_part(Index column, Index sample, Index count) const;
  double beta_of(bool which, Index i, Index column) const;
  double alpha_of(double kept, double cap) const;
  void add_vector(Tile& tile, Index vector, Index count, SystemSums& sums);
  std::vector<SystemSums> empty_sums() const;
  double* alpha(bool which, Index column) { return alpha_[which].data() + column * n_samples(); }

  HingeColumns hinges_;
  SampleData samples_;
  SystemShape shape_;
  int n_threads_;
  Direction direction_;
  Buffer<double> alpha_[2];    // [column][sample], then second hinges [sample][place]
  std::vector<char> current_;  // which of the two is accepted, of every weight vector
  std::vector<SystemSums> sums_;
  Index reads_ = 0;  // rows read so far
};

}  // namespace ordsvm::linear
