#include "linear/interior_point/feature_loops.hpp"

#include "simd/vectors.hpp"

namespace ordsvm::linear {

using wide::load, wide::store;
using Lanes = wide::Vector<double>;
constexpr Index lanes = wide::width<double>;

ORDSVM_DISPATCH HingeSums step_newton(const HingeTile& tile, Index count, const PathStep& path) {
  return step_hinges<Move::newton>(tile, count, path);
}
ORDSVM_DISPATCH HingeSums step_centre(const HingeTile& tile, Index count, const PathStep& path) {
  return step_hinges<Move::centre>(tile, count, path);
}
ORDSVM_DISPATCH HingeSums step_squared_newton(const HingeTile& tile, Index count, const PathStep& path) {
  return step_squared_hinges<Move::newton>(tile, count, path);
}
ORDSVM_DISPATCH HingeSums step_squared_centre(const HingeTile& tile, Index count, const PathStep& path) {
  return step_squared_hinges<Move::centre>(tile, count, path);
}

HingeSums step(const HingeTile& tile, Index count, const PathStep& path, bool squared) {
  if (path.move == Move::newton)
    return squared ? step_squared_newton(tile, count, path) : step_newton(tile, count, path);
  return squared ? step_squared_centre(tile, count, path) : step_centre(tile, count, path);
}

ORDSVM_DISPATCH void multiply_rows(const double* rows, const double* weights, Index length, Index count, double* out) {
  for (Index t = 0; t < count; ++t) {
    const double* const row = rows + t * length;
    Lanes sum{}, other{}, x, w;
    Index j = 0;
    for (; j + 2 * lanes <= length; j += 2 * lanes) {
      load(x, row + j), load(w, weights + j);
      sum += x * w;
      load(x, row + j + lanes), load(w, weights + j + lanes);
      other += x * w;
    }
    if (j < length) {
      load(x, row + j), load(w, weights + j);
      sum += x * w;
    }
    sum += other;
    out[t] = ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
  }
}

ORDSVM_DISPATCH double sum_of(const double* values, Index count) {
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (Index t = 0; t < count; ++t) sum += values[t];
  return sum;
}

ORDSVM_DISPATCH void add_values(const double* values, Index count, double* sum) {
#pragma omp simd
  for (Index t = 0; t < count; ++t) sum[t] += values[t];
}

ORDSVM_DISPATCH void scale_rows(const double* rows, const double* weight, Index length, Index count, double* scaled,
                                Index width) {
  for (Index t = 0; t < count; ++t) {
    const double factor = weight[t];
    for (Index j = 0; j < length; j += lanes) {
      Lanes x;
      load(x, rows + t * length + j);
      x *= factor;
      store(scaled + t * width + j, x);
    }
  }
}

/// Four rows of the panel and n_vectors * 8 columns: sums stay in registers while all rows of the tile go by.
template <Index n_vectors>
ORDSVM_INLINE void add_block(const double* rows, Index length, const double* scaled, Index width, Index count,
                             double* panel) {
  Lanes sum[4][n_vectors]{};
  for (Index t = 0; t < count; ++t, rows += length, scaled += width) {
    Lanes y[n_vectors];
    for (Index v = 0; v < n_vectors; ++v) load(y[v], scaled + v * lanes);
    for (Index i = 0; i < 4; ++i)
      for (Index v = 0; v < n_vectors; ++v) sum[i][v] += rows[i] * y[v];
  }
  for (Index i = 0; i < 4; ++i)
    for (Index v = 0; v < n_vectors; ++v) {
      Lanes old;
      load(old, panel + i * width + v * lanes);
      store(panel + i * width + v * lanes, old + sum[i][v]);
    }
}

ORDSVM_DISPATCH void add_panel(const double* rows, Index length, const double* scaled, Index width, Index n_rows,
                               Index count, double* panel) {
  for (Index i = 0; i < n_rows; i += 4) {
    Index j = i / lanes * lanes;
    for (; j + 2 * lanes <= width; j += 2 * lanes)
      add_block<2>(rows + i, length, scaled + j, width, count, panel + i * width + j);
    if (j < width) add_block<1>(rows + i, length, scaled + j, width, count, panel + i * width + j);
  }
}

}  // namespace ordsvm::linear
