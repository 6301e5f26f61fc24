// K from tiles, with rows that are kept as long as there is room: they were expensive, and samples come again.
#pragma once

#include <vector>

#include "../buffer.hpp"
#include "../simd.hpp"
#include "fused_blocks.hpp"

namespace ordsvm::block {

template <class T>
class StoredBlocks final : public FusedBlocks<T> {
 public:
  StoredBlocks(const RowSource& source, Crew& crew, double budget)
      : FusedBlocks<T>(source, crew),
        stride_(this->samples_.n_tiles() * lanes<T>),
        capacity_(std::clamp<Index>(static_cast<Index>(budget / (sizeof(T) * stride_)), 0, source.size())),
        rows_(capacity_ * stride_),
        slot_of_(source.size(), -1) {}

  bool add_product(std::span<const Index> rows, std::span<const double> weight, std::span<double> score,
                   const Ask& ask) override {
    std::vector<Index> missing, left;
    std::vector<double> left_weight, weight_of_slot;
    std::vector<Index> slots;
    for (const Index i : rows)
      if (slot_of_[i] < 0 && used_ + static_cast<Index>(missing.size()) < capacity_) missing.push_back(i);
    if (!store(missing, ask)) return false;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const Index slot = slot_of_[rows[r]];
      (slot < 0 ? left : slots).push_back(slot < 0 ? rows[r] : slot);
      (slot < 0 ? left_weight : weight_of_slot).push_back(weight[r]);
    }
    add_stored(slots, weight_of_slot, score);
    return FusedBlocks<T>::add_product(left, left_weight, score, ask);
  }

  bool gram(std::span<const Index> samples, T* out, Index stride, const Ask& ask) override {
    std::vector<Index> missing, place;
    for (std::size_t p = 0; p < samples.size(); ++p) {
      if (const Index slot = slot_of_[samples[p]]; slot < 0) {
        missing.push_back(samples[p]);
        place.push_back(static_cast<Index>(p));
      } else {
        const T* from = rows_.data() + slot * stride_;
        for (std::size_t q = 0; q < samples.size(); ++q) out[p * stride + q] = from[samples[q]];
      }
    }
    std::vector<T> made(missing.size() * stride);
    this->values_computed_ += static_cast<double>(missing.size()) * samples.size();
    if (!this->fill_block(missing, samples, made.data(), stride, ask)) return false;
    for (std::size_t p = 0; p < place.size(); ++p)
      std::copy_n(made.data() + p * stride, samples.size(), out + place[p] * stride);
    return true;
  }

 private:
  bool store(std::span<const Index> rows, const Ask& ask) {
    const std::size_t part = this->samples_.rows_at_a_time();
    for (std::size_t begin = 0; begin < rows.size(); begin += part) {
      const auto some = rows.subspan(begin, std::min(part, rows.size() - begin));
      T* const to = rows_.data() + used_ * stride_;
      const auto fill = [&](const Tile<T>& tile, const PackedRows<T>& packed, Index first, Index) {
        fill_values(this->samples_.kernel(), tile, packed, 0, packed.count, to + first, stride_);
      };
      if (!this->meet_all(some, fill, ask)) return false;
      for (const Index i : some) slot_of_[i] = used_++;
    }
    return true;
  }

  /// score += weight @ rows_[slots], so many samples at a time that their scores stay in the first-level cache.
  void add_stored(std::span<const Index> slots, std::span<const double> weight, std::span<double> score) {
    constexpr Index chunk = 1024;
    const Index n = static_cast<Index>(score.size());
    const int n_tasks = this->crew_.n_tasks();
    this->crew_.run(n_tasks, [&](int task, int) {
      const Share share((n + chunk - 1) / chunk, task, n_tasks);
      for (Index c = share.begin; c < share.end; ++c)
        for (std::size_t r = 0; r < slots.size(); ++r)
          simd::add_row(score.data() + c * chunk, weight[r], rows_.data() + slots[r] * stride_ + c * chunk,
                        std::min(chunk, n - c * chunk));
    });
  }

  Index stride_, capacity_, used_ = 0;
  Buffer<T> rows_;  // [slot][sample]
  std::vector<Index> slot_of_;
};

}  // namespace ordsvm::block
