"""One fold's share of a search: machines trained along paths of rising C, each from where the last one ended."""

from __future__ import annotations

import math
import textwrap
import time
import traceback
import warnings
from collections.abc import Callable, Hashable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import signature
from numbers import Real
from typing import Any, Protocol

import numpy as np
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics._scorer import _BaseScorer
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import MetadataRequest, get_routing_for_object

from ordsvm.checkpoint import DamagedError
from ordsvm.checks import caller_level
from ordsvm.estimators.base import Fit, Machine, prepare
from ordsvm.estimators.kernel import KernelMachine
from ordsvm.estimators.quiet import quiet_fits
from ordsvm.estimators.validation import checkpoint_argument, is_routing, weight_argument
from ordsvm.metrics.scorers import OrdinalScorer, sample_losses
from ordsvm.result import STATUSES
from ordsvm.search.journal import FAILED, PRUNED, Ending, JobJournal, Outcome

Parameters = dict[str, Any]
Scorer = Callable[..., float]

LONGEST_REASON = 500  # characters of an error that a warning quotes


@dataclass(frozen=True)
class FoldSamples:
    """What a fold trains on, or what it tests; weights may be None."""

    X: Any
    y: Any
    weight: Any


@dataclass(frozen=True)
class FoldData:
    """The samples of a fold.

    train   those that machines are trained on
    test    those to test
    retest  those trained on as a trained machine takes them, for scores of training
    """

    train: FoldSamples
    test: FoldSamples
    retest: FoldSamples


@dataclass(frozen=True)
class Judge:
    """How a trained machine is scored, and what becomes of one that cannot be trained."""

    scorers: dict[str, Scorer]
    train_too: bool
    error_score: Any
    journal: JobJournal | None = None  # of the job whose machines are scored
    watch: Watch | None = None  # what decides which of them need not be trained
    keeps_losses: bool = False  # of the tested samples
    in_full: Callable[[Any, Any], tuple[Any, Any]] | None = None  # a machine and samples where both are about numbers
    failures: dict[str, object] = field(default_factory=dict)  # that a warning has named

    def scores(self, machine: Any, samples: FoldSamples, losses: list[float] | None = None) -> dict[str, float]:
        """Those of the scorers that do not fail; there is a warning of the others, unless they raise or are for other
        models.

        By the losses of the samples, where they are given; a scorer that wraps one of this package is called.
        """
        name, scorer = next(iter(self.scorers.items()))
        if losses is not None and isinstance(scorer, OrdinalScorer):
            best = 1.0 if scorer.greater_is_better else 0.0
            return {name: best - float(np.average(losses, weights=samples.weight))}
        scores: dict[str, float] = {}
        for name, scorer in self.scorers.items():
            try:
                weighted = _weight_for(scorer, samples.weight)
                model, X = (machine, samples.X) if asks_for_answers_alone(scorer) else self._in_full(machine, samples.X)
                target = () if samples.y is None else (samples.y,)
                score = scorer(model, X, *target, **weighted)
                several = score if isinstance(score, dict) and name == "score" else {name: score}
                scores |= {each: float(value) for each, value in several.items()}
            except Exception as error:
                wants_others = isinstance(error, TypeError) and isinstance(scorer, OrdinalScorer)
                if self.error_score == "raise" or wants_others:  # no model of this kind is one for it
                    raise
                _warn_failed(
                    self, error, f"The scorer {name!r} failed and its score is {self.error_score}", UserWarning
                )
        return scores

    def filled(self, scores: dict[str, float]) -> dict[str, float]:
        """Return the scores, with `error_score` for the scorers that have failed."""
        if scores and len(self.scorers) == 1:  # under the names that a function gives them
            return scores
        return {name: scores[name] if name in scores else float(self.error_score) for name in self.scorers}

    def _in_full(self, machine: Any, X: Any) -> tuple[Any, Any]:
        """A machine for a function that may look at it and keep it, with the samples as they were given."""
        return (copy(machine), X) if self.in_full is None else self.in_full(machine, X)

    @property
    def asks_for_answers_alone(self) -> bool:
        """Whether all that scorers look at is what a machine answers: then it may stand for a pipeline."""
        return all(asks_for_answers_alone(scorer) for scorer in self.scorers.values())

    def skips(self, numbers: Sequence[int]) -> bool:
        """Whether the first of these candidates of the job need not be trained; those after it start from it."""
        return self.watch is not None and self.watch.skips(numbers)

    def pruned(self) -> Outcome:
        """The outcome of one that is not trained."""
        nothing = dict.fromkeys(self.scorers, math.nan)
        return Outcome(nothing, nothing if self.train_too else {}, math.nan, math.nan, PRUNED)

    def losses(self, machine: Any, samples: FoldSamples) -> list[float] | None:
        """None where they are not kept, and where they fail: the scorer then says so."""
        if not self.keeps_losses:
            return None
        try:
            return sample_losses(next(iter(self.scorers.values())), machine, samples.X, samples.y)
        except Exception:
            return None


