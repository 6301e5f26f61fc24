// K from tiles of samples: nothing is kept that costs no more to make again.
#pragma once

#include <algorithm>
#include <atomic>

#include "kernels/tiles/samples.hpp"
#include "solvers/block/row_blocks.hpp"

namespace ordsvm::block {

using tiles::lanes, tiles::PackedRows, tiles::TiledSamples, tiles::Scratch, tiles::Tile;

template <class T>
class FusedRowBlocks : public RowBlocks<T> {
 public:
  /// keep: tiles of all samples.
  FusedRowBlocks(const RowSource& source, ThreadPool& pool, bool keep) : samples_(source, pool, keep), pool_(pool) {}

  bool add_product(std::span<const Index> rows, std::span<const double> weight, std::span<double> score,
                   const StopCheck& stop_check) override {
    const std::size_t part = samples_.rows_at_a_time();
    for (std::size_t begin = 0; begin < rows.size(); begin += part) {
      const std::size_t count = std::min(part, rows.size() - begin);
      const auto add = [&](const Tile<T>& tile, const PackedRows<T>& packed, Index first, Index n) {
        double sums[lanes<T>] = {};
        tiles::add_product(samples_.kernel(), tile, packed, 0, packed.count, weight.data() + begin, sums);
        for (Index lane = 0; lane < n; ++lane) score[first + lane] += sums[lane];
      };
      if (!meet_all(rows.subspan(begin, count), add, stop_check)) return false;
    }
    return true;
  }

  bool gram(std::span<const Index> samples, T* out, Index stride, const StopCheck& stop_check) override {
    values_computed_ += static_cast<double>(samples.size()) * samples.size();
    return fill_block(samples, samples, out, stride, stop_check);
  }

  bool remake(std::span<const Index> samples, T* out, Index stride, bool alone) override {
    return tiles::row_length(samples_.features()) <= tiles::max_remade_row_length &&
           fill_block(samples, samples, out, stride, [] { return false; }, alone);
  }
  double values_computed() const override { return values_computed_; }

 protected:
  /// use(tile, packed rows, first sample of the tile, how many samples it has) for all tiles of all samples.
  template <class Use>
  bool meet_all(std::span<const Index> rows, Use use, const StopCheck& stop_check) {
    const PackedRows<T> packed = samples_.pack(rows, false);
    const Index n = samples_.size();
    values_computed_ += static_cast<double>(rows.size()) * n;
    return over_tiles(samples_.n_tiles(), pool_.n_tasks(), stop_check, [&](Index t, Scratch<T>& scratch) {
      use(samples_.tile(t, scratch), packed, t * lanes<T>, std::min(lanes<T>, n - t * lanes<T>));
    });
  }

  /// use(tile, packed rows, where in `columns` the tile begins, its samples) for tiles of these samples.
  template <class Use>
  bool meet(std::span<const Index> rows, std::span<const Index> columns, Use use, const StopCheck& stop_check) {
    const PackedRows<T> packed = samples_.pack(rows, false);
    const Index n = static_cast<Index>(columns.size());
    const int n_tasks = 8 * pool_.n_tasks();  // tiles may differ in how many rows they meet
    return over_tiles(TiledSamples<T>::tiles_for(n), n_tasks, stop_check, [&](Index t, Scratch<T>& scratch) {
      const auto some = columns.subspan(t * lanes<T>, std::min(lanes<T>, n - t * lanes<T>));
      use(samples_.tile(some, scratch), packed, t * lanes<T>, some);
    });
  }

  /// out = K[np.ix_(rows, columns)]
  bool fill_block(std::span<const Index> rows, std::span<const Index> columns, T* out, Index stride,
                  const StopCheck& stop_check, bool alone = false) {
    constexpr std::size_t min_values_for_threads = 1 << 15;  // values: ten microseconds
    const Index n = static_cast<Index>(columns.size());
    const int n_tasks = alone || rows.size() * columns.size() < min_values_for_threads ? 1 : pool_.n_tasks();
    const PackedRows<T> packed = samples_.pack(rows, n_tasks == 1);
    return over_tiles(TiledSamples<T>::tiles_for(n), n_tasks, stop_check, [&](Index t, Scratch<T>& scratch) {
      const Index begin = t * lanes<T>;
      const Tile<T> tile = samples_.tile(columns.subspan(begin, std::min(lanes<T>, n - begin)), scratch);
      tiles::fill_values(samples_.kernel(), tile, packed, 0, packed.count, out + begin, stride);
    });
  }

  TiledSamples<T> samples_;
  ThreadPool& pool_;
  double values_computed_ = 0.0;

 private:
  template <class Work>
  bool over_tiles(Index n_tiles, int n_tasks, const StopCheck& stop_check, Work work) {
    std::vector<Scratch<T>> scratch = samples_.scratches(n_tasks == 1 ? 1 : pool_.size());
    std::atomic<bool> stop = false;
    pool_.run(n_tasks, [&](int task, int thread) {
      const Share share(n_tiles, task, n_tasks);
      for (Index t = share.begin; t < share.end && !stop.load(std::memory_order_relaxed); ++t) {
        work(t, scratch[thread]);
        if (thread == 0) check_for_all(stop_check, stop);
      }
    });
    return !stop;
  }
};

}  // namespace ordsvm::block
