"""A fit prints nothing, and with verbose=True lines to stderr only."""

import re
import warnings

import pytest

from ordsvm import certify
from tests.process_cases import ESTIMATORS, ordinal_data, slowness, stopped_fit


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_fit_prints_nothing(estimator, capfd):
    X, y = ordinal_data(n=600)
    with warnings.catch_warnings(action="error"):
        model = estimator(C=10.0).fit(X, y)
        model.predict(X)
        certify(model, X, y)
    stopped_fit(estimator, time_limit=0.3)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_verbose_prints_lines_to_stderr_only(estimator, capfd):
    limit = 1.2 * slowness()  # for two looks at least, of many steps each
    model, _, _, _ = stopped_fit(estimator, time_limit=limit, verbose=True, solver="block")
    out, err = capfd.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert len(lines) == len(model.result_.history) >= 2
    for line, progress in zip(lines, model.result_.history, strict=True):
        assert re.fullmatch(
            rf"\[{progress.solver}\] +[\d.]+ s +[\d,]+ steps +objective \S+ +relative gap \S+ +"
            r"violation \S+ +[\d,]+ support vectors",
            line,
        )
