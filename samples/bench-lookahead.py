#!/usr/bin/env python3
"""Compares runs with and without a lookahead on clips made from the sample clip.

Needs ffmpeg. Prints a table in Markdown; the clips and outputs stay in --folder."""

import argparse
import csv
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLE = os.path.join(HERE, "lumeq-sample.mkv")
RATE = 25
WIDTH = 640
STILL = 2  # seconds per scene in the clip with cuts
BLACK = 12  # black frames before the fade


def arguments():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("lumeq", help="the program")
    p.add_argument("--folder", help="folder for clips and outputs [a temporary folder]")
    p.add_argument("--width", type=int, default=WIDTH, help="width of the pictures [%(default)s]")
    return p.parse_args()


def run(*args):
    result = subprocess.run([str(a) for a in args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, universal_newlines=True)
    if result.returncode:
        sys.exit("%s\n%s" % (" ".join(map(str, args)), result.stdout))
    return result.stdout


def ffmpeg(*args):
    run("ffmpeg", "-v", "error", "-nostdin", "-y", *args)


def still(folder, width, at, seconds):
    """Returns ffmpeg's arguments for a still scene that shows the clip's frame at `at` seconds."""
    path = os.path.join(folder, "%g.png" % at)
    if not os.path.exists(path):
        ffmpeg("-ss", at, "-i", SAMPLE, "-frames:v", 1, "-vf", "scale=%d:-2,setsar=1" % width, path)
    return ("-loop", 1, "-framerate", RATE, "-t", seconds, "-i", path)


def write(path, *arguments):
    ffmpeg(*arguments, "-pix_fmt", "yuv420p", "-c:v", "ffv1", path)


def make_cuts(path, folder, width):
    """Five scenes: fog, later fog mirrored, a room, the later room mirrored, fog. At two of the cuts, the histogram hardly
    changes."""
    scenes = (1, 3.8, 5, 6.4, 1)
    mirrored = (0, 1, 0, 1, 0)
    inputs = [a for at in scenes for a in still(folder, width, at, STILL)]
    graph = "".join("[%d]%s[s%d];" % (i, "hflip" if m else "null", i) for i, m in enumerate(mirrored))
    graph += "".join("[s%d]" % i for i in range(len(scenes))) + "concat=n=%d" % len(scenes)
    write(path, *inputs, "-filter_complex", graph)


def make_fade(path, folder, width):
    """A dull scene that fades in from black within a second and stays for five."""
    write(path, *still(folder, width, 1, 6), "-vf", "tpad=start=%d:color=black,fade=in:%d:%d" % (BLACK, BLACK, RATE))


def make_cars(path, folder, width):
    """Lights that cross a still and dull scene."""
    n = width / WIDTH
    graph, last = "color=white:s=%dx%d:r=%d[c];[c]split=3[c0][c1][c2];" % (90 * n, 40 * n, RATE), "0"
    for i, (speed, offset, y) in enumerate(((220, 0, 220), (310, 400, 270), (170, 700, 250))):
        graph += "[%s][c%d]overlay=x='%g*(mod(%d*t+%d,900)-120)':y=%d:shortest=1[o%d];" % (
            last, i, n, speed, offset, y * n, i)
        last = "o%d" % i
    write(path, *still(folder, width, 1, 10), "-filter_complex", graph.rstrip(";"), "-map", "[%s]" % last)


def make_wavering(path, folder, width):
    """A still scene whose brightness wavers by up to a tenth."""
    write(path, *still(folder, width, 5, 6), "-vf",
          "format=yuv420p,geq=lum='16+(lum(X,Y)-16)*(1+0.1*sin(N*2.4)*cos(N*0.7))':cb='cb(X,Y)':cr='cr(X,Y)'")


def rows(lumeq, clip, folder, *options):
    out, table = os.path.join(folder, "out.mkv"), os.path.join(folder, "out.csv")
    run(lumeq, "--no-config", clip, "-o", out, "-y", "--vcodec", "ffv1", "--stats", table, *options)
    with open(table, encoding="ascii") as f:
        return [{k: float(v) for k, v in row.items()} for row in csv.DictReader(f)]


def settled_cuts(rows):
    """Counts cuts whose first frame already looks like the middle of the scene."""
    length, count = STILL * RATE, 0
    for first in range(length, len(rows), length):
        now, later = rows[first], rows[first + length // 2]
        count += (abs(now["mean_out"] - later["mean_out"]) < 0.5 and
                  abs(now["stddev_out"] / later["stddev_out"] - 1) < 0.02)
    return count


def contrast_at_end_of_fade(rows):
    return rows[BLACK + RATE]["stddev_out"] / rows[-1]["stddev_out"]


def excess_flicker(rows):
    steps = [(b["mean_out"] - a["mean_out"]) - (b["mean_in"] - a["mean_in"]) for a, b in zip(rows, rows[1:])]
    return sum(map(abs, steps)) / len(steps)


def mabd(rows, key="mean_out"):
    return sum(abs(b[key] - a[key]) for a, b in zip(rows, rows[1:])) / (len(rows) - 1)


def main():
    a = arguments()
    folder = a.folder or tempfile.mkdtemp(prefix="lumeq-lookahead-")
    os.makedirs(folder, exist_ok=True)
    clips = {}
    for name, make in (("cuts", make_cuts), ("fade", make_fade), ("cars", make_cars), ("wavering", make_wavering)):
        clips[name] = os.path.join(folder, name + ".mkv")
        make(clips[name], folder, a.width)
    lines = []
    for lookahead in ("off", "10"):
        of = {name: rows(a.lumeq, clip, folder, "--lookahead", lookahead) for name, clip in clips.items()}
        lines.append(["%d of 4" % settled_cuts(of["cuts"]), "%.0f %%" % (100 * contrast_at_end_of_fade(of["fade"])),
                      "%.3f" % excess_flicker(of["cars"]), "%.2f" % mabd(of["wavering"])])
        before = mabd(of["wavering"], "mean_in")
    even = rows(a.lumeq, clips["wavering"], folder, "--lookahead", "10", "--deflicker", "1")
    names = ["cuts settled on their first frame", "contrast at the end of a fade-in, relative to later",
             "excess flicker where lights cross a dull scene, codes a frame",
             "change of wavering light, codes a frame (%.2f in the source)" % before]
    print("| | without | with a lookahead |\n|---|---|---|")
    for name, one, two in zip(names, *lines):
        print("| %s | %s | %s |" % (name, one, two))
    print("| the same with `--deflicker 1` | | %.2f |" % mabd(even))


if __name__ == "__main__":
    main()
