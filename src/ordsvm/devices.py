"""Where arrays are computed with: the names of devices, and what becomes of torch's tensors.

torch is imported here, and by the modules that compute with it, only where a device other than "cpu" is named.
"""

from __future__ import annotations

import math
import re
import sys
import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from ordsvm.checks import caller_level, shortened

BLOCK_VALUES = 2**26  # of a block of rows of a tensor
DEVICE = re.compile(r"cpu|auto|cuda(:\d+|:all)?|torch:\w+(:\d+)?")
TENSOR_CORES = (8, 0)  # compute capability from which on Triton's products have them in float16 and float64
NO_TORCH = "needs torch, which is not installed"


def check_device(device: Any) -> None:
    """Whether it names a device, be it there or not."""
    if not isinstance(device, str) or not DEVICE.fullmatch(device):
        raise ValueError(
            f"device={shortened(device)} is unknown: give 'cpu', 'cuda', 'cuda:1' and so on, 'cuda:all', or 'auto' for "
            "a GPU where there is one."
        )


def usable_device(device: str) -> str:
    """The device that a name stands for, if it is there: "auto" is a GPU that torch finds, or else the CPU."""
    check_device(device)
    if device == "cpu":
        return device
    if device == "auto":
        return "cuda" if find_spec("torch") is not None and _n_gpus() > 0 else "cpu"
    lack = _lack_of(device)
    if lack == NO_TORCH:
        raise ImportError(f"device={device!r} {lack}: pip install 'ordsvm[gpu]', or give device='cpu'.")
    if lack:
        raise ValueError(f"device={device!r} {lack}: give device='auto' or 'cpu'.")
    return device


def device_or_cpu(device: str) -> str:
    """Where a trained model predicts: on the CPU, with a warning, where the device that it names is not there."""
    check_device(device)
    lack = "" if device in ("cpu", "auto") else _lack_of(device)
    if not lack:
        return usable_device(device)
    warnings.warn(
        f"device={device!r} {lack}: the model predicts on the CPU. set_params(device='cpu') chooses that without a "
        "warning.",
        UserWarning,
        stacklevel=caller_level(),
    )
    return "cpu"


def _lack_of(device: str) -> str:
    """What is missing for a device other than "cpu" and "auto"; nothing where it is there."""
    try:
        n_gpus = _n_gpus()
    except ImportError:
        return NO_TORCH
    number = int(device.partition(":")[2].replace("all", "") or 0) if device.startswith("cuda") else -1
    if number < n_gpus:
        return ""
    return f"needs a GPU, and torch finds {f'{n_gpus} of them' if n_gpus else 'none'}"


def names_of_torch(device: str) -> list[str]:
    """What torch calls a device other than "cpu" and "auto": several where that is "cuda:all"."""
    return [f"cuda:{k}" for k in range(_n_gpus())] if device == "cuda:all" else [device.removeprefix("torch:")]


def _n_gpus() -> int:
    import torch

    return torch.cuda.device_count() if torch.cuda.is_available() else 0


def has_fused_kernels(device: Any) -> bool:
    """Whether Triton's kernels are for this device: GPUs of NVIDIA with tensor cores of both kinds."""
    import torch

    if device.type != "cuda" or find_spec("triton") is None or torch.version.hip is not None:
        return False
    return torch.cuda.get_device_capability(device) >= TENSOR_CORES


# Tensors


@dataclass(frozen=True, eq=False)
class TensorRows:
    """Samples in a tensor of float32 or float64, which stay where they are.

    order   numbers of rows of the tensor; None: all of them
    """

    tensor: Any
    order: Any = None

    @classmethod
    def of(cls, tensor: Any) -> TensorRows:
        """Those of a tensor; its memory, unless it has numbers of another kind."""
        tensor = _of_numbers(tensor, "X")
        return cls(tensor if tensor.is_floating_point() else tensor.double())

    @property
    def shape(self) -> tuple[int, ...]:
        n_rows = len(self.tensor) if self.order is None else len(self.order)
        return (n_rows, *self.tensor.shape[1:])

    @property
    def dtype(self) -> Any:
        return self.tensor.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, which: Any) -> TensorRows:
        """Some of the rows: numbers only, no value is copied."""
        order = np.arange(len(self)) if self.order is None else self.order
        return TensorRows(self.tensor, order[which])

    def __matmul__(self, weights: Any) -> Any:
        """Products with weights of the features, in float64, on the host."""
        parts = [part.double() @ part.new_tensor(weights).double() for part in self.blocks()]
        return np.concatenate([part.cpu().numpy() for part in parts])

    def gathered(self) -> Any:
        """The rows as a tensor: the same one where they are all of them."""
        if self.order is None:
            return self.tensor
        return self.tensor[sys.modules["torch"].as_tensor(self.order, device=self.tensor.device)]

    def on_host(self) -> Any:
        return self.gathered().cpu().numpy()

    def blocks(self) -> list[Any]:
        """The rows, so many at a time that a copy of them is small."""
        step = max(1, BLOCK_VALUES // max(1, self.shape[1]))
        return [self[i : i + step].gathered() for i in range(0, len(self), step)]

    def moments(self) -> tuple[float, float]:
        """The mean of all values, and the sum of the squares of their distances to it, summed in float64."""
        size = max(1, self.shape[0] * self.shape[1])
        mean = sum(part.double().sum() for part in self.blocks()) / size
        squares = sum((part.double() - mean).square().sum() for part in self.blocks())
        return float(mean), float(squares)


def is_tensor(values: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(values, getattr(torch, "Tensor", ()))


def on_host(values: Any, name: str = "X") -> Any:
    """A tensor as an ndarray, anything else as it is."""
    if isinstance(values, TensorRows):
        return values.on_host()
    return _of_numbers(values, name).cpu().numpy() if is_tensor(values) else values


def _of_numbers(tensor: Any, name: str) -> Any:
    """A dense tensor of real numbers, without what it keeps for gradients; those of less than float32 become that."""
    torch = sys.modules["torch"]
    is_dense = tensor.layout == torch.strided and not tensor.is_nested
    if not is_dense or tensor.is_complex() or tensor.is_quantized:
        raise ValueError(
            f"{name} is a {'nested' if tensor.is_nested else tensor.layout} tensor of {tensor.dtype}: give a dense one "
            f"(torch.strided) of real numbers, such as {name}.to_dense(), or a SciPy matrix where zeros are many."
        )
    tensor = tensor.detach()
    is_short = tensor.is_floating_point() and tensor.dtype not in (torch.float32, torch.float64)
    return tensor.float() if is_short else tensor


def beside(values: Any, tensor: Any) -> Any:
    """Numbers as a tensor on the device of another one; what are no numbers, as they are."""
    values = np.asarray(values)
    return sys.modules["torch"].as_tensor(values, device=tensor.device) if values.dtype.kind in "biuf" else values


def too_little_memory(device: str, free: float, n_samples: int, need: str) -> MemoryError:
    """For a fit that does not fit; `free`: bytes, NaN where they are not known."""
    known = "" if math.isnan(free) else f", and {free / 2**30:.2g} GB are free"
    return MemoryError(
        f"device={device!r} has too little memory for {n_samples:,} samples: {need}{known}. Train on fewer samples, on "
        "another device, or with device='cpu'."
    )
