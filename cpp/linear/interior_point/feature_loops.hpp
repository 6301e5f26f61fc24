// The hot loops of a pass over a tile of rows.
#pragma once

#include "linear/interior_point/hinge_tile.hpp"

namespace ordsvm::linear {

/// Steps of hinges, by loss and move.
HingeSums step(const HingeTile& tile, Index count, const PathStep& path, bool squared);

/// out[t] = rows[t] . weights for rows of `length` values, a multiple of 8.
void multiply_rows(const double* rows, const double* weights, Index length, Index count, double* out);

/// values[0] + values[1] + ...
double sum_of(const double* values, Index count);

/// sum[t] += values[t].
void add_values(const double* values, Index count, double* sum);

/// scaled[t][j] = weight[t] * rows[t][j], j < length; rows of `scaled` are `width` apart.
void scale_rows(const double* rows, const double* weight, Index length, Index count, double* scaled, Index width);

/// panel[i][j] += sum_t rows[t][i] * scaled[t][j] for i < n_rows of the panel, rounded up to 4, and all j < width from
/// the block of 8 that i is in.
void add_panel(const double* rows, Index length, const double* scaled, Index width, Index n_rows, Index count,
               double* panel);

}  // namespace ordsvm::linear
