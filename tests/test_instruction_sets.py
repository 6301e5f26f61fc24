"""Instruction sets: the environment variable ORDSVM_ISA, and certified answers with each of them."""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from ordsvm import _core

AVX2 = {"avx", "avx2", "fma", "bmi1", "bmi2"}
NEEDED = {
    "baseline": set(),
    "avx2": AVX2,
    "avx512": AVX2 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
}
FITS = """
import json
import numpy as np
from scipy import sparse
from ordsvm import LinearSVOR, SVC, SVOR, SVORIM, SVR, _core, certify

random = np.random.default_rng(0)
X = random.standard_normal((230, 7))
f = X[:, 0] + X[:, 1] * X[:, 2] + 0.1 * random.standard_normal(230)
y = np.digitize(f, [-1, 0, 1])
ones = (random.random((230, 40)) < 0.2).astype(float)
rows = sparse.csr_array(sparse.random(230, 40, 0.3, format="csr", random_state=1))
fits = [
    (SVORIM(solver="block", C=3.0), X, y),
    (SVORIM(kernel="laplacian", solver="block"), X, y),
    (SVOR(kernel="poly", degree=3, coef0=1.0, solver="block"), X, y),
    (SVC(solver="block", gamma=0.1), ones, y > 1),
    (SVC(solver="block", gamma=0.02), sparse.csr_array(ones), y > 1),
    (SVC(kernel="linear", solver="block"), ones, y > 1),
    (SVOR(solver="block", gamma=0.5), rows, y),
    (SVC(kernel="laplacian", solver="block", gamma=0.1), rows, y > 1),
    (SVR(solver="smo"), X, f),
    (SVOR(solver="gcd"), X, y),
    (LinearSVOR(solver="rank-dcd"), X, y),
    (LinearSVOR(solver="rank-dcd"), rows, y),
    (LinearSVOR(solver="linear-interior-point"), X, y),
]
proofs = [certify(machine.fit(A, b), A, b) for machine, A, b in fits]
print(json.dumps({
    "set": _core.instruction_set,
    "statuses": [machine.result_.status for machine, A, b in fits],
    "gaps": [proof.relative_gap for proof in proofs],
    "objectives": [machine.result_.objective for machine, A, b in fits],
    "scores": [float(np.abs(getattr(m, "decision_function", m.predict)(A)).mean()) for m, A, b in fits],
}))
"""
FIFTY = """
import tempfile
from benchmarks import campaign
from benchmarks.campaign.workers import Campaign

with tempfile.TemporaryDirectory() as folder:
    from pathlib import Path
    fits = Campaign(seed=22, time_limit=1.0, kinds=("fit",))
    records = campaign.go_through(fits, problems=50, jobs=1, folder=Path(folder))
bad = [(r["number"], r["reasons"]) for r in records if r["outcome"] in ("wrong", "hung", "crashed")]
assert len(records) == 50 and not bad, bad
"""


def run(code, name):
    """What Python prints with dispatch limited to a set."""
    return subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"ORDSVM_ISA": name}, capture_output=True, text=True, check=False
    )


def test_sets_are_those_that_the_system_finds():
    flags = Path("/proc/cpuinfo")
    if platform.machine() not in ("x86_64", "AMD64") or not flags.is_file():
        pytest.skip("/proc/cpuinfo names the flags of x86-64 processors on Linux")
    found = set(next(line for line in flags.read_text().splitlines() if line.startswith("flags")).split())
    assert list(_core.instruction_sets) == [name for name, needed in NEEDED.items() if needed <= found]


def test_the_widest_without_a_variable():
    ran = run("from ordsvm import _core; print(_core.instruction_set)", "")
    assert ran.stdout.strip() == _core.instruction_sets[-1], ran.stderr


@pytest.mark.parametrize("name", ["sse9", "AVX2"])
def test_a_name_of_no_set_is_refused(name):
    ran = run("import ordsvm.kernels", name)
    assert ran.returncode != 0
    last = ran.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError")
    assert f"ORDSVM_ISA={name}: on this processor it can be {', '.join(_core.instruction_sets)}, or unset." in last


def test_the_command_says_it_in_one_line():
    ran = run("import sys, ordsvm_command; sys.argv = ['ordsvm', '--version']; ordsvm_command.main()", "sse9")
    assert ran.returncode == 2
    assert ran.stderr.startswith("ordsvm: ORDSVM_ISA=sse9: on this processor it can be")
    assert len(ran.stderr.splitlines()) == 1


@pytest.fixture(scope="module")
def answers():
    made = {}
    for name in _core.instruction_sets:
        ran = run(FITS, name)
        assert ran.returncode == 0, ran.stderr
        made[name] = json.loads(ran.stdout)
    return made


@pytest.mark.parametrize("name", _core.instruction_sets)
def test_the_variable_chooses_and_fits_are_certified(answers, name):
    assert answers[name]["set"] == name
    assert set(answers[name]["statuses"]) <= {"converged", "gap"}
    assert max(answers[name]["gaps"]) <= 1e-2


@pytest.mark.parametrize("name", _core.instruction_sets[1:])
def test_all_sets_agree(answers, name):
    baseline = answers["baseline"]
    assert answers[name]["objectives"] == pytest.approx(baseline["objectives"], rel=2e-3)
    assert answers[name]["scores"] == pytest.approx(baseline["scores"], rel=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize("name", _core.instruction_sets[:-1])
def test_fifty_random_problems(name):
    pytest.importorskip("clarabel")
    ran = run(FIFTY, name)
    assert ran.returncode == 0, ran.stderr
