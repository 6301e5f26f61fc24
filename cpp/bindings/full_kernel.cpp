// Fits of a search for Python.
#include "bindings/bind.hpp"
#include "bindings/solve.hpp"
#include "solvers/full_kernel/solve.hpp"

namespace ordsvm::full_kernel {
namespace {

void make_full_kernel(FullKernel* self, const RowSource& rows, int n_threads) {
  const Unlocked unlocked;
  ThreadPool pool(n_threads);
  new (self) FullKernel(rows, pool);
}

nb::ndarray<nb::numpy, const double, nb::ndim<2>> values_of(nb::handle_t<FullKernel> self) {
  const FullKernel& kernel = nb::cast<const FullKernel&>(self);
  const auto n = static_cast<std::size_t>(kernel.size());
  return {kernel.row(0), {n, n}, self, {kernel.stride(), 1}};
}

Fit solve_full_kernel(const FullKernel& kernel, const HingeArrays& hinges, const LiveArrays& live, double tol,
                      const HandOver& hand_over) {
  Monitor monitor = monitor_of_signals();
  const Unlocked unlocked;
  return Solver(kernel, hinges.hinges, live.variables(), tol, hand_over, monitor).run();
}

/// score = K @ beta, for scores padded to whole vectors.
void product_of(const FullKernel& kernel, Vector<const double> beta, Vector<double> score) {
  const Unlocked unlocked;
  std::fill_n(score.data(), score.size(), 0.0);
  const Change all(span(beta));
  add_rows(kernel, all.rows, all.weights, score.data());
}

Fit prove_full_kernel(const FullKernel& kernel, const HingeArrays& hinges, const LiveArrays& live) {
  const Unlocked unlocked;
  Fit fit;
  fit.proof = proof_of(kernel, hinges.hinges, live.variables());
  return fit;
}

}  // namespace
}  // namespace ordsvm::full_kernel

namespace ordsvm {

using namespace full_kernel;

void bind_full_kernel(nb::module_& m) {
  nb::class_<FullKernel>(m, "FullKernel")
      .def("__init__", &make_full_kernel, "rows"_a, "n_threads"_a)
      .def("__len__", &FullKernel::size)
      .def_prop_ro("stride", &FullKernel::stride)
      .def_prop_ro("largest", &FullKernel::largest)
      .def("values", &values_of)
      .def("product", &product_of, "beta"_a, "score"_a)
      .def("prove", &prove_full_kernel, "hinges"_a, "live"_a)
      .def("solve", &solve_full_kernel, "hinges"_a, "live"_a, "tol"_a, "hand_over"_a);
  nb::class_<HandOver>(m, "HandOver")
      .def(nb::init<double, Index, Index>(), "newton_start"_a, "steps_before"_a, "patience"_a);
  nb::class_<Fit>(m, "Fit")
      .def_ro("converged", &Fit::converged)
      .def_ro("hands_over", &Fit::hands_over)
      .def_ro("steps", &Fit::steps)
      .def_ro("violation", &Fit::violation)
      .def_prop_ro("primal", [](const Fit& fit) { return fit.proof.primal; })
      .def_prop_ro("gap", [](const Fit& fit) { return fit.proof.gap; })
      .def_prop_ro("relative_gap", [](const Fit& fit) { return fit.proof.relative_gap(); })
      .def("thresholds", [](const Fit& fit) { return to_numpy(std::vector(fit.proof.thresholds)); });
}

}  // namespace ordsvm
