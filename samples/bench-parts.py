#!/usr/bin/env python3
"""Compares encoding a film in parts with a single run: frames per second, processor time and memory of each step.

The film repeats the clip's frames, which lumeq itself decodes and encodes. Prints
Markdown tables. On a busy machine, compare only shares of processor time."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLE = os.path.join(HERE, "lumeq-sample.mkv")
QUIET = ("-q", "--no-config")
# Encoders for the film: the first available one is used. GOPs are short, because parts are short here.
SOURCES = (("libx264", "--preset", "ultrafast", "--crf", "20", "--vopt", "g=12"), ("mpeg4", "--vopt", "g=12"))
LOOK = 0.2  # seconds between memory samples


def cores():
    return len(os.sched_getaffinity(0))


def numbers(text):
    return [int(n) for n in text.split(",") if n]


def arguments():
    halves = [2**i for i in range(10) if 2**i <= cores()]
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("lumeq", help="the program")
    p.add_argument("--clip", default=SAMPLE, help="an 8-bit 4:2:0 clip [the sample clip]")
    p.add_argument("--folder", help="folder for the film and outputs; the film is kept [a temporary folder]")
    p.add_argument("--seconds", type=float, default=40, help="length of the film [40]")
    p.add_argument("--tile", type=int, default=1, help="repeat the picture N times across and down: 3 turns 720p into 4K [1]")
    p.add_argument("--vcodec", default="ffv1", help="list of encoders; missing ones are skipped [ffv1]")
    p.add_argument("--jobs", type=numbers, default=halves, help="list of --jobs values to measure [1,2,4... cores]")
    p.add_argument("--devices", nargs="*", help="lists of GPUs to measure: 0 0,1 [the first 1, 2, 4...]")
    p.add_argument("--parts", type=numbers, default=[1, 2, 4, 8], help="numbers of parts to measure step by step [1,2,4,8]")
    p.add_argument("--rounds", type=int, default=1, help="number of rounds; medians are printed [1]")
    p.add_argument("--limit", type=float, default=170, help="start no new measurement after this many seconds [170]")
    return p.parse_args()


# ---- runs ----


def tree(pid):
    """Returns a process and its descendants."""
    found = [pid]
    for parent in found:
        try:
            for task in os.listdir("/proc/%d/task" % parent):
                with open("/proc/%d/task/%s/children" % (parent, task), encoding="ascii") as f:
                    found += map(int, f.read().split())
        except OSError:
            pass
    return found


def memory(pid):
    """Returns the bytes that a process and its descendants use; shared pages count once."""
    total = 0
    for process in tree(pid):
        try:
            with open("/proc/%d/smaps_rollup" % process, encoding="ascii") as f:
                total += sum(int(line.split()[1]) << 10 for line in f if line.startswith("Pss:"))
        except OSError:
            pass
    return total


class Failed(Exception):
    pass


class Cost:
    """Total cost of several runs: seconds, processor seconds, peak MiB of the largest process and of all processes."""

    def __init__(self, lumeq):
        self.lumeq = lumeq
        self.seconds = self.processor = self.largest = self.all = 0

    def __call__(self, *commands, at_a_time=1):
        """Runs all commands; returns their processor time."""
        begin, processor, left, running = time.monotonic(), 0, list(commands), {}
        ended = threading.Event()
        looker = threading.Thread(target=self.look, args=(running, ended))
        looker.start()
        try:
            while left or running:
                while left and len(running) < at_a_time:
                    command = [self.lumeq, *map(str, left.pop(0))]
                    running[subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                             stderr=subprocess.DEVNULL).pid] = command
                pid, status, usage = os.wait4(-1, 0)
                command = running.pop(pid)
                if status:
                    raise Failed(" ".join(command))
                processor += usage.ru_utime + usage.ru_stime
                self.largest = max(self.largest, usage.ru_maxrss / 1024)
        finally:
            ended.set()
            looker.join()
        self.seconds += time.monotonic() - begin
        self.processor += processor
        return processor

    def look(self, running, ended):
        while not ended.wait(LOOK):
            self.all = max(self.all, sum(map(memory, list(running))) / 2**20)


def median(found):
    found = sorted(found)
    return (found[(len(found) - 1) // 2] + found[len(found) // 2]) / 2


def medians(rows):
    return [median(column) for column in zip(*rows)]


# ---- the film ----


def tiled(frame, width, height, times):
    planes, at = [], 0
    for w, h in ((width, height), ((width + 1) // 2, (height + 1) // 2), ((width + 1) // 2, (height + 1) // 2)):
        rows = b"".join(frame[at + y * w:at + (y + 1) * w] * times for y in range(h))
        planes.append(rows * times)
        at += w * h
    return b"".join(planes)


def write_film(o, to):
    """Writes frames of the clip as y4m until the film is long enough; returns their number, width and height."""
    count = 0
    while True:
        with subprocess.Popen([o.lumeq, o.clip, "-o", "-", "--mode", "off", *QUIET], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE) as clip:
            head = clip.stdout.readline().decode().split()
            known = {word[0]: word[1:] for word in head[1:] if word[0] != "X"}
            if not head or not known["C"].startswith("420") or "p1" in known["C"]:
                sys.exit("%s does not decode to 8 bits, 4:2:0" % o.clip)
            width, height = int(known["W"]), int(known["H"])
            rate, per = map(int, known["F"].split(":"))
            chroma = (width + 1) // 2 * ((height + 1) // 2)
            if not count:
                to.write(("YUV4MPEG2 W%d H%d F%d:%d Ip A1:1 C420mpeg2\n" % (width * o.tile, height * o.tile, rate,
                                                                             per)).encode())
            while clip.stdout.readline():
                frame = clip.stdout.read(width * height + 2 * chroma)
                to.write(b"FRAME\n" + (frame if o.tile == 1 else tiled(frame, width, height, o.tile)))
                count += 1
                if count * per >= o.seconds * rate:
                    clip.kill()
                    return count, width * o.tile, height * o.tile


def make_film(o, path):
    """Encodes the film with the first available encoder; returns its frames, width, height and encoder."""
    for encoder in SOURCES:
        if subprocess.run([o.lumeq, o.clip, "-o", path, "-y", "--frames", "1", "--mode", "off", "--vcodec", *encoder, *QUIET],
                          stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0:
            break
    else:
        sys.exit("no encoder for the film, tried: %s" % ", ".join(s[0] for s in SOURCES))
    with subprocess.Popen([o.lumeq, "-", "-o", path, "-y", "--mode", "off", "--vcodec", *encoder, *QUIET],
                          stdin=subprocess.PIPE) as film:
        made = write_film(o, film.stdin)
    if film.returncode:
        sys.exit("cannot encode the film")
    return made + (encoder[0],)


# ---- measurements ----


class Bench:
    def __init__(self, o, film, out, count):
        self.o, self.film, self.out, self.count = o, film, out, count
        self.end = time.monotonic() + o.limit
        self.left_out = []

    def is_over(self, what):
        if time.monotonic() < self.end:
            return False
        self.left_out.append(what)
        return True

    def run(self, *options):
        """Runs the whole film; returns frames per second, processor seconds, MiB of the largest and of all processes, output MB."""
        cost = Cost(self.o.lumeq)
        cost((self.film, "-o", self.out, "-y", *QUIET, *options))
        size = os.path.getsize(self.out)
        os.unlink(self.out)
        return [self.count / cost.seconds, cost.processor, cost.largest, cost.all, size / 1e6]

    def measuring(self, options):
        """Returns the processor time of measuring alone, with a plan of one part."""
        cost = Cost(self.o.lumeq)
        cost(("plan", self.film, *options, "--no-measure", "--parts", 1))
        took = cost(("measure", self.out + ".lumeq/plan", 0, "--backend", "cpu"))
        shutil.rmtree(self.out + ".lumeq")
        return took

    def in_parts(self, options, parts):
        """Runs the steps one by one; returns the total cost and the processor times of plan, parts and join."""
        cost, plan = Cost(self.o.lumeq), self.out + ".lumeq/plan"
        planned = cost(("plan", self.film, *options, "--parts", parts, "--backend", "cpu"))
        written = cost(*(("segment", plan, i, "--backend", "cpu") for i in range(parts)), at_a_time=cores())
        joined = cost(("join", plan))
        os.unlink(self.out)
        return cost, planned, written, joined

    def kinds(self, vcodec, devices):
        """Yields names and options of the runs."""
        base = ("--vcodec", vcodec)
        yield "one run, CPU", (*base, "--two-pass", "on", "--backend", "cpu")
        if devices:
            yield "one run, GPU", (*base, "--two-pass", "on", "--backend", "cuda")
        yield "`--jobs auto`, CPU", (*base, "--jobs", "auto", "--backend", "cpu")
        if devices:
            yield "`--jobs auto`, GPU", (*base, "--jobs", "auto", "--backend", "cuda")
        for jobs in self.o.jobs:
            yield "`--jobs %d`, CPU" % jobs, (*base, "--jobs", jobs, "--backend", "cpu")
            for listed in devices:
                yield "`--jobs %d`, GPU %s" % (jobs, listed), (*base, "--jobs", jobs, "--devices", listed)

    def runs(self, vcodec, devices):
        rows = {}
        for _ in range(self.o.rounds):
            for name, options in self.kinds(vcodec, devices):
                if not self.is_over(name):
                    rows.setdefault(name, []).append(self.run(*options))
        print("\n| %s | frames/s | processor time | memory: largest process; all | MB |\n|---|---|---|---|---|" % vcodec)
        for name, found in rows.items():
            print("| %s | %.1f | %.1f s | %.0f; %.0f MiB | %.1f |" % (name, *medians(found)))

    def steps(self, vcodec):
        options = ("-o", self.out, "-y", *QUIET, "--vcodec", vcodec)
        rows, firsts = {}, []
        for _ in range(self.o.rounds):
            if self.is_over("step by step"):
                break
            one = self.run("--vcodec", vcodec, "--two-pass", "on", "--backend", "cpu")[1]
            measured = self.measuring(options)
            firsts.append((one, 100 * measured / one))
            for parts in self.o.parts:
                if self.is_over("%d parts" % parts):
                    continue
                _, *shares = self.in_parts(options, parts)
                rows.setdefault(parts, []).append(
                    [100 * x / one for x in (sum(shares), *shares, shares[0] - measured + shares[2])])
        if not firsts:
            return
        print("\n| %s, step by step | processor time: all; plan; parts; join | plan and join without measuring |\n"
              "|---|---|---|" % vcodec)
        print("| one run | %.1f s, measuring is %.1f %% of it | |" % tuple(medians(firsts)))
        for parts, found in rows.items():
            print("| %d part%s | %.0f; %.1f; %.1f; %.1f %% | %.1f %% |" % (parts, "s" * (parts > 1), *medians(found)))


def machine(lumeq):
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        name = next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), "a processor")
    gpus = subprocess.run([lumeq, "--list-gpus"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False).stdout.decode().splitlines()
    return "%d cores of %s" % (cores(), name), [g.split(": ", 1)[1].split(",")[0] for g in gpus if ": " in g]


def main():
    o = arguments()
    o.lumeq = os.path.abspath(o.lumeq)
    folder = o.folder or tempfile.mkdtemp(prefix="lumeq-parts-")
    film, out = os.path.join(folder, "film.mkv"), os.path.join(folder, "out.mkv")
    try:
        processor, gpus = machine(o.lumeq)
        count, width, height, source = make_film(o, film)
        print("%s; GPUs: %s. A film of %d frames, %dx%d, %s.\nProcessor times of steps are shares of one run's in the same round; %d "
              "round%s." % (processor, ", ".join(gpus) or "none", count, width, height, source, o.rounds, "s" * (o.rounds > 1)))
        devices = o.devices if o.devices is not None else [
            ",".join(map(str, range(n))) for n in (1, 2, 4, 8) if n <= len(gpus)]
        bench = Bench(o, film, out, count)
        for vcodec in o.vcodec.split(","):
            try:
                bench.steps(vcodec)
                bench.runs(vcodec, devices)
            except Failed as failed:
                print("\n%s: failed: %s" % (vcodec, failed))
        if bench.left_out:
            print("\nLeft out, after %.0f s: %s." % (o.limit, ", ".join(dict.fromkeys(bench.left_out))))
    finally:
        if not o.folder:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
