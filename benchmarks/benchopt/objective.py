"""The primal of a kernel machine, recomputed from what a solver answers."""

import benchmark_utils  # noqa: F401  (the repository is on the path from here on)
import numpy as np
from benchopt import BaseObjective

from benchmarks.works import Answer, Work, primal


class Objective(BaseObjective):
    name = "Support vector machines, ordinal and other"
    url = "https://benchopt.github.io"
    min_benchopt_version = "1.6"
    requirements = ["scikit-learn", "pandas"]

    def set_data(self, work: Work, X, y) -> None:
        self.work, self.X, self.y = work, X, y

    def get_objective(self) -> dict:
        return {"work": self.work, "X": self.X, "y": self.y}

    def evaluate_result(self, answer: Answer) -> dict:
        return {"value": primal(self.work, self.y, answer)}

    def get_one_result(self) -> dict:
        """An untrained machine: all scores and thresholds 0."""
        n_thresholds = self.work.ranks - 1 if self.work.model.startswith("SVOR") else 1
        return {"answer": Answer(0.0, np.zeros(self.X.shape[0]), np.zeros(n_thresholds))}
