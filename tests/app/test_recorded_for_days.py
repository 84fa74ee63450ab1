"""--segment-time and --keep with a URL that is lost and returns. The test simulates days of a camera in a short time."""

import os
import re
import time

from common import SANITIZED, SHORT, X264, clip, contents, frame_times, payloads, read_bytes, streams
from test_reconnect import ReconnectCase

PATTERN = "cam-%Y%m%d-%H%M%S.mkv"
LENGTH = 60 if SHORT or SANITIZED else 100  # seconds of each connection; each second becomes a segment
CONNECTIONS = 4 if SHORT or SANITIZED else 8
FOREIGN = "cam-20200101-000000.mkv"  # not written by lumeq
KEPT = 1000000  # bytes, the least that --keep accepts


class Days(ReconnectCase):
    def segments(self):
        """The names of complete segments, oldest first."""
        names = [name for name in self.files() if re.fullmatch(r"cam-\d{8}-\d{6}(-\d+)?\.mkv", name) and
                 name != FOREIGN]
        return sorted(names, key=lambda name: os.stat(self.path(name)).st_mtime_ns)

    def look(self):
        """Memory in KiB, the number of open files, and the bytes of all segments."""
        with open("/proc/%d/statm" % self.process.pid, encoding="ascii") as f:
            memory = int(f.read().split()[1]) * 4
        return memory, len(os.listdir("/proc/%d/fd" % self.process.pid)), sum(
            os.stat(self.path(name)).st_size for name in self.segments())

    def test_hundreds_of_segments(self):
        """Memory and descriptors do not grow, only old segments are deleted, and each segment has its own sound."""
        source = clip("hour.mkv", *X264, "-bf", "2", "-g", "10", "-c:a", "aac", "-b:a", "64k", size="64x48", rate=5,
                      seconds=LENGTH, sound=LENGTH)
        others = ["door-20200101-000000.mkv", "cam-20200101.mkv", "cam-20200101-000000.mp4", "film.mkv", FOREIGN]
        for name in others:
            self.write(name, bytes(100000))
            os.utime(self.path(name), (1e9, 1e9))
        seen = []

        def look():
            if not self.process:
                return
            try:
                seen.append(self.look())
            except OSError:
                pass  # the run is ending, or a segment was deleted meanwhile
        url = self.send(read_bytes(source), then=look)
        frames = 5 * LENGTH * CONNECTIONS
        said = self.finished(self.start("--reconnect", url, "-o", self.path(PATTERN), "--segment-time", 1, "--keep",
                                        "1M", "--preset", "ultrafast", "--frames", frames)).err
        counts = re.search(r"(\d+) segments, (\d+) deleted, (\d+) outages, (\d+) frames", said)
        self.assertTrue(counts, said)
        count, deleted, outages, written = map(int, counts.groups())
        left = self.segments()
        self.assertGreaterEqual(count, LENGTH * CONNECTIONS)
        self.assertEqual((count - deleted, written), (len(left), frames))
        self.assertIn(outages, (CONNECTIONS - 1, CONNECTIONS))  # the run may end before the last outage
        self.assertEqual({name for name in self.files() if not name.startswith(".lumeq-pieces-")},
                         set(left + others + ["said"]))
        self.assertLess(sum(os.stat(self.path(name)).st_size for name in left), 1.1 * KEPT)
        self.assertGreater(sum(os.stat(self.path(name)).st_size for name in left), 0.8 * KEPT)
        self.assertLessEqual(len(said.splitlines()), 12 + 2 * CONNECTIONS)
        self.has_its_sound([self.path(name) for name in left[-8:]], source)
        print("memory, files, bytes:", seen)
        half = len(seen) // 2
        first, last = seen[half], seen[-1]
        before, after = [files for _, files, _ in seen[:half]], [files for _, files, _ in seen[half:]]
        self.assertLessEqual(min(after), max(before) + 1)  # for a moment a segment may still be closing
        if not SANITIZED:
            self.assertLess(last[0], first[0] + 4096)
        for look in seen[1:]:
            self.assertLess(look[2], 1.2 * KEPT)

    def has_its_sound(self, segments, source):
        sound, whole = [], payloads(source)
        for path in segments:
            begin = [float(stream["start_time"]) for stream in streams(path)]
            self.assertLess(max(begin), 0.05, path)
            end = max(float(packet["pts_time"]) + float(packet["duration_time"])
                      for packet in contents(path)["packets"]
                      if packet["codec_type"] == "audio")
            if path != segments[-1]:
                self.assertEqual(len(frame_times(path)), 5, path)
                self.assertAlmostEqual(end, 1, delta=0.1, msg=path)
            sound += payloads(path)
        self.assertIn(sound, [whole[at:at + len(sound)] for at in range(len(whole) - len(sound) + 1)])

    def outage(self, pause, seconds):
        """Records two connections of 2 s, with an outage between. Returns the segments and the second connection's time."""
        times = []
        source = read_bytes(clip("two.mkv", *X264, "-bf", "2", "-g", "10", "-c:a", "aac", seconds=2, sound=2))
        url = self.send(source, then=lambda: times.append(time.time()))
        said = self.finished(self.start("--reconnect", url, "-o", self.path(PATTERN), "--segment-time", seconds,
                                        "--preset", "ultrafast", "--frames", 100, pause=pause)).err
        self.assertEqual((said.count("is gone"), said.count("is back after")), (1, 1), said)
        segments = self.segments()
        self.assertEqual(sum(len(frame_times(self.path(name))) for name in segments), 100)
        return segments, times[1]

    def test_a_short_outage(self):
        """After a short outage the segment goes on, with a hole."""
        segments, _ = self.outage(0.5, 60)
        self.assertEqual(len(segments), 1)
        times = frame_times(self.path(segments[0]))
        self.assertGreater(times[50] - times[49], 0.4)

    def test_a_long_outage(self):
        """After a long outage a new segment begins, named by the time of the return. No segment has a hole."""
        segments, back = self.outage(2.5, 2)
        self.assertEqual(len(frame_times(self.path(segments[0]))), 50)
        for name in segments:
            times = frame_times(self.path(name))
            self.assertLess(max(b - a for a, b in zip(times, times[1:])), 0.1, name)
            self.assertLess(max(float(stream["start_time"]) for stream in streams(self.path(name))), 0.05, name)
        named = [time.mktime(time.strptime(name[4:19], "%Y%m%d-%H%M%S")) for name in segments]
        self.assertLess(named[0], back - 1.5)
        self.assertTrue(all(int(back) <= at for at in named[1:]), (named, back))
