"""Findings: each is made where it is due, names its figure and a remedy that silences it, and is silent beside that."""

from __future__ import annotations

import json
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ordsvm import (
    NPSVOR,
    SVC,
    SVOR,
    SVORIM,
    SVR,
    CalibratedOrdinal,
    Finding,
    LinearNPSVOR,
    LinearSVC,
    LinearSVOR,
    ModelWarning,
    NystroemSVOR,
    OrdinalSearchCV,
    RoundedRegressor,
    ShashuaLevinSVOR,
    diagnose,
)
from ordsvm.diagnosis import NAMES
from ordsvm.diagnosis.columns import numbers_rows, unscaled_features
from ordsvm.diagnosis.duplicates import row_hashes, unavoidable_error
from ordsvm.estimators.model_findings import unreachable
from ordsvm.tables import TableEncoder, TableModel
from tests.example_parts import functions_of


def weak_signal(n=900, strength=0.35, seed=0):
    """Like white wines: seven ranks, half of the samples in one, and columns that say little of them."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 6))
    score = strength * X[:, 0] + 0.6 * strength * X[:, 1] + random.normal(size=n)
    return X, 3 + np.digitize(score, [-2.2, -1.4, -0.75, 0.75, 1.6, 2.4])


def clear_signal(n=300, seed=0, columns=4):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, columns))
    return X, np.digitize(X[:, 0] + 0.3 * X[:, 1] + 0.3 * random.normal(size=n), [-0.6, 0.6])


def fitted(model, X, y, **options):
    """The trained model, and the findings that `fit` has warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y, **options)
    return model, [one.message.finding for one in caught if issubclass(one.category, ModelWarning)]


def names_of(model, X, y):
    model, warned = fitted(model, X, y)
    found = diagnose(model, X, y)
    assert set(found.names) <= set(NAMES)
    assert all(finding.remedy.endswith(".") and finding.figures for finding in found)
    assert {finding.name for finding in warned} <= set(found.names)
    return found.names, [finding.name for finding in warned]


# One rank


@pytest.mark.parametrize("model", [LinearSVOR(), LinearSVOR(C=100.0), LinearNPSVOR(), SVOR(kernel="linear")])
def test_a_certified_optimum_that_predicts_one_rank_is_said_to(model):
    X, y = weak_signal()
    found, warned = names_of(model, X, y)
    assert found[0] == "one-rank"
    assert warned == ["one-rank"]


def test_the_figure_and_the_remedy_of_one_rank_are_right():
    X, y = weak_signal(strength=0.5)
    [finding] = fitted(LinearSVOR(), X, y)[1]
    assert finding.figures == {"n_samples": 900, "label": 6, "share": float(np.mean(y == 6))}
    assert "loss='squared_hinge'" in finding.remedy
    assert "one-rank" not in names_of(LinearSVOR(loss="squared_hinge"), X, y)[0]
    [finding] = fitted(SVOR(kernel="linear"), X, y)[1]
    assert "kernel='rbf'" in finding.remedy
    assert "one-rank" not in names_of(SVOR(), X, y)[0]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("model", [LinearSVOR(), LinearSVOR(loss="squared_hinge"), LinearSVC(), SVOR(), SVOR(C=1e-5)])
def test_constant_features_are_named_as_what_no_machine_can_use(model, form):
    X, y = weak_signal(100)
    X = form(np.tile([1.0, 0.0, 3.0], (len(X), 1)))
    trained, [finding] = fitted(model, X, y)
    for found in (finding, diagnose(trained, X, y)["one-rank"]):
        assert found.remedy.startswith("All features are constant, so that no machine tells samples apart: give ")


def test_one_sample_of_another_rank_is_enough_for_silence():
    """The near-miss: a predicted rank more."""
    X, y = weak_signal()
    X[:3, 2], y[:3] = 1000.0, 9
    assert "one-rank" not in names_of(LinearSVOR(C=100.0), X, y)[0]


