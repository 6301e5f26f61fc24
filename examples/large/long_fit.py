"""
A fit that is killed and goes on
================================

What a checkpoint is for: a process is killed in the middle of a fit, and the same call goes on where it was.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

# %%
# The program that is run three times. A state every fifth of a second; a minute is the default.

PROGRAM = """
import sys
import numpy as np
from ordsvm import SVOR, Checkpoint

random = np.random.default_rng(0)
X = random.normal(size=(1500, 8))
y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2] + random.normal(size=1500), [-1.0, 0.0, 1.0])
model = SVOR(C=200.0, gamma=0.1, solver="gcd").fit(X, y, checkpoint=Checkpoint(sys.argv[1], interval=0.2))
result = model.result_
print(result.status, result.n_iter)
np.save(sys.argv[2], [(look.n_iter, look.relative_gap) for look in result.history])
"""

# %%
# The first run is killed as soon as it has kept a state. The second ends with the certificate that the first would have
# had; the third finds the answer.

with tempfile.TemporaryDirectory() as folder:
    kept, trace = Path(folder, "kept"), Path(folder, "trace.npy")
    command = [sys.executable, "-c", PROGRAM, str(kept), str(trace)]
    process = subprocess.Popen(command)
    while not (kept / "state.0").exists() and process.poll() is None:
        time.sleep(0.05)
    process.kill()  # SIGKILL: nothing can be done about it
    process.wait()
    for run in ("the same call", "and once more"):
        began = time.perf_counter()
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        print(f"{run}: {said[0]}, {int(said[1]):,} steps in all, {time.perf_counter() - began:.1f} s")
    steps, gap = np.load(trace).T

figure, axis = plt.subplots(figsize=(6, 3.5), layout="constrained")
axis.semilogy(steps, gap)
axis.set(xlabel="steps, over both runs", ylabel="relative gap", title="One history, two processes")
plt.show()
