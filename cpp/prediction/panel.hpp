// The hot loops of prediction: a few samples against one group of support vectors.
#pragma once

#include "base/views.hpp"
#include "simd/loops.hpp"

namespace ordsvm::prediction {

/// Support vectors in a group.
template <class T>
inline constexpr Index lanes = 256 / sizeof(T);

/// out[row][lane] = dot(X[row], V[:, lane]), or sum((X[row] - V[:, lane])**2), or sum(abs(X[row] - V[:, lane])), for
/// the group V[feature][lane].
void reduce_panel(simd::Reduction reduction, const DenseView<double>& X, const double* group, double* out);
void reduce_panel(simd::Reduction reduction, const DenseView<float>& X, const double* group, double* out);
void reduce_panel(simd::Reduction reduction, const DenseView<float>& X, const float* group, float* out);

/// panel[row][lane] = max(0, row_norm[row] + lane_norm[lane] - 2 * panel[row][lane]): squared distances from products.
void take_distances(const double* row_norm, Index n_rows, const double* lane_norm, double* panel);
void take_distances(const double* row_norm, Index n_rows, const double* lane_norm, float* panel);

template <class T, class I>
struct SparseRow {
  const T* values;
  const I* columns;
  Index length;
};

/// values[slot[column]][lane]; a negative slot stands for a column of zeros. norm[lane] is squared or absolute, as the
/// reduction needs it.
struct SparseGroupView {
  const std::int32_t* slot;
  const double* values;
  const double* norm;
};

/// The same for one sparse sample.
void reduce_row(simd::Reduction reduction, const SparseRow<float, std::int32_t>& x, const SparseGroupView& group,
                double* out);
void reduce_row(simd::Reduction reduction, const SparseRow<float, std::int64_t>& x, const SparseGroupView& group,
                double* out);
void reduce_row(simd::Reduction reduction, const SparseRow<double, std::int32_t>& x, const SparseGroupView& group,
                double* out);
void reduce_row(simd::Reduction reduction, const SparseRow<double, std::int64_t>& x, const SparseGroupView& group,
                double* out);

/// Partial sums kept for every score, to be added up at the very end.
inline constexpr Index partial = 8;

/// total[row][machine][lane % partial] += K[row][lane] * weight[machine][lane]
void contract(const double* K, Index n_rows, const double* weight, Index n_machines, double* total);
void contract(const float* K, Index n_rows, const double* weight, Index n_machines, double* total);

}  // namespace ordsvm::prediction
