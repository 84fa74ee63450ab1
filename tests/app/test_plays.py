"""Default output plays on phones, TVs and browsers: codec, profile, pixel format, tag, order of boxes, sound."""

from common import *

SIZE = "64x48"
QUICK = ("--preset", "ultrafast")
NO_X265 = os.environ.get("NO_X265_LIBRARY", "")
HEVC = ("hevc", "Main 10", "yuv420p10le")
H264 = ("h264", "High", "yuv420p")


def kind(path):
    return tuple(video(path).get(k) for k in ("codec_name", "profile", "pix_fmt"))


def boxes(path):
    """Names of an mp4's outermost boxes."""
    found, at = [], 0
    data = read_bytes(path)
    while at + 8 <= len(data):
        size, name = struct.unpack(">I4s", data[at:at + 8])
        found.append(name.decode("latin-1"))
        at += max(size, 8)
    return found


def deep(pix_fmt="yuv420p10le", name="deep.mkv", *more, **options):
    return clip(name, *FFV1, "-strict", "-2", "-pix_fmt", pix_fmt, *more, size=SIZE, seconds=0.4, **options)


def dark():
    return clip("dark.mkv", *FFV1, "-g", 5, "-pix_fmt", "yuv420p", seconds=0.8,
                source="color=gray:size=64x48:rate=25,format=yuv420p,geq=lum='18+X/4+4*sin(Y/9)':cb=128:cr=128")


