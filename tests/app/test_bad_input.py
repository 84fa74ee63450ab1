"""Missing, truncated or damaged input, or input without video, gives a message and the documented exit code."""

import itertools
import random
import zipfile

from common import *


class Refused(Case):
    def refuse(self, path, *words, code=INPUT, **more):
        """Checks that the input is refused with -o, which leaves no file, and with --null."""
        before = self.files()
        self.refused(lumeq(path, "-o", self.path("out.mkv"), **more), code, *words)
        self.assertEqual(self.files(), before)
        self.refused(lumeq(path, "--null", **more), code, *words)

    def test_no_such_file(self):
        self.refuse(self.path("none.mp4"), "none.mp4", "No such file")
        self.refuse(self.path("none/none.mp4"), "none.mp4", "No such file")
        self.refuse(simple() + "/none.mp4", "none.mp4", "Not a directory")

    def test_directory(self):
        self.refuse(self.folder, self.folder, "folder", "no pictures")

    def test_no_video_inside(self):
        text = b"".join(b"This is line %d of a letter, and no video.\n" % i for i in range(200))
        cases = [(name, text) for name in ("letter.txt", "letter.mp4", "letter.mkv", "letter", "letter.avi", "letter.ts",
                                           "letter.h264", "letter.yuv", "letter.y4m", "letter.nfo")]
        cases += [("a.mp4", b"a"), ("b.txt", b"hello\n"), ("zeros.mp4", bytes(300000))]
        cases += [(name, random.Random(1).randbytes(100000)) for name in ("noise.mp4", "noise.bin")]
        with zipfile.ZipFile(self.path("a.zip"), "w") as z:
            z.writestr("a.txt", "hello" * 1000)
        for name, data in [*cases, ("a.zip", self.read("a.zip"))]:
            with self.subTest(name):
                self.refuse(self.write(name, data), name)
                os.remove(self.path(name))
        self.refuse(self.write("empty.mp4", b""), "empty.mp4", "empty")
        self.refuse("/dev/null", "/dev/null")
        self.refuse("-", "standard input", stdin=b"")
        self.refuse("-", "standard input")

    def renamed(self, name, *options, codec, other):
        """A short clip whose container names an unknown codec."""
        path = self.path(name)
        ffmpeg("-f", "lavfi", "-t", "0.2", "-i", "testsrc2=size=64x48", "-f", "lavfi", "-t", "0.2", "-i", "sine",
               *options, *X264, path)
        data = self.read(name)
        self.assertIn(codec, data)
        return self.write(name, data.replace(codec, other))

    def test_unknown_codec(self):
        for name, codec, other, words in (
                ("a.mkv", b"V_MPEG4/ISO/AVC", b"V_MPEG9/ISO/XVC", "unknown codec)"),
                ("a.mp4", b"avc1", b"zzzz", "unknown codec 'zzzz')"),
                ("a.avi", b"H264", b"ZZZ9", "unknown codec 'ZZZ9')")):
            with self.subTest(name):
                path = self.renamed(name, codec=codec, other=other)
                self.refuse(path, words, "no decoder")

    def test_unknown_sound_codec(self):
        path = self.renamed("a.mkv", "-c:a", "aac", codec=b"A_AAC", other=b"A_ZZZ")
        result = self.ok(path, "-o", self.path("out.mkv"))
        self.assertIn("audio track 0 (unknown codec) is left out", result.err)

    def test_unknown_size(self):
        """Two tracks are declared, but have no data."""
        path = self.path("two.ts")
        ffmpeg(*("-f", "lavfi", "-t", "0.2", "-i", "testsrc2=size=64x48") * 2, "-map", "0", "-map", "1", *X264, path)
        result = self.exits(INPUT, self.write("cut.ts", self.read("two.ts")[:3 * 188]), "--null")
        self.assertIn("the input has 2 video tracks: equalizing number 0 (h264)", result.err)

    def test_no_size(self):
        ffmpeg("-f", "lavfi", "-t", "0.2", "-i", "testsrc2=size=160x90", "-c:v", "utvideo", self.path("a.avi"))
        data, size = self.read("a.avi"), struct.pack("<II", 160, 90)
        self.assertIn(size, data)
        path = self.write("a.avi", data.replace(size, bytes(8)))
        self.refused(lumeq(path, "--null"), INPUT, "0x0")
        self.refuse(self.write("a.y4m", b"YUV4MPEG2 W0 H0 F25:1 C420jpeg\nFRAME\n"), "0x0")

    def test_sound_only(self):
        for name, codec in (("sound.m4a", "aac"), ("sound.mp3", "libmp3lame"), ("sound.wav", "pcm_s16le")):
            path = Store.path(name)
            ffmpeg("-f", "lavfi", "-t", 1, "-i", "sine", "-c:a", codec, path)
            with self.subTest(name):
                self.refuse(path, name, "no video")

    def test_cover_picture_is_no_video(self):
        picture, path = self.path("p.png"), Store.path("album.mp3")
        ffmpeg("-f", "lavfi", "-i", "color=red:size=64x64", "-frames:v", 1, picture)
        ffmpeg("-f", "lavfi", "-t", 1, "-i", "sine", "-i", picture, "-map", "0", "-map", "1", "-c:a",
               "libmp3lame", "-c:v", "png", "-disposition:v", "attached_pic", path)
        self.refuse(path, "album.mp3", "no video", "cover picture")

    def test_unreadable(self):
        path = self.write("locked.mp4", b"x")
        os.chmod(path, 0)
        if os.access(path, os.R_OK):
            self.skipTest("root may read everything")
        self.refuse(path, "locked.mp4", "Permission denied")

    def test_playlists(self):
        playlists = {
            "list.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:1,\n%s\n#EXT-X-ENDLIST\n",
            "list.ffconcat": "ffconcat version 1.0\nfile '%s'\n",
            "list.txt": "ffconcat version 1.0\nfile '%s'\n",
            "list.mp4": "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:1,\n%s\n#EXT-X-ENDLIST\n",
            "list.sdp": "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\n"
                        "m=video 5004 RTP/AVP 96\na=rtpmap:96 H264/90000\n%s",
            "list.mpd": '<?xml version="1.0"?>\n<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" '
                        'profiles="urn:mpeg:dash:profile:isoff-live:2011" type="static" '
                        'mediaPresentationDuration="PT1S"><Period><BaseURL>%s</BaseURL></Period></MPD>\n',
        }
        for name, text in playlists.items():
            with self.subTest(name):
                path = self.write(name, (text % simple()).encode())
                self.refuse(path, name, *(("playlist",) if name == "list.m3u8" else ()))
                os.remove(path)

    def test_nothing_decodable(self):
        """A container declares a video whose packets are all noise."""
        data = bytearray(read_bytes(clip("noise-inside.mkv", *X264, "-g", "1")))
        start = data.index(b"\xa3")  # the first block
        for i in range(start + 40, len(data) - 200):
            data[i] = (i * 37 + 11) & 255
        result = lumeq(self.write("noise.mkv", bytes(data)), "-o", self.path("out.mkv"))
        self.assertIn(result.code, (INPUT, DAMAGED), str(result))
        if result.code == INPUT:
            self.refused(result, INPUT, "noise.mkv")
            self.assertEqual(self.files(), ["noise.mkv"])


