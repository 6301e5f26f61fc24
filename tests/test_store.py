"""Rows on disk: what is written comes back, in windows that mix it; bad rows and damaged files get a sentence."""

import bz2
import errno
import gc
import gzip
import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from ordsvm import RowStore
from ordsvm.rows import svmlight
from ordsvm.rows.disk import spool, store_files


def rows(n: int = 500, n_features: int = 40, seed: int = 0):
    """Rows of random lengths, some empty, in float32; ranks by chance."""
    random = np.random.default_rng(seed)
    X = sp.random(n, n_features, density=0.2, format="csr", dtype=np.float32, random_state=seed)
    X = sp.csr_matrix(sp.diags((np.arange(n) % 7 > 0).astype(np.float32)) @ X)
    X.eliminate_zeros()
    return X, random.integers(0, 4, size=n)


def cut(X, y, *sizes, weight=None):
    """Blocks of these sizes, over and over."""
    first = 0
    while first < X.shape[0]:
        for size in sizes:
            part = slice(first, first + size)
            if first < X.shape[0]:
                yield (X[part], y[part]) if weight is None else (X[part], y[part], weight[part])
            first += size


def content(store):
    blocks = list(store)
    X, *columns = zip(*blocks, strict=True)
    return sp.vstack(X).tocsr(), *map(np.concatenate, columns)


def assert_holds(store, X, y):
    stored, labels = content(store)
    assert stored.shape == store.shape == X.shape
    assert store.n_values == X.nnz
    assert (stored != X).nnz == 0
    np.testing.assert_array_equal(labels, y)
    np.testing.assert_array_equal(store.y, y)


@pytest.mark.parametrize("sizes", [(500,), (1,), (7, 0, 64, 3)])
@pytest.mark.parametrize("size", [{}, {"block_bytes": 300}, {"block_rows": 9}, {"block_bytes": 1}])
def test_what_is_written_comes_back(sizes, size):
    X, y = rows()
    assert_holds(RowStore.from_blocks(cut(X, y, *sizes), window_bytes=2000, **size), X, y)


def test_blocks_keep_to_their_size_unless_a_row_is_longer():
    X, y = rows()
    X = sp.vstack([X, sp.csr_matrix(np.ones((1, 40), np.float32)), X]).tocsr()
    store = RowStore.from_blocks([(X, np.append(np.append(y, 0), y))], block_bytes=200, block_rows=3)
    n_rows, n_values = store._blocks[:, 1], store._blocks[:, 2]
    n_bytes = 4 * n_rows + 8 * n_values
    assert n_rows.max() == 3
    assert np.all((n_bytes <= 200) | (n_rows == 1))
    assert n_bytes.max() == 4 + 8 * 40
    assert n_rows.min() > 0


@pytest.mark.parametrize(
    "convert", [sp.csr_matrix.toarray, sp.csc_matrix, sp.coo_array, lambda X: X.astype(np.float64)]
)
def test_dense_and_other_rows_are_taken(convert):
    X, y = rows()
    assert_holds(RowStore.from_blocks([(convert(X), y)]), X, y)


def test_wide_rows_have_long_columns():
    X = sp.csr_matrix((np.ones(2), np.array([1, 2**33 - 1]), np.array([0, 1, 2])), shape=(2, 2**33))
    store = RowStore.from_blocks([(X, [0, 1])])
    assert store.n_features == 2**33
    assert content(store)[0].indices.tolist() == [1, 2**33 - 1]


def test_the_caller_may_use_arrays_again():
    values, labels = np.empty((1, 3)), np.empty(1)

    def blocks():
        for number in range(5):
            values[:], labels[:] = number, number
            yield values, labels

    X, y = content(RowStore.from_blocks(blocks()))
    np.testing.assert_array_equal(X.toarray(), np.repeat(np.arange(5), 3).reshape(5, 3))
    np.testing.assert_array_equal(y, np.arange(5))


def test_labels_may_be_strings_and_weights_come_along():
    X, y = rows()
    labels, weight = np.array(["low", "middle", "high", "highest"])[y], np.linspace(0.0, 2.0, len(y))
    store = RowStore.from_blocks(cut(X, labels, 99, weight=weight))
    np.testing.assert_array_equal(content(store)[1], labels)
    np.testing.assert_array_equal(content(store)[2], weight)
    np.testing.assert_array_equal(store.sample_weight, weight)


# Dense rows


