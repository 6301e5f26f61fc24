#include "prediction/panel.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "simd/dispatch.hpp"

namespace ordsvm::prediction {
namespace {

using simd::Reduction;

// 32 bytes where a function is compiled for all machines: with wider vectors the versions for those that lack them are
// thirty times slower. Products of dense samples, where nearly all time goes, have a version with 64 besides, which
// needs fewer instructions a product.
template <class T, Index bytes = 32>
using Vector [[gnu::vector_size(bytes)]] = T;
template <class T>
constexpr Index width = 32 / sizeof(T);

constexpr Index parts = 4;              // vectors of a group whose products with some samples are in registers together
constexpr Index features_at_once = 64;  // of a group: 16 KB, half a first-level cache

/// As many values as a vector of T holds, converted to T.
template <class T, class V, class U>
ORDSVM_INLINE void load(V& value, const U* from) {
  using Raw [[gnu::vector_size(sizeof(V) / sizeof(T) * sizeof(U))]] = U;
  Raw raw;
  std::memcpy(&raw, from, sizeof raw);
  value = __builtin_convertvector(raw, V);
}

template <class T, class V>
ORDSVM_INLINE void store(T* to, const V& value) {
  std::memcpy(to, &value, sizeof value);
}

/// value = abs(value), by clearing the bit of the sign.
template <class T, class V>
ORDSVM_INLINE void take_absolute(V& value) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  Vector<Bits, sizeof(V)> bits;
  std::memcpy(&bits, &value, sizeof bits);
  bits &= std::numeric_limits<Bits>::max();
  std::memcpy(&value, &bits, sizeof bits);
}

template <Reduction reduction, class T, class V>
ORDSVM_INLINE void accumulate(V& sum, const V& v, T x) {
  if constexpr (reduction == Reduction::dot) {
    sum += v * x;
  } else {
    V difference = v - x;
    if constexpr (reduction == Reduction::squared_distance)
      sum += difference * difference;
    else
      take_absolute<T>(difference), sum += difference;
  }
}

/// `rows` samples and some lanes of a group: all sums stay in registers while the features of [begin, end) go by.
template <Reduction reduction, Index rows, Index bytes, class T, class U>
ORDSVM_INLINE void reduce_rows(const U* X, Index stride, Index begin, Index end, const T* group, T* out) {
  constexpr Index width = bytes / sizeof(T);
  Vector<T, bytes> sum[rows][parts] = {};
  if (begin > 0)
    for (Index r = 0; r < rows; ++r)
      for (Index part = 0; part < parts; ++part) load<T>(sum[r][part], out + r * lanes<T> + part * width);
  for (Index j = begin; j < end; ++j) {
    Vector<T, bytes> v[parts];
    for (Index part = 0; part < parts; ++part) load<T>(v[part], group + j * lanes<T> + part * width);
    for (Index r = 0; r < rows; ++r)
      for (Index part = 0; part < parts; ++part)
        accumulate<reduction, T>(sum[r][part], v[part], static_cast<T>(X[r * stride + j]));
  }
  for (Index r = 0; r < rows; ++r)
    for (Index part = 0; part < parts; ++part) store<T>(out + r * lanes<T> + part * width, sum[r][part]);
}

template <Reduction reduction, Index at_once, Index bytes, class T, class U>
ORDSVM_INLINE void reduce(const DenseView<U>& X, const T* group, T* out) {
  const Index d = X.n_columns;
  for (Index begin = 0; begin < std::max<Index>(d, 1); begin += features_at_once) {
    const Index end = std::min(begin + features_at_once, d);
    for (Index side = 0; side < lanes<T>; side += parts * bytes / static_cast<Index>(sizeof(T))) {
      Index row = 0;
      for (; row + at_once <= X.n_rows; row += at_once)
        reduce_rows<reduction, at_once, bytes>(X.values + row * d, d, begin, end, group + side,
                                               out + row * lanes<T> + side);
      for (; row < X.n_rows; ++row)
        reduce_rows<reduction, 1, bytes>(X.values + row * d, d, begin, end, group + side, out + row * lanes<T> + side);
    }
  }
}

/// 12 sums in registers, of which all machines have 16.
template <class T, class U>
ORDSVM_INLINE void reduce(Reduction reduction, const DenseView<U>& X, const T* group, T* out) {
  switch (reduction) {
    case Reduction::dot:
      return reduce<Reduction::dot, 3, 32>(X, group, out);
    case Reduction::squared_distance:
      return reduce<Reduction::squared_distance, 3, 32>(X, group, out);
    case Reduction::manhattan:
      return reduce<Reduction::manhattan, 3, 32>(X, group, out);
  }
}

/// 16 sums in registers, of which there are 32.
template <class T, class U>
ORDSVM_WIDEST void reduce_widest(Reduction reduction, const DenseView<U>& X, const T* group, T* out) {
  switch (reduction) {
    case Reduction::dot:
      return reduce<Reduction::dot, 4, 64>(X, group, out);
    case Reduction::squared_distance:
      return reduce<Reduction::squared_distance, 4, 64>(X, group, out);
    case Reduction::manhattan:
      return reduce<Reduction::manhattan, 4, 64>(X, group, out);
  }
}

template <class T>
ORDSVM_INLINE void distances_of(const double* row_norm, Index n_rows, const double* lane_norm, T* panel) {
  for (Index row = 0; row < n_rows; ++row, panel += lanes<T>)
    for (Index lane = 0; lane < lanes<T>; lane += width<T>) {
      Vector<T> product, other;
      load<T>(product, panel + lane);
      load<T>(other, lane_norm + lane);
      product = (static_cast<T>(row_norm[row]) + other) - 2 * product;
      store<T>(panel + lane, product > 0 ? product : Vector<T>{});
    }
}

constexpr Index whole = lanes<double> / width<double>;  // vectors in a group of doubles

/// x.y, or the sum over shared features of |x| + |y| - |x-y|, and the norm of x.
template <Reduction reduction, class Row>
ORDSVM_INLINE double add_shared(const Row& x, const SparseGroupView& group, Vector<double>* sum) {
  double norm = 0.0;
  for (Index p = 0; p < x.length; ++p) {
    const double value = x.values[p];
    norm += reduction == Reduction::manhattan ? std::abs(value) : value * value;
    const Index place = group.slot[x.columns[p]];
    if (place < 0) continue;
    for (Index part = 0; part < whole; ++part) {
      Vector<double> y;
      load<double>(y, group.values + place * lanes<double> + part * width<double>);
      if constexpr (reduction == Reduction::manhattan) {
        Vector<double> difference = y - value;
        take_absolute<double>(difference);
        take_absolute<double>(y);
        sum[part] += std::abs(value) + y - difference;
      } else {
        sum[part] += y * value;
      }
    }
  }
  return norm;
}

template <Reduction reduction, class Row>
ORDSVM_INLINE void reduce_sparse(const Row& x, const SparseGroupView& group, double* out) {
  Vector<double> sum[whole] = {};
  const double own = add_shared<reduction>(x, group, sum);
  for (Index part = 0; part < whole; ++part) {
    if constexpr (reduction != Reduction::dot) {
      Vector<double> other;
      load<double>(other, group.norm + part * width<double>);
      sum[part] = own + other - (reduction == Reduction::manhattan ? 1.0 : 2.0) * sum[part];
      sum[part] = sum[part] > 0 ? sum[part] : Vector<double>{};
    }
    store<double>(out + part * width<double>, sum[part]);
  }
}

template <class Row>
ORDSVM_INLINE void reduce_sparse(Reduction reduction, const Row& x, const SparseGroupView& group, double* out) {
  switch (reduction) {
    case Reduction::dot:
      return reduce_sparse<Reduction::dot>(x, group, out);
    case Reduction::squared_distance:
      return reduce_sparse<Reduction::squared_distance>(x, group, out);
    case Reduction::manhattan:
      return reduce_sparse<Reduction::manhattan>(x, group, out);
  }
}

template <class T>
ORDSVM_INLINE void add_products(const T* K, Index n_rows, const double* weight, Index n_machines, double* total) {
  for (Index row = 0; row < n_rows; ++row, K += lanes<T>)
    for (Index machine = 0; machine < n_machines; ++machine, total += partial) {
      Vector<double> sum[2], value, own;
      for (Index side = 0; side < 2; ++side) load<double>(sum[side], total + side * width<double>);
      for (Index lane = 0; lane < lanes<T>; lane += partial)
        for (Index side = 0; side < 2; ++side) {
          load<double>(value, K + lane + side * width<double>);
          load<double>(own, weight + machine * lanes<T> + lane + side * width<double>);
          sum[side] += value * own;
        }
      for (Index side = 0; side < 2; ++side) store<double>(total + side * width<double>, sum[side]);
    }
}

}  // namespace

