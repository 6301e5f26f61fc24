#include "solvers/block/scans.hpp"

#include <limits>

#include "simd/vectors.hpp"

namespace ordsvm::block {
namespace {

using wide::load, wide::store, wide::Vector, wide::Whole, wide::width;

template <class T>
constexpr T infinity = std::numeric_limits<T>::infinity();

/// A running maximum in every lane, with positions.
template <class T>
struct Running {
  Vector<T> value;
  Vector<Whole<T>> at;

  ORDSVM_INLINE void start(T least) {
    value = Vector<T>{} + least;
    at = Vector<Whole<T>>{} - 1;
  }
  ORDSVM_INLINE void meet(const Vector<T>& other, const Vector<Whole<T>>& here) {
    const auto more = other > value;
    value = more ? other : value;
    at = more ? here : at;
  }
  /// The largest of all lanes, and a position that has it.
  ORDSVM_INLINE Best best() const { return halved<sizeof value>(value, at); }

 private:
  template <std::size_t bytes, class V, class W>
  static ORDSVM_INLINE Best halved(const V& values, const W& places) {
    if constexpr (bytes == 2 * sizeof(T)) {
      return values[1] > values[0] ? Best{values[1], places[1]} : Best{values[0], places[0]};
    } else {
      using Half [[gnu::vector_size(bytes / 2)]] = T;
      using HalfPlaces [[gnu::vector_size(bytes / 2)]] = Whole<T>;
      Half low, high;
      HalfPlaces low_at, high_at;
      std::memcpy(&low, &values, bytes / 2);
      std::memcpy(&high, reinterpret_cast<const char*>(&values) + bytes / 2, bytes / 2);
      std::memcpy(&low_at, &places, bytes / 2);
      std::memcpy(&high_at, reinterpret_cast<const char*>(&places) + bytes / 2, bytes / 2);
      const auto more = high > low;
      const Half most = more ? high : low;
      const HalfPlaces most_at = more ? high_at : low_at;
      return halved<bytes / 2>(most, most_at);
    }
  }
};

template <class T>
ORDSVM_INLINE void first_places(Vector<Whole<T>>& here) {
  for (Index l = 0; l < width<T>; ++l) here[l] = l;
}

template <class T>
ORDSVM_INLINE Reach find_reach(const Moves<T>& moves) {
  Running<T> rise, fall;  // fall: the maximum of score - fall
  rise.start(-infinity<T>);
  fall.start(-infinity<T>);
  Vector<Whole<T>> here;
  first_places<T>(here);
  for (Index p = 0; p < moves.count; p += width<T>, here += width<T>) {
    Vector<T> score, up, down;
    load(score, moves.score + p);
    load(up, moves.rise + p);
    load(down, moves.fall + p);
    rise.meet(up - score, here);
    fall.meet(score - down, here);
  }
  const Best up = rise.best(), down = fall.best();
  return {up.gain, up.at, -down.gain, down.at};
}

template <class T>
constexpr T min_curvature_share = sizeof(T) == sizeof(float) ? T(5e-7) : T(5e-13);  // below it a curvature is rounding

template <class T>
ORDSVM_INLINE Best find_down(const Moves<T>& moves, const Chosen<T>& chosen) {
  Running<T> best;
  best.start(T(0));
  Vector<Whole<T>> here;
  first_places<T>(here);
  for (Index p = 0; p < moves.count; p += width<T>, here += width<T>) {
    Vector<T> score, fall, row, together;
    load(score, moves.score + p);
    load(fall, moves.fall + p);
    load(row, chosen.row + p);
    load(together, chosen.diagonal + p);
    Vector<T> slope = chosen.slope - (fall - score);
    slope = slope > 0 ? slope : Vector<T>{};
    together += chosen.own_diagonal;
    const Vector<T> least = min_curvature_share<T> * together;
    Vector<T> curvature = together - 2 * row;
    curvature = curvature > least ? curvature : least;
    best.meet(slope * slope / curvature, here);
  }
  return best.best();
}

template <class T>
ORDSVM_INLINE Best find_second(const Moves<T>& moves, const Chosen<T>& chosen, T threshold, T penalty) {
  Running<T> best;
  best.start(T(0));
  Vector<Whole<T>> here;
  first_places<T>(here);
  const T own = chosen.own_diagonal + penalty, step = chosen.slope / own, inverse = T(1) / own;
  for (Index p = 0; p < moves.count; p += width<T>, here += width<T>) {
    Vector<T> score, rise, fall, cross, curvature;
    load(score, moves.score + p);
    load(rise, moves.rise + p);
    load(fall, moves.fall + p);
    load(cross, chosen.row + p);
    load(curvature, chosen.diagonal + p);
    cross += penalty;
    curvature += penalty;
    const Vector<T> base = threshold - score - cross * step;
    Vector<T> slope = base + rise, down = -(base + fall);
    slope = slope > down ? slope : down;
    slope = slope > 0 ? slope : Vector<T>{};
    const Vector<T> least = min_curvature_share<T> * curvature;
    curvature -= cross * cross * inverse;
    curvature = curvature > least ? curvature : least;
    best.meet(slope * slope / curvature, here);
  }
  return best.best();
}

template <class T>
ORDSVM_INLINE T rank_all(const Moves<T>& moves, Index stride, const T* threshold, Index n_thresholds, T* up, T* down) {
  Vector<T> most = Vector<T>{} - infinity<T>;
  for (Index p = 0; p < moves.count; p += width<T>) {
    Vector<T> highest = Vector<T>{} - infinity<T>, lowest = Vector<T>{} + infinity<T>, score, rise, fall;
    for (Index k = 0; k < n_thresholds; ++k) {
      load(rise, moves.rise + k * stride + p);
      load(fall, moves.fall + k * stride + p);
      rise += threshold[k];
      fall += threshold[k];
      highest = rise > highest ? rise : highest;
      lowest = fall < lowest ? fall : lowest;
    }
    load(score, moves.score + p);
    highest -= score;
    lowest = score - lowest;
    store(up + p, highest);
    store(down + p, lowest);
    most = highest > most ? highest : most;
    most = lowest > most ? lowest : most;
  }
  T result = most[0];
  for (Index l = 1; l < width<T>; ++l) result = most[l] > result ? most[l] : result;
  return result;
}

template <class T>
ORDSVM_INLINE void add_two_rows(T* score, T a, const T* row_a, T b, const T* row_b, Index count) {
  for (Index p = 0; p < count; p += width<T>) {
    Vector<T> value, x, y;
    load(value, score + p);
    load(x, row_a + p);
    load(y, row_b + p);
    value += a * x;
    value += b * y;
    store(score + p, value);
  }
}

template <class T>
ORDSVM_INLINE void add_four_rows(T* score, const double* weight, const T* const* rows, Index begin, Index end) {
  const T a = static_cast<T>(weight[0]), b = static_cast<T>(weight[1]), c = static_cast<T>(weight[2]),
          d = static_cast<T>(weight[3]);
  for (Index p = begin; p < end; p += width<T>) {
    Vector<T> value, x, y, z, w;
    load(value, score + p);
    load(x, rows[0] + p);
    load(y, rows[1] + p);
    load(z, rows[2] + p);
    load(w, rows[3] + p);
    value += a * x + b * y + c * z + d * w;
    store(score + p, value);
  }
}

template <class T>
ORDSVM_INLINE Index count_all_above(const T* values, Index count, T cut) {
  Vector<Whole<T>> found = {};
  for (Index p = 0; p < count; p += width<T>) {
    Vector<T> value;
    load(value, values + p);
    found -= value > cut;
  }
  Index total = 0;
  for (Index l = 0; l < width<T>; ++l) total += found[l];
  return total;
}

}  // namespace

ORDSVM_DISPATCH(Reach, reach, (const Moves<float>& moves), (moves)) { return find_reach(moves); }
ORDSVM_DISPATCH(Reach, reach, (const Moves<double>& moves), (moves)) { return find_reach(moves); }

ORDSVM_DISPATCH(Best, best_down, (const Moves<float>& moves, const Chosen<float>& chosen), (moves, chosen)) {
  return find_down(moves, chosen);
}
ORDSVM_DISPATCH(Best, best_down, (const Moves<double>& moves, const Chosen<double>& chosen), (moves, chosen)) {
  return find_down(moves, chosen);
}

ORDSVM_DISPATCH(Best, best_second,
                (const Moves<float>& moves, const Chosen<float>& chosen, float threshold, float penalty),
                (moves, chosen, threshold, penalty)) {
  return find_second(moves, chosen, threshold, penalty);
}
ORDSVM_DISPATCH(Best, best_second,
                (const Moves<double>& moves, const Chosen<double>& chosen, double threshold, double penalty),
                (moves, chosen, threshold, penalty)) {
  return find_second(moves, chosen, threshold, penalty);
}

ORDSVM_DISPATCH(float, rank,
                (const Moves<float>& moves, Index stride, const float* threshold, Index n_thresholds, float* up,
                 float* down),
                (moves, stride, threshold, n_thresholds, up, down)) {
  return rank_all(moves, stride, threshold, n_thresholds, up, down);
}
ORDSVM_DISPATCH(double, rank,
                (const Moves<double>& moves, Index stride, const double* threshold, Index n_thresholds, double* up,
                 double* down),
                (moves, stride, threshold, n_thresholds, up, down)) {
  return rank_all(moves, stride, threshold, n_thresholds, up, down);
}

ORDSVM_DISPATCH(void, add_two, (float* score, float a, const float* row_a, float b, const float* row_b, Index count),
                (score, a, row_a, b, row_b, count)) {
  add_two_rows(score, a, row_a, b, row_b, count);
}
ORDSVM_DISPATCH(void, add_two,
                (double* score, double a, const double* row_a, double b, const double* row_b, Index count),
                (score, a, row_a, b, row_b, count)) {
  add_two_rows(score, a, row_a, b, row_b, count);
}

ORDSVM_DISPATCH(void, add_four, (float* score, const double* weight, const float* const* rows, Index begin, Index end),
                (score, weight, rows, begin, end)) {
  add_four_rows(score, weight, rows, begin, end);
}
ORDSVM_DISPATCH(void, add_four,
                (double* score, const double* weight, const double* const* rows, Index begin, Index end),
                (score, weight, rows, begin, end)) {
  add_four_rows(score, weight, rows, begin, end);
}

ORDSVM_DISPATCH(Index, count_above, (const float* values, Index count, float cut), (values, count, cut)) {
  return count_all_above(values, count, cut);
}
ORDSVM_DISPATCH(Index, count_above, (const double* values, Index count, double cut), (values, count, cut)) {
  return count_all_above(values, count, cut);
}

}  // namespace ordsvm::block