def test_a_constant_with_everything_at_its_bound_needs_a_larger_C():
    X, y = weak_signal(400)
    for model in (SVOR(C=1e-5), SVORIM(C=1e-5), SVC(C=1e-5)):
        found = diagnose(fitted(model, X, y)[0], X, y)
        assert found.names[:1] == ["one-rank"]
        assert "Raise C" in found["one-rank"].remedy
        assert "C-too-small" in found.names


def test_a_regression_of_one_number():
    X, y = clear_signal()
    assert "one-rank" in names_of(SVR(epsilon=5.0), X, y.astype(float))[0]
    assert "one-rank" not in names_of(SVR(), X, y.astype(float))[0]


# Ranks never predicted


def test_ranks_that_are_never_predicted_are_named_with_their_share():
    X, y = weak_signal()
    model, warned = fitted(SVOR(), X, y)
    lost = sorted(set(y) - set(model.predict(X)))
    named = {label for finding in diagnose(model, X, y)[:2] for label in finding.figures["labels"]}
    assert named == set(lost)
    share = float(np.isin(y, lost).mean())
    assert bool(warned) == (share >= 0.1)


def test_balanced_weights_silence_it():
    X, y = weak_signal()
    assert "never-predicted" in names_of(SVOR(), X, y)[0] + names_of(SVORIM(), X, y)[0]
    assert "never-predicted" not in names_of(SVOR(class_weight="balanced"), X, y)[0]


def test_a_rank_that_no_row_has_is_not_missed():
    X, y = clear_signal()
    model = LinearSVOR(categories=[0, 1, 2, 3]).fit(X, y)
    assert "never-predicted" not in diagnose(model, X, y).names


def test_rare_ranks_are_no_warning_of_fit():
    X, y = clear_signal()
    y[:2] = 3
    model, warned = fitted(SVOR(C=0.1), X, y)
    found = diagnose(model, X, y)
    assert 3 not in model.predict(X)
    assert 3 in [label for finding in found for label in finding.figures.get("labels", [])]
    assert warned == []


# Thresholds


def test_disordered_thresholds_are_found_and_ordered_ones_are_not():
    X, y = functions_of("models/disordered_thresholds.py").patients()
    model, warned = fitted(ShashuaLevinSVOR(C=3.0, gamma=0.25, tol=1e-6), X, y)
    found = diagnose(model, X, y)
    assert "thresholds-disordered" in found.names
    assert "thresholds-disordered" in [finding.name for finding in warned]
    assert found["thresholds-disordered"].figures["labels"] == [1]
    assert "SVORIM" in found["thresholds-disordered"].remedy
    assert "thresholds-disordered" not in names_of(SVORIM(C=3.0, gamma=0.25), X, y)[0]


def test_a_stopped_fit_is_told_to_go_on():
    X, y = clear_signal()
    model = SVOR().fit(X, y)
    model.thresholds_ = model.thresholds_[::-1]
    assert "cost" not in diagnose(model, X, y)["thresholds-disordered"].remedy
    model.set_params(cost="zero-one")
    assert "cost='absolute'" in diagnose(model, X, y)["thresholds-disordered"].remedy


def test_equal_thresholds_and_thresholds_close_by():
    X, y = clear_signal()
    model = LinearSVOR().fit(X, y)
    b = model.thresholds_
    model.thresholds_ = np.array([b[0], b[0] + 1e-4])
    assert diagnose(model, X, y)["thresholds-equal"].figures["labels"] == [1]
    model.thresholds_ = np.array([b[0], b[0] + 0.01])
    assert "thresholds-equal" not in diagnose(model, X, y).names


