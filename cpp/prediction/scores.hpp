// Scores of samples by a trained machine: f(x) = sum over support vectors v of weight_v k(x, v).
#pragma once

#include <span>

#include "base/monitor.hpp"
#include "kernels/row_source.hpp"

namespace ordsvm::prediction {

/// weights[v * n_machines + machine]: machines on the same support vectors share the values of the kernel.
struct Weights {
  std::span<const double> values;
  Index n_machines;
};

/// out = k(samples, support) @ weights, row by row. No more of the kernel's values than a panel are in memory at once,
/// and a row's scores do not depend on what other rows there are, nor on the number of threads.
///
/// Dense data: distances are sums of differences, or come from norms where these are faster and as good; in the type of
/// the data for kernels of distances, else in double. CSR data: in double, because norms cancel. Scores are summed in
/// double.
template <class T>
void scores(const Kernel& kernel, const DenseView<T>& samples, const DenseView<T>& support, const Weights& weights,
            std::span<double> out, int n_threads, const StopCheck& stop_check);
template <class T, class I>
void scores(const Kernel& kernel, const CsrView<T, I>& samples, const CsrView<T, I>& support, const Weights& weights,
            std::span<double> out, int n_threads, const StopCheck& stop_check);

}  // namespace ordsvm::prediction
