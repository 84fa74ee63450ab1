"""Shared by the tests of lumeq-bench's commands. LUMEQ_BENCH names the program."""

import csv
import io
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.abspath(os.environ.get("LUMEQ_BENCH", os.path.join(HERE, "../../build/lumeq-bench")))
sys.path.append(os.path.join(HERE, "../warm_start"))
import warm

LIVENESS = 300  # seconds; a run that takes longer hangs
SKIPPED = 77


def run(command, *args, mask=None, **more):
    env = dict(os.environ, LC_ALL="C.UTF-8")
    if mask is not None:
        env["LUMEQ_CPU_MASK"] = mask
    result = warm.run([BENCH, command] + list(args), env, timeout=LIVENESS, **more)
    result.stdout, result.stderr = (result.stdout or b"").decode(), result.stderr.decode()
    return result


class Case(unittest.TestCase):
    command = None  # the command of lumeq-bench
    quick = ()      # options that make every run short

    def bench(self, *args, **more):
        return run(self.command, *args, *self.quick, **more)

    def run_bench(self, *args, **more):
        result = self.bench(*args, **more)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def csv_rows(self, columns, *args, **more):
        """Returns a run's CSV rows after checking their columns."""
        rows = list(csv.DictReader(io.StringIO(self.run_bench(*args, "--csv", **more).stdout)))
        self.assertTrue(rows)
        for row in rows:
            self.assertEqual(list(row), columns)
        return rows

    def positive(self, row, columns):
        for column in columns:
            self.assertGreater(float(row[column]), 0, (column, row))

    def check_origin(self, row, *args):
        """Checks that a row has a date, and the machine and command of a table's heading."""
        lines = self.run_bench(*args).stdout.splitlines()
        self.assertEqual(row["command"].split()[:2], lines[0].split()[:2])
        for arg in args:
            self.assertIn(arg, row["command"])
        self.assertEqual(row["machine"], lines[1].rpartition(", ")[0])
        self.assertRegex(row["date"], r"^\d{4}-\d\d-\d\d$")

    def refused(self, *args, words):
        """Checks that the command fails without output, and with one sentence on stderr that has the words."""
        result = self.bench(*args)
        self.assertEqual(result.returncode, 1, args)
        self.assertEqual(result.stdout, "")
        lines = [l for l in result.stderr.splitlines() if "left out" not in l]
        self.assertEqual(len(lines), 1, result.stderr)
        for word in words:
            self.assertIn(word, lines[0])


def main(has_gpu):
    """Runs the classes named on the command line; class Gpu needs a GPU."""
    if not os.access(BENCH, os.X_OK):
        sys.exit("no program at %s: set LUMEQ_BENCH" % BENCH)
    if "Gpu" in sys.argv[1:] and not has_gpu():
        print("skipped: no GPU")
        sys.exit(SKIPPED)
    unittest.main()
