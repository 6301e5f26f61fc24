"""SVC agrees with scikit-learn's: the same machines, attributes and ties, on shipped and on real data."""

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler

from benchmarks.datasets import DataMissing, ordinal, svmlight
from ordsvm import SVC, certify
from tests.svc_cases import SHIPPED, assert_same_machine, three_classes

# Agreement with scikit-learn


def pair_weights(theirs, n: int) -> np.ndarray:
    """A row of β for every binary problem, unpacked from scikit-learn's dual_coef_."""
    n_classes = len(theirs.classes_)
    ends = np.cumsum(theirs.n_support_)
    part = [slice(end - size, end) for end, size in zip(ends, theirs.n_support_, strict=True)]
    pairs = list(combinations(range(n_classes), 2))
    beta = np.zeros((len(pairs), n))
    packed = theirs.dual_coef_.toarray() if sp.issparse(theirs.dual_coef_) else theirs.dual_coef_
    for row, (i, j) in zip(beta, pairs, strict=True):
        row[theirs.support_[part[i]]] = packed[j - 1, part[i]]
        row[theirs.support_[part[j]]] = packed[i, part[j]]
    return beta


def dual_objective(beta: np.ndarray, K: np.ndarray) -> float:
    """Of hinges with offset 1, summed over the rows of β."""
    return np.abs(beta).sum() - 0.5 * np.einsum("pi,ij,pj", beta, K, beta)


def assert_agreement(ours, theirs, X, y, sample_weight=None) -> None:
    """The same objective, decision values, and predictions but where they are undecided."""
    proof = certify(ours, X, y, sample_weight)
    assert proof.relative_gap <= ours.tol
    their_dual = dual_objective(pair_weights(theirs, X.shape[0]), ours.kernel_(X, X))
    assert proof.dual == pytest.approx(their_dual, rel=1e-4)
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    for shape in ("ovo", "ovr"):
        for model in (ours, theirs):
            model.set_params(decision_function_shape=shape)
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-2)
    for model in (ours, theirs):
        model.set_params(decision_function_shape="ovo")
    decided = are_decided(ours.decision_function(X), len(ours.classes_))
    assert decided.mean() > 0.8
    np.testing.assert_array_equal(ours.predict(X)[decided], theirs.predict(X)[decided])


def are_decided(margins: np.ndarray, n_classes: int, error: float = 1e-2) -> np.ndarray:
    """Samples whose predicted class is the same if no decision value changes by more than `error`."""
    if n_classes == 2:
        return np.abs(margins) > error
    first, second = np.triu_indices(n_classes, 1)
    one_hot = np.eye(n_classes)
    surely = (margins > error) @ one_hot[first] + (margins < -error) @ one_hot[second]
    perhaps = (np.abs(margins) <= error) @ (one_hot[first] + one_hot[second])
    best = surely.argmax(axis=1)
    rivals = np.where(best[:, None] == np.arange(n_classes), -1, surely + perhaps)
    decided = surely.max(axis=1) > rivals.max(axis=1)
    return decided | (perhaps == 0).all(axis=1)


KERNELS = {
    "linear": {"kernel": "linear"},
    "rbf": {"kernel": "rbf"},
    "wide rbf": {"kernel": "rbf", "gamma": 0.01},
    "poly": {"kernel": "poly", "degree": 2, "coef0": 1.0},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.01},
}


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("C", [0.5, 10.0])
def test_the_same_machine_as_scikit_learns(name, kernel, C):
    X, y = SHIPPED[name]
    parameters = {"C": C, "tol": 1e-5} | KERNELS[kernel]
    assert_agreement(SVC(**parameters).fit(X, y), svm.SVC(**parameters).fit(X, y), X, y)


@pytest.mark.parametrize("name", ["iris", "breast_cancer"])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 3.0, 1: 0.5}], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_weights_as_scikit_learns(name, class_weight, weighted):
    X, y = SHIPPED[name]
    X, y = X[20:], y[20:]  # classes of different sizes
    weight = np.random.default_rng(0).uniform(0, 3, size=len(y)) if weighted else None
    parameters = {"C": 2.0, "tol": 1e-5, "class_weight": class_weight}
    ours, theirs = SVC(**parameters).fit(X, y, weight), svm.SVC(**parameters).fit(X, y, weight)
    assert_agreement(ours, theirs, X, y, weight)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_sparse_samples_as_scikit_learn(kernel):
    X, y = SHIPPED["digits"]
    X = sp.csr_matrix(X)
    parameters = {"kernel": kernel, "tol": 1e-5}
    ours = SVC(**parameters).fit(X, y)
    assert sp.issparse(ours.support_vectors_)
    assert_same_machine(ours, SVC(**parameters).fit(X.toarray(), y), X.toarray(), atol=1e-3)
    assert_agreement(ours, svm.SVC(**parameters).fit(X, y), X, y)


