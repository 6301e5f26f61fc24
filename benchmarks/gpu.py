"""Machines on one GPU: seconds of whole fits, with certificates.

Seconds are those of a second fit, from NumPy arrays to a certified model: transfers to and from the device, the table
of hinges and the judge on the CPU are in them. `solver_seconds` leaves out what the estimator does before and after. A
case that may take minutes is fitted once, after a small part of it that has the kernels compiled.
"""

from __future__ import annotations

import time
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from benchmarks.contestants import PeerMissing
from benchmarks.datasets import ordinal, shuffled_svmlight, standardised
from benchmarks.gpu_linear import linear
from benchmarks.gpu_torchkm import beside_torchkm
from benchmarks.results import Row, row
from ordsvm import SVC, SVOR, SVOREX, SVORIM, SVR, OrdinalSearchCV, certify

DATA = (
    "california_housing in 5 ranks (gamma 0.5), a9a, ijcnn1 and skin_nonskin (standardised; gamma 1/d, C = 1), and "
    "synthetic sets: 46 normal columns, 5 ranks of sin(x0) + x1·x2 + x3/2 + 0.3·noise, gamma 0.02; two overlapping "
    "classes of 28 columns, gamma 1/28; 100 normal columns, 5 ranks of a linear function of them with noise"
)
TOL = 1e-3
LONG, COMPILING = 60.0, 20_000  # seconds from which on a case is fitted once, after so many of its samples
# Where the seconds of a missed bound go: profiles of a GPU's and the host's time, made while this version came about.
SLOWER = "Not profiled."
HOST = "Launches of kernels and waits by the host, in which machines of this kind differ by half"
SEARCHES = (
    "The device works 2.3 s of 4: products of factors 1.2 s, blocks of 64 rows 0.43 s, substitutions 0.3 s. The rest "
    "is the host, whose 50,000 small operations take 10 µs each; a second thread overlaps little of it (one alone "
    "takes 4.2 s), and CUDA graphs of blocks, a lock around launches and waits before copies changed nothing."
)
WHY = {
    "california_housing C=1": (
        f"{HOST}: others took 0.128 and 0.176 s. The host launches some 2,000 kernels, 0.05 s of the device, "
        "and waits for it 280 times."
    ),
    "a9a": f"{HOST}: others took 0.113 and 0.160 s.",
    "skin_nonskin": (
        f"{HOST}: another one took 0.239 s in 33 small steps. Products and systems take 0.12 s, checks and proofs on "
        "the CPU 0.1 s."
    ),
    "synthetic 75,000 SVOR C=1": (
        f"{HOST}: others took 0.335 and 0.431 s. Kernels take the device 0.22 s; with a wait after every part, a "
        "quarter is the preconditioner of 17 steps, a fifth products, a sixth the rest of conjugate gradients."
    ),
    "75,000 others": (
        "SVR has twice SVOR's free samples here, and more than three times its iterations. Ranks of the preconditioner "
        "from 1,024 to 3,072 change its seconds by less than a fifth."
    ),
    "synthetic 250,000 SVOR C=1": (
        "Another machine of the same kind took 1.30 s. Two fifths are products, a sixth the preconditioner of 37 "
        "steps, as much the rest of conjugate gradients."
    ),
    "two classes 200,000 C=1": "Another machine of the same kind took 0.64 s.",
    "two classes 200,000 C=10": (
        "2,300 iterations of conjugate gradients, 1.2 ms each, are 3.1 s of 4.9: products with 55,000 free samples. "
        "Ranks of the preconditioner from 1,024 to 4,096 change the seconds by less than a tenth."
    ),
    "two classes 1,000,000 C=1": (
        "Another machine of the same kind took 5.94 s. Products of conjugate gradients take 2.0 s, those that move the "
        "scores of all samples 1.7 s, the certificate in float64 1.6 s, work of the CPU 0.6 s: checks, the table of "
        "hinges, proofs."
    ),
    "two classes, 5 % Bayes error 1,000,000 C=1": (
        "Another machine of the same kind took 3.87 s. As with the other classes: products that move scores, the proof."
    ),
    "places": "The rule knows neither the data nor the processor: places.py has the figures that it was made from.",
    "grid": SEARCHES,
    "two-stage": SEARCHES,
}
# Seconds of ThunderSVM, built from its source on such a machine and measured beside a prototype of this method.
THUNDERSVM = {
    "a9a": 0.26,
    "two classes 200,000 C=1": 5.9,
    "two classes 200,000 C=10": 48.0,
    "two classes 1,000,000 C=1": 128.0,
}

