"""The rules that make ranks of scores: they differ for disordered thresholds, and every path goes by its model's."""

import copy
import json
import pickle
from dataclasses import replace

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold

import ordsvm
from benchmarks.datasets import DataMissing, ordinal
from ordsvm import CalibratedOrdinal, LinearSVOR, OrdinalSearchCV, RedSVM, certify, load, save, to_onnx
from ordsvm.cli.app import run
from ordsvm.estimators.early_stopping import Validation, ValidationErrors
from ordsvm.formulations import svor
from ordsvm.kernels import RBF
from ordsvm.problem.thresholds import ranks_of
from tests.cases import few_in_the_middle
from tests.model_files import contents, forge
from tests.validation_cases import progress_with

RULES = {
    "SVOR": "count",
    "RedSVM": "count",
    "LinearSVOR": "count",
    "SVORIM": "first",
    "SVOREX": "first",
    "ShashuaLevinSVOR": "first",
}
every_model = pytest.mark.parametrize("name", RULES)

DISORDERED = np.array([1.0, -1.0, 0.5])


def expected(model, X) -> np.ndarray:
    """By the definitions, one sample and threshold at a time."""
    b = model.thresholds_.tolist()
    if RULES[type(model).__name__] == "count":
        ranks = [sum(f > threshold for threshold in b) for f in model.decision_function(X)]
    else:
        ranks = [
            next((k for k, threshold in enumerate(b) if f < threshold), len(b)) for f in model.decision_function(X)
        ]
    return model.classes_[ranks]


def shuffled_thresholds(name: str):
    """A fitted model whose thresholds are out of order, so that the rules differ for every other sample or so."""
    X, y = few_in_the_middle(100)
    model = getattr(ordsvm, name)().fit(X, y)
    model.thresholds_ = np.sort(model.thresholds_)[[1, 2, 0]]
    score = model.decision_function(X)
    assert np.mean(ranks_of(score, model.thresholds_, "count") != ranks_of(score, model.thresholds_, "first")) > 0.1
    return model, X


def test_ranks_by_hand():
    """Thresholds 1, −1, ½. A score that equals a threshold is not above it, nor below it."""
    score = np.array([-2.0, -1.0, -0.5, 0.5, 0.7, 1.0, 2.0])
    np.testing.assert_array_equal(ranks_of(score, DISORDERED, "count"), [0, 0, 1, 1, 2, 2, 3])
    np.testing.assert_array_equal(ranks_of(score, DISORDERED, "first"), [0, 0, 0, 0, 0, 3, 3])


def test_in_order_the_rules_differ_at_the_thresholds_alone():
    b = np.array([-1.0, 0.5, 0.5, 1.0])
    between, at = np.array([-2.0, 0.0, 0.7, 3.0]), np.array([-1.0, 0.5, 1.0])
    np.testing.assert_array_equal(ranks_of(between, b, "count"), ranks_of(between, b, "first"))
    np.testing.assert_array_equal(ranks_of(at, b, "count"), np.searchsorted(b, at, side="left"))
    np.testing.assert_array_equal(ranks_of(at, b, "first"), np.searchsorted(b, at, side="right"))


@every_model
def test_a_model_predicts_by_its_paper_s_rule(name):
    model, X = shuffled_thresholds(name)
    assert model.rank_rule_ == RULES[name]
    np.testing.assert_array_equal(model.predict(X), expected(model, X))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), expected(model, X))


@pytest.mark.parametrize(("kind", "share"), [(RedSVM, 0.6), (LinearSVOR, 0.3)])
def test_zero_one_costs_on_abalone(kind, share):
    """The rules differ for 69 % and 35 % of the samples."""
    try:
        X, y = ordinal("abalone", 1000)
    except DataMissing as error:
        pytest.skip(str(error))
    model = kind(cost="zero-one", C=1.0).fit(X, y)
    score, predicted = model.decision_function(X), model.predict(X)
    np.testing.assert_array_equal(predicted, expected(model, X))
    assert np.mean(predicted != ranks_of(score, model.thresholds_, "first")) > share