class Damaged(Case):
    """The output has everything that can be decoded, and the last line names the losses."""

    def source(self):
        return clip("front.mp4", "-c:v", "libx264", "-preset", "ultrafast", "-g", "10", "-c:a", "aac",
                    "-movflags", "+faststart", seconds=4, sound=4)

    def cut(self, share):
        data = read_bytes(self.source())
        return self.write("cut.mp4", data[:int(len(data) * share)])

    def damaged(self, path, *words):
        result = self.exits(DAMAGED, path, "-o", self.path("out.mkv"), "--vcodec", "ffv1", "-y")
        for word in words:
            self.assertIn(word, result.err)
        return result

    def test_refused_sound_packets_are_counted(self):
        """The container's bitstream filter refuses the packets."""
        data = bytearray(read_bytes(clip("adts.ts", *X264, "-c:a", "aac", seconds=2, sound=2)))
        heads = [m.start() for m in re.finditer(b"\xff[\xf0\xf1\xf9][\x4c\x50]", bytes(data))]
        for at in heads[20:22]:
            data[at] = 0
        source = self.write("broken.ts", bytes(data))
        for name in ("out.mkv", "out.mp4"):
            result = self.exits(DAMAGED, source, "-o", self.path(name), "--preset", "ultrafast")
            self.assertIn("could not be copied", result.lines[-1])
            self.assertEqual(len(frame_times(self.path(name))), 50)

    def test_damaged_sound_header(self):
        """A damaged AAC header in mid-stream declares sound that cannot be decoded."""
        data = read_bytes(clip("aac.flv", *X264, "-c:a", "aac", seconds=2, sound=2))
        at = 13
        while at < len(data) // 2:
            at += int.from_bytes(data[at + 1:at + 4], "big") + 15
        header = b"\x08\0\0\4" + data[at + 4:at + 8] + b"\0\0\0" + b"\xaf\0\x16\xff" + b"\0\0\0\x0f"
        source = self.write("header.flv", data[:at] + header + data[at:])
        result = self.exits(DAMAGED, source, "-o", self.path("out.mkv"), "--preset", "ultrafast")
        self.assertIn("of sound is missing where the track changes", result.lines[-1])
        self.assertEqual(len(frame_times(self.path("out.mkv"))), 50)

    def test_cut_off_mp4(self):
        for share in (0.4, 0.7, 0.95):
            with self.subTest(share):
                path = self.cut(share)
                result = self.damaged(path, "of 100 frames")
                self.assertNotIn("NULL", result.err)
                counted = int(re.search(r"(\d+) of 100 frames", result.lines[-1]).group(1))
                self.assertEqual(counted, len(frame_times(self.path("out.mkv"))))
                decodable = len(raw(path)) // frame_size("yuv420p", 160, 90)[1]
                self.assertGreaterEqual(counted, decodable)

    def test_moov_missing(self):
        data = read_bytes(simple())
        path = self.write("no-moov.mp4", data[:data.index(b"moov") - 4])
        self.refused(lumeq(path, "-o", self.path("out.mkv")), INPUT, "no-moov.mp4")
        self.assertEqual(self.files(), ["no-moov.mp4"])

    def in_clusters(self):
        return read_bytes(clip("clusters.mkv", *X264, "-g", "5", "-bf", "0", "-cluster_time_limit", "200", seconds=5))

    def test_less_than_was_declared(self):
        """A video up to a second shorter than declared is not damaged, if no element is cut."""
        data = self.in_clusters()
        clusters = [m.start() for m in re.finditer(b"\x1f\x43\xb6\x75", data)]
        segment = data.index(b"\x18\x53\x80\x67") + 4
        data = data[:segment] + b"\x01" + b"\xff" * 7 + data[segment + 8:]  # a segment of unknown size
        for count, words in ((2, ()), (10, ("the input is damaged: its video ends 2.0 s early",))):
            result = lumeq(self.write("less.mkv", data[:clusters[-count]]), "--null", "-q")
            self.assertEqual(result.code, DAMAGED if words else DONE, str(result))
            self.assertEqual([l[len("lumeq: "):] for l in result.lines], list(words))

    def test_damage_between_the_packets_of_matroska(self):
        """The demuxer skips the damage and reports it only in its log."""
        data = self.in_clusters()
        clusters = [m.start() for m in re.finditer(b"\x1f\x43\xb6\x75", data)]
        for count in (2, len(clusters) // 2, len(clusters) - 1):
            with self.subTest(count):
                broken, block = bytearray(data), data.index(b"\xa3", clusters[count] + 16)
                broken[block:block + 2] = b"\0\xff"
                self.damaged(self.write("broken.mkv", bytes(broken)), "unreadable", "(first: matroska")
                self.assertLess(len(frame_times(self.path("out.mkv"))), 125)

    def test_damage_before_the_part_does_not_count(self):
        source = clip("long-gop.mkv", *X264, "-g", "1000", "-bf", "0", seconds=3)
        data = bytearray(read_bytes(source))
        packet = contents(source)["packets"][10]
        at = int(packet["pos"]) + int(packet["size"]) // 2
        data[at:at + 20] = bytes(20)
        path = self.write("broken.mkv", bytes(data))
        for start, code in ((0, DAMAGED), (0.2, DAMAGED), (2, DONE)):
            result = lumeq(path, "--null", "-q", "--ss", start)
            self.assertEqual(result.code, code, "%g: %s" % (start, result))

    def test_whole_files_are_not_called_damaged(self):
        for seconds, sound, *kinds in ((4, 1, "mkv", "mp4"), (1, 4, "mkv", "mp4", "mov", "flv", "avi", "ts")):
            for kind in kinds:
                with self.subTest(kind, seconds=seconds):
                    self.ok(clip("sound." + kind, *X264, "-c:a", "libmp3lame", seconds=seconds, sound=sound), "--null")
        for name in ("slow.mp4", "slow.mkv"):  # a frame each minute
            self.ok(clip(name, *X264, "-fps_mode", "passthrough", rate=1, seconds=4,
                         filters="settb=1/1000,setpts=N*60000"), "--null")

    def flip(self, source, name, step, first):
        """Damages a byte in every `step` bytes of a file's middle third."""
        data = bytearray(read_bytes(source))
        for i in range(len(data) // 3 + first, len(data) * 2 // 3, step):
            data[i] ^= 0x5a
        return self.write(name, bytes(data))

    def test_flipped_bytes(self):
        sources = {
            "a.mp4": self.source(),
            "a.mkv": clip("flip.mkv", *X264, "-g", "10", "-c:a", "flac", seconds=3, sound=3),
            "a.ts": clip("flip.ts", *X264, "-g", "10", "-c:a", "mp2", seconds=3, sound=3),
            "a.avi": clip("flip.avi", "-c:v", "mpeg4", "-c:a", "mp2", seconds=3, sound=3),
            "a.mpg": clip("flip.mpg", "-c:v", "mpeg2video", "-c:a", "mp2", seconds=3, sound=3),
            "ffv1.mkv": clip("flip-ffv1.mkv", *FFV1, seconds=1),
        }
        size = frame_size("yuv420p", 160, 90)[1]
        steps = ((5000, 7), (501, 3), (97, 0))
        for (name, source), (step, first) in share(itertools.product(sources.items(), steps), 4):
            with self.subTest(name, step=step):
                path = self.flip(source, name, step, first)
                result = lumeq(path, "-o", self.path("out.mkv"), "--vcodec", "ffv1", "-y")
                self.assertIn(result.code, (DONE, DAMAGED), str(result))
                self.assertLessEqual(len(result.lines), 3, str(result))
                if result.code == DAMAGED:
                    self.assertIn("damaged", result.err)
                theirs = len(warm.run(
                    ["ffmpeg", "-v", "quiet", "-nostdin", "-flags", "+output_corrupt", "-i", path, "-map",
                     "0:v:0", "-fps_mode", "passthrough", "-f", "rawvideo", "-"],
                    dict(os.environ), timeout=LIVENESS).stdout) // size
                ours = len(raw(self.path("out.mkv"))) // size
                self.assertGreaterEqual(ours, theirs - 1)

    def overwritten(self, source, at, count=1):
        data = bytearray(read_bytes(source))
        data[at:at + count] = bytes(b ^ 0xff for b in data[at:at + count])
        return self.write("broken" + os.path.splitext(source)[1], bytes(data))

    def is_reported(self, path):
        """True if FFmpeg reports damage in the video."""
        return subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-i", path, "-map", "0:v", "-f", "null", "-"],
                              capture_output=True, check=False).stderr != b""

    def test_all_of_ffmpegs_errors_are_reported(self):
        """If FFmpeg reports damaged packets, the exit code is 5, in every container and codec."""
        cases = (("a.ogv", ("-c:v", "libtheora"), 4),
                 ("a.mkv", ("-c:v", "ffv1", "-level", "3", "-slicecrc", "1", "-g", "1"), 4),
                 ("a.gif", ("-c:v", "gif"), 2),
                 ("a.avi", ("-c:v", "mjpeg"), 2),
                 ("a.wmv", ("-c:v", "wmv2"), 1),
                 ("a.flv", ("-c:v", "flv"), 2),
                 ("b.mkv", ("-c:v", "libx264", "-preset", "ultrafast"), 1),
                 ("b.avi", ("-c:v", "mpeg4"), 1),
                 ("a.mpg", ("-c:v", "mpeg2video"), 1),
                 ("a.mov", ("-c:v", "prores_ks"), 1))
        for name, encoder, least in cases:
            source = clip(name, *encoder, size="96x64")
            self.ok(source, "--null")
            size, reported = os.path.getsize(source), 0
            for share in (0.3, 0.5, 0.7, 0.9):
                path = self.overwritten(source, int(size * share), 1 if "ogv" in name else 24)
                if self.is_reported(path):
                    reported += 1
                    with self.subTest(name, share=share):
                        self.exits(DAMAGED, path, "--null", "-q")
            self.assertGreaterEqual(reported, least, "FFmpeg reports too little damage in " + name)

    def test_one_broken_frame_is_counted_once(self):
        source = clip("slices.mkv", "-c:v", "ffv1", "-level", "3", "-slicecrc", "1", "-g", "1")
        packets = contents(source)["packets"]
        path = self.overwritten(source, int(packets[9]["pos"]) + int(packets[9]["size"]) // 2)
        for threads in (1, 3):
            result = self.exits(DAMAGED, path, "--null", "-q", "--threads", threads)
            self.assertIn("; 1 frame with errors in the picture (first: ffv1: slice CRC mismatch", result.err)
        for part, code in ((("--ss", 0.4), DONE), (("--to", 0.32), DONE), (("--ss", 0.36, "--to", 0.4), DAMAGED)):
            self.assertEqual(lumeq(path, "--null", "-q", *part).code, code, part)

    def test_missing_references(self):
        for name, dropped, encoder in (
                ("refs.mkv", "eq(n\\,7)", ("-c:v", "libx264", "-bf", "2", "-refs", "4", "-g", "100")),
                ("refs.mp4", "between(n\\,6\\,12)", ("-c:v", "libx265", "-x265-params", "log-level=none:keyint=100"))):
            with self.subTest(name):
                source, path = clip(name, *encoder, seconds=2), self.path(name)
                ffmpeg("-i", source, "-c", "copy", "-bsf:v", "noise=drop=" + dropped, path)
                self.assertTrue(self.is_reported(path))
                self.damaged(path, "errors in the picture")

    def test_parts_of_open_groups(self):
        """Frames before a part's first key frame may lack references. This is no damage."""
        for name, encoder in (("open.mkv", ("-c:v", "libx264", "-g", "12", "-x264-params", "open-gop=1:bframes=3")),
                              ("open.ts", ("-c:v", "libx264", "-g", "12", "-x264-params", "open-gop=1:bframes=3")),
                              ("open.mp4", ("-c:v", "libx265", "-x265-params", "log-level=none:open-gop=1:keyint=12")),
                              ("fields.ts", ("-c:v", "libx264", "-g", "12", "-flags", "+ildct+ilme", "-x264-params",
                                             "open-gop=1:bframes=2:tff=1"))):
            source = clip(name, *encoder, size="160x96", seconds=2)
            for part in ((), ("--ss", 0.48), ("--ss", 0.6), ("--ss", 1, "--to", 1.5)):
                with self.subTest(name, part=part):
                    self.ok(source, "--null", *part)

    def test_every_output_of_damaged_input(self):
        """Damaged sound is copied as it is; the muxer must not fail on it."""
        path = self.flip(self.source(), "a.mp4", 501, 3)
        for name in ("out.mp4", "out.mkv", "out.mov"):
            with self.subTest(name):
                result = lumeq(path, "-o", self.path(name), "-y", "--preset", "ultrafast")
                self.assertIn(result.code, (DONE, DAMAGED), str(result))

    def test_transport_streams_end_to_end(self):
        """Packet counters restart at the joint. This is no damage."""
        encoder = ("-c:v", "libx264", "-g", "25", "-bf", "2", "-c:a", "aac")
        first, second = clip("one.ts", *encoder, seconds=2, sound=2), clip("two.ts", *encoder, seconds=3, sound=3)
        later = self.path("later.ts")
        ffmpeg("-i", second, "-c", "copy", "-output_ts_offset", "2", later)
        for name, parts in (("restart", (first, second)), ("same", (first, first, first)), ("later", (first, later))):
            data = b"".join(map(read_bytes, parts))
            for more in ((), ("--ss", 1)):
                with self.subTest(name, more=more):
                    self.ok(self.write("joined.ts", data), "--null", *more)
            self.assertEqual(lumeq("-", "--null", "-q", stdin=data).code, DONE)
        data = read_bytes(first) + read_bytes(second)
        for at in (len(data) // 5, len(data) // 2, len(data) * 4 // 5):
            at = at // 188 * 188
            with self.subTest(lost=at):
                path = self.write("lost.ts", data[:at] + data[at + 20 * 188:])
                self.assertEqual(lumeq(path, "--null", "-q").code, DAMAGED)

    def test_keyframe_missing(self):
        data = read_bytes(clip("gop.h264", *X264, "-g", "10", "-f", "h264", seconds=1))
        nals = [m.start() for m in re.finditer(b"\0\0\1", data)]
        headers = data[:nals[2]]
        result = lumeq(self.write("middle.h264", headers + data[nals[len(nals) // 2]:]), "--null")
        self.assertIn(result.code, (DONE, DAMAGED), str(result))


class CutOff(Case):
    """A file that ends inside an element is damaged."""

    AVC, SOUND = (*X264, "-g", "10", "-bf", "2"), ("-c:a", "aac")
    FORMATS = (  # name, ffmpeg's options, the unit that is cut, size of a packet, else 1
        ("a.mkv", (*AVC, *SOUND), "an element", 1),
        ("a.webm", ("-c:v", "libvpx", "-cpu-used", "8"), "an element", 1),
        ("live.mkv", (*AVC, *SOUND, "-live", "1"), "an element", 1),
        ("a.ogv", ("-c:v", "libtheora", "-c:a", "libvorbis"), "a page", 1),
        ("a.gif", ("-c:v", "gif"), "a block", 1),
        ("a.y4m", ("-r", "8"), "a frame", 1),
        ("a.avi", ("-c:v", "mpeg4", "-c:a", "mp2"), "a chunk", 1),
        ("front.mp4", (*AVC, *SOUND, "-movflags", "faststart"), "a box", 1),
        ("fragments.mp4", (*AVC, *SOUND, "-movflags", "frag_keyframe+empty_moov"), "a box", 1),
        ("a.flv", (*AVC, *SOUND), "a tag", 1),
        ("a.ts", (*AVC, *SOUND), "a packet", 188),
        ("a.m2ts", (*AVC, "-c:a", "ac3"), "a packet", 192),
        ("a.wmv", ("-c:v", "wmv2", "-c:a", "wmav2"), "an object", 1),
        ("a.mxf", ("-c:v", "mpeg2video", "-r", "25", "-c:a", "pcm_s16le", "-ar", "48000"), "an element", 1),
        ("a.dv", ("-target", "pal-dv"), "a frame", 1))

    def clip(self, name, options):
        return clip("cut-" + name, *options, **({"sound": 1} if "-c:a" in options or "-target" in options else {}))

    def test_every_container(self):
        for name, options, element, unit in share(self.FORMATS, 4):
            source = self.clip(name, options)
            data = read_bytes(source)
            with self.subTest(name):
                self.ok(source, "--null")
                self.assertEqual(lumeq("-", "--null", stdin=data).code, DONE)
            for at in (len(data) // 2, len(data) * 9 // 10, len(data) - 20):
                at += 3 if at % unit == 0 else 0
                with self.subTest(name, at=at):
                    for args, more in (((self.write("cut" + os.path.splitext(name)[1], data[:at]),), {}),
                                       (("-",), {"stdin": data[:at]})):
                        result = self.exits(DAMAGED, *args, "--null", "-q", **more)
                        self.assertIn("it ends inside " + element, result.err)

    def test_a_cut_index_loses_no_packet(self):
        source = self.clip("a.avi", ("-c:v", "mpeg4", "-c:a", "mp2"))
        path = self.write("cut.avi", read_bytes(source)[:-10])
        result = self.exits(DAMAGED, path, "--null", "-q")
        self.assertEqual(result.lines, ["lumeq: the input is damaged: it ends inside a chunk"])

    def test_a_missing_trailer_is_no_damage(self):
        for name, options, keeps in (
                ("a.gif", ("-c:v", "gif"), lambda data: data[:-1]),
                ("a.flv", (*self.AVC, *self.SOUND), lambda data: data[:-4]),
                ("a.ts", (*self.AVC, *self.SOUND), lambda data: data + b"\xff" * 188),
                ("a.avi", ("-c:v", "mpeg4", "-c:a", "mp2"), lambda data: data[:data.rindex(b"idx1")]),
                ("fragments.mp4", (*self.AVC, *self.SOUND, "-movflags", "frag_keyframe+empty_moov"),
                 lambda data: data[:data.rindex(b"mfra") - 4]),
                ("live.mkv", (*self.AVC, *self.SOUND, "-live", "1"),
                 lambda data: data[:data.rindex(b"\x1f\x43\xb6\x75")])):
            with self.subTest(name):
                path = self.write(name, keeps(read_bytes(self.clip(name, options))))
                self.ok(path, "--null")

    def test_a_part_before_the_cut_is_whole(self):
        for name, options in (("a.mkv", (*self.AVC, *self.SOUND)), ("a.avi", ("-c:v", "mpeg4", "-c:a", "mp2"))):
            data = read_bytes(self.clip(name, options))
            path = self.write("cut" + name[1:], data[:len(data) * 9 // 10 - 7])
            for part, code in ((("--to", 0.4), DONE), (("--frames", 5), DONE), (("--ss", 0.1, "--to", 0.5), DONE),
                               (("--to", 1), DAMAGED), (("--ss", 0.4), DAMAGED)):
                with self.subTest(name, part=part):
                    result = lumeq(path, "-o", self.path("out.mkv"), "-y", "-q", "--vcodec", "ffv1", *part)
                    self.assertEqual(result.code, code, str(result))

    def test_a_job_reports_the_cut_once(self):
        data = read_bytes(self.clip("a.mkv", (*self.AVC, *self.SOUND)))
        result = self.exits(DAMAGED, self.write("cut.mkv", data[:-700]), "-o", self.path("out.mkv"), "--jobs", 2, "-q")
        self.assertEqual(result.err.count("it ends inside an element"), 1, str(result))


def unknown_lengths(data, boxes, wide):
    """Sets durations in the header of a fragmented mp4 to unknown: all ones, in 32 or 64 bits."""
    result, at = b"", 0
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + (size or len(data) - at)]
        skip = {b"mvhd": 4, b"mdhd": 4, b"tkhd": 8}.get(kind, 0)  # bytes from the times to the duration
        if kind in (b"moov", b"trak", b"mdia", b"mvex"):
            body = unknown_lengths(body, boxes, wide)
        elif kind in boxes and not wide:
            body = body[:12 + skip] + b"\xff" * 4 + body[16 + skip:]
        elif kind in boxes:  # version 1, whose times also have 64 bits
            body = (b"\1" + body[1:4] + bytes(4) + body[4:8] + bytes(4) + body[8:12 + skip] + b"\xff" * 8 +
                    body[16 + skip:])
        if kind == b"mvex":
            mehd = b"\1\0\0\0" + b"\xff" * 8 if wide else b"\0\0\0\0" + b"\xff" * 4
            body = struct.pack(">I4s", 8 + len(mehd), b"mehd") + mehd + body
        result += struct.pack(">I4s", 8 + len(body), kind) + body
        at += size or len(data) - at
    return result


class Whole(Case):
    """Files that are not damaged, although their headers or FFmpeg's messages suggest damage."""

    def whole(self, path, *options):
        """Checks for success, and for as many frames as FFmpeg decodes."""
        result = self.ok(path, "--null", *options)
        theirs = ffmpeg("-i", path, "-map", "0:v:0", "-fps_mode", "passthrough", "-f", "framemd5", "-").decode()
        frames = sum(not line.startswith("#") for line in theirs.splitlines())
        self.assertIn("%d frames" % frames, result.err)
        return frames

    def test_unknown_lengths_of_fragmented_mp4(self):
        data = read_bytes(clip("unknown.mp4", *X264, "-c:a", "aac", "-movflags",
                               "frag_keyframe+empty_moov+default_base_moof", sound=1))
        for boxes in ((b"mvhd", b"tkhd", b"mdhd"), (b"mvhd",), (b"tkhd",), (b"mdhd",)):
            for wide in (False, True):
                with self.subTest(boxes=boxes, wide=wide):
                    self.assertEqual(self.whole(self.write("a.mp4", unknown_lengths(data, boxes, wide))), 25)

    def copied(self, name, source, *options, before=()):
        path = self.path(name)
        ffmpeg(*before, "-i", source, *options, "-c", "copy", path)
        return path

    def test_copies_that_begin_inside_a_group(self):
        """The first frames are incomplete, because they lack a reference or precede the picture's refresh."""
        for name, parameters in (("open", "open-gop=1:bframes=3:keyint=12"),
                                 ("refresh", "intra-refresh=1:keyint=20:bframes=0")):
            source = clip(name + ".mkv", "-c:v", "libx264", "-x264-params", parameters, size="96x64", seconds=2)
            for end in (".mkv", ".mp4"):
                with self.subTest(name + end):
                    self.whole(self.copied(name + end, source, "-ss", 0.7))

    @unittest.skipUnless(has_encoder("libaom-av1"), "FFmpeg has no libaom")
    def test_av1_with_packets_of_hidden_frames(self):
        source = clip("hidden.mp4", "-c:v", "libaom-av1", "-cpu-used", "8", "-lag-in-frames", "25", size="64x48")
        for end in (".mkv", ".mp4", ".ivf"):
            with self.subTest(end):
                path = self.copied("split" + end, source, "-bsf:v", "av1_frame_split")
                self.assertGreater(len(contents(path)["packets"]), 25)
                self.assertEqual(self.whole(path), 25)
        self.whole(self.copied("edit.mp4", source, before=("-ss", 0.7)))  # an edit list hides the beginning

    def test_discontinuity_of_a_playlist(self):
        source = clip("list.ts", *X264, "-g", "10", "-c:a", "aac", seconds=2, sound=2)
        self.copied("list.m3u8", source, "-hls_time", "0.8", "-hls_list_size", "0")
        lines = self.read("list.m3u8").decode().split("#EXT-X-ENDLIST")[0]
        segments = lines[lines.index("#EXTINF"):]
        path = self.write("twice.m3u8", (lines + "#EXT-X-DISCONTINUITY\n" + segments + "#EXT-X-ENDLIST\n").encode())
        self.assertIn("100 frames", self.ok(path, "--null", "--allow-playlists").err)
