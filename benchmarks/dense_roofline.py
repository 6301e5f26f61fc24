"""SVC on 20,000 dense rows of 500 columns beside oneDAL, and beside what the processor's multiply-adds allow.

A program of a few lines (peak_fma.cpp, compiled here) measures how many multiply-adds the processor makes, in the same
run: whatever makes every value of K that is needed once in float32, and once in float64 for the proof, can't be faster.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks import timing, works
from benchmarks.contestants import CONTESTANTS, TOL, PeerMissing
from benchmarks.results import Row, machine, row, speed_row
from benchmarks.works import Work, make
from ordsvm import certify
from ordsvm.kernels import RBF, KernelMatrix

REPEATS, AT_LEAST = 5, 2.0
SOURCE = Path(__file__).with_name("peak_fma.cpp")
DATA = (
    works.DATA + " svc-dense alone: C = 1, gamma = 1/500, tol 1e-3, 2000 MB of cache, all cores. Ours, oneDAL and the "
    "product of K with the coefficients in float64, as the proof has it, take turns; medians of five. peak_fma.cpp is "
    "compiled for this processor and runs before every turn; the largest rate counts. A value of K is 500 "
    "multiply-adds. Values that are needed: between two support vectors once, K being symmetric, and between every "
    "support vector and every other sample."
)
EXPLANATION = (
    "See the rows below: seconds of the float64 product and of all else, and the least that they can take. Values in "
    "float32 are made for both samples, so twice. By profile the float64 product takes 3.6 CPU seconds of 10, these "
    "values 3.9, pages, copies, tiles and sums the rest. Tried without gain: to copy a value from the row of the other "
    "sample, which halves those made and reads as much memory as that spares; rows on huge pages."
)


def run(quick: bool) -> list[Row]:
    """Quick: 2,000 samples, one turn, no bound."""
    work = make("SVC", "dense")
    X, y = work.data()
    if quick:
        X, y = X[:2000], y[:2000]
    for contestant in ("ordsvm", "onedal"):
        if reason := CONTESTANTS[contestant].refuses(work):
            raise PeerMissing(reason)
        CONTESTANTS[contestant].fit(work, X[:100], y[:100])
    with tempfile.TemporaryDirectory(prefix="ordsvm-roofline-") as folder:
        peak = _compiled(Path(folder))
        return _rows(work, X, y, peak, 1 if quick else REPEATS, None if quick else AT_LEAST)


def _compiled(folder: Path) -> Path:
    """The program that measures multiply-adds."""
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        raise PeerMissing("No C++ compiler was found: name one by CXX.")
    program = folder / "peak_fma"
    subprocess.run([compiler, "-O3", "-std=c++20", "-march=native", "-pthread", SOURCE, "-o", program], check=True)
    return program


def _rates(program: Path, cores: int) -> tuple[float, float]:
    """Multiply-adds a second of all cores, in float32 and float64."""
    printed = subprocess.run([program, str(cores)], check=True, capture_output=True, text=True).stdout
    single, double = (float(word) for word in printed.split())
    return single, double


def _rows(work: Work, X: np.ndarray, y: np.ndarray, peak: Path, repeats: int, at_least: float | None) -> list[Row]:
    cores = machine()["cores"]
    fitted = CONTESTANTS["ordsvm"].fit(work, X, y)
    beta = np.zeros(len(y))
    beta[fitted.support_] = fitted.dual_coef_.ravel()
    matrix = KernelMatrix.of(RBF(work.gamma), X, 2000.0)
    rates: list[tuple[float, float]] = []
    contestants = {name: partial(CONTESTANTS[name].fit, work, X, y) for name in ("ordsvm", "onedal")}
    calls = {"peak": lambda: rates.append(_rates(peak, cores)), **contestants}
    race = timing.race(calls | {"product": partial(matrix.product, beta, cores)}, repeats, threads=None)
    single, double = (max(rate) for rate in zip(*rates, strict=True))
    ours, product = race.median("ordsvm"), race.median("product")
    n, d, support = len(y), X.shape[1], len(fitted.support_)
    needed = support * (support + 1) / 2 + support * (n - support)
    made = float(race.last("ordsvm").result_.kernel_rows) * n
    least = {"float32": needed * d / single, "float64": needed * d / double}
    proof = certify(race.last("ordsvm"), X, y)
    return [
        speed_row(
            "svc-dense: training, oneDAL (scikit-learn-intelex) / ours",
            race,
            "ordsvm",
            "onedal",
            at_least=at_least,
            explanation=EXPLANATION,
            our_violation=proof.violation,
            our_relative_gap=proof.relative_gap,
        ),
        row("largest violation, recomputed in float64", proof.violation, at_most=TOL),
        row("multiply-adds a second of all cores, float32", single),
        row("multiply-adds a second of all cores, float64", double),
        row("support vectors", support, samples=n, columns=d),
        row("values of K that are needed", needed),
        row("values of K in float32 over those that are needed", made / needed),
        row("least seconds for these in float32, by the processor's rate", least["float32"]),
        row("least seconds for these in float64, by the processor's rate", least["float64"]),
        row("seconds of the float64 product", product, seconds_all=race.seconds["product"]),
        row("share of the processor's rate in the float64 product", least["float64"] / product),
        row("seconds of a fit but for the float64 product", ours - product),
        row("share of the processor's rate in the rest of a fit", least["float32"] / (ours - product)),
        row("share of the processor's rate in a whole fit", sum(least.values()) / ours),
        row(
            "oneDAL / the least seconds of a fit with a proof, by the processor's rate",
            statistics.median(race.seconds["onedal"]) / sum(least.values()),
        ),
    ]
