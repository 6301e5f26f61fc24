"""Writes a model file of every kind with the installed version: `python -m tests.stored_models.make`.

A version's files are written once, at its release, and never again. `data.npz` beside them holds the samples and, under
the name of every model, what it predicted for the new ones.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

import ordsvm
from ordsvm import (
    DCD1,
    DCD2,
    NPSVOR,
    SMO,
    SVC,
    SVOR,
    SVOREX,
    SVORIM,
    SVR,
    AsyAGCD,
    Block,
    CalibratedOrdinal,
    LinearNPSVOR,
    LinearSVC,
    LinearSVOR,
    LinearSVR,
    RankDCD,
    RedSVM,
    RoundedRegressor,
    ShashuaLevinSVOR,
)
from ordsvm.kernels import RBF
from ordsvm.solvers import GCD, AsyGCD, AsyORGCD, Decomposition, ParsmoCache, ParsmoLight
from ordsvm.tables import TableEncoder, TableModel
from tests.cases import random_data

HERE = Path(__file__).parent
NAMES = ["dreadful", "poor", "fair", "good"]


def models() -> dict[str, Any]:
    """Unfitted models by the names of their files: every estimator, kernel, solver and calibration there is."""
    machines = [SVOR, RedSVM, SVORIM, SVOREX, ShashuaLevinSVOR, NPSVOR, SVC, SVR]
    linear = [LinearSVOR, LinearNPSVOR, LinearSVC, LinearSVR]
    kernels = ["linear", "poly", "sigmoid", "laplacian"]
    box = [GCD(), AsyGCD(), AsyAGCD(max_shrink_iter=50), AsyORGCD(), Block(q1=8), Decomposition(block_size=10)]
    paired = [SMO(selection="mvp"), ParsmoLight(q=2), ParsmoCache(q=2)]
    found = {kind.__name__: kind() for kind in (*machines, *linear)}
    found |= {f"SVOR-{kernel}": SVOR(kernel=kernel, gamma=0.2, coef0=0.1) for kernel in kernels}
    found |= {f"SVOR-{solver.name}": SVOR(solver=solver, n_threads=1) for solver in box}
    found |= {f"SVORIM-{solver.name}": SVORIM(solver=solver, n_threads=1) for solver in paired}
    found |= {f"LinearNPSVOR-{solver.name}": LinearNPSVOR(solver=solver) for solver in (RankDCD(), DCD1(), DCD2())}
    return found | {
        "SVOR-kernel-object": SVOR(kernel=RBF(0.3)),
        "SVOR-cost-matrix": SVOR(cost=np.array([[0, 1, 2, 3], [1, 0, 1, 2], [3, 1, 0, 1], [9, 4, 1, 0.0]])),
        "SVOR-early-stopping": SVOR(C=10.0, early_stopping=True, validation_fraction=0.2, random_state=0),
        "SVC-ovr": SVC(multi_class="ovr", intercept="penalized", class_weight="balanced"),
        "NPSVOR-nearest": NPSVOR(C1=2.0, C2=0.5, predictor="nearest"),
        "LinearSVOR-squared": LinearSVOR(loss="squared_hinge", class_weight={0: 2.0}),
        "RoundedRegressor": RoundedRegressor(LinearSVR()),
        "CalibratedOrdinal-logistic": CalibratedOrdinal(SVOR(), cv=3),
    }


def write(folder: Path) -> None:
    folder.mkdir()
    X, y = random_data(7, n=48)
    new = random_data(8, n=20)[0]
    data: dict[str, Any] = {"X": X, "y": y, "new": new}
    for name, model in models().items():
        ordsvm.save(model.fit(X, y), folder / f"{name}.ordsvm")
        data[name] = model.predict(new)
    for name, model in {"SVOR": SVOR(), "LinearNPSVOR": LinearNPSVOR()}.items():
        ordsvm.save(model.fit(sp.csr_array(X), y), folder / f"{name}-sparse.ordsvm")
        data[f"{name}-sparse"] = model.predict(sp.csr_array(new))
    kernel = SVOR(kernel="precomputed").fit(X @ X.T, y)
    ordsvm.save(kernel, folder / "SVOR-precomputed.ordsvm")
    data["SVOR-precomputed"] = kernel.predict(new @ X.T)
    labelled = SVOREX(categories=NAMES).fit(X, np.array(NAMES)[y])
    ordsvm.save(labelled, folder / "SVOREX-strings.ordsvm")
    data["SVOREX-strings"] = labelled.predict(new)
    table = TableModel(LinearSVOR(), TableEncoder(text=("review",)), "rank").fit(frame(X), y)
    ordsvm.save(table, folder / "TableModel.ordsvm")
    data["TableModel"] = table.predict(frame(new))
    np.savez_compressed(folder / "data.npz", **data)


def frame(X: np.ndarray) -> pd.DataFrame:
    """A table with a column of every kind."""
    colours = np.array(["red", "green", "blue"])[np.digitize(X[:, 1], [-0.5, 0.5])]
    reviews = [f"{'good' if x > 0 else 'bad'} {'wine' if z > 0 else 'beer'}" for x, z in X[:, [0, 2]]]
    return pd.DataFrame({"size": X[:, 0], "colour": colours, "review": reviews})


if __name__ == "__main__":
    write(HERE / ordsvm.__version__)
