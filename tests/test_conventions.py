"""What scikit-learn users expect: links, tags, names of features, clear errors where a habit would mislead."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils import get_tags

import ordsvm
from ordsvm import (
    NPSVOR,
    SVC,
    SVOR,
    SVOREX,
    SVORIM,
    SVR,
    CalibratedOrdinal,
    LinearNPSVOR,
    LinearSVOR,
    NystroemNPSVOR,
    NystroemSVOR,
    OrdinalSearchCV,
    RedSVM,
    RoundedRegressor,
)
from ordsvm.conventions import DOCUMENTATION
from ordsvm.metrics import get_scorer, get_scorer_names, mae_scorer
from ordsvm.tables import TableEncoder, TableError, TableModel
from tests.cases import random_data

ORDINAL = [SVOR, SVORIM, SVOREX, RedSVM, LinearSVOR, NystroemSVOR, NPSVOR, LinearNPSVOR, RoundedRegressor]
THRESHOLDS = [SVOR(), LinearSVOR(), NystroemSVOR(), RoundedRegressor(Ridge())]
X, Y = random_data(5)


def table(n: int = 40):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"size": random.normal(size=n), "colour": random.choice(["red", "blue"], n)})
    return frame, np.digitize(frame["size"] + (frame["colour"] == "red"), [-0.3, 0.8])


# CalibratedClassifierCV


@pytest.mark.parametrize("estimator", THRESHOLDS, ids=lambda estimator: type(estimator).__name__)
@pytest.mark.parametrize("ensemble", [True, False])
def test_calibration_by_class_is_refused_with_the_name_of_what_works(estimator, ensemble):
    with pytest.raises(TypeError, match=rf"use ordsvm\.CalibratedOrdinal\({type(estimator).__name__}\(\.\.\.\)\)"):
        CalibratedClassifierCV(estimator, ensemble=ensemble, cv=2).fit(X, Y)


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda: make_pipeline(StandardScaler(), SVOR()),
        lambda: GridSearchCV(SVOR(), {"C": [1.0]}, cv=2),
        lambda: FrozenEstimator(SVOR().fit(X, Y)),
        lambda: OrdinalSearchCV(make_pipeline(SVOR()), {"svor__C": [1.0]}, cv=2),
    ],
)
def test_calibration_by_class_is_refused_through_wrappers(wrapped):
    with pytest.raises(TypeError, match=r"ordsvm\.CalibratedOrdinal"):
        CalibratedClassifierCV(wrapped(), cv=2).fit(X, Y)


def test_calibration_by_class_of_a_table_model_is_refused():
    frame, y = table()
    with pytest.raises(TypeError, match=r"ordsvm\.CalibratedOrdinal"):
        CalibratedClassifierCV(FrozenEstimator(TableModel(SVOR(), TableEncoder()).fit(frame, y))).fit(frame, y)


def test_two_classes_and_scores_by_class_may_be_calibrated():
    CalibratedClassifierCV(SVOR(), cv=2).fit(X, Y > 1).predict_proba(X)
    assert CalibratedClassifierCV(NPSVOR(), cv=2).fit(X, Y).predict_proba(X).shape == (len(X), len(np.unique(Y)))
    assert CalibratedClassifierCV(CalibratedOrdinal(SVOR(), cv=2), cv=2).fit(X, Y).predict_proba(X).ndim == 2


# Probabilities


@pytest.mark.parametrize("kind", ORDINAL)
def test_machines_without_probabilities_say_what_has_them(kind):
    model = kind()
    assert not hasattr(model, "predict_proba")
    for name in ("predict_proba", "predict_log_proba", "predict_cumproba", "predict_set"):
        with pytest.raises(AttributeError, match=rf"ordsvm\.CalibratedOrdinal\({kind.__name__}\(\.\.\.\)\)"):
            getattr(model, name)
    again = pickle.loads(pickle.dumps(copy.copy(model)))
    assert again.get_params() == model.get_params()


# Scorers


def test_scorers_by_name_work_everywhere():
    assert get_scorer("mae") is mae_scorer
    assert get_scorer(mae_scorer) is mae_scorer
    scores = cross_val_score(SVOR(), X, Y, scoring=get_scorer("mae"), cv=2)
    search = GridSearchCV(
        SVOR(), {"C": [1.0]}, scoring={name: get_scorer(name) for name in ("mae", "kappa")}, refit="mae", cv=2
    ).fit(X, Y)
    assert search.best_score_ == pytest.approx(scores.mean())
    assert get_scorer("accuracy")(search, X, Y) == search.best_estimator_.score(X, Y)
    assert {"mae", "rps"} <= set(get_scorer_names())
    for bad in ("mea", None, 3):
        with pytest.raises(ValueError, match=r"scoring=.* is unknown: give a scorer, 'mae', "):
            get_scorer(bad)


# Signatures


@pytest.mark.parametrize("kind", [*ORDINAL, SVC, CalibratedOrdinal])
def test_wrong_arguments_name_the_class_of_the_user(kind):
    with pytest.raises(TypeError, match=rf"^{kind.__name__}\.__init__\(\) got an unexpected keyword argument 'Cost'"):
        kind(Cost=1.0)


@pytest.mark.parametrize("kind", [SVOR, SVOREX, LinearSVOR, NPSVOR, SVC])
def test_a_wrong_argument_of_fit_names_the_class_of_the_user(kind):
    with pytest.raises(TypeError, match=rf"^{kind.__name__}\.fit\(\) got an unexpected keyword argument 'weights'"):
        kind().fit(X, Y, weights=None)


def test_a_class_derived_from_a_model_has_its_own_name_in_errors():
    class Mine(SVOREX):
        pass

    with pytest.raises(TypeError, match=r"Mine\.__init__\(\) got an unexpected"):
        Mine(Cost=1.0)
    assert Mine(2.0).C == 2.0


def test_parameters_hidden_behind_kwargs_are_refused_where_the_class_is_made():
    with pytest.raises(TypeError, match=r"Hidden\.__init__ takes \*\*kwargs: .*clone.* name each of them"):

        class Hidden(SVOR):
            def __init__(self, extra=1.0, **kwargs):
                super().__init__(**kwargs)
                self.extra = extra

    with pytest.raises(TypeError, match=r"Positional\.__init__ takes \*given"):

        class Positional(LinearSVOR):
            def __init__(self, *given):
                super().__init__(*given)


def test_an_extra_parameter_that_is_named_survives_clone():
    class Named(SVOREX):
        def __init__(self, extra=1.0, C=1.0, *, kernel="rbf"):
            super().__init__(C, kernel=kernel)
            self.extra = extra

    assert clone(Named(extra=2.0, C=3.0, kernel="linear")).get_params()["extra"] == 2.0
    assert clone(Named(extra=2.0, C=3.0, kernel="linear")).kernel == "linear"


# Representation, names, tags


@pytest.mark.parametrize(
    ("estimator", "page"),
    [
        (SVOR(), "ordsvm.SVOR"),
        (NystroemSVOR(), "ordsvm.NystroemSVOR"),
        (RoundedRegressor(), "ordsvm.RoundedRegressor"),
        (CalibratedOrdinal(), "ordsvm.CalibratedOrdinal"),
        (OrdinalSearchCV(SVOR()), "ordsvm.OrdinalSearchCV"),
        (TableEncoder(), "ordsvm.tables.TableEncoder"),
        (TableModel(SVOR(), TableEncoder()), "ordsvm.tables.TableModel"),
    ],
)
def test_the_html_representation_links_to_the_manual(estimator, page):
    module, name = page.rsplit(".", 1)
    assert name in __import__(module, fromlist=[name]).__all__  # docs/_ext/public_names.py makes a page of it
    assert f"{DOCUMENTATION}/api/generated/{page}.html" in estimator._repr_html_()


def test_the_distributed_machine_has_its_own_page():
    distributed = pytest.importorskip("ordsvm.distributed")
    assert distributed.LinearSVOR()._get_doc_link().endswith("/ordsvm.distributed.LinearSVOR.html")


def test_one_place_has_the_address():
    class Mine(SVOR):
        pass

    assert Mine()._get_doc_link() == ""  # the manual has no page of it


def test_tables_have_set_output_and_names_through_pipelines():
    frame, y = table()
    encoder = TableEncoder().set_output(transform="pandas").fit(frame)
    features = encoder.transform(frame)
    assert list(features.columns) == ["size", "colour=blue", "colour=red"]
    assert encoder.get_feature_names_out().dtype == object
    pipe = make_pipeline(encoder, LinearSVOR()).fit(frame, y)
    assert pipe[-1].feature_names_in_.tolist() == pipe[:-1].get_feature_names_out().tolist()
    assert pipe.feature_names_in_.tolist() == ["size", "colour"]
    model = TableModel(SVOR(), TableEncoder()).fit(frame, y)
    assert (model.n_features_in_, model.feature_names_in_.tolist()) == (2, ["size", "colour"])
    assert not hasattr(TableModel(SVOR(), TableEncoder()), "n_features_in_")


@pytest.mark.parametrize("machine", [SVOR(), LinearSVOR(), NPSVOR(), NystroemSVOR(), CalibratedOrdinal(SVOR(), cv=2)])
def test_names_of_features_pass_through_scikit_learns_steps(machine):
    frame, y = table()
    steps = make_column_transformer(
        (StandardScaler(), ["size"]), (OneHotEncoder(sparse_output=False), ["colour"])
    ).set_output(transform="pandas")
    model = make_pipeline(steps, machine).fit(frame, y)
    expected = ["standardscaler__size", "onehotencoder__colour_blue", "onehotencoder__colour_red"]
    assert model[-1].feature_names_in_.tolist() == expected
    assert model.score(frame, y) == np.mean(model.predict(frame) == y)


def test_frames_without_columns_get_a_sentence():
    for call in (TableEncoder().fit, TableEncoder().fit(table()[0]).transform):
        with pytest.raises(TableError, match="A ndarray has no named columns: give a pandas data frame"):
            call(X)
        with pytest.raises(TableError, match=r"X is a polars data frame: give one of pandas, X.to_pandas\(\)"):
            call(pl.DataFrame({"size": [1.0, 2.0]}))


def test_tags():
    for kind in ORDINAL:
        tags = get_tags(kind())
        assert tags.estimator_type == "classifier"
        assert tags.classifier_tags.multi_class
        assert tags.target_tags.required
        assert not tags.input_tags.allow_nan
    assert get_tags(TableEncoder()).input_tags.string
    assert get_tags(TableModel(SVOR(), TableEncoder())).input_tags.categorical
    assert get_tags(TableModel(SVOR())).input_tags.sparse
    assert get_tags(SVOR(kernel="precomputed")).input_tags.pairwise


def test_score_is_documented_accuracy_and_takes_weights():
    weight = np.arange(len(Y)) + 1.0
    for kind in (SVOR, LinearSVOR, NPSVOR, CalibratedOrdinal, ordsvm.RoundedRegressor):
        model = kind().fit(X, Y)
        assert model.score(X, Y, weight) == pytest.approx(np.average(model.predict(X) == Y, weights=weight))
        assert "ordsvm.metrics.mae_scorer" in model.score.__doc__
        assert "sample_weight" in kind.set_score_request.__doc__


# Computed attributes


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (SVC(kernel="linear"), "coef_"),
        (SVR(kernel="linear"), "coef_"),
        (SVOR(kernel="linear"), "coef_"),
        (NPSVOR(kernel="linear"), "coef_"),
        (NystroemSVOR(), "dual_coef_"),
        (NystroemNPSVOR(), "dual_coef_"),
    ],
    ids=repr,
)
def test_writing_to_a_computed_array_is_an_error(model, name):
    """It was lost: every access makes a new array."""
    X, y = random_data(3, n=40)
    found = getattr(model.fit(X, y), name)
    with pytest.raises(ValueError, match="read-only"):
        found[(0,) * found.ndim] = 1.0
    with pytest.raises(AttributeError):
        setattr(model, name, found)


def test_names_of_a_tables_columns_are_read_only():
    encoder = TableEncoder().fit(pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 5.0]}))
    with pytest.raises(ValueError, match="read-only"):
        encoder.feature_names_in_[0] = "c"


# Estimators around a machine that number the labels


@pytest.mark.parametrize("around", [VotingClassifier, BaggingClassifier])
def test_numbers_in_place_of_categories_get_a_sentence_that_says_where_they_come_from(around):
    X, codes = random_data(5, n=60, n_ranks=3)
    words = np.array(["low", "fair", "good"])
    machine = LinearSVOR(categories=words.tolist())
    model = VotingClassifier([("m", machine)]) if around is VotingClassifier else around(machine, n_estimators=2)
    with pytest.raises(ValueError, match=r"holds numbers where the categories are 'low'.*give them ranks 0, 1,"):
        model.fit(X, words[codes])
    with pytest.raises(ValueError, match="not among the categories 'low', 'fair', 'good': 'bad'; add them"):
        machine.fit(X, np.where(codes == 0, "bad", words[codes]))
    with pytest.raises(ValueError, match="not among the categories '0', '1', '2': 0, 1, 2; add them"):
        LinearSVOR(categories=["0", "1", "2"]).fit(X[np.argsort(codes)], np.sort(codes))


def test_ranks_as_numbers_keep_their_order_in_a_vote():
    X, codes = random_data(5, n=60, n_ranks=3)
    vote = VotingClassifier([("m", LinearSVOR())]).fit(X, codes)
    np.testing.assert_array_equal(vote.predict(X), LinearSVOR().fit(X, codes).predict(X))
