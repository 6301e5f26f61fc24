"""Hinges on a device take the steps of the core: on torch's CPU device, with random tables."""

import numpy as np
import pytest

from ordsvm import LinearNPSVOR, LinearSVOR
from ordsvm.problem.label_table import LabelTable
from ordsvm.solvers.linear.device_hinges import DeviceHinges
from ordsvm.solvers.linear.feature_task import FeatureTask, feature_core
from ordsvm.torch_library import torch_library
from tests.cases import N_RANKS, random_data

pytest.importorskip("torch")
N_ROWS, TILE, N_LABELS, N_COLUMNS = 60, 25, 4, 3
CENTRE, NEWTON = 1.0, 0.0
PASSES = [  # length, τ before, τ after and move of every step, and which vectors accept it
    ([(0.0, 1.0, 1.0, CENTRE)] * 3, [0, 1, 2]),
    ([(1.0, 1.0, 0.3, NEWTON)] * 3, [0, 2]),
    ([(1.0, 0.3, 0.1, NEWTON), (0.3, 1.0, 0.5, NEWTON), (0.0, 0.3, 0.3, NEWTON)], [0, 1]),
    ([(0.0, 0.2, 0.2, CENTRE), (1.0, 0.5, 0.1, NEWTON), (1.0, 0.3, 0.01, NEWTON)], [0, 1, 2]),
    ([(1.0, 0.2, 1e-3, NEWTON), (1.0, 0.1, 1e-3, NEWTON), (1.0, 0.01, 1e-3, NEWTON)], [0, 1, 2]),
    ([(1.0, 1e-3, 1e-6, NEWTON)] * 3, []),
]


def thresholds(random):
    cap = random.uniform(0.1, 2.0, (N_LABELS, N_COLUMNS)) * (random.random((N_LABELS, N_COLUMNS)) < 0.8)
    return LabelTable.of_thresholds(random.choice([-1.0, 1.0], cap.shape), cap)


def lanes(random, sides):
    """Labels have a hinge that falls, one that rises, both or none."""
    shape = (N_LABELS, N_COLUMNS)
    side, cap = random.choice(sides, shape), random.uniform(0.5, 2.0, shape)
    falls, rises = np.char.count(side, "f") > 0, np.char.count(side, "r") > 0
    return LabelTable(-cap * rises, cap * falls, random.standard_normal(shape), random.uniform(0.0, 0.3, shape))


TABLES = {
    "thresholds": thresholds,
    "lanes": lambda random: lanes(random, ["f", "r", ""]),
    "lanes with two hinges or fewer": lambda random: lanes(random, ["fr", "f", "r", ""]),
    "lanes with two hinges": lambda random: lanes(random, ["fr"]),
}


def random_task(make, squared, is_weighted, random):
    table, labels = make(random), random.integers(0, N_LABELS, N_ROWS).astype(np.int32)
    weight = random.uniform(0.1, 3.0, N_ROWS) * (random.random(N_ROWS) < 0.9) if is_weighted else None
    targets = random.standard_normal(N_ROWS) if is_weighted and not table.shared else None
    return FeatureTask(table, labels, weight, targets, intercept=False, squared=squared)


def step_of_both(core, device, direction, steps):
    """One pass: the scores of rows and their changes, (n_vectors, n_rows), and those of thresholds."""
    scores, changes, shifts = direction
    none = np.zeros((len(scores), 0))
    core.begin(none, none, shifts, steps)
    device.begin(shifts, steps)
    device.begin_sums()
    library = torch_library("torch:cpu")
    for first in range(0, scores.shape[1], TILE):
        rows = slice(first, first + TILE)
        expected = core.step_rows(scores[:, rows].T.copy(), changes[:, rows].T.copy(), first)
        tensors = [library.array(each[:, rows].copy()) for each in (scores, changes)]
        given = device.step(*tensors, first)
        found = np.concatenate([library.host(each) for each in given])
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("is_weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("squared", [False, True], ids=["hinge", "squared"])
@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_steps_of_the_core(make, squared, is_weighted):
    random = np.random.default_rng(0)
    task = random_task(make, squared, is_weighted, random)
    n_vectors, n_thresholds = (1, N_COLUMNS) if task.table.shared else (N_COLUMNS, 0)
    core, device = feature_core(task, 0, 1), DeviceHinges(torch_library("torch:cpu"), task)
    scores, shifts = random.standard_normal((n_vectors, N_ROWS)), random.standard_normal((1, n_thresholds))
    for steps, accepting in PASSES:
        changes, turns = 0.5 * random.standard_normal(scores.shape), 0.5 * random.standard_normal(shifts.shape)
        step_of_both(core, device, (scores, changes, np.vstack([shifts, turns])), np.array(steps[:n_vectors]))
        for vector in range(n_vectors):
            np.testing.assert_allclose(device.sums(vector), core.sums(vector)[2], rtol=1e-9, atol=1e-11)
        for vector in set(accepting) & set(range(n_vectors)):
            core.accept(vector)
            device.accept(vector)
            scores[vector] += steps[vector][0] * changes[vector]
            shifts += steps[vector][0] * turns
        np.testing.assert_allclose(device.beta(TILE), core.beta(), rtol=1e-9, atol=1e-12)
    assert np.ptp(core.beta()) > 0.1


def test_digits_next_to_the_cap_survive():
    """G of −1e12: α is 1e-12 away from a cap of 1e6, which its own digits could not tell."""
    table = LabelTable.of_thresholds(np.ones((1, 1)), np.full((1, 1), 1e6))
    task = FeatureTask(table, np.zeros(1, dtype=np.int32))
    core, device = feature_core(task, 0, 1), DeviceHinges(torch_library("torch:cpu"), task)
    for steps in [(0.0, 1e-6, 1e-6, CENTRE), (1.0, 1e-6, 1e-7, NEWTON), (1.0, 1e-7, 1e-8, NEWTON)]:
        step_of_both(core, device, (np.full((1, 1), -1e12), np.zeros((1, 1)), np.zeros((2, 1))), np.array([steps]))
        complementarity = device.sums(0)[2]
        assert complementarity == pytest.approx(core.sums(0)[2][2], rel=1e-12)
        assert complementarity == pytest.approx(2e6 * steps[2], rel=1e-3)
        core.accept(0)
        device.accept(0)


@pytest.mark.parametrize("machine", [LinearSVOR(), LinearNPSVOR()], ids=str)
@pytest.mark.parametrize("part", [(DeviceHinges, "__init__"), (DeviceHinges, "begin"), (DeviceHinges, "beta")], ids=str)
def test_where_memory_ends_a_sentence_says_what_alpha_takes(machine, part, monkeypatch):
    def refuse(*given):
        raise torch_library("torch:cpu").out_of_memory("no memory")

    monkeypatch.setattr(*part, refuse)
    X, y = random_data(4, n=90)
    n_hinges = 2 * N_RANKS if isinstance(machine, LinearNPSVOR) else N_RANKS - 1
    with pytest.raises(MemoryError, match=rf"memory for 90 samples: the dual variables of {n_hinges} hinges each"):
        machine.set_params(device="torch:cpu").fit(X, y)
