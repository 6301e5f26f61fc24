// K from tiles, with rows kept within the capacity of a cache: they are expensive, and samples are used again. A value
// of K is computed once for both of its samples where copying it is faster.
#pragma once

#include <iterator>
#include <vector>

#include "solvers/block/fused_row_blocks.hpp"
#include "solvers/block/kept_rows.hpp"

namespace ordsvm::block {

template <class T>
class StoredRowBlocks final : public FusedRowBlocks<T> {
 public:
  StoredRowBlocks(RowCache<T>& cache, ThreadPool& pool, bool keep)
      : FusedRowBlocks<T>(cache.source(), pool, keep), kept_(cache, pool), n_(cache.source().size()) {}

  bool add_product(std::span<const Index> rows, std::span<const double> weight, std::span<double> score,
                   const StopCheck& stop_check) override {
    if (!store(rows, stop_check)) return false;
    kept_.add(rows, weight, score);
    const auto [others, places] = kept_.others(rows);
    std::vector<double> weights;
    for (const Index p : places) weights.push_back(weight[p]);
    return FusedRowBlocks<T>::add_product(others, weights, score, stop_check);
  }

  /// Most of a working set moves, and whole rows are needed then: they are made at once, unless most of a row would be
  /// for samples that are not in the set.
  bool gram(std::span<const Index> samples, T* out, Index stride, const StopCheck& stop_check) override {
    if (n_ <= max_samples_per_member * static_cast<Index>(samples.size()) && !store(samples, stop_check)) return false;
    kept_.gather(samples, out, stride);
    const auto [missing, place] = kept_.others(samples);
    this->values_computed_ += static_cast<double>(missing.size()) * samples.size();
    constexpr std::size_t part = 256;
    std::vector<T> made(std::min(part, missing.size()) * stride);
    for (std::size_t begin = 0; begin < missing.size(); begin += part) {
      const auto some = std::span<const Index>(missing).subspan(begin, std::min(part, missing.size() - begin));
      if (!this->fill_block(some, samples, made.data(), stride, stop_check)) return false;
      for (std::size_t p = 0; p < some.size(); ++p)
        std::copy_n(made.data() + p * stride, samples.size(), out + place[begin + p] * stride);
    }
    return true;
  }

 private:
  static constexpr Index max_samples_per_member = 8;

  /// Whether values are made slower than copied from rows that are there. By measurement: 0.02 ns a feature against 1 ns,
  /// and 0.7 ns for every four bytes that are read for one value, at most a line of memory.
  bool copies_pay(std::size_t n_rows) const {
    constexpr double line = 64 / sizeof(float);
    const double read = std::min(line, static_cast<double>(n_) / static_cast<double>(n_rows));
    return 0.02 * tiles::row_length(this->samples_.features()) > 1.0 + 0.7 * read;
  }

  /// Computes those of these rows that are not in the cache, as far as they fit. Their values with samples whose rows
  /// are there are copied from these where that is faster.
  bool store(std::span<const Index> rows, const StopCheck& stop_check) {
    std::vector<Index> missing = kept_.wanted(rows);
    std::sort(missing.begin(), missing.end());
    const std::size_t part = this->samples_.rows_at_a_time();
    for (std::size_t begin = 0; begin < missing.size(); begin += part) {
      const auto some = std::span<const Index>(missing).subspan(begin, std::min(part, missing.size() - begin));
      std::vector<std::unique_ptr<T[]>> made(some.size());
      for (auto& row : made) row.reset(new T[n_]);
      if (!make(some, made, stop_check)) return false;
      for (std::size_t r = 0; r < some.size(); ++r) kept_.keep(some[r], std::move(made[r]));
    }
    return true;
  }

  /// made[r] = K[rows[r]]
  bool make(std::span<const Index> rows, std::span<const std::unique_ptr<T[]>> made, const StopCheck& stop_check) {
    if (copies_pay(rows.size())) return mirror(rows, made, stop_check);
    const auto fill = [&](const Tile<T>& tile, const PackedRows<T>& packed, Index first, Index count) {
      fill_rows(tile, packed, 0, [&](Index r, const T* values) { std::copy_n(values, count, made[r].get() + first); });
    };
    return this->meet_all(rows, fill, stop_check);
  }

  /// The same, rows being in ascending order: columns of samples whose rows are there come from these. Of the others the
  /// rows' own come first, as far as they fill tiles: of such a tile and rows before it nothing is made, as these have
  /// met it as a tile.
  bool mirror(std::span<const Index> rows, std::span<const std::unique_ptr<T[]>> made, const StopCheck& stop_check) {
    const Index n_own = static_cast<Index>(rows.size()) / lanes<T> * lanes<T>;
    const auto own = rows.first(n_own);
    const std::vector<Index> others = kept_.mirror(rows, made);
    std::vector<Index> columns(own.begin(), own.end());
    std::set_difference(others.begin(), others.end(), own.begin(), own.end(), std::back_inserter(columns));
    this->values_computed_ += static_cast<double>(rows.size()) * columns.size() - 0.5 * n_own * (n_own - lanes<T>);
    const auto fill = [&](const Tile<T>& tile, const PackedRows<T>& packed, Index first, std::span<const Index> some) {
      const bool is_own = first < n_own;
      fill_rows(tile, packed, is_own ? first : 0, [&](Index r, const T* values) {
        for (std::size_t lane = 0; lane < some.size(); ++lane) made[r][some[lane]] = values[lane];
        if (is_own && first + lanes<T> <= r && r < n_own)
          for (Index lane = 0; lane < lanes<T>; ++lane) made[first + lane][rows[r]] = values[lane];
      });
    };
    return this->meet(rows, columns, fill, stop_check);
  }

  /// use(r, K[row r, lanes of the tile]) for rows from `first` on, a few at a time.
  template <class Use>
  void fill_rows(const Tile<T>& tile, const PackedRows<T>& packed, Index first, Use use) const {
    constexpr Index at_a_time = 32;
    T values[at_a_time * lanes<T>];
    for (Index begin = first; begin < packed.count; begin += at_a_time) {
      const Index end = std::min(begin + at_a_time, packed.count);
      tiles::fill_values(this->samples_.kernel(), tile, packed, begin, end, values, lanes<T>);
      for (Index r = begin; r < end; ++r) use(r, values + (r - begin) * lanes<T>);
    }
  }

  KeptRows<T> kept_;
  Index n_;
};

}  // namespace ordsvm::block
