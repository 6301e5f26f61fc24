// The vector loops against plain ones.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "check.hpp"
#include "random.hpp"
#include "simd/instruction_set.hpp"
#include "simd/loops.hpp"

namespace ordsvm {
namespace {

#ifndef _WIN32
TEST(the_instruction_set_is_chosen_once) {
  const InstructionSet before = instruction_set();
  const char* const variable = std::getenv("ORDSVM_ISA");
  const std::string value = variable ? variable : "";
  for (const char* const later : {"baseline", "none"}) {
    setenv("ORDSVM_ISA", later, 1);
    choose_instruction_set();
    CHECK(instruction_set() == before);
  }
  value.empty() ? unsetenv("ORDSVM_ISA") : setenv("ORDSVM_ISA", value.c_str(), 1);
}
#endif

constexpr double infinity = std::numeric_limits<double>::infinity();
// Around the widths of vectors (4 and 8) and of chunks (128).
const std::vector<Index> sizes = {0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 127, 128, 129, 1000};

// exponential

double relative_error_of_exponential(double y) {
  double value = y;
  simd::exponential(1.0, &value, 1);
  const long double exact = std::exp(static_cast<long double>(y));
  return static_cast<double>(std::abs(value - exact) / exact);
}

TEST(exponential_is_exact_to_4e_16_over_its_range) {
  double worst = 0.0;
  for (Index step = 0; step <= 140000; ++step)
    worst = std::max(worst, relative_error_of_exponential(-700.0 + 0.01 * static_cast<double>(step)));
  Random random(1);
  for (const double scale : {1e-300, 1e-17, 1e-8, 1e-3, 0.35, 1.0, 30.0, 700.0})
    for (int trial = 0; trial < 3000; ++trial)
      worst = std::max(worst, relative_error_of_exponential(random.uniform(-scale, scale)));
  constexpr bool is_wider = std::numeric_limits<long double>::digits > std::numeric_limits<double>::digits;
  CHECK(worst < (is_wider ? 4e-16 : 7e-16));  // where it is double, the library's exponential is off as well
}

TEST(exponential_agrees_with_the_standard_library) {
  Random random(2);
  double worst = 0.0;
  for (int trial = 0; trial < 20000; ++trial) {
    const double y = random.uniform(-700.0, 0.0), expected = std::exp(y);
    double value = y;
    simd::exponential(1.0, &value, 1);
    worst = std::max(worst, std::abs(value - expected) / expected);
  }
  CHECK(worst < 5e-16);  // both may be wrong by half an ulp and more
}

TEST(exponential_in_float_is_exact_to_2e_7_and_clamps_its_argument) {
  double worst = 0.0;
  for (Index step = 0; step <= 17400; ++step) {
    float value = -87.0f + 0.01f * static_cast<float>(step);
    const double exact = std::exp(static_cast<double>(value));
    simd::exponential(1.0f, &value, 1);
    worst = std::max(worst, std::abs(value - exact) / exact);
  }
  CHECK(worst < 2e-7);
  float values[] = {-87.0f, -1e30f, -std::numeric_limits<float>::infinity(), 0.0f};
  simd::exponential(1.0f, values, 4);
  CHECK(values[1] == values[0] && values[2] == values[0] && std::isnormal(values[0]));
  CHECK(values[3] == 1.0f);
}

TEST(exponential_of_what_is_no_number_is_none) {
  double values[] = {std::numeric_limits<double>::quiet_NaN(), 0.0, 0.0, 0.0, 0.0};
  float floats[] = {std::numeric_limits<float>::quiet_NaN(), 0.0f, 0.0f, 0.0f, 0.0f};
  simd::exponential(1.0, values, 5);
  simd::exponential(1.0f, floats, 5);
  CHECK(std::isnan(values[0]) && values[1] == 1.0);
  CHECK(std::isnan(floats[0]) && floats[1] == 1.0f);
}

TEST(exponential_of_zero_is_one) {
  double values[] = {0.0, -0.0};
  simd::exponential(-0.7, values, 2);
  CHECK(values[0] == 1.0);
  CHECK(values[1] == 1.0);
}

TEST(exponential_clamps_its_argument) {
  double values[] = {-700.0, -700.1, -745.2, -1e6, -1e300, -infinity, 700.0, 701.0, 1e300, infinity};
  simd::exponential(1.0, values, 10);
  for (int j = 1; j < 6; ++j) CHECK(values[j] == values[0]);
  for (int j = 7; j < 10; ++j) CHECK(values[j] == values[6]);
  CHECK(std::abs(values[0] / std::exp(-700.0) - 1.0) < 5e-16);
  CHECK(std::abs(values[6] / std::exp(700.0) - 1.0) < 5e-16);
  CHECK(std::isnormal(values[0]));
}

TEST(exponential_multiplies_by_the_factor_and_keeps_to_its_length) {
  Random random(3);
  for (const Index n : sizes) {
    const check::Context here("n = " + std::to_string(n));
    const std::vector<double> before = random.uniforms(n + 3, 0.0, 5.0);
    std::vector<double> after = before;
    simd::exponential(-0.37, after.data(), n);
    double worst = 0.0;
    for (Index j = 0; j < n; ++j) {
      const double expected = std::exp(-0.37 * before[j]);
      worst = std::max(worst, std::abs(after[j] - expected) / expected);
    }
    CHECK(worst < 5e-16);
    for (Index j = n; j < n + 3; ++j) CHECK(after[j] == before[j]);
  }
}

// reduce_tiles, convert

double term(simd::Reduction reduction, double a, double x) {
  if (reduction == simd::Reduction::dot) return a * x;
  return reduction == simd::Reduction::manhattan ? std::abs(a - x) : (a - x) * (a - x);
}

/// Largest error of reduce_tiles, in units of the sum of the terms' sizes.
template <class T>
double error_of_reduction(simd::Reduction reduction, Random& random, Index n_tiles, Index n_features) {
  const std::vector<T> tiles = random.uniforms<T>(n_tiles * n_features * simd::lanes, -2.0, 2.0);
  const std::vector<double> x = random.uniforms(n_features, -2.0, 2.0);
  std::vector<double> out(n_tiles * simd::lanes + 1, -77.0);
  simd::reduce_tiles(reduction, tiles.data(), x.data(), n_tiles, n_features, out.data());
  CHECK(out.back() == -77.0);  // nothing written behind the tiles
  double worst = 0.0;
  for (Index j = 0; j < n_tiles * simd::lanes; ++j) {
    double expected = 0.0, size = 1e-300;
    for (Index feature = 0; feature < n_features; ++feature) {
      const T value = tiles[(j / simd::lanes * n_features + feature) * simd::lanes + j % simd::lanes];
      expected += term(reduction, value, x[feature]);
      size += std::abs(term(reduction, value, x[feature]));
    }
    worst = std::max(worst, std::abs(out[j] - expected) / size);
  }
  return worst;
}

TEST(reductions_agree_with_plain_loops) {
  Random random(4);
  for (const auto reduction : {simd::Reduction::dot, simd::Reduction::squared_distance, simd::Reduction::manhattan})
    for (const Index n_tiles : {0, 1, 2, 5})
      for (const Index n_features : {0, 1, 2, 3, 7, 16, 33}) {
        const check::Context here("reduction " + std::to_string(static_cast<int>(reduction)) + ", " +
                                  std::to_string(n_tiles) + " tiles, " + std::to_string(n_features) + " features");
        CHECK(error_of_reduction<double>(reduction, random, n_tiles, n_features) < 1e-14);
        CHECK(error_of_reduction<float>(reduction, random, n_tiles, n_features) < 1e-14);
      }
}

TEST(reduced_distance_of_a_sample_to_itself_is_zero) {
  Random random(5);
  const Index n_features = 7;
  const std::vector<float> tile = random.uniforms<float>(n_features * simd::lanes, -2.0, 2.0);
  for (Index lane = 0; lane < simd::lanes; ++lane) {
    std::vector<double> x(n_features), out(simd::lanes);
    for (Index feature = 0; feature < n_features; ++feature) x[feature] = tile[feature * simd::lanes + lane];
    for (const auto reduction : {simd::Reduction::squared_distance, simd::Reduction::manhattan}) {
      simd::reduce_tiles(reduction, tile.data(), x.data(), 1, n_features, out.data());
      CHECK(out[lane] == 0.0);
    }
  }
}

TEST(conversion_rounds_like_a_cast) {
  Random random(6);
  for (const Index n : sizes) {
    const std::vector<double> values = random.uniforms(n, -1e3, 1e3);
    std::vector<float> narrow(n + 1, -77.0f);
    std::vector<double> wide(n + 1, -77.0);
    simd::convert(values.data(), narrow.data(), n);
    simd::convert(values.data(), wide.data(), n);
    Index wrong = 0;
    for (Index j = 0; j < n; ++j) wrong += narrow[j] != static_cast<float>(values[j]) || wide[j] != values[j];
    CHECK(wrong == 0);
    CHECK(narrow[n] == -77.0f && wide[n] == -77.0);
  }
}

// add_row, add_rows

template <class T>
struct Addition {
  std::vector<double> before;
  std::vector<T> plus, minus;
  double delta;

