// Several problems in one call, for Python.
#include "solvers/together/together.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include "bindings/bind.hpp"
#include "bindings/solve.hpp"

namespace ordsvm {
namespace {

using together::Found, together::Options, together::Problems;

/// Tables of hinges on arrays of Python's, which it keeps alive.
struct Tables {
  Vector<const SampleIndex> sample;
  Vector<const double> sign, offset, cap;
  Vector<const Index> begin;
  Problems problems;
};

void make_tables(Tables* self, Vector<const SampleIndex> sample, Vector<const double> sign, Vector<const double> offset,
                 Vector<const double> cap, Vector<const Index> begin, Index n_samples, Treatment treatment) {
  const Problems problems{span(sample), span(sign), span(offset), span(cap), span(begin), n_samples, treatment};
  new (self) Tables{sample, sign, offset, cap, begin, problems};
}

void make_options(Options* self, double tol, double newton_share, Index max_steps, Index max_steps_a_hinge,
                  double seconds, double look_seconds, double budget, int n_threads) {
  new (self) Options{tol, newton_share, max_steps, max_steps_a_hinge, seconds, look_seconds, budget, n_threads};
}

/// A signal, such as Ctrl-C, ends all problems.
bool check_signals() {
  const Locked locked;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  return false;
}

/// What was found of every problem, one after the other: primal, dual, gap, violation, threshold, seconds, steps, rows
/// of K, and how it ended; and the looks at them: the same figures but the end, then support vectors, the threshold of
/// the dual's gradient, and the number of the problem. None where memory for rows does not suffice.
std::optional<std::pair<Array, Array>> solve_together(const RowSource& rows, const Tables& tables, Vector<double> alpha,
                                                      std::optional<Vector<double>> score, const Options& options) {
  std::vector<Found> found(static_cast<std::size_t>(tables.problems.count()));
  {
    const Call call;
    const Unlocked unlocked;
    if (!together::solve(rows, tables.problems, span(alpha), score ? span(*score) : std::span<double>(), found, options,
                         check_signals))
      return std::nullopt;
  }
  std::vector<double> figures, looks;
  const auto append = [](std::vector<double>& to, const auto& of, auto... more) {
    to.insert(to.end(),
              {of.primal, of.dual, of.gap, of.violation, of.threshold, of.seconds, static_cast<double>(of.steps),
               static_cast<double>(of.kernel_rows), static_cast<double>(more)...});
  };
  for (std::size_t p = 0; p < found.size(); ++p) {
    append(figures, found[p], found[p].end);
    for (const auto& look : found[p].looks) append(looks, look, look.n_support, look.dual_threshold, p);
  }
  return std::pair(to_numpy(std::move(figures)), to_numpy(std::move(looks)));
}

}  // namespace

void bind_together(nb::module_& m) {
  nb::class_<Tables>(m, "Tables")
      .def("__init__", &make_tables, "sample"_a, "sign"_a, "offset"_a, "cap"_a, "begin"_a, nb::kw_only(), "n_samples"_a,
           "treatment"_a);
  nb::class_<Options>(m, "TogetherOptions")
      .def("__init__", &make_options, nb::kw_only(), "tol"_a, "newton_share"_a, "max_steps"_a, "max_steps_a_hinge"_a,
           "seconds"_a, "look_seconds"_a, "budget"_a, "n_threads"_a);
  m.def("solve_together", &solve_together, "rows"_a, "tables"_a, "alpha"_a, "score"_a.none(), "options"_a);
}

}  // namespace ordsvm
