"""Weights of classes for labels that y lacks: a fold without the rare label takes them; mistakes are refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold, cross_val_score
from sklearn.svm import SVC as TheirSVC

from ordsvm import (
    NPSVOR,
    SVC,
    SVOR,
    SVOREX,
    SVORIM,
    LinearNPSVOR,
    LinearSVC,
    LinearSVOR,
    NystroemNPSVOR,
    NystroemSVC,
    NystroemSVOR,
    OrdinalSearchCV,
    RedSVM,
    ShashuaLevinSVOR,
)
from tests.cases import random_data
from tests.refusals import refuse

ORDINAL = [SVOR, SVORIM, SVOREX, RedSVM, ShashuaLevinSVOR, NPSVOR, LinearSVOR, LinearNPSVOR]
ORDINAL += [NystroemSVOR, NystroemNPSVOR]
NOMINAL = [SVC, LinearSVC, NystroemSVC]
WEIGHTS = {0: 1.0, 1: 2.0, 2: 0.5, 3: 5.0}
X, Y = random_data(11, n=60, n_ranks=3)

every_classifier = pytest.mark.parametrize("machine", ORDINAL + NOMINAL)
every_ordinal = pytest.mark.parametrize("machine", ORDINAL)


@every_classifier
def test_weights_of_absent_labels_change_nothing(machine):
    with_absent = machine(class_weight=WEIGHTS).fit(X, Y)
    present = {label: weight for label, weight in WEIGHTS.items() if label < 3}
    np.testing.assert_array_equal(
        with_absent.decision_function(X), machine(class_weight=present).fit(X, Y).decision_function(X)
    )


@every_classifier
def test_folds_without_a_rare_label_have_scores(machine):
    labels = Y.copy()
    labels[:2] = 3  # in the first fold only
    scores = cross_val_score(machine(class_weight=WEIGHTS), X, labels, cv=KFold(3), error_score="raise")
    assert np.isfinite(scores).all()


def test_scores_are_those_of_scikit_learn():
    labels = Y.copy()
    labels[:2] = 3
    scores = [cross_val_score(kind(class_weight=WEIGHTS), X, labels, cv=KFold(3)) for kind in (SVC, TheirSVC)]
    np.testing.assert_allclose(*scores)


def test_searches_take_them():
    labels = Y.copy()
    labels[:2] = 3
    search = OrdinalSearchCV(SVOR(class_weight=WEIGHTS), {"C": [0.1, 1.0]}, cv=KFold(3), error_score="raise")
    assert np.isfinite(search.fit(X, labels).cv_results_["mean_test_score"]).all()


@every_classifier
def test_a_dict_without_any_label_of_y_is_a_mistake(machine):
    for wrong in ({"0": 1.0, "1": 2.0}, {7: 1.0}):
        refuse(lambda wrong=wrong: machine(class_weight=wrong).fit(X, Y), ValueError, "class_weight names labels that")


@every_classifier
def test_weights_of_absent_labels_are_numbers_too(machine):
    refuse(lambda: machine(class_weight={0: 1.0, 9: -1.0}).fit(X, Y), ValueError, "finite and not negative")


@every_ordinal
def test_where_all_labels_are_listed_others_are_mistakes(machine):
    message = r"class_weight names labels that are not classes of y: \[9\]"
    listed = machine(class_weight={0: 2.0, 9: 1.0}, categories=[0, 1, 2])
    refuse(lambda: listed.fit(X, Y), ValueError, message)
    ordered = pd.Categorical(Y, [0, 1, 2], ordered=True)
    refuse(lambda: machine(class_weight={0: 2.0, 9: 1.0}).fit(X, ordered), ValueError, message)


@pytest.mark.parametrize("machine", [SVOR, SVORIM])
def test_early_stopping_checks_them_alike(machine):
    options = {"class_weight": {0: 2.0, 9: 1.0}, "early_stopping": True, "random_state": 0}
    machine(**options).fit(X, Y)
    listed = machine(**options, categories=[0, 1, 2])
    refuse(lambda: listed.fit(X, Y), ValueError, "not classes of y")
