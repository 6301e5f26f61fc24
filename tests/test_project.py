"""What publishing rests on: tested bounds, workflows that call make, one version and address, links that lead."""

import re
import tomllib
from pathlib import Path

import pytest

from tools import release, wheel

ROOT = Path(__file__).parent.parent
TABLES = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = TABLES["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
REQUIREMENT = re.compile(r"^([\w.-]+)(?:\[[\w,]+\])?(?:(>=|==)([\w.]+))?")


def lowest_versions(requirements: list[str]) -> dict[str, str]:
    """Package -> the oldest version that is allowed, of those with one."""
    found = (REQUIREMENT.match(text).groups() for text in requirements)
    return {name: version for name, sign, version in found if sign}


def padded(version: str) -> tuple[int, ...]:
    numbers = tuple(int(part) for part in version.split("."))
    return numbers + (0,) * (4 - len(numbers))


def test_the_oldest_versions_are_those_that_are_tested():
    extras = PROJECT["optional-dependencies"]
    tested = [*PROJECT["dependencies"], *extras["test"]]
    for extra in re.findall(r"\[(.*)\]", next(text for text in tested if text.startswith("ordsvm[")))[0].split(","):
        tested += extras[extra]
    tested += extras["io"]
    allowed = lowest_versions(tested)
    lines = (ROOT / "tests" / "oldest.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert sorted(allowed) == sorted(pinned)
    differing = {name for name in allowed if padded(allowed[name])[:2] != padded(pinned[name])[:2]}
    assert differing == set()


def test_the_oldest_versions_of_what_builds_the_core_are_those_that_are_tested():
    lines = (ROOT / "tests" / "oldest_build.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    allowed = lowest_versions(TABLES["build-system"]["requires"])
    assert sorted(allowed) == sorted(pinned)
    differing = {name for name in allowed if not f"{pinned[name]}.".startswith(f"{allowed[name]}.")}
    assert differing == set()


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_workflows_call_targets_of_make_and_nothing_else(file):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    commands = re.findall(r"^\s*(?:- )?run: (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    calls = [re.fullmatch(r"make ([a-z-]+)", command) for command in commands]
    assert all(calls), commands
    assert {call[1] for call in calls} <= targets


def test_a_release_is_checked_and_tested_before_it_is_published():
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    needs = dict(re.findall(r"^  (\w+):\n(?:    needs: (.*)\n)?", text[text.index("jobs:") :], re.MULTILINE))
    assert needs == {"check": "", "test": "check", "wheels": "check", "publish": "[test, wheels]", "page": "publish"}
    assert "publish: release-check" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_no_two_machines_make_the_same_wheel():
    """Files of one name, put into one folder, would spoil each other."""
    tables = TABLES["tool"]["cibuildwheel"]
    assert [tables[system]["archs"] for system in ("linux", "macos", "windows")] == [["auto64"], ["auto64"], ["AMD64"]]
    text = (ROOT / ".github" / "workflows" / "wheels.yml").read_text(encoding="utf-8")
    machines = re.search(r"os: \[(.*)\]", text)[1].split(", ")
    kinds = {(re.match("[a-z]+", each)[0], "arm" in each or each == "macos-15") for each in machines}
    assert len(kinds) == len(machines)


HOME, MANUAL = "https://example.org/group/ordsvm", "https://group.example.org/ordsvm"


@pytest.fixture
def finished(tmp_path):
    """What a release looks like: addresses, a version, its notes and model files."""
    urls, version = PROJECT["urls"], PROJECT["version"]
    for name in (*release.WITH_ADDRESSES, *release.SAID_BEFORE, "CHANGELOG.md", "CITATION.cff"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        text = (ROOT / name).read_text(encoding="utf-8").replace(release.SAID_BEFORE.get(name, "\0"), "")
        text = text.replace(urls["Documentation"], MANUAL).replace(urls["Homepage"], HOME)
        text = text.replace(version, "7.0.0").replace("## Unreleased", "## 7.0.0 (2031-01-31)")
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "tests/stored_models/7.0.0").mkdir(parents=True)
    return tmp_path


def test_a_finished_release_passes(finished):
    assert release.offences(finished, "v7.0.0") == []


@pytest.mark.parametrize(
    ("name", "old", "new", "complaint"),
    [
        *((name, "https://", "https://repository.invalid/", "is a placeholder") for name in release.WITH_ADDRESSES),
        ("pyproject.toml", f'"{HOME}"', f'"{HOME}-team/ordsvm"', "is not below the project's Homepage"),
        ("pyproject.toml", f"]({HOME}", f"]({HOME}-fork", "substitutions[0]: "),
        ("conda/recipe.yaml", HOME, "https://example.org/other", "conda/recipe.yaml, address 1"),
        ("SECURITY.md", HOME, f"{HOME}-x", "SECURITY.md, address 1"),
        ("pyproject.toml", 'version = "7.0.0"', 'version = "7.0.0.dev1"', "no version to release"),
        ("src/ordsvm/conventions.py", MANUAL, HOME, "DOCUMENTATION is not the project's"),
        ("CITATION.cff", "version: 7.0.0", "version: 6.0.0", "CITATION.cff: version 6.0.0"),
        ("conda/recipe.yaml", '"7.0.0"', '"6.0.0"', "conda/recipe.yaml: version 6.0.0"),
        ("CHANGELOG.md", "## 7.0.0", "## Unreleased\n\n- more\n\n## 7.0.0", "under Unreleased"),
        ("CHANGELOG.md", "## 7.0.0", "## 6.9.0", "no notes of 7.0.0"),
        ("pyproject.toml", 'version = "7.0.0"', 'version = "7.0.1"', "no model files of 7.0.1"),
        *((name, "\n", f"\n{words}\n", "says ") for name, words in release.SAID_BEFORE.items()),
    ],
)
def test_an_unfinished_release_is_refused(finished, name, old, new, complaint):
    file = finished / name
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    assert any(complaint in line for line in release.offences(finished, None))


def test_a_tag_of_another_version_is_refused(finished):
    assert release.offences(finished, "v7.0.1") == ["the tag is v7.0.1, the version 7.0.0"]


def test_one_version():
    assert release.version_offences(ROOT) == []


def test_links_of_the_readme_on_a_package_index_lead_to_the_repository():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    local = re.findall(r"\]\(([^)]+)\)", text)
    for each in TABLES["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(each["pattern"], each["replacement"], text)
    absolute = re.findall(r"\]\(([^)]+)\)", text)
    address = PROJECT["urls"]["Homepage"]
    assert len(absolute) == len(local) > 20
    for before, after in zip(local, absolute, strict=True):
        folder = "raw" if before.endswith(".png") else "blob"
        assert after == f"{address}/{folder}/main/{before}"


def test_the_recipe_requires_what_the_project_requires():
    recipe = (ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    run = recipe.partition("  run:\n")[2].partition("\ntests:")[0]
    assert set(re.findall(r"- (.+)", run)) - {"python"} == {
        text.replace(">=", " >=") for text in PROJECT["dependencies"]
    }


def test_the_extra_all_has_every_extra_for_users():
    extras = PROJECT["optional-dependencies"]
    named = set(re.findall(r"\w+", extras["all"][0].partition("[")[2]))
    assert set(extras) - named == {"all", "gpu", "bench", "docs", "test"}


def test_the_wheels_of_a_release_are_tested_as_the_one_of_make():
    assert TABLES["tool"]["cibuildwheel"]["test-requires"] == list(wheel.NEEDS)
    assert all((ROOT / "tests" / f"test_{name}.py").exists() for name in wheel.SLICE)