@pytest.mark.parametrize("rule", ["count", "first"])
def test_unreachable_ranks_are_those_that_no_score_gets(rule):
    from ordsvm.problem.thresholds import ranks_of

    random = np.random.default_rng(0)
    for _ in range(50):
        b = random.choice([-1.0, 0.0, 0.5, 2.0], size=4)
        scores = np.concatenate([b - 3.0, b + 3.0, [-0.5, 0.25, 1.0]])
        reached = np.unique(ranks_of(scores, b, rule))
        assert np.flatnonzero(~unreachable(b, rule)).tolist() == reached.tolist()


# C


@pytest.mark.parametrize("model", [SVOR(), SVORIM(), SVC(), NPSVOR(), LinearSVOR(), LinearSVC(), NystroemSVOR()])
def test_C_that_is_much_too_small(model):
    X, y = clear_signal(150)
    small = clone(model).set_params(C=1e-6)
    assert "C-too-small" in names_of(small, X, y)[0]
    assert "C-too-small" not in names_of(clone(model).set_params(C=1.0), X, y)[0]


def test_dual_variables_between_the_bounds_are_no_sign_of_a_small_C():
    """Where w = 0 is optimal at any C, a larger one does not help."""
    X, y = weak_signal()
    for model in (LinearSVOR(C=1.0), SVORIM(kernel="linear", C=1.0)):
        assert "C-too-small" not in names_of(model, X, y)[0]


def test_C_without_effect_is_found_and_the_least_such_C_is_right():
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 3))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = SVOR(C=1e6, gamma=0.5, tol=1e-5).fit(X, y)
    enough = diagnose(model, X, y)["C-too-large"].figures["enough"]
    same = SVOR(C=1.02 * enough, gamma=0.5, tol=1e-5).fit(X, y)
    np.testing.assert_allclose(same.decision_function(X), model.decision_function(X), atol=1e-2)
    assert "C-too-large" not in diagnose(SVOR(C=0.5 * enough, gamma=0.5).fit(X, y), X, y).names


def test_findings_about_C_need_the_labels_of_the_fit():
    X, y = clear_signal(150)
    model = SVOR(C=1e-6).fit(X, y)
    assert "C-too-small" not in diagnose(model, X[:100], y[:100]).names


# gamma


@pytest.mark.parametrize("model", [SVOR(), SVC(kernel="laplacian"), NystroemSVOR(), SVR()])
def test_gamma_too_large_and_too_small_and_their_remedies(model):
    X, y = clear_signal()
    for gamma, name in ((1e4, "gamma-too-large"), (1e-5, "gamma-too-small")):
        found = diagnose(clone(model).set_params(gamma=gamma).fit(X, y), X, y)
        assert name in found.names
        better = float(found[name].remedy.partition("gamma=")[2].partition(",")[0])
        assert not {"gamma-too-large", "gamma-too-small"} & set(
            diagnose(clone(model).set_params(gamma=better).fit(X, y), X, y).names
        )


def test_gamma_beside_the_limits():
    X, y = clear_signal()
    for gamma in (8.0, 1e-3):  # a tenth of what is found, and ten times it
        assert not {"gamma-too-large", "gamma-too-small"} & set(names_of(SVOR(gamma=gamma), X, y)[0])


def test_a_precomputed_kernel_is_looked_at_and_a_linear_one_is_not():
    X, y = clear_signal()
    K = np.eye(len(y)) + 1e-6
    assert "gamma-too-large" in diagnose(SVOR(kernel="precomputed").fit(K, y), K, y).names
    assert not [name for name in diagnose(SVOR(kernel="linear").fit(X, y), X, y).names if "gamma" in name]


# Columns


def test_unscaled_features_and_the_pipeline_that_scales_them():
    X, y = clear_signal()
    wide = pd.DataFrame(X * [1.0, 1.0, 1.0, 1000.0], columns=["a", "b", "c", "income"])
    found = diagnose(SVOR().fit(wide, y), wide, y)
    assert found["unscaled-features"].figures["widest"] == "income"
    pipe = make_pipeline(StandardScaler(), SVOR()).fit(wide, y)
    assert "unscaled-features" not in diagnose(pipe, wide, y).names
    assert "unscaled-features" not in names_of(SVOR(), X * [1.0, 1.0, 1.0, 30.0], y)[0]


