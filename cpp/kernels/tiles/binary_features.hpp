// Samples of binary features against a tile: sums of bytes, and values of K that are looked up.
//
// What K is a function of, |x-y|^2 = |x| + |y| - 2 x.y, |x-y|_1 or x.y, is a small whole number. A byte for every lane
// is enough for it, so that one instruction adds what a feature contributes for a whole tile, or a few do.
//   number = (starts + rows.norm + steps[columns].sum(axis=0)) % 256;  K = lookup[number]
#pragma once

#include <algorithm>

#include "kernels/tiles/byte_lookup.hpp"
#include "kernels/tiles/tile_uses.hpp"

namespace ordsvm::tiles {
inline namespace ORDSVM_OWN {

inline constexpr Index byte_parts = bytes_per_feature / wide::bytes;

/// numbers[r - begin] = tile.starts + rows.norm[r] + tile.steps[columns of row r].sum(axis=0), modulo 256
template <class T>
ORDSVM_INLINE void reduce_binary(const Tile<T>& tile, const PackedRows<T>& rows, Index begin, Index end,
                                 std::uint8_t* numbers) {
  Vector<std::uint8_t> starts[byte_parts], sum[byte_parts], step;
  for (Index part = 0; part < byte_parts; ++part) load(starts[part], tile.starts + part * wide::bytes);
  const SampleIndex* const columns = rows.columns.data();
  const SampleIndex* column = columns + rows.starts[begin];
  for (Index r = begin; r < end; ++r, numbers += bytes_per_feature) {
    for (Index part = 0; part < byte_parts; ++part) sum[part] = starts[part] + static_cast<std::uint8_t>(rows.norm[r]);
    for (const SampleIndex* const last = columns + rows.starts[r + 1]; column < last; ++column) {
      const std::uint8_t* const steps = tile.steps + *column * bytes_per_feature;
      for (Index part = 0; part < byte_parts; ++part) {
        load(step, steps + part * wide::bytes);
        sum[part] += step;
      }
    }
    for (Index part = 0; part < byte_parts; ++part) store(numbers + part * wide::bytes, sum[part]);
  }
}

/// Some rows at a time, whose numbers stay in the first-level cache.
template <class Look, class T, class Use>
ORDSVM_INLINE void visit_binary(const Tile<T>& tile, const PackedRows<T>& rows, Index begin, Index end,
                                const Use& use) {
  constexpr Index rows_at_once = 32, parts = looked_up_parts;
  const Look lookup(*tile.lookup);
  alignas(64) std::uint8_t numbers[rows_at_once * bytes_per_feature];
  for (Index first = begin; first < end; first += rows_at_once) {
    const Index last = std::min(first + rows_at_once, end);
    reduce_binary(tile, rows, first, last, numbers);
    for (Index lane = 0; lane < lanes<T>; lane += parts * width<T>) {
      typename Use::template Lanes<parts> some(use, lane);
      const auto find = [&]<Index n>(Index r, Vector<T>(&values)[n]) __attribute__((always_inline)) {
        for (Index s = 0; s < n / parts; ++s)
          lookup.template find<parts>(numbers + (r - first + s) * bytes_per_feature, lane, values + s * parts);
      };
      visit_groups<T, parts>(first, last, find, some);
      some.end();
    }
  }
}

template <class T, class Use>
ORDSVM_INLINE void visit_binary(const Tile<T>& tile, const PackedRows<T>& rows, Index begin, Index end,
                                const Use& use) {
  if (tile.lookup->size <= 16)
    visit_binary<ByteLookup<T, 16>>(tile, rows, begin, end, use);
  else if (tile.lookup->size <= 32)
    visit_binary<ByteLookup<T, 32>>(tile, rows, begin, end, use);
  else
    visit_binary<ByteLookup<T, max_lookup_size>>(tile, rows, begin, end, use);
}

}  // namespace ORDSVM_OWN
}  // namespace ordsvm::tiles
