"""Every frame, timestamp and audio packet is kept from any container to any other."""

import fractions

from common import *


class Formats(Case):
    SOURCES = {
        "h264.mp4": X264 + ("-c:a", "aac"),
        "h264.mkv": X264 + ("-c:a", "libmp3lame"),
        "h264.mov": X264 + ("-c:a", "pcm_s16le"),
        "vp9.webm": ("-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8",
                     "-c:a", "libopus"),
        "ffv1.mkv": FFV1 + ("-c:a", "flac"),
        "mpeg2.ts": ("-c:v", "mpeg2video", "-c:a", "mp2"),
        "mjpeg.avi": ("-c:v", "mjpeg", "-c:a", "pcm_s16le"),
        "mpeg4.avi": ("-c:v", "mpeg4", "-c:a", "libmp3lame"),
        "raw.y4m": ("-c:v", "wrapped_avframe", "-pix_fmt", "yuv420p"),
    }

    def source(self, name):
        options = self.SOURCES[name]
        if name.endswith(".y4m"):
            return clip(name, *options)
        return clip(name, *options, "-b:v", "1M", sound=1)

    def test_every_input_to_matroska(self):
        for name in some(self.SOURCES):
            with self.subTest(name):
                source = self.source(name)
                output = self.lossless(source)
                self.same_times(source, output, shifted=name in ("h264.mp4", "vp9.webm"))
                if not name.endswith(".y4m"):
                    self.assertEqual(payloads(source), payloads(output))

    def test_audio_times_are_kept(self):
        for name in some(("h264.mkv", "mpeg2.ts", "mjpeg.avi")):
            with self.subTest(name):
                source = self.source(name)
                output = self.lossless(source)
                self.near([p[0] - begin(source) for p in packets(source)],
                          [p[0] - begin(output) for p in packets(output)], 0.0015)

    def test_every_output(self):
        source = self.source("h264.mp4")
        for kind in some(("mp4", "mkv", "mov", "ts", "avi", "flv", "m4v", "3gp")):
            with self.subTest(kind):
                name = "out." + kind
                self.ok(source, "-o", self.path(name), "--preset", "ultrafast")
                self.assertEqual(video(self.path(name))["codec_name"], "h264")
                self.assertEqual(len(frame_times(self.path(name))), 25)
                self.assertEqual(len(payloads(source)), len(payloads(self.path(name))))
                if name != "out.ts":  # the muxer puts a header before each packet
                    self.assertEqual(payloads(source), payloads(self.path(name)))

    def test_other_outputs(self):
        """Sound is left out only if the container takes none."""
        for kind in some(("gif", "h264", "ivf", "y4m", "nut", "wmv", "asf", "ogv", "mpg")):
            with self.subTest(kind):
                output = self.path("out." + kind)
                result = self.ok(self.source("h264.mkv"), "-o", output, "--frames", 5)
                self.assertEqual("left out" in result.err, kind in ("gif", "h264", "ivf", "y4m"), str(result))
                self.assertEqual(len(frame_times(output)), 5)

    def test_flv_refuses_mpeg4(self):
        """At a low strictness FFmpeg writes MPEG-4 into FLV, but no program can read such a file."""
        self.refused(lumeq(simple(), "-o", self.path("out.flv"), "--vcodec", "mpeg4", "-q"), OUTPUT, "official FLV")
        self.assertEqual(self.files(), [])
        self.converted(simple(), "out.flv", "--vcodec", "flv")

    def test_webm(self):
        source = self.source("vp9.webm")
        output = self.converted(source, "out.webm")
        self.assertEqual(video(output)["codec_name"], "vp9")
        self.same_times(source, output, shifted=True)
        self.assertEqual(payloads(source), payloads(output))

    def test_quality_defaults(self):
        self.assertIn(b"crf=18.0", read_bytes(self.converted(simple(), "out.mp4")))

    def test_formats_that_depend_on_the_name(self):
        """The muxer writes packets of 192 bytes for .m2ts, so it must see the final name, not the temporary one."""
        def packet(data):
            return next((size for size in (188, 192) if len(data) % size == 0 and all(
                data[at] == 0x47 for at in range(size - 188, len(data), size))), None)

        once = (simple(), "--preset", "ultrafast", "-q")
        for name, size, args in (("o.m2ts", 192, ()), ("o.M2TS", 192, ()), ("o.ts", 188, ()), ("o", 192, ("--format", "m2ts")),
                                 ("p.m2ts", 192, ("--jobs", 2, "--parts", 2))):
            with self.subTest(name):
                self.ok(*once, "-o", self.path(name), *args)
                self.assertEqual(packet(self.read(name)), size)
        self.ok(*once, "-o", self.path("s%Y%m%d%H%M%S.m2ts"), "--segment-time", 5)
        piece, = [name for name in self.files() if name.startswith("s")]
        self.assertEqual(packet(self.read(piece)), 192)
        with open(self.path("pipe"), "wb") as f:
            self.ok(*once, "-o", "-", "--format", "m2ts", stdout=f)
        self.assertEqual(packet(self.read("pipe")), 192)

    def test_y4m_to_standard_output(self):
        result = self.ok(simple(), "-o", "-")
        self.assertTrue(result.out.startswith(b"YUV4MPEG2 W160 H90 F25:1"), result.out[:80])
        self.assertEqual(result.out.count(b"FRAME\n"), 25)
        size = frame_size("yuv420p", 160, 90)[1]
        self.assertEqual(len(result.out), result.out.index(b"\n") + 1 + 25 * (6 + size))

    def test_y4m_of_a_file_with_sound_and_subtitles(self):
        result = self.ok(SAMPLE, "-o", "-", "--frames", 2)
        self.assertEqual(result.out.count(b"FRAME\n"), 2)
        self.assertEqual(len([line for line in result.lines if "left out" in line]), 2, str(result))

    def test_matroska_to_standard_output(self):
        self.write("piped.mkv", self.ok(simple(), "-o", "-", "--format", "mkv", "--preset", "ultrafast").out)
        self.same_times(simple(), self.path("piped.mkv"), 0.05)

    def test_conversions_are_reported(self):
        """Each conversion is reported once, with its purpose."""
        result = self.ok(clip("rgb.mkv", "-c:v", "png", "-pix_fmt", "rgb24"), "-o", self.path("o.mkv"), "-v",
                         "--pix-fmt", "yuv420p")
        self.assertEqual(sorted(line for line in result.lines if "converted" in line),
                         ["lumeq: frames are converted from yuv444p to yuv420p for libx264",
                          "lumeq: frames were converted from rgb24 to yuv444p for the equalizer"])

    def test_rgb_for_an_encoder_without_it(self):
        source = clip("s.mov", "-c:v", "png", "-pix_fmt", "rgb24", seconds=0.12)
        self.assertEqual(video(self.converted(source, "o.mkv", "--mode", "off"))["pix_fmt"], "yuv420p")
        self.assertEqual(video(self.converted(source, "p.mkv", "--mode", "off", "--pix-fmt", "source"))["pix_fmt"], "yuv444p")
        self.assertEqual(video(self.lossless(source))["pix_fmt"], "yuv444p")
        self.assertEqual(video(self.lossless(source, "--mode", "off", "--pix-fmt", "yuv420p"))["pix_fmt"], "yuv420p")


