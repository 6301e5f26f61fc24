// Samples of binary features against a tile: sums of bytes, and values of K from a lookup that is in registers.
//
// What K is a function of, |x-y|^2 = |x| + |y| - 2 x.y, |x-y|_1 or x.y, is a small whole number. A byte for every lane
// is enough for it, so that one instruction adds what a feature contributes for a whole tile.
// Looking values up in registers takes an instruction of its own, so all of this is for machines where has_widest()
// holds.
//   number = (starts + rows.norm + steps[columns].sum(axis=0)) % 256;  K = lookup[number]
#pragma once

#include <algorithm>

#include "kernels/tiles/tile_uses.hpp"
#include "kernels/tiles/tiles.hpp"
#include "simd/vectors.hpp"

namespace ordsvm::tiles {

/// The lookup in pairs of vectors, from which one instruction chooses by the low bits of a number.
template <Index n_pairs, class T>
struct LookupVectors {
  static constexpr Index of_a_pair = 2 * width<T>;
  Vector<T> values[2 * n_pairs];

  ORDSVM_INLINE explicit LookupVectors(const Lookup<T>& lookup) {
    for (Index v = 0; v < 2 * n_pairs; ++v) load(values[v], lookup.values + v * width<T>);
  }

  /// value = lookup[number], where the number's bits above those that count are ignored.
  template <Index n = n_pairs, Index first = 0>
  ORDSVM_INLINE void find(Vector<T>& value, const Vector<Whole<T>>& number) const {
    if constexpr (n == 1) {
      value = __builtin_shuffle(values[2 * first], values[2 * first + 1], number);
    } else {
      Vector<T> low, high;
      find<n / 2, first>(low, number);
      find<n / 2, first + n / 2>(high, number);
      value = (number & static_cast<Whole<T>>(n / 2 * of_a_pair)) != 0 ? high : low;
    }
  }
};

/// numbers[r - begin] = tile.starts + rows.norm[r] + tile.steps[columns of row r].sum(axis=0), modulo 256
template <class T>
ORDSVM_INLINE void reduce_binary(const Tile<T>& tile, const PackedRows<T>& rows, Index begin, Index end,
                                 Vector<std::uint8_t>* numbers) {
  Vector<std::uint8_t> starts, step;
  load(starts, tile.starts);
  const SampleIndex* column = rows.columns.data() + rows.starts[begin];
  for (Index r = begin; r < end; ++r) {
    Vector<std::uint8_t> sum = starts + static_cast<std::uint8_t>(rows.norm[r]);
    for (const SampleIndex* const last = rows.columns.data() + rows.starts[r + 1]; column < last; ++column) {
      load(step, tile.steps + *column * bytes_per_feature);
      sum += step;
    }
    numbers[r - begin] = sum;
  }
}

/// values[part] = lookup[numbers of the lanes of that part]
template <Index n_pairs, class T>
ORDSVM_INLINE void find_values(const LookupVectors<n_pairs, T>& lookup, const Vector<std::uint8_t>& numbers,
                               Vector<T>* values) {
  Vector<Whole<T>> number;
  std::memcpy(&number, &numbers, sizeof number);
  for (Index part = 0; part < parts; ++part) lookup.find(values[part], number >> static_cast<Whole<T>>(8 * part));
}

template <Index n_pairs, class T, class Use>
ORDSVM_INLINE void visit_binary(const Tile<T>& tile, const PackedRows<T>& rows, Index begin, Index end, Use use) {
  constexpr Index rows_at_once = 32;
  const LookupVectors<n_pairs, T> lookup(*tile.lookup);
  Vector<std::uint8_t> numbers[rows_at_once];
  for (Index first = begin; first < end; first += rows_at_once) {
    const Index last = std::min(first + rows_at_once, end);
    reduce_binary(tile, rows, first, last, numbers);
    const auto find = [&]<Index count>(Index r, Vector<T>(&values)[count][parts]) __attribute__((always_inline)) {
      for (Index s = 0; s < count; ++s) find_values<n_pairs, T>(lookup, numbers[r - first + s], values[s]);
    };
    visit_groups<T>(first, last, find, use);
  }
}

template <class T, class Use>
ORDSVM_INLINE void visit_binary(const Tile<T>& tile, const PackedRows<T>& rows, Index begin, Index end, Use use) {
  constexpr Index of_a_pair = 2 * width<T>;
  if (tile.lookup->size <= of_a_pair)
    visit_binary<1>(tile, rows, begin, end, use);
  else if (tile.lookup->size <= 2 * of_a_pair)
    visit_binary<2>(tile, rows, begin, end, use);
  else
    visit_binary<max_lookup_size / of_a_pair>(tile, rows, begin, end, use);
}

// The uses of tiles.hpp.

template <class T>
ORDSVM_WIDEST void add_binary_products(const Tile<T>& tile, const PackedRows<T>& rows, Index begin, Index end,
                                       const double* weight, double* out) {
  add_products<T>(weight, out,
                  [&](auto use) __attribute__((always_inline)) { visit_binary(tile, rows, begin, end, use); });
}

inline ORDSVM_WIDEST void add_binary_both_ways(const Tile<double>& tile, const PackedRows<double>& rows, Index begin,
                                               Index end, const double* weight, double* out, const double* lane_weight,
                                               double* row_out) {
  add_both_ways(weight, out, lane_weight, row_out,
                [&](auto use) __attribute__((always_inline)) { visit_binary(tile, rows, begin, end, use); });
}

template <class T>
ORDSVM_WIDEST void fill_binary_values(const Tile<T>& tile, const PackedRows<T>& rows, Index begin, Index end, T* out,
                                      Index stride) {
  copy_values(begin, out, stride,
              [&](auto use) __attribute__((always_inline)) { visit_binary(tile, rows, begin, end, use); });
}

}  // namespace ordsvm::tiles
