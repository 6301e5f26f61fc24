"""`device` of the kernel machines: what is refused, what runs where, tensors in and out, memory that does not suffice.

torch's CPU device stands for a GPU.
"""

import subprocess
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from ordsvm import (
    NPSVOR,
    SVC,
    SVOR,
    SVOREX,
    SVORIM,
    SVR,
    LinearSVOR,
    ModelFileError,
    NystroemSVOR,
    OrdinalSearchCV,
    ProximalNewton,
    load,
    save,
)
from ordsvm.devices import usable_device
from ordsvm.kernels import RBF, Precomputed
from tests.cases import random_data

MODELS = [SVOR(), SVORIM(), SVOREX(), SVC(), SVC(multi_class="ovr"), NPSVOR(), SVR()]
FAST = [MODELS[0], MODELS[3]]
DEVICE = "torch:cpu"


def trained(model, X, y, **parameters):
    return type(model)(**model.get_params() | {"gamma": 0.5} | parameters).fit(X, y)


@pytest.mark.parametrize("device", [5, None, "gpu", "cuda:x", "CPU"])
def test_unknown_devices(device):
    X, y = random_data(5)
    with pytest.raises(ValueError, match=r"device=.* is unknown: give 'cpu', 'cuda'"):
        SVOR(device=device).fit(X, y)


def test_no_torch_is_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)  # as if it were not installed
    X, y = random_data(5)
    with pytest.raises(ImportError, match=r"device='cuda' needs torch, which is not installed: pip install 'ordsvm\[g"):
        SVOR(device="cuda").fit(X, y)
    with pytest.raises(ImportError, match="needs torch"):
        OrdinalSearchCV(SVOR(), {"C": [1.0]}, device="cuda").fit(X, y)


@pytest.mark.parametrize("torch", [None, "without a GPU"])
def test_a_model_of_a_device_predicts_on_the_cpu_where_that_is_not_there(torch, monkeypatch, tmp_path):
    X, y = random_data(5)
    model = SVOR().fit(X, y)
    save(model.set_params(device="cuda:1"), tmp_path / "model")
    if torch is None:
        monkeypatch.setitem(sys.modules, "torch", None)  # as if it were not installed
        lack, error = "needs torch, which is not installed", ImportError
    else:
        monkeypatch.setattr("ordsvm.devices._n_gpus", lambda: 0)
        lack, error = "needs a GPU, and torch finds none", ValueError
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded = load(tmp_path / "model")
    with pytest.warns(UserWarning, match=lack + ": the model predicts on the CPU. set_params.device='cpu'") as seen:
        there = loaded.predict(X)
    assert len(seen) == 1
    with pytest.raises(error, match=lack):
        loaded.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(there, loaded.set_params(device="cpu").predict(X))
    with pytest.raises(ValueError, match="is unknown"):
        loaded.set_params(device="there").predict(X)


@pytest.mark.parametrize("solver", ["auto", "linear-interior-point"])
def test_linear_models_of_a_device_load_and_predict_as_ever(solver, monkeypatch, tmp_path):
    monkeypatch.setattr("ordsvm.devices._n_gpus", lambda: 0)
    X, y = random_data(5)
    model = LinearSVOR(solver=solver).fit(X, y)
    expected = model.predict(X)
    save(model.set_params(device="cuda"), tmp_path / "model")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded = load(tmp_path / "model")
        np.testing.assert_array_equal(loaded.predict(X), expected)
    with pytest.raises(ValueError, match="needs a GPU, and torch finds none"):
        loaded.fit(X, y)


def test_a_model_file_names_a_device_that_there_is_not(tmp_path):
    X, y = random_data(5)
    save(SVOR().fit(X, y).set_params(device="there"), tmp_path / "model")
    with pytest.raises(ModelFileError, match="device='there' is unknown"):
        load(tmp_path / "model")


