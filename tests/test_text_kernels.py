"""Callable kernels of samples that are no numbers: texts, lists, frames with a column of texts."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from ordsvm import (
    NPSVOR,
    SVC,
    SVOR,
    SVOREX,
    SVR,
    CalibratedOrdinal,
    OrdinalSearchCV,
    RoundedRegressor,
    certify,
    diagnose,
    inspection,
)
from tests.refusals import refuse

RNG = np.random.default_rng(0)
TEXTS = [" ".join(RNG.choice(list("abcdefgh"), 3)) for _ in range(60)]
Y = [("a" in text) + ("b" in text) for text in TEXTS]
FRAME = pd.DataFrame({"word": RNG.choice(["good", "bad"], 60), "number": RNG.normal(size=60)})


def shared_words(A, B):
    """Numbers of words in common, plus 1; the arguments are what a user's own function would look at."""
    assert isinstance(A[0], str)
    return np.array([[1.0 + len(set(a.split()) & set(b.split())) for b in B] for a in A])


def same_word(A, B):
    return np.array([[float(a[0] == b[0]) + a[1] * b[1] for b in B] for a in A])


def shared_parts(A, B):
    return np.array([[1.0 + len(set(a) & set(b)) for b in B] for a in A])


FORMS = {
    "list": TEXTS,
    "array": np.array(TEXTS),
    "objects": np.array(TEXTS, dtype=object),
    "series": pd.Series(TEXTS),
}
SOLVERS = ["auto", "gcd", "block", "interior-point", "decomposition", "proximal-newton", "asygcd"]


@pytest.mark.filterwarnings("ignore::ordsvm.ModelWarning")
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_model_is_that_of_the_matrix(solver):
    K = shared_words(TEXTS, TEXTS)
    model = SVOR(kernel=shared_words, solver=solver, tol=1e-6).fit(TEXTS, Y)
    assert certify(model, TEXTS, Y).relative_gap <= 1e-6
    expected = SVOR(kernel="precomputed", solver=solver, tol=1e-6).fit(K, Y)
    assert np.allclose(model.decision_function(TEXTS), expected.decision_function(K), atol=1e-2)
    assert model.result_.objective == pytest.approx(expected.result_.objective, rel=1e-5)
    assert model.support_vectors_.tolist() == np.array(TEXTS)[model.support_].tolist()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("machine", [SVOR, SVOREX, NPSVOR, SVC, SVR])
def test_all_machines_take_all_forms(machine, form):
    X = FORMS[form]
    model = machine(kernel=shared_words).fit(X, Y)
    assert model.score(X, Y) == clone(model).fit(TEXTS, Y).score(TEXTS, Y) > 0.9
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(X[:5]), model.predict(TEXTS[:5]))
    assert np.isfinite(certify(again, X, Y).gap)


@pytest.mark.parametrize(
    "make",
    [
        lambda: OrdinalSearchCV(SVOR(kernel=shared_words), {"C": [0.1, 1.0]}, cv=3),
        lambda: GridSearchCV(SVOR(kernel=shared_words), {"C": [0.1, 1.0]}, cv=3),
        lambda: CalibratedOrdinal(SVOR(kernel=shared_words), cv=3),
        lambda: RoundedRegressor(SVR(kernel=shared_words)),
        lambda: SVOR(kernel=shared_words, early_stopping=True, random_state=0),
    ],
    ids=["search", "scikit-learn's search", "calibration", "regression", "early stopping"],
)
def test_estimators_around_machines(make):
    model = make().fit(TEXTS, Y)
    assert np.mean(model.predict(TEXTS) == Y) > 0.9
    assert diagnose(model, TEXTS, Y) is not None


def test_validation_checkpoints_and_cases(tmp_path):
    model = SVOR(kernel=shared_words).fit(TEXTS, Y, validation=(TEXTS[:20], Y[:20]))
    assert model.result_.history[-1].validation_mae == 0.0
    once = SVOR(kernel=shared_words).fit(TEXTS, Y, checkpoint=tmp_path / "folder")
    again = SVOR(kernel=shared_words).fit(TEXTS, Y, checkpoint=tmp_path / "folder")
    assert np.array_equal(once.result_.alpha, again.result_.alpha)
    assert inspection.similar_cases(once, TEXTS[:1], n=1).up[0].similarity >= 1.0


def test_frames_with_a_column_of_texts():
    y = (FRAME["number"] > 0).astype(int) + (FRAME["word"] == "good")
    model = SVOR(kernel=same_word).fit(FRAME, y)
    assert model.feature_names_in_.tolist() == ["word", "number"]
    assert model.n_features_in_ == 2
    assert np.array_equal(model.predict(FRAME), model.set_params().predict(FRAME[["word", "number"]]))
    assert certify(model, FRAME, y).relative_gap < 1e-3
    refuse(lambda: model.predict(FRAME[["number", "word"]]), ValueError, r"feature names", one_line=False)


def test_lists_of_any_length():
    parts = [text.split()[: 1 + number % 3] for number, text in enumerate(TEXTS)]
    y = [len(part) for part in parts]
    model = SVC(kernel=shared_parts).fit(parts, y)
    assert model.score(parts, y) == model.score(parts, np.array(y))


def test_what_is_refused():
    model = SVOR(kernel=shared_words).fit(TEXTS, Y)
    table = SVOR(kernel=same_word).fit(FRAME, Y)
    refuse(lambda: model.predict(np.zeros((3, 2))), ValueError, r"X has the shape \(3, 2\).*no numbers: give a list")
    refuse(lambda: table.predict(TEXTS), ValueError, r"X has the shape \(60,\).*a table of 2 columns")
    refuse(lambda: SVOR(kernel=shared_words).fit(TEXTS[:1], Y[:1]), ValueError, r"X has 1 sample: give at least 2")
    refuse(lambda: SVOR(kernel=shared_words).fit(np.arange(60.0), Y), ValueError, r"1D array", one_line=False)
    refuse(lambda: SVOR().fit(TEXTS, Y), ValueError, r"could not convert string to float", one_line=False)


def test_a_machine_may_be_trained_on_texts_then_on_numbers():
    numbers = RNG.normal(size=(60, 3))
    model = SVOR(kernel=shared_words).fit(TEXTS, Y)
    model.set_params(kernel=lambda A, B: A @ B.T).fit(numbers, Y)
    assert model.n_features_in_ == 3
    assert model.support_vectors_.dtype == np.float64
    assert len(model.predict(numbers.tolist())) == 60
