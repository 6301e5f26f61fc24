"""Kernels: what they are, and the matrices of their values."""

from ordsvm.kernels.base import Kernel
from ordsvm.kernels.given import Custom, Precomputed
from ordsvm.kernels.kernels import (
    NAMES,
    NAMES_WITHOUT_GAMMA,
    RBF,
    Laplacian,
    Linear,
    NativeKernel,
    Polynomial,
    Sigmoid,
    gamma_value,
    make_kernel,
)
from ordsvm.kernels.matrix import KernelMatrix
from ordsvm.kernels.nystroem import NystroemMap

__all__ = [
    "NAMES",
    "NAMES_WITHOUT_GAMMA",
    "RBF",
    "Custom",
    "Kernel",
    "KernelMatrix",
    "Laplacian",
    "Linear",
    "NativeKernel",
    "NystroemMap",
    "Polynomial",
    "Precomputed",
    "Sigmoid",
    "gamma_value",
    "make_kernel",
]
