"""Tests --code-range, which stretches gray video of more than 8 bits if it uses few of its codes."""

import array
import random

from common import *

WIDTH, HEIGHT, FRAMES = 160, 120, 25
PIXELS = WIDTH * HEIGHT

# Lowest code, range of codes above it, standard deviation of the noise.
WARM, NARROW, SHALLOW = (7400, 800, 3), (30000, 120, 2), (200, 3200, 8)
CAPPED = (9000, 0, 4)
WIDE = (5000, 30000, 8)

# Minimum standard deviation of a stretched output, in codes of 16 bits.
ENOUGH = 10000


def thermal(recipe, pix_fmt="gray16le"):
    """A lossless clip of slow waves and noise."""
    base, span, noise = recipe
    path = Store.path("%d-%d-%d-%s.mkv" % (base, span, noise, pix_fmt))
    if os.path.exists(path):
        return path
    chance = random.Random(1)
    codes = array.array("H")
    for n in range(FRAMES):
        across = [.5 + .25 * math.sin(x / 17 + n / 20) for x in range(WIDTH)]
        for y in range(HEIGHT):
            down = .25 * math.cos(y / 11)
            codes.extend(round(base + span * (wave + down) + chance.gauss(0, noise)) for wave in across)
    write_bytes(path + ".raw", codes.tobytes())
    ffmpeg("-f", "rawvideo", "-pix_fmt", pix_fmt, "-s", "%dx%d" % (WIDTH, HEIGHT), "-r", 25, "-i", path + ".raw",
           *FFV1, path)
    return path


def luma(path, pix_fmt="gray16le"):
    codes = array.array("H" if pix_fmt != "gray" else "B")
    codes.frombytes(raw(path, pix_fmt))
    return codes


def deviation(codes):
    mean = sum(codes) / len(codes)
    return math.sqrt(sum(c * c for c in codes) / len(codes) - mean * mean)


def frame_means(codes):
    return [sum(codes[i:i + PIXELS]) / PIXELS for i in range(0, len(codes), PIXELS)]


class CodeRange(Case):
    def written(self, source, *options, name="out.mkv", **more):
        """Returns the output's path, and whether the run reported stretching."""
        codec = () if name.endswith(".png") else ("--vcodec", "ffv1")
        result = self.ok(source, "-o", self.path(name), *codec, "-y", *options, **more)
        return self.path(name), "stretched" in result.err

    def piped(self, path, *options, name="piped.mkv"):
        with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as cat:
            return self.written("-", *options, name=name, stdin=cat.stdout)

    def check_stretched(self, written):
        path, said = written
        codes = luma(path)
        self.assertTrue(said)
        self.assertEqual(len(codes), FRAMES * PIXELS)
        self.assertGreater(deviation(codes), ENOUGH)
        self.assertLess(max(codes), 65535)
        self.assertGreater(min(codes), 0)
        self.assertLess(deviation(frame_means(codes)), 1000) # the waves alone cause 600

    def check_untouched(self, written, source):
        self.assertFalse(written[1])
        self.assertEqual(raw(written[0]), raw(source))


