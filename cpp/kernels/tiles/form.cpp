#include "kernels/tiles/form.hpp"

#include <algorithm>
#include <vector>

#include "kernels/formula.hpp"

namespace ordsvm::tiles {
namespace {

constexpr double max_sparse_density = 0.4;  // share of features that are not 0: from here on a dense row is as fast
constexpr double max_sparse_density_with_norms = 0.65;  // the same where norms serve as well as differences

}  // namespace

Form form_of(const Features& features) {
  if (features.density < (features.norms_serve() ? max_sparse_density_with_norms : max_sparse_density))
    return Form::sparse;
  const bool squares = reduction_of(features.kernel.kind) == simd::Reduction::squared_distance;
  return squares && features.norms_serve() ? Form::norms : Form::differences;
}

std::optional<Index> longest_binary_row(const RowSource& source) {
  const Index n_columns = source.features()->n_columns;
  std::vector<SampleIndex> columns(n_columns);
  std::vector<double> values(n_columns);
  Index most = 0;
  for (Index i = 0; i < source.size(); ++i) {
    const Index count = source.nonzeros(i, columns.data(), values.data());
    Index ones = 0;
    for (Index p = 0; p < count; ++p) {
      if (values[p] != 0.0 && values[p] != 1.0) return std::nullopt;
      ones += values[p] == 1.0;
    }
    if (ones >= max_lookup_size) return std::nullopt;
    most = std::max(most, ones);
  }
  return most;
}

bool fits_tiles(const RowSource& source) {
  constexpr Index max_tile_bytes = 1 << 19;  // bytes
  const auto features = source.features();
  return features && (features->density >= max_sparse_density ||
                      features->n_columns * lanes<float> * static_cast<Index>(sizeof(float)) <= max_tile_bytes);
}

double row_length(const Features& features) {
  return features.n_columns * (form_of(features) == Form::sparse ? features.density : 1.0);
}

}  // namespace ordsvm::tiles
