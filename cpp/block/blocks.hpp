// What the block method asks of the kernel: products with all of K, and K of a working set.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "../kernels.hpp"
#include "../row_cache.hpp"
#include "tiles.hpp"
#include "workers.hpp"

namespace ordsvm::block {

/// T is the precision of kernel values; sums are in double.
template <class T>
class Blocks {
 public:
  virtual ~Blocks() = default;
  /// score += weight @ K[rows]
  virtual void add_product(std::span<const Index> rows, std::span<const double> weight, std::span<double> score) = 0;
  /// out[p * stride + q] = K[samples[p], samples[q]]; a row of `out` has room for whole tiles.
  virtual void gram(std::span<const Index> samples, T* out, Index stride) = 0;
  /// Whether K of a small set is made faster than it is gathered from a larger part of K.
  virtual bool cheap() const = 0;
  /// Values of K that were computed so far.
  virtual double values_computed() const = 0;
};

/// Samples as tiles and packed rows, from a source that tells its features. Tiles of all samples are kept where
/// `keep` says so, else made anew for every product.
template <class T>
class TiledBlocks final : public Blocks<T> {
 public:
  TiledBlocks(const RowSource& source, Workers& workers, bool keep);
  void add_product(std::span<const Index> rows, std::span<const double> weight, std::span<double> score) override;
  void gram(std::span<const Index> samples, T* out, Index stride) override;
  bool cheap() const override { return features_.n_columns * (sparse_ ? features_.density : 1.0) <= 24.0; }
  double values_computed() const override { return values_computed_; }

  /// The same as add_product, a part of the rows at a time; before_part() is asked by the caller's thread every few
  /// milliseconds and returns true to stop. False if it did.
  template <class Ask>
  bool add_product(std::span<const Index> rows, std::span<const double> weight, std::span<double> score, Ask ask) {
    const std::size_t part = std::max<std::size_t>(256, packed_bytes / (sizeof(T) * (features_.n_columns + 1)));
    for (std::size_t begin = 0; begin < rows.size(); begin += part) {
      const std::size_t count = std::min(part, rows.size() - begin);
      std::atomic<bool> stop = false;
      add_part(rows.subspan(begin, count), weight.subspan(begin, count), score, [&](int thread) {
        if (thread == 0 && ask()) stop = true;
        return stop.load(std::memory_order_relaxed);
      });
      if (stop) return false;
    }
    return true;
  }

 private:
  /// A tile in memory of its own.
  struct OwnTile {
    std::vector<T> values, norm;
    Tile<T> tile() const { return {values.data(), norm.data()}; }
  };

  static constexpr std::size_t packed_bytes = 1 << 23;  // of rows that are packed at a time

  Index n_tiles(Index count) const { return (count + lanes<T> - 1) / lanes<T>; }
  Index tile_size() const { return features_.n_columns * lanes<T>; }
  T part_of_norm(T value) const;
  /// use(column, value) for all features of sample i that are not 0.
  template <class Use>
  void read(Index i, Use use) const;
  PackedRows<T> pack(std::span<const Index> samples) const;
  /// The tile of samples number(0), number(1), ... up to `count` of them.
  template <class Number>
  void fill(Index count, Number number, T* values, T* norm) const;
  void add_part(std::span<const Index> rows, std::span<const double> weight, std::span<double> score,
                const std::function<bool(int)>& stop);

  const RowSource& source_;
  Workers& workers_;
  Features features_;
  bool sparse_;
  OwnTile all_;            // of all samples, one tile after another; empty where they are not kept
  PackedRows<T> all_rows_;  // and their rows where these are sparse
  double values_computed_ = 0.0;
};

/// Rows of K from a cache: for sources that tell rows only, and where rows cost more to make than to keep.
template <class T>
class CachedBlocks final : public Blocks<T> {
 public:
  explicit CachedBlocks(RowCache<T>& cache) : cache_(cache), rows_before_(cache.rows_computed()) {}
  void add_product(std::span<const Index> rows, std::span<const double> weight, std::span<double> score) override;
  void gram(std::span<const Index> samples, T* out, Index stride) override;
  bool cheap() const override { return false; }
  double values_computed() const override {
    return static_cast<double>(cache_.rows_computed() - rows_before_) * cache_.source().size();
  }

 private:
  RowCache<T>& cache_;
  Index rows_before_;
};

/// Whether tiles of the samples are worth while: few enough features, or rows sparse enough.
bool fits_tiles(const Features& features);

extern template class TiledBlocks<float>;
extern template class TiledBlocks<double>;
extern template class CachedBlocks<float>;
extern template class CachedBlocks<double>;

}  // namespace ordsvm::block
