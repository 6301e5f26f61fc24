"""Writes the table of results in README.md, between its markers, from benchmarks/results; a test compares.

python tools/readme_table.py
"""

from __future__ import annotations

import json
import math
from pathlib import Path

ROOT = Path(__file__).parent.parent
BEGIN, END = "<!-- results: python tools/readme_table.py -->", "<!-- end of results -->"
AUTHORS, REDSVM = "the authors' program (skordinal)", "REDSVM (skordinal)"
LIBSVM, ONEDAL = "LIBSVM (scikit-learn)", "oneDAL (scikit-learn-intelex)"
ROWS = (
    ("`SVOR`, california_housing, 5,000 rows, C = 1", "svor-california-5000-C1: training", (REDSVM,)),
    ("`SVOR`, california_housing, 20,640 rows, C = 1", "svor-california-20640-C1: training", (REDSVM,)),
    ("`SVORIM`, california_housing, 2,000 rows, C = 10", "svorim-california-2000-C10: training", (AUTHORS,)),
    ("`SVOREX`, california_housing, 2,000 rows, C = 10", "svorex-california-2000-C10: training", (AUTHORS,)),
    ("`SVC`, a9a, 32,561 rows, C = 1", "svc-a9a: training", (LIBSVM, ONEDAL)),
    ("`SVC`, 20,000 dense rows of 500", "svc-dense: training", (LIBSVM, ONEDAL)),
    ("`SVR`, california_housing, 10,000 rows, C = 10", "svr-california-10000-C10: training", (LIBSVM, ONEDAL)),
    ("prediction, california_housing", "predict-california", (LIBSVM, ONEDAL)),
)
NAMES = {AUTHORS: "the authors'", REDSVM: "REDSVM", LIBSVM: "LIBSVM", ONEDAL: "oneDAL"}


def table() -> str:
    """The lines between the markers."""
    rows = json.loads((ROOT / "benchmarks" / "results" / "peers.json").read_text(encoding="utf-8"))["rows"]
    figures = {row["claim"]: row["figure"] for row in rows}
    lines = ["| work | other program | its time / ours |", "|---|---|---:|"]
    for title, work, peers in ROWS:
        separator = ", " if work.endswith("training") else ": "
        ratios = [_number(figures[f"{work}{separator}{peer} / ours"]) for peer in peers]
        lines.append(f"| {title} | {', '.join(NAMES[peer] for peer in peers)} | {', '.join(ratios)} |")
    return "\n".join(lines)


def _number(ratio: float) -> str:
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}" if math.isfinite(ratio) else "–"


def with_table(text: str) -> str:
    """README.md with the table as it should be."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n{table()}\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    file = ROOT / "README.md"
    file.write_text(with_table(file.read_text(encoding="utf-8")), encoding="utf-8")
