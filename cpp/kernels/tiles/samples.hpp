// Samples as tiles and as packed rows, from a source of kernel rows that has features.
#pragma once

#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "kernels/row_source.hpp"
#include "kernels/tiles/form.hpp"
#include "parallel/thread_pool.hpp"

namespace ordsvm::tiles {

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

  /// `alone`: by the calling thread only.
  PackedRows<T> pack(std::span<const Index> samples, bool alone = true) const;
  /// The tile of these samples, at most as many as there are lanes.
  Tile<T> tile(std::span<const Index> samples, Scratch<T>& scratch) const;
  /// Tile t of all samples.
  Tile<T> tile(Index t, Scratch<T>& scratch) const;

 private:
  double part_of_norm(T value) const;
  void make_lookup(Index longest);
  TileSpace<T> space(Index n_tiles) const;
  Tile<T> view(const TileSpace<T>& space, Index t) const;
  void pack_lists(std::span<const Index> samples, PackedRows<T>& rows) const;
  void pack_dense(std::span<const Index> samples, PackedRows<T>& rows, bool alone) const;
  template <class Use>
  void read(Index i, Scratch<T>& scratch, Use use) const;
  template <class Number>
  void fill(Index count, Number number, Scratch<T>& scratch, TileSpace<T>& space, Index t) const;
  template <class Number>
  void fill_dense(Index count, Number number, Scratch<T>& scratch, T* values, T* norms) const;
  template <class Number>
  void gather_dense(Index count, Number number, T* values, T* norms) const;
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

extern template class TiledSamples<float>;
extern template class TiledSamples<double>;

}  // namespace ordsvm::tiles
