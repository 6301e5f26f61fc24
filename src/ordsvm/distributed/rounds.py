"""Rounds over the shards of all workers until the duality gap, proved in float64, is small enough.

a round   every worker descends on its own rows (shard.py), the parts of all are added up along a tree, and every
          worker proves the sum on its own rows: weights travel once up the tree and once down
momentum  rounds are steps of proximal gradient descent in a metric of blocks, so they begin ahead of where the last
          one ended, as Nesterov and Beck & Teboulle (2009) have it, and from there again where the dual falls; a
          single shard is better off without
biases    go a share rho of their way to the sums of β before a round, and rho of what these move in it
a loss    the dual variables of a shard are copied to another worker after every round. When a worker is lost, its
          rows are computed again by Dask, its variables taken from the copies, weights built from variables, and
          the round is begun anew
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from dataclasses import astuple, dataclass, replace
from functools import partial
from typing import Any
from weakref import WeakSet

import numpy as np
from distributed import Client, Future, wait

from ordsvm._typing import Floats
from ordsvm.distributed.cluster import require_scheduler
from ordsvm.distributed.copies import Copies, kept, release
from ordsvm.distributed.loading import size, zeros
from ordsvm.distributed.shard import Job, Proof, Shared, Step, built, descend, prove, total
from ordsvm.problem import Certificate
from ordsvm.solvers.control import Control
from ordsvm.solvers.linear.cocoa import CoCoA
from ordsvm.solvers.recorder import Counts, Recorder, progress_line

FAN = 4  # parts that are added at once
POLL = 0.3  # seconds between two checks of which workers are left
WAIT = 60  # seconds for a worker to come back where all are lost
PATIENCE = 25  # rounds in which the gap has to fall by a tenth


@dataclass(frozen=True)
class Place:
    """A shard's worker, and how to make the shard on any worker."""

    worker: str
    make: Callable[[str], Future]


@dataclass(frozen=True)
class State:
    """Where all shards are: futures of dual variables and of what is shared, and what of it is small."""

    betas: list[Future]
    shared: Future
    biases: Floats
    sums: Floats
    proof: Certificate


class WorkerLost(Exception):
    """A worker with rows is gone."""


