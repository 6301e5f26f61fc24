"""Checkpoints: a fit that ends in a crash goes on, an ended one returns its answer, and another fit is refused."""

import itertools
import json
import os
import re
import subprocess
import sys
import threading
import time
import warnings
from dataclasses import replace
from functools import partial
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.model_selection import StratifiedKFold

from ordsvm import (
    NPSVOR,
    SVC,
    SVOR,
    SVORIM,
    CalibratedOrdinal,
    Checkpoint,
    LinearNPSVOR,
    LinearSVC,
    LinearSVOR,
    LinearSVR,
    NystroemSVOR,
    OrdinalSearchCV,
    RoundedRegressor,
    RowStore,
)
from ordsvm.atomic_files import make_folder_durably
from ordsvm.checkpoint import OtherFitError, State, described, opened
from ordsvm.checkpoint.state_file import StateFiles, read_state
from ordsvm.problem import Treatment
from ordsvm.rows.disk import kept_store
from ordsvm.search import lines
from ordsvm.search.journal import Journal, Outcome
from ordsvm.solvers import recorder
from ordsvm.solvers.registry import SOLVERS
from tests.cases import random_data

SHIFT = 1.0  # of kernels that are functions
ALWAYS = 1e-9  # seconds between two states: at every report


@pytest.fixture(autouse=True)
def _without_waiting_for_the_disk(monkeypatch):
    """These tests end no process and no machine; a disk with other work takes long to answer."""
    monkeypatch.setattr(os, "fsync", lambda file: None)


class CrashError(BaseException):
    """The end of a process, as far as a fit is concerned."""


def crash_at_look(number):
    looks = []

    def callback(progress):
        looks.append(progress)
        if len(looks) == number:
            raise CrashError

    return callback


def assert_same_answer(one, other):
    assert one.status == other.status
    assert (one.objective, one.gap, one.n_iter) == (other.objective, other.gap, other.n_iter)
    assert np.array_equal(one.alpha, other.alpha)


@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_every_kernel_solver_goes_on_after_a_crash(name, tmp_path):
    """Looks come by steps where validation samples are given, and a state is kept at each."""
    X, y = random_data(0, n=80)
    machine = SVOR if Treatment.PENALIZED in SOLVERS[name].accepts else SVORIM
    model = machine(C=10.0, solver=name, n_threads=2)
    reference = model.fit(X, y).result_
    validation, folder = (X[:10], y[:10]), Checkpoint(tmp_path, ALWAYS)
    with pytest.raises(CrashError):
        model.set_params(callback=crash_at_look(3)).fit(X, y, validation=validation, checkpoint=folder)
    _, kept = max(filter(None, (read_state(tmp_path / f"state.{i}") for i in (0, 1))), key=lambda found: found[0])
    done = kept.facts["0"]["run"]["n_iter"]
    assert done > 0
    found = model.set_params(callback=None).fit(X, y, validation=validation, checkpoint=tmp_path).result_
    assert found.status == "converged"
    assert found.n_iter >= done
    assert found.objective == pytest.approx(reference.objective, rel=1e-3)
    steps = [progress.n_iter for progress in found.history]
    assert steps == sorted(steps)
    assert any(step <= done for step in steps)
    assert_same_answer(model.fit(X, y, validation=validation, checkpoint=tmp_path).result_, found)


@pytest.mark.parametrize(
    "machine",
    [
        LinearSVOR(),
        LinearSVOR(loss="squared_hinge"),
        LinearNPSVOR(),
        LinearNPSVOR(solver="dcd-1"),
        LinearNPSVOR(solver="dcd-2"),
        LinearSVC(),
        LinearSVR(),
        SVOR(kernel="linear", solver="rank-dcd"),
    ],
    ids=repr,
)
def test_linear_machines_go_on_where_a_limit_ended_them(machine, tmp_path):
    X, y = random_data(0, n=300)
    reference = machine.set_params(tol=1e-5, max_iter=-1).fit(X, y).result_
    with pytest.warns(ConvergenceWarning):
        machine.set_params(max_iter=3).fit(X, y, checkpoint=tmp_path)
    assert machine.result_.n_iter == 3
    with pytest.warns(ConvergenceWarning):  # of all calls together
        assert machine.set_params(max_iter=3).fit(X, y, checkpoint=tmp_path).result_.n_iter == 3
    found = machine.set_params(max_iter=-1).fit(X, y, checkpoint=tmp_path).result_
    assert found.status == "converged"
    assert found.n_iter > 3
    assert found.objective == pytest.approx(reference.objective, rel=1e-5)
    expected = machine.predict(X)
    assert_same_answer(machine.fit(X, y, checkpoint=tmp_path).result_, found)
    assert np.array_equal(machine.predict(X), expected)


def test_a_descent_goes_on_after_a_crash(tmp_path, monkeypatch):
    monkeypatch.setattr(recorder, "LOOK_INTERVAL", 0.0)
    X, y = random_data(0, n=300)
    model = LinearSVOR(tol=1e-5, max_iter=-1, random_state=0)
    reference = model.fit(X, y).result_
    with pytest.raises(CrashError):
        model.set_params(callback=crash_at_look(5)).fit(X, y, checkpoint=Checkpoint(tmp_path, ALWAYS))
    found = model.set_params(callback=None).fit(X, y, checkpoint=tmp_path).result_
    assert found.objective == pytest.approx(reference.objective, rel=1e-5)
    assert [progress.n_iter for progress in found.history[:4]] == [1, 2, 3, 4]


