from collections.abc import Callable
from enum import Enum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

compiler: str

class Watch(Protocol):
    @property
    def report_every(self) -> int: ...
    def report(self, steps: int, kernel_rows: int) -> bool: ...
    def judge(self, tol: float, violation: float) -> float: ...
    def out_of_time(self) -> bool: ...

class Thresholds(Enum):
    none = 0
    penalized = 1
    free = 2
    ordered = 3

class KernelKind(Enum):
    linear = 0
    rbf = 1
    polynomial = 2
    sigmoid = 3
    laplacian = 4

class Status(Enum):
    converged = 0
    max_iter = 1
    stopped = 2
    imprecise = 3
    near = 4

class Selection(Enum):
    mvp = 0
    second_order = 1

class Partition(Enum):
    sample = 0
    threshold = 1

class Sharing(Enum):
    atomic = 0
    log = 1

class Team:
    def __init__(
        self, n_threads: int, partition: Partition, sharing: Sharing, max_shrink_steps: int, pace: float
    ) -> None: ...

class Others(Enum):
    light = 0
    cache = 1

class ParsmoOptions:
    def __init__(self, others: Others, n_pairs: int, epsilon: float, gathering: bool, n_threads: int) -> None: ...

class Kernel:
    def __init__(self, kind: KernelKind, gamma: float = ..., coef0: float = ..., degree: float = ...) -> None: ...

class Rows:
    def __len__(self) -> int: ...
    def diagonal(self) -> Floats: ...
    def roundings(self) -> float: ...
    def suits_blocks(self) -> bool: ...
    def rows(self, which: NDArray[np.int64]) -> Floats: ...
    def product(self, beta: Floats, n_threads: int = 1) -> Floats: ...
    def part(self, rows: NDArray[np.int64], columns: NDArray[np.int64], n_threads: int = 1) -> Floats: ...

class Table: ...

class Limits:
    def __init__(self, tol: float, max_steps: int, steps_before: int = 0) -> None: ...

class Cache:
    @property
    def rows_computed(self) -> int: ...
    def block(self, which: NDArray[np.int64], watch: Watch) -> Floats: ...
    def product(self, which: NDArray[np.int64], weight: Floats, watch: Watch) -> Floats: ...

class LiveArrays:
    def __init__(self, alpha: Floats, score: Floats, threshold: Floats, active: NDArray[np.int64]) -> None: ...

class Outcome:
    @property
    def status(self) -> Status: ...
    @property
    def steps(self) -> int: ...
    @property
    def kernel_rows(self) -> int: ...

def table(
    sample: Ints,
    threshold: Ints,
    sign: Floats,
    offset: Floats,
    cap: Floats,
    *,
    n_samples: int,
    n_thresholds: int,
    treatment: Thresholds,
) -> Table: ...
def dense_rows(kernel: Kernel, data: NDArray[np.floating]) -> Rows: ...
def csr_rows(
    kernel: Kernel,
    values: NDArray[np.floating],
    columns: NDArray[np.integer],
    starts: NDArray[np.integer],
    n_columns: int,
) -> Rows: ...
def precomputed_rows(matrix: NDArray[np.floating]) -> Rows: ...
def callable_rows(diagonal: Floats, function: Callable[[NDArray[np.int64]], Floats]) -> Rows: ...
def cache(rows: Rows, budget_bytes: int, double_rows: bool) -> Cache: ...
def smo(
    table: Table, cache: Cache, limits: Limits, live: LiveArrays, watch: Watch, selection: Selection
) -> Outcome: ...
def parsmo(
    table: Table, cache: Cache, limits: Limits, live: LiveArrays, watch: Watch, options: ParsmoOptions
) -> Outcome: ...
def gcd(table: Table, cache: Cache, limits: Limits, live: LiveArrays, watch: Watch) -> Outcome: ...
def asygcd(table: Table, cache: Cache, limits: Limits, live: LiveArrays, watch: Watch, team: Team) -> Outcome: ...
def asyorgcd(
    table: Table,
    cache: Cache,
    limits: Limits,
    live: LiveArrays,
    watch: Watch,
    team: Team,
    max_inner_steps: int,
) -> Outcome: ...
def block(
    table: Table,
    cache: Cache,
    limits: Limits,
    live: LiveArrays,
    watch: Watch,
    q1: int,
    q2: int,
    n_threads: int,
    near: float,
    steps_to_start: int,
) -> Outcome: ...

