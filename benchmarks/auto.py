"""What solver="auto" costs beside the best choice: every formulation, small and large, short and long rows."""

from __future__ import annotations

import statistics
from functools import partial
from typing import Any

from sklearn.metrics.pairwise import rbf_kernel

import ordsvm
from benchmarks import timing, works
from benchmarks.results import Row, row
from benchmarks.works import Work

WORST = 1.3
SIZES, PRICES = (100, 400, 1500, 5000), (1.0, 100.0)
SERIAL = {"SVOR": "gcd"}  # the others have free or ordered thresholds: smo
SOURCES = {  # name: source, gamma
    "california, 8 features": ("california_housing", 0.5),
    "cpu_act, 21 features": ("cpu_act", 1 / 21),
    "a9a, sparse, 14 of 123": ("a9a", 1 / 123),
    "dense, 500 features": ("dense", 1 / 500),
    "treebank, sparse, 8 of 8569": ("treebank", 0.5),
    "california, a function": ("california_housing", 0.5),
}
MODELS = {
    "california, 8 features": ("SVOR", "SVORIM", "SVOREX", "SVC", "SVR"),
    "cpu_act, 21 features": ("SVR",),
    "a9a, sparse, 14 of 123": ("SVC",),
    "dense, 500 features": ("SVC",),
    "treebank, sparse, 8 of 8569": ("SVOR", "SVORIM", "SVC"),
    "california, a function": ("SVORIM", "SVC"),
}
DATA = (
    works.DATA + " Seconds of whole fits at tol 1e-3 with 200 MB of cache and all cores by 'block' and by 'gcd' (SVOR) "
    "or 'smo', taking turns, medians of nine (n = 5000: three; who takes more than 5 s: once); n = 100, 400, 1500, "
    "5000, C = 1 and 100. A function: scikit-learn's rbf_kernel, given as one. "
    "The figure of a row is the time of the one that 'auto' stands for over that of the faster "
    "one."
)
EXPLANATION = "See seconds_of: which solver was faster, and by how much."


def run(quick: bool) -> list[Row]:
    rows = []
    for name, (source, gamma) in SOURCES.items():
        for model in MODELS[name]:
            for n in SIZES[:2] if quick else SIZES:
                kernel = "function" if name.endswith("function") else "rbf"
                rows += [_race(name, Work("", model, source, C, gamma, n, kernel=kernel)) for C in PRICES]
    worst = max(row["figure"] for row in rows)
    bound = None if quick else WORST
    claim = "auto: time over that of the best choice, the worst of all works"
    return [row(claim, worst, at_most=bound, explanation=EXPLANATION), *rows]


def _race(name: str, work: Work) -> Row:
    X, y = work.data()
    solvers = ("block", SERIAL.get(work.model, "smo"))
    runs = {solver: partial(_fit, work, X, y, solver) for solver in solvers}
    times = timing.alternate(runs, 9 if (work.n or 0) <= 1500 else 3, threads=None, slow=5.0)
    seconds = {solver: statistics.median(taken) for solver, taken in times.items()}
    chosen = _fit(work, X, y, "auto").result_.solver
    claim = f"{work.model}, {name}, n = {work.n}, C = {work.C:g}: time of {chosen} over that of the fastest"
    return row(claim, seconds[chosen] / min(seconds.values()), seconds_of=seconds)


def _fit(work: Work, X: Any, y: Any, solver: str) -> Any:
    options: dict[str, Any] = {"epsilon": work.epsilon} if work.model == "SVR" else {}
    if work.kernel == "function":
        options["kernel"] = partial(rbf_kernel, gamma=work.gamma)
    return getattr(ordsvm, work.model)(C=work.C, gamma=work.gamma, solver=solver, **options).fit(X, y)
