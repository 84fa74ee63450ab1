"""Side data of frames (captions, light levels, stereo), alpha, and single pictures."""

from common import *

QUICK = ("--preset", "ultrafast")


def side_data(path, track="v:0"):
    """A track's side data as {type: entry}."""
    found = probe(path, "-select_streams", track, "-show_streams")["streams"][0]
    return {d["side_data_type"]: d for d in found.get("side_data_list", [])}


def with_box(data, path, box):
    """Appends a box to the innermost of the nested boxes `path` of an mp4, and increases the sizes of these boxes. moov must
    be last in the file, so that no offset changes."""
    at, end, chain = 0, len(data), []
    for name in path:
        while data[at + 4:at + 8] != name:
            at += struct.unpack(">I", data[at:at + 4])[0]
            if at >= end:
                raise AssertionError("no box %r" % name)
        size = struct.unpack(">I", data[at:at + 4])[0]
        chain.append(at)
        end = at + size
        at += {b"stsd": 16, b"avc1": 86, b"hvc1": 86, b"hev1": 86}.get(name, 8)
    data = bytearray(data[:end] + box + data[end:])
    for start in chain:
        size = struct.unpack(">I", data[start:start + 4])[0]
        data[start:start + 4] = struct.pack(">I", size + len(box))
    return bytes(data)


STSD = (b"moov", b"trak", b"mdia", b"minf", b"stbl", b"stsd", b"avc1")


class SideData(Case):
    def with_boxes(self, name, *boxes):
        source = self.path(name)
        ffmpeg("-i", simple(), "-c", "copy", "-movflags", "disable_chpl", source)
        data = self.read(name)
        for each in boxes:
            data = with_box(data, STSD, each)
        return self.write(name, data)

    def light(self):
        """mdcv and clli boxes of HDR10."""
        primaries = (13250, 34500, 7500, 3000, 34000, 16000, 15635, 16450)  # green, blue, red, white
        return (box(b"mdcv", struct.pack(">8H2I", *primaries, 10000000, 50)),
                box(b"clli", struct.pack(">2H", 1000, 400)))

    def test_light_levels(self):
        source = self.with_boxes("in.mp4", *self.light())
        wanted = side_data(source)
        self.assertIn("Content light level metadata", wanted)
        for name in ("out.mp4", "out.mkv"):
            found = side_data(self.converted(source, name, *QUICK))
            for kind in ("Content light level metadata", "Mastering display metadata"):
                self.assertEqual(self.numbers(wanted[kind]), self.numbers(found[kind]), name)

    def numbers(self, entry):
        def number(text):
            a, _, b = str(text).partition("/")
            return round(float(a) / float(b or 1), 4)
        return {k: number(v) for k, v in entry.items() if k != "side_data_type"}

    def test_stereo_and_spherical(self):
        stereo = box(b"st3d", b"\0\0\0\0\2")  # side by side
        prhd = box(b"prhd", struct.pack(">I3i", 0, 0, 0, 0))
        equi = box(b"equi", struct.pack(">5I", 0, 0, 0, 0, 0))
        sphere = box(b"sv3d", box(b"svhd", b"\0\0\0\0lumeq\0") + box(b"proj", prhd + equi))
        source = self.with_boxes("in.mp4", stereo, sphere)
        self.assertIn("Stereo 3D", side_data(source))
        for name in ("out.mp4", "out.mkv"):
            found = side_data(self.converted(source, name, *QUICK))
            self.assertEqual(found["Stereo 3D"]["type"], "side by side", name)
            self.assertEqual(found["Spherical Mapping"]["projection"], "equirectangular", name)

    def test_light_levels_from_frames(self):
        if not has_encoder("libx265"):
            self.skipTest("no libx265")
        source = clip("hdr.ts", "-c:v", "libx265", "-preset", "ultrafast", "-x265-params",
                      "log-level=none:max-cll=1000,400:master-display="
                      "G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50)")
        found = side_data(self.converted(source, "out.mkv", *QUICK))
        self.assertEqual(found["Content light level metadata"]["max_content"], 1000)

    def test_dolby_vision(self):
        def record(profile):
            return box(b"dvcC", bytes([1, 0, profile << 1, 1 << 3 | 5]) + bytes(20))
        source = self.with_boxes("eight.mp4", record(8))
        self.assertIn("DOVI configuration record", side_data(source))
        result = self.ok(source, "-o", self.path("out.mp4"), *QUICK)
        self.assertEqual(len([l for l in result.lines if "Dolby Vision" in l]), 1, str(result))
        self.assertNotIn("DOVI configuration record", side_data(self.path("out.mp4")))
        source = self.with_boxes("five.mp4", record(5))
        self.refused(lumeq(source, "--null"), INPUT, "profile 5", "--force-dolby-vision")
        self.ok(source, "--null", "--force-dolby-vision")

    def test_captions(self):
        """ATSC A53 captions of the frames are kept by x264 and by newer versions of x265."""
        bare = self.path("bare.h264")
        make(bare, *X264, "-bf", 0, "-x264-params", "slices=1:threads=1", "-f", "h264", seconds=0.4)
        text = bytes([0xfc, 0x94, 0x2c, 0xfc, 0xc8, 0xe5])
        payload = b"\xb5\x00\x31GA94\x03" + bytes([0x40 | 2, 0xff]) + text + b"\xff"
        sei = b"\0\0\0\1\6\4" + bytes([len(payload)]) + payload + b"\x80"
        units = self.read("bare.h264").replace(b"\0\0\0\1", b"\0\0\1").split(b"\0\0\1")[1:]
        data = b"".join((sei if u[0] & 31 in (1, 5) else b"") + b"\0\0\0\1" + u for u in units)
        source = self.write("captions.h264", data)
        self.assertEqual(self.captions(source), 10)
        self.assertEqual(self.captions(self.converted(source, "out.mkv", *QUICK)), 10)
        self.assertEqual(self.captions(self.converted(source, "out.mp4", *QUICK)), 10)
        if has_encoder("libx265"):
            result = self.ok(source, "-o", self.path("deep.mp4"), "--pix-fmt", "yuv420p10le", *QUICK)
            left_out = "closed captions are left out: libx265" in result.err  # true with FFmpeg 5.1
            self.assertEqual(self.captions(self.path("deep.mp4")), 0 if left_out else 10)

    def captions(self, path):
        frames = probe(path, "-select_streams", "v:0", "-show_frames")["frames"]
        return sum(any("A53" in d.get("side_data_type", "") or "Closed Captions" in
                       d.get("side_data_type", "") for d in f.get("side_data_list", []))
                   for f in frames)

    def test_replaygain_goes_with_the_sound(self):
        source = self.path("in.mkv")
        ffmpeg("-i", simple(), "-c", "copy", "-metadata:s:a:0", "REPLAYGAIN_TRACK_GAIN=-3.00 dB",
               "-metadata:s:a:0", "REPLAYGAIN_TRACK_PEAK=0.9", source)
        output = self.converted(source, "out.mkv", *QUICK)
        self.assertEqual(streams(output, "audio")[0]["tags"]["REPLAYGAIN_TRACK_GAIN"], "-3.00 dB")


