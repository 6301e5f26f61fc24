// DCD-1 and DCD-2 for Python, which drives them: run, look, judge, run on.
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "bindings/bind.hpp"
#include "bindings/linear.hpp"
#include "linear/dcd1.hpp"
#include "linear/dcd2.hpp"

namespace ordsvm::linear {
namespace {

using Problems = std::vector<RankProblem>;

template <template <class> class Dcd>
std::unique_ptr<RankMachines> make(const RowBlock& block, Vector<const SampleIndex> label, Vector<const double> weight,
                                   const Problems& problems, bool bias, const DcdOptions& options) {
  return std::visit(
      [&]<class View>(const View& view) -> std::unique_ptr<RankMachines> {
        RankSamples samples(BiasedRows(view, bias), span(label), span(weight));
        return std::make_unique<Ranks<Dcd, BiasedRows<View>>>(std::move(samples), problems, options);
      },
      block.rows);
}

}  // namespace
}  // namespace ordsvm::linear

namespace ordsvm {

using namespace linear;

void bind_dcd(nb::module_& m) {
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
            const Unlocked unlocked;
            return machines.run(eps, until, n_threads, monitor);
          },
          "eps"_a, "until"_a, "n_threads"_a, "watch"_a)
      .def("refresh", &RankMachines::refresh, nb::call_guard<Unlocked>())
      .def("beta",
           [](const RankMachines& machines) {
             return to_numpy(machines.beta(), machines.n_samples(), machines.n_ranks());
           })
      .def("position",
           [](const RankMachines& machines) { return to_numpy(machines.position(), machines.n_ranks(), Index{2}); })
      .def(
          "restore",
          [](RankMachines& machines, Matrix<double> beta, Matrix<double> position) {
            machines.restore({beta.data(), beta.size()}, {position.data(), position.size()});
          },
          "beta"_a.noconvert(), "position"_a.noconvert())
      .def("curvature", [](const RankMachines& machines) { return to_numpy(std::vector(machines.curvature())); })
      .def_prop_ro("violation", &RankMachines::violation)
      .def_prop_ro("epochs", &RankMachines::epochs)
      .def_prop_ro("active", &RankMachines::active);
  m.def(
      "dcd1",
      [](const RowBlock& block, Vector<const SampleIndex> label, Vector<const double> weight, const Problems& problems,
         bool bias, bool permute, std::uint64_t seed) {
        return make<Dcd1>(block, label, weight, problems, bias, {.permute = permute, .seed = seed});
      },
      "block"_a, "label"_a.noconvert(), "weight"_a.noconvert(), "problems"_a, nb::kw_only(), "bias"_a, "permute"_a,
      "seed"_a, nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>());
  m.def(
      "dcd2",
      [](const RowBlock& block, Vector<const SampleIndex> label, Vector<const double> weight, const Problems& problems,
         bool bias, bool shrink, std::uint64_t seed) {
        return make<Dcd2>(block, label, weight, problems, bias, {.shrink = shrink, .seed = seed});
      },
      "block"_a, "label"_a.noconvert(), "weight"_a.noconvert(), "problems"_a, nb::kw_only(), "bias"_a, "shrink"_a,
      "seed"_a, nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>());
}

}  // namespace ordsvm
