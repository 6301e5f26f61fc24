"""The other kinds of problems of the campaign: a slice of each, and faults that each must find."""

import ast
import copy
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("clarabel")

import ordsvm
from benchmarks import campaign
from benchmarks.campaign import kinds, report, reproduction, workers
from benchmarks.campaign.kinds import containers, coverage, identities, malformed, searches
from benchmarks.campaign.kinds.verdict import unclear
from benchmarks.campaign.workers import FAILURES, Campaign

OTHERS = [kind for kind in kinds.SHARES if kind != "fit"]
SIZES = {"identity": 30, "container": 30, "malformed": 30, "coverage": 4, "search": 8}


def failures(records):
    return [
        (record["number"], record["outcome"], record["reasons"]) for record in records if record["outcome"] in FAILURES
    ]


@pytest.mark.parametrize("kind", OTHERS)
def test_a_slice(kind, tmp_path):
    slice_of_kind = Campaign(seed=1, time_limit=2.0, kinds=(kind,))
    records = campaign.go_through(slice_of_kind, problems=SIZES[kind], jobs=1, folder=tmp_path)
    assert failures(records) == []


def test_fits_of_a_seed_are_those_that_they_were():
    """A problem of this kind is the one that its number has without the other kinds."""
    there = Campaign(seed=5, time_limit=0.3)
    drawn = [there.draw(number) for number in range(200)]
    assert {kind for kind, _ in drawn} == set(kinds.SHARES)
    fits = Campaign(seed=5, time_limit=0.3, kinds=("fit",))
    assert all(problem == fits.draw(number)[1] for number, (kind, problem) in enumerate(drawn) if kind == "fit")


def test_everything_is_drawn():
    drawn = {kind: [kinds.draw(3, number, 2.0, kind) for number in range(3000)] for kind in OTHERS[:3]}
    assert {problem.what for problem in drawn["identity"]} == set(identities.IDENTITIES)
    assert {problem.X for problem in drawn["container"]} == set(containers.ROWS)
    assert {problem.y for problem in drawn["container"]} == {*containers.TARGETS, *containers.TEXTS}
    assert {problem.weight for problem in drawn["container"]} == set(containers.WEIGHTS)
    for argument, table in malformed.TABLES.items():
        if argument != "parameter":
            assert {problem.how for problem in drawn["malformed"] if problem.argument == argument} == set(table)


@pytest.mark.parametrize("kind", OTHERS)
def test_saved_lines_make_the_problem_again(kind, tmp_path):
    there = Campaign(seed=5, time_limit=2.0, kinds=(kind,))
    for number in range(3):
        record = {"number": number, "outcome": "wrong", "reasons": ['as """an example"""']}
        lines: dict = {}
        code = reproduction.save(tmp_path, there, record).read_text()
        exec(code.replace("verdict = judge(problem)", "verdict = None"), lines)
        assert lines["problem"] == there.draw(number)[1]
        assert "judge(problem)" in ast.unparse(ast.parse(code))


def test_counts_by_kind():
    records = [
        {"number": 0, "kind": "search", "what": "step: none", "outcome": "wrong", "reasons": ["a reason"]},
        {"number": 1, "kind": "search", "what": "step: none", "outcome": "right", "reasons": []},
    ]
    made = {row["claim"]: row for row in report.rows(records)}
    assert made["problems that ended wrong"]["figure"] == 1
    assert made["search: problems tried"]["tried"] == {"step: none": 2}
    assert made["search: problems that ended wrong, hung or crashed"]["met"] is False
    assert made["malformed: problems that ended wrong, hung or crashed"]["met"] is True


def test_a_process_that_failed_is_replaced(monkeypatch):
    """What malformed input did to its memory must not be held against the next problem."""
    ended = []
    worker_ends = workers._Worker.end
    monkeypatch.setattr(workers._Worker, "end", lambda worker: ended.append(worker.number) or worker_ends(worker))
    wrong = Campaign(seed=1, kinds=("malformed",), work=says_wrong)
    records = list(workers.run(wrong, [0, 1], jobs=1))
    assert [record["outcome"] for record in records] == ["wrong", "wrong"]
    assert ended[:2] == [0, 1]


def says_wrong(campaign, connection):
    while True:
        connection.send({"number": connection.recv(), "outcome": "wrong", "reasons": ["as an example"]})


# Faults that are planted are found


def first(kind, suits):
    """The first problem that suits, among those that the campaign draws."""
    drawn = (kinds.draw(7, number, 2.0, kind) for number in range(5000))
    return next(problem for problem in drawn if suits(problem))


