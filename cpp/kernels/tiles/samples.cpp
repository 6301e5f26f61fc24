#include "kernels/tiles/samples.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "kernels/formula.hpp"

namespace ordsvm::tiles {
namespace {

constexpr Index transposed_at_once = 8;  // dense samples: a line of a cache is written at a time

}  // namespace

template <class T>
TiledSamples<T>::TiledSamples(const RowSource& source, ThreadPool& pool, bool keep)
    : source_(source), pool_(pool), features_(*source.features()), form_(form_of(features_)) {
  if (const auto most = longest_binary_row(source)) make_lookup(*most);
  if (!keep) return;
  TileSpace<T> kept = space(n_tiles());
  std::vector<Scratch<T>> scratch = scratches(pool_.size());
  pool_.run(pool_.n_tasks(), [&](int task, int thread) {
    const Share share(n_tiles(), task, pool_.n_tasks());
    for (Index t = share.begin; t < share.end; ++t) {
      const Index begin = t * lanes<T>;
      fill(std::min(lanes<T>, size() - begin), [&](Index lane) { return begin + lane; }, scratch[thread], kept, t);
    }
  });
  if (form_ == Form::sparse || form_ == Form::binary) {
    std::vector<Index> all(size());
    std::iota(all.begin(), all.end(), Index{0});
    rows_ = pack(all);
  }
  kept_ = std::move(kept);
  keeps_ = true;
}

/// Values of K for all numbers that occur, if they are few enough.
template <class T>
void TiledSamples<T>::make_lookup(Index longest) {
  lookup_.size = (is_distance(features_.kernel.kind) ? 2 * longest : longest) + 1;
  if (lookup_.size > max_lookup_size) return;
  form_ = Form::binary;
  std::fill_n(lookup_.values, max_lookup_size, T(0));
  for (Index number = 0; number < lookup_.size; ++number)
    lookup_.values[number] = static_cast<T>(value_of(features_.kernel, static_cast<double>(number)));
  complete(lookup_);
}

template <class T>
Index TiledSamples<T>::rows_at_a_time() const {
  constexpr double bytes = 1 << 24;
  return std::max<Index>(256, static_cast<Index>(bytes / (sizeof(T) * (row_length(features_) + 2.0))));
}

template <class T>
TileSpace<T> TiledSamples<T>::space(Index n_tiles) const {
  const Index n_lanes = n_tiles * lanes<T>, n_bytes = n_tiles * bytes_per_feature;
  TileSpace<T> made;
  if (form_ == Form::binary) {
    made.steps = Buffer<std::uint8_t>(n_bytes * features_.n_columns);
    made.starts = Buffer<std::uint8_t>(n_bytes);
  } else {
    made.values = Buffer<T>(n_lanes * features_.n_columns);
    made.norm = Buffer<T>(n_lanes);
  }
  return made;
}

template <class T>
Tile<T> TiledSamples<T>::view(const TileSpace<T>& space, Index t) const {
  if (form_ != Form::binary)
    return {space.values.data() + t * features_.n_columns * lanes<T>, space.norm.data() + t * lanes<T>, nullptr,
            nullptr, nullptr};
  const Index byte = t * bytes_per_feature;
  return {nullptr, nullptr, space.steps.data() + byte * features_.n_columns, space.starts.data() + byte, &lookup_};
}

template <class T>
Scratch<T> TiledSamples<T>::scratch() const {
  const Index n_columns = features_.n_columns;
  const bool dense = form_ == Form::differences || form_ == Form::norms;
  return {space(1), std::vector<T>(dense ? transposed_at_once * n_columns : 0), std::vector<SampleIndex>(n_columns),
          std::vector<double>(n_columns)};
}

template <class T>
std::vector<Scratch<T>> TiledSamples<T>::scratches(int count) const {
  std::vector<Scratch<T>> made;
  for (int t = 0; t < count; ++t) made.push_back(scratch());
  return made;
}

template <class T>
double TiledSamples<T>::part_of_norm(T value) const {
  if (form_ == Form::binary) return is_distance(features_.kernel.kind) ? 1.0 : 0.0;
  return ordsvm::part_of_norm(reduction_of(features_.kernel.kind), value);
}

/// use(column, value) for all features of sample i that are not 0.
template <class T>
template <class Use>
void TiledSamples<T>::read(Index i, Scratch<T>& scratch, Use use) const {
  if (!rows_.starts.empty()) {
    for (Index p = rows_.starts[i]; p < rows_.starts[i + 1]; ++p)
      use(rows_.columns[p], form_ == Form::binary ? T(1) : rows_.values[p]);
  } else if (keeps_) {
    const T* from = view(kept_, i / lanes<T>).values + i % lanes<T>;
    for (Index column = 0; column < features_.n_columns; ++column) use(column, from[column * lanes<T>]);
  } else {
    const Index count = source_.nonzeros(i, scratch.columns.data(), scratch.numbers.data());
    for (Index p = 0; p < count; ++p)
      if (scratch.numbers[p] != 0.0) use(scratch.columns[p], static_cast<T>(scratch.numbers[p]));
  }
}

template <class T>
PackedRows<T> TiledSamples<T>::pack(std::span<const Index> samples, bool alone) const {
  PackedRows<T> rows;
  rows.form = form_;
  rows.count = static_cast<Index>(samples.size());
  rows.n_features = features_.n_columns;
  if (form_ == Form::sparse || form_ == Form::binary)
    pack_lists(samples, rows);
  else
    pack_dense(samples, rows, alone);
  return rows;
}

template <class T>
void TiledSamples<T>::pack_lists(std::span<const Index> samples, PackedRows<T>& rows) const {
  Scratch<T> own = scratch();
  rows.starts.push_back(0);
  for (const Index i : samples) {
    double norm = 0.0;
    read(i, own, [&](Index column, T value) {
      norm += part_of_norm(value);
      rows.columns.push_back(static_cast<SampleIndex>(column));
      if (form_ == Form::sparse) rows.values.push_back(value);
    });
    rows.norm.push_back(static_cast<T>(norm));
    rows.starts.push_back(static_cast<Index>(rows.columns.size()));
  }
}

template <class T>
void TiledSamples<T>::pack_dense(std::span<const Index> samples, PackedRows<T>& rows, bool alone) const {
  constexpr std::size_t min_values_for_threads = 1 << 17;
  rows.values.assign(samples.size() * features_.n_columns, T(0));
  rows.norm.resize(samples.size());
  const int n_tasks = alone || rows.values.size() < min_values_for_threads ? 1 : pool_.n_tasks();
  pool_.run(n_tasks, [&](int task, int) {
    Scratch<T> own = scratch();
    const Share share(rows.count, task, n_tasks);
    for (Index r = share.begin; r < share.end; ++r) {
      T* const dense = rows.values.data() + r * features_.n_columns;
      double norm = 0.0;
      read(samples[r], own, [&](Index column, T value) {
        norm += part_of_norm(value);
        dense[column] = value;
      });
      rows.norm[r] = static_cast<T>(norm);
    }
  });
}

/// Tile t of `space` from samples number(0) .. number(count - 1).
template <class T>
template <class Number>
void TiledSamples<T>::fill(Index count, Number number, Scratch<T>& scratch, TileSpace<T>& space, Index t) const {
  if (form_ == Form::binary) return fill_binary(count, number, scratch, space, t);
  T* const values = space.values.data() + t * features_.n_columns * lanes<T>;
  T* const norms = space.norm.data() + t * lanes<T>;
  std::fill_n(values, features_.n_columns * lanes<T>, T(0));
  std::fill_n(norms, lanes<T>, T(0));
  if (form_ != Form::sparse) return fill_dense(count, number, scratch, values, norms);
  for (Index lane = 0; lane < count; ++lane) {
    double norm = 0.0;
    read(number(lane), scratch, [&](Index column, T value) {
      values[column * lanes<T> + lane] = value;
      norm += part_of_norm(value);
    });
    norms[lane] = static_cast<T>(norm);
  }
}

template <class T>
template <class Number>
void TiledSamples<T>::fill_dense(Index count, Number number, Scratch<T>& scratch, T* values, T* norms) const {
  if (keeps_) return gather_dense(count, number, values, norms);
  const Index n_columns = features_.n_columns;
  for (Index first = 0; first < count; first += transposed_at_once) {
    const Index some = std::min(transposed_at_once, count - first);
    std::fill(scratch.rows.begin(), scratch.rows.end(), T(0));
    for (Index s = 0; s < some; ++s) {
      double norm = 0.0;
      read(number(first + s), scratch, [&](Index column, T value) {
        scratch.rows[s * n_columns + column] = value;
        norm += part_of_norm(value);
      });
      norms[first + s] = static_cast<T>(norm);
    }
    for (Index column = 0; column < n_columns; ++column)
      for (Index s = 0; s < some; ++s) values[column * lanes<T> + first + s] = scratch.rows[s * n_columns + column];
  }
}

/// From tiles that are kept: a feature of all samples at a time, as neighbours lie in the same lines of memory.
template <class T>
template <class Number>
void TiledSamples<T>::gather_dense(Index count, Number number, T* values, T* norms) const {
  const T* from[lanes<T>];
  for (Index lane = 0; lane < count; ++lane) {
    const Tile<T> tile = view(kept_, number(lane) / lanes<T>);
    const Index place = number(lane) % lanes<T>;
    from[lane] = tile.values + place;
    norms[lane] = tile.norm[place];
  }
  for (Index at = 0; at < features_.n_columns * lanes<T>; at += lanes<T>)
    for (Index lane = 0; lane < count; ++lane) values[at + lane] = from[lane][at];
}

/// A distance is |x| + |y|, less 2 for each feature in common.
template <class T>
template <class Number>
void TiledSamples<T>::fill_binary(Index count, Number number, Scratch<T>& scratch, TileSpace<T>& space, Index t) const {
  std::uint8_t* const steps = space.steps.data() + t * features_.n_columns * bytes_per_feature;
  std::uint8_t* const starts = space.starts.data() + t * bytes_per_feature;
  std::fill_n(steps, features_.n_columns * bytes_per_feature, std::uint8_t(0));
  std::fill_n(starts, bytes_per_feature, std::uint8_t(0));
  const bool distance = is_distance(features_.kernel.kind);
  for (Index lane = 0; lane < count; ++lane) {
    const Index place = lookup_.place[lane];
    read(number(lane), scratch, [&](Index column, T) {
      steps[column * bytes_per_feature + place] = distance ? 256 - 2 : 1;
      starts[place] += distance;
    });
  }
}

template <class T>
Tile<T> TiledSamples<T>::tile(std::span<const Index> samples, Scratch<T>& scratch) const {
  fill(static_cast<Index>(samples.size()), [&](Index lane) { return samples[lane]; }, scratch, scratch.tile, 0);
  return view(scratch.tile, 0);
}

template <class T>
Tile<T> TiledSamples<T>::tile(Index t, Scratch<T>& scratch) const {
  if (keeps_) return view(kept_, t);
  const Index begin = t * lanes<T>;
  fill(std::min(lanes<T>, size() - begin), [&](Index lane) { return begin + lane; }, scratch, scratch.tile, 0);
  return view(scratch.tile, 0);
}

template class TiledSamples<float>;
template class TiledSamples<double>;

}  // namespace ordsvm::tiles
