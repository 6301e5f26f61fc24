from benchmark_utils.base import ContestantSolver


class Solver(ContestantSolver):
    """Chu and Keerthi's own program for SVORIM and SVOREX, as wrapped by skordinal."""

    name = "SVOR-authors"
    contestant = "authors"
    requirements = ["pip::skordinal==0.2.0"]
