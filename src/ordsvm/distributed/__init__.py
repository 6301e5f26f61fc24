"""The linear machines on more rows than one machine holds, on the workers of a Dask cluster."""

try:
    import dask.array  # noqa: F401
    import distributed  # noqa: F401
except ImportError as error:
    raise ImportError("ordsvm.distributed needs Dask: pip install 'ordsvm[distributed]'.") from error

from ordsvm.distributed.estimators import LinearNPSVOR, LinearSVC, LinearSVOR, LinearSVR
from ordsvm.distributed.nystroem import NystroemMachine
from ordsvm.solvers.linear.cocoa import CoCoA

__all__ = ["CoCoA", "LinearNPSVOR", "LinearSVC", "LinearSVOR", "LinearSVR", "NystroemMachine"]
