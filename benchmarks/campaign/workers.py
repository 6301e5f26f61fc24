"""Processes that train and judge one problem after the other, under a watchdog.

A process that ends, or does not return from `fit` within the time limit and a grace, is replaced: its problem has
crashed or hung, and the campaign goes on.
"""

from __future__ import annotations

import importlib
import multiprocessing
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any

from benchmarks.campaign import kinds
from benchmarks.campaign.cases import Case

Record = dict[str, Any]
FAILURES = ("wrong", "hung", "crashed")
FITS = 20  # that a problem of another kind than "fit" may make before it has hung
OTHER_STAGES = 600.0  # seconds for what is not the library's: the start of a process, and the judge


def work(campaign: Campaign, connection: Connection) -> None:
    """The loop of a process: numbers in, words on the way, records out."""
    while True:
        try:
            number = connection.recv()
        except EOFError:
            return
        connection.send(attempt(campaign, number, connection.send))


@dataclass(frozen=True)
class Campaign:
    """Which problems: their seed, the time limit of a fit, and the seconds after it until a fit has hung.

    kinds   of problems that are drawn
    work    what a process runs
    """

    seed: int
    time_limit: float = 2.0
    grace: float = 60.0
    kinds: tuple[str, ...] = tuple(kinds.SHARES)
    work: Callable[[Campaign, Connection], None] = work

    def draw(self, number: int) -> tuple[str, Any]:
        """Return the kind of the problem of this number, and the problem."""
        kind = kinds.kind_of(self.seed, number, self.kinds)
        return kind, kinds.draw(self.seed, number, self.time_limit, kind)


def run(campaign: Campaign, numbers: Iterable[int], jobs: int) -> Iterator[Record]:
    """The records of these problems, in the order in which they end."""
    waiting, workers = iter(numbers), []
    try:
        for number in waiting:
            workers.append(_Worker(campaign, number))
            if len(workers) == jobs:
                break
        while workers:
            wait([worker.connection for worker in workers], timeout=1.0)
            for worker in workers:
                record = worker.record()
                if record is None:
                    continue
                yield record
                if record["outcome"] in FAILURES:  # malformed input may have spoilt the memory of the process
                    worker.end()
                number = next(waiting, None)
                worker.number = number
                if number is not None:
                    worker.give(number)
            workers = [worker for worker in workers if worker.number is not None or worker.end()]
    finally:
        for worker in workers:
            worker.end()


@dataclass
class _Worker:
    """A process and the problem that it has."""

    campaign: Campaign
    number: int | None
    process: Any = None
    connection: Any = None
    began: float = field(default_factory=time.monotonic)
    stage: str = "begins"

    def __post_init__(self) -> None:
        self._start()
        self.give(self.number)

    def give(self, number: int | None) -> None:
        if self.process is None:
            self._start()
        self.began, self.stage = time.monotonic(), "begins"
        self.connection.send(number)

    def record(self) -> Record | None:
        """The record of the problem, if it has come to an end of some kind."""
        try:
            while self.connection.poll():
                message = self.connection.recv()
                if isinstance(message, dict):
                    return message
                self.stage, self.began = message, time.monotonic()
        except (EOFError, ConnectionResetError):
            self.process.join(10)
            code = self.process.exitcode
            return self._lost("crashed", f"the process ended with {code} while it {self.stage}")
        limits = {"trains": self.campaign.time_limit + self.campaign.grace, "predicts": self.campaign.grace}
        limits["is tried"] = FITS * self.campaign.time_limit + self.campaign.grace
        limit = limits.get(self.stage, OTHER_STAGES)
        if time.monotonic() - self.began > limit:
            return self._lost("hung", f"nothing for {limit:g} s while it {self.stage}")
        return None

    def end(self) -> bool:
        """Ends the process, by force if need be; False, for it is over."""
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.connection.close()
            self.process = None
        return False

    def _lost(self, outcome: str, reason: str) -> Record:
        self.end()
        strata = kinds.strata(*self.campaign.draw(int(self.number or 0)))
        return {"number": self.number, "outcome": outcome, "reasons": [reason], **strata}

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, other = context.Pipe()
        self.process = context.Process(target=self.campaign.work, args=(self.campaign, other), daemon=True)
        self.process.start()
        other.close()


def attempt(campaign: Campaign, number: int, tell: Any = lambda stage: None) -> Record:
    """Trains and judges one problem."""
    kind, problem = campaign.draw(number)
    record: Record = {"number": number, **kinds.strata(kind, problem)}
    importlib.import_module("ordsvm")
    if kind == "fit":
        return record | _fit(problem, tell)
    tell("is tried")
    try:
        outcome, reasons = kinds.module_of(kind).judge(problem)
    except Exception as error:
        outcome, reasons = "crashed", [_words(error)]
    return record | {"outcome": outcome, "reasons": reasons}


def _fit(case: Case, tell: Any) -> Record:
    from benchmarks.campaign.answers import answer_of, train
    from benchmarks.campaign.judge import judge

    record: Record = {}
    tell("trains")
    began = time.perf_counter()
    try:
        model, data, warned = train(case)
        record["seconds"] = time.perf_counter() - began
        tell("predicts")
        answer = answer_of(case, model, data)
    except Exception as error:
        return record | {"outcome": "crashed", "reasons": [_words(error)]}
    tell("is judged")
    verdict = judge(answer)
    result = model.result_
    record |= {name: getattr(result, name) for name in ("status", "relative_gap", "violation", "n_iter")}
    record |= {"ran": result.solver, "hinges": len(result.alpha), "optima": verdict.get("optima", 0)}
    record |= {name: verdict.get(name, 0.0) for name in ("slack", "least_rounding")}
    record |= {"largest_C": case.parameters["C"] * verdict.get("largest", 1.0)}
    record |= {"reasons": verdict["reasons"], "rounding": verdict.get("rounding", False), "tol": float(answer["tol"])}
    if not result.converged and "ConvergenceWarning" not in warned:
        record["reasons"] = [*record["reasons"], "not converged, and no ConvergenceWarning"]
    record["outcome"] = "wrong" if record["reasons"] else "converged" if result.converged else "warned"
    return record


def _words(error: Exception) -> str:
    """Return the exception and the last two places that it came through."""
    return "".join(traceback.format_exception_only(error) + traceback.format_tb(error.__traceback__)[-2:])