  Addition(Random& random, Index n)
      : before(random.uniforms(n + 2, -3.0, 3.0)),
        plus(random.uniforms<T>(n, -1.0, 1.0)),
        minus(random.uniforms<T>(n, -1.0, 1.0)),
        delta(random.uniform(-2.0, 2.0)) {}

  Index n() const { return static_cast<Index>(plus.size()); }

  /// `after` is before + delta * (plus - factor * minus) as far as there are rows, and before behind them.
  void check(const std::vector<double>& after, double factor) const {
    double worst = 0.0;
    for (Index j = 0; j < n(); ++j) {
      const double change = delta * (static_cast<double>(plus[j]) - factor * static_cast<double>(minus[j]));
      worst = std::max(worst, std::abs(after[j] - (before[j] + change)));
    }
    CHECK(worst <= 4e-15);
    CHECK(std::equal(after.begin() + n(), after.end(), before.begin() + n()));
  }
};

TEST(rows_are_added_to_scores) {
  Random random(7);
  for (const Index n : sizes) {
    const check::Context here("n = " + std::to_string(n));
    const Addition<double> addition(random, n);
    std::vector<double> one = addition.before, two = addition.before;
    simd::add_row(one.data(), addition.delta, addition.plus.data(), n);
    simd::add_rows(two.data(), addition.delta, addition.plus.data(), addition.minus.data(), n);
    addition.check(one, 0.0);
    addition.check(two, 1.0);
  }
}

/// The first n are the scores rounded to float; the others are untouched.
bool follows(const std::vector<float>& rounded, const std::vector<double>& score, Index n) {
  for (Index j = 0; j < static_cast<Index>(rounded.size()); ++j)
    if (rounded[j] != (j < n ? static_cast<float>(score[j]) : -77.0f)) return false;
  return true;
}

TEST(float_rows_are_added_to_scores_and_rounded_ones_follow) {
  Random random(17);
  for (const Index n : sizes) {
    const check::Context here("n = " + std::to_string(n));
    const Addition<float> addition(random, n);
    std::vector<double> one = addition.before, two = addition.before;
    std::vector<float> one_rounded(n + 2, -77.0f), two_rounded(n + 2, -77.0f);
    simd::add_row(one.data(), one_rounded.data(), addition.delta, addition.plus.data(), n);
    simd::add_rows(two.data(), two_rounded.data(), addition.delta, addition.plus.data(), addition.minus.data(), n);
    addition.check(one, 0.0);
    addition.check(two, 1.0);
    CHECK(follows(one_rounded, one, n));
    CHECK(follows(two_rounded, two, n));
  }
}

// extremes, best_partner, longest_projection

/// A random table for one threshold: hinges on some of the samples, a few of them closed (infinite).
template <class T>
struct Levels {
  static constexpr T infinity = std::numeric_limits<T>::infinity();
  std::vector<T> score, up, low, diagonal, row, shift, rise, fall;
  std::vector<SampleIndex> sample;  // used if the range is gathered
  Index base;                       // used if it is consecutive

