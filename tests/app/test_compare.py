"""--compare in written video: both halves are exact to the sample, with a line between them and labels."""

from unittest import mock

from common import *

# Log2 of luma columns and rows per chroma sample, and bytes of a sample.
FORMATS = {"yuv420p": (1, 1, 1), "yuv422p": (1, 0, 1), "yuv444p": (0, 0, 1), "yuv420p10le": (1, 1, 2),
           "yuv422p10le": (1, 0, 2), "yuv444p10le": (0, 0, 2), "gray": (0, 0, 1), "yuva420p": (1, 1, 1)}


def planes(path, pix_fmt):
    """The planes of each frame, as lists of rows."""
    across, down, size = FORMATS[pix_fmt]
    about = video(path)
    width, height, data, at, frames = about["width"], about["height"], raw(path, pix_fmt), 0, []
    shapes = [(width, height)]
    if pix_fmt != "gray":
        shapes += [(-(-width // (1 << across)), -(-height // (1 << down)))] * 2
    if pix_fmt.startswith("yuva"):
        shapes.append((width, height))
    while at < len(data):
        frame = []
        for wide, tall in shapes:
            frame.append([data[at + i * wide * size:at + (i + 1) * wide * size] for i in range(tall)])
            at += wide * tall * size
        frames.append(frame)
    return frames


class Compare(Case):
    def source(self, pix_fmt="yuv420p", size="480x270", **more):
        return clip("moving-%s.mkv" % pix_fmt, *FFV1, "-pix_fmt", pix_fmt, seconds=0.2,
                    source="testsrc=size=%s:rate=25,format=%s,lutyuv=y='64+val/4'" % (size, pix_fmt), **more)

    def pair(self, source, kind, *options):
        """Writes the equalized video without and with the comparison."""
        return (self.lossless(source, *options, name="plain.mkv"),
                self.lossless(source, "--compare", kind, *options, name="compared.mkv"))

    def check_split(self, pix_fmt, size="480x270"):
        source = self.source(pix_fmt, size)
        plain, both = self.pair(source, "split")
        self.assertEqual((video(both)["width"], video(both)["height"]), tuple(map(int, size.split("x"))))
        bytes_ = FORMATS[pix_fmt][2]
        differ = 0
        for before, after, got in zip(*(planes(path, pix_fmt) for path in (source, plain, both))):
            self.assertEqual(len(got), len(after))
            for i, rows in enumerate(got):
                wide = len(rows[0]) // bytes_
                edge = wide // 2 - 6
                for y in range(len(rows) // 2, len(rows)):  # below the labels
                    self.assertEqual(rows[y][:edge * bytes_], before[i][y][:edge * bytes_])
                    self.assertEqual(rows[y][-edge * bytes_:], after[i][y][-edge * bytes_:])
                    differ += rows[y][:edge * bytes_] != after[i][y][:edge * bytes_]
            # The line is bright, with dark edges.
            row = got[0][-1]
            middle = [int.from_bytes(row[x * bytes_:(x + 1) * bytes_], "little") >> (2 if bytes_ == 2 else 0)
                      for x in range(int(size.split("x")[0]) // 2 - 4, int(size.split("x")[0]) // 2 + 4)]
            self.assertGreater(max(middle), 200)
            self.assertLess(min(middle), 40)
        self.assertGreater(differ, 10)

    def check_side(self, pix_fmt, size="480x270"):
        source = self.source(pix_fmt, size)
        plain, both = self.pair(source, "side")
        width, height = map(int, size.split("x"))
        left = width // (1 << FORMATS[pix_fmt][0]) * (1 << FORMATS[pix_fmt][0])
        self.assertEqual((video(both)["width"], video(both)["height"]), (left + width, height))
        for before, after, got in zip(*(planes(path, pix_fmt) for path in (source, plain, both))):
            for i, rows in enumerate(got):
                for y in range(len(rows) // 2, len(rows)):
                    wide = len(after[i][y])
                    self.assertEqual(rows[y][-wide:], after[i][y])
                    self.assertEqual(rows[y][:-wide], before[i][y][:len(rows[y]) - wide])
            # Row 30 differs, because it goes through the labels.
            self.assertNotEqual(got[0][30], before[0][30][:len(got[0][30]) - len(after[0][30])] + after[0][30])

    def test_split(self):
        for pix_fmt in some(list(FORMATS)):
            with self.subTest(pix_fmt):
                self.check_split(pix_fmt)

    def test_side(self):
        for pix_fmt in some(list(FORMATS)[::-1]):
            with self.subTest(pix_fmt):
                self.check_side(pix_fmt)

    def test_odd_sizes(self):
        for pix_fmt, check in some((("yuv420p", self.check_split), ("yuv420p", self.check_side),
                                    ("yuv422p10le", self.check_side), ("yuv422p10le", self.check_split))):
            with self.subTest(pix_fmt, check=check.__name__):
                check(pix_fmt, "481x271")

    def test_more_bits(self):
        """Both halves have the output's depth."""
        dark = clip("dark.mkv", *FFV1, "-pix_fmt", "yuv420p", seconds=0.3,
                    source="testsrc2=size=480x270:rate=25,lutyuv=y='16+val/7',noise=alls=8:allf=t")
        both = self.lossless(dark, "--compare", "split", "--pix-fmt", "auto10")
        self.assertEqual(video(both)["pix_fmt"], "yuv420p10le")
        before, got = planes(dark, "yuv420p")[0][0][-1], planes(both, "yuv420p10le")[0][0][-1]
        for x in range(0, 200):
            self.assertEqual(int.from_bytes(got[2 * x:2 * x + 2], "little"), before[x] * 4)

    def test_picture(self):
        photo = clip("photo.png", "-frames:v", "1", seconds=0.1, source=DULL % ("480x270", 25))
        out = self.converted(photo, "out.png", "--compare", "side")
        self.assertEqual((video(out)["width"], video(out)["height"]), (960, 270))

    def test_rotated(self):
        """Left and right are the sides of the upright picture."""
        lossless = ("-c:v", "libx264", "-preset", "ultrafast", "-qp", "0", "-pix_fmt", "yuv444p")
        upright = clip("upright.mp4", *lossless, seconds=0.2, source=DULL % ("480x270", 25))
        options = ("--dither", "off", "--strength", "0.8")
        cases = [(kind, *turned) for kind in ("split", "side")
                 for turned in ((90, "transpose=1"), (180, "hflip,vflip"), (270, "transpose=2"))]
        for kind, degrees, turn in share(cases, 3):
            with self.subTest(degrees, kind=kind):
                want = raw(self.lossless(upright, "--compare", kind, *options, name="upright.mkv"), "yuv444p")
                source = self.on_its_side(upright, degrees, turn, *lossless)
                output = self.converted(source, "phone.mp4", "--compare", kind, *options, "--crf", "0",
                                        "--preset", "ultrafast", "-y")
                got = raw(output, "yuv444p")
                self.assertEqual(len(got), len(want))
                # swscale rounds the ends of the labels' rows differently.
                self.assertLessEqual(max((abs(a - b) for a, b in zip(got, want) if a != b), default=0), 1)

    def test_oblong_pixels(self):
        """The number of samples and the shape of pixels are kept."""
        source = self.source(filters="setsar=2")
        both = self.lossless(source, "--compare", "side")
        self.assertEqual(video(both)["sample_aspect_ratio"], "2:1")
        self.assertEqual(video(both)["width"], 960)

    def test_with_the_panel(self):
        """The panel is drawn over the source, at the left, as in the window."""
        for kind in some(("split", "side")):
            source = self.source(size="960x540")
            both = Picture(self.lossless(source, "--compare", kind, name="both.mkv"))
            panel = Picture(self.lossless(source, "--compare", kind, "--overlay", name="panel.mkv"))
            row = 540 // 3
            differ = [x for x in range(both.width)
                      if both.luma[0][row * both.width + x] != panel.luma[0][row * both.width + x]]
            self.assertGreater(len(differ), 100)
            self.assertLess(abs(sum(differ) / len(differ) / both.width - 0.1), 0.1)

    def test_same_statistics(self):
        rows = []
        for options in ((), ("--compare", "side"), ("--compare", "split", "--null")):
            out = () if "--null" in options else ("-o", self.path("out.mkv"), "--vcodec", "ffv1", "-y")
            self.ok(self.source(), *out, *options, "--stats", self.path("s.csv"), "-y")
            rows.append([list(row.items())[:11] for row in read_rows(self.path("s.csv"))])
        self.assertEqual(rows[0], rows[1])
        self.assertEqual([len(r) for r in rows[0]], [len(r) for r in rows[2]])

    def test_not_by_the_settings_file(self):
        """`compare` in the settings file is only for the window."""
        settings = self.write("settings", b"compare = side\n")
        plain = self.lossless(self.source(), name="plain.mkv")
        self.ok(self.source(), "-o", self.path("out.mkv"), "--vcodec", "ffv1", "--config", settings)
        self.assertEqual(raw(self.path("out.mkv")), raw(plain))

    def test_refused(self):
        self.refused(lumeq("--camera", "--record-raw", "--frames", "3", "-o", self.path("x.mkv"), "--compare", "split"),
                     USAGE, "--compare", "--record-raw")
        self.refused(lumeq(self.source(), "-o", self.path("x.mkv"), "--compare", "above"), USAGE, "--compare", "above",
                     "off|split|side")

    def test_no_font(self):
        config = self.write("fonts.conf", b"<fontconfig></fontconfig>")
        with mock.patch.dict(os.environ, FONTCONFIG_FILE=config):
            result = self.ok(self.source(), "--null", "--compare", "split")
        self.assertEqual(len([line for line in result.lines if "no font" in line]), 1)
