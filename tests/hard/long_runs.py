#!/usr/bin/env python3
"""Runs the program on long videos and prints how its memory and open files grow.

usage: LUMEQ=build/lumeq long_runs.py [FRAMES [NAME...]]

FRAMES defaults to 108000, an hour at 30 frames/s. Runs that write video must write every frame once, in order, unchanged.
In the second half of a run, memory may grow by 1 MiB, or more for mp4 and the window; open files must not grow. A window
plays for ten minutes (less for fewer frames) while keys seek, and is then closed. Exits with 1 if a run failed.
"""

import itertools
import os
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../app"))
import window

LUMEQ = os.path.abspath(os.environ.get("LUMEQ", "build/lumeq"))
MIB = 1 << 20
GROWTH = MIB
TEXTS = 3 * MIB  # growth of libass's cache for the window's text
INDEX = 150  # bytes per packet in mp4's index
SIDES = "64x48"
RUNS = {
    "mkv": "{in} -o out.mkv --vcodec ffv1 --lookahead off",
    "mp4": "{in} -o out.mp4 --vcodec libx264 --preset ultrafast --crf 0 --lookahead off",
    "lookahead": "{in} -o out.mkv --vcodec ffv1 --deflicker 0.1 --strength 0",
    "pipe": "- -o out.mkv --vcodec ffv1 --low-latency",
    "segments": "{in} -o out-%Y%m%d-%H%M%S.mkv --vcodec ffv1 --segment-time 60",
    "jobs": "{in} -o out.mkv --vcodec ffv1 --jobs 2",
    "stats": "{in} --null --stats s.csv --report r.html",
    "window": "{in} --no-config --speed 4 --keep-open no",
}


def ffmpeg(*args):
    return subprocess.run(["ffmpeg", "-v", "error", "-nostdin", *args], stdout=subprocess.PIPE, check=True).stdout


def hashes(path):
    """A line for each frame, in order."""
    out = ffmpeg("-i", path, "-map", "0:v", "-fps_mode", "passthrough", "-f", "framehash", "-hash", "adler32", "-")
    return [line.split(b",")[-1].strip() for line in out.splitlines() if not line.startswith(b"#")]


class Watch(threading.Thread):
    """Samples a process until it ends: (resident bytes, open files)."""

    def __init__(self, process):
        super().__init__()
        self.process, self.samples = process, []
        self.start()

    def run(self):
        folder = "/proc/%d" % self.process.pid
        while self.process.poll() is None:
            try:
                with open(folder + "/statm", encoding="ascii") as f:
                    self.samples.append((int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE"),
                                         len(os.listdir(folder + "/fd"))))
            except OSError:
                pass
            time.sleep(0.05)

    def half(self, which):
        """Returns the maximum memory and number of files, from 10 % to 50 % of the run (0) or from 50 % to 97 % (1)."""
        n = len(self.samples)
        part = self.samples[n // 10:n // 2] if which == 0 else self.samples[n // 2:n * 97 // 100]
        return max((s[0] for s in part), default=0), max((s[1] for s in part), default=0)


def press_keys(process, display, seconds):
    """Presses keys that mostly seek for `seconds`, and then closes the window."""
    keys = itertools.cycle(("Right", "Up", "Left", "Right", "Down", "space", "space", "c", "c", "f", "f"))
    end = time.monotonic() + seconds
    while process.poll() is None:
        key = next(keys) if time.monotonic() < end else "q"
        subprocess.run(["xdotool", "key", key], env=dict(os.environ, DISPLAY=display), check=False)
        time.sleep(0.3)


def attempt(name, source, folder, frames):
    words = [source if w == "{in}" else w for w in RUNS[name].split()]
    words += ["--backend", "cpu", "-q"] + ([] if name in ("window", "lookahead") else ["--mode", "off"])
    environment, server = dict(os.environ, LC_ALL="C.UTF-8"), None
    if name == "window":
        server = window.Server()
        environment.update(DISPLAY=server.display, SDL_VIDEODRIVER="x11", SDL_AUDIODRIVER="dummy")
    cat = subprocess.Popen(["cat", source], stdout=subprocess.PIPE) if words[0] == "-" else None
    begin = time.monotonic()
    process = subprocess.Popen([LUMEQ, *words], cwd=folder, env=environment, stderr=subprocess.PIPE,
                               stdin=cat.stdout if cat else subprocess.DEVNULL)
    watch = Watch(process)
    if server:
        press_keys(process, server.display, max(10, frames / 180))
    said = process.communicate()[1].decode().strip()
    watch.join()
    if cat:
        cat.stdout.close()
        cat.wait()
    if server:
        server.close()
    (before, files_before), (after, files_after) = watch.half(0), watch.half(1)
    print("%-10s %6.0f s %8.1f MiB %8.1f MiB %4d %4d files" % (
        name, time.monotonic() - begin, before / MIB, after / MIB, files_before, files_after), end="  ", flush=True)
    faults = []
    if process.returncode:
        faults.append("exit code %d: %s" % (process.returncode, said))
    if after - before > GROWTH + {"mp4": INDEX * frames // 2, "window": TEXTS}.get(name, 0):
        faults.append("memory grows")
    if files_after > files_before:
        faults.append("open files grow")
    return faults


def written(folder):
    return [os.path.join(folder, n) for n in sorted(os.listdir(folder)) if n.startswith("out")]


def main():
    frames = int(sys.argv[1]) if len(sys.argv) > 1 else 108000
    names = sys.argv[2:] or list(RUNS)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="lumeq-long-") as folder:
        source = os.path.join(folder, "in.mkv")
        ffmpeg("-f", "lavfi", "-i", "testsrc2=size=%s:rate=30" % SIDES, "-frames:v", str(frames), "-pix_fmt", "yuv420p",
               "-c:v", "ffv1", source)
        wanted = hashes(source)
        print("%d frames of %s; maximum resident memory and open files, in the first and in the second half" % (
            len(wanted), SIDES), flush=True)
        for name in names:
            place = os.path.join(folder, name)
            os.mkdir(place)
            faults = attempt(name, source, place, frames)
            found = [line for path in written(place) for line in hashes(path)]
            if name not in ("stats", "window") and found != wanted:
                faults.append("frames differ; the output has %d, the input %d" % (len(found), len(wanted)))
            print("; ".join(faults) or "ok", flush=True)
            failed += bool(faults)
            for path in written(place):
                os.remove(path)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