  Levels(Random& random, Index count, bool ties, double closed) : base(random.index(20)) {
    const auto draw = [&] { return static_cast<T>(ties ? random.quantized() : random.uniform(-1.0, 1.0)); };
    for (Index i = 0; i < base + count + 5; ++i) {
      score.push_back(draw());
      diagonal.push_back(std::abs(draw()));
      row.push_back(draw());
    }
    for (Index v = 0; v < count; ++v) {
      sample.push_back(static_cast<SampleIndex>(random.index(static_cast<Index>(score.size()))));
      up.push_back(random.chance(closed) ? infinity : draw());
      low.push_back(random.chance(closed) ? -infinity : draw());
      shift.push_back(draw());
      rise.push_back(random.chance(closed) ? T(0) : std::abs(draw()));
      fall.push_back(random.chance(closed) ? T(0) : std::abs(draw()));
    }
  }

  Index count() const { return static_cast<Index>(up.size()); }
  Index sample_of(bool gather, Index v) const { return gather ? sample[v] : base + v; }
  simd::Range<T> range(bool gather) const {
    return {score.data(), samples(gather), gather ? 0 : base, up.data(), low.data(), count()};
  }
  simd::BoxDistances<T> box(bool gather) const {
    return {score.data(), samples(gather), gather ? 0 : base, shift.data(), rise.data(), fall.data(), count()};
  }

