#include "linear/interior_point/feature_loops.hpp"

#include "simd/vectors.hpp"

namespace ordsvm::linear {
namespace {

using wide::load, wide::store;
using Lanes = wide::Vector<double>;
constexpr Index lanes = wide::width<double>;
constexpr Index at_once = wide::bytes == 16 && wide::registers == 32 ? 4 : 2;  // vectors of a panel, by four rows
constexpr Index n_sums = 16 / lanes < 4 ? 16 / lanes : 4;                      // that a row's product is divided among

/// n_vectors * lanes columns of four rows of the panel: sums stay in registers while all rows of the tile go by.
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

ORDSVM_INLINE double total(const Lanes& sum) {
  double parts[lanes];
  std::memcpy(parts, &sum, sizeof sum);
  for (Index half = lanes / 2; half > 0; half /= 2)
    for (Index l = 0; l < half; ++l) parts[l] += parts[l + half];
  return parts[0];
}

}  // namespace

ORDSVM_DISPATCH(HingeSums, step, (const HingeTile& tile, Index count, const PathStep& path, bool squared),
                (tile, count, path, squared)) {
  if (path.move == Move::newton)
    return squared ? step_squared_hinges<Move::newton>(tile, count, path)
                   : step_hinges<Move::newton>(tile, count, path);
  return squared ? step_squared_hinges<Move::centre>(tile, count, path) : step_hinges<Move::centre>(tile, count, path);
}

ORDSVM_DISPATCH(void, multiply_rows,
                (const double* rows, const double* weights, Index length, Index count, double* out),
                (rows, weights, length, count, out)) {
  for (Index t = 0; t < count; ++t) {
    const double* const row = rows + t * length;
    Lanes sum[n_sums]{}, x, w;
    Index j = 0;
    for (; j + n_sums * lanes <= length; j += n_sums * lanes)
      for (Index s = 0; s < n_sums; ++s) {
        load(x, row + j + s * lanes), load(w, weights + j + s * lanes);
        sum[s] += x * w;
      }
    for (Index s = 0; j < length; j += lanes, ++s) {
      load(x, row + j), load(w, weights + j);
      sum[s] += x * w;
    }
    for (Index s = 1; s < n_sums; ++s) sum[0] += sum[s];
    out[t] = total(sum[0]);
  }
}

ORDSVM_DISPATCH(double, sum_of, (const double* values, Index count), (values, count)) {
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (Index t = 0; t < count; ++t) sum += values[t];
  return sum;
}

ORDSVM_DISPATCH(void, add_values, (const double* values, Index count, double* sum), (values, count, sum)) {
#pragma omp simd
  for (Index t = 0; t < count; ++t) sum[t] += values[t];
}

ORDSVM_DISPATCH(void, scale_rows,
                (const double* rows, const double* weight, Index length, Index count, double* scaled, Index width),
                (rows, weight, length, count, scaled, width)) {
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

ORDSVM_DISPATCH(void, add_panel,
                (const double* rows, Index length, const double* scaled, Index width, Index n_rows, Index count,
                 double* panel),
                (rows, length, scaled, width, n_rows, count, panel)) {
  for (Index i = 0; i < n_rows; i += 4) {
    Index j = i / 8 * 8;
    for (; j + at_once * lanes <= width; j += at_once * lanes)
      add_block<at_once>(rows + i, length, scaled + j, width, count, panel + i * width + j);
    for (; j < width; j += lanes) add_block<1>(rows + i, length, scaled + j, width, count, panel + i * width + j);
  }
}

}  // namespace ordsvm::linear
