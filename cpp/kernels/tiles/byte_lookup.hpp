// K of small whole numbers, a byte each, from a lookup that is in registers where the instruction set can choose from
// them. ByteLookup<T, size> has `size` values; numbers are below it.
//   place_of_lane<T>(lane)           where the byte of a lane is among those of a tile
//   find<parts>(numbers, lane, out)  values of the lanes from `lane` on, `parts` vectors of them
#pragma once

#include "kernels/tiles/tiles.hpp"
#include "simd/vectors.hpp"
#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace ordsvm::tiles {
inline namespace ORDSVM_OWN {

/// One value after another, from memory.
template <class T, Index size>
struct LookupByLoads {
  const T* values;

  ORDSVM_INLINE explicit LookupByLoads(const Lookup<T>& lookup) : values(lookup.values) {}

  template <Index parts>
  ORDSVM_INLINE void find(const std::uint8_t* numbers, Index lane, wide::Vector<T>* out) const {
    const std::uint8_t* const here = numbers + lane;
    for (Index part = 0; part < parts; ++part) {
      wide::Vector<T> value = {};
      for (Index l = 0; l < wide::width<T>; ++l) value[l] = values[here[part * wide::width<T> + l]];
      out[part] = value;
    }
  }
};

#if defined(__AVX512F__)

/// Bytes that one vector looks up are sizeof(T) apart, so that they are the low bits of whole numbers as wide as T after
/// a shift.
template <class T>
constexpr Index place_of_lane(Index lane) {
  return lane % wide::width<T> * static_cast<Index>(sizeof(T)) + lane / wide::width<T>;
}

ORDSVM_INLINE void choose(wide::Vector<float>& value, const wide::Vector<float>& low, const wide::Vector<float>& high,
                          const wide::Vector<std::int32_t>& number) {
  value = (wide::Vector<float>)_mm512_permutex2var_ps((__m512)low, (__m512i)number, (__m512)high);
}
ORDSVM_INLINE void choose(wide::Vector<double>& value, const wide::Vector<double>& low,
                          const wide::Vector<double>& high, const wide::Vector<std::int64_t>& number) {
  value = (wide::Vector<double>)_mm512_permutex2var_pd((__m512d)low, (__m512i)number, (__m512d)high);
}

/// Pairs of vectors, from which one instruction chooses by the low bits of a number.
template <class T, Index size>
struct ByteLookup {
  static constexpr Index of_a_pair = 2 * wide::width<T>;
  static constexpr Index n_pairs = size > of_a_pair ? size / of_a_pair : 1;
  wide::Vector<T> values[2 * n_pairs];

  ORDSVM_INLINE explicit ByteLookup(const Lookup<T>& lookup) {
    for (Index v = 0; v < 2 * n_pairs; ++v) wide::load(values[v], lookup.values + v * wide::width<T>);
  }

  template <Index parts>
  ORDSVM_INLINE void find(const std::uint8_t* numbers, Index lane, wide::Vector<T>* out) const {
    wide::Vector<wide::Whole<T>> number;
    std::memcpy(&number, numbers, sizeof number);
    for (Index part = 0; part < parts; ++part)
      pick(out[part], number >> static_cast<wide::Whole<T>>(8 * (lane / wide::width<T> + part)));
  }

 private:
  /// A number's bits above those that count are ignored.
  template <Index n = n_pairs, Index first = 0>
  ORDSVM_INLINE void pick(wide::Vector<T>& value, const wide::Vector<wide::Whole<T>>& number) const {
    if constexpr (n == 1) {
      choose(value, values[2 * first], values[2 * first + 1], number);
    } else {
      wide::Vector<T> low, high;
      pick<n / 2, first>(low, number);
      pick<n / 2, first + n / 2>(high, number);
      value = (number & static_cast<wide::Whole<T>>(n / 2 * of_a_pair)) != 0 ? high : low;
    }
  }
};

#elif defined(__AVX2__)

/// Bytes of float values are looked up 32 at a time in both halves of a vector: place 4 v + e, and 16 beyond it, is what
/// ends up in vector v.
template <class T>
constexpr Index place_of_lane(Index lane) {
  if (sizeof(T) == 8) return lane;
  const Index within = lane % 32, vector = within / 8, element = within % 8;
  return lane - within + 4 * vector + element % 4 + element / 4 * 16;
}

template <class T, Index size>
struct ByteLookup : LookupByLoads<T, size> {
  using LookupByLoads<T, size>::LookupByLoads;
};

/// The four bytes of a value are looked up one by one, 16 entries at a time, and put together.
template <Index size>
struct ByteLookup<float, size> {
  const Lookup<float>& lookup;

  ORDSVM_INLINE explicit ByteLookup(const Lookup<float>& all) : lookup(all) {}

  template <Index parts>
  ORDSVM_INLINE void find(const std::uint8_t* numbers, Index lane, wide::Vector<float>* out) const {
    static_assert(parts == 4);
    const __m256i number = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(numbers + lane));
    __m256i plane[4];
    for (Index first = 0; first < size; first += 16) {
      // A number of these 16 entries becomes 0x70 to 0x7f, any other one is beyond, for which 0 is looked up.
      const __m256i index =
          size == 16 ? number
                     : _mm256_add_epi8(_mm256_xor_si256(number, _mm256_set1_epi8((char)first)), _mm256_set1_epi8(0x70));
      for (Index b = 0; b < 4; ++b) {
        const __m128i entries = _mm_load_si128(reinterpret_cast<const __m128i*>(lookup.bytes[b] + first));
        const __m256i found = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(entries), index);
        plane[b] = first == 0 ? found : _mm256_or_si256(plane[b], found);
      }
    }
    const __m256i low[2] = {_mm256_unpacklo_epi8(plane[0], plane[1]), _mm256_unpackhi_epi8(plane[0], plane[1])};
    const __m256i high[2] = {_mm256_unpacklo_epi8(plane[2], plane[3]), _mm256_unpackhi_epi8(plane[2], plane[3])};
    for (Index h = 0; h < 2; ++h) {
      out[2 * h] = (wide::Vector<float>)_mm256_unpacklo_epi16(low[h], high[h]);
      out[2 * h + 1] = (wide::Vector<float>)_mm256_unpackhi_epi16(low[h], high[h]);
    }
  }
};