def test_the_cpu_never_imports_torch():
    code = (
        "import sys, numpy as np; from ordsvm import *; X = np.random.default_rng(0).normal(size=(60, 2)); "
        "y = (X[:, 0] > 0).astype(int); SVOR().fit(X, y).predict(X); NPSVOR().fit(X, y).predict(X); "
        "SVC(solver='proximal-newton').fit(X, y).decision_function(X); "
        "OrdinalSearchCV(SVORIM(), {'C': [1.0, 2.0]}, cv=2).fit(X, y); certify(SVR().fit(X, X[:, 0]), X, X[:, 0]); "
        "sys.exit('torch' in sys.modules or 'triton' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_solvers_of_the_cpu_have_no_device():
    X, y = random_data(5)
    pytest.importorskip("torch")
    with pytest.raises(ValueError, match="solver='block' runs on the CPU: give solver='auto' or 'proximal-newton'"):
        SVOR(device=DEVICE, solver="block").fit(X, y)
    with pytest.raises(ValueError, match="solver='rank-dcd' runs on the CPU: give solver='auto' or 'proximal-newton'"):
        SVOR(device=DEVICE, kernel="linear", solver="rank-dcd").fit(X, y)
    assert SVOR(device="auto", kernel="linear", solver="rank-dcd").fit(X, y).result_.solver == "rank-dcd"
    assert SVOR(device="auto", solver="block").fit(X, y).result_.solver == "block"
    with pytest.raises(ValueError, match="positive semidefinite"):
        SVOR(device=DEVICE, kernel="sigmoid").fit(X, y)


@pytest.mark.parametrize("parameters", [{"device": "auto"}, {"solver": ProximalNewton(device="auto")}], ids=str)
def test_auto_is_the_cpu_without_a_gpu(parameters, monkeypatch):
    monkeypatch.setattr("ordsvm.devices._n_gpus", lambda: 0)
    assert usable_device("auto") == "cpu"
    X, y = random_data(5)
    model = SVOR(**parameters).fit(X, y)
    assert model.result_.device == "cpu"
    monkeypatch.setattr("ordsvm.estimators.kernel.is_worth_a_device", lambda X, support: True)
    monkeypatch.setattr("ordsvm.estimators.kernel.device_scores", None)
    model.predict(X)


@pytest.mark.parametrize(
    "model", [pytest.param(m, marks=[pytest.mark.slow] * (m not in FAST)) for m in MODELS], ids=repr
)
def test_machines_train_and_predict_on_a_device(model):
    torch = pytest.importorskip("torch")
    X, y = random_data(5, n=120)
    here, there = (trained(model, X, y, device=device, tol=1e-5) for device in ("cpu", DEVICE))
    assert (there.result_.solver, there.result_.device) == ("proximal-newton", DEVICE)
    assert there.result_.objective == pytest.approx(here.result_.objective, rel=1e-4)
    method = "predict" if isinstance(model, SVR) else "decision_function"
    scores = getattr(there, method)(X)
    assert isinstance(scores, np.ndarray)
    np.testing.assert_allclose(scores, getattr(there.set_params(device="cpu"), method)(X), atol=1e-10)
    there.set_params(device=DEVICE)
    of_tensor = getattr(there, method)(torch.as_tensor(X))
    assert isinstance(of_tensor, torch.Tensor)
    np.testing.assert_allclose(of_tensor.numpy(), scores, atol=1e-12)
    labels = there.predict(torch.as_tensor(X))
    assert isinstance(labels, torch.Tensor)
    np.testing.assert_array_equal(labels.numpy(), there.predict(X))


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear", "poly", "precomputed", "callable"])
def test_scores_of_every_kernel(kernel, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr("ordsvm.kernels.products.scores.BLOCK_ROWS", 7)
    X, y = random_data(5, n=60)
    K = RBF(0.5)(X, X)
    data = K if kernel == "precomputed" else X
    used = (lambda A, B: (A @ B.T + 1) ** 2) if kernel == "callable" else kernel
    model = trained(SVOR(), data, y, kernel=used, coef0=1.0)
    expected = model.decision_function(data)
    model.set_params(device=DEVICE)
    np.testing.assert_allclose(model.decision_function(data), expected, atol=1e-9)
    if kernel not in ("precomputed", "callable"):
        np.testing.assert_allclose(model.decision_function(sp.csr_array(data)), expected, atol=1e-9)
    assert model.decision_function(data[:1]).shape == (1,)


def test_tensors_train_too_and_bad_ones_are_refused():
    torch = pytest.importorskip("torch")
    X, y = random_data(5, n=60)
    model = SVOR(device=DEVICE).fit(torch.as_tensor(X), torch.as_tensor(y))
    assert isinstance(model.support_vectors_, np.ndarray)
    for bad, reason in ((X[:, :1], "of shape"), (X[0], "of shape"), (np.full_like(X, np.nan), "NaN")):
        with pytest.raises(ValueError, match=reason):
            model.predict(torch.as_tensor(bad))
    named = SVOR(device=DEVICE).fit(X, np.array(["a", "b", "c", "d", "e"])[y])
    assert named.predict(torch.as_tensor(X)).dtype.kind == "U"


def test_single_precision_predicts_as_such():
    pytest.importorskip("torch")
    X, y = random_data(5, n=80)
    X = X.astype(np.float32)
    model = SVOR(device=DEVICE).fit(X, y)
    there = model.decision_function(X)
    np.testing.assert_allclose(there, model.set_params(device="cpu").decision_function(X), atol=1e-4)


# Several devices


def test_products_are_divided_among_devices(monkeypatch):
    """Two CPU devices of torch: each computes half of the rows, and the fit is the same."""
    pytest.importorskip("torch")
    from ordsvm.kernels.products import divided
    from ordsvm.kernels.products.on_torch import GaussianProducts
    from ordsvm.solvers.kernel.proximal_newton import proximal_newton
    from ordsvm.torch_library import TorchLibrary

    shares = []
    product = GaussianProducts.exact_product

    def counted(self, rows, columns, values):
        shares.append((id(self), rows.size))
        return product(self, rows, columns, values)

    X, y = random_data(5, n=151)
    expected = trained(SVOR(), X, y, device=DEVICE)
    monkeypatch.setattr(GaussianProducts, "exact_product", counted)
    monkeypatch.setattr(divided, "LEAST_VALUES", 1)
    monkeypatch.setattr(proximal_newton, "torch_libraries", lambda device: [TorchLibrary("cpu") for _ in range(2)])
    model = trained(SVOR(), X, y, solver=ProximalNewton(device=DEVICE, direct=20, rank=30), tol=1e-4)
    assert model.result_.objective == pytest.approx(expected.result_.objective, rel=1e-3)
    assert len({maker for maker, _ in shares}) == 2
    assert {75, 76} <= {size for _, size in shares}  # halves of all rows


def test_names_of_several_devices(monkeypatch):
    from ordsvm import devices

    monkeypatch.setattr(devices, "_n_gpus", lambda: 3)
    assert devices.names_of_torch(devices.usable_device("cuda:all")) == ["cuda:0", "cuda:1", "cuda:2"]
    assert devices.names_of_torch("cuda:1") == ["cuda:1"]
    monkeypatch.setattr(devices, "_n_gpus", lambda: 0)
    with pytest.raises(ValueError, match="needs a GPU"):
        devices.usable_device("cuda:all")


# Memory


class Limited:
    """Kernel values of more than so many pairs at once do not fit into memory."""

    def __init__(self, monkeypatch, limit):
        import torch

        from ordsvm.kernels.products.on_torch import GaussianProducts

        self.refused = 0
        values = GaussianProducts.values

        def limited(products, rows, columns):
            if len(rows) * len(columns) > limit:
                self.refused += 1
                raise torch.cuda.OutOfMemoryError("out of memory, for the test")
            return values(products, rows, columns)

        monkeypatch.setattr(GaussianProducts, "values", limited)


def test_no_rows_and_no_columns():
    """A step may be about no sample at all."""
    pytest.importorskip("torch")
    from ordsvm.kernels.products.on_torch import torch_products
    from ordsvm.torch_library import TorchLibrary

    products = torch_products(TorchLibrary("cpu"), RBF(0.5), np.ones((3, 2)))
    none = products.library.index([])
    assert tuple(products.part(none, none).shape) == (0, 0)
    assert len(products.exact_product(products.first(3), products.rows(none), products.library.zeros(0))) == 3


def test_fewer_values_at_a_time_where_memory_ends(monkeypatch):
    pytest.importorskip("torch")
    X, y = random_data(5, n=150)
    expected = trained(SVOR(), X, y, device=DEVICE)
    limited = Limited(monkeypatch, 2000)
    model = trained(SVOR(), X, y, device=DEVICE)
    assert limited.refused > 0
    assert model.result_.objective == pytest.approx(expected.result_.objective, rel=1e-3)
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X), atol=0.05)


