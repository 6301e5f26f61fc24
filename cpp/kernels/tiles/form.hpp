// In which form samples meet each other in tiles, and whether they do.
#pragma once

#include <optional>

#include "kernels/row_source.hpp"
#include "kernels/tiles/tiles.hpp"

namespace ordsvm::tiles {

inline constexpr double min_kept_row_length = 24.0;    // features from which on a row is kept, not made again
inline constexpr double max_remade_row_length = 64.0;  // up to which K of a small set is made again, not gathered

/// Whether K is made from tiles: the source must have features, and where rows are sparse a tile, most of which is not
/// read, must fit into a cache.
bool fits_tiles(const RowSource& source);

/// The form of samples, but for those of binary features.
Form form_of(const Features& features);

/// The largest number of ones in a sample, if all features are 0 or 1, and there are few enough ones for a lookup.
std::optional<Index> longest_binary_row(const RowSource& source);

/// How many features of a row cost something.
double row_length(const Features& features);

}  // namespace ordsvm::tiles
