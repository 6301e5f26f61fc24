"""How cost grows with the number of samples: seconds and exponents from 500 to 50,000; two threads; peak of memory."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from benchmarks import drawing, timing, works
from benchmarks.contestants import CONTESTANTS
from benchmarks.datasets import REPOSITORY
from benchmarks.results import Row, row
from benchmarks.works import Work, make

FROM, TO, EXPONENT, TWO_THREADS = 2000, 20_640, 2.0, 1.7
CACHE_SIZE = 200.0  # megabytes, the default
WORKS = {
    "SVOR, california, C = 1": (make("SVOR", "california"), 20_640),
    "SVC, ijcnn1, C = 1": (make("SVC", "ijcnn1"), 49_990),
}
THREADED = {  # work: whether two threads are to pay
    "SVOR, california 20,640, C = 1": (make("SVOR", "california", 1.0, 20_640), True),
    "SVC, a9a, C = 1": (make("SVC", "a9a"), True),
    "SVOR, california 2,000, C = 100": (make("SVOR", "california", 100.0, 2000), False),
}
DATA = (
    works.DATA + " Seconds of one fit with solver 'auto', tol 1e-3, 2000 MB of cache, all cores; the median of three "
    "where one takes less than 10 s. An exponent is the slope of a line through the logarithms from 2,000 samples on. "
    "Threads: medians of five fits each, taking turns. Memory: the high-water mark of a child process that fits with "
    "200 MB of cache, less what it held before."
)

SERIAL = (
    "Threads divide products and values of K, and small sets where there are several thresholds. With one threshold, "
    "as here, one of them takes the steps on pairs, chooses working sets and makes tables. What is divided has become "
    "cheaper: the ratio was 1.76 when a9a took five times as long, 1.62 when binary features were multiplied by "
    "counting, and is less since the proof spares the scores of samples that are satisfied by far."
)
CHILD = """
import json, sys
from benchmarks.memory import resident, resident_peak
from benchmarks.works import make
from ordsvm import SVOR

n, cache_size = int(sys.argv[1]), float(sys.argv[2])
X, y = make("SVOR", "california", 1.0, n).data()
X, y = X.copy(), y.copy()
SVOR(gamma=0.5).fit(X[:300], y[:300])
before = resident()
SVOR(gamma=0.5, cache_size=cache_size).fit(X, y)
print(json.dumps([resident_peak() - before, X.nbytes]))
"""


def run(quick: bool) -> list[Row]:
    rows, curves = [], {}
    for name, (work, most) in WORKS.items():
        sizes = [300, 600, 1200] if quick else [*_sizes(most)]
        curves[name] = {n: _seconds(work.reduced(n), repeats=1 if quick else 3) for n in sizes}
        bounded = work.model == "SVOR" and not quick
        rows.append(
            row(
                f"{name}: exponent of the seconds from n = {_from(sizes)} to {sizes[-1]}",
                exponent(curves[name], _from(sizes)),
                at_most=EXPONENT if bounded else None,
                seconds_by_n=curves[name],
            )
        )
    if not quick:
        drawing.save("scaling.png", lambda axes: _draw(axes[0, 0], curves), (1, 1), (5.5, 4.0))
    return rows + [_two_threads(name, quick) for name in THREADED] + _memory(1000 if quick else TO, quick)


def _sizes(most: int) -> list[int]:
    return [n for n in (500, 1000, 2000, 5000, 10_000, 20_640, 35_000, 49_990) if n <= most]


def _from(sizes: list[int]) -> int:
    return FROM if FROM in sizes else sizes[0]


def _seconds(work: Work, repeats: int) -> float:
    X, y = work.data()
    model = CONTESTANTS["ordsvm"].estimator(work)
    return timing.race({"fit": lambda: model.fit(X, y)}, repeats, threads=None, slow=10.0).median("fit")


def _two_threads(name: str, quick: bool) -> Row:
    work, bounded = THREADED[name]
    X, y = (work.reduced(300) if quick else work).data()
    models = {n: CONTESTANTS["ordsvm"].estimator(work).set_params(n_threads=n) for n in (1, 2)}
    runs = {str(n): partial(model.fit, X, y) for n, model in models.items()}
    race = timing.race(runs, 1 if quick else 5, threads=None)
    bound = TWO_THREADS if bounded and not quick else None
    claim = f"{name}: seconds of one thread over those of two"
    return row(claim, race.ratio("1", "2"), at_least=bound, seconds_by_threads=race.medians(), explanation=SERIAL)


def exponent(seconds: Mapping[int, float], least: int) -> float:
    """The slope of log(seconds) against log(n) over the sizes from `least` on."""
    n, t = np.array([(n, t) for n, t in seconds.items() if n >= least]).T
    return float(np.polyfit(np.log(n), np.log(t), 1)[0])


def _memory(n: int, quick: bool) -> list[Row]:
    command = [sys.executable, "-c", CHILD, str(n), str(CACHE_SIZE)]
    child = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    claim = f"peak of memory of SVOR, california, n = {n}, over data + cache_size"
    if child.returncode != 0:
        return [row(claim, math.nan, skipped=child.stderr.strip().splitlines()[-1])]
    taken, data = json.loads(child.stdout)
    allowed = data + CACHE_SIZE * 2**20
    return [row(claim, (taken + data) / allowed, at_most=None if quick else 1.1, peak_bytes=taken, data_bytes=data)]


def _draw(axis: Any, curves: Mapping[str, Mapping[int, float]]) -> None:
    for name, curve in curves.items():
        axis.loglog(list(curve), list(curve.values()), "o-", label=f"{name}: n^{exponent(curve, FROM):.2f}")
    axis.set(xlabel="samples", ylabel="seconds of a fit", title="exponents from 2,000 samples on")
    axis.grid(alpha=0.3)
    axis.legend(fontsize=8)
