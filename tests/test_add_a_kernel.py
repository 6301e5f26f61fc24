"""docs/add_a_kernel.md is followed literally in a copy of the sources; values of every path then equal NumPy's.

The fast test compiles the core without optimisation and without Python; the slow one builds the package and fits.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
GUIDE = ROOT / "docs" / "add_a_kernel.md"
PROGRAM = ROOT / "tests" / "cpp" / "kernel_values.cpp"
COMPILER = os.environ.get("CXX", "c++")
FLAGS = ["-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror=switch", "-fopenmp-simd"]
SOURCES = [
    "simd/loops.cpp",
    "kernels/evaluate.cpp",
    "kernels/row_source.cpp",
    "kernels/tiles/tiles.cpp",
    "kernels/tiles/form.cpp",
    "kernels/tiles/samples.cpp",
    "kernels/rounding.cpp",
    "kernels/tiles/value_bound.cpp",
    "kernels/tiles/exact.cpp",
    "kernels/tiles/part.cpp",
    "prediction/panel.cpp",
    "prediction/scores.cpp",
]
GAMMA = 0.7


def steps():
    """(file, old text, new text) of every ```diff block of the guide."""
    found = []
    for block in re.findall(r"^ *```diff\n(.*?)^ *```$", GUIDE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
        lines = [line[3:] for line in block.splitlines()]
        assert lines[0].startswith("+++ ")
        old = [line[1:] for line in lines[1:] if not line.startswith("+")]
        new = [line[1:] for line in lines[1:] if not line.startswith("-")]
        found.append((lines[0][4:], "\n".join(old) + "\n", "\n".join(new) + "\n"))
    return found


def follow(root, files=lambda file: True, left_out=lambda new: False):
    """Applies the guide's steps to a copy of the sources."""
    count = 0
    for file, old, new in steps():
        if not files(file) or left_out(new):
            continue
        path = root / file
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{file} has this {text.count(old)} times:\n{old}"
        path.write_text(text.replace(old, new), encoding="utf-8")
        count += 1
    return count


def is_core(file):
    return file.startswith("cpp/kernels/")


def copy_of_core(tmp_path):
    shutil.copytree(ROOT / "cpp", tmp_path / "cpp")
    return tmp_path


def run_compiler(root, *arguments):
    return subprocess.run([COMPILER, *FLAGS, "-I", str(root / "cpp"), *arguments], capture_output=True, text=True)


def compile_program(root):
    objects = root / "objects"
    objects.mkdir()

    def compile_one(source):
        target = objects / (source.replace("/", "_") + ".o")
        result = run_compiler(root, "-c", str(root / "cpp" / source), "-o", str(target))
        assert result.returncode == 0, result.stderr
        return str(target)

    with ThreadPoolExecutor(2) as pool:
        compiled = list(pool.map(compile_one, SOURCES))
    program = root / "kernel_values"
    named = ["-DKIND=cauchy", f"-DGAMMA={GAMMA}"]
    result = run_compiler(root, *named, str(PROGRAM), *compiled, "-pthread", "-o", str(program))
    assert result.returncode == 0, result.stderr
    return program


def values_by_path(program, X):
    text = f"{X.shape[0]} {X.shape[1]}\n" + "\n".join(map(repr, X.ravel().tolist()))
    output = subprocess.run([str(program)], input=text, capture_output=True, text=True, check=True).stdout
    values = {}
    for line in output.splitlines():
        path, i, j, value = line.split()
        values.setdefault(path, np.full((len(X), len(X)), np.nan))[int(i), int(j)] = float(value)
    return values


def cauchy(X):
    return 1.0 / (1.0 + GAMMA * ((X[:, None] - X[None]) ** 2).sum(axis=2))


def datasets():
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(70, 5)).astype(np.float32).astype(np.float64)
    sparse = dense * (rng.random(dense.shape) < 0.3)
    binary = (rng.random((70, 12)) < 0.3).astype(np.float64)
    long = (0.3 * rng.normal(size=(70, 30))).astype(np.float32).astype(np.float64)
    return {"dense": dense, "sparse": sparse, "binary": binary, "long": long}


def test_every_path_of_the_core_computes_the_new_kernel(tmp_path):
    root = copy_of_core(tmp_path)
    assert follow(root, is_core) == 3
    program = compile_program(root)
    layouts = ("dense64", "csr64", "dense32", "csr32")
    paths = ("rows-double", "rows-float", "tiles-float", "tiles-double", "product", "prediction")
    for name, X in datasets().items():
        values = values_by_path(program, X)
        assert set(values) == {f"{path}-{layout}" for path in paths for layout in layouts}
        for path, K in values.items():
            single = "float" in path or path == "prediction-dense32"
            np.testing.assert_allclose(K, cauchy(X), rtol=0, atol=2e-6 if single else 1e-13, err_msg=f"{name}, {path}")


@pytest.mark.parametrize(
    ("left_out", "message"),
    [
        ("struct Formula<KernelKind::cauchy>", "incomplete type"),
        ("case KernelKind::cauchy:", "not handled in switch"),
    ],
)
@pytest.mark.parametrize("source", ["kernels/evaluate.cpp", "kernels/tiles/samples.cpp", "kernels/tiles/tiles.cpp"])
def test_a_kernel_without_its_formula_does_not_compile(tmp_path, left_out, message, source):
    root = copy_of_core(tmp_path)
    assert follow(root, is_core, lambda new: left_out in new) == 2
    result = run_compiler(root, "-fsyntax-only", str(root / "cpp" / source))
    assert result.returncode != 0
    assert message in result.stderr


CHECK = """
import numpy as np, scipy.sparse as sp
from ordsvm import SVORIM, _core
from ordsvm.kernels import make_kernel
kernel = make_kernel("cauchy", {gamma}, 0.0, 3.0)
rng = np.random.default_rng(0)
for X in (rng.normal(size=(90, 5)), (rng.random((90, 12)) < 0.3).astype(float)):
    K, n = 1 / (1 + {gamma} * ((X[:, None] - X[None]) ** 2).sum(axis=2)), len(X)
    np.testing.assert_allclose(kernel(X, X), K, atol=1e-12)
    for data in (X, X.astype(np.float32), sp.csr_array(X), sp.csr_array(X.astype(np.float32))):
        atol = 1e-12 if data.dtype == np.float64 else 1e-6
        rows = kernel.rows(data)
        every = np.arange(n)
        np.testing.assert_allclose(rows.rows(every), K, atol=atol)
        np.testing.assert_allclose(rows.part(every, every), K, atol=atol)
        np.testing.assert_allclose(rows.product(np.ones(n)), K.sum(axis=1), atol=n * atol)
        np.testing.assert_allclose(kernel.scores(data, data, np.eye(n)), K, atol=max(atol, 1e-6))
    y = np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.5]) if X.shape[1] == 5 else X[:, :2].sum(axis=1).astype(int)
    for solver in ("block", "smo"):
        model = SVORIM(kernel="cauchy", gamma={gamma}, C=10.0, tol=1e-6, solver=solver).fit(X, y)
        reference = SVORIM(kernel="precomputed", C=10.0, tol=1e-6, solver="smo").fit(K, y)
        assert model.result_.converged and reference.result_.converged
        np.testing.assert_allclose(model.decision_function(X), reference.decision_function(K), atol=1e-2)
print("all values agree")
"""


@pytest.mark.slow
def test_the_package_with_the_new_kernel_fits(tmp_path):
    root = tmp_path / "copy"
    root.mkdir()
    for name in ("cpp", "src", "tests"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    for name in ("CMakeLists.txt", "pyproject.toml", "README.md", "LICENSE", "LICENSES_OF_OTHERS"):
        shutil.copy(ROOT / name, root / name)
    assert follow(root) == len(steps())
    site = tmp_path / "site"
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(site), str(root)]
    built = subprocess.run(install, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    environment = {**os.environ, "PYTHONPATH": str(site)}
    packages = sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
    start = f"import sys; sys.path += {packages!r}\n"  # without the hooks of editable installs
    command = [sys.executable, "-S", "-c", start + CHECK.format(gamma=GAMMA)]
    checked = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "all values agree" in checked.stdout
