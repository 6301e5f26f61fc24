"""Dense rows of 50 features on 1, 2 and 4 Dask worker processes: rounds of the interior-point method and of CoCoA.

Workers make their own rows. One of four is killed after the fifth round of a further fit.
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import time
from typing import Any

from benchmarks import tall_rows
from benchmarks.memory import resident, resident_peak
from benchmarks.results import Row, row
from benchmarks.tall_rows import N_FEATURES

WORKERS = (1, 2, 4)
N_ROWS, QUICK_ROWS, N_BLOCKS = 1_000_000, 20_000, 20
C, TOL = 1.0, 1e-6
ROUNDS, QUICK_ROUNDS = 20, 5  # of CoCoA
PANEL = 52 * 64 + 4 * 4 + 6  # numbers that the sums of LinearSVOR are, padded as the core has them
DATA = (
    f"Synthetic, 1,000,000 rows x 50 (or --samples): {tall_rows.MADE}; 20 blocks, made on the workers. LinearSVOR, C = "
    f"{C:g}, tol = {TOL:g}, one thread a worker; all workers are processes of one machine. CoCoA: {ROUNDS} rounds. "
    "--quick: 20,000 rows, 5 rounds of CoCoA."
)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--samples", type=int, default=N_ROWS, help="number of rows, a multiple of 20")


def run(quick: bool, samples: int = N_ROWS) -> list[Row]:
    n_rows = min(samples, QUICK_ROWS) if quick else samples
    made: list[Row] = []
    counts: dict[str, int] = {}
    for n_workers in WORKERS:
        rows, counts[f"{n_workers} workers"] = _on(n_workers, n_rows, QUICK_ROUNDS if quick else ROUNDS)
        made += rows
    spread = max(counts.values()) - min(counts.values())
    label = f"{n_rows:,} x {N_FEATURES}"
    made.append(row(f"{label}: rounds of 1, 2 and 4 workers, largest difference", spread, at_most=0, **counts))
    return made + _killed(n_rows, counts["4 workers"])


def _cluster(n_workers: int) -> Any:
    from distributed import LocalCluster

    options = {"n_workers": n_workers, "threads_per_worker": 1, "processes": True, "memory_limit": None}
    return LocalCluster(dashboard_address=":0", silence_logs=logging.CRITICAL, **options)


def _on(n_workers: int, n_rows: int, descents: int) -> tuple[list[Row], int]:
    """Both algorithms on a new cluster, and the rounds of the interior-point method."""
    from distributed import Client

    with _cluster(n_workers) as cluster, Client(cluster) as client:
        idle = max(client.run(_idle).values())
        sent: list[int] = []

        def watch(progress: Any) -> None:
            sent.append(sum(client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total).values()))

        started = time.perf_counter()
        result = _fitted(client, n_rows, callback=watch).result_
        seconds = time.perf_counter() - started
        peak = max(client.run(resident_peak).values()) - idle
        descent = _fitted(client, n_rows, solver="cocoa", max_iter=descents).result_
    label = f"{n_rows:,} x {N_FEATURES}, {n_workers} worker{'s' * (n_workers > 1)}"
    return [
        row(
            f"{label}: certified relative gap",
            result.relative_gap,
            at_most=TOL,
            solver=result.solver,
            rounds=result.n_iter,
            seconds_of_rounds=result.seconds,
            seconds_with_rows=seconds,
            seconds_a_round=result.seconds / result.n_iter,
            kilobytes_of_sums=8e-3 * PANEL,
            kilobytes_sent_a_round=1e-3 * (sent[-1] - sent[0]) / (len(sent) - 1),
            megabytes_of_a_worker=1e-6 * peak,
            megabytes_of_its_rows=4e-6 * N_FEATURES * n_rows / n_workers,
        ),
        row(
            f"{label}: gap of CoCoA after {descent.n_iter} rounds",
            descent.relative_gap,
            status=descent.status,
            seconds_a_round=descent.seconds / max(1, descent.n_iter),
        ),
    ], result.n_iter


def _idle() -> int:
    """The memory of a worker that has loaded what it needs."""
    import ordsvm.distributed  # noqa: F401

    return resident()


def _fitted(client: Any, n_rows: int, **options: Any) -> Any:
    import warnings

    import dask

    from ordsvm import distributed

    size = n_rows // N_BLOCKS
    blocks = [dask.delayed(tall_rows.block, pure=False)(number, size) for number in range(N_BLOCKS)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of CoCoA, which is stopped after so many rounds
        return distributed.LinearSVOR(C=C, tol=TOL, **options).fit(blocks, client=client)


def _killed(n_rows: int, rounds: int) -> list[Row]:
    """One of four workers is killed after the fifth round."""
    from distributed import Client

    seen: list[int] = []
    with _cluster(4) as cluster, Client(cluster) as client:

        def watch(progress: Any) -> None:
            seen.append(progress.n_iter)
            if len(seen) == 5:
                os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

        result = _fitted(client, n_rows, callback=watch).result_
    label = f"{n_rows:,} x {N_FEATURES}, one of 4 workers killed after round 5"
    return [
        row(f"{label}: certified relative gap", result.relative_gap, at_most=TOL, rounds=result.n_iter),
        row(f"{label}: more rounds than without", result.n_iter - rounds, at_most=0),
    ]
