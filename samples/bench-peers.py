#!/usr/bin/env python3
"""Compares lumeq's Python module with other libraries that equalize: same pictures, same run, bits compared.

OpenCV, kornia-rs and CuPy are timed if they are installed. All read the same eight pictures in memory and write eight
others, and take turns, so that a busy machine slows all of them; the median of the rounds counts, and within a round
the median picture. On a GPU, pictures stay in its memory: "in a row" is the time per picture of 64 that are queued
before waiting, "alone" waits after each. CuPy has no equalization: its row is the usual few lines with bincount.
"""

import argparse
import datetime
import os
import platform
import statistics
import sys
import time

PICTURES = 8
ROW = 64
CLIP, TILES = 2.0, (8, 8)
CONTENTS = "natural", "clouds", "dark", "ramp", "two-level", "noise"
SKIPPED = 77


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="(cpu)")
    parser.add_argument("--size", default="1920x1080,3840x2160", metavar="WxH,..", help="(1920x1080,3840x2160)")
    parser.add_argument("--content", default="natural", metavar="NAME,..", help="of %s (natural)" % ", ".join(CONTENTS))
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="CPU threads of each, 0 for all cores (1)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="turns of each (5)")
    parser.add_argument("--seconds", type=float, default=0.3, metavar="S", help="length of a turn (0.3)")
    a = parser.parse_args()
    try:
        a.size = [tuple(int(n) for n in size.split("x")) for size in a.size.split(",")]
        smallest = min(min(w, h) for w, h in a.size)
    except ValueError:
        parser.error("--size is a list of WIDTHxHEIGHT")
    a.content = a.content.split(",")
    if not set(a.content) <= set(CONTENTS):
        parser.error("--content is a list of %s" % ", ".join(CONTENTS))
    if smallest < 16 or a.rounds < 1 or a.threads < 0 or not 0 < a.seconds <= 3600:
        parser.error("sides are at least 16, rounds at least 1, threads at least 0, and seconds within 0..3600")
    return a


