"""Linear machines on more rows than fit comfortably: 10 million from disk, passes, rows a second and peak memory.

Rows are generated block by block straight into a `RowStore` in a temporary folder. A child process that does nothing
else opens it, trains, and says how large it has been at most: `ru_maxrss` of getrusage, which can only overstate it, as
it begins with what the parent had when the child was born. Pages that the system keeps of the file are not in it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks import synthetic
from benchmarks.datasets import DataMissing
from benchmarks.results import Row, row
from benchmarks.synthetic import AT_ONCE

N_ROWS, QUICK_ROWS, N_TEST = 10_000_000, 200_000, 100_000
N_FEATURES, N_VALUES = 1_000_000, 50
C, GAP, GIGABYTES = 1.0, 0.01, 4.0
MODELS = ("LinearNPSVOR", "LinearSVOR")
DATA = (
    "Synthetic, seed 0: 10,000,000 rows x 1,000,000 features, 50 non-zeros a row in different columns, column j drawn "
    "with a probability proportional to 1 / (j + 100) (j from 0), values exponential, rows scaled to length 1. Score "
    "w.x + 0.5 z, w and z standard normal, cut at its quintiles into 5 ranks; the test set has 100,000 more rows. C = "
    f"{C:g}, relative gap 0.01; blocks of 1 MB, windows of 128 MB. --quick: 200,000 rows, blocks of 64 KB, windows of "
    "8 MB."
)


@dataclass(frozen=True)
class Planted:
    """What makes the ranks: weights, and cuts between the ranks."""

    w: np.ndarray
    cuts: np.ndarray

    def block(self, number: int) -> tuple[sparse.csr_matrix, np.ndarray]:
        """Rows and ranks; the same for the same number."""
        random = np.random.default_rng([1, number])
        X = _rows(random)
        return X, np.searchsorted(self.cuts, synthetic.noisy_score(random, X, self.w)).astype(np.int8)


def planted() -> Planted:
    w = np.random.default_rng(0).standard_normal(N_FEATURES)
    random = np.random.default_rng(2)
    return Planted(w, synthetic.rank_cuts(synthetic.noisy_score(random, _rows(random), w)))


def run(quick: bool) -> list[Row]:
    """Both machines on the same store."""
    from ordsvm import RowStore

    n_rows = QUICK_ROWS if quick else N_ROWS
    _require_space(n_rows)
    truth = planted()
    with tempfile.TemporaryDirectory(prefix="ordsvm-streaming-") as folder:
        place = Path(folder)
        test_blocks = range(n_rows // AT_ONCE, (n_rows + N_TEST) // AT_ONCE)
        size = {"block_bytes": 1 << 16} if quick else {}
        RowStore.from_blocks(map(truth.block, range(n_rows // AT_ONCE)), place / "training", **size)
        RowStore.from_blocks(map(truth.block, test_blocks), place / "test")
        floor = float(np.mean([np.abs(_noiseless(truth, X) - y).mean() for X, y in map(truth.block, test_blocks)]))
        return [r for name in MODELS for r in _claims(name, n_rows, _trained(name, place, quick), floor)]


def _rows(random: np.random.Generator) -> sparse.csr_matrix:
    """A block of rows whose columns are all different."""
    columns = synthetic.columns(random, (AT_ONCE, N_VALUES), N_FEATURES)
    columns.sort(axis=1)
    while (twice := columns[:, 1:] == columns[:, :-1]).any():
        columns[:, 1:][twice] = synthetic.columns(random, int(twice.sum()), N_FEATURES)
        columns.sort(axis=1)
    return synthetic.unit_rows(random, columns, N_FEATURES)


def _noiseless(truth: Planted, X: sparse.csr_matrix) -> np.ndarray:
    """The ranks that the planted weights predict."""
    return np.searchsorted(truth.cuts, X @ truth.w)


def _require_space(n_rows: int) -> None:
    needed = 1.1 * n_rows * (8 * N_VALUES + 4) / 1e9
    free = shutil.disk_usage(tempfile.gettempdir()).free / 1e9
    if free < needed:
        raise DataMissing(
            f"This needs {needed:.1f} GB in the temporary folder, where {free:.1f} GB are free: free some, or set "
            "TMPDIR to a folder on another disk."
        )


def _trained(name: str, place: Path, quick: bool) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.streaming", name, str(place), str(8 << 20 if quick else 128 << 20)]
    child = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(child.stdout)


def _claims(name: str, n_rows: int, found: dict[str, Any], floor: float) -> list[Row]:
    label = f"{name}, {n_rows:,} rows"
    rows_a_second = n_rows * found["passes"] / found["seconds"]
    return [
        row(f"{label}: certified relative gap", found["gap"], at_most=GAP, status=found["status"]),
        row(f"{label}: peak memory of training in GB", found["peak"] / 1e9, at_most=GIGABYTES),
        row(f"{label}: passes", found["passes"]),
        row(f"{label}: seconds of training, proof included", found["seconds"]),
        row(f"{label}: rows visited a second", rows_a_second),
        row(f"{label}: mean error in ranks on {N_TEST:,} test rows", found["mae"], planted_weights=floor),
    ]


def _train(name: str, place: Path, window_bytes: int) -> dict[str, Any]:
    """What the child does."""
    import resource

    import ordsvm

    model = getattr(ordsvm, name)(C=C, tol=GAP, verbose=True)
    model.fit(ordsvm.RowStore.open(place / "training", window_bytes=window_bytes))
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    errors = [np.abs(model.predict(X) - y).mean() for X, y in ordsvm.RowStore.open(place / "test")]
    result = model.result_
    return {
        "status": result.status,
        "gap": result.relative_gap,
        "passes": result.n_iter,
        "seconds": result.seconds,
        "peak": peak,
        "mae": float(np.mean(errors)),
    }


if __name__ == "__main__":
    print(json.dumps(_train(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))))
