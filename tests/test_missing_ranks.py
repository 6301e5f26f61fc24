"""Ranks without samples are kept where the formulation defines them, and dropped with a warning elsewhere."""

import warnings

import numpy as np
import pandas as pd
import pytest

from ordsvm import SVOR, SVOREX, SVORIM, ModelWarning, ShashuaLevinSVOR, certify, formulations
from ordsvm.kernels import RBF
from ordsvm.solvers import SMO, Control, KernelMatrix, solve
from tests.cases import N_RANKS, random_data
from tests.model_cases import COST_MODELS, TIGHT, assert_same_machine, assert_same_objective, every_model


def data_without(missing: list[int], n_ranks: int = 5):
    X, y = random_data(58, n=60, n_ranks=n_ranks)
    present = ~np.isin(y, missing)
    return X[present], y[present]


MISSING = [[0], [2], [4], [1, 2], [0, 1], [0, 4], [3, 4], [0, 2, 4]]


def are_dropped(model, missing: list[int]) -> list[int]:
    """Ranks beside a threshold that one side leaves alone: none where thresholds are penalised; else those at the
    ends; where only neighbours see a threshold and nothing orders it, all."""
    if model is SVOR:
        return []
    if model is ShashuaLevinSVOR:
        return missing
    present = [rank for rank in range(5) if rank not in missing]
    return [rank for rank in missing if rank < present[0] or rank > present[-1]]


def fit_with_missing(model, missing: list[int], **parameters):
    X, y = data_without(missing)
    estimator = model(categories=range(5), **TIGHT, **parameters)
    dropped = are_dropped(model, missing)
    if not dropped:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ModelWarning)  # of ranks that have samples and are never predicted
            return estimator.fit(X, y), X, y
    with pytest.warns(UserWarning, match=f"No sample .* has the label {', '.join(map(str, dropped))}, .* left out"):
        return estimator.fit(X, y), X, y


@pytest.mark.filterwarnings("ignore:No sample of positive weight:UserWarning")
@every_model
@pytest.mark.parametrize("missing", MISSING, ids=str)
def test_ranks_without_samples_are_kept_or_dropped_with_a_warning(model, missing):
    fitted, X, y = fit_with_missing(model, missing)
    dropped = are_dropped(model, missing)
    assert fitted.classes_.tolist() == [rank for rank in range(5) if rank not in dropped]
    assert fitted.thresholds_.shape == (len(fitted.classes_) - 1,)
    assert np.all(np.isfinite(fitted.thresholds_))
    assert set(fitted.predict(X)) <= set(fitted.classes_)
    proof = certify(fitted, X, y)
    assert proof.relative_gap <= 1e-6
    assert proof.violation <= 1.1e-8
    if dropped == missing:  # then nothing is left of them
        assert_same_machine(fitted, model(**TIGHT).fit(X, y), X)


@pytest.mark.parametrize("missing", [[2], [1, 2], [1, 3]], ids=str)
def test_svorim_keeps_the_distance_over_a_missing_rank(missing):
    """Its thresholds coincide there, and count as many as they are: so does the distance in the cost."""
    fitted, X, y = fit_with_missing(SVORIM, missing)
    present = np.unique(y)
    distance = np.abs(np.subtract.outer(present, present)).astype(float)
    merged = SVORIM(cost=distance, **TIGHT).fit(X, y)
    assert_same_objective(fitted, merged)
    np.testing.assert_allclose(fitted.decision_function(X), merged.decision_function(X), atol=1e-5)
    np.testing.assert_array_equal(fitted.predict(X), merged.predict(X))
    np.testing.assert_allclose(np.unique(fitted.thresholds_.round(6)), merged.thresholds_, atol=1e-5)


@pytest.mark.parametrize("missing", [[2], [1, 2], [1, 3]], ids=str)
def test_svorex_without_a_rank_is_svorex_of_the_others(missing):
    """The thresholds on both sides of the gap see one side each, and the order makes one of them."""
    fitted, X, y = fit_with_missing(SVOREX, missing)
    others = SVOREX(**TIGHT).fit(X, y)
    assert_same_objective(fitted, others)
    np.testing.assert_allclose(fitted.decision_function(X), others.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("missing", [[2], [1, 2], [0, 4]], ids=str)
def test_zero_one_cost_drops_missing_ranks_as_shashua_and_levins_does(missing):
    X, y = data_without(missing)
    with pytest.warns(UserWarning, match="left out"):
        fitted = SVORIM(categories=range(5), cost="zero-one", **TIGHT).fit(X, y)
    assert_same_machine(fitted, ShashuaLevinSVOR(**TIGHT).fit(X, y), X)


@every_model
def test_a_rank_whose_weights_are_zero_is_a_rank_without_samples(model):
    X, y = random_data(58, n=60, n_ranks=5)
    weight = np.where(y == 4, 0.0, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        weighted = model(**TIGHT).fit(X, y, weight)
        without = model(categories=range(5), **TIGHT).fit(X[y < 4], y[y < 4])
    assert_same_machine(weighted, without, X)


@every_model
def test_an_ordered_dtype_keeps_unobserved_categories(model):
    X, y = data_without([2])
    grades = ["awful", "poor", "fair", "good", "great"]
    labels = pd.Categorical([grades[rank] for rank in y], grades, ordered=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        fitted = model(**TIGHT).fit(X, labels)
        expected = model(categories=range(5), **TIGHT).fit(X, y)
    assert fitted.classes_.tolist() == [grades[rank] for rank in expected.classes_]
    np.testing.assert_array_equal(fitted.result_.alpha, expected.result_.alpha)


@pytest.mark.filterwarnings("ignore")
def test_a_cost_without_weight_across_a_missing_rank_is_an_error():
    X, y = random_data(59, n_ranks=2)
    cost = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
    with pytest.raises(ValueError, match="cost"):
        SVORIM(categories=range(3), cost=cost).fit(X, 2 * y)


@pytest.mark.parametrize("model", COST_MODELS)
def test_a_cost_without_any_weight_is_an_error(model):
    X, y = random_data(59)
    with pytest.raises(ValueError, match="cost"):
        model(cost=np.zeros((N_RANKS, N_RANKS))).fit(X, y)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("formulation", "ranks", "threshold", "missing"),
    [
        (formulations.svorim, [0, 1, 2], 2, "above"),
        (formulations.svorex, [0, 1, 2], 2, "above"),
        (formulations.svorim, [1, 2, 3], 0, "below"),
        (formulations.svorex, [1, 2, 3], 0, "below"),
        (formulations.shashua_levin, [0, 2, 3], 0, "above"),
        (formulations.shashua_levin, [0, 3], 0, "above"),
        (formulations.shashua_levin, [2, 3], 0, "below or above"),
    ],
)
def test_solve_says_which_threshold_a_missing_rank_leaves_undetermined(formulation, ranks, threshold, missing):
    """Fault 7: it blamed the kernel."""
    X, y = random_data(0, n=12)
    problem = formulation(np.resize(ranks, len(y)), n_ranks=4, C=1.0)
    message = f"determines threshold {threshold}, between ranks .*: no sample of a rank {missing} it is given"
    with pytest.raises(ValueError, match=message):
        solve(problem, KernelMatrix(RBF(1.0).rows(X)), SMO(), Control(tol=1e-3))
