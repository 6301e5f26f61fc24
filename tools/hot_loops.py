"""Instructions of the hot loops of tiles, in a build for aarch64, over the fewest that would do.

    python tools/hot_loops.py BUILD

The innermost loops of `add_product` that multiply and add 16 vectors (4 dense rows by 4 vectors of a tile) or 8 (a
value of a sparse row by 8 vectors) are looked up in the disassembly; loops that do more than that are left out, such as
those of Manhattan distances. The fewest: the products, one load for each vector of the tile, and one for each number of
a row or column of it: 16 + 4 + 4 and 8 + 8 + 2. BUILD is a folder of CMake's. Prints all ratios; the exit status is 1
where one exceeds MOST.
"""

import re
import subprocess
import sys
from pathlib import Path

MOST = 1.5
FEWEST = {16: 16 + 4 + 4, 8: 8 + 8 + 2}  # by products
DUMP = "aarch64-linux-gnu-objdump"
FUNCTION = re.compile(r"^[0-9a-f]+ <(.*)>:")
INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\s+(\S.*)")
JUMP = re.compile(r"^(?:b\.\w+|b|cbn?z|tbn?z)\s+(?:[\w#]+, )*([0-9a-f]+)\b")
PRODUCT = re.compile(r"^fml[as]\s+v\d+\.(4s|2d)")
OTHER = re.compile(r"^(fadd|fsub|fabs|fabd|fmul|fneg)\s+v\d+\.")  # a loop that makes more than products

Code = list[tuple[int, str]]


def functions(path: Path) -> dict[str, Code]:
    """Addresses and instructions of every function of an object file."""
    listed = subprocess.run(
        [DUMP, "-d", "-C", "--no-show-raw-insn", str(path)], capture_output=True, text=True, check=True
    )
    found: dict[str, Code] = {}
    code: Code = []
    for line in listed.stdout.splitlines():
        if match := FUNCTION.match(line):
            code = found.setdefault(match[1], [])
        elif match := INSTRUCTION.match(line):
            code.append((int(match[1], 16), match[2]))
    return found


def innermost(code: Code) -> list[list[str]]:
    """The instructions of loops without a loop inside: from the target of a backward jump to the jump."""
    place = {address: at for at, (address, _) in enumerate(code)}
    loops = []
    for at, (_, text) in enumerate(code):
        if (match := JUMP.match(text)) and (begin := place.get(int(match[1], 16), at + 1)) <= at:
            loops.append((begin, at))
    inner = [one for one in loops if not any(o != one and one[0] <= o[0] and o[1] <= one[1] for o in loops)]
    return [[text for _, text in code[begin : end + 1]] for begin, end in inner]


def ratios(code: Code) -> list[float]:
    """Of the loops of products."""
    found = []
    for loop in innermost(code):
        products = sum(bool(PRODUCT.match(text)) for text in loop)
        if products in FEWEST and not any(OTHER.match(text) for text in loop):
            found.append(len(loop) / FEWEST[products])
    return found


def main(arguments: list[str]) -> int:
    path = Path(arguments[0]) / "CMakeFiles/ordsvm_core.dir/cpp/kernels/tiles/tiles.cpp.o"
    worst, count = 0.0, 0
    for name, code in functions(path).items():
        if "::add_product(" in name:
            of_one = ratios(code)
            worst, count = max([worst, *of_one]), count + len(of_one)
            print(f"{name.split('(')[0]}: {', '.join(f'{ratio:.2f}' for ratio in of_one)}")
    print(f"{count} loops, at most {worst:.2f} times the fewest instructions")
    return int(count == 0 or worst > MOST)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