@pytest.mark.parametrize("name", ["iris", "wine", "digits"])
def test_one_against_the_rest_as_scikit_learns_wrapper(name):
    X, y = SHIPPED[name]
    ours = SVC(multi_class="ovr", tol=1e-5, C=3.0).fit(X, y)
    theirs = OneVsRestClassifier(svm.SVC(tol=1e-5, C=3.0)).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-2)
    top_two = np.sort(ours.decision_function(X), axis=1)[:, -2:]
    decided = np.diff(top_two, axis=1).ravel() > 2e-2
    np.testing.assert_array_equal(ours.predict(X)[decided], theirs.predict(X)[decided])
    assert certify(ours, X, y).relative_gap <= 1e-5
    assert ours.dual_coef_.shape == (len(ours.classes_), len(ours.support_))


@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
def test_the_same_attributes_as_scikit_learns(kernel):
    """Support vectors class by class; one row of coefficients for every pair, where scikit-learn packs dual_coef_."""
    X, y = SHIPPED["wine"]
    data = rbf_kernel(X, gamma=0.1) if kernel == "precomputed" else X
    parameters = {"kernel": kernel, "tol": 1e-6, "C": 0.7}
    ours, theirs = SVC(**parameters).fit(data, y), svm.SVC(**parameters).fit(data, y)
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    np.testing.assert_allclose(ours.dual_coef_, pair_weights(theirs, len(y))[:, ours.support_], atol=1e-3)
    assert ours.n_iter_.shape == theirs.n_iter_.shape == (3,)
    if kernel == "linear":
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    if kernel != "precomputed":
        np.testing.assert_array_equal(ours.support_vectors_, theirs.support_vectors_)
    else:
        assert certify(ours, data, y).relative_gap <= 1e-6


def test_two_classes_have_the_signs_of_scikit_learns():
    X, y = SHIPPED["breast_cancer"]
    ours, theirs = (model(kernel="linear", tol=1e-6, C=0.1).fit(X, y) for model in (SVC, svm.SVC))
    assert ours.dual_coef_.shape == (1, len(ours.support_))
    assert ours.intercept_.shape == (1,)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    np.testing.assert_array_equal(ours.predict(X), ours.classes_[(ours.decision_function(X) > 0).astype(int)])


@pytest.mark.parametrize("break_ties", [False, True])
def test_ties_between_votes_are_broken_as_by_scikit_learn(break_ties):
    """Points where three classes of noise beat each other in a circle."""
    rng = np.random.default_rng(5)
    X, y, new = rng.normal(size=(90, 2)), np.arange(90) % 3, rng.normal(size=(3000, 2))
    parameters = {"gamma": 1.0, "C": 1.0, "tol": 1e-8, "break_ties": break_ties}
    ours, theirs = SVC(**parameters).fit(X, y), svm.SVC(**parameters).fit(X, y)
    margins = ours.set_params(decision_function_shape="ovo", break_ties=False).decision_function(new)
    circle = (np.sign(margins) == [1, -1, 1]).all(axis=1) | (np.sign(margins) == [-1, 1, -1]).all(axis=1)
    decided = np.abs(margins).min(axis=1) > 1e-4
    assert np.count_nonzero(circle & decided) >= 10
    ours.set_params(decision_function_shape="ovr", break_ties=break_ties)
    np.testing.assert_array_equal(ours.predict(new[decided]), theirs.predict(new[decided]))
    if not break_ties:
        assert np.all(ours.predict(new[circle & decided]) == 0)


def test_decision_values_of_exactly_zero():
    """For two classes the second wins, in votes the second of the pair; as in scikit-learn."""
    X, y = three_classes()
    three = SVC(kernel="linear").fit(X, y)
    three.dual_coef_[:] = 0
    three.intercept_ = np.zeros(3)
    assert np.all(three.predict(X) == 2)
    np.testing.assert_array_equal(three.decision_function(X), np.tile([2.0, 1.0, 0.0], (len(X), 1)))
    two = SVC(kernel="linear").fit(X, y > 0)
    two.dual_coef_[:] = 0
    two.intercept_ = np.zeros(1)
    assert np.all(two.predict(X))


# Real data

BINARY = ["a9a", "ijcnn1", "mushrooms", "svmguide1", "w8a"]
SEVERAL_CLASSES = ["winequality-red", "car"]


def real_data(name: str, n: int = 1200):
    """Rows from all over the set, so that all classes are there."""
    try:
        X, y = svmlight(name) if name in BINARY else ordinal(name)
    except DataMissing as reason:
        pytest.skip(str(reason))
    rows = np.linspace(0, X.shape[0] - 1, n).astype(int)
    X = X[rows]
    return (StandardScaler().fit_transform(X.toarray()) if name == "svmguide1" else X), y[rows]


@pytest.mark.parametrize("name", BINARY + SEVERAL_CLASSES)
@pytest.mark.parametrize("C", [1.0, 10.0])
def test_real_data_as_scikit_learn(name, C):
    X, y = real_data(name)
    ours, theirs = (model(C=C, tol=1e-4).fit(X, y) for model in (SVC, svm.SVC))
    assert_agreement(ours, theirs, X, y)