def test_a_rare_column_that_is_standardised_counts_as_scaled():
    X, y = clear_signal(30_000)
    rare = np.arange(len(y)) == 7  # range 173 once it has a standard deviation of 1
    even = np.where(np.arange(len(y)) % 2, 1.0, -1.0)
    features = StandardScaler().fit_transform(np.column_stack([X[:, :1], rare, even]))
    assert np.ptp(features, axis=0).max() > 80
    assert unscaled_features(np.column_stack([features, 0.3 * even]), list("abcd")) is None
    assert unscaled_features(np.column_stack([features, 3e-3 * even]), list("abcd")) is not None


def test_what_the_encoder_of_tables_makes_counts_as_scaled():
    X, y = clear_signal(120)
    long = " ".join(f"word{place}" for place in range(30))  # features of small range, as their lengths differ little
    words = np.where(np.arange(120) % 40, long, f"{long} road")
    table = pd.DataFrame({"income": np.where(np.arange(120) == 5, 1e6, X[:, 0]), "text": words})
    encoder = TableEncoder(text=["text"])
    for model in (TableModel(LinearSVOR(), encoder), make_pipeline(encoder, LinearSVOR())):
        model.fit(table, y)
        assert unscaled_features(clone(encoder).fit_transform(table), ["a"] * 99) is not None
        assert "unscaled-features" not in diagnose(model, table, y).names


def test_sparse_columns_with_few_values_do_not_count_as_unscaled():
    X, y = clear_signal(400)
    X[np.abs(X) < 0.5] = 0.0
    rare = np.zeros((400, 1))
    rare[5] = 1e-4
    sparse = sp.csr_matrix(np.hstack([X, rare]))
    assert "unscaled-features" not in names_of(LinearSVOR(), sparse, y)[0]
    sparse = sp.csr_matrix(np.hstack([X, 1e4 * X[:, :1]]))
    assert "unscaled-features" in names_of(LinearSVOR(), sparse, y)[0]


@pytest.mark.parametrize(
    ("values", "is_found"),
    [
        (np.arange(200), True),
        (np.arange(200)[::-1] * 10.0, True),
        (np.random.default_rng(0).permutation(250)[:200] + 7, True),
        ((np.random.default_rng(0).permutation(200) - 99.5) / 57.7, True),
        (np.sort(np.random.default_rng(0).normal(size=200)), False),  # rows sorted by what may be the best column
        (np.sort(np.random.default_rng(0).permutation(10_000)[:200]), True),
        (pd.date_range("2020-01-01", periods=200).to_numpy(), True),
        (np.array([f"customer{i}" for i in range(200)], dtype=object), True),
        (np.random.default_rng(0).normal(size=200), False),
        (np.random.default_rng(0).permutation(10_000)[:200], False),
        (np.repeat(np.arange(100), 2), False),
        (np.arange(19), False),
        (np.array([f"a review of film {i}" for i in range(200)], dtype=object), False),
        (np.where(np.arange(200) == 3, np.nan, np.arange(200)), False),
    ],
)
def test_columns_that_number_the_rows(values, is_found):
    assert numbers_rows(values) is is_found


def test_an_identifier_is_named_and_a_single_column_in_order_is_not():
    X, y = clear_signal()
    frame = pd.DataFrame(X, columns=list("abcd")).assign(number=np.random.default_rng(1).permutation(len(y)))
    model = make_pipeline(StandardScaler(), SVOR()).fit(frame, y)
    assert diagnose(model, frame, y)["identifier-column"].figures["columns"] == ["number"]
    curve = np.linspace(0, 1, 60)[:, None]
    assert "identifier-column" not in diagnose(SVR().fit(curve, curve[:, 0]), curve, curve[:, 0]).names


