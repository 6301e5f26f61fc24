#include "kernels/tiles/tiles.hpp"

#include "kernels/formula.hpp"
#include "kernels/tiles/binary_features.hpp"
#include "kernels/tiles/tile_uses.hpp"
#include "simd/vectors.hpp"

namespace ordsvm::tiles {
namespace {

using simd::Reduction;

/// Adds what one feature of a dense row, x, contributes to the reduction: x*y, (x - y)**2 or abs(x - y).
template <Reduction reduction, class T>
ORDSVM_INLINE void add_feature(Vector<T>& sum, T x, const Vector<T>& y) {
  if constexpr (reduction == Reduction::dot) {
    sum += x * y;
  } else {
    const Vector<T> difference = y - x;
    if constexpr (reduction == Reduction::squared_distance)
      sum += difference * difference;
    else
      sum += difference < 0 ? -difference : difference;
  }
}

/// The same for a sparse row, where the sum has the parts of y alone already: x*y, x**2 - 2*x*y, abs(x - y) - abs(y).
template <Reduction reduction, class T>
ORDSVM_INLINE void add_nonzero(Vector<T>& sum, T x, const Vector<T>& y) {
  if constexpr (reduction == Reduction::dot) {
    sum += x * y;
  } else if constexpr (reduction == Reduction::squared_distance) {
    sum -= 2 * x * y;
  } else {
    const Vector<T> difference = y - x;
    sum += (difference < 0 ? -difference : difference) - (y < 0 ? -y : y);
  }
}

/// `count` dense rows at a time: what is loaded of the tile serves all of them.
template <Reduction reduction, Index count, class T>
ORDSVM_INLINE void reduce_dense(const Tile<T>& tile, const T* row, Index n_features, Vector<T> (*sum)[parts]) {
  for (Index r = 0; r < count; ++r)
    for (Index part = 0; part < parts; ++part) sum[r][part] = Vector<T>{};
  const T* y = tile.values;
  for (Index feature = 0; feature < n_features; ++feature, y += lanes<T>)
    for (Index part = 0; part < parts; ++part) {
      Vector<T> value;
      load(value, y + part * width<T>);
      for (Index r = 0; r < count; ++r) add_feature<reduction, T>(sum[r][part], row[r * n_features + feature], value);
    }
}

template <Reduction reduction, class T>
ORDSVM_INLINE void reduce_sparse(const Tile<T>& tile, const PackedRows<T>& rows, Index r, Vector<T>* sum) {
  for (Index part = 0; part < parts; ++part) {
    sum[part] = Vector<T>{};
    if constexpr (reduction != Reduction::dot) load(sum[part], tile.norm + part * width<T>);
    if constexpr (reduction == Reduction::squared_distance) sum[part] += rows.norm[r];
  }
  for (Index p = rows.starts[r]; p < rows.starts[r + 1]; ++p)
    for (Index part = 0; part < parts; ++part) {
      Vector<T> value;
      load(value, tile.values + rows.columns[p] * lanes<T> + part * width<T>);
      add_nonzero<reduction, T>(sum[part], rows.values[p], value);
    }
}

/// The distance from norms, once x.y is known.
template <class T>
ORDSVM_INLINE void take_distance(const Tile<T>& tile, T norm, Vector<T>* sum) {
  for (Index part = 0; part < parts; ++part) {
    Vector<T> other;
    load(other, tile.norm + part * width<T>);
    sum[part] = (norm + other) - 2 * sum[part];
  }
}

/// values = K[rows r .. r + count - 1, tile]
template <class Formula, Form form, Index count, class T>
ORDSVM_INLINE void make_values(const Parameters<T>& parameters, const Tile<T>& tile, const PackedRows<T>& rows, Index r,
                               Vector<T> (*values)[parts]) {
  const T* const row = rows.values.data() + r * rows.n_features;
  if constexpr (form == Form::sparse)
    for (Index s = 0; s < count; ++s) reduce_sparse<Formula::reduction, T>(tile, rows, r + s, values[s]);
  else if constexpr (form == Form::differences)
    reduce_dense<Formula::reduction, count, T>(tile, row, rows.n_features, values);
  else
    reduce_dense<Reduction::dot, count, T>(tile, row, rows.n_features, values);
  if constexpr (form == Form::norms)
    for (Index s = 0; s < count; ++s) take_distance<T>(tile, rows.norm[r + s], values[s]);
  for (Index s = 0; s < count; ++s) Formula::template value<VectorMath<T, parts>>(values[s], parameters);
}

template <class Formula, Form form, class T, class Use>
ORDSVM_INLINE void visit(const Kernel& kernel, const Tile<T>& tile, const PackedRows<T>& rows, Index begin, Index end,
                         Use use) {
  const Parameters<T> parameters(kernel);
  const auto make = [&]<Index count>(Index r, Vector<T>(&values)[count][parts]) __attribute__((always_inline)) {
    make_values<Formula, form, count, T>(parameters, tile, rows, r, values);
  };
  visit_groups<T>(begin, end, make, use);
}

template <class Formula, class T, class Use>
ORDSVM_INLINE void visit(const Kernel& kernel, const Tile<T>& tile, const PackedRows<T>& rows, Index begin, Index end,
                         Use use) {
  if (rows.form == Form::sparse) return visit<Formula, Form::sparse>(kernel, tile, rows, begin, end, use);
  if constexpr (Formula::reduction == Reduction::squared_distance)
    if (rows.form == Form::norms) return visit<Formula, Form::norms>(kernel, tile, rows, begin, end, use);
  visit<Formula, Form::differences>(kernel, tile, rows, begin, end, use);
}

template <class T, class Use>
ORDSVM_INLINE void visit(const Kernel& kernel, const Tile<T>& tile, const PackedRows<T>& rows, Index begin, Index end,
                         Use use) {
  with_formula(kernel.kind, [&]<class Formula>() __attribute__((always_inline)) {
    visit<Formula>(kernel, tile, rows, begin, end, use);
  });
}

}  // namespace

ORDSVM_DISPATCH void add_product(const Kernel& kernel, const Tile<float>& tile, const PackedRows<float>& rows,
                                 Index begin, Index end, const double* weight, double* out) {
  if (rows.form == Form::binary) return add_binary_products(tile, rows, begin, end, weight, out);
  add_products<float>(weight, out,
                      [&](auto use) __attribute__((always_inline)) { visit(kernel, tile, rows, begin, end, use); });
}

ORDSVM_DISPATCH void add_product(const Kernel& kernel, const Tile<double>& tile, const PackedRows<double>& rows,
                                 Index begin, Index end, const double* weight, double* out) {
  if (rows.form == Form::binary) return add_binary_products(tile, rows, begin, end, weight, out);
  add_products<double>(weight, out,
                       [&](auto use) __attribute__((always_inline)) { visit(kernel, tile, rows, begin, end, use); });
}

ORDSVM_DISPATCH void add_symmetric(const Kernel& kernel, const Tile<double>& tile, const PackedRows<double>& rows,
                                   Index begin, Index end, const double* weight, double* out, const double* lane_weight,
                                   double* row_out) {
  if (rows.form == Form::binary) return add_binary_both_ways(tile, rows, begin, end, weight, out, lane_weight, row_out);
  add_both_ways(weight, out, lane_weight, row_out,
                [&](auto use) __attribute__((always_inline)) { visit(kernel, tile, rows, begin, end, use); });
}

ORDSVM_DISPATCH void fill_values(const Kernel& kernel, const Tile<float>& tile, const PackedRows<float>& rows,
                                 Index begin, Index end, float* out, Index stride) {
  if (rows.form == Form::binary) return fill_binary_values(tile, rows, begin, end, out, stride);
  copy_values(begin, out, stride,
              [&](auto use) __attribute__((always_inline)) { visit(kernel, tile, rows, begin, end, use); });
}

ORDSVM_DISPATCH void fill_values(const Kernel& kernel, const Tile<double>& tile, const PackedRows<double>& rows,
                                 Index begin, Index end, double* out, Index stride) {
  if (rows.form == Form::binary) return fill_binary_values(tile, rows, begin, end, out, stride);
  copy_values(begin, out, stride,
              [&](auto use) __attribute__((always_inline)) { visit(kernel, tile, rows, begin, end, use); });
}

}  // namespace ordsvm::tiles