def test_problems_that_were_solved_are_not_solved_again(tmp_path, monkeypatch):
    from ordsvm.solvers.kernel import problems

    X, y = random_data(0, n=120)
    model = SVC(multi_class="ovo", C=5.0)
    calls, solve = [], problems.solve

    def counted(*arguments):
        if len(calls) == limit:
            raise CrashError
        calls.append(1)
        return solve(*arguments)

    monkeypatch.setattr(problems, "solve", counted)
    limit, folder = 3, Checkpoint(tmp_path, ALWAYS)
    with pytest.raises(CrashError):
        model.fit(X, y, checkpoint=folder)
    limit = 99
    found = model.fit(X, y, checkpoint=folder)
    assert len(calls) == len(found.results_)  # three of them before the crash
    other = SVC(multi_class="ovo", C=5.0).fit(X, y, checkpoint=tmp_path / "other")  # one by one too, without a crash
    assert_same_answer(found.result_, other.result_)


@pytest.mark.parametrize(
    "machine", [NPSVOR(), SVC(multi_class="ovr"), SVORIM(), SVOR(early_stopping=True, random_state=0)]
)
def test_the_same_call_after_the_end_returns_the_answer(machine, tmp_path):
    X, y = random_data(0, n=100)
    found = machine.fit(X, y, checkpoint=tmp_path).result_
    before = [(path.name, path.stat().st_mtime_ns) for path in sorted(tmp_path.iterdir())]
    again = machine.set_params(verbose=True, n_threads=1, cache_size=50).fit(X, y, checkpoint=tmp_path)
    assert_same_answer(again.result_, found)
    assert [progress.n_iter for progress in again.result_.history] == [progress.n_iter for progress in found.history]
    assert [(path.name, path.stat().st_mtime_ns) for path in sorted(tmp_path.iterdir())] == before


def test_a_time_limit_is_for_each_call(tmp_path):
    X, y = np.random.default_rng(0).normal(size=(600, 5)), np.arange(600) % 4
    model = SVOR(C=1e6, tol=1e-6, solver="gcd", time_limit=0.3)
    steps, seconds = [], []
    for _ in range(3):
        with pytest.warns(ConvergenceWarning, match="time_limit"):
            result = model.fit(X, y, checkpoint=tmp_path).result_
        steps.append(result.n_iter)
        seconds.append(result.seconds)
    assert steps[0] < steps[1] < steps[2]
    assert seconds[0] >= 0.3
    assert seconds[2] >= 0.9


def test_early_stopping_goes_on_with_its_best_look(tmp_path):
    X, y = random_data(0, n=200)
    model = SVOR(C=100.0, solver="gcd", early_stopping=True, n_iter_no_change=5, random_state=0)
    with pytest.raises(CrashError):
        model.set_params(callback=crash_at_look(4)).fit(X, y, checkpoint=Checkpoint(tmp_path, ALWAYS))
    result = model.set_params(callback=None).fit(X, y, checkpoint=tmp_path).result_
    errors = [progress.validation_mae for progress in result.history]
    assert result.status == "early_stopping"
    assert len(errors) > 4
    assert errors[result.best_look] == min(errors)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"C": 2.0}, "C was 1 and is 2 now"),
        ({"gamma": 0.5}, "gamma was 'scale' and is 0.5 now"),
        ({"solver": "block"}, "solver was 'auto' and is 'block' now"),
        ({"X": 1}, "X differs"),
        ({"y": 1}, "labels, targets, weights or samples held out differs"),
        ({"sample_weight": 1}, "labels, targets, weights or samples held out differs"),
        ({"machine": SVORIM()}, "model was SVOR and is SVORIM now"),
    ],
)
def test_other_data_or_parameters_are_refused_with_one_sentence(changed, named, tmp_path):
    X, y = random_data(0, n=60)
    SVOR(C=1.0).fit(X, y, checkpoint=tmp_path)
    given = {"X": X + (changed.pop("X", 0)), "y": y.copy()}
    given["y"][0] += -1 if changed.get("y") and y[0] else bool(changed.pop("y", 0))
    weight = np.full(len(y), 2.0) if changed.pop("sample_weight", 0) else None
    model = changed.pop("machine", SVOR(C=1)).set_params(**{k: v for k, v in changed.items() if k != "y"})
    with pytest.raises(ValueError, match=re.escape(f"is of other data or parameters, as its {named}: give")) as refusal:
        model.fit(given["X"], given["y"], weight, checkpoint=str(tmp_path))
    assert str(refusal.value).count(". ") == 0
    assert SVOR(C=1).fit(X, y, checkpoint=tmp_path).result_.converged  # 1 is 1.0, and nothing was lost


@pytest.mark.parametrize("limit", [5, -1])
def test_validation_samples_that_come_or_go_are_refused(limit, tmp_path):
    X, y = random_data(0, n=60)
    validation = X[:20], y[:20]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        SVOR(C=100.0, max_iter=limit).fit(X, y, checkpoint=tmp_path / "none")
        SVOR(C=100.0, max_iter=limit).fit(X, y, validation=validation, checkpoint=tmp_path / "some")
    with pytest.raises(ValueError, match=r"as its validation was none and is samples .* now: give"):
        SVOR(C=100.0).fit(X, y, validation=validation, checkpoint=tmp_path / "none")
    with pytest.raises(ValueError, match=r"as its validation was samples .* and is none now: give"):
        SVOR(C=100.0).fit(X, y, checkpoint=tmp_path / "some")


