"""The resident memory of this process, as Linux counts it."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import ClassVar


def resident() -> int:
    """Bytes now; sets the mark of the peak back to it."""
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


class _Mallinfo(ctypes.Structure):
    """glibc's `struct mallinfo2`."""

    _fields_: ClassVar = [
        (name, ctypes.c_size_t)
        for name in [
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "uordblks",
            "fordblks",
            "keepcost",
        ]
    ]


def allocated() -> int:
    """Bytes that malloc has given out and not got back; 0 where the C library does not count them."""
    try:
        mallinfo = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        return 0
    mallinfo.restype = _Mallinfo
    counts = mallinfo()
    return counts.uordblks + counts.hblkhd


def resident_peak() -> int:
    """Bytes at most since the last call of `resident`."""
    return _status("VmHWM")


def _status(which: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(which))
