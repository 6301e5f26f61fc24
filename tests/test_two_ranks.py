"""Two ranks are two classes: the score is cut at 0, as scikit-learn expects, and the threshold is in intercept_."""

import copy
import pickle

import matplotlib
import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.linear_model import Ridge
from sklearn.model_selection import FixedThresholdClassifier, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import MultiOutputClassifier

from ordsvm import (
    SVC,
    SVOR,
    SVOREX,
    SVORIM,
    CalibratedOrdinal,
    LinearSVC,
    LinearSVOR,
    LinearSVR,
    NystroemSVC,
    NystroemSVOR,
    OrdinalSearchCV,
    RedSVM,
    RoundedRegressor,
    ShashuaLevinSVOR,
    certify,
    load,
    save,
)
from ordsvm.evaluation import score_quantiles
from ordsvm.files.model_file import VERSION, ModelFileError
from ordsvm.inspection import contributions, explain
from ordsvm.plotting import ThresholdPathDisplay
from tests.model_files import contents, forge

matplotlib.use("Agg")

KERNEL = {"gamma": 0.3, "tol": 1e-8}
LINEAR = {"tol": 1e-8, "solver": "linear-interior-point"}
EXACT = SVC(intercept="penalized", **KERNEL)
#: The same problem twice: for ranks, and for classes.
PAIRS = [
    (SVOR(**KERNEL), EXACT),
    (RedSVM(**KERNEL), EXACT),
    (SVORIM(**KERNEL), SVC(**KERNEL)),
    (SVOREX(**KERNEL), SVC(**KERNEL)),
    (ShashuaLevinSVOR(**KERNEL), SVC(**KERNEL)),
    (LinearSVOR(**LINEAR), LinearSVC(**LINEAR)),
    (NystroemSVOR(n_landmarks=30, gamma=0.3, **LINEAR), NystroemSVC(n_landmarks=30, gamma=0.3, **LINEAR)),
]
ROUNDED = RoundedRegressor(LinearSVR(**LINEAR))
MACHINES = [model for model, _ in PAIRS] + [ROUNDED]


def named(machine) -> str:
    return type(machine).__name__


each_pair = pytest.mark.parametrize(("machine", "twin"), PAIRS, ids=named)
each_machine = pytest.mark.parametrize("machine", MACHINES, ids=named)


def data(n_classes: int = 2):
    """Training samples whose classes are of different sizes, so that no threshold is near 0, and new samples."""
    random = np.random.default_rng(5)
    X = random.normal(size=(150, 2)) + 1.0
    y = np.digitize(X @ [1.0, 0.5] + 0.4 * random.normal(size=150), np.linspace(2.2, 3.0, n_classes - 1))
    return X[:90], y[:90], X[90:]


@each_machine
def test_scores_above_0_are_of_the_higher_rank(machine):
    X, y, new = data()
    model = machine.fit(X, np.where(y > 0, "b", "a"))
    assert model.thresholds_.tolist() == [0.0]
    assert model.intercept_.shape == (1,)
    assert abs(model.intercept_[0]) > 0.1
    score = model.decision_function(new)
    np.testing.assert_array_equal(model.predict(new), model.classes_[(score > 0).astype(int)])
    assert len(np.unique(model.predict(new))) == 2


@each_machine
def test_more_ranks_have_their_thresholds_and_no_intercept(machine):
    X, y, _ = data(3)
    model = machine.fit(X, y)
    assert model.intercept_.tolist() == [0.0]
    assert len(model.thresholds_) == 2


@each_pair
def test_the_score_is_that_of_the_classifier(machine, twin):
    X, y, new = data()
    model, classifier = machine.fit(X, y), twin.fit(X, y)
    np.testing.assert_allclose(model.decision_function(new), classifier.decision_function(new), rtol=0, atol=1e-3)
    np.testing.assert_allclose(model.intercept_, classifier.intercept_, rtol=0, atol=1e-3)


