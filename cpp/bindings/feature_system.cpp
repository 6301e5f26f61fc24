// Newton's system by features for Python, which solves it.
#include "linear/interior_point/feature_system.hpp"

#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "bindings/bind.hpp"
#include "bindings/linear.hpp"

namespace ordsvm::linear {
namespace {

std::vector<double> values_of(const Matrix<double>& array) { return {array.data(), array.data() + array.size()}; }

/// Hinges of weight vectors or thresholds, (n_columns, n_labels).
struct Table {
  HingeColumns hinges;
};

Table table_of(Matrix<double> sign, Matrix<double> offset, Matrix<double> cap, Matrix<double> second_offset,
               Matrix<double> second_cap) {
  HingeColumns hinges{static_cast<Index>(sign.shape(1)),
                      static_cast<Index>(sign.shape(0)),
                      0,
                      values_of(sign),
                      values_of(offset),
                      values_of(cap),
                      values_of(second_offset),
                      values_of(second_cap),
                      std::vector<Index>(sign.size(), -1)};
  for (Index label = 0; label < hinges.n_labels; ++label) {
    Index place = 0;
    for (Index column = 0; column < hinges.n_columns; ++column)
      if (hinges.second_cap[column * hinges.n_labels + label] > 0.0)
        hinges.second_place[column * hinges.n_labels + label] = place++;
    hinges.n_second = std::max(hinges.n_second, place);
  }
  return {std::move(hinges)};
}

void begin(FeatureSystem& system, Matrix<double> weights, Matrix<double> change, Matrix<double> thresholds,
           Matrix<double> steps) {
  Direction direction{values_of(weights), values_of(change), {}, {}, {}};
  const double* const row = thresholds.data();
  const std::size_t n = thresholds.shape(1);
  direction.thresholds.assign(row, row + n);
  direction.threshold_change.assign(row + n, row + 2 * n);
  for (std::size_t vector = 0; vector < steps.shape(0); ++vector)
    direction.steps.push_back(
        {steps(vector, 0), steps(vector, 1), steps(vector, 2), steps(vector, 3) > 0.0 ? Move::centre : Move::newton});
  system.begin(std::move(direction));
}

bool add(FeatureSystem& system, const RowBlock& block, Index first, const nb::object& watch) {
  Monitor monitor = monitor_by(watch);
  const Unlocked unlocked;
  return system.add(block.rows, first, monitor);
}

/// v, beta, pull and push of rows, (4 * n_columns, n_rows), from scores and changes (n_rows, n_vectors).
nb::object step_rows(FeatureSystem& system, Matrix<double> scores, Matrix<double> changes, Index first) {
  const Index n_rows = static_cast<Index>(scores.shape(0));
  std::vector<double> out;
  {
    const Unlocked unlocked;
    out = system.step_rows(first, n_rows, scores.data(), changes.data());
  }
  return nb::cast(to_numpy(std::move(out), 4 * system.n_columns(), n_rows));
}

/// The panel (n_rows, width), the sums of columns (n_columns, 4), and those of hinges.
nb::tuple sums(const FeatureSystem& system, Index vector) {
  const SystemSums& sums = system.sums(vector);
  const HingeSums& hinges = sums.hinges;
  const Index panel_rows = static_cast<Index>(sums.panel.size()) / system.width();
  const Index n_columns = static_cast<Index>(sums.columns.size()) / 4;
  return nb::make_tuple(
      to_numpy(std::vector(sums.panel), panel_rows, system.width()),
      to_numpy(std::vector(sums.columns), n_columns, Index{4}),
      nb::make_tuple(hinges.loss, hinges.linear, hinges.complementarity, hinges.moved, hinges.cut, hinges.violation));
}

}  // namespace
}  // namespace ordsvm::linear

namespace ordsvm {

using namespace linear;

void bind_feature_system(nb::module_& m) {
  nb::class_<Table>(m, "HingeColumns")
      .def(
          "__init__",
          [](Table* self, Matrix<double> sign, Matrix<double> offset, Matrix<double> cap, Matrix<double> second_offset,
             Matrix<double> second_cap) { new (self) Table(table_of(sign, offset, cap, second_offset, second_cap)); },
          "sign"_a, "offset"_a, "cap"_a, "second_offset"_a, "second_cap"_a);
  nb::class_<FeatureSystem>(m, "FeatureSystem")
      .def(
          "__init__",
          [](FeatureSystem* self, const Table& table, Vector<const std::int32_t> label, Vector<const double> weight,
             Vector<const double> target, Index n_features, bool thresholds, bool intercept, bool squared,
             int n_threads) {
            new (self) FeatureSystem(table.hinges, {span(label), span(weight), span(target)},
                                     {n_features, thresholds, intercept, squared}, n_threads);
          },
          "table"_a, "label"_a.noconvert(), "weight"_a.noconvert(), "target"_a.noconvert(), nb::kw_only(),
          "n_features"_a, "thresholds"_a, "intercept"_a, "squared"_a, "n_threads"_a, nb::keep_alive<1, 3>(),
          nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>())
      .def("begin", &begin, "weights"_a, "change"_a, "thresholds"_a, "steps"_a)
      .def("add", &add, "block"_a, "first"_a, "watch"_a)
      .def("step_rows", &step_rows, "scores"_a, "changes"_a, "first"_a)
      .def("accept", &FeatureSystem::accept, "vector"_a)
      .def("sums", &sums, "vector"_a)
      .def("beta",
           [](const FeatureSystem& system) { return to_numpy(system.beta(), system.n_samples(), system.n_columns()); })
      .def_prop_ro("first_extra", &FeatureSystem::first_extra)
      .def_prop_ro("rows_read", &FeatureSystem::reads);
}

}  // namespace ordsvm