def dense_rows(n: int = 500, n_features: int = 6, seed: int = 0):
    random = np.random.default_rng(seed)
    return random.normal(size=(n, n_features)).astype(np.float32), random.integers(0, 4, size=n)


@pytest.mark.parametrize("sizes", [(500,), (1,), (7, 0, 64, 3)])
@pytest.mark.parametrize("size", [{}, {"block_bytes": 300}, {"block_rows": 9}, {"block_bytes": 1}])
def test_dense_rows_lie_without_columns_and_come_back(sizes, size):
    X, y = dense_rows()
    store = RowStore.from_blocks(cut(X, y, *sizes), window_bytes=2000, **size)
    assert store.is_dense
    assert (store.folder / store_files.ROWS).stat().st_size == store.n_bytes == 4 * X.size
    back, labels = map(np.concatenate, zip(*store, strict=True))
    np.testing.assert_array_equal(back, X)
    np.testing.assert_array_equal(labels, y)
    for numbers, block in store.shuffled(np.random.default_rng(0)):
        assert len(numbers) == len(block)


def test_the_first_block_with_rows_decides_whether_columns_are_stored():
    X, y = dense_rows()
    few = np.where(np.arange(6) == np.arange(500)[:, None] % 6, X, 0)
    nothing = (np.empty((0, 6), np.float32), [])
    assert RowStore.from_blocks([nothing, (X, y), (sp.csr_array(few), y)]).is_dense
    mixed = RowStore.from_blocks([nothing, (few, y), (X, y)])
    assert not mixed.is_dense
    np.testing.assert_array_equal(content(mixed)[0].toarray(), np.concatenate([few, X]))
    assert not RowStore.from_blocks([(sp.csr_matrix(X), y)]).is_dense


def test_a_store_of_dense_rows_is_opened_and_its_damage_found(tmp_path):
    X, y = dense_rows()
    RowStore.from_blocks([(X, y)], tmp_path / "store", block_bytes=500)
    np.testing.assert_array_equal(np.concatenate([part for part, _ in RowStore.open(tmp_path / "store")]), X)
    damage(tmp_path / "store" / store_files.ROWS, 5000)
    with pytest.raises(OSError, match=r"contents have changed.*anew"):
        list(RowStore.open(tmp_path / "store"))


def test_a_sample_has_rows_from_all_over_the_store():
    X = np.arange(1000, dtype=np.float32)[:, None] + np.ones(3, np.float32)
    for rows_of, first in ((X, lambda some: some[:, 0]), (sp.csr_matrix(X), lambda some: some.toarray()[:, 0])):
        some = RowStore.from_blocks([(rows_of, np.arange(1000) % 2)], block_rows=10).sample()
        assert some.shape == (80, 3)
        assert first(some)[0] == 1
        assert first(some)[-1] == 1000


# Windows


def passed(store, seed):
    """The numbers of the rows of every window of a pass."""
    return [numbers for numbers, _ in store.shuffled(np.random.default_rng(seed))]


def test_a_pass_shows_every_row_once_in_windows_that_change():
    X, y = rows()
    store = RowStore.from_blocks([(X, y)], block_bytes=200, window_bytes=4000)
    first, second = passed(store, 0), passed(store, 1)
    assert len(first) > 4
    for windows in (first, second):
        np.testing.assert_array_equal(np.sort(np.concatenate(windows)), np.arange(500))
    assert not np.array_equal(first[0], second[0])
    assert all(np.array_equal(a, b) for a, b in zip(first, passed(store, 0), strict=True))


def test_a_window_is_a_fair_sample_of_sorted_rows():
    X, _ = rows(4000)
    y = np.repeat(np.arange(4), 1000)
    store = RowStore.from_blocks([(X, y)], block_rows=10, window_bytes=20_000)
    windows = passed(store, 0)
    assert len(windows) > 5
    for numbers in windows:  # a few dozen blocks each, of which chance alone would often have five too many of a label
        np.testing.assert_allclose(np.bincount(y[numbers], minlength=4), len(numbers) / 4, atol=2 * 10)


def test_blocks_in_order_are_neighbours():
    X, y = rows()
    store = RowStore.from_blocks([(X, y)], block_bytes=200, window_bytes=4000)
    firsts = [(first, len(block)) for first, block in store.blocks()]
    assert firsts[0][0] == 0
    assert [first + size for first, size in firsts] == [first for first, _ in firsts[1:]] + [500]


