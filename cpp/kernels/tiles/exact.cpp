#include "kernels/tiles/exact.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

#include "kernels/tiles/samples.hpp"

namespace ordsvm::tiles {
namespace {

constexpr Index width_of_tile = lanes<double>;

/// The tiles of support vectors come first, then those of the other samples.
class ExactProduct {
 public:
  ExactProduct(const RowSource& source, std::span<const Index> support, std::span<const double> weight,
               std::span<double> out, ThreadPool& pool, std::span<const char> left_out)
      : samples_(source, pool, false),
        pool_(pool),
        support_(support),
        weight_(weight),
        out_(out),
        n_support_tiles_(samples_.tiles_for(static_cast<Index>(support.size()))) {
    std::vector<char> done(source.size(), 0);
    std::copy(left_out.begin(), left_out.end(), done.begin());
    for (const Index i : support) done[i] = 1;
    for (Index i = 0; i < source.size(); ++i)
      if (!done[i]) others_.push_back(i);
  }

  bool run(const StopCheck& stop_check) {
    const Index n = static_cast<Index>(support_.size());
    const Index part = samples_.rows_at_a_time() / width_of_tile * width_of_tile;
    for (Index begin = 0; begin < n; begin += part)
      if (!meet(begin, std::min(begin + part, n), stop_check)) return false;
    return true;
  }

 private:
  static constexpr int n_groups = 32;  // of tiles; each has sums of its own, so that threads may take turns with them

  /// Rows begin .. end - 1 of the support vectors against all tiles that have not met them.
  bool meet(Index begin, Index end, const StopCheck& stop_check) {
    const PackedRows<double> rows = samples_.pack(support_.subspan(begin, end - begin), false);
    const Index first = begin / width_of_tile;  // earlier tiles have had their rows' values from these
    const Index n_tiles = n_support_tiles_ + samples_.tiles_for(static_cast<Index>(others_.size()));
    std::vector<std::vector<double>> row_sums(n_groups, std::vector<double>(end - begin, 0.0));
    std::vector<Scratch<double>> scratch = samples_.scratches(pool_.size());
    std::atomic<bool> stop = false;
    pool_.run(n_groups, [&](int group, int thread) {
      const Share share(n_tiles - first, group, n_groups);
      for (Index t = first + share.begin; t < first + share.end && !stop.load(std::memory_order_relaxed); ++t) {
        meet_tile(t, rows, begin, row_sums[group], scratch[thread]);
        if (thread == 0) check_for_all(stop_check, stop);
      }
    });
    for (const auto& sums : row_sums)
      for (Index r = begin; r < end; ++r) out_[support_[r]] += sums[r - begin];
    return !stop;
  }

  void meet_tile(Index t, const PackedRows<double>& rows, Index begin, std::vector<double>& row_sums,
                 Scratch<double>& scratch) {
    const bool supports = t < n_support_tiles_;
    const std::span<const Index> all = supports ? support_ : others_;
    const Index at = (supports ? t : t - n_support_tiles_) * width_of_tile;
    const Index count = std::min<Index>(width_of_tile, static_cast<Index>(all.size()) - at);
    const auto members = all.subspan(at, count);
    const Tile<double> tile = samples_.tile(members, scratch);
    const double* weight = weight_.data() + begin;
    double sums[width_of_tile] = {}, lane_weight[width_of_tile] = {};
    if (supports) {  // rows before the tile's own have not met these samples as rows, and will not
      const Index before = std::clamp<Index>(at - begin, 0, rows.count), own = std::min(before + count, rows.count);
      std::copy_n(weight_.data() + at, count, lane_weight);
      add_symmetric(samples_.kernel(), tile, rows, 0, before, weight, sums, lane_weight, row_sums.data());
      if (at - begin < rows.count) add_product(samples_.kernel(), tile, rows, before, own, weight, sums);
    } else {
      add_product(samples_.kernel(), tile, rows, 0, rows.count, weight, sums);
    }
    for (Index lane = 0; lane < count; ++lane) out_[members[lane]] += sums[lane];
  }

  TiledSamples<double> samples_;
  ThreadPool& pool_;
  std::span<const Index> support_;
  std::span<const double> weight_;
  std::span<double> out_;
  Index n_support_tiles_;
  std::vector<Index> others_;
};

}  // namespace

bool add_exact_product(const RowSource& source, std::span<const Index> support, std::span<const double> weight,
                       std::span<double> out, ThreadPool& pool, const StopCheck& stop_check,
                       std::span<const char> left_out) {
  return ExactProduct(source, support, weight, out, pool, left_out).run(stop_check);
}

}  // namespace ordsvm::tiles
