"""The include graph of the C++ core, folder by folder: which folder may include from which.

    python tools/include_graph.py [ROOT]

ROOT is the repository (default: the one this file is in). Every offence is one line, and the exit status is then 1:

- an include against the direction of `ALLOWED`;
- a cycle between folders (a subfolder is a folder of its own);
- an include of nanobind or Python.h outside of `bindings`;
- an include that is not written from the root of cpp (`"kernels/row_cache.hpp"`, not `"row_cache.hpp"` or `"../..."`).
"""

import re
import sys
from pathlib import Path

# Folder -> the folders that its files may include from, besides itself. A folder that is not listed is an offence.
ALLOWED: dict[str, tuple[str, ...]] = {
    "base": (),
    "simd": ("base",),
    "parallel": ("base",),
    "kernels": ("base", "simd", "parallel"),
    "kernels/tiles": ("base", "simd", "parallel", "kernels"),
    "optimality": ("base", "simd", "parallel", "kernels", "kernels/tiles"),
    "solvers": ("base", "simd", "kernels", "optimality"),
    "solvers/papers/parsmo": ("base", "simd", "parallel", "kernels", "optimality"),
    "solvers/papers": (),
    "solvers/papers/async": ("base", "simd", "parallel", "kernels", "optimality", "solvers"),
    "solvers/block": ("base", "simd", "parallel", "kernels", "kernels/tiles", "optimality"),
    "solvers/full_kernel": ("base", "simd", "parallel", "kernels", "kernels/tiles", "optimality", "solvers/block"),
    "solvers/together": (
        "base",
        "parallel",
        "kernels",
        "kernels/tiles",
        "optimality",
        "solvers/block",
        "solvers/full_kernel",
    ),
    "linear": ("base", "simd", "parallel"),
    "linear/interior_point": ("base", "simd", "parallel", "linear"),
    "prediction": ("base", "simd", "parallel", "kernels"),
    "bindings": (
        "base",
        "simd",
        "parallel",
        "kernels",
        "kernels/tiles",
        "optimality",
        "solvers",
        "solvers/papers/parsmo",
        "solvers/papers/async",
        "solvers/block",
        "solvers/full_kernel",
        "solvers/together",
        "linear",
        "linear/interior_point",
        "prediction",
    ),
}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
PYTHON_HEADERS = re.compile(r"^(nanobind/|Python\.h$)")


def includes_of(file: Path) -> list[tuple[int, bool, str]]:
    """Line number, whether quoted, and path of every include of a file."""
    found = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        if match := INCLUDE.match(line):
            found.append((number, match[1] == '"', match[2]))
    return found


def folder_of(path: str) -> str:
    """The folder of a path relative to cpp; the root itself is '.'."""
    return path.rpartition("/")[0] or "."


def find_cycle(graph: dict[str, set[str]]) -> list[str] | None:
    """A cycle of the graph as its nodes in order, the first one repeated at the end; None if there is none."""
    done: set[str] = set()

    def walk(node: str, path: list[str]) -> list[str] | None:
        if node in path:
            return [*path[path.index(node) :], node]
        if node in done:
            return None
        for target in sorted(graph.get(node, ())):
            if cycle := walk(target, [*path, node]):
                return cycle
        done.add(node)
        return None

    for start in sorted(graph):
        if cycle := walk(start, []):
            return cycle
    return None


def offences(root: Path) -> list[str]:
    """One line for every offence in ROOT/cpp."""
    cpp = root / "cpp"
    files = sorted([*cpp.rglob("*.hpp"), *cpp.rglob("*.cpp")])
    known = {file.relative_to(cpp).as_posix() for file in files}
    graph: dict[str, set[str]] = {}
    found = []
    for file in files:
        path = file.relative_to(cpp).as_posix()
        folder = folder_of(path)
        if folder not in ALLOWED:
            found.append(f"cpp/{path}: folder '{folder}' is not listed in tools/include_graph.py")
            continue
        for number, quoted, included in includes_of(file):
            place = f"cpp/{path}:{number}: "
            if PYTHON_HEADERS.match(included) and folder != "bindings":
                found.append(f"{place}<{included}> outside of bindings")
            if not quoted:
                continue
            if included not in known:
                found.append(f'{place}"{included}" is not a file of cpp, written from the root of cpp')
                continue
            target = folder_of(included)
            if target == folder:
                continue
            graph.setdefault(folder, set()).add(target)
            if target not in ALLOWED[folder]:
                found.append(f"{place}{folder} may not include from {target}")
    for name, edges in (("the files", graph), ("ALLOWED", {key: set(value) for key, value in ALLOWED.items()})):
        if cycle := find_cycle(edges):
            found.append(f"cycle between folders of {name}: {' -> '.join(cycle)}")
    return found


def main(arguments: list[str]) -> int:
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    found = offences(root)
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