#else

template <class T>
constexpr Index place_of_lane(Index lane) {
  return lane;
}

template <class T, Index size>
struct ByteLookup : LookupByLoads<T, size> {
  using LookupByLoads<T, size>::LookupByLoads;
};

#if defined(__aarch64__)

/// The four bytes of a value are looked up one by one, and put together.
template <Index size>
struct ByteLookup<float, size> {
  uint8x16x4_t planes[4];

  ORDSVM_INLINE explicit ByteLookup(const Lookup<float>& lookup) {
    for (Index b = 0; b < 4; ++b)
      for (Index v = 0; v < 4; ++v) planes[b].val[v] = vld1q_u8(lookup.bytes[b] + 16 * v);
  }

  template <Index parts>
  ORDSVM_INLINE void find(const std::uint8_t* numbers, Index lane, wide::Vector<float>* out) const {
    static_assert(parts == 4);
    const uint8x16_t number = vld1q_u8(numbers + lane);
    uint8x16_t plane[4];
    for (Index b = 0; b < 4; ++b) {
      if constexpr (size == 16)
        plane[b] = vqtbl1q_u8(planes[b].val[0], number);
      else if constexpr (size == 32)
        plane[b] = vqtbl2q_u8({{planes[b].val[0], planes[b].val[1]}}, number);
      else
        plane[b] = vqtbl4q_u8(planes[b], number);
    }
    const uint8x16x2_t low = vzipq_u8(plane[0], plane[1]), high = vzipq_u8(plane[2], plane[3]);
    for (Index h = 0; h < 2; ++h) {
      const uint16x8x2_t both = vzipq_u16(vreinterpretq_u16_u8(low.val[h]), vreinterpretq_u16_u8(high.val[h]));
      out[2 * h] = (wide::Vector<float>)both.val[0];
      out[2 * h + 1] = (wide::Vector<float>)both.val[1];
    }
  }
};

#endif
#endif

}  // namespace ORDSVM_OWN
}  // namespace ordsvm::tiles
