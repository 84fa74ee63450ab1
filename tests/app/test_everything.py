"""Everything besides the video is copied, converted or left out: tracks, tags, chapters, covers."""

import random

from common import *

QUICK = ("--preset", "ultrafast")

CHAPTERS = b""";FFMETADATA1
title=A title
artist=Someone
[CHAPTER]
TIMEBASE=1/1000
START=0
END=1000
title=One
[CHAPTER]
TIMEBASE=1/1000
START=1000
END=3000
title=Two
"""

TEXT = (b"1\n00:00:00,100 --> 00:00:00,500\nHello\n\n"
        b"2\n00:00:01,600 --> 00:00:01,900\n<i>world</i>\n")


def picture(name, colour="red"):
    path = Store.path(name)
    if not os.path.exists(path):
        ffmpeg("-f", "lavfi", "-i", "color=%s:size=64x64" % colour, "-frames:v", 1, path)
    return path


def text_file(name, data):
    path = Store.path(name)
    write_bytes(path, data)
    return path


def everything():
    """Matroska with two sound tracks, subtitles, a cover, an attachment, chapters and tags."""
    path = Store.path("everything.mkv")
    if os.path.exists(path):
        return path
    ffmpeg("-f", "lavfi", "-t", 3, "-i", DULL % ("160x90", 25),
           "-f", "lavfi", "-t", 3, "-i", "sine=300:sample_rate=44100",
           "-f", "lavfi", "-t", 3, "-i", "sine=900:sample_rate=48000",
           "-i", text_file("s.srt", TEXT), "-i", text_file("chapters.txt", CHAPTERS),
           "-map", 0, "-map", 1, "-map", 2, "-map", 3, "-map_metadata", 4, *X264,
           "-c:a:0", "flac", "-c:a:1", "pcm_s24le", "-c:s", "srt",
           "-metadata:s:v:0", "title=The picture", "-metadata:s:a:0", "language=ita",
           "-metadata:s:a:1", "language=fra", "-metadata:s:s:0", "language=eng",
           "-disposition:a:0", "default", "-disposition:a:1", "comment", "-disposition:s:0", "forced",
           "-attach", picture("cover.jpg"), "-metadata:s:t:0", "mimetype=image/jpeg",
           "-metadata:s:t:0", "filename=cover.jpg",
           "-attach", text_file("note.txt", b"a note"), "-metadata:s:t:1", "mimetype=text/plain",
           "-metadata:s:t:1", "filename=note.txt", path)
    return path


def starts(path):
    """Start times of video and audio tracks."""
    return [float(s["start_time"]) for s in streams(path, "video") + streams(path, "audio")]


def kinds(path):
    return [(s["codec_type"], s.get("codec_name")) for s in streams(path)]


def chapters(path):
    return [(round(float(c["start_time"]), 3), round(float(c["end_time"]), 3),
             c.get("tags", {}).get("title")) for c in contents(path)["chapters"]]


def tags(path):
    return {k.lower(): v for k, v in contents(path)["format"].get("tags", {}).items()}


def languages(path, kind):
    return [s.get("tags", {}).get("language") for s in streams(path, kind)]


def decoded(path, track="a:0"):
    """Sound as signed 16-bit samples of one channel, 8000 per second."""
    data = ffmpeg("-i", path, "-map", "0:" + track, "-ac", 1, "-ar", 8000, "-f", "s16le", "-")
    return memoryview(data).cast("h")


def lines_about(result):
    return [l for l in result.lines if "left out" in l or "converted" in l]


