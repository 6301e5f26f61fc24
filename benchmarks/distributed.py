"""Linear machines on 1, 2 and 4 Dask worker processes: the same objective as on one machine, rounds, bytes, memory.

Workers read or make their own rows; the client sees labels, sums and, at the end, weights. Memory is the largest size
of a worker since it was idle (`VmHWM`, set back by `clear_refs`), less what it was then. Its share is what it has to
hold: its rows, six numbers of 4 bytes a dual variable (now, before, next, a neighbour's, and the core's), and twelve
times the weights in float64 (now, before, next, where the round begins, four parts to be added and their sum, a
message, and the core's two).
"""

from __future__ import annotations

import logging
import os
import signal
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks import synthetic, text
from benchmarks.memory import resident, resident_peak
from benchmarks.results import Row, row
from benchmarks.synthetic import AT_ONCE

WORKERS = (1, 2, 4)
TOL, C = 1e-3, 1.0
N_ROWS, QUICK_ROWS, N_FEATURES, N_VALUES = 5_000_000, 200_000, 100_000, 30
VARIABLE_BYTES, WEIGHT_BYTES = 24, 96  # that a worker holds for each; see above
DATA = (
    f"{text.DATA} Training rows in float32, one block a worker, in order. Synthetic, seed 0: 5,000,000 rows x 100,000 "
    "features, 30 non-zeros a row, column j drawn with a probability proportional to 1 / (j + 100) (j from 0), values "
    "exponential, rows scaled to length 1; score w.x + 0.5 z, w and z standard normal, cut at its quintiles into 5 "
    "ranks; made on the workers in blocks of 50,000 rows. C = 1, tol = 0.001, one thread a worker; all workers are "
    "processes of one machine. --quick: imdb and 200,000 synthetic rows."
)


@dataclass(frozen=True)
class Rows:
    """A set of rows in blocks that any worker can make, for a number of workers."""

    name: str
    n_samples: int
    n_features: int
    n_bytes: int
    block: Callable[[int, int], tuple[Any, Any]]  # number and number of all
    n_blocks: Callable[[int], int]  # for so many workers

    def whole(self) -> tuple[Any, Any]:
        parts = [self.block(number, self.n_blocks(1)) for number in range(self.n_blocks(1))]
        return sparse.vstack([X for X, _ in parts], format="csr"), np.concatenate([y for _, y in parts])


def run(quick: bool) -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="ordsvm-distributed-") as folder:
        names = text.NAMES[:1] if quick else text.NAMES
        sets = [*(reviews(name, Path(folder)) for name in names), planted(QUICK_ROWS if quick else N_ROWS)]
        return [claim for rows in sets for claim in _claims_of(rows)] + _killed(sets[0])


def _claims_of(rows: Rows) -> list[Row]:
    models = ["LinearSVOR", "LinearNPSVOR"] if rows.name == "imdb" else ["LinearSVOR"]
    X, y = rows.whole()
    alone = {name: _alone(name, X, y) for name in models}
    del X, y
    return [claim for name, one in alone.items() for n in WORKERS for claim in _claims(rows, n, name, one)]


