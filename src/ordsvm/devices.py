"""Where arrays are computed with: the names of devices, and what becomes of torch's tensors.

torch is imported here, and by the modules that compute with it, only where a device other than "cpu" is named.
"""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from ordsvm.checks import shortened

DEVICE = re.compile(r"cpu|auto|cuda(:\d+|:all)?|torch:\w+(:\d+)?")
TENSOR_CORES = (8, 0)  # compute capability from which on Triton's products have them in float16 and float64


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
    try:
        n_gpus = _n_gpus()
    except ImportError:
        raise ImportError(
            f"device={device!r} needs torch, which is not installed: pip install 'ordsvm[gpu]', or give device='cpu'."
        ) from None
    number = int(device.partition(":")[2].replace("all", "") or 0) if device.startswith("cuda") else -1
    if number >= n_gpus:
        there = f"torch finds {n_gpus} of them" if n_gpus else "torch finds none"
        raise ValueError(f"device={device!r} needs a GPU, and {there}: give device='auto' or 'cpu'.")
    return device


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


class TensorRows(NamedTuple):
    """Samples in a tensor, which stay where they are."""

    tensor: Any

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.tensor.shape)


def is_tensor(values: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(values, getattr(torch, "Tensor", ()))


def on_host(values: Any) -> Any:
    """A tensor as an ndarray, anything else as it is."""
    return values.detach().cpu().numpy() if is_tensor(values) else values


def beside(values: Any, tensor: Any) -> Any:
    """Numbers as a tensor on the device of another one; what are no numbers, as they are."""
    values = np.asarray(values)
    return sys.modules["torch"].as_tensor(values, device=tensor.device) if values.dtype.kind in "biuf" else values
