// DCD-1 and DCD-2 for Python, which drives them: run, look, judge, run on.
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <variant>

#include "bindings.hpp"
#include "linear/dcd1.hpp"
#include "linear/dcd2.hpp"

namespace ordsvm {
namespace {

/// Rows of any type, on arrays of Python's.
struct AnyRows {
  std::variant<LinearRows<DenseView<float>>, LinearRows<DenseView<double>>, LinearRows<CsrView<float, std::int32_t>>,
               LinearRows<CsrView<float, std::int64_t>>, LinearRows<CsrView<double, std::int32_t>>,
               LinearRows<CsrView<double, std::int64_t>>>
      rows;
};

template <class T>
void bind_dense(nb::module_& m) {
  m.def(
      "linear_rows", [](Matrix<T> data, bool bias) { return AnyRows{LinearRows(view(data), bias)}; },
      "data"_a.noconvert(), nb::kw_only(), "bias"_a, nb::keep_alive<0, 1>());
}

template <class T, class I>
void bind_csr(nb::module_& m) {
  m.def(
      "linear_rows",
      [](Vector<const T> values, Vector<const I> columns, Vector<const I> starts, Index n_columns, bool bias) {
        return AnyRows{LinearRows(view(values, columns, starts, n_columns), bias)};
      },
      "values"_a.noconvert(), "columns"_a.noconvert(), "starts"_a.noconvert(), nb::kw_only(), "n_columns"_a, "bias"_a,
      nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>());
}

template <template <class> class Dcd>
std::unique_ptr<RankMachines> make(const AnyRows& rows, Vector<const SampleIndex> label, Vector<const double> weight,
                                   const std::vector<RankProblem>& problems, const DcdOptions& options) {
  return std::visit(
      [&]<class Rows>(const Rows& own) -> std::unique_ptr<RankMachines> {
        return std::make_unique<Ranks<Dcd, Rows>>(RankSamples(own, span(label), span(weight)), problems, options);
      },
      rows.rows);
}

}  // namespace

void bind_dcd(nb::module_& m) {
  nb::class_<AnyRows>(m, "LinearRows");
  bind_dense<float>(m);
  bind_dense<double>(m);
  bind_csr<float, std::int32_t>(m);
  bind_csr<float, std::int64_t>(m);
  bind_csr<double, std::int32_t>(m);
  bind_csr<double, std::int64_t>(m);
  nb::class_<RankProblem>(m, "RankProblem")
      .def(
          "__init__",
          [](RankProblem* self, SampleIndex rank, double C1, double C2, double epsilon) {
            new (self) RankProblem{rank, C1, C2, epsilon};
          },
          "rank"_a, "C1"_a, "C2"_a, "epsilon"_a);
  nb::class_<RankMachines>(m, "RankMachines")
      .def(
          "run",
          [](RankMachines& machines, double eps, Index until, int n_threads, const nb::object& watch) {
            Monitor monitor = monitor_by(watch);
            const nb::gil_scoped_release release;
            return machines.run(eps, until, n_threads, monitor);
          },
          "eps"_a, "until"_a, "n_threads"_a, "watch"_a)
      .def("refresh", &RankMachines::refresh, nb::call_guard<nb::gil_scoped_release>())
      .def("beta", [](const RankMachines& self) { return to_numpy(self.beta(), self.n_samples(), self.n_ranks()); })
      .def("weights",
           [](const RankMachines& self) {
             std::vector<double> weights = self.weights();
             const std::size_t n_weights = weights.size() / self.n_ranks();
             return to_numpy(std::move(weights), self.n_ranks(), n_weights);
           })
      .def("scores",
           [](const RankMachines& self) {
             std::vector<double> scores;
             {
               const nb::gil_scoped_release release;
               scores = self.scores();
             }
             return to_numpy(std::move(scores), self.n_samples(), self.n_ranks());
           })
      .def("curvature",
           [](const RankMachines& self) { return to_numpy(std::vector(self.curvature()), self.n_samples()); })
      .def_prop_ro("violation", &RankMachines::violation)
      .def_prop_ro("epochs", &RankMachines::epochs)
      .def_prop_ro("active", &RankMachines::active);
  m.def(
      "dcd1",
      [](const AnyRows& rows, Vector<const SampleIndex> label, Vector<const double> weight,
         const std::vector<RankProblem>& problems, bool permute,
         std::uint32_t seed) { return make<Dcd1>(rows, label, weight, problems, {.permute = permute, .seed = seed}); },
      "rows"_a, "label"_a.noconvert(), "weight"_a.noconvert(), "problems"_a, nb::kw_only(), "permute"_a, "seed"_a,
      nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>());
  m.def(
      "dcd2",
      [](const AnyRows& rows, Vector<const SampleIndex> label, Vector<const double> weight,
         const std::vector<RankProblem>& problems, bool shrink,
         std::uint32_t seed) { return make<Dcd2>(rows, label, weight, problems, {.shrink = shrink, .seed = seed}); },
      "rows"_a, "label"_a.noconvert(), "weight"_a.noconvert(), "problems"_a, nb::kw_only(), "shrink"_a, "seed"_a,
      nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>());
}

}  // namespace ordsvm
