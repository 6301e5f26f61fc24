"""The solvers: options objects by their names, and the one call that runs one of them on a kernel problem."""

from ordsvm.kernels.matrix import KernelMatrix
from ordsvm.solvers.control import Control
from ordsvm.solvers.kernel.block.block import Block
from ordsvm.solvers.kernel.gcd import GCD
from ordsvm.solvers.kernel.interior_point.interior_point import InteriorPoint
from ordsvm.solvers.kernel.proximal_newton.proximal_newton import ProximalNewton
from ordsvm.solvers.kernel.run import Solver, solve
from ordsvm.solvers.kernel.smo import SMO
from ordsvm.solvers.linear.cocoa import CoCoA
from ordsvm.solvers.linear.dcd import DCD1, DCD2
from ordsvm.solvers.linear.interior_point import LinearInteriorPoint
from ordsvm.solvers.linear.rank_dcd import RankDCD
from ordsvm.solvers.papers.asyagcd import AsyAGCD
from ordsvm.solvers.papers.asygcd import AsyGCD
from ordsvm.solvers.papers.asyorgcd import AsyORGCD
from ordsvm.solvers.papers.decomposition.bounded_program import BoundedProgram
from ordsvm.solvers.papers.decomposition.decomposition import Decomposition
from ordsvm.solvers.papers.parsmo import ParsmoCache, ParsmoLight
from ordsvm.solvers.registry import SOLVERS, check_solver
from ordsvm.solvers.solution import Solution

__all__ = [
    "DCD1",
    "DCD2",
    "GCD",
    "SMO",
    "SOLVERS",
    "AsyAGCD",
    "AsyGCD",
    "AsyORGCD",
    "Block",
    "BoundedProgram",
    "CoCoA",
    "Control",
    "Decomposition",
    "InteriorPoint",
    "KernelMatrix",
    "LinearInteriorPoint",
    "ParsmoCache",
    "ParsmoLight",
    "ProximalNewton",
    "RankDCD",
    "Solution",
    "Solver",
    "check_solver",
    "solve",
]
