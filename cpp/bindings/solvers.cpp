// The problem and the solvers on cached rows for Python.
#include "bindings/bind.hpp"
#include "bindings/solve.hpp"
#include "optimality/proof.hpp"
#include "solvers/gcd.hpp"
#include "solvers/papers/async/asygcd.hpp"
#include "solvers/papers/async/asyorgcd.hpp"
#include "solvers/papers/parsmo/parsmo.hpp"
#include "solvers/smo.hpp"

namespace ordsvm {
namespace {

HingeArrays make_hinges(Vector<const SampleIndex> sample, Vector<const SampleIndex> threshold,
                        Vector<const double> sign, Vector<const double> offset, Vector<const double> cap,
                        Index n_samples, Index n_thresholds, Treatment treatment) {
  HingeArrays arrays{sample, threshold, sign, offset, cap, {}};
  arrays.hinges = {span(sample), span(threshold), span(sign), span(offset), span(cap),
                   n_samples,    n_thresholds,    treatment,  {},           {}};
  arrays.hinges.index();
  return arrays;
}

/// primal, dual, gap, violation, thresholds, gamma
nb::tuple prove_alpha(const HingeArrays& hinges, Vector<const double> alpha, Vector<const double> score,
                      Vector<const double> error, double roundings, double largest) {
  Proof proof = [&] {
    const Unlocked unlocked;
    return prove(hinges.hinges, span(alpha), {span(score), span(error)}, {roundings, largest});
  }();
  return nb::make_tuple(proof.primal, proof.dual, proof.gap, proof.violation, to_numpy(std::move(proof.thresholds)),
                        to_numpy(std::move(proof.gamma)));
}

Outcome solve_smo(const HingeArrays& hinges, const Cache& cache, const Limits& limits, const LiveArrays& live,
                  const nb::object& watch, Selection selection) {
  return solve(cache, live, watch, [&](auto& rows, const Variables& variables, Monitor& monitor) {
    KernelState state(rows, hinges.hinges, variables);
    return Smo(hinges.hinges, state, variables, selection).run(limits, monitor);
  });
}

Outcome solve_parsmo(const HingeArrays& hinges, const Cache& cache, const Limits& limits, const LiveArrays& live,
                     const nb::object& watch, const ParsmoOptions& options) {
  return solve(cache, live, watch, [&](auto& rows, const Variables& variables, Monitor& monitor) {
    KernelState state(rows, hinges.hinges, variables);
    return Parsmo(hinges.hinges, state, variables, options).run(limits, monitor);
  });
}

Outcome solve_gcd(const HingeArrays& hinges, const Cache& cache, const Limits& limits, const LiveArrays& live,
                  const nb::object& watch) {
  return solve(cache, live, watch, [&](auto& rows, const Variables& variables, Monitor& monitor) {
    KernelState state(rows, hinges.hinges, variables);
    return Gcd(hinges.hinges, state, variables).run(limits, monitor);
  });
}

Outcome solve_asygcd(const HingeArrays& hinges, const Cache& cache, const Limits& limits, const LiveArrays& live,
                     const nb::object& watch, const Team& team) {
  return solve(cache, live, watch, [&](auto& rows, const Variables& variables, Monitor& monitor) {
    return AsyGcd(hinges.hinges, rows, variables, team).run(limits, monitor);
  });
}

Outcome solve_asyorgcd(const HingeArrays& hinges, const Cache& cache, const Limits& limits, const LiveArrays& live,
                       const nb::object& watch, const Team& team, const OuterIterations& outer) {
  return solve(cache, live, watch, [&](auto& rows, const Variables& variables, Monitor& monitor) {
    return AsyOrgcd(hinges.hinges, rows, variables, team, outer).run(limits, monitor);
  });
}

void bind_problem(nb::module_& m) {
  nb::enum_<Treatment>(m, "Treatment")
      .value("none", Treatment::none)
      .value("penalized", Treatment::penalized)
      .value("free", Treatment::free)
      .value("ordered", Treatment::ordered);
  nb::class_<HingeArrays>(m, "Hinges");
  m.def("hinges", &make_hinges, "sample"_a, "threshold"_a, "sign"_a, "offset"_a, "cap"_a, nb::kw_only(), "n_samples"_a,
        "n_thresholds"_a, "treatment"_a);
  m.def("prove", &prove_alpha, "hinges"_a, "alpha"_a, "score"_a, "error"_a, "roundings"_a, "largest"_a);
  nb::enum_<Status>(m, "Status")
      .value("converged", Status::converged)
      .value("max_iter", Status::max_iter)
      .value("stopped", Status::stopped)
      .value("imprecise", Status::imprecise)
      .value("hands_over", Status::hands_over);
  nb::enum_<Selection>(m, "Selection").value("mvp", Selection::mvp).value("second_order", Selection::second_order);
  nb::class_<Limits>(m, "Limits")
      .def(
          "__init__",
          [](Limits* self, double tol, Index max_steps, Index before) { new (self) Limits{tol, max_steps, before}; },
          "tol"_a, "max_steps"_a, "steps_before"_a = 0);
  nb::class_<LiveArrays>(m, "LiveArrays")
      .def(
          "__init__",
          [](LiveArrays* self, Vector<double> alpha, Vector<double> score, Vector<double> threshold,
             Vector<Index> active) { new (self) LiveArrays{alpha, score, threshold, active, {}}; },
          "alpha"_a.noconvert(), "score"_a.noconvert(), "threshold"_a.noconvert(), "active"_a.noconvert())
      .def(
          "__init__",
          [](LiveArrays* self, Vector<double> alpha, Vector<double> score, Vector<double> threshold,
             Vector<Index> active,
             Vector<double> error) { new (self) LiveArrays{alpha, score, threshold, active, error}; },
          "alpha"_a.noconvert(), "score"_a.noconvert(), "threshold"_a.noconvert(), "active"_a.noconvert(),
          "error"_a.noconvert());
  nb::class_<Outcome>(m, "Outcome")
      .def_ro("status", &Outcome::status)
      .def_ro("steps", &Outcome::steps)
      .def_ro("kernel_rows", &Outcome::kernel_rows);
}

}  // namespace

void bind_solvers(nb::module_& m) {
  bind_problem(m);
  nb::enum_<Partition>(m, "Partition").value("sample", Partition::sample).value("threshold", Partition::threshold);
  nb::enum_<Sharing>(m, "Sharing").value("atomic", Sharing::atomic).value("log", Sharing::log);
  nb::enum_<Shrink>(m, "Shrink").value("block", Shrink::block).value("global", Shrink::global);
  nb::class_<Team>(m, "Team").def(
      "__init__",
      [](Team* self, int n_threads, Partition partition, Sharing sharing, Index max_shrink_steps, double pace,
         Shrink shrink) { new (self) Team{n_threads, partition, sharing, max_shrink_steps, pace, shrink}; },
      "n_threads"_a, "partition"_a, "sharing"_a, "max_shrink_steps"_a, "pace"_a, "shrink"_a);
  nb::class_<OuterIterations>(m, "OuterIterations")
      .def(
          "__init__",
          [](OuterIterations* self, Index max_inner_steps, bool gathering) {
            new (self) OuterIterations{max_inner_steps, gathering};
          },
          "max_inner_steps"_a, "gathering"_a);
  m.def("asygcd", &solve_asygcd, "hinges"_a, "cache"_a, "limits"_a, "live"_a, "watch"_a, "team"_a);
  m.def("asyorgcd", &solve_asyorgcd, "hinges"_a, "cache"_a, "limits"_a, "live"_a, "watch"_a, "team"_a, "outer"_a);
  m.def("smo", &solve_smo, "hinges"_a, "cache"_a, "limits"_a, "live"_a, "watch"_a, "selection"_a);
  nb::enum_<Others>(m, "Others").value("light", Others::light).value("cache", Others::cache);
  nb::class_<ParsmoOptions>(m, "ParsmoOptions")
      .def(
          "__init__",
          [](ParsmoOptions* self, Others others, Index n_pairs, double epsilon, bool gathering, int n_threads) {
            new (self) ParsmoOptions{others, n_pairs, epsilon, gathering, n_threads};
          },
          "others"_a, "n_pairs"_a, "epsilon"_a, "gathering"_a, "n_threads"_a);
  m.def("parsmo", &solve_parsmo, "hinges"_a, "cache"_a, "limits"_a, "live"_a, "watch"_a, "options"_a);
  m.def("gcd", &solve_gcd, "hinges"_a, "cache"_a, "limits"_a, "live"_a, "watch"_a);
}

}  // namespace ordsvm
