"""BLAS under a limit of the address space does not end the process."""

import subprocess
import sys

import pytest

pytest.importorskip("resource")

LIMITED = """
import resource

def leave(megabytes):
    size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + (megabytes << 20), resource.getrlimit(resource.RLIMIT_AS)[1]))
"""


def run(program: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", LIMITED + program], capture_output=True, text=True)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_the_buffers_are_there_before_memory_is_short():
    """OpenBLAS allocated them at its first product, and ended the process where it could not."""
    program = """
leave(3000)
import numpy as np
import ordsvm
square = np.ones((600, 600))
leave(12)
square @ square
print("healthy")
"""
    child = run(program)
    assert (child.stdout, child.returncode) == ("healthy\n", 0), child.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_too_little_memory_for_them_is_one_sentence():
    program = """
from ordsvm.blas import make_buffers
leave(30)
try:
    make_buffers()
except MemoryError as error:
    print(error)
"""
    child = run(program)
    assert "too little for BLAS, which would end it: raise the limit" in child.stdout, child.stderr
    assert child.returncode == 0
