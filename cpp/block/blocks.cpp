#include "blocks.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../simd.hpp"

namespace ordsvm::block {
namespace {

constexpr double sparse_below = 0.4;  // share of features that are not 0: from here on a dense row is as fast

}  // namespace

bool fits_tiles(const Features& features) {
  constexpr Index second_level_cache = 1 << 19;  // bytes that a tile may take where most of it is not looked at
  return features.density >= sparse_below || features.n_columns * lanes<float> * Index{4} <= second_level_cache;
}

template <class T>
TiledBlocks<T>::TiledBlocks(const RowSource& source, Workers& workers, bool keep)
    : source_(source), workers_(workers), features_(*source.features()), sparse_(features_.density < sparse_below) {
  if (!keep) return;
  const Index n = source.size(), tiles = n_tiles(n);
  OwnTile all{std::vector<T>(tiles * tile_size()), std::vector<T>(tiles * lanes<T>)};
  workers_.run([&](int thread) {
    const Share share(tiles, thread, workers_.size());
    for (Index t = share.begin; t < share.end; ++t)
      fill(
          std::min(lanes<T>, n - t * lanes<T>), [&](Index l) { return t * lanes<T> + l; },
          all.values.data() + t * tile_size(), all.norm.data() + t * lanes<T>);
  });
  if (sparse_) {
    std::vector<Index> everybody(n);
    std::iota(everybody.begin(), everybody.end(), Index{0});
    all_rows_ = pack(everybody);
  }
  all_ = std::move(all);
}

template <class T>
T TiledBlocks<T>::part_of_norm(T value) const {
  return features_.kernel.kind == KernelKind::laplacian ? std::abs(value) : value * value;
}

template <class T>
template <class Use>
void TiledBlocks<T>::read(Index i, Use use) const {
  if (!sparse_ && !all_.values.empty()) {
    const T* from = all_.values.data() + i / lanes<T> * tile_size() + i % lanes<T>;
    for (Index column = 0; column < features_.n_columns; ++column) use(column, from[column * lanes<T>]);
    return;
  }
  if (!all_rows_.starts.empty()) {
    for (Index p = all_rows_.starts[i]; p < all_rows_.starts[i + 1]; ++p) use(all_rows_.columns[p], all_rows_.values[p]);
    return;
  }
  thread_local std::vector<SampleIndex> columns;
  thread_local std::vector<double> values;
  columns.resize(features_.n_columns);
  values.resize(features_.n_columns);
  const Index count = source_.nonzeros(i, columns.data(), values.data());
  for (Index p = 0; p < count; ++p)
    if (values[p] != 0.0) use(columns[p], static_cast<T>(values[p]));
}

template <class T>
PackedRows<T> TiledBlocks<T>::pack(std::span<const Index> samples) const {
  PackedRows<T> rows;
  rows.count = static_cast<Index>(samples.size());
  rows.n_features = features_.n_columns;
  rows.norm.assign(samples.size(), T(0));
  if (sparse_)
    rows.starts.push_back(0);
  else
    rows.values.assign(samples.size() * features_.n_columns, T(0));
  for (Index r = 0; r < rows.count; ++r) {
    T* const dense = rows.values.data() + r * features_.n_columns;
    read(samples[r], [&](Index column, T value) {
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
void TiledBlocks<T>::fill(Index count, Number number, T* tile, T* norm) const {
  std::fill(tile, tile + tile_size(), T(0));
  std::fill(norm, norm + lanes<T>, T(0));
  for (Index lane = 0; lane < count; ++lane)
    read(number(lane), [&](Index column, T value) {
      tile[column * lanes<T> + lane] = value;
      norm[lane] += part_of_norm(value);
    });
}

template <class T>
void TiledBlocks<T>::add_part(std::span<const Index> rows, std::span<const double> weight, std::span<double> score,
                              const std::function<bool(int)>& stop) {
  const Index n = source_.size(), tiles = n_tiles(n);
  const PackedRows<T> packed = pack(rows);
  workers_.run([&](int thread) {
    const Share share(tiles, thread, workers_.size());
    OwnTile own;
    if (all_.values.empty()) own = {std::vector<T>(tile_size()), std::vector<T>(lanes<T>)};
    for (Index t = share.begin; t < share.end && !stop(thread); ++t) {
      const Index begin = t * lanes<T>, count = std::min(lanes<T>, n - begin);
      Tile<T> tile{all_.values.data() + t * tile_size(), all_.norm.data() + begin};
      if (all_.values.empty()) {
        fill(count, [&](Index l) { return begin + l; }, own.values.data(), own.norm.data());
        tile = own.tile();
      }
      double sums[lanes<T>] = {};
      block::add_product(features_.kernel, tile, packed, weight.data(), sums);
      for (Index l = 0; l < count; ++l) score[begin + l] += sums[l];
    }
  });
  values_computed_ += static_cast<double>(rows.size()) * n;
}

template <class T>
void TiledBlocks<T>::add_product(std::span<const Index> rows, std::span<const double> weight, std::span<double> score) {
  add_part(rows, weight, score, [](int) { return false; });
}

template <class T>
void TiledBlocks<T>::gram(std::span<const Index> samples, T* out, Index stride) {
  const Index count = static_cast<Index>(samples.size()), tiles = n_tiles(count);
  const PackedRows<T> packed = pack(samples);
  constexpr Index worth_threads = 512;  // samples
  const int n_threads = count < worth_threads ? 1 : workers_.size();
  const auto work = [&](int thread) {
    const Share share(tiles, thread, n_threads);
    OwnTile own{std::vector<T>(tile_size()), std::vector<T>(lanes<T>)};
    for (Index t = share.begin; t < share.end; ++t) {
      fill(
          std::min(lanes<T>, count - t * lanes<T>), [&](Index l) { return samples[t * lanes<T> + l]; },
          own.values.data(), own.norm.data());
      fill_values(features_.kernel, own.tile(), packed, 0, count, out + t * lanes<T>, stride);
    }
  };
  n_threads == 1 ? work(0) : workers_.run(work);
  values_computed_ += static_cast<double>(count) * count;
}

template <class T>
void CachedBlocks<T>::add_product(std::span<const Index> rows, std::span<const double> weight,
                                  std::span<double> score) {
  for (std::size_t r = 0; r < rows.size(); ++r)
    simd::add_row(score.data(), weight[r], cache_.pin(rows[r]).data(), static_cast<Index>(score.size()));
}

template <class T>
void CachedBlocks<T>::gram(std::span<const Index> samples, T* out, Index stride) {
  for (std::size_t p = 0; p < samples.size(); ++p) {
    const auto row = cache_.pin(samples[p]);
    for (std::size_t q = 0; q < samples.size(); ++q) out[p * stride + q] = row.data()[samples[q]];
  }
}

template class TiledBlocks<float>;
template class TiledBlocks<double>;
template class CachedBlocks<float>;
template class CachedBlocks<double>;

}  // namespace ordsvm::block
