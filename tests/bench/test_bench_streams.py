"""lumeq-bench streams: a few frames of the clip, on the CPU."""

import csv
import io
import os
import unittest

import common

CLIP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../samples/lumeq-sample.mkv")

COLUMNS = ("stream,input,decoded_on,frames,frames_per_s,late,delay_50_ms,delay_99_ms,delay_100_ms,"
           "decoder_busy_percent,gpu_memory_mib,counted_mib,pinned_mib,machine,date,command").split(",")


def bench(*args):
    return common.run("streams", CLIP, "--backend", "cpu", *args)


class Streams(common.Case):
    command = "streams"

    def rows(self, *args):
        result = bench("--csv", *args)
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = list(csv.DictReader(io.StringIO(result.stdout)))
        self.assertEqual(list(rows[0]), COLUMNS)
        self.assertEqual(rows[-1]["stream"], "all")
        self.assertEqual(int(rows[-1]["frames"]), sum(int(row["frames"]) for row in rows[:-1]))
        return rows

    def test_paced(self):
        """At one frame a second what comes is known, and nothing is late but on a machine that
        stands still for two seconds."""
        rows = self.rows("--live", "3", "--rate", "1", "--seconds", "1.5")
        self.assertEqual([row["stream"] for row in rows], ["1", "2", "3", "all"])
        for row in rows[:-1]:
            self.assertEqual(row["decoded_on"], "CPU")
            self.assertLessEqual(2, int(row["frames"]))
            self.assertGreater(float(row["delay_50_ms"]), 0)
            self.assertLessEqual(float(row["delay_50_ms"]), float(row["delay_99_ms"]))
            self.assertLessEqual(float(row["delay_99_ms"]), float(row["delay_100_ms"]))
            self.assertEqual(int(row["late"]) > 0, float(row["delay_100_ms"]) > 2000)

    def test_everything_is_late_at_an_impossible_rate(self):
        rows = self.rows("--rate", "1000", "--seconds", "1")
        self.assertGreater(int(rows[0]["late"]), 0)
        self.assertGreater(float(rows[0]["delay_100_ms"]), 2)

    def test_unpaced(self):
        """The film goes round, without the equalizer faster than with it or as fast."""
        for args in ((), ("--decode-only",)):
            rows = self.rows("--unpaced", "--seconds", "0.5", *args)
            self.assertGreater(int(rows[0]["frames"]), 0)
            self.assertEqual(rows[0]["late"], "")
            self.assertEqual(rows[0]["delay_50_ms"], "")

    def test_refused(self):
        for args, said in ((("--live", "0"), "1 to 256"), (("--rate", "0"), "1 to 1000"),
                           (("--unpaced", "--rate", "5"), "contradict"),
                           (("--hwdec", "cuvid"), "nvdec"), (("nowhere.mkv",), "file that is there"),
                           ((__file__,), "is not a video that can be read")):
            result = bench(*args)
            self.assertEqual(result.returncode, 1, args)
            self.assertIn(said, result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
            self.assertEqual(result.stdout, "")

    def test_rows_that_cannot_be_written(self):
        with open("/dev/full", "wb") as full:
            result = common.run("streams", CLIP, "--backend", "cpu", "--seconds", "0.1", "--csv", stdout=full)
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot be written", result.stderr)


if __name__ == "__main__":
    unittest.main()
