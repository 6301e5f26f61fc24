"""Small data to spoil, and what a refusal of bad input has to look like."""

import re

import numpy as np
import pytest

from ordsvm import NPSVOR, SVOR, SVOREX, SVORIM, ShashuaLevinSVOR

ESTIMATORS = [SVOR, SVORIM, SVOREX, ShashuaLevinSVOR, NPSVOR]
COST_MODELS = [SVOR, SVORIM]

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3))
Y = np.repeat([1, 2, 3], 10)
K = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2))


def refuse(fit, error, pattern, *, one_line=True):
    """`fit()` must raise exactly this type, with a message that matches; ours (not scikit-learn's) are one line."""
    with pytest.raises(error) as caught:
        fit()
    message = str(caught.value)
    assert re.search(pattern, message, re.DOTALL), message
    if one_line:
        assert "\n" not in message
        assert len(message) < 300
