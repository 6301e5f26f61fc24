from benchmark_utils.base import ContestantSolver


class Solver(ContestantSolver):
    """This library, with solver="auto"."""

    name = "ordsvm"
    contestant = "ordsvm"
    requirements = ["pip::ordsvm"]
