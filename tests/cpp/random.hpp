// Random numbers that are the same on every machine.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace ordsvm {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// 0 <= value < count
  std::int64_t index(std::int64_t count) { return static_cast<std::int64_t>(engine_() % count); }
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11) / static_cast<double>(1ULL << 53);
  }
  bool chance(double probability) { return uniform(0.0, 1.0) < probability; }

  /// One of few values, so that ties are frequent; sums and differences of them are exact.
  double quantized() { return 0.25 * static_cast<double>(index(9) - 4); }

  template <class T = double>
  std::vector<T> uniforms(std::int64_t count, double low, double high) {
    std::vector<T> values(count);
    for (T& value : values) value = static_cast<T>(uniform(low, high));
    return values;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace ordsvm
