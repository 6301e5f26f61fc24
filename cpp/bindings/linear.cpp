// Linear machines for Python.
#include "bindings/linear.hpp"

#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "bindings/bind.hpp"
#include "linear/thresholds.hpp"

namespace ordsvm::linear {
namespace {

std::vector<double> values_of(const Matrix<double>& array) { return {array.data(), array.data() + array.size()}; }

template <class T, class I>
void bind_csr(nb::module_& m) {
  m.def(
      "csr_row_block",
      [](Vector<const T> values, Vector<const I> columns, Vector<const I> starts, Index n_columns) {
        const Index n_rows = static_cast<Index>(starts.size()) - 1;
        return RowBlock{CsrView<T, I>{values.data(), columns.data(), starts.data(), n_rows, n_columns}};
      },
      "values"_a.noconvert(), "columns"_a.noconvert(), "starts"_a.noconvert(), "n_columns"_a, nb::keep_alive<0, 1>(),
      nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>());
}

template <class T>
void bind_dense(nb::module_& m) {
  m.def(
      "dense_row_block", [](Matrix<T> values) { return RowBlock{view(values)}; }, "values"_a.noconvert(),
      nb::keep_alive<0, 1>());
}

LabelledSamples samples_of(const Vector<const std::int32_t>& label, const Vector<const double>& weight,
                           const Vector<const double>& target, const Vector<const float>& norm) {
  return {span(label), span(weight), span(target), span(norm)};
}

void descend(Machine& machine, const RowBlock& block, Place place, Index parts, double share, int n_threads,
             const nb::object& watch, bool ahead) {
  Monitor monitor = monitor_by(watch);
  const Unlocked unlocked;
  machine.pass(block.rows, place, parts, share, n_threads, monitor, ahead);
}

/// The proven weights, (features, columns), without a copy.
nb::ndarray<nb::numpy, double, nb::ndim<2>> take_weights(Machine& machine) {
  auto* weights = new Buffer<double>(machine.take_weights());
  nb::capsule owner(weights, [](void* p) noexcept { delete static_cast<Buffer<double>*>(p); });
  return {weights->data(),
          {static_cast<std::size_t>(machine.n_features()), static_cast<std::size_t>(machine.n_columns())},
          owner};
}

nb::ndarray<nb::numpy, double, nb::ndim<2>> get_variables(const Machine& machine, Index n_samples, Index first) {
  std::vector<double> values(n_samples * machine.n_variables());
  for (Index i = 0; i < n_samples; ++i) machine.get_variables(first + i, values.data() + i * machine.n_variables());
  return to_numpy(std::move(values), n_samples, machine.n_variables());
}

/// Over the samples, one a column.
auto variable_sums(const Machine& machine, Index n_samples) {
  std::vector<double> sums(machine.n_variables(), 0.0), values(machine.n_variables());
  for (Index i = 0; i < n_samples; ++i) {
    machine.get_variables(i, values.data());
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += values[k];
  }
  return to_numpy(std::move(sums));
}

template <class W>
nb::object as_array(const Kept& kept, Index n_samples) {
  nb::capsule owner(new std::shared_ptr<void>(kept.owner),
                    [](void* p) noexcept { delete static_cast<std::shared_ptr<void>*>(p); });
  const std::size_t shape[] = {static_cast<std::size_t>(n_samples), static_cast<std::size_t>(kept.columns)};
  return nb::cast(nb::ndarray<nb::numpy, const W>(static_cast<const W*>(kept.values), 2, shape, owner));
}

/// Arrays (n_samples, columns), side by side all dual variables, without a copy.
nb::list take_variables(Machine& machine, Index n_samples) {
  nb::list arrays;
  for (const Kept& kept : machine.take_variables())
    arrays.append(kept.precise ? as_array<double>(kept, n_samples) : as_array<float>(kept, n_samples));
  return arrays;
}

void bind_machine(nb::module_& m) {
  nb::class_<Sums>(m, "Sums")
      .def_ro("gap", &Sums::gap)
      .def_ro("loss", &Sums::loss)
      .def_ro("moved", &Sums::moved)
      .def_ro("linear", &Sums::linear)
      .def_ro("violation", &Sums::violation);
  nb::class_<Certificate>(m, "LinearCertificate")
      .def_ro("primal", &Certificate::primal)
      .def_ro("dual", &Certificate::dual)
      .def_ro("violation", &Certificate::violation);
  nb::class_<Machine>(m, "Machine")
      .def(
          "descend",
          [](Machine& machine, const RowBlock& block, Index first, Index parts, double share, int n_threads,
             const nb::object& watch,
             bool ahead) { descend(machine, block, {first}, parts, share, n_threads, watch, ahead); },
          "block"_a, "first"_a, "parts"_a, "share"_a, "n_threads"_a, "watch"_a, "ahead"_a = false)
      .def(
          "descend",
          [](Machine& machine, const RowBlock& block, Vector<const Index> samples, Index parts, double share,
             int n_threads, const nb::object& watch,
             bool ahead) { descend(machine, block, {0, samples.data()}, parts, share, n_threads, watch, ahead); },
          "block"_a, "samples"_a.noconvert(), "parts"_a, "share"_a, "n_threads"_a, "watch"_a, "ahead"_a = false)
      .def("take_sums", &Machine::take_sums)
      .def("begin_proof", &Machine::begin_proof, nb::call_guard<Unlocked>())
      .def(
          "begin_scores",
          [](Machine& machine, Matrix<double> weights) { machine.begin_scores({weights.data(), weights.size()}); },
          "weights"_a)
      .def("proof", &Machine::proof)
      .def(
          "build", [](Machine& machine, const RowBlock& block, Index first) { machine.build(block.rows, first); },
          "block"_a, "first"_a, nb::call_guard<Unlocked>())
      .def(
          "score",
          [](Machine& machine, const RowBlock& block, Index first, int n_threads, const nb::object& watch) {
            Monitor monitor = monitor_by(watch);
            const Unlocked unlocked;
            machine.score(block.rows, first, n_threads, monitor);
          },
          "block"_a, "first"_a, "n_threads"_a, "watch"_a)
      .def("certificate", &Machine::certificate, nb::call_guard<Unlocked>())
      .def("resume", &Machine::resume, nb::call_guard<Unlocked>())
      .def(
          "rebuild", [](Machine& machine, const RowBlock& block, Index first) { machine.rebuild(block.rows, first); },
          "block"_a, "first"_a, nb::call_guard<Unlocked>())
      .def(
          "set_weights",
          [](Machine& machine, Matrix<double> weights, Vector<const double> sums) {
            machine.set_weights({weights.data(), weights.size()}, span(sums));
          },
          "weights"_a, "sums"_a)
      .def("take_weights", &take_weights)
      .def("biases", [](const Machine& machine) { return to_numpy(machine.biases()); })
      .def(
          "set_biases", [](Machine& machine, Vector<const double> values) { machine.set_biases(span(values)); },
          "values"_a)
      .def("variables", &get_variables, "n_samples"_a, "first"_a = 0)
      .def("variable_sums", &variable_sums, "n_samples"_a)
      .def("take_variables", &take_variables, "n_samples"_a)
      .def(
          "set_variables",
          [](Machine& machine, Matrix<double> values, Index first) {
            for (std::size_t i = 0; i < values.shape(0); ++i)
              machine.set_variables(first + static_cast<Index>(i), values.data() + i * values.shape(1));
          },
          "values"_a, "first"_a = 0);
}

}  // namespace
}  // namespace ordsvm::linear

