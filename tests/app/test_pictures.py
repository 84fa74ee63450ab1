"""Samples are unchanged with --mode off, and follow the documented curve in other modes."""

from common import *

# Colours that reach below black and above white, and brighten over time.
WIDE = "gradients=size=160x90:rate=25:c0=black:c1=white:x0=0:y0=0:x1=160:y1=90:nb_colors=2:seed=1," \
       "format=yuv444p,geq=lum='clip(X*X/90+N*3,0,255)':cb='64+mod(Y*5,128)':cr='200-mod(X,144)'"

FULL = ("-color_range", "pc")
LIMITED = ("-color_range", "tv")


class Lossless(Case):
    FORMATS = ("yuv420p", "yuv422p", "yuv444p", "yuv440p", "yuv411p", "yuv410p", "gray")

    def source(self, pix_fmt, colour=LIMITED):
        name = "wide-%s-%s.mkv" % (pix_fmt, colour[1])
        return clip(name, *FFV1, "-pix_fmt", pix_fmt, *colour, source=WIDE, seconds=0.2)

    def test_mode_off(self):
        for pix_fmt in some(self.FORMATS):
            for colour in (LIMITED, FULL) if pix_fmt in ("yuv420p", "yuv444p", "gray") else (LIMITED,):
                with self.subTest(pix_fmt, colour=colour[1]):
                    source = self.source(pix_fmt, colour)
                    output = self.lossless(source, "--mode", "off")
                    self.assertEqual(video(source)["pix_fmt"], video(output)["pix_fmt"])
                    self.assertEqual(video(output)["color_range"], colour[1])
                    self.assertEqual(raw(source), raw(output))

    def test_strength_0_is_mode_off(self):
        source = self.source("yuv420p")
        self.assertEqual(raw(source), raw(self.lossless(source, "--strength", 0)))

    def test_semi_planar(self):
        source = Store.path("nv12.nut")
        make(source, "-c:v", "rawvideo", "-pix_fmt", "nv12", source=WIDE, seconds=0.2)
        output = self.lossless(source, "--mode", "off")
        self.assertEqual(raw(source, "yuv420p"), raw(output, "yuv420p"))
        a, b = Picture(source), Picture(self.lossless(source, "--reference"))
        self.assertEqual([y.translate(reference_table(histogram(y))) for y in a.luma], b.luma)

    def test_alpha_and_full_range_of_jpeg_stay(self):
        alpha = ",format=yuva444p,geq=lum='lum(X,Y)':cb='cb(X,Y)':cr='cr(X,Y)':a='mod(X*3,256)'"
        for source, key, value in (
                (clip("alpha.mkv", *FFV1, "-pix_fmt", "yuva420p", source=WIDE + alpha, seconds=0.2), "pix_fmt", "yuva420p"),
                (clip("full.avi", "-c:v", "mjpeg", "-pix_fmt", "yuvj422p", source=WIDE, seconds=0.2), "color_range", "pc")):
            output = self.lossless(source, "--mode", "off")
            self.assertEqual(video(output)[key], value)
            self.assertEqual(raw(source), raw(output))

    def test_h264_lossless(self):
        source = self.source("yuv420p")
        output = self.converted(source, "out.mkv", "--crf", 0, "--preset", "ultrafast", "--mode", "off")
        self.assertEqual(raw(source), raw(output))


class Reference(Case):
    def check(self, source, *options):
        a, b = Picture(source), Picture(self.lossless(source, "--reference", *options))
        self.assertEqual(len(a.luma), len(b.luma))
        for i, (before, after) in enumerate(zip(a.luma, b.luma)):
            self.assertEqual(before.translate(reference_table(histogram(before))), after, i)
        self.assertEqual(a.chroma, b.chroma)

    def test_equals_opencv(self):
        for pix_fmt in some(("yuv420p", "yuv444p", "gray")):
            for colour in (LIMITED, FULL):
                with self.subTest(pix_fmt, colour=colour[1]):
                    self.check(clip("wide-%s-%s.mkv" % (pix_fmt, colour[1]), *FFV1, "-pix_fmt",
                                    pix_fmt, *colour, source=WIDE, seconds=0.2))

    def test_one_thread_and_many_are_the_same(self):
        source = clip("large.mkv", *FFV1, "-pix_fmt", "yuv420p", size="640x360", seconds=0.2)
        outputs = [raw(self.lossless(source, "--threads", n)) for n in (1, 2, 7)]
        self.assertEqual(outputs[0], outputs[1])
        self.assertEqual(outputs[0], outputs[2])


