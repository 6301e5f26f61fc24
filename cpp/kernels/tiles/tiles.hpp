// The fused kernel product: K[tile, rows] made in registers from a tile of samples, and used at once.
//
// A tile is a group of samples, transposed: values[feature][lane]. One packed row after another is reduced with it, in
// a way that depends on the form of the data.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/row_source.hpp"

namespace ordsvm::tiles {

/// Samples in a tile: four vectors of the widest instruction set, sixteen of the narrowest.
template <class T>
inline constexpr Index lanes = 256 / sizeof(T);

enum class Form {
  differences,  // dense: distances are sums of differences, free of cancellation
  norms,        // dense: distances are |x|^2 + |y|^2 - 2 x.y, faster by a quarter
  sparse,       // the same, and only features that are not 0 cost anything
  binary,       // features 0 or 1: K is a function of a small whole number (binary_features.hpp)
};

inline constexpr Index max_lookup_size = 64;
inline constexpr Index bytes_per_feature = 64;  // of a tile, for every feature

/// K of the whole numbers, and 0 beyond the last that occurs.
template <class T>
struct Lookup {
  Index size;
  alignas(64) T values[max_lookup_size];
  alignas(64) std::uint8_t bytes[sizeof(T)][max_lookup_size];  // the same, the lowest bytes of all values first
  std::uint8_t place[lanes<T>];                                // of a lane, among the bytes of a feature
};

/// Completes a lookup whose values are set, for the instruction set in use.
void complete(Lookup<float>& lookup);
void complete(Lookup<double>& lookup);

template <class T>
struct Tile {
  const T* values;             // [feature][lane]
  const T* norm;               // of every lane: sum of squares, or of absolute values for Manhattan distances
  const std::uint8_t* steps;   // binary: what a feature of a row adds to the number, [feature][place of lane]
  const std::uint8_t* starts;  // binary: the number without any row, [place of lane]
  const Lookup<T>* lookup;     // binary
};

/// Rows to be reduced with tiles, one after the other in memory.
template <class T>
struct PackedRows {
  Form form = Form::differences;
  Index count = 0, n_features = 0;
  std::vector<T> values;             // dense: [row][feature]; sparse: those that are not 0
  std::vector<SampleIndex> columns;  // of values, or of ones, where not all are there
  std::vector<Index> starts;         // count + 1 into `columns`
  std::vector<T> norm;
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

}  // namespace ordsvm::tiles
