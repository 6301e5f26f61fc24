"""What solver="auto" costs beside the best choice: every formulation, small and large, short and long rows."""

from __future__ import annotations

from functools import partial
from typing import Any

from sklearn.metrics.pairwise import rbf_kernel

from benchmarks import timing, works
from benchmarks.contestants import CONTESTANTS
from benchmarks.results import Row, row
from benchmarks.works import Work, make

WORST = 1.3
CALLABLE = "california, a function"  # a callable kernel
SIZES, C_VALUES = (100, 400, 1500, 5000), (1.0, 100.0)
SERIAL = {"SVOR": "gcd"}  # the others have free or ordered thresholds: smo
SOURCES = {  # name: source, models
    "california, 8 features": ("california", ("SVOR", "SVORIM", "SVOREX", "SVC", "SVR")),
    "cpu_act, 21 features": ("cpu_act", ("SVR",)),
    "a9a, sparse, 14 of 123": ("a9a", ("SVC",)),
    "dense, 500 features": ("dense", ("SVC",)),
    "treebank, sparse, 8 of 8569": ("treebank", ("SVOR", "SVORIM", "SVC")),
    CALLABLE: ("california", ("SVORIM", "SVC")),
}
GAMMA = {"california": {"gamma": 0.5}}  # for SVR too
DATA = (
    works.DATA + " Seconds of whole fits at tol 1e-3 with 200 MB of cache and all cores by 'block' and by 'gcd' (SVOR) "
    "or 'smo', taking turns, medians of nine (n = 5000: three; once if above 5 s); n = 100, 400, 1500, "
    "5000, C = 1 and 100. A function: scikit-learn's rbf_kernel, given as one. "
    "The figure of a row is the time of the one that 'auto' stands for over that of the faster "
    "one."
)
EXPLANATION = "See seconds_of: which solver was faster, and by how much."


def run(quick: bool) -> list[Row]:
    rows = [
        _race(name, make(model, source, C, n, **GAMMA.get(source, {})))
        for name, (source, models) in SOURCES.items()
        for model in models
        for n in (SIZES[:2] if quick else SIZES)
        for C in C_VALUES
    ]
    worst = max(row["figure"] for row in rows)
    bound = None if quick else WORST
    claim = "auto: time over that of the best choice, the worst of all works"
    return [row(claim, worst, at_most=bound, explanation=EXPLANATION), *rows]


def _race(name: str, work: Work) -> Row:
    X, y = work.data()
    solvers = ("block", SERIAL.get(work.model, "smo"))
    fits = {solver: partial(_estimator(name, work, solver).fit, X, y) for solver in solvers}
    seconds = timing.race(fits, 9 if (work.n or 0) <= 1500 else 3, threads=None, slow=5.0).medians()
    chosen = _estimator(name, work, "auto").fit(X, y).result_.solver
    claim = f"{work.model}, {name}, n = {work.n}, C = {work.C:g}: time of {chosen} over that of the fastest"
    return row(claim, seconds[chosen] / min(seconds.values()), seconds_of=seconds)


def _estimator(name: str, work: Work, solver: str) -> Any:
    kernel = partial(rbf_kernel, gamma=work.gamma) if name == CALLABLE else work.kernel
    return CONTESTANTS["ordsvm"].estimator(work).set_params(solver=solver, kernel=kernel, cache_size=200.0)
