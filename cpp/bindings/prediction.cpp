#include <nanobind/stl/tuple.h>

#include <tuple>

#include "bindings/arrays.hpp"
#include "bindings/bind.hpp"
#include "prediction/scores.hpp"

namespace ordsvm::prediction {
namespace {

/// k(samples, support) @ weights without the interpreter's lock; only a signal can interrupt it.
template <class Data>
nb::ndarray<nb::numpy, double, nb::ndim<2>> scores_of(const Kernel& kernel, const Data& samples, const Data& support,
                                                      const Matrix<double>& weights, int n_threads) {
  const Weights shared{{weights.data(), weights.size()}, static_cast<Index>(weights.shape(1))};
  std::vector<double> out(samples.n_rows * shared.n_machines);
  Monitor monitor = monitor_of_signals();
  {
    const Unlocked unlocked;
    scores(kernel, samples, support, shared, out, n_threads, [&] { return monitor.stop_now(0, 0); });
  }
  return to_numpy(std::move(out), samples.n_rows, shared.n_machines);
}

template <class T>
void bind_dense(nb::module_& m) {
  m.def(
      "dense_scores",
      [](const Kernel& kernel, Matrix<T> samples, Matrix<T> support, Matrix<double> weights, int n_threads) {
        return scores_of(kernel, view(samples), view(support), weights, n_threads);
      },
      "kernel"_a, "samples"_a.noconvert(), "support"_a.noconvert(), "weights"_a, "n_threads"_a);
}

/// The arrays of a CSR matrix.
template <class T, class I>
using Csr = std::tuple<Vector<const T>, Vector<const I>, Vector<const I>>;

template <class T, class I>
CsrView<T, I> view(const Csr<T, I>& data, Index n_columns) {
  const auto& [values, columns, starts] = data;
  return {values.data(), columns.data(), starts.data(), static_cast<Index>(starts.size()) - 1, n_columns};
}

template <class T, class I>
void bind_csr(nb::module_& m) {
  m.def(
      "csr_scores",
      [](const Kernel& kernel, const Csr<T, I>& samples, const Csr<T, I>& support, Index n_columns,
         Matrix<double> weights, int n_threads) {
        return scores_of(kernel, view<T, I>(samples, n_columns), view<T, I>(support, n_columns), weights, n_threads);
      },
      "kernel"_a, "samples"_a.noconvert(), "support"_a.noconvert(), "n_columns"_a, "weights"_a, "n_threads"_a);
}

}  // namespace
}  // namespace ordsvm::prediction

namespace ordsvm {

using namespace prediction;

void bind_prediction(nb::module_& m) {
  bind_dense<float>(m);
  bind_dense<double>(m);
  bind_csr<float, std::int32_t>(m);
  bind_csr<float, std::int64_t>(m);
  bind_csr<double, std::int32_t>(m);
  bind_csr<double, std::int64_t>(m);
}

}  // namespace ordsvm
