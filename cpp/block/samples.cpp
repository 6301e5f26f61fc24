#include "samples.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ordsvm::block {
namespace {

constexpr double sparse_below = 0.4;  // share of features that are not 0: from here on a dense row is as fast

}  // namespace

bool fits_tiles(const RowSource& source) {
  constexpr Index second_level_cache = 1 << 19;  // bytes
  const auto features = source.features();
  return features && (features->density >= sparse_below ||
                      features->n_columns * lanes<float> * static_cast<Index>(sizeof(float)) <= second_level_cache);
}

bool suits(const RowSource& source) {
  return source.is_stored() || (fits_tiles(source) && source.features()->kernel.kind != KernelKind::sigmoid);
}

double roundings(const RowSource& source) {
  const auto features = source.features();
  const bool norms = features && features->density < sparse_below;
  return 4.0 + (features ? std::sqrt(features->n_columns) : 0.0) + (norms ? features->rounding_of_norms() : 0.0);
}

double row_length(const Features& features) {
  return features.n_columns * (features.density < sparse_below ? features.density : 1.0);
}

template <class T>
Samples<T>::Samples(const RowSource& source, Crew& crew, bool keep)
    : source_(source), crew_(crew), features_(*source.features()), sparse_(features_.density < sparse_below) {
  if (!keep) return;
  std::vector<T> values(n_tiles() * tile_size()), norm(n_tiles() * lanes<T>);
  std::vector<Scratch<T>> scratch = scratches();
  crew_.run(crew_.n_tasks(), [&](int task, int thread) {
    const Share share(n_tiles(), task, crew_.n_tasks());
    for (Index t = share.begin; t < share.end; ++t) {
      const Index begin = t * lanes<T>;
      fill(
          std::min(lanes<T>, size() - begin), [&](Index lane) { return begin + lane; }, scratch[thread],
          values.data() + t * tile_size(), norm.data() + begin);
    }
  });
  if (sparse_) {
    std::vector<Index> everybody(size());
    std::iota(everybody.begin(), everybody.end(), Index{0});
    rows_ = pack(everybody);
  }
  values_ = std::move(values);
  norm_ = std::move(norm);
}

template <class T>
Index Samples<T>::rows_at_a_time() const {
  constexpr double bytes = 1 << 23;
  return std::max<Index>(256, static_cast<Index>(bytes / (sizeof(T) * (row_length(features_) + 2.0))));
}

template <class T>
Scratch<T> Samples<T>::scratch() const {
  return {std::vector<T>(tile_size()), std::vector<T>(lanes<T>), std::vector<SampleIndex>(features_.n_columns),
          std::vector<double>(features_.n_columns)};
}

template <class T>
T Samples<T>::part_of_norm(T value) const {
  return features_.kernel.kind == KernelKind::laplacian ? std::abs(value) : value * value;
}

/// use(column, value) for all features of sample i that are not 0.
template <class T>
template <class Use>
void Samples<T>::read(Index i, Scratch<T>& scratch, Use use) const {
  if (rows_.sparse()) {
    for (Index p = rows_.starts[i]; p < rows_.starts[i + 1]; ++p) use(rows_.columns[p], rows_.values[p]);
  } else if (!values_.empty()) {
    const T* from = values_.data() + i / lanes<T> * tile_size() + i % lanes<T>;
    for (Index column = 0; column < features_.n_columns; ++column) use(column, from[column * lanes<T>]);
  } else {
    const Index count = source_.nonzeros(i, scratch.columns.data(), scratch.numbers.data());
    for (Index p = 0; p < count; ++p)
      if (scratch.numbers[p] != 0.0) use(scratch.columns[p], static_cast<T>(scratch.numbers[p]));
  }
}

template <class T>
PackedRows<T> Samples<T>::pack(std::span<const Index> samples) const {
  PackedRows<T> rows;
  rows.count = static_cast<Index>(samples.size());
  rows.n_features = features_.n_columns;
  rows.norm.assign(samples.size(), T(0));
  if (sparse_)
    rows.starts.push_back(0);
  else
    rows.values.assign(samples.size() * features_.n_columns, T(0));
  Scratch<T> own = scratch();
  for (Index r = 0; r < rows.count; ++r) {
    T* const dense = rows.values.data() + r * features_.n_columns;
    read(samples[r], own, [&](Index column, T value) {
      rows.norm[r] += part_of_norm(value);
      if (sparse_) {
        rows.values.push_back(value);
        rows.columns.push_back(static_cast<SampleIndex>(column));
      } else {
        dense[column] = value;
      }
    });
    if (sparse_) rows.starts.push_back(static_cast<Index>(rows.values.size()));
  }
  return rows;
}

template <class T>
template <class Number>
void Samples<T>::fill(Index count, Number number, Scratch<T>& scratch, T* tile, T* norm) const {
  std::fill(tile, tile + tile_size(), T(0));
  std::fill(norm, norm + lanes<T>, T(0));
  for (Index lane = 0; lane < count; ++lane)
    read(number(lane), scratch, [&](Index column, T value) {
      tile[column * lanes<T> + lane] = value;
      norm[lane] += part_of_norm(value);
    });
}

template <class T>
Tile<T> Samples<T>::tile(std::span<const Index> samples, Scratch<T>& scratch) const {
  fill(
      static_cast<Index>(samples.size()), [&](Index lane) { return samples[lane]; }, scratch, scratch.values.data(),
      scratch.norm.data());
  return {scratch.values.data(), scratch.norm.data()};
}

template <class T>
Tile<T> Samples<T>::tile(Index t, Scratch<T>& scratch) const {
  const Index begin = t * lanes<T>;
  if (!values_.empty()) return {values_.data() + t * tile_size(), norm_.data() + begin};
  fill(
      std::min(lanes<T>, size() - begin), [&](Index lane) { return begin + lane; }, scratch, scratch.values.data(),
      scratch.norm.data());
  return {scratch.values.data(), scratch.norm.data()};
}

template class Samples<float>;
template class Samples<double>;

}  // namespace ordsvm::block
