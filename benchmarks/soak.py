"""An hour of fits, predictions, searches, saves and loads in 8 threads, with everything going wrong that can.

Works of `soak_works.py` run in 8 threads; the main thread trains under Ctrl-C at random moments; another one starts
processes that are interrupted, killed or left (`soak_children.py`). Once a minute all of them pause, and memory,
threads and open files are counted. Every answer is recomputed; an answer that differs, an exception that was not meant,
a work without end, a file that is not whole: each is a miss.
"""

from __future__ import annotations

import argparse
import ctypes
import faulthandler
import gc
import os
import signal
import statistics
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import cho_factor

from benchmarks import soak_children
from benchmarks.memory import allocated, resident
from benchmarks.results import Row, row
from benchmarks.soak_works import Bench, Wrong, check, endless, mounted, samples, unmount
from ordsvm import SVOR, load

N_THREADS = 8
HANG = 300.0  # seconds after which a work counts as hung: each takes a fraction of one on an idle machine
PATIENCE = 10.0  # seconds after which Ctrl-C is pressed again
OWN_LOAD = N_THREADS + 2  # of this program; where the machine has more, a work may take as many times longer
BURSTS = 2  # of products and factors in all threads at once
READINGS = 60  # of memory, in a run of any length, at least five seconds apart
WARM_UP = 0.2  # of the readings
GROWTH = 2.0  # percent at most
LEAST_MINUTES = 10.0  # for memory to be judged
MALLOC = {-8: 1, -3: 1 << 17, -1: 1 << 17}  # M_ARENA_MAX, M_MMAP_THRESHOLD, M_TRIM_THRESHOLD of glibc
DATA = (
    "Synthetic, random seeds: 40 to 400 samples of 2 to 8 standard normal features, ranks from the first one with "
    "noise, 19 combinations of machine and solver, C from 0.1 to 10; random ranks with C = 1e6 where a fit is to be "
    "stopped. Memory: VmRSS after gc.collect and malloc_trim with all threads at rest; malloc has one arena and "
    "fixed thresholds, for malloc_trim does not return the tops of the others. It is judged from a warm-up on in which "
    "every thread does every work and all are in BLAS at once: that keeps a buffer for as many threads as ever were."
)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--minutes", type=float, default=60.0, help="how long")


