"""Pages that promise: each paragraph with a promise names the tests that keep it, and these tests exist.

In Markdown the mark is a comment at the end of the paragraph, list or table, such as
`<!-- kept by tests/test_fuzz.py::test_hostile_model_files -->`, which no reader sees; in a public docstring it is a
comment after the docstring, `# kept by tests/test_x.py::test_y`.
"""

import ast
import inspect
import itertools
import re
import textwrap
from functools import cache
from pathlib import Path

import pytest

from tests.test_docstrings import public_objects

ROOT = Path(__file__).parent.parent
REPORTS = {"laboratory.md", "claims.md"}  # of measurements, written by programs
MADE = {"_build", "api", "gallery"}
PAGES = [ROOT / name for name in ("README.md", "SECURITY.md", "CONTRIBUTING.md")]
PAGES += [
    page
    for page in sorted((ROOT / "docs").rglob("*.md"))
    if page.name not in REPORTS and not MADE.intersection(page.relative_to(ROOT / "docs").parts)
]
SOURCES = sorted((ROOT / "src").rglob("*.py"))

# Words of a promise that a user relies on; how to solve a problem, or what a paper says, is none.
PROMISE = re.compile(
    r"every bit|same bits|bit for bit|to the last bit|same in every bit"
    r"|nothing (?:is )?(?:lost|crash\w*|runs)|executes nothing|runs? no code|executing anything|is executed"
    r"|Ctrl-C (?:ends|interrupts)|after a crash|kill or a reboot|half-written|is whole|never (?:misreads|guesses)"
    r"|\bguarantee[ds]?\b|promised coverage|answers are the same|the answers of|same answers?|same certificate"
    r"|proves how close|run through `sklearn|whatever your own|Of a function,|A request may have"
    r"|limits every fit|every answer judged|load in all later|opens a network|escape every|memory than the file",
    re.I,
)
MARK = re.compile(r"<!-- kept by (.*?)-->", re.S)
FENCE = re.compile(r"^(```|:::).*?^\1\s*$", re.M | re.S)


def promises(text):
    """Blocks of a page that promise, with what they promise and the mark that they have."""
    for block in re.split(r"\n\s*\n", FENCE.sub("", text)):
        mark = MARK.search(block)
        words = PROMISE.findall(re.sub(r"<!--.*?-->", "", block, flags=re.S))
        if words or mark:
            yield block, words, mark[1] if mark else None


def docstrings():
    """Names of public classes and functions, their docstrings, and the comments that follow these in the source."""
    for name, item in dict(public_objects()).items():
        if isinstance(item, property) or not item.__doc__:
            continue
        source = inspect.getsource(item)
        (node,) = ast.parse(textwrap.dedent(source)).body
        documented = node.body[0]
        if isinstance(documented, ast.Expr) and isinstance(documented.value, ast.Constant):
            following = itertools.takewhile(
                lambda line: line.strip()[:1] in ("", "#"), source.splitlines()[documented.end_lineno :]
            )
            yield name, documented.value.value, " ".join(line.strip(" #") for line in following).strip()


@cache
def names_of_tests(path):
    """Names of the tests of a file; those of a class as Class::test."""
    names = set()
    for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.ClassDef):
            names |= {f"{node.name}::{inner.name}" for inner in node.body if isinstance(inner, ast.FunctionDef)}
    return {name for name in names if "test_" in name}


def missing(mark):
    """Tests of a mark that do not exist; the mark itself, where it names none."""
    named = re.findall(r"[\w/]+\.py::[\w:]+", mark)
    gone = []
    for name in named:
        path, _, test = name.partition("::")
        if not (ROOT / path).is_file() or test not in names_of_tests(path):
            gone.append(name)
    return gone if named else [mark.strip()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_promises_of_a_page_name_the_tests_that_keep_them(page):
    found = list(promises(page.read_text(encoding="utf-8")))
    unkept = [(words, " ".join(block.split())[:200]) for block, words, mark in found if mark is None]
    assert unkept == [], "name a test by a comment <!-- kept by tests/…::test_… -->, or promise less"
    assert [gone for _, _, mark in found for gone in missing(mark)] == []
    assert [mark for _, words, mark in found if not words] == [], "a mark without a promise"


def test_promises_of_docstrings_name_the_tests_that_keep_them():
    found = []
    for name, documented, comments in docstrings():
        words, mark = PROMISE.findall(documented), re.match(r"kept by (.*)", comments)
        if words and mark is None:
            found.append(f"{name}: {words}")
        elif mark is not None:
            found += [f"{name}: {gone}" for gone in missing(mark[1])]
    assert found == [], "name a test by a comment # kept by tests/…::test_… after the docstring, or promise less"


def test_a_promise_without_a_test_is_found():
    here = "tests/test_promises.py::test_a_promise_without_a_test_is_found"
    text = f"Nothing is lost.\n\nNothing is lost.\n<!-- kept by {here} -->\n\n```\nnothing is lost\n```\n"
    (_, words, mark), (_, _, second) = promises(text)
    assert words == ["Nothing is lost"]
    assert mark is None
    assert missing(second) == []
    assert missing("tests/test_promises.py::test_that_is_not_there") != []
    assert missing("tests/test_not_there.py::test_a") != []
    assert missing("nothing") != []


# What SECURITY.md says of the whole library


def imported(tree):
    """The packages that a file imports, wherever in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.partition(".")[0]


def test_nothing_but_distributed_imports_a_network():
    network = {"socket", "ssl", "http", "urllib", "ftplib", "smtplib", "asyncio", "requests", "urllib3", "distributed"}
    users = {path.parent.name for path in SOURCES if network.intersection(imported(parsed(path)))}
    assert users == {"distributed"}


def test_nothing_in_the_library_evaluates_what_it_reads():
    """`ast.literal_eval` makes values, `pickle.dumps` describes objects, Triton's `tl.load` reads memory."""
    found = set()
    for path in SOURCES:
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                if called in ("eval", "exec", "compile", "__import__") or called.endswith((".loads", ".load")):
                    found.add(called)
                pickled = [word.value for word in node.keywords if word.arg == "allow_pickle"]
                assert all(ast.unparse(value) == "False" for value in pickled), path
    assert found <= {"json.loads", "np.load", "tl.load"}


@cache
def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))
