"""lumeq-bench pipeline on a few frames of the clip, and the script that compares with ffmpeg:
`test_bench_pipeline.py Cpu Script`, or `Gpu`, which needs one."""

import csv
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import common

HERE = os.path.dirname(os.path.abspath(__file__))
LUMEQ = os.path.join(os.path.dirname(common.BENCH), "lumeq")
SCRIPT = os.path.join(HERE, "../../samples/bench-ffmpeg.py")
SAMPLE = os.path.join(HERE, "../../samples/lumeq-sample.mkv")
CLIP = os.environ.get("SMALL_SAMPLE", SAMPLE)
SIZE = ("1280", "720") if os.path.samefile(CLIP, SAMPLE) else ("400", "224")
FRAMES = 4
QUICK = ("--frames", str(FRAMES), "--rounds", "1", "--preset", "ultrafast")

COLUMNS = ("stages,backend,width,height,depth,frames,frames_per_s,frame_us,gb_per_s,cpu_percent,"
           "memory_mib,gpu_busy_percent,gpu_memory_mib,decode_busy_percent,upload_busy_percent,"
           "equalize_busy_percent,download_busy_percent,encode_busy_percent,"
           "share_of_bound_percent,bound,machine,date,command").split(",")
BUS = ["PCIe up", "PCIe down", "PCIe both ways"]
OF_BACKEND = ["library", "decode", "decode+equalize", "decode+equalize+encode"]
STORED = ["raw decode", "raw decode+encode", "encoder alone"]


def bench(*args, **more):
    return common.run("pipeline", *args, **more)


def has_gpu():
    return "--backend cuda: " not in bench(CLIP, "--backend", "cuda", *QUICK).stderr


class Case(common.Case):
    command = "pipeline"

    def rows(self, *args):
        """Returns a run's rows by stages and backend; checks that temporary files are deleted."""
        with tempfile.TemporaryDirectory() as folder:
            result = bench(CLIP, *QUICK, "--csv", "--folder", folder, *args)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(os.listdir(folder), [])
        rows = list(csv.DictReader(io.StringIO(result.stdout)))
        for row in rows:
            self.assertEqual(list(row), COLUMNS)
            self.assertEqual([row["width"], row["height"], row["depth"]], [*SIZE, "8"])
        return {(row["stages"], row["backend"]): row for row in rows}

    def positive(self, row, *columns):
        for column in columns:
            self.assertGreater(float(row[column]), 0, (column, row))

    def unmeasured(self, row, *columns):
        for column in columns:
            self.assertEqual(row[column], "", (column, row))

    def shares(self, row):
        """Checks that busy shares are between 0 and 100 %."""
        for column in COLUMNS:
            if column.endswith("_busy_percent") and row[column]:
                self.assertTrue(0 <= float(row[column]) <= 100.1, (column, row))

    def check_rows(self, rows, backend):
        for stages in OF_BACKEND:
            row = rows[stages, backend]
            self.shares(row)
            self.positive(row, "frames_per_s", "frame_us", "cpu_percent", "memory_mib")
            if stages != "library":
                self.assertEqual(row["frames"], str(FRAMES))
                self.positive(row, "decode_busy_percent")
            if stages != "decode":
                self.positive(row, "equalize_busy_percent")
            self.assertEqual(row["encode_busy_percent"] != "", stages.endswith("encode"), row)
        self.assertIn(rows["decode+equalize", backend]["bound"], ("decode", "library"))
        whole = rows["decode+equalize+encode", backend]
        alone = rows["encoder alone", ""]
        self.assertEqual(whole["bound"], "encoder alone")
        share = 100 * float(alone["frame_us"]) / float(whole["frame_us"])
        self.assertAlmostEqual(float(whole["share_of_bound_percent"]), share, delta=0.2)


