#!/usr/bin/env python3
"""What a film in parts costs, against one run: time, processor time and memory of each step.

Needs ffmpeg. Prints a table in Markdown. On a machine that does other things, too, only the processor times compare."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLE = os.path.join(HERE, "lumeq-sample.mkv")


def arguments():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("lumeq", help="the program")
    p.add_argument("--folder", help="where the films go [a temporary folder]")
    p.add_argument("--seconds", type=int, default=40, help="of the film, which is the sample clip again and again [40]")
    p.add_argument("--size", default="1280x720", help="of its pictures [1280x720]")
    p.add_argument("--vcodec", default="libx264", help="[libx264]")
    p.add_argument("--parts", default="1,2,4,8", help="how many, one film each [1,2,4,8]")
    p.add_argument("--rounds", type=int, default=3, help="shares are the medians of so many, each within its round [3]")
    p.add_argument("--at-a-time", type=int, default=os.cpu_count(), help="processes that write parts [one a core]")
    return p.parse_args()


class Steps:
    """Runs of the program, and what they took together."""

    def __init__(self, lumeq):
        self.lumeq = lumeq
        self.seconds = self.processor = self.memory = 0

    def __call__(self, *commands, at_a_time=1):
        """All of them; answers how long that took, and how much processor time."""
        begin, processor, left, running = time.monotonic(), 0, list(commands), {}
        while left or running:
            while left and len(running) < at_a_time:
                command = [self.lumeq, *map(str, left.pop(0))]
                running[subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL).pid] = command
            pid, status, usage = os.wait4(-1, 0)
            command = running.pop(pid)
            if status:
                sys.exit("failed: %s" % " ".join(command))
            processor += usage.ru_utime + usage.ru_stime
            self.memory = max(self.memory, usage.ru_maxrss / 1024)
        took = time.monotonic() - begin
        self.seconds += took
        self.processor += processor
        return took, processor


def median(numbers):
    numbers = sorted(numbers)
    return (numbers[(len(numbers) - 1) // 2] + numbers[len(numbers) // 2]) / 2


def measuring(lumeq, film, out, options):
    """Processor time of the measuring pass alone: of a plan that was only listed, with one part."""
    steps = Steps(lumeq)
    steps(("plan", film, *options, "--no-measure", "--parts", 1))
    took = steps(("measure", out + ".lumeq/plan", 0))
    shutil.rmtree(out + ".lumeq")
    return took[1]


def in_parts(lumeq, film, out, options, parts, at_a_time):
    """The steps together, and the processor time of the plan, the parts and the join."""
    job, plan = Steps(lumeq), out + ".lumeq/plan"
    planned = job(("plan", film, *options, "--parts", parts))
    written = job(*(("segment", plan, i) for i in range(parts)), at_a_time=at_a_time)
    joined = job(("join", plan))
    return job, (planned[1], written[1], joined[1])


def main():
    o = arguments()
    folder = o.folder or tempfile.mkdtemp(prefix="lumeq-parts-")
    film, out = os.path.join(folder, "film.mkv"), os.path.join(folder, "out.mkv")
    if not os.path.exists(film):
        subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", "-stream_loop", "-1", "-i", SAMPLE, "-map", "0:v",
                        "-map", "0:a", "-t", str(o.seconds), "-s", o.size, "-preset", "fast", "-c:a", "copy", film],
                       check=True)
    options = ("-o", out, "-y", "--no-config", "--vcodec", o.vcodec)
    rows, firsts = {}, []
    for number in range(o.rounds):
        print("round %d of %d" % (number + 1, o.rounds), file=sys.stderr)
        one = Steps(o.lumeq)
        one((film, *options, "--two-pass", "on"))
        size = os.path.getsize(out)
        os.unlink(out)
        measured = measuring(o.lumeq, film, out, options)
        firsts.append((one.seconds, one.processor, one.memory, size / 1e6, 100 * measured / one.processor))
        for parts in map(int, o.parts.split(",")):
            job, shares = in_parts(o.lumeq, film, out, options, parts, o.at_a_time)
            beyond = shares[0] - measured + shares[2]
            rows.setdefault(parts, []).append(
                [100 * job.seconds / one.seconds] +
                [100 * x / one.processor for x in (job.processor, *shares, beyond)] +
                [100 * job.memory / one.memory, 100 * os.path.getsize(out) / size])
            os.unlink(out)
    print("| | wall clock | processor time: all; plan; parts; join | plan and join beyond measuring | memory of a process "
          "| bytes |")
    print("|---|---|---|---|---|---|")
    print("| one run | %.1f s | %.1f s | | %.0f MiB | %.2f MB |" % tuple(map(median, list(zip(*firsts))[:4])))
    print("| its measuring | | %.1f %% | | | |" % median([f[4] for f in firsts]))
    for parts, found in rows.items():
        print("| %d part%s | %.0f %% | %.0f; %.1f; %.1f; %.1f %% | %.1f %% | %.0f %% | %.1f %% |" % (
            parts, "s" * (parts > 1), *map(median, zip(*found))))


if __name__ == "__main__":
    main()
