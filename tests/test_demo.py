"""The demo: a table of every model, and nothing beside it."""

import warnings

import pytest

from ordsvm import ModelWarning, demo


def test_the_demo_shows_a_table_and_no_warnings_of_the_models_of_its_grid(monkeypatch, capsys):
    pytest.importorskip("rich")
    named = [candidate for candidate in demo.candidates() if candidate[0] in ("SVORIM", "Shashua–Levin")]
    monkeypatch.setattr(demo, "candidates", lambda: named)
    monkeypatch.setattr(demo, "N_FOLDS", 2)
    monkeypatch.setattr(demo, "GRID", {"C": [0.1, 1.0], "gamma": [0.02]})
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        assert demo.main() == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name, *_ in named)
    assert [warning for warning in given if issubclass(warning.category, ModelWarning)] == []
