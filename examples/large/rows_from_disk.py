"""
More rows than memory
=====================

Rows come in blocks, from wherever they are; a store on disk keeps them, and training reads it in windows. Here the
blocks are made.
"""

import tempfile

import matplotlib.pyplot as plt
import numpy as np

from ordsvm import LinearNPSVOR, LinearSVOR, RowStore
from ordsvm.metrics import mean_absolute_error


def blocks(n_blocks, rows=5000, features=40):
    """Blocks of rows with their labels; the first half of the features matters."""
    weights = np.r_[np.linspace(-1.0, 1.0, features // 2), np.zeros(features // 2)]
    for seed in range(n_blocks):
        random = np.random.default_rng(seed)
        X = random.normal(size=(rows, features)).astype(np.float32)
        yield X, np.digitize(X @ weights + random.normal(size=rows), [-3.0, -1.0, 1.0, 3.0])


# %%
# Writing the store reads every block once. ``RowStore.open(folder)`` finds it again later.

(X_test, y_test), *_ = blocks(1)
folder = tempfile.TemporaryDirectory()
store = RowStore.from_blocks((block for i, block in enumerate(blocks(21)) if i), folder.name + "/rows")
traces = {}
for model in (LinearSVOR(C=0.01), LinearNPSVOR(C=0.01)):
    model.fit(store)
    error = mean_absolute_error(y_test, model.predict(X_test))
    traces[type(model).__name__] = [(look.n_iter, look.relative_gap) for look in model.result_.history]
    gap = model.result_.relative_gap
    print(f"{type(model).__name__:13} {model.n_iter_} passes, gap {gap:.0e}, {error:.3f} ranks off")

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for label, looks in traces.items():
    axes[0].semilogy(*np.transpose(looks), marker=".", label=label)
axes[0].set(xlabel="passes over the file", ylabel="relative gap")
axes[0].legend()
axes[1].imshow(model.coef_, aspect="auto", cmap="RdBu", norm=plt.Normalize(-0.6, 0.6))
axes[1].set(xlabel="feature", ylabel="rank", title="weights of LinearNPSVOR")
plt.show()

# %%
# Prediction goes through the store block by block.

wrong = [np.mean(model.predict(rows) != labels) for rows, labels in store]
print(f"{np.mean(wrong):.1%} wrong on the rows of the store")
store.close()
folder.cleanup()
