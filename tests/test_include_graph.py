"""Folders of the C++ core include one way: tools/include_graph.py passes on the tree, and sees offences of any kind."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TOOL = ROOT / "tools" / "include_graph.py"


def check(root):
    return subprocess.run([sys.executable, str(TOOL), str(root)], capture_output=True, text=True)


def test_the_tree_passes():
    result = check(ROOT)
    assert result.returncode == 0, result.stdout
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("file", "line", "message"),
    [
        ("cpp/base/hinges.hpp", '#include "optimality/ties.hpp"', "base may not include from optimality"),
        ("cpp/kernels/row_cache.hpp", '#include "kernels/tiles/samples.hpp"', "cycle between folders of the files"),
        ("cpp/solvers/smo.hpp", "#include <nanobind/nanobind.h>", "outside of bindings"),
        ("cpp/solvers/smo.hpp", '#include "gcd.hpp"', "written from the root of cpp"),
        ("cpp/solvers/smo.hpp", '#include "../base/stopping.hpp"', "written from the root of cpp"),
        ("cpp/elsewhere/new.hpp", "", "folder 'elsewhere' is not listed"),
    ],
)
def test_an_include_against_the_direction_fails(tmp_path, file, line, message):
    shutil.copytree(ROOT / "cpp", tmp_path / "cpp")
    target = tmp_path / file
    target.parent.mkdir(exist_ok=True)
    text = target.read_text(encoding="utf-8") if target.exists() else ""
    target.write_text(f"{line}\n{text}", encoding="utf-8")
    result = check(tmp_path)
    assert result.returncode == 1
    assert message in result.stdout
    assert file in result.stdout


def test_the_map_names_every_file():
    folder, named = "", set()
    for line in (ROOT / "cpp" / "README.md").read_text(encoding="utf-8").splitlines():
        if match := re.match(r"## ([\w/]+)", line):
            folder = match[1]
        elif match := re.match(r"    (\w+)\.(hpp|cpp)( \.cpp)?\s", line):
            named.add(f"{folder}/{match[1]}.{match[2]}")
            if match[3]:
                named.add(f"{folder}/{match[1]}.cpp")
    assert named == {path.relative_to(ROOT / "cpp").as_posix() for path in (ROOT / "cpp").rglob("*.[hc]pp")}
