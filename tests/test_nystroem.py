"""Nyström machines: the exact kernel machine with all landmarks, and with fewer a bound on what these cost."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from ordsvm import (
    NPSVOR,
    SVC,
    SVOR,
    SVR,
    NystroemNPSVOR,
    NystroemSVC,
    NystroemSVOR,
    NystroemSVR,
    OrdinalSearchCV,
    RowStore,
    certify,
    load,
    save,
    to_onnx,
)
from ordsvm.cli.machines import make_machine
from ordsvm.kernels import RBF, Laplacian, Linear, NystroemMap, Polynomial, Sigmoid
from ordsvm.kernels.nystroem import draw_landmarks, leverage_scores
from ordsvm.metrics import mae_scorer
from tests.cases import random_data

EXACT = {
    NystroemSVOR: SVOR(gamma=0.3, tol=1e-7),
    NystroemNPSVOR: NPSVOR(gamma=0.3, tol=1e-7),
    NystroemSVC: SVC(gamma=0.3, tol=1e-7, intercept="penalized", multi_class="ovr"),
    NystroemSVR: SVR(gamma=0.3, tol=1e-7, intercept="penalized"),
}
every_machine = pytest.mark.parametrize("kind", list(EXACT), ids=lambda kind: kind.__name__)

ONE_SCORE = "decision_function is one score a sample, to be compared with thresholds_: not a column a class"
LOOSE = "tol=1e-3 is coarser than the comparison, and gamma='scale' does not see weights"


def expected_failed_checks(estimator) -> dict[str, str]:
    checks = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
    one_score = dict.fromkeys(("check_classifiers_train", "check_classifiers_classes"), ONE_SCORE)
    return dict.fromkeys(checks, LOOSE) | (one_score if isinstance(estimator, NystroemSVOR) else {})


@pytest.mark.filterwarnings("ignore:y holds strings:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # weights of classes 1e7 apart
@parametrize_with_checks([kind(n_landmarks=50) for kind in EXACT], expected_failed_checks=expected_failed_checks)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@every_machine
def test_with_all_samples_as_landmarks_it_is_the_exact_machine(kind):
    X, y = random_data(60, n=80)
    exact = EXACT[kind].fit(X, y)
    model = kind(gamma=0.3, tol=1e-7, n_landmarks=1000).fit(X, y)
    assert model.landmarks_.shape == (80, X.shape[1])
    assert model.result_.objective == pytest.approx(exact.result_.objective, rel=1e-6)
    score = "rank_scores" if kind is NystroemNPSVOR else "predict" if kind is NystroemSVR else "decision_function"
    np.testing.assert_allclose(getattr(model, score)(X), getattr(exact, score)(X), atol=5e-3)
    assert model.approximation_.excess_bound == pytest.approx(model.result_.gap, abs=1e-5)
    assert model.certify_exact(X, y).relative_gap <= 1e-6


@every_machine
@pytest.mark.parametrize("landmarks", ["uniform", "leverage"])
def test_the_estimate_of_the_error_covers_the_true_error(kind, landmarks):
    X, y = random_data(61, n=150)
    loss = "squared_epsilon_insensitive" if kind is NystroemSVR else "squared_hinge"
    losses = {"plain": {}, "squared": {"loss": loss}}
    for more in losses.values():
        options = {"gamma": 0.3, "tol": 1e-6, "C": 0.5} | more
        optimum = kind(n_landmarks=150, **options).fit(X, y).result_
        model = kind(n_landmarks=25, landmarks=landmarks, **options).fit(X, y)
        excess = model.result_.objective - (optimum.objective - optimum.gap)
        error = model.approximation_
        assert -optimum.gap <= excess <= error.excess_estimate + optimum.gap
        assert error.excess_estimate <= error.excess_bound <= model.result_.objective * (1 + 1e-9)
        assert (error.n_sampled, error.standard_error) == (150, 0.0)
        proof = model.certify_exact(X, y)
        assert proof.gap == pytest.approx(error.excess_estimate, rel=1e-6)
        assert proof.primal == pytest.approx(model.result_.objective, rel=1e-9)
        assert certify(model, X, y).relative_gap <= 1e-6


def test_the_objective_is_that_of_the_exact_problem():
    """Weights of landmarks as an expansion of the kernel: ½‖f‖² + losses by the kernel alone."""
    X, y = random_data(62, n=120)
    model = NystroemSVOR(C=2.0, gamma=0.2, n_landmarks=30).fit(X, y)
    Z, weights = model.landmarks_, model.dual_coef_
    margin = model.decision_function(X)[:, None] - model.thresholds_
    losses = np.maximum(0.0, 1.0 - np.where(y[:, None] > np.arange(3), 1.0, -1.0) * margin)
    norms = weights @ model.kernel_(Z, Z) @ weights + model.thresholds_ @ model.thresholds_
    assert 0.5 * norms + 2.0 * losses.sum() == pytest.approx(model.result_.objective, rel=1e-9)


def test_some_rows_give_an_estimate_with_a_standard_error(monkeypatch):
    monkeypatch.setattr("ordsvm.estimators.nystroem.SAMPLED_VALUES", 60_000)
    X, y = random_data(63, n=400)
    error = NystroemSVOR(gamma=0.3, n_landmarks=40).fit(X, y).approximation_
    monkeypatch.setattr("ordsvm.estimators.nystroem.SAMPLED_VALUES", 10**9)
    whole = NystroemSVOR(gamma=0.3, n_landmarks=40).fit(X, y).approximation_
    assert error.n_sampled == 150
    assert error.standard_error > 0
    assert abs(error.excess_estimate - whole.excess_estimate) <= 4 * error.standard_error
    assert error.excess_bound == whole.excess_bound


def test_residuals_are_those_of_a_projection():
    X, _ = random_data(64, n=100)
    for kernel in (RBF(0.3), Laplacian(0.2), Polynomial(0.5, 1.0, 3.0), Linear()):
        for rule in ("uniform", "leverage"):
            landmarks = draw_landmarks(kernel, X, 20, rule, np.random.RandomState(0))
            assert len(set(landmarks)) == 20
            kernel_map = NystroemMap.of(kernel, X[landmarks])
            features = kernel_map.transform(X)
            rest = kernel(X, X) - features @ features.T
            largest = kernel.largest(X)
            assert np.linalg.eigvalsh(rest).min() >= -1e-8 * largest
            np.testing.assert_allclose(kernel_map.residuals(X, features), np.diagonal(rest), atol=1e-9 * largest)
            np.testing.assert_allclose(rest[landmarks], 0.0, atol=1e-6 * largest)


def test_leverage_scores_are_within_a_factor_of_the_true_ones():
    X, _ = random_data(65, n=200)
    X[:10] *= 3.0  # unlike the others
    K = RBF(0.1)(X, X)
    scores = leverage_scores(RBF(0.1), X, 40, np.random.RandomState(0))
    ridge = np.linalg.eigvalsh(K)[:180].sum() / 40
    true = np.diagonal(K @ np.linalg.inv(K + ridge * np.eye(200)))
    assert np.all((scores > true / 4) & (scores < true * 4))
    assert scores[:10].mean() > 3 * scores[10:].mean()


def test_the_number_of_landmarks_follows_memory_and_n():
    X, y = random_data(66, n=500)
    assert len(NystroemSVOR().fit(X, y).landmarks_) == 300
    assert len(NystroemSVOR(memory=500 * 8 * 40 / 2**20).fit(X, y).landmarks_) == 40
    assert len(NystroemSVOR(memory=500 * 8 * 40 / 2**20).fit(X.astype(np.float32), y).landmarks_) == 80
    weight = (np.arange(500) < 60).astype(float)
    assert len(NystroemSVOR().fit(X, y, weight).landmarks_) == 60
    with pytest.raises(ValueError, match="does not hold one feature of 500 samples"):
        NystroemSVOR(memory=1e-6).fit(X, y)


def test_draws_are_repeatable_and_differ_by_seed():
    X, y = random_data(67, n=100)
    first, again, other = (NystroemSVOR(n_landmarks=10, random_state=seed).fit(X, y) for seed in (None, None, 1))
    np.testing.assert_array_equal(first.landmarks_, again.landmarks_)
    assert not np.array_equal(first.landmarks_, other.landmarks_)


def test_sparse_samples_float32_and_callables_are_the_same():
    X, y = random_data(68, n=90)
    options = {"gamma": 0.3, "n_landmarks": 20, "tol": 1e-6}
    dense = NystroemSVOR(**options).fit(X, y)
    others = (
        NystroemSVOR(**options).fit(sp.csr_array(X), y),
        NystroemSVOR(kernel=RBF(0.3), n_landmarks=20, tol=1e-6).fit(X.astype(np.float32), y),
        NystroemSVOR(kernel=lambda A, B: RBF(0.3)(A, B), n_landmarks=20, tol=1e-6).fit(X, y),
        NystroemSVOR(**options, solver="rank-dcd", max_iter=100_000).fit(X, y),
    )
    for model in others:
        assert model.result_.objective == pytest.approx(dense.result_.objective, rel=3e-6)
        assert certify(model, sp.csr_array(X) if sp.issparse(model.landmarks_) else X, y).relative_gap <= 3e-6


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "linear", "sigmoid"])
def test_model_files_and_onnx_keep_the_scores(kernel, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    X, y = random_data(69, n=70)
    model = NystroemSVOR(kernel=kernel, gamma=0.2, coef0=0.5, n_landmarks=15).fit(X, y)
    session = runtime.InferenceSession(to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"])
    score, _, label = session.run(None, {"X": X})
    np.testing.assert_allclose(np.ravel(score), model.decision_function(X), rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(np.ravel(label), model.predict(X))
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert repr(again.approximation_) == repr(model.approximation_)


def test_the_sigmoid_has_no_bound():
    X, y = random_data(70, n=60)
    model = NystroemSVOR(kernel="sigmoid", gamma=0.2, n_landmarks=20).fit(X, y)
    assert np.isnan(model.approximation_.excess_bound)
    assert not Sigmoid(gamma=0.2, coef0=0.0).positive_semidefinite
    with pytest.raises(ValueError, match="not positive semidefinite"):
        model.certify_exact(X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "precomputed"}, "kernel='precomputed' has no samples"),
        ({"landmarks": "best"}, "landmarks='best' is unknown"),
        ({"n_landmarks": 0}, "n_landmarks=0 is not valid"),
        ({"n_landmarks": 2.5}, "n_landmarks=2.5 is not valid"),
        ({"memory": -1}, "memory=-1 is not valid"),
        ({"gamma": -1.0}, "gamma=-1.0 is not valid"),
        ({"solver": "smo"}, "solver='smo'"),
    ],
)
def test_bad_parameters_are_refused(options, message):
    X, y = random_data(71, n=20)
    with pytest.raises(ValueError, match=message):
        NystroemSVOR(**options).fit(X, y)


def test_rows_on_disk_are_refused(tmp_path):
    X, y = random_data(72, n=20)
    store = RowStore.from_blocks([(sp.csr_array(X), y)], tmp_path / "rows")
    with pytest.raises(ValueError, match="NystroemSVOR needs all rows in memory"):
        NystroemSVOR().fit(store)


def test_a_checkpoint_is_of_the_samples(tmp_path):
    X, y = random_data(73, n=60)
    first = NystroemSVOR(n_landmarks=20).fit(X, y, checkpoint=tmp_path / "fit")
    again = NystroemSVOR(n_landmarks=20).fit(X, y, checkpoint=tmp_path / "fit")
    np.testing.assert_array_equal(first.coef_, again.coef_)
    with pytest.raises(ValueError, match="X"):
        NystroemSVOR(n_landmarks=20).fit(X + 1, y, checkpoint=tmp_path / "fit")


@every_machine
def test_a_fit_that_is_interrupted_leaves_the_old_model(kind, monkeypatch):
    """Also late, where its landmarks and weights have been found."""

    def interrupted(*of):
        raise KeyboardInterrupt

    X, y = random_data(75, n=60)
    other, labels = random_data(76, n=60, n_features=2)
    model, first = kind(n_landmarks=20, gamma=0.3).fit(X, y), kind(n_landmarks=20)
    before, scores = vars(model).copy(), model.predict(X)
    monkeypatch.setattr(kind, "_error", interrupted)
    for each in (model, first):
        with pytest.raises(KeyboardInterrupt):
            each.fit(other, labels)
    assert vars(model) == before
    np.testing.assert_array_equal(model.predict(X), scores)
    with pytest.raises(NotFittedError):
        first.predict(other)


def test_a_search_trains_every_fold_on_its_own_landmarks():
    X, y = random_data(74, n=90)
    grid, machine = {"C": [0.1, 10.0]}, NystroemSVOR(n_landmarks=20, gamma=0.3)
    found = OrdinalSearchCV(machine, grid, cv=KFold(3), error_score="raise").fit(X, y)
    other = GridSearchCV(machine, grid, cv=KFold(3), scoring=mae_scorer).fit(X, y)
    np.testing.assert_allclose(found.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"])


def test_the_command_line_has_them_by_name():
    model = make_machine("nystroem-svor", {"n_landmarks": 30, "landmarks": "leverage"}, None)
    assert isinstance(model, NystroemSVOR)
    assert model.n_landmarks == 30
