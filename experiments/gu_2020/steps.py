"""Figure 2 of Gu et al. (2020), thresholds on the way, and the measured counterpart of Table 2, the cost of a step."""

from __future__ import annotations

from experiments import from_benchmarks
from experiments.from_benchmarks import Row, as_cells
from experiments.items import Outcome


def microseconds(rows: list[Row]) -> list[Outcome]:
    """Of a step, from seconds and steps of whole runs on two threads."""
    return [
        {
            "dataset": row["claim"].split(":")[0],
            "method": method,
            "metric": "microseconds of a step",
            "value": 1e6 * row["seconds"][method] / row["steps"][method],
        }
        for row in rows
        if "seconds of AsyGCD / of AsyAGCD" in row["claim"]
        for method in row["seconds"]
    ]


ITEMS = {
    "figure2": from_benchmarks.item(
        "Thresholds by iteration", "asy-order", lambda rows: as_cells(rows, "share of ordered snapshots")
    ),
    "table2": from_benchmarks.item("Cost of an iteration", "asy-active", microseconds),
    "gathering": from_benchmarks.item(
        "AsyORGCD as printed and safeguarded", "asy-gathering", lambda rows: as_cells(rows, "steps of AsyORGCD")
    ),
}
