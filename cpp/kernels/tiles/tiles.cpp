#include "kernels/tiles/tiles.hpp"

#include <cmath>

#include "kernels/tiles/binary_features.hpp"
#include "kernels/tiles/tile_uses.hpp"
#include "simd/vectors.hpp"

namespace ordsvm::block {
namespace {

constexpr bool is_dot(KernelKind kind) { return kind != KernelKind::rbf && kind != KernelKind::laplacian; }

/// Adds what one feature of a dense row, x, contributes to the reduction: x*y, (x - y)**2 or abs(x - y).
template <KernelKind kind, class T>
ORDSVM_INLINE void add_feature(Vector<T>& sum, T x, const Vector<T>& y) {
  if constexpr (is_dot(kind)) {
    sum += x * y;
  } else {
    const Vector<T> difference = y - x;
    if constexpr (kind == KernelKind::rbf)
      sum += difference * difference;
    else
      sum += difference < 0 ? -difference : difference;
  }
}

/// The same for a sparse row, where the sum has the parts of y alone already: x*y, x**2 - 2*x*y, abs(x - y) - abs(y).
template <KernelKind kind, class T>
ORDSVM_INLINE void add_nonzero(Vector<T>& sum, T x, const Vector<T>& y) {
  if constexpr (is_dot(kind)) {
    sum += x * y;
  } else if constexpr (kind == KernelKind::rbf) {
    sum -= 2 * x * y;
  } else {
    const Vector<T> difference = y - x;
    sum += (difference < 0 ? -difference : difference) - (y < 0 ? -y : y);
  }
}

/// `count` dense rows at a time: what is loaded of the tile serves all of them.
template <KernelKind kind, Index count, class T>
ORDSVM_INLINE void reduce_dense(const Tile<T>& tile, const T* row, Index n_features, Vector<T> (*sum)[parts]) {
  for (Index r = 0; r < count; ++r)
    for (Index part = 0; part < parts; ++part) sum[r][part] = Vector<T>{};
  const T* y = tile.values;
  for (Index feature = 0; feature < n_features; ++feature, y += lanes<T>)
    for (Index part = 0; part < parts; ++part) {
      Vector<T> value;
      load(value, y + part * width<T>);
      for (Index r = 0; r < count; ++r) add_feature<kind, T>(sum[r][part], row[r * n_features + feature], value);
    }
}

template <KernelKind kind, class T>
ORDSVM_INLINE void reduce_sparse(const Tile<T>& tile, const PackedRows<T>& rows, Index r, Vector<T>* sum) {
  for (Index part = 0; part < parts; ++part) {
    sum[part] = Vector<T>{};
    if constexpr (!is_dot(kind)) load(sum[part], tile.norm + part * width<T>);
    if constexpr (kind == KernelKind::rbf) sum[part] += rows.norm[r];
  }
  for (Index p = rows.starts[r]; p < rows.starts[r + 1]; ++p)
    for (Index part = 0; part < parts; ++part) {
      Vector<T> value;
      load(value, tile.values + rows.columns[p] * lanes<T> + part * width<T>);
      add_nonzero<kind, T>(sum[part], rows.values[p], value);
    }
}

/// The kernel's parameters, as the values are computed from reductions.
template <class T>
struct Parameters {
  T gamma, coef0, degree, exponent;  // exponent = -gamma * log2(e)
  int whole_degree;                  // -1: the degree is broken
  explicit Parameters(const Kernel& kernel)
      : gamma(static_cast<T>(kernel.gamma)),
        coef0(static_cast<T>(kernel.coef0)),
        degree(static_cast<T>(kernel.degree)),
        exponent(static_cast<T>(-kernel.gamma * 1.4426950408889634)),
        whole_degree(
            kernel.degree == std::floor(kernel.degree) && kernel.degree < 64.0 ? static_cast<int>(kernel.degree) : -1) {
  }
};

/// value = value**degree
template <class T>
ORDSVM_INLINE void raise(Vector<T>& value, const Parameters<T>& p) {
  if (p.whole_degree < 0) {
    for (Index l = 0; l < width<T>; ++l) value[l] = std::pow(value[l], p.degree);
    return;
  }
  Vector<T> result = Vector<T>{} + T(1);
  for (int bits = p.whole_degree; bits > 0; bits >>= 1, value *= value)
    if (bits & 1) result *= value;
  value = result;
}

/// From the reductions of one row to its values of K.
template <KernelKind kind, class T>
ORDSVM_INLINE void apply(Vector<T>* value, const Parameters<T>& p) {
  if constexpr (kind == KernelKind::rbf || kind == KernelKind::laplacian) {
    for (Index part = 0; part < parts; ++part) {
      value[part] *= p.exponent;
      value[part] = value[part] < 0 ? value[part] : Vector<T>{};  // a distance from norms may come out below 0
    }
    powers_of_two<parts, T>(value);
  } else if constexpr (kind == KernelKind::polynomial) {
    for (Index part = 0; part < parts; ++part) {
      value[part] = p.gamma * value[part] + p.coef0;
      raise<T>(value[part], p);
    }
  } else if constexpr (kind == KernelKind::sigmoid) {  // tanh(z) = 1 - 2 / (exp(2 z) + 1)
    for (Index part = 0; part < parts; ++part) {
      value[part] = (p.gamma * value[part] + p.coef0) * T(2.8853900817779268);
      value[part] = value[part] < T(100) ? value[part] : Vector<T>{} + T(100);
    }
    powers_of_two<parts, T>(value);
    for (Index part = 0; part < parts; ++part) value[part] = T(1) - T(2) / (value[part] + T(1));
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
template <KernelKind kind, Form form, Index count, class T>
ORDSVM_INLINE void make_values(const Parameters<T>& parameters, const Tile<T>& tile, const PackedRows<T>& rows, Index r,
                               Vector<T> (*values)[parts]) {
  const T* const row = rows.values.data() + r * rows.n_features;
  if constexpr (form == Form::sparse)
    for (Index s = 0; s < count; ++s) reduce_sparse<kind, T>(tile, rows, r + s, values[s]);
  else if constexpr (form == Form::differences)
    reduce_dense<kind, count, T>(tile, row, rows.n_features, values);
  else
    reduce_dense<KernelKind::linear, count, T>(tile, row, rows.n_features, values);
  if constexpr (form == Form::norms)
    for (Index s = 0; s < count; ++s) take_distance<T>(tile, rows.norm[r + s], values[s]);
  for (Index s = 0; s < count; ++s) apply<kind, T>(values[s], parameters);
}

template <KernelKind kind, Form form, class T, class Use>
ORDSVM_INLINE void visit(const Kernel& kernel, const Tile<T>& tile, const PackedRows<T>& rows, Index begin, Index end,
                         Use use) {
  const Parameters<T> parameters(kernel);
  const auto make = [&]<Index count>(Index r, Vector<T>(&values)[count][parts]) __attribute__((always_inline)) {
    make_values<kind, form, count, T>(parameters, tile, rows, r, values);
  };
  visit_groups<T>(begin, end, make, use);
}

template <KernelKind kind, class T, class Use>
ORDSVM_INLINE void visit(const Kernel& kernel, const Tile<T>& tile, const PackedRows<T>& rows, Index begin, Index end,
                         Use use) {
  if (rows.form == Form::sparse) return visit<kind, Form::sparse>(kernel, tile, rows, begin, end, use);
  if constexpr (kind == KernelKind::rbf)
    if (rows.form == Form::norms) return visit<kind, Form::norms>(kernel, tile, rows, begin, end, use);
  visit<kind, Form::differences>(kernel, tile, rows, begin, end, use);
}

template <class T, class Use>
ORDSVM_INLINE void visit(const Kernel& kernel, const Tile<T>& tile, const PackedRows<T>& rows, Index begin, Index end,
                         Use use) {
  switch (kernel.kind) {
    case KernelKind::linear:
      return visit<KernelKind::linear>(kernel, tile, rows, begin, end, use);
    case KernelKind::rbf:
      return visit<KernelKind::rbf>(kernel, tile, rows, begin, end, use);
    case KernelKind::polynomial:
      return visit<KernelKind::polynomial>(kernel, tile, rows, begin, end, use);
    case KernelKind::sigmoid:
      return visit<KernelKind::sigmoid>(kernel, tile, rows, begin, end, use);
    case KernelKind::laplacian:
      return visit<KernelKind::laplacian>(kernel, tile, rows, begin, end, use);
  }
}

}  // namespace

ORDSVM_DISPATCH void add_product(const Kernel& kernel, const Tile<float>& tile, const PackedRows<float>& rows,
                                 Index begin, Index end, const double* weight, double* out) {
  if (rows.form == Form::counts) return add_counted(tile, rows, begin, end, weight, out);
  add_products<float>(weight, out,
                      [&](auto use) __attribute__((always_inline)) { visit(kernel, tile, rows, begin, end, use); });
}

ORDSVM_DISPATCH void add_product(const Kernel& kernel, const Tile<double>& tile, const PackedRows<double>& rows,
                                 Index begin, Index end, const double* weight, double* out) {
  if (rows.form == Form::counts) return add_counted(tile, rows, begin, end, weight, out);
  add_products<double>(weight, out,
                       [&](auto use) __attribute__((always_inline)) { visit(kernel, tile, rows, begin, end, use); });
}

ORDSVM_DISPATCH void add_symmetric(const Kernel& kernel, const Tile<double>& tile, const PackedRows<double>& rows,
                                   Index begin, Index end, const double* weight, double* out, const double* lane_weight,
                                   double* row_out) {
  if (rows.form == Form::counts)
    return add_counted_both_ways(tile, rows, begin, end, weight, out, lane_weight, row_out);
  add_both_ways(weight, out, lane_weight, row_out,
                [&](auto use) __attribute__((always_inline)) { visit(kernel, tile, rows, begin, end, use); });
}

ORDSVM_DISPATCH void fill_values(const Kernel& kernel, const Tile<float>& tile, const PackedRows<float>& rows,
                                 Index begin, Index end, float* out, Index stride) {
  if (rows.form == Form::counts) return fill_counted(tile, rows, begin, end, out, stride);
  copy_values(begin, out, stride,
              [&](auto use) __attribute__((always_inline)) { visit(kernel, tile, rows, begin, end, use); });
}

ORDSVM_DISPATCH void fill_values(const Kernel& kernel, const Tile<double>& tile, const PackedRows<double>& rows,
                                 Index begin, Index end, double* out, Index stride) {
  if (rows.form == Form::counts) return fill_counted(tile, rows, begin, end, out, stride);
  copy_values(begin, out, stride,
              [&](auto use) __attribute__((always_inline)) { visit(kernel, tile, rows, begin, end, use); });
}

}  // namespace ordsvm::block
