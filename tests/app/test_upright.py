"""Rotated video is written upright, by the container's rotation or by turning the pixels."""

from common import *

# EXIF orientation: (xx, xy, yx, yy). The sample at (x, y) is shown at (xx x + xy y, yx x + yy y), plus an offset.
TURNS = {1: (1, 0, 0, 1), 2: (-1, 0, 0, 1), 3: (-1, 0, 0, -1), 4: (1, 0, 0, -1),
         5: (0, 1, 1, 0), 6: (0, -1, 1, 0), 7: (0, -1, -1, 0), 8: (0, 1, -1, 0)}
ONE = 1 << 16

# Red and green above, blue and yellow below.
CORNERS = ("color=red:size=%dx%d:rate=25,drawbox=iw/2:0:iw:ih/2:green:fill,"
           "drawbox=0:ih/2:iw/2:ih:blue:fill,drawbox=iw/2:ih/2:iw:ih:yellow:fill")


def with_matrix(path, a, b, c, d):
    """Sets the matrix in the first track's header of an mp4 or mov: (x, y) goes to (ax + cy, bx + dy)."""
    data = bytearray(read_bytes(path))
    at = data.index(b"tkhd") + 44
    data[at:at + 36] = struct.pack(">9i", a, b, 0, c, d, 0, 0, 0, 1 << 30)
    write_bytes(path, data)
    return path


def turned_by(path, turn):
    xx, xy, yx, yy = turn
    return with_matrix(path, xx * ONE, yx * ONE, xy * ONE, yy * ONE)


def matrix(path):
    """The display matrix's upper left part, or None."""
    for entry in video(path).get("side_data_list", []):
        if "displaymatrix" in entry:
            rows = [line.split(":")[1].split() for line in entry["displaymatrix"].split("\n") if ":" in line]
            return [int(n) for row in rows[:2] for n in row[:2]]
    return None


def stored(path, pix_fmt=None):
    return ffmpeg("-noautorotate", "-i", path, "-map", "0:v:0", "-fps_mode", "passthrough",
                  *(("-pix_fmt", pix_fmt) if pix_fmt else ()), "-f", "rawvideo", "-")


def turn_plane(samples, width, height, turn):
    """The samples of a plane as it is displayed."""
    xx, xy, yx, yy = turn
    wide, tall = (width, height) if xx else (height, width)
    left, top = (wide - 1 if xx + xy < 0 else 0), (tall - 1 if yx + yy < 0 else 0)
    to = [None] * (wide * tall)
    for y in range(height):
        for x in range(width):
            to[(top + yx * x + yy * y) * wide + left + xx * x + xy * y] = samples[y * width + x]
    return to


def colours(path, shown=False):
    """Colours of the first frame's corners, row by row, as stored or as displayed."""
    auto = () if shown else ("-noautorotate",)
    data = ffmpeg(*auto, "-i", path, "-frames:v", 1, "-f", "image2pipe", "-c:v", "ppm", "-pix_fmt", "rgb24", "-")
    head, size, _, pixels = data.split(b"\n", 3)
    width, height = (int(n) for n in size.split())
    names = {(1, 0, 0): "R", (0, 1, 0): "G", (0, 0, 1): "B", (1, 1, 0): "Y"}
    found = ""
    for y in (2, height - 3):
        for x in (2, width - 3):
            pixel = pixels[(y * width + x) * 3:(y * width + x) * 3 + 3]
            found += names.get(tuple(int(v > 90) for v in pixel), "?")
    return found


def upright(turn):
    return "".join(turn_plane("RGBY", 2, 2, turn))


def oblong(path):
    """A video whose container declares pixels twice as wide as high, and whose codec declares square pixels."""
    make(path + ".mp4", *X264, "-x264-params", "sar=1/1", seconds=0.4, source=CORNERS % (240, 160))
    ffmpeg("-i", path + ".mp4", "-c", "copy", "-aspect", "3", path)
    return path


def exif(number):
    """EXIF tags with only an orientation."""
    return b"MM\0*\0\0\0\x08\0\x01" + struct.pack(">HHIHH", 0x112, 3, 1, number, 0) + bytes(4)


