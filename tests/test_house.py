"""Bounds on the package's structure that are met stay met."""

import pytest

from tools.house import static_measures

KEPT = ("isinstance of label tables", "solver names used twice or more")


@pytest.mark.parametrize("name", KEPT)
def test_a_bound_that_is_met_stays_met(name):
    (measure,) = [each for each in static_measures() if each.name == name]
    assert measure.figure <= measure.most