class VideoMode(Case):
    """Options, range and timestamps affect the curve. tests/equalizer/test_curve.c checks the curve's arithmetic."""

    def curves(self, source, *options):
        self.ok(source, "--null", "--stats", self.path("rows.jsonl"), "-y", "--strength", 0.8, "--clip", 3, *options)
        return [row["curve"] for row in read_rows(self.path("rows.jsonl"))]

    def wide(self, colour=LIMITED):
        return clip("wide-yuv420p-%s.mkv" % colour[1], *FFV1, "-pix_fmt", "yuv420p", *colour, source=WIDE, seconds=0.2)

    SINGLE = ("--smooth", "0", "--scene-cut", "off")

    def test_options(self):
        source = clip("dull.mkv", *FFV1, "-pix_fmt", "yuv420p", *LIMITED, seconds=0.4)
        found = [self.curves(source, *self.SINGLE, *options) for options in
                 ((), ("--strength", 1), ("--clip", 1.5), ("--clip", 0), ("--smooth", 1), ("--mode", "stretch"))]
        for i, curves in enumerate(found):
            self.assertNotIn(curves, found[:i])
        output = Picture(self.lossless(source, *self.SINGLE, "--strength", 1, "--clip", 0, "--chroma", "keep"))
        self.assertEqual({max(y) for y in output.luma}, {235})
        self.assertEqual(output.chroma, Picture(source).chroma)

    def test_range(self):
        """--range overrides the input's range, and codes outside of the range pass unchanged."""
        limited, full = (self.curves(self.wide(colour), *self.SINGLE) for colour in (LIMITED, FULL))
        self.assertNotEqual(limited, full)
        self.assertEqual(self.curves(self.wide(LIMITED), *self.SINGLE, "--range", "full"), full)
        self.assertEqual(self.curves(self.wide(FULL), *self.SINGLE, "--range", "limited"), limited)
        a, b = Picture(self.wide()), Picture(self.lossless(self.wide(), *self.SINGLE, "--strength", 1))
        moved = {(x, y) for before, after in zip(a.luma, b.luma) for x, y in zip(before, after) if x != y}
        self.assertTrue(moved)
        self.assertTrue(all(16 <= x <= 235 for x, _ in moved))

    def test_smoothing_follows_the_timestamps(self):
        fading = "testsrc2=size=160x90:rate=25,lutyuv=y='40+val/4',fade=in:0:25"
        steady = clip("steady.mkv", *FFV1, "-pix_fmt", "yuv420p", seconds=1, source=fading)
        varying = clip("varying.mkv", *FFV1, "-pix_fmt", "yuv420p", "-fps_mode", "passthrough", seconds=1,
                       source=fading + ",settb=1/1000,setpts='N*20+N*N*7'")
        one, other = (self.curves(source, "--smooth", 0.5, "--scene-cut", "off") for source in (steady, varying))
        self.assertEqual(one[0], other[0])
        self.assertNotEqual(one[-1], other[-1])

    def test_a_cut_takes_the_new_curve_at_once(self):
        dark = "color=gray:size=160x90:rate=25:duration=0.4,geq=lum='40+X/4':cb=128:cr=128"
        light = "color=gray:size=160x90:rate=25:duration=0.4,geq=lum='150+X/4':cb=128:cr=128"
        source = self.path("cut.mkv")
        ffmpeg("-f", "lavfi", "-i", dark, "-f", "lavfi", "-i", light, "-filter_complex",
               "[0][1]concat", *FFV1, "-pix_fmt", "yuv420p", source)
        alone = self.curves(source, *self.SINGLE)
        cut, kept = (self.curves(source, "--smooth", 100, "--scene-cut", how) for how in ("on", "off"))
        self.assertEqual((cut[:10], cut[10]), (kept[:10], alone[10]))
        self.assertNotEqual(cut[10], kept[10])