RAMP = "format=yuva444p,geq=lum='lum(X,Y)':cb='cb(X,Y)':cr='cr(X,Y)':a='mod(X*3,256)'"


class Alpha(Case):
    def source(self):
        return clip("alpha.mkv", *FFV1, "-pix_fmt", "yuva420p", filters=RAMP, seconds=0.2)

    def alpha(self, path, *before):
        return ffmpeg(*before, "-i", path, "-vf", "alphaextract", "-f", "rawvideo", "-pix_fmt", "gray", "-")

    def test_alpha_is_kept_where_possible(self):
        source = self.source()
        for name, options in some((("a.mkv", ("--vcodec", "ffv1")), ("b.apng", ()), ("c.mov", ("--vcodec", "png")))):
            with self.subTest(name):
                output = self.converted(source, name, *options)
                self.assertEqual(self.alpha(source), self.alpha(output))

    def test_vp9(self):
        lossless = ("--vopt", "lossless=1", "--vopt", "deadline=realtime")
        for name in ("a.webm", "b.mkv"):
            output = self.converted(self.source(), name, "--vcodec", "libvpx-vp9", *lossless)
            self.assertEqual(self.alpha(self.source()), self.alpha(output, "-c:v", "libvpx-vp9"))
            again = self.lossless(output, name=name + ".mkv")
            self.assertEqual(self.alpha(self.source()), self.alpha(again))

    def test_left_out_elsewhere(self):
        for name, options in (("a.mp4", QUICK), ("b.mp4", ("--vcodec", "libvpx-vp9")), ("c.y4m", ()), ("d.gif", ())):
            with self.subTest(name):
                result = self.ok(self.source(), "-o", self.path(name), *options)
                self.assertEqual(len([l for l in result.lines if "transparency is left out" in l and "ffv1" in l]), 1, str(result))
        result = self.ok(self.source(), "-o", self.path("f.mp4"), "--pix-fmt", "yuv420p", *QUICK)
        self.assertNotIn("left out", result.err)


def rgb(path, size="2x2"):
    """Mean colours of the first picture's quarters."""
    data = ffmpeg("-i", path, "-frames:v", 1, "-vf", "format=rgb24,scale=%s:flags=area" % size.replace("x", ":"),
                  "-pix_fmt", "rgb24", "-f", "rawvideo", "-")
    return list(data)