class ToMatroska(Case):
    def test_everything_is_copied(self):
        source = everything()
        result = self.ok(source, "-o", self.path("out.mkv"), *QUICK)
        output = self.path("out.mkv")
        self.assertEqual(len(result.lines), 2, str(result))
        self.assertEqual(kinds(source), kinds(output))
        for track in ("a:0", "a:1", "s:0"):
            self.assertEqual(payloads(source, track), payloads(output, track))
        self.assertEqual(languages(output, "audio"), ["ita", "fra"])
        self.assertEqual(video(output)["tags"]["title"], "The picture")
        self.assertEqual([s["disposition"] for s in streams(source)], [s["disposition"] for s in streams(output)])
        self.assertEqual(chapters(output), [(0, 1, "One"), (1, 3, "Two")])
        self.assertEqual(tags(output)["title"], "A title")
        self.assertEqual(tags(output)["artist"], "Someone")

    def test_attached_files(self):
        output = self.converted(everything(), "out.mkv", *QUICK)
        cover = read_bytes(picture("cover.jpg"))
        self.assertEqual(ffmpeg("-i", output, "-map", "0:v:1", "-c", "copy", "-f", "image2pipe", "-"), cover)
        tool("ffmpeg", "-v", "quiet", "-y", "-dump_attachment:t:0", self.path("n.txt"), "-i", output, "-f", "null", "-t", "0", "-")
        self.assertEqual(self.read("n.txt"), b"a note")

    def test_there_and_back(self):
        """A cover is a track in mp4 and an attached file in Matroska."""
        back = self.converted(self.converted(everything(), "a.mp4", *QUICK), "b.mkv", *QUICK)
        cover = [s for s in streams(back, "video") if s["disposition"]["attached_pic"]]
        self.assertEqual([c["codec_name"] for c in cover], ["mjpeg"])
        self.assertIn(("subtitle", "subrip"), kinds(back))
        self.assertEqual(chapters(back), [(0, 1, "One"), (1, 3, "Two")])

    def test_several_covers_and_a_png(self):
        source = self.path("in.mkv")
        ffmpeg("-i", simple(), "-c", "copy", "-attach", picture("cover.png", "blue"),
               "-metadata:s:t:0", "mimetype=image/png", "-attach", picture("back.jpg", "green"),
               "-metadata:s:t:1", "mimetype=image/jpeg", source)
        for name in some(("out.mkv", "out.mp4")):
            found = streams(self.converted(source, name, *QUICK), "video")
            self.assertEqual([s["codec_name"] for s in found if s["disposition"]["attached_pic"]],
                             ["png", "mjpeg"], name)

    def test_bitmap_subtitles(self):
        """Bitmap subtitles are copied, or left out of containers that take only text."""
        source = self.path("in.mkv")
        ffmpeg("-i", simple(), "-i", self.dvd_subtitles(), "-map", 0, "-map", "1:s", "-c", "copy", source)
        output = self.lossless(source)
        self.assertEqual(len(payloads(source, "s:0")), 1)
        self.assertEqual(payloads(source, "s:0"), payloads(output, "s:0"))
        result = self.ok(source, "-o", self.path("out.webm"), "--acodec", "none", "--frames", 3)
        self.assertEqual(len(lines_about(result)), 1, str(result))
        self.assertIn("subtitle track 0 (dvd_subtitle) is left out", result.err)

    def dvd_subtitles(self):
        """A VobSub file with one packet, which need not be decodable."""
        header = b"# VobSub index file, v7 (do not modify this line!)\nsize: 160x90\npalette: " + \
                 b", ".join([b"808080"] * 16)
        index = self.write("s.idx", header + b"\nid: en, index: 0\n"
                                             b"timestamp: 00:00:00:200, filepos: 000000000\n")
        unit = bytes([0, 12, 0, 6, 0, 0, 0, 0, 0, 6, 1, 255])
        stamp = b"\x21\0\1\x8c\xa1"
        body = b"\x81\x80\5" + stamp + b"\x20" + unit
        pack = b"\0\0\1\xba\x44\0\4\0\4\1\0\0\3\xf8" + b"\0\0\1\xbd" + len(body).to_bytes(2, "big") + body
        rest = 2048 - len(pack) - 6
        self.write("s.sub", pack + b"\0\0\1\xbe" + rest.to_bytes(2, "big") + b"\xff" * rest)
        return index


