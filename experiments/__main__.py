"""`python -m experiments` lists papers and items; `python -m experiments PAPER ITEM ...` measures what is missing."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks.contestants import PeerMissing
from benchmarks.datasets import DataMissing
from benchmarks.results import machine, show_table, versions
from experiments import claims, page, results, runner
from experiments.items import HERE, PAPERS, Item, Scope, items_of
from experiments.records import RecordFile
from ordsvm.devices import usable_device

WORK = HERE / "work"  # ignored by git
PAGES = {"page": page.write, "claims": claims.write}  # docs/laboratory.md and docs/claims.md


def list_items() -> None:
    cells = [(paper, name, item.title) for paper in PAPERS for name, item in items_of(paper).items()]
    show_table(("paper", "item", "what the paper shows there"), cells)


def measure(paper: str, items: dict[str, Item], options: argparse.Namespace) -> int:
    """Runs, and writes the results of what has been run so far; 1 if a unit failed."""
    scope = Scope(options.trials, options.quick, tuple(options.only or ()), options.device)
    records = RecordFile(options.work / f"{paper}.jsonl")
    if options.budget != 0:
        records.add_about({"machine": machine(), "versions": versions()})
        failed = runner.run(items, records, scope, runner.Limits(options.jobs, options.budget))
    else:
        failed = []
    for text in failed:
        print(text, file=sys.stderr)
    if not options.quick:  # a quick run is a check, not a measurement
        results.write(paper, items, records, scope)
    else:
        for item in items.values():
            item.summary(records, scope)
    return int(bool(failed))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m experiments", description="The papers' experiments on real data.")
    parser.add_argument("paper", nargs="?", choices=(*PAPERS, *PAGES), help="which paper; page, claims: write docs/")
    parser.add_argument("items", nargs="*", help="tables and figures; without them, all of the paper")
    parser.add_argument("--only", nargs="+", metavar="PATTERN", help="units whose keys match, such as 'census/10/*'")
    parser.add_argument("--trials", type=int, default=20, help="of a cell at most (20)")
    parser.add_argument("--budget", type=float, help="seconds after which what still runs is given up; 0: results only")
    parser.add_argument("--jobs", type=int, help="processes at once (all cores; with a device 1)")
    parser.add_argument("--device", help="where the searches of Tables 2 and 3 of chu_keerthi_2007 train, such as cuda")
    parser.add_argument("--work", type=Path, default=WORK, help="folder of the finished trials (experiments/work)")
    parser.add_argument("--quick", action="store_true", help="a small version of every item; nothing is written")
    return parser


def main(arguments: list[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.paper in PAGES:
        PAGES[options.paper]()
        return 0
    if options.paper is None and not options.quick:
        list_items()
        return 0
    chosen = {paper: items_of(paper) for paper in PAPERS if options.paper in (None, paper)}
    if unknown := [name for name in options.items if name not in chosen[options.paper]]:
        parser.error(f"{options.paper} has no {', '.join(unknown)}: its items are {', '.join(chosen[options.paper])}.")
    if options.device is not None:
        _check_device(parser, options, chosen)
    options.jobs = options.jobs if options.jobs is not None else 1 if options.device else machine()["cores"]
    if options.trials < 1 or options.jobs < 1 or (options.budget is not None and options.budget < 0):
        parser.error("--trials and --jobs are positive, and --budget is not negative.")
    with tempfile.TemporaryDirectory() as folder:
        if options.quick:
            options.work = Path(folder)
        try:
            return max(measure(paper, _named(items, options.items), options) for paper, items in chosen.items())
        except (DataMissing, PeerMissing) as missing:
            print(missing, file=sys.stderr)
            return 2


def _check_device(
    parser: argparse.ArgumentParser, options: argparse.Namespace, chosen: dict[str, dict[str, Item]]
) -> None:
    """Before anything is run: items that know what to do with a device, and one that is there."""
    if not any(item.has_device for items in chosen.values() for item in _named(items, options.items).values()):
        parser.error(f"--device {options.device}: none of these items has a search that runs on a device.")
    try:
        usable_device(options.device)
    except (ImportError, ValueError) as error:
        parser.error(str(error))


def _named(items: dict[str, Item], names: list[str]) -> dict[str, Item]:
    return {name: items[name] for name in names} if names else items


if __name__ == "__main__":
    sys.exit(main())