@unittest.skipUnless(has_encoder("libx265") and has_encoder("libx264"), "no libx264 or no libx265")
class Encoder(Case):
    def phone(self):
        return clip("phone.mov", "-c:v", "libx265", "-preset", "ultrafast", "-pix_fmt", "yuv420p10le", "-x265-params",
                    "log-level=none:colorprim=bt2020:transfer=arib-std-b67:colormatrix=bt2020nc", "-color_primaries",
                    "bt2020", "-color_trc", "arib-std-b67", "-colorspace", "bt2020nc", size=SIZE, seconds=0.4)

    def written(self, source, name, *args):
        result = self.ok(source, "-o", self.path(name), "-y", *args)
        return kind(self.path(name)), result

    def test_ten_bits(self):
        """10-bit output is HEVC Main 10, with the tag that Apple devices need."""
        for name in "out.mp4", "out.mov", "out.mkv":
            with self.subTest(name):
                got, result = self.written(self.phone(), name)
                self.assertEqual(got, HEVC)
                about = video(self.path(name))
                self.assertEqual([about[k] for k in ("color_transfer", "color_primaries", "color_space")],
                                 ["arib-std-b67", "bt2020", "bt2020nc"])
                if name != "out.mkv":
                    self.assertEqual(about["codec_tag_string"], "hvc1")
                self.assertIn(b"crf=20.0", self.read(name))
                self.assertNotIn("converted", result.err)

    def test_tag_of_requested_hevc(self):
        for name in "out.mp4", "out.mov":
            self.assertEqual(self.written(dark(), name, "--vcodec", "libx265", *QUICK)[0], ("hevc", "Main", "yuv420p"))
            self.assertEqual(video(self.path(name))["codec_tag_string"], "hvc1")

    def test_requested_options_decide(self):
        for source, args, want in (
                (deep(), ("--vcodec", "libx264"), ("h264", "High 10", "yuv420p10le")),
                (deep(), ("--pix-fmt", "yuv420p"), H264), (deep(), ("--pix-fmt", "source"), HEVC),
                (deep(), ("--vopt", "qp=0"), ("h264", "High 4:4:4 Predictive", "yuv420p10le")),
                (dark(), ("--pix-fmt", "yuv420p10le"), HEVC), (dark(), (), H264),
                (dark(), ("--pix-fmt", "auto10"), HEVC),
                (dark(), ("--pix-fmt", "auto10", "--mode", "off"), H264)):
            with self.subTest(args=args, want=want):
                got, result = self.written(source, "out.mp4", *(args if "qp=0" in args else args + QUICK))
                if "qp=0" not in args and want[0] == "h264":
                    want = (want[0], got[1] if "10" not in want[1] else want[1], want[2])
                self.assertEqual(got, want)
                self.assertNotIn("--pix-fmt source", result.err)

    def test_deeper_becomes_ten(self):
        for pix_fmt, kept in share((("yuv420p12le", "yuv420p12le"), ("yuv422p12le", "yuv422p12le"),
                                    ("yuv444p16le", "yuv444p12le"), ("gray16le", "gray12le")), 2):
            with self.subTest(pix_fmt):
                source = deep(pix_fmt)
                got, result = self.written(source, "out.mp4", *QUICK)
                self.assertEqual(got, HEVC)
                said = [line for line in result.lines if "--pix-fmt source" in line]
                self.assertEqual(len(said), 1, str(result))
                self.assertIn("from %s to yuv420p10le" % pix_fmt, said[0])
                got, result = self.written(source, "out.mp4", "--pix-fmt", "source", *QUICK)
                self.assertEqual(got[2], kept)
                self.assertNotIn("--pix-fmt source", result.err)

    def test_chroma_becomes_420(self):
        gif = clip("x.gif", "-c:v", "gif", size=SIZE, seconds=0.4, rate=10)
        cases = [(clip("444.mkv", *X264, "-pix_fmt", "yuv444p", size=SIZE, seconds=0.2), "yuv444p", "tv"),
                 (clip("422.mkv", *X264, "-pix_fmt", "yuv422p", size=SIZE, seconds=0.2), "yuv422p", "tv"),
                 (clip("screen.mkv", "-c:v", "libx264rgb", "-qp", 0, size=SIZE, seconds=0.2), "yuv444p", "tv"),
                 (clip("webcam.mkv", "-c:v", "mjpeg", "-pix_fmt", "yuvj422p", size=SIZE, seconds=0.2), "yuv422p", "pc"),
                 (clip("gray.mkv", *FFV1, "-pix_fmt", "gray", size=SIZE, seconds=0.2), "gray", "pc"),
                 (gif, "yuv444p", "tv")]
        for i, (source, kept, range_) in share(enumerate(cases), 2):
            for codec in ((), ("--vcodec", "libx265")) if i < 2 else ((),):
                with self.subTest(os.path.basename(source), codec=codec):
                    got, result = self.written(source, "out.mp4", *codec)
                    self.assertIn(got, (("hevc", "Main", "yuv420p"), H264, ("hevc", "Main", "yuvj420p"),
                                        ("h264", "High", "yuvj420p")))
                    self.assertEqual(video(self.path("out.mp4")).get("color_range", "tv"), range_)
                    self.assertEqual(sum("--pix-fmt source" in line for line in result.lines), 1, str(result))
                    got, result = self.written(source, "out.mp4", "--pix-fmt", "source", *codec)
                    if kept != "gray":  # the decoder returns 4:2:0 for gray H.264
                        self.assertEqual(got[2].replace("yuvj", "yuv"), kept)
                    self.assertNotIn("--pix-fmt source", result.err)

    def test_lossless_keeps_the_format(self):
        source = clip("444.mkv", *X264, "-pix_fmt", "yuv444p", size=SIZE, seconds=0.2)
        for name, args in (("out.mkv", ("--vcodec", "ffv1")), ("out.mkv", ("--vopt", "qp=0")), ("out.mkv", ("--crf", "0")),
                           ("out.mkv", ("--vcodec", "libx265", "--vopt", "x265-params=lossless=1:log-level=none"))):
            with self.subTest(args=args):
                self.assertEqual(self.written(source, name, *args)[0][2], "yuv444p")

    def test_fields(self):
        """The container keeps the field order. A message reports that HEVC does not mark fields."""
        source = deep("yuv422p10le", "fields.mkv", "-field_order", "tt", filters="setfield=tff")
        got, result = self.written(source, "out.mkv", *QUICK)
        self.assertEqual((got, video(self.path("out.mkv"))["field_order"]), (HEVC, "tt"))
        self.assertEqual(sum("--deinterlace on" in line for line in result.lines), 1, str(result))
        for args in ("--vcodec", "libx264"), ("--deinterlace", "on"):
            self.assertNotIn("combs", self.written(source, "out.mkv", *args, *QUICK)[1].err)

    def test_every_way_to_run(self):
        """Every kind of run chooses the encoder by the depth of the written frames."""
        for source, args in ((deep(), ()), (dark(), ("--pix-fmt", "auto10"))):
            for way in (("--two-pass", "off"), ("--jobs", 2, "--parts", 2)):
                with self.subTest(args=args, way=way):
                    if os.path.exists(self.path("out.mp4")):
                        os.unlink(self.path("out.mp4"))
                    got, result = self.written(source, "out.mp4", *args, *way, *QUICK)
                    self.assertEqual(got, HEVC)
                    self.assertIn("HEVC Main 10, yuv420p10le", result.lines[-1])
                    self.assertEqual(len(frame_times(self.path("out.mp4"))), len(frame_times(source)))
                    self.assertLess(boxes(self.path("out.mp4")).index("moov"), boxes(self.path("out.mp4")).index("mdat"))
            with self.subTest(args=args, way="segments"):
                self.ok(source, "-o", self.path("%Y%m%d-%H%M%S.mp4"), "--segment-time", 1, *args, *QUICK)
                segment = [f for f in self.files() if f.startswith("2")]
                self.assertEqual({kind(self.path(f)) for f in segment}, {HEVC})
                self.assertEqual({video(self.path(f))["codec_tag_string"] for f in segment}, {"hvc1"})
                for f in segment:
                    os.unlink(self.path(f))
            result = self.ok(source, "-o", self.path("none.mp4"), "--sample", "-y", *args, *QUICK)
            self.assertFalse(os.path.exists(self.path("none.mp4")))

    def test_resumed(self):
        self.ok("plan", dark(), "-o", self.path("out.mp4"), "--pix-fmt", "auto10", "--parts", 2, *QUICK)
        self.ok("segment", self.path("out.mp4.lumeq/plan"), 0)
        got, result = self.written(dark(), "out.mp4", "--pix-fmt", "auto10", "--jobs", 2, "--parts", 2, "--resume", *QUICK)
        self.assertEqual(got, HEVC)
        self.assertIn("1 of 2 parts already exist", result.err)

    def test_parts_have_the_encoder_of_the_deeper_output(self):
        for measured in (), ("--no-measure",):
            with self.subTest(measured=measured):
                self.ok("plan", dark(), "-o", self.path("out.mp4"), "--pix-fmt", "auto10", "--parts", 2, *QUICK, *measured, "-y")
                plan = self.path("out.mp4.lumeq/plan")
                for part in range(2 if measured else 0):
                    self.ok("measure", plan, part)
                if measured:
                    self.ok("plan", plan)
                for part in range(2):
                    self.ok("segment", plan, part)
                self.ok("join", plan)
                self.assertEqual(kind(self.path("out.mp4")), HEVC)
                os.unlink(self.path("out.mp4"))

    def test_without_x265(self):
        """Without an HEVC encoder the output has 8 bits with dither. So has m4v, which cannot hold HEVC."""
        ramp = deep("yuv420p10le", "ramp.mkv", source="color=gray:size=64x48:rate=25,format=yuv420p10le,"
                    "geq=lum='400+X/8':cb=512:cr=512")
        for name, library in (("out.mp4", NO_X265), ("out.mkv", NO_X265), ("out.m4v", None)):
            if library == "":
                continue
            with self.subTest(name):
                env = environment()
                if library:
                    env.update(LD_PRELOAD=library, ASAN_OPTIONS=env["ASAN_OPTIONS"] + ":verify_asan_link_order=0")
                result = self.ends(start(ramp, "-o", self.path(name), "--mode", "off", "--crf", 1, env=env))
                self.assertEqual(kind(self.path(name))[::2], ("h264", "yuv420p"))
                said = [line for line in result.lines if "dither" in line]
                self.assertEqual(len(said), 1, str(result))
                self.assertIn("--pix-fmt source", said[0])
                columns = list(zip(*[iter(raw(self.path(name))[:64 * 48])] * 64))
                mixed = sum(len(set(column)) > 1 for column in columns)
                self.assertGreater(mixed, 20)  # of 64 columns; most 10-bit codes lie between two 8-bit codes

    def large(self, size):
        return clip("large-%s.mkv" % size, *FFV1, "-pix_fmt", "yuv420p", source="color=gray:size=%s:rate=25" % size,
                    seconds=0.04)

    def test_larger_than_hardware_decodes(self):
        """Beyond the limits of H.264 level 5.2 (the area of 4096x2304, sides of 8688), mp4, mov and mkv get HEVC."""
        for size, name, codec in (("4096x2304", "out.mp4", "h264"), ("2304x4112", "out.mp4", "hevc"),
                                  ("4112x2304", "out.mov", "hevc"), ("8672x64", "out.mkv", "h264"),
                                  ("64x8704", "out.mkv", "hevc"), ("64x8704", "out.ts", "h264")):
            with self.subTest(size, name=name):
                self.assertEqual(self.written(self.large(size), name, *QUICK)[0][::2], (codec, "yuv420p"))
        self.assertEqual(self.written(self.large("64x8704"), "out.mkv", "--vcodec", "libx264", *QUICK)[0][0], "h264")
        self.ok(self.large("64x8704"), "-o", self.path("job.mp4"), "--jobs", 2, *QUICK)
        self.assertEqual(video(self.path("job.mp4"))["codec_tag_string"], "hvc1")

    def test_summary(self):
        for name, args, words in (("out.mkv", ("--vcodec", "ffv1"), "FFV1, yuv420p10le"), ("out.mp4", (), "HEVC Main 10, yuv420p10le"),
                                  ("out.mp4", ("--pix-fmt", "yuv420p"), "H.264 High, yuv420p"),
                                  ("out.ts", (), "H.264 High 10, yuv420p10le"),
                                  ("out.mp4", ("--vcodec", "libx264", "--pix-fmt", "yuv444p10le"), "H.264 High 4:4:4 Predictive, yuv444p10le")):
            with self.subTest(name, args=args):
                result = self.written(deep(), name, *args)[1]
                self.assertIn("; " + words, result.err)