class Watch(Protocol):
    """What sees the outcomes of a job and says which of its candidates can't win any more."""

    def note(self, number: int, outcome: Outcome) -> None: ...
    def skips(self, numbers: Sequence[int]) -> bool: ...


def _weight_for(scorer: Any, weight: Any) -> dict[str, Any]:
    """Weights go to the scorers that take them."""
    return {"sample_weight": weight} if weight is not None and takes_weight(scorer) else {}


def takes_weight(scorer: Any) -> bool:
    """Return True if a scorer, or the `score` of an estimator, takes weights of samples.

    A scorer of scikit-learn knows of its metric. With metadata routing one may ask for none.
    """
    if is_routing() and hasattr(scorer, "get_metadata_routing"):
        requests = get_routing_for_object(scorer)
        if isinstance(requests, MetadataRequest) and requests.score.requests.get("sample_weight") is False:
            return False
    if hasattr(scorer, "_accept_sample_weight"):
        return bool(scorer._accept_sample_weight())
    return "sample_weight" in signature(getattr(scorer, "_score_func", scorer)).parameters


def asks_for_answers_alone(scorer: Any) -> bool:
    """Return True for the scorers of this package and of scikit-learn; a function may look at samples and models."""
    scorer = getattr(scorer, "__wrapped__", scorer)
    return scorer is own_score or isinstance(scorer, OrdinalScorer | _BaseScorer)


def own_score(machine: Any, X: Any, y: Any = None, sample_weight: Any = None) -> float:
    """The estimator's `score`, with the weights where it takes any."""
    last = machine[-1] if isinstance(machine, Pipeline) else machine
    takes = takes_weight(last.score)
    if isinstance(machine, Pipeline) and is_routing():
        takes = "sample_weight" in get_routing_for_object(machine).consumes("score", ["sample_weight"])
    weighted = {"sample_weight": sample_weight} if takes and sample_weight is not None else {}
    return float(machine.score(X, y, **weighted))


# Parameters by which a fit may end before the optimum.
LIMITS = ("max_iter", "time_limit", "callback", "early_stopping")
ENDED_FROM_OUTSIDE = {"max_iter", "time_limit", "callback"}  # statuses


def may_follow(machine: Any) -> bool:
    """Whether a fit from another start ends at the same machine: at the optimum, and not before.

    A random state goes on from fit to fit, where fits of new machines begin with the same one.
    """
    if isinstance(getattr(machine, "random_state", None), np.random.RandomState):
        return False
    unlimited = isinstance(machine, Machine) and machine.max_iter == -1 and machine.time_limit is None
    return unlimited and machine.callback is None and not getattr(machine, "early_stopping", False)


def grouped(candidates: Sequence[Parameters], counts: Callable[[str], bool]) -> list[list[int]]:
    """Places of candidates whose parameters of those names are the same."""
    groups: dict[Hashable, list[int]] = {}
    for place, parameters in enumerate(candidates):
        groups.setdefault(identity(parameters, counts), []).append(place)
    return list(groups.values())


def identity(parameters: Parameters, counts: Callable[[str], bool]) -> Hashable:
    """The same for the same values of the parameters that count.

    The same means the same objects, as grids combine them: values need be neither hashable nor comparable.
    """
    return tuple((name, id(value)) for name, value in sorted(parameters.items()) if counts(name))


class Path(Protocol):
    """A machine that is trained at one C after the other."""

    def fit(self, C: float, checkpoint: Any = None) -> Any: ...


def follow(
    make: Callable[[Parameters], Any],
    candidates: Sequence[Parameters],
    data: FoldData,
    judge: Judge,
    make_path: Callable[[Any, FoldSamples, Hashable], Path] | None = None,
) -> list[Outcome]:
    """Outcomes of all candidates, in their order; `make` gives a new estimator with the given parameters.

    Candidates that differ in C alone are a path from the least C to the largest, followed by one machine. With
    `make_path`, whose last argument names the path among those of a fold, a single candidate is a path too.
    """
    outcomes: dict[int, Outcome] = {}
    for path in grouped(candidates, lambda name: name != "C"):
        first = make(candidates[path[0]])
        values: dict[int, Any] = {place: candidates[place].get("C", getattr(first, "C", None)) for place in path}
        is_path = len(path) > 1 or make_path is not None
        if is_path and may_follow(first) and all(isinstance(C, Real) for C in values.values()):
            name = identity(candidates[path[0]], lambda name: name != "C")
            trained = MachinePath(first, data.train) if make_path is None else make_path(first, data.train, name)
            upwards = sorted(path, key=lambda place: values[place])
            for step, place in enumerate(upwards):
                if judge.skips(upwards[step:]):
                    outcomes[place] = judge.pruned()
                else:
                    outcomes[place] = evaluate(partial(trained.fit, values[place]), data, judge, place)
        else:
            for place in path:
                if judge.skips([place]):
                    outcomes[place] = judge.pruned()
                else:
                    fit = partial(train_anew, make(candidates[place]), data.train)
                    outcomes[place] = evaluate(fit, data, judge, place)
    return [outcomes[place] for place in range(len(candidates))]


