"""Encoders on a GPU. A fake encoder (fake_nvenc.c) writes each picture's checksum and memory (GPU or host)."""

import os
import re
import subprocess
import unittest
import zlib

from common import DONE, FFV1, LIVENESS, OUTPUT, X264, Case, clip, environment, finish, raw, read_bytes

PROGRAM, FOLDER = os.environ.get("FAKE_GPU_PROGRAM"), os.environ.get("FAKE_ENCODER_FOLDER")

# A line of the stream, after its start code.
PICTURE = re.compile(rb"\x00\x00\x00\x01.frame (\d+) (gpu|host) (\S+) (\d+)x(\d+) pitch (\d+) (kept|changed) (\w+)\n", re.S)
HALVES = {"nv12": 3, "p010le": 6, "yuv444p": 6, "yuv444p16le": 12}  # bytes of two pixels
SIZE = "200x90"  # rows are not a multiple of the GPU's alignment


def run(*args, **env):
    more = dict(environment(), LD_LIBRARY_PATH=FOLDER, **env)
    return finish(subprocess.Popen([PROGRAM] + [str(a) for a in args], stdin=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, env=more), LIVENESS)


@unittest.skipUnless(PROGRAM and FOLDER, "this build has no CUDA, or was built without ffnvcodec's headers")
class Encoding(Case):
    def encoded(self, source, *options, codec="h264_nvenc", place="gpu", code=DONE, **env):
        """Runs lumeq, and returns the pictures that the encoder received."""
        out = self.path("out." + codec[:4].strip("_"))
        result = run(source, "-o", out, "--backend", "cuda", "--vcodec", codec, "-y", "-v", *options,
                     FAKE_NVIDIA_TELLS="1", **env)
        self.assertEqual(result.code, code, str(result))
        if code != DONE:
            return result
        data = read_bytes(out)
        found = PICTURE.findall(data)
        self.assertEqual(len(found), data.count(b"\0\0\0\1"), data[:200])
        self.assertEqual({p[1].decode() for p in found}, {place})
        self.assertEqual({p[6] for p in found}, {b"kept"})
        times = [int(p[0]) for p in found]
        self.assertEqual(times, sorted(set(times)))
        # To copy pictures from the host, FFmpeg creates its own context.
        self.assertEqual(re.findall("contexts .*", result.err)[-1], "contexts %d blocks 0" % (place == "host"))
        return found

    def check(self, source, pix_fmt, *options, **more):
        """Checks that the pictures equal those written without a GPU."""
        reference = self.path("reference.mkv")
        alone = run(source, "-o", reference, "--backend", "cpu", "--vcodec", "ffv1", "-y", "-q", "--dither", "off",
                    *options)
        self.assertEqual(alone.code, DONE, str(alone))
        data, size = raw(reference, pix_fmt), HALVES[pix_fmt] * 200 * 90 // 2
        expected = [zlib.adler32(data[at:at + size]) for at in range(0, len(data), size)]
        found = self.encoded(source, "--dither", "off", *options, **more)
        self.assertEqual([int(p[7], 16) for p in found], expected)
        self.assertEqual({(p[2].decode(), p[3], p[4]) for p in found}, {(pix_fmt.replace("le", ""), b"200", b"90")})
        # Rows of FFmpeg's surfaces are aligned.
        self.assertEqual({int(p[5]) % 512 for p in found}, {0})
        return found

    def test_the_same_samples(self):
        """The clip has more frames than there are surfaces."""
        source = clip("long.mkv", *FFV1, "-pix_fmt", "yuv420p", size=SIZE, seconds=3)
        for options in ((), ("--two-pass", "off", "--chroma", "keep"), ("--two-pass", "on"), ("--mode", "clahe")):
            with self.subTest(options):
                self.assertEqual(len(self.check(source, "nv12", *options)), 75)

    def test_formats(self):
        for pix_fmt, stored, codec in (("yuv444p", "yuv444p", "h264_nvenc"), ("yuv420p10le", "p010le", "hevc_nvenc"),
                                       ("yuv444p10le", "yuv444p16le", "hevc_nvenc")):
            with self.subTest(pix_fmt):
                self.check(clip("format.mkv", *FFV1, "-pix_fmt", pix_fmt, size=SIZE), stored, codec=codec)

    def test_more_bits(self):
        source = clip("long.mkv", *FFV1, "-pix_fmt", "yuv420p", size=SIZE, seconds=1,
                      source="testsrc2=size=%s:rate=25,lutyuv=y='16+val/7'" % SIZE)
        self.check(source, "p010le", "--pix-fmt", "auto10", codec="hevc_nvenc")

    def test_frames_for_other_readers_come_to_the_host(self):
        plain = clip("plain.mkv", *FFV1, "-pix_fmt", "yuv420p", size=SIZE)
        for name, source, options in (
                ("overlay", plain, ("--overlay",)), ("compare", plain, ("--compare", "split")),
                ("report", plain, ("--report", self.path("r.json"))), ("format", plain, ("--pix-fmt", "yuv420p")),
                ("odd", clip("odd.mkv", *FFV1, "-pix_fmt", "yuv420p", size=SIZE, filters="crop=199:89:exact=1"), ()),
                ("gray", clip("gray.mkv", *FFV1, "-pix_fmt", "gray", size=SIZE), ())):
            with self.subTest(name):
                self.encoded(source, *options, place="host")

    def test_turned(self):
        """A bare stream has no rotation, so frames are turned on the host."""
        plain = clip("even.mkv", *FFV1, "-pix_fmt", "yuv420p", size="160x120")
        self.encoded(self.on_its_side(plain, 90, "transpose=cclock", *X264, "-qp", "0"), place="host")

    def test_nothing_to_equalize(self):
        """Decoded pictures are passed on unchanged."""
        self.encoded(clip("plain.mkv", *FFV1, "-pix_fmt", "yuv420p", size=SIZE), "--mode", "off", place="host")

    def test_lost_gpu(self):
        """The encoder is lost with the GPU and is not used again. An existing output is kept."""
        source = clip("long.mkv", *FFV1, "-pix_fmt", "yuv420p", size=SIZE, seconds=3)
        out = self.path("out.h264")
        with open(out, "w", encoding="ascii") as f:
            f.write("as it was")
        for passes in ("off", "on"):
            result = self.encoded(source, "--two-pass", passes, code=OUTPUT, FAKE_GPU_LOST="7")
            self.assertIn("the encoder h264_nvenc is on the GPU, which was lost", result.err)
            self.assertNotIn("is given back", result.err)
        with open(out, encoding="ascii") as f:
            self.assertEqual(f.read(), "as it was")
