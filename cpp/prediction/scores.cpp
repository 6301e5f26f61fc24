#include "prediction/scores.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <type_traits>

#include "kernels/evaluate.hpp"
#include "kernels/formula.hpp"
#include "parallel/team.hpp"
#include "prediction/support_group.hpp"

namespace ordsvm::prediction {
namespace {

constexpr Index block_rows = 1152;  // samples for which a tile is made
constexpr Index panel_rows = 36;    // of them that meet it at a time: 9 KB of kernel values

/// The weights of the support vectors in a tile: weight[machine][lane], 0 in the lanes left over.
template <Index n_lanes>
void take_weights(const Weights& weights, Index first, Index count, std::vector<double>& out) {
  out.assign(weights.n_machines * n_lanes, 0.0);
  for (Index lane = 0; lane < count; ++lane)
    for (Index machine = 0; machine < weights.n_machines; ++machine)
      out[machine * n_lanes + lane] = weights.values[(first + lane) * weights.n_machines + machine];
}

/// One thread's memory: a tile, its weights, a panel of kernel values, and the sums of a block of samples.
template <class Compute, class Tile, class Data>
class Worker {
 public:
  Worker(const Kernel& kernel, const Data& samples, const Data& support, const Norms& norms, const Weights& weights)
      : kernel_(kernel),
        samples_(samples),
        n_support_(support.n_rows),
        weights_(weights),
        tile_(support, norms),
        panel_(panel_rows * lanes<Compute>) {}

  /// out = the scores of samples [begin, end); enough() is asked before every tile.
  template <class Enough>
  void score(Index begin, Index end, std::span<double> out, Enough enough) {
    const Index n_scores = (end - begin) * weights_.n_machines;
    totals_.assign(n_scores * partial, 0.0);
    for (Index first = 0; first < n_support_; first += lanes<Compute>) {
      if (enough()) return;
      const Index count = std::min(lanes<Compute>, n_support_ - first);
      tile_.take(first, count);
      take_weights<lanes<Compute>>(weights_, first, count, tile_weights_);
      for (Index row = begin; row < end; row += panel_rows)
        add_panel(row, std::min(panel_rows, end - row), row - begin);
    }
    for (Index s = 0; s < n_scores; ++s)
      out[begin * weights_.n_machines + s] =
          std::accumulate(&totals_[s * partial], &totals_[s * partial] + partial, 0.0);
  }

 private:
  void add_panel(Index row, Index count, Index place) {
    tile_.reduce(reduction_of(kernel_.kind), samples_, row, count, panel_.data());
    evaluate(kernel_, std::span<Compute>(panel_).first(count * lanes<Compute>));
    contract(panel_.data(), count, tile_weights_.data(), weights_.n_machines,
             totals_.data() + place * weights_.n_machines * partial);
  }

  Kernel kernel_;
  Data samples_;
  Index n_support_;
  Weights weights_;
  Tile tile_;
  std::vector<Compute> panel_;
  std::vector<double> tile_weights_, totals_;
};

/// Norms where distances from them are faster than sums of differences, and as good.
template <class T>
Norms norms_that_serve(const Kernel& kernel, const DenseView<T>& samples, const DenseView<T>& support) {
  constexpr Index worth_while = 16;  // features
  if (reduction_of(kernel.kind) != simd::Reduction::squared_distance || support.n_columns < worth_while) return {};
  Norms norms{square_norms(samples), square_norms(support)};
  double largest = 0.0;
  for (const auto* part : {&norms.samples, &norms.support})
    for (const double norm : *part) largest = std::max(largest, norm);
  return Features{kernel, support.n_columns, 1.0, largest}.norms_serve() ? norms : Norms{};
}

/// Threads take blocks of samples as they come; where there is little to do, the caller does it alone.
template <class Compute, class Tile, class Data>
void run(const Kernel& kernel, const Data& samples, const Data& support, const Norms& norms, const Weights& weights,
         std::span<double> out, int n_threads, const Ask& ask) {
  constexpr Index worth_a_thread = 1 << 17;  // kernel values
  const Index n = samples.n_rows;
  n_threads = static_cast<int>(std::min<Index>(n_threads, 1 + n * support.n_rows / worth_a_thread));
  const Index size = std::clamp<Index>(n / (4 * n_threads), panel_rows, block_rows);
  std::atomic<Index> next = 0;
  const auto work = [&](auto enough) {
    Worker<Compute, Tile, Data> worker(kernel, samples, support, norms, weights);
    for (Index begin = next.fetch_add(size); begin < n && !enough(); begin = next.fetch_add(size))
      worker.score(begin, std::min(begin + size, n), out, enough);
  };
  if (n_threads == 1) return work(ask);
  std::atomic<bool> stop = false;
  run_team(n_threads, stop, [&](int) { work([&] { return stop.load(std::memory_order_relaxed); }); }, ask);
}

}  // namespace

template <class T>
void scores(const Kernel& kernel, const DenseView<T>& samples, const DenseView<T>& support, const Weights& weights,
            std::span<double> out, int n_threads, const Ask& ask) {
  const Norms norms = norms_that_serve(kernel, samples, support);
  if constexpr (std::is_same_v<T, float>)
    if (is_distance(kernel.kind))
      return run<float, Tile<float, float>>(kernel, samples, support, norms, weights, out, n_threads, ask);
  run<double, Tile<double, T>>(kernel, samples, support, norms, weights, out, n_threads, ask);
}

template <class T, class I>
void scores(const Kernel& kernel, const CsrView<T, I>& samples, const CsrView<T, I>& support, const Weights& weights,
            std::span<double> out, int n_threads, const Ask& ask) {
  run<double, SparseTile<T, I>>(kernel, samples, support, Norms{}, weights, out, n_threads, ask);
}

template void scores(const Kernel&, const DenseView<float>&, const DenseView<float>&, const Weights&, std::span<double>,
                     int, const Ask&);
template void scores(const Kernel&, const DenseView<double>&, const DenseView<double>&, const Weights&,
                     std::span<double>, int, const Ask&);
template void scores(const Kernel&, const CsrView<float, std::int32_t>&, const CsrView<float, std::int32_t>&,
                     const Weights&, std::span<double>, int, const Ask&);
template void scores(const Kernel&, const CsrView<float, std::int64_t>&, const CsrView<float, std::int64_t>&,
                     const Weights&, std::span<double>, int, const Ask&);
template void scores(const Kernel&, const CsrView<double, std::int32_t>&, const CsrView<double, std::int32_t>&,
                     const Weights&, std::span<double>, int, const Ask&);
template void scores(const Kernel&, const CsrView<double, std::int64_t>&, const CsrView<double, std::int64_t>&,
                     const Weights&, std::span<double>, int, const Ask&);

}  // namespace ordsvm::prediction
