// What values of K between rows and a tile are used for, a few rows at a time. Only for files whose functions are
// compiled for an instruction set.
#pragma once

#include "kernels/tiles/tiles.hpp"
#include "simd/vectors.hpp"

namespace ordsvm::tiles {

using wide::add_to, wide::load, wide::store, wide::Vector, wide::Whole, wide::width;

inline constexpr Index parts = 4;     // vectors in a tile
inline constexpr Index together = 4;  // rows whose values are made before they are used

/// use(r, values of `together` rows, or of one, from r on) for all rows; make(r, values) makes them.
template <class T, class Make, class Use>
ORDSVM_INLINE void visit_groups(Index begin, Index end, Make make, Use use) {
  Index r = begin;
  for (; r + together <= end; r += together) {
    Vector<T> values[together][parts];
    make(r, values);
    use(r, values);
  }
  for (; r < end; ++r) {
    Vector<T> values[1][parts];
    make(r, values);
    use(r, values);
  }
}

// In the following visit(use) calls use(r, values) for all rows, as visit_groups does.

/// out += weight @ values
template <class T, class Visit>
ORDSVM_INLINE void add_products(const double* weight, double* out, Visit visit) {
  constexpr Index doubles = sizeof(double) / sizeof(T);  // vectors of double in a vector of T
  Vector<double> sum[parts * doubles];
  for (Index part = 0; part < parts * doubles; ++part) load(sum[part], out + part * width<double>);
  visit([&]<Index count>(Index r, const Vector<T>(&values)[count][parts]) __attribute__((always_inline)) {
    for (Index part = 0; part < parts; ++part) {
      Vector<T> group = static_cast<T>(weight[r]) * values[0][part];
      for (Index s = 1; s < count; ++s) group += static_cast<T>(weight[r + s]) * values[s][part];
      add_to(sum + part * doubles, group);
    }
  });
  for (Index part = 0; part < parts * doubles; ++part) store(out + part * width<double>, sum[part]);
}

/// out += weight @ values; row_out += values @ lane_weight
template <class Visit>
ORDSVM_INLINE void add_both_ways(const double* weight, double* out, const double* lane_weight, double* row_out,
                                 Visit visit) {
  Vector<double> sum[parts], other[parts];
  for (Index part = 0; part < parts; ++part) {
    load(sum[part], out + part * width<double>);
    load(other[part], lane_weight + part * width<double>);
  }
  visit([&]<Index count>(Index r, const Vector<double>(&values)[count][parts]) __attribute__((always_inline)) {
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
  });
  for (Index part = 0; part < parts; ++part) store(out + part * width<double>, sum[part]);
}

/// out[(r - begin) * stride + lane] = values
template <class T, class Visit>
ORDSVM_INLINE void copy_values(Index begin, T* out, Index stride, Visit visit) {
  visit([&]<Index count>(Index r, const Vector<T>(&values)[count][parts]) __attribute__((always_inline)) {
    for (Index s = 0; s < count; ++s)
      for (Index part = 0; part < parts; ++part)
        store(out + (r - begin + s) * stride + part * width<T>, values[s][part]);
  });
}

}  // namespace ordsvm::tiles
