"""Output begins at 0, the offset between tracks is kept, and clocks that wrap are continued."""

from common import *

QUICK = ("--preset", "ultrafast")
WRAP = (1 << 33) / 90000  # seconds until a transport stream's clock wraps

SUBTITLE = (b"1\n00:00:00,400 --> 00:00:00,600\nHello\n", b";FFMETADATA1\n"
            b"[CHAPTER]\nTIMEBASE=1/1000\nSTART=19977\nEND=20700\ntitle=One\n")


def late(name, by, *output, apart=0.3):
    """A clip whose times are shifted by `by` seconds. Its sound begins `apart` seconds after its video."""
    path = Store.path("%s-%s" % (by, name))
    if not os.path.exists(path):
        ffmpeg("-f", "lavfi", "-t", 1, "-i", DULL % ("64x64", 25), "-itsoffset", apart, "-f", "lavfi",
               "-t", 1, "-i", "sine=440:sample_rate=48000", *X264, "-c:a", "mp2",
               "-output_ts_offset", by, *output, path)
    return path


def wrapping(name, step, count):
    """A clip of `count` frames about `step` seconds apart, so that the clock wraps within the clip."""
    path = Store.path(name)
    if not os.path.exists(path):
        ffmpeg("-f", "lavfi", "-i", "testsrc2=size=64x64:rate=25:duration=%g" % (count / 25), "-vf",
               "setpts=(N*%d+mod(N*7\\,11)*0.48)/TB" % step, "-enc_time_base", "1/90000", "-fps_mode",
               "passthrough", *X264, path)
    return path


def starts(path):
    """Start times of the video, and of the sound if there is one."""
    return [float(s["start_time"]) for s in streams(path, "video") + streams(path, "audio")]


def silence(path):
    """Seconds from the first sound packet to the first audible sample."""
    data = ffmpeg("-i", path, "-map", "0:a:0", "-ac", 1, "-ar", 8000, "-f", "s16le", "-")
    samples = memoryview(data).cast("h")
    return next(i for i, x in enumerate(samples) if abs(x) > 1000) / 8000


