"""What Chu & Keerthi state about thresholds, sizes and cost, measured on small problems."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks import datasets
from experiments.measures import Figures, item, random_ranks
from ordsvm import SMO, SVC, SVOREX, SVORIM, ShashuaLevinSVOR
from ordsvm.formulations import svorex, svorim
from ordsvm.kernels import RBF
from ordsvm.solvers import Control, KernelMatrix, solve

MACHINES = {"SLA": ShashuaLevinSVOR, "EXC": SVOREX, "IMC": SVORIM}
EQUAL = 1e-4  # thresholds closer than this count as equal


def _lowest_step(thresholds: np.ndarray) -> float:
    return float(np.diff(thresholds).min())


def thresholds(quick: bool) -> Figures:
    """Random problems (40 samples, 4 ranks of random sizes, 3 columns), C = 1, RBF gamma 0.5, tol 1e-6."""
    steps: dict[str, list[float]] = {name: [] for name in MACHINES}
    objectives: dict[str, list[float]] = {name: [] for name in MACHINES}
    for seed in range(20 if quick else 300):
        X, y = random_ranks(seed)
        for name, kind in MACHINES.items():
            model = kind(C=1.0, gamma=0.5, tol=1e-6).fit(X, y)
            steps[name].append(_lowest_step(model.thresholds_))
            objectives[name].append(model.result_.objective)
    sla, exc, imc = (np.array(steps[name]) for name in MACHINES)
    crossed = sla < -EQUAL
    differences = np.abs(np.array(objectives["EXC"]) / np.array(objectives["SLA"]) - 1)
    return {
        "problems": len(sla),
        "problems in which Shashua and Levin's thresholds are disordered": int(crossed.sum()),
        "lowest difference of neighbouring thresholds of EXC": float(exc.min()),
        "share of the disordered problems in which EXC has equal thresholds": float(np.mean(exc[crossed] <= EQUAL)),
        "lowest difference of neighbouring thresholds of IMC": float(imc.min()),
        "largest relative difference of the objectives of EXC and SLA, where SLA is ordered": float(
            differences[~crossed].max()
        ),
    }


def costs(quick: bool) -> Figures:
    """IMC on random problems as above; the cost of a slack is C times a weight by rank and threshold.

    Any weights: uniform from 0.05 to 1. Growing weights: for every rank they grow with the distance of the threshold.
    """
    crossed = {"any": 0, "growing": 0}
    problems = 20 if quick else 300
    for seed in range(problems):
        X, y = random_ranks(seed)
        any_weight = np.random.default_rng(seed).uniform(0.05, 1.0, size=(4, 3))
        growing = np.empty_like(any_weight)
        for rank in range(4):
            growing[rank, rank:] = np.sort(any_weight[rank, rank:])
            growing[rank, :rank] = np.sort(any_weight[rank, :rank])[::-1]
        for name, weight in (("any", any_weight), ("growing", growing)):
            problem = svorim(y, 4, 1.0, weight)
            solution = solve(problem, KernelMatrix(RBF(0.5).rows(X), 10.0), SMO(precision="float64"), Control(tol=1e-6))
            crossed[name] += _lowest_step(solution.thresholds) < -EQUAL
    figures: Figures = {f"problems with disordered thresholds, {name} weights": n for name, n in crossed.items()}
    return {"problems": problems, **figures}


def sizes(quick: bool) -> Figures:
    """Hinges of the formulations against 2n - n_1 - n_r and (r - 1)n, on random labels of 2 to 12 ranks."""
    worst = {"EXC": 0, "IMC": 0}
    for seed in range(20 if quick else 200):
        rng = np.random.default_rng(seed)
        n_ranks = int(rng.integers(2, 13))
        y = np.concatenate([np.arange(n_ranks), rng.integers(0, n_ranks, size=int(rng.integers(1, 200)))])
        n, ends = len(y), int(np.sum((y == 0) | (y == n_ranks - 1)))
        worst["EXC"] = max(worst["EXC"], abs(len(svorex(y, n_ranks, 1.0).hinges) - (2 * n - ends)))
        worst["IMC"] = max(worst["IMC"], abs(len(svorim(y, n_ranks, 1.0).hinges) - (n_ranks - 1) * n))
    return {f"largest difference of the size of {name} from the formula": value for name, value in worst.items()}


def error_bounds(quick: bool) -> Figures:
    """Training rows of winequality-red, ERA and machine_cpu (5 ranks), C = 1, RBF gamma 1/columns.

    Zero-one error of a sample less its slacks in EXC, absolute error less its slacks in IMC.
    """
    worst = {"EXC": -np.inf, "IMC": -np.inf}
    for name in ("machine_cpu",) if quick else ("machine_cpu", "winequality-red", "ERA"):
        X, y = datasets.ordinal(name, 1000)
        for kind, formulation in (("EXC", svorex), ("IMC", svorim)):
            model = MACHINES[kind](C=1.0, gamma=1 / X.shape[1]).fit(X, y)
            problem = formulation(y, int(y.max()) + 1, 1.0)
            score = model.decision_function(X)
            slack = np.maximum(0.0, -problem.slope(score, model.thresholds_))
            paid = np.bincount(problem.hinges.sample, slack, len(y))
            error = np.abs(model.predict(X) - y)
            worst[kind] = max(worst[kind], float(np.max((np.minimum(error, 1) if kind == "EXC" else error) - paid)))
    return {
        "largest zero-one error less slacks, EXC": worst["EXC"],
        "largest absolute error less slacks, IMC": worst["IMC"],
    }


def two_ranks(quick: bool) -> Figures:
    """Two ranks of abalone, 500 rows, C = 1 and 10, RBF gamma 1/columns, tol 1e-6: objectives against C-SVC."""
    X, y = datasets.ordinal("abalone", 200 if quick else 500, ranks=2)
    worst = 0.0
    for C in (1.0, 10.0):
        options: dict[str, Any] = {"C": C, "gamma": 1 / X.shape[1], "tol": 1e-6}
        binary = SVC(**options).fit(X, y).result_.objective
        for kind in MACHINES.values():
            worst = max(worst, abs(kind(**options).fit(X, y).result_.objective / binary - 1))
    return {"largest relative difference of the objectives of SLA, EXC and IMC from that of C-SVC": worst}


def most_violating_pairs(quick: bool) -> Figures:
    """SMO with the most violating pair on the random problems above, C = 0.1 to 100, tol 1e-3."""
    failed = runs = 0
    for seed in range(10 if quick else 100):
        X, y = random_ranks(seed)
        for kind in (SVOREX, SVORIM):
            for C in (0.1, 1.0, 10.0, 100.0):
                model = kind(C=C, gamma=0.5, solver=SMO(selection="mvp")).fit(X, y)
                failed += not model.result_.converged
                runs += 1
    return {"runs": runs, "runs that did not converge": failed}


def non_support_vectors(quick: bool) -> Figures:
    """california, 5 ranks, kappa = 1, C = 100, EXC by SMO: steps on all rows over those on support vectors alone."""
    n = 400 if quick else 3000
    X, y = datasets.ordinal("california_housing", n)
    options: dict[str, Any] = {
        "C": 100.0,
        "gamma": 0.5,
        "solver": SMO(selection="mvp"),
        "n_threads": 1,
        "cache_size": 500,
    }
    whole = SVOREX(**options).fit(X, y)
    alone = SVOREX(**options).fit(X[whole.support_], y[whole.support_])
    return {
        "share of rows that are no support vectors": 1 - len(whole.support_) / n,
        "steps on all rows / on support vectors": whole.result_.n_iter / alone.result_.n_iter,
    }


ITEM = item(
    "claims about thresholds, sizes and cost",
    "Random problems (experiments/measures.py), and real sets that the protocol of each measurement names.",
    (
        thresholds,
        costs,
        sizes,
        error_bounds,
        two_ranks,
        most_violating_pairs,
        non_support_vectors,
    ),
)