# Duplicates


def test_the_unavoidable_error_is_that_of_the_best_table_of_labels():
    random = np.random.default_rng(0)
    X, y = random.integers(0, 3, size=(200, 3)).astype(float), random.integers(0, 5, size=200)
    wrong = distance = 0.0
    for row in np.unique(X, axis=0):
        labels = y[(row == X).all(axis=1)]
        wrong += min((labels != k).sum() for k in range(5))
        distance += min(np.abs(labels - k).sum() for k in range(5))
    for rows in (X, sp.csr_matrix(X)):
        least = unavoidable_error(rows, y.astype(float))
        assert (least.zero_one, least.absolute) == pytest.approx((wrong / 200, distance / 200), abs=1e-12)


def test_hashes_tell_rows_apart_and_do_not_depend_on_the_layout():
    random = np.random.default_rng(0)
    X = random.normal(size=(5000, 3)) * (random.random((5000, 3)) < 0.5)
    X[1], X[2] = X[0], -0.0
    X[3] = 0.0
    hashes = row_hashes(X)
    assert hashes[0] == hashes[1]
    assert hashes[2] == hashes[3]
    assert len(np.unique(hashes)) == len(np.unique(X, axis=0))
    assert np.array_equal(hashes, row_hashes(sp.csr_matrix(X)))
    assert row_hashes(X[:, ::-1])[4] != hashes[4]


def test_duplicates_with_different_labels_are_found_and_with_the_same_ones_are_not():
    X, y = clear_signal(200)
    same = diagnose(SVOR().fit(np.vstack([X, X]), np.append(y, y)), np.vstack([X, X]), np.append(y, y))
    assert "duplicates-disagree" not in same.names
    other = np.append(y, (y + 1) % 3)
    found = diagnose(SVOR().fit(np.vstack([X, X]), other), np.vstack([X, X]), other)["duplicates-disagree"]
    assert found.figures["zero_one"] == 0.5
    assert found.figures["n_rows"] == 400


def test_a_single_pair_among_many_rows_is_not_worth_a_finding():
    X, y = weak_signal(400)
    X[1], y[0], y[1] = X[0], 5, 6
    assert "duplicates-disagree" not in names_of(SVOR(), X, y)[0]


# Searches


def test_a_best_C_at_the_edge_of_the_grid_is_mentioned_with_the_way_to_extend_it():
    X, y = clear_signal(120)
    with pytest.warns(ModelWarning, match=r"The best C, 1, is the largest .* upwards: try C=10 ") as caught:
        search = OrdinalSearchCV(SVOR(), {"C": [1e-2, 1e-1, 1.0]}, cv=3).fit(X, y)
    assert "grid-edge" in diagnose(search, X, y).names
    assert caught[0].filename == __file__
    _, warned = fitted(OrdinalSearchCV(SVOR(), {"C": [0.01, 1.0, 1e4]}, cv=3), X, y)
    assert "grid-edge" not in [finding.name for finding in warned]


