"""The shards of a fit on their workers: what is submitted, what comes back, and where they go when one is lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakSet

from distributed import Client, Future, wait

from ordsvm.distributed.cluster import require_scheduler
from ordsvm.distributed.copies import release

FAN = 4  # parts that are added at once
POLL = 0.3  # seconds between two checks of which workers are left
WAIT = 60  # seconds for a worker to come back where all are lost


@dataclass(frozen=True)
class Place:
    """A shard's worker, and how to make the shard on any worker."""

    worker: str
    make: Callable[[str], Future]


class WorkerLost(Exception):
    """A worker with rows is gone."""


class Shards:
    """Futures of all shards, and of what is made of them."""

    def __init__(self, client: Client, places: Sequence[Place]) -> None:
        self.client = client
        self.places = list(places)
        self._futures: WeakSet[Future] = WeakSet()
        self._made = [self._make(place) for place in self.places]

    def __len__(self) -> int:
        return len(self.places)

    def close(self) -> None:
        """Leaves nothing on the workers."""
        release(self._futures)

    def each(self, function: Callable[..., Any], *columns: Sequence[Any]) -> list[Future]:
        """Futures of the function of every shard and of what the columns have for it, on the shard's worker."""
        shards = zip(self.places, self._made, *columns, strict=True)
        return [self.on(place, function, shard, *rest) for place, shard, *rest in shards]

    def of(self, number: int, function: Callable[..., Any], *arguments: Any) -> Future:
        """The same for one shard."""
        return self.on(self.places[number], function, self._made[number], *arguments)

    def on(self, place: Place, function: Callable[..., Any], *arguments: Any) -> Future:
        """Where a shard is, of whatever else."""
        future = self.client.submit(function, *arguments, workers=[place.worker], pure=False)
        self._futures.add(future)
        return future

    def nodes(
        self, parts: Sequence[Future], total: Callable[..., Any]
    ) -> tuple[list[tuple[Place, Future]], list[Future]]:
        """Parts of all shards, added along a tree, where one of them is, until a few are left; and those that were."""
        nodes = list(zip(self.places, parts, strict=True))
        inner: list[Future] = []
        while len(nodes) > FAN:
            inner += [part for _, part in nodes]
            groups = [nodes[first : first + FAN] for first in range(0, len(nodes), FAN)]
            nodes = [(some[0][0], self.on(some[0][0], total, *(part for _, part in some))) for some in groups]
        return nodes, inner

    def results(self, futures: list[Future], beside: Sequence[Future] = ()) -> list[Any]:
        """Of small futures, as soon as they and those beside them are there."""
        while True:
            require_scheduler(self.client)
            missing = {place.worker for place in self.places} - set(self.client.nthreads())
            if missing:
                raise WorkerLost
            try:
                with self.client.as_current():  # or `wait` takes the default client, which need not be this one
                    wait([*futures, *beside], timeout=POLL)
                return self.client.gather(futures)
            except TimeoutError:
                continue
            except CancelledError:
                raise RuntimeError(
                    "Rows were lost with a worker, and Dask can't compute them again: give rows that it can, such as "
                    "a dask array, rather than futures of scattered data."
                ) from None

    def move_lost(self) -> list[int]:
        """Shards whose workers are lost go to those that have the fewest; which ones these are."""
        try:
            self.client.wait_for_workers(1, timeout=WAIT)
        except TimeoutError:
            raise RuntimeError(
                f"All workers are lost, and none has come back for {WAIT} seconds: start some."
            ) from None
        alive = list(self.client.nthreads())
        lost = [number for number, place in enumerate(self.places) if place.worker not in alive]
        for number in lost:
            load = [place.worker for place in self.places]
            self.places[number] = place = replace(self.places[number], worker=min(alive, key=load.count))
            self._made[number] = self._make(place)
        return lost

    def _make(self, place: Place) -> Future:
        shard = place.make(place.worker)
        self._futures.add(shard)
        return shard
