"""Decoded on a GPU, which is lost: a driver that is made up gives the pictures (fake_nvidia.c), a GPU that is made up
equalizes them, and is lost after some."""

import os
import subprocess
import unittest

from common import DAMAGED, DONE, LIVENESS, Case, clip, environment, finish, frame_times, has_encoder, raw

PROGRAM, FOLDER = os.environ.get("FAKE_GPU_PROGRAM"), os.environ.get("FAKE_DRIVER_FOLDER")
DECODING = os.environ.get("TEST_GPU_DECODING")

# NVDEC's pictures come in the order of decoding: without B-frames, that of the clip.
H264 = ("-c:v", "libx264", "-preset", "veryfast", "-bf", "0", "-pix_fmt", "yuv420p")
SIZE = "160x90"
DARK = "testsrc2=size=%s:rate=25,lutyuv=y='16+val/6',noise=alls=6:allf=t" % SIZE
FRAMES = 75


def film(keys=25):
    """Three seconds; a key frame after so many frames."""
    return clip("film%d.mkv" % keys, *H264, "-g", keys, "-sc_threshold", 0, "-c:a", "aac", seconds=3, sound=3,
                source=DARK)


@unittest.skipUnless(PROGRAM and FOLDER, "this build has no CUDA")
class Loss(Case):
    def run_on_gpu(self, source, *options, stdin=None, **env):
        pictures = self.path("pictures.nv12")
        if not os.path.exists(pictures):
            with open(pictures, "wb") as f:
                f.write(raw(source, "nv12"))
        more = dict(environment(), LD_LIBRARY_PATH=FOLDER, FAKE_NVDEC_PICTURES=pictures, FAKE_NVDEC_SIZE=SIZE,
                    FAKE_NVIDIA_LOG=self.path("log"), **env)
        return finish(subprocess.Popen([PROGRAM, "-" if stdin else source, "--backend", "cuda", "--hwdec", "nvdec",
                                        "-v", "-y"] + [str(o) for o in options], stdin=stdin or subprocess.DEVNULL,
                                       stderr=subprocess.PIPE, env=more), LIVENESS)

    def on_cpu(self, source, *options):
        out, stats = self.path("cpu.mkv"), self.path("cpu.csv")
        run = subprocess.Popen([PROGRAM, source, "-o", out, "--stats", stats, "--backend", "cpu", "-q", "-y", "--vcodec",
                                "ffv1", *options], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment())
        self.assertEqual(finish(run, LIVENESS).code, DONE)
        return raw(out), self.numbers(stats)

    @staticmethod
    def numbers(path):
        """Of the statistics, without what was timed."""
        with open(path, encoding="ascii") as f:
            rows = [line.rstrip("\n").split(",") for line in f if not line.startswith("#")]
        kept = [i for i, name in enumerate(rows[0]) if not name.endswith(("_us", "_ms"))]
        return [[row[i] for i in kept] for row in rows]

    def check(self, source, *options, stdin=False, **env):
        expected, stats = self.on_cpu(source, *options)
        out, written = self.path("gpu.mkv"), self.path("gpu.csv")
        if stdin:
            with open(source, "rb") as f:
                result = self.run_on_gpu(source, "-o", out, "--stats", written, "--vcodec", "ffv1", *options, stdin=f,
                                         **env)
        else:
            result = self.run_on_gpu(source, "-o", out, "--stats", written, "--vcodec", "ffv1", *options, **env)
        self.assertEqual(result.code, DONE, str(result))
        self.assertEqual(len(frame_times(out)), FRAMES)
        self.assertTrue(raw(out) == expected, str(result))
        self.assertEqual(self.numbers(written), stats)
        return result

    def test_undisturbed(self):
        """Decoded on the GPU, and there is no context but lumeq's."""
        for options in (("--two-pass", "off"), ("--two-pass", "on")):
            with self.subTest(options):
                result = self.check(film(), *options)
                self.assertIn("decoded on the GPU", result.err)
                with open(self.path("log"), encoding="ascii") as f:
                    self.assertEqual(f.read(), "contexts 0 blocks 0\n")

    def test_the_same_pictures(self):
        """Whenever it is lost, in one pass: frames in flight, those that wait, and those before them."""
        for after in (0, 1, 2, 20, 26, 49, 50, 74):
            with self.subTest(after):
                result = self.check(film(), "--two-pass", "off", FAKE_GPU_LOST=str(after))
                self.assertIn("the CPU goes on without the GPU", result.err)

    def test_two_passes(self):
        for after in (0, 30, 73):
            with self.subTest(after):
                self.check(film(), "--two-pass", "on", FAKE_GPU_LOST=str(after))
        with self.subTest("while it measures"):
            self.check(film(), "--two-pass", "on", FAKE_GPU_LOST_MEASURES="40")

    def test_two_passes_of_noise(self):
        """Curves look at three frames before, which the filter wants."""
        source = clip("noisy.mkv", "-c:v", "libx264", "-preset", "veryfast", "-bf", "0", "-pix_fmt", "yuv420p", "-qp", 4,
                      "-g", 25, seconds=3,
                      source="smptebars=size=%s:rate=25,lutyuv=y='16+val/6',noise=alls=12:allf=t" % SIZE)
        for after in (0, 30):
            with self.subTest(after):
                result = self.check(source, "--two-pass", "on", "--denoise", "1", FAKE_GPU_LOST=str(after))
                self.assertIn("noisy: lifted", result.err)

    def test_a_frame_that_cannot_be_had(self):
        """It is left out, and told of; the others are there."""
        for passes, gone in (("off", 2), ("on", 4)):
            with self.subTest(passes):
                out = self.path("gpu.mkv")
                result = self.run_on_gpu(film(), "-o", out, "--vcodec", "ffv1", "--two-pass", passes,
                                         FAKE_GPU_LOST="30", FAKE_GPU_GONE=str(gone))
                self.assertEqual(result.code, DAMAGED, str(result))
                self.assertIn("1 frame was lost with the GPU", result.err)
                self.assertNotIn("is not the one that the first pass had", result.err)
                self.assertEqual(len(frame_times(out)), FRAMES - 1)

    def test_other_groups(self):
        """Of one picture each, and of one group."""
        for keys in (1, 3, 250):
            with self.subTest(keys):
                os.path.exists(self.path("pictures.nv12")) and os.unlink(self.path("pictures.nv12"))
                self.check(film(keys), "--two-pass", "off", FAKE_GPU_LOST="40")

    def test_what_cannot_be_read_twice(self):
        self.check(film(), "--two-pass", "off", stdin=True, FAKE_GPU_LOST="33")

    def test_pictures_that_are_wanted_here(self):
        """They are decoded there, and brought here at once, until that fails: the same frame comes from software."""
        for lost in ({"FAKE_GPU_LOST": "33"}, {"FAKE_CUDA_COPIES": "0"}, {"FAKE_CUDA_COPIES": "77"}):
            with self.subTest(lost):
                result = self.check(film(), "--two-pass", "off", "--compare", "split", **lost)
                self.assertEqual("decoded on the GPU" in result.err, "FAKE_GPU_LOST" in lost)


