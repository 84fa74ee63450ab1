"""Every YUV and gray pixel format keeps its depth, from the decoder to the written file."""

import array

from common import *

WIDTH, HEIGHT = 64, 48
SIZE = "64x48"
QUICK = ("--preset", "ultrafast")

# Options for a curve that depends only on the frame's codes.
PLAIN = ("--mode", "global", "--strength", "1", "--clip", "0", "--smooth", "0", "--scene-cut", "off",
         "--bars", "ignore", "--dither", "off", "--chroma", "keep")

# The formats to which formats without an integer luma plane are converted. Big-endian formats are only byte-swapped.
NEAREST = {
    "yuyv422": "yuv422p", "uyvy422": "yuv422p", "yvyu422": "yuv422p", "uyyvyy411": "yuv411p",
    "y210le": "yuv422p10le", "y212le": "yuv422p12le", "ayuv64le": "yuva444p16le",
    "ya8": "yuva444p", "ya16le": "yuva444p16le", "ya16be": "yuva444p16le",
    "xyz12le": "yuv444p12le", "xyz12be": "yuv444p12le", "grayf32le": "gray16le",
    "grayf32be": "gray16le", "vuya": "yuva444p", "vuyx": "yuv444p", "xv30le": "yuv444p10le",
    "xv36le": "yuv444p12le",
}

USUAL = ("yuv420p", "yuv420p10le", "yuv422p10be", "yuva444p16le", "gray", "gray12le", "nv12")

# Encoders and their containers.
CARRIERS = {"rawvideo": ("in.nut",), "ffv1": ("in.mkv", "-strict", "-2"), "mjpeg": ("in.mkv",),
            "png": ("in.png", "-frames:v", "1"), "tiff": ("in.tiff", "-frames:v", "1"),
            "exr": ("in.exr", "-frames:v", "1")}


def formats():
    """YUV and gray formats that swscale reads and writes."""
    listing = tool("ffmpeg", "-v", "error", "-hide_banner", "-pix_fmts").decode()
    found = re.findall(r"^IO\.\.\. (\S+) +\d", listing, re.M)
    return [f for f in found if not re.search("rgb|bgr|gbr|bayer", f)]


def wanted(pix_fmt):
    """The expected format of the written file."""
    twin = re.sub("be$", "le", pix_fmt.replace("yuvj", "yuv"))
    return NEAREST.get(pix_fmt, twin)


def depth_of(direct):
    """The depth of a format that passes unchanged, from its name."""
    deep = re.search(r"(9|10|12|14|16)le$", direct)
    return int(deep[1]) if deep else 8


def is_gray(pix_fmt):
    return pix_fmt.startswith(("gray", "ya"))


def shift_of(direct):
    return 16 - depth_of(direct) if re.match("p[024]1", direct) else 0


def codes(data, direct):
    """The samples of planes, as numbers."""
    if depth_of(direct) == 8:
        return list(data)
    samples = array.array("H", data)
    if sys.byteorder == "big":
        samples.byteswap()
    return [s >> shift_of(direct) for s in samples]


@functools.lru_cache(None)
def frames_once(path, state, pix_fmt):
    data = raw(path, pix_fmt)
    size = len(data) // len(packets(path, "v:0"))
    return [data[i:i + size] for i in range(0, len(data), size)]


def frames(path, pix_fmt=None):
    """The bytes of each frame; cached until the file changes."""
    state = os.stat(path)
    return frames_once(path, (state.st_ino, state.st_size, state.st_mtime_ns), pix_fmt)


def hashes(data):
    return ["MD5:" + hashlib.md5(d).hexdigest() for d in data]


def luma(path, direct, width=WIDTH, height=HEIGHT):
    """Luma codes of the first frame."""
    data = ffmpeg("-i", path, "-frames:v", 1, "-pix_fmt", direct, "-f", "rawvideo", "-")
    return codes(data, direct)[:width * height]


@functools.lru_cache(None)
def encoder_formats(encoder):
    listing = tool("ffmpeg", "-v", "error", "-hide_banner", "-h", "encoder=" + encoder).decode()
    found = re.search("Supported pixel formats: (.*)", listing)
    return found[1].split() if found else None  # None: any format