def judged(problem):
    module = next(kinds.module_of(kind) for kind in OTHERS if isinstance(problem, kinds.module_of(kind).Problem))
    return module.judge(problem)


def assert_found(problem, words):
    outcome, reasons = judged(problem)
    assert outcome == "wrong"
    assert any(words in reason for reason in reasons), reasons


@pytest.mark.parametrize("what", identities.TWINS)
def test_a_machine_that_solves_another_problem(what, monkeypatch):
    problem = first("identity", lambda p: p.what == what and p.solver_options == {})
    problem = replace(problem, parameters=problem.parameters | {"tol": 1e-5, "C": 1.0, "solver": "auto"})
    assert judged(problem).outcome == "right"
    calls, train = [], identities.trained

    def wrong(problem, data):
        calls.append(data)
        C = data.parameters["C"] * (3.0 if len(calls) == 2 else 1.0)
        return train(problem, replace(data, parameters=data.parameters | {"C": C}))

    monkeypatch.setattr(identities, "trained", wrong)
    assert_found(problem, "the optimum lies in")


def shifted(model):
    """A trained model whose scores and thresholds are moved."""
    model.thresholds_ = model.thresholds_ + 0.5
    scores = model.decision_function
    model.decision_function = lambda X: scores(X) + 0.5
    return model


@pytest.mark.parametrize(
    ("what", "place", "wrong"),
    [
        ("saved and loaded", "ordsvm.load", lambda load: lambda path: shifted(load(path))),
        ("pickled", "pickle.loads", lambda loads: lambda data: shifted(loads(data))),
        ("exported to ONNX", "ordsvm.to_onnx", lambda export: lambda model: export(moved(model))),
        ("predicted in batches", "ordsvm.SVOR.decision_function", lambda f: lambda self, X: f(self, X) + len(X)),
        ("a warm start", "ordsvm.SVOR.fit", lambda fit: lambda self, *data, **w: fit(colder(self), *data, **w)),
    ],
)
def test_a_copy_that_answers_otherwise(what, place, wrong, monkeypatch):
    if what == "exported to ONNX":
        pytest.importorskip("onnxruntime")
    problem = first("identity", lambda p: p.what == what and p.estimator == "SVOR" and p.recipe.d == 3)
    parameters = problem.parameters | {"solver": "auto", "C": 1.0, "tol": 1e-5}
    problem = replace(problem, parameters=parameters, solver_options={})
    assert judged(problem).outcome == "right"
    owner, _, name = place.rpartition(".")
    where = ordsvm.SVOR if owner == "ordsvm.SVOR" else {"ordsvm": ordsvm, "pickle": identities.pickle}[owner]
    monkeypatch.setattr(where, name, wrong(getattr(where, name)))
    assert judged(problem).outcome == "wrong"


def moved(model):
    """A copy of the model with other thresholds, so with other labels."""
    model = copy.deepcopy(model)
    model.thresholds_ = model.thresholds_ - 50.0
    return model


def colder(model):
    """The machine, with another C where it starts warm."""
    return model.set_params(C=model.C / 7) if model.warm_start else model


def replaced(act):
    """A method of LinearSVOR that does something else with the samples before it goes on."""

    def make(method):
        return lambda self, X, *rest, **more: method(self, act(X), *rest, **more)

    return make


def refused(X):
    raise ValueError("`X` must be an array; got a list. Give np.asarray(X).")


def lost(X):
    raise KeyError("X")


@pytest.mark.parametrize(
    ("name", "act", "words"),
    [
        ("list", lambda X: np.asarray(X)[::-1] * 2 if isinstance(X, list) else X, "the optimum lies in"),
        ("list", lambda X: refused(X) if isinstance(X, list) else X, "refused by fit"),
        ("list", lambda X: lost(X) if isinstance(X, list) else X, "wrong kind"),
        ("pandas", lambda X: X.iloc[:, 0] if hasattr(X, "iloc") else X, "does not say|refused by fit"),
    ],
)
def test_a_container_that_is_read_wrongly(name, act, words, monkeypatch):
    problem = containers.Problem("X", "LinearSVOR", name, "array", "none", "eighths", 3)
    assert judged(problem).outcome == "right"
    monkeypatch.setattr(ordsvm.LinearSVOR, "fit", replaced(act)(ordsvm.LinearSVOR.fit))
    outcome, reasons = judged(problem)
    assert outcome == "wrong"
    assert any(word in reason for word in words.split("|") for reason in reasons), reasons


