// What values of K between rows and a tile are used for, a few rows and some of the tile's vectors at a time. Only for
// files whose functions are compiled for an instruction set.
#pragma once

#include "kernels/tiles/tiles.hpp"
#include "simd/vectors.hpp"

namespace ordsvm::tiles {
inline namespace ORDSVM_OWN {

using wide::add_to, wide::load, wide::store, wide::Vector, wide::Whole, wide::width;

inline constexpr Index together = 4;  // rows whose values are made before they are used

/// Vectors of a tile that are worked on at once. Of `together` dense rows all sums are in registers, and leave room for
/// what is added: 16 of 32 registers, or 8 of 16. Sparse rows come one after another: every value that is read serves as
/// many vectors as there are, or 8.
inline constexpr Index dense_parts = wide::registers == 32 ? 4 : 2;
inline constexpr Index sparse_parts = wide::bytes == 64 ? 4 : 8;
inline constexpr Index looked_up_parts = 4;

// A use has a class Lanes<parts>: what it does with the lanes from `lane` on, `parts` vectors of them. Its take(r, values)
// is given values of `count` rows from r on, values[row * parts + part], and end() comes last.

/// use.take(r, values of `together` rows, or of one, from r on) for all rows; make(r, values) makes them.
template <class T, Index parts, class Make, class Lanes>
ORDSVM_INLINE void visit_groups(Index begin, Index end, Make make, Lanes& use) {
  Index r = begin;
  for (; r + together <= end; r += together) {
    Vector<T> values[together * parts];
    make(r, values);
    use.take(r, values);
  }
  for (; r < end; ++r) {
    Vector<T> values[parts];
    make(r, values);
    use.take(r, values);
  }
}

/// out += weight @ values
template <class T>
struct AddProducts {
  const double* weight;
  double* out;

  template <Index parts>
  struct Lanes {
    static constexpr Index doubles = sizeof(double) / sizeof(T);  // vectors of double in a vector of T
    const double* weight;
    double* out;
    Vector<double> sum[parts * doubles];

    ORDSVM_INLINE Lanes(const AddProducts& use, Index lane) : weight(use.weight), out(use.out + lane) {
      for (Index part = 0; part < parts * doubles; ++part) load(sum[part], out + part * width<double>);
    }
    template <Index n>
    ORDSVM_INLINE void take(Index r, const Vector<T> (&values)[n]) {
      for (Index part = 0; part < parts; ++part) {
        Vector<T> group = static_cast<T>(weight[r]) * values[part];
        for (Index s = 1; s < n / parts; ++s) group += static_cast<T>(weight[r + s]) * values[s * parts + part];
        add_to(sum + part * doubles, group);
      }
    }
    ORDSVM_INLINE void end() {
      for (Index part = 0; part < parts * doubles; ++part) store(out + part * width<double>, sum[part]);
    }
  };
};

/// out += weight @ values; row_out += values @ lane_weight
struct AddBothWays {
  const double* weight;
  double* out;
  const double* lane_weight;
  double* row_out;

  template <Index parts>
  struct Lanes {
    const double* weight;
    double *out, *row_out;
    Vector<double> sum[parts], other[parts];

    ORDSVM_INLINE Lanes(const AddBothWays& use, Index lane)
        : weight(use.weight), out(use.out + lane), row_out(use.row_out) {
      for (Index part = 0; part < parts; ++part) {
        load(sum[part], out + part * width<double>);
        load(other[part], use.lane_weight + lane + part * width<double>);
      }
    }
    template <Index n>
    ORDSVM_INLINE void take(Index r, const Vector<double> (&values)[n]) {
      for (Index s = 0; s < n / parts; ++s) {
        Vector<double> across = {};
        for (Index part = 0; part < parts; ++part) {
          sum[part] += weight[r + s] * values[s * parts + part];
          across += other[part] * values[s * parts + part];
        }
        double total = 0.0;
        for (Index l = 0; l < width<double>; ++l) total += across[l];
        row_out[r + s] += total;
      }
    }
    ORDSVM_INLINE void end() {
      for (Index part = 0; part < parts; ++part) store(out + part * width<double>, sum[part]);
    }
  };
};

/// out[(r - begin) * stride + lane] = values
template <class T>
struct CopyValues {
  Index begin;
  T* out;
  Index stride;

  template <Index parts>
  struct Lanes {
    Index begin;
    T* out;
    Index stride;

    ORDSVM_INLINE Lanes(const CopyValues& use, Index lane)
        : begin(use.begin), out(use.out + lane), stride(use.stride) {}
    template <Index n>
    ORDSVM_INLINE void take(Index r, const Vector<T> (&values)[n]) {
      for (Index s = 0; s < n / parts; ++s)
        for (Index part = 0; part < parts; ++part)
          store(out + (r - begin + s) * stride + part * width<T>, values[s * parts + part]);
    }
    ORDSVM_INLINE void end() {}
  };
};

}  // namespace ORDSVM_OWN
}  // namespace ordsvm::tiles
