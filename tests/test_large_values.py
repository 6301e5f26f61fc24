"""Very large samples, C and weights give a finite model or a clear sentence."""

import json
import os
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import ordsvm
from tests.refusals import ESTIMATORS, X, Y, refuse

# Very large training data: in processes of their own, for this is where a core crashes or hangs

LARGE_CHILD = """
import json, os, signal, sys, warnings
import numpy as np, scipy.sparse as sp
import ordsvm

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
n = 30
X, y = rng.normal(size=(n, 3)), np.repeat([1, 2, 3], n // 3)
K = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2))

def outcome(name, kernel, scale):
    data = sp.csr_array(scale * X) if kernel.endswith("csr") else scale * (K if kernel == "precomputed" else X)
    function = lambda A, B: scale * np.exp(-(((A[:, None] - B) / scale) ** 2).sum(axis=2))
    model = getattr(ordsvm, name)(kernel=function if kernel == "callable" else kernel.split("-")[0], time_limit=0.3)
    try:
        model.fit(data, y)
        score = model.decision_function(data)
    except Exception as error:
        return {"error": type(error).__name__, "message": str(error)}
    result = model.result_
    thresholds = np.concatenate(model._model_thresholds())
    numbers = [*thresholds, *score.ravel(), *result.alpha, result.gap, result.violation, result.objective]
    return {"finite": bool(np.all(np.isfinite(numbers))), "status": result.status, "gap": result.gap}

for case in json.load(sys.stdin):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        os.write(writer, json.dumps(outcome(*case)).encode())
        os._exit(0)
    os.close(writer)
    said = os.fdopen(reader).read()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    print(json.dumps(json.loads(said) if code == 0 else {"signal": signal.Signals(-code).name}), flush=True)
"""

LARGE_KERNELS = ["linear", "linear-csr", "rbf", "rbf-csr", "poly", "sigmoid", "laplacian", "precomputed", "callable"]
LARGE_SCALES = [1e20, 1e40, 1e150, 1e300]


@pytest.fixture(scope="module")
def large_outcomes():
    """What came of every case; all in one child, which forks for each of them."""
    cases = [
        (model.__name__, kernel, scale) for model in ESTIMATORS for kernel in LARGE_KERNELS for scale in LARGE_SCALES
    ]
    done = subprocess.run(
        [sys.executable, "-c", LARGE_CHILD],
        input=json.dumps(cases),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    return dict(zip(cases, map(json.loads, done.stdout.splitlines()), strict=True))


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("scale", LARGE_SCALES)
@pytest.mark.parametrize("kernel", LARGE_KERNELS)
def test_very_large_values_give_a_finite_model_or_a_clear_sentence(large_outcomes, estimator, kernel, scale):
    """x·y overflows in float32 from 1e20 on, in float64 from 1e155 on; a kernel matrix itself from 1e39 on."""
    outcome = large_outcomes[estimator.__name__, kernel, scale]
    if "error" in outcome:
        assert outcome["error"] == "ValueError", outcome
        assert re.search(r"large|overflow|infinit|finite|[Ss]tandardi[sz]e", outcome["message"]), outcome
        assert "\n" not in outcome["message"]
    else:
        assert outcome.get("finite"), outcome


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("C", [1e-300, 1e-100, 1e100, 1e300])
def test_an_extreme_C_gives_a_finite_model(estimator, C):
    model = estimator(C=C, time_limit=5.0).fit(X, Y)
    assert np.all(np.isfinite(np.concatenate(model._model_thresholds())))
    assert np.all(np.isfinite(model.decision_function(X)))
    assert np.isfinite(model.result_.gap)


@pytest.mark.usefixtures("no_solver")
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(("C", "weight"), [(1e300, 1e300), (1e-300, 1e-300)])
def test_a_C_times_weight_out_of_range(estimator, C, weight):
    pattern = r"(C|weight).*(large|small|overflow|underflow|zero|finite)"
    with warnings.catch_warnings(action="ignore"):
        refuse(lambda: estimator(C=C).fit(X, Y, sample_weight=np.full(30, weight)), ValueError, pattern)


def test_a_gap_of_rounding_is_not_the_kernels_fault():
    """K is definite and α exact, but C times the rounding of a score is more than tol of the objective."""
    with pytest.warns(ConvergenceWarning, match="float64 sums can't resolve such a tol"):
        model = ordsvm.SVC(kernel="precomputed", solver="smo").fit(1e13 * np.eye(2), [0, 1])
    assert model.result_.status == "precision"
    assert model.result_.violation == 0.0
