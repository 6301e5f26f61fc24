"""The cluster that a fit runs on, and which of its workers gets which rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any

from distributed import Client, LocalCluster, get_client

from ordsvm.checks import shortened, usable_threads

UNEVEN = 1.25  # times its fair share that a worker may get so that rows need not travel


@contextmanager
def connected(client: Any = None) -> Iterator[Client]:
    """The client given, or else the current one, or else one of a cluster of threads in this process, for as long."""
    if client is not None:
        with _naming_a_lost_scheduler(_checked(client)):
            yield client
        return
    try:
        current = get_client()
    except ValueError:
        current = None
    if current is not None:
        with _naming_a_lost_scheduler(_checked(current)):
            yield current
        return
    options = {"n_workers": usable_threads(None), "threads_per_worker": 1, "processes": False}
    with LocalCluster(dashboard_address=":0", **options) as cluster, Client(cluster, set_as_default=False) as own:
        yield own


def require_scheduler(client: Client) -> None:
    """Raises where the client has lost its scheduler: Dask does so half a minute later, or cancels futures instead."""
    if client.status != "running":
        raise RuntimeError(
            "The connection to the Dask scheduler was lost during the fit, and all rows on its workers with it: start "
            "the cluster again, connect a new client, and fit again."
        )


@contextmanager
def _naming_a_lost_scheduler(client: Client) -> Iterator[None]:
    """Whatever a lost scheduler leads to becomes one sentence about it."""
    try:
        yield
    except (OSError, CancelledError, RuntimeError):
        require_scheduler(client)
        raise


def _checked(client: Any) -> Client:
    if not isinstance(client, Client):
        raise TypeError(f"client={shortened(client)} is not a dask.distributed.Client: give one, or None.")
    if client.status != "running":
        raise ValueError(f"The client is {client.status}, not running: connect it, or give another one.")
    if client.asynchronous:
        raise ValueError("The client is asynchronous: give a synchronous one, Client(asynchronous=False).")
    if not client.nthreads():
        raise ValueError("The client's cluster has no workers: start some, or wait with client.wait_for_workers(1).")
    return client


def slots(client: Client, n_threads: int | None = None) -> list[str]:
    """The address of every worker, as often as it has threads, or at most so often."""
    workers = sorted(client.nthreads().items())
    return [address for address, threads in workers for _ in range(min(threads, n_threads or threads))]


def assigned(sizes: Sequence[int], holders: Sequence[str], slots: Sequence[str]) -> dict[int, list[int]]:
    """For the slots that get any, the numbers of their partitions: where they lie unless that is too uneven."""
    load = [0] * len(slots)
    most = UNEVEN * max(sum(sizes) / len(slots), max(sizes, default=0))
    given: dict[int, list[int]] = {}
    for number in sorted(range(len(sizes)), key=lambda number: -sizes[number]):
        free = min(range(len(slots)), key=load.__getitem__)
        near = [slot for slot, address in enumerate(slots) if address == holders[number]]
        own = min(near, key=load.__getitem__) if near else free
        slot = own if load[own] + sizes[number] <= most else free
        load[slot] += sizes[number]
        given.setdefault(slot, []).append(number)
    return {slot: sorted(numbers) for slot, numbers in sorted(given.items())}


def refuse_checkpoint(checkpoint: Any) -> None:
    if checkpoint is not None:
        raise ValueError(
            "checkpoint is not possible with distributed rows, which stay on the workers with their dual variables: "
            "leave it out, or train the machine of the same name in ordsvm on a RowStore."
        )
