"""A campaign of random problems over all estimators and solvers, each judged by an independent program.

Seven in ten are fits. The others are identities, containers, malformed input, coverage of prediction sets and searches
(`kinds`).

`make campaign` (PROBLEMS=10000 SEED=0 JOBS=2 TIME_LIMIT=2 RESUME=1), or `python -m benchmarks campaign --problems
10000`. Counts by stratum go to results/campaign.json; a problem that ends wrong, hung or crashed is saved under
build/campaign as a few lines of Python that make it again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from benchmarks.campaign import report, reproduction, workers
from benchmarks.campaign.kinds import SHARES
from benchmarks.campaign.workers import Campaign, Record
from benchmarks.results import Row

DATA = (
    "random samples (benchmarks/campaign/samples.py): 2 to 600 of 1 to 40 features, noisy ranks or targets, duplicated "
    "rows, constant columns, missing ranks, features from 1e-8 to 1e8, float32, CSR; C from 1e-6 to 1e6"
)
FOLDER = Path(__file__).resolve().parents[2] / "build" / "campaign"
QUICK_PROBLEMS = 40


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--problems", type=int, default=10_000, help="how many")
    parser.add_argument("--seed", type=int, help="of all of them; without it, the date")
    parser.add_argument("--jobs", type=int, default=2, help="processes at work")
    parser.add_argument("--time-limit", type=float, default=2.0, help="seconds of one fit")
    parser.add_argument("--kinds", nargs="+", choices=SHARES, default=list(SHARES), help="of problems")
    parser.add_argument("--resume", action="store_true", help="keeps what an interrupted run of this seed has found")


def run(
    quick: bool,
    problems: int = 10_000,
    seed: int | None = None,
    jobs: int = 2,
    time_limit: float = 2.0,
    resume: bool = False,
    kinds: Sequence[str] = tuple(SHARES),
) -> list[Row]:
    """Trains and judges; the counts."""
    campaign = Campaign(seed_of_today() if seed is None else seed, time_limit, kinds=tuple(kinds))
    records = go_through(campaign, QUICK_PROBLEMS if quick else problems, jobs, resume)
    return report.rows(records)


def seed_of_today() -> int:
    return int(date.today().strftime("%Y%m%d"))


def go_through(
    campaign: Campaign, problems: int, jobs: int = 2, resume: bool = False, folder: Path = FOLDER
) -> list[Record]:
    """The records of problems 0, 1, …; also kept, line by line, in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"records_{campaign.seed}.jsonl"
    kept = [json.loads(line) for line in path.read_text().splitlines()] if resume and path.is_file() else []
    done = {record["number"] for record in kept}
    records = [record for record in kept if record["number"] < problems]
    began = time.monotonic()
    with path.open("a" if resume else "w") as file:
        left = [number for number in range(problems) if number not in done]
        for record in workers.run(campaign, left, jobs):
            file.write(json.dumps(record, default=float) + "\n")
            file.flush()
            records.append(record)
            if record["outcome"] in workers.FAILURES:
                path_of_case = reproduction.save(folder, campaign, record)
                print(f"{record['outcome']}: {path_of_case}: {'; '.join(record['reasons'])}", file=sys.stderr)
            if len(records) % 500 == 0:
                seconds = time.monotonic() - began
                print(f"{len(records)} of {problems}, {seconds:.0f} s: {report.count(records)}", file=sys.stderr)
    return records
