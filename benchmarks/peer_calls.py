"""Races that are no single fit: prediction, and many small fits in a loop."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks import timing
from benchmarks.contestants import CONTESTANTS
from benchmarks.results import Row, row, speed_row
from benchmarks.works import Work, make

DATA = (
    "predict: machines trained on 10,000 rows with random labels and C = 0.001, so that nearly all rows are support "
    "vectors; then predict of the first 20,000 rows. small: 500 fits of 50, 200 and 500 consecutive rows of "
    "california, gamma 1/8, classes: the upper half of the ranks, or the target itself."
)
SMALL_FITS = 500
PREDICT_PEERS = {"libsvm": 10.0, "onedal": 2.0}
ALL_OVERHEAD = (
    "A fit of 50 samples is all calls of NumPy, for parameters, targets, the table of hinges and attributes: "
    "`python -m benchmarks small` has the time of every step."
)
EXPLANATIONS = {
    ("small-svc-50", "libsvm"): ALL_OVERHEAD,
    ("small-svr-50", "libsvm"): ALL_OVERHEAD,
    ("predict-dense", "onedal"): (
        "With 500 columns both programs do nothing but multiply and add: 2e11 float64 products take two cores of the "
        "machine that was measured 1.75 s at one 512-bit product a cycle and core, and neither can be twice as fast as "
        "the other. Ours runs at four fifths of that, with distances from norms where these are small enough not to "
        "cancel, and vectors of 64 bytes."
    ),
}


def _scene(source: str, dtype: type, quick: bool) -> tuple[Work, Any, np.ndarray, Any]:
    """Training rows with random labels, and rows to predict."""
    work = make("SVC", source, 1e-3)
    X = work.data()[0].astype(dtype)
    n, n_new = (400, 800) if quick else (10_000, 20_000)
    y = np.random.default_rng(0).integers(0, 2, size=n)
    new = X[:n_new] if X.shape[0] >= n_new else X[np.arange(n_new) % X.shape[0]]
    return work, X[:n], y, new


def _predict(name: str, source: str, dtype: type, quick: bool) -> list[Row]:
    work, X, y, new = _scene(source, dtype, quick)
    here = [CONTESTANTS[key] for key in ("ordsvm", *PREDICT_PEERS) if not CONTESTANTS[key].refuses(work)]
    models = {contestant.name: contestant.estimator(work).fit(X, y) for contestant in here}
    for model in models.values():
        model.predict(new[:100])
    calls = {key: partial(model.predict, new) for key, model in models.items()}
    race = timing.race(calls, 1 if quick else 5, threads=None, slow=10.0)
    few = new[:1000]
    scores = {key: np.ravel(model.decision_function(few)) for key, model in models.items()}
    return [
        speed_row(
            f"{name}: {CONTESTANTS[peer].title} / ours",
            race,
            "ordsvm",
            peer,
            skipped=CONTESTANTS[peer].refuses(work),
            at_least=None if quick else bound,
            explanation=EXPLANATIONS.get((name, peer)),
            support_vectors=len(models["ordsvm"].support_),
            largest_difference_of_scores=np.abs(scores.get(peer, scores["ordsvm"]) - scores["ordsvm"]).max(),
        )
        for peer, bound in PREDICT_PEERS.items()
    ]


def small_work(model: str, n: int) -> Work:
    return make(model, "california", name=f"small-{model.lower()}-{n}", gamma=1 / 8)


def small_parts(work: Work, n: int, fits: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """So many parts of n consecutive rows."""
    X, y = work.data()
    starts = np.random.default_rng(0).integers(0, len(y) - n, size=fits)
    return [(X[start : start + n], y[start : start + n]) for start in starts]


def _small(model: str, n: int, quick: bool) -> list[Row]:
    fits = 20 if quick else SMALL_FITS
    work = small_work(model, n)
    parts = small_parts(work, n, fits)

    def loop(contestant: str) -> None:
        for samples, target in parts:
            CONTESTANTS[contestant].estimator(work).fit(samples, target)

    calls = {name: partial(loop, name) for name in ("ordsvm", "libsvm")}
    race = timing.race(calls, 1 if quick else 5, threads=None, slow=10.0)
    claim, bound = f"{work.name}: {fits} fits, {CONTESTANTS['libsvm'].title} / ours", None if quick else 1.0
    explanation = EXPLANATIONS.get((work.name, "libsvm"))
    rows = [speed_row(claim, race, "ordsvm", "libsvm", at_least=bound, explanation=explanation)]
    if n == 50:  # so few samples that all is overhead
        own = 1000 * race.median("ordsvm") / fits
        rows.append(row(f"{work.name}: milliseconds of one fit", own, at_most=None if quick else 2.0))
    return rows


ROWS: dict[str, Callable[[bool], list[Row]]] = {
    "predict-california": partial(_predict, "predict-california", "california", np.float64),
    "predict-california-float32": partial(_predict, "predict-california-float32", "california", np.float32),
    "predict-a9a": partial(_predict, "predict-a9a", "a9a", np.float64),
    "predict-dense": partial(_predict, "predict-dense", "dense", np.float64),
    **{f"small-{model.lower()}-{n}": partial(_small, model, n) for model in ("SVC", "SVR") for n in (50, 200, 500)},
}
