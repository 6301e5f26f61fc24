"""A problem as a few lines of Python that make it again."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

from benchmarks.campaign.cases import Case
from benchmarks.campaign.kinds import MODULES
from benchmarks.campaign.samples import Recipe
from benchmarks.campaign.workers import Campaign, Record

TEMPLATE = '''"""{outcome}: {reasons}

Run from the root of the repository.
"""

from benchmarks.campaign.answers import answer_of, gaussian
from benchmarks.campaign.cases import Case
from benchmarks.campaign.judge import judge
from benchmarks.campaign.samples import Recipe, make
from ordsvm import *
from ordsvm.solvers.registry import *

recipe = {recipe}
X, y, weight = make(recipe)
model = {model}
{first}model.fit(X, y, sample_weight=weight)
print(model.result_)
print(judge(answer_of({case}, model, (X, y, weight)))["reasons"])
'''

OTHER_KINDS = '''"""{outcome}: {reasons}

Run from the root of the repository.
"""

from benchmarks.campaign.kinds.{module} import Problem, judge
from benchmarks.campaign.samples import Recipe

problem = {problem!r}
verdict = judge(problem)
print(verdict)
'''

FIRST = "model.set_params(C={C!r}).fit(X, y, sample_weight=weight).set_params(C={then!r})\n"


def lines(case: Case, outcome: str, reasons: list[str]) -> str:
    from benchmarks.campaign.solvers import kind

    parameters = dict(case.parameters)
    texts = {name: repr(value) for name, value in parameters.items()}
    if case.solver_options:
        texts["solver"] = f"{kind(parameters['solver']).__name__}({_arguments(case.solver_options)})"
    if parameters.get("kernel") == "callable":
        texts["kernel"] = f"gaussian({texts.pop('gamma')})"
    given = ", ".join(f"{name}={text}" for name, text in texts.items())
    return TEMPLATE.format(
        outcome=outcome,
        reasons=_quoted(reasons),
        recipe=_recipe(case.recipe),
        model=f"{case.estimator}({given})",
        first=FIRST.format(C=case.first_C, then=case.parameters["C"]) if case.first_C else "",
        case=f"Case({case.estimator!r}, {parameters!r}, recipe, {case.solver_options!r})",
    )


def save(folder: Path, campaign: Campaign, record: Record) -> Path:
    """Writes a failing problem to the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    kind, problem = campaign.draw(record["number"])
    outcome, reasons = record["outcome"], record["reasons"]
    path = folder / f"{outcome}_{campaign.seed}_{record['number']}.py"
    if kind == "fit":
        path.write_text(lines(problem, outcome, reasons))
    else:
        words = {"outcome": outcome, "reasons": _quoted(reasons), "module": MODULES[kind], "problem": problem}
        path.write_text(OTHER_KINDS.format(**words))
    return path


def _quoted(reasons: list[str]) -> str:
    """Return the reasons as they may stand in a docstring."""
    return "; ".join(reasons).replace('"""', "'''").replace("\\", "/")


def _recipe(recipe: Recipe) -> str:
    """Without what is as usual."""
    different = {f.name: getattr(recipe, f.name) for f in fields(recipe) if getattr(recipe, f.name) != f.default}
    return f"Recipe({_arguments(different)})"


def _arguments(values: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in values.items())
