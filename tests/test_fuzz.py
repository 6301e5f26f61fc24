"""A hundred thousand damaged and hostile files: each is either read or gets a clear error; nothing crashes or grows."""

import resource
import struct
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from ordsvm import ModelFileError, load, save
from ordsvm.files.registry import estimator_classes
from ordsvm.files.tree import Reader
from ordsvm.tables import TableError, read
from tests.cases import random_data
from tests.model_files import contents, forge, overwrite

N_FILES, N_TREES, N_SVMLIGHT = 35_000, 35_000, 35_000
NUMBERS = [0, 1, -1, 2**31, 2**63 - 1, -(2**63), 1e308, 10**30]
NASTY = [*NUMBERS, True, None, "", "x" * 1000, [], {}, [[]], {"array": "model"}]


def peak_megabytes():
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


@pytest.fixture
def models(tmp_path):
    """A small model file of every machine."""
    X, y = random_data(0, n=12, n_ranks=3)
    paths = []
    for name, kind in estimator_classes().items():
        if name.startswith("Table") or name in ("RoundedRegressor", "CalibratedOrdinal"):
            continue
        model = kind().fit(sp.csr_array(X) if len(paths) % 2 else X, y)
        paths.append(tmp_path / name)
        save(model, paths[-1])
    return paths


def mutated(data: bytes, rng: np.random.Generator) -> bytes:
    """Bytes changed, cut out, doubled or cut off."""
    changed = bytearray(data)
    for _ in range(rng.integers(1, 5)):
        place = (
            int(rng.integers(len(changed) + 1)) if rng.random() < 0.5 else int(rng.integers(min(len(changed), 600) + 1))
        )
        match rng.integers(5):
            case 0:
                changed[place : place + 1] = bytes([rng.integers(256)])
            case 1:
                del changed[place : place + int(rng.integers(1, 30))]
            case 2:
                changed[place:place] = changed[place : place + int(rng.integers(1, 30))]
            case 3:
                changed[place : place + 8] = struct.pack("<q", int(rng.choice([0, -1, 2**62, 2**31, len(changed)])))
            case 4:
                del changed[place:]
    return bytes(changed)


def spoiled(tree, rng: np.random.Generator):
    """The JSON of a model with one value somewhere replaced, removed or swapped for another of its values."""
    places = list(_places(tree))
    parent, key = places[rng.integers(len(places))]
    if rng.random() < 0.2 and isinstance(parent, dict):
        del parent[key]
    elif rng.random() < 0.3:
        other, name = places[rng.integers(len(places))]
        parent[key] = _copy(other[name])
    else:
        parent[key] = NASTY[rng.integers(len(NASTY))]
    return tree


def _places(tree):
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in items:
        yield tree, key
        if isinstance(value, dict | list):
            yield from _places(value)


@pytest.mark.slow
def test_damaged_model_files(models, tmp_path):
    rng = np.random.default_rng(0)
    originals = [path.read_bytes() for path in models]
    path = tmp_path / "damaged"
    for warm_up in originals:
        path.write_bytes(warm_up)
        load(path)
    before, refused = peak_megabytes(), 0
    for i in range(N_FILES):
        overwrite(path, mutated(originals[i % len(originals)], rng))
        try:
            load(path)
        except ModelFileError:
            refused += 1
    assert refused > 0.99 * N_FILES  # the rest are changes that undid themselves
    assert peak_megabytes() < before + 100


@pytest.mark.slow
def test_hostile_model_files(models, tmp_path):
    """The checksum holds, so that everything behind it is put to the test: what loads must predict."""
    rng = np.random.default_rng(1)
    originals = [contents(path) for path in models]
    path = tmp_path / "hostile"
    before, refused = peak_megabytes(), 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(N_TREES):
            tree, arrays = originals[i % len(originals)]
            tree = spoiled(_copy(tree), rng)
            arrays = dict(arrays)
            if rng.random() < 0.3 and arrays:
                name = sorted(arrays)[rng.integers(len(arrays))]
                arrays[name] = _spoiled_array(arrays[name], rng)
            forge(path, tree, arrays)
            try:
                model = load(path)
            except ModelFileError:
                refused += 1
                continue
            assert len(model.predict(sp.csr_array((2, model.n_features_in_)))) == 2
    assert refused > 0.5 * N_TREES
    assert peak_megabytes() < before + 200


def _copy(tree):
    if isinstance(tree, dict):
        return {key: _copy(value) for key, value in tree.items()}
    return [_copy(value) for value in tree] if isinstance(tree, list) else tree


def _spoiled_array(array, rng):
    flat = array.copy().reshape(-1)
    match rng.integers(4):
        case 0:
            return flat[: len(flat) // 2]
        case 1:
            return np.concatenate([flat, flat])
        case 2 if array.dtype.kind == "f" and len(flat):
            flat[rng.integers(len(flat))] = rng.choice([np.nan, np.inf, -1e300])
        case _ if len(flat):
            flat[rng.integers(len(flat))] = rng.choice([-1, 0, 1, 2**20])
    return flat.reshape(array.shape)


@pytest.mark.slow
def test_damaged_svmlight_files(tmp_path):
    rng = np.random.default_rng(2)
    text = "\n".join(f"{i % 4} 1:{i / 7:.3f} 3:-{i}e-2 17:1 # note" for i in range(12)).encode()
    path = tmp_path / "data.svm"
    before, fine, lines = peak_megabytes(), 0, 1
    for _ in range(N_SVMLIGHT):
        overwrite(path, mutated(text, rng))
        try:
            table = read(path)
        except TableError as error:
            lines = max(lines, len(str(error).splitlines()))
            continue
        fine += 1
        assert len(table) == len(table.labels)
    assert lines == 1
    assert fine > 0  # some changes leave a file that can be read
    assert peak_megabytes() < before + 100


def test_a_reader_hands_out_an_array_once():
    reader = Reader({"a": np.zeros(3)}, size=100)
    reader.value({"array": "a"})
    with pytest.raises(ValueError, match="used twice"):
        reader.value({"array": "a"})