def test_an_identity_with_more_or_less_in_it_is_another_one(tmp_path):
    with opened(tmp_path) as session:
        session.require({"C": "1", "gamma": "2"})
        for other in ({"C": "1"}, {"C": "1", "gamma": "2", "file": "3"}):
            with pytest.raises(ValueError, match="none"):
                session.require(other)
        session.require({"gamma": "2", "C": "1"})


def test_rows_of_another_kind_are_refused(tmp_path):
    X, y = random_data(0, n=100)
    dump_svmlight_file(X, y, str(tmp_path / "rows.svm"))
    LinearSVOR().fit(tmp_path / "rows.svm", checkpoint=tmp_path / "file")
    with pytest.raises(ValueError, match="first block of the iterator was none"):
        LinearSVOR().fit(blocks(X, y), checkpoint=tmp_path / "file")
    LinearSVOR().fit(X, y, checkpoint=tmp_path / "memory")
    with pytest.raises(ValueError, match="is of other data or parameters"):
        LinearSVOR().fit(blocks(X, y), checkpoint=tmp_path / "memory")
    assert not (tmp_path / "memory" / "rows").exists()
    (tmp_path / "file" / "identity.json").write_text('{"format": "1", "model": "LinearSVOR"}')
    with pytest.raises(ValueError, match="as its format was 1 and is 2 now"):
        LinearSVOR().fit(tmp_path / "rows.svm", checkpoint=tmp_path / "file")


def power(A, B, p=2, *, shift=SHIFT):
    return (A @ B.T + shift) ** p


def steep(A, B):
    return power(A, B, SHIFT)


class Power:
    def __init__(self, p):
        self.p = p

    def __call__(self, A, B):
        return power(A, B, self.p)


def kernel_of_degree(p):
    return lambda A, B: power(A, B, p)


def test_callables_are_told_apart_by_what_they_compute(monkeypatch):
    def texts():
        return [
            described(value)
            for value in (
                *(partial(power, p=p) for p in (1, 3)),
                partial(power, shift=np.ones(3)),
                partial(power, shift=np.zeros(3)),
                *(kernel_of_degree(p) for p in (1, 3)),
                *(Power(p) for p in (1, 3)),
                *(Power(p).__call__ for p in (1, 3)),
                *({"kernel": Power(Power(p))} for p in (1, 3)),
                lambda A, B: A @ B.T + 1,
                lambda A, B: A @ B.T + 2,
                lambda A, B, s=1: A @ B.T + s,
                lambda A, B, s=2: A @ B.T + s,
                *(np.array([Power(p)]) for p in (1, 3)),
                make_scorer(lambda y, z: 1.0),
                make_scorer(lambda y, z: 2.0),
                np.tanh,
                np.cosh,
                rbf_kernel,
                laplacian_kernel,
                power,
                steep,
                Ridge(max_iter=5),
                Ridge(max_iter=6),
            )
        ]

    first = texts()
    assert len(set(first)) == len(first)
    assert not [text for text in first if " at 0x" in text]
    assert texts() == first
    monkeypatch.setitem(globals(), "SHIFT", 7)  # which steep refers to
    assert [one != other for one, other in zip(first, texts(), strict=True)].count(True) == 1