class Soak:
    """The record of all threads, and the gate at which they pause."""

    def __init__(self, minutes: float) -> None:
        self.began = time.monotonic()
        self.end = self.began + 60 * minutes
        self.done: Counter[str] = Counter()
        self.faults: dict[str, list[str]] = {"wrong": [], "unexpected": [], "hung": [], "files": [], "processes": []}
        self.memory: list[float] = []
        self.in_use: list[float] = []  # of malloc
        self.most_load = 0.0
        self.presses = 0  # of Ctrl-C
        self._arrived = threading.Barrier(N_THREADS + 1)
        self.threads: list[int] = []
        self.open_files: list[int] = []
        self._state = threading.Condition()
        self._paused = False
        self._at_work: dict[int, tuple[str, float, bool]] = {}  # name, beginning, whether it pauses

    def is_over(self) -> bool:
        return time.monotonic() >= self.end

    @contextmanager
    def work(self, name: str, pauses: bool = True) -> Iterator[None]:
        """Counts a work, and whatever is wrong with it; one of another process need not pause."""
        me = threading.get_ident()
        with self._state:
            self._state.wait_for(lambda: not (pauses and self._paused))
            self._at_work[me] = (name, time.monotonic(), pauses)
        try:
            yield
        except Wrong as error:
            self.fault("wrong", f"{name}: {error}")
        except Exception:
            self.fault("unexpected", f"{name}: {traceback.format_exc()}")
        finally:
            with self._state:
                self.done[name] += 1
                self._at_work.pop(me, None)
                self._state.notify_all()

    def fault(self, kind: str, what: str) -> None:
        self.faults[kind].append(what)
        print(f"[soak] {kind}: {what}", file=sys.stderr, flush=True)

    @contextmanager
    def pause(self) -> Iterator[None]:
        """All threads at rest; one that is hung is not waited for."""
        with self._state:
            self._paused = True
            self._state.wait_for(lambda: not any(pauses for _, _, pauses in self._at_work.values()), HANG)
        try:
            yield
        finally:
            with self._state:
                self._paused = False
                self._state.notify_all()

    def warm_up(self) -> None:
        """Called by every thread that trains: all of them are in NumPy's and in SciPy's BLAS at once."""
        matrix = np.random.default_rng(0).normal(size=(400, 400))
        self._arrived.wait(HANG)
        for _ in range(BURSTS):
            cho_factor(matrix @ matrix.T + 400 * np.eye(400))

    def patience(self) -> float:
        """Seconds after which a work counts as hung, on a machine that others use too."""
        load = os.getloadavg()[0]
        self.most_load = max(self.most_load, load)
        return HANG * max(1.0, load / OWN_LOAD)

    def watch(self) -> None:
        """Reports works that hang, once each; should even this thread not run any more, the process ends."""
        reported: set[float] = set()
        while not self.is_over() or self._at_work:
            faulthandler.dump_traceback_later(2 * HANG, exit=True)
            patience = self.patience()
            for name, since, _ in list(self._at_work.values()):
                if time.monotonic() - since > patience and since not in reported:
                    reported.add(since)
                    self.fault("hung", name)
                    faulthandler.dump_traceback()
            if self.is_over() and time.monotonic() > self.end + HANG:
                break
            time.sleep(1.0)
        faulthandler.cancel_dump_traceback_later()

    def read(self) -> None:
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        self.memory.append(resident() / 2**20)
        self.in_use.append(allocated() / 2**20)
        self.threads.append(len(os.listdir("/proc/self/task")))
        self.open_files.append(len(os.listdir("/proc/self/fd")))

    def line(self) -> str:
        minutes, bad = (time.monotonic() - self.began) / 60, sum(map(len, self.faults.values()))
        return (
            f"[soak] {minutes:5.1f} min  {sum(self.done.values()):,} works  {bad} faults  memory {self.memory[-1]:.1f} "
            f"MiB  {self.threads[-1]} threads  {self.open_files[-1]} open files"
        )


def workers(soak: Soak, bench: Bench) -> Iterator[Callable[[], None]]:
    """The programs of the threads."""
    works = bench.works()
    names, shares = list(works), np.array([share for _, share in works.values()])

    def works_of(seed: int) -> None:
        random = np.random.default_rng(seed)
        soak.warm_up()
        for name in names:
            with soak.work(name):
                works[name][0](random)
        while not soak.is_over():
            name = str(random.choice(names, p=shares / shares.sum()))
            with soak.work(name):
                works[name][0](random)

    def children() -> None:
        random, folder = np.random.default_rng(N_THREADS), bench.folder / "children"
        folder.mkdir()
        shares = np.array([child.share for child in soak_children.CHILDREN.values()])
        while not soak.is_over():
            name = str(random.choice(list(soak_children.CHILDREN), p=shares / shares.sum()))
            with soak.work(name, pauses=False):
                if wrong := soak_children.run(name, random, folder):
                    soak.fault("processes", wrong)

    for seed in range(N_THREADS):
        yield lambda seed=seed: works_of(seed)  # type: ignore[misc]
    yield children


def press(soak: Soak, delay: float, has_ended: threading.Event) -> None:
    """Ctrl-C after so many seconds, and again where it gets lost: Python drops what a signal's handler raises while a
    weak reference or a finalizer is called back."""
    while not has_ended.wait(delay):
        os.kill(os.getpid(), signal.SIGINT)
        soak.presses += 1
        delay = PATIENCE


def interrupted_fits(soak: Soak) -> None:
    """In the main thread: fits that Ctrl-C ends at random moments, each followed by one that is left alone."""
    random = np.random.default_rng(N_THREADS + 1)
    armed = False

    def interrupt(*_: Any) -> None:
        if armed:
            raise KeyboardInterrupt

    soak.warm_up()
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        while not soak.is_over():
            X, y = random.normal(size=(400, 5)), np.arange(400) % 4
            has_ended = threading.Event()
            presser = threading.Thread(target=press, args=(soak, float(random.uniform(0.0, 0.5)), has_ended))
            with soak.work("Ctrl-C"):
                try:
                    armed = True
                    presser.start()
                    result = endless(random).fit(X, y).result_
                    raise Wrong(f"a fit without end has ended: {result.solver}, {result.status}")
                except KeyboardInterrupt:
                    armed = False
                finally:
                    armed = False
                    has_ended.set()
                presser.join()
                X, y = samples(random)
                model = SVOR().fit(X, y)
                check(model, X, y)
    finally:
        signal.signal(signal.SIGINT, before)


