// The fused kernel product: K[tile, rows] made in registers from a tile of samples, and used at once.
//
// A tile is a group of samples, transposed: values[feature][lane]. Against it goes one packed row after another. How
// they meet is a matter of their form.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/row_source.hpp"

namespace ordsvm::tiles {

/// Samples in a tile: four vectors of the widest instruction set.
template <class T>
inline constexpr Index lanes = 256 / sizeof(T);

enum class Form {
  differences,  // dense: distances are sums of differences, free of cancellation
  norms,        // dense: distances are |x|^2 + |y|^2 - 2 x.y, faster by a quarter
  sparse,       // the same, and only features that are not 0 cost anything
  counts,       // zeros and ones: K is a function of a small whole number (counts.hpp)
};

inline constexpr Index most_counts = 64;
inline constexpr Index bytes_of_counts = 64;  // of a tile, for every feature

/// Where the byte of a lane is among them: those that one vector of T looks up are sizeof(T) bytes apart, so that they
/// are the low bits of whole numbers as wide as T after a shift.
template <class T>
constexpr Index place_of_count(Index lane) {
  constexpr Index width = 64 / sizeof(T);
  return lane % width * static_cast<Index>(sizeof(T)) + lane / width;
}

/// K of the whole numbers, and 0 beyond the last that occurs.
template <class T>
struct Lookup {
  Index size;
  T values[most_counts];
};

template <class T>
struct Tile {
  const T* values;             // [feature][lane]
  const T* norm;               // sum of squares, or of absolute values for the Laplacian, of every lane
  const std::uint8_t* steps;   // zeros and ones: what a feature of a row adds to the number, [feature][place_of_count]
  const std::uint8_t* starts;  // zeros and ones: the number without any row, [place_of_count]
  const Lookup<T>* lookup;     // zeros and ones
};

/// Rows to be met with tiles, one after the other in memory.
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
