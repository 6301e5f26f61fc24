"""What the files of solvers and datasets here have in common."""

from typing import Any

from benchopt import BaseDataset, BaseSolver

from benchmarks.contestants import CONTESTANTS
from benchmarks.works import make


class ContestantSolver(BaseSolver):
    """A file names its contestant, which is fitted with lower and lower tolerances."""

    sampling_strategy = "tolerance"
    contestant: str

    def skip(self, work: Any, X: Any, y: Any) -> tuple[bool, str | None]:
        contestant = CONTESTANTS[self.contestant]
        reason = contestant.refuses(work) or ("" if contestant.answer else contestant.why_no_answer)
        return bool(reason), reason or None

    def set_objective(self, work: Any, X: Any, y: Any) -> None:
        self.work, self.X, self.y = work, X, y

    def run(self, tolerance: float) -> None:
        tol = min(max(tolerance, 1e-6), 1.0)
        self.model = CONTESTANTS[self.contestant].estimator(self.work, tol).fit(self.X, self.y)

    def get_result(self) -> dict[str, Any]:
        return {"answer": CONTESTANTS[self.contestant].answer(self.work, self.model, self.X)}


class WorkDataset(BaseDataset):
    """A file names one of `benchmarks.works.SOURCES` and, as parameters, what is trained on how many of its rows."""

    source: str

    def get_data(self) -> dict[str, Any]:
        n = None if self.n == "all" else self.n
        work = make(self.model, self.source, self.C, n, kernel=getattr(self, "kernel", "rbf"))
        X, y = work.data()
        return {"work": work, "X": X, "y": y}
