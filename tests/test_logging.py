"""A line of the standard logging module for every fit, and nothing where the program did not ask for it."""

import logging

import pytest

from ordsvm import NPSVOR, SVC, SVOR, LinearSVOR
from tests.cases import random_data

X, Y = random_data(0, n=60, n_ranks=3)


@pytest.mark.parametrize("kind", [SVOR, SVC, NPSVOR, LinearSVOR])
def test_a_fit_is_one_line(kind, caplog):
    with caplog.at_level(logging.INFO, logger="ordsvm"):
        model = kind().fit(X, Y)
    (record,) = caplog.records
    assert record.name == "ordsvm"
    assert record.getMessage().startswith(f"{kind.__name__}: converged by {model.result_.solver} after ")


def test_nothing_is_shown_by_default(capfd):
    SVOR().fit(X, Y)
    assert capfd.readouterr() == ("", "")