@each_pair
def test_tools_that_cut_at_0_predict_as_around_the_classifier(machine, twin):
    X, _, new = data()
    y, many = data()[1], data(4)[1]
    several = np.column_stack([many == k for k in range(3)]).astype(int)
    predictions = []
    for model in (machine, twin):
        tools = [
            OneVsRestClassifier(model).fit(X, many),
            OneVsRestClassifier(model).fit(X, several),
            OutputCodeClassifier(model, random_state=0).fit(X, many),
            FixedThresholdClassifier(model).fit(X, y),
            CalibratedClassifierCV(model, cv=3).fit(X, y),
        ]
        predictions.append([tool.predict(new) for tool in tools])
    for ours, theirs in zip(*predictions, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@each_machine
def test_one_against_the_rest_on_several_labels_is_a_machine_for_each(machine):
    X, many, new = data(4)
    several = np.column_stack([many == k for k in range(3)]).astype(int)
    ours = OneVsRestClassifier(machine).fit(X, several).predict(new)
    np.testing.assert_array_equal(ours, MultiOutputClassifier(machine).fit(X, several).predict(new))


@each_machine
def test_the_boundary_that_is_drawn_is_that_of_predictions(machine):
    X, y, _ = data()
    model = machine.fit(X, y)
    options = {"grid_resolution": 20, "plot_method": "pcolormesh"}
    drawn = DecisionBoundaryDisplay.from_estimator(model, X, response_method="decision_function", **options)
    labels = DecisionBoundaryDisplay.from_estimator(model, X, response_method="predict", **options)
    np.testing.assert_array_equal(drawn.response > 0, labels.response == 1)


# What reads scores and thresholds together


@each_pair
def test_proofs_and_warm_starts_are_about_the_threshold_itself(machine, twin):
    X, y, _ = data()
    model = machine.fit(X, y)
    proof = certify(model, X, y)
    assert proof.primal == pytest.approx(model.result_.objective, rel=1e-6)
    again = copy.deepcopy(model).set_params(warm_start=True, max_iter=3).fit(X, y)
    assert again.result_.objective == pytest.approx(proof.primal, rel=1e-6)
    np.testing.assert_allclose(again.intercept_, model.intercept_, atol=1e-3)


def test_searches_and_early_stopping_score_what_predict_says():
    X, y, _ = data()
    search = OrdinalSearchCV(SVOR(gamma=0.3), {"C": [0.1, 1.0, 10.0]}, cv=3, scoring="accuracy").fit(X, y)
    by_hand = [
        SVOR(gamma=0.3, C=C).fit(X[train], y[train]).score(X[test], y[test])
        for C in (0.1, 1.0, 10.0)
        for train, test in StratifiedKFold(3).split(X, y)
    ]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], np.reshape(by_hand, (3, 3)).mean(axis=1))
    looks = {"solver": "gcd", "callback": lambda progress: False}
    model = SVOR(gamma=0.3, C=10.0, **looks).fit(X, y, validation=(X, y))
    assert model.result_.history[-1].validation_mae == pytest.approx(np.mean(np.abs(model.predict(X) - y)))


@each_machine
def test_calibration_and_explanations_are_about_the_same_score(machine):
    X, y, new = data()
    model = machine.fit(X, y)
    found = contributions(model, new, X)
    np.testing.assert_allclose(found.baseline + found.values.sum(axis=1), model.decision_function(new), atol=1e-9)
    why = explain(model, new[:1], X)
    assert why.thresholds.tolist() == [0.0]
    assert why.prediction == int(why.score > 0)
    calibrated = CalibratedOrdinal(model, cv="prefit").fit(X, y)
    order = np.argsort(model.decision_function(new))
    assert np.all(np.diff(calibrated.predict_proba(new)[order, 1]) >= 0)
    assert np.all(np.isfinite(score_quantiles(model.decision_function(new))))


def test_the_path_of_a_threshold_is_drawn_where_it_is_on_f():
    X, y, _ = data()
    model = SVOR(gamma=0.3, solver="gcd", callback=lambda progress: False).fit(X, y)
    display = ThresholdPathDisplay.from_estimator(model)
    np.testing.assert_array_equal(display.thresholds[-1], -model.intercept_)
    path = ThresholdPathDisplay.from_estimator(SVOR(gamma=0.3), X, y, C=[0.1, 1.0])
    np.testing.assert_allclose(path.thresholds[-1], -SVOR(gamma=0.3, C=1.0).fit(X, y).intercept_, atol=0.05)


# Models of before


def of_before(model):
    """The model as it was before `intercept_`: its threshold cut f itself."""
    model = copy.deepcopy(model)
    model.thresholds_ = model.thresholds_ - model.intercept_
    del model.intercept_
    return model


@each_machine
def test_pickles_and_files_of_before_keep_predictions_and_scores(machine, tmp_path):
    X, y, new = data()
    model = machine.fit(X, y)
    old = of_before(model)
    save(old, tmp_path / "made.ordsvm")
    text, arrays = contents(tmp_path / "made.ordsvm")
    forge(tmp_path / "old.ordsvm", text, arrays, version="2")
    for loaded in (pickle.loads(pickle.dumps(old)), load(tmp_path / "old.ordsvm")):
        np.testing.assert_array_equal(loaded.predict(new), model.predict(new))
        np.testing.assert_array_equal(loaded.decision_function(new) - old.thresholds_, model.decision_function(new))
        assert not hasattr(loaded, "intercept_")
    if hasattr(model, "result_"):
        assert certify(old, X, y).gap == certify(model, X, y).gap
    if isinstance(model, NystroemSVOR):
        assert old.certify_exact(X, y).violation == model.certify_exact(X, y).violation
    assert VERSION == 3  # versions that read 2 at most would cut the score without its intercept


@pytest.mark.parametrize("machine", [SVOR(), LinearSVOR(), ROUNDED], ids=named)
def test_a_file_with_several_intercepts_is_refused(machine, tmp_path):
    X, y, _ = data()
    model = copy.deepcopy(machine.fit(X, y))
    model.intercept_ = np.array([0.5, 0.5])
    save(model, tmp_path / "several.ordsvm")
    with pytest.raises(ModelFileError, match=r"one intercept, not 2|is about \d problems"):
        load(tmp_path / "several.ordsvm")


def test_regressors_are_rounded_as_before():
    X, y, new = data()
    model, regressor = RoundedRegressor(Ridge()).fit(X, y), Ridge().fit(X, y)
    np.testing.assert_array_equal(model.predict(new), regressor.predict(new) >= 0.5)
    np.testing.assert_array_equal(model.decision_function(new), regressor.predict(new) - 0.5)
