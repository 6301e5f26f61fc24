"""Words that the glossary (docs/glossary.md) has replaced, and where they have come back.

    python tools/forbidden_words.py [ROOT]

Every line of forbidden_words.txt is a regular expression, a tab, and what to write instead. Every offence in the
sources (cpp, src) is one line, and the exit status is then 1.
"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
FOLDERS = ("cpp", "src")
ENDINGS = (".py", ".pyi", ".hpp", ".cpp")


def rules() -> list[tuple[re.Pattern[str], str]]:
    lines = (HERE / "forbidden_words.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return [(re.compile(word), instead) for word, instead in pairs]


def offences(root: Path) -> list[str]:
    found = []
    known = rules()
    for file in sorted(file for folder in FOLDERS for file in (root / folder).rglob("*") if file.suffix in ENDINGS):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            for word, instead in known:
                if match := word.search(line):
                    found.append(f"{file.relative_to(root)}:{number}: {match.group()!r}: write {instead}")
    return found


def main(arguments: list[str]) -> int:
    found = offences(Path(arguments[0]) if arguments else HERE.parent)
    for offence in found:
        print(offence)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
