"""Where `device="auto"` trains: the rule, and the measured cases that it was made from."""

import json
from pathlib import Path

import numpy as np
import pytest

from ordsvm import ProximalNewton, formulations
from ordsvm.kernels import RBF, Linear
from ordsvm.problem import Treatment
from ordsvm.solvers.auto import Work, auto
from ordsvm.solvers.places import FROM_SAMPLES, pays_on_gpu, stiffness_of

RESULTS = Path(__file__).parents[1] / "benchmarks/results/gpu.json"
HINGES = {"california_housing": 4, "census_house16h": 4, "a9a": 1}  # of a sample


def test_auto_places_large_problems_and_smaller_ones_at_large_C(monkeypatch):
    monkeypatch.setattr("ordsvm.solvers.auto.usable_device", lambda device: "cuda")
    there = ProximalNewton(device="cuda")
    work = Work("kernel", RBF(0.5), n_hinges=FROM_SAMPLES, n_samples=FROM_SAMPLES, device="auto")
    assert auto(work) == there
    fewer = work._replace(n_samples=FROM_SAMPLES - 1)
    assert auto(fewer).name == "block"
    assert auto(fewer._replace(n_hinges=40_000)) == there
    few = work._replace(n_samples=2_000, n_hinges=8_000)
    assert [auto(few._replace(stiffness=C)).name for C in (1.0, 50.0)] == ["block", "block"]
    assert auto(few._replace(stiffness=100.0)) == there
    assert auto(few._replace(n_hinges=4_000, stiffness=1e6)).name == "block"
    assert auto(few._replace(n_samples=1_999, n_hinges=100_000, stiffness=100.0)).name == "block"
    assert auto(work._replace(n_samples=100, device="cuda")) == there
    assert auto(work._replace(device="cpu")).name == "block"


def test_stiffness_is_that_of_C_in_units_of_the_margins():
    y = np.arange(40) % 4
    assert stiffness_of(formulations.svor(y, 4, 50.0), RBF(0.5)) == 50.0
    assert stiffness_of(formulations.svor(y, 4, 50.0), Linear()) == 1.0
    targets = np.where(y > 1, 1e4, -1e4)
    regression = formulations.svr(targets, 0.1, np.full(40, 50.0), Treatment.FREE)
    assert stiffness_of(regression, RBF(0.5)) == pytest.approx(0.005, rel=1e-3)
    assert stiffness_of(formulations.svor(np.zeros(0, dtype=int), 4, 50.0), RBF(0.5)) == 1.0


def test_the_rule_in_the_cases_that_were_measured():
    rows = json.loads(RESULTS.read_text())["rows"]
    measured = next(row for row in rows if row["claim"].startswith('device="auto"'))
    cases, worst = measured["seconds"], 1.0
    for case, seconds in cases.items():
        name, n, C = case.replace(",", "").split()
        is_there = pays_on_gpu(int(n), HINGES[name] * int(n), float(C.removeprefix("C=")))
        worst = max(worst, seconds["device" if is_there else "cpu"] / min(seconds["cpu"], seconds["device"]))
    assert len(cases) == 24
    assert worst == pytest.approx(measured["figure"], rel=1e-3)
    assert worst < 1.5
