"""--overlay draws the histogram panel into written video and changes nothing else."""

from common import *

# The colours of the histogram's bars, and their opacity from 0 to 255.
BLUE, ORANGE, COVER = (0x74, 0xA7, 0xDC), (0xF2, 0xB4, 0x5C), 240


def place(width, height):
    """The panel's x, y, width and height in a picture (panel_place.c)."""
    margin = max(8, min(width, height) // 50)
    if width >= height * 5 // 4:
        wide = min(max(width // 4, 216), max(480, width // 5))
        return width - margin - wide, margin, wide, min(height - height // 4 - margin, wide * 2)
    tall, bottom = max(height // 4, min(150, height // 2)), height - height // 4
    return margin, bottom - tall, width - 2 * margin, tall


def changed(a, b, width, height, x, y, wide, tall):
    """The numbers of bytes that differ between two planes, inside a rectangle and outside."""
    inside = outside = 0
    for row in range(height):
        p, q = a[row * width:(row + 1) * width], b[row * width:(row + 1) * width]
        if p == q:
            continue
        differ = [i for i in range(width) if p[i] != q[i]]
        within = [i for i in differ if x <= i < x + wide and y <= row < y + tall]
        inside += len(within)
        outside += len(differ) - len(within)
    return inside, outside


class Rgb:
    def __init__(self, path):
        about = video(path)
        self.width, self.height = about["width"], about["height"]
        data, size = raw(path, "rgb24"), self.width * self.height * 3
        self.frames = [data[i:i + size] for i in range(0, len(data), size)]

    def row(self, frame, x, y, wide):
        i = (y * self.width + x) * 3
        return self.frames[frame][i:i + 3 * wide]


class Overlay(Case):
    # Every code from 40 to 200 is equally frequent, so that all bars are as high as the plot.
    RAMP = "color=gray:size=%dx%d:rate=25,format=%s,geq=lum='40+160*X/W':cb=128:cr=128"

    def ramp(self, width=480, height=270, pix_fmt="yuv420p", *output, name="ramp.mkv", filters=None):
        return clip(name, *(output or FFV1), "-pix_fmt", pix_fmt, seconds=0.2, filters=filters,
                    source=self.RAMP % (width, height, pix_fmt.replace("nv12", "yuv420p")))

    def pair(self, source, *options, suffix=".mkv", codec="ffv1"):
        """Writes the video without and with the panel."""
        options += ("--vcodec", codec, "-y")
        return (self.converted(source, "plain" + suffix, *options),
                self.converted(source, "overlay" + suffix, "--overlay", *options))

    def check_place(self, source, *options, where=None):
        plain, overlay = (Picture(path) for path in self.pair(source, *options))
        width, height = plain.width, plain.height
        x, y, wide, tall = where or place(width, height)
        self.assertEqual(len(plain.luma), len(overlay.luma))
        for a, b in zip(plain.luma, overlay.luma):
            inside, outside = changed(a, b, width, height, x, y, wide, tall)
            self.assertEqual(outside, 0)
            self.assertGreater(inside, wide * tall * 0.8)
        return plain, overlay

    def test_place(self):
        for size in some(((480, 270), (481, 271), (720, 405), (271, 481), (300, 300))):
            with self.subTest(size):
                source = clip("odd.mkv", *FFV1, "-pix_fmt", "yuv420p", seconds=0.2,
                              source="testsrc=size=%dx%d:rate=25" % size)
                plain, overlay = self.check_place(source)
                self.assertEqual((plain.width, plain.height), size)
                x, y, wide, tall = place(*size)
                columns, rows = (size[0] + 1) // 2, (size[1] + 1) // 2
                right, bottom = (x + wide + 1) // 2, (y + tall + 1) // 2
                for a, b in zip(plain.chroma, overlay.chroma):
                    for k in (0, columns * rows):
                        inside, outside = changed(a[k:], b[k:], columns, rows, x // 2, y // 2,
                                                  right - x // 2, bottom - y // 2)
                        self.assertEqual(outside, 0)
                        self.assertGreater(inside, wide * tall / 8)

    def test_mode_off(self):
        source = self.ramp()
        plain, _ = self.check_place(source, "--mode", "off")
        self.assertEqual(plain.hashes(), Picture(source).hashes())

    def test_too_small(self):
        source = clip("small.mkv", *FFV1, "-pix_fmt", "yuv420p", seconds=0.2)
        plain, overlay = (Picture(path) for path in self.pair(source))
        self.assertEqual(plain.hashes(), overlay.hashes())
        result = self.ok(source, "--null", "--overlay")
        self.assertEqual(len([line for line in result.lines if "160x90 is too small" in line]), 1)

    def test_same_bytes(self):
        source = clip("moving.mkv", *FFV1, "-pix_fmt", "yuv420p", size="480x270", seconds=0.4)
        again = [self.lossless(source, "--overlay", name=name) for name in ("a.mkv", "b.mkv")]
        self.assertEqual(*(Picture(path).hashes() for path in again))

    def test_stats(self):
        source, rows = self.ramp(), []
        for options in ((), ("--overlay",)):
            self.lossless(source, "--stats", self.path("s.csv"), *options)
            rows.append([list(row.items())[:11] for row in read_rows(self.path("s.csv"))])
        self.assertEqual(*rows)

    # ---- colours ----

    def count(self, plain, overlay, colour, where, frame=0):
        """The number of pixels in a bar's colour, and their mean column."""
        x, y, wide, tall = where
        wanted = [[(c * COVER + b * (255 - COVER)) / 255 for b in range(256)] for c in colour]
        columns = []
        for v in range(y, y + tall):
            below, got = (picture.row(frame, x, v, wide) for picture in (plain, overlay))
            for u in range(0, 3 * wide, 3):
                if all(abs(wanted[i][below[u + i]] - got[u + i]) <= 6 for i in (0, 1, 2)):
                    columns.append(x + u // 3)
        return len(columns), sum(columns) / max(1, len(columns))

    def check_colours(self, source, suffix=".mkv", codec="ffv1"):
        plain, overlay = (Rgb(p) for p in self.pair(source, "--mode", "off", suffix=suffix, codec=codec))
        x, y, wide, tall = place(plain.width, plain.height)
        top, bottom = (x, y, wide, tall * 3 // 10), (x, y + tall * 3 // 10, wide, tall * 3 // 10)
        for colour, there, elsewhere in ((BLUE, top, bottom), (ORANGE, bottom, top)):
            self.assertGreater(self.count(plain, overlay, colour, there)[0], wide * tall / 30)
            self.assertLess(self.count(plain, overlay, colour, elsewhere)[0], wide * tall / 100)

    def test_colours(self):
        for range_, space, pix_fmt in some((("tv", "bt709", "yuv420p"), ("pc", "bt709", "yuv422p"),
                                             ("pc", "smpte170m", "yuv444p"), ("tv", "smpte170m", "yuv422p"),
                                             ("tv", "bt2020nc", "yuv444p"), ("pc", "bt2020nc", "yuv420p"))):
            with self.subTest(space=space, range=range_, pix_fmt=pix_fmt):
                self.check_colours(self.ramp(
                    480, 270, pix_fmt, *FFV1, "-color_range", range_, "-colorspace", space,
                    filters="scale=in_range=%s:out_range=%s" % (range_, range_)))

    def test_picture(self):
        self.check_colours(self.ramp(480, 270, "yuv444p", "-c:v", "png", "-frames:v", "1",
                                     name="photo.png", filters="format=rgb24"),
                           suffix=".png", codec="png")

    def test_gray(self):
        self.check_place(self.ramp(480, 270, "gray", filters="format=gray"))

    def test_transparent(self):
        """The panel is opaque where the picture is transparent."""
        source = clip("clear.mkv", *FFV1, "-pix_fmt", "yuva420p", seconds=0.2,
                      source="color=gray@0:size=480x270:rate=25,format=yuva420p")
        plain, overlay = (raw(path) for path in self.pair(source))
        x, y, wide, tall = place(480, 270)
        size, alpha = 480 * 270, 480 * 270 * 3 // 2
        self.assertEqual(set(plain[alpha:alpha + size]), {0})
        self.assertGreater(overlay[alpha + (y + tall // 2) * 480 + x + wide // 2], 150)
        self.assertEqual(overlay[alpha + (y + tall + 1) * 480 + x], 0)

    def test_hist_scale(self):
        source = clip("moving.mkv", *FFV1, "-pix_fmt", "yuv420p", size="480x270", seconds=0.2)
        linear, log = (Picture(self.lossless(source, "--overlay", "--hist-scale", scale,
                                             name=scale + ".mkv")) for scale in ("linear", "log"))
        self.assertNotEqual(linear.hashes(), log.hashes())

    def test_scopes(self):
        """Each scope draws its own panel in the same corner, no higher than necessary. The waveform of flat gray is a
        line."""
        source = clip("flat.mkv", *FFV1, "-pix_fmt", "yuv420p", seconds=0.1,
                      source="color=gray:size=960x540:rate=25,format=yuv420p,geq=lum=126:cb=128:cr=128")
        x, y, wide, tall = place(960, 540)
        plain = Rgb(self.lossless(source, "--mode", "off", name="plain.mkv"))
        pictures = {}
        for scope in ("histogram", "waveform", "vectorscope", "all"):
            pictures[scope] = Rgb(self.lossless(source, "--mode", "off", "--overlay", "--scope", scope, name="scope.mkv"))
            for row in range(540):
                outside = pictures[scope].row(0, 0, row, x)
                self.assertEqual(outside, plain.row(0, 0, row, x))
        self.assertEqual(len({p.frames[0] for p in pictures.values()}), 4)
        bottom = lambda p: max(row for row in range(540) if p.row(0, x + wide // 2, row, 8) !=
                               plain.row(0, x + wide // 2, row, 8))
        self.assertLessEqual(abs(bottom(pictures["histogram"]) - (y + tall)), 1)  # rows of chroma are two pixels high
        self.assertLess(bottom(pictures["waveform"]), y + wide * 5 // 4)
        # Orange rows belong to the line.
        rows = [row for row in range(540) if self.count(plain, pictures["waveform"], ORANGE, (x, row, wide, 1))[0] or
                sum(r > 180 and r > b + 60 for r, b in self.reds(pictures["waveform"], x, row, wide)) > wide // 2]
        self.assertTrue(rows and max(rows) - min(rows) <= 3, rows)

    @staticmethod
    def reds(picture, x, row, wide):
        line = picture.row(0, x, row, wide)
        return list(zip(line[::3], line[2::3]))

    def test_no_room_for_all(self):
        result = self.ok(self.ramp(), "--null", "--overlay", "--scope", "all")
        self.assertEqual(len([line for line in result.lines if "480x270 is too small for all scopes" in line]), 1)

    def test_scopes_refused(self):
        self.refused(lumeq(self.ramp(), "--null", "--overlay", "--scope", "sound"), USAGE, "--scope", "sound",
                     "histogram|waveform|vectorscope|all")

    # ---- upright, and in display aspect ----

    def test_rotated(self):
        """A rotated video gives the same pictures as the upright one, with an upright panel."""
        lossless = ("-c:v", "libx264", "-preset", "ultrafast", "-qp", "0", "-pix_fmt", "yuv444p")
        upright = clip("upright.mp4", *lossless, size="480x270", seconds=0.2)
        want = raw(self.converted(upright, "upright.mkv", "--overlay", "--dither", "off", "--strength", "0.8",
                                  "--vcodec", "ffv1"), "yuv444p")
        for degrees, turn in some(((90, "transpose=1"), (180, "hflip,vflip"), (270, "transpose=2"))):
            with self.subTest(degrees):
                source = self.on_its_side(upright, degrees, turn, *lossless)
                output = self.converted(source, "phone.mp4", "--overlay", "--dither", "off", "--strength", "0.8", "--crf",
                                        "0", "--preset", "ultrafast", "-y")
                self.assertEqual(raw(output, "yuv444p"), want)

    def test_oblong_pixels(self):
        """With pixels twice as wide as high, the displayed panel has its usual shape."""
        source = clip("oblong.mkv", *FFV1, "-pix_fmt", "yuv444p", size="320x360", seconds=0.2, filters="setsar=2")
        x, y, wide, tall = place(640, 360)
        self.check_place(source, where=(x // 2, y, wide // 2, tall))
