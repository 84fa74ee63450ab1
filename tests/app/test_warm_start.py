"""The tests' own tools: a warm start behaves like a normal one, and the shares of cases of all seeds cover all
cases."""

import os
import signal
import subprocess
import time
import unittest
from unittest import mock

import common
from common import DONE, LIVENESS, LUMEQ, USAGE, Case, environment, simple, warm


@unittest.skipIf(not warm.LIBRARY, "WARM_START_LIBRARY names no library")
class WarmStart(Case):
    def both(self, *args, input=None, **more):
        """A warm run, which must equal a normal one."""
        args = [LUMEQ] + list(args)
        if "stdin" not in more and input is None:
            more["stdin"] = subprocess.DEVNULL
        result = warm.run(args, environment(), input=input, timeout=LIVENESS, **more)
        if more.get("stdout"):
            more["stdout"].seek(0)
        fresh = subprocess.run(args, input=input, stderr=subprocess.PIPE, env=environment(), timeout=LIVENESS,
                               **dict({"stdout": subprocess.PIPE}, **more))
        self.assertEqual((result.returncode, result.stdout), (fresh.returncode, fresh.stdout))
        self.assertEqual(result.stderr.decode()[:20], fresh.stderr.decode()[:20])
        self.assertIn(LUMEQ, [path for path, _ in warm.programs])
        return result

    def test_code_and_output(self):
        self.assertEqual(self.both("--version").returncode, DONE)
        self.assertEqual(self.both("--nonsense").returncode, USAGE)
        self.assertEqual(self.both("").returncode, USAGE)
        self.assertEqual(self.both().returncode, USAGE)

    def test_pipes_and_files(self):
        with open(simple(), "rb") as f, open(self.path("out.y4m"), "w+b") as out:
            data = f.read()
            f.seek(0)
            self.both(simple(), "-o", "-", "-q", stdout=out)
            self.assertEqual(self.read("out.y4m"), self.both(simple(), "-o", "-", "-q").stdout)
            self.assertEqual(warm.run([LUMEQ, "-", "--null"], environment(), stdin=f).returncode, DONE)
        self.assertEqual(self.both("-", "-o", "-", "-q", input=data).stdout, self.read("out.y4m"))
        self.assertEqual(self.both("--version", input=10 * data).returncode, DONE)  # nobody reads it

    def test_folder(self):
        os.link(simple(), self.path("here.mp4"))
        self.assertEqual(self.both("here.mp4", "--null", "-q", cwd=self.folder).returncode, DONE)

    def test_environment(self):
        """A run's environment is its own, and does not stay for the next."""
        self.both("--version")
        os.makedirs(self.path("lumeq"))
        self.write("lumeq/config", b"nonsense = 1\n")
        here = dict(environment(), XDG_CONFIG_HOME=self.folder)
        without = {name: value for name, value in here.items() if name != "XDG_CONFIG_HOME"}
        without["HOME"] = "/nonexistent"
        for env, code in ((here, USAGE), (without, DONE), (environment(), DONE)):
            result = warm.run([LUMEQ, simple(), "--null"], env)
            self.assertEqual((result.returncode, b"nonsense" in result.stderr), (code, code == USAGE))
        program = warm.find(LUMEQ, environment())
        self.assertIs(warm.find(LUMEQ, without), program)
        self.assertEqual(program.differing(dict(program.env, HOME="/nonexistent")), ["HOME=/nonexistent"])
        self.assertIsNot(warm.find(LUMEQ, dict(without, LD_BIND_NOW="1")), program)
        self.assertIsNone(warm.find(LUMEQ, dict(without, FAULT_ALLOC="1")))

    def test_a_tool(self):
        """Its output is complete, although destructors are skipped."""
        for args, code in ((("ffmpeg", "-v", "error", "-i", simple(), "-f", "rawvideo", "-"), 0),
                           (("ffprobe", "-v", "error", "-show_packets", simple()), 0),
                           (("ffprobe", "-v", "error", self.path("nothing")), 1)):
            with self.subTest(args[0], code=code):
                fresh = subprocess.run(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                result = warm.run(list(args), dict(os.environ))
                self.assertEqual((result.returncode, result.stdout), (code, fresh.stdout))
                self.assertEqual(result.stderr, fresh.stderr)

    def test_open_libraries(self):
        """Libraries are opened before the program needs them; missing ones are no failure."""
        env = dict(environment(), WARM_START_OPENS="/nonexistent.so:libanl.so.1")
        for env, there in ((env, True), (environment(), False)):
            process = warm.start([LUMEQ, "-", "--null"], env, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
            self.catches(process, signal.SIGTERM)
            with open("/proc/%d/maps" % process.pid, encoding="utf-8") as f:
                self.assertEqual("libanl" in f.read(), there)
            process.communicate(timeout=LIVENESS)

    def test_runs_beside_each_other(self):
        """Each run has its own status, and signals reach only their run."""
        process = {}
        for name in ("one", "other"):
            os.mkfifo(self.path(name))
            process[name] = warm.start([LUMEQ, self.path(name), "--null"], environment(), stdin=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE)
            self.catches(process[name], signal.SIGTERM)
        self.assertEqual(self.both("--version").returncode, DONE)
        with self.assertRaises(subprocess.TimeoutExpired):
            process["one"].wait(0.1)
        process["one"].kill()
        self.assertEqual(process["one"].wait(LIVENESS), -signal.SIGKILL)
        self.assertIsNone(process["other"].poll())
        process["other"].terminate()
        out, err = process["other"].communicate(timeout=LIVENESS)
        self.assertEqual((process["other"].returncode, out), (common.INTERRUPTED, None), err)
        process["other"].terminate()  # which is no error
        process["one"].stderr.close()

    def test_hangs(self):
        os.mkfifo(self.path("nobody.mkv"))
        start = time.monotonic()
        with self.assertRaises(subprocess.TimeoutExpired):
            warm.run([LUMEQ, self.path("nobody.mkv"), "--null"], environment(), timeout=0.3)
        self.assertLess(time.monotonic() - start, LIVENESS)
        self.assertEqual(self.both("--version").returncode, DONE)


class Shares(unittest.TestCase):
    def drawn(self, draw, seeds, **more):
        """The cases drawn by each seed, with $CHECK_SHORT or, by `more`, with a sanitizer."""
        found = []
        for seed in range(7, 7 + seeds):
            with mock.patch.multiple(common, **{"SEED": seed, "SHORT": True, "SANITIZED": False, **more}):
                found.append(draw())
        return found

    def test_all_cases_are_drawn(self):
        """Together they are all, and no seed draws none."""
        for length in range(1, 14):
            for n in (2, 3, 4):
                for sanitized in (False, True):
                    found = self.drawn(lambda: common.share(range(length), n), 2 * n, SANITIZED=sanitized)
                    self.assertTrue(all(found), (length, n))
                    self.assertEqual(set().union(*found), set(range(length)), (length, n))
        self.assertEqual(self.drawn(lambda: common.share(range(5), 3), 1, SHORT=False), [list(range(5))])
        self.assertEqual(self.drawn(lambda: common.share((), 3), 1), [[]])

    def test_each_test_has_one_sanitizer(self):
        """With the next seed it has the other one."""
        both = [self.drawn(lambda: common.is_for_another_seed("test_x.X.test_y"), 2, SANITIZED=True, SANITIZER=name)
                for name in ("asan", "tsan")]
        self.assertEqual(sorted(both), [[False, True], [True, False]])
        self.assertEqual(self.drawn(lambda: common.is_for_another_seed("test_x.X.test_y"), 2), [False, False])
