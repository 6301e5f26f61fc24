// Samples as tiles and as packed rows, from a source of kernel rows that has features.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "kernels/row_source.hpp"
#include "kernels/tiles/tiles.hpp"
#include "parallel/thread_pool.hpp"

namespace ordsvm::tiles {

inline constexpr double min_kept_row_length = 24.0;  // features from which on a row is kept, not made again

/// Memory of tiles, one after another, so that no vector of them lies across two lines of a cache.
template <class T>
struct TileSpace {
  Buffer<T> values{0}, norm{0};
  Buffer<std::uint8_t> steps{0}, starts{0};
};

/// Where a thread makes a tile.
template <class T>
struct Scratch {
  TileSpace<T> tile;
  std::vector<T> rows;  // a few dense ones
  std::vector<SampleIndex> columns;
  std::vector<double> numbers;
};

template <class T>
class TiledSamples {
 public:
  /// Tiles of all samples are made once if `keep` is set, else at every use.
  TiledSamples(const RowSource& source, ThreadPool& pool, bool keep);

  Index size() const { return source_.size(); }
  Index n_tiles() const { return tiles_for(size()); }
  static Index tiles_for(Index count) { return (count + lanes<T> - 1) / lanes<T>; }
  const Kernel& kernel() const { return features_.kernel; }
  const Features& features() const { return features_; }
  Form form() const { return form_; }
  /// As many rows as are packed at a time.
  Index rows_at_a_time() const;
  Scratch<T> scratch() const;
  /// One for each of `count` threads.
  std::vector<Scratch<T>> scratches(int count) const;

  PackedRows<T> pack(std::span<const Index> samples) const;
  /// The tile of these samples, at most as many as there are lanes.
  Tile<T> tile(std::span<const Index> samples, Scratch<T>& scratch) const;
  /// Tile t of all samples.
  Tile<T> tile(Index t, Scratch<T>& scratch) const;

 private:
  double part_of_norm(T value) const;
  void make_lookup(Index longest);
  TileSpace<T> space(Index n_tiles) const;
  Tile<T> view(const TileSpace<T>& space, Index t) const;
  template <class Use>
  void read(Index i, Scratch<T>& scratch, Use use) const;
  template <class Number>
  void fill(Index count, Number number, Scratch<T>& scratch, TileSpace<T>& space, Index t) const;
  template <class Number>
  void fill_dense(Index count, Number number, Scratch<T>& scratch, T* values, T* norms) const;
  template <class Number>
  void fill_binary(Index count, Number number, Scratch<T>& scratch, TileSpace<T>& space, Index t) const;

  const RowSource& source_;
  ThreadPool& pool_;
  Features features_;
  Form form_;
  Lookup<T> lookup_;
  TileSpace<T> kept_;
  bool keeps_ = false;
  PackedRows<T> rows_;  // all rows, where not all features are stored and tiles are kept
};

/// Whether K is made from tiles: the source must have features, and where rows are sparse a tile, most of which is not
/// read, must fit into a cache.
bool fits_tiles(const RowSource& source);

/// The form of samples, but for those of binary features.
Form form_of(const Features& features);

/// The largest number of ones in a sample, if all features are 0 or 1, and there are few enough ones for a lookup.
std::optional<Index> longest_binary_row(const RowSource& source);

/// How many features of a row cost something.
double row_length(const Features& features);

extern template class TiledSamples<float>;
extern template class TiledSamples<double>;

}  // namespace ordsvm::tiles
