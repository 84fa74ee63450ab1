"""Files like those that cameras, phones and archives make."""

from common import *

QUICK = ("--preset", "ultrafast")


class Times(Case):
    def test_edit_list(self):
        """A file that was cut without re-encoding has hidden frames before the cut."""
        long = clip("long.mp4", *X264, "-g", 50, "-bf", 2, "-c:a", "aac", seconds=4, sound=4)
        for start in ("1.24", "0.52"):
            with self.subTest(start):
                source = self.path("cut.mp4")
                ffmpeg("-ss", start, "-i", long, "-c", "copy", source)
                shown = len(frame_times(source))
                self.assertLess(shown, len(packets(source, "v:0")))
                result = self.ok(source, "-o", self.path("out.mkv"), "--vcodec", "ffv1", "-y",
                                 "--mode", "off", "--progress", "json")
                self.assertIn('"frames":%d' % shown, result.err.replace(" ", ""))
                self.assertEqual(raw(source), raw(self.path("out.mkv")))
                self.same_distances(source, self.path("out.mkv"))

    def same_distances(self, source, output):
        """Checks that frames and sound keep their distance from the first frame. Up to two hidden sound packets may come first."""
        a, b = frame_times(source), frame_times(output)
        self.near([t - a[0] for t in a], [t - b[0] for t in b], 0.0015)
        self.assertLess(b[0], 0.04)
        sound = {p[2]: p[0] - a[0] for p in packets(source) if p[0] >= 0}
        copied = {p[2]: p[0] - b[0] for p in packets(output)}
        self.assertLessEqual(len(copied) - len(sound), 2)
        for packet, time in sound.items():
            self.assertAlmostEqual(copied[packet], time, delta=0.0015)

    def test_negative_times(self):
        """If a broadcast's clock wraps, the times before that are negative."""
        source = self.path("negative.ts")
        ffmpeg("-i", simple(), "-c", "copy", "-output_ts_offset", "95443.2", "-muxdelay", 0, "-muxpreload", 0, source)
        self.assertLess(frame_times(source)[0], -0.4)
        for name in ("out.mkv", "out.mp4", "out.ts"):
            with self.subTest(name):
                times = frame_times(self.converted(source, name, *QUICK))
                self.assertEqual(len(times), 25)
                self.near([b - a for a, b in zip(times, times[1:])], [0.04] * 24, 0.0011)

    def test_packed_bitstream(self):
        """In old AVI files a packet with two frames is followed by an empty one."""
        if not has_encoder("libxvid"):
            self.skipTest("no libxvid")
        source = clip("packed.avi", "-c:v", "libxvid", "-bf", 2, "-q:v", 4)
        self.assertLess(min(p[1] for p in packets(source, "v:0")), 30)
        output = self.lossless(source)
        times = frame_times(output)
        self.assertEqual(len(times), len(frame_times(source)))
        for a, b in zip(times, times[1:]):
            self.assertAlmostEqual(b - a, 0.04, delta=0.0011)

    def test_raw_streams(self):
        for name, codec in some((("a.h264", ("libx264", "-preset", "ultrafast", "-bf", "3")),
                                 ("b.m2v", ("mpeg2video", "-bf", "2")), ("c.hevc", ("libx265", "-preset",
                                  "ultrafast", "-x265-params", "log-level=none")))):
            with self.subTest(name):
                times = frame_times(self.lossless(clip(name, "-c:v", *codec)))
                self.assertEqual(len(times), 25)
                self.near([b - a for a, b in zip(times, times[1:])], [0.04] * 24, 0.0011)


class Changes(Case):
    def test_formats_and_range(self):
        parts = [clip("f%s.ts" % i, "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", pix_fmt,
                      seconds=0.2)
                 for i, pix_fmt in enumerate(("yuv420p", "yuv444p", "yuvj420p", "gray", "yuv422p10le"))]
        source = joined(self.path("formats.ts"), parts)
        result = lumeq(source, "-o", self.path("out.mkv"), "--vcodec", "ffv1")
        self.assertIn(result.code, (DONE, DAMAGED), str(result))
        self.assertEqual(len(frame_times(self.path("out.mkv"))), 25)


