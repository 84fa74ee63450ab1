"""--segment-time splits the output into segments that are named by their time."""

from common import *

PATTERN = "cam-%Y%m%d-%H%M%S"
SECONDS = r"\d{8}-\d{6}"


def film():
    return clip("film.mkv", *X264, "-bf", "2", "-c:a", "aac", seconds=5, sound=5)


class Segments(Case):
    def segments(self, ending="mkv"):
        """The segments in order. If two begin in the same second, the later one has the suffix "-2"."""
        names = [name for name in self.files() if re.fullmatch(r"cam-%s(-\d+)?\.%s" % (SECONDS, ending), name)]
        return [self.path(name) for name in sorted(names, key=lambda name: os.path.splitext(name)[0])]

    def write_segments(self, source, *args, ending="mkv", seconds=2):
        result = self.ok(source, "-o", self.path(PATTERN + "." + ending), "--segment-time", seconds, *args)
        found = self.segments(ending)
        self.assertEqual(len(self.files()), len(found), self.files())
        self.assertIn("%d segments, " % len(found), result.err)
        return found

    def is_whole(self, path, codec=None):
        """Checks that a segment begins with a key frame, and decodes on its own."""
        first = probe(path, "-select_streams", "v:0", "-show_packets", "-read_intervals", "%+#1")["packets"][0]
        self.assertIn("K", first["flags"], path)
        self.assertEqual(ffmpeg("-xerror", "-i", path, "-f", "null", "-") or b"", b"")
        if codec:
            self.assertEqual(streams(path, "video")[0]["codec_name"], codec)

    def clear(self):
        for name in self.files():
            os.remove(self.path(name))

    def test_everything_is_kept(self):
        """Every frame and sound packet is written once, in order. Each segment begins at 0, and the times in names differ
        by the segments' length."""
        found = self.write_segments(film(), "--preset", "ultrafast")
        self.assertEqual([len(frame_times(path)) for path in found], [50, 50, 25])
        sound = []
        for path in found:
            self.is_whole(path)
            begin = [float(s["start_time"]) for s in streams(path)]
            self.assertLess(max(begin), 0.05, path)
            end = [max(p[0] for p in packets(path, kind)) for kind in ("v:0", "a:0")]
            self.assertLess(abs(end[0] - end[1]), 0.08, path)
            sound += payloads(path)
        self.assertEqual(sound, payloads(film()))
        stamps = [time.mktime(time.strptime(os.path.basename(path)[4:19], "%Y%m%d-%H%M%S")) for path in found]
        self.assertEqual([b - a for a, b in zip(stamps, stamps[1:])], [2, 2])

    def test_the_same_pictures(self):
        path = clip("short.mkv", *X264, seconds=3)
        found = self.write_segments(path, "--vcodec", "ffv1", "--two-pass", "on", seconds=1)
        whole = self.lossless(path, "--two-pass", "on")
        hashes = []
        for segment in found:
            self.is_whole(segment, "ffv1")
            hashes += probe_hashes(segment)
        self.assertEqual(hashes, probe_hashes(whole))

    def test_encoders_and_containers(self):
        for ending, codec, name in some((("mkv", "libx264", "h264"), ("mp4", "libx264", "h264"),
                                         ("mkv", "libx265", "hevc"), ("ts", "mpeg2video", "mpeg2video"), ("avi", "mpeg4", "mpeg4"),
                                         ("webm", "libvpx-vp9", "vp9"))):
            with self.subTest(codec, ending=ending):
                if not has_encoder(codec):
                    continue
                more = ("--vopt", "bf=2") if name == "mpeg2video" else ()  # B-frames; AVI cannot store their times
                more += ("--vopt", "cpu-used=8") if name == "vp9" else ()
                more += ("--acodec", "ac3") if ending == "avi" else ()  # ffmpeg itself fails to write some AAC into AVI
                more += ("--preset", "ultrafast") if codec.startswith("libx") else ()
                found = self.write_segments(clip("two.mkv", *X264, "-c:a", "aac", seconds=2, sound=2), "--vcodec", codec,
                                          *more, ending=ending, seconds=1)
                self.assertEqual(len(found), 2)
                self.assertEqual(sum(len(frame_times(path)) for path in found), 50)
                for path in found:
                    self.is_whole(path, name)
                self.clear()

    def test_converted_sound(self):
        """Sound that the converter holds back still goes into its segment."""
        found = self.write_segments(film(), "--acodec", "ac3", "--preset", "ultrafast")
        usual = self.converted(film(), "usual.mkv", "--acodec", "ac3", "--preset", "ultrafast")
        self.assertEqual(sum((payloads(path) for path in found), []), payloads(usual))
        lengths = [sum(float(p["duration_time"]) for p in probe(path, "-select_streams", "a", "-show_packets")["packets"])
                   for path in found]
        for length in lengths[:2]:
            self.assertAlmostEqual(length, 2, delta=0.1)

    def test_stats_of_all_segments(self):
        self.ok(film(), "-o", self.path(PATTERN + ".mkv"), "--segment-time", 3, "--stats", self.path("rows.csv"),
                "--preset", "ultrafast")
        self.assertEqual(len(self.read("rows.csv").splitlines()), 1 + 125)

    def live(self, *args):
        return self.start("--no-config", "-", "-o", self.path(PATTERN + ".mkv"), "--segment-time", 1, "--preset",
                          "ultrafast", *args, stdin=trickle(self))

    def test_live_and_interrupted(self):
        """Segments are named by the clock. The last one ends with the run and is complete."""
        process = self.live("--low-latency")
        self.assertTrue(wait_for(lambda: len(self.segments()) >= 2), self.files())
        result = self.interrupt(process)
        found = self.segments()
        self.assertGreaterEqual(len(found), 3)
        self.assertEqual(len(self.files()), len(found), self.files())
        self.assertIn(os.path.basename(found[-1]), result.lines[-1])
        for path in found:
            self.is_whole(path)
        now = time.time()
        stamps = [time.mktime(time.strptime(os.path.basename(path)[4:19], "%Y%m%d-%H%M%S")) for path in found]
        self.assertTrue(all(now - LIVENESS < stamp <= now for stamp in stamps), stamps)

    def test_killed(self):
        """Finished segments stay, and the next run removes the unfinished one."""
        process = self.live()
        self.assertTrue(wait_for(lambda: len(self.segments()) >= 2), self.files())
        process.kill()
        process.wait()
        process.stderr.close()
        found = self.segments()
        for path in found:
            self.is_whole(path)
        self.assertTrue([name for name in self.files() if name.startswith(".cam-")], self.files())
        self.ok(simple(), "-o", self.path(PATTERN + ".mkv"), "--segment-time", 5)
        self.assertFalse([name for name in self.files() if name.startswith(".cam-")], self.files())

    def test_existing_names_are_kept(self):
        day = ("-o", self.path("day-%Y%m%d.mkv"), "--segment-time", 1e6)
        self.ok(simple(), *day)
        self.ok(simple(), *day)
        self.assertEqual(sorted(re.sub(r"\d{8}", "DAY", name) for name in self.files()), ["day-DAY-2.mkv", "day-DAY.mkv"])
        first = [name for name in self.files() if not name.endswith("-2.mkv")][0]
        before = os.stat(self.path(first)).st_ino
        self.ok(simple(), *day, "-y")
        self.assertNotEqual(os.stat(self.path(first)).st_ino, before)
        self.assertEqual(len(self.files()), 2)

    def kept(self, *more, folder="", limit="1M"):
        """Records with --keep, and returns the messages."""
        return self.ok(film(), "-o", self.path(folder + PATTERN + ".mkv"), "--segment-time", 1, "--keep", limit,
                       "--vcodec", "ffv1", *more).err

    def test_only_own_segments_are_deleted(self):
        """--keep deletes only files that lumeq's recordings wrote, never other files with such names."""
        others = ["cam-20200101-000000.mkv", "cam-20200101-000000-2.mkv", "cam-20200101-000000.mp4", "film.mkv"]
        for i, name in enumerate(others):
            self.write(name, bytes(1100000))
            os.utime(self.path(name), (1e9 + i, 1e9 + i))
        self.ok(simple(), "-o", self.path("cam-%Y%m%d-%H%M%S.mkv"), "--segment-time", 5)
        others += [name for name in self.files() if name not in others]
        said = self.kept()
        own = set(self.files()) - set(others)
        self.assertLess(len(own), 6, own)
        self.assertEqual(set(others) - set(self.files()), set())
        first = re.findall(r"--keep has begun to delete the oldest segments: (.*)", said)
        self.assertEqual(len(first), 1, said)
        for path in re.findall("'([^']*)'", first[0]):
            self.assertFalse(os.path.exists(path), path)
            self.assertRegex(path, r"/cam-\d{8}-\d{6}(-\d+)?\.mkv$")

    def test_the_next_recording_deletes_on(self):
        """A recording also deletes the segments of an earlier one, except those that were changed, moved or replaced."""
        self.kept("--frames", 50)
        first = [os.path.basename(path) for path in self.segments()]
        self.assertGreater(len(first), 1)
        changed = first[0]
        os.utime(self.path(changed), (1e9, 1e9))
        os.mkdir(self.path("elsewhere"))
        self.kept(folder="elsewhere/", limit="100M")
        others = []
        for name in self.files(self.path("elsewhere")):
            others.append("cam-20200101-%06d.mkv" % len(others))
            os.rename(self.path("elsewhere/" + name), self.path(others[-1]))
        said = self.kept()
        left = self.files()
        self.assertIn(changed, left)
        self.assertFalse(set(first[1:]) & set(left), left)
        self.assertIn(first[1], said)
        self.assertEqual(set(others) - set(left), set())

    def test_a_forged_list(self):
        """A forged list of segments cannot delete files in other folders."""
        self.kept("--frames", 50)
        name, = [name for name in self.files() if name.startswith(".lumeq-pieces-")]
        victim = self.write("victim.mkv", bytes(1100000))
        os.mkdir(self.path("cams"))
        os.rename(self.path(name), self.path("cams/" + name))
        with open(self.path("cams/" + name), "ab") as f:
            f.write(b"1100000 %d/../victim.mkv\0broken\0\0" % os.stat(victim).st_mtime_ns)
        self.kept(folder="cams/")
        self.assertTrue(os.path.exists(victim))
        os.unlink(self.path("cams/" + name))
        os.symlink(victim, self.path("cams/" + name))
        self.refused(lumeq(film(), "-o", self.path("cams/" + PATTERN + ".mkv"), "--segment-time", 1, "--keep", "1M"), OUTPUT,
                     "--keep cannot read", name)

    def test_keep_refused(self):
        for value in ("0", "x", "5Q", "999", "-1G", "1e99"):
            self.refused(lumeq(simple(), "-o", self.path(PATTERN + ".mkv"), "--segment-time", 5, "--keep", value),
                         USAGE, "--keep", "50G")
        self.refused(lumeq(simple(), "-o", self.path("o.mkv"), "--keep", "1G"), USAGE, "needs --segment-time")

    def test_refused(self):
        for name, args, words in (("cam.mkv", (), ("no time in its name", "cam.mkv")),
                                  ("cam-%Q.mkv", (), ("%Q, which is not a time",)),
                                  ("cam-%.mkv", (), ("%., which is not a time",)),
                                  ("cam-%Y%m%d-%H%M.mkv", (), ("the same name", "%H%M%S")),
                                  ("cam-%Y%m%d-%H%M%S.png", (), ("a picture",)),
                                  ("cam-%Y%m%d-%H%M%S.mkv", ("--jobs", "2"), ("--jobs",)),
                                  ("cam-%Y%m%d-%H%M%S.mkv", ("--resume",), ("--resume",)),
                                  ("cam-%Y%m%d-%H%M%S.mkv", ("--segment-time", "0.5"), ("--segment-time", "1 to"))):
            with self.subTest(name, args=args):
                self.refused(lumeq(simple(), "--segment-time", 10, "-o", self.path(name), *args), USAGE, *words)
        self.refused(lumeq(simple(), "--segment-time", 10, "-o", "-", "--format", "mkv"), USAGE, "needs a video file")
        self.refused(lumeq(simple(), "--segment-time", 10, "--null"), USAGE, "-o")
        self.refused(lumeq(simple(), "--segment-time", 10, "-o", self.folder + "/x/"), USAGE, "one video")
        self.assertEqual(self.files(), [])


def probe_hashes(path):
    return [line.split(b",")[-1].strip() for line in ffmpeg("-i", path, "-map", "0:v", "-f", "framemd5", "-").splitlines()
            if not line.startswith(b"#")]
