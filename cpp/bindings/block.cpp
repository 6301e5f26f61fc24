// The block method for Python.
#include "bindings/bind.hpp"
#include "bindings/solve.hpp"
#include "solvers/block/block_smo.hpp"

namespace ordsvm {
namespace {

Outcome solve_block(const HingeArrays& hinges, const Cache& cache, const Limits& limits, const LiveArrays& live,
                    const nb::object& watch, Index q1, Index q2, int n_threads, double newton_start,
                    Index steps_of_start) {
  return solve(cache, live, watch, [&](auto& rows, const Variables& variables, Monitor& monitor) {
    return block::BlockSmo(hinges.hinges, rows, variables, {q1, q2, n_threads, newton_start, steps_of_start})
        .run(limits, monitor);
  });
}

}  // namespace

void bind_block(nb::module_& m) {
  m.def("block", &solve_block, "hinges"_a, "cache"_a, "limits"_a, "live"_a, "watch"_a, "q1"_a, "q2"_a, "n_threads"_a,
        "newton_start"_a, "steps_of_start"_a);
}

}  // namespace ordsvm