def reviews(name: str, folder: Path) -> Rows:
    """Training rows, written to a folder from which workers read what they need."""
    X, y = text.reviews(name).training()
    for part, array in (("data", X.data.astype(np.float32)), ("indices", X.indices), ("indptr", X.indptr), ("y", y)):
        np.save(folder / f"{name}-{part}.npy", array)
    n_features = X.shape[1]

    def block(number: int, n_blocks: int) -> tuple[Any, Any]:
        data, indices, indptr, y = (
            np.load(folder / f"{name}-{part}.npy", mmap_mode="r") for part in ("data", "indices", "indptr", "y")
        )
        first, last = (len(y) * n // n_blocks for n in (number, number + 1))
        values = slice(indptr[first], indptr[last])
        starts = indptr[first : last + 1] - indptr[first]
        shape = (last - first, n_features)
        return sparse.csr_matrix((np.array(data[values]), np.array(indices[values]), starts), shape), np.array(
            y[first:last]
        )

    return Rows(name, *X.shape, 8 * X.nnz + 4 * X.shape[0], block, lambda n_workers: n_workers)


def planted(n_rows: int) -> Rows:
    n_blocks = n_rows // AT_ONCE
    n_bytes = n_rows * (8 * N_VALUES + 4)
    return Rows(
        f"synthetic, {n_rows:,} rows", n_rows, N_FEATURES, n_bytes, _synthetic_block, lambda n_workers: n_blocks
    )


def _synthetic_block(number: int, n_blocks: int) -> tuple[Any, Any]:
    w = np.random.default_rng(0).standard_normal(N_FEATURES)
    cuts = synthetic.rank_cuts(_scored(np.random.default_rng(1), w)[1])
    X, score = _scored(np.random.default_rng([2, number]), w)
    return X, np.searchsorted(cuts, score).astype(np.int8)


def _scored(random: np.random.Generator, w: np.ndarray) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Rows and their scores."""
    columns = synthetic.columns(random, (AT_ONCE, N_VALUES), N_FEATURES)
    X = synthetic.unit_rows(random, columns, N_FEATURES)
    return X, synthetic.noisy_score(random, X, w)


def _alone(name: str, X: Any, y: Any) -> Any:
    import ordsvm

    return getattr(ordsvm, name)(C=C, tol=TOL, n_threads=1).fit(X, y).result_


def _cluster(n_workers: int) -> Any:
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        memory_limit=None,
        dashboard_address=":0",
        silence_logs=logging.CRITICAL,
    )


def _claims(rows: Rows, n_workers: int, name: str, one: Any) -> list[Row]:
    """On a new cluster, so that nothing is left of another fit in memory."""
    from distributed import Client

    with _cluster(n_workers) as cluster, Client(cluster) as client:
        idle = max(client.run(resident).values())
        started = time.perf_counter()
        model = _fitted(name, rows, n_workers, client)
        seconds = time.perf_counter() - started
        peak = max(client.run(resident_peak).values()) - idle
        sent = sum(client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total).values())
    result, label = model.result_, f"{rows.name}, {name}, {n_workers} workers"
    n_columns = model.coef_.size // rows.n_features
    n_variables = len(model.classes_) - (name == "LinearSVOR")
    share = (rows.n_bytes + VARIABLE_BYTES * n_variables * rows.n_samples) / n_workers + WEIGHT_BYTES * model.coef_.size
    return [
        row(
            f"{label}: certified relative gap",
            result.relative_gap,
            at_most=TOL,
            rounds=result.n_iter,
            passes_of_one_machine=one.n_iter,
            seconds_of_rounds=result.seconds,
            seconds_with_rows=seconds,
            seconds_of_one_machine=one.seconds,
            megabytes_of_weights=8e-6 * n_columns * rows.n_features,
            megabytes_sent_a_round=1e-6 * sent / result.n_iter,
        ),
        row(f"{label}: objective, relative to one machine's", abs(result.objective / one.objective - 1), at_most=TOL),
        row(
            f"{label}: peak memory of a worker / its share",
            peak / share,
            at_most=1.5,
            megabytes=1e-6 * peak,
            megabytes_of_its_rows=1e-6 * rows.n_bytes / n_workers,
            explanation="Few rows beside many weights: what Dask keeps of messages and of states to be released, each "
            "as large as the weights, outweighs them; it does not grow with the rows.",
        ),
    ]


def _fitted(name: str, rows: Rows, n_workers: int, client: Any, callback: Any = None) -> Any:
    import dask

    from ordsvm import distributed

    n_blocks = rows.n_blocks(n_workers)
    blocks = [dask.delayed(rows.block, pure=False)(number, n_blocks) for number in range(n_blocks)]
    return getattr(distributed, name)(C=C, tol=TOL, callback=callback).fit(blocks, client=client)


def _killed(rows: Rows) -> list[Row]:
    """One of four workers is killed after the fifth round."""
    from distributed import Client

    with _cluster(4) as cluster, Client(cluster) as client:
        seen: list[float] = []

        def watch(progress: Any) -> None:
            seen.append(progress.relative_gap)
            if len(seen) == 5:
                os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

        model = _fitted("LinearSVOR", rows, 4, client, watch)
    label = f"{rows.name}, LinearSVOR, one of 4 workers killed after round 5"
    return [
        row(f"{label}: certified relative gap", model.result_.relative_gap, at_most=TOL, rounds=model.result_.n_iter),
        row(f"{label}: gap after round 6 / gap after round 5", seen[5] / seen[4], at_most=1.5),
    ]
