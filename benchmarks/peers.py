"""Times of other programs over ours: training, prediction and many small fits, on all cores of this process."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from benchmarks import curves, peer_calls, timing, works
from benchmarks.contestants import CONTESTANTS, TOL
from benchmarks.results import Row, row, speed_row
from benchmarks.works import Work, make
from ordsvm import certify

REPEATS, SLOW = 5, 10.0  # one that takes more than SLOW seconds runs once
DATA = (
    works.DATA + " tol 1e-3 and 2000 MB of cache where there is one, all cores of the process where they are used; "
    "seconds of one call, contestants taking turns, medians. REDSVM has a free common offset besides: its time is "
    "compared, not its objective. The authors' program adds 0.001 to the diagonal of the kernel matrix. "
    + peer_calls.DATA
    + " "
    + curves.DATA
)
# What bounds a figure that was missed, and what was tried; by row and contestant.
_STEPS = (
    "Half of the time goes to values of K: products of the rows that have moved with all samples, every row four or "
    "five times (a fifth to two fifths), K of working sets and of small sets (a sixth). Steps on pairs of hinges take "
    "a quarter, the certificate a tenth; a tenth of the time one of the threads waits. Gained: a small set for every "
    "thread at a time (1.1 to 1.2 times at C = 10, 1.5 at C = 100), and Newton's method for the end (1.3 to 1.6 times "
    "at C = 100). Tried without gain: small sets of 64 to 512 samples, working sets of 1536 to 4096, K of small sets "
    "gathered instead of made, or one half of it mirrored; conjugate gradients on the free hinges, which need hundreds "
    "of products; Newton's method from a violation of 0.1, where it mostly fails, and at C = 10 and n = 5000, where it "
    "costs as much as the steps."
)
_SMALL = (
    "The whole fit takes 16 ms: 3 ms are spent outside the core, on checks and formulation, 1.5 ms to have zeroed "
    "pages for K from the system; the rest are values of K, steps and the exact scores."
)
_DENSE = (
    "500 features: every value of K takes 9.6 ns in float32 and 22 ns in float64, where 8.7 and 17.3 would be the "
    "processor's limit, for oneDAL too. Ours makes every row once in float32 and, for the certificate, half of K once "
    "more in float64: about two thirds of the time. Gained: a quarter of that and a tenth of the whole, by distances "
    "from norms, which here are small enough not to cancel, and by tiles that begin where lines of the cache do. All "
    "but 129 of the 20,000 samples are support vectors, so that the proof can spare no scores."
)
_SVR = (
    "LIBSVM makes few steps here: with its rows in the cache it takes 1 to 3 s. Ours takes 0.12 to 0.3 s: values of K, "
    "three fifths of it (0.7 ns each in float32), for every support vector seven times at cpu_act; the certificate; at "
    "C = 10 steps on pairs; 5 ms are outside the core. Tried without gain: larger working sets, and rows kept in "
    "memory, which are read no faster than they are made."
)
_ONCE = (
    " The authors' program, which is run once, took 24 s in one run of this benchmark and 14 s in another; ours 0.10 "
    "and 0.09 s."
)
EXPLANATIONS = {
    ("svor-california-5000-C10", "redsvm"): _STEPS,
    ("svor-california-5000-C100", "redsvm"): _STEPS,
    ("svorim-california-2000-C1", "authors"): _SMALL,
    **{(f"{model}-california-2000-C{C}", "authors"): _STEPS for model in ("svorim", "svorex") for C in (10, 100)},
    ("svorim-california-2000-C100", "authors"): _STEPS + _ONCE,
    ("svor-census-6000-C1", "redsvm"): _STEPS,
    ("svc-dense", "onedal"): _DENSE,
    ("svr-california-10000-C1", "libsvm"): _SVR,
    ("svr-california-10000-C10", "libsvm"): _SVR,
    ("svr-cpu_act-8192-C1", "libsvm"): _SVR,
    ("svr-cpu_act-8192-C10", "libsvm"): _SVR,
}


@dataclass(frozen=True)
class Race:
    """A work, and how many times faster than each peer ordsvm is to be."""

    work: Work
    at_least: dict[str, float]


def races() -> list[Race]:
    """Of training."""
    ordinal = [
        *(("SVOR", 5000, C, "redsvm", bound) for C, bound in ((1.0, 20), (10.0, 25), (100.0, 40))),
        ("SVOR", 20_640, 1.0, "redsvm", 30),
        *(("SVORIM", 2000, C, "authors", bound) for C, bound in ((1.0, 30), (10.0, 60), (100.0, 200))),
        *(("SVOREX", 2000, C, "authors", bound) for C, bound in ((1.0, 20), (10.0, 30), (100.0, 80))),
    ]
    return [
        *(Race(make(model, "california", C, n), {peer: bound}) for model, n, C, peer, bound in ordinal),
        Race(make("SVOR", "census", 1.0, 6000), {"redsvm": 60}),
        Race(make("SVC", "a9a"), {"libsvm": 35, "onedal": 6}),
        Race(make("SVC", "ijcnn1"), {"libsvm": 30, "onedal": 8}),
        Race(make("SVC", "dense"), {"libsvm": 15, "onedal": 2}),
        *(Race(make("SVR", "california", C, 10_000), {"libsvm": 15, "onedal": 3}) for C in (1.0, 10.0)),
        *(Race(make("SVR", "cpu_act", C, 8192), {"libsvm": 15, "onedal": 3}) for C in (1.0, 10.0)),
    ]


def _train(race: Race, quick: bool) -> list[Row]:
    """A row for every peer, with an independent recomputation of our fit's violation and gap."""
    work = race.work.reduced(400) if quick else race.work
    X, y = work.data()
    here = [CONTESTANTS[name] for name in ("ordsvm", *race.at_least) if not CONTESTANTS[name].refuses(work)]
    for contestant in here:  # imports and first calls are not part of the race
        contestant.estimator(work).fit(X[:100], y[:100])
    fits = {contestant.name: partial(contestant.fit, work, X, y) for contestant in here}
    times = timing.race(fits, 1 if quick else REPEATS, threads=None, slow=SLOW)
    ours = times.last("ordsvm")
    proof = certify(ours, X, y)
    return [
        speed_row(
            f"{race.work.name}: training, {CONTESTANTS[peer].title} / ours",
            times,
            "ordsvm",
            peer,
            skipped=CONTESTANTS[peer].refuses(work),
            at_least=None if quick else bound,
            explanation=EXPLANATIONS.get((race.work.name, peer)),
            our_solver=ours.result_.solver,
            our_status=ours.result_.status,
            our_violation=proof.violation,
            our_relative_gap=proof.relative_gap,
        )
        for peer, bound in race.at_least.items()
    ]


ROWS: dict[str, Callable[[bool], list[Row]]] = {
    **{race.work.name: partial(_train, race) for race in races()},
    **peer_calls.ROWS,
    "curves": curves.run,
}


def run(quick: bool, rows: list[str] | None = None) -> list[Row]:
    """The rows whose names begin with one of `rows`, or all. Quick: 400 samples, one turn, no bounds."""
    wanted = [name for name in ROWS if rows is None or any(name.startswith(prefix) for prefix in rows)]
    made = [part for name in wanted for part in ROWS[name](quick)]
    proofs = [part["our_violation"] for part in made if "our_violation" in part]
    if proofs and rows is None:
        made.append(row("largest violation of our fits, recomputed in float64", max(proofs), at_most=TOL))
    ratios = [part["figure"] for part in made if part["met"] is not None and "our_seconds" in part]
    if ratios and rows is None:
        made.append(row("median of all ratios", statistics.median(ratios)))
    return made
