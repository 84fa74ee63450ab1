"""Shared by the trials: selects a round's cases, runs the program, and checks each run."""

import atexit
import collections
import os
import random
import re
import shutil
import subprocess
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../app"))
from common import *
import common
import window
from modes import MODES

ONLY = os.environ.get("HARD_ONLY", "")  # run only cases with this text in their name
NAMES = {DONE: "done", USAGE: "usage", INPUT: "input refused", OUTPUT: "output failed", INTERRUPTED: "interrupted",
         DAMAGED: "damaged", -9: "killed", -6: "FFmpeg's assertion"}
counts = collections.Counter()


@atexit.register
def print_counts():
    """Prints the counts that run.sh adds up."""
    if counts:
        print("TRIALS %s: %d runs: %s" % (
            os.path.basename(sys.argv[0] if "unittest" not in sys.argv[0] else sys.argv[-1]), sum(counts.values()),
            ", ".join("%d %s" % (n, NAMES.get(code, "exit code %s" % code)) for code, n in sorted(counts.items(), key=str))), flush=True)


def drawn(cases, n):
    """Yields (case, its random generator) for one in n of the cases. CHECK_SEED is the number of the round; n rounds in a
    row take all cases."""
    n *= 2 if SANITIZED else 1
    for i, case in enumerate(cases):
        name = " ".join(map(str, case))
        if ONLY and ONLY not in name or not ONLY and zlib.crc32(name.encode()) % n != SEED % n:
            continue
        yield case, random.Random("%s %d" % (name, SEED // n))


class Trial(Case):
    halved = False

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = None

    @classmethod
    def tearDownClass(cls):
        if cls.server:
            cls.server.close()
        super().tearDownClass()

    def work(self):
        """An empty folder for a run."""
        path = self.path("w")
        shutil.rmtree(path, ignore_errors=True)
        os.mkdir(path)
        return path

    def command(self, mode, source, good=None):
        words = MODES[mode].command.split()
        return [source if w == "{in}" else good if w == "{good}" else w for w in words] + ["-q"]

    def environment(self, mode):
        if mode != "window":
            return environment()
        if not self.server:
            type(self).server = window.Server()
        return dict(environment(), DISPLAY=self.server.display, SDL_VIDEODRIVER="x11", SDL_AUDIODRIVER="dummy",
                    WARM_START_OPENS=window.DRIVER, ASAN_OPTIONS=environment()["ASAN_OPTIONS"] + ":detect_leaks=0")

    def started(self, mode, words, folder, source, env=None):
        """Starts a run of a mode in a folder."""
        stdin = open(source, "rb") if MODES[mode].stdin else subprocess.DEVNULL
        out = open(self.path("piped"), "wb")
        try:
            return warm.start([LUMEQ, *words], env or self.environment(mode), stdin=stdin, stdout=out,
                              stderr=subprocess.PIPE, cwd=folder)
        finally:
            out.close()
            if stdin != subprocess.DEVNULL:
                stdin.close()

    def judge(self, process, allowed, least=1, most=1):
        """Waits for the end of a run, which must end in time with an allowed exit code. A failing run must print `least` to
        `most` messages, a successful run none. A usage error that names an option of the run is also allowed."""
        result = finish(process)
        counts[result.code] += 1
        lines = [re.sub(r"\x1b\[[\d;]*m", "", line) for line in result.lines if not line.startswith("fault: ")]
        words = [re.escape(os.fsdecode(w).partition("=")[0]) for w in result.args[1:] if os.fsdecode(w).startswith("--")]
        if result.code == USAGE and words and re.search("(%s)\\b" % "|".join(words), result.err):
            allowed = (USAGE,)
        self.assertIn(result.code, allowed, str(result))
        for line in lines:
            self.assertTrue(line.startswith("lumeq: "), str(result))
        self.assertTrue(least <= len(lines) <= most if result.code else not lines, str(result))
        return result

    def is_whole(self, path):
        """True if a finished output can be read to its end."""
        name = re.sub(r"^\.(.*)\.lumeq-[0-9a-f]{8}\.part$", r"\1", os.path.basename(path))
        data = read_bytes(path)
        if name.endswith(".html"):
            return data.endswith(b"</html>\n")
        if name.endswith(".csv"):
            return data.endswith(b"\n") and data.count(b"\n") > 1
        if name.startswith(".lumeq-pieces-"):  # the list for --keep
            return data.endswith(b"\0")
        if name.endswith(".png"):
            return data.endswith(b"IEND\xaeB`\x82")
        return ffmpeg("-xerror", "-i", path, "-map", "0:v:0", "-f", "null", "-") == b""

    def outputs(self, mode, folder):
        """Returns all files in a run's folder. Fails if one of them is no output of the mode."""
        left = sorted(os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names)
        strange = [name for name in left if not re.fullmatch(MODES[mode].files, name)]
        self.assertEqual(strange, [], "files that are left over")
        return left

    def complete(self, mode, folder):
        """Checks the output of a successful run."""
        names = self.outputs(mode, folder)
        self.assertGreaterEqual(len(names), MODES[mode].least, "the output is missing")
        for name in names:
            self.assertTrue(self.is_whole(os.path.join(folder, name)), name)
        return names
