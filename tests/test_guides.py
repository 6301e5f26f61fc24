"""docs/add_a_formulation.md and docs/add_a_solver.md are followed literally in a copy of the sources, and work."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ordsvm import _core

ROOT = Path(__file__).resolve().parent.parent

# The copy is found first, not the editable install.
PROGRAM = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if not type(finder).__name__.endswith("RedirectingFinder")]
sys.path[:0] = [sys.argv[1] + "/src", sys.argv[1]]
"""

FORMULATION = """
import numpy as np
from ordsvm import AdjacentSVOR, certify
from tests.cases import FORMULATIONS, N_RANKS, random_data
from tests.oracle import dual_optimum

X, y = random_data(0, n=40)
model = AdjacentSVOR(C=2.0, gamma=0.3, tol=1e-6).fit(X, y)
assert certify(model, X, y).relative_gap <= 1e-6
problem = FORMULATIONS["adjacent_svor"](y, N_RANKS, 2.0)
best = dual_optimum(problem, model.kernel_(X, X)).objective
np.testing.assert_allclose(model.result_.objective, best, rtol=1e-5)
"""

SOLVER = """
from ordsvm import NPSVOR, SVC, SVOR, certify
from ordsvm.solvers import Cyclic
from tests.cases import random_data

X, y = random_data(0, n=40)
for model in (SVOR(solver="cyclic"), NPSVOR(solver=Cyclic()), SVC(solver="cyclic", intercept="none")):
    model.set_params(gamma=0.3, tol=1e-5).fit(X, y)
    assert model.result_.solver == "cyclic"
    assert model.result_.converged
    assert certify(model, X, y).relative_gap <= 1e-5
assert SVOR(solver="cyclic", max_iter=1, tol=1e-9).fit(X, y).result_.status == "max_iter"
"""


def steps(guide):
    """(file, old text, new text) of every ```diff block of a guide; a file without old text is a new one."""
    found = []
    text = (ROOT / "docs" / guide).read_text(encoding="utf-8")
    for block in re.findall(r"^ *```diff\n(.*?)^ *```$", text, re.DOTALL | re.MULTILINE):
        lines = [line[3:] for line in block.splitlines()]
        assert lines[0].startswith("+++ ")
        old = [line[1:] for line in lines[1:] if not line.startswith("+")]
        new = [line[1:] for line in lines[1:] if not line.startswith("-")]
        found.append((lines[0][4:], "".join(f"{line}\n" for line in old), "".join(f"{line}\n" for line in new)))
    return found


def follow(guide, root):
    for file, old, new in steps(guide):
        path = root / file
        if old == "":
            assert not path.exists()
            path.write_text(new, encoding="utf-8")
            continue
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{file} has this {text.count(old)} times:\n{old}"
        path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize(
    ("guide", "program"),
    [("add_a_formulation.md", FORMULATION), ("add_a_solver.md", SOLVER)],
    ids=lambda name: name[:12],
)
def test_the_guide_followed_literally_works(guide, program, tmp_path):
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    shutil.copytree(ROOT / "tests", tmp_path / "tests", ignore=shutil.ignore_patterns("cpp", "__pycache__"))
    shutil.copy(_core.__file__, tmp_path / "src" / "ordsvm")
    follow(guide, tmp_path)
    command = [sys.executable, "-W", "error::SyntaxWarning", "-c", PROGRAM + program, str(tmp_path)]
    found = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert found.returncode == 0, found.stderr
