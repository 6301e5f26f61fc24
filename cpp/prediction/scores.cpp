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

constexpr Index samples_at_once = 1152;  // samples of a batch, for which a group is made once
constexpr Index panel_rows = 36;         // of them whose values with a group are made at a time: 9 KB

/// The weights of the support vectors in a group: weight[machine][lane], 0 in the lanes left over.
template <Index n_lanes>
void take_weights(const Weights& weights, Index first, Index count, std::vector<double>& out) {
  out.assign(weights.n_machines * n_lanes, 0.0);
  for (Index lane = 0; lane < count; ++lane)
    for (Index machine = 0; machine < weights.n_machines; ++machine)
      out[machine * n_lanes + lane] = weights.values[(first + lane) * weights.n_machines + machine];
}

/// One thread's memory: a group, its weights, a panel of kernel values, and the sums of a batch of samples.
template <class Compute, class SupportGroup, class Data>
class Worker {
 public:
  Worker(const Kernel& kernel, const Data& samples, const Data& support, const Norms& norms, const Weights& weights)
      : kernel_(kernel),
        samples_(samples),
        n_support_(support.n_rows),
        weights_(weights),
        group_(support, norms),
        panel_(panel_rows * lanes<Compute>) {}

  /// out = the scores of samples [begin, end); enough() is called before every group.
  template <class Enough>
  void score(Index begin, Index end, std::span<double> out, Enough enough) {
    const Index n_scores = (end - begin) * weights_.n_machines;
    totals_.assign(n_scores * partial, 0.0);
    for (Index first = 0; first < n_support_; first += lanes<Compute>) {
      if (enough()) return;
      const Index count = std::min(lanes<Compute>, n_support_ - first);
      group_.take(first, count);
      take_weights<lanes<Compute>>(weights_, first, count, group_weights_);
      for (Index row = begin; row < end; row += panel_rows)
        add_panel(row, std::min(panel_rows, end - row), row - begin);
    }
    for (Index s = 0; s < n_scores; ++s)
      out[begin * weights_.n_machines + s] =
          std::accumulate(&totals_[s * partial], &totals_[s * partial] + partial, 0.0);
  }

 private:
  void add_panel(Index row, Index count, Index place) {
    group_.reduce(reduction_of(kernel_.kind), samples_, row, count, panel_.data());
    evaluate(kernel_, std::span<Compute>(panel_).first(count * lanes<Compute>));
    contract(panel_.data(), count, group_weights_.data(), weights_.n_machines,
             totals_.data() + place * weights_.n_machines * partial);
  }

  Kernel kernel_;
  Data samples_;
  Index n_support_;
  Weights weights_;
  SupportGroup group_;
  std::vector<Compute> panel_;
  std::vector<double> group_weights_, totals_;
};

/// Norms where distances from them are faster than sums of differences, and as good.
template <class T>
Norms norms_that_serve(const Kernel& kernel, const DenseView<T>& samples, const DenseView<T>& support) {
  constexpr Index min_features_for_norms = 16;  // features
  if (reduction_of(kernel.kind) != simd::Reduction::squared_distance || support.n_columns < min_features_for_norms)
    return {};
  Norms norms{square_norms(samples), square_norms(support)};
  double largest = 0.0;
  for (const auto* part : {&norms.samples, &norms.support})
    for (const double norm : *part) largest = std::max(largest, norm);
  return Features{kernel, support.n_columns, 1.0, largest}.norms_serve() ? norms : Norms{};
}

/// Whether gamma and distances that matter beside it have all digits of a float: where these overflow, a value is 0.
bool fits_float(double gamma) {
  constexpr double most = 1e30;
  return gamma <= most && gamma >= 1.0 / most;
}

/// Threads take batches of samples in turn; where there is little to do, the calling thread does it alone.
template <class Compute, class SupportGroup, class Data>
void run(const Kernel& kernel, const Data& samples, const Data& support, const Norms& norms, const Weights& weights,
         std::span<double> out, int n_threads, const StopCheck& stop_check) {
  constexpr Index min_work_per_thread = 1 << 17;  // kernel values
  const Index n = samples.n_rows;
  n_threads = static_cast<int>(std::min<Index>(n_threads, 1 + n * support.n_rows / min_work_per_thread));
  const Index size = std::clamp<Index>(n / (4 * n_threads), panel_rows, samples_at_once);
  std::atomic<Index> next = 0;
  const auto work = [&](int, const auto& enough) {
    Worker<Compute, SupportGroup, Data> worker(kernel, samples, support, norms, weights);
    for (Index begin = next.fetch_add(size); begin < n && !enough(); begin = next.fetch_add(size))
      worker.score(begin, std::min(begin + size, n), out, enough);
  };
  if (n_threads == 1) return work(0, stop_check);
  std::atomic<bool> stop = false;
  run_watched(n_threads, stop, work, stop_check);
}

}  // namespace

template <class T>
void scores(const Kernel& kernel, const DenseView<T>& samples, const DenseView<T>& support, const Weights& weights,
            std::span<double> out, int n_threads, const StopCheck& stop_check) {
  const Norms norms = norms_that_serve(kernel, samples, support);
  if constexpr (std::is_same_v<T, float>)
    if (is_distance(kernel.kind) && fits_float(kernel.gamma))
      return run<float, SupportGroup<float, float>>(kernel, samples, support, norms, weights, out, n_threads,
                                                    stop_check);
  run<double, SupportGroup<double, T>>(kernel, samples, support, norms, weights, out, n_threads, stop_check);
}

template <class T, class I>
void scores(const Kernel& kernel, const CsrView<T, I>& samples, const CsrView<T, I>& support, const Weights& weights,
            std::span<double> out, int n_threads, const StopCheck& stop_check) {
  run<double, SparseSupportGroup<T, I>>(kernel, samples, support, Norms{}, weights, out, n_threads, stop_check);
}

template void scores(const Kernel&, const DenseView<float>&, const DenseView<float>&, const Weights&, std::span<double>,
                     int, const StopCheck&);
template void scores(const Kernel&, const DenseView<double>&, const DenseView<double>&, const Weights&,
                     std::span<double>, int, const StopCheck&);
template void scores(const Kernel&, const CsrView<float, std::int32_t>&, const CsrView<float, std::int32_t>&,
                     const Weights&, std::span<double>, int, const StopCheck&);
template void scores(const Kernel&, const CsrView<float, std::int64_t>&, const CsrView<float, std::int64_t>&,
                     const Weights&, std::span<double>, int, const StopCheck&);
template void scores(const Kernel&, const CsrView<double, std::int32_t>&, const CsrView<double, std::int32_t>&,
                     const Weights&, std::span<double>, int, const StopCheck&);
template void scores(const Kernel&, const CsrView<double, std::int64_t>&, const CsrView<double, std::int64_t>&,
                     const Weights&, std::span<double>, int, const StopCheck&);

}  // namespace ordsvm::prediction