def carried(pix_fmt):
    """A clip in this format from the first encoder that supports it, or None."""
    # Pale colours leave room for more saturation.
    first = "gray" if is_gray(pix_fmt) else "yuv444p,lutyuv=u=112+val/8:v=112+val/8"
    for encoder, (name, *options) in CARRIERS.items():
        if pix_fmt not in (encoder_formats(encoder) or [pix_fmt]):
            continue
        try:
            path = clip(name, "-c:v", encoder, *options, "-pix_fmt", pix_fmt, size=SIZE,
                        seconds=0.08, filters="format=%s,format=%s" % (first, pix_fmt))
        except AssertionError:
            continue  # this FFmpeg cannot convert to the format
        if video(path).get("pix_fmt") == pix_fmt:
            return path
    return None


class Every(Case):
    """A clip of each format that this FFmpeg can put into a file."""

    @classmethod
    def setUpClass(cls):
        tried = formats()
        drawn = share(tried, 4)
        if len(drawn) < len(tried):  # all formats take minutes
            tried = [f for f in tried if f in drawn or f in USUAL]
            print("\nonly a share of the formats and the usual ones are tested", file=sys.stderr)
        found = {pix_fmt: carried(pix_fmt) for pix_fmt in tried}
        cls.clips = {k: v for k, v in found.items() if v}
        skipped = [k for k, v in found.items() if not v]
        print("\n%d formats are tested; this FFmpeg cannot store: %s" % (
            len(cls.clips), ", ".join(skipped) or "none"), file=sys.stderr)

    def written(self, source, pix_fmt, *options):
        """Writes raw video in nut, or FFV1 in Matroska for formats that nut has no name for."""
        if re.match("yuv440p1|nv24|nv42|p[024]1", wanted(pix_fmt)):
            return self.lossless(source, "-y", *options)
        return self.converted(source, "out.nut", "--vcodec", "rawvideo", "-y", *options)

    def test_usual_formats_are_tested(self):
        for pix_fmt in USUAL:
            self.assertIn(pix_fmt, self.clips)

    def test_mode_off(self):
        """All formats keep their depth. Formats that need no conversion keep every bit."""
        for pix_fmt, source in self.clips.items():
            with self.subTest(pix_fmt):
                output = self.written(source, pix_fmt, "--mode", "off")
                self.assertEqual(video(output)["pix_fmt"], wanted(pix_fmt))
                swap = wanted(pix_fmt) if pix_fmt.endswith("be") else None
                if pix_fmt not in NEAREST:
                    self.assertEqual(hashes(frames(source, swap)), self.hashes_of(output))

    def hashes_of(self, output):
        """Hashes of the output's frames. Packets of nut are raw frames, which need no decoding."""
        if output.endswith(".nut"):
            return [data for _, data in payloads(output, "v:0")]
        return hashes(frames(output))

    def direct(self):
        """Formats that pass unchanged, 8 bits first."""
        found = [f for f in self.clips if wanted(f) == f]
        return sorted(found, key=depth_of)

    def split(self, path, pix_fmt):
        """Luma, chroma and alpha codes of the first frame."""
        samples = codes(frames(path)[0], pix_fmt)
        size = WIDTH * HEIGHT
        end = len(samples) - size if pix_fmt.startswith("yuva") else len(samples)
        return samples[:size], samples[size:end], samples[end:]

    def test_equalized(self):
        """Luma is within one 8-bit code of the result in 8 bits. Chroma is kept or scaled, and alpha is kept."""
        models = {}
        for pix_fmt in self.direct():
            with self.subTest(pix_fmt):
                source, unit = self.clips[pix_fmt], 1 << (depth_of(pix_fmt) - 8)
                before = self.split(source, pix_fmt)
                after = self.split(self.written(source, pix_fmt, *PLAIN), pix_fmt)
                scaled = [c / unit for c in after[0]]
                model = models.setdefault(is_gray(pix_fmt), scaled)
                self.near(scaled, model, 1.01, pix_fmt)
                self.assertNotEqual(after[0], before[0])
                self.assertEqual(after[1:], before[1:])
                if not is_gray(pix_fmt):
                    self.check_scaled(pix_fmt, before)

    def check_scaled(self, pix_fmt, before):
        output = self.written(self.clips[pix_fmt], pix_fmt, *PLAIN, "--chroma", "scale")
        after, middle = self.split(output, pix_fmt), 1 << (depth_of(pix_fmt) - 1)
        self.assertEqual(after[2], before[2])
        spread = [sum(abs(c - middle) for c in split[1]) for split in (before, after)]
        self.assertGreater(spread[1], spread[0], "contrast was raised, but colour was not")


