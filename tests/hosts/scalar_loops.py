"""Lists the innermost loops of ARM objects that use no vector registers. Fails if a function has one that
is not expected to: arguments are the objects."""

import collections
import re
import subprocess
import sys

# Functions that may have such loops. By line: counters in memory; tables in memory; the ends of rows; a
# second version for arrays that overlap; preparation of tables.
EXPECTED = set("""
    add add_pairs lumeq_count_few_cells_neon lumeq_histogram8_neon lumeq_histogram16_neon
    chroma_block node_step scale8 scale16 tile_row16
    bound8 bound16 chroma8_in_blocks chroma16_in_blocks find_cells load8 load16 mean specks under8 under16 whole_tolerance
    between_step smooth
    prepare scale_chroma8 scale_chroma16
    apply8 tile_row_reference
""".split())

VECTOR = re.compile(r"\bv\d+\.|\bq\d+\b")
CALL = re.compile(r"blr?\s|ret")
TARGET = re.compile(r"\b([0-9a-f]+) <")


def functions(path):
    """Yields names and lists of (address, text of the instruction)."""
    shown = subprocess.run(["aarch64-linux-gnu-objdump", "-d", "--no-show-raw-insn", path], check=True,
                           capture_output=True, text=True).stdout
    for part in re.split(r"\n\n+(?=[0-9a-f]+ <)", shown)[1:]:
        name = re.match(r"[0-9a-f]+ <([^>.]+)", part)[1]
        yield name, [(int(at, 16), text) for at, text in re.findall(r"^ +([0-9a-f]+):\s+(.*)", part, re.M)]


def innermost_loops(code):
    """Yields the instructions between a branch backwards and its target, if there are no other
    such branches and no calls."""
    loops = []
    for at, text in code:
        target = TARGET.search(text)
        if re.match(r"b\s|b\.|cb|tb", text) and target and code[0][0] <= int(target[1], 16) <= at:
            loops.append((int(target[1], 16), at))
    for first, last in loops:
        if not any((first, last) != other and first <= other[0] and other[1] <= last for other in loops):
            loop = [text for at, text in code if first <= at <= last]
            if not any(CALL.match(text) for text in loop):
                yield loop


def main():
    loops, scalar = 0, collections.Counter()
    for path in sys.argv[1:]:
        for name, code in functions(path):
            for loop in innermost_loops(code):
                loops += 1
                scalar[name] += not any(VECTOR.search(text) for text in loop)
    print(f"{loops} innermost loops, {sum(scalar.values())} of them without vectors, in:")
    found = sorted(name for name in scalar if scalar[name])
    print(*(f"{name} {scalar[name]}," for name in found))
    unexpected = set(found) - EXPECTED
    return f"unexpected: {', '.join(sorted(unexpected))}" if unexpected or not loops else 0


if __name__ == "__main__":
    sys.exit(main())