class MachinePath:
    """A machine at one C after the other: each fit starts from the last one, and checks and tables are made once."""

    def __init__(self, machine: Any, train: FoldSamples) -> None:
        self.machine = machine
        self.train = train
        self.machine.warm_start = True
        self._first: Fit | None = None
        self._first_C = 0.0

    def fit(self, C: float, checkpoint: Any = None) -> Any:
        self.machine.C = C
        if not scales_with_C(self.machine):
            return train_anew(self.machine, self.train, checkpoint)
        if self._first is None:
            self._first = prepare(self.machine, self.train.X, self.train.y, self.train.weight)
            self._first_C = C
        return replace(self._first, task=self._first.task.times_C(C / self._first_C)).run(checkpoint)


def scales_with_C(machine: Any) -> bool:
    """Whether C is a factor of the cap of every hinge: NPSVOR may be given C1 and C2."""
    return isinstance(machine, KernelMachine) and all(getattr(machine, name, None) is None for name in ("C1", "C2"))


def train_anew(machine: Any, train: FoldSamples, checkpoint: Any = None) -> Any:
    options = weight_argument(machine, train.weight) | checkpoint_argument(machine, checkpoint)
    machine.fit(train.X, train.y, **options)
    return machine


def evaluate(fit: Callable[..., Any], data: FoldData, judge: Judge, number: int, spent: float = 0.0) -> Outcome:
    """Trains and scores a candidate, and keeps the outcome, where there is a checkpoint, by its number in the job.

    `spent` is how many seconds of training came before.
    """
    outcome = _kept(fit, data, judge, number, spent)
    if judge.watch is not None:
        judge.watch.note(number, outcome)
    return outcome


def _kept(fit: Callable[..., Any], data: FoldData, judge: Judge, number: int, spent: float) -> Outcome:
    if judge.journal is None:
        return _evaluated(fit, data, judge, spent)[0]
    part = judge.journal.part(number)
    kept_fit = partial(fit, checkpoint=part)
    try:
        outcome, ending = _evaluated(kept_fit, data, judge, spent)
    except DamagedError as error:
        warnings.warn(f"A fit of the search begins anew: {error}", RuntimeWarning, stacklevel=caller_level())
        part.remove()
        outcome, ending = _evaluated(kept_fit, data, judge, spent)
    judge.journal.note(number, outcome, ending)
    return outcome


def _evaluated(fit: Callable[..., Any], data: FoldData, judge: Judge, spent: float) -> tuple[Outcome, Ending]:
    """A fit or a scorer that fails gives `error_score`, with a warning, unless that is "raise"."""
    began = time.perf_counter() - spent
    try:
        with quiet_fits():  # the search gives a summary
            machine = fit()
    except DamagedError:
        raise
    except Exception as error:
        if judge.error_score == "raise":
            raise
        _warn_failed(judge, error, f"A fit failed and its score is {judge.error_score}", FitFailedWarning)
        failed = judge.filled({})
        ending = Ending.BY_CHANCE if isinstance(error, OSError | MemoryError) else Ending.BY_LIMITS
        return Outcome(failed, failed, time.perf_counter() - began, 0.0, FAILED), ending
    trained = time.perf_counter()
    losses = judge.losses(machine, data.test)
    scores = judge.scores(machine, data.test, losses)
    scored = time.perf_counter()
    of_training = judge.scores(machine, data.retest) if judge.train_too else {}
    statuses = _statuses(machine)
    ending = Ending.BY_LIMITS if statuses is None or statuses & ENDED_FROM_OUTSIDE else Ending.BY_ITSELF
    worst = min((statuses or set()) - {"converged", "early_stopping"}, key=STATUSES.index, default="")
    if len(scores) < len(judge.scorers) or len(of_training) < len(judge.scorers) * judge.train_too:
        losses, ending = None, Ending.BY_CHANCE
    test_scores, train_scores = judge.filled(scores), judge.filled(of_training) if judge.train_too else {}
    return Outcome(test_scores, train_scores, trained - began, scored - trained, worst, losses), ending


def _statuses(machine: Any) -> set[str] | None:
    """How the fits of a machine have ended; None of other estimators, which do not say."""
    last = machine[-1] if isinstance(machine, Pipeline) else machine
    if not isinstance(last, Machine):
        return None
    return {result.status for result in getattr(last, "results_", [last.result_])}


def _warn_failed(judge: Judge, error: Exception, what: str, category: type[Warning]) -> None:
    """Warn of a failure once for every reason, which most folds share; scikit-learn has a category for fits alone."""
    words, own = " ".join(traceback.format_exception_only(error)).split(), object()
    reason = textwrap.shorten(" ".join(words), LONGEST_REASON, placeholder=" …")
    if judge.failures.setdefault(f"{what}: {reason}", own) is not own:  # one step, also between threads
        return
    warnings.warn(
        f"{what}: {reason} To see where, give error_score='raise'.",
        category,
        stacklevel=caller_level(),
    )
