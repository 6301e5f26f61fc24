"""Problems that are solved one after the other, as a checkpoint keeps them: those solved, and the one under way."""

from __future__ import annotations

from collections.abc import Sequence

from ordsvm.checkpoint import Keeper, State
from ordsvm.problem import Problem
from ordsvm.solvers.recorder import facts_of, is_end, result_of
from ordsvm.solvers.solution import Solution


class KeptProblems:
    """The states of all problems of a fit; without a keeper nothing is kept."""

    def __init__(self, problems: Sequence[Problem], keeper: Keeper | None) -> None:
        self._problems, self._keeper = problems, keeper
        resumed = None if keeper is None else keeper.resumed
        self._states = {} if resumed is None else resumed.parts()
        self._is_new = False

    def solution(self, number: int) -> Solution | None:
        """What an earlier call has found, if it came to the end."""
        state = self._states.get(str(number))
        if state is None or not state.is_done:
            return None
        alpha = state.arrays["alpha"]
        result = result_of(state.facts["result"], alpha)
        return Solution(result, self._problems[number].beta(alpha), state.arrays["thresholds"])

    def keeper(self, number: int) -> Keeper | None:
        """For the states of one problem under way."""
        if self._keeper is None:
            return None

        def with_others(state: State) -> State:
            self._states[str(number)] = state
            return State.joined(self._states)

        return self._keeper.part(self._states.get(str(number)), with_others)

    def add(self, number: int, solution: Solution) -> None:
        """A problem that has been worked on. Where a limit has ended it, its last state stays."""
        if self._keeper is None or not is_end(solution.result):
            return
        arrays = {"alpha": solution.result.alpha, "thresholds": solution.thresholds}
        self._states[str(number)] = State({"done": True, "result": facts_of(solution.result)}, arrays)
        self._is_new = True
        if self._keeper.due():
            self._keeper.keep(State.joined(self._states))

    def finish(self) -> None:
        if self._keeper is not None and self._is_new:
            self._keeper.finish(State.joined(self._states))
