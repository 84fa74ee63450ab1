"""lumeq-bench histogram on few elements: `test_bench_histogram.py Cpu`, or `Gpu`, which needs one."""

import csv
import io
import json
import os
import shutil
import struct
import subprocess
import tempfile

import common

HERE = os.path.dirname(os.path.abspath(__file__))
PLOT = os.path.join(HERE, "../../samples/plot-bench.gp")

COLUMNS = ("strategy,device,elements,type,bins,content,load_factor,partition,memory,saturate,time_us,"
           "noise_percent,alone_us,gelements_per_s,gb_per_s,share_of_theoretical_percent,share_of_copy_percent,"
           "up_us,down_us,speedup,speedup_with_copies,result,machine,date,command").split(",")
ON_CPU = ("time_us", "gelements_per_s", "gb_per_s", "speedup", "speedup_with_copies")
ON_GPU = ON_CPU + ("up_us", "down_us")
CONTENTS = ["flat", "two-level", "ramp", "natural", "noise", "dark", "exposed"]
SIMPLE = ["global", "global-stride", "shared", "shared-warp", "shared-replicated", "aggregated",
          "per-thread-64"]
IN_PIECES = ["shared-replicated", "aggregated", "per-thread-64"]  # read 16 bytes at a time
ALL = ["cpu", "cpu-simd"] + SIMPLE + ["cub", "lumeq"]


def bench(*args, **more):
    return common.run("histogram", *args, **more)


def has_gpu():
    return "left out" not in bench("--elements", "1", "--check").stderr


class Case(common.Case):
    command = "histogram"

    def checked(self, *args, skipped=(), **more):
        """Returns a run's rows; all must be right, except skipped strategies."""
        rows = self.csv_rows(COLUMNS, *args, **more)
        for row in rows:
            if row["strategy"] in skipped:
                self.assertTrue(row["result"].startswith("skipped: "), row)
                self.assertEqual(row["time_us"], "")
            else:
                self.assertEqual(row["result"], "ok", row)
        return rows

    def write(self, data):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        with open(os.path.join(folder, "data"), "wb") as file:
            file.write(data)
        return file.name