def test_a_container_that_is_predicted_wrongly(monkeypatch):
    problem = containers.Problem("X", "LinearSVOR", "csr of int32", "array", "none", "eighths", 3)
    act = replaced(lambda X: X * 1.001 if hasattr(X, "indptr") else X)
    monkeypatch.setattr(ordsvm.LinearSVOR, "decision_function", act(ordsvm.LinearSVOR.decision_function))
    assert_found(problem, "scores of the same rows differ")


def late(self, X, y, sample_weight=None):
    self.callback("a step")
    raise ValueError("`X` must be finite; got NaN. Drop the rows that have it.")


def accidental(self, X, y, sample_weight=None):
    raise IndexError("index 77 is out of bounds for axis 0 with size 4")


@pytest.mark.parametrize(
    ("fit", "words"),
    [(lambda self, X, y, **w: self, "ends as if it were right"), (accidental, "wrong kind"), (late, "after steps")],
)
def test_malformed_input_that_is_taken(fit, words, monkeypatch):
    problem = malformed.Problem("X", "NaN", "SVOR", "fit", 1)
    assert judged(problem).outcome == "refused"
    monkeypatch.setattr(ordsvm.SVOR, "fit", fit)
    assert_found(problem, words)


def test_errors_that_tell_nothing():
    assert unclear(KeyError("a long enough sentence about the input"))
    assert unclear(TypeError("'NoneType' object is not subscriptable"))
    assert unclear(ValueError("bad"))
    assert unclear(ValueError("`C` must be a positive number; got -1.0.")) == []


@pytest.mark.parametrize("folds", [0, 5])
def test_sets_that_are_too_small(folds, monkeypatch):
    problem = coverage.Problem("LinearSVOR", 1.0, 60, 3, 5, folds, "logistic", "none", 0.9, 1)
    assert judged(problem).outcome == "right"
    sets = ordsvm.CalibratedOrdinal.predict_set

    def smaller(self, X, coverage):
        return np.repeat(sets(self, X, coverage=coverage)[:, :1], 2, axis=1)

    monkeypatch.setattr(ordsvm.CalibratedOrdinal, "predict_set", smaller)
    assert_found(problem, "is covered")


def test_sets_that_are_a_little_too_small(monkeypatch):
    """Two points of a hundred below a level of 90 % are seen."""
    problem = coverage.Problem("LinearSVOR", 1.0, 120, 3, 5, 0, "logistic", "none", 0.9, 1)
    covered = coverage._covered
    monkeypatch.setattr(coverage, "_covered", lambda p, rng: min(1.0, covered(p, rng)) - 0.05)
    assert_found(problem, "is covered")


def test_probabilities_that_depend_on_the_scale_of_weights(monkeypatch):
    problem = coverage.Problem("LinearSVOR", 1.0, 60, 3, 3, 0, "logistic", "equal", 0.9, 1)
    fit, scales = ordsvm.CalibratedOrdinal.fit, []

    def scaled(self, X, y, sample_weight=None):
        scales.append(0.0 if sample_weight is None else float(sample_weight[0]))
        return fit(self, X, y)

    monkeypatch.setattr(ordsvm.CalibratedOrdinal, "fit", scaled)
    monkeypatch.setattr(ordsvm.CalibratedOrdinal, "predict_proba", lambda self, X: np.full((len(X), 3), scales[-1]))
    assert_found(problem, "depend on the scale of the weights")


def leaky(search):
    """Scores of samples that were trained on."""
    search.cv_results_["split1_test_score"] = search.cv_results_["split1_test_score"] + 0.1


def overwritten(search):
    search.cv_results_["params"][0]["machine__C"] = 7.0


def trained_otherwise(search):
    search.best_estimator_.set_params(machine__C=1e-4).fit(*searches._samples(np.random.default_rng(9), 50))


def in_the_grid(search):
    search.param_grid["step"][0].fit(np.ones((3, 2)))


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (leaky, "split1_test_score is"),
        (overwritten, "params differs"),
        (trained_otherwise, "refitted models differ"),
        (in_the_grid, "objects of the grid are changed"),
    ],
)
def test_a_search_that_is_not_as_gridsearchcv(act, words, monkeypatch):
    step = "exchanged" if act is in_the_grid else "scaler"
    problem = searches.Problem("SVOR", step, "KFold", "mae", "C", False, 60, 5)
    if act is not in_the_grid:
        assert judged(problem).outcome == "right"
    fit = ordsvm.OrdinalSearchCV.fit

    def wrong(self, *data, **weights):
        fit(self, *data, **weights)
        act(self)
        return self

    monkeypatch.setattr(ordsvm.OrdinalSearchCV, "fit", wrong)
    assert_found(problem, words)