class Times(Case):
    def test_variable_frame_rate(self):
        for name in some(("vfr.mkv", "vfr.mp4")):
            source = clip(name, *X264, "-fps_mode", "passthrough", seconds=1,
                          filters="settb=1/1000,setpts='N*40+floor(N*N*1.7)'")
            times = frame_times(source)
            steps = {round(b - a, 3) for a, b in zip(times, times[1:])}
            self.assertGreater(len(steps), 10)
            for output in some(("out.mkv", "out.mp4", "out.mov")):
                with self.subTest(source=name, output=output):
                    self.same_times(source, self.converted(source, output, "-y", "--preset", "ultrafast"))

    def test_b_frames(self):
        source = clip("b-silent.mp4", "-c:v", "libx264", "-preset", "fast", "-bf", "3")
        self.assertEqual(video(source)["has_b_frames"], 2)
        for name in some(("out.mp4", "out.mkv")):
            with self.subTest(name):
                self.same_times(source, self.converted(source, name))
        source = clip("b.ts", "-c:v", "libx264", "-preset", "fast", "-bf", "3", sound=1)
        self.same_times(source, self.lossless(source))

    def test_sound_before_zero(self):
        """Matroska has no negative times, so priming samples shift the whole file."""
        source = clip("b.mp4", "-c:v", "libx264", "-preset", "fast", "-bf", "3", "-c:a", "aac", sound=1)
        self.same_times(source, self.converted(source, "out.mkv"), shifted=True)
        self.same_times(source, self.converted(source, "out.mp4"), 0.000002)

    def test_start_after_zero(self):
        source = clip("late.mkv", *X264, "-c:a", "libmp3lame", "-output_ts_offset", "5", sound=1)
        self.assertAlmostEqual(frame_times(source)[0], 5, delta=0.05)
        for name in some(("out.mkv", "out.mp4", "out.ts")):
            with self.subTest(name):
                output = self.converted(source, name, "--preset", "ultrafast",
                                        *(("--acodec", "none") if name == "out.ts" else ()))
                if name == "out.ts":  # the muxer adds a delay
                    a, b = frame_times(source), frame_times(output)
                    self.near([t - a[0] for t in a], [t - b[0] for t in b], 0.001)
                else:
                    self.same_times(source, output)

    def test_ntsc_rate(self):
        source = clip("ntsc.mp4", *X264, rate="30000/1001")
        output = self.converted(source, "out.mp4", "--preset", "ultrafast")
        self.assertEqual(video(output)["avg_frame_rate"], "30000/1001")
        self.same_times(source, output, 0.000002)
        self.assertAlmostEqual(float(video(source)["duration"]), float(video(output)["duration"]), delta=0.001)

    def still_at_the_end(self, name, *output):
        """A clip of three frames that last 1 s, 1 s and 60 s."""
        short, source = clip("short.mp4", *output, "-video_track_timescale", "1000", rate=1, seconds=3), self.path(name)
        ffmpeg("-i", short, "-c", "copy", "-video_track_timescale", "1000", "-bsf:v",
               r"setts=pts=PTS:dts=DTS:duration=if(eq(N\,2)\,60000\,1000)", source)
        return source

    def test_constant_rates_in_coarse_time_bases(self):
        """Time bases of 1 ms or 1/90000 s round most frame durations. In mp4 and mov, all durations are equal again."""
        def distances(path, key="dts"):
            times = sorted(int(p[key]) for p in contents(path)["packets"] if p["codec_type"] == "video")
            return [b - a for a, b in zip(times, times[1:])]

        for rate, name, more in (("60000/1001", "a.ts", ()), ("60000/1001", "b.mkv", ()), ("30000/1001", "c.mkv", ()),
                                 ("24000/1001", "d.mkv", ("--ss", "0.4")), ("30", "e.flv", ()), ("60", "f.mkv", ()),
                                 ("30000/1001", "g.flv", ("--vcodec", "libx265")), ("24", "h.mkv", ("--jobs", 2, "--parts", 3)),
                                 ("60000/1001", "i.ts", ("--jobs", 2, "--parts", 3))):
            source = clip(name, *X264, "-bf", "2", "-c:a", "aac", rate=rate, seconds=2, sound=2)
            for ending in ("mp4", "mov"):
                with self.subTest(rate, source=name, ending=ending):
                    output = self.path("o." + ending)
                    result = self.ok(source, "-o", output, "-y", "--preset", "ultrafast", *more)
                    for key in ("dts", "pts"):
                        self.assertEqual(len(set(distances(output, key))), 1, distances(output, key))
                    step = distances(output)[0] * fractions.Fraction(video(output)["time_base"])
                    self.assertEqual(1 / step, fractions.Fraction(rate), result.err)
                    if not more:
                        for was, now in zip(frame_times(source), frame_times(output)):
                            self.assertAlmostEqual(was - frame_times(source)[0], now - frame_times(output)[0], delta=0.0011)

    def test_still_at_the_end(self):
        """The third packet lasts a minute. With B-frames, its frame is shown second."""
        for frames in (0, 2):
            source = self.still_at_the_end("still%d.mp4" % frames, "-c:v", "libx264", "-bf", frames)
            for name, *options in some((("out.mp4",), ("out.mov",), ("out.mkv",), ("out.gif",),
                                        ("out.mp4", "--vcodec", "mpeg4"))):
                with self.subTest(frames=frames, output=name, options=options):
                    self.assertIn("62.00 s of video", self.ok(source, "-o", self.path(name), "-y", *options).err)
                    self.assertAlmostEqual(float(contents(self.path(name))["format"]["duration"]), 62, delta=0.01)
                    self.near(frame_times(self.path(name)), [0, 1, 2], 0.01)

    def test_avi_has_no_b_frames(self):
        source = clip("b.mp4", "-c:v", "libx264", "-preset", "fast", "-bf", "3", "-c:a", "aac", sound=1)
        self.assertNotIn("constant", self.ok(source, "-o", self.path("out.avi")).err)
        self.near(frame_times(self.path("out.avi")), [i / 25 for i in range(25)], 0.001)
        self.assertEqual(video(self.path("out.avi"))["avg_frame_rate"], "25/1")

    def test_avi_has_a_constant_rate(self):
        """The clip has ten frames at 25 fps, a gap, and five frames. Two of the five come too early for 25 fps."""
        source = self.path("uneven.mkv")
        times = [40 * i for i in range(10)] + [1000, 1040, 1052, 1064, 1080]
        grays = [40 + 12 * i for i in range(15)]
        expression = "+".join("eq(N,%d)*%d" % (i, t) for i, t in enumerate(times))
        ffmpeg("-f", "lavfi", "-i", "color=black:s=64x64:r=25:d=0.6,format=gray,geq='40+12*N',format=yuv420p",
               "-vf", "settb=1/1000,setpts='%s'" % expression, "-fps_mode", "passthrough", *FFV1, source)
        result = self.ok(source, "-o", self.path("out.avi"), "--vcodec", "ffv1", "--mode", "off")
        self.assertIn("avi has a constant frame rate: at 25.000 frames per second, 2 frames were dropped", result.err)
        shown = [luma[0] for luma in Picture(self.path("out.avi")).luma]
        limited = [luma[0] for luma in Picture(source).luma]
        self.assertEqual(len(set(limited)), len(grays))
        self.assertEqual(shown, limited[:10] + [limited[i] for i in (10, 11, 13)])
        self.near(frame_times(self.path("out.avi")), [i / 25 for i in (*range(10), 25, 26, 27)], 0.001)

    def test_timestamps_going_back(self):
        """All frames and sound packets of concatenated files are written, and the frames' times rise."""
        part = clip("part.ts", *X264, "-c:a", "mp2", sound=1)
        result = lumeq(self.write("joined.ts", 2 * read_bytes(part)), "-o", self.path("out.mkv"), "--vcodec", "ffv1")
        self.assertIn(result.code, (DONE, DAMAGED), str(result))
        times = frame_times(self.path("out.mkv"))
        self.assertGreaterEqual(len(times), 49)
        self.assertEqual(times, sorted(set(times)))
        self.near([b - a for a, b in zip(times, times[1:])], [0.04] * (len(times) - 1), 0.0411)
        self.assertGreaterEqual(len(packets(self.path("out.mkv"))), 2 * len(packets(part)) - 2)


