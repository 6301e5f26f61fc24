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
template <Reduction reduction, Index parts, class T, Index n>
ORDSVM_INLINE void reduce_dense(const T* y, const T* row, Index n_features, Vector<T> (&sum)[n]) {
  for (Index s = 0; s < n; ++s) sum[s] = Vector<T>{};
  for (Index feature = 0; feature < n_features; ++feature, y += lanes<T>) {
    Vector<T> value[parts];
    for (Index part = 0; part < parts; ++part) load(value[part], y + part * width<T>);
    for (Index r = 0; r < n / parts; ++r)
      for (Index part = 0; part < parts; ++part)
        add_feature<reduction, T>(sum[r * parts + part], row[r * n_features + feature], value[part]);
  }
}

template <Reduction reduction, Index parts, class T>
ORDSVM_INLINE void reduce_sparse(const Tile<T>& tile, const PackedRows<T>& rows, Index r, Vector<T>* out) {
  Vector<T> sum[parts];
  for (Index part = 0; part < parts; ++part) {
    Vector<T> start = {};
    if constexpr (reduction != Reduction::dot) load(start, tile.norm + part * width<T>);
    if constexpr (reduction == Reduction::squared_distance) start += rows.norm[r];
    sum[part] = start;
  }
  const SampleIndex* const columns = rows.columns.data();
  const T* const values = rows.values.data();
  for (Index p = rows.starts[r], last = rows.starts[r + 1]; p < last; ++p) {
    const T* const y = tile.values + columns[p] * lanes<T>;
    for (Index part = 0; part < parts; ++part) {
      Vector<T> value;
      load(value, y + part * width<T>);
      add_nonzero<reduction, T>(sum[part], values[p], value);
    }
  }
  for (Index part = 0; part < parts; ++part) out[part] = sum[part];
}

/// The distance from norms, once x.y is known.
template <Index parts, class T>
ORDSVM_INLINE void take_distance(const Tile<T>& tile, T norm, Vector<T>* sum) {
  for (Index part = 0; part < parts; ++part) {
    Vector<T> other;
    load(other, tile.norm + part * width<T>);
    sum[part] = (norm + other) - 2 * sum[part];
  }
}

/// Values of K from reductions, four vectors side by side, or as many as there are.
template <class Formula, class T, Index n>
ORDSVM_INLINE void take_values(const Parameters<T>& parameters, Vector<T> (&values)[n]) {
  constexpr Index at_once = n < 4 ? n : 4;
  for (Index v = 0; v < n; v += at_once) Formula::template value<VectorMath<T, at_once>>(values + v, parameters);
}

/// values = K[rows from r on, lanes of the tile]
template <class Formula, Form form, Index parts, class T, Index n>
ORDSVM_INLINE void make_values(const Parameters<T>& parameters, const Tile<T>& tile, const PackedRows<T>& rows, Index r,
                               Vector<T> (&values)[n]) {
  constexpr Index count = n / parts;
  const T* const row = rows.values.data() + r * rows.n_features;
  if constexpr (form == Form::sparse)
    for (Index s = 0; s < count; ++s)
      reduce_sparse<Formula::reduction, parts, T>(tile, rows, r + s, values + s * parts);
  else if constexpr (form == Form::differences)
    reduce_dense<Formula::reduction, parts, T>(tile.values, row, rows.n_features, values);
  else
    reduce_dense<Reduction::dot, parts, T>(tile.values, row, rows.n_features, values);
  if constexpr (form == Form::norms)
    for (Index s = 0; s < count; ++s) take_distance<parts, T>(tile, rows.norm[r + s], values + s * parts);
  take_values<Formula, T>(parameters, values);
}

template <class Formula, Form form, class T, class Use>
ORDSVM_INLINE void visit(const Kernel& kernel, const Tile<T>& tile, const PackedRows<T>& rows, Index begin, Index end,
                         const Use& use) {
  constexpr Index parts = form == Form::sparse ? sparse_parts : dense_parts;
  const Parameters<T> parameters(kernel);
  for (Index lane = 0; lane < lanes<T>; lane += parts * width<T>) {
    const Tile<T> part{tile.values + lane, tile.norm + lane, nullptr, nullptr, nullptr};
    typename Use::template Lanes<parts> some(use, lane);
    const auto make = [&]<Index n>(Index r, Vector<T>(&values)[n]) __attribute__((always_inline)) {
      make_values<Formula, form, parts, T>(parameters, part, rows, r, values);
    };
    visit_groups<T, parts>(begin, end, make, some);
    some.end();
  }
}