Samples = tuple[np.ndarray, np.ndarray]


def synthetic_ranks(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Samples, and the noisy quantity whose quintiles are the ranks."""
    random = np.random.default_rng(0)
    X = random.standard_normal((n, 46), dtype=np.float32)
    noise = 0.3 * random.standard_normal(n, dtype=np.float32)
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3] / 2 + noise


def synthetic_classes(n: int, steepness: float) -> Samples:
    """Two classes that overlap: 30 % Bayes error at steepness 0.75, 5 % at 10."""
    random = np.random.default_rng(0)
    X = random.standard_normal((n, 28), dtype=np.float32)
    t = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.5 * (X[:, 3] ** 2 - 1) + 0.7 * X[:, 4] + 0.5 * X[:, 5] * X[:, 6]
    return X, (random.uniform(size=n) < 1 / (1 + np.exp(-steepness * t))).astype(np.int64)


def _ranks(n: int) -> Samples:
    X, t = synthetic_ranks(n)
    return X, np.argsort(np.argsort(t)) * 5 // n


def _classes(name: str) -> Samples:
    X, y = shuffled_svmlight(name)
    return X.toarray().astype(np.float32), y


def _skin() -> Samples:
    X, y = _classes("skin_nonskin")
    return standardised(X), y


def _california() -> Samples:
    return ordinal("california_housing")


# name: samples, estimator, C, gamma, seconds at most
Case = tuple[Callable[[], Samples], Any, float, float, float | None]
CASES: dict[str, Case] = {
    "california_housing C=1": (_california, SVOR, 1.0, 0.5, 0.2),
    "california_housing C=10": (_california, SVOR, 10.0, 0.5, 0.4),
    "california_housing C=100": (_california, SVOR, 100.0, 0.5, 1.0),
    "a9a": (lambda: _classes("a9a"), SVC, 1.0, 1 / 123, 0.15),
    "ijcnn1": (lambda: _classes("ijcnn1"), SVC, 1.0, 1 / 22, 0.17),
    "skin_nonskin": (_skin, SVC, 1.0, 1 / 3, 0.3),
    "synthetic 75,000 SVOR C=1": (lambda: _ranks(75_000), SVOR, 1.0, 0.02, 0.4),
    "synthetic 75,000 SVOR C=10": (lambda: _ranks(75_000), SVOR, 10.0, 0.02, 2.0),
    "synthetic 250,000 SVOR C=1": (lambda: _ranks(250_000), SVOR, 1.0, 0.02, 1.5),
    "synthetic 250,000 SVOR C=10": (lambda: _ranks(250_000), SVOR, 10.0, 0.02, 20.0),
    "synthetic 1,000,000 SVOR C=1": (lambda: _ranks(1_000_000), SVOR, 1.0, 0.02, 12.0),
    "synthetic 1,000,000 SVOR C=10": (lambda: _ranks(1_000_000), SVOR, 10.0, 0.02, 240.0),
    "two classes 200,000 C=1": (lambda: synthetic_classes(200_000, 0.75), SVC, 1.0, 1 / 28, 5.9 / 6),
    "two classes 200,000 C=10": (lambda: synthetic_classes(200_000, 0.75), SVC, 10.0, 1 / 28, 48 / 11),
    "two classes 1,000,000 C=1": (lambda: synthetic_classes(1_000_000, 0.75), SVC, 1.0, 1 / 28, 6.0),
    "two classes, 5 % Bayes error 1,000,000 C=1": (lambda: synthetic_classes(1_000_000, 10.0), SVC, 1.0, 1 / 28, 4.0),
}
OTHERS = {"SVORIM": SVORIM, "SVOREX": SVOREX, "SVR": SVR}
AGREEMENT = (
    "pyrim", "machine_cpu", "auto_mpg", "ESL", "boston_housing", "LEV", "winequality-red", "abalone", "bank32nh",
    "census_house16h", "cpu_act", "california_housing",
)  # fmt: skip
PLACES = {"data": ("california_housing", "census_house16h", "a9a"), "n": (1000, 2000, 5000, 10_000), "C": (1.0, 100.0)}
GRID = {"C": np.logspace(-3, 3, 7), "gamma": 0.5 * np.logspace(-3, 3, 7)}


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--device", default="cuda", help="torch:cpu tries the program out where there is no GPU")
    parser.add_argument("--alone", action="store_true", help="no search by the CPU beside that by the device")


def run(quick: bool, names: Sequence[str] = ("",), device: str = "cuda", alone: bool = False) -> list[Row]:
    """Every row of such a name, or whose name begins so; quick: the smallest one."""
    torch = _torch(device)
    chosen = [
        name for name in ROWS if any(name == part or (part not in ROWS and name.startswith(part)) for part in names)
    ]
    measure = Measure(torch, device, alone)
    return [_row(measure, name) for name in (chosen[:1] if quick and names == ("",) else chosen)]


def _row(measure: Measure, name: str) -> Row:
    measure.forget_peak()
    return measure.case(name) if name in CASES else SPECIAL[name](measure)


def _torch(device: str) -> Any:
    try:
        import torch
    except ImportError:
        raise PeerMissing("torch is not installed: pip install 'ordsvm[gpu]'.") from None
    if device == "cuda" and not torch.cuda.is_available():
        raise PeerMissing("torch finds no GPU.")
    return torch


class Measure:
    """Whole calls on a device, each made twice: the first one compiles."""

    def __init__(self, torch: Any, device: str, alone: bool) -> None:
        self.torch, self.device, self.alone = torch, device, alone
        self.is_cuda = device.startswith("cuda")

    def second(self, call: Callable[[], Any], first: Callable[[], Any] | None = None) -> tuple[float, Any]:
        """Seconds of the second call, and what it returns; `first`: what is called before, if not the same."""
        (first or call)()
        self.forget_peak()
        start = time.perf_counter()
        made = call()
        return time.perf_counter() - start, made

    def forget_peak(self) -> None:
        if self.is_cuda:
            self.torch.cuda.reset_peak_memory_stats()

    def facts(self) -> dict[str, Any]:
        if not self.is_cuda:
            return {"device": self.device}
        peak = self.torch.cuda.max_memory_allocated() / 2**30
        return {"device": self.torch.cuda.get_device_name(), "device_gigabytes": peak}

    def fitted(self, kind: Any, C: float, gamma: float, samples: Samples, limit: float | None = None) -> Any:
        """Seconds and model. With a limit in seconds the fit is made once, and ends there."""
        model = kind(C=C, gamma=gamma, tol=TOL, device=self.device, time_limit=limit)
        part = tuple(each[:COMPILING] for each in samples)
        return self.second(lambda: model.fit(*samples), None if limit is None else lambda: model.fit(*part))

    def case(self, name: str) -> Row:
        make, kind, C, gamma, most = CASES[name]
        limit = 1.5 * most if most is not None and most >= LONG else None
        seconds, model = self.fitted(kind, C, gamma, make(), limit)
        result = model.result_
        return row(
            f"{name}: seconds",
            seconds,
            at_most=most,
            explanation=WHY.get(name, SLOWER),
            runs=2 if limit is None else 1,
            solver_seconds=result.seconds,
            newton_steps=result.n_iter,
            solver=result.solver,
            status=result.status,
            violation=result.violation,
            relative_gap=result.relative_gap,
            objective=result.objective,
            n_support=len(model.support_),
            **_beside_thundersvm(name, seconds),
            **self.facts(),
        )


def _beside_thundersvm(name: str, seconds: float) -> dict[str, float]:
    if name not in THUNDERSVM:
        return {}
    return {"seconds_of_thundersvm": THUNDERSVM[name], "times_as_fast_as_thundersvm": THUNDERSVM[name] / seconds}


def _against_svor(measure: Measure) -> Row:
    """Free and ordered thresholds, and regression."""
    X, t = synthetic_ranks(75_000)
    y = np.argsort(np.argsort(t)) * 5 // len(t)
    base, _ = measure.fitted(SVOR, 1.0, 0.02, (X, y))
    fits = {name: measure.fitted(kind, 1.0, 0.02, (X, t if kind is SVR else y)) for name, kind in OTHERS.items()}
    facts = {
        name: {"seconds": seconds, "violation": model.result_.violation, "relative_gap": model.result_.relative_gap}
        for name, (seconds, model) in fits.items()
    }
    worst = max(seconds for seconds, _ in fits.values()) / base
    claim = "synthetic 75,000: the slowest of SVORIM, SVOREX and SVR, in SVOR's seconds"
    return row(
        claim, worst, at_most=1.5, explanation=WHY["75,000 others"], svor_seconds=base, **facts, **measure.facts()
    )


def _prediction(measure: Measure) -> Row:
    """1,000,000 rows in float32 against the support vectors of 75,000 samples, about 61,000."""
    model = SVOR(C=1.0, gamma=0.02, tol=TOL, device=measure.device).fit(*_ranks(75_000))
    X = np.random.default_rng(1).standard_normal((1_000_000, 46), dtype=np.float32)
    seconds, scores = measure.second(lambda: model.decision_function(X))
    facts = measure.facts()
    tensor = measure.torch.as_tensor(X, device=measure.device.removeprefix("torch:"))
    of_tensor, _ = measure.second(lambda: model.decision_function(tensor))
    some = slice(0, 2000)
    error = float(np.abs(model.set_params(device="cpu").decision_function(X[some]) - scores[some]).max())
    return row(
        "prediction of 1,000,000 rows: seconds",
        seconds,
        at_most=0.15,
        explanation="Checks of the rows on the CPU and their way to the device; a tensor there takes less.",
        n_support=len(model.support_),
        seconds_of_a_tensor=of_tensor,
        largest_difference_from_the_cpu=error,
        **facts,
    )


def _agreement(measure: Measure) -> Row:
    """Objectives and predictions of both solvers at tol 1e-4, on at most 5,000 rows of twelve sets."""
    worst, share, seen = 0.0, 0.0, {}
    for name in AGREEMENT:
        X, y = ordinal(name)
        X, y = X[:5000], y[:5000]
        models = [SVOR(C=10.0, gamma=1 / X.shape[1], tol=1e-4, device=d).fit(X, y) for d in (measure.device, "cpu")]
        objectives = [model.result_.objective for model in models]
        off = abs(objectives[0] - objectives[1]) / objectives[1]
        differ = float(np.mean(models[0].predict(X) != models[1].predict(X)))
        worst, share = max(worst, off), max(share, differ)
        seen[name] = {"objective_off": off, "predictions_differ": differ, "solvers": [m.result_.solver for m in models]}
    claim = "agreement with the CPU's block method on twelve sets: largest relative difference of objectives"
    return row(claim, worst, at_most=1e-4, largest_share_of_other_predictions=share, sets=seen, **measure.facts())


def _judge(measure: Measure) -> Row:
    """The gap that a fit claims by products on the device, and the one that `certify` finds on the CPU."""
    X, y = _california()
    model = SVOR(C=1.0, gamma=0.5, tol=TOL, device=measure.device).fit(X, y)
    proof = certify(model, X, y)
    off = abs(proof.relative_gap - model.result_.relative_gap)
    claim = "judge on the device and on the CPU, california_housing: difference of relative gaps"
    return row(claim, off, at_most=1e-6, relative_gap=proof.relative_gap, violation=proof.violation, **measure.facts())


def _places(measure: Measure) -> Row:
    """Block on the CPU and ProximalNewton on the device, around the size from which on device="auto" takes a GPU."""
    worst, seen = 1.0, {}
    for name, n, C in product(PLACES["data"], PLACES["n"], PLACES["C"]):
        X, y = (part[:n] for part in (_classes(name) if name == "a9a" else ordinal(name)))
        model = (SVC if name == "a9a" else SVOR)(C=C, gamma=1 / X.shape[1], tol=TOL)
        here = min(_seconds(lambda model=model, X=X, y=y: model.fit(X, y)) for _ in range(2))
        model.set_params(device=measure.device)
        there, _ = measure.second(lambda model=model, X=X, y=y: model.fit(X, y))
        on_device = model.set_params(device="auto").fit(X, y).result_.solver == "proximal-newton"
        worst = max(worst, (there if on_device else here) / min(here, there))
        seen[f"{name} {n:,} C={C:g}"] = {"cpu": here, "device": there, "chosen": "device" if on_device else "cpu"}
    claim = 'device="auto": the largest ratio of the seconds of the place that it takes to those of the better one'
    return row(claim, worst, at_most=2.0, explanation=WHY["places"], seconds=seen, **measure.facts())


def _seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _grid(measure: Measure) -> Row:
    """7 x 7 values of C and gamma on 5 folds of 5,000 rows; the winner against that of the CPU."""
    X, y = (part[:5000] for part in _california())

    def searched(device: str | None) -> OrdinalSearchCV:
        return OrdinalSearchCV(SVOR(tol=TOL), GRID, cv=5, refit=False, device=device).fit(X, y)

    seconds, there = measure.second(lambda: searched(measure.device))
    facts = measure.facts() | {"winner": there.best_params_}
    if not measure.alone:
        here = searched(None)
        scores = [search.cv_results_["mean_test_score"] for search in (here, there)]
        facts |= {
            "winner_of_the_cpu": here.best_params_,
            "mean_error_lost": float(here.best_score_ - scores[0][there.best_index_]),
            "largest_difference_of_scores": float(np.abs(scores[0] - scores[1]).max()),
        }
    return row(
        "grid of 7 x 7 on 5 folds of 5,000 rows: seconds", seconds, at_most=4.0, explanation=WHY["grid"], **facts
    )


def _two_stages(measure: Measure) -> Row:
    """Chu & Keerthi's search with the training of the winner."""
    X, y = (part[:5000] for part in _california())
    seconds, search = measure.second(lambda: OrdinalSearchCV(SVOR(tol=TOL), cv=5, device=measure.device).fit(X, y))
    claim, score = "two-stage search on 5,000 rows: seconds", float(search.best_score_)
    facts = {"winner": search.best_params_, "score": score} | measure.facts()
    return row(claim, seconds, at_most=15.0, explanation=WHY["two-stage"], **facts)


SPECIAL: dict[str, Callable[[Measure], Row]] = {
    "75,000 others": _against_svor,
    "prediction": _prediction,
    "agreement": _agreement,
    "judge": _judge,
    "places": _places,
    "grid": _grid,
    "two-stage": _two_stages,
    "linear": linear,
    "torchkm": beside_torchkm,
}
ROWS = (*CASES, *SPECIAL)