def test_two_values_or_a_parameter_of_another_kind_have_no_edge():
    X, y = clear_signal(90)
    for grid in ({"C": [1e-3, 1e-2]}, {"tol": [1e-1, 1e-2, 1e-3]}, [{"C": [1.0]}, {"kernel": ["linear"]}]):
        _, warned = fitted(OrdinalSearchCV(SVOR(), grid, cv=3), X, y)
        assert "grid-edge" not in [finding.name for finding in warned]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_fits_of_a_search_that_do_not_converge_make_one_warning(n_jobs):
    X, y = clear_signal(90)
    search = OrdinalSearchCV(SVOR(max_iter=3), {"C": [0.1, 1.0], "gamma": [0.1, 1.0]}, cv=3, n_jobs=n_jobs, refit=False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit(X, y)
    texts = [str(one.message) for one in caught]
    assert len(texts) == 1
    assert texts[0].startswith("12 of the 12 fits of the search did not converge, stopped by max_iter (12)")


def test_a_search_that_goes_on_from_a_checkpoint_counts_the_fits_of_before(tmp_path):
    X, y = clear_signal(90)
    for _ in range(2):
        with pytest.warns(Warning, match="6 of the 6 fits"):
            OrdinalSearchCV(SVOR(max_iter=3), {"C": [0.1, 1.0]}, cv=3, refit=False).fit(X, y, checkpoint=tmp_path)


def test_fits_on_folds_warn_of_nothing_that_the_fit_on_all_rows_has():
    X, y = weak_signal(300)
    for model in (CalibratedOrdinal(LinearSVOR(), cv=3), OrdinalSearchCV(LinearSVOR(), {"C": [0.1, 1.0]}, cv=3)):
        assert [finding.name for finding in fitted(model, X, y)[1]] == ["one-rank"]


# Models around machines, forms of data, bad input


def test_models_around_a_machine_are_looked_through():
    X, y = weak_signal(300)
    for model in (
        make_pipeline(StandardScaler(), LinearSVOR()),
        OrdinalSearchCV(make_pipeline(StandardScaler(), LinearSVOR()), {"linearsvor__C": [0.1, 1.0]}, cv=3),
        CalibratedOrdinal(LinearSVOR(), cv=3),
    ):
        names, _ = names_of(model, X, y)
        assert names[0] == "one-rank"
    assert "C-too-small" in diagnose(RoundedRegressor(SVR(C=1e-6)).fit(X, y), X, y).names[:3] + ["C-too-small"]
    assert "unscaled-features" in names_of(LogisticRegression(max_iter=500), X * [1, 1, 1, 1, 1, 1e3], y)[0]


def test_labels_that_are_strings_and_float32_rows():
    X, y = weak_signal(300)
    words = np.array(["a", "b", "c", "d", "e", "f", "g"])[y - 3]
    names, warned = names_of(LinearSVOR(categories=list("abcdefg")), X.astype(np.float32), words)
    assert names[0] == warned[0] == "one-rank"


def test_two_classes_are_called_classes():
    X, y = weak_signal(300)
    finding = fitted(LinearSVC(), X, (y > 8).astype(int))[1][0]
    assert "get the class 0" in finding.sentence


def test_bad_input_is_refused_before_any_work():
    X, y = clear_signal(60)
    with pytest.raises(Exception, match="not fitted"):
        diagnose(SVOR(), X, y)
    model = SVOR().fit(X, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        diagnose(model, X, y[:-1])
    with pytest.raises(ValueError, match="not among the categories"):
        diagnose(model, X, y + 5)
    with pytest.raises(ValueError, match="rows in memory"):
        diagnose(model, iter([(X, y)]), y)
    with pytest.raises(ValueError, match="features"):
        diagnose(model, X[:, :2], y)


def test_warnings_can_be_filtered_by_their_own_category_and_point_at_the_caller():
    X, y = weak_signal(300)
    with pytest.warns(ModelWarning) as caught:
        LinearSVOR().fit(X, y)
    assert caught[0].filename == __file__
    assert issubclass(ModelWarning, UserWarning)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ModelWarning)
        LinearSVOR().fit(X, y)


def test_findings_are_plain_values_and_show_html_with_escapes():
    found = diagnose(LinearSVOR().fit(*weak_signal(300)), *weak_signal(300))
    assert pickle.loads(pickle.dumps(found)) == found
    assert found[0] == pickle.loads(pickle.dumps(found[0]))
    html = Finding("one-rank", "<b>", "&.")._repr_html_()
    assert "&lt;b&gt;" in html
    assert "&amp;." in html
    with pytest.raises(KeyError):
        found["no-such-name"]


def test_large_data_are_sampled_and_diagnosed_the_same_every_time():
    random = np.random.default_rng(0)
    X = random.normal(size=(60_000, 5))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = SVOR(C=1.0).fit(X[:600], y[:600])
    first = diagnose(model, X, y)
    assert first == diagnose(model, X, y)
    assert first.names in ([], ["C-too-large"])


# The command line and the report


@pytest.fixture(scope="module")
def wines(tmp_path_factory):
    """A file of unscaled columns with an identifier, and a model that predicts one rank, trained on it."""
    folder = tmp_path_factory.mktemp("wines")
    X, y = weak_signal(400)
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(number=np.arange(400) * 10, quality=y)
    frame.to_csv(folder / "wines.csv", index=False)
    return folder


def test_the_command_line_shows_findings_and_keeps_them_in_the_file(wines, capsys):
    from ordsvm.cli.app import run

    data, model = str(wines / "wines.csv"), str(wines / "model.ordsvm")
    assert run(["train", data, "-t", "quality", "-m", "linear-svor", "-o", model]) == 0
    shown = capsys.readouterr()
    assert "one-rank" in shown.out
    assert "identifier-column" in shown.out
    assert "note" not in shown.err
    assert run(["train", data, "-t", "quality", "-m", "linear-svor", "--C", "1e-6", "-o", model, "--json"]) == 0
    assert "C-too-small" in [each["name"] for each in json.loads(capsys.readouterr().out)["findings"]]
    assert run(["diagnose", model, data, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["rows"] == 400
    assert {"identifier-column", "C-too-small"} <= {each["name"] for each in found["findings"]}
    assert run(["diagnose", model, data]) == 0
    assert "→ Raise C" in capsys.readouterr().out


def test_the_report_has_the_findings_of_training_or_of_its_rows(wines):
    from ordsvm.report import report_page
    from ordsvm.report.contents import predictions_for
    from ordsvm.tables import TableEncoder, TableModel

    frame = pd.read_csv(wines / "wines.csv")
    rows, labels = frame.drop(columns="quality"), frame["quality"].to_numpy()
    model = fitted(TableModel(LinearSVOR(), TableEncoder(), "quality"), rows, labels)[0]
    assert 'id="findings"' not in report_page(model, model.machine_, "Wines")
    predictions = predictions_for(model, rows, labels, np.arange(400), "all rows", None)
    page = report_page(model, model.machine_, "Wines", predictions)
    assert "All 400 samples get the rank 6" in page
    model.about_ = {"findings": [{"name": "one-rank", "sentence": "<script>", "remedy": "None."}]}
    page = report_page(model, model.machine_, "Wines", predictions)
    assert "&lt;script&gt;" in page
    model.about_ = {"findings": []}
    assert "Nothing was found that speaks against" in report_page(model, model.machine_, "Wines", predictions)


def test_a_tube_that_holds_all_samples_does_not_make_C_too_large():
    X = np.random.RandomState(0).randn(60, 3)
    names = [finding.name for finding in diagnose(SVR(epsilon=100.0).fit(X, X[:, 0]), X, X[:, 0])]
    assert "C-too-large" not in names


def test_rows_sorted_by_a_column_do_not_make_it_an_identifier():
    X = np.random.RandomState(0).randn(200, 3)
    X = X[np.argsort(X[:, 0])]
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    assert "identifier-column" not in [finding.name for finding in diagnose(SVOR().fit(X, y), X, y)]


@pytest.mark.parametrize("machine", [SVC(), SVOR(), LinearSVOR()])
def test_samples_of_weight_0_are_not_looked_at(machine):
    X = np.random.RandomState(0).randn(200, 3)
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    weight = np.where(y == 2, 0.0, 1.0)
    with warnings.catch_warnings(action="ignore"):
        machine.fit(X, y, sample_weight=weight)
    found = diagnose(machine, X, y, weight)
    assert 2 not in [label for finding in found for label in finding.figures.get("labels", [])]
    assert "never-predicted" not in [finding.name for finding in found]