def test_a_smaller_preconditioner_where_memory_ends(monkeypatch):
    torch = pytest.importorskip("torch")
    from ordsvm.solvers.kernel.proximal_newton import preconditioner, proximal_newton

    ranks = []
    begin = preconditioner.Nystroem.__init__

    def limited(self, library, products, size, rank, seed):
        ranks.append(rank)
        if rank > 20:
            raise torch.cuda.OutOfMemoryError("out of memory, for the test")
        begin(self, library, products, size, rank, seed)

    monkeypatch.setattr(preconditioner.Nystroem, "__init__", limited)
    X, y = random_data(5, n=300)
    solver = ProximalNewton(device=DEVICE, direct=1, rank=64)
    with pytest.raises(MemoryError, match=r"too little memory for 300 samples: beside these it needs about .* GB"):
        trained(SVOR(), X, y, solver=solver)
    monkeypatch.setattr(proximal_newton, "LEAST_RANK", 8)
    ranks.clear()
    assert trained(SVOR(), X, y, solver=solver).result_.converged
    assert ranks[:3] == [64, 32, 16]


def no_memory(*_, **__):
    raise pytest.importorskip("torch").cuda.OutOfMemoryError("out of memory, for the test")


def test_too_little_memory_for_the_samples_is_a_sentence(monkeypatch):
    pytest.importorskip("torch")
    from ordsvm.kernels.products import on_torch
    from ordsvm.solvers.kernel.proximal_newton.columns import Columns

    X, y = random_data(5)
    for owner, name in ((on_torch.TiledProducts, "__init__"), (Columns, "of")):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, no_memory)
            with pytest.raises(MemoryError, match=r"has too little memory for \d+ samples: .* GB\. Train on fewer"):
                trained(SVOR(), X, y, device=DEVICE)