namespace ordsvm {

using namespace linear;

void bind_linear(nb::module_& m) {
  nb::class_<RowBlock>(m, "RowBlock").def("__len__", [](const RowBlock& block) { return count(block.rows); });
  bind_csr<float, std::int32_t>(m);
  bind_csr<float, std::int64_t>(m);
  bind_csr<double, std::int32_t>(m);
  bind_csr<double, std::int64_t>(m);
  bind_dense<float>(m);
  bind_dense<double>(m);
  m.def(
      "squared_norms",
      [](const RowBlock& block, Vector<float> norms, Index first, int n_threads) {
        squared_norms(block.rows, norms.data() + first, n_threads);
      },
      "block"_a, "norms"_a.noconvert(), "first"_a, "n_threads"_a, nb::call_guard<Unlocked>());
  nb::class_<Options>(m, "LinearOptions")
      .def(
          "__init__",
          [](Options* self, bool intercept, bool squared, bool precise, double rho, int n_threads, std::uint64_t seed) {
            new (self) Options{intercept, squared, precise, rho, n_threads, seed};
          },
          nb::kw_only(), "intercept"_a, "squared"_a, "precise"_a, "rho"_a, "n_threads"_a, "seed"_a);
  bind_machine(m);
  m.def(
      "lane_machine",
      [](Matrix<double> lower, Matrix<double> upper, Matrix<double> offset, Matrix<double> epsilon,
         Vector<const std::int32_t> label, Vector<const double> weight, Vector<const double> target,
         Vector<const float> norm, Index n_features, const Options& options) {
        const LaneTable table{values_of(lower),
                              values_of(upper),
                              values_of(offset),
                              values_of(epsilon),
                              static_cast<Index>(lower.shape(0)),
                              static_cast<Index>(lower.shape(1))};
        return make_lanes(table, samples_of(label, weight, target, norm), n_features, options);
      },
      "lower"_a, "upper"_a, "offset"_a, "epsilon"_a, "label"_a.noconvert(), "weight"_a.noconvert(),
      "target"_a.noconvert(), "norm"_a.noconvert(), "n_features"_a, "options"_a, nb::keep_alive<0, 5>(),
      nb::keep_alive<0, 6>(), nb::keep_alive<0, 7>(), nb::keep_alive<0, 8>());
  m.def(
      "threshold_machine",
      [](Matrix<double> sign, Matrix<double> cap, Vector<const std::int32_t> label, Vector<const double> weight,
         Vector<const float> norm, Index n_features, const Options& options) {
        const ThresholdTable table{values_of(sign), values_of(cap), static_cast<Index>(sign.shape(0)),
                                   static_cast<Index>(sign.shape(1))};
        return make_thresholds(table, {span(label), span(weight), {}, span(norm)}, n_features, options);
      },
      "sign"_a, "cap"_a, "label"_a.noconvert(), "weight"_a.noconvert(), "norm"_a.noconvert(), "n_features"_a,
      "options"_a, nb::keep_alive<0, 3>(), nb::keep_alive<0, 4>(), nb::keep_alive<0, 5>());
}

}  // namespace ordsvm