def test_descriptions_are_the_same_in_every_process():
    code = "from tests.test_checkpoints import *; print(described([{'b', 'a', 'mae', 'mze'}, Power(2), power, {1, 2}]))"
    found = {
        subprocess.run(
            [sys.executable, "-c", code], env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


def test_what_cannot_be_described_is_refused():
    selfish = Power(1)
    selfish.p = selfish
    assert "itself" in described(selfish)
    with pytest.raises(ValueError, match=r"can't describe .*lock.*: give a function, or an object that pickle takes"):
        described(partial(power, p=threading.Lock()))


def test_another_partial_as_a_kernel_is_refused(tmp_path):
    X, y = random_data(0, n=60)
    SVOR(kernel=partial(power, p=1)).fit(X, y, checkpoint=tmp_path)
    with pytest.raises(ValueError, match="as its kernel differs"):
        SVOR(kernel=partial(power, p=3)).fit(X, y, checkpoint=tmp_path)
    assert SVOR(kernel=partial(power, p=1)).fit(X, y, checkpoint=tmp_path).result_.converged


# Each reads a number in another place, which two versions of it have differently.
KERNELS = {
    "comprehension": """
G = {}
def kernel(A, B): return np.array([[np.exp(-G * ((a - b) ** 2).sum()) for b in B] for a in A])""",
    "lambda": """
G = {}
def kernel(A, B): return (lambda D: np.exp(-G * D))(((A[:, None] - B) ** 2).sum(-1))""",
    "inner function": """
G = {}
def kernel(A, B):
    def value(D):
        return np.exp(-G * D)
    return value(((A[:, None] - B) ** 2).sum(-1))""",
    "dict": """
P = {{"gamma": {}}}
def kernel(A, B): return np.exp(-P["gamma"] * ((A[:, None] - B) ** 2).sum(-1))""",
    "array": """
W = np.array([{}, 1.0, 1.0])
def kernel(A, B): return (A * W) @ B.T""",
    "namespace": """
P = SimpleNamespace(gamma={})
def kernel(A, B): return np.exp(-P.gamma * ((A[:, None] - B) ** 2).sum(-1))""",
    "class": """
class P:
    gamma = {}
    @staticmethod
    def value(D): return np.exp(-P.gamma * D)
def kernel(A, B): return P.value(((A[:, None] - B) ** 2).sum(-1))""",
    "attribute of the class of an object": """
class Kernel:
    gamma = {}
    def __call__(self, A, B): return np.exp(-self.gamma * ((A[:, None] - B) ** 2).sum(-1))
kernel = Kernel()""",
    "method of an object": """
class Kernel:
    def values(self, D): return np.exp(-{} * D)
    def __call__(self, A, B): return self.values(((A[:, None] - B) ** 2).sum(-1))
kernel = Kernel()""",
    "property of an object": """
class Kernel:
    @property
    def gamma(self): return {}
    def run(self, A, B): return np.exp(-self.gamma * ((A[:, None] - B) ** 2).sum(-1))
kernel = Kernel().run""",
    "partial": """
G = {}
def general(A, B, p): return np.array([[np.exp(-G * (np.abs(a - b) ** p).sum()) for b in B] for a in A])
kernel = partial(general, p=2)""",
}


def kernel_with(source, number):
    scope = {"np": np, "partial": partial, "SimpleNamespace": SimpleNamespace, "__name__": "of_a_user"}
    exec(source.format(number), scope)
    return scope["kernel"]


@pytest.mark.parametrize("source", KERNELS.values(), ids=KERNELS)
def test_a_kernel_that_reads_another_number_is_refused(source, tmp_path):
    X, y = random_data(0, n=60)
    assert (
        described(kernel_with(source, 0.5))
        == described(kernel_with(source, 0.5))
        != described(kernel_with(source, 2.0))
    )
    SVOR(kernel=kernel_with(source, 0.5)).fit(X, y, checkpoint=tmp_path)
    assert SVOR(kernel=kernel_with(source, 0.5)).fit(X, y, checkpoint=tmp_path).result_.converged
    with pytest.raises(OtherFitError, match="as its kernel differs"):
        SVOR(kernel=kernel_with(source, 2.0)).fit(X, y, checkpoint=tmp_path)


@pytest.mark.parametrize(
    "train",
    [
        lambda kernel, X, y, folder: SVOR(kernel=kernel).fit(X, y, checkpoint=folder),
        lambda kernel, X, y, folder: NystroemSVOR(kernel=kernel).fit(X, y, checkpoint=folder),
        lambda kernel, X, y, folder: CalibratedOrdinal(SVOR(kernel=kernel), cv=2).fit(X, y, checkpoint=folder),
        lambda kernel, X, y, folder: OrdinalSearchCV(SVOR(), {"kernel": [kernel]}, cv=2).fit(X, y, checkpoint=folder),
        lambda kernel, X, y, folder: OrdinalSearchCV(SVOR(kernel=kernel), {"C": [1.0]}, cv=2).fit(
            X, y, checkpoint=folder
        ),
    ],
    ids=["SVOR", "NystroemSVOR", "CalibratedOrdinal", "grid", "estimator"],
)
def test_a_kernel_that_imports_another_number_is_refused(train, tmp_path, monkeypatch):
    """Its code is the same, its values are not."""
    imported = ModuleType("imported")
    vars(imported).update({"np": np, "gamma": 0.5})
    exec("def values(A, B): return np.exp(-gamma * ((A[:, None] - B) ** 2).sum(-1))", vars(imported))
    scope = {"imported": imported, "__name__": "of_a_user"}
    exec("def kernel(A, B): return imported.values(A, B)", scope)
    X, y = random_data(0, n=60)
    train(scope["kernel"], X, y, tmp_path)
    train(scope["kernel"], X, y, tmp_path)
    before = described(scope["kernel"])
    imported.gamma = 2.0
    assert described(scope["kernel"]) == before
    with pytest.raises(OtherFitError, match="as its kernel, by its values on some rows, differs"):
        train(scope["kernel"], X, y, tmp_path)


def test_a_scorer_that_reads_other_costs_is_refused(tmp_path):
    X, y = random_data(0, n=60)
    scope = {"np": np, "COSTS": np.ones((9, 9)), "__name__": "of_a_user"}
    exec("def loss(y, z): return np.mean([COSTS[int(a), int(b)] for a, b in zip(y, z)])", scope)
    search = OrdinalSearchCV(SVOR(), {"C": [1.0]}, cv=2, scoring=make_scorer(scope["loss"], greater_is_better=False))
    search.fit(X, y, checkpoint=tmp_path)
    search.fit(X, y, checkpoint=tmp_path)
    scope["COSTS"] = 1.0 - np.eye(9)
    with pytest.raises(OtherFitError, match="as its scoring differs"):
        search.fit(X, y, checkpoint=tmp_path)


def test_a_frame_of_costs_counts_with_its_labels(tmp_path):
    pd = pytest.importorskip("pandas")
    X, y = random_data(0, n=60)
    labels = np.unique(y)
    values = np.abs(np.subtract.outer(labels, labels)) * (labels + 1)[:, np.newaxis]
    costs = pd.DataFrame(values, index=labels, columns=labels)
    reverse = pd.DataFrame(values, index=labels[::-1], columns=labels[::-1])
    assert len({described(costs), described(reverse), described(costs.rename(index=str))}) == 3
    SVOR(cost=costs).fit(X, y, checkpoint=tmp_path)
    assert SVOR(cost=costs.copy()).fit(X, y, checkpoint=tmp_path).result_.converged
    with pytest.raises(OtherFitError, match="as its cost differs"):
        SVOR(cost=reverse).fit(X, y, checkpoint=tmp_path)


def test_a_folder_in_use_is_refused(tmp_path):
    X, y = random_data(0, n=60)
    with opened(tmp_path), pytest.raises(BlockingIOError, match="in use by another fit"):
        SVOR().fit(X, y, checkpoint=tmp_path)
    SVOR().fit(X, y, checkpoint=tmp_path)


@pytest.mark.parametrize("damage", ["torn", "changed", "empty"])
def test_a_damaged_state_gives_way_to_the_one_before(damage, tmp_path):
    files = StateFiles(tmp_path)
    for number in range(1, 4):
        files.write(State({"number": number}, {"alpha": np.full(100, float(number))}))
    newest = tmp_path / "state.1"
    content = newest.read_bytes()
    damaged = {"torn": content[: len(content) // 2], "changed": content[:-200] + b"x" + content[-199:], "empty": b""}
    newest.write_bytes(damaged[damage])
    state = StateFiles(tmp_path).latest()
    assert state is not None
    assert state.facts == {"number": 2}
    assert state.arrays["alpha"].tolist() == [2.0] * 100
    (tmp_path / "state.0").write_bytes(b"")
    with pytest.raises(ValueError, match="is damaged, in both of its states: remove that folder"):
        StateFiles(tmp_path).latest()


def test_what_a_killed_process_was_writing_is_removed(tmp_path):
    files = StateFiles(tmp_path)
    files.write(State({"number": 1}))
    (tmp_path / ".state.0.left").write_bytes(b"half a state")
    assert StateFiles(tmp_path).latest().facts == {"number": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["state.1"]


def test_a_fit_after_a_damaged_state_begins_from_the_other_one(tmp_path):
    X, y = random_data(0, n=100)
    model = SVOR(C=10.0, solver="gcd")
    with pytest.raises(CrashError):
        model.set_params(callback=crash_at_look(4)).fit(
            X, y, validation=(X, y), checkpoint=Checkpoint(tmp_path, ALWAYS)
        )
    newest = max(tmp_path.glob("state.*"), key=lambda path: read_state(path)[0])
    newest.write_bytes(newest.read_bytes()[:100])
    assert model.set_params(callback=None).fit(X, y, validation=(X, y), checkpoint=tmp_path).result_.converged
    (tmp_path / "identity.json").write_text("{")
    with pytest.raises(ValueError, match=r"identity.json' is damaged: remove the folder"):
        model.fit(X, y, validation=(X, y), checkpoint=tmp_path)


def test_a_full_disk_costs_the_checkpoint_and_not_the_fit(tmp_path, monkeypatch):
    def full(self, state):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(StateFiles, "write", full)
    X, y = random_data(0, n=60)
    with pytest.warns(RuntimeWarning, match="could not be written, and the fit goes on without") as caught:
        assert SVC().fit(X, y, checkpoint=Checkpoint(tmp_path, ALWAYS)).result_.converged
    assert len(caught) == 1


def test_what_is_no_folder_is_refused_before_any_work(tmp_path):
    X, y = random_data(0, n=60)
    for wrong in (3, "", True):
        with pytest.raises(TypeError, match=r"checkpoint=.* is not valid: give None, the name of a folder"):
            SVOR().fit(None, None, checkpoint=wrong)
    with pytest.raises(ValueError, match="interval=0 is not valid"):
        Checkpoint(tmp_path, 0)
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="can't be written"):
        SVOR().fit(X, y, checkpoint=tmp_path / "file")


# Streams


def blocks(X, y, crash_before=-1, other=-1):
    for number, first in enumerate(range(0, len(y), 20)):
        if number == crash_before:
            raise CrashError
        part = slice(first, first + 20)
        yield X[part] + (number == other), y[part]


def test_the_rows_of_an_iterator_are_stored_once(tmp_path):
    X, y = random_data(0, n=300)
    expected = LinearSVOR().fit(blocks(X, y)).result_.objective
    folder = Checkpoint(tmp_path, ALWAYS)
    with pytest.raises(CrashError):
        LinearSVOR().fit(blocks(X, y, crash_before=6), checkpoint=folder)
    with pytest.raises(ValueError, match="The iterator gives other blocks"):
        LinearSVOR().fit(blocks(X, y, other=2), checkpoint=folder)
    with pytest.raises(ValueError, match="The iterator gives other blocks"):  # three of six
        LinearSVOR().fit(blocks(X[:60], y[:60]), checkpoint=folder)
    with pytest.raises(ValueError, match="first block of the iterator differs"):
        LinearSVOR().fit(blocks(X, y, other=0), checkpoint=folder)
    found = LinearSVOR().fit(blocks(X, y), checkpoint=folder).result_
    assert found.objective == pytest.approx(expected, rel=1e-3)
    with RowStore.open(tmp_path / "rows") as store:
        kept = [np.concatenate(parts) for parts in zip(*store, strict=True)]
    assert np.array_equal(kept[0], X.astype(np.float32))
    assert np.array_equal(kept[1], y)
    again = LinearSVOR().fit(blocks(X, y, crash_before=1), checkpoint=folder)  # one block is read, to compare
    assert_same_answer(again.result_, found)


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_file_is_read_on_from_where_it_was(suffix, tmp_path, monkeypatch):
    import gzip

    X, y = random_data(0, n=300)
    path = tmp_path / f"rows.svm{suffix}"
    dump_svmlight_file(X, y, str(tmp_path / "plain"))
    text = (tmp_path / "plain").read_bytes()
    path.write_bytes(gzip.compress(text) if suffix else text)
    expected = LinearSVOR().fit(path).result_.objective
    monkeypatch.setattr(kept_store, "PIECE", 3000)
    folder, add, added = Checkpoint(tmp_path / "kept", ALWAYS), kept_store.Spool.add, []

    def counted(self, block):
        if len(added) == limit:
            raise CrashError
        added.append(len(block[1]))
        add(self, block)

    monkeypatch.setattr(kept_store.Spool, "add", counted)
    limit = 4
    with pytest.raises(CrashError):
        LinearSVOR().fit(path, checkpoint=folder)
    limit = -1
    found = LinearSVOR().fit(path, checkpoint=folder).result_
    assert sum(added) == 300  # every row once
    assert found.objective == pytest.approx(expected, rel=1e-3)
    os.utime(path, (1, 1))
    with pytest.raises(ValueError, match="as its file differs"):
        LinearSVOR().fit(path, checkpoint=folder)


def test_a_store_is_known_by_its_contents(tmp_path):
    X, y = random_data(0, n=100)
    with RowStore.from_blocks(blocks(X, y)) as store, RowStore.from_blocks(blocks(X, y)) as same:
        found = LinearSVOR().fit(store, checkpoint=tmp_path).result_
        assert_same_answer(LinearSVOR().fit(same, checkpoint=tmp_path).result_, found)
    with RowStore.from_blocks(blocks(X, y, other=3)) as other, pytest.raises(ValueError, match="as its X differs"):
        LinearSVOR().fit(other, checkpoint=tmp_path)


# Searches and wrappers


class CrashingScorer:
    """Raises after so many scores."""

    def __init__(self):
        self.left, self.count = -1, 0

    def __call__(self, model, X, y):
        if self.left == 0:
            raise CrashError
        self.left -= 1
        self.count += 1
        return -float(np.abs(model.predict(X) - y).mean())

    def __getstate__(self):  # what a checkpoint compares: neither of the counts
        return {}


GRID = {"C": [0.1, 1.0, 10.0], "gamma": [0.1, 1.0]}


@pytest.mark.parametrize("memory_limit", [1000, 1e-6])
def test_a_search_goes_on_at_the_first_fit_without_an_outcome(memory_limit, tmp_path):
    X, y = random_data(0, n=90)
    scorer = CrashingScorer()
    search = OrdinalSearchCV(SVOR(), GRID, cv=3, scoring=scorer, memory_limit=memory_limit)
    reference = search.fit(X, y).cv_results_
    scorer.left, scorer.count = 7, 0
    with pytest.raises(CrashError):
        search.fit(X, y, checkpoint=tmp_path)
    scorer.left, scorer.count = -1, 0
    assert np.allclose(
        search.fit(X, y, checkpoint=tmp_path).cv_results_["mean_test_score"], reference["mean_test_score"]
    )
    assert scorer.count == 18 - 7
    scorer.left = 0  # nothing is scored, and the best is not trained again
    again = search.fit(X, y, checkpoint=tmp_path)
    assert_same_answer(again.best_estimator_.result_, search.best_estimator_.result_)
    assert not list(tmp_path.glob("fit-*"))
    with pytest.raises(ValueError, match="as its param_grid was"):
        OrdinalSearchCV(SVOR(), {"C": [1.0]}, cv=3, scoring=scorer).fit(X, y, checkpoint=tmp_path)


def test_processes_of_a_search_write_their_own_outcomes(tmp_path):
    X, y = random_data(0, n=60)
    search = OrdinalSearchCV(LinearSVOR(), {"C": [0.1, 1.0]}, cv=2, n_jobs=2).fit(X, y, checkpoint=tmp_path)
    lines = [line for path in (tmp_path / "outcomes").iterdir() for line in path.read_bytes().split(b"\n") if line]
    assert len(lines) == 4
    again = OrdinalSearchCV(LinearSVOR(), {"C": [0.1, 1.0]}, cv=2).fit(X, y, checkpoint=tmp_path)
    assert again.cv_results_["mean_fit_time"].tolist() == search.cv_results_["mean_fit_time"].tolist()


def test_both_stages_of_a_search_are_kept(tmp_path):
    X, y = random_data(0, n=60)
    scorer = CrashingScorer()
    search = OrdinalSearchCV(LinearSVOR(max_iter=-1, tol=0.1), scoring=scorer, cv=2)
    reference = search.fit(X, y)
    scorer.left, scorer.count = 20, 0  # 14 coarse ones and 6 fine ones
    with pytest.raises(CrashError):
        search.fit(X, y, checkpoint=tmp_path)
    scorer.left, scorer.count = -1, 0
    assert search.fit(X, y, checkpoint=tmp_path).best_params_ == reference.best_params_
    assert scorer.count == 32 - 20


def test_workers_write_nothing_after_the_end_of_their_parent(tmp_path, monkeypatch):
    """Their parent had the lock, which is free then."""
    with opened(tmp_path) as mine:
        theirs = replace(mine, owner=os.getppid())
        outcome = Outcome({"score": 1.0}, {}, 0.0, 0.0)

        def write(session, place):
            session.part(f"fit{place}").keeper().keep(State({"n": 1}))
            Journal.of(session, 1, [{}, {}, {}], SVOR()).for_job([place], 0).note(0, outcome)

        write(theirs, 0)
        monkeypatch.setattr(os, "getppid", lambda: 1)
        write(mine, 1)  # a shell that has ended is no reason
        journal = Journal.of(theirs, 1, [{}, {}, {}], SVOR()).for_job([2], 0)
        for call in (partial(write, theirs, 2), partial(journal.note, 0, outcome)):
            with pytest.raises(SystemExit):
                call()
        monkeypatch.undo()
        ended = subprocess.Popen([sys.executable, "-c", ""])  # before the worker began
        ended.wait()
        with pytest.raises(SystemExit):
            write(replace(mine, owner=ended.pid), 2)
        assert len(list((tmp_path / "outcomes").iterdir())) == 2
        assert not (tmp_path / "fit2").exists()


def test_a_torn_line_is_no_outcome(tmp_path):
    X, y = random_data(0, n=60)
    scorer = CrashingScorer()
    search = OrdinalSearchCV(SVOR(), {"C": [1.0, 2.0]}, cv=2, scoring=scorer)
    search.fit(X, y, checkpoint=tmp_path)
    one = min((tmp_path / "outcomes").iterdir())
    one.write_bytes(one.read_bytes()[:-5])
    scorer.count = 0
    search.fit(X, y, checkpoint=tmp_path)
    assert scorer.count == 1
    search.fit(X, y, checkpoint=tmp_path)
    assert scorer.count == 1


def test_long_fits_of_a_search_are_kept_too(tmp_path):
    """Models with limits are trained one by one, each in a part of the checkpoint."""
    X, y = random_data(0, n=150)
    crash = crash_at_look(3)
    model = SVOR(C=10.0, solver="gcd", early_stopping=True, random_state=0, callback=crash)
    search = OrdinalSearchCV(model, {"C": [10.0]}, cv=2, error_score="raise")
    with pytest.raises(CrashError):
        search.fit(X, y, checkpoint=Checkpoint(tmp_path, ALWAYS))
    assert list(tmp_path.glob("fit-*/state.*"))
    model.callback = None
    search.fit(X, y, checkpoint=tmp_path)
    assert not list(tmp_path.glob("fit-*"))


def test_outcomes_that_a_limit_has_ended_are_of_that_limit(tmp_path):
    X, y = random_data(0, n=90)
    scorer = CrashingScorer()
    grid = {"C": [0.1, 100.0]}

    def scores(model, **options):
        scorer.count = 0
        search = OrdinalSearchCV(model, grid, cv=2, scoring=scorer)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return search.fit(X, y, **options).cv_results_["mean_test_score"].tolist(), scorer.count

    limited = scores(SVOR(max_iter=3), checkpoint=tmp_path)
    assert scores(SVOR(max_iter=3), checkpoint=tmp_path) == (limited[0], 0)
    true = scores(SVOR())
    assert true[0] != limited[0]
    assert scores(SVOR(), checkpoint=tmp_path)[0] == true[0]
    assert scores(SVOR(max_iter=10**6, callback=threading.Lock().acquire), checkpoint=tmp_path) == (true[0], 0)


def test_the_best_and_the_second_stage_are_of_their_parameters(tmp_path):
    """A line counts for its parameters, and the training on all samples too: others are made anew."""
    X, y = random_data(0, n=60)
    chosen = [0]

    class Choice:
        def __getstate__(self):
            return {}

        def __call__(self, table):
            return chosen[0]

    search = OrdinalSearchCV(SVOR(), {"C": [0.01, 100.0]}, cv=2, refit=Choice())
    first = search.fit(X, y, checkpoint=tmp_path).best_estimator_.result_
    chosen[0] = 1
    other = search.fit(X, y, checkpoint=tmp_path).best_estimator_.result_
    assert other.objective == SVOR(C=100.0).fit(X, y).result_.objective != first.objective
    (tmp_path / "best" / "state.0").write_bytes(b"x")
    (tmp_path / "best" / "state.1").write_bytes(b"x")
    assert search.fit(X, y, checkpoint=tmp_path).best_estimator_.result_.objective == other.objective
    with opened(tmp_path) as session:
        known = Journal.of(session, 1, [{"C": 0.01}, {"C": 3.0}], search.estimator).known
    assert sorted(known) == [(0, 0), (0, 1)]


def test_a_damaged_fit_of_a_search_begins_anew(tmp_path):
    X, y = random_data(0, n=60)
    grid = {"C": [1.0]}
    expected = OrdinalSearchCV(LinearSVOR(random_state=0), grid, cv=2).fit(X, y).best_score_
    with opened(tmp_path) as session:
        part = Journal.of(session, 1, [{"C": 1.0}], LinearSVOR()).for_job([0], 0).part(0)
        part.folder.mkdir()
        (part.folder / "state.0").write_bytes(b"x")
    with pytest.warns(RuntimeWarning, match=r"begins anew: .* is damaged, in both"):
        found = OrdinalSearchCV(LinearSVOR(random_state=0), grid, cv=2).fit(X, y, checkpoint=tmp_path)
    assert found.best_score_ == expected


@pytest.mark.parametrize(("error", "calls"), [(MemoryError, 2), (OSError, 2), (ArithmeticError, 1)])
def test_a_fit_that_failed_by_chance_is_tried_again(error, calls, tmp_path):
    X, y = random_data(0, n=60)
    seen = []

    class Failing(SVOR):
        def fit(self, X, y, sample_weight=None, **options):
            if len(X) < 60:
                seen.append(1)
                raise error
            return super().fit(X, y, sample_weight, **options)

    search = OrdinalSearchCV(Failing(max_iter=9), {"C": [1.0]}, cv=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(2):
            with pytest.raises(ValueError, match="All 2 fits of the search failed"):
                search.fit(X, y, checkpoint=tmp_path)
    assert len(seen) == 2 * calls


def test_a_full_disk_costs_outcomes_and_not_the_search(tmp_path, monkeypatch):
    def full(folder):
        if folder.name == "outcomes":
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(lines, "make_folder_durably", full)
    X, y = random_data(0, n=60)
    search = OrdinalSearchCV(SVOR(), {"C": [1.0, 2.0]}, cv=2)
    with pytest.warns(RuntimeWarning, match="could not be written to the checkpoint, and the search goes on") as caught:
        search.fit(X, y, checkpoint=tmp_path)
    assert len(caught) == 1
    assert search.best_estimator_.result_.converged


def test_lines_of_all_jobs_go_to_the_disk_by_one_clock(tmp_path, monkeypatch):
    synced, clock = [], itertools.count()
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(os.fstat(file).st_ino))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    with opened(Checkpoint(tmp_path, 4.0)) as session:
        journal = Journal.of(session, 1, [{"C": C} for C in range(12)], SVOR())
        for place in range(12):
            journal.for_job([place], 0).note(0, Outcome({"score": 1.0}, {}, 0.0, 0.0))
        written = {path.stat().st_ino for path in (tmp_path / "outcomes").iterdir()}
        assert len(written) == 12
        assert len(written & set(synced)) >= 8
        journal.finish()
        assert written <= set(synced)
    assert {tmp_path.stat().st_ino, (tmp_path / "outcomes").stat().st_ino} <= set(synced)
    assert len(Journal.of(session, 1, [{"C": C} for C in range(12)], SVOR()).known) == 12


def test_folders_are_made_durably(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(os.fstat(file).st_ino))
    make_folder_durably(tmp_path / "a" / "b")
    assert synced == [tmp_path.stat().st_ino, (tmp_path / "a").stat().st_ino]


def test_random_folds_are_refused_with_the_remedy(tmp_path):
    X, y = random_data(0, n=60)
    search = OrdinalSearchCV(SVOR(), {"C": [1.0]}, cv=StratifiedKFold(3, shuffle=True))
    search.fit(X, y, checkpoint=tmp_path)
    with pytest.raises(ValueError, match=r"give the splitter a random_state\) differs"):
        search.fit(X, y, checkpoint=tmp_path)


def test_wrappers_pass_the_checkpoint_on(tmp_path):
    X, y = random_data(0, n=90)
    CalibratedOrdinal(SVOR(), cv=3).fit(X, y, checkpoint=tmp_path / "calibrated")
    assert {path.name for path in (tmp_path / "calibrated").iterdir()} == {"lock", "all", "fold0", "fold1", "fold2"}
    RoundedRegressor(LinearSVR()).fit(X, y, checkpoint=tmp_path / "rounded")
    assert (tmp_path / "rounded" / "identity.json").is_file()
    with pytest.raises(TypeError, match=r"checkpoint was given, but Ridge.fit takes none"):
        RoundedRegressor(Ridge()).fit(X, y, checkpoint=tmp_path / "ridge")


def test_distributed_machines_refuse_a_checkpoint(tmp_path):
    distributed = pytest.importorskip("ordsvm.distributed")
    for machine in (distributed.LinearSVOR(), distributed.NystroemMachine()):
        with pytest.raises(ValueError, match="checkpoint is not possible with distributed rows"):
            machine.fit(None, None, checkpoint=tmp_path)


def test_the_command_line_goes_on(tmp_path):
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    from ordsvm.cli.app import app

    X, y = random_data(0, n=60)
    np.savetxt(tmp_path / "rows.csv", np.column_stack([X, y]), delimiter=",", header="a,b,c,y", comments="")
    for command, extra in (("train", ["--C", "2"]), ("tune", ["-m", "linear-svor", "--folds", "2", "--jobs", "1"])):
        kept, output = tmp_path / command, tmp_path / f"{command}.model"
        call = [command, str(tmp_path / "rows.csv"), "-t", "y", "-o", str(output), "--checkpoint", str(kept), "--json"]
        first, again = (CliRunner().invoke(app, call + extra) for _ in range(2))
        assert first.exit_code == again.exit_code == 0, first.output
        one, other = (json.loads(run.stdout)["fit"] for run in (first, again))
        assert {**one, "seconds": 0} == {**other, "seconds": 0}
        assert (kept / "identity.json").is_file()
    refused = CliRunner().invoke(app, [*call, "--folds", "3", "-m", "linear-svor"])
    assert refused.exit_code == 1
