// A few numbers that are computed with at once, whatever the width of the registers: in one vector, or in several side by
// side. Only for files whose functions are dispatched by instruction set, or that do little with them.
#pragma once

#include "simd/vectors.hpp"

namespace ordsvm::wide {
inline namespace ORDSVM_OWN {

template <class W, int P>
struct Pack {
  static constexpr int size = P * static_cast<int>(sizeof(W)) <= bytes ? P : static_cast<int>(width<W>);
  static constexpr int count = P / size;
  using V [[gnu::vector_size(size * sizeof(W))]] = W;
  V parts[count];

  ORDSVM_INLINE Pack& operator+=(const Pack& other) { return *this = *this + other; }
  ORDSVM_INLINE Pack& operator+=(W shift) { return *this = *this + shift; }
  ORDSVM_INLINE Pack& operator*=(const Pack& other) { return *this = *this * other; }
  ORDSVM_INLINE Pack& operator*=(W factor) { return *this = *this * factor; }
  ORDSVM_INLINE Pack& operator/=(W divisor) { return *this = *this / divisor; }

#define ORDSVM_ON_PARTS(op)                                                     \
  friend ORDSVM_INLINE Pack operator op(const Pack& a, const Pack& b) {         \
    Pack result;                                                                \
    for (int k = 0; k < count; ++k) result.parts[k] = a.parts[k] op b.parts[k]; \
    return result;                                                              \
  }                                                                             \
  friend ORDSVM_INLINE Pack operator op(const Pack& a, W b) {                   \
    Pack result;                                                                \
    for (int k = 0; k < count; ++k) result.parts[k] = a.parts[k] op b;          \
    return result;                                                              \
  }                                                                             \
  friend ORDSVM_INLINE Pack operator op(W a, const Pack& b) {                   \
    Pack result;                                                                \
    for (int k = 0; k < count; ++k) result.parts[k] = a op b.parts[k];          \
    return result;                                                              \
  }
  ORDSVM_ON_PARTS(+)
  ORDSVM_ON_PARTS(-)
  ORDSVM_ON_PARTS(*)
  ORDSVM_ON_PARTS(/)
#undef ORDSVM_ON_PARTS

  friend ORDSVM_INLINE Pack larger(const Pack& a, const Pack& b) {
    Pack result;
    for (int k = 0; k < count; ++k) result.parts[k] = a.parts[k] > b.parts[k] ? a.parts[k] : b.parts[k];
    return result;
  }
  friend ORDSVM_INLINE Pack smaller(const Pack& a, const Pack& b) {
    Pack result;
    for (int k = 0; k < count; ++k) result.parts[k] = a.parts[k] < b.parts[k] ? a.parts[k] : b.parts[k];
    return result;
  }
  /// value where test > 0, else 0.
  friend ORDSVM_INLINE Pack where_positive(const Pack& test, const Pack& value) {
    Pack result;
    for (int k = 0; k < count; ++k) result.parts[k] = test.parts[k] > 0 ? value.parts[k] : V{};
    return result;
  }
};

template <class W, int P>
struct PackOrNumber {
  using Type = Pack<W, P>;
};
template <class W>
struct PackOrNumber<W, 1> {
  using Type = W;
};
/// A pack of P numbers, or the number itself.
template <class W, int P>
using Lanes = typename PackOrNumber<W, P>::Type;

// The functions of packs, for single numbers.
template <class W>
  requires std::is_floating_point_v<W>
ORDSVM_INLINE W larger(W a, W b) {
  return a > b ? a : b;
}
template <class W>
  requires std::is_floating_point_v<W>
ORDSVM_INLINE W smaller(W a, W b) {
  return a < b ? a : b;
}
template <class W>
  requires std::is_floating_point_v<W>
ORDSVM_INLINE W where_positive(W test, W value) {
  return test > 0 ? value : 0;
}

template <class V, class W>
ORDSVM_INLINE void load_pack(V& value, const W* from) {
  std::memcpy(&value, from, sizeof value);
}
template <class V, class W>
ORDSVM_INLINE void store_pack(W* to, const V& value) {
  std::memcpy(to, &value, sizeof value);
}

/// Whether one of them is not 0.
template <class V>
ORDSVM_INLINE bool any(const V& difference) {
  using Word = std::conditional_t<sizeof(V) % 8 == 0, std::uint64_t, std::uint32_t>;
  Word words[sizeof(V) / sizeof(Word)], all = 0;
  std::memcpy(words, &difference, sizeof words);
  for (const Word word : words) all |= word;
  return all != 0;
}

}  // namespace ORDSVM_OWN
}  // namespace ordsvm::wide
