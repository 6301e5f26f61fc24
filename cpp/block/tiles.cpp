#include "tiles.hpp"

#include <cmath>

#include "vectors.hpp"

namespace ordsvm::block {
namespace {

constexpr Index parts = 4;     // vectors in a tile
constexpr Index together = 4;  // rows whose values are made before they are used

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

template <KernelKind kind, class T>
ORDSVM_INLINE void apply(Vector<T>& value, const Parameters<T>& p) {
  if constexpr (kind == KernelKind::rbf || kind == KernelKind::laplacian) {
    value *= p.exponent;
    value = value < 0 ? value : Vector<T>{};  // a distance from norms may come out below 0
    power_of_two<T>(value);
  } else if constexpr (kind == KernelKind::polynomial) {
    value = p.gamma * value + p.coef0;
    raise<T>(value, p);
  } else if constexpr (kind == KernelKind::sigmoid) {  // tanh(z) = 1 - 2 / (exp(2 z) + 1)
    value = (p.gamma * value + p.coef0) * T(2.8853900817779268);
    value = value < T(100) ? value : Vector<T>{} + T(100);
    power_of_two<T>(value);
    value = T(1) - T(2) / (value + T(1));
  }
}

/// use(r, count, values) for every group of at most `together` rows, which begins with row r.
template <KernelKind kind, bool sparse, class T, class Use>
ORDSVM_INLINE void visit(const Kernel& kernel, const Tile<T>& tile, const PackedRows<T>& rows, Index begin, Index end,
                         Use use) {
  const Parameters<T> parameters(kernel);
  Vector<T> values[together][parts];
  for (Index r = begin; r < end; r += together) {
    const Index count = std::min(together, end - r);
    if constexpr (sparse) {
      for (Index s = 0; s < count; ++s) reduce_sparse<kind, T>(tile, rows, r + s, values[s]);
    } else {
      const T* row = rows.values.data() + r * rows.n_features;
      if (count == together)
        reduce_dense<kind, together, T>(tile, row, rows.n_features, values);
      else
        for (Index s = 0; s < count; ++s)
          reduce_dense<kind, 1, T>(tile, row + s * rows.n_features, rows.n_features, values + s);
    }
    for (Index s = 0; s < count; ++s)
      for (Index part = 0; part < parts; ++part) apply<kind, T>(values[s][part], parameters);
    use(r, count, values);
  }
}

template <KernelKind kind, class T, class Use>
ORDSVM_INLINE void visit(const Kernel& kernel, const Tile<T>& tile, const PackedRows<T>& rows, Index begin, Index end,
                         Use use) {
  if (rows.sparse())
    visit<kind, true>(kernel, tile, rows, begin, end, use);
  else
    visit<kind, false>(kernel, tile, rows, begin, end, use);
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

template <class T>
ORDSVM_INLINE void add_product_of(const Kernel& kernel, const Tile<T>& tile, const PackedRows<T>& rows, Index begin,
                                  Index end, const double* weight, double* out) {
  constexpr Index doubles = sizeof(double) / sizeof(T);  // vectors of double in a vector of T
  Vector<double> sum[parts * doubles];
  for (Index part = 0; part < parts * doubles; ++part) load(sum[part], out + part * width<double>);
  const auto add = [&](Index r, Index count, const Vector<T>(*values)[parts]) __attribute__((always_inline)) {
    for (Index part = 0; part < parts; ++part) {
      Vector<T> group = static_cast<T>(weight[r]) * values[0][part];
      for (Index s = 1; s < count; ++s) group += static_cast<T>(weight[r + s]) * values[s][part];
      add_to(sum + part * doubles, group);
    }
  };
  visit(kernel, tile, rows, begin, end, add);
  for (Index part = 0; part < parts * doubles; ++part) store(out + part * width<double>, sum[part]);
}

template <class T>
ORDSVM_INLINE void fill_values_of(const Kernel& kernel, const Tile<T>& tile, const PackedRows<T>& rows, Index begin,
                                  Index end, T* out, Index stride) {
  const auto copy = [&](Index r, Index count, const Vector<T>(*values)[parts]) __attribute__((always_inline)) {
    for (Index s = 0; s < count; ++s)
      for (Index part = 0; part < parts; ++part)
        store(out + (r - begin + s) * stride + part * width<T>, values[s][part]);
  };
  visit(kernel, tile, rows, begin, end, copy);
}

}  // namespace

ORDSVM_DISPATCH void add_product(const Kernel& kernel, const Tile<float>& tile, const PackedRows<float>& rows,
                                 Index begin, Index end, const double* weight, double* out) {
  add_product_of(kernel, tile, rows, begin, end, weight, out);
}

ORDSVM_DISPATCH void add_product(const Kernel& kernel, const Tile<double>& tile, const PackedRows<double>& rows,
                                 Index begin, Index end, const double* weight, double* out) {
  add_product_of(kernel, tile, rows, begin, end, weight, out);
}

ORDSVM_DISPATCH void add_symmetric(const Kernel& kernel, const Tile<double>& tile, const PackedRows<double>& rows,
                                   Index begin, Index end, const double* weight, double* out, const double* lane_weight,
                                   double* row_out) {
  Vector<double> sum[parts], other[parts];
  for (Index part = 0; part < parts; ++part) {
    load(sum[part], out + part * width<double>);
    load(other[part], lane_weight + part * width<double>);
  }
  const auto add = [&](Index r, Index count, const Vector<double>(*values)[parts]) __attribute__((always_inline)) {
    for (Index s = 0; s < count; ++s) {
      Vector<double> across = {};
      for (Index part = 0; part < parts; ++part) {
        sum[part] += weight[r + s] * values[s][part];
        across += other[part] * values[s][part];
      }
      double total = 0.0;
      for (Index l = 0; l < width<double>; ++l) total += across[l];
      row_out[r + s] += total;
    }
  };
  visit(kernel, tile, rows, begin, end, add);
  for (Index part = 0; part < parts; ++part) store(out + part * width<double>, sum[part]);
}

ORDSVM_DISPATCH void fill_values(const Kernel& kernel, const Tile<float>& tile, const PackedRows<float>& rows,
                                 Index begin, Index end, float* out, Index stride) {
  fill_values_of(kernel, tile, rows, begin, end, out, stride);
}

ORDSVM_DISPATCH void fill_values(const Kernel& kernel, const Tile<double>& tile, const PackedRows<double>& rows,
                                 Index begin, Index end, double* out, Index stride) {
  fill_values_of(kernel, tile, rows, begin, end, out, stride);
}

}  // namespace ordsvm::block
