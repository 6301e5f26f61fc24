"""A problem as a few lines of Python that make it again."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

from benchmarks.campaign.cases import Case, draw
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
        reasons="; ".join(reasons).replace('"""', "'''").replace("\\", "/"),
        recipe=_recipe(case.recipe),
        model=f"{case.estimator}({given})",
        first=FIRST.format(C=case.first_C, then=case.parameters["C"]) if case.first_C else "",
        case=f"Case({case.estimator!r}, {parameters!r}, recipe, {case.solver_options!r})",
    )


def save(folder: Path, campaign: Campaign, record: Record) -> Path:
    """Writes a failing problem to the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    case = draw(campaign.seed, record["number"], campaign.time_limit)
    path = folder / f"{record['outcome']}_{campaign.seed}_{record['number']}.py"
    path.write_text(lines(case, record["outcome"], record["reasons"]))
    return path


def _recipe(recipe: Recipe) -> str:
    """Without what is as usual."""
    different = {f.name: getattr(recipe, f.name) for f in fields(recipe) if getattr(recipe, f.name) != f.default}
    return f"Recipe({_arguments(different)})"


def _arguments(values: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in values.items())
