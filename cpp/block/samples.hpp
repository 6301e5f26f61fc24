// Samples as tiles and as packed rows, from a source of kernel rows that tells its features.
#pragma once

#include <span>
#include <vector>

#include "../kernels.hpp"
#include "crew.hpp"
#include "tiles.hpp"

namespace ordsvm::block {

inline constexpr double long_row = 24.0;  // features from which on a row is worth keeping

/// Where a thread makes a tile.
template <class T>
struct Scratch {
  std::vector<T> values, norm;
  std::vector<SampleIndex> columns;
  std::vector<double> numbers;
};

template <class T>
class Samples {
 public:
  /// Tiles of all samples are made once where `keep` says so, else whenever they are asked for.
  Samples(const RowSource& source, Crew& crew, bool keep);

  Index size() const { return source_.size(); }
  Index n_tiles() const { return tiles_for(size()); }
  static Index tiles_for(Index count) { return (count + lanes<T> - 1) / lanes<T>; }
  const Kernel& kernel() const { return features_.kernel; }
  const Features& features() const { return features_; }
  Index tile_size() const { return features_.n_columns * lanes<T>; }
  /// As many rows as are packed at a time.
  Index rows_at_a_time() const;
  Scratch<T> scratch() const;
  /// One for every thread.
  std::vector<Scratch<T>> scratches() const { return std::vector<Scratch<T>>(crew_.size(), scratch()); }

  PackedRows<T> pack(std::span<const Index> samples) const;
  /// The tile of these samples, at most as many as there are lanes.
  Tile<T> tile(std::span<const Index> samples, Scratch<T>& scratch) const;
  /// Tile t of all samples.
  Tile<T> tile(Index t, Scratch<T>& scratch) const;

 private:
  T part_of_norm(T value) const;
  template <class Use>
  void read(Index i, Scratch<T>& scratch, Use use) const;
  template <class Number>
  void fill(Index count, Number number, Scratch<T>& scratch, T* tile, T* norm) const;

  const RowSource& source_;
  Crew& crew_;
  Features features_;
  bool sparse_;
  std::vector<T> values_, norm_;  // the kept tiles, one after another
  PackedRows<T> rows_;            // all rows, where they are sparse and tiles are kept
};

/// Whether tiles are worth while: the features must be known, and where rows are sparse a tile, most of which is not
/// looked at, must fit into a cache.
bool fits_tiles(const RowSource& source);

/// Whether the block method is the one to choose. Not for the sigmoid: it is not positive semidefinite, so that the
/// answer depends on the way there, and that of pairs of all samples is the one that other programs find.
bool suits(const RowSource& source);

/// How many roundings a value of K in double is off by, as exact products use it: an estimate, as sums of n terms are
/// taken to be off by about the root of n.
double roundings(const RowSource& source);

/// How many features of a row cost something.
double row_length(const Features& features);

extern template class Samples<float>;
extern template class Samples<double>;

}  // namespace ordsvm::block