@unittest.skipUnless(DECODING and FOLDER, "this build has no CUDA")
class OtherCodecs(Case):
    """Which show what was decoded long before: their decoders number it as what it was decoded from."""

    def check(self, name, *output):
        encoder = output[output.index("-c:v") + 1]
        if not has_encoder(encoder):
            self.skipTest("this ffmpeg has no %s" % encoder)
        path = clip(name, *output, "-g", 30, seconds=9, source="testsrc2=size=%s:rate=25,noise=alls=3:allf=t" % SIZE)
        env = dict(environment(), LD_LIBRARY_PATH=FOLDER, LUMEQ_TEST_CLIP=path)
        result = finish(subprocess.Popen([DECODING, "a_decoder_that_fails", "pictures_that_cannot_be_looked_at",
                                          "frames_that_are_lost"],
                                         stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env), LIVENESS)
        self.assertEqual(result.code, 0, str(result))

    def test_vp9(self):
        self.check("film.webm", "-c:v", "libvpx-vp9", "-deadline", "good", "-cpu-used", 5, "-auto-alt-ref", 6,
                   "-lag-in-frames", 16, "-b:v", "200k")

    def test_av1(self):
        self.check("film.mkv", "-c:v", "libsvtav1", "-preset", 10)


if __name__ == "__main__":
    unittest.main()
