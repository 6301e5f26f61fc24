// Rows of the kernel matrix: n long, without signs, in float or double; dense, CSR or precomputed data.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/hinges.hpp"
#include "base/views.hpp"
#include "kernels/kernel.hpp"

namespace ordsvm {

/// What rows of K are computed from: tiles compute K from the same data in other ways.
struct Features {
  Kernel kernel;
  Index n_columns;
  double density;       // share of the features that are stored: 1 for dense data
  double largest_norm;  // over all samples: sum of squares, or of absolute values for Manhattan distances

  /// By how much, in roundings, a value of K may be off if distances come from norms: they cancel.
  double rounding_of_norms() const;
  /// Whether that is so little that dense data may use norms, which are faster than differences.
  bool norms_serve() const { return rounding_of_norms() <= 16.0; }
};

/// What gives rows of K. Calls from several threads at once are safe.
class RowSource {
 public:
  virtual ~RowSource() = default;
  virtual Index size() const = 0;
  virtual double diagonal(Index i) const = 0;
  virtual void row(Index i, std::span<float> out) const = 0;
  virtual void row(Index i, std::span<double> out) const = 0;
  /// Several rows one after the other, for sources to which they are cheaper together.
  virtual void rows(std::span<const Index> which, std::span<double> out) const {
    for (std::size_t r = 0; r < which.size(); ++r) row(which[r], out.subspan(r * size(), size()));
  }
  /// Whether a callable kernel of the user makes rows: it is called from one thread, for a few rows at a time.
  virtual bool is_callable() const { return false; }
  /// The cost of a value computed as part of a whole row, in units of the cost of a feature in tiles
  /// (solvers/block/row_blocks.hpp): by measurement on sparse rows of thousands of features.
  virtual double cost_of_a_value() const { return 1000.0; }
  /// Nothing where a source has no features.
  virtual std::optional<Features> features() const { return std::nullopt; }
  /// The features of sample i, but for some that are 0, and how many they are; both arrays have n_columns elements.
  /// Only for sources with features.
  virtual Index nonzeros(Index, SampleIndex*, double*) const { return 0; }
};

/// Dense data, copied once into tiles (transposed groups of samples) on which rows are computed in double.
template <class T>
std::unique_ptr<RowSource> make_rows(const Kernel& kernel, const DenseView<T>& data);

/// CSR data, used where it lies: the caller keeps it alive.
template <class T, class I>
std::unique_ptr<RowSource> make_rows(const Kernel& kernel, const CsrView<T, I>& data);

/// A square kernel matrix, used where it lies: the caller keeps it alive.
template <class T>
std::unique_ptr<RowSource> make_precomputed(const DenseView<T>& matrix);

}  // namespace ordsvm
