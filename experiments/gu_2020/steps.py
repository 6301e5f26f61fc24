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


def order(rows: list[Row]) -> list[Outcome]:
    """Shares of ordered snapshots, and how far into the run the last disordered one is."""
    last = [
        {"metric": _run(row) + "last disorder / steps", "value": row["last_disorder"] / row["steps"]} for row in rows
    ]
    return as_cells(rows, "share of ordered snapshots") + last


def cost_of_steps(rows: list[Row]) -> list[Outcome]:
    """Microseconds of a step of AsyORGCD over those of AsyGCD in the same setting."""
    cost = {_run(row): row["seconds"] / row["steps"] for row in rows}
    pairs = ((run, run.replace("AsyORGCD", "AsyGCD")) for run in cost if "AsyORGCD" in run)
    name = "microseconds of a step / those of AsyGCD"
    return [{"metric": run + name, "value": cost[run] / cost[other]} for run, other in pairs]


def _run(row: Row) -> str:
    return str(row["claim"].split(":")[0]) + ": "


ITEMS = {
    "figure2": from_benchmarks.item("Thresholds by iteration", "asy-order", order),
    "cost_of_steps": from_benchmarks.item("Cost of a step of AsyORGCD and of AsyGCD", "asy-order", cost_of_steps),
    "table2": from_benchmarks.item("Cost of an iteration", "asy-active", microseconds),
    "gathering": from_benchmarks.item(
        "AsyORGCD as printed and safeguarded", "asy-gathering", lambda rows: as_cells(rows, "steps of AsyORGCD")
    ),
}
