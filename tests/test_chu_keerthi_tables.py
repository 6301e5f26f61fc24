"""Tables 2 and 3 of Chu & Keerthi in the laboratory: partitions, the two-stage search in parts, stars, agreement."""

import itertools

import numpy as np
import pytest

from benchmarks.datasets import DataMissing
from experiments import results, sides
from experiments.chu_keerthi_2007 import protocol, tables
from experiments.chu_keerthi_2007.protocol import DATA_SETS, METRICS
from experiments.items import Scope
from tests.cases import random_data


@pytest.mark.parametrize("name", DATA_SETS)
def test_partitions_have_the_paper_s_sizes(name):
    cells = results.expected("chu_keerthi_2007")["items"]["table2_partitions"]["cells"]
    sizes = {cell["metric"]: cell["value"] for cell in cells if cell["dataset"] == name}
    try:
        training, test = protocol.partition(name, 5, trial=1)
    except DataMissing as missing:
        pytest.skip(str(missing))
    more = 10 * (name in ("bank", "computer"))  # the paper's parts add up to 8,182 of 8,192 rows
    assert (len(training.y), len(test.y)) == (sizes["training rows"], sizes["test rows"] + more)
    assert training.X.shape[1] == sizes["features"] + 2 * (name == "abalone")  # its nominal column is three
    np.testing.assert_allclose(training.X.mean(axis=0), 0.0, atol=1e-9)
    again, _ = protocol.partition(name, 10, trial=1)
    np.testing.assert_array_equal(again.X, training.X)


def pretended(unit):
    """An outcome without training: the error is least at C = 10 and gamma = 0.05 on the first grid, 7 on the second."""
    if "trial" in unit.arguments:
        return {metric: {"point": {}, "zero_one": 0.4, "mae": 0.5} for metric in METRICS}
    grid = unit.arguments["grid"]
    errors = []
    for C in grid["C"]:
        distance = abs(np.log10(C / 7.0)) + abs(np.log10(grid["gamma"][0] / 0.05))
        folds = [distance] * (protocol.FOLDS if "device" in unit.arguments else 1)
        errors.append({"point": {"C": C, "gamma": grid["gamma"][0]}} | dict.fromkeys(METRICS, folds))
    return {"errors": errors}


def test_a_larger_set_is_tuned_in_two_stages_and_then_tried():
    column, done = tables.Column("census", 5, "EXC"), {}
    counts = []
    while ready := [u for u in column.units(done, 3) if u.arguments is not None and u.key not in done]:
        counts.append(len(ready))
        done |= {unit.key: pretended(unit) for unit in ready}
    assert counts == [7 * 5, 9 * 5, 3]
    points = tables.Tuning(column).points(done)
    assert points["mae"]["gamma"] == pytest.approx(0.05)
    assert points["mae"]["C"] == pytest.approx(10**0.8)  # of the second grid, the nearest to 7
    [zero_one, mae] = tables.Table(5, ("EXC",)).summary(done, Scope(3))["cells"]
    assert (zero_one["value"], mae["value"]) == (pytest.approx(0.4), pytest.approx(0.5))
    assert (mae["trials"], mae["tuned"]) == (3, "once")


def test_searches_on_a_device_are_a_unit_for_every_gamma_and_join_those_of_folds():
    column, done = tables.Column("census", 5, "EXC"), {}
    for unit in itertools.islice(column.units(done, 1), 5):  # the first gamma, fold by fold
        done[unit.key] = pretended(unit)
    counts = []
    while ready := [u for u in column.units(done, 1, "cuda") if u.arguments is not None and u.key not in done]:
        counts.append(len(ready))
        assert all(unit.arguments["device"] == "cuda" for unit in ready if "grid" in unit.arguments)
        done |= {unit.key: pretended(unit) for unit in ready}
    assert counts == [6, 9, 1]
    assert tables.Tuning(column).points(done)["mae"]["gamma"] == pytest.approx(0.05)
    assert [unit.key for unit in column.units(done, 1) if unit.key not in done] == []  # nor without the device


def test_a_search_on_a_device_has_the_errors_of_the_cpu(monkeypatch):
    pytest.importorskip("torch")
    part = protocol.Part(*random_data(0, n=40, n_ranks=3), 3)
    monkeypatch.setattr(protocol, "partition", lambda *_: (part, part))
    grid = {"C": [1.0, 10.0], "gamma": [0.5]}
    for method in ("SVR", "SLA", "EXC", "IMC"):
        whole = protocol.search_column("census", 3, method, grid, "torch:cpu")
        parts = [protocol.search_part("census", 3, method, grid, fold)["errors"] for fold in range(protocol.FOLDS)]
        assert [entry["point"] for entry in whole["errors"]] == [entry["point"] for entry in parts[0]]
        for place, entry in enumerate(whole["errors"]):
            for metric in METRICS:
                each = [fold[place][metric][0] for fold in parts]
                np.testing.assert_allclose(entry[metric], each, atol=1.01 / 8)  # a sample of a fold at most


def test_a_smaller_set_is_searched_in_every_trial():
    units = list(tables.Column("boston", 10, "SLA").units({}, 20))
    assert [unit.arguments["trial"] for unit in units] == list(range(20))


def test_the_first_among_equals_has_the_least_C():
    table = [{"point": {"C": C, "gamma": g}, "mae": [0.5, e]} for C, g, e in ((1, 1, 0.3), (1, 2, 0.1), (10, 1, 0.1))]
    assert protocol.best_point(table, "mae") == {"C": 1, "gamma": 2}


def test_stars_mark_what_is_significantly_worse():
    errors = {
        "SVR": [0.6, 0.61, 0.62, 0.63, 0.64],
        "IMC": [0.1, 0.11, 0.12, 0.13, 0.14],
        "EXC": [0.1, 0.2, 0.1, 0.2, 0.1],
    }
    cells = {method: {"value": float(np.mean(values))} for method, values in errors.items()}
    starred = list(tables.with_stars(cells, errors))
    assert [cell.get("significantly_worse", False) for cell in starred] == [True, False, False]


def test_rounded_regression_clips_and_rounds_half_up():
    assert protocol.ranks([-3.0, 0.5, 1.49, 9.0], 4).tolist() == [0, 1, 1, 3]


def test_a_mean_agrees_within_two_of_the_paper_s_deviations():
    about = {"dataset": "a", "method": "EXC", "metric": "mae"}
    paper = [about | {"value": 0.5, "sd": 0.1}]
    [near], [far] = (sides.pairs(paper, [about | {"value": value}]) for value in (0.69, 0.29))
    assert near.agrees
    assert far.agrees is False
    [alone] = sides.pairs(paper, [])
    assert alone.agrees is None
