// The fused kernel product: K[tile, rows] made in registers from a tile of samples, and used at once.
//
// A tile is a group of samples, transposed: values[feature][lane]. Against it goes one packed row after another, dense
// or sparse. Distances are sums of differences for dense rows, free of cancellation; for sparse rows they start from
// the norms, so that only the features that are not 0 cost anything.
#pragma once

#include <vector>

#include "../kernels.hpp"

namespace ordsvm::block {

/// Samples in a tile: four vectors of the widest instruction set.
template <class T>
inline constexpr Index lanes = 256 / sizeof(T);

template <class T>
struct Tile {
  const T* values;  // [feature][lane]
  const T* norm;    // sum of squares, or of absolute values for the Laplacian, of every lane
};

/// Rows to be met with tiles, one after the other in memory.
template <class T>
struct PackedRows {
  Index count = 0, n_features = 0;
  std::vector<T> values;             // dense: [row][feature]; sparse: those that are not 0
  std::vector<SampleIndex> columns;  // sparse rows only
  std::vector<Index> starts;         // sparse rows only, count + 1
  std::vector<T> norm;
  bool sparse() const { return !starts.empty(); }
};

/// out[lane] += sum_r weight[r] * K[row r, lane] over rows begin <= r < end, in double.
void add_product(const Kernel& kernel, const Tile<float>& tile, const PackedRows<float>& rows, Index begin, Index end,
                 const double* weight, double* out);
void add_product(const Kernel& kernel, const Tile<double>& tile, const PackedRows<double>& rows, Index begin, Index end,
                 const double* weight, double* out);

/// The same, and the other way round: row_out[r] += sum_lane lane_weight[lane] * K[row r, lane].
void add_symmetric(const Kernel& kernel, const Tile<double>& tile, const PackedRows<double>& rows, Index begin,
                   Index end, const double* weight, double* out, const double* lane_weight, double* row_out);

/// out[(r - begin) * stride + lane] = K[row r, lane] for rows begin <= r < end.
void fill_values(const Kernel& kernel, const Tile<float>& tile, const PackedRows<float>& rows, Index begin, Index end,
                 float* out, Index stride);
void fill_values(const Kernel& kernel, const Tile<double>& tile, const PackedRows<double>& rows, Index begin, Index end,
                 double* out, Index stride);

}  // namespace ordsvm::block