class Tracks(Case):
    def test_cover_picture_beside_a_video(self):
        """The video is equalized, not the picture, although the picture comes first."""
        picture = self.path("p.png")
        ffmpeg("-f", "lavfi", "-i", "color=red:size=1000x1000", "-frames:v", 1, picture)
        source = self.path("cover.mp4")
        ffmpeg("-i", picture, "-i", simple(), "-map", "0", "-map", "1", "-c", "copy",
               "-disposition:v:0", "attached_pic", source)
        output = self.lossless(source)
        self.assertEqual(video(output)["width"], 160)
        self.assertEqual(len(frame_times(output)), 25)

    def test_program_streams_keep_fields_and_colours(self):
        source = clip("fields.ts", "-c:v", "mpeg2video", "-flags", "+ildct+ilme", "-top", "1", "-color_primaries",
                      "bt470bg", "-colorspace", "bt470bg", "-color_trc", "gamma28", "-c:a", "mp2", filters="setfield=tff",
                      sound=1)
        keys = ("codec_name", "field_order", "color_primaries", "color_space", "color_transfer")
        for name in ("out.mpg", "out.vob"):
            with self.subTest(name):
                output = self.converted(source, name)
                self.assertEqual([video(output).get(k) for k in keys], [video(source).get(k) for k in keys])
                self.assertEqual(payloads(output), payloads(source))
                self.assertEqual(self.read(name)[4] >> 6, 1)  # a pack header of MPEG-2

    def test_field_order(self):
        """trace_headers reads from the bitstream which field is first. For H.264, ffprobe's frames do not show that."""
        def orders(path):
            said = subprocess.run(["ffmpeg", "-v", "trace", "-i", path, "-c", "copy", "-bsf:v", "trace_headers", "-f", "null",
                                   "-"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True).stderr
            return set(re.findall(rb" (?:pic_struct|top_field_first) .*= (\d+)", said))

        for order, flag in (("bff", 0), ("tff", 1)):
            sources = [clip(order + ".mpg", "-vf", "setfield=" + order, "-c:v", "mpeg2video", "-flags", "+ildct+ilme",
                            size="160x96", seconds=0.4)]
            if order == "bff":
                sources.append(clip("tape.dv", "-vf", "setfield=bff", "-c:v", "dvvideo", "-pix_fmt", "yuv420p",
                                    size="720x576", seconds=0.4))
            for source in sources:
                for name, value, args in (("a.mp4", 4 - flag, ()), ("b.mkv", 4 - flag, ("--vopt", "x264-params=keyint=5")),
                                          ("c.ts", 4 - flag, ("--jobs", 2, "--parts", 2)), ("d.mpg", flag, ())):
                    with self.subTest(order, source=source, name=name):
                        self.ok(source, "-o", self.path(name), *args, "-y", "-q")
                        self.assertEqual(orders(self.path(name)), {b"%d" % value})
        self.assertIn(b"keyint=5 ", self.read("b.mkv"))

    def test_mxf_of_a_file_with_sound_first(self):
        source = self.path("sound-first.mkv")
        ffmpeg("-i", clip("pcm.mkv", *FFV1, "-c:a", "pcm_s16le", "-ar", "48000", sound=1), "-map", "0:a", "-map", "0:v",
               "-c", "copy", source)
        output = self.converted(source, "out.mxf")
        self.assertEqual([s["codec_type"] for s in streams(output)], ["video", "audio"])
        self.assertEqual(len(frame_times(output)), 25)

    def test_sound_of_discs_is_copied(self):
        def samples(path):
            return ffmpeg("-i", path, "-map", "0:a", "-f", "s32le", "-")

        for codec, name, *options in (("pcm_dvd", "in.vob"), ("pcm_bluray", "in.m2ts", "-mpegts_m2ts_mode", "1")):
            for form, plain in (("s16", "pcm_s16le"), ("s32", "pcm_s24le")):
                source = self.path(form + name)
                ffmpeg("-f", "lavfi", "-i", "testsrc2=s=64x64:d=0.4", "-f", "lavfi", "-i",
                       "sine=r=48000:d=0.4,aformat=s32,volume=0.7", "-ac", "2", "-c:v", "mpeg2video", "-c:a", codec,
                       "-sample_fmt", form, *options, source)
                for output in some(("out.mkv", "out.mov", "out.avi")):
                    with self.subTest(codec, form=form, output=output):
                        output = self.converted(source, output, "-y")
                        self.assertEqual(streams(output, "audio")[0]["codec_name"], plain)
                        self.assertEqual(samples(output), samples(source))


class Interleaving(Case):
    """Tracks that are far apart in time or position: everything is written and nothing hangs."""

    def test_everything_is_written(self):
        cases = (("one.mkv", ("pcm_s16le",), dict(seconds=0.04, sound=30)), ("one.mp4", ("aac",), dict(seconds=0.04, sound=30)),
                 ("sound-first.mkv", ("pcm_s16le", "-max_interleave_delta", "1"), dict(filters="setpts=PTS+3/TB", sound=4)),
                 ("sound-ends-early.mkv", ("flac",), dict(seconds=5, sound=0.5)),
                 ("all-apart.mp4", ("aac", "-max_interleave_delta", "0", "-g", "10"), dict(seconds=3, sound=3)),
                 ("no-limit.mp4", ("aac", "-max_interleave_delta", "1000000000", "-g", "10"), dict(seconds=3, sound=3)),
                 ("many.mkv", ("libopus", "-frame_duration", "2.5"), dict(seconds=0.2, sound=8)))
        for name, sound, more in cases:
            source = clip(name, *X264, "-c:a", *sound, **more)
            for options in some((["--vcodec", "ffv1"], ["--preset", "ultrafast"])):
                with self.subTest(name, options=options):
                    output = self.converted(source, "out.mkv", "-y", *options)
                    self.assertEqual(payloads(source), payloads(output))
                    self.assertEqual(len(frame_times(source)), len(frame_times(output)))
            self.ok(source, "--null")
        self.assertGreater(len(packets(source)), 3000)

    def test_late_sound(self):
        source = self.path("late-sound.mkv")
        ffmpeg("-i", simple(), "-itsoffset", "3", "-i", simple(), "-map", "0:v", "-map", "1:a", "-c", "copy", source)
        output = self.lossless(source)
        self.assertEqual(payloads(source), payloads(output))
        self.near([p[0] for p in packets(source)], [p[0] for p in packets(output)], 0.0015)
