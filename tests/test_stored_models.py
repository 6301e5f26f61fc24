"""Model files of earlier versions: each still loads, predicts what it did, and proves what it proved."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from ordsvm import certify, load
from ordsvm.files.registry import estimator_classes, record_classes
from tests.model_files import contents
from tests.stored_models.make import HERE, frame

FILES = sorted(HERE.glob("*/*.ordsvm"))


def samples(path: Path, data: dict[str, np.ndarray], name: str):
    """The training samples or the new ones in the form that the model was given them."""
    X = data[name]
    if path.stem.endswith("-sparse"):
        return sp.csr_array(X)
    if path.stem.endswith("-precomputed"):
        return X @ data["X"].T
    return frame(X) if path.stem == "TableModel" else X


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_stored_model_predicts_what_it_did(path):
    with np.load(path.parent / "data.npz") as file:
        data = dict(file)
    predicted, expected = load(path).predict(samples(path, data, "new")), data[path.stem]
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(predicted, expected, rtol=1e-9)
    else:
        np.testing.assert_array_equal(predicted, expected)


@pytest.mark.parametrize(
    "name", ["SVOR", "SVC", "NPSVOR", "SVR", "SVOR-precomputed", "SVOR-early-stopping", "LinearSVOR"]
)
def test_a_stored_model_proves_what_it_proved(name):
    path = HERE / "0.1.0" / f"{name}.ordsvm"
    with np.load(path.parent / "data.npz") as file:
        data = dict(file)
    model = load(path)
    proof = certify(model, samples(path, data, "X"), data["y"])
    np.testing.assert_allclose(proof.primal, model.result_.objective, rtol=1e-6)
    assert proof.relative_gap <= max(model.tol, 1.001 * model.result_.relative_gap + 1e-9)


def test_a_stored_calibration_makes_the_sets_that_it_made():
    """Its file has no machines of folds, so that no theorem is behind them."""
    path = HERE / "0.1.0" / "CalibratedOrdinal-logistic.ordsvm"
    with np.load(path.parent / "data.npz") as file:
        new = file["new"]
    model = load(path)
    sets = {
        coverage: " ".join(f"{low}{high}" for low, high in model.predict_set(new, coverage)) for coverage in (0.5, 0.9)
    }
    assert sets[0.5] == "22 22 22 00 00 22 33 33 22 33 22 12 11 11 33 12 11 22 11 11"
    assert sets[0.9] == "13 23 23 01 00 13 23 23 13 23 23 13 02 01 23 13 01 13 02 02"
    assert model.guaranteed_coverage(0.9) == 0.0


@pytest.mark.parametrize("name", ["SVOR", "NPSVOR", "NPSVOR-nearest", "SVC", "SVR", "LinearSVOR", "LinearNPSVOR"])
def test_a_stored_model_is_a_warm_start(name):
    path = HERE / "0.1.0" / f"{name}.ordsvm"
    with np.load(path.parent / "data.npz") as file:
        X, y = file["X"], file["y"]
    model = load(path)
    before = model.result_.n_iter
    again = model.set_params(warm_start=True, n_threads=1).fit(X, y)
    assert again.result_.converged
    assert again.result_.n_iter < before


def test_every_kind_of_model_and_record_is_stored():
    """Kinds that 0.1.0 can't write: an isotonic map held an estimator of scikit-learn; an encoder predicts nothing;
    the interior-point solvers, the Nyström machines, stemmed words and sets by machines of folds came later."""
    named = set()

    def collect(tree):
        if isinstance(tree, dict):
            for kind, content in tree.items():
                if kind in ("estimator", "record") and isinstance(content, list):
                    named.add(content[0])
                collect(content)
        elif isinstance(tree, list):
            for item in tree:
                collect(item)

    for path in FILES:
        collect(contents(path)[0])
    later = {"IsotonicThresholds", "InteriorPoint", "LinearInteriorPoint", "ProximalNewton", "NystroemError"}
    later |= {
        "CalibrationPart",
        "CrossConformal",
        "StemmedWords",
        "NystroemNPSVOR",
        "NystroemSVC",
        "NystroemSVOR",
        "NystroemSVR",
    }
    assert set(estimator_classes()) | set(record_classes()) <= named | later
