"""How much memory training takes beside the data: weights, and dual variables.

Measured in a child process, by the high-water mark of its resident memory, which is set back just before training.
malloc is set to give back what is freed, so that the mark is what training needs and not what malloc hoards.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ALLOWANCE = 4 << 20  # Python objects, stacks of threads, pages begun

CHILD = """
import sys
import numpy as np
import scipy.sparse as sp
from ordsvm import LinearNPSVOR, LinearSVR

def resident(which):
    lines = open("/proc/self/status").read().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(which))

n_rows, n_features, n_ranks, dtype = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
random = np.random.default_rng(0)
columns = random.integers(0, n_features, size=16 * n_rows, dtype=np.int32)
X = sp.csr_matrix(
    (random.random(len(columns), dtype=dtype), columns, np.arange(0, len(columns) + 1, 16, dtype=np.int32)),
    shape=(n_rows, n_features),
)
y = random.integers(0, n_ranks, size=n_rows) if n_ranks > 1 else random.random(n_rows)
machine = LinearNPSVOR if n_ranks > 1 else LinearSVR
machine(n_threads=2).fit(X[:2000], y[:2000])  # whatever the first fit loads
before = resident("VmRSS")
open("/proc/self/clear_refs", "w").write("5")
model = machine(C=0.01, tol=0.05, n_threads=2).fit(X, y)
print(resident("VmHWM") - before, model.result_.relative_gap)
"""


def can_measure() -> bool:
    return Path("/proc/self/clear_refs").exists() and Path("/proc/self/status").exists()


@pytest.mark.skipif(not can_measure(), reason="needs the memory figures of Linux's /proc")
@pytest.mark.parametrize("shape", [(600_000, 50_000), (50_000, 1_000_000)], ids=["many rows", "many features"])
@pytest.mark.parametrize("n_ranks", [5, 8])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_training_takes_three_copies_of_the_weights_and_8_bytes_a_row_and_rank(shape, n_ranks, dtype):
    n_rows, n_features = shape
    taken = bytes_taken(n_rows, n_features, n_ranks, dtype)
    assert taken <= 3 * 4 * n_features * n_ranks + 8 * n_rows * n_ranks + ALLOWANCE
    assert taken >= 4 * n_features * n_ranks + 4 * n_rows * n_ranks  # or else it was not measured


@pytest.mark.skipif(not can_measure(), reason="needs the memory figures of Linux's /proc")
def test_a_proof_that_begins_during_a_pass_takes_no_fourth_copy_of_the_weights():
    """One weight vector, float32, beside the float64 weights of the proof."""
    taken = bytes_taken(20_000, 4_000_000, 1, "float32")
    assert 8 * 4_000_000 <= taken <= 3 * 4 * 4_000_000 + 64 * 20_000 + ALLOWANCE


def bytes_taken(n_rows: int, n_features: int, n_ranks: int, dtype: str) -> float:
    """By LinearNPSVOR, or LinearSVR where there is one rank."""
    environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}
    command = [sys.executable, "-c", CHILD, str(n_rows), str(n_features), str(n_ranks), dtype]
    child = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert child.returncode == 0, child.stderr
    taken, gap = map(float, child.stdout.split())
    assert gap <= 0.05
    return taken
