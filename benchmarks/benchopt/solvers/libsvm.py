from benchmark_utils.base import ContestantSolver


class Solver(ContestantSolver):
    """LIBSVM as scikit-learn's SVC and SVR."""

    name = "LIBSVM"
    contestant = "libsvm"
    requirements = ["scikit-learn"]