def test_rows_in_order_come_in_small_windows(monkeypatch):
    monkeypatch.setattr("ordsvm.rows.disk.row_store.ORDERED_BYTES", 1000)
    X, y = rows()
    store = RowStore.from_blocks([(X, y)], block_bytes=200)
    assert store._n_windows == 1
    firsts = [(first, len(block)) for first, block in store.blocks()]
    assert len(firsts) >= store.n_bytes / 1000
    assert [first + size for first, size in firsts] == [first for first, _ in firsts[1:]] + [500]


# svmlight


@pytest.fixture
def svm_file(tmp_path):
    X, y = rows(100)
    path = tmp_path / "rows.svm"
    dump_svmlight_file(X, y, str(path), zero_based=False, query_id=np.arange(100) // 10, comment="Some rows")
    return path


@pytest.mark.parametrize("piece", [1, 100, 1 << 20])
def test_an_svmlight_file_is_read_in_pieces(svm_file, piece, monkeypatch):
    monkeypatch.setattr(svmlight._pieces, "__defaults__", (piece,))
    X, y = load_svmlight_file(str(svm_file), dtype=np.float32)
    assert_holds(RowStore.from_svmlight(svm_file, block_bytes=500), X, y)


@pytest.mark.parametrize(("suffix", "compress"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
def test_a_compressed_svmlight_file(svm_file, suffix, compress):
    packed = svm_file.with_suffix(suffix)
    packed.write_bytes(compress(svm_file.read_bytes()))
    assert_holds(RowStore.from_svmlight(str(packed)), *load_svmlight_file(str(svm_file), dtype=np.float32))


def test_columns_count_from_0_or_1(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("1 1:5 3:2\n2\n1 2:1")
    assert RowStore.from_svmlight(path).shape == (3, 3)
    assert RowStore.from_svmlight(path, zero_based=True).shape == (3, 4)
    assert RowStore.from_svmlight(path, n_features=9).shape == (3, 9)
    assert content(RowStore.from_svmlight(path))[0].toarray().tolist() == [[5, 0, 2], [0, 0, 0], [0, 1, 0]]
    path.write_text("1 0:5 3:2\n2 1:1\n")
    assert RowStore.from_svmlight(path).shape == (2, 4)
    with pytest.raises(ValueError, match="column 0"):
        RowStore.from_svmlight(path, zero_based=False)
    with pytest.raises(ValueError, match="has 4 features"):
        RowStore.from_svmlight(path, n_features=3)


@pytest.mark.parametrize("line", ["1:2 2:3", "1 a:3", "1 3:4 1:2", "x 1:2", "1 -1:2", "1 3000000000:1"])
def test_a_bad_line_is_named(tmp_path, line):
    path = tmp_path / "rows.svm"
    path.write_text(f"1 1:2\n2 1:3\n{line}\n")
    with pytest.raises(ValueError, match=r"lines 1 to 4.*'label column:value"):
        RowStore.from_svmlight(path)


def test_unreadable_svmlight_files(svm_file, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file .*nowhere\.svm"):
        RowStore.from_svmlight("nowhere.svm")
    cut_off = tmp_path / "cut.gz"
    cut_off.write_bytes(gzip.compress(svm_file.read_bytes())[:-20])
    not_packed = tmp_path / "plain.gz"
    not_packed.write_bytes(svm_file.read_bytes())
    for path in (cut_off, not_packed):
        with pytest.raises(OSError, match="can't be read"):
            RowStore.from_svmlight(path)
    (tmp_path / "empty.svm").write_text("# nothing\n")
    with pytest.raises(ValueError, match="no rows"):
        RowStore.from_svmlight(tmp_path / "empty.svm")


# Folders


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The system's temporary folder, to look into."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def test_the_temporary_folder_goes_with_the_store(temporary):
    X, y = rows()
    with RowStore.from_blocks([(X, y)]) as store:
        assert store.folder.parent == temporary
    assert not list(temporary.iterdir())
    with pytest.raises(ValueError, match="closed"):
        next(store.blocks())
    store = RowStore.from_blocks([(X, y)])
    assert list(temporary.iterdir())
    del store
    gc.collect()
    assert not list(temporary.iterdir())


def test_a_store_with_a_folder_stays_and_can_be_opened(tmp_path, temporary):
    X, y = rows()
    folder = tmp_path / "deep" / "store"
    with RowStore.from_blocks([(X, y, np.ones(500))], folder, block_bytes=500):
        pass
    store = RowStore.open(folder)
    np.testing.assert_array_equal(store.sample_weight, np.ones(500))
    assert (content(store)[0] != X).nnz == 0
    assert not list(temporary.iterdir())
    with pytest.raises(FileExistsError, match="already"):
        RowStore.from_blocks([(X, y)], folder)
    assert RowStore.open(folder).shape == X.shape


def broken(error):
    yield rows()
    raise error


@pytest.mark.parametrize("error", [RuntimeError("no more"), KeyboardInterrupt()])
def test_a_stream_that_fails_leaves_nothing_behind(temporary, tmp_path, error):
    with pytest.raises(type(error)):
        RowStore.from_blocks(broken(error))
    assert not list(temporary.iterdir())
    with pytest.raises(type(error)):
        RowStore.from_blocks(broken(error), tmp_path / "new")
    assert not (tmp_path / "new").exists()
    (tmp_path / "other").write_text("not ours")
    with pytest.raises(type(error)):
        RowStore.from_blocks(broken(error), tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"other", "temporary"}


def test_a_full_disk_gets_a_sentence(temporary, monkeypatch):
    def write(*arrays):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(spool, "write_block", write)
    with pytest.raises(OSError, match=r"disk is full.*another disk") as caught:
        RowStore.from_blocks([rows()])
    assert caught.value.errno == errno.ENOSPC
    assert not list(temporary.iterdir())


def damage(path, at: int):
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


@pytest.fixture
def folder(tmp_path):
    RowStore.from_blocks([rows()], tmp_path / "store", block_bytes=500)
    return tmp_path / "store"


def test_damaged_rows_are_found_when_read(folder):
    path = folder / store_files.ROWS
    damage(path, 5000)
    with pytest.raises(OSError, match=r"contents have changed.*anew"):
        content(RowStore.open(folder))
    damage(path, 5000)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(OSError, match="shorter"):
        list(RowStore.open(folder).shuffled(np.random.default_rng(0)))
    path.unlink()
    with pytest.raises(OSError, match="can't be read"):
        list(RowStore.open(folder).blocks())


@pytest.mark.parametrize("name", [store_files.BLOCKS, store_files.LABELS])
def test_damaged_labels_are_found_at_once(folder, name):
    damage(folder / name, -1)
    with pytest.raises(OSError, match=f"{name}.* other contents"):
        RowStore.open(folder)
    (folder / name).unlink()
    with pytest.raises(OSError, match=f"{name}.*can't be read"):
        RowStore.open(folder)


def test_a_store_of_another_version_or_none(folder, tmp_path):
    with pytest.raises(FileNotFoundError, match="no finished row store"):
        RowStore.open(tmp_path)
    index = folder / store_files.INDEX
    fields = json.loads(index.read_text())
    index.write_text(json.dumps(fields | {"version": 99}))
    with pytest.raises(ValueError, match="version 99, not 1"):
        RowStore.open(folder)
    for text in ("{", "[]", "{}", json.dumps(fields | {"format": "other"}), json.dumps(fields | {"more": 1})):
        index.write_text(text)
        with pytest.raises(ValueError, match=r"damaged|version"):
            RowStore.open(folder)


# Bad input

X3 = np.eye(3)
BAD_BLOCKS = {
    "ragged": ((np.eye(4), [0, 1, 0, 1]), ValueError, "4 features.* 3"),
    "NaN": ((np.full((3, 3), np.nan), [0, 1, 0]), ValueError, "NaN"),
    "infinity": ((sp.csr_matrix(np.full((3, 3), np.inf)), [0, 1, 0]), ValueError, "infinity"),
    "too large for float32": ((1e60 * X3, [0, 1, 0]), ValueError, "too large"),
    "too large": ((1e20 * X3, [0, 1, 0]), ValueError, "too large"),
    "no labels": ((X3, None), ValueError, "y is None"),
    "missing label": ((X3, [0.0, np.nan, 1.0]), ValueError, "missing labels"),
    "too few labels": ((X3, [0, 1]), ValueError, "inconsistent"),
    "other labels": ((X3, ["a", "b", "c"]), TypeError, "all as strings"),
    "objects": ((X3, [0, "b", (1,)]), TypeError, "all as strings"),
    "ordered labels": ((X3, pd.Categorical([1, 2, 1], ordered=True)), TypeError, "categories"),
    "weights in one block only": ((X3, [0, 1, 0], [1.0, 1.0, 1.0]), ValueError, "all blocks or with none"),
    "not a tuple": (X3, TypeError, "tuples"),
    "too many": ((X3, [0, 1, 0], None, 1), TypeError, "tuples"),
    "one dimension": ((np.ones(3), [0, 1, 0]), ValueError, "2D"),
    "text": ((np.array([["a"] * 3] * 3), [0, 1, 0]), ValueError, "convert"),
}


@pytest.mark.parametrize("name", BAD_BLOCKS)
def test_a_bad_block_is_named(name, temporary):
    block, error, message = BAD_BLOCKS[name]
    with pytest.raises(error, match=rf"(?s)^Block 2 \(from row 3 on\): .*{message}"):
        RowStore.from_blocks(iter([(X3, [0, 1, 0]), block]))
    assert not list(temporary.iterdir())


@pytest.mark.parametrize("weight", [[1.0, -1.0, 1.0], [1.0, np.nan, 1.0], [[1.0], [1.0], [1.0]], [1.0, 1.0], "abc"])
def test_bad_weights(weight):
    with pytest.raises(ValueError, match=r"^Block 1 "):
        RowStore.from_blocks([(X3, [0, 1, 0], weight)])


@pytest.mark.parametrize("blocks", [[], [(np.empty((0, 3)), [])]])
def test_an_empty_stream(blocks):
    with pytest.raises(ValueError, match="no rows"):
        RowStore.from_blocks(blocks)


@pytest.mark.parametrize("option", ["block_bytes", "block_rows", "window_bytes"])
@pytest.mark.parametrize("value", [0, -1, "1", np.nan])
def test_bad_sizes(option, value, temporary):
    with pytest.raises(ValueError, match=f"^{option}="):
        RowStore.from_blocks([(X3, [0, 1, 0])], **{option: value})
    assert not list(temporary.iterdir())


@pytest.mark.parametrize("option", [{"n_features": 0}, {"zero_based": "yes"}])
def test_bad_options_of_svmlight(svm_file, option):
    with pytest.raises(ValueError, match="is not valid"):
        RowStore.from_svmlight(svm_file, **option)


PLACES = {
    "before the folder is made": (Path, "mkdir", "before"),
    "after the folder was made": (Path, "mkdir", "after"),
    "while rows come": (spool.Spool, "add", "before"),
    "before the index": (store_files.StoreIndex, "write", "before"),
    "after the index": (store_files.StoreIndex, "write", "after"),
    "before the store is an object": (RowStore, "__init__", "before"),
    "after the store is an object": (RowStore, "__init__", "after"),
    "while files are removed": (shutil, "rmtree", "before"),
}


@pytest.mark.parametrize("where", PLACES)
def test_an_interrupt_leaves_no_rows_in_the_temporary_folder(where, temporary, monkeypatch):
    owner, name, when = PLACES[where]
    original, interrupted = getattr(owner, name), []

    def interrupt(*given, **options):
        if interrupted:
            return original(*given, **options)
        interrupted.append(name)
        if when == "after":
            original(*given, **options)
        raise KeyboardInterrupt

    X, y = rows()
    monkeypatch.setattr(owner, name, interrupt)
    with pytest.raises(KeyboardInterrupt):
        RowStore.from_blocks(iter([(X, y)])).close()
    assert interrupted
    gc.collect()
    assert list(temporary.iterdir()) == []


def test_an_interrupt_leaves_no_rows_in_a_folder(tmp_path, monkeypatch):
    """Not even one that comes while it is cleared."""
    unlink, interrupted = Path.unlink, []

    def interrupt(self, missing_ok=False):
        if not interrupted:
            interrupted.append(self)
            raise KeyboardInterrupt
        unlink(self, missing_ok)

    def blocks():
        yield X, y
        raise RuntimeError

    X, y = rows()
    monkeypatch.setattr(Path, "unlink", interrupt)
    with pytest.raises(KeyboardInterrupt):
        RowStore.from_blocks(blocks(), tmp_path / "store")
    assert interrupted
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("reason", "message"),
    [(errno.EFBIG, "as large as files may be"), (errno.EDQUOT, "disk is full"), (errno.ENOSPC, "disk is full")],
)
def test_whatever_limits_a_file_says_what_to_do(reason, message, tmp_path, monkeypatch):
    def fail(*given):
        raise OSError(reason, "as the system says")

    X, y = rows()
    monkeypatch.setattr(spool.Spool, "add", fail)
    with pytest.raises(OSError, match=rf"{message}.*: make room for .*, or give a folder on another disk") as caught:
        RowStore.from_blocks([(X, y)], tmp_path / "store")
    assert caught.value.errno == reason
    assert list(tmp_path.iterdir()) == []
