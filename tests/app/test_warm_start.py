"""The tests' own tools: a warm start behaves like a normal one, and all seeds together draw all cases."""

import subprocess
import unittest
from unittest import mock

import common
from common import DONE, LIVENESS, LUMEQ, USAGE, Case, environment, simple, warm


@unittest.skipIf(not warm.LIBRARY, "WARM_START_LIBRARY names no library")
class WarmStart(Case):
    def both(self, *args, input=None, **more):
        """Checks that a warm run equals a normal one, and returns its result."""
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
        self.assertEqual(self.both("--version", input=10 * data).returncode, DONE)  # it does not read its input


class Shares(unittest.TestCase):
    def drawn(self, draw, seeds, **more):
        """The cases that each seed draws with $CHECK_SHORT. `more` may replace SHORT, SANITIZED and SANITIZER."""
        found = []
        for seed in range(7, 7 + seeds):
            with mock.patch.multiple(common, **{"SEED": seed, "SHORT": True, "SANITIZED": False, **more}):
                found.append(draw())
        return found

    def test_all_cases_are_drawn(self):
        """Together the seeds draw all cases, and each seed draws at least one."""
        for length in range(1, 14):
            for n in (2, 3, 4):
                for sanitized in (False, True):
                    found = self.drawn(lambda: common.share(range(length), n), 2 * n, SANITIZED=sanitized)
                    self.assertTrue(all(found), (length, n))
                    self.assertEqual(set().union(*found), set(range(length)), (length, n))
        self.assertEqual(self.drawn(lambda: common.share(range(5), 3), 1, SHORT=False), [list(range(5))])
        self.assertEqual(self.drawn(lambda: common.share((), 3), 1), [[]])

    def test_each_test_has_one_sanitizer(self):
        """With the next seed, the other sanitizer runs the test."""
        both = [self.drawn(lambda: common.is_for_another_seed("test_x.X.test_y"), 2, SANITIZED=True, SANITIZER=name)
                for name in ("asan", "tsan")]
        self.assertEqual(sorted(both), [[False, True], [True, False]])
        self.assertEqual(self.drawn(lambda: common.is_for_another_seed("test_x.X.test_y"), 2), [False, False])