@pytest.mark.parametrize("kind", [RedSVM, LinearSVOR])
def test_zero_one_costs_disorder_the_thresholds(kind):
    """What the tests below rely on."""
    X, y = few_in_the_middle()
    model = kind(cost="zero-one").fit(X, y)
    assert model.thresholds_[0] > model.thresholds_[1] + 0.5
    assert np.mean(expected(model, X) != ranks_of(model.decision_function(X), model.thresholds_, "first")) > 0.1


# Exports and files


@every_model
def test_onnx(name):
    model, X = shuffled_thresholds(name)
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    rank, label = session.run(["rank", "label"], {"X": X})
    np.testing.assert_array_equal(label, expected(model, X))
    np.testing.assert_array_equal(model.classes_[rank], expected(model, X))


@pytest.mark.parametrize("rule", ["count", "first"])
def test_onnx_at_a_threshold(rule):
    """A score that equals a threshold: the same rank as in Python."""
    X = np.array([[0.0], [1.0], [2.0]])
    model = LinearSVOR().fit(X, [0, 1, 2])
    model.coef_, model.thresholds_, model.rank_rule_ = np.array([1.0]), np.array([0.0, 1.0]), rule
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    np.testing.assert_array_equal(session.run(["rank"], {"X": X})[0], model.predict(X))
    assert model.predict(X).tolist() == ([0, 1, 2] if rule == "count" else [1, 2, 2])


@every_model
def test_a_model_file_says_its_rule(name, tmp_path):
    model, X = shuffled_thresholds(name)
    save(model, tmp_path / "model")
    assert contents(tmp_path / "model")[0]["estimator"][2]["rank_rule_"] == RULES[name]
    again = load(tmp_path / "model")
    assert again.rank_rule_ == RULES[name]
    np.testing.assert_array_equal(again.predict(X), expected(model, X))


@every_model
def test_a_model_without_the_entry_keeps_the_rule_of_0_1_0(name, tmp_path):
    """A file, a pickle, what is saved of them again, and their ONNX; a new fit goes by the paper's rule."""
    model, X = shuffled_thresholds(name)
    first = model.classes_[ranks_of(model.decision_function(X), model.thresholds_, "first")]
    save(model, tmp_path / "model")
    tree, arrays = contents(tmp_path / "model")
    del tree["estimator"][2]["rank_rule_"]
    old = load(forge(tmp_path / "old", tree, arrays, version="1"))
    save(old, tmp_path / "again")
    for one in (old, load(tmp_path / "again"), pickle.loads(pickle.dumps(old)), copy.deepcopy(old)):
        np.testing.assert_array_equal(one.predict(X), first)
    session = onnxruntime.InferenceSession(to_onnx(old).SerializeToString())
    np.testing.assert_array_equal(session.run(["label"], {"X": X})[0], first)
    assert old.fit(X, few_in_the_middle(100)[1]).rank_rule_ == RULES[name]


@pytest.mark.parametrize("rule", ["last", None, 1, ["count"]])
def test_a_file_with_another_rule_is_refused(rule, tmp_path):
    model, _ = shuffled_thresholds("SVOR")
    save(model, tmp_path / "model")
    tree, arrays = contents(tmp_path / "model")
    tree["estimator"][2]["rank_rule_"] = rule
    with pytest.raises(ordsvm.ModelFileError, match="is no rank rule"):
        load(forge(tmp_path / "other", tree, arrays))


# Training


@every_model
def test_validation_errors_at_a_look(name):
    X, y = few_in_the_middle(60)
    problem = svor(y, 4, 1.0)
    rule = RULES[name]
    validation = Validation(X, y, np.ones(60), np.arange(4), rule, None)
    monitor = ValidationErrors(validation, problem, RBF(0.5), X)
    alpha = 0.5 * problem.hinges.cap
    score = RBF(0.5)(X, X) @ problem.beta(alpha)
    look = replace(progress_with(0.1), thresholds=np.quantile(score, [0.7, 0.2, 0.5]))
    seen = monitor.examine(alpha, look)
    distance = np.abs(ranks_of(score, look.thresholds, rule) - y)
    assert seen.validation_mae == pytest.approx(distance.mean())
    assert seen.validation_mze == pytest.approx((distance > 0).mean())


