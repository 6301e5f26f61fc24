// K from tiles, with rows kept within the capacity of a cache: they are expensive, and samples are used again.
#pragma once

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

  /// Computes those of these rows that are not in the cache, as far as they fit.
  bool store(std::span<const Index> rows, const StopCheck& stop_check) {
    const std::vector<Index> missing = kept_.wanted(rows);
    const std::size_t part = this->samples_.rows_at_a_time();
    for (std::size_t begin = 0; begin < missing.size(); begin += part) {
      const auto some = std::span<const Index>(missing).subspan(begin, std::min(part, missing.size() - begin));
      std::vector<std::unique_ptr<T[]>> made(some.size());
      for (auto& row : made) row.reset(new T[n_]);
      const auto fill = [&](const Tile<T>& tile, const PackedRows<T>& packed, Index first, Index count) {
        fill_rows(tile, packed, first, count, made);
      };
      if (!this->meet_all(some, fill, stop_check)) return false;
      for (std::size_t r = 0; r < some.size(); ++r) kept_.keep(some[r], std::move(made[r]));
    }
    return true;
  }

  /// made[r][first:first + count] = K[row r, tile], a few rows at a time.
  void fill_rows(const Tile<T>& tile, const PackedRows<T>& packed, Index first, Index count,
                 std::span<const std::unique_ptr<T[]>> made) const {
    constexpr Index at_a_time = 32;
    T values[at_a_time * lanes<T>];
    for (Index begin = 0; begin < packed.count; begin += at_a_time) {
      const Index end = std::min(begin + at_a_time, packed.count);
      tiles::fill_values(this->samples_.kernel(), tile, packed, begin, end, values, lanes<T>);
      for (Index r = begin; r < end; ++r) std::copy_n(values + (r - begin) * lanes<T>, count, made[r].get() + first);
    }
  }

  KeptRows<T> kept_;
  Index n_;
};

}  // namespace ordsvm::block
