"""A fit that is killed and goes on: what a checkpoint is for.

Starts itself as another process, kills that in the middle of a fit, and goes on with the same call.
Run:  python examples/long_fit.py
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from ordsvm import SVOR, Checkpoint


def train(folder):
    """The same call in both processes; a minute between two states is the default."""
    random = np.random.default_rng(0)
    X = random.normal(size=(1500, 8))
    y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2] + random.normal(size=1500), [-1.0, 0.0, 1.0])
    return SVOR(C=200.0, gamma=0.1, solver="gcd").fit(X, y, checkpoint=Checkpoint(folder, interval=0.2))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        train(sys.argv[1])
        sys.exit()
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen([sys.executable, __file__, folder])
        while not (Path(folder) / "state.0").exists() and process.poll() is None:
            time.sleep(0.05)
        process.kill()  # SIGKILL: nothing can be done about it
        process.wait()
        began = time.perf_counter()
        result = train(folder).result_
        here = time.perf_counter() - began
        print(f"{result.status} after {result.n_iter:,} steps and {result.seconds:.1f} s, {here:.1f} s of them here")
        began = time.perf_counter()
        again = train(folder).result_
        print(f"the same call after the end: {again.n_iter:,} steps, {time.perf_counter() - began:.2f} s")
