#!/usr/bin/env python3
"""Compares the whole program with ffmpeg on two cores: frame rate, processor time and peak memory.

The programs alternate, one run of each per round, so that other load affects both. Medians are
compared. If others use the machine as well, use --best, which compares the best runs. Peak memory
is measured on a short and on a long clip. The table also has decoding alone, because it limits
every program that uses the same decoder.
"""

import argparse
import collections
import datetime
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
Run = collections.namedtuple("Run", "wall cpu memory")


def fail(text):
    sys.exit("bench-ffmpeg.py: " + text)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lumeq", default=os.path.join(HERE, "../build/lumeq"), metavar="PROGRAM")
    parser.add_argument("--ffmpeg", default="ffmpeg", metavar="PROGRAM")
    parser.add_argument("--clip", default=os.path.join(HERE, "lumeq-sample.mkv"), metavar="VIDEO",
                        help="looped to both lengths (the bundled clip)")
    parser.add_argument("--vf", default="", metavar="FILTERS", help="ffmpeg filters for the clips"
                        " after scaling, such as noise=alls=4:allf=t")
    parser.add_argument("--size", default="1920x1080", metavar="WxH")
    parser.add_argument("--clip-crf", default="23", metavar="CRF",
                        help="quality of the looped clips; lower values take longer to decode"
                        " (23, libx264's default)")
    parser.add_argument("--seconds", default="10,30", metavar="SHORT,LONG",
                        help="lengths of the two clips (10,30)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="runs of each program (3)")
    parser.add_argument("--best", action="store_true", help="compare the best runs, not the medians")
    parser.add_argument("--cases", default="equalize,film,encode", metavar="NAME,..",
                        help="what to compare (equalize,film,encode)")
    parser.add_argument("--cores", type=int, default=2, metavar="N", help="cores to run on (2)")
    parser.add_argument("--preset", default="medium", help="preset of libx264 (medium)")
    parser.add_argument("--crf", default="18", help="quality of libx264 (18)")
    a = parser.parse_args()
    try:
        a.width, a.height = (int(n) for n in a.size.split("x"))
        a.short, a.long = (float(n) for n in a.seconds.split(","))
        a.cases = a.cases.split(",")
    except ValueError:
        parser.error("--size is WIDTHxHEIGHT and --seconds is SHORT,LONG")
    if not (a.width > 0 and a.height > 0 and 0 < a.short < a.long and a.rounds > 0 and a.cores > 0):
        parser.error("sizes, lengths, rounds and cores must be above 0, and LONG above SHORT")
    if not set(a.cases) <= {"equalize", "film", "encode"}:
        parser.error("--cases takes equalize, film and encode, with commas between them")
    return a


def run(command):
    """Returns wall-clock and processor seconds, and the peak memory in MiB."""
    with tempfile.TemporaryFile() as said:
        begin = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            fail("%s ended with %d: %s" % (" ".join(command), process.returncode,
                                           said.read().decode(errors="replace").strip()[-500:]))
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def frames_of(clip):
    out = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v:0", "-count_packets",
                          "-show_entries", "stream=nb_read_packets", "-of", "csv=p=0", clip],
                         stdout=subprocess.PIPE, check=True).stdout
    return int(out.decode().strip().strip(","))


def make_clip(a, path, seconds):
    run([a.ffmpeg, "-v", "error", "-nostdin", "-y", "-stream_loop", "-1", "-i", a.clip, "-map",
         "0:v:0", "-vf", ",".join(filter(None, ["scale=%d:%d" % (a.width, a.height), a.vf])), "-t", "%g" % seconds, "-c:v",
         "libx264", "-crf", a.clip_crf, "-preset", "medium", path])


def output(folder, program):
    return os.path.join(folder, program + "-out.mkv")


def cases(a, folder):
    """Returns the comparisons: pairs of a name and a function that makes the commands for a clip."""
    ours, theirs = output(folder, "lumeq"), output(folder, "ffmpeg")
    lumeq = [a.lumeq, "--no-config", "--quiet"]
    ffmpeg = [a.ffmpeg, "-v", "error", "-nostdin", "-y"]
    encoder = ["-c:v", "libx264", "-preset", a.preset, "-crf", a.crf]
    return [
        ("equalize", lambda clip: {
            "lumeq": lumeq + [clip, "--null", "--backend", "cpu"],
            "ffmpeg": ffmpeg + ["-i", clip, "-vf", "histeq", "-f", "null", "-"],
            "decode": ffmpeg + ["-i", clip, "-f", "null", "-"]}),
        ("film", lambda clip: {
            "lumeq": lumeq + [clip, "--backend", "cpu", "--vcodec", "libx264", "--preset", a.preset,
                              "--crf", a.crf, "-y", "-o", ours],
            "ffmpeg": ffmpeg + ["-i", clip] + encoder + [theirs]}),
        ("encode", lambda clip: {
            "lumeq": lumeq + [clip, "--mode", "off", "--backend", "cpu", "--vcodec", "libx264",
                              "--preset", a.preset, "--crf", a.crf, "-y", "-o", ours],
            "ffmpeg": ffmpeg + ["-i", clip] + encoder + [theirs]}),
    ]