ORDSVM_DISPATCH void reduce_panel(Reduction reduction, const DenseView<double>& X, const double* group, double* out) {
  has_widest() ? reduce_widest(reduction, X, group, out) : reduce(reduction, X, group, out);
}

ORDSVM_DISPATCH void reduce_panel(Reduction reduction, const DenseView<float>& X, const double* group, double* out) {
  has_widest() ? reduce_widest(reduction, X, group, out) : reduce(reduction, X, group, out);
}

ORDSVM_DISPATCH void reduce_panel(Reduction reduction, const DenseView<float>& X, const float* group, float* out) {
  has_widest() ? reduce_widest(reduction, X, group, out) : reduce(reduction, X, group, out);
}

ORDSVM_DISPATCH void take_distances(const double* row_norm, Index n_rows, const double* lane_norm, double* panel) {
  distances_of(row_norm, n_rows, lane_norm, panel);
}

ORDSVM_DISPATCH void take_distances(const double* row_norm, Index n_rows, const double* lane_norm, float* panel) {
  distances_of(row_norm, n_rows, lane_norm, panel);
}

ORDSVM_DISPATCH void reduce_row(Reduction reduction, const SparseRow<float, std::int32_t>& x,
                                const SparseGroupView& group, double* out) {
  reduce_sparse(reduction, x, group, out);
}

ORDSVM_DISPATCH void reduce_row(Reduction reduction, const SparseRow<float, std::int64_t>& x,
                                const SparseGroupView& group, double* out) {
  reduce_sparse(reduction, x, group, out);
}

ORDSVM_DISPATCH void reduce_row(Reduction reduction, const SparseRow<double, std::int32_t>& x,
                                const SparseGroupView& group, double* out) {
  reduce_sparse(reduction, x, group, out);
}

ORDSVM_DISPATCH void reduce_row(Reduction reduction, const SparseRow<double, std::int64_t>& x,
                                const SparseGroupView& group, double* out) {
  reduce_sparse(reduction, x, group, out);
}

ORDSVM_DISPATCH void contract(const double* K, Index n_rows, const double* weight, Index n_machines, double* total) {
  add_products(K, n_rows, weight, n_machines, total);
}

ORDSVM_DISPATCH void contract(const float* K, Index n_rows, const double* weight, Index n_machines, double* total) {
  add_products(K, n_rows, weight, n_machines, total);
}

}  // namespace ordsvm::prediction