class Chroma(Case):
    """The position of 4:2:0 samples converted from finer chroma."""

    def planes(self, source, width, height):
        output = self.converted(source, "out.avi", "--mode", "off", "--vcodec", "rawvideo", "--pix-fmt", "yuv420p", "-y")
        data, wide, tall = raw(output), width // 2, height // 2
        luma = width * height
        return [[data[luma + k * wide * tall:][y * wide:][:wide] for y in range(tall)] for k in range(2)]

    def ramp(self, location, pix_fmt="yuv444p", fields=""):
        step = 3 if pix_fmt == "yuv444p" else 6
        return clip("ramp.mkv", *FFV1, "-pix_fmt", pix_fmt, *(("-field_order", "tt") if fields else ()),
                    "-chroma_sample_location", location, seconds=0.08,
                    source="color=gray:size=64x48:rate=25,format=%s,geq=lum=128:cb='20+%d*X':cr='20+4*Y'%s" % (pix_fmt, step, fields))

    def test_left_and_centre(self):
        for location, offset in ("left", 0), ("center", 0.5), ("unspecified", 0):
            with self.subTest(location):
                cb, cr = self.planes(self.ramp(location), 64, 48)
                for i in range(4, 28):
                    self.assertAlmostEqual(cb[9][i], 20 + 3 * (2 * i + offset), delta=0.6)
                for j in range(4, 20):
                    self.assertAlmostEqual(cr[j][9], 20 + 4 * (2 * j + 0.5), delta=0.6)