def packets(ffmpeg, path):
    return subprocess.run([ffmpeg, "-v", "error", "-nostdin", "-i", path, "-map", "0:v:0", "-c",
                           "copy", "-f", "md5", "-"], stdout=subprocess.PIPE, check=True).stdout


def alternate(commands, rounds, typical):
    """Runs the commands in turn. Returns for each program typical(), such as the median, of its times and memory."""
    runs = {name: [] for name in commands}
    for i in range(rounds):
        names = list(commands) if i % 2 == 0 else list(commands)[::-1]
        for name in names:
            runs[name].append(run(commands[name]))
    return {name: Run(*map(typical, zip(*r))) for name, r in runs.items()}


def first_line(command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()[0]


def print_machine(a):
    cpu = platform.processor() or platform.machine()
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        cpu = next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), cpu)
    print("%s, %d cores of %d; %s" % (cpu, a.cores, os.cpu_count(), datetime.date.today()))
    print("%s; %s" % (first_line([a.lumeq, "--version"]), first_line([a.ffmpeg, "-version"])))
    print("%s as %s, crf %s; %d rounds, %s" % (os.path.basename(a.clip), a.size, a.clip_crf, a.rounds,
                                               "the best" if a.best else "medians"))


def compare(name, command, clips, rounds, typical):
    """Prints rows of the programs on both clips. Returns each program's peak memory on each clip."""
    memory = {}
    for length, clip, frames in clips:
        found = alternate(command(clip), rounds, typical)
        for program, r in found.items():
            memory[program, length] = r.memory
            print("%-9s %-7s %5gs %6d %8.2f %8.2f %9.1f %10.1f %9.1f" % (
                name, program, length, frames, r.wall, r.cpu, frames / r.wall,
                frames / r.cpu, r.memory))
        ours = found.pop("lumeq")
        for program, theirs in found.items():
            print("%-9s /%-6s %5gs %6s %8.3f %8.3f %9.3f %10.3f %9.3f" % (
                name, program, length, "", ours.wall / theirs.wall, ours.cpu / theirs.cpu,
                theirs.wall / ours.wall, theirs.cpu / ours.cpu, ours.memory / theirs.memory),
                flush=True)
    return memory


def main():
    a = arguments()
    for program in (a.lumeq, a.ffmpeg, "ffprobe"):
        if not shutil.which(program):
            fail("there is no program '%s'" % program)
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < a.cores:
        fail("--cores %d: only %d are available" % (a.cores, len(cores)))
    os.sched_setaffinity(0, cores[:a.cores])
    with tempfile.TemporaryDirectory(prefix="lumeq-bench-") as folder:
        clips = []
        for length in (a.short, a.long):
            clip = os.path.join(folder, "%gs.mkv" % length)
            make_clip(a, clip, length)
            clips.append((length, clip, frames_of(clip)))
        print_machine(a)
        shown = [c for c in cases(a, folder) if c[0] in a.cases]
        for _, command in shown:
            for words in command("CLIP").values():
                print("  " + " ".join(os.path.basename(w) if w in (a.lumeq, a.ffmpeg) else
                                      w.replace(folder, "TMP") for w in words))
        print("\n%-9s %-7s %6s %6s %8s %8s %9s %10s %9s" % (
            "what", "program", "length", "frames", "wall s", "cpu s", "frames/s", "frames/cpu",
            "peak MiB"))
        for name, command in shown:
            memory = compare(name, command, clips, a.rounds, min if a.best else statistics.median)
            print("%-9s peak memory, long clip / short clip: lumeq %.3f, ffmpeg %.3f\n" % (
                name, *(memory[p, a.long] / memory[p, a.short] for p in ("lumeq", "ffmpeg"))),
                flush=True)
        if shown[-1][0] == "encode":
            same = (packets(a.ffmpeg, output(folder, "lumeq")) ==
                    packets(a.ffmpeg, output(folder, "ffmpeg")))
            print("encoded packets of lumeq and ffmpeg: %s" % (
                "identical" if same else "not identical"))


if __name__ == "__main__":
    main()
