"""scikit-learn's own tests with classes of this library: the lists of failures, and how they are kept."""

import pickle
import tomllib

import pytest
import sklearn
import sklearn.model_selection as their_module
from sklearn.base import clone

from benchmarks import peer_tests
from benchmarks.contestants import PeerMissing
from benchmarks.peer_tests import failures
from benchmarks.peer_tests.failures import KINDS, Cause, Known, as_toml, compare, read
from benchmarks.peer_tests.suites import SUITES
from ordsvm import SVOR, OrdinalSearchCV

KNOWN = Known(
    "1.0",
    {
        "a.py::test_listed": Cause("missing", "It lacks a “part”."),
        "a.py::test_mended": Cause("documented", "Another default: C\\D."),
        "a.py::test_gone": Cause("documented", "Another default: C\\D."),
        "a.py::test_skipped": Cause("internals", "A message."),
    },
)
OUTCOMES = {
    "a.py::test_listed": {"outcome": "failed", "error": "E1"},
    "a.py::test_mended": {"outcome": "passed", "error": ""},
    "a.py::test_skipped": {"outcome": "skipped", "error": ""},
    "a.py::test_new[a-\n1]": {"outcome": "failed", "error": 'TypeError: "x"'},
    "a.py::test_fine": {"outcome": "passed", "error": ""},
}


def listed(text: str) -> dict[str, Cause]:
    entries = tomllib.loads(text)["failures"]
    return {test: Cause(entry["kind"], entry["reason"]) for entry in entries for test in entry["tests"]}


@pytest.mark.parametrize("suite", SUITES)
def test_every_failure_has_a_kind_and_a_reason(suite):
    known = read(suite)
    assert known.causes
    assert {cause.kind for cause in known.causes.values()} <= set(KINDS)
    assert all(cause.reason.endswith(".") for cause in known.causes.values())
    assert not any(cause.reason.startswith("NEW") for cause in known.causes.values())  # someone has looked at it


def test_a_list_with_a_mistake_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(failures, "FOLDER", tmp_path)
    entry = '[[failures]]\nkind = "missing"\nreason = "No."\ntests = ["a", "a"]\n'
    (tmp_path / "svm.toml").write_text('scikit-learn = "1"\n' + entry)
    with pytest.raises(ValueError, match="lists a twice"):
        read("svm")
    (tmp_path / "svm.toml").write_text('scikit-learn = "1"\n' + entry.replace("missing", "no matter"))
    with pytest.raises(ValueError, match="give a kind of internals, documented"):
        read("svm")


def test_what_a_run_and_its_list_disagree_about():
    difference = compare(KNOWN, OUTCOMES)
    assert difference.unlisted == ["a.py::test_new[a-\n1]"]
    assert difference.mended == ["a.py::test_mended"]
    assert difference.lost == ["a.py::test_gone"]


def test_a_new_list_keeps_reasons_and_calls_new_failures_bugs():
    text = as_toml("2.0", KNOWN, OUTCOMES)
    assert tomllib.loads(text)["scikit-learn"] == "2.0"
    assert listed(text) == {
        "a.py::test_listed": KNOWN.causes["a.py::test_listed"],
        "a.py::test_new[a- 1]": Cause("bug", 'NEW: TypeError: "x"'),
    }


def test_rows_miss_where_run_and_list_differ(monkeypatch):
    monkeypatch.setattr(peer_tests, "read", lambda suite: Known(sklearn.__version__, KNOWN.causes))
    monkeypatch.setattr(peer_tests, "outcomes_of", lambda suite: OUTCOMES)
    rows = {row["claim"]: row for row in peer_tests.run(quick=True)}
    figures = {claim: row["figure"] for claim, row in rows.items()}
    assert figures["svm: tests that pass"] == figures["svm: tests that fail"] == 2
    assert figures["svm: failures, missing"] == 1
    missed = [claim for claim, row in rows.items() if row["met"] is False]
    assert missed == [f"svm: {what}" for what in peer_tests.DISAGREEMENTS]
    assert "test_mended" in rows["svm: listed failures that pass"]["explanation"]


def test_another_scikit_learn_has_no_list(monkeypatch):
    monkeypatch.setattr(peer_tests, "read", lambda suite: KNOWN)
    with pytest.raises(PeerMissing, match=r"about scikit-learn 1\.0, not .*--list"):
        peer_tests.run(quick=True)


def test_a_class_with_other_defaults_is_an_estimator(monkeypatch):
    monkeypatch.setattr(their_module, "GridSearchCV", their_module.GridSearchCV)  # put back at the end
    SUITES["search-accuracy"].replace()
    search = their_module.GridSearchCV(SVOR(), {"C": [1.0]})
    assert isinstance(search, OrdinalSearchCV)
    assert search.scoring is None
    assert clone(search).get_params()["scoring"] is None
    assert type(pickle.loads(pickle.dumps(search))) is type(search)
    assert their_module.GridSearchCV(SVOR(), {"C": [1.0]}, scoring="mae").scoring == "mae"


def test_their_files_run_with_our_classes():
    """A part of a suite: what takes seconds."""
    known = read("svm")
    if known.version != sklearn.__version__:
        pytest.skip(f"the list is about scikit-learn {known.version}")
    try:
        found = peer_tests.outcomes_of("svm", only="test_l1_min_c or test_immutable_coef_property or test_gamma_scale")
    except PeerMissing as missing:
        pytest.skip(str(missing))
    assert compare(known, found).unlisted == []
    assert compare(known, found).mended == []
    errors = [outcome["error"] for test, outcome in found.items() if "l1_min_c" in test]
    assert all("LinearSVC.__init__() got an unexpected keyword argument 'penalty'" in error for error in errors)
    assert len(errors) == 12
    assert found["test_svm.py::test_immutable_coef_property[42]"]["outcome"] == "passed"
