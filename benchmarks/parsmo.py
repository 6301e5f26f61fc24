"""PARSMO with 1, 2, 4 and 8 pairs, SMO and LIBSVM: the relative error by iterations, kernel evaluations and time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks import timing
from benchmarks.parsmo_figures import draw
from benchmarks.parsmo_traces import (
    CACHE_ROWS,
    END,
    GOAL,
    SolvedCase,
    Trace,
    libsvm_trace,
    make_case,
    median,
)
from benchmarks.results import Row, row

PAIRS = (1, 2, 4, 8)
SETS = ("a9a", "w8a", "ijcnn1")
TIMED = {"a9a": 16_000, "w8a": 12_000, "ijcnn1": 20_000}  # rows that are timed
LOOSE = 2_000  # rows for a look in every iteration
REPEATS = 3
SECONDS = 60.0  # the most for a run
TWO = ", two threads"
DATA = (
    "The training parts of a9a (32,561 rows, RBF, gamma 1/123), w8a (49,749, linear) and ijcnn1 (49,990, RBF, gamma "
    f"1/22), CSR; C-SVC with free intercept, C = 1; a cache of {CACHE_ROWS} float32 rows. The error is |f* - f| / |f*| "
    "of the dual objective, f* from solver='block' with tol 1e-6; a run goes on to an error of "
    f"{END:g} or for {SECONDS:g} seconds. Iterations and kernel evaluations: all rows; a run each, as two runs take "
    "the same steps, on two threads, which change none of them. Seconds: the first "
    f"{TIMED['a9a']:,}, {TIMED['w8a']:,} and {TIMED['ijcnn1']:,} rows, by a monotone clock that stands still while "
    f"it is looked at, medians of {REPEATS} runs that take turns. Oscillation: the first {LOOSE:,} rows, looked at in "
    "every iteration. Kernel evaluations a process are rows of K times samples divided by q, as in the paper. LIBSVM "
    "is scikit-learn's SVC with tol 1e-4 and shrinking, fitted anew with max_iter = 500, 1000, 2000, ... and its "
    "objective computed from dual_coef_ in float64; its kernel evaluations can't be seen, so SMO with second-order "
    "pairs, the same rule without shrinking, stands for it there."
)


def run(quick: bool) -> list[Row]:
    """The bounds are the paper's claims: larger q falls steeper, q = 8 is best, and q > 1 from the cache saves time."""
    names = SETS[2:] if quick else SETS
    whole_n = dict.fromkeys(names, 3_000) if quick else dict.fromkeys(names)
    timed_n = dict.fromkeys(names, 1_500) if quick else TIMED
    whole, timed, loose, sizes = {}, {}, {}, [{}, {}, {}, {}]
    rows: list[Row] = []
    for name in names:
        everything, part, few = (make_case(name, n) for n in (whole_n[name], timed_n[name], LOOSE // (1 + quick)))
        whole[name], timed[name] = _whole(everything), _timed(part)
        loose[name] = _loose(few)
        for place, case in enumerate((everything, everything, part, few)):
            sizes[place][name] = case.n
        rows += _steps(everything, whole[name]) + _seconds(part, timed[name]) + _oscillation(few, loose[name])
        rows.append(_cost(everything, whole[name], part, timed[name]))
    if not quick:
        draw(whole, timed, loose, sizes)
    return rows


def _whole(case: SolvedCase) -> dict[str, Trace]:
    from ordsvm.solvers import SMO, ParsmoLight

    traces = {f"light, q = {q}": case.trace(ParsmoLight(q), 2, SECONDS) for q in PAIRS}
    traces["SMO, second order"] = case.trace(SMO(), 1, SECONDS)
    traces["LIBSVM"] = libsvm_trace(case)
    return traces


def _timed(case: SolvedCase) -> dict[str, Trace]:
    """All in turn, another one first in every round; a first run of LIBSVM finds out how far it has to go."""
    from ordsvm.solvers import ParsmoCache, ParsmoLight

    limits = libsvm_trace(case).iterations[1:].tolist()
    runs: dict[str, Callable[[], Trace]] = {"LIBSVM": lambda: libsvm_trace(case, limits)}
    for kind, q, n_threads in [
        *((ParsmoLight, q, 1) for q in PAIRS),
        *((ParsmoCache, q, 1) for q in PAIRS[1:]),
        *((ParsmoLight, 1, 2), (ParsmoLight, 8, 2), (ParsmoCache, 8, 2)),
    ]:
        title = f"{kind.name.removeprefix('parsmo-')}, q = {q}" + TWO * (n_threads == 2)
        runs[title] = lambda kind=kind, q=q, n=n_threads: case.trace(kind(q), n, SECONDS)
    found = {title: median(traces) for title, traces in timing.race(runs, REPEATS).returned.items()}
    return found | {f"cache, q = 1{mark}": found[f"light, q = 1{mark}"] for mark in ("", TWO)}  # the same steps


def _loose(case: SolvedCase) -> dict[str, Trace]:
    """With the gathering step, and without it for four times as long."""
    from ordsvm.solvers import ParsmoLight

    gathered = case.trace(ParsmoLight(8), 1, SECONDS, every=1)
    enough = int(4 * gathered.iterations[-1])
    loose = case.trace(ParsmoLight(8, gathering=False), 1, SECONDS, every=1, max_iter=enough)
    return {"light, q = 8": gathered, "light, q = 8, no gathering": loose}


def _steps(case: SolvedCase, traces: dict[str, Trace]) -> list[Row]:
    light = {q: traces[f"light, q = {q}"] for q in PAIRS}
    place = f"{case.name}, {case.n:,} rows, light"
    rows = [
        row(
            f"{place}: iterations to an error of {GOAL:g}, of q = {q} / of q = {q // 2}",
            light[q].first("iterations") / light[q // 2].first("iterations"),
            at_most=1.0,
            explanation=_steps_missed(light[q]),
            iterations=light[q].first("iterations"),
            iterations_and_error=light[q].thinned("iterations"),
        )
        for q in PAIRS[1:]
    ]
    rows.append(
        row(
            f"{place}: iterations to {GOAL:g}, of q = 8 / of LIBSVM",
            light[8].first("iterations") / traces["LIBSVM"].first("iterations"),
            at_most=1.0,
            explanation=(
                "Second-order pairs make the difference: SMO with them, one an iteration, takes "
                f"{traces['SMO, second order'].first('iterations'):,.0f} iterations, SMO with most violating pairs "
                f"{light[1].first('iterations'):,.0f}, and eight of those pull at the same scores."
            ),
            libsvm_between=traces["LIBSVM"].around("iterations"),
            libsvm_iterations_and_error=traces["LIBSVM"].thinned("iterations"),
        )
    )
    others = {f"q = {q}": light[q] for q in PAIRS[:-1]} | {"SMO, second order": traces["SMO, second order"]}
    evaluations = {label: trace.first("evaluations") for label, trace in others.items()}
    rows.append(
        row(
            f"{place}: kernel evaluations a process to {GOAL:g}, of q = 8 / of the best of the others",
            light[8].first("evaluations") / min(evaluations.values()),
            at_most=1.0,
            explanation=_steps_missed(light[8]),
            evaluations=evaluations | {"q = 8": light[8].first("evaluations")},
            evaluations_and_error=light[8].thinned("evaluations"),
        )
    )
    return rows


def _steps_missed(trace: Trace) -> str:
    if not np.isfinite(trace.first("iterations")):
        return f"The run was ended after {SECONDS:g} seconds, at an error of {trace.error[-1]:.1e}."
    return "More pairs at once pull at the same scores, so the gathering step shortens all of them."


def _seconds(case: SolvedCase, traces: dict[str, Trace]) -> list[Row]:
    place = f"{case.name}, {case.n:,} rows"
    seconds = {title: trace.first("seconds") for title, trace in traces.items()}
    settings = [(q, "", "one thread") for q in PAIRS[1:]] + [(8, TWO, "two threads")]
    rows = [
        row(
            f"{place}, cache: seconds to an error of {GOAL:g}, of q = {q} / of q = 1, {label}",
            seconds[f"cache, q = {q}{mark}"] / seconds[f"cache, q = 1{mark}"],
            at_most=1.0,
            explanation=_seconds_missed(traces[f"cache, q = 1{mark}"], traces[f"cache, q = {q}{mark}"], q),
            seconds_and_error=traces[f"cache, q = {q}{mark}"].thinned("seconds"),
        )
        for q, mark, label in settings
    ]
    rows += [
        row(
            f"{place}, {kind}, q = 8: seconds to {GOAL:g} with two threads / with one",
            seconds[f"{kind}, q = 8{TWO}"] / seconds[f"{kind}, q = 8"],
        )
        for kind in ("light", "cache")
    ]
    best = min((title for title in seconds if title != "LIBSVM" and TWO not in title), key=lambda t: seconds[t])
    rows.append(
        row(
            f"{place}: seconds to {GOAL:g}, of {best} / of LIBSVM, one thread",
            seconds[best] / seconds["LIBSVM"],
            seconds=seconds,
            libsvm_between=traces["LIBSVM"].around("seconds"),
            libsvm_seconds_and_error=traces["LIBSVM"].thinned("seconds"),
        )
    )
    return rows


def _seconds_missed(one: Trace, more: Trace, q: int) -> str:
    """What the runs say themselves."""
    if not np.isfinite(more.first("seconds")):
        return _steps_missed(more)
    at_one, at_more = (trace.first("iterations") for trace in (one, more))
    rows_one, rows_more = (trace.evaluations[-1] * pairs for trace, pairs in ((one, 1), (more, q)))
    return (
        f"q = {q} takes {at_more / at_one:.2f} of the iterations, but each takes "
        f"{more.per_iteration() / one.per_iteration():.1f} times as long, and all of them {rows_more / rows_one:.2f} "
        "times the rows of K: the most violating pair, the only one that computes any, hardly depends on q, and each "
        "pair adds two rows to the scores. The paper timed Matlab, where an iteration costs more than what it adds up."
    )


def _oscillation(case: SolvedCase, traces: dict[str, Trace]) -> list[Row]:
    loose, gathered = traces["light, q = 8, no gathering"], traces["light, q = 8"]
    late = loose.error[loose.iterations >= gathered.iterations[-1]]
    place = f"{case.name}, {case.n:,} rows, light, q = 8 without gathering, one to four times the iterations with it"
    return [
        row(
            f"{place}: least error",
            float(late.min()),
            at_least=GOAL,
            explanation=f"On so few rows it comes to {late.min():.1e} all the same.",
            largest_error=float(late.max()),
            iterations_and_error=loose.thinned("iterations"),
        ),
        row(
            f"{place}: share of iterations in which the error rose",
            float(np.mean(np.diff(late) > 0)),
            at_least=0.1,
            explanation="It does not oscillate here.",
            with_gathering=float(np.mean(np.diff(gathered.error) > 0)),
        ),
    ]


def _cost(whole: SolvedCase, traces: dict[str, Trace], part: SolvedCase, timed: dict[str, Trace]) -> Row:
    """Why times are taken on a part: what the measured seconds say about all rows."""
    both = ("light, q = 1", "light, q = 8")
    ratio = sum(traces[title].seconds[-1] for title in both) / sum(timed[title + TWO].seconds[-1] for title in both)
    ours = REPEATS * sum(
        trace.seconds[-1] for title, trace in timed.items() if not title.startswith(("LIB", "cache, q = 1"))
    )
    libsvm = {case.n: REPEATS * float(runs["LIBSVM"].seconds.sum()) for case, runs in ((whole, traces), (part, timed))}
    return row(
        f"{whole.name}: minutes that the timed runs would take on all {whole.n:,} rows",
        (ours * ratio + libsvm[whole.n]) / 60,
        why=(
            f"On {part.n:,} rows ours took {ours:.0f} s and LIBSVM's {libsvm[part.n]:.0f} s; on all rows ours take "
            f"{ratio:.1f} times as long and LIBSVM's {libsvm[whole.n]:.0f} s. The whole benchmark, all sets, should "
            "take 12 minutes at most."
        ),
        milliseconds_an_iteration_all_rows={title: 1e3 * trace.per_iteration() for title, trace in traces.items()},
        milliseconds_an_iteration_part={title: 1e3 * trace.per_iteration() for title, trace in timed.items()},
    )
