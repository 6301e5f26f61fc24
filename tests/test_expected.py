"""The papers' numbers in experiments/*/expected.json: every table has all its cells, and they are plausible."""

import json
from collections import defaultdict
from itertools import product
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "experiments"
PAPERS = ("chu_keerthi_2007", "gu_2018", "gu_2020", "manno_2018", "shi_2021")
CK_SETS = ("pyrimidines", "machine_cpu", "boston", "abalone", "bank", "computer", "california", "census")
ERRORS = ("zero_one", "mae")
SQUARES = ("mae", "mse")
LINEAR = ("SVC", "SVR", "RedSVM", "NPSVOR")
KERNEL = ("SVC", "SVR", "SVOR", "RedSVM", "NPSVOR", "LinearNPSVOR")

# Rows times columns as printed; footers and left columns are items of their own.
CELLS = {
    ("chu_keerthi_2007", "table2"): 8 * 3 * 2,
    ("chu_keerthi_2007", "table2_partitions"): 8 * 3,
    ("chu_keerthi_2007", "table3"): 8 * 4 * 2,
    ("gu_2018", "table1"): 11 * 2,
    ("gu_2018", "table2"): 8 * 3,
    ("gu_2020", "table2"): 12 * 3,
    ("gu_2020", "table3"): 7 * 4,
    ("manno_2018", "table1"): 6 * 3,
    ("shi_2021", "table1"): 15 * 5,
    ("shi_2021", "table2"): 15 * 2 * 2,
    ("shi_2021", "table3"): 15 * 6 * 2,
    ("shi_2021", "table3_ranks"): 6 * 2,
    ("shi_2021", "table4"): 15 * 4 * 2,
    ("shi_2021", "table4_ranks"): 4 * 2,
    ("shi_2021", "table5"): 15 * 4,
}


def read(paper):
    return json.loads((FOLDER / paper / "expected.json").read_text(encoding="utf-8"))


def cells(paper, item):
    return read(paper)["items"][item]["cells"]


def columns(paper, item):
    """(data set, metric) → method → value."""
    found = defaultdict(dict)
    for cell in cells(paper, item):
        found[cell["dataset"], cell["metric"]][cell["method"]] = cell["value"]
    return found


@pytest.mark.parametrize("paper", PAPERS)
def test_every_item_has_page_title_and_distinct_cells(paper):
    read_paper = read(paper)
    assert read_paper["paper"]
    assert read_paper["pages"]
    for item in read_paper["items"].values():
        assert item["page"] >= 1
        assert item["title"]
        assert all("metric" in cell and "value" in cell for cell in item["cells"])
        assert len({json.dumps(cell, sort_keys=True) for cell in item["cells"]}) == len(item["cells"])


@pytest.mark.parametrize(("paper", "item"), CELLS)
def test_every_cell_of_a_table_is_there(paper, item):
    assert len(cells(paper, item)) == CELLS[paper, item]


def test_no_table_is_left_uncounted():
    tables = {(paper, item) for paper in PAPERS for item in read(paper)["items"] if item.startswith("table")}
    assert tables == set(CELLS)


@pytest.mark.parametrize(
    ("item", "bins", "methods"), [("table2", 5, ("SVR", "EXC", "IMC")), ("table3", 10, ("SVR", "SLA", "EXC", "IMC"))]
)
def test_chu_keerthi_errors_are_plausible(item, bins, methods):
    found = cells("chu_keerthi_2007", item)
    shape = {(cell["dataset"], cell["method"], cell["metric"]) for cell in found}
    assert shape == set(product(CK_SETS, methods, ERRORS))
    for cell in found:
        assert cell["bins"] == bins
        assert 0 <= cell["sd"] < cell["value"] < (1 if cell["metric"] == "zero_one" else bins - 1)
    by_column = columns("chu_keerthi_2007", item)
    for name in CK_SETS:  # a wrong rank costs at least 1
        assert all(by_column[name, "mae"][method] >= by_column[name, "zero_one"][method] for method in methods)


def test_chu_keerthi_marks_are_the_lowest_means_but_one():
    """california of Table 3 is the exception that `doubts` names."""
    for item in ("table2", "table3"):
        by_column = columns("chu_keerthi_2007", item)
        for cell in cells("chu_keerthi_2007", item):
            lowest = min(by_column[cell["dataset"], cell["metric"]].values())
            doubted = (item, cell["dataset"], cell["metric"]) == ("table3", "california", "zero_one")
            if cell.get("lowest") and not doubted:
                assert cell["value"] == lowest
            assert not (cell.get("significantly_worse") and cell["value"] == lowest)


@pytest.mark.parametrize(
    ("item", "methods"),
    [("table2", ("old prediction", "new prediction")), ("table3", KERNEL), ("table4", LINEAR)],
)
def test_shi_errors_are_plausible(item, methods):
    by_column = columns("shi_2021", item)
    names = {name for name, _ in by_column}
    assert len(names) == 15
    assert set(by_column) == set(product(names, SQUARES))
    for name, method in product(names, methods):  # squared errors of whole ranks
        assert 0 < by_column[name, "mae"][method] <= by_column[name, "mse"][method] < 49
    for cell in cells("shi_2021", item):
        if cell.get("lowest"):
            assert cell["value"] == min(by_column[cell["dataset"], cell["metric"]].values())


def test_shi_tables_2_and_4_agree():
    tuned, compared = columns("shi_2021", "table2"), columns("shi_2021", "table4")
    assert all(tuned[key]["new prediction"] == compared[key]["NPSVOR"] for key in compared)


@pytest.mark.parametrize(("item", "methods"), [("table3", KERNEL), ("table4", LINEAR)])
def test_shi_mean_ranks_follow_from_the_cells(item, methods):
    """A digit read wrongly moves a mean rank; ties of three digits leave it between two bounds."""
    by_column = columns("shi_2021", item)
    for printed in cells("shi_2021", item + "_ranks"):
        least = most = 0
        for row in (row for (_, metric), row in by_column.items() if metric == printed["metric"]):
            own = row[printed["method"]]
            least += 1 + sum(value < own for value in row.values())
            most += sum(value <= own for value in row.values())
        assert least / 15 - 5e-4 <= printed["value"] <= most / 15 + 5e-4


def test_sizes_and_times_are_positive():
    for paper, item in (("shi_2021", "table5"), ("shi_2021", "table1"), ("gu_2020", "table3"), ("gu_2018", "table2")):
        assert all(cell["value"] is None or cell["value"] > 0 for cell in cells(paper, item))
    lost = [cell for cell in cells("gu_2018", "table2") if cell["value"] is None]
    assert {cell["metric"] for cell in lost} == {"features"}
