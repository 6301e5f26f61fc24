"""A small experiment of its own, which tests kill and resume: `python -m tests.experiment_cases FOLDER`."""

import sys
import time
from pathlib import Path

from experiments.items import Item, Scope, Unit
from experiments.records import RecordFile
from experiments.runner import Limits, run

TRIALS = 8


def square(number, seconds):
    time.sleep(seconds)
    if number < 0:
        raise ValueError("a negative number")
    return {"square": number**2}


def total(squares):
    return {"total": sum(squares)}


def units(done, scope):
    keys = [f"square{number}" for number in range(scope.trials)]
    for number, key in enumerate(keys):
        yield Unit(key, square, {"number": number, "seconds": 0.1}, (number,))
    ready = all(key in done for key in keys)
    yield Unit("total", total, {"squares": [done[key]["square"] for key in keys]} if ready else None)


def summary(done, scope):
    return {"cells": [{"metric": "total", "value": done["total"]["total"]}] if "total" in done else []}


ITEM = Item("Sum of squares", units, summary)


if __name__ == "__main__":
    records = RecordFile(Path(sys.argv[1]) / "records.jsonl")
    sys.exit(bool(run({"sum": ITEM}, records, Scope(TRIALS), Limits(1))))