@pytest.mark.parametrize("early_stopping", [False, True])
def test_validation_errors_of_a_fit_are_those_of_its_predictions(early_stopping):
    X, y = few_in_the_middle(300)
    model = RedSVM(cost="zero-one", early_stopping=early_stopping, C=10.0, solver="gcd")
    model.fit(X[:200], y[:200], validation=(X[200:], y[200:]))
    result = model.result_
    look = result.history[-1 if result.best_look is None else result.best_look]
    predicted = model.predict(X[200:])
    assert look.validation_mae == pytest.approx(np.abs(predicted - y[200:]).mean())
    assert np.any(predicted != ranks_of(model.decision_function(X[200:]), model.thresholds_, "first"))


def test_a_search_scores_by_the_rule():
    X, y = few_in_the_middle()
    folds = StratifiedKFold(3)
    search = OrdinalSearchCV(RedSVM(cost="zero-one"), {"C": [0.5, 1.0], "gamma": [0.2]}, cv=folds).fit(X, y)
    for i, parameters in enumerate(search.cv_results_["params"]):
        for k, (train, test) in enumerate(folds.split(X, y)):
            model = RedSVM(cost="zero-one", **parameters).fit(X[train], y[train])
            first = ranks_of(model.decision_function(X[test]), model.thresholds_, "first")
            error = np.abs(expected(model, X[test]) - y[test]).mean()
            assert search.cv_results_[f"split{k}_test_score"][i] == pytest.approx(-error)
            assert np.any(first != expected(model, X[test]))


def test_calibration_goes_by_the_score_alone():
    """Probabilities and sets are a monotone map of the score from the median threshold: no rule, no order comes in."""
    model, X = shuffled_thresholds("SVOR")
    y = few_in_the_middle(100)[1]
    found = []
    for rule, order in (("count", [0, 1, 2]), ("first", [0, 1, 2]), ("count", [2, 0, 1])):
        other = copy.deepcopy(model)
        other.rank_rule_, other.thresholds_ = rule, model.thresholds_[order]
        calibrated = CalibratedOrdinal(other, cv="prefit").fit(X, y)
        found.append((calibrated.predict_proba(X), calibrated.predict(X), calibrated.predict_set(X)))
    for other in found[1:]:
        for values, same in zip(other, found[0], strict=True):
            np.testing.assert_array_equal(values, same)


def test_a_certificate_does_not_depend_on_the_rule():
    X, y = few_in_the_middle()
    model = RedSVM(cost="zero-one").fit(X, y)
    before = certify(model, X, y)
    model.rank_rule_ = "first"
    assert certify(model, X, y).gap == before.gap


@pytest.mark.parametrize("name", ["RedSVM", "LinearSVOR"])
def test_the_command_line(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X, y = few_in_the_middle()
    pd.DataFrame(X, columns=["a", "b", "c"]).assign(rank=y).to_csv("data.csv", index=False)
    train = ["train", "data.csv", "--target", "rank", "--model", name, "--cost", "zero-one", "-o", "model"]
    assert run(train) == 0
    machine = load("model").machine_
    assert machine.thresholds_[0] > machine.thresholds_[1]
    assert run(["predict", "model", "data.csv", "-o", "out.csv"]) == 0
    features = load("model").features(pd.read_csv("data.csv"))
    predicted = pd.read_csv("out.csv")["prediction"].to_numpy()
    np.testing.assert_array_equal(predicted, expected(machine, features))
    capsys.readouterr()
    assert run(["info", "model"]) == 0
    assert "the number of thresholds below the score" in " ".join(capsys.readouterr().out.split())
    assert run(["info", "model", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rank_rule"] == "count"
