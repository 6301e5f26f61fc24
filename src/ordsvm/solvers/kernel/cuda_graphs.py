"""Kernels captured as CUDA graphs: to replay one takes the host a single launch, whatever is in it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache
from typing import Any

import torch

_CAPTURE = threading.Lock()  # the stream that is captured on is shared
_CANNOT: set[torch.device] = set()  # where a graph could not be made


def captured(launch: Callable[[], None], device: torch.device, pool: Any = None) -> torch.cuda.CUDAGraph | None:
    """What `launch` has the device do, which it has done before; None where that cannot be captured.

    Arrays that it makes are in memory that the graph keeps; graphs that are never replayed at once may share a pool.
    """
    if device in _CANNOT:
        return None
    with _CAPTURE:
        return _captured(launch, device, pool)


def _captured(launch: Callable[[], None], device: torch.device, pool: Any) -> torch.cuda.CUDAGraph | None:
    graph, here, aside = torch.cuda.CUDAGraph(), torch.cuda.current_stream(), _stream(device)
    aside.wait_stream(here)
    try:
        with torch.cuda.stream(aside):
            graph.capture_begin(pool=pool, capture_error_mode="relaxed")
            try:
                launch()
            finally:
                graph.capture_end()
    except torch.cuda.OutOfMemoryError:
        return None
    except RuntimeError:
        _CANNOT.add(device)
        return None
    here.wait_stream(aside)
    return graph


@cache
def _stream(device: torch.device) -> torch.cuda.Stream:
    """To capture on; the workspace that torch's products of matrices have for every stream is made before."""
    stream = torch.cuda.Stream(device)
    with torch.cuda.stream(stream):
        small = torch.eye(2, device=device)
        torch.mv(small, small[0])
        torch.mv(small.double(), small[0].double())
    stream.synchronize()
    return stream