class Cpu(Case):
    def test_rows(self):
        rows = self.rows("--backend", "cpu")
        self.assertEqual(list(rows), [(s, "cpu") for s in OF_BACKEND] + [(s, "") for s in STORED])
        self.check_rows(rows, "cpu")
        for row in rows.values():
            self.unmeasured(row, "gb_per_s", "gpu_busy_percent", "gpu_memory_mib",
                            "upload_busy_percent", "download_busy_percent")

    def test_the_encoder_alone_is_a_difference(self):
        rows = self.rows("--backend", "cpu", "--chroma", "scale", "--threads", "1", "--crf", "30")
        decode, both, alone = (float(rows[s, ""]["frame_us"]) for s in STORED)
        self.assertAlmostEqual(alone, both - decode, delta=0.2)
        self.unmeasured(rows["encoder alone", ""], "memory_mib", "encode_busy_percent")

    def test_json(self):
        result = bench(CLIP, "--backend", "cpu", "--json", *QUICK)
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = [json.loads(line) for line in result.stdout.splitlines() if line]
        self.assertEqual(len(rows), len(OF_BACKEND) + len(STORED))
        for row in rows:
            self.assertEqual(list(row), COLUMNS)
            self.assertIsNone(row["gpu_busy_percent"])

    def test_table_tells_machine_and_command(self):
        """A missing GPU is no failure; one line says what is left out."""
        result = bench(CLIP, *QUICK)
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = result.stdout.splitlines()
        self.assertTrue(lines[0].startswith("lumeq-bench pipeline "), lines)
        self.assertRegex(lines[1], r"cores.*, \d{4}-\d\d-\d\d$")
        self.assertIn("decode+equalize+encode", result.stdout)
        if "PCIe" not in result.stdout:
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertIn("left out", result.stderr)

    def test_help_names_every_column(self):
        result = bench("--help")
        self.assertEqual(result.returncode, 0)
        for column in COLUMNS:
            self.assertRegex(result.stdout, r"\b%s\b" % column)

    def test_what_is_refused(self):
        self.refused(words=["INPUT"])
        self.refused("nowhere.mkv", words=["nowhere.mkv", "file"])
        self.refused(CLIP, CLIP, words=["one video"])
        self.refused(os.path.abspath(__file__), "--backend", "cpu", words=["not a video"])
        self.refused(CLIP, "--backend", "gpu", words=["--backend gpu", "cpu|cuda"])
        self.refused(CLIP, "--frames", "0", words=["--frames 0", "1 to"])
        self.refused(CLIP, "--rounds", words=["--rounds", "1 to 99"])
        self.refused(CLIP, "--crf", "99", words=["--crf 99", "0 to 63"])
        self.refused(CLIP, "--folder", "/nowhere", words=["--folder /nowhere"])
        self.refused(CLIP, "--speed", "1", words=["--speed"])
        self.refused(CLIP, "--backend", "cpu", "--vcodec", "nix", words=["nix", "encoder"])
        self.refused(CLIP, "--backend", "cpu", "--preset", "nix", words=["nix", "ultrafast"])
        self.refused(CLIP, "--backend", "cuda", "--device", "99", words=["--backend cuda: "])


@unittest.skipUnless(shutil.which("ffmpeg") and os.path.isfile(LUMEQ), "needs ffmpeg and lumeq")
class Script(unittest.TestCase):
    def run_script(self, *args):
        return subprocess.run([sys.executable, "-B", SCRIPT, "--lumeq", LUMEQ, "--cores", "1"] +
                              list(args), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=common.LIVENESS, universal_newlines=True)

    def test_compares_with_ffmpeg(self):
        result = self.run_script("--size", "320x180", "--seconds", "0.4,0.8", "--rounds", "1",
                                 "--preset", "ultrafast")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = [line.split() for line in result.stdout.splitlines()
                if line.startswith(("equalize ", "film ", "encode ")) and "memory" not in line]
        self.assertEqual([r[:4] for r in rows if r[1] == "lumeq"],
                         [[w, "lumeq", s, n] for w in ("equalize", "film", "encode")
                          for s, n in (("0.4s", "10"), ("0.8s", "20"))])
        self.assertEqual([r[1] for r in rows if r[1].startswith("/")],
                         2 * ["/ffmpeg", "/decode"] + 4 * ["/ffmpeg"])
        self.assertIn("encoded packets of lumeq and ffmpeg: identical", result.stdout)

    def test_refuses(self):
        for args in (("--size", "x"), ("--seconds", "3,1"), ("--rounds", "0"), ("--cores", "9999"),
                     ("--ffmpeg", "/nowhere/ffmpeg"), ("--cases", "equalize,all")):
            result = self.run_script(*args)
            self.assertNotEqual(result.returncode, 0, args)
            self.assertEqual(result.stdout, "")


class Gpu(Case):
    def test_rows(self):
        rows = self.rows()
        self.assertEqual(list(rows), [(s, "cuda") for s in BUS] +
                         [(s, b) for b in ("cpu", "cuda") for s in OF_BACKEND] +
                         [(s, "") for s in STORED])
        for backend in ("cpu", "cuda"):
            self.check_rows(rows, backend)
        for stages in BUS + ["library"]:
            self.positive(rows[stages, "cuda"], "gb_per_s", "frames_per_s")
        self.assertEqual(rows["library", "cuda"]["bound"], "PCIe both ways")
        for stages in ("library", "decode+equalize", "decode+equalize+encode"):
            row = rows[stages, "cuda"]
            self.positive(row, "gpu_busy_percent", "upload_busy_percent", "download_busy_percent")
            self.assertGreaterEqual(float(row["gpu_memory_mib"]), 0)
            most = max(float(row[s + "_busy_percent"]) for s in ("upload", "equalize", "download"))
            self.assertGreaterEqual(float(row["gpu_busy_percent"]), most - 0.1)

    def test_chroma_moves_more(self):
        luma, all_planes = (self.rows("--backend", "cuda", "--chroma", c)["PCIe up", "cuda"]
                            for c in ("keep", "scale"))
        bytes_of = [float(r["gb_per_s"]) * float(r["frame_us"]) for r in (luma, all_planes)]
        self.assertAlmostEqual(bytes_of[1] / bytes_of[0], 1.5, delta=0.05)


if __name__ == "__main__":
    common.main(has_gpu)
