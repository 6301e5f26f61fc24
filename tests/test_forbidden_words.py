"""The old words do not come back: the check passes on the tree, and fails where one is added."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def check(root):
    command = [sys.executable, ROOT / "tools" / "forbidden_words.py", root]
    return subprocess.run(command, capture_output=True, text=True)


def test_the_sources_use_the_words_of_the_glossary():
    found = check(ROOT)
    assert found.returncode == 0, found.stdout


def test_an_old_word_is_found(tmp_path):
    for folder in ("cpp", "src"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("*.so"))
    file = tmp_path / "src" / "ordsvm" / "problem/hinges.py"
    file.write_text(file.read_text(encoding="utf-8") + "\n# KnownKernel\n", encoding="utf-8")
    found = check(tmp_path)
    assert found.returncode == 1
    assert "src/ordsvm/problem/hinges.py" in found.stdout
    assert "write FullKernel" in found.stdout