class Converted(Case):
    """RGB is converted to YUV and back at the same depth."""

    def test_pictures(self):
        noise = "testsrc2=size=64x48:rate=25,format=rgba64le,noise=alls=30"
        for name, pix_fmt, within in some((("a.png", "gray16be", 0), ("b.png", "rgb48be", 64),
                                           ("c.png", "rgba64be", 64), ("d.png", "gray", 0),
                                           ("f.tiff", "rgb48le", 64), ("e.tiff", "gray16le", 0),
                                           ("g.tiff", "rgba64le", 64))):
            with self.subTest(name):
                source = make(self.path(name), "-frames:v", 1, "-pix_fmt", pix_fmt, source=noise)
                self.assertEqual(video(source)["pix_fmt"], pix_fmt)
                output = self.converted(source, "out" + name, "--mode", "off")
                self.assertEqual(video(output)["pix_fmt"], pix_fmt)
                a, b = (codes(raw(path, "rgba64le"), "gray16le") for path in (source, output))
                self.near(a, b, within, name)

    def test_depth_of_rgb(self):
        for pix_fmt, want in some((("bgr0", "yuv444p"), ("gbrp9le", "yuv444p9le"),
                                   ("gbrp10le", "yuv444p10le"), ("gbrp12le", "yuv444p12le"),
                                   ("gbrp14le", "yuv444p14le"), ("gbrp16le", "yuv444p16le"),
                                   ("gbrap10le", "yuva444p10le"), ("gbrap12le", "yuva444p12le"),
                                   ("gbrap16le", "yuva444p16le"))):
            with self.subTest(pix_fmt):
                source = clip("rgb.mkv", *FFV1, "-pix_fmt", pix_fmt, size=SIZE, seconds=0.08)
                self.assertEqual(video(source)["pix_fmt"], pix_fmt)
                output = self.converted(source, "out.nut", "--vcodec", "rawvideo", "-y")
                self.assertEqual(video(output)["pix_fmt"], want)


