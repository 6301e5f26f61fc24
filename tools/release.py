"""What a release needs, checked before anything is built: `make release-check`, which the release workflow calls first.

    python tools/release.py [ROOT] [--tag v0.2.0]

Every offence is one line, and the exit status is then 1:

- an address of the repository that is still the placeholder, or that differs from place to place;
- a version under development, or one that CITATION.cff, the recipe or the tag repeats differently;
- a version without its notes in CHANGELOG.md, or notes that are still under "Unreleased".
"""

import argparse
import re
import sys
import tomllib
from pathlib import Path

PLACEHOLDER = "repository.invalid"
ADDRESS = re.compile(r"https://[\w.-]+/[\w./-]*?ordsvm\b")


def project_of(root: Path) -> dict:
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


def addresses_of(root: Path) -> set[str]:
    """Of the repository: in links of the project, of its README on a package index and of estimators; the recipe."""
    tables = project_of(root)
    hook = tables["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    texts = [*tables["project"]["urls"].values(), *(each["replacement"] for each in hook["substitutions"])]
    texts += [(root / name).read_text(encoding="utf-8") for name in ("conda/recipe.yaml", "src/ordsvm/conventions.py")]
    return {address for text in texts for address in ADDRESS.findall(text)}


def address_offences(root: Path) -> list[str]:
    addresses = sorted(addresses_of(root))
    found = [
        f"{address}: a placeholder; write the address of the repository"
        for address in addresses
        if PLACEHOLDER in address
    ]
    if len(addresses) > 1:
        found.append(f"several addresses of the repository: {', '.join(addresses)}")
    return found


def repeated_versions(root: Path) -> dict[str, str]:
    """File -> the version that it repeats."""
    patterns = {"CITATION.cff": r"^version: (\S+)$", "conda/recipe.yaml": r'^  version: "(\S+)"$'}
    found = {}
    for name, pattern in patterns.items():
        match = re.search(pattern, (root / name).read_text(encoding="utf-8"), re.MULTILINE)
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
    notes = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (\S+)[^\n]*\n(.*?)(?=^## |\Z)", notes, re.MULTILINE | re.DOTALL))
    if sections.get("Unreleased", "").strip():
        found.append("CHANGELOG.md: there are notes under Unreleased")
    if not sections.get(version, "").strip():
        found.append(f"CHANGELOG.md: no notes of {version}")
    return found


def offences(root: Path, tag: str | None) -> list[str]:
    found = address_offences(root) + version_offences(root) + notes_offences(root)
    version = project_of(root)["project"]["version"]
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
