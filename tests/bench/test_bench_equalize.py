"""lumeq-bench equalize on small pictures: `test_bench_equalize.py Cpu`, or `Gpu`, which needs one."""

import json
import os
import tempfile

import common

QUICK = ("--seconds", "0.01")
SEED = int(os.environ.get("CHECK_SEED", "0"), 0)

FIRST = ("size,content,backend,cpu_total_us,upload_us,histogram_us,curve_us,apply_us,download_us,"
         "gpu_total_us,copy_us").split(",")
OTHERS = ("mode,depth,threads,device,load_factor,batch,multiple_of_copy,latency_us,gpu_spread_us,"
          "histogram_curve_us,chroma_us,resident_us,host_total_us,frames_per_s,"
          "duplex_frames_per_s,share_of_duplex,linearity,checked,machine,date,command").split(",")
COPIES = ("upload_us", "download_us", "copy_us", "histogram_us", "host_total_us")
STEPS = ("apply_us", "gpu_total_us", "latency_us", "multiple_of_copy")  # of kernels alone


def bench(*args, **more):
    return common.run("equalize", *args, **more)


def has_gpu():
    return "left out" not in bench("--size", "16x16", "--content", "flat", *QUICK).stderr


class Case(common.Case):
    command = "equalize"
    quick = QUICK

    def rows(self, *args, **more):
        """Returns a run's CSV rows; all of them must be checked."""
        rows = self.csv_rows(FIRST + OTHERS, *args, **more)
        for row in rows:
            self.assertEqual(row["checked"], "yes", row)
        return rows

    def unmeasured(self, row, columns):
        for column in columns:
            self.assertEqual(row[column], "", (column, row))


class Cpu(Case):
    ON = ("--backend", "cpu")

    def test_help_names_every_column(self):
        result = bench("--help")
        self.assertEqual(result.returncode, 0)
        for column in set(FIRST + OTHERS) - {"size", "content", "backend", "mode", "depth", "threads",
                                             "device", "load_factor", "batch", "share_of_duplex"}:
            self.assertIn(column, result.stdout)
        for option in ("--sizes", "--size", "--content", "--backend", "--modes", "--threads",
                       "--load-factor", "--batch", "--depth", "--device", "--seconds", "--seed", "--csv", "--json"):
            self.assertIn(option, result.stdout)

    def test_every_content_and_mode(self):
        modes = ["global", "clahe", "stretch", "off", "reference", "clahe-reference"]
        contents = ["flat", "two-level", "ramp", "natural", "noise", "dark", "exposed"]
        sizes = ["33x17", "200x100"]
        if "CHECK_SHORT" in os.environ:
            sizes = [sizes[SEED % 2]]
        rows = self.rows(*self.ON, "--sizes", ",".join(sizes), "--content", ",".join(contents),
                         "--modes", ",".join(modes))
        self.assertEqual([(r["size"], r["content"], r["mode"]) for r in rows],
                         [(s, c, m) for s in sizes for c in contents for m in modes])
        for row in rows:
            self.positive(row, ("cpu_total_us", "chroma_us", "frames_per_s"))
            self.unmeasured(row, STEPS + ("resident_us", "histogram_us", "curve_us", "device", "linearity"))

    def test_depths_and_threads(self):
        """Depth 8, and one of the deeper ones, chosen by the seed."""
        for depth in ("8", ("10", "12", "16")[SEED % 3]):
            rows = self.rows(*self.ON, "--size", "640x360", "--content", "noise", "--depth", depth,
                             "--modes", "global,clahe", "--threads", "1,3")
            self.assertEqual([r["threads"] for r in rows], ["1", "3", "1", "3"])
            self.assertEqual({r["depth"] for r in rows}, {depth})

    def test_file(self):
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "text")
            with open(name, "w") as file:
                file.write("the quick brown fox jumps over the lazy dog\n")
            for depth in ("8", "12"):
                row, = self.rows(*self.ON, "--size", "40x30", "--content", name, "--depth", depth)
                self.assertEqual(row["content"], name)

    def test_json(self):
        args = self.ON + ("--size", "40x30", "--content", "ramp,noise")
        result = self.run_bench(*args, "--json")
        rows = [json.loads(line) for line in result.stdout.splitlines()]
        self.tells_origin(rows[0], *args)
        self.assertEqual(len(rows), 2)
        for row in rows:
            self.assertEqual(list(row), FIRST + OTHERS)
            self.assertGreater(row["cpu_total_us"], 0)
            self.assertIsNone(row["gpu_total_us"])

    def test_table(self):
        lines = self.run_bench(*self.ON, "--size", "40x30", "--content", "ramp").stdout.splitlines()
        self.assertTrue(lines[0].startswith("lumeq-bench equalize --backend cpu"))
        self.assertIn("cores", lines[1])
        self.assertIn("40x30", lines[-1])

    def test_without_a_gpu(self):
        if has_gpu():
            self.skipTest("there is one")
        result = self.run_bench("--size", "40x30", "--content", "flat")
        self.assertEqual(len(result.stderr.splitlines()), 1)
        self.assertIn("naive, improved and cuda are left out", result.stderr)
        self.refused("--backend", "cuda", words=["cuda"])
        self.refused("--backend", "cpu,naive", words=["naive"])

    def test_refused(self):
        for option, value, word in (
                ("--sizes", "640x", "1920x1080"), ("--size", "0x5", "1920x1080"),
                ("--sizes", "64x64,", "1920x1080"), ("--size", "65536x1", "65535"),
                ("--size", "65535x65535", "2147483647"), ("--content", "nosuch", "flat"),
                ("--content", "", "flat"), ("--backend", "gpu", "naive"),
                ("--modes", "histeq", "stretch"), ("--threads", "257", "256"),
                ("--threads", "1,x", "256"), ("--load-factor", "0", "256"),
                ("--load-factor", "257", "256"), ("--depth", "9", "10"), ("--device", "-1", "all"),
                ("--device", "x", "all"), ("--seed", "0", "1"),
                ("--seconds", "nan", "0.01"), ("--seconds", "0", "0.01"),
                ("--sizes", "1x1x1", "1920x1080")):
            with self.subTest(option + " " + value):
                result = bench(option, value)
                self.assertEqual(result.returncode, 1)
                self.assertIn(word, result.stderr.splitlines()[-1])
        for args, words in ((("--modes", "reference", "--depth", "10"), ["reference", "--depth 8"]),
                            (("--backend", "naive", "--depth", "16"), ["naive", "--depth 8"]),
                            (("--bogus",), ["--bogus", "--help"])):
            self.refused(*args, words=words)
        self.assertIn("--size needs a value", bench("--csv", "--size").stderr)



