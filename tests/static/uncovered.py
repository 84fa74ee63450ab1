#!/usr/bin/env python3
"""Lists the lines of error paths in src/ that no test ran, grouped by what fails. Usage: uncovered.py BUILD_DIR"""

import collections
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

# A line belongs to the first group whose pattern matches it or an adjacent line.
GROUPS = (
    ("out of memory", r"out_of_memory|out of memory|ENOMEM|NO_MEMORY|ERR_MEMORY|no memory"),
    ("a GPU or CUDA fails", r"cuda|CUDA|gpu|GPU|nvenc|nvdec"),
    ("a window, its sound or OpenGL fails", r"SDL_|\bgl[A-Z]|osd|audio"),
    ("a camera or a virtual one fails", r"VIDIOC|v4l2|pw_|camera"),
    ("the system fails", r"errno|strerror|pthread|mmap|memfd|clock_|fork|exec|pipe"),
    ("FFmpeg fails", r"av_err2str|AVERROR|\bav\w*_|sws_|swr_|media_averror"),
    ("other errors", r""),
)
ERROR = re.compile(r"media_fail|refuse|_fail\(|out_of_memory|AVERROR|LUMEQ_ERR|return -1|goto fail|-errno|strerror")


def executed(build):
    """{source: {line: number of executions}} of all objects."""
    counts = collections.defaultdict(collections.Counter)
    data = [os.path.join(folder, name) for folder, _, names in os.walk(build) for name in names
            if name.endswith(".gcno") and "/tests/" not in folder]
    with tempfile.TemporaryDirectory() as work:
        for path in data:
            subprocess.run(["gcov", "--json-format", path], cwd=work, check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
            for name in os.listdir(work):
                with gzip.open(os.path.join(work, name)) as file:
                    report = json.load(file)
                os.remove(os.path.join(work, name))
                for source in report["files"]:
                    for line in source["lines"]:
                        counts[source["file"]][line["line_number"]] += line["count"]
    return counts


def main():
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    found = collections.defaultdict(list)
    lines = missed = 0
    for source, counts in sorted(executed(sys.argv[1]).items()):
        name = os.path.relpath(source, root)
        if not name.startswith("src/"):
            continue
        with open(source, encoding="utf-8") as file:
            text = [""] + file.read().splitlines()
        lines += len(counts)
        for number in sorted(n for n, count in counts.items() if not count):
            missed += 1
            line = text[number]
            if ERROR.search(line):
                about = text[number - 1] + line + text[min(number + 1, len(text) - 1)]
                group = next(g for g, pattern in GROUPS if re.search(pattern, about))
                found[group].append("%s:%d: %s" % (name, number, line.strip()))
    for group, _ in GROUPS:
        print("== %s: %d ==" % (group, len(found[group])))
        print("\n".join(found[group]))
    print("%d of %d lines were not run, %d of them in error paths" % (missed, lines, sum(map(len, found.values()))))


main()
