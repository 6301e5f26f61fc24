"""Runs inside a process of the benchmark isa, whose dispatch the environment variable ORDSVM_ISA limits.

A line of JSON in, a line of JSON out: `{"work": ...}` loads data and is answered by the instruction set; a line with
"solver" and "time_limit" by CPU seconds of a fit by one thread and its status; `{"predict": ...}` by those of `predict`
of so many rows by the last machine that was fitted.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from benchmarks.contestants import CONTESTANTS
from benchmarks.works import Work
from ordsvm import _core


def _load(message: dict[str, Any]) -> tuple[Work, Any, Any]:
    work = Work(**message["work"])
    X, y = work.data()
    CONTESTANTS["ordsvm"].estimator(work).fit(X[:100], y[:100])  # first calls are not measured
    return work, X, y


def _fit(work: Work, X: Any, y: Any, message: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    options = {"solver": message["solver"], "n_threads": 1, "time_limit": message.get("time_limit")}
    machine = CONTESTANTS["ordsvm"].estimator(work).set_params(**options)
    began = time.process_time()
    machine.fit(X, y)
    taken = time.process_time() - began
    result = machine.result_
    return machine, {"seconds": taken, "status": result.status, "solver": result.solver, "violation": result.violation}


def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)  # limits are the benchmark's own
    work: Any = None
    X: Any = None
    y: Any = None
    machine: Any = None
    for line in sys.stdin:
        message = json.loads(line)
        answer: dict[str, Any]
        if "work" in message:
            work, X, y = _load(message)
            answer = {"instruction_set": _core.instruction_set}
        elif "solver" in message:
            machine, answer = _fit(work, X, y, message)
        else:
            began = time.process_time()
            machine.predict(X[: message["predict"]])
            answer = {"seconds": time.process_time() - began}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