def picture(content, width, height, seed):
    random = numpy.random.default_rng(seed)
    x, y = numpy.meshgrid(numpy.arange(width, dtype=numpy.float32), numpy.arange(height, dtype=numpy.float32))
    shapes = 22 * numpy.sin(x / 211) * numpy.cos(y / 157) + 9 * numpy.sin((x + 2 * y) / 31)
    if content == "natural":
        made = numpy.where(y < height // 3, 140, 95) + shapes + random.normal(0, 3, x.shape)
    elif content == "clouds":
        made = 150 + shapes + 14 * numpy.sin(x / 47 + numpy.sin(y / 83)) + random.normal(0, 1.2, x.shape)
    elif content == "dark":
        made = 18 + shapes / 4 + random.normal(0, 2, x.shape)
    elif content == "ramp":
        made = x * 256 // width
    elif content == "two-level":
        made = numpy.where(random.integers(0, 2, x.shape), 60, 180)
    else:
        made = random.integers(0, 256, x.shape)
    return made.clip(0, 255).astype(numpy.uint8)


class Peer:
    """A library's way to do one kind of work: call(i) equalizes picture i, output(i) returns the result."""

    def __init__(self, name, call, output, wait=None):
        self.name, self.call, self.output, self.wait = name, call, output, wait
        self.times, self.alone = [], []

    def turn(self, seconds):
        times, end = [], time.perf_counter() + seconds
        while len(times) < PICTURES or time.perf_counter() < end:
            begin = time.perf_counter()
            self.call(len(times) % PICTURES)
            if self.wait:
                self.wait()
            times.append((time.perf_counter() - begin) * 1e6)
        self.alone.append(statistics.median(times))
        if not self.wait:
            return
        times, end = [], time.perf_counter() + seconds
        while not times or time.perf_counter() < end:
            begin = time.perf_counter()
            for i in range(ROW):
                self.call(i % PICTURES)
            self.wait()
            times.append((time.perf_counter() - begin) * 1e6 / ROW)
        self.times.append(statistics.median(times))


def outputs(pictures):
    return [numpy.empty_like(p) for p in pictures]


def peers_cpu(work, pictures, threads):
    """OpenCV first: its bits are the reference."""
    found = []
    out = outputs(pictures)
    if cv2:
        cv2.setNumThreads(threads or -1)
        clahe = cv2.createCLAHE(CLIP, TILES)
        call = cv2.equalizeHist if work == "equalize" else clahe.apply
        found.append(Peer("OpenCV " + cv2.__version__, lambda i: call(pictures[i], out[i]), lambda i: out[i]))
    if kornia_rs:
        made = {}
        if work == "equalize":
            def call_kornia(i):
                made[i] = kornia_rs.imgproc.equalize_hist(pictures[i][:, :, None])
        else:
            def call_kornia(i):
                made[i] = kornia_rs.imgproc.clahe(pictures[i][:, :, None], CLIP, TILES)
        found.append(Peer("kornia-rs " + kornia_rs.__version__, call_kornia,
                          lambda i: numpy.asarray(made[i]).reshape(pictures[i].shape)))
    reference = dict(reference=True) if work == "equalize" else dict(reference=True, mode="clahe", clip=CLIP, tiles=TILES)
    video = dict() if work == "equalize" else dict(mode="clahe", tiles=TILES)
    for name, settings in (("lumeq, reference", reference), ("lumeq, as for video", video)):
        eq, ours = lumeq.Equalizer(backend="cpu", threads=threads, **settings), outputs(pictures)
        found.append(Peer(name, lambda i, eq=eq, ours=ours: eq.process(pictures[i], out=ours[i]),
                          lambda i, ours=ours: ours[i]))
    return found


def peers_cuda(work, pictures, _threads):
    found, wait = [], cupy.cuda.Device().synchronize
    there = [cupy.asarray(p) for p in pictures]
    if work == "equalize":
        made = {}

        def call_cupy(i):
            cdf = cupy.cumsum(cupy.bincount(there[i].ravel(), minlength=256))
            low = cdf[cupy.argmax(cdf > 0)]
            table = cupy.rint((cdf - low) * (255 / cupy.maximum(cdf[-1] - low, 1))).clip(0, 255).astype(cupy.uint8)
            made[i] = table[there[i]]
        found.append(Peer("CuPy " + cupy.__version__, call_cupy, lambda i: made[i].get(), wait))
    if kornia_rs and kornia_rs.cuda.is_available():
        images = [kornia_rs.image.Image.from_numpy(p[:, :, None]).to_cuda() for p in pictures]
        results = {}

        def call_kornia(i):
            if work == "equalize":
                results[i] = kornia_rs.imgproc.equalize_hist(images[i])
            else:
                results[i] = kornia_rs.imgproc.clahe(images[i], CLIP, TILES)
        found.append(Peer("kornia-rs " + kornia_rs.__version__, call_kornia,
                          lambda i: results[i].cpu().to_numpy().reshape(pictures[i].shape), wait))
    reference = dict(reference=True) if work == "equalize" else dict(reference=True, mode="clahe", clip=CLIP, tiles=TILES)
    video = dict() if work == "equalize" else dict(mode="clahe", tiles=TILES)
    for name, settings in (("lumeq, reference", reference), ("lumeq, as for video", video)):
        eq, ours = lumeq.Equalizer(backend="cuda", **settings), [cupy.empty_like(p) for p in there]
        found.append(Peer(name, lambda i, eq=eq, ours=ours: eq.process(there[i], out=ours[i]),
                          lambda i, ours=ours: ours[i].get(), wait))
    return found


def same_bits(peer, wanted):
    return "yes" if wanted is not None and (peer.output(0) == wanted).all() else "no"


def compare(a, work, size, content):
    pictures = [picture(content, *size, seed) for seed in range(PICTURES)]
    peers = (peers_cuda if a.device == "cuda" else peers_cpu)(work, pictures, a.threads)
    for peer in peers:
        peer.turn(0)
        peer.times, peer.alone = [], []
    for _ in range(a.rounds):
        for peer in peers:
            peer.turn(a.seconds)
    wanted = None
    if cv2:
        wanted = cv2.equalizeHist(pictures[0]) if work == "equalize" else cv2.createCLAHE(CLIP, TILES).apply(pictures[0])
    ours = next(p for p in peers if p.name == "lumeq, reference")
    for peer in peers:
        row = "%-9s %-10s %-10s %-22s" % (work, "%dx%d" % size, content, peer.name)
        for times, of_ours in ((peer.times, ours.times), (peer.alone, ours.alone)):
            if times:
                us = statistics.median(times)
                row += " %10.1f %8.2f" % (us, us / statistics.median(of_ours))
        print("%s  %s" % (row, same_bits(peer, wanted)), flush=True)


def cpu_name():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown CPU"


def main():
    a = arguments()
    if a.threads:
        os.environ["RAYON_NUM_THREADS"] = str(a.threads)  # kornia-rs's, read when it first computes
    where = "%s, %d cores, threads: %s" % (cpu_name(), os.cpu_count(), a.threads or "all")
    if a.device == "cuda":
        if not cupy:
            print("bench-peers.py: skipped: no CuPy, which holds the pictures on the GPU")
            sys.exit(SKIPPED)
        where = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    print("%s\n%s; lumeq: %s; %s\n" % (" ".join(sys.argv), where, lumeq.build_info(), datetime.date.today()))
    columns = ["in a row us", "ratio"] if a.device == "cuda" else []
    print(("%-9s %-10s %-10s %-22s" + " %10s %8s" * (len(columns) // 2 + 1) + "  OpenCV's bits") % (
        "work", "size", "content", "library", *columns, "alone us", "ratio"))
    for work in ("equalize", "clahe"):
        for size in a.size:
            for content in a.content:
                compare(a, work, size, content)


def installed(name):
    try:
        return __import__(name)
    except ImportError:
        return None


numpy, lumeq, cv2, kornia_rs, cupy = map(installed, ("numpy", "lumeq", "cv2", "kornia_rs", "cupy"))

if __name__ == "__main__":
    if not numpy or not lumeq:
        print("bench-peers.py: skipped: pip install ./src/plugins/python (and numpy)")
        sys.exit(SKIPPED)
    main()