Csr = tuple[NDArray[np.floating], NDArray[np.integer], NDArray[np.integer]]  # values, columns, starts

def dense_scores(
    kernel: Kernel, samples: NDArray[np.floating], support: NDArray[np.floating], weights: Floats, n_threads: int
) -> Floats: ...
def csr_scores(
    kernel: Kernel, samples: Csr, support: Csr, n_columns: int, weights: Floats, n_threads: int
) -> Floats: ...

class LinearWatch(Protocol):
    def report(self, steps: int, kernel_rows: int) -> bool: ...

class Block:
    def __len__(self) -> int: ...

class LinearOptions:
    def __init__(
        self, *, intercept: bool, squared: bool, precise: bool, rho: float, n_threads: int, seed: int
    ) -> None: ...

class Sums:
    gap: float
    loss: float
    moved: float
    linear: float
    violation: float

class LinearCertificate:
    primal: float
    dual: float
    violation: float

class Machine:
    def descend(
        self,
        block: Block,
        first: int | NDArray[np.int64],
        parts: int,
        share: float,
        n_threads: int,
        watch: LinearWatch,
        ahead: bool = False,
    ) -> None: ...
    def take_sums(self) -> Sums: ...
    def begin_proof(self) -> None: ...
    def begin_scores(self, weights: Floats) -> None: ...
    def proof(self) -> Sums: ...
    def build(self, block: Block, first: int) -> None: ...
    def score(self, block: Block, first: int, n_threads: int, watch: LinearWatch) -> None: ...
    def certificate(self) -> LinearCertificate: ...
    def resume(self) -> None: ...
    def rebuild(self, block: Block, first: int) -> None: ...
    def set_weights(self, weights: Floats, sums: Floats) -> None: ...
    def take_weights(self) -> Floats: ...
    def biases(self) -> Floats: ...
    def set_biases(self, values: Floats) -> None: ...
    def variables(self, n_samples: int, first: int = 0) -> Floats: ...
    def variable_sums(self, n_samples: int) -> Floats: ...
    def take_variables(self, n_samples: int) -> list[NDArray[np.float32] | NDArray[np.float64]]: ...
    def set_variables(self, values: Floats, first: int = 0) -> None: ...

def csr_block(values: NDArray, columns: NDArray, starts: NDArray, n_columns: int) -> Block: ...
def dense_block(values: NDArray) -> Block: ...
def squared_norms(block: Block, norms: NDArray[np.float32], first: int, n_threads: int) -> None: ...
def lane_machine(
    lower: Floats,
    upper: Floats,
    offset: Floats,
    epsilon: Floats,
    label: Ints,
    weight: Floats,
    target: Floats,
    norm: NDArray[np.float32],
    n_features: int,
    options: LinearOptions,
) -> Machine: ...
def threshold_machine(
    sign: Floats,
    cap: Floats,
    label: Ints,
    weight: Floats,
    norm: NDArray[np.float32],
    n_features: int,
    options: LinearOptions,
) -> Machine: ...

class RankProblem:
    def __init__(self, rank: int, C1: float, C2: float, epsilon: float) -> None: ...

class RankMachines:
    def run(self, eps: float, until: int, n_threads: int, watch: LinearWatch) -> bool: ...
    def refresh(self) -> None: ...
    def beta(self) -> Floats: ...
    def curvature(self) -> Floats: ...
    @property
    def violation(self) -> float: ...
    @property
    def epochs(self) -> int: ...
    @property
    def active(self) -> int: ...

def dcd1(
    block: Block, label: Ints, weight: Floats, problems: list[RankProblem], *, bias: bool, permute: bool, seed: int
) -> RankMachines: ...
def dcd2(
    block: Block, label: Ints, weight: Floats, problems: list[RankProblem], *, bias: bool, shrink: bool, seed: int
) -> RankMachines: ...
