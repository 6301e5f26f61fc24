from benchmark_utils.base import ContestantSolver


class Solver(ContestantSolver):
    """oneDAL through scikit-learn-intelex."""

    name = "oneDAL"
    contestant = "onedal"
    requirements = ["pip::scikit-learn-intelex"]
