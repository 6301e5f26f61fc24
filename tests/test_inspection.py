"""Explanations: sums of contributions, exact and sampled values against brute force, weights, cases, columns."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.inspection import PartialDependenceDisplay
from sklearn.linear_model import PoissonRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from benchmarks.explanations import brute_force
from ordsvm import (
    NPSVOR,
    SVC,
    SVOR,
    SVR,
    CalibratedOrdinal,
    LinearNPSVOR,
    LinearSVOR,
    LinearSVR,
    NystroemSVOR,
    OrdinalSearchCV,
    RoundedRegressor,
)
from ordsvm.datasets import load_diabetes_ranks
from ordsvm.inspection import (
    ContributionsDisplay,
    ScoreRegressor,
    WeightsDisplay,
    contributions,
    dependence,
    explain,
    importance,
    similar_cases,
    weights,
)
from ordsvm.tables import TableEncoder, TableModel
from tests.cases import random_data

LINEAR = [
    LinearSVOR(),
    LinearNPSVOR(),
    LinearSVR(),
    SVOR(kernel="linear"),
    NPSVOR(kernel="linear"),
    RoundedRegressor(LinearSVR()),
    make_pipeline(StandardScaler(), LinearSVOR()),
    CalibratedOrdinal(LinearSVOR(), cv=2),
    OrdinalSearchCV(LinearSVOR(), {"C": [0.1, 1.0]}, cv=2),
]
KERNEL = [
    SVOR(),
    NPSVOR(),
    SVOR(kernel="laplacian"),
    NystroemSVOR(n_landmarks=40),
    SVR(),
    RoundedRegressor(SVR()),
    make_pipeline(StandardScaler(), SVOR()),
    CalibratedOrdinal(SVOR(), cv=2),
]


def titled(model):
    return " ".join(repr(model).split())[:50]


def off(found):
    return np.abs(found.values.sum(axis=1) - (found.score - found.baseline)).max()


@pytest.mark.parametrize("model", LINEAR, ids=titled)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, np.float32, pd.DataFrame])
def test_contributions_of_linear_machines_are_exact(model, form):
    X, y = random_data(0, n=80, n_features=6)
    if form is sp.csr_array and "Scaler" in titled(model):
        pytest.skip("StandardScaler centres, which sparse rows do not take")
    X = form(X)
    fitted = clone(model).fit(X, y)
    found = contributions(fitted, X[:7], X[20:])
    assert found.method == "linear"
    assert off(found) <= (1e-5 if form is np.float32 else 1e-12)
    assert np.all(found.errors == 0)


@pytest.mark.parametrize("model", KERNEL, ids=titled)
def test_gaussian_and_laplacian_kernels_are_exact(model):
    X, y = random_data(1, n=60, n_features=5)
    found = contributions(clone(model).fit(X, y), X[:3], X[30:36])
    assert found.method == "product"
    assert off(found) <= 1e-10


@pytest.mark.parametrize(
    ("model", "method"),
    [
        (SVOR(gamma=0.2), "product"),
        (make_pipeline(StandardScaler(), SVOR(gamma=0.2)), "product"),
        (SVOR(kernel="poly", gamma=0.2, coef0=1.0), "enumeration"),
        (make_pipeline(PCA(3), SVOR(gamma=0.2)), "enumeration"),
    ],
)
def test_exact_values_are_brute_force(model, method):
    X, y = random_data(2, n=60, n_features=6)
    model.fit(X, y)
    found = contributions(model, X[:1], X[30:35])
    assert found.method == method
    np.testing.assert_allclose(found.values[0], brute_force(model, X[:1], X[30:35]), rtol=0, atol=1e-11)


def test_sampled_intervals_hold_brute_force_as_often_as_they_say():
    X, y = random_data(3, n=80, n_features=12)
    model = SVOR(kernel="poly", gamma=0.1, coef0=1.0).fit(X, y)
    truth = brute_force(model, X[:1], X[40:43])
    held = []
    for seed in range(30):
        found = contributions(model, X[:1], X[40:43], n_permutations=60, random_state=seed)
        assert found.method == "sampling"
        assert off(found) <= 1e-10
        held.append(np.abs(found.values[0] - truth) <= found.errors[0])
    assert 0.92 <= np.mean(held) < 0.995
    again = contributions(model, X[:1], X[40:43], n_permutations=60, random_state=29)
    assert np.array_equal(again.values, found.values)


def test_factors_that_underflow_add_nothing():
    X, y = random_data(11, n=40, n_features=3)
    model = SVOR(gamma=1.0).fit(X, y)
    far = X[:1] + 1e3
    found = contributions(model, np.vstack([far, X[:1]]), X[20:24])
    assert np.all(np.isfinite(found.values))
    assert off(found) <= 1e-10
    np.testing.assert_allclose(found.values[0], brute_force(model, far, X[20:24]), rtol=0, atol=1e-12)


def test_samples_in_float32_are_explained_exactly_too():
    X, y = random_data(12, n=60, n_features=12)
    X = X.astype(np.float32)
    found = contributions(SVOR().fit(X, y), X[:2], X[30:36])
    assert found.method == "product"
    assert off(found) <= 1e-10


def test_groups_of_columns_count_as_one():
    X, y = random_data(4, n=60, n_features=6)
    groups = {"pair": [0, 1], "other": ["x4"]}
    for model in (LinearSVOR(), SVOR(gamma=0.2), SVOR(kernel="poly", coef0=1.0)):
        model.fit(X, y)
        found = contributions(model, X[:2], X[30:36], groups=groups)
        assert found.names == ["pair", "other", "x2", "x3", "x5"]
        assert off(found) <= 1e-10
        if found.method == "linear":
            single = contributions(model, X[:2], X[30:36]).values
            np.testing.assert_allclose(found.values[:, 0], single[:, :2].sum(axis=1))


def table():
    random = np.random.default_rng(0)
    size, stars = random.normal(size=90), np.repeat([1, 2, 3], 30)
    words = np.array(["awful dirty", "plain fair", "great clean"])[stars - 1]
    colour = random.choice(["red", "blue", None], size=90)
    return pd.DataFrame({"size": size + stars, "colour": colour, "text": words}), stars


def test_tables_are_explained_by_column_or_by_word():
    frame, stars = table()
    kernel = TableModel(SVOR(), TableEncoder()).fit(frame[["size", "colour"]], stars)
    found = contributions(kernel, frame[["size", "colour"]].iloc[:2], frame[["size", "colour"]].iloc[40:50])
    assert (found.names, found.method) == (["size", "colour"], "product")
    assert off(found) <= 1e-10
    text = TableModel(SVOR(), TableEncoder(("text",))).fit(frame, stars)  # sparse features
    found = contributions(text, frame.iloc[:2], frame.iloc[40:50])
    assert (found.names, found.method) == (["size", "colour", "text"], "product")
    linear = TableModel(LinearSVOR(), TableEncoder(("text",))).fit(frame[["text"]], stars)
    assert weights(linear).rising(3)[0][0] in ("text: great", "text: clean", "text: great clean")
    assert weights(linear).falling(3)[0][0] in ("text: awful", "text: dirty", "text: awful dirty")
    found = contributions(linear, frame[["text"]].iloc[:1], frame[["text"]])
    assert found.largest(n=1)[0][1] < 0
    assert off(found) <= 1e-12


def test_frames_behind_other_transformers_keep_their_columns():
    frame, stars = table()
    encoder = TableEncoder()
    model = make_pipeline(encoder, SVOR(kernel="poly", coef0=1.0)).fit(frame[["size", "colour"]], stars)
    found = contributions(model, frame[["size", "colour"]].iloc[:1], frame[["size", "colour"]].iloc[40:50])
    assert (found.names, found.method) == (["size", "colour"], "enumeration")
    assert off(found) <= 1e-10


def test_texts_in_a_pipeline_are_explained_by_word():
    frame, stars = table()
    model = make_pipeline(TfidfVectorizer(), LinearSVOR()).fit(frame["text"].tolist(), stars)
    found = contributions(model, frame["text"].tolist()[:1], frame["text"].tolist())
    assert "awful" in [name for name, *_ in found.largest(n=3)]
    kernel = make_pipeline(TfidfVectorizer(), SVOR()).fit(frame["text"].tolist(), stars)
    with pytest.raises(TypeError, match="by word for linear machines"):
        contributions(kernel, ["awful"], frame["text"].tolist())


def test_a_coef_that_is_not_the_score_is_not_taken_for_it():
    X, y = random_data(5, n=60, n_features=4)
    model = RoundedRegressor(PoissonRegressor()).fit(X, y)
    found = contributions(model, X[:2], X[30:36])
    assert found.method == "enumeration"
    assert off(found) <= 1e-10


def test_what_cannot_be_explained_is_said():
    X, y = random_data(6, n=40)
    with pytest.raises(TypeError, match="no weights of features"):
        weights(SVOR().fit(X, y))
    with pytest.raises(TypeError, match="no single score"):
        contributions(SVC().fit(X, y), X[:1], X)
    with pytest.raises(TypeError, match="precomputed kernel has no columns"):
        contributions(SVOR(kernel="precomputed").fit(X @ X.T, y), (X @ X.T)[:1], X @ X.T)
    with pytest.raises(TypeError, match="keeps no support vectors"):
        similar_cases(LinearSVOR().fit(X, y), X[:1])
    with pytest.raises(TypeError, match="no weights of features"):
        weights(SVC(kernel="linear").fit(X, y))  # a score for every pair of classes
    for columns in (importance, dependence):
        with pytest.raises(TypeError, match="toarray"):
            columns(SVOR().fit(X, y), sp.csr_array(X), 0)
    model = SVOR().fit(X, y)
    for bad, message in (
        ({"groups": {"a": [9]}}, "there is not"),
        ({"groups": {"a": [0], "b": [0]}}, "in two groups"),
        ({"groups": {"a": ["x7"]}}, "there is not"),
        ({"n_permutations": 1}, "at least 10"),
    ):
        with pytest.raises(ValueError, match=message):
            contributions(model, X[:1], X, **bad)
    with pytest.raises(ValueError, match="no rows"):
        contributions(model, X[:1], X[:0])
    with pytest.raises(ValueError, match="dimensions"):
        contributions(model, X[0], X)
    with pytest.raises(ValueError, match="give the one to explain"):
        explain(model, X[:2], X)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "precomputed"])
def test_similar_cases_are_the_terms_of_the_score(kernel):
    X, y = random_data(7, n=60)
    rows = X @ X.T if kernel == "precomputed" else X
    model = SVOR(kernel=kernel, C=0.5).fit(rows, y)
    cases = similar_cases(model, rows[:1], n=1000)
    total = sum(case.contribution for case in (*cases.up, *cases.down))
    assert total == pytest.approx(model.decision_function(rows[:1])[0], abs=1e-10)
    assert [case.contribution for case in cases.up] == sorted((c.contribution for c in cases.up), reverse=True)
    assert [case.contribution for case in cases.down] == sorted(c.contribution for c in cases.down)
    assert {case.sample for case in (*cases.up, *cases.down)} <= set(model.support_.tolist())
    near = similar_cases(model, rows[:1], n=1000, by="similarity")
    assert {case.vector for case in near.up} == {case.vector for case in cases.up}
    assert [case.similarity for case in near.up] == sorted((c.similarity for c in near.up), reverse=True)


def test_scikit_learn_s_partial_dependence_takes_the_score():
    X, y = random_data(8, n=60)
    model = make_pipeline(StandardScaler(), SVOR()).fit(X, y)
    display = PartialDependenceDisplay.from_estimator(ScoreRegressor(model), X, [0, (0, 1)], grid_resolution=4)
    assert display.pd_results[1]["average"].shape == (1, 4, 4)
    found = dependence(model, X, 0, grid_resolution=4)
    changed = X.copy()
    changed[:, 0] = found.grid[2]
    assert found.mean[2] == pytest.approx(model.decision_function(changed).mean())
    assert clone(ScoreRegressor(model)).get_params()["model"] is not None


def test_dependence_on_columns_of_a_table():
    frame, stars = table()
    frame.loc[3, "size"] = np.nan
    model = TableModel(SVOR(), TableEncoder(("text",))).fit(frame, stars)
    assert set(dependence(model, frame, "colour").grid) == {"red", "blue"}
    assert len(dependence(model, frame, "size", grid_resolution=5).mean) == 5
    with pytest.raises(ValueError, match="is none of X"):
        dependence(model, frame, "weight")


def test_importance_counts_ranks():
    frame, stars = table()
    model = TableModel(SVOR(), TableEncoder()).fit(frame[["size", "colour"]], stars)
    found = importance(model, frame[["size", "colour"]], stars, n_repeats=4)
    assert found.names == ["size", "colour"]
    assert found.values.shape == (2, 4)
    assert found.mean[0] > found.mean[1]
    with pytest.raises(ValueError, match="metric"):
        importance(model, frame, stars, metric="f1")


def test_an_explanation_has_all_parts():
    X, y = random_data(9, n=60)
    labels = np.array(["d", "c", "b", "a"])[y]
    model = SVOR(categories=["d", "c", "b", "a"]).fit(X, labels)
    why = explain(model, X[:1], X[30:])
    assert why.prediction == model.predict(X[:1])[0]
    assert why.score == pytest.approx(model.decision_function(X[:1])[0])
    assert why.cases.up
    assert why.cases.down
    assert explain(LinearSVOR().fit(X, y), X[:1], X).cases is None


def test_charts_name_what_they_show():
    X, y = random_data(10, n=60, n_features=12)
    model = LinearSVOR().fit(X, y)
    display = WeightsDisplay.from_estimator(model, n=3)
    assert [text.get_text() for text in display.ax_.get_yticklabels()][-1] == weights(model).rising(1)[0][0]
    display = ContributionsDisplay.from_estimator(SVOR(kernel="poly", coef0=1.0).fit(X, y), X[:1], X[30:34], n=4)
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert names[0] == "8 others"
    assert len(names) == 5


def test_mixed_columns_are_not_taken_for_columns_where_the_first_rows_are_equal():
    """The background begins with the row that is explained: every mix of the two is that row."""
    X, y = load_diabetes_ranks(3)
    model = make_pipeline(StandardScaler(), PCA(), SVOR(gamma=0.05)).fit(X, y)
    both, own = contributions(model, X[:2], X[::40]), contributions(model, X[1:2], X[::40])
    assert both.method == own.method == "enumeration"
    np.testing.assert_allclose(both.values[1], own.values[0], atol=1e-9)
    assert both.names == [f"x{number}" for number in range(X.shape[1])]  # not those of the components


def test_many_columns_take_few_nodes():
    X = np.random.RandomState(0).randn(30, 400) / 20
    model = SVOR(gamma=0.5).fit(X, np.arange(30) % 3)
    found = contributions(model, X[:1], X[5:8])
    assert found.method == "product"
    np.testing.assert_allclose(
        found.values.sum(), model.decision_function(X[:1])[0] - model.decision_function(X[5:8]).mean(), rtol=1e-9
    )


def test_scores_of_pairs_of_classes_have_no_similar_cases():
    X, y = load_diabetes_ranks(3)
    with pytest.raises(TypeError, match="no single score"):
        similar_cases(SVC(gamma=0.05).fit(X, y), X[:1])


@pytest.mark.parametrize("scale", [1.0, 1e-13])
def test_columns_that_features_mix_are_no_features_at_any_scale(scale):
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = np.digitize(X.sum(axis=1), [-0.5, 0.5])
    mixing = FunctionTransformer(lambda rows: scale * np.column_stack([rows[:, 0] * rows[:, 1], rows[:, 1:]]))
    model = make_pipeline(mixing, SVOR(gamma=0.3 / scale**2)).fit(X, y)
    assert contributions(model, X[:2], X[::10]).method == "enumeration"
