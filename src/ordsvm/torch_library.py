"""torch on one of its devices, as array code that is written once for NumPy and torch takes it."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np

from ordsvm._typing import Floats
from ordsvm.array_library import Array
from ordsvm.devices import has_fused_kernels, names_of_torch

LARGE_LOWER = 256  # rows of a triangular matrix from which on it is inverted by blocks
BLOCKS_OF_LOWER = 16  # a power of 2
LEAST_SHARED = 99 * 1024
_OF_THREAD = threading.local()
_FIRST_USE = threading.Lock()


class TorchLibrary:
    """torch on one of its devices."""

    def __init__(self, device: str) -> None:
        import torch

        self._torch = torch
        self.device = torch.device(device)
        self.fuses = has_fused_kernels(self.device)
        self.queues = self.device.type == "cuda"
        self._compact = torch.float32 if self.queues else torch.float64
        self.out_of_memory: type[Exception] = torch.cuda.OutOfMemoryError
        if self.queues:
            self._load_linear_algebra()

    @property
    def name(self) -> str:
        """The device as users name it."""
        return str(self.device) if self.device.type == "cuda" else f"torch:{self.device}"

    def _load_linear_algebra(self) -> None:
        """torch loads it at its first use, and fails where that is in two threads at once."""
        with _FIRST_USE:
            self._torch.linalg.cholesky_ex(self._torch.ones((1, 1), device=self.device))

    def current(self) -> AbstractContextManager[Any]:
        return self._torch.cuda.device(self.device) if self.queues else nullcontext()

    @contextmanager
    def apart(self) -> Iterator[None]:
        if not self.queues:
            yield
            return
        streams, name = _OF_THREAD.__dict__, str(self.device)  # one each: memory that one has used stays with it
        if name not in streams:
            streams[name] = self._torch.cuda.Stream(self.device)
        streams[name].wait_stream(self._torch.cuda.current_stream(self.device))
        with self._torch.cuda.stream(streams[name]):
            yield
        streams[name].synchronize()  # others may read what was made here

    def array(self, values: Any) -> Array:
        return self._there(values).to(self._torch.float64)  # float32 travels as such, and is widened there

    def index(self, values: Any) -> Array:
        return self._there(values).to(self._torch.int64)

    def _there(self, values: Any) -> Array:
        """On the device; work that is under way there is not waited for."""
        if isinstance(values, np.ndarray) and not values.flags.writeable:
            values = np.asarray(_Unlocked(values))
        return self._torch.as_tensor(values).to(self.device, non_blocking=True)

    def kept(self, values: Any) -> Array:
        """Here in their own precision."""
        return self._there(values)

    def span(self, begin: int, end: int) -> Array:
        return self._torch.arange(begin, end, device=self.device)

    def host(self, values: Array) -> Floats:
        return values.cpu().numpy()

    def floats(self, *scalars: Array) -> list[float]:
        return self._torch.stack(scalars).tolist()

    def floats_later(self, *scalars: Array) -> Callable[[], list[float]]:
        return self.fetch_later(self._torch.stack(scalars))

    def fetch_later(self, values: Array) -> Callable[[], list[float]]:
        if not self.queues:
            return values.clone().tolist
        fetched = self._torch.empty(len(values), dtype=values.dtype, pin_memory=True)
        fetched.copy_(values, non_blocking=True)
        event = self._torch.cuda.Event()
        event.record()

        def floats() -> list[float]:
            event.synchronize()
            return fetched.tolist()

        return floats

    def zeros(self, *shape: int) -> Array:
        return self._torch.zeros(shape, dtype=self._torch.float64, device=self.device)

    def eye(self, size: int) -> Array:
        return self._torch.eye(size, dtype=self._torch.float64, device=self.device)

    def where(self, condition: Array, yes: Array, no: Array) -> Array:
        return self._torch.where(condition, yes, no)

    def clip(self, values: Array, low: Array, high: Array) -> Array:
        torch = self._torch
        above = values.clamp(min=low) if isinstance(low, float) else torch.maximum(values, low)
        return above.clamp(max=high) if isinstance(high, float) else torch.minimum(above, high)

    def root(self, values: Array) -> Array:
        return values.sqrt()

    def add(self, matrix: Array, low_rank: Array, diagonal: Array) -> None:
        matrix.addmm_(low_rank, low_rank.T)
        matrix.diagonal().add_(diagonal)

    def add_product(self, out: Array, left: Array, right: Array, factor: float = 1.0) -> None:
        (out.addmm_ if out.ndim == 2 else out.baddbmm_)(left, right, alpha=factor)

    def matmul(self, left: Array, right: Array, out: Array | None = None) -> Array:
        return self._torch.bmm(left, right, out=out)  # `@` reshapes around it

    def product(self, left: Array, right: Array, out: Array | None = None) -> Array:
        return self._torch.mul(left, right, out=out)

    def number(self, flags: Array) -> Array:
        return flags.to(self._torch.float64)

    def compact(self, values: Array) -> Array:
        return values.to(self._compact)

    def compact_zeros(self, *shape: int) -> Array:
        return self._torch.zeros(shape, dtype=self._compact, device=self.device)

    def largest(self, values: Array, axis: int) -> Array:
        return values.amax(axis)

    def places(self, flags: Array) -> Array:
        return self._torch.nonzero(flags)[:, 0]

    def join(self, parts: Sequence[Array], axis: int = 0) -> Array:
        return self._torch.cat(list(parts), dim=axis)

    def permutation(self, size: int, seed: int) -> Array:
        return self.index(np.random.default_rng(seed).permutation(size))

    def distances(self, rows: Array, columns: Array) -> Array:
        """Sums of absolute differences."""
        return self._torch.cdist(rows, columns, p=1.0)

    def square_distances(self, rows: Array, columns: Array) -> Array:
        """Sums of squares of differences, which are made one by one."""
        return self._torch.cdist(rows, columns, compute_mode="donot_use_mm_for_euclid_dist").square_()

    def cholesky(self, matrix: Array) -> Array | None:
        lower, info = self._torch.linalg.cholesky_ex(matrix)
        return lower if not bool(info.any()) else None

    def cholesky_or_nan(self, matrices: Array) -> Array:
        lower, info = self._torch.linalg.cholesky_ex(matrices)
        return self._torch.where((info == 0)[:, None, None], lower, float("nan"))

    def flagged_first(self, flags: Array) -> Array:
        return self._torch.argsort((~flags).to(self._torch.uint8), dim=-1, stable=True)

    def inverse_of_lower(self, lower: Array) -> Array:
        if lower.ndim == 2 and len(lower) >= LARGE_LOWER:
            return self._inverse_by_blocks(lower)
        eye = self.eye(lower.shape[-1]).expand(lower.shape)
        return self._torch.linalg.solve_triangular(lower, eye, upper=False)

    def _inverse_by_blocks(self, lower: Array) -> Array:
        """Inverses of the blocks on the diagonal, all at once; then those of pairs of them, by products of matrices,
        which a GPU does at a far higher rate than it substitutes."""
        size = -(-len(lower) // BLOCKS_OF_LOWER)
        padded = self.eye(size * BLOCKS_OF_LOWER)
        padded[: len(lower), : len(lower)] = lower
        found = self.zeros(*padded.shape)
        _diagonal_blocks(found, size)[...] = self.inverse_of_lower(_diagonal_blocks(padded, size).contiguous())
        while size < len(padded):
            pairs, below = (_diagonal_blocks(each, 2 * size) for each in (found, padded))
            through = self.matmul(below[:, size:, :size], pairs[:, :size, :size])
            self.add_product(pairs[:, size:, :size], pairs[:, size:, size:], through, -1.0)
            size *= 2
        return found[: len(lower), : len(lower)]

    def solve_factored(self, lower: Array, right: Array) -> Array:
        if right.ndim == 1:
            return self._torch.cholesky_solve(right[:, None], lower)[:, 0]
        return self._torch.cholesky_solve(right, lower)

    def free_memory(self) -> float:
        if self.device.type != "cuda":
            return math.nan
        kept = self._torch.cuda.memory_reserved(self.device) - self._torch.cuda.memory_allocated(self.device)
        return float(self._torch.cuda.mem_get_info(self.device)[0] + kept)

    def shared_memory(self) -> int:
        """Bytes that a block of threads may have on a GPU; where torch does not tell, those of the smallest ones."""
        facts = self._torch.cuda.get_device_properties(self.device) if self.device.type == "cuda" else None
        return int(getattr(facts, "shared_memory_per_block_optin", LEAST_SHARED))

    def release(self) -> None:
        if self.device.type == "cuda":
            self._torch.cuda.empty_cache()

    def less_than(self, amount: int, error: Exception) -> int:
        """Half of what did not fit into memory, with room made for it."""
        if amount <= 1:
            raise MemoryError(f"{self.device} has no memory left for a single row: give device='cpu'.") from error
        self.release()
        return amount // 2


class _Unlocked:
    """An array that may not be written to, as torch takes it without a warning: nothing here writes to it."""

    def __init__(self, values: Floats) -> None:
        self._values = values
        interface = values.__array_interface__
        self.__array_interface__ = interface | {"data": (interface["data"][0], False)}


def _diagonal_blocks(matrix: Array, size: int) -> Array:
    """Those of a matrix of blocks of this size, as a stack."""
    n_blocks = len(matrix) // size
    return matrix.reshape(n_blocks, size, n_blocks, size).diagonal(dim1=0, dim2=2).permute(2, 0, 1)


def torch_library(device: str) -> TorchLibrary:
    """torch on a device of devices.py, but for "cpu" and "auto"; of several, on the first."""
    return TorchLibrary(names_of_torch(device)[0])


def torch_libraries(device: str) -> list[TorchLibrary]:
    """torch on each of the devices that a name stands for."""
    return [TorchLibrary(name) for name in names_of_torch(device)]
