"""Time against primal suboptimality: every contestant at several tolerances, judged by one objective."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks import drawing, timing
from benchmarks.contestants import CONTESTANTS, Contestant
from benchmarks.results import Row, row
from benchmarks.works import Work, make, primal
from ordsvm import certify

TOLERANCES = (1.0, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4)
DATA = (
    "curves: a fit at each of the tolerances 1 to 1e-4; suboptimality is (primal - D) / D, the primal recomputed in "
    "float64 from the answer, D the dual objective of our fit at tol 1e-6, which the optimum is not below."
)
WORKS = {
    "SVORIM, california 2000, C = 10": make("SVORIM", "california", 10.0, 2000),
    "SVC, a9a 5000, C = 1": make("SVC", "a9a", 1.0, 5000),
    "SVR, california 5000, C = 1": make("SVR", "california", 1.0, 5000),
}

Curve = list[tuple[float, float, float]]  # tolerance, seconds, suboptimality


def run(quick: bool) -> list[Row]:
    """Rows without bounds: the seconds at tol 1e-3, or the nearest, with the whole curve beside them."""
    found = {name: _curves(work.reduced(300) if quick else work, quick) for name, work in WORKS.items()}
    if not quick:
        drawing.save("peers.png", lambda axes: _draw(axes, found), (1, len(found)), (4.6, 3.8))
    return [
        row(
            f"curves: {name}: seconds of {title} at tol {curve[-2][0]:g}", curve[-2][1], tol_seconds_suboptimality=curve
        )
        for name, curves in found.items()
        for title, curve in curves.items()
    ]


def _curves(work: Work, quick: bool) -> dict[str, Curve]:
    X, y = work.data()
    reference = certify(CONTESTANTS["ordsvm"].estimator(work, 1e-6).fit(X, y), X, y)
    here = [one for one in CONTESTANTS.values() if one.answer is not None and not one.refuses(work)]
    tolerances = TOLERANCES[::2] if quick else TOLERANCES
    return {one.title: [_point(one, work, X, y, tol, reference.dual) for tol in tolerances] for one in here}


def _point(contestant: Contestant, work: Work, X: Any, y: Any, tol: float, dual: float) -> tuple[float, float, float]:
    model = contestant.estimator(work, tol)
    seconds = timing.seconds(lambda: model.fit(X, y))
    assert contestant.answer is not None
    suboptimality = (primal(work, y, contestant.answer(work, model, X)) - dual) / abs(dual)
    return tol, seconds, suboptimality


def _draw(axes: np.ndarray, found: Mapping[str, Mapping[str, Curve]]) -> None:
    for axis, (name, curves) in zip(axes[0], found.items(), strict=True):
        for title, curve in curves.items():
            _, seconds, suboptimality = zip(*curve, strict=True)
            axis.loglog(seconds, [max(value, 1e-8) for value in suboptimality], "o-", markersize=4, label=title)
        axis.set(title=name, xlabel="seconds", ylabel="primal suboptimality, relative")
        axis.set_xticks([0.01, 0.03, 0.1, 0.3, 1.0, 3.0], ["0.01", "0.03", "0.1", "0.3", "1", "3"])
        axis.set_xticks([], minor=True)
        axis.set_xlim(0.9 * min(point[1] for curve in curves.values() for point in curve))
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8)