class Rounds:
    """A fit under way, as the client runs it."""

    def __init__(self, client: Client, job: Job, places: Sequence[Place], solver: CoCoA, control: Control) -> None:
        self.recorder = Recorder(solver, control, partial(progress_line, unit="passes"))
        self.client, self.job, self.solver, self.control = client, job, solver, control
        self.places = list(places)
        self.n_rounds = 0
        self._futures: WeakSet[Future] = WeakSet()
        self._copies = Copies(client)
        self._shards = [self._made(place) for place in self.places]
        self._tau = 1.0
        self._best = (np.inf, 0)  # gap, and the round that had it; below 0 where there is no more to gain
        self._measure()

    def close(self) -> None:
        """Leaves nothing on the workers."""
        self._copies.close()
        release(self._futures)

    def run(self) -> tuple[str, State]:
        """How it ended, and where."""
        state = before = self._built(list(map(self._zeros, range(len(self.places)))), np.zeros(self.job.n_variables))
        while (status := self._end(state.proof)) is None:
            try:
                after = self._round(state, before)
            except WorkerLost:
                state = before = self._built(self._rescued(state.betas), state.biases)
                self._tau = 1.0
                continue
            self.n_rounds += 1
            self._copies.make(after.betas, [place.worker for place in self.places])
            if after.proof.dual < state.proof.dual or len(self.places) == 1:
                self._tau = 1.0
            if before is not state:
                release(before.betas, [before.shared])
            before, state = state, after
            if self.recorder.look(state.proof, self.counts()):
                return self._end(state.proof) or "callback", state
            self._change_if_stuck(state.proof)
        return status, state

    def each_shard(self, function: Callable[..., Any], *columns: Sequence[Any]) -> list[Future]:
        """Futures of the function of every shard and of what the columns have for it, on the shard's worker."""
        shards = zip(self.places, self._shards, *columns, strict=True)
        return [self._on(place, function, shard, *rest) for place, shard, *rest in shards]

    def _measure(self) -> None:
        """σ', rho and the number of samples, from the sizes of all shards."""
        while True:
            try:
                sizes = self._results(self.each_shard(size, [self.job] * len(self.places)))
                break
            except WorkerLost:
                self._moved()
        n_samples, norms, reach = (sum(column) for column in zip(*map(astuple, sizes), strict=True))
        rho = self.solver.rho_for(norms / n_samples, reach)
        self.job = replace(self.job, sigma=float(len(sizes)), rho=rho, n_samples=n_samples)

    def _on(self, place: Place, function: Callable[..., Any], *arguments: Any) -> Future:
        future = self.client.submit(function, *arguments, workers=[place.worker], pure=False)
        self._futures.add(future)
        return future

    def _made(self, place: Place) -> Future:
        shard = place.make(place.worker)
        self._futures.add(shard)
        return shard

    def _round(self, state: State, before: State) -> State:
        step = self._step(state, before)
        steps = [replace(step, seed=step.seed + number) for number in range(len(self.places))]
        everywhere = [[thing] * len(self.places) for thing in (self.job, state.shared, before.shared)]
        jobs, shared, shared_before = everywhere
        moved = self.each_shard(descend, jobs, steps, state.betas, before.betas, shared, shared_before)
        betas, parts = (self.each_shard(_attribute, moved, [name] * len(moved)) for name in ("beta", "part"))
        after = self._added(betas, parts, step.biases)
        release(moved)
        return after

    def _step(self, state: State, before: State) -> Step:
        tau = (1 + np.sqrt(1 + 4 * self._tau**2)) / 2
        momentum, self._tau = float((self._tau - 1) / tau), tau
        biases = state.biases + momentum * (state.biases - before.biases)
        sums = state.sums + momentum * (state.sums - before.sums)
        rho, aim = self.job.rho, -sums if self.job.has_thresholds else sums
        seed = np.random.SeedSequence([int(self.solver.seed), self.n_rounds]).generate_state(1)
        return Step(momentum, biases + rho * (aim - biases), sums, int(self.solver.passes), int(seed[0]))

    def _built(self, betas: list[Future], biases: Floats) -> State:
        """From dual variables alone; biases are as good as any."""
        while True:
            try:
                parts = self.each_shard(built, [self.job] * len(betas), betas)
                return self._added(betas, parts, biases)
            except WorkerLost:
                betas = self._rescued(betas)

    def _added(self, betas: list[Future], parts: list[Future], biases: Floats) -> State:
        """Parts are added along a tree, where one of them is; then every worker proves the sum on its own rows."""
        nodes = list(zip(self.places, parts, strict=True))
        inner: list[Future] = []
        while len(nodes) > FAN:
            inner += _parts(nodes)
            groups = [nodes[first : first + FAN] for first in range(0, len(nodes), FAN)]
            nodes = [(some[0][0], self._on(some[0][0], total, *_parts(some))) for some in groups]
        place = nodes[0][0]
        shared = self._on(place, Shared.of, biases, *_parts(nodes))
        small = self._on(place, Shared.without_coef, shared)
        proofs = self.each_shard(prove, [self.job] * len(betas), betas, [shared] * len(betas))
        (biases, sums, square), *found = self._results([small, *proofs])
        release(inner, _parts(nodes), [small], proofs)
        return State(betas, shared, biases, sums, self._certificate(biases, sums, square, found))

    def _certificate(self, biases: Floats, sums: Floats, square: float, proofs: Sequence[Proof]) -> Certificate:
        primal = 0.5 * (square + biases @ biases) + sum(proof.loss for proof in proofs)
        dual = -0.5 * (square + sums @ sums) - sum(proof.linear for proof in proofs)
        return Certificate(
            primal=float(primal),
            dual=float(dual),
            gap=max(0.0, float(primal - dual)),
            violation=max(proof.violation for proof in proofs),
            thresholds=biases if self.job.has_thresholds else -biases,
        )

    def _results(self, futures: list[Future]) -> list[Any]:
        """Of small futures, as soon as they and the copies of the last round are there."""
        while True:
            require_scheduler(self.client)
            missing = {place.worker for place in self.places} - set(self.client.nthreads())
            if missing:
                raise WorkerLost
            try:
                with self.client.as_current():  # or `wait` takes the default client, which need not be this one
                    wait([*futures, *self._copies.unfinished], timeout=POLL)
                return self.client.gather(futures)
            except TimeoutError:
                continue
            except CancelledError:
                raise RuntimeError(
                    "Rows were lost with a worker, and Dask can't compute them again: give rows that it can, such as "
                    "a dask array, rather than futures of scattered data."
                ) from None

    def _rescued(self, betas: Sequence[Future]) -> list[Future]:
        """The dual variables of all shards, those of lost workers from copies, or from 0 where these are lost too."""
        rescued = list(betas)
        for number in self._moved():
            copy = self._copies.of(number, list(self.client.nthreads()))
            rescued[number] = self._zeros(number) if copy is None else self._on(self.places[number], kept, copy)
        return rescued

    def _moved(self) -> list[int]:
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
            self._shards[number] = self._made(place)
        return lost

    def _zeros(self, number: int) -> Future:
        return self._on(self.places[number], zeros, self._shards[number], self.job)

    def _end(self, proof: Certificate) -> str | None:
        """What ends the fit here, if anything does."""
        if not np.isfinite(proof.gap):
            raise ValueError("The weights overflow: scale the features or targets, or lower C.")
        if proof.relative_gap <= self.control.tol:
            return "converged"
        if self._best[1] < 0:
            return "precision"
        if 0 <= self.control.max_iter < (self.n_rounds + 1) * self.solver.passes:
            return "max_iter"
        return self.recorder.status if self.recorder.out_of_time() else None

    def _change_if_stuck(self, proof: Certificate) -> None:
        """Where rounds lead nowhere, biases that follow at once, which can only be slow; then float64."""
        least, seen = self._best
        if proof.gap < 0.9 * least:
            self._best = (proof.gap, self.n_rounds)
            return
        idle = self.n_rounds - seen
        if idle < PATIENCE and proof.gap < 100 * least:
            return
        if self.job.rho == 1.0 and self.job.precise:
            self._best = (least, -1) if idle >= 4 * PATIENCE else self._best
            return
        change = {"rho": min(1.0, 5 * self.job.rho)} if self.job.rho < 1.0 else {"precise": True}
        self.job = replace(self.job, **change)
        self._best, self._tau = (proof.gap, self.n_rounds), 1.0

    def counts(self) -> Counts:
        n_samples = self.job.n_samples
        return Counts(self.n_rounds * int(self.solver.passes), n_support=n_samples, n_active=n_samples)


def _parts(nodes: Sequence[tuple[Place, Future]]) -> list[Future]:
    return [part for _, part in nodes]


def _attribute(shard: Any, thing: Any, name: str) -> Any:
    return getattr(thing, name)
