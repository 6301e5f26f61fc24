"""Instruction sets: CPU seconds of fits and predictions with AVX2 and with the baseline over those with AVX-512."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import peers, works
from benchmarks.results import Row, other_rows, row
from benchmarks.works import Work, make

TURNS, SLOW = 5, 3.0  # a fit of more than SLOW CPU seconds is measured once
OTHER_TURNS = 3
PREDICTED = 2000  # rows
AT_MOST = {"avx2": 2.0, "baseline": 4.0}
FAR = 1.5  # the other solver is stopped when it has taken so many times as long
SERIAL = {"SVOR": "gcd"}  # the others have free or ordered thresholds: smo
AUTO_TURNS = 9
AUTO_WORST = 1.3  # of the time of the solver that "auto" takes over that of the faster one, as in the benchmark auto
AUTO = {
    (small := make(model, "california", C, n)).name: small
    for model in ("SVOR", "SVORIM", "SVC", "SVR")
    for n in (100, 400, 1500)
    for C in (1.0, 100.0)
}
ROWS = {race.work.name: race.work for race in peers.races()} | AUTO
DATA = (
    f"{works.DATA} The works are the training rows of the benchmark peers. A process for every instruction set, to "
    "which ORDSVM_ISA limits dispatch; they take turns, one fit at a time. CPU seconds of the process "
    "(time.process_time, which a busy machine changes little), one thread, tol 1e-3, 2000 MB of cache where there "
    f"is one; figures are medians of the ratios of {TURNS} turns, {OTHER_TURNS} for block / smo (gcd for SVOR). Where "
    f"`stopped`, the latter was when it had taken {FAR:g} times the seconds of block: the ratio is then at most the "
    "figure. auto: works of that benchmark of up to 1500 rows. predict: of the first 2000 rows, by the machine that "
    "was fitted. Peers: the LIBSVM of scikit-learn is compiled for the baseline and has "
    "no dispatch; oneDAL can be limited by a C++ call alone, not by a variable, so it would keep "
    "AVX-512. A ratio to a peer with the same limit is then at least the one with AVX-512, divided by the figure."
)
EXPLANATION = "See seconds: CPU seconds, by instruction set or by solver."
NARROW = {
    "baseline": (
        "Vectors have a quarter of the width of AVX-512, and a product and its sum are two instructions: up to eight "
        "times as many for the same work, on a processor that carries out those of 64 bytes whole."
    )
}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--others", action="store_true", help="only block beside smo or gcd; with --rows")


def run(quick: bool, rows: list[str] | None = None, others: bool = False) -> list[Row]:
    """The works whose names begin with one of `rows`, or all. Quick: 400 samples, one turn, no bounds."""
    from ordsvm import _core

    wanted = {name: work for name, work in ROWS.items() if rows is None or any(name.startswith(p) for p in rows)}
    with ExitStack() as stack:
        workers = {name: stack.enter_context(_worker(name)) for name in reversed(_core.instruction_sets)}
        if "avx512" not in workers:
            warnings.warn("This processor has no AVX-512: all ratios are to AVX2.", stacklevel=2)
        made = [
            part
            for name, work in wanted.items()
            for part in (_compare_others if others else _choose if name in AUTO else _compare)(work, workers, quick)
        ]
    known = made if rows is None or quick else other_rows("isa", made) + made
    for narrow in AT_MOST:
        ratios = [part["figure"] for part in known if part.get("set") == narrow and part.get("kind") == "fit"]
        if ratios:
            made.append(row(f"{narrow}: the largest ratio of all fits by block", max(ratios)))
            made.append(row(f"{narrow}: the median ratio of all fits by block", statistics.median(ratios)))
    return made


def _load(work: Work, workers: dict[str, Worker]) -> None:
    for name, worker in workers.items():
        answer = worker.ask(work=asdict(work))
        if answer["instruction_set"] != name:
            raise RuntimeError(f"ORDSVM_ISA={name} gave {answer['instruction_set']}.")


def _choose(work: Work, workers: dict[str, Worker], quick: bool) -> list[Row]:
    """What "auto" costs beside the best choice."""
    _load(work, workers)
    made = []
    for name, worker in workers.items():
        solvers = ("block", SERIAL.get(work.model, "smo"))
        taken: dict[str, list[float]] = {solver: [] for solver in solvers}
        for _ in range(1 if quick else AUTO_TURNS):
            for solver in solvers:
                if not taken[solver] or taken[solver][0] < 1.0:
                    taken[solver].append(worker.ask(solver=solver, time_limit=60.0)["seconds"])
        seconds = {solver: statistics.median(of_one) for solver, of_one in taken.items()}
        chosen = worker.ask(solver="auto")["solver"]
        claim = f"{work.name} with {name}: time of the solver taken by auto over that of the faster one"
        figure = seconds[chosen] / min(seconds.values())
        detail = {"kind": "auto", "set": name, "taken": chosen, "seconds": seconds}
        made.append(row(claim, figure, at_most=None if quick else AUTO_WORST, explanation=EXPLANATION, **detail))
    return made


def _compare(work: Work, workers: dict[str, Worker], quick: bool) -> list[Row]:
    _load(work.reduced(400) if quick else work, workers)
    fits = _take_turns(workers, partial(Worker.ask, solver="block"), 1 if quick else TURNS)
    predictions = _take_turns(workers, partial(Worker.ask, predict=PREDICTED), 1 if quick else TURNS)
    return [
        *_ratios(work.name, "fit", "block fits", fits, quick),
        *_ratios(work.name, "predict", "predictions", predictions, quick),
        *(
            _other(work, worker, name, statistics.median(answer["seconds"] for answer in fits[name]), quick)
            for name, worker in workers.items()
        ),
    ]


def _compare_others(work: Work, workers: dict[str, Worker], quick: bool) -> list[Row]:
    _load(work.reduced(400) if quick else work, workers)
    return [
        _other(work, worker, name, worker.ask(solver="block")["seconds"], quick) for name, worker in workers.items()
    ]


def _take_turns(workers: dict[str, Worker], ask: Any, turns: int) -> dict[str, list[dict[str, Any]]]:
    """Answers of all, each one first in turn."""
    names, answers = list(workers), {name: [] for name in workers}
    for turn in range(turns):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            answers[name].append(ask(workers[name]))
        if turn == 0 and answers[names[0]][0]["seconds"] > SLOW:
            break
    return answers


def _ratios(work: str, kind: str, what: str, answers: dict[str, list[dict[str, Any]]], quick: bool) -> list[Row]:
    seconds = {name: [answer["seconds"] for answer in all_of] for name, all_of in answers.items()}
    widest, made = next(iter(seconds)), []
    for narrow, taken in list(seconds.items())[1:]:
        figure = statistics.median(a / b for a, b in zip(taken, seconds[widest], strict=True))
        bound = AT_MOST[narrow] if kind == "fit" and widest == "avx512" and not quick else None
        claim = f"{work}: {what}, {narrow} / {widest}"
        detail = {"kind": kind, "set": narrow, "seconds": {widest: seconds[widest], narrow: taken}}
        if kind == "fit":
            detail["largest_violation"] = max(answer["violation"] for answer in answers[narrow])
        made.append(row(claim, figure, at_most=bound, explanation=NARROW.get(narrow, EXPLANATION), **detail))
    return made


def _other(work: Work, worker: Worker, name: str, usual: float, quick: bool) -> Row:
    """Block, which takes about `usual` seconds, beside the solver that makes one step at a time: the two take turns."""
    other = SERIAL.get(work.model, "smo")
    limit = max(1.0, FAR * usual)  # of the clock, which runs faster than CPU seconds on a busy machine
    taken: dict[str, list[float]] = {"block": [], other: []}
    stopped = False
    while not taken[other] or (len(taken[other]) < OTHER_TURNS and not (quick or stopped or usual > SLOW)):
        block = worker.ask(solver="block")["seconds"]
        answer = worker.ask(solver=other, time_limit=limit)
        while answer["status"] == "time_limit" and answer["seconds"] < FAR * block:
            limit *= 2
            answer = worker.ask(solver=other, time_limit=limit)
        taken["block"].append(block)
        taken[other].append(answer["seconds"])
        stopped = answer["status"] == "time_limit"  # at a multiple that noise does not turn round
    figure = statistics.median(a / b for a, b in zip(taken["block"], taken[other], strict=True))
    claim = f"{work.name}: block / {other} with {name}"
    detail = {"kind": "other", "set": name, "seconds": taken, "stopped": stopped}
    return row(claim, figure, at_most=None if quick else 1.0, explanation=EXPLANATION, **detail)


class Worker:
    """A process that answers lines of JSON."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def ask(self, **message: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps(message), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("A process of the benchmark isa ended; its error is above.")
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextmanager
def _worker(name: str) -> Iterator[Worker]:
    command = [sys.executable, "-m", "benchmarks.isa_worker"]
    root = Path(__file__).resolve().parent.parent
    with subprocess.Popen(
        command,
        cwd=root,
        env=os.environ | {"ORDSVM_ISA": name},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield Worker(process)
        finally:
            process.kill()
