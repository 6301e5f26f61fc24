"""What solver="auto" costs beside the best choice: every formulation, small and large, short and long rows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from sklearn.metrics.pairwise import rbf_kernel

from benchmarks import timing, works
from benchmarks.contestants import CONTESTANTS
from benchmarks.results import Row, other_rows, row
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
FEW = "few rows of"  # SVR whose time is about a millisecond
FEW_SIZES, FEW_C_VALUES = (50, 75, 100, 200), (1.0, 10.0, 100.0)
FEW_SOURCES = ("california", "census", "cpu_act", "abalone", "boston")
DATA = (
    works.DATA + " Seconds of whole fits at tol 1e-3 with 200 MB of cache and all cores by 'block' and by 'gcd' (SVOR) "
    "or 'smo', taking turns, medians of nine (n = 5000: three; once if above 5 s); n = 100, 400, 1500, "
    "5000, C = 1 and 100. A function: scikit-learn's rbf_kernel, given as one. Few rows: SVR of n = 50, 75, 100, 200, "
    "C = 1, 10 and 100, where gamma = 1 / columns. "
    "The figure of a row is the time of the one that 'auto' stands for over that of the faster "
    "one."
)
EXPLANATION = "See seconds_of: which solver was faster, and by how much."
WORST_OF_ALL = "auto: time over that of the best choice, the worst of all works"


def _works() -> Iterator[tuple[str, Work]]:
    """Every work, by the words for its data."""
    for name, (source, models) in SOURCES.items():
        for model in models:
            for n in SIZES:
                yield from ((name, make(model, source, C, n, **GAMMA.get(source, {}))) for C in C_VALUES)
    for source in FEW_SOURCES:
        for n in FEW_SIZES:
            yield from ((f"{FEW} {source}", make("SVR", source, C, n)) for C in FEW_C_VALUES)


ROWS = {f"{work.model}, {name}, n = {work.n}, C = {work.C:g}": (name, work) for name, work in _works()}


def run(quick: bool, rows: list[str] | None = None) -> list[Row]:
    """The works whose names begin with one of `rows`, or all. Quick: those of up to 400 samples, no bounds."""
    wanted = [name for name in ROWS if rows is None or any(name.startswith(prefix) for prefix in rows)]
    made = [_race(name, *ROWS[name]) for name in wanted if not quick or (ROWS[name][1].n or 0) <= SIZES[1]]
    earlier = [] if rows is None or quick else other_rows("auto", made)
    figures = {one["claim"]: one["figure"] for one in earlier + made if not one["claim"].startswith("auto: ")}
    few = {claim for claim in figures if FEW in claim}
    return [
        *_worst(WORST_OF_ALL, [figures[claim] for claim in figures if claim not in few], quick),
        *_worst(f"{WORST_OF_ALL} of few rows", [figures[claim] for claim in few], quick),
        *made,
    ]


def _worst(claim: str, figures: list[float], quick: bool) -> list[Row]:
    bound = None if quick else WORST
    return [row(claim, max(figures), at_most=bound, explanation=EXPLANATION)] if figures else []


def _race(row_name: str, name: str, work: Work) -> Row:
    X, y = work.data()
    solvers = ("block", SERIAL.get(work.model, "smo"))
    fits = {solver: partial(_estimator(name, work, solver).fit, X, y) for solver in solvers}
    seconds = timing.race(fits, 9 if (work.n or 0) <= 1500 else 3, threads=None, slow=5.0).medians()
    chosen = _estimator(name, work, "auto").fit(X, y).result_.solver
    claim = f"{row_name}: time of the one taken over that of the fastest"
    return row(claim, seconds[chosen] / min(seconds.values()), taken=chosen, seconds_of=seconds)


def _estimator(name: str, work: Work, solver: str) -> Any:
    kernel = partial(rbf_kernel, gamma=work.gamma) if name == CALLABLE else work.kernel
    return CONTESTANTS["ordsvm"].estimator(work).set_params(solver=solver, kernel=kernel, cache_size=200.0)