class Stretched(CodeRange):
    def test_recipes(self):
        for recipe in (WARM, NARROW, SHALLOW):
            source = thermal(recipe)
            for options in ((), ("--two-pass", "off")):
                with self.subTest(recipe=recipe, options=options):
                    self.check_stretched(self.written(source, *options))
            with self.subTest(recipe=recipe, options="pipe"):
                self.check_stretched(self.piped(source))
            with self.subTest(recipe=recipe, options="8 bits"):
                path, _ = self.written(source, "--pix-fmt", "gray")
                self.assertGreater(len(set(luma(path, "gray"))), 150)

    def test_message(self):
        result = self.ok(thermal(WARM), "--null")
        self.assertRegex(result.err, r"-gray16le.mkv' uses codes 74\d\d to 8[12]\d\d of 65535: stretched")

    def test_modes(self):
        for mode in ("stretch", "clahe", "haze"):
            with self.subTest(mode):
                self.check_stretched(self.written(thermal(WARM), "--mode", mode))

    def test_raw_output(self):
        result = self.ok(thermal(WARM), "-o", "-")
        codes = array.array("H")
        for frame in result.out.split(b"FRAME\n")[1:]:
            codes.frombytes(frame)
        self.assertEqual(len(codes), FRAMES * PIXELS)
        self.assertGreater(deviation(codes), ENOUGH)

    def test_less_deep_gray(self):
        for pix_fmt, recipe in (("gray10le", (300, 60, 1)), ("gray12le", (1000, 250, 2))):
            for options in ((), ("--two-pass", "off")):
                with self.subTest(pix_fmt, options=options):
                    path, said = self.written(thermal(recipe, pix_fmt), *options)
                    self.assertTrue(said)
                    self.assertEqual(video(path)["pix_fmt"], pix_fmt)
                    self.assertGreater(deviation(luma(path)), ENOUGH)

    def test_one_uniform_key_frame(self):
        source = self.path("late.mkv")
        ffmpeg("-i", thermal(CAPPED), "-i", thermal(WARM), "-filter_complex", "[0][1]concat", *FFV1, "-g", 300, source)
        path, said = self.written(source)
        self.assertTrue(said)
        self.assertGreater(deviation(luma(path)[FRAMES * PIXELS:]), ENOUGH)

    def test_a_part_has_its_own_codes(self):
        source = self.path("two.mkv")
        ffmpeg("-i", thermal(NARROW), "-i", thermal(WARM), "-filter_complex", "[0][1]concat", *FFV1, source)
        self.assertFalse(self.written(source)[1])
        path, said = self.written(source, "--ss", 1)
        self.assertTrue(said)
        self.assertGreater(deviation(luma(path)), ENOUGH)

    def test_pictures(self):
        source = self.path("frame%03d.png")
        ffmpeg("-i", thermal(WARM), source)
        self.check_stretched(self.written("--sequence", source))
        path, said = self.written(self.path("frame001.png"), name="out.png")
        self.assertTrue(said)
        self.assertGreater(deviation(luma(path)), ENOUGH)

    def test_parts_equal_one_run(self):
        source = thermal(SHALLOW)
        whole, _ = self.written(source)
        parts, said = self.written(source, "--jobs", 2, "--parts", 3, name="parts.mkv")
        self.assertTrue(said)
        self.assertEqual(raw(parts), raw(whole))


class LeftAlone(CodeRange):
    def test_mode_off(self):
        source = thermal(WARM)
        for options in (("--mode", "off"), ("--strength", 0)):
            with self.subTest(options):
                self.check_untouched(self.written(source, *options), source)
                self.check_untouched(self.piped(source, *options), source)

    def test_a_capped_lens(self):
        source = thermal(CAPPED)
        for options in ((), ("--two-pass", "off"), ("--code-range", "used")):
            with self.subTest(options):
                path, said = self.written(source, *options)
                self.assertFalse(said)
                self.assertLess(deviation(luma(path)), 10)
        path, said = self.piped(source)
        self.assertFalse(said)
        self.assertLess(deviation(luma(path)), 10)

    def test_more_codes(self):
        source = thermal(WIDE)
        self.assertFalse(self.written(source)[1])
        self.assertFalse(self.piped(source)[1])
        self.assertTrue(self.written(source, "--code-range", "used")[1])

    def test_options(self):
        source = thermal(WARM)
        for options in (("--code-range", "full"), ("--limit", "lighten")):
            with self.subTest(options):
                self.assertFalse(self.written(source, *options)[1])

    def test_black_and_white_in_yuv(self):
        source = self.path("film.mkv")
        ffmpeg("-i", thermal(WARM), "-vf", "format=yuv420p10le", *FFV1, source)
        self.assertFalse(self.written(source)[1])