def photo(path, number, size=(64, 48), pix_fmt="yuvj420p"):
    plain = clip("plain.jpg", "-c:v", "mjpeg", "-q:v", 2, "-pix_fmt", pix_fmt, "-frames:v", 1, source=CORNERS % size)
    data = read_bytes(plain)
    tags = b"Exif\0\0" + exif(number)
    write_bytes(path, data[:2] + b"\xff\xe1" + struct.pack(">H", len(tags) + 2) + tags + data[2:])
    return path


class Turned(Case):
    def source(self, turn, size=(48, 32), pix_fmt="yuv420p", name="phone.mov", filters=None):
        path = self.path(name)
        shutil.copy(clip(name, *FFV1, "-pix_fmt", pix_fmt, seconds=0.08, source=CORNERS % size,
                         filters="format=" + pix_fmt + ("," + filters if filters else "")), path)
        return turned_by(path, turn) if turn else path

    # ---- formats; tests/media/test_turner.c compares every sample ----

    def test_same_format(self):
        for number, pix_fmt in ((6, "yuv420p10le"), (5, "gray16le"), (3, "yuv422p10le")):
            with self.subTest(pix_fmt):
                source = self.source(TURNS[number], pix_fmt=pix_fmt)
                output = self.converted(source, "out.avi", "--vcodec", "ffv1", "--mode", "off", "-y")
                about = video(output)
                self.assertEqual((about["width"], about["height"]), (48, 32) if TURNS[number][0] else (32, 48))
                self.assertEqual(about["pix_fmt"], pix_fmt)
                if pix_fmt[:4] != "gray":
                    self.assertEqual(colours(output), upright(TURNS[number]))

    # ---- containers with and without rotation ----

    def test_kept(self):
        for number, (xx, xy, yx, yy) in some(TURNS.items()):
            name = {3: "out.mp4", 4: "out.mov", 6: "out.m4v", 7: "out.3gp"}.get(number)
            if not name:
                continue
            with self.subTest(number, name=name):
                output = self.converted(self.source(TURNS[number]), name, "--vcodec", "mpeg4", "--mode", "off")
                self.assertEqual(matrix(output), [n * ONE for n in (xx, yx, xy, yy)])
                self.assertEqual(colours(output), "RGBY")

    def test_shown_upright_everywhere(self):
        outputs = [("out.mkv", "ffv1"), ("out.webm", "libvpx-vp9"), ("out.avi", "mjpeg"), ("out.flv", "flv"),
                   ("out.gif", None), ("out.apng", None), ("out.tiff", None), ("out.webp", None)]
        encoders = {"out.webm": "libvpx-vp9", "out.webp": "libwebp"}
        source = self.source(TURNS[6], pix_fmt="yuv444p")
        for name, codec in outputs:
            with self.subTest(name):
                if name in encoders and not has_encoder(encoders[name]):
                    continue
                result = self.ok(source, "-o", self.path(name), "--mode", "off",
                                 *(("--vcodec", codec) if codec else ()))
                messages = [line for line in result.lines if "turned upright for" in line]
                # Later versions of FFmpeg keep the rotation in Matroska, as a projection.
                kept = name in ("out.mkv", "out.webm") and matrix(self.path(name)) is not None
                self.assertEqual(len(messages), 0 if kept else 1, str(result))
                self.assertEqual(colours(self.path(name), shown=True), upright(TURNS[6]))

    def test_pipe(self):
        result = self.ok(self.source(TURNS[6]), "-o", "-", "--mode", "off")
        self.assertIn(b" W32 H48 ", result.out.split(b"\n")[0])
        self.assertEqual(colours(self.write("piped.y4m", result.out)), upright(TURNS[6]))

    def test_nothing_to_turn(self):
        source = self.source(TURNS[1])
        result = self.ok(source, "-o", self.path("out.avi"), "--vcodec", "ffv1", "--mode", "off")
        self.assertNotIn("turned", result.err)
        self.assertEqual(stored(source), stored(self.path("out.avi")))

    def test_other_angles(self):
        """A rotation by 45 degrees is reported; a deviation of half a degree is ignored."""
        source = self.source(None)
        with_matrix(source, 46341, 46341, -46341, 46341)
        self.assertEqual(matrix(self.converted(source, "out.mp4", "--vcodec", "mpeg4")), [46341, 46341, -46341, 46341])
        result = self.ok(source, "-o", self.path("out.avi"), "--vcodec", "ffv1", "--mode", "off")
        self.assertEqual([line for line in result.lines if "45 degrees" in line and "left out" in line],
                         result.lines[:1])
        self.assertEqual(stored(source), stored(self.path("out.avi")))
        with_matrix(source, 572, 65533, -65533, 572)
        output = self.converted(source, "out.avi", "--vcodec", "ffv1", "--mode", "off", "-y")
        self.assertEqual(colours(output), upright(TURNS[6]))

    # ---- the shape of pixels ----

    def test_oblong_pixels(self):
        source = self.source(TURNS[6], (240, 160), filters="setsar=2")
        for name, size, aspect in (("out.mp4", (240, 160), "2:1"), ("out.avi", (160, 240), "1:2"),
                                   ("out.nut", (160, 240), "1:2"), ("out.y4m", (160, 240), "1:2"),
                                   ("out.png", (160, 240), "1:2"), ("out.jpg", (160, 240), "1:2")):
            with self.subTest(name):
                about = video(self.converted(source, name, "--preset", "ultrafast")
                              if name == "out.mp4" else self.converted(source, name))
                self.assertEqual((about["width"], about["height"]), size)
                self.assertEqual(about["sample_aspect_ratio"], aspect)

    def test_the_container_comes_first(self):
        """The container's pixel aspect ratio counts, not the codec's."""
        source = oblong(self.path("oblong.mp4"))
        self.assertEqual(video(self.converted(source, "out.y4m"))["sample_aspect_ratio"], "2:1")
        turned_by(source, TURNS[8])
        self.assertEqual(video(self.converted(source, "out.y4m", "-y"))["sample_aspect_ratio"], "1:2")
        self.assertEqual(video(self.converted(source, "out.mp4"))["sample_aspect_ratio"], "2:1")


