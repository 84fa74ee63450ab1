"""lumeq-bench streams with a few frames of the clip, on the CPU."""

import csv
import io
import os
import subprocess
import tempfile
import unittest

import common

CLIP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../samples/lumeq-sample.mkv")

COLUMNS = ("stream,input,decoded_on,frames,frames_per_s,late,delay_50_ms,delay_99_ms,delay_100_ms,"
           "counted_mib,pinned_mib,machine,date,command").split(",")


class Streams(common.Case):
    command, quick = "streams", (CLIP, "--backend", "cpu")

    def rows(self, *args):
        rows = self.csv_rows(COLUMNS, *args)
        self.assertEqual(rows[-1]["stream"], "all")
        self.assertEqual(int(rows[-1]["frames"]), sum(int(row["frames"]) for row in rows[:-1]))
        return rows

    def test_paced(self):
        """At one frame per second the number of frames is known, and a frame is late only if the
        machine stalls for two seconds."""
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
        """Without a pace, late frames and delays are unknown."""
        rows = self.rows("--unpaced", "--seconds", "0.5")
        self.assertGreater(int(rows[0]["frames"]), 0)
        self.assertEqual((rows[0]["late"], rows[0]["delay_50_ms"]), ("", ""))

    def test_refused(self):
        for args, said in ((("--live", "0"), "1 to 256"), (("--rate", "0"), "1 to 1000"),
                           (("--unpaced", "--rate", "5"), "contradict"),
                           (("--hwdec", "cuvid"), "nvdec"), (("nowhere.mkv",), "existing video file"),
                           ((__file__,), "cannot be read as a video")):
            self.refused(*args, words=[said])

    def test_rows_that_cannot_be_written(self):
        with open("/dev/full", "wb") as full:
            result = self.bench("--seconds", "0.1", "--csv", stdout=full)
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot be written", result.stderr)


@unittest.skipUnless(os.environ.get("FAKE_GPU_BENCH"), "this build has no CUDA")
class FakeGpu(unittest.TestCase):
    """The fake driver has no room to decode. tests/gpu.sh plays streams on a real GPU."""

    def rows(self, *args, **more):
        with tempfile.TemporaryDirectory() as folder:
            film = os.path.join(folder, "film.mkv")
            subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=160x90:rate=25", "-t", "2",
                            "-pix_fmt", "yuv420p", "-c:v", "libx264", "-bf", "0", "-g", "10", film], check=True)
            env = dict(os.environ, LC_ALL="C.UTF-8", LD_LIBRARY_PATH=os.environ["FAKE_DRIVER_FOLDER"], **more)
            result = subprocess.run([os.environ["FAKE_GPU_BENCH"], "streams", film, "--backend", "cuda", "--hwdec",
                                     "nvdec", "--csv", *args], env=env, capture_output=True, text=True,
                                    timeout=common.LIVENESS)
        self.assertEqual(result.returncode, 0, result.stderr)
        return list(csv.DictReader(io.StringIO(result.stdout))), result.stderr

    def test_no_room_for_surfaces(self):
        rows, said = self.rows("--live", "2", "--rate", "2", "--seconds", "1", FAKE_GPU_LIMIT="1000")
        self.assertEqual([row["decoded_on"] for row in rows[:-1]], ["CPU"] * 2)
        self.assertIn("room", said)


if __name__ == "__main__":
    unittest.main()