class Cpu(Case):
    ON = ("--strategy", "cpu,cpu-simd")

    def test_help(self):
        result = bench("--help")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stderr, "")
        for word in ("elements", "size", "pitch", "type", "bins", "content", "saturate", "cumulate",
                     "load-factor", "partition", "memory", "device", "seed", "strategy", "sweep",
                     "check", "csv", "json"):
            self.assertIn("--" + word, result.stdout)
        for name in ALL + ["racy"]:
            self.assertIn(name, result.stdout)

    def test_contents_types_and_bins(self):
        for content in CONTENTS:
            for kind, bins in (("u8", "256"), ("u8", "3"), ("u8", "1000"), ("u16", "1024"),
                               ("u16", "4096"), ("u32", "1"), ("u32", "4096")):
                rows = self.checked(*self.ON, "--check", "--cumulate", "--size", "101x33",
                                    "--content", content, "--type", kind, "--bins", bins,
                                    skipped=["cpu-simd"] if kind == "u32" else [])
                self.assertEqual([r["strategy"] for r in rows], ["cpu", "cpu-simd"])
                for row in rows:
                    self.assertEqual((row["content"], row["type"], row["bins"], row["elements"],
                                      row["device"]), (content, kind, bins, "3333", "CPU"))

    def test_kernels_of_every_cpu(self):
        for mask in ("0", "1", "3"):
            for kind in ("u8", "u16"):
                self.checked(*self.ON, "--check", "--type", kind, "--elements", "100003",
                             "--content", "noise", mask=mask)

    def test_times(self):
        for row in self.checked(*self.ON, "--elements", "20000"):
            self.positive(row, ON_CPU)
            for column in ("up_us", "down_us", "share_of_copy_percent", "memory"):
                self.assertEqual(row[column], "")

    def test_saturated(self):
        for limit in ("1", "256", "4294967295"):
            row, _ = self.checked(*self.ON, "--check", "--elements", "30000", "--cumulate",
                                  "--saturate", limit)
            self.assertEqual(row["saturate"], limit)

    def test_gaps_are_not_counted(self):
        """All bits of the gaps are set, which is above 100 bins."""
        for kind, size in (("u8", 1), ("u16", 2), ("u32", 4)):
            for more in (0, 1, 40):
                self.checked("--strategy", "cpu", "--check", "--size", "33x9", "--bins", "100",
                             "--type", kind, "--pitch", str((33 + more) * size))

    def test_seed(self):
        for seed in ("1", "77", "9223372036854775807"):
            self.checked(*self.ON, "--check", "--elements", "1000", "--seed", seed)
        self.refused("--seed", "0", words=["--seed 0", "1 or more"])

    def test_file(self):
        text = self.write(b"the quick brown fox\n")
        row, = self.checked("--strategy", "cpu", "--check", "--content", text, "--bins", "128")
        self.assertEqual((row["elements"], row["content"]), ("20", text))
        row, = self.checked("--strategy", "cpu", "--check", "--content", text, "--elements", "777")
        self.assertEqual(row["elements"], "777")
        row, = self.checked("--strategy", "cpu", "--check", "--type", "u16", "--bins", "4096",
                            "--content", self.write(struct.pack("<3HB", 1, 4095, 0, 255)))
        self.assertEqual(row["elements"], "3")
        self.refused("--content", text, "--bins", "117", words=["element 5 is 117", "0 to 116"])
        self.refused("--content", text, "--bins", "117", "--size", "4x5", "--pitch", "9",
                     words=["element 5 is 117"])
        deep = self.write(struct.pack("<4I", 1, 4095, 4096, 7))
        self.refused("--content", deep, "--type", "u32", "--bins", "4096",
                     words=["element 2 is 4096"])

    def test_names_of_files_in_reports(self):
        """CSV and JSON are valid with any file name."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(os.fsencode(folder), b'a "b", \\c\xe9.bin')
            with open(path, "wb") as file:
                file.write(b"some text\n")
            options = ("--strategy", "cpu", "--check", "--content", path)
            row, = csv.DictReader(io.StringIO(self.run_bench(*options, "--csv").stdout))
            self.assertEqual(row["content"], folder + '/a "b", \\c?.bin')
            row, = map(json.loads, self.run_bench(*options, "--json").stdout.splitlines())
            self.assertEqual(row["content"], folder + '/a "b", \\c?.bin')
        self.refused("--content", self.write(b""), words=["element"])
        self.refused("--content", self.write(b"a"), "--type", "u16", words=["element"])
        self.refused("--content", self.write(b""), "--elements", "5", words=["element"])
        self.refused("--content", "/nonexistent", words=["/nonexistent", "noise"])

    def test_sweeps(self):
        def values(sweep, column, *args):
            return [r[column] for r in self.checked("--strategy", "cpu", "--sweep", sweep, *args)]
        self.assertEqual(values("sizes", "elements", "--elements", "20000"),
                         ["1024", "4096", "16384", "20000"])
        self.assertEqual(values("sizes", "elements", "--elements", "4096"), ["1024", "4096"])
        self.assertEqual(values("sizes", "elements", "--elements", "7"), ["7"])
        self.assertEqual(values("bins", "bins", "--elements", "999"),
                         ["2", "4", "8", "16", "32", "64", "128", "256"])
        self.assertEqual(values("bins", "bins", "--elements", "999", "--type", "u32")[-1], "4096")
        self.assertEqual(values("content", "content", "--elements", "999"), CONTENTS)
        self.assertEqual(len(values("load-factor", "load_factor", "--elements", "999")), 9)

    def test_json(self):
        args = self.ON + ("--elements", "999", "--type", "u32")
        rows = [json.loads(line) for line in self.run_bench(*args, "--json").stdout.splitlines()]
        self.tells_origin(rows[0], *args)
        self.assertEqual([list(r) for r in rows], [COLUMNS, COLUMNS])
        self.assertGreater(rows[0]["time_us"], 0)
        self.assertIsNone(rows[0]["up_us"])
        self.assertIsNone(rows[1]["time_us"])

    def test_table(self):
        lines = self.run_bench(*self.ON, "--elements", "999").stdout.splitlines()
        self.assertTrue(lines[0].startswith("lumeq-bench histogram --strategy"))
        self.assertIn("cores", lines[1])
        self.assertTrue(lines[3].startswith("strategy"))
        self.assertTrue(lines[-1].startswith("cpu-simd") and lines[-1].split()[-1] == "ok")

    def test_without_a_gpu(self):
        if has_gpu():
            self.skipTest("there is one")
        result = self.run_bench("--elements", "999", "--csv")
        self.assertEqual(len(result.stdout.splitlines()), 3)
        self.assertEqual(len(result.stderr.splitlines()), 1)
        self.assertIn("left out", result.stderr)
        for args in (("--strategy", "cub"), ("--strategy", "cpu,racy"), ("--device", "0"),
                     ("--device", "all")):
            self.refused(*args, words=["GPU"])

    def test_refused(self):
        for option, value, word in (
                ("--elements", "0", "1073741824"), ("--elements", "1073741825", "1073741824"),
                ("--elements", "x", "1073741824"), ("--size", "0x5", "65535"),
                ("--size", "5", "65535"), ("--size", "65535x65535", "1073741824"),
                ("--pitch", "0", "1048576"), ("--type", "u64", "u32"), ("--bins", "0", "4096"),
                ("--bins", "4097", "4096"), ("--content", "", "flat"), ("--saturate", "0", "1"),
                ("--load-factor", "0", "256"), ("--load-factor", "257", "256"),
                ("--partition", "x", "sectioned"), ("--memory", "x", "managed"),
                ("--device", "-1", "all"), ("--device", "x", "all"), ("--strategy", "x", "racy"),
                ("--strategy", "cpu,", "racy"), ("--strategy", "cpu:2", "racy"),
                ("--strategy", "shared-replicated:0", "256"), ("--strategy", ",".join(33 * ["cpu"]), "32"),
                ("--sweep", "x", "load-factor"), ("--sweep", "none", "load-factor")):
            with self.subTest(option + " " + value):
                self.refused(option, value, words=[option, word])
        for args, words in (
                (("--sweep", "bins", "--bins", "7"), ["--sweep bins", "--bins"]),
                (("--sweep", "content", "--content", "flat"), ["--sweep content"]),
                (("--bogus",), ["--bogus", "--help"]), (("--csv", "--size"), ["--size needs a value"]),
                (("--csv", "--json"), ["exclude"]), (("--elements", "9", "--size", "3x3"), ["exclude"]),
                (("--pitch", "9"), ["--size"]), (("--size", "9x9", "--pitch", "8"), ["less"]),
                (("--size", "9x9", "--pitch", "19", "--type", "u16"), ["multiple"]),
                (("--size", "9x9", "--sweep", "sizes"), ["--elements"]),
                (("--load-factor", "9", "--sweep", "load-factor"), ["exclude"])):
            with self.subTest(args):
                self.refused(*args, words=words)

    def test_plot(self):
        if not shutil.which("gnuplot"):
            self.skipTest("no gnuplot")
        sizes = self.write(self.run_bench(*self.ON, "--sweep", "sizes", "--elements", "9999",
                                          "--csv").stdout.encode())
        out = os.path.join(os.path.dirname(sizes), "out")
        result = subprocess.run(["gnuplot", "-e", "csv='%s'; out='%s'" % (sizes, out), PLOT],
                                stderr=subprocess.PIPE, universal_newlines=True, timeout=common.LIVENESS)
        self.assertEqual(result.returncode, 0, result.stderr)
        for kind in ("svg", "png"):
            self.assertGreater(os.path.getsize(out + "-time." + kind), 1000)


class Gpu(Case):
    def test_every_strategy(self):
        rows = self.checked("--size", "640x360", skipped=["per-thread-64"])
        self.assertEqual([r["strategy"] for r in rows], ALL)
        for row in rows[2:]:
            self.assertEqual(row["device"], "0")
            if row["time_us"]:
                self.positive(row, ON_GPU)
                self.assertLess(float(row["share_of_copy_percent"]), 1000)

    def test_types_bins_and_contents(self):
        strategies = ",".join(SIMPLE + ["cub", "shared-replicated:1", "shared-replicated:5"])
        for kind in ("u8", "u16", "u32"):
            for bins in ("1", "3", "64", "256", "1000", "4096"):
                self.checked("--strategy", strategies, "--check", "--cumulate", "--elements",
                             "100003", "--sweep", "content", "--type", kind, "--bins", bins,
                             skipped=["per-thread-64"] if int(bins) > 64 else [])

    def test_saturated(self):
        for limit in ("1", "256"):
            for bins in ("64", "256"):
                self.checked("--check", "--cumulate", "--elements", "100003", "--bins", bins,
                             "--saturate", limit,
                             skipped=["lumeq" if bins == "64" else "per-thread-64"])

    def test_pitch(self):
        for kind, size in (("u8", 1), ("u16", 2), ("u32", 4)):
            for more in (0, 1, 15, 64):
                self.checked("--strategy", ",".join(SIMPLE + ["cub"]), "--check", "--size", "333x77",
                             "--type", kind, "--bins", "50", "--pitch", str((333 + more) * size))
        for more in (0, 1, 3):
            self.checked("--strategy", "lumeq", "--check", "--size", "333x77", "--pitch",
                         str(333 + more))

    def test_lumeq(self):
        for kind, bins in (("u8", "256"), ("u16", "1024"), ("u16", "4096")):
            for elements in ("1", "15", "100003"):
                self.checked("--strategy", "lumeq", "--check", "--cumulate", "--type", kind,
                             "--bins", bins, "--sweep", "content", "--elements", elements)

    def test_load_factors_and_partitions(self):
        for partition in ("interleaved", "sectioned"):
            for factor in ("1", "7", "256"):
                rows = self.checked("--strategy", ",".join(SIMPLE), "--check", "--elements", "100003",
                                    "--bins", "64", "--load-factor", factor, "--partition", partition)
                for row in rows:
                    most = -(-int(factor) // 16) * 16 if row["strategy"] in IN_PIECES else int(factor)
                    self.assertEqual((row["load_factor"], row["partition"]), (str(most), partition))
        for row in self.checked("--strategy", "cub,lumeq", "--check", "--load-factor", "7"):
            self.assertEqual(row["load_factor"], "")

    def test_memory(self):
        for memory in ("pinned", "pageable", "managed"):
            rows = self.checked("--strategy", "shared,cub,lumeq", "--size", "640x360", "--cumulate",
                                "--memory", memory)
            for row in rows:
                self.assertEqual(row["memory"], memory)
                self.positive(row, ON_GPU)

    def test_racy_is_not_wrong(self):
        row, = self.csv_rows(COLUMNS, "--strategy", "racy", "--elements", "1000003", "--content", "flat")
        self.assertRegex(row["result"], r"^[0-9]+ of 1000003 counts lost$")

    def test_too_many_copies(self):
        row, = self.csv_rows(COLUMNS, "--strategy", "shared-replicated:256", "--elements", "99", "--type",
                             "u16", "--bins", "4096")
        self.assertRegex(row["result"], "^skipped: 256 tables of 4096 bins")

    def test_all_devices(self):
        rows = self.checked("--strategy", "cub,lumeq", "--size", "640x360", "--device", "all")
        count = len(rows) // 2 - 1
        for part in (rows[:count + 1], rows[count + 1:]):
            self.assertEqual([r["device"] for r in part], [str(i) for i in range(count)] + ["all"])
            total = sum(float(r["gelements_per_s"]) for r in part[:-1])
            self.assertAlmostEqual(float(part[-1]["gelements_per_s"]), total, delta=0.002 * count)

    def test_no_such_device(self):
        self.refused("--device", "200", words=["no GPU 200"])


if __name__ == "__main__":
    common.main(has_gpu)
