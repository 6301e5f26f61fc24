"""10,000,000 dense rows of 50 features from disk, within 2 GB: seconds, passes, gap and peak memory.

Rows are made block by block straight into a `RowStore` in a temporary folder. A child process that does nothing else
opens it and trains, with the limit set for its private memory (RLIMIT_DATA), so that it could not take more; `VmHWM` is
how large it has been at most. Pages that the system keeps of the file are not in it.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import tall_rows
from benchmarks.datasets import DataMissing
from benchmarks.results import Row, row
from benchmarks.synthetic import AT_ONCE
from benchmarks.tall_rows import N_FEATURES

N_ROWS, QUICK_ROWS = 10_000_000, 100_000
LIMIT = 2_000_000_000  # bytes
C, TOLS = 1.0, (1e-3, 1e-6)
DATA = (
    f"Synthetic, 10,000,000 rows x 50 (or --samples): {tall_rows.MADE}; 4 bytes a value on disk. LinearSVOR, C = "
    f"{C:g}, solver 'auto', all cores; blocks of 1 MB. The file is as the system has it: with enough free memory it is "
    "read from the disk once. --quick: 100,000 rows, blocks of 64 KB, windows of 8 MB."
)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--samples", type=int, default=N_ROWS, help="number of rows, a multiple of 50,000")


def run(quick: bool, samples: int = N_ROWS) -> list[Row]:
    """The same store to both tolerances."""
    from ordsvm import RowStore

    n_rows = min(samples, QUICK_ROWS) if quick else samples
    _require_space(n_rows)
    with tempfile.TemporaryDirectory(prefix="ordsvm-tall-") as folder:
        place, size = Path(folder) / "rows", {"block_bytes": 1 << 16} if quick else {}
        RowStore.from_blocks(map(tall_rows.block, range(max(1, n_rows // AT_ONCE))), place, **size)
        window = 8 << 20 if quick else 128 << 20
        return [made for tol in TOLS for made in _claims(tol, _trained(place, tol, window))]


def _require_space(n_rows: int) -> None:
    needed = 1.1 * n_rows * 4 * N_FEATURES / 1e9
    free = shutil.disk_usage(tempfile.gettempdir()).free / 1e9
    if free < needed:
        raise DataMissing(
            f"This needs {needed:.1f} GB in the temporary folder, where {free:.1f} GB are free: free some, or set "
            "TMPDIR to a folder on another disk."
        )


def _trained(place: Path, tol: float, window_bytes: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.tall_disk", str(place), str(tol), str(window_bytes)]
    child = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(child.stdout)


def _claims(tol: float, found: dict[str, Any]) -> list[Row]:
    n_rows, passes, seconds = found["rows"], found["passes"], found["seconds"]
    label = f"{n_rows:,} x {N_FEATURES}, tol {tol:g}"
    speeds = {
        "seconds_a_pass": seconds / passes,
        "microseconds_a_row": 1e6 * seconds / passes / n_rows,
        "megabytes_read_a_second": 1e-6 * found["bytes"] * passes / seconds,
    }
    return [
        row(f"{label}: certified relative gap", found["gap"], at_most=tol, status=found["status"]),
        row(f"{label}: passes", passes, at_most={1e-3: 25, 1e-6: 40}[tol], solver=found["solver"]),
        row(f"{label}: seconds of training", seconds, **speeds),
        row(f"{label}: peak memory of training in GB", found["peak"] / 1e9, at_most=LIMIT / 1e9),
    ]


def _train(place: Path, tol: float, window_bytes: int) -> dict[str, Any]:
    """What the child does."""
    import resource

    import ordsvm
    from benchmarks.memory import resident_peak

    resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))
    store = ordsvm.RowStore.open(place, window_bytes=window_bytes)
    model = ordsvm.LinearSVOR(C=C, tol=tol, verbose=True).fit(store)
    result = model.result_
    return {
        "rows": store.n_samples,
        "bytes": store.n_bytes,
        "status": result.status,
        "solver": result.solver,
        "gap": result.relative_gap,
        "passes": result.n_iter,
        "seconds": result.seconds,
        "peak": resident_peak(),
    }


if __name__ == "__main__":
    print(json.dumps(_train(Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))))
