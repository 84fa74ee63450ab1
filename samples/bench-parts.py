#!/usr/bin/env python3
"""What a film in parts costs and gains, against one run: frames a second, processor time, memory; and of each step.

Takes the program and a clip, and nothing else: the film is the clip's pictures again and again, which the program
itself decodes and encodes. Prints tables in Markdown. On a machine that does other things, too, only shares of
processor time compare."""

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
# The film's encoder: the first that is there. Parts are short here, and so are groups of pictures.
SOURCES = (("libx264", "--preset", "ultrafast", "--crf", "20", "--vopt", "g=12"), ("mpeg4", "--vopt", "g=12"))
LOOK = 0.2  # seconds between looks at memory


def cores():
    return len(os.sched_getaffinity(0))


def numbers(text):
    return [int(n) for n in text.split(",") if n]


def arguments():
    halves = [2**i for i in range(10) if 2**i <= cores()]
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("lumeq", help="the program")
    p.add_argument("--clip", default=SAMPLE, help="of 8 bits, 4:2:0 [the sample clip]")
    p.add_argument("--folder", help="where films go, and the first stays [a temporary folder]")
    p.add_argument("--seconds", type=float, default=40, help="of the film [40]")
    p.add_argument("--tile", type=int, default=1, help="the picture so many times across and down: 3 makes 4K of 720p [1]")
    p.add_argument("--vcodec", default="ffv1", help="encoders, of which one that is missing is left out [ffv1]")
    p.add_argument("--jobs", type=numbers, default=halves, help="parts at a time, one job each [1,2,4... cores]")
    p.add_argument("--devices", nargs="*", help="GPUs, one job for each list: 0 0,1 [1, 2, 4... of them]")
    p.add_argument("--parts", type=numbers, default=[1, 2, 4, 8], help="step by step, one film each [1,2,4,8]")
    p.add_argument("--rounds", type=int, default=1, help="medians of so many, shares within each [1]")
    p.add_argument("--limit", type=float, default=170, help="seconds after which nothing more is begun [170]")
    return p.parse_args()


# ---- runs ----


def tree(pid):
    """A process and those below it."""
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
    """Bytes of it and those below it; what they share counts once."""
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
    """What runs of the program took together: seconds, processor seconds, MiB of the largest process and of all."""

    def __init__(self, lumeq):
        self.lumeq = lumeq
        self.seconds = self.processor = self.largest = self.all = 0

    def __call__(self, *commands, at_a_time=1):
        """All of them; answers the processor time."""
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
    """A frame of planar 4:2:0, so many times across and down."""
    planes, at = [], 0
    for w, h in ((width, height), ((width + 1) // 2, (height + 1) // 2), ((width + 1) // 2, (height + 1) // 2)):
        rows = b"".join(frame[at + y * w:at + (y + 1) * w] * times for y in range(h))
        planes.append(rows * times)
        at += w * h
    return b"".join(planes)


def write_film(o, to):
    """Frames of the clip into a program that reads y4m, until there are enough; answers how many."""
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
    """By the first encoder that is there; answers how many frames it has, and of which size."""
    for encoder in SOURCES:
        if subprocess.run([o.lumeq, o.clip, "-o", path, "-y", "--frames", "1", "--mode", "off", "--vcodec", *encoder, *QUIET],
                          stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0:
            break
    else:
        sys.exit("none of these encoders is there: %s" % ", ".join(s[0] for s in SOURCES))
    with subprocess.Popen([o.lumeq, "-", "-o", path, "-y", "--mode", "off", "--vcodec", *encoder, *QUIET],
                          stdin=subprocess.PIPE) as film:
        made = write_film(o, film.stdin)
    if film.returncode:
        sys.exit("the film cannot be made")
    return made + (encoder[0],)


# ---- what is measured ----


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
        """The whole film: frames a second, processor seconds, MiB of the largest process and of all, bytes."""
        cost = Cost(self.o.lumeq)
        cost((self.film, "-o", self.out, "-y", *QUIET, *options))
        size = os.path.getsize(self.out)
        os.unlink(self.out)
        return [self.count / cost.seconds, cost.processor, cost.largest, cost.all, size / 1e6]

    def measuring(self, options):
        """Processor time of the measuring pass alone: of a plan that was only listed, with one part."""
        cost = Cost(self.o.lumeq)
        cost(("plan", self.film, *options, "--no-measure", "--parts", 1))
        took = cost(("measure", self.out + ".lumeq/plan", 0, "--backend", "cpu"))
        shutil.rmtree(self.out + ".lumeq")
        return took

    def in_parts(self, options, parts):
        """Step by step: the whole, and the processor time of the plan, the parts and the join."""
        cost, plan = Cost(self.o.lumeq), self.out + ".lumeq/plan"
        planned = cost(("plan", self.film, *options, "--parts", parts, "--backend", "cpu"))
        written = cost(*(("segment", plan, i, "--backend", "cpu") for i in range(parts)), at_a_time=cores())
        joined = cost(("join", plan))
        os.unlink(self.out)
        return cost, planned, written, joined

    def kinds(self, vcodec, devices):
        """Names and options of the runs."""
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
        print("\n| %s, step by step | processor time: all; plan; parts; join | plan and join beyond measuring |\n"
              "|---|---|---|" % vcodec)
        print("| one run | %.1f s, of which measuring %.1f %% | |" % tuple(medians(firsts)))
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
        print("%s; GPUs: %s. A film of %d frames, %dx%d, %s.\nProcessor times of steps are shares of one run's, within a round; %d "
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