class Pictures(Case):
    def photo(self, name, pix_fmt="rgb24", *more):
        path = Store.path(name)
        if not os.path.exists(path):
            ffmpeg("-f", "lavfi", "-i", "color=0x20c040:size=64x64", "-f", "lavfi", "-i",
                   "color=0xc03020:size=64x64", "-filter_complex", "[0]format=rgb24[a];[1]format=rgb24[b];"
                   "[a][b]hstack", "-frames:v", 1, "-pix_fmt", pix_fmt, *more, path)
        return path

    def test_colours_survive(self):
        sources = [self.photo("p.png"), self.photo("p.jpg", "yuvj444p", "-q:v", 2),
                   self.photo("p.bmp", "bgr24"), self.photo("p.webp", "yuv420p", "-quality", 95)]
        for source in sources:
            for name in some(("out.png", "out.jpg", "out.bmp", "out.webp", "out.apng", "out.tiff")):
                with self.subTest(source=os.path.basename(source), output=name):
                    output = self.converted(source, name, "-y", "--mode", "off")
                    self.near(rgb(source), rgb(output), 8)

    def test_png_is_nearly_exact(self):
        output = self.converted(self.photo("p.png"), "out.png", "--mode", "off")
        self.assertEqual(video(output)["pix_fmt"], "rgb24")
        self.near(rgb(self.photo("p.png")), rgb(output), 2)

    def test_jpeg_keeps_its_format(self):
        for pix_fmt in ("yuvj420p", "yuvj422p", "yuvj444p"):
            output = self.converted(self.photo(pix_fmt + ".jpg", pix_fmt), "out.jpg", "-y")
            self.assertEqual(video(output)["pix_fmt"], pix_fmt)

    def test_gray_stays_gray(self):
        source = self.photo("g.png", "gray")
        self.assertEqual(video(self.converted(source, "out.png"))["pix_fmt"], "gray")
        colours = rgb(self.converted(source, "out.jpg"))
        self.assertEqual(colours[0::3], colours[1::3])

    def test_it_is_equalized(self):
        source = Store.path("dull.png")
        ffmpeg("-f", "lavfi", "-i", DULL % ("160x90", 25), "-frames:v", 1, source)
        before, after = (histogram(raw(p, "gray")) for p in (source, self.converted(source, "o.png")))
        spread = [max(i for i in range(256) if h[i] > 20) - min(i for i in range(256) if h[i] > 20)
                  for h in (before, after)]
        self.assertGreater(spread[1], spread[0] + 20)

    def test_hd_video_to_jpeg(self):
        """JPEG always has the BT.601 matrix. HD video has another one."""
        source = clip("hd.mkv", *FFV1, "-pix_fmt", "yuv444p", "-colorspace", "bt709", seconds=0.04,
                      source="color=0x20c040:size=1280x720:rate=25,format=gbrp,"
                             "scale=out_color_matrix=bt709:out_range=tv,format=yuv444p")
        for name in ("out.jpg", "out.png"):
            colours = rgb(self.converted(source, name, "--mode", "off"), "1x1")
            self.near(colours, [0x20, 0xc0, 0x40], 5, name)

    def test_one_picture_of_many(self):
        result = self.ok(simple(), "-o", self.path("out.png"))
        self.assertEqual(len([l for l in result.lines if "only the first frame" in l]), 1, str(result))
        self.assertIn("1 frame,", result.lines[-1])
        self.assertEqual(self.files(), ["out.png"])
        self.assertNotIn("only the first", self.ok(simple(), "-o", self.path("one.png"), "--frames", 1).err)

    def test_names_are_no_patterns(self):
        name = "frame%03d.png"
        self.converted(self.photo("p.png"), name)
        self.ok(self.path(name), "-o", self.path("again-%d.jpg"), "-q")
        self.assertEqual(self.files(), ["again-%d.jpg", name])

    def test_transparent_picture(self):
        source = Store.path("t.png")
        ffmpeg("-f", "lavfi", "-i", "color=red:size=64x64,format=rgba,colorchannelmixer=aa=0.5", "-frames:v", 1, source)
        for name in ("out.png", "out.webp"):
            self.assertIn(video(self.converted(source, name))["pix_fmt"], ("rgba", "yuva420p"))

    def test_animations(self):
        gif = clip("a.gif", "-c:v", "gif", rate=10)
        apng = clip("a.apng", "-c:v", "apng", "-f", "apng", rate=10)
        for source in (gif, apng):
            for name in some(("out.gif", "out.apng", "out.mp4", "out.webm")):
                with self.subTest(source=source, output=name):
                    options = QUICK if name == "out.mp4" else ()
                    times = frame_times(self.converted(source, name, "-y", *options))
                    self.assertEqual(len(times), 10)
                    self.near([t - times[0] for t in times], [i / 10 for i in range(10)], 0.011)

    def test_animated_webp(self):
        self.converted(clip("a.gif", "-c:v", "gif", rate=10), "out.webp")
        self.assertEqual(self.read("out.webp").count(b"ANMF"), 10)
