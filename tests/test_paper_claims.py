"""experiments/claims.json and docs/claims.md: every decided claim has a figure that a file has, and follows from it."""

import json
import re

import pytest

from experiments import claims
from experiments.items import HERE, PAPERS

ALL = claims.read()
DECIDED = [claim for claim in ALL if claim["verdict"] is not None]
REQUIRED = {"id", "paper", "page", "where", "claim", "test", "verdict", "evidence"}
OPTIONAL = {"needed", "obstacle", "note"}
PREFIX = dict(zip(PAPERS, ("ck07", "gu18", "gu20", "ma18", "sh21"), strict=True))


def test_there_are_enough_claims_of_every_paper():
    assert len(ALL) >= 60
    assert sum(claim["verdict"] in claims.VERDICTS[:3] for claim in ALL) >= 40
    assert {claim["paper"] for claim in ALL} == set(PAPERS)
    assert len({claim["id"] for claim in ALL}) == len(ALL)


@pytest.mark.parametrize("claim", ALL, ids=lambda claim: claim["id"])
def test_a_claim_is_complete(claim):
    assert set(claim) >= REQUIRED
    assert set(claim) <= REQUIRED | OPTIONAL
    assert re.fullmatch(rf"{PREFIX[claim['paper']]}-\d\d", claim["id"])
    assert claim["page"] >= 1
    assert claim["where"]
    assert claim["claim"].endswith(".")
    assert claim["test"]
    for piece in claim["evidence"] or []:
        assert sum(bound in piece for bound in claims.BOUNDS) == 1
    assert 1 <= claim.get("needed", 1) <= len(claim["evidence"] or [1])


@pytest.mark.parametrize("claim", DECIDED, ids=lambda claim: claim["id"])
def test_a_verdict_comes_from_figures_that_are_in_the_files(claim):
    assert claim["verdict"] in claims.VERDICTS
    if claim["verdict"] == "could not be tested":
        assert claim["obstacle"]
        return
    for piece in claim["evidence"]:
        assert piece["figure"] == claims.figure_of(piece)
        if "less_than" in piece:
            assert piece["other_figure"] == claims.figure_of(piece, piece["less_than"])
    assert claim["verdict"] == claims.verdict_of(claim)


def test_figures_and_page_are_up_to_date():
    """Otherwise: python -m experiments claims."""
    assert claims.refreshed(ALL) == ALL
    assert claims.PAGE.read_text(encoding="utf-8") == claims.page(ALL)


def test_a_bound_that_is_not_met_decides():
    evidence = [{"figure": 2.0, "at_most": 1.0}, {"figure": 3.0, "less_than": "x", "other_figure": 4.0}]
    claim = {"evidence": evidence}
    assert claims.verdict_of(claim) == "does not hold"
    assert claims.verdict_of(claim | {"needed": 1}) == "holds"
    assert claims.verdict_of({"evidence": [*evidence, evidence[1]]}) == "holds in part"  # two thirds
    assert claims.verdict_of({"evidence": [*evidence, {"at_most": 1.0}]}) is None  # not measured yet
    assert claims.verdict_of({"evidence": None}) is None
    assert claims.verdict_of({"evidence": None, "obstacle": "no data"}) == "could not be tested"
    assert claims.is_met({"figure": 1.0, "between": [1.0, 2.0]})
    assert not claims.is_met({"figure": 2.5, "between": [1.0, 2.0]})
    assert not claims.is_met({"figure": None, "at_least": 0.0})  # a goal that was not reached
    assert claims.is_met({"figure": 9.0, "less_than": "x", "other_figure": None})  # that the other has not reached


def test_a_figure_that_is_not_there_is_an_error():
    with pytest.raises(claims.NoFigure, match="no file"):
        claims.figure_of({"file": "benchmarks/results/no-such.json", "key": "x"})
    with pytest.raises(claims.NoFigure, match="'x'"):
        claims.figure_of({"file": "benchmarks/results/parsmo.json", "key": "x"})


def test_every_paper_has_its_texts():
    for paper in PAPERS:
        assert json.loads((HERE / paper / "expected.json").read_text(encoding="utf-8"))["items"]
        readme = (HERE / paper / "README.md").read_text(encoding="utf-8")
        assert all(f"## {part}" in readme for part in ("Claim", "Protocol", "What differs here"))