@pytest.mark.parametrize("most", [0, 2])
def test_a_search_goes_on_where_memory_ends(most, monkeypatch):
    """With fewer C side by side, and at last one by one."""
    pytest.importorskip("torch")
    from ordsvm.solvers.kernel.interior_point import side_by_side

    batches = []

    class Limited(side_by_side.Batch):
        def __init__(self, library, K, folds, C, *others):
            batches.append(len(C))
            if len(C) > most:
                no_memory()
            super().__init__(library, K, folds, C, *others)

    X, y = random_data(5, n=120)
    grid = {"C": [0.1, 1.0, 10.0, 100.0]}
    expected = OrdinalSearchCV(SVOR(gamma=0.5), grid, cv=2, device=DEVICE).fit(X, y)
    monkeypatch.setattr(side_by_side, "Batch", Limited)
    found = OrdinalSearchCV(SVOR(gamma=0.5), grid, cv=2, device=DEVICE).fit(X, y)
    assert batches == ([4, 2, 1] if most == 0 else [4, 2, 2])
    np.testing.assert_allclose(found.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"], atol=0.03)


def test_a_search_goes_on_where_the_kernel_matrix_does_not_fit(monkeypatch):
    pytest.importorskip("torch")
    from ordsvm.search import device_grid

    X, y = random_data(5, n=80)
    monkeypatch.setattr(device_grid, "torch_products", no_memory)
    found = OrdinalSearchCV(SVOR(gamma=0.5), {"C": [1.0, 10.0]}, cv=2, device=DEVICE).fit(X, y)
    assert np.isfinite(found.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("model", [SVOR(), SVOREX(), NPSVOR(), SVC()], ids=lambda model: type(model).__name__)
def test_the_last_resort_of_a_tensor_ends_as_that_of_an_array(model):
    """Raw features of a polynomial, which conjugate gradients do not solve: the interior-point method makes K there."""
    torch = pytest.importorskip("torch")
    from ordsvm.datasets import load_diabetes_ranks

    X, y = load_diabetes_ranks()
    results = []
    for samples in (torch.tensor(X), X):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            machine = clone(model).set_params(kernel="poly", gamma=1.0, coef0=1.0, device=DEVICE)
            results.append(machine.fit(samples, y).result_)
    assert [result.solver for result in results] == 2 * ["interior-point"]
    assert results[0].status == results[1].status
    assert results[0].objective == pytest.approx(results[1].objective, rel=1e-6)


def test_prediction_goes_on_with_smaller_blocks(monkeypatch):
    pytest.importorskip("torch")
    X, y = random_data(5, n=150)
    model = trained(SVOR(), X, y, device=DEVICE)
    expected = model.decision_function(X)
    Limited(monkeypatch, 30 * len(model.support_))
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-10)


def test_fits_on_a_device_need_no_cache_of_rows():
    """From nothing or from a solution."""
    pytest.importorskip("torch")
    X, y = random_data(5, n=90)
    model = SVOR(solver="proximal-newton", device=DEVICE, cache_size=1e-4, warm_start=True)
    for _ in range(2):
        assert model.fit(X, y).result_.converged
    with pytest.raises(ValueError, match="does not hold two rows"):
        model.set_params(device="cpu").fit(X, y)


def test_a_search_on_a_device():
    pytest.importorskip("torch")
    X, y = random_data(5, n=90)
    grid = {"C": [0.1, 1.0], "gamma": [0.1, 0.5]}
    here, there = (OrdinalSearchCV(SVOR(), grid, cv=3, device=device).fit(X, y) for device in (None, DEVICE))
    assert there.best_estimator_.result_.device == DEVICE
    np.testing.assert_allclose(there.cv_results_["mean_test_score"], here.cv_results_["mean_test_score"], atol=0.03)
    with pytest.raises(ValueError, match="has no parameter of that name"):
        OrdinalSearchCV(NystroemSVOR(), {"C": [1.0]}, device=DEVICE).fit(X, y)


def test_precomputed_matrices_on_a_device():
    pytest.importorskip("torch")
    X, y = random_data(5, n=60)
    K = RBF(0.5)(X, X)
    model = SVORIM(kernel=Precomputed(), device=DEVICE).fit(K, y)
    assert model.result_.device == DEVICE
    np.testing.assert_array_equal(model.predict(K), SVORIM(kernel="precomputed").fit(K, y).predict(K))
