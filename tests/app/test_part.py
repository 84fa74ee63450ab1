"""--ss, --to and --frames select exact frames, and the sound is cut with them."""

import itertools

from common import *

RATE = 25


def numbered(name, *output, **more):
    """A clip of three seconds whose frame n is gray with code 20 + 2 n."""
    more.setdefault("seconds", 3)
    return clip(name, *output, source="nullsrc=size=32x32:rate=25,format=yuv420p,"
                "geq=lum='20+2*N':cb=128:cr=128", **more)


class Part(Case):
    """Positions count from the start of the input."""

    X264 = ("-c:v", "libx264", "-preset", "fast", "-qp", "0", "-bf", "2")

    def sources(self):
        return {
            "gop25": numbered("gop25.mp4", *self.X264, "-g", "25", "-c:a", "aac", sound=3),
            "long gop": numbered("gop-long.mkv", *self.X264, "-g", "1000", "-c:a", "flac", sound=3),
            "no sound": numbered("silent.mp4", *self.X264, "-g", "25"),
            "ffv1": numbered("intra.mkv", *FFV1, "-c:a", "flac", sound=3),
        }

    def numbers(self, path):
        return [round((y[0] - 20) / 2) for y in Picture(path).luma]

    def part(self, source, *options):
        output = self.path("out.mkv")
        self.ok(source, "-o", output, "--vcodec", "ffv1", "--mode", "off", "-y", *options)
        return output

    CASES = (
        # options, first frame, frames
        ((), 0, 75),
        (("--ss", "0"), 0, 75),
        (("--ss", "1"), 25, 50),
        (("--ss", "0.5"), 13, 62),
        (("--ss", "1.99"), 50, 25),
        (("--to", "1"), 0, 25),
        (("--to", "0.01"), 0, 1),
        (("--ss", "0.6", "--to", "2.2"), 15, 40),
        (("--ss", "1.2", "--frames", "7"), 30, 7),
        (("--frames", "1"), 0, 1),
        (("--frames", "30"), 0, 30),
        (("--frames", "1000"), 0, 75),
        (("--ss", "2", "--to", "2.4", "--frames", "3"), 50, 3),
        (("--ss", "2", "--to", "2.4", "--frames", "300"), 50, 10),
        (("--ss", "2.96"), 74, 1),
        (("--ss", "0:01.2", "--to", "1600ms"), 30, 10),
    )

    def test_frames(self):
        for name, source in self.sources().items():
            cases = self.CASES if name == "gop25" else self.CASES[3:10:2]
            for options, first, count in some(cases):
                with self.subTest(name, options=" ".join(options)):
                    output = self.part(source, *options)
                    self.assertEqual(self.numbers(output), list(range(first, first + count)))
                    start = frame_times(output)[0]
                    self.assertLess(abs(start), 0.06)

    def test_frames_of_null(self):
        source = self.sources()["gop25"]
        for options, _, count in some(self.CASES):
            with self.subTest(" ".join(options)):
                self.assertIn(" %d frame%s," % (count, "s" * (count != 1)), " " + self.ok(source, "--null", *options).err[7:])

    def check_sound(self, source, output, begin, end):
        """Checks that the output has the part's sound packets at their times. One packet may differ at each end."""
        packet = 4608 / 44100
        sound, got = packets(source), packets(output)
        kept = [p for p in sound if begin - packet <= p[0] <= end + packet]
        self.assertTrue(got)
        hashes = [p[2] for p in sound]
        first = hashes.index(got[0][2])
        self.assertEqual(hashes[first:first + len(got)], [p[2] for p in got])
        self.assertAlmostEqual(sound[first][0], begin, delta=packet)
        self.assertAlmostEqual(sound[first + len(got) - 1][0], end, delta=1.1 * packet)
        self.assertLessEqual(len(got), len(kept))
        shift = frame_times(output)[0] - (frame_times(source)[0] + -(-begin * RATE // 1) / RATE)
        self.near([p[0] + shift for p in sound[first:first + len(got)]], [p[0] for p in got], 0.003)

    def test_sound(self):
        for name in ("gop25", "long gop", "ffv1"):
            for options, begin, end in some(((("--ss", "1"), 1, 3), (("--to", "2"), 0, 2),
                                             (("--ss", "0.6", "--to", "2.2"), 0.6, 2.2),
                                             (("--frames", "25"), 0, 1),
                                             (("--ss", "1", "--frames", "25"), 1, 2))):
                with self.subTest(name, options=" ".join(options)):
                    source = self.sources()[name]
                    self.check_sound(source, self.part(source, *options), begin, end)

    def test_every_frame_of_the_part_is_whole(self):
        """Without an index a seek may end anywhere, but decoding must begin at a key frame."""
        codecs = (("seek.ts", X264 + ("-g", "1000")), ("seek-short.ts", X264 + ("-g", "20")),
                  ("seek.mpg", ("-c:v", "mpeg2video", "-g", "20")),
                  ("seek.flv", X264 + ("-g", "1000")), ("seek.mkv", X264 + ("-g", "1000")))
        for (name, codec), start in some(itertools.product(codecs, ("0.5", "1.3", "2.9"))):
            source = clip(name, *codec, "-b:v", "3M", "-c:a", "mp2" if name[-1] != "v" else "libmp3lame",
                          seconds=3, sound=3)
            with self.subTest(name, start=start):
                whole = Picture(self.lossless(source, "--mode", "off"))
                part = Picture(self.part(source, "--ss", start))
                self.assertEqual(part.hashes(), whole.hashes()[-len(part.luma):])
                self.assertAlmostEqual(len(part.luma), (3 - float(start)) * RATE, delta=1.5)

    def test_other_containers(self):
        for name, codec in (("part.avi", ("-c:v", "mpeg4", "-qscale:v", "1", "-g", "30")),
                            ("part.flv", self.X264), ("part.mov", self.X264),
                            ("part.mpg", ("-c:v", "mpeg2video", "-qscale:v", "1", "-g", "12")),
                            ("part.y4m", ("-c:v", "wrapped_avframe")), ("part.h264", self.X264 + ("-g", "25"))):
            source = numbered(name, *codec)
            with self.subTest(name):
                numbers = self.numbers(self.part(source, "--ss", "1.2", "--to", "2"))
                self.near(numbers, list(range(30, 50)), 1)

    def test_from_a_pipe(self):
        """A pipe cannot seek, so it is read up to the position."""
        with open(self.sources()["long gop"], "rb") as f:
            self.ok("-", "-o", self.path("out.mkv"), "--vcodec", "ffv1", "--mode", "off", "--ss", "1.2",
                    "--frames", "5", stdin=f)
        self.assertEqual(self.numbers(self.path("out.mkv")), list(range(30, 35)))

    def test_smoothing_starts_at_the_part(self):
        """The first frame of a part is equalized without the frames before it."""
        source = clip("fade.mkv", *FFV1, "-pix_fmt", "yuv420p", filters="fade=in:0:25", seconds=1)
        alone = ("--scene-cut", "off", "--dither", "off", "--two-pass", "off", "--strength", "0.8")
        whole = Picture(self.lossless(source, "--smooth", 0, *alone))
        part = Picture(self.lossless(source, "--smooth", 10, *alone, "--ss", "0.4", name="part.mkv"))
        self.assertEqual(part.luma[0], whole.luma[10])

    def test_nothing_left(self):
        for options in (("--ss", "100"), ("--ss", "3.5", "--to", "4")):
            with self.subTest(" ".join(options)):
                self.refused(lumeq(self.sources()["gop25"], "-o", self.path("no.mkv"), *options), INPUT)
                self.assertEqual(self.files(), [])

    def test_variable_frame_rate(self):
        source = numbered("vfr-part.mkv", *FFV1, "-fps_mode", "passthrough", seconds=1,
                          filters="settb=1/1000,setpts='N*20+N*N*4'")
        times = frame_times(source)
        for start in (0.3, 0.9):
            output = self.part(source, "--ss", start)
            wanted = [t for t in times if t >= start - 0.0005]
            self.near([t - wanted[0] for t in wanted], frame_times(output), 0.0015)
