"""Triton's kernels compiled for GPUs of NVIDIA, none of which needs to be there; torch and Triton do.

    python tools/gpu_kernels.py [CAPABILITY ...]

The launches of small fits and products, run by Triton's interpreter, tell with what arguments kernels are compiled.
Printed are, for every kernel and capability (80: A100, 86: RTX 30, 90: H100 and H200, 100: B200, 120: RTX 50), its
registers, the bytes a thread spills, the shared memory of a block, and, of products, the instructions of the loop for a
value of the kernel. The exit status is 1 where a kernel does not compile or has no room in shared memory.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from hot_loops import innermost

SHARED = {80: 163, 86: 99, 89: 99, 90: 227, 100: 227, 120: 99}  # KiB of shared memory that a block may have
FEATURES = (8, 28, 46, 64, 100, 128, 300)
KINDS = {"float64": "fp64", "float32": "fp32", "float16": "fp16", "int64": "i64", "int32": "i32"}
INSTRUCTION = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(.*?);")
JUMP = re.compile(r"^(?:@\S+ )?BRA\b.*?(?:0x)?([0-9a-f]{2,})\b")
VALUE = re.compile(r"\b(MUFU\.EX2|DMMA)")
LANES = 32
RECORD = "--record"  # how this program calls itself


class Launch(NamedTuple):
    """What a kernel is compiled for: kinds of its arguments, those known then, those that are multiples of 16."""

    module: str
    name: str
    signature: dict[str, str]
    constants: dict[str, Any]
    aligned: list[str]
    options: dict[str, int]


# Recording, within Triton's interpreter


def record(shared: int) -> list[Launch]:
    """The launches of products and fits where a block may have so many KiB of shared memory."""
    import numpy as np
    import torch
    from triton.runtime import interpreter

    from ordsvm import SVOR, SVOREX, SVR, ProximalNewton
    from ordsvm.formulations import svor
    from ordsvm.kernels import RBF
    from ordsvm.kernels.products import fused
    from ordsvm.solvers.kernel.interior_point.side_by_side import Folds, solve_side_by_side
    from ordsvm.torch_library import TorchLibrary

    seen: dict[str, Launch] = {}
    run = interpreter.InterpretedFunction.run

    def recorded(self: Any, *given: Any, **named: Any) -> Any:
        options = {name: value for name, value in named.items() if name not in ("grid", "warmup")}
        launch = _launch(self, given, options)
        seen[json.dumps(launch, sort_keys=True)] = launch
        return run(self, *given, **named)

    begin = TorchLibrary.__init__

    def begun(self: Any, device: str) -> None:
        begin(self, device)
        self.fuses, self._compact = True, torch.float32

    TorchLibrary.__init__ = begun  # type: ignore[method-assign]
    TorchLibrary.shared_memory = lambda self: 1024 * shared  # type: ignore[method-assign]
    interpreter.InterpretedFunction.run = recorded
    fused.LEAST_SQUARE = 64
    library, random = TorchLibrary("cpu"), np.random.default_rng(0)
    for n_features in FEATURES:
        for spread in (1.0, 30.0):  # small exponents, and large ones
            X = spread * random.normal(size=(144, n_features))
            products = fused.FusedGaussianProducts(library, X, None, 0.5 / n_features)
            some, values = products.rows(library.index(np.arange(80))), library.array(np.ones(80))
            for product in (products.product, products.exact_product):
                product(products.first(144), some, values)
                product(some, some, values)
    X, y = random.normal(size=(60, 20)), np.arange(60) % 3
    for machine in (SVOR, SVOREX, SVR):
        solver = ProximalNewton(direct=1, rank=64, device="torch:cpu")
        machine(C=1.0, gamma=0.05, solver=solver).fit(X, y)
    fold = Folds([svor(y, 3, 1.0)], [np.arange(60)])
    solve_side_by_side(library, library.array(RBF(0.05)(X, X)), fold, np.array([1.0]), tol=1.0)
    return list(seen.values())


def _launch(kernel: Any, given: tuple[Any, ...], named: dict[str, Any]) -> Launch:
    function, names = kernel.fn, kernel.arg_names
    values = dict(zip(names, given, strict=False)) | {name: named[name] for name in names if name in named}
    options = {name: value for name, value in named.items() if name not in names}
    never = kernel.kwargs.get("do_not_specialize") or ()
    launch = Launch(function.__module__, function.__name__, {}, {}, [], options)
    for name, value in values.items():
        is_constant = "constexpr" in str(function.__annotations__.get(name))
        if is_constant or (type(value) is int and value == 1 and name not in never):
            launch.signature[name], launch.constants[name] = "constexpr", value
            continue
        kind = {int: "i32", float: "fp32"}.get(type(value))
        launch.signature[name] = kind or "*" + KINDS[str(value.dtype).removeprefix("torch.")]
        number = {"i32": value, "fp32": 1}[kind] if kind else value.data_ptr()
        if number % 16 == 0 and name not in never:
            launch.aligned.append(name)
    return launch


# Compiling


class Compiled(NamedTuple):
    registers: int
    spilled: int
    shared: int
    per_value: float | None  # instructions


def compiled(launch: Launch, capability: int) -> Compiled:
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    kernel = getattr(importlib.import_module(launch.module), launch.name)
    place = {name: number for number, name in enumerate(kernel.arg_names)}
    attributes = {(place[name],): [["tt.divisibility", 16]] for name in launch.aligned}
    source = ASTSource(kernel, launch.signature, {(place[k],): v for k, v in launch.constants.items()}, attributes)
    made = triton.compile(source, target=GPUTarget("cuda", capability, LANES), options=launch.options)
    tools = Path(triton.__file__).parent / "backends/nvidia/bin"
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(made.asm["cubin"])
        file.flush()
        usage = _printed(tools / "cuobjdump", "-res-usage", file.name)
        listing = _printed(tools / "cuobjdump", "-sass", file.name)
    registers, spilled = (int(re.search(rf"{what}:(\d+)", usage)[1]) for what in ("REG", "STACK"))  # type: ignore[index]
    return Compiled(registers, spilled, made.metadata.shared, _per_value(launch, listing))


def _printed(program: Path, *arguments: str) -> str:
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=True).stdout


def _per_value(launch: Launch, listing: str) -> float | None:
    """Of the largest innermost loop that makes values of the kernel; None for other kernels, and wide products, whose
    innermost loop is about features."""
    tile = [launch.constants.get(name, 0) for name in ("ROWS", "COLUMNS")]
    code = [(int(match[1], 16), match[2]) for match in map(INSTRUCTION.match, listing.splitlines()) if match]
    loops = [loop for loop in innermost(code, JUMP) if any(VALUE.search(text) for text in loop)]
    if not loops or not all(tile) or launch.constants.get("WIDE"):
        return None
    return max(map(len, loops)) * LANES * launch.options.get("num_warps", 4) / (tile[0] * tile[1])


def described(launch: Launch) -> str:
    constants = [f"{name}={value}" for name, value in sorted(launch.constants.items()) if name.isupper()]
    return " ".join([launch.name.lstrip("_"), *constants])


def results(capability: int, launches: list[Launch]) -> Iterator[tuple[str, Compiled]]:
    for launch in launches:
        yield described(launch), compiled(launch, capability)


def main(arguments: list[str]) -> int:
    if arguments[:1] == [RECORD]:
        print(json.dumps(record(int(arguments[1]))))
        return 0
    failed = 0
    for capability in map(int, arguments or SHARED):
        room = SHARED[capability]
        call = [sys.executable, __file__, RECORD, str(room)]
        found = subprocess.run(call, env=os.environ | {"TRITON_INTERPRET": "1"}, stdout=subprocess.PIPE, check=True)
        launches = [Launch(*fields) for fields in json.loads(found.stdout.splitlines()[-1])]
        print(f"sm_{capability}: {len(launches)} kernels")
        for name, made in results(capability, launches):
            fits = made.shared <= 1024 * room
            failed += not fits
            loop = "" if made.per_value is None else f", {made.per_value:.1f} instructions a value"
            spills = f", spills {made.spilled} bytes" if made.spilled else ""
            lack = "" if fits else f": MORE THAN {room} KiB"
            print(f"  {name}: {made.registers} registers{spills}, {made.shared / 1024:.0f} KiB{lack}{loop}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
