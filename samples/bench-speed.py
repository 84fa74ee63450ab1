#!/usr/bin/env python3
"""Prints the frames per second at which lumeq equalizes a file with its defaults, decoded in software and by NVDEC.

Nothing is encoded. Runs alternate; medians are printed. Opening the file is not counted."""

import argparse
import json
import os
import statistics
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = (("software, CPU", "--hwdec", "no", "--backend", "cpu"), ("software, GPU", "--hwdec", "no", "--backend", "cuda"),
         ("NVDEC, GPU", "--hwdec", "nvdec", "--backend", "cuda"))


def run(command):
    """Returns the number of frames, the frames per second, and the error message if the run failed."""
    said = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          check=False).stderr.decode(errors="replace").splitlines()
    rows = [json.loads(line) for line in said if line.startswith("{")]
    if rows and rows[-1]["state"] == "done":
        return rows[-1]["frame"], rows[-1]["fps"], None
    return 0, 0, ([line for line in said if not line.startswith("{")] or ["no message"])[-1]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("lumeq", help="the program")
    p.add_argument("file", nargs="?", default=os.path.join(HERE, "lumeq-sample.mkv"), help="a video [the sample clip]")
    p.add_argument("--rounds", type=int, default=3, help="runs of each kind [3]")
    o, more = p.parse_known_args()  # other options are lumeq's
    rates, left_out = {}, {}
    for _ in range(o.rounds):
        for kind, *options in KINDS:
            if kind not in left_out:
                frames, rate, failed = run([o.lumeq, o.file, "--null", "--progress", "json", "--no-config", *options, *more])
                if failed:
                    left_out[kind] = failed
                else:
                    rates.setdefault(kind, []).append((rate, frames))
    print("| decoder, equalizer | frames | frames/s |\n|---|---|---|")
    for kind, found in rates.items():
        print("| %s | %d | %.1f |" % (kind, found[0][1], statistics.median(rate for rate, _ in found)))
    for kind, reason in left_out.items():
        print("\nLeft out: %s: %s" % (kind, reason))


if __name__ == "__main__":
    main()
