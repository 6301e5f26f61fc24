"""
Rows on a cluster
=================

The linear machines of `ordsvm.distributed` train on dask arrays: rows stay on their workers. Without a cluster, as
here, threads of this process serve as workers.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np

from ordsvm import LinearSVOR, distributed

weights = np.linspace(-1.0, 1.0, 8)
X = da.random.default_rng(0).standard_normal((20_000, 8), chunks=(5_000, 8))
noise = da.random.default_rng(1).standard_normal(20_000, chunks=5_000)
y = da.digitize(X @ weights + noise, np.array([-1.5, 0.0, 1.5]))

# %%
# Every round proves the gap of all rows. The weights are those of one machine.

there = distributed.LinearSVOR(C=0.01).fit(X, y)
here = LinearSVOR(C=0.01).fit(X.compute(), y.compute())
print(f"{there.result_.solver}: {there.n_iter_} rounds, gap {there.result_.relative_gap:.0e}")
print(f"largest difference of a weight {np.abs(there.coef_ - here.coef_).max():.0e}")
print(f"{(there.predict(X) == y).mean().compute():.1%} right")

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
looks = there.result_.history
axes[0].semilogy([look.n_iter for look in looks], [look.relative_gap for look in looks], marker="o")
axes[0].set(xlabel="rounds", ylabel="relative gap of all rows")
axes[1].plot(here.coef_, there.coef_, "o")
axes[1].axline((0, 0), slope=1, color="grey", ls=":")
axes[1].set(xlabel="weights of one machine", ylabel="weights of the cluster")
plt.show()
