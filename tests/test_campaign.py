"""The campaign of random problems: a slice of it, its judge, and its watchdog."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

pytest.importorskip("clarabel")

from benchmarks import campaign
from benchmarks.campaign import report, reproduction, workers
from benchmarks.campaign.answers import answer_of, train
from benchmarks.campaign.cases import KERNEL_MACHINES, LINEAR_MACHINES, Case, draw
from benchmarks.campaign.judge import judge
from benchmarks.campaign.samples import Recipe, make
from benchmarks.campaign.workers import Campaign
from ordsvm import LinearSVOR, estimators
from ordsvm.estimators.base import Machine
from tests.campaign_processes import dies, sleeps

FAILURES = ("wrong", "hung", "crashed")


def failures(records):
    return [(record["number"], record["reasons"]) for record in records if record["outcome"] in FAILURES]


def case_of(estimator="SVOR", **parameters):
    ranks = 0 if estimator.endswith("SVR") else 3
    kernel = {} if estimator in LINEAR_MACHINES else {"kernel": "rbf"}
    return Case(estimator, {"solver": "auto"} | kernel | parameters, Recipe(seed=1, n=25, d=3, ranks=ranks), {})


def test_a_slice(tmp_path):
    records = campaign.go_through(
        Campaign(seed=1, time_limit=0.3, kinds=("fit",)), problems=48, jobs=1, folder=tmp_path
    )
    assert failures(records) == []
    assert report.count(records)["tried"] == 48


@pytest.mark.slow
def test_a_slice_of_another_seed_every_day(tmp_path):
    records = campaign.go_through(Campaign(campaign.seed_of_today()), problems=500, folder=tmp_path)
    assert failures(records) == []


def test_the_campaign_has_all_machines():
    kinds = {name: getattr(estimators, name) for name in estimators.__all__}
    machines = {name for name, kind in kinds.items() if isinstance(kind, type) and issubclass(kind, Machine)}
    approximate = {name for name in machines if name.startswith("Nystroem")}  # what they train on is not in the answer
    assert machines - approximate == {*KERNEL_MACHINES, *LINEAR_MACHINES}


def test_the_campaign_has_all_solvers():
    from ordsvm.solvers.registry import LINEAR_SOLVERS, SOLVERS

    drawn = {draw(0, number, 1.0).parameters["solver"] for number in range(1000)}
    assert drawn == {"auto", *SOLVERS, *LINEAR_SOLVERS}


def test_the_judge_imports_nothing_of_the_library():
    code = "import sys; sys.modules['ordsvm'] = None; import benchmarks.campaign.judge.verdict"
    subprocess.run([sys.executable, "-c", code], check=True)


# What is wrong is found


def shifted(name, place=..., by=0.1):
    def change(answer):
        answer[name] = np.array(answer[name], dtype=float, copy=True)
        answer[name][place] += by

    return change


def claimed(**claims):
    return lambda answer: answer["claims"][0].update(claims)


CHANGES = {
    "objective": (claimed(objective=1.0), "objective"),
    "gap": (claimed(gap=0.0), "gap"),
    "alpha": (shifted("alpha"), "dual_coef_ is not that of alpha"),
    "alpha above its cap": (shifted("alpha", by=1e3), "infeasible"),
    "alpha below 0": (shifted("alpha", by=-1.0), "infeasible"),
    "thresholds": (lambda answer: shifted("b", by=0.1)(answer), "converged with relative gap"),
    "scores": (shifted("decision_function", by=1e-3), "scores differ"),
    "a prediction": (shifted("predictions", place=0, by=1), "predictions"),
    "tol": (lambda answer: answer.update(tol=1e-9), "converged with"),
    "gamma": (lambda answer: answer["kernel"].update(gamma=1.0), "gamma is"),
    "C": (lambda answer: answer["parameters"].update(C=2.0), "violation"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_judge_finds_what_is_wrong(change):
    case = case_of(C=1.0, gamma="scale")
    model, data, _ = train(case)
    answer = answer_of(case, model, data)
    assert judge(dict(answer))["reasons"] == []
    spoil, expected = CHANGES[change]
    spoil(answer)
    assert any(expected in reason for reason in judge(answer)["reasons"]), judge(answer)


@pytest.mark.parametrize("estimator", KERNEL_MACHINES + LINEAR_MACHINES)
def test_the_judge_finds_a_wrong_claim_of_every_estimator(estimator):
    case = case_of(estimator, C=1.0)
    model, data, _ = train(case)
    answer = answer_of(case, model, data)
    verdict = judge(dict(answer))
    assert verdict["reasons"] == []
    assert verdict["optima"] == len(verdict["proofs"])
    answer["claims"][0]["objective"] *= 0.99
    assert "is claimed" in judge(answer)["reasons"][0]


# What ends badly is counted, saved and left behind


@pytest.mark.parametrize(("work", "outcome"), [(dies, "crashed"), (sleeps, "hung")])
def test_the_campaign_goes_on(work, outcome):
    hard = Campaign(seed=1, time_limit=0.1, grace=60.0 if outcome == "crashed" else 0.1, work=work)
    records = list(workers.run(hard, [4, 5], jobs=1))
    assert [(record["number"], record["outcome"]) for record in records] == [(4, outcome), (5, outcome)]


def test_an_interrupted_campaign_is_resumed(tmp_path):
    hard = Campaign(seed=1, time_limit=0.1, grace=60.0, work=dies)
    begun = campaign.go_through(hard, problems=2, jobs=1, folder=tmp_path)
    resumed = campaign.go_through(hard, problems=3, jobs=1, resume=True, folder=tmp_path)
    assert resumed[:2] == begun
    assert [record["number"] for record in resumed] == [0, 1, 2]


@pytest.mark.parametrize("number", range(12))
def test_saved_lines_make_the_problem_again(number, tmp_path, capsys):
    there = Campaign(seed=5, time_limit=0.3, kinds=("fit",))
    record = {"number": number, "outcome": "wrong", "reasons": ["as an example"]}
    path = reproduction.save(tmp_path, there, record)
    lines: dict = {}
    exec(path.read_text(), lines)
    model, (_, y, _), _ = train(draw(5, number, 0.3))
    np.testing.assert_array_equal(lines["y"], y)
    assert lines["model"].result_.solver == model.result_.solver
    assert lines["model"].get_params()["C"] == model.C


def test_clarabels_optimum_of_badly_scaled_features_is_that_of_the_features():
    """A factor of K = XX' has directions that are rounding: by these an objective was below the dual of a right α."""
    case = draw(20261117, 1256, time_limit=10.0)
    X, y, weight = make(case.recipe)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LinearSVOR(**case.parameters | {"time_limit": None}).fit(X, y, sample_weight=weight)
    assert judge(answer_of(case, model, (X, y, weight)))["reasons"] == []
