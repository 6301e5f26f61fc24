"""The small measurements behind experiments/claims.json: what they compute, on problems without data files."""

import numpy as np

from experiments.chu_keerthi_2007 import claims as chu_keerthi
from experiments.gu_2018.algorithm2 import accelerated_descent
from experiments.gu_2020 import claims as gu_2020
from experiments.items import Scope
from experiments.measures import cells_of, item, key_of, random_ranks
from experiments.shi_2021.claims import decision_regions
from experiments.shi_2021.first_dcd import complementary
from ordsvm import LinearNPSVOR
from ordsvm.formulations import svc
from ordsvm.kernels import RBF
from ordsvm.problem import Treatment
from tests.cases import random_data


def two_figures(quick: bool) -> dict[str, float]:
    """Two numbers."""
    return {"one": 1.0, "other": 2.0 if quick else 3.0}


def test_an_item_has_a_unit_a_measurement_and_a_cell_a_figure():
    made = item("title", "data", (two_figures,))
    (unit,) = made.units({}, Scope(quick=True))
    outcome = unit.function(**unit.arguments) | {"seconds": 0.1}
    found = made.summary({unit.key: outcome}, Scope())
    assert unit.key == key_of(two_figures)
    assert found["cells"] == cells_of(two_figures, outcome)
    assert found["cells"] == [{"key": "two_figures: one", "value": 1.0}, {"key": "two_figures: other", "value": 2.0}]
    assert found["protocol"] == {"two_figures": "Two numbers."}
    assert made.summary({}, Scope())["cells"] == []


def test_random_ranks_are_all_there_and_the_same_again():
    X, y = random_ranks(3)
    assert np.bincount(y, minlength=4).min() >= 2
    assert np.array_equal(y, random_ranks(3)[1])
    assert X.shape == (40, 3)


def test_sizes_and_kernels_are_as_computed_by_hand():
    assert set(chu_keerthi.sizes(True).values()) == {0}
    figures = gu_2020.extended_kernel(True)
    assert figures["rank of J"] == 4
    assert figures["largest rank of K + J"] == 33  # of K and J together, less the constant that they share


def test_arbitrary_costs_can_disorder_the_thresholds_and_growing_ones_can_not():
    figures = chu_keerthi.costs(True)
    assert figures["problems with disordered thresholds, any weights"] >= 1
    assert figures["problems with disordered thresholds, growing weights"] == 0


def test_the_counted_algorithm_solves_its_problem():
    X, y = random_data(0, n=60, n_ranks=2)
    problem, K = svc(np.where(y > 0, 1.0, -1.0), 1.0, Treatment.PENALIZED), RBF(0.5)(X, X)
    alpha, counts = accelerated_descent(problem, K, 1e-6, 20)
    assert problem.certificate(alpha, K @ problem.beta(alpha)).relative_gap < 1e-5
    assert counts.iter_inner == len(counts.active) > 0
    assert counts.iter_total >= counts.gbar_count > 0


def test_both_variables_of_a_sample_end_as_one():
    X, y = random_data(1, n=40, n_ranks=3)
    product, more, violation = complementary(X, y, rank=1, C=1.0, epsilon=0.1)
    assert (product, more) == (0.0, 0)
    assert violation < 1e-8


def test_summed_hyperplanes_have_fewer_jumps_than_the_nearest():
    figures = decision_regions(True)
    new, old = (figures[f"{rule}: mean share of neighbours two ranks apart"] for rule in ("new", "old"))
    assert new <= old
    assert LinearNPSVOR().predictor == "ordered"  # the new one