def read_and_report(soak: Soak, bench: Bench) -> None:
    """Pauses all threads now and then; looks at memory and files."""
    interval = max(5.0, (soak.end - soak.began) / READINGS)
    due, spoken = soak.began + interval, soak.began
    while not soak.is_over():
        time.sleep(max(0.0, due - time.monotonic()))
        due += interval
        with soak.pause():
            soak.read()
            check_files(soak, bench.folder)
        if time.monotonic() - spoken >= 59 or soak.is_over():
            spoken = time.monotonic()
            print(soak.line(), file=sys.stderr, flush=True)


def check_files(soak: Soak, folder: Path) -> None:
    """Every file is a whole model, and no temporary one is left."""
    for path in folder.iterdir():
        if path.is_dir():
            continue
        try:
            load(path)
        except Exception as error:
            soak.fault("files", f"{path.name}: {error}")
            path.unlink()


def run(quick: bool, minutes: float) -> list[Row]:
    warnings.simplefilter("ignore")
    for name, value in MALLOC.items():
        ctypes.CDLL(None).mallopt(name, value)
    soak = Soak(min(minutes, 0.5) if quick else minutes)
    umask = os.umask(0o22)
    with tempfile.TemporaryDirectory(prefix="ordsvm-soak-") as folder:
        bench = Bench(Path(folder), mounted(Path(folder) / "full"))
        try:
            tasks = [*workers(soak, bench), lambda: read_and_report(soak, bench), soak.watch]
            threads = [threading.Thread(target=task, daemon=True) for task in tasks]
            for thread in threads:
                thread.start()
            interrupted_fits(soak)
            for thread in threads:
                thread.join(2 * HANG)
        finally:
            unmount(bench.full)
    if os.umask(umask) != 0o22:
        soak.fault("files", "the process's umask was changed")
    return claims(soak, bench)


def claims(soak: Soak, bench: Bench) -> list[Row]:
    faults, unconverged, minutes = soak.faults, bench.unconverged, (soak.end - soak.began) / 60
    readings = soak.memory[int(WARM_UP * len(soak.memory)) :]
    third = max(1, len(readings) // 3)
    growth = 100 * (statistics.median(readings[-third:]) / statistics.median(readings[:third]) - 1)
    disk = "tmpfs" if bench.full else "/dev/full"
    counts = {"works": dict(sorted(soak.done.items())), "presses": soak.presses, "full_disk": disk}
    series = {"mib": soak.memory, "malloc_mib": soak.in_use, "threads": soak.threads, "open_files": soak.open_files}
    judged = {"at_most": GROWTH} if minutes >= LEAST_MINUTES else {}
    return [
        row("works done", sum(soak.done.values()), minutes=minutes, threads=N_THREADS, **counts),
        row("answers that differ from their recomputation", len(faults["wrong"]), at_most=0, **_told(faults["wrong"])),
        row("fits that no limit ended and that did not converge", len(unconverged), at_most=0, **_told(unconverged)),
        row("unexpected exceptions", len(faults["unexpected"]), at_most=0, **_told(faults["unexpected"])),
        row("works that hung", len(faults["hung"]), at_most=0, largest_load=soak.most_load, **_told(faults["hung"])),
        row("files not whole, or left behind", len(faults["files"]), at_most=0, **_told(faults["files"])),
        row("processes that ended otherwise", len(faults["processes"]), at_most=0, **_told(faults["processes"])),
        row("growth of memory after warm-up, percent", growth, **judged, **series),
    ]


def _told(faults: list[str]) -> dict[str, Any]:
    return {"examples": faults[:5]} if faults else {}