class Sizes(Case):
    ODD = ("1x1", "1x7", "3x3", "17x9", "2x2", "641x361")

    def scaled(self, size):
        return clip("odd-%s.mkv" % size, *FFV1, "-pix_fmt", "yuv420p", seconds=0.2,
                    filters="scale=%s" % size.replace("x", ":"), size="64x64")

    def test_odd_sizes_without_loss(self):
        for size in some(self.ODD):
            with self.subTest(size):
                source = self.scaled(size)
                output = self.lossless(source, "--reference")
                a, b = Picture(source), Picture(output)
                self.assertEqual("%dx%d" % (b.width, b.height), size)
                self.assertEqual([y.translate(reference_table(histogram(y))) for y in a.luma], b.luma)
                self.assertEqual(a.chroma, b.chroma)

    def test_odd_sizes_are_padded_for_libx264(self):
        for size in some(self.ODD):
            with self.subTest(size):
                source = self.scaled(size)
                output = self.path("out.mp4")
                result = self.ok(source, "-o", output, "-y", "--crf", 0, "--mode", "off", "--preset", "ultrafast")
                width, height = (int(n) for n in size.split("x"))
                a, b = Picture(source), Picture(output)
                self.assertEqual((b.width, b.height), (width + width % 2, height + height % 2))
                said = [line for line in result.lines if "padded" in line]
                self.assertEqual(len(said), 0 if size == "2x2" else 1, str(result))
                for i, (old, new) in enumerate(zip(a.luma, b.luma)):
                    rows = [new[y * b.width:(y + 1) * b.width] for y in range(b.height)]
                    self.assertEqual(b"".join(row[:width] for row in rows[:height]), old, i)
                    if width % 2:
                        self.assertEqual([r[-1] for r in rows], [r[-2] for r in rows])
                    if height % 2:
                        self.assertEqual(rows[-1], rows[-2])
                self.assertEqual(a.chroma, b.chroma)

    def test_odd_sizes_with_422_and_440(self):
        for pix_fmt in some(("yuv422p", "yuv444p", "yuv440p", "yuv411p", "yuv410p")):
            with self.subTest(pix_fmt):
                source = clip("odd-%s.mkv" % pix_fmt, *FFV1, "-pix_fmt", pix_fmt, seconds=0.2, size="161x91")
                self.assertEqual(raw(source), raw(self.lossless(source, "--mode", "off")))
                output = self.converted(source, "out.mp4", "-y", "--preset", "ultrafast")
                self.assertEqual(len(frame_times(output)), 5)

    def test_odd_sizes_to_other_encoders(self):
        source = clip("odd-yuv420p.mkv", *FFV1, "-pix_fmt", "yuv420p", seconds=0.2, size="161x91")
        for name, codec in some((("out.webm", "libvpx-vp9"), ("out.y4m", None), ("out.avi", "mpeg4"),
                                 ("out.mkv", "libx265"), ("out.mkv", "mjpeg"))):
            with self.subTest(name, codec=codec):
                if codec and not has_encoder(codec):
                    self.skipTest("FFmpeg has no " + codec)
                output = self.converted(source, name, "-y", *(("--vcodec", codec) if codec else ()))
                self.assertEqual(len(frame_times(output)), 5)

    def test_largest(self):
        source = clip("largest.mkv", "-c:v", "mjpeg", "-q:v", 31, seconds=0.04,
                      source="color=gray:size=8192x8192:rate=25")
        self.ok(source, "--null")


class Conversions(Case):
    """Formats that lumeq does not process are converted, and -v reports that."""

    def check(self, pix_fmt, *codec, said, within, name):
        source = make(self.path(name), *codec, "-pix_fmt", pix_fmt, seconds=0.2)
        result = self.ok(source, "-o", self.path("out.mkv"), "--vcodec", "ffv1", "-y", "-v", "--mode", "off")
        self.assertTrue(any(said in line and "converted" in line for line in result.lines), str(result))
        a, b = raw(source, "rgb24"), raw(self.path("out.mkv"), "rgb24")
        self.assertEqual(len(a), len(b))
        error = sum(abs(x - y) for x, y in zip(a[::7], b[::7])) / len(a[::7])
        self.assertLess(error, within, "%s: colours are off by %.1f on average" % (pix_fmt, error))
        quiet = self.ok(source, "--null")
        self.assertEqual(len(quiet.lines), 2, str(quiet))

    def test_all(self):
        for pix_fmt, codec, *name in (("bgr0", FFV1), ("rgb24", ("-c:v", "png")), ("gbrp", ("-c:v", "libx264rgb", "-qp", 0)),
                                      ("pal8", ("-c:v", "png")), ("gbrp10le", FFV1),
                                      *((kind, ("-c:v", "rawvideo"), "in.nut")
                                        for kind in ("yuv422p10be", "yuyv422", "uyvy422", "monob"))):
            with self.subTest(pix_fmt):
                said = {"gbrp10le": "yuv444p10le", "yuv422p10be": "yuv422p10le"}.get(pix_fmt, pix_fmt)
                self.check(pix_fmt, *codec, said=said, within={"pal8": 6, "monob": 30}.get(pix_fmt, 4), name=(name or ["in.mkv"])[0])
