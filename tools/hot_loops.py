"""Instructions of hot loops, in a build for aarch64, over the fewest that would do.

    python tools/hot_loops.py BUILD

In the functions of PRODUCTS the innermost loops that multiply and add 16 vectors (4 rows by 4 vectors) or 8 (a value of
a sparse row by 8 vectors) are looked up in the disassembly; loops that do more than that are left out, such as those of
Manhattan distances. The fewest: the products, one load for each vector of the tile, and one for each number of a row or
column of it. WHOLE has functions whose first innermost loop of vectors counts, and the fewest instructions of that for
float and for double. BUILD is a folder of CMake's. Prints all ratios; the exit status is 1 where one exceeds MOST.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

MOST = 1.5
FEWEST = {16: 16 + 4 + 4, 8: 8 + 8 + 2}  # by products
PRODUCTS = {  # file -> function
    "kernels/tiles/tiles": "add_product",
    "prediction/panel": "reduce_panel",
    "linear/interior_point/feature_loops": "add_panel",
}
WHOLE = {
    # Load, factor, bounds and what is no number (4), quotient (2), its rounding, remainder (2), polynomial with a copy
    # of each constant (14 or 26), exponent, sum, store.
    ("simd/loops", "exponential"): {"float": 28, "double": 40},
    # 3 loads, 2 differences, 2 comparisons, 4 selections, places: the scan of every step of a small set.
    ("solvers/block/scans", "reach"): {"float": 12, "double": 12},
}
DUMP = "aarch64-linux-gnu-objdump"
FUNCTION = re.compile(r"^[0-9a-f]+ <(.*)>:")
INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\s+(\S.*)")
JUMP = re.compile(r"^(?:b\.\w+|b|cbn?z|tbn?z)\s+(?:[\w#]+, )*([0-9a-f]+)\b")
PRODUCT = re.compile(r"^fml[as]\s+v\d+\.(4s|2d)")
VECTOR = re.compile(r"^f\w+\s+v\d+\.")
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


def innermost(code: Code, jump: re.Pattern[str] = JUMP) -> list[list[str]]:
    """The instructions of loops without a loop inside: from the target of a backward jump to the jump."""
    place = {address: at for at, (address, _) in enumerate(code)}
    loops = []
    for at, (_, text) in enumerate(code):
        if (match := jump.match(text)) and (begin := place.get(int(match[1], 16), at + 1)) <= at:
            loops.append((begin, at))
    inner = [one for one in loops if not any(o != one and one[0] <= o[0] and o[1] <= one[1] for o in loops)]
    return [[text for _, text in code[begin : end + 1]] for begin, end in inner]


def of_products(code: Code) -> list[float]:
    """Ratios of the loops of products."""
    found = []
    for loop in innermost(code):
        products = sum(bool(PRODUCT.match(text)) for text in loop)
        if products in FEWEST and not any(OTHER.match(text) for text in loop):
            found.append(len(loop) / FEWEST[products])
    return found


def of_whole(code: Code, fewest: int) -> list[float]:
    """The ratio of the loop of whole vectors; after it may come one for what is left."""
    loops = [loop for loop in innermost(code) if any(VECTOR.match(text) for text in loop)]
    return [len(loops[0]) / fewest] if loops else []


def all_ratios(build: Path) -> Iterator[tuple[str, list[float]]]:
    def object_file(name: str) -> Path:
        return build / f"CMakeFiles/ordsvm_core.dir/cpp/{name}.cpp.o"

    for file, function in PRODUCTS.items():
        for name, code in functions(object_file(file)).items():
            if f"::{function}(" in name:
                yield name, of_products(code)
    for (file, function), fewest in WHOLE.items():
        for name, code in functions(object_file(file)).items():
            if f"::{function}(" in name:
                yield name, of_whole(code, fewest["float" if "float" in name else "double"])


def main(arguments: list[str]) -> int:
    worst, count, are_all_found = 0.0, 0, True
    for name, found in all_ratios(Path(arguments[0])):
        worst, count, are_all_found = max([worst, *found]), count + len(found), are_all_found and bool(found)
        print(f"{name.split('(')[0]}: {', '.join(f'{ratio:.2f}' for ratio in found) or 'no loop was found'}")
    print(f"{count} loops, at most {worst:.2f} times the fewest instructions")
    return int(count == 0 or not are_all_found or worst > MOST)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