class BeginsAtZero(Case):
    def check(self, output, apart=0.3, within=0.035, heard=False):
        begins = starts(output)
        if heard and len(begins) > 1:
            begins[1] += silence(output)
        self.assertAlmostEqual(min(begins), 0, delta=within, msg=output)
        if len(begins) > 1:
            self.assertAlmostEqual(begins[1] - begins[0], apart, delta=within, msg=output)
        self.assertLess(float(contents(output)["format"]["duration"]), 1.6)

    def test_every_container(self):
        source = late("in.ts", 3600)
        self.assertGreater(min(starts(source)), 3600)
        for name in some(("out.mp4", "out.mkv", "out.mov", "out.nut", "out.ts", "out.flv", "out.avi",
                          "out.webm", "out.y4m")):
            with self.subTest(name):
                options = {"webm": ("--vopt", "deadline=realtime"), "nut": (), "y4m": ()}
                self.check(self.converted(source, name, *options.get(name[4:], QUICK)), heard=True)

    def test_sound_without_its_own_start(self):
        """AVI plays sound from the start of the file, so silence is inserted before late sound."""
        source = late("in.ts", 3600)
        for codec in ("pcm_s16le", "libmp3lame", "ac3", "aac"):
            with self.subTest(codec):
                output = self.converted(source, "out.avi", "-y", *QUICK, "--acodec", codec)
                self.assertEqual(starts(output)[1], 0)
                self.assertAlmostEqual(silence(output), 0.3, delta=0.015)
        said = self.ok(source, "-o", self.path("out.avi"), "-y", *QUICK).lines[0]
        self.assertIn("audio track 0 (mp2) is re-encoded: the container does not store when tracks", said)
        self.ok(source, "-o", self.path("out.avi"), "-y", *QUICK, "--acodec", "copy")
        self.assertEqual(payloads(self.path("out.avi")), payloads(source))

    def test_sound_starting_with_the_video_is_copied(self):
        for apart, part in ((0, ()), (-0.3, ()), (0.3, ("--ss", "0.5"))):
            source = late("%g.mkv" % apart, 10, apart=apart)
            result = self.ok(source, "-o", self.path("out.avi"), "-y", *QUICK, *part)
            self.assertEqual(len(result.lines), 2, str(result))
            sound = payloads(source)
            self.assertEqual(payloads(self.path("out.avi")), sound[-len(payloads(self.path("out.avi"))):])

    def test_every_input(self):
        for name in some(("in.mkv", "in.mp4", "in.mov", "in.nut", "in.mpg")):
            for apart in (0.3, -0.3):
                source = late("%g%s" % (apart, name), 100, apart=apart)
                with self.subTest(source):
                    self.check(self.converted(source, "out.mkv", "-y", *QUICK), apart)

    def test_a_part(self):
        for options in (("--ss", "0.41"), ("--to", "0.9"), ("--frames", "12"),
                        ("--ss", "0.21", "--to", "0.8"), ("--ss", "0.01", "--frames", "20")):
            with self.subTest(" ".join(options)):
                output = self.converted(late("in.ts", 3600), "out.mkv", "-y", *QUICK, *options)
                apart = 0.3 - float(options[1]) if options[0] == "--ss" else 0.3
                self.check(output, max(apart, 0), within=0.042)
                silent = self.converted(late("in.ts", 3600), "out.mkv", "-y", *QUICK, *options, "--acodec", "none")
                self.assertEqual(starts(silent), [0])

    def test_a_part_from_before_the_first_picture(self):
        """If a part begins before the first picture, its sound is kept and begins at 0."""
        for name in some(("in.mkv", "in.mp4", "in.ts", "in.nut")):
            source = late("early-%s" % name, 100, apart=-0.7)
            first, sound = begin(source), [p[0] for p in packets(source)]
            for start in (0.2, 0.5):
                with self.subTest(name, start=start):
                    output = self.converted(source, "out.mkv", "-y", *QUICK, "--ss", start)
                    kept = [t for t in sound if t >= first + start - 0.0005]
                    self.assertEqual(len(packets(output)), len(kept))
                    self.assertEqual(len(frame_times(output)), 25)
                    self.assertEqual(begin(output), 0)
                    self.near(starts(output), [frame_times(source)[0] - kept[0], 0], 0.0015)

    def test_a_part_from_the_first_pictures(self):
        """Demuxers that seek by decoding time must not land after the first key frame."""
        for name, codec in some((("b.ts", ("-c:v", "libx264", "-bf", "2", "-c:a", "aac")),
                                 ("b.mpg", ("-c:v", "mpeg2video", "-bf", "2", "-c:a", "mp2")))):
            source = clip(name, *codec, sound=1, size="64x64")
            for start in ("0.01", "0.1"):
                with self.subTest(name, start=start):
                    output = self.converted(source, "out.mkv", "-y", *QUICK, "--ss", start)
                    wanted = [t for t in frame_times(source) if t >= begin(source) + float(start)]
                    self.assertEqual(len(frame_times(output)), len(wanted))
                    self.assertEqual(begin(output), 0)

    def test_a_part_after_the_end_of_the_sound(self):
        """If the sound ends before the part and the video begins inside the part, the output's video begins at 0."""
        source = self.path("in.mkv")
        ffmpeg("-itsoffset", 1.5, "-f", "lavfi", "-t", 1, "-i", DULL % ("64x64", 25), "-f", "lavfi",
               "-t", 1, "-i", "sine=440", *X264, "-c:a", "mp2", source)
        output = self.converted(source, "out.mkv", *QUICK, "--ss", 1.2)
        self.assertEqual(frame_times(output)[0], 0)
        self.assertEqual(len(frame_times(output)), 25)

    def test_subtitles_and_chapters(self):
        source = self.path("in.mkv")
        text, chapters = self.write("s.srt", SUBTITLE[0]), self.write("c.txt", SUBTITLE[1])
        ffmpeg("-i", simple(), "-i", text, "-i", chapters, "-map", 0, "-map", 1, "-map_chapters", 2,
               "-c", "copy", "-c:s", "srt", "-output_ts_offset", 20, source)
        self.assertGreater(begin(source), 19.9)
        for name in ("out.mkv", "out.mp4"):
            output = self.converted(source, name, *QUICK)
            shown = [t for t, size, _ in packets(output, "s:0") if size > 2]
            self.near(shown, [packets(source, "s:0")[0][0] - begin(source)], 0.002, name)
            moved, there = ([[float(c[k]) for k in ("start_time", "end_time")]
                             for c in contents(path)["chapters"]] for path in (output, source))
            self.assertEqual(len(moved), 1, name)
            self.near([t + begin(source) for t in moved[0]], there[0], 0.002, name)

    def test_subtitles_before_the_first_picture(self):
        """Subtitles before the first picture do not shift the output. A subtitle that lasts into the video begins at 0."""
        text = self.write("s.srt", b"".join(b"%d\n00:00:%s --> 00:00:%s\nLine %d\n\n" % (i, start, end, i)
            for i, (start, end) in enumerate(((b"00,100", b"00,900"), (b"01,000", b"19,900"),
                                              (b"19,500", b"20,500"), (b"20,600", b"20,900")))))
        source = self.path("in.mkv")
        ffmpeg("-i", text, "-itsoffset", 20, "-i", simple(), "-map", 1, "-map", 0, "-c", "copy", source)
        self.assertGreater(begin(source), 19.9)
        for name in some(("out.mkv", "out.webm", "out.mp4", "out.ts")):
            with self.subTest(name):
                options = () if name == "out.webm" else QUICK
                result = self.ok(source, "-o", self.path(name), *options)
                output = self.path(name)
                self.assertAlmostEqual(begin(output), 0, delta=0.09 if name == "out.ts" else 0.008)
                found = [line for line in result.lines if "before the first picture" in line]
                if name == "out.ts":  # a transport stream cannot hold the track
                    self.assertEqual(found, [])
                    continue
                self.assertEqual(found, ["lumeq: 2 subtitles are left out: they end before the "
                                         "first picture or sound"])
                shown = [(p["pts_time"], p["duration_time"]) for p in contents(output)["packets"]
                         if p["codec_type"] == "subtitle" and int(p["size"]) > 2]
                first = begin(source)
                for got, wanted in zip(shown, ((0, 20.5 - first), (20.6 - first, 0.3))):
                    self.near([float(t) for t in got], wanted, 0.009, name)  # allows for Opus' priming samples
                self.assertEqual(len(shown), 2)

    def test_subtitle_reaching_into_the_part(self):
        source, text = self.path("in.mkv"), self.write("s.srt", SUBTITLE[0])  # shown from 0.4 to 0.6 s
        ffmpeg("-i", simple(), "-i", text, "-map", 0, "-map", 1, "-c", "copy", "-c:s", "srt", source)
        for start, wanted in (("0.3", (0.1, 0.2)), ("0.52", (0, 0.08)), ("0.64", None)):
            self.assertNotIn("left out", self.ok(source, "-o", self.path("out.mkv"), "-y", *QUICK, "--ss", start).err)
            shown = [(float(p["pts_time"]), float(p["duration_time"]))
                     for p in contents(self.path("out.mkv"))["packets"] if p["codec_type"] == "subtitle"]
            self.assertEqual(len(shown), 1 if wanted else 0, start)
            if wanted:
                self.near(shown[0], wanted, 0.03, start)

    def test_figures_count_from_zero(self):
        result = self.ok(late("in.ts", 3600), "-o", self.path("out.mkv"), *QUICK, "--stats",
                         self.path("s.csv"), "--progress", "json")
        rows = read_rows(self.path("s.csv"))
        self.near([float(r["time"]) for r in rows], frame_times(self.path("out.mkv")), 0.001)
        self.assertEqual([int(r["pts"]) for r in rows], [3600 * i for i in range(25)])
        last = json.loads([line for line in result.lines if line.startswith("{")][-1])
        self.assertAlmostEqual(last["time"], 1, delta=0.001)
        self.assertAlmostEqual(last["duration"], 1.3, delta=0.05)


class Wraps(Case):
    def test_once(self):
        """If a stream begins less than a minute before the wrap, libavformat returns negative times."""
        for seconds in (1.9, 100):
            source = late("wraps.ts", WRAP - seconds, apart=0)
            output = self.converted(source, "out.mkv", "-y", *QUICK)
            times, begins = frame_times(output), starts(output)
            self.near([t - times[0] for t in times], [i / 25 for i in range(25)], 0.0015)
            self.assertEqual(min(begins), 0)
            self.assertAlmostEqual(*begins, delta=0.03)

    def test_again_and_again(self):
        """In two and a half days the clock wraps twice. libavformat does not handle the second wrap."""
        for step in (1800, 3600):
            source = wrapping("%d.ts" % step, step, 216000 // step)
            self.assertLess(max(p[0] for p in packets(source, "v:0")), 2 * WRAP)
            output = self.lossless(source, "-y")
            self.near(frame_times(output), [step * i + i * 7 % 11 * 0.48 for i in range(216000 // step)],
                      0.05)  # ffmpeg rounded the clip's times to 0.04 s
