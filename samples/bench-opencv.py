#!/usr/bin/env python3
"""Compares lumeq's equalization on the CPU with OpenCV's equalizeHist, one thread each.

Both read the same raw pictures and take turns, so that what else loads the machine loads both; the
median of the rounds counts (--least: the quickest), and in each the median frame. Pictures go
around in memory: eight that are read and eight that are written. lumeq's time is that of the whole
library, from handing a frame in to getting it back, with its statistics; `reference` is its mode
with OpenCV's bits.
"""

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CONTENTS = ("flat", "two-level", "ramp", "natural", "clouds", "normal", "noise")
MODES = ("global", "reference")
PICTURES = 8
SKIPPED = 77

try:
    import cv2
    import numpy
except ImportError as error:
    cv2, missing = None, error


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", default=os.path.join(HERE, "../build/lumeq-bench"),
                        metavar="PROGRAM", help="lumeq-bench (build/lumeq-bench)")
    parser.add_argument("--size", default="3840x2160", metavar="WxH", help="(3840x2160)")
    parser.add_argument("--content", default=",".join(CONTENTS), metavar="NAME,..",
                        help="of %s (all)" % ", ".join(CONTENTS))
    parser.add_argument("--rounds", type=int, default=7, metavar="N", help="turns of each (7)")
    parser.add_argument("--seconds", type=float, default=0.5, metavar="S", help="of a turn (0.5)")
    parser.add_argument("--least", action="store_true", help="the quickest turn counts, not the "
                        "median: on a machine that others load, with many short ones")
    a = parser.parse_args()
    try:
        a.width, a.height = (int(n) for n in a.size.split("x"))
    except ValueError:
        parser.error("--size is WIDTHxHEIGHT, not %s" % a.size)
    a.content = a.content.split(",")
    if not set(a.content) <= set(CONTENTS):
        parser.error("--content is a list of %s" % ", ".join(CONTENTS))
    if a.width < 1 or a.height < 1 or a.rounds < 1 or not 0.01 <= a.seconds <= 3600:
        parser.error("sizes and rounds are above 0, and seconds within 0.01..3600")
    return a


def clouds(random, width, height):
    """As a real sky has them: shapes of all sizes, and the grain of a sensor."""
    sky = numpy.zeros((height, width), numpy.float32)
    for octave in range(9):
        columns = 3 << octave
        shape = (columns * 9 // 16 + 2, columns + 2)
        grid = random.normal(0, 0.5 ** octave, shape).astype(numpy.float32)
        sky += cv2.resize(grid, (width, height), interpolation=cv2.INTER_CUBIC)
    return 150 + 28 * (sky - sky.mean()) / sky.std() + random.normal(0, 1.2, sky.shape)


def picture(content, width, height):
    """Makes contents like lumeq-bench, with other random numbers, and adds clouds and normal."""
    random = numpy.random.default_rng(1)
    if content == "clouds":
        return clouds(random, width, height).clip(0, 255).astype(numpy.uint8)
    if content == "normal":
        return random.normal(110, 20, (height, width)).clip(0, 255).astype(numpy.uint8)
    x, y = numpy.meshgrid(numpy.arange(width), numpy.arange(height))
    if content == "flat":
        return numpy.full((height, width), 100, numpy.uint8)
    if content == "two-level":
        return numpy.where(random.integers(0, 2, (height, width)), 60, 180).astype(numpy.uint8)
    if content == "ramp":
        return (x * 256 // width).astype(numpy.uint8)
    if content == "noise":
        return random.integers(0, 256, (height, width), numpy.uint8)
    shapes = 22 * numpy.sin(x / 211) * numpy.cos(y / 157) + 9 * numpy.sin((x + 2 * y) / 31)
    grain = random.integers(0, 8, (2, height, width)).sum(axis=0) - 7
    return (numpy.where(y < height // 3, 140, 95) + shapes.astype(int) + grain).astype(numpy.uint8)


def opencv_us(pictures, outputs, seconds):
    """The median frame."""
    times = []
    end = time.perf_counter() + seconds
    while len(times) < PICTURES or time.perf_counter() < end:
        i = len(times) % PICTURES
        begin = time.perf_counter()
        cv2.equalizeHist(pictures[i], outputs[i])
        times.append((time.perf_counter() - begin) * 1e6)
    return statistics.median(times)


def lumeq_us(a, folder, content):
    """The median frame of each mode."""
    command = [os.path.abspath(a.bench), "equalize", "--backend", "cpu", "--threads", "1", "--json",
               "--size", a.size, "--content", content, "--modes", ",".join(MODES), "--seconds",
               "%g" % (a.seconds / 2)]  # which measures twice as long
    run = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         universal_newlines=True)
    if run.returncode:
        sys.exit("bench-opencv.py: %s: %s" % (" ".join(command), run.stderr.strip()))
    return {row["mode"]: row["cpu_total_us"] for row in map(json.loads, run.stdout.splitlines())}


def compare(a, folder, content):
    """Microseconds of OpenCV's frame and of each mode's."""
    name = content + ".raw"
    source = picture(content, a.width, a.height)
    source.tofile(os.path.join(folder, name))
    pictures = [source.copy() for _ in range(PICTURES)]
    outputs = [numpy.zeros_like(source) for _ in range(PICTURES)]
    opencv, lumeq = [], {mode: [] for mode in MODES}
    opencv_us(pictures, outputs, 0)  # warms up
    for _ in range(a.rounds):
        for mode, us in lumeq_us(a, folder, name).items():
            lumeq[mode].append(us)
        opencv.append(opencv_us(pictures, outputs, a.seconds))
    of = min if a.least else statistics.median
    return of(opencv), [of(lumeq[mode]) for mode in MODES]


def cpu_name():
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return "unknown CPU"


def main():
    a = arguments()
    if not cv2:
        print("bench-opencv.py: skipped: %s (packages python3-opencv and python3-numpy)" % missing)
        sys.exit(SKIPPED)
    cv2.setNumThreads(1)
    print("%s\n%s, %d cores; OpenCV %s, %s\n" % (" ".join(sys.argv), cpu_name(), os.cpu_count(),
                                                 cv2.__version__, datetime.date.today()))
    print("%-10s %-10s %10s %10s %7s %12s %7s" % ("size", "content", "OpenCV us", "lumeq us", "ratio",
                                                 "reference us", "ratio"))
    with tempfile.TemporaryDirectory() as folder:
        for content in a.content:
            opencv, (ours, reference) = compare(a, folder, content)
            print("%-10s %-10s %10.1f %10.1f %7.2f %12.1f %7.2f" % (
                a.size, content, opencv, ours, opencv / ours, reference, opencv / reference),
                  flush=True)


if __name__ == "__main__":
    main()