 private:
  const SampleIndex* samples(bool gather) const {
    static const SampleIndex nothing = 0;  // gathered ranges have an address, empty ones too
    if (!gather) return nullptr;
    return sample.empty() ? &nothing : sample.data();
  }
};

template <class T>
simd::Extremes plain_extremes(const Levels<T>& levels, bool gather) {
  simd::Extremes best{infinity, -1, -infinity, -1};
  for (Index v = 0; v < levels.count(); ++v) {
    const T score = levels.score[levels.sample_of(gather, v)];
    const T up = score + levels.up[v], low = score + levels.low[v];
    if (up < best.up) best.up = up, best.up_at = v;
    if (low > best.low) best.low = low, best.low_at = v;
  }
  return best;
}

template <class T>
simd::Partner plain_partner(const Levels<T>& levels, bool gather, const simd::Anchor<T>& anchor) {
  constexpr T least_share = sizeof(T) == sizeof(float) ? T(5e-7) : T(5e-13);
  simd::Partner best{0.0, -1};
  for (Index v = 0; v < levels.count(); ++v) {
    const Index i = levels.sample_of(gather, v);
    const T slope = std::max(anchor.level - (levels.score[i] + levels.up[v]), T(0));
    const T together = anchor.own_diagonal + anchor.diagonal[i];
    const T gain = slope * slope / std::max(together - 2 * anchor.row[i], least_share * together);
    if (gain > best.gain) best = {gain, v};
  }
  return best;
}

template <class T>
void check_extremes(const Levels<T>& levels, bool gather) {
  const simd::Extremes expected = plain_extremes(levels, gather), found = simd::extremes(levels.range(gather));
  CHECK(found.up == expected.up);
  CHECK(found.up_at == expected.up_at);
  CHECK(found.low == expected.low);
  CHECK(found.low_at == expected.low_at);
}

template <class T>
void check_partner(const Levels<T>& levels, bool gather, double level, double own_diagonal) {
  const simd::Anchor<T> anchor{static_cast<T>(level), static_cast<T>(own_diagonal), levels.row.data(),
                               levels.diagonal.data()};
  const simd::Partner expected = plain_partner(levels, gather, anchor);
  const simd::Partner found = simd::best_partner(levels.range(gather), anchor);
  CHECK(found.gain == expected.gain);
  CHECK(found.at == expected.at);
}

template <class T>
simd::Largest plain_longest(const Levels<T>& levels, bool gather, T threshold) {
  simd::Largest best{-1.0, -1};
  for (Index v = 0; v < levels.count(); ++v) {
    const T step = threshold - (levels.score[levels.sample_of(gather, v)] + levels.shift[v]);
    const double length = std::abs(std::clamp(step, -levels.fall[v], levels.rise[v]));
    if (length > best.size) best = {length, v};
  }
  return best;
}

template <class T>
void check_longest(const Levels<T>& levels, bool gather, double threshold) {
  const simd::Largest expected = plain_longest(levels, gather, static_cast<T>(threshold));
  const simd::Largest found = simd::longest_projection(levels.box(gather), static_cast<T>(threshold));
  CHECK(found.size == expected.size);
  CHECK(found.at == expected.at);
}

/// `function(random, levels, gather)` for ranges of all sizes.
template <class T, class Function>
void for_random_levels(Function function) {
  Random random(8);
  for (const Index count : sizes)
    for (const bool ties : {false, true})
      for (const double closed : {0.0, 0.5, 0.97, 1.0})
        for (int trial = 0; trial < 5; ++trial) {
          const Levels<T> levels(random, count, ties, closed);
          for (const bool gather : {false, true}) {
            const check::Context here(std::to_string(count) + " hinges" + (ties ? ", ties" : "") +
                                      (gather ? ", gathered" : ", consecutive") + ", closed " + std::to_string(closed));
            function(random, levels, gather);
          }
        }
}

TEST(extremes_agree_with_brute_force) {
  const auto check = [](Random&, const auto& levels, bool gather) { check_extremes(levels, gather); };
  for_random_levels<float>(check);
  for_random_levels<double>(check);
}

TEST(best_partner_agrees_with_brute_force) {
  const auto check = [](Random& random, const auto& levels, bool gather) {
    for (const double level : {random.quantized(), random.uniform(-2.0, 2.0), -10.0, 10.0}) {
      check_partner(levels, gather, level, std::abs(random.quantized()));
      check_partner(levels, gather, level, random.uniform(0.0, 1.0));
    }
  };
  for_random_levels<float>(check);
  for_random_levels<double>(check);
}

TEST(longest_projection_agrees_with_brute_force) {
  const auto check = [](Random& random, const auto& levels, bool gather) {
    for (const double threshold : {random.quantized(), random.uniform(-2.0, 2.0), -10.0, 10.0})
      check_longest(levels, gather, threshold);
  };
  for_random_levels<float>(check);
  for_random_levels<double>(check);
}

template <class T>
void check_first_wins(Index first) {
  const Index count = 300;
  const std::vector<T> score(count, 1), diagonal(count, 1), row(count, 0);
  std::vector<T> up(count, Levels<T>::infinity), low(count, -Levels<T>::infinity);
  for (Index v = first; v < count; v += 1 + first % 3) up[v] = low[v] = T(0.5);
  const simd::Range<T> range{score.data(), nullptr, 0, up.data(), low.data(), count};
  const simd::Extremes found = simd::extremes(range);
  CHECK(found.up == 1.5 && found.up_at == first);
  CHECK(found.low == 1.5 && found.low_at == first);
  const simd::Partner partner = simd::best_partner(range, simd::Anchor<T>{T(3.5), 1, row.data(), diagonal.data()});
  CHECK(partner.gain == 2.0 && partner.at == first);
  std::vector<T> rise(count, 0);
  for (Index v = first; v < count; v += 1 + first % 3) rise[v] = T(0.5);
  const simd::BoxDistances<T> box{score.data(), nullptr, 0, row.data(), rise.data(), rise.data(), count};
  const simd::Largest longest = simd::longest_projection(box, T(3));
  CHECK(longest.size == 0.5 && longest.at == first);
}

TEST(first_of_equal_levels_wins_in_every_place) {
  for (const Index first : {0, 1, 7, 8, 15, 16, 126, 127, 128, 129, 255, 256, 298, 299}) {
    const check::Context here("first = " + std::to_string(first));
    check_first_wins<float>(first);
    check_first_wins<double>(first);
  }
}

}  // namespace
}  // namespace ordsvm
