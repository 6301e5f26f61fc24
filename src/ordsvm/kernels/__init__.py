"""Kernels: what they are, and the matrices of their values."""

from ordsvm.kernels.base import Kernel, NativeKernel
from ordsvm.kernels.kernels import (
    NAMES,
    RBF,
    Custom,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
    gamma_value,
    make_kernel,
)
from ordsvm.kernels.matrix import KernelMatrix

__all__ = [
    "NAMES",
    "RBF",
    "Custom",
    "Kernel",
    "KernelMatrix",
    "Laplacian",
    "Linear",
    "NativeKernel",
    "Polynomial",
    "Precomputed",
    "Sigmoid",
    "gamma_value",
    "make_kernel",
]