class Gpu(Case):
    ON = ("--backend", "naive,improved,cuda")

    def check_row(self, row):
        self.positive(row, COPIES)
        self.unmeasured(row, ("cpu_total_us", "chroma_us", "threads"))
        if row["backend"] == "cuda":
            self.positive(row, ("resident_us", "frames_per_s", "duplex_frames_per_s", "share_of_duplex"))
            alone = "reference" in row["mode"]
            (self.positive if alone else self.unmeasured)(row, STEPS + ("histogram_curve_us",))
        else:
            self.positive(row, STEPS + ("curve_us",))
            self.unmeasured(row, ("resident_us",))
            self.assertEqual(row["mode"], "textbook")

    def test_backends(self):
        rows = self.rows("--sizes", "33x17,1000x667", "--content", "natural")
        self.assertEqual([r["backend"] for r in rows], 2 * ["cpu", "naive", "improved", "cuda"])
        for row in rows:
            if row["backend"] != "cpu":
                self.check_row(row)
                self.assertEqual(row["device"], "0")

    def test_modes(self):
        modes = ["global", "clahe", "stretch", "off", "reference", "clahe-reference"]
        rows = self.rows("--backend", "cuda", "--size", "641x361", "--content", "noise",
                         "--modes", ",".join(modes))
        self.assertEqual([r["mode"] for r in rows], modes)
        for row in rows:
            self.check_row(row)

    def test_depths(self):
        for depth in ("10", "16"):
            rows = self.rows("--backend", "cpu,cuda", "--size", "641x361", "--content", "natural",
                             "--modes", "global,clahe", "--depth", depth)
            self.assertEqual([r["backend"] for r in rows], ["cpu", "cpu", "cuda", "cuda"])

    def test_load_factors(self):
        for factor in ("1", "256"):
            row, = self.rows("--backend", "improved", "--size", "641x361", "--content", "noise",
                             "--load-factor", factor)
            self.assertEqual(row["load_factor"], factor)

    def test_all_devices(self):
        rows = self.rows("--backend", "cuda", "--size", "640x360", "--content", "noise",
                         "--device", "all")
        count = len(rows) - 2
        self.assertEqual([r["device"] for r in rows],
                         ["0"] + ["%d/%d" % (i, count) for i in range(count)] + ["all"])
        self.positive(rows[-1], ("linearity", "frames_per_s"))
        total = sum(float(r["frames_per_s"]) for r in rows[1:-1])
        self.assertAlmostEqual(float(rows[-1]["frames_per_s"]), total, delta=1 + count)

    def test_no_such_device(self):
        self.refused("--device", "200", words=["no GPU 200"])


if __name__ == "__main__":
    common.main(has_gpu)
