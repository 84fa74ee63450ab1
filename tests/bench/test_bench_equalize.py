"""lumeq-bench equalize on small pictures. The argument Cpu or Gpu selects the tests; Gpu needs a GPU."""

import os

import common

QUICK = ("--seconds", "0.01")
SEED = int(os.environ.get("CHECK_SEED", "0"), 0)

COLUMNS = ("size,content,backend,mode,depth,threads,device,batch,cpu_total_us,chroma_us,resident_us,resident_chroma_us,host_total_us,"
           "frames_per_s,duplex_frames_per_s,share_of_duplex,machine,date,command").split(",")
LIBRARY = ("resident_us", "resident_chroma_us", "host_total_us", "frames_per_s", "duplex_frames_per_s", "share_of_duplex")
MODES = ["global", "clahe", "stretch", "off", "reference", "clahe-reference"]


def bench(*args, **more):
    return common.run("equalize", *args, **more)


def has_gpu():
    return "left out" not in bench("--size", "16x16", "--content", "flat", *QUICK).stderr


class Case(common.Case):
    command = "equalize"
    quick = QUICK

    def rows(self, *args, **more):
        return self.csv_rows(COLUMNS, *args, **more)

    def unmeasured(self, row, columns):
        for column in columns:
            self.assertEqual(row[column], "", (column, row))


class Cpu(Case):
    ON = ("--backend", "cpu")

    def test_help(self):
        result = bench("--help")
        self.assertEqual(result.returncode, 0)
        for word in COLUMNS[8:] + ["--" + o for o in "size content backend modes threads batch depth device seconds "
                                   "seed csv".split()]:
            self.assertIn(word, result.stdout)

    def test_every_content_and_mode(self):
        contents = ["flat", "two-level", "ramp", "natural", "noise", "dark", "exposed"]
        sizes = ["33x17", "200x100"]
        if "CHECK_SHORT" in os.environ:
            sizes = [sizes[SEED % 2]]
        rows = self.rows(*self.ON, "--size", ",".join(sizes), "--content", ",".join(contents),
                         "--modes", ",".join(MODES))
        self.assertEqual([(r["size"], r["content"], r["mode"]) for r in rows],
                         [(s, c, m) for s in sizes for c in contents for m in MODES])
        for row in rows:
            self.positive(row, ("cpu_total_us", "chroma_us", "frames_per_s"))
            self.unmeasured(row, LIBRARY[:2] + ("device",))

    def test_depths_and_threads(self):
        """Depth 8, and a larger one that the seed chooses."""
        for depth, threads in (("8", "1"), (("10", "12", "16")[SEED % 3], "3")):
            rows = self.rows(*self.ON, "--size", "640x360", "--content", "noise", "--depth", depth,
                             "--modes", "global,clahe", "--threads", threads)
            self.assertEqual([(r["threads"], r["depth"]) for r in rows], 2 * [(threads, depth)])

    def test_origin(self):
        args = self.ON + ("--size", "40x30", "--content", "ramp")
        self.check_origin(self.rows(*args)[0], *args)

    def test_without_a_gpu(self):
        if has_gpu():
            self.skipTest("there is a GPU")
        result = self.run_bench("--size", "40x30", "--content", "flat")
        self.assertEqual(len(result.stderr.splitlines()), 1)
        self.assertIn("backend cuda is left out", result.stderr)
        self.refused("--backend", "cuda", words=["cuda needs a GPU"])

    def test_refused(self):
        for option, value, word in (
                ("--size", "640x", "1920x1080"), ("--size", "64x64,", "1920x1080"), ("--size", "65536x1", "65535"),
                ("--size", "1x1x1", "1920x1080"), ("--content", "nosuch", "flat"), ("--backend", "gpu", "cuda"),
                ("--modes", "histeq", "stretch"), ("--threads", "257", "256"), ("--depth", "9", "10"),
                ("--seconds", "nan", "0.01"), ("--seconds", "0", "0.01")):
            with self.subTest(option + " " + value):
                result = bench(option, value)
                self.assertEqual(result.returncode, 1)
                self.assertIn(word, result.stderr.splitlines()[-1])
        self.refused("--modes", "reference", "--depth", "10", words=["reference", "--depth 8"])
        self.refused("--bogus", words=["--bogus", "--help"])


class Gpu(Case):
    def test_modes(self):
        rows = self.rows("--size", "33x17,1000x667", "--content", "natural,noise", "--modes", ",".join(MODES))
        self.assertEqual([(r["backend"], r["mode"]) for r in rows],
                         4 * [(b, m) for b in ("cpu", "cuda") for m in MODES])
        for row in rows:
            if row["backend"] == "cuda":
                self.positive(row, LIBRARY)
                self.unmeasured(row, ("cpu_total_us", "chroma_us", "threads"))
                self.assertEqual((row["device"], row["batch"]), ("0", "1"))

    def test_depths(self):
        for depth in ("10", "16"):
            rows = self.rows("--backend", "cuda", "--size", "641x361", "--content", "natural",
                             "--modes", "global,clahe", "--depth", depth)
            self.assertEqual(len(rows), 2)

    def test_batches(self):
        for row in self.rows("--backend", "cuda", "--size", "641x361", "--content", "noise",
                             "--modes", "global,reference,clahe-reference", "--batch", "16"):
            self.assertEqual(row["batch"], "16")

    def test_no_such_device(self):
        self.refused("--device", "200", words=["no GPU 200"])


if __name__ == "__main__":
    common.main(has_gpu)
