from benchmark_utils.base import ContestantSolver


class Solver(ContestantSolver):
    """LIBLINEAR as scikit-learn's LinearSVC and LinearSVR, which penalise the intercept."""

    name = "LIBLINEAR"
    contestant = "liblinear"
    requirements = ["scikit-learn"]
