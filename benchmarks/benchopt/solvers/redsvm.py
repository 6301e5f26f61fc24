from benchmark_utils.base import ContestantSolver


class Solver(ContestantSolver):
    """REDSVM of skordinal: skipped here, because its objective is another one; the table has its times."""

    name = "REDSVM"
    contestant = "redsvm"
    requirements = ["pip::skordinal==0.2.0"]
