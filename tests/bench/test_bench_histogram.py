"""lumeq-bench histogram on small pictures. The argument Cpu or Gpu selects the tests; Gpu needs a GPU."""

import os
import shutil
import subprocess
import tempfile

import common

HERE = os.path.dirname(os.path.abspath(__file__))
PLOT = os.path.join(HERE, "../../samples/plot-bench.gp")

COLUMNS = ("strategy,device,size,elements,depth,content,time_us,noise_percent,gb_per_s,"
           "speedup,machine,date,command").split(",")
TIMES = ("time_us", "gb_per_s", "speedup")
CONTENTS = ["flat", "two-level", "ramp", "natural", "noise", "dark", "exposed"]
ALL = ["cpu", "cpu-simd", "cub", "lumeq"]


def has_gpu():
    return "left out" not in common.run("histogram", "--size", "1x1", "--check").stderr


class Case(common.Case):
    command = "histogram"

    def rows(self, *args, **more):
        """Returns a run's rows. The program checks the counts before it prints a row."""
        return self.csv_rows(COLUMNS, *args, **more)


class Cpu(Case):
    ON = ("--strategy", "cpu,cpu-simd")

    def test_help(self):
        result = self.bench("--help")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for word in ["--" + o for o in "size content depth device seed strategy check csv".split()] + ALL:
            self.assertIn(word, result.stdout)

    def test_contents_and_depths(self):
        for depth in ("8", "10", "12"):
            rows = self.rows(*self.ON, "--check", "--size", "101x33,1x1", "--content", ",".join(CONTENTS),
                             "--depth", depth)
            self.assertEqual([(r["size"], r["content"], r["strategy"]) for r in rows],
                             [(s, c, k) for s in ("101x33", "1x1") for c in CONTENTS for k in ("cpu", "cpu-simd")])
            self.assertEqual({(r["depth"], r["device"]) for r in rows}, {(depth, "CPU")})
            self.assertEqual({r["elements"] for r in rows}, {"3333", "1"})

    def test_kernels_of_every_cpu(self):
        for mask in ("0", "1", "3"):
            for depth in ("8", "10"):
                self.rows(*self.ON, "--check", "--depth", depth, "--size", "333x301", "--content", "noise", mask=mask)

    def test_times(self):
        for row in self.rows(*self.ON, "--size", "200x100"):
            self.positive(row, TIMES)

    def test_origin(self):
        args = self.ON + ("--size", "40x30")
        self.check_origin(self.rows(*args)[0], *args)

    def test_table(self):
        lines = self.run_bench(*self.ON, "--size", "40x30").stdout.splitlines()
        self.assertTrue(lines[0].startswith("lumeq-bench histogram --strategy"))
        self.assertIn("cores", lines[1])
        self.assertTrue(lines[3].startswith("strategy"))
        self.assertTrue(lines[-1].startswith("cpu-simd"))

    def test_without_a_gpu(self):
        if has_gpu():
            self.skipTest("there is a GPU")
        result = self.run_bench("--size", "40x30", "--csv")
        self.assertEqual(len(result.stdout.splitlines()), 3)
        self.assertEqual(len(result.stderr.splitlines()), 1)
        self.assertIn("left out", result.stderr)
        self.refused("--strategy", "cpu,cub", words=["needs a GPU"])

    def test_refused(self):
        for option, value, word in (
                ("--size", "0x5", "65535"), ("--size", "5", "65535"), ("--size", "65535x65535", "536870912"),
                ("--depth", "16", "8|10|12"), ("--content", "nosuch", "flat"), ("--device", "-1", "255"),
                ("--seed", "0", "1 or more"), ("--strategy", "x", "lumeq"), ("--strategy", "cpu,", "lumeq")):
            with self.subTest(option + " " + value):
                self.refused(option, value, words=[option, word])
        for args, words in ((("--bogus",), ["--bogus", "--help"]), (("--csv", "--size"), ["--size needs a value"])):
            self.refused(*args, words=words)

    def test_plot(self):
        if not shutil.which("gnuplot"):
            self.skipTest("no gnuplot")
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        sizes, out = os.path.join(folder, "sizes.csv"), os.path.join(folder, "out")
        with open(sizes, "w") as file:
            file.write(self.run_bench(*self.ON, "--size", "32x32,64x64,99x99", "--csv").stdout)
        result = subprocess.run(["gnuplot", "-e", "csv='%s'; out='%s'" % (sizes, out), PLOT],
                                stderr=subprocess.PIPE, universal_newlines=True, timeout=common.LIVENESS)
        self.assertEqual(result.returncode, 0, result.stderr)
        for kind in ("svg", "png"):
            self.assertGreater(os.path.getsize(out + "-time." + kind), 1000)


class Gpu(Case):
    def test_every_strategy(self):
        rows = self.rows("--size", "640x360")
        self.assertEqual([r["strategy"] for r in rows], ALL)
        for row in rows[2:]:
            self.assertEqual(row["device"], "0")
            self.positive(row, TIMES)

    def test_depths_sizes_and_contents(self):
        for depth in ("8", "10", "12"):
            for content in CONTENTS:
                self.rows("--check", "--size", "1x1,5x3,333x301", "--content", content, "--depth", depth)

    def test_no_such_device(self):
        self.refused("--device", "200", words=["no GPU 200"])


if __name__ == "__main__":
    common.main(has_gpu)
