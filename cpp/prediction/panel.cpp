#include "prediction/panel.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "simd/vectors.hpp"

namespace ordsvm::prediction {
namespace {

using simd::Reduction;

template <class T, Index bytes = wide::bytes>
using Vector [[gnu::vector_size(bytes)]] = T;
using wide::width;

// Samples by vectors of a group whose products are in registers together: 16 of 32, 12 of 16, or 8 where a product and
// its sum are two instructions, for which a register is needed besides.
#if defined(__FMA__) && !defined(__AVX512F__)
constexpr Index at_once = 3, parts = 4;
#else
constexpr Index at_once = 4, parts = wide::registers == 32 ? 4 : 2;
#endif
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
template <Reduction reduction, Index rows, class T, class U>
ORDSVM_INLINE void reduce_rows(const U* X, Index stride, Index begin, Index end, const T* group, T* out) {
  Vector<T> sum[rows][parts] = {};
  if (begin > 0)
    for (Index r = 0; r < rows; ++r)
      for (Index part = 0; part < parts; ++part) load<T>(sum[r][part], out + r * lanes<T> + part * width<T>);
  for (Index j = begin; j < end; ++j) {
    Vector<T> v[parts];
    for (Index part = 0; part < parts; ++part) load<T>(v[part], group + j * lanes<T> + part * width<T>);
    for (Index r = 0; r < rows; ++r)
      for (Index part = 0; part < parts; ++part)
        accumulate<reduction, T>(sum[r][part], v[part], static_cast<T>(X[r * stride + j]));
  }
  for (Index r = 0; r < rows; ++r)
    for (Index part = 0; part < parts; ++part) store<T>(out + r * lanes<T> + part * width<T>, sum[r][part]);
}

template <Reduction reduction, class T, class U>
ORDSVM_INLINE void reduce(const DenseView<U>& X, const T* group, T* out) {
  const Index d = X.n_columns;
  for (Index begin = 0; begin < std::max<Index>(d, 1); begin += features_at_once) {
    const Index end = std::min(begin + features_at_once, d);
    for (Index side = 0; side < lanes<T>; side += parts * width<T>) {
      Index row = 0;
      for (; row + at_once <= X.n_rows; row += at_once)
        reduce_rows<reduction, at_once>(X.values + row * d, d, begin, end, group + side, out + row * lanes<T> + side);
      for (; row < X.n_rows; ++row)
        reduce_rows<reduction, 1>(X.values + row * d, d, begin, end, group + side, out + row * lanes<T> + side);
    }
  }
}

template <class T, class U>
ORDSVM_INLINE void reduce(Reduction reduction, const DenseView<U>& X, const T* group, T* out) {
  switch (reduction) {
    case Reduction::dot:
      return reduce<Reduction::dot>(X, group, out);
    case Reduction::squared_distance:
      return reduce<Reduction::squared_distance>(X, group, out);
    case Reduction::manhattan:
      return reduce<Reduction::manhattan>(X, group, out);
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

// Vectors of a group of doubles whose sums are in registers together: all of them, or a half.
constexpr Index in_group = lanes<double> / width<double>, some = in_group < wide::registers ? in_group : in_group / 2;

/// x.y, or the sum over shared features of |x| + |y| - |x-y|, with lanes from `lane` on, and the norm of x.
template <Reduction reduction, class Row>
ORDSVM_INLINE double add_shared(const Row& x, const SparseGroupView& group, Index lane, Vector<double>* sum) {
  double norm = 0.0;
  for (Index p = 0; p < x.length; ++p) {
    const double value = x.values[p];
    norm += reduction == Reduction::manhattan ? std::abs(value) : value * value;
    const Index place = group.slot[x.columns[p]];
    if (place < 0) continue;
    for (Index part = 0; part < some; ++part) {
      Vector<double> y;
      load<double>(y, group.values + place * lanes<double> + lane + part * width<double>);
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
  for (Index lane = 0; lane < lanes<double>; lane += some * width<double>) {
    Vector<double> sum[some] = {};
    const double own = add_shared<reduction>(x, group, lane, sum);
    for (Index part = 0; part < some; ++part) {
      const Index at = lane + part * width<double>;
      if constexpr (reduction != Reduction::dot) {
        Vector<double> other;
        load<double>(other, group.norm + at);
        sum[part] = own + other - (reduction == Reduction::manhattan ? 1.0 : 2.0) * sum[part];
        sum[part] = sum[part] > 0 ? sum[part] : Vector<double>{};
      }
      store<double>(out + at, sum[part]);
    }
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
      constexpr Index n = partial / width<double>;
      Vector<double> sum[n], value, own;
      for (Index side = 0; side < n; ++side) load<double>(sum[side], total + side * width<double>);
      for (Index lane = 0; lane < lanes<T>; lane += partial)
        for (Index side = 0; side < n; ++side) {
          load<double>(value, K + lane + side * width<double>);
          load<double>(own, weight + machine * lanes<T> + lane + side * width<double>);
          sum[side] += value * own;
        }
      for (Index side = 0; side < n; ++side) store<double>(total + side * width<double>, sum[side]);
    }
}

}  // namespace

ORDSVM_DISPATCH(void, reduce_panel, (Reduction reduction, const DenseView<double>& X, const double* group, double* out),
                (reduction, X, group, out)) {
  reduce(reduction, X, group, out);
}

ORDSVM_DISPATCH(void, reduce_panel, (Reduction reduction, const DenseView<float>& X, const double* group, double* out),
                (reduction, X, group, out)) {
  reduce(reduction, X, group, out);
}

ORDSVM_DISPATCH(void, reduce_panel, (Reduction reduction, const DenseView<float>& X, const float* group, float* out),
                (reduction, X, group, out)) {
  reduce(reduction, X, group, out);
}

ORDSVM_DISPATCH(void, take_distances, (const double* row_norm, Index n_rows, const double* lane_norm, double* panel),
                (row_norm, n_rows, lane_norm, panel)) {
  distances_of(row_norm, n_rows, lane_norm, panel);
}

ORDSVM_DISPATCH(void, take_distances, (const double* row_norm, Index n_rows, const double* lane_norm, float* panel),
                (row_norm, n_rows, lane_norm, panel)) {
  distances_of(row_norm, n_rows, lane_norm, panel);
}

ORDSVM_DISPATCH(void, reduce_row,
                (Reduction reduction, const SparseRow<float, std::int32_t>& x, const SparseGroupView& group,
                 double* out),
                (reduction, x, group, out)) {
  reduce_sparse(reduction, x, group, out);
}

ORDSVM_DISPATCH(void, reduce_row,
                (Reduction reduction, const SparseRow<float, std::int64_t>& x, const SparseGroupView& group,
                 double* out),
                (reduction, x, group, out)) {
  reduce_sparse(reduction, x, group, out);
}

ORDSVM_DISPATCH(void, reduce_row,
                (Reduction reduction, const SparseRow<double, std::int32_t>& x, const SparseGroupView& group,
                 double* out),
                (reduction, x, group, out)) {
  reduce_sparse(reduction, x, group, out);
}

ORDSVM_DISPATCH(void, reduce_row,
                (Reduction reduction, const SparseRow<double, std::int64_t>& x, const SparseGroupView& group,
                 double* out),
                (reduction, x, group, out)) {
  reduce_sparse(reduction, x, group, out);
}

ORDSVM_DISPATCH(void, contract, (const double* K, Index n_rows, const double* weight, Index n_machines, double* total),
                (K, n_rows, weight, n_machines, total)) {
  add_products(K, n_rows, weight, n_machines, total);
}

ORDSVM_DISPATCH(void, contract, (const float* K, Index n_rows, const double* weight, Index n_machines, double* total),
                (K, n_rows, weight, n_machines, total)) {
  add_products(K, n_rows, weight, n_machines, total);
}

}  // namespace ordsvm::prediction
