"""What a release needs, checked before anything is built: `make release-check`, which the release workflow calls first.

    python tools/release.py [ROOT] [--tag v0.2.0]

Every offence is one line, and the exit status is then 1:

- an address that is still the placeholder, one of the repository that is not below the project's Homepage, or one of
  the manual that differs between the project and its estimators;
- a version under development, or one that CITATION.cff, the recipe or the tag repeats differently;
- a version without its notes in CHANGELOG.md, or notes that are still under "Unreleased";
- a version whose model files are not kept;
- a page that says that there is no release yet.
"""

import argparse
import re
import sys
import tomllib
from pathlib import Path

PLACEHOLDER = "repository.invalid"
WITH_ADDRESSES = (
    "pyproject.toml",
    "conda/recipe.yaml",
    "src/ordsvm/conventions.py",
    "SECURITY.md",
    "CODE_OF_CONDUCT.md",
)
SAID_BEFORE = {  # page -> what it says until there is a release
    "docs/start/install.md": "No release has been published yet",
    "docs/guide/compatibility.md": "is in development",
    "docs/contributing/notes_0_2_0.md": "In development",
}


def text_of(root: Path, name: str) -> str:
    return (root / name).read_text(encoding="utf-8")


def project_of(root: Path) -> dict:
    return tomllib.loads(text_of(root, "pyproject.toml"))


def addresses_of(root: Path) -> dict[str, str]:
    """Where an address below that of the repository stands -> the address."""
    tables = project_of(root)
    hook = tables["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    found = {f"project.urls.{name}": url for name, url in tables["project"]["urls"].items() if name != "Documentation"}
    for number, each in enumerate(hook["substitutions"]):
        found[f"fancy-pypi-readme.substitutions[{number}]"] = each["replacement"].partition("](")[2]
    for name in ("conda/recipe.yaml", "SECURITY.md", "CODE_OF_CONDUCT.md"):
        for number, address in enumerate(re.findall(r"https://[^\s<>]+", text_of(root, name))):
            found[f"{name}, address {number + 1}"] = address
    return found


def address_offences(root: Path) -> list[str]:
    found = [
        f"{name}: {PLACEHOLDER} is a placeholder; write the address of the repository, or that of the manual"
        for name in WITH_ADDRESSES
        if PLACEHOLDER in text_of(root, name)
    ]
    urls = project_of(root)["project"]["urls"]
    home = urls["Homepage"].rstrip("/")
    for place, address in addresses_of(root).items():
        if address.rstrip("/") != home and not address.startswith(home + "/"):
            found.append(f"{place}: {address} is not below the project's Homepage, {home}")
    manual = re.search(r'^DOCUMENTATION = "(.*?)"', text_of(root, "src/ordsvm/conventions.py"), re.MULTILINE)
    if manual is None or manual[1] != urls["Documentation"]:
        found.append(f"src/ordsvm/conventions.py: DOCUMENTATION is not the project's, {urls['Documentation']}")
    return found


def repeated_versions(root: Path) -> dict[str, str]:
    """File -> the version that it repeats."""
    patterns = {"CITATION.cff": r"^version: (\S+)$", "conda/recipe.yaml": r'^  version: "(\S+)"$'}
    found = {}
    for name, pattern in patterns.items():
        match = re.search(pattern, text_of(root, name), re.MULTILINE)
        found[name] = match[1] if match else "none"
    return found


def version_offences(root: Path) -> list[str]:
    version = project_of(root)["project"]["version"]
    return [
        f"{name}: version {other}, but pyproject.toml has {version}"
        for name, other in repeated_versions(root).items()
        if other != version
    ]


def notes_offences(root: Path) -> list[str]:
    version = project_of(root)["project"]["version"]
    found = []
    if not re.fullmatch(r"\d+\.\d+\.\d+(rc\d+)?", version):
        found.append(f"pyproject.toml: {version} is no version to release")
    notes = text_of(root, "CHANGELOG.md")
    sections = dict(re.findall(r"^## (\S+)[^\n]*\n(.*?)(?=^## |\Z)", notes, re.MULTILINE | re.DOTALL))
    if sections.get("Unreleased", "").strip():
        found.append("CHANGELOG.md: there are notes under Unreleased")
    if not sections.get(version, "").strip():
        found.append(f"CHANGELOG.md: no notes of {version}")
    return found


def offences(root: Path, tag: str | None) -> list[str]:
    found = address_offences(root) + version_offences(root) + notes_offences(root)
    version = project_of(root)["project"]["version"]
    if not (root / "tests" / "stored_models" / version).is_dir():
        found.append(
            f"tests/stored_models: no model files of {version}; python -m tests.stored_models.make writes them"
        )
    found += [f"{name}: says {words!r}" for name, words in SAID_BEFORE.items() if words in text_of(root, name)]
    if tag is not None and tag != f"v{version}":
        found.append(f"the tag is {tag}, the version {version}")
    return found


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="What a release needs.")
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--tag", help="empty: none")
    given = parser.parse_args(arguments)
    found = offences(given.root, given.tag or None)
    for offence in found:
        print(offence)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
