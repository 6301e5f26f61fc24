// Fits of a search for Python.
#include "bindings/bind.hpp"
#include "bindings/solve.hpp"
#include "solvers/full_kernel/solve.hpp"

namespace ordsvm::search {
namespace {

void make_known(Known* self, const RowSource& rows, int n_threads) {
  const nb::gil_scoped_release release;
  Crew crew(n_threads);
  new (self) Known(rows, crew);
}

nb::ndarray<nb::numpy, const double, nb::ndim<2>> values_of(nb::handle_t<Known> self) {
  const Known& known = nb::cast<const Known&>(self);
  const auto n = static_cast<std::size_t>(known.size());
  return {known.row(0), {n, n}, self, {known.stride(), 1}};
}

Fit solve_known(const Known& known, const Table& table, const LiveArrays& live, double tol, double near) {
  Monitor monitor = monitor_of_signals();
  const nb::gil_scoped_release release;
  return Solver(known, table.hinges, live.variables(), tol, near, monitor).run();
}

/// score = K @ beta, for scores with room for whole vectors.
void product_of(const Known& known, Vector<const double> beta, Vector<double> score) {
  const nb::gil_scoped_release release;
  std::fill_n(score.data(), score.size(), 0.0);
  const Change all(span(beta));
  known.add<double>(all.rows, all.weights, score.data());
}

Fit proof_of(const Known& known, const Table& table, const LiveArrays& live) {
  const nb::gil_scoped_release release;
  Fit fit;
  fit.proof = prove(table.hinges, live.variables(), rounding(known, table.hinges, live.variables()));
  return fit;
}

}  // namespace
}  // namespace ordsvm::search

namespace ordsvm {

using namespace search;

void bind_full_kernel(nb::module_& m) {
  nb::class_<Known>(m, "Known")
      .def("__init__", &make_known, "rows"_a, "n_threads"_a)
      .def("__len__", &Known::size)
      .def_prop_ro("stride", &Known::stride)
      .def_prop_ro("largest", &Known::largest)
      .def("values", &values_of)
      .def("product", &product_of, "beta"_a, "score"_a)
      .def("prove", &proof_of, "table"_a, "live"_a)
      .def("solve", &solve_known, "table"_a, "live"_a, "tol"_a, "near"_a);
  nb::class_<Fit>(m, "Fit")
      .def_ro("converged", &Fit::converged)
      .def_ro("near", &Fit::near)
      .def_ro("steps", &Fit::steps)
      .def_ro("violation", &Fit::violation)
      .def_prop_ro("primal", [](const Fit& fit) { return fit.proof.primal; })
      .def_prop_ro("gap", [](const Fit& fit) { return fit.proof.gap; })
      .def_prop_ro("relative_gap", [](const Fit& fit) { return fit.proof.relative_gap(); })
      .def("thresholds", [](const Fit& fit) { return to_numpy(std::vector(fit.proof.thresholds)); });
}

}  // namespace ordsvm