class Container(Case):
    def test_index_comes_first(self):
        for name in "out.mp4", "out.mov", "out.m4v":
            self.ok(simple(), "-o", self.path(name), *QUICK)
            names = boxes(self.path(name))
            self.assertLess(names.index("moov"), names.index("mdat"), name)
            self.assertEqual(len(frame_times(self.path(name))), 25)
        self.assertEqual(video(self.path("out.mov"))["nb_frames"], "25")

    def test_an_interrupted_run_is_not_rewritten(self):
        process = self.start(long_clip(), "-o", self.path("out.mp4"), "--two-pass", "off", "--vcodec", "mpeg4")
        self.assertTrue(wait_for(lambda: any(os.path.getsize(self.path(f)) > 100000 for f in self.files())))
        self.interrupt(process)
        names = boxes(self.path("out.partial.mp4"))
        self.assertLess(names.index("mdat"), names.index("moov"))
        self.assertGreater(len(frame_times(self.path("out.partial.mp4"))), 0)

    def test_a_renamed_temporary_file(self):
        """When the run ends, the index moves to the front of the file, even if the temporary file was renamed."""
        process = self.start(long_clip(), "-o", self.path("out.mp4"), "--two-pass", "off", "--vcodec", "mpeg4")
        self.assertTrue(wait_for(lambda: any(f.endswith(".part") for f in self.files())))
        os.rename(self.path(self.files()[0]), self.path("elsewhere.mp4"))
        self.ends(process, OUTPUT)
        names = boxes(self.path("elsewhere.mp4"))
        self.assertLess(names.index("moov"), names.index("mdat"))