class Photos(Case):
    def jpeg(self, number, pix_fmt="yuvj420p"):
        return photo(self.path("photo.jpg"), number, pix_fmt=pix_fmt)

    def test_orientation(self):
        for number, turn in some(TURNS.items()):
            source = self.jpeg(number)
            with self.subTest(number):
                self.assertEqual(colours(self.converted(source, "out.jpg", "--mode", "off", "-y")), upright(turn))
                self.assertNotIn(b"Exif", self.read("out.jpg"))
        self.assertEqual(colours(self.converted(source, "out.png", "--mode", "off")), upright(turn))

    def test_an_upright_container_keeps_the_orientation(self):
        output = self.converted(self.jpeg(6), "out.mp4", "--mode", "off")
        self.assertEqual(matrix(output), [0, ONE, -ONE, 0])
        self.assertEqual((colours(output), colours(output, shown=True)), ("RGBY", upright(TURNS[6])))

    def test_changing_orientation(self):
        """The first frame's orientation applies to all frames, and a message reports that others differ."""
        parts = [self.read(os.path.basename(photo(self.path("%d.jpg" % n), n))) for n in (6, 8)]
        for name, numbers, at in (("same", (0, 0, 0), None), ("once", (0, 0, 1), "0.080"),
                                  ("often", (0, 1, 0, 1), "0.040")):
            source = self.write(name + ".mjpeg", b"".join(parts[n] for n in numbers))
            for output in ("out.avi", "out.mp4"):
                result = self.ok(source, "-o", self.path(output), "-y")
                found = [line for line in result.lines if "rotated differently" in line]
                self.assertEqual(found, ["lumeq: from %s s on, the video is rotated differently; "
                                         "the first rotation is kept" % at] if at else [])
                self.assertEqual(colours(self.path(output), shown=True), upright(TURNS[6]))

    def test_webp(self):
        if not has_encoder("libwebp"):
            self.skipTest("no libwebp")
        with open(make(self.path("plain.webp"), "-c:v", "libwebp", "-frames:v", 1,
                       source=CORNERS % (64, 48)), "rb") as f:
            picture = f.read()[12:]
        tags = exif(6)
        chunks = b"WEBP" + b"VP8X" + struct.pack("<I", 10) + bytes([8, 0, 0, 0, 63, 0, 0, 47, 0, 0])
        chunks += picture + b"EXIF" + struct.pack("<I", len(tags)) + tags
        source = self.write("photo.webp", b"RIFF" + struct.pack("<I", len(chunks)) + chunks)
        self.assertEqual(colours(self.converted(source, "out.png", "--mode", "off")), upright(TURNS[6]))