class Outputs(Case):
    def h264(self):
        return clip("ten.mp4", *X264, "-pix_fmt", "yuv420p10le", size="160x90", seconds=0.4)

    def test_ten_bits_stay_ten(self):
        for name in some(("out.mkv", "out.mp4", "out.mov", "out.y4m", "out.webm", "out.ts")):
            with self.subTest(name):
                options = () if name in ("out.y4m", "out.webm") else QUICK
                result = self.ok(self.h264(), "-o", self.path(name), *options)
                self.assertEqual(video(self.path(name))["pix_fmt"], "yuv420p10le")
                self.assertEqual(len(result.lines), 2, str(result))

    def test_y4m(self):
        for pix_fmt in some(("yuv420p9le", "yuv422p10le", "yuv444p12le", "yuv420p14le", "yuv444p16le",
                             "gray9le", "gray10le", "gray12le", "gray16le")):
            with self.subTest(pix_fmt):
                source = carried(pix_fmt)
                output = self.converted(source, "out.y4m", "--mode", "off", "-y")
                self.assertEqual(video(output)["pix_fmt"], pix_fmt)
                self.assertEqual(raw(source), raw(output))

    def said(self, source, name, *options):
        result = self.ok(source, "-o", self.path(name), "-y", *options)
        return [line for line in result.lines if "converted" in line]

    def test_nearest_deeper_or_else_the_deepest(self):
        for pix_fmt, options, want in some((
                     ("yuv420p9le", QUICK, "yuv420p10le"), ("yuv422p14le", QUICK, "yuv420p10le"),
                     ("yuv420p12le", ("--vcodec", "libvpx-vp9"), "yuv420p12le"),
                     ("yuv420p9le", ("--vcodec", "libvpx-vp9"), "yuv420p10le"),
                     ("yuv444p10le", ("--vcodec", "mpeg4"), "yuv420p"),
                     ("gray9le", ("--vcodec", "ffv1"), "gray9le"),
                     ("gray10le", ("--vcodec", "libvpx-vp9"), "yuv420p10le"))):
            with self.subTest(pix_fmt, options=options):
                lines = self.said(carried(pix_fmt), "out.mkv", *options)
                self.assertEqual(video(self.path("out.mkv"))["pix_fmt"], want)
                self.assertEqual(len(lines), pix_fmt != want)
                for line in lines:
                    self.assertIn("from %s to %s" % (pix_fmt, want), line)

    def test_odd_sides_are_padded(self):
        source = clip("odd.mkv", *FFV1, "-pix_fmt", "yuv420p10le", seconds=0.08, source="testsrc=size=67x45:rate=25")
        output = self.converted(source, "out.mkv", "--mode", "off", "--vopt", "qp=0", *QUICK)
        about = video(output)
        self.assertEqual((about["width"], about["height"], about["pix_fmt"]), (68, 46, "yuv420p10le"))
        a = luma(source, "yuv420p10le", 67, 45)
        b = luma(output, "yuv420p10le", 68, 46)
        for y in range(46):
            row = a[min(y, 44) * 67:][:67]
            self.assertEqual(b[y * 68:][:68], row + row[-1:])

    def test_hdr10(self):
        """Depth, tags and mastering data are kept; the picture changes."""
        if not has_encoder("libx265"):
            self.skipTest("no libx265")
        source = clip("hdr.mkv", "-c:v", "libx265", "-preset", "ultrafast", "-pix_fmt", "yuv420p10le",
                      "-color_range", "tv", "-color_primaries", "bt2020", "-color_trc", "smpte2084",
                      "-colorspace", "bt2020nc", "-x265-params", "log-level=none:hdr10=1:"
                      "colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc:max-cll=1000,400:"
                      "master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)"
                      "L(10000000,50)", seconds=0.2)
        keys = ("pix_fmt", "color_range", "color_space", "color_transfer", "color_primaries")
        self.assertEqual([video(source)[k] for k in keys], ["yuv420p10le", "tv", "bt2020nc", "smpte2084", "bt2020"])
        for name, options in some((("out.mkv", ("--vcodec", "libx265")), ("out.mp4", ()),
                                   ("lossless.mkv", ("--vcodec", "ffv1")))):
            with self.subTest(name):
                quick = QUICK if name != "lossless.mkv" else ()
                output = self.converted(source, name, *quick, *options)
                self.assertEqual([video(output)[k] for k in keys], [video(source)[k] for k in keys])
                kinds = {d["side_data_type"] for d in video(output).get("side_data_list", [])}
                self.assertLessEqual({"Content light level metadata", "Mastering display metadata"}, kinds)
                self.assertNotEqual(luma(source, "yuv420p10le", 160, 90), luma(output, "yuv420p10le", 160, 90))


class Range(Case):
    # Every code of 10 bits.
    RAMP = "nullsrc=size=1024x32:rate=25,format=yuv420p10le,geq=lum='mod(X+Y*7,1024)':cb=512:cr=512"

    def ramp(self, range_):
        return clip("ramp.mkv", *FFV1, "-color_range", range_, source=self.RAMP, seconds=0.08,
                    filters="setparams=range=%s" % range_)

    def test_full(self):
        """A narrow picture is stretched to 0..1023."""
        narrow = self.RAMP.replace("mod(X+Y*7,1024)", "400+mod(X+Y*7,200)")
        source = make(self.path("narrow.mkv"), *FFV1, "-color_range", "pc", source=narrow,
                      seconds=0.08, filters="setparams=range=pc")
        output = self.lossless(source, *PLAIN)
        self.assertEqual(video(output)["color_range"], "pc")
        got = luma(output, "yuv420p10le", 1024, 32)
        self.assertLess(min(got), 10)
        self.assertGreater(max(got), 1013)

    def test_steps_are_finer_than_8_bits(self):
        output = self.lossless(self.ramp("pc"), *PLAIN)
        self.assertGreater(len(set(luma(output, "yuv420p10le", 1024, 32))), 1000)


