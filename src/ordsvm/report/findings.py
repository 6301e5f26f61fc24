"""The findings on the page: those that training has recorded, or else those about the rows that are evaluated."""

from __future__ import annotations

from typing import Any

from ordsvm.diagnosis import diagnose
from ordsvm.findings import Finding
from ordsvm.report.contents import Predictions


def findings_section(model: Any, predictions: Predictions | None) -> list[Finding] | None:
    """None where there is nothing to go by: no record, and no rows."""
    recorded = getattr(model, "about_", {}).get("findings")
    if recorded is not None:
        return [Finding(str(each["name"]), str(each["sentence"]), str(each["remedy"])) for each in recorded]
    if predictions is None:
        return None
    return list(diagnose(model, predictions.rows, predictions.classes[predictions.true]))
