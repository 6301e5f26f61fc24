// K from tiles, with rows that are kept as long as there is room: they were expensive, and samples come again.
#pragma once

#include <vector>

#include "solvers/block/fused_row_blocks.hpp"
#include "solvers/block/kept_rows.hpp"

namespace ordsvm::block {

template <class T>
class StoredBlocks final : public FusedBlocks<T> {
 public:
  StoredBlocks(RowCache<T>& cache, Crew& crew, bool keep)
      : FusedBlocks<T>(cache.source(), crew, keep), kept_(cache, crew), n_(cache.source().size()) {}

  bool add_product(std::span<const Index> rows, std::span<const double> weight, std::span<double> score,
                   const Ask& ask) override {
    if (!store(rows, ask)) return false;
    kept_.add(rows, weight, score);
    const auto [others, places] = kept_.others(rows);
    std::vector<double> weights;
    for (const Index p : places) weights.push_back(weight[p]);
    return FusedBlocks<T>::add_product(others, weights, score, ask);
  }

  /// Most of a working set moves, and whole rows are needed then: they are made at once, unless most of a row would be
  /// for samples that are not in the set.
  bool gram(std::span<const Index> samples, T* out, Index stride, const Ask& ask) override {
    if (n_ <= whole_rows * static_cast<Index>(samples.size()) && !store(samples, ask)) return false;
    kept_.gather(samples, out, stride);
    const auto [missing, place] = kept_.others(samples);
    this->values_computed_ += static_cast<double>(missing.size()) * samples.size();
    constexpr std::size_t part = 256;
    std::vector<T> made(std::min(part, missing.size()) * stride);
    for (std::size_t begin = 0; begin < missing.size(); begin += part) {
      const auto some = std::span<const Index>(missing).subspan(begin, std::min(part, missing.size() - begin));
      if (!this->fill_block(some, samples, made.data(), stride, ask)) return false;
      for (std::size_t p = 0; p < some.size(); ++p)
        std::copy_n(made.data() + p * stride, samples.size(), out + place[begin + p] * stride);
    }
    return true;
  }

 private:
  static constexpr Index whole_rows = 8;

  /// Makes those of these rows that are not there, as far as there is room.
  bool store(std::span<const Index> rows, const Ask& ask) {
    const std::vector<Index> missing = kept_.wanted(rows);
    const std::size_t part = this->samples_.rows_at_a_time();
    for (std::size_t begin = 0; begin < missing.size(); begin += part) {
      const auto some = std::span<const Index>(missing).subspan(begin, std::min(part, missing.size() - begin));
      std::vector<std::unique_ptr<T[]>> made(some.size());
      for (auto& row : made) row = std::make_unique_for_overwrite<T[]>(n_);
      const auto fill = [&](const Tile<T>& tile, const PackedRows<T>& packed, Index first, Index count) {
        fill_rows(tile, packed, first, count, made);
      };
      if (!this->meet_all(some, fill, ask)) return false;
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