class ToOthers(Case):
    def test_mp4(self):
        result = self.ok(everything(), "-o", self.path("out.mp4"), *QUICK)
        output = self.path("out.mp4")
        found = lines_about(result)
        self.assertEqual(len(found), 3, str(result))
        self.assertIn("audio track 1 (pcm_s24le) is converted to aac", found[0])
        self.assertIn("subtitle track 0 (subrip) is converted to mov_text", found[1])
        self.assertIn("'note.txt'", found[2])
        self.assertIn(("audio", "flac"), kinds(output))
        self.assertEqual(payloads(everything()), payloads(output))
        self.assertEqual(languages(output, "audio"), ["ita", "fra"])
        self.assertEqual(languages(output, "subtitle"), ["eng"])
        self.assertEqual(chapters(output), [(0, 1, "One"), (1, 3, "Two")])
        self.assertEqual(tags(output)["artist"], "Someone")
        self.assertEqual([s["disposition"]["attached_pic"] for s in streams(output, "video")], [0, 1])
        self.assertEqual(streams(output, "audio")[1]["disposition"]["comment"], 1)

    def test_webm(self):
        result = self.ok(everything(), "-o", self.path("out.webm"), "--vopt", "deadline=realtime")
        self.assertEqual([l.split(":")[1] for l in lines_about(result)],
                         [" audio track 0 (flac) is converted to opus",
                          " audio track 1 (pcm_s24le) is converted to opus",
                          " subtitle track 0 (subrip) is converted to webvtt",
                          " cover picture (mjpeg) is left out",
                          " attachment ('note.txt') is left out"], str(result))
        self.assertEqual(kinds(self.path("out.webm")),
                         [("video", "vp9"), ("audio", "opus"), ("audio", "opus"),
                          ("subtitle", "webvtt")])

    def test_transport_stream_and_avi(self):
        for name, codecs in (("out.ts", ("mp2", "mp2")), ("out.avi", ("flac", "pcm_s24le"))):
            result = self.ok(everything(), "-o", self.path(name), *QUICK)
            self.assertEqual(kinds(self.path(name)), [("video", "h264")] + [("audio", codec) for codec in codecs])
            if name == "out.ts":
                self.assertEqual(languages(self.path(name), "audio"), ["ita", "fra"])
                self.assertIn("the chapters are left out", result.err)

    def test_flags_of_tracks(self):
        """Flags of copied and converted tracks are kept if FFmpeg's muxer stores them."""
        source = self.path("flags.mkv")
        flags = {("audio", "comment"): "a:0", ("subtitle", "forced"): "s:0", ("subtitle", "hearing_impaired"): "s:1"}
        subtitles = text_file("s.srt", b"1\n00:00:00,100 --> 00:00:00,900\nWords\n")
        ffmpeg("-i", simple(), "-f", "lavfi", "-i", "sine=duration=1", "-i", subtitles, "-i", subtitles, "-map", "0:v",
               "-map", "1:a", "-map", 2, "-map", 3, "-c:v", "copy", "-c:a", "aac", "-c:s", "subrip",
               *(a for (_, flag), track in flags.items() for a in ("-disposition:" + track, flag)), source)
        lost = {}
        for name in "out.mov", "out.m4v", "out.mp4", "out.mkv", "out.webm", "out.ts", "out.avi":
            result = self.ok(source, "-o", self.path(name), "--vopt", "deadline=realtime", "--vcodec", "libvpx-vp9") \
                if name == "out.webm" else self.ok(source, "-o", self.path(name), *QUICK)
            lost[name] = 0
            for (kind, flag), track in flags.items():
                tracks = streams(self.path(name), kind)
                if not tracks:
                    continue
                kept = tracks[int(track[2:])]["disposition"][flag]
                lost[name] += not kept
        self.assertEqual((lost["out.mov"], lost["out.m4v"], lost["out.mp4"], lost["out.mkv"]), (3, 3, 0, 0))

    PHONE = {"com.apple.quicktime.make": "Apple", "com.apple.quicktime.model": "iPhone 12",
             "com.apple.quicktime.creationdate": "2024-05-06T07:08:09+0200",
             "com.apple.quicktime.location.iso6709": "+48.1374+011.5755+519.000/",
             "com.android.version": "14", "com.android.capture.fps": "30.0",
             "location": "+48.1374+011.5755/"}
    KEYS = ("-movflags", "use_metadata_tags")

    def recorded(self, tags, name="in.mov", *options):
        source = self.path(name)
        ffmpeg("-i", simple(), "-c", "copy", *options, "-metadata", "title=A title",
               "-metadata", "creation_time=2024-05-06T05:08:09Z",
               *(x for k, v in tags.items() for x in ("-metadata", k + "=" + v)), source)
        return source

    def test_tags_of_phones(self):
        source = self.recorded(self.PHONE, "in.mov", *self.KEYS)
        for name in ("out.mov", "out.mp4", "out.m4v", "out.mkv", "out.nut"):
            with self.subTest(name):
                result = self.ok(source, "-o", self.path(name))
                self.assertEqual(lines_about(result), [], str(result))
                found = tags(self.path(name))
                self.assertEqual({k: found.get(k) for k in self.PHONE}, self.PHONE)
                self.assertEqual(found["title"], "A title")
                self.assertTrue(found["creation_time"].startswith("2024-05-06T05:08:09"))
        self.assertEqual(tags(self.path("out.mp4"))["com.apple.quicktime.title"], "A title")
        keys = {**self.PHONE, "com.apple.quicktime.title": "Another title"}  # "A title" does not replace this one
        found = tags(self.converted(self.recorded(keys, "in.mov", *self.KEYS), "out.mp4", "-y", *QUICK))
        self.assertEqual((found["title"], found["com.apple.quicktime.title"]), ("A title", "Another title"))

    def test_tags_of_cameras(self):
        """Make and model have dedicated fields in mov, and are keys in mp4."""
        device = {"make": "Canon", "model": "EOS"}
        source = self.recorded(device)
        for name in some(("out.mov", "out.mp4")):
            found = tags(self.converted(source, name, *QUICK))
            self.assertEqual({k: found.get(k) for k in device}, device)
            self.assertEqual(found["title"], "A title")

    def test_timecode_track(self):
        source = self.path("in.mov")
        ffmpeg("-i", simple(), "-c", "copy", "-timecode", "01:02:03:04", source)
        for name in some(("out.mov", "out.mp4")):
            result = self.ok(source, "-o", self.path(name), *QUICK)
            self.assertEqual(lines_about(result), [], str(result))
            found = streams(self.path(name), "data")
            self.assertEqual([s["tags"]["timecode"] for s in found], ["01:02:03:04"], name)

    def test_second_video_track(self):
        source = self.path("in.mkv")
        ffmpeg("-i", simple(), "-f", "lavfi", "-t", 1, "-i", DULL % ("80x60", 25), "-map", "0",
               "-map", "1", "-c:v:0", "copy", "-c:v:1", "mpeg4", "-c:a", "copy",
               "-disposition:v:1", "0", source)
        result = self.ok(source, "-o", self.path("out.mkv"), *QUICK)
        self.assertEqual(len([l for l in result.lines if "the input has 2 video tracks: equalizing number 0" in l]), 1)
        output = self.path("out.mkv")
        self.assertEqual([s["codec_name"] for s in streams(output, "video")], ["h264", "mpeg4"])
        self.assertEqual(payloads(source, "v:1"), payloads(output, "v:1"))
        other = self.lossless(source, "--video-track", 1)
        self.assertEqual([(s["codec_name"], s["width"]) for s in streams(other, "video")],
                         [("h264", 160), ("ffv1", 80)])
        self.assertEqual(payloads(source, "v:0"), payloads(other, "v:0"))
        self.refused(lumeq(source, "--null", "--video-track", 2), USAGE, "--video-track 2", "0 to 1")


