"""results.json of the laboratory: what was measured before stays where new records have less."""

import json

import pytest

from experiments import __main__ as command
from experiments import results
from experiments.items import Item, Scope, Unit
from experiments.records import RecordFile

OLD = {"machine": {"cores": 16}, "versions": {"numpy": "1"}}
NEW = {"machine": {"cores": 2}, "versions": {"numpy": "2"}}


def cell(dataset, value, **more):
    return {"dataset": dataset, "method": "EXC", "metric": "mae", "value": value} | more


def made(*cells, **more):
    return NEW | {"cells": list(cells)} | more


def test_cells_of_more_trials_stay_and_say_by_what_they_were_measured():
    before = OLD | {"cells": [cell("a", 1.0, trials=5), cell("b", 1.0, trials=5), cell("c", 1.0, trials=5)]}
    new = made(cell("a", 2.0, trials=5), cell("b", 2.0, trials=4), cell("d", 2.0, trials=1))
    found = results.merged(before, new, is_whole=False)
    assert found["cells"] == [
        cell("a", 2.0, trials=5),
        cell("b", 1.0, trials=5, earlier=0),
        cell("c", 1.0, trials=5, earlier=0),
        cell("d", 2.0, trials=1),
    ]
    assert found["earlier"] == [OLD]
    assert found["machine"] == NEW["machine"]
    again = results.merged(found, made(cell("c", 3.0, trials=9)), is_whole=False)
    assert [(c["value"], c.get("earlier")) for c in again["cells"]] == [(2.0, None), (1.0, 0), (3.0, None), (2.0, None)]
    assert again["earlier"] == [OLD]


def test_a_whole_item_keeps_no_cell_that_it_does_not_have_any_more():
    before = OLD | {"cells": [cell("a", 1.0), cell("b", 1.0, trials=5)]}
    assert results.merged(before, made(cell("b", 2.0, trials=5)), is_whole=True) == made(cell("b", 2.0, trials=5))
    found = results.merged(before, made(cell("b", 2.0, trials=1)), is_whole=True)
    assert found["cells"] == [cell("b", 1.0, trials=5, earlier=0)]


def test_entries_of_other_lists_stay_with_their_cells():
    before = OLD | {"cells": [cell("a", 1.0), cell("b", 1.0)], "beyond": [cell("a", 7), {"dataset": "b", "C": 1}]}
    new = made(cell("b", 2.0), beyond=[{"dataset": "b", "C": 2}], notes=["a text"])
    found = results.merged(before, new, is_whole=False)
    assert found["beyond"] == [cell("a", 7), {"dataset": "b", "C": 2}]
    assert found["notes"] == ["a text"]


def square(number):
    return {"square": number**2}


def squares(trials):
    def units(done, scope):
        return [Unit(f"square/{n}", square, {"number": n}) for n in range(trials)]

    def summary(done, scope):
        found = [done[f"square/{n}"]["square"] for n in range(trials) if f"square/{n}" in done]
        cells = [{"metric": "sum", "value": sum(found), "trials": len(found)}] if found else []
        return {"data": "numbers", "protocol": "squares", "cells": cells}

    return Item("Squares", units, summary, remarks=lambda shown: [f"{len(shown['cells'])} cells"])


def test_lost_records_lose_no_results(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "HERE", tmp_path)
    monkeypatch.setattr(command, "items_of", lambda paper: {"squares": squares(3)})
    run = ["chu_keerthi_2007", "squares", "--jobs", "1", "--work"]
    assert command.main([*run, str(tmp_path / "first")]) == 0
    whole = json.loads(results.path_of("chu_keerthi_2007").read_text())
    assert whole["items"]["squares"]["cells"] == [{"metric": "sum", "value": 5, "trials": 3}]
    assert command.main([*run, str(tmp_path / "second"), "--only", "square/1"]) == 0
    assert list(RecordFile(tmp_path / "second" / "chu_keerthi_2007.jsonl")) == ["square/1"]
    assert json.loads(results.path_of("chu_keerthi_2007").read_text()) == whole
    assert whole["items"]["squares"]["remarks"] == ["1 cells"]


def test_patterns_of_keys():
    assert Scope(only=("a/*", "b")).has("a/trial1")
    assert not Scope(only=("a/*", "b")).has("b/trial1")
    assert Scope().has("anything")


def test_a_device_is_asked_for_where_there_is_a_search(capsys):
    for arguments, text in (
        (["manno_2018", "--device", "torch:cpu"], "none of these items has a search"),
        (["chu_keerthi_2007", "table3", "--device", "gpu"], "device='gpu' is unknown"),
    ):
        with pytest.raises(SystemExit):
            command.main(arguments)
        assert text in capsys.readouterr().err