template <class Formula, class T, class Use>
ORDSVM_INLINE void visit(const Kernel& kernel, const Tile<T>& tile, const PackedRows<T>& rows, Index begin, Index end,
                         const Use& use) {
  if (rows.form == Form::sparse) return visit<Formula, Form::sparse>(kernel, tile, rows, begin, end, use);
  if constexpr (Formula::reduction == Reduction::squared_distance)
    if (rows.form == Form::norms) return visit<Formula, Form::norms>(kernel, tile, rows, begin, end, use);
  visit<Formula, Form::differences>(kernel, tile, rows, begin, end, use);
}

template <class T, class Use>
ORDSVM_INLINE void visit(const Kernel& kernel, const Tile<T>& tile, const PackedRows<T>& rows, Index begin, Index end,
                         const Use& use) {
  if (rows.form == Form::binary) return visit_binary(tile, rows, begin, end, use);
  with_formula(kernel.kind, [&]<class Formula>() __attribute__((always_inline)) {
    visit<Formula>(kernel, tile, rows, begin, end, use);
  });
}

template <class T>
ORDSVM_INLINE void complete_lookup(Lookup<T>& lookup) {
  for (Index number = 0; number < max_lookup_size; ++number)
    for (Index b = 0; b < static_cast<Index>(sizeof(T)); ++b)
      lookup.bytes[b][number] = reinterpret_cast<const std::uint8_t*>(&lookup.values[number])[b];
  for (Index lane = 0; lane < lanes<T>; ++lane) lookup.place[lane] = static_cast<std::uint8_t>(place_of_lane<T>(lane));
}

}  // namespace

ORDSVM_DISPATCH(void, complete, (Lookup<float> & lookup), (lookup)) { complete_lookup(lookup); }
ORDSVM_DISPATCH(void, complete, (Lookup<double> & lookup), (lookup)) { complete_lookup(lookup); }

ORDSVM_DISPATCH(void, add_product,
                (const Kernel& kernel, const Tile<float>& tile, const PackedRows<float>& rows, Index begin, Index end,
                 const double* weight, double* out),
                (kernel, tile, rows, begin, end, weight, out)) {
  visit(kernel, tile, rows, begin, end, AddProducts<float>{weight, out});
}

ORDSVM_DISPATCH(void, add_product,
                (const Kernel& kernel, const Tile<double>& tile, const PackedRows<double>& rows, Index begin, Index end,
                 const double* weight, double* out),
                (kernel, tile, rows, begin, end, weight, out)) {
  visit(kernel, tile, rows, begin, end, AddProducts<double>{weight, out});
}

ORDSVM_DISPATCH(void, add_symmetric,
                (const Kernel& kernel, const Tile<double>& tile, const PackedRows<double>& rows, Index begin, Index end,
                 const double* weight, double* out, const double* lane_weight, double* row_out),
                (kernel, tile, rows, begin, end, weight, out, lane_weight, row_out)) {
  visit(kernel, tile, rows, begin, end, AddBothWays{weight, out, lane_weight, row_out});
}

ORDSVM_DISPATCH(void, fill_values,
                (const Kernel& kernel, const Tile<float>& tile, const PackedRows<float>& rows, Index begin, Index end,
                 float* out, Index stride),
                (kernel, tile, rows, begin, end, out, stride)) {
  visit(kernel, tile, rows, begin, end, CopyValues<float>{begin, out, stride});
}

ORDSVM_DISPATCH(void, fill_values,
                (const Kernel& kernel, const Tile<double>& tile, const PackedRows<double>& rows, Index begin, Index end,
                 double* out, Index stride),
                (kernel, tile, rows, begin, end, out, stride)) {
  visit(kernel, tile, rows, begin, end, CopyValues<double>{begin, out, stride});
}

}  // namespace ordsvm::tiles