class Converted(Case):
    """Converted sound and subtitles keep their times."""

    def burst(self, name, *output):
        """A clip with 2 s of sound, silent except for 0.1 s that begins at 1 s."""
        path = self.path(name)
        ffmpeg("-f", "lavfi", "-t", 2, "-i", DULL % ("160x90", 25), "-f", "lavfi", "-t", 2, "-i",
               "aevalsrc='if(between(t,1,1.1),sin(2*PI*1000*t)*0.8,0)':sample_rate=44100",
               *X264, *output, path)
        return path

    def onset(self, path):
        samples = decoded(path)
        return next(i for i, x in enumerate(samples) if abs(x) > 6000) / 8000

    def check(self, source, name, *options):
        output = self.converted(source, name, *options)
        begin = float(video(output)["start_time"]) - float(video(source)["start_time"])
        sound = float(streams(output, "audio")[0]["start_time"])
        self.assertAlmostEqual(self.onset(output) + max(sound, 0) - begin, 1.0, delta=0.012)
        return output

    def test_sound_stays_in_its_place(self):
        source = self.burst("in.mkv", "-c:a", "pcm_s16le")
        for name, options in (("a.mp4", QUICK), ("b.mkv", QUICK + ("--acodec", "aac")),
                              ("c.webm", ("--vopt", "deadline=realtime")),
                              ("d.mkv", QUICK + ("--acodec", "flac")),
                              ("e.mkv", QUICK + ("--acodec", "libmp3lame"))):
            with self.subTest(name):
                self.check(source, name, *options)

    def test_length_is_kept(self):
        source = self.burst("in.mkv", "-c:a", "pcm_s16le")
        output = self.converted(source, "out.mkv", "--acodec", "flac", *QUICK)
        self.assertAlmostEqual(len(decoded(source)), len(decoded(output)), delta=80)
        self.assertEqual(max(decoded(source)), max(decoded(output)))

    def test_six_channels_and_odd_rates(self):
        for name, layout, rate, wanted in some((("six.mkv", "5.1", 48000, 6), ("side.mkv", "5.1(side)", 44100, 6),
                                                ("low.mkv", "mono", 11025, 1), ("high.mkv", "stereo", 96000, 2))):
            source = self.path(name)
            ffmpeg("-i", simple(), "-f", "lavfi", "-t", 1, "-i",
                   "anoisesrc=sample_rate=%d" % rate, "-map", "0:v", "-map", "1:a", "-c:v", "copy",
                   "-af", "aformat=channel_layouts=" + layout, "-c:a", "pcm_s16le", source)
            for codec, container in some((("aac", "mp4"), ("libopus", "webm"), ("libvorbis", "mkv"))):
                with self.subTest(name, codec=codec):
                    output = self.converted(source, "out." + container, "-y", "--acodec", codec,
                                            "--frames", 25, *(QUICK if container != "webm" else ()))
                    about = streams(output, "audio")[0]
                    self.assertEqual(about["channels"], wanted)
                    self.assertAlmostEqual(len(decoded(output)) / 8000, 1, delta=0.1)

    def test_a_gap_becomes_silence(self):
        source = self.path("gap.mkv")
        ffmpeg("-f", "lavfi", "-t", 3, "-i", DULL % ("160x90", 25), "-f", "lavfi", "-t", 3, "-i",
               "sine=440:sample_rate=48000", "-af", "aselect='not(between(t,1,2))'", *X264,
               "-c:a", "pcm_s16le", source)
        samples = decoded(self.converted(source, "out.mkv", "--acodec", "flac", *QUICK))
        self.assertAlmostEqual(len(samples) / 8000, 3, delta=0.05)
        self.assertLess(max(map(abs, samples[int(1.2 * 8000):int(1.8 * 8000)])), 10)
        self.assertGreater(max(map(abs, samples[int(2.2 * 8000):int(2.8 * 8000)])), 1000)

    def spoil(self, source, numbers, half=False, header=b""):
        """Overwrites these packets of sound with `header` or 0xff. `half`: overwrites only each second half, with noise."""
        found = [p for p in contents(source)["packets"] if p["codec_type"] == "audio"]
        noise = random.Random(1)
        with open(source, "r+b") as f:
            for packet in (found[i] for i in numbers):
                size = int(packet["size"])
                f.seek(int(packet["pos"]) + (size // 2 if half else 0))
                f.write(header[:size] or (noise.randbytes(size - size // 2) if half else b"\xff" * size))

    def tone(self, name, *output):
        """A clip with 2 s of a loud tone."""
        made = Store.path("-".join(map(str, output)) + name)
        if not os.path.exists(made):
            ffmpeg("-f", "lavfi", "-t", 2, "-i", DULL % ("64x64", 10), "-f", "lavfi", "-t", 2, "-i",
                   "sine=440:sample_rate=48000", *X264, *output, made)
        return shutil.copy(made, self.path(name))

    def damaged(self, source, name="out.mkv", codec="flac"):
        """Converts damaged sound, and returns the seconds of silence that the last line reports."""
        result = self.exits(DAMAGED, source, "-o", self.path(name), "-y", "--acodec", codec, *QUICK)
        said = re.search(r"damaged[:;].*?([0-9.]+) s of sound could not be decoded and became silence$",
                         result.lines[-1])
        self.assertTrue(said, str(result))
        return float(said[1])

    def loud(self, path):
        """A string with a character per 0.1 s: "." silence, "#" the tone, "!" another level."""
        samples = decoded(path)
        peaks = [max(map(abs, samples[i:i + 800])) for i in range(0, len(samples) - 400, 800)]
        return "".join("." if p < 50 else "#" if 3000 < p < 5200 else "!" for p in peaks)

    def test_damage_becomes_silence(self):
        for spoilt in ((20,), (8, 17, 26, 35), range(12, 35)):
            with self.subTest(spoilt):
                source = self.burst("in.mp4", "-c:a", "aac")
                self.spoil(source, spoilt)
                self.assertAlmostEqual(self.damaged(source), len(spoilt) * 1024 / 44100, delta=0.006)
                output = self.path("out.mkv")
                begins = [float(s["start_time"]) for s in streams(output)]
                self.assertAlmostEqual(self.onset(output) + begins[1] - begins[0], 1, delta=0.003)
                self.assertAlmostEqual(len(decoded(output)) / 8000, 2, delta=0.03)

    def test_damage_at_either_end(self):
        """The track keeps its start and end."""
        for spoilt in "start", "end", "all":
            with self.subTest(spoilt):
                source = self.tone("in.mp4", "-c:a", "aac")
                times = [p[0] for p in packets(source)]
                numbers = {"start": [i for i, t in enumerate(times) if t < 0.5],
                           "end": [i for i, t in enumerate(times) if t >= 1.5],
                           "all": range(len(times))}[spoilt]
                self.spoil(source, numbers)
                self.assertAlmostEqual(self.damaged(source), 2 if spoilt == "all" else 0.5, delta=0.06)
                output = self.path("out.mkv")
                begins = starts(output)
                self.assertAlmostEqual(begins[1], begins[0], delta=0.01)
                wanted = {"start": r"\.{4}[.#!]{2}#{14}", "end": r"#{14}[.#!]{2}\.{4}", "all": r"\.{20}"}
                self.assertRegex(self.loud(output), "^%s[.#!]?$" % wanted[spoilt])
        self.assertAlmostEqual(self.damaged(source, "out.avi", "pcm_s16le"), 2 if spoilt == "all" else 0.5, delta=0.06)

    def test_decoder_continues_after_damage(self):
        """A damaged packet may look like a header to a Vorbis decoder, or be split into many by a parser."""
        for codec in some(("libvorbis", "ac3", "libmp3lame")):
            with self.subTest(codec):
                source = self.tone("in.mp4", "-c:a", codec)
                spoilt = [i for i, p in enumerate(packets(source)) if 0.5 <= p[0] < 1.4]
                self.spoil(source, spoilt, header=b"\x01vorbis" + bytes(99) if codec == "libvorbis" else b"")
                self.assertAlmostEqual(self.damaged(source), 0.9, delta=0.06)
                self.assertRegex(self.loud(self.path("out.mkv")), r"^#{4}[.#!]{2}\.{6}[.#!]{3}#{4}")

    def test_subtitles(self):
        for name, codec in some((("a.mp4", "mov_text"), ("b.webm", "webvtt"))):
            with self.subTest(name):
                output = self.converted(everything(), name,
                                        *(QUICK if name == "a.mp4" else ("--vopt", "deadline=realtime")))
                shown = ffmpeg("-i", output, "-map", "0:s:0", "-f", "srt", "-").decode()
                self.assertIn("Hello", shown)
                self.assertIn("<i>world</i>", shown)
                begin = float(video(output)["start_time"])
                times = [t for t, size, _ in packets(output, "s:0") if size > 2]
                self.near(times, [0.1 + begin, 1.6 + begin], 0.002)

    def test_mov_text_to_matroska(self):
        output = self.converted(self.converted(everything(), "a.mp4", *QUICK), "b.mkv", *QUICK)
        self.assertEqual(payloads(output, "s:0"), payloads(everything(), "s:0"))
        begin = float(video(output)["start_time"])  # priming samples come first
        self.near([p[0] - begin for p in packets(output, "s:0")], [0.1, 1.6], 0.0015)


class Part(Case):
    def test_chapters_are_cut_and_shifted(self):
        for name in some(("out.mkv", "out.mp4")):
            output = self.converted(everything(), name, *QUICK, "--ss", "0.5", "--to", "2")
            zero = 0.52 - frame_times(output)[0]  # the input time at the output's time 0; the first frame is at 0.52
            self.assertTrue(0.5 <= zero <= 0.52, zero)
            self.assertEqual([c[2] for c in chapters(output)], ["One", "Two"], name)
            self.near([t for c in chapters(output) for t in c[:2]], [0, 1 - zero, 1 - zero, 2 - zero], 0.0015, name)
        self.assertEqual(chapters(self.converted(everything(), "late.mkv", *QUICK, "--ss", "1.2")), [(0, 1.8, "Two")])
        output = self.converted(everything(), "second.mkv", *QUICK, "--ss", "1")  # the end of the first chapter
        self.assertEqual(chapters(output), [(0, 2, "Two")])
        self.assertEqual(chapters(self.converted(everything(), "few.mp4", *QUICK, "--frames", 10)), [(0, 0.4, "One")])

    def test_cover_survives_a_seek(self):
        for name in some(("out.mkv", "out.mp4")):
            output = self.converted(everything(), name, *QUICK, "--ss", "1", "--to", "2")
            self.assertEqual([s["disposition"]["attached_pic"] for s in streams(output, "video")], [0, 1])

    def test_subtitles_are_shifted(self):
        output = self.converted(everything(), "out.mkv", *QUICK, "--ss", "1")
        self.near([p[0] for p in packets(output, "s:0")], [0.6], 0.02)


class Chosen(Case):
    def test_tracks(self):
        output = self.converted(everything(), "a.mkv", *QUICK, "--audio-track", 1, "--sub-track", 0)
        self.assertEqual(languages(output, "audio"), ["fra"])
        self.assertEqual(len(streams(output, "subtitle")), 1)
        for option in (("--no-subs",), ("--sub-track", "none")):
            self.assertEqual(streams(self.converted(everything(), "b.mkv", "-y", *QUICK, *option), "subtitle"), [])

    def test_missing_tracks(self):
        for option in ("--audio-track", "--sub-track"):
            self.refused(lumeq(everything(), "-o", self.path("o.mkv"), option, 7), USAGE, option, "7")
        self.assertEqual(self.files(), [])

    def test_no_chapters_no_metadata(self):
        output = self.converted(everything(), "a.mkv", *QUICK, "--no-chapters", "--no-metadata")
        self.assertEqual(chapters(output), [])
        self.assertNotIn("title", tags(output))
        self.assertNotIn("title", video(output).get("tags", {}))
        self.assertEqual(languages(output, "audio"), ["ita", "fra"])

    def test_sound_codec(self):
        output = self.converted(everything(), "a.mkv", *QUICK, "--acodec", "copy")
        self.assertEqual(payloads(everything()), payloads(output))
        self.assertEqual(streams(self.converted(everything(), "b.mkv", *QUICK, "--acodec", "none"), "audio"), [])
        self.refused(lumeq(simple(), "-o", self.path("o.mp4"), "--acodec", "nonsense"), USAGE, "--acodec", "nonsense")
        self.refused(lumeq(simple(), "-o", self.path("o.webm"), "--acodec", "aac"), USAGE, "webm")

    def test_playlists(self):
        folder = self.path("list")
        os.mkdir(folder)
        ffmpeg("-i", simple(), "-c", "copy", "-f", "hls", "-hls_time", 1, os.path.join(folder, "p.m3u8"))
        playlist = os.path.join(folder, "p.m3u8")
        self.refused(lumeq(playlist, "--null"), INPUT, "--allow-playlists")
        self.assertIn("25 frames", self.ok(playlist, "--null", "--allow-playlists").err)