class Statistics(Case):
    def test_codes_and_bins(self):
        for pix_fmt, bins in some((("yuv420p10le", 1024), ("gray12le", 4096), ("yuv444p14le", 4096),
                                   ("gray16le", 4096))):
            with self.subTest(pix_fmt):
                depth = depth_of(pix_fmt)
                source = carried(pix_fmt)
                self.ok(source, "--null", "--stats", self.path("s.jsonl"), "-y")
                row = read_rows(self.path("s.jsonl"))[0]
                samples = luma(source, pix_fmt)
                share = (1 << depth) // bins
                want = [0] * bins
                for s in samples:
                    want[s // share] += 1
                self.assertEqual(row["hist_in"], want)
                self.assertEqual([len(row[k]) for k in ("hist_out", "curve")], [bins, bins])
                mean = sum(samples) / len(samples)
                deviation = (sum((s - mean) ** 2 for s in samples) / len(samples)) ** 0.5
                self.assertAlmostEqual(row["mean_in"], mean, delta=share)
                self.assertAlmostEqual(row["stddev_in"], deviation, delta=share)
                self.assertGreater(row["curve"][-1], (1 << depth) * 0.98)


class Panel(Case):
    """At any depth, --overlay draws the panel, and changes nothing elsewhere."""

    def test_place_and_colours(self):
        source = "color=gray:size=480x270:rate=25,format=yuv444p,geq=lum='40+160*X/W':cb=128:cr=128"
        for pix_fmt in some(("yuv420p10le", "gray16le", "yuv422p16le")):
            with self.subTest(pix_fmt):
                path = clip("panel.mkv", *FFV1, "-pix_fmt", pix_fmt, source=source, seconds=0.08)
                plain = self.lossless(path, "--mode", "off", "-y")
                panel = self.lossless(path, "--mode", "off", "--overlay", "-y", name="panel.mkv")
                self.assertEqual(video(panel)["pix_fmt"], pix_fmt)
                a, b = (luma(p, pix_fmt, 480, 270) for p in (plain, panel))
                changed = [i for i, (x, y) in enumerate(zip(a, b)) if x != y]
                x, y, wide, tall = 480 - 8 - 216, 8, 216, 270 - 67 - 8
                inside = [i for i in changed if x <= i % 480 < x + wide and y <= i // 480 < y + tall]
                self.assertEqual(len(inside), len(changed))
                self.assertGreater(len(changed), wide * tall * 0.8)
                unit = 1 << (depth_of(pix_fmt) - 8)
                self.assertGreater(max(b[i] for i in changed) / unit, 200)  # text and lines
                self.assertLess(min(b[i] for i in changed) / unit, 60)  # the background


class Auto10(Case):
    """--pix-fmt auto10 chooses 10 bits if something is lifted."""

    DARK = "color=gray:size=160x90:rate=25,format=yuv420p,geq=lum='18+X/6+4*sin(Y/9)':cb=128:cr=128"

    def dark(self, pix_fmt="yuv420p"):
        return clip("dark-%s.mkv" % pix_fmt, "-c:v", "ffv1", "-pix_fmt", pix_fmt, seconds=0.4, source=self.DARK)

    def bright(self):
        return clip("bright.mkv", "-c:v", "ffv1", "-pix_fmt", "yuv420p", seconds=0.4,
                    source="color=gray:size=160x90:rate=25,format=yuv420p,geq=lum='16+219*X/160':cb=128:cr=128")

    def written(self, source, *args, name="out.mkv"):
        result = self.ok(source, "-o", self.path(name), "-y", "-v", "--pix-fmt", "auto10", *args)
        reported = [line for line in result.lines if "auto10" in line]
        return video(self.path(name))["pix_fmt"], " ".join(reported)

    def test_where_it_helps(self):
        for source, args, pix_fmt, words in (
                (self.dark(), (), "yuv420p10le", "10 bits, since 10 of 10 frames are lifted or gain"),
                (self.dark("yuv444p"), (), "yuv444p10le", "10 bits, since"),
                (self.dark("gray"), (), "gray10le", "10 bits, since"),
                (self.dark(), ("--two-pass", "off"), "yuv420p10le", "there is no lookahead"),
                (self.dark("yuv420p10le"), (), "yuv420p10le", ""),
                (self.bright(), (), "yuv420p", "8 bits, since 0 of 10 frames are lifted or gain"),
                (self.dark(), ("--mode", "off"), "yuv420p", "8 bits, since these options lift nothing"),
                (self.dark(), ("--strength", 0.5), "yuv420p", "8 bits, since these options lift nothing"),
                (self.dark(), ("--reference",), "yuv420p", "8 bits, since these options lift nothing")):
            with self.subTest(source=os.path.basename(source), args=args):
                got, reported = self.written(source, "--vcodec", "ffv1", *args)
                self.assertEqual(got, pix_fmt)
                self.assertIn(words, reported)

    def test_encoders_of_8_bits_are_reported(self):
        """Even without -v, a message reports an encoder of 8 bits."""
        for source in self.dark(), self.dark("yuv420p10le"):
            result = self.ok(source, "-o", self.path("out.avi"), "-y", "--vcodec", "mjpeg", "--pix-fmt", "auto10")
            self.assertIn("--pix-fmt auto10: 8 bits, since mjpeg supports no more", result.err)
        self.assertRegex(video(self.path("out.avi"))["pix_fmt"], "yuvj?420p$")

    def test_a_picture(self):
        photo = self.path("photo.png")
        ffmpeg("-i", self.dark(), "-frames:v", 1, photo)
        pix_fmt, reported = self.written(photo, name="out.png")
        self.assertRegex(pix_fmt, "rgb24|gray")
        self.assertIn("a single picture", reported)

    def test_fractions_of_codes(self):
        """Lifted video looks the same as in 8 bits, but uses the codes between. Other video is the same as without auto10,
        bit for bit."""
        for passes in "on", "off":
            with self.subTest(passes):
                args = ("--vcodec", "ffv1", "--chroma", "keep", "--two-pass", passes, "--dither", "on")
                self.written(self.dark(), *args)
                fine = luma(self.path("out.mkv"), "yuv420p10le", 160, 90)
                self.ok(self.dark(), "-o", self.path("plain.mkv"), "-y", *args)
                plain = luma(self.path("plain.mkv"), "yuv420p", 160, 90)
                between = sum(code % 4 != 0 for code in fine) / len(fine)
                self.assertGreater(between, 0.3)
                apart = sum(abs(a - 4 * b) for a, b in zip(fine, plain)) / len(fine)
                self.assertLess(apart, 4)
                self.assertGreater(len(set(fine)), 2 * len(set(plain)))
        args = ("--vcodec", "ffv1", "--two-pass", "on")
        self.written(self.bright(), *args)
        self.ok(self.bright(), "-o", self.path("plain.mkv"), "-y", *args)
        self.assertEqual(raw(self.path("out.mkv")), raw(self.path("plain.mkv")))

    def test_full_range_keeps_its_white(self):
        source = clip("dark-full.mkv", "-c:v", "ffv1", "-pix_fmt", "gray", seconds=0.2,
                      source="color=gray:size=64x64:rate=25,format=gray,geq=lum='if(lt(X,8)*lt(Y,8),255,8+X/4)'")
        self.assertEqual(self.written(source, "--vcodec", "ffv1")[0], "gray10le")
        # auto10 multiplies 8-bit codes by 4, so white becomes 255 * 4.
        self.assertEqual(max(luma(self.path("out.mkv"), "gray10le", 64, 64)), 1020)
        self.ok(source, "-o", self.path("out.mkv"), "-y", "--vcodec", "ffv1", "--mode", "off", "--pix-fmt", "gray10le")
        self.assertEqual(max(luma(self.path("out.mkv"), "gray10le", 64, 64)), 1023)
