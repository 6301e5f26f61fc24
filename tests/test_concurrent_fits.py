"""Fits at once in threads, and fits repeated, give the same bits."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import scipy.sparse as sp

from ordsvm import SMO, SVOR, SVOREX, SVORIM, ShashuaLevinSVOR
from tests.process_cases import assert_same_model, module_callback, module_kernel, ordinal_data


def varied_fits():
    """Different models, kernels and data, a few tenths of a second each."""
    X, y = ordinal_data(n=900, d=6, n_ranks=5, seed=1)
    V, u = ordinal_data(n=700, d=3, n_ranks=3, seed=2)
    S = sp.random_array((600, 40), density=0.2, format="csr", random_state=np.random.default_rng(3))
    v = np.arange(600) % 4
    return [
        (SVOR(C=5.0, cache_size=1.0), X, y),
        (SVORIM(C=50.0, kernel="poly", degree=2, coef0=1.0, cache_size=0.5), V, u),
        (SVOREX(C=50.0, solver=SMO(precision="float64")), X, y),
        (ShashuaLevinSVOR(C=20.0, kernel="laplacian"), S, v),
        (SVORIM(C=10.0, kernel=module_kernel), V, u),
        (SVOR(C=5.0, kernel="precomputed", class_weight="balanced"), module_kernel(V, V), u),
        (SVORIM(C=5.0, solver=SMO(selection="mvp"), cache_size=0.1), X.astype(np.float32), y),
        (SVOREX(C=100.0, callback=module_callback), S.toarray(), v),
    ]


def test_fits_at_once_in_threads_equal_the_same_fits_alone():
    alone = [model.fit(X, y) for model, X, y in varied_fits()]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(2):
            together = list(pool.map(lambda fit: fit[0].fit(fit[1], fit[2]), varied_fits()))
            for one, other, (_, X, _) in zip(alone, together, varied_fits(), strict=True):
                assert_same_model(one, other, X)


def test_one_model_predicts_in_many_threads_at_once():
    X, y = ordinal_data(n=400)
    model = SVOR().fit(X, y)
    expected = model.decision_function(X)
    with ThreadPoolExecutor(4) as pool:
        assert all(np.array_equal(expected, score) for score in pool.map(model.decision_function, [X] * 40))


def test_a_fixed_input_gives_the_same_bits_twice():
    for (model, X, y), (again, _, _) in zip(varied_fits(), varied_fits(), strict=True):
        assert_same_model(model.fit(X, y), again.fit(X, y), X)
