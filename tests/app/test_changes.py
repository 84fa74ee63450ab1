"""Videos whose properties change midway: range, shape, size, fields."""

from common import *

OFF = ("--mode", "off")
WHITE_BESIDE_BLACK = "color=black:size=64x48:rate=25,drawbox=0:0:32:48:white:fill"
DISC = "color=0x606060:size=%s:rate=25,format=gray,geq=lum='if(lt(%s,%d),200,90)',format=yuv420p%s"


def joined(name, *parts):
    """Concatenates the packets of several clips."""
    path = Store.path(name)
    if not os.path.exists(path):
        listing = Store.path(name + ".txt")
        with open(listing, "w", encoding="utf-8") as f:
            f.writelines("file '%s'\n" % p for p in parts)
        ffmpeg("-f", "concat", "-safe", 0, "-i", listing, "-c", "copy", path)
    return path


def disc(size, pixel="1/1"):
    """A clip of a disc on gray. The disc is round on screen and 80 lines high. Only added bars are black."""
    width, height = (int(n) for n in size.split("x"))
    x, y = (int(n) for n in pixel.split("/"))
    inside = "hypot((X-%d)*%d/%d,Y-%d)" % (width // 2, x, y, height // 2)
    return clip("disc-%s-%d-%d.ts" % (size, x, y), *X264, "-qp", 4, "-g", 10,
                source=DISC % (size, inside, 40, ",setsar=" + pixel))


def turned():
    return joined("turned.ts", disc("160x96"), disc("96x160"))


def rows(luma, width):
    return [luma[i:i + width] for i in range(0, len(luma), width)]


def disc_size(luma, width):
    """The numbers of columns and rows with bright pixels."""
    lines = rows(luma, width)
    columns = [x for x in range(width) if any(line[x] > 150 for line in lines)]
    return len(columns), sum(any(v > 150 for v in line) for line in lines)


class Range(Case):
    def half(self, name, range_):
        scale = ",scale=out_range=%s" % ("full,format=yuvj420p" if range_ == "pc" else "limited,format=yuv420p")
        return clip(name, *X264, "-qp", 0, "-color_range", range_, source=WHITE_BESIDE_BLACK + scale, seconds=0.4)

    def test_range(self):
        full, limited = self.half("full.ts", "pc"), self.half("limited.ts", "tv")
        output = self.path("out.mkv")
        result = self.ok(joined("tv-pc.ts", limited, full), "-o", output, *OFF, "--vcodec", "ffv1")
        luma = Picture(output).luma
        self.assertEqual(len(luma), 20)
        for frame in luma:
            self.near((frame[64 * 24 + 48], frame[64 * 24 + 16]), (16, 235), 1)
        self.assertEqual(len([l for l in result.lines if "the video changes" in l and "0.400 s" in l]), 1)


class Format(Case):
    def test_lost_samples(self):
        """A change of format is reported only if the later format has more samples or bits."""
        kinds = {f: clip("%s.ts" % f, *X264, "-pix_fmt", f, size="64x48", seconds=0.4)
                 for f in ("yuv420p", "yuv444p", "yuv420p10le")}
        for first, second in ("yuv420p", "yuv444p"), ("yuv420p", "yuv420p10le"), ("yuv444p", "yuv420p"):
            with self.subTest(first + second):
                result = self.ok(joined(first + second + ".ts", kinds[first], kinds[second]), "-o", self.path("out.mkv"),
                                 *OFF, "-y")
                self.assertEqual("its format is %s, converted to %s" % (second, first) in result.err,
                                 first == "yuv420p", str(result))

    def test_late_alpha(self):
        for number, pix_fmt in enumerate(("rgb24", "rgba", "gray")):
            make(self.path("f%d.png" % number), "-frames:v", 1, "-update", 1, "-pix_fmt", pix_fmt, size="64x48")
        for name, encoder in ("out.mkv", "ffv1"), ("out.mov", "png"), ("out.mp4", "libx264"):
            result = self.ok("--sequence", self.path("f%d.png"), "-o", self.path(name), "--vcodec", encoder, *OFF)
            self.assertIn("from 0.040 s on its format is rgba, converted to yuv444p", result.err)


class Shape(Case):
    def check(self, source, size, bars, *options):
        """Checks that discs stay round and the output has this size. `bars`: black columns and rows of the last frames."""
        output = self.path("out.mkv")
        result = self.ok(source, "-o", output, *OFF, "--vcodec", "ffv1", "-y", *options)
        about = video(output)
        self.assertEqual((about["width"], about["height"]), size)
        luma, width = Picture(output).luma, size[0]
        pixel = [int(n) for n in about.get("sample_aspect_ratio", "1:1").split(":")]
        for frame in luma[2], luma[-3]:
            across, down = disc_size(frame, width)
            self.assertAlmostEqual(across * pixel[0] / pixel[1], down, delta=3)
        last = rows(luma[-3], width)
        black = [sum(max(v[x] for v in last) < 20 for x in range(width)), sum(max(v) < 20 for v in last)]
        self.near(black, bars, 3)
        self.assertEqual(len([l for l in result.lines if "the video changes" in l]), 1, str(result))
        return result

    def test_turned(self):
        self.check(turned(), (160, 96), (160 - 58, 0))

    def test_pixels(self):
        source = joined("pixels.ts", disc("180x144", "16/15"), disc("180x144", "64/45"))
        self.check(source, (180, 144), (0, 36))

    def test_smaller(self):
        self.check(joined("smaller.ts", disc("320x192"), disc("160x96")), (320, 192), (0, 0))

    def test_bars_do_not_count(self):
        """Statistics ignore the added bars, in one pass and in two."""
        alone = self.stats(disc("96x160"))[-3]
        for passes in "off", "on":
            fitted = self.stats(turned(), "--two-pass", passes)[-3]
            self.assertAlmostEqual(float(fitted["mean_in"]), float(alone["mean_in"]), delta=1)
            self.assertAlmostEqual(float(fitted["mean_out"]), float(alone["mean_out"]), delta=2)

    def stats(self, source, *options):
        self.ok(source, "-o", self.path("out.mkv"), "--stats", self.path("stats.csv"), "--bars", "ignore", "-y", "-q", *options)
        lines = self.read("stats.csv").decode().splitlines()
        return [dict(zip(lines[0].split(","), line.split(","))) for line in lines[1:]]

    def test_bars_stay_black(self):
        output = self.lossless(turned(), "--brightness", "0.5")
        last = rows(Picture(output).luma[-3], 160)
        self.assertEqual({v for row in last for v in row[:48]}, {16})
        self.assertGreater(min(v for row in last for v in row[54:106]), 90)

    def test_parts(self):
        """All parts of a job scale their frames to the size of the film's first frame."""
        source = joined("turns.ts", *(5 * [disc("160x96"), disc("96x160")]))
        whole = raw(self.lossless(source, "--two-pass", "on"))
        output = self.path("job.mkv")
        result = self.ok(source, "-o", output, "--vcodec", "ffv1", "--jobs", 2, "--part-seconds", 2.6)
        self.assertEqual(raw(output), whole)
        self.assertEqual(len([l for l in result.lines if "the video changes" in l]), 1, str(result))
        plan = self.path("by-hand.mkv.lumeq/plan")
        self.ok("plan", source, "-o", self.path("by-hand.mkv"), "--vcodec", "ffv1", "--parts", 2, "--no-measure")
        for step in "measure", "segment":
            for part in range(2):
                self.ok(step, plan, part)
            self.ok(*(("plan", plan) if step == "measure" else ("join", plan)))
        self.assertEqual(raw(self.path("by-hand.mkv")), whole)

    def test_growing_video_call(self):
        for encoder in "libvpx", "libvpx-vp9":
            sizes = [clip("%s-%s.webm" % (encoder, size), "-c:v", encoder, "-deadline", "realtime", "-cpu-used", 8,
                          "-g", 5, size=size, seconds=0.2) for size in ("80x48", "160x96", "320x192")]
            source = joined("grows-%s.webm" % encoder, *sizes)
            with self.subTest(encoder):
                output = self.lossless(source, *OFF)
                self.assertEqual((video(output)["width"], video(output)["height"]), (320, 192))
                output = self.lossless(source, *OFF, "--to", "0.3")
                self.assertEqual((video(output)["width"], video(output)["height"]), (160, 96))
                output = self.converted(source, "out.png", *OFF, "-y")
                self.assertEqual((video(output)["width"], video(output)["height"]), (80, 48))

    def test_call_on_standard_input(self):
        """Standard input is not searched for the largest picture, because the search would move the input's position."""
        source = clip("call.webm", "-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", 8, "-b:v", "9M",
                      source="testsrc2=size=320x180:rate=25,noise=alls=40:allf=t", seconds=1)
        self.assertGreater(os.path.getsize(source), 300000)
        with open(source, "rb") as f:
            self.ok("-", "-o", self.path("out.mkv"), *OFF, "--vcodec", "ffv1", stdin=f)
        self.assertEqual(raw(self.path("out.mkv")), raw(source))


class Fields(Case):
    def halves(self):
        return (clip("tff.ts", *X264, "-vf", "setfield=tff", "-flags", "+ildct+ilme", "-g", 10, size="64x64"),
                clip("progressive.ts", *X264, "-g", 10, size="64x64"))

    def flags(self, path):
        frames = probe(path, "-select_streams", "v:0", "-show_entries", "frame=interlaced_frame,top_field_first")["frames"]
        return [(f["interlaced_frame"], f["top_field_first"]) for f in frames]

    def check(self, source, name, encoder):
        result = self.ok(source, "-o", self.path(name), *OFF, "-y", "--vcodec", encoder)
        flags = self.flags(self.path(name))
        if flags != self.flags(source):
            self.assertEqual(len([l for l in result.lines if "1.000 s" in l and encoder in l]), 1, str(result))
        return flags

    def test_fields_first(self):
        source = joined("fields-first.ts", *self.halves())
        self.assertEqual(self.flags(source)[0], (1, 1))
        for name, encoder in (("a.mp4", "libx264"), ("a.ts", "mpeg2video"), ("a.mov", "prores_ks")):
            with self.subTest(encoder):
                self.assertEqual(self.check(source, name, encoder)[:25], 25 * [(1, 1)])

    def test_fields_later(self):
        source = joined("fields-later.ts", *reversed(self.halves()))
        self.assertEqual(self.flags(source)[0], (0, 0))
        for name, encoder in (("a.mp4", "libx264"), ("a.ts", "mpeg2video")):
            with self.subTest(encoder):
                self.check(source, name, encoder)