class CutInTheMiddle(Case):
    """If a stream lacks its beginning, lumeq skips incomplete pictures and reports no damage."""
    OPEN = ("-x264-params", "open-gop=1:bframes=3:b-adapt=0:scenecut=0")
    REFRESHED = ("-x264-params", "keyint=25:intra-refresh=1")
    X265 = ("-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "keyint=25:scenecut=0:log-level=none")

    def cut(self, name, *options, packet=188, at=0.4, **more):
        """Returns a clip of 100 pictures, and a copy that lacks its beginning (`at`: share of the bytes)."""
        whole = clip(name, *options, **{"seconds": 4, "sound": 4, **more})
        data = read_bytes(whole)
        return whole, self.write(name, data[int(len(data) * at) // packet * packet:])

    def complete(self, whole, source, *options, frames=None, code=DONE):
        """Checks that the output has only the last pictures of the whole clip. Returns its path and its number of pictures."""
        output = self.path("out.mkv")
        self.exits(code, source, "-o", output, "--vcodec", "ffv1", "--mode", "off", "-y", *options)
        pictures, size = raw(output), 160 * 90 * 3 // 2
        self.assertTrue(raw(whole).endswith(pictures), "some pictures are not in the whole clip")
        count = len(pictures) // size
        self.assertIn(count, frames or (25, 50, 75))
        return output, count

    def test_every_codec(self):
        m2v = ("-c:v", "mpeg2video", "-g", 25, "-bf", 2, "-sc_threshold", 1000000000, "-c:a", "mp2")
        cases = (("closed.ts", X264 + ("-g", 25, "-c:a", "aac")), ("open.ts", X264 + ("-g", 25) + self.OPEN),
                 ("hevc.ts", self.X265), ("a.h264", X264 + ("-g", 25, "-an")), ("b.hevc", self.X265 + ("-an",)),
                 ("m2.ts", m2v), ("m2.mpg", m2v), ("m2.vob", m2v), ("m2.m2v", m2v + ("-an",)))
        for name, options in some(cases) + list(cases[:1]):
            with self.subTest(name):
                # MPEG-2's groups are open: the first B pictures need the previous group, which is cut off.
                left = range(21, 76) if name.startswith("m2") else None
                self.complete(*self.cut(name, *options, packet=2048 if name[3:] in ("mpg", "vob") else 188),
                              frames=left)

    def test_recovery_points(self):
        """A stream with intra refresh has recovery points instead of key frames."""
        whole, source = self.cut("refreshed.ts", *X264, *self.REFRESHED)
        self.complete(whole, source, frames=(len(frame_times(source)),))

    def test_no_keyframe(self):
        """Without key frames all pictures are written, and the input is reported as damaged."""
        for seconds in 4, 32:
            with self.subTest(seconds=seconds):
                whole = clip("refreshed.ts", *X264, *self.REFRESHED, "-bsf:v", "filter_units=remove_types=6",
                             seconds=seconds, sound=seconds)
                data = read_bytes(whole)
                source = self.write("never.ts", data[len(data) // 10 // 188 * 188:])
                result = self.exits(DAMAGED, source, "--null", "--two-pass", "off")
                sent = len(packets(source, "v:0"))
                self.assertIn(" %d frames" % sent, result.err)

    def test_the_sound_stays_in_time(self):
        whole, source = self.cut("closed.ts", *X264, "-g", 25, "-c:a", "aac")
        output, count = self.complete(whole, source)
        clean = frame_times(whole)[-count]
        sound = [p[0] - clean for p in packets(source)]
        copied = [p[0] - frame_times(output)[0] for p in packets(output)]
        self.assertLess(len(sound) - len(copied), 2)  # the first sound packet is incomplete
        self.near(sound[-len(copied):], copied, 0.0015)

    def test_the_same_start_everywhere(self):
        whole, source = self.cut("open.ts", *X264, "-g", 25, *self.OPEN, "-c:a", "aac")
        _, count = self.complete(whole, source)
        self.complete(whole, source, "--jobs", 2, frames=(count,))
        self.complete(whole, source, "--ss", 0.08, frames=(count,))
        self.assertIn(" %d frames" % count, self.ok(source, "--null").err)
        self.assertIn(" %d frames" % count, self.ok("-", "--null", stdin=read_bytes(source)).err)

    def test_damage_later_is_damage(self):
        whole, source = self.cut("closed.ts", *X264, "-g", 25, "-c:a", "aac", at=0.1)
        data = self.read(source)
        at = len(data) * 3 // 4 // 188 * 188
        self.assertEqual(lumeq(self.write("lost.ts", data[:at] + data[at + 10 * 188:]), "--null").code, DAMAGED)

    def test_whole_streams_stay_whole(self):
        for name, options in (("refreshed.ts", X264 + self.REFRESHED), ("open.ts", X264 + ("-g", 25) + self.OPEN)):
            whole, _ = self.cut(name, *options)
            self.complete(whole, whole, frames=(100,))


class Programs(Case):
    """From a multiplex of several programs, only the video's program is read."""

    def program(self, number, offset, size, *options, seconds=2, **more):
        """A stream of one program, with its own PIDs."""
        return clip("program%d.ts" % number, *(X264 + ("-g", 25, "-c:a", "mp2")), *options,
                    "-mpegts_start_pid", 0x100 * number, "-mpegts_pmt_start_pid", 0x1000 + number,
                    "-mpegts_service_id", number, "-output_ts_offset", offset,
                    **{"seconds": seconds, "sound": seconds, "size": size, **more})

    def multiplex(self, *programs):
        """Interleaves the programs' packets, with tables that list all programs."""
        streams = []
        for path in programs:
            data = read_bytes(path)
            streams.append([data[i:i + 188] for i in range(0, len(data), 188)])
        section = b"\0\xb0" + bytes([9 + 4 * len(programs)]) + b"\0\1\xc1\0\0" + b"".join(
            struct.pack(">HH", n + 1, 0xe000 | 0x1001 + n) for n in range(len(programs)))
        pat = b"\0" + section + crc32_mpeg(section)
        out = []
        for i in range(max(map(len, streams))):
            for packet in (s[i] for s in streams if i < len(s)):
                if packet[1:3] == b"\x40\0":  # a table of one program
                    packet = packet[:4] + pat.ljust(184, b"\xff")
                out.append(packet)
        for count, at in enumerate(i for i, p in enumerate(out) if p[1:3] == b"\x40\0"):
            out[at] = out[at][:3] + bytes([0x10 | count & 15]) + out[at][4:]
        return self.write("multiplex.ts", b"".join(out))

    def test_two_clocks(self):
        for offsets, where in share((((0, 40000), "later"), ((40000, 0), "earlier"), ((95440, 0), "at the wrap")), 3):
            with self.subTest(where):
                first = self.program(1, offsets[0], "160x90")
                second = self.program(2, offsets[1], "64x48")
                source = self.multiplex(first, second)
                for options, alone in ((("--video-track", 0), first), (("--video-track", 1), second),
                                       (("--video-track", 1, "--ss", 1), second), ((), first)):
                    output = self.lossless(source, "--mode", "off", *options)
                    self.assertEqual([s["codec_type"] for s in streams(output)], ["video", "audio"])
                    part = options[2:]
                    self.assertTrue(raw(alone).endswith(raw(output)))
                    self.assertEqual(len(frame_times(output)), 25 if part else 50)
                    self.assertLess(float(contents(output)["format"]["duration"]), 2.2)
                    if not part:
                        self.same_times(alone, output)

    def test_jobs_and_reports(self):
        source = self.multiplex(self.program(1, 40000, "64x48"), self.program(2, 0, "160x90"))
        whole = raw(self.lossless(source, "--video-track", 0))
        self.assertEqual(raw(self.lossless(source, "--video-track", 0, "--jobs", 2, name="jobs.mkv")), whole)
        self.ok(source, "--null", "--stats", self.path("stats.csv"), "--report", self.path("report.html"))
        self.assertEqual(len(read_rows(self.path("stats.csv"))), 50)

    def test_a_program_without_video(self):
        radio = clip("radio.ts", "-map", "1:a", "-c:a", "mp2", "-mpegts_start_pid", 0x100, "-mpegts_pmt_start_pid",
                     0x1001, "-mpegts_service_id", 1, "-output_ts_offset", 70000, seconds=2, sound=2)
        output = self.lossless(self.multiplex(radio, self.program(2, 0, "160x90")))
        self.assertEqual([s["codec_type"] for s in streams(output)], ["video", "audio"])
        self.assertLess(float(contents(output)["format"]["duration"]), 2.2)


class BestTrack(Case):
    """lumeq ignores covers and stills, and chooses the default track, or else the largest."""

    def tracks(self, name, *videos, options=()):
        """A file with a video track for each (size, seconds)."""
        inputs = [clip("%s-%g.mkv" % (size, seconds), *X264, "-r", 25, size=size, seconds=seconds)
                  for size, seconds in videos]
        path = self.path(name)
        ffmpeg(*sum((("-i", i) for i in inputs), ()),
               *sum((("-map", "%d:v" % i) for i in range(len(inputs))), ()), "-c", "copy", *options, path)
        return path

    def chosen(self, source, number, stdin=None, *options):
        result = self.ok("-" if stdin else source, "--null", *options, **({"stdin": stdin} if stdin else {}))
        self.assertIn(" number %d (" % number, result.err)

    def test_a_still_beside_the_film(self):
        still, film = ("320x240", 0.04), ("160x90", 2)
        for name, options in some((("a.mp4", ()), ("b.mkv", ()), ("c.ts", ()), ("d.mov", ()), ("e.nut", ()),
                                   ("g.mp4", ("-movflags", "frag_keyframe")))) + \
                [("h.mpg", ("-c:v", "mpeg2video"))]:
            with self.subTest(name):
                source = self.tracks(name, still, film, options=options)
                self.chosen(source, 1)
                if name not in ("a.mp4", "d.mov"):
                    self.chosen(source, 1, stdin=read_bytes(source))

    def test_a_still_beside_a_short_film(self):
        """The still lasts longer than the film of four frames."""
        source = self.tracks("short.mp4", ("320x240", 0.04), ("160x90", 0.16), options=(
            "-bsf:v:0", "setts=duration=10/TB"))
        self.chosen(source, 1)

    def test_films(self):
        flagged = ("-disposition:v:0", "0", "-disposition:v:1", "default")
        for name, videos, options, number in some((
                ("b.mkv", (("160x90", 2), ("64x48", 2.04)), flagged, 1),
                ("c.mkv", (("64x48", 2.04), ("160x90", 2)), (), 0),
                ("d.ts", (("64x48", 2.04), ("160x90", 2)), (), 1),
                ("e.ts", (("64x48", 2), ("64x48", 2)), (), 0))):
            with self.subTest(name):
                source = self.tracks(name, *videos, options=options)
                self.chosen(source, number)
                other = self.ok(source, "-o", self.path("out.mkv"), "-y", "--video-track", 1 - number)
                self.assertNotIn("video tracks", other.err)
                same = [raw(source, track="v:%d" % i) == raw(self.path("out.mkv"), track="v:%d" % i) for i in (0, 1)]
                self.assertEqual(same.index(True), number, "the wrong track is equalized")


class Shapes(Case):
    def test_one_frame_and_long_sound_converted(self):
        source = clip("one.mkv", *X264, "-c:a", "pcm_s24le", seconds=0.04, sound=30)
        for name in ("out.mp4", "out.webm"):
            options = QUICK if name == "out.mp4" else ()
            output = self.converted(source, name, *options)
            self.assertEqual(len(frame_times(output)), 1)
            self.assertAlmostEqual(float(contents(output)["format"]["duration"]), 30, delta=0.1)

    def test_everything_through_a_pipe(self):
        for name, more in some((("a.mp4", ("-movflags", "faststart")), ("b.mkv", ()), ("c.ts", ()),
                                ("d.webm", ("-c:v", "libvpx-vp9", "-deadline", "realtime", "-c:a", "libopus")),
                                ("e.nut", ()), ("f.flv", ()), ("g.avi", ()))):
            with self.subTest(name):
                options = more if name == "d.webm" else X264 + ("-c:a", "aac") + more
                source = clip(name, *options, sound=1)
                self.ok("-", "-o", self.path("out.mkv"), "-y", "-q", *QUICK, stdin=read_bytes(source))
                self.assertEqual(len(frame_times(self.path("out.mkv"))), 25)
                self.assertEqual(len(payloads(source)), len(payloads(self.path("out.mkv"))))
