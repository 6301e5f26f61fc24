"""The solution of a linear machine as a checkpoint keeps it."""

from __future__ import annotations

from collections.abc import Callable

from ordsvm.checkpoint import Keeper, State
from ordsvm.solvers.recorder import facts_of, is_end, result_of
from ordsvm.solvers.solution import DualVariables, LinearSolution


def solve_or_recall(keeper: Keeper | None, solve: Callable[[], LinearSolution]) -> LinearSolution:
    """What an earlier call has found, if it came to the end; or what `solve` finds, which is kept if that does."""
    if keeper is None:
        return solve()
    if keeper.resumed is not None and keeper.resumed.is_done:
        return _solution_of(keeper.resumed)
    solution = solve()
    if is_end(solution.result):
        keeper.finish(_state_of(solution))
    return solution


def _state_of(solution: LinearSolution) -> State:
    arrays = {"coef": solution.coef, "intercept": solution.intercept, "alpha": solution.result.alpha}
    parts = {f"beta{number}": part for number, part in enumerate(solution.beta.parts)}
    facts = {"done": True, "result": facts_of(solution.result), "parts": len(parts)}
    return State(facts, arrays | parts)


def _solution_of(state: State) -> LinearSolution:
    arrays = state.arrays
    beta = DualVariables([arrays[f"beta{number}"] for number in range(state.facts["parts"])])
    result = result_of(state.facts["result"], arrays["alpha"])
    return LinearSolution(arrays["coef"], arrays["intercept"], beta, result)
