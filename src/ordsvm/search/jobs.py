"""The work of a search, cut into jobs that can run side by side: a fold, and candidates that share something there."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import chain, product
from operator import attrgetter
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from ordsvm.checkpoint import Session
from ordsvm.checks import usable_threads
from ordsvm.devices import usable_device
from ordsvm.estimators.base import Machine, check_parameters
from ordsvm.estimators.folds import Fold, Ints, is_pairwise, take, take_samples
from ordsvm.estimators.kernel import KernelMachine, kernel_of, trained_on_rows
from ordsvm.estimators.linear import LinearMachine, has_rows_of_samples
from ordsvm.estimators.quiet import quiet_fits
from ordsvm.estimators.validation import is_routing
from ordsvm.kernels import Kernel
from ordsvm.kernels.full_kernel import FullKernel, FullKernelStore, KeptKernels, SampleNumbers
from ordsvm.problem import Treatment
from ordsvm.search.chain import Chain
from ordsvm.search.device_grid import DeviceGrid
from ordsvm.search.feature_paths import FeaturePaths, Outcomes
from ordsvm.search.full_kernel_path import FullKernelMachinePath, Starts
from ordsvm.search.journal import Journal, Outcome
from ordsvm.search.paths import (
    LIMITS,
    FoldData,
    FoldSamples,
    Judge,
    Parameters,
    evaluate,
    follow,
    grouped,
    identity,
    may_follow,
    takes_weight,
    train_anew,
)
from ordsvm.search.pruning import JobPruner, Pruner
from ordsvm.search.views import Rows, View, Views, rows_of_all, rows_of_view
from ordsvm.solvers.auto import is_auto, trains_on_full_kernel
from ordsvm.solvers.registry import is_rank_dcd
from ordsvm.stopping import Jobs

KERNEL_PARAMETERS = ("kernel", "gamma", "degree", "coef0")
DEVICE_THREADS = 2  # that keep a device at work: one alone takes longer to launch kernels than these take
PLAIN = (bool, int, float, str, type(None), np.generic, np.ndarray, list, tuple, dict, Kernel)  # changed by no fit


@dataclass(frozen=True)
class Job:
    """Some candidates, by their places in the list of all, on one fold."""

    places: list[int]
    fold: int
    run: Callable[[], list[Outcome]]


@dataclass(frozen=True)
class SearchJobs:
    """Candidates tried on folds of samples.

    The estimator may be a pipeline: if candidates differ in parameters of its last step alone, the steps before it are
    fitted once a fold (views.py). For a bare machine the samples are the same in all folds, and so are the kernel
    values. On folds where a step fails, and where nothing may be shared, each candidate is fitted by itself.
    """

    estimator: Any
    X: Any
    y: Any
    sample_weight: Any
    folds: list[Fold]
    views: Views  # of the folds, behind the steps before the machine
    judge: Judge
    n_jobs: int | None
    verbose: int
    memory_limit: float  # bytes
    session: Session | None = None  # of a checkpoint
    pruner: Pruner | None = None
    starts: Starts | None = None  # of fits with all of K in memory
    kept: KeptKernels | None = None  # from one run to the next

    def run(
        self, candidates: Sequence[Parameters], stage: int = 1, wanted: Iterable[tuple[int, int]] | None = None
    ) -> list[list[Outcome]]:
        """Outcomes of every candidate on every fold; those that the checkpoint has are not sought again.

        `wanted`: places of candidates and folds. The outcome of another pair is that of one that was pruned.
        """
        self._check_weights_of_tests()
        own = self._own_parameters(candidates)
        journal = Journal.of(self.session, stage, candidates, self.estimator)
        journal = replace(journal, wanted=None if wanted is None else frozenset(wanted))
        if self.pruner is not None:
            for (place, fold), outcome in journal.known.items():
                self.pruner.note(place, fold, outcome)
        every = range(len(candidates))
        folds = [fold for fold in range(len(self.folds)) if journal.left(every, fold)]
        shared = [fold for fold in folds if self.views.can_be_made(fold)] if own is not None and self._shares() else []
        jobs = self._single_jobs(candidates, journal, [fold for fold in folds if fold not in shared])
        if own is None or not shared:
            return self._collect(len(candidates), jobs, journal, **self._how)
        if self._can_share_kernels(own):
            with threadpool_limits(1 if self._workers() > 1 else None, user_api="blas"):
                jobs += self._kernel_jobs(own, journal, shared)
                return self._collect(len(candidates), jobs, journal, require="sharedmem")
        is_linear = isinstance(self.machine, LinearMachine)
        if self._device() != "cpu" and not is_linear:
            jobs += self._device_jobs(own, journal, shared)
            return self._collect(len(candidates), jobs, journal, n_jobs=self._device_workers(), require="sharedmem")
        groups = grouped(own, lambda name: name != "C")
        if is_linear and self._device() == "cpu" and has_rows_of_samples(self.machine):
            journal.known.update(self._outcomes_by_features(own, groups, journal, shared))
        return self._collect(
            len(candidates), jobs + self._path_jobs(own, groups, journal, shared), journal, **self._how
        )

    def _check_weights_of_tests(self) -> None:
        """Samples of weight 0 alone have no mean error, which would be missing in those of all candidates."""
        if self.sample_weight is None or not any(map(takes_weight, self.judge.scorers.values())):
            return
        for number, fold in enumerate(self.folds):
            if len(fold.test) and not np.any(np.asarray(take(self.sample_weight, fold.test))):
                raise ValueError(
                    f"sample_weight is zero for all {len(fold.test)} samples that fold {number} tests, so that it "
                    "has no score: leave these samples out, or give another cv."
                )

    # The estimator

    @cached_property
    def machine(self) -> Any:
        return self.estimator[-1] if isinstance(self.estimator, Pipeline) else self.estimator

    def _shares(self) -> bool:
        """Return True if fits may share anything.

        The machine has to be one of this package, not one of a class that is derived from it, whose `fit` or `predict`
        may do more; and of scikit-learn's callbacks each is told of whole fits. A pipeline of another class than
        scikit-learn's may resample; its steps may request weights; and a function that scores may look at more than
        what the last step answers.
        """
        is_own = isinstance(self.machine, Machine) and type(self.machine).__module__.startswith("ordsvm.")
        if not is_own or getattr(self.machine, "_skl_callbacks", None):
            return False
        if not isinstance(self.estimator, Pipeline):
            return True
        is_routed = self.sample_weight is not None and is_routing()
        return type(self.estimator) is Pipeline and not is_routed and self.judge.asks_for_answers_alone

    @cached_property
    def prefix(self) -> str:
        """Of the names of the machine's parameters."""
        return f"{self.estimator.steps[-1][0]}__" if isinstance(self.estimator, Pipeline) else ""

    def _own_parameters(self, candidates: Sequence[Parameters]) -> list[Parameters] | None:
        """The candidates with the machine's own names of its parameters; None if there are others."""
        if any(not name.startswith(self.prefix) for parameters in candidates for name in parameters):
            return None
        cut = len(self.prefix)
        return [{name[cut:]: value for name, value in parameters.items()} for parameters in candidates]

    # Jobs: what they need of the data is cut out when they run

    def _single_jobs(self, candidates: Sequence[Parameters], journal: Journal, folds: Sequence[int]) -> list[Job]:
        """One candidate at a time, as for any estimator."""

        def run(place: int, fold: int) -> list[Outcome]:
            estimator = self._fresh(candidates[place])
            data = self._data(fold, is_pairwise(estimator))
            return follow(lambda _: estimator, [candidates[place]], data, self._judge_of(journal, [place], fold))

        batches = self._batches([[place] for place in range(len(candidates))], journal, folds)
        return [Job([place], fold, partial(run, place, fold)) for [place], fold in batches]

    @property
    def _how(self) -> dict[str, Any]:
        """Options of joblib: what decides which fits are left out is shared by all jobs."""
        return {} if self.pruner is None else {"require": "sharedmem"}

    def _batches(
        self, groups: Iterable[list[int]], journal: Journal, folds: Sequence[int]
    ) -> Iterator[tuple[list[int], int]]:
        """Candidates of a group with one of these folds on which they have no outcome yet."""
        for places, fold in product(groups, folds):
            if left := journal.left(places, fold):
                yield left, fold

    def _judge_of(
        self, journal: Journal, places: list[int], fold: int, followers: Callable[[int], Sequence[int]] = lambda _: ()
    ) -> Judge:
        watch = None if self.pruner is None else JobPruner(self.pruner, places, fold, followers)
        return replace(self.judge, journal=journal.for_job(places, fold), watch=watch)

    def _followers(self, own: Sequence[Parameters], groups: list[list[int]]) -> Callable[[int], Sequence[int]]:
        """Those with later kernels that may start from a fit: with penalised thresholds from the one with the same C,
        otherwise from the first of a path."""
        order = {place: number for number, places in enumerate(groups) for place in places}
        formulation = getattr(self.machine, "formulation", None)
        by_C = getattr(formulation, "treatment", Treatment.PENALIZED) is Treatment.PENALIZED

        def C(place: int) -> Any:
            return own[place].get("C", self.machine.C)

        def followers(place: int) -> Sequence[int]:
            if by_C:
                return [p for p in order if order[p] > order[place] and C(p) >= C(place)]
            is_first = all(C(p) >= C(place) for p in groups[order[place]])
            return [p for p in order if order[p] > order[place]] if is_first else ()

        return followers

    def _fresh(self, parameters: Parameters) -> Any:
        """An estimator with copies of the values in a grid, which may be estimators: a fit changes nothing of them."""
        return clone(self.estimator).set_params(**clone(parameters, safe=False))

    def _path_jobs(
        self, own: Sequence[Parameters], groups: list[list[int]], journal: Journal, folds: Sequence[int]
    ) -> list[Job]:
        """The candidates of a group without anything shared but the path along C."""

        def run(places: list[int], fold: int, view: View | None) -> list[Outcome]:
            chosen = [own[place] for place in places]
            pairwise = view is None and is_pairwise(self._fresh_machine(chosen[0]))
            judge = self._judge_of(journal, places, fold)
            return follow(self._fresh_machine, chosen, self._data(fold, pairwise, view), judge)

        batches = self._batches(groups, journal, folds)
        return [Job(places, fold, partial(run, places, fold, self.views.of(fold))) for places, fold in batches]

    def _outcomes_by_features(
        self, own: Sequence[Parameters], groups: list[list[int]], journal: Journal, folds: Sequence[int]
    ) -> Outcomes:
        """Of the candidates that the interior-point method trains in passes that folds share."""
        judge_of, room, train_too = partial(self._judge_of, journal), self.memory_limit, self.judge.train_too

        def data_of(fold: int) -> FoldData:
            return self._data(fold, pairwise=False, view=self.views.of(fold))

        paths = FeaturePaths(self._fresh_machine, own, data_of, judge_of, journal.left, room, train_too)
        if self.views.are_plain:
            samples = FoldSamples(self.X, self.y, self.sample_weight)
            yield from paths.outcomes(groups, samples, {fold: np.asarray(self.folds[fold].train) for fold in folds})
            return
        for fold in folds:
            every = np.arange(len(self.folds[fold].train))
            yield from paths.outcomes(groups, data_of(fold).train, {fold: every})

    def shares_folds(self) -> bool:
        """Whether fits on all folds are made at once: those of linear machines share passes."""
        return isinstance(self.machine, LinearMachine) or self._device() != "cpu"

    def _device(self) -> str:
        """Where the machine trains, if that is a device in any case."""
        device = getattr(self.machine, "device", "cpu")
        return "cpu" if device == "auto" else usable_device(device)

    def _device_jobs(self, own: Sequence[Parameters], journal: Journal, folds: Sequence[int]) -> list[Job]:
        """All folds of candidates that differ in C alone, side by side where they are small; else one by one.

        Jobs of as many kernels as are solved at once alternate: the folds of one wait for each other.
        """
        of_kernels: list[list[Job]] = []
        last: dict[Hashable, DeviceGrid] = {}
        for places in grouped(own, lambda name: name != "C"):
            kernel = self._common_kernel(own[places[0]]) if self._are_valid([own[place] for place in places]) else None
            machine = self._fresh_machine({name: value for name, value in own[places[0]].items() if name != "C"})
            chosen = [own[place] for place in places]
            if kernel is None or not DeviceGrid.takes(machine, chosen, kernel, len(self.y)):
                of_kernels.append(self._path_jobs(own, [places], journal, folds))
            elif any(self._batches([places], journal, folds)):
                others = identity(chosen[0], lambda name: name not in ("C", "gamma"))
                C = [float(parameters.get("C", self.machine.C)) for parameters in chosen]
                last[others] = DeviceGrid(machine, kernel, self.X, C, before=last.get(others))
                of_kernels.append(self._grid_jobs(last[others], kernel, own, places, journal))
        of_kernels, at_once = list(filter(None, of_kernels)), effective_n_jobs(self._device_workers())
        rounds = (chain(*of_kernels[k : k + at_once]) for k in range(0, len(of_kernels), at_once))
        return [job for turn in rounds for job in sorted(turn, key=attrgetter("fold"))]

    def _device_workers(self) -> int | None:
        """Threads that launch kernels: no more on a GPU than there is memory planned for."""
        if not self._device().startswith("cuda"):
            return self.n_jobs
        return DEVICE_THREADS if self.n_jobs is None else min(effective_n_jobs(self.n_jobs), DEVICE_THREADS)

    def _common_kernel(self, parameters: Parameters) -> Kernel | None:
        """The kernel that all folds have; None where they differ."""
        X = None if not self.views.are_plain or is_pairwise(self.machine) else self._checked
        if X is None:
            return None
        machine = self._fresh_machine(parameters)
        kernels = [kernel_of(machine, take(X, fold.train)) for fold in self.folds]
        return kernels[0] if all(kernel == kernels[0] for kernel in kernels) else None

    def _grid_jobs(
        self, grid: DeviceGrid, kernel: Kernel, own: Sequence[Parameters], places: list[int], journal: Journal
    ) -> list[Job]:
        numbers = np.arange(len(self.y), dtype=np.float64)[:, np.newaxis]

        def run(left: list[int], fold: int) -> list[Outcome]:
            grid.solved([self._part(numbers, self.folds[each].train) for each in range(len(self.folds))])
            train, test = (self._part(numbers, rows) for rows in self.folds[fold])
            judge = self._judge_of(journal, left, fold)
            outcomes = []
            for number, place in enumerate(left):
                with quiet_fits():  # as where a machine is trained by itself
                    machine = grid.machine(fold, places.index(place), self._fresh_machine(own[place]))
                if machine is not None:
                    by_number = replace(judge, in_full=self._in_full(fold, own[place], kernel))
                    data, fit = FoldData(train, test, train), partial(_already, machine)
                    outcomes.append(evaluate(fit, data, by_number, number))
                    continue
                data = self._data(fold, pairwise=False)
                fit = partial(train_anew, self._fresh_machine(own[place]), data.train)
                outcomes.append(evaluate(fit, data, judge, number))
            return outcomes

        batches = self._batches([places], journal, range(len(self.folds)))
        return [Job(left, fold, partial(run, left, fold)) for left, fold in batches]

    def _in_full(self, fold: int, parameters: Parameters, kernel: Kernel) -> Callable[[Any, Any], tuple[Any, Any]]:
        """A machine that was trained on numbers of samples, and numbers of samples, for a function that scores it."""
        untrained, train = self._fresh_machine(parameters), self.folds[fold].train
        pairwise = is_pairwise(untrained)

        def in_full(machine: Any, numbers: Any) -> tuple[Any, Any]:
            X = take_samples(self.X, train, train, pairwise)
            rows = numbers[:, 0].astype(np.int64)
            return trained_on_rows(machine, untrained, X, kernel), take_samples(self.X, rows, train, pairwise)

        return in_full

    def _fresh_machine(self, parameters: Parameters) -> Any:
        """As `clone` and `set_params` make it, which take a millisecond; a random state or a callback is not shared."""
        untrained = vars(self._untrained)
        changing = {name: value for name, value in parameters.items() if not isinstance(value, PLAIN)}
        parameters = parameters | clone(changing, safe=False)
        if not (
            untrained.keys() >= parameters.keys() and all(isinstance(value, PLAIN) for value in untrained.values())
        ):
            return clone(self.machine).set_params(**parameters)
        machine = copy(self._untrained)
        vars(machine).update(parameters)
        return machine

    @cached_property
    def _untrained(self) -> Any:
        return clone(self.machine)

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(self.machine.get_params(deep=False))

    def _can_share_kernels(self, own: Sequence[Parameters]) -> bool:
        """Whether kernel matrices, and what is cut out of them for the folds, fit into memory."""
        limited = any(name in LIMITS for parameters in own for name in parameters)
        if not isinstance(self.machine, KernelMachine) or not may_follow(self.machine) or limited:
            return False
        if getattr(self.machine, "device", "cpu") not in ("cpu", "auto"):
            return False
        return self.room_for_kernels() >= 0

    def room_for_kernels(self) -> float:
        """Return the bytes of the limit that fits with all of K in memory leave; 0 where the machine has no K."""
        if not isinstance(self.machine, KernelMachine):
            return 0.0
        n, follows = self.views.n_rows(), is_auto(self.machine.solver)
        matrices = 12.0 * n * n * min(2, self._workers())  # with values in both precisions
        cut_out = (8.0 if follows else 16.0) * n * n  # of a fold, for the machine's own solver
        return self.memory_limit - matrices - cut_out * self._workers()

    def _kernel_jobs(self, own: Sequence[Parameters], journal: Journal, folds: Sequence[int]) -> list[Job]:
        """All candidates with the same kernel. Those with bad parameters are left to fail by themselves, and rank-dcd
        trains on rows of features."""
        every = {fold: self._kernel_rows(fold) for fold in folds}
        rows = {fold: found for fold, found in every.items() if found is not None}
        by_rows = {place for place, chosen in enumerate(own) if is_rank_dcd(chosen.get("solver", self.machine.solver))}
        by_kernel = [set(places) - by_rows for places in grouped(own, lambda name: name in KERNEL_PARAMETERS)]
        groups = [sorted(places) for places in by_kernel if places]
        apart = [places for places in groups if not self._can_share([own[place] for place in places])]
        plans: list[tuple[list[int], int, Kernel, Hashable]] = []
        together = list(rows)
        trained_on = cache(lambda fold: take(rows[fold].X, rows[fold].train))
        for places, fold in self._batches((places for places in groups if places not in apart), journal, together):
            kernel = kernel_of(self._fresh_machine(own[places[0]]), trained_on(fold))
            plans.append((places, fold, kernel, (None if self.views.are_plain else fold, kernel)))
        n_threads = max(self._workers(), usable_threads(self.machine.n_threads) if plans else 1)
        trained_on.cache_clear()
        data_of = cache(lambda fold: self._numbered(fold, rows[fold]))
        store = FullKernelStore((plan[-1] for plan in plans), n_threads, self.kept)
        chain = Chain(self._lines([(places[0], fold) for places, fold, *_ in plans]))
        followers = self._followers(own, [places for places in groups if places not in apart])

        def run(number: int, places: list[int], fold: int, kernel: Kernel, name: Hashable) -> list[Outcome]:
            full = FullKernel(store.get(name, kernel, rows[fold].X))
            chosen = [{k: v for k, v in own[place].items() if k not in KERNEL_PARAMETERS} for place in places]
            data = data_of(fold)
            make = partial(self._machine_with, full)
            solvers = [parameters.get("solver", self.machine.solver) for parameters in chosen]
            with chain.link(number) as (before, mine):
                near = None
                if self.starts is not None:
                    near = self.starts.of(fold, name)
                    before.fits |= self.starts.fits(fold)
                path = partial(FullKernelMachinePath, kernel=full, before=before, own=mine, near=near)
                follows = trains_on_full_kernel(solvers, kernel)
                judge = self._judge_of(journal, places, fold, followers)
                judge = replace(judge, in_full=self._in_full(fold, own[places[0]], kernel))
                outcomes = follow(make, chosen, data, judge, path if follows else None)
            store.used(name)
            if self.starts is not None:
                self.starts.fits(fold).update(mine.fits)
            return outcomes

        shared = [Job(plan[0], plan[1], partial(run, number, *plan)) for number, plan in enumerate(plans)]
        refused = [fold for fold in folds if fold not in rows]
        alone = self._path_jobs(own, [*apart, sorted(by_rows)], journal, together)
        return shared + alone + self._path_jobs(own, [*groups, sorted(by_rows)], journal, refused)

    @cached_property
    def _checked(self) -> Any:
        """All samples as the machine trains on them; None where it refuses them."""
        return rows_of_all(self.machine, self.X)

    def _kernel_rows(self, fold: int) -> Rows | None:
        """Samples that kernel values are computed of; None where the machine refuses them."""
        view = self.views.of(fold)
        if view is not None:
            return rows_of_view(self.machine, view)
        train, test = self.folds[fold]
        return None if self._checked is None else Rows(self._checked, train, test, train)

    def _numbered(self, fold: int, rows: Rows) -> FoldData:
        """The samples of a fold as the numbers of their rows."""
        numbers, (train, test) = SampleNumbers.up_to(rows.X.shape[0]), self.folds[fold]
        parts = ((rows.train, train), (rows.test, test), (rows.retest, train))
        return FoldData(
            *(
                FoldSamples(take(numbers, here), take(self.y, which), take(self.sample_weight, which))
                for here, which in parts
            )
        )

    def _lines(self, plans: Sequence[tuple[int, int]]) -> list[Hashable]:
        """What jobs follow each other by: those on a fold, or, with fewer folds than jobs at once, every other one."""
        folds = {fold for _, fold in plans}
        n_lines = -(-self._workers() // max(1, len(folds)))
        order = {place: number for number, place in enumerate(dict.fromkeys(place for place, _ in plans))}
        return [(fold, order[place] % n_lines) for place, fold in plans]

    def _machine_with(self, full: FullKernel, parameters: Parameters) -> Any:
        """Side by side, fits have one thread each; the kernel's values are where the CPU has them."""
        machine = self._fresh_machine(parameters | {"kernel": full, "device": "cpu"})
        if self._workers() > 1:
            machine.n_threads = 1
        return machine

    def _workers(self) -> int:
        return min(effective_n_jobs(self.n_jobs), len(self.folds))

    def _can_share(self, candidates: Sequence[Parameters]) -> bool:
        """Whether these are valid and have a kernel of their samples; behind steps, one that is given is of a fold."""
        return self._are_valid(candidates) and (
            self.views.are_plain or not is_pairwise(self._fresh_machine(candidates[0]))
        )

    def _are_valid(self, candidates: Sequence[Parameters]) -> bool:
        machine = self._fresh_machine(candidates[0])
        try:
            for parameters in candidates:
                if not self._names.issuperset(parameters):
                    machine.set_params(**parameters)  # raises with the name of the one that it lacks
                vars(machine).update(parameters)
                check_parameters(machine)
        except ValueError:
            return False
        return True

    def _data(self, fold: int, pairwise: bool, view: View | None = None) -> FoldData:
        """The samples of a fold, as they are or behind the steps of a pipeline."""
        train, test = self.folds[fold]
        if view is None:
            trained, tested = (
                self._part(take_samples(self.X, rows, train, pairwise), rows, is_cut=True) for rows in (train, test)
            )
            return FoldData(trained, tested, trained)
        trained, tested = self._part(view.train, train, is_cut=True), self._part(view.test, test, is_cut=True)
        return FoldData(trained, tested, replace(trained, X=view.retest))

    def _part(self, X: Any, which: Ints, is_cut: bool = False) -> FoldSamples:
        """Some of the samples; `is_cut`: X has no others."""
        return FoldSamples(X if is_cut else take(X, which), take(self.y, which), take(self.sample_weight, which))

    def _collect(self, n_candidates: int, jobs: Sequence[Job], journal: Journal, **options: Any) -> list[list[Outcome]]:
        found = Jobs(**{"n_jobs": self.n_jobs, "verbose": self.verbose} | options).run(job.run for job in jobs)
        journal.finish()
        table: list[dict[int, Outcome]] = [{} for _ in range(n_candidates)]
        for (place, fold), outcome in journal.known.items():
            table[place][fold] = outcome
        for job, outcomes in zip(jobs, found, strict=True):
            for place, outcome in zip(job.places, outcomes, strict=True):
                table[place][job.fold] = outcome
        none = self.judge.pruned()
        return [[row.get(fold, none) for fold in range(len(self.folds))] for row in table]


def _already(machine: Any, checkpoint: Any = None) -> Any:
    """A machine that was trained with others."""
    return machine
