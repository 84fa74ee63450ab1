"""A real window on a real X server without a screen: what it shows, its keys, its end."""

import csv
import os
import re
import shutil
import subprocess
import time
import unittest

from common import (DAMAGED, DONE, INPUT, INTERRUPTED, LUMEQ, SAMPLE, USAGE, Case, environment, ffmpeg, finish,
                    make, tool, wait_for)

WIDTH, HEIGHT = 1600, 900
MISSING = [t for t in ("Xvfb", "xdotool") if not shutil.which(t)]


def start_server():
    """An X server on a free display: (process, its name)."""
    read, write = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "%dx%dx24" % (WIDTH, HEIGHT),
                               "-nolisten", "tcp", "-noreset"], pass_fds=[write], stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as f:
        return server, ":" + f.readline().strip()


@unittest.skipIf(MISSING, "not installed: %s" % ", ".join(MISSING))
class Window(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server, cls.display = start_server()

    @classmethod
    def tearDownClass(cls):
        cls.server.terminate()
        cls.server.wait()
        super().tearDownClass()

    def environment(self, **more):
        env = environment()
        env.update(DISPLAY=self.display, SDL_VIDEODRIVER="x11", SDL_AUDIODRIVER="dummy")
        # SDL unloads the OpenGL driver with the window: what that keeps for ever cannot be named to
        # be suppressed then. Leaks of lumeq's own are looked for by test_session, which keeps it.
        env["ASAN_OPTIONS"] += ":detect_leaks=0"
        env.update(more)
        return env

    def play(self, *args, env=None, stdin=subprocess.DEVNULL):
        process = subprocess.Popen([LUMEQ, "--no-config", "--backend", "cpu"] + [str(a) for a in args],
                                   stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=env or self.environment())
        self.addCleanup(process.kill)
        return process

    def xdotool(self, *args):
        return subprocess.run(["xdotool"] + [str(a) for a in args], env=self.environment(),
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()

    def window(self, process):
        found = []

        def look():
            found[:] = self.xdotool("search", "--onlyvisible", "--name", " - lumeq$").split()
            return found or process.poll() is not None
        self.assertTrue(wait_for(look), "there is no window")
        if not found:
            self.fail("it has ended: %s" % finish(process))
        return found[0]

    def key(self, *names):
        self.xdotool("key", "--delay", "30", *names)

    def grab(self):
        """The screen as rows of RGB bytes."""
        data = tool("ffmpeg", "-v", "error", "-f", "x11grab", "-video_size", "%dx%d" % (WIDTH, HEIGHT),
                    "-i", self.display, "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "rgb24", "-")
        return [data[y * WIDTH * 3:(y + 1) * WIDTH * 3] for y in range(HEIGHT)]

    @staticmethod
    def share(rows, left, right, wanted):
        """Of the pixels between two columns, how many are wanted(r, g, b)."""
        count = total = 0
        for row in rows[::7]:
            for x in range(left, right, 3):
                count += wanted(*row[x * 3:x * 3 + 3])
                total += 1
        return count / total

    def ends(self, process, code=DONE):
        result = finish(process)
        self.assertEqual(result.code, code, str(result))
        return result

    def test_picture_panel_and_keys(self):
        process = self.play(SAMPLE, "--loop")
        self.window(process)
        is_grey = lambda r, g, b: 40 < r < 220 and abs(r - g) < 25 and abs(g - b) < 25
        is_blue = lambda r, g, b: b > 180 and b > r + 60  # the bars of the input
        middle = WIDTH // 2
        self.assertTrue(wait_for(lambda: self.share(self.grab(), middle - 300, middle, is_grey) > 0.3),
                        "the fog is not to be seen")
        self.assertTrue(wait_for(lambda: self.share(self.grab(), middle, WIDTH, is_blue) > 0.005),
                        "no histogram is beside it")
        self.key("h", "h")  # over the picture, then away
        self.assertTrue(wait_for(lambda: self.share(self.grab(), middle, WIDTH, is_blue) < 0.002),
                        "the histogram stays")
        self.key("space")
        time.sleep(2.5)  # until the message has gone
        before = self.grab()
        self.key("question")
        self.assertTrue(wait_for(lambda: self.changed(before, middle - 200, middle + 200) > 0.1),
                        "no help is to be seen")
        self.key("question")
        self.assertTrue(wait_for(lambda: self.changed(before, 0, WIDTH) == 0), "the help stays")
        self.key("q")
        result = self.ends(process)
        self.assertEqual(result.err, "")

    def changed(self, before, left, right):
        after = self.grab()
        return sum(a[left * 3:right * 3] != b[left * 3:right * 3] for a, b in zip(before, after)) / HEIGHT

    def test_ends_by_itself_and_counts(self):
        process = self.play(SAMPLE, "--ss", "1", "--to", "2", "--stats", self.path("s.csv"))
        self.ends(process)
        with open(self.path("s.csv"), encoding="ascii") as f:
            rows = list(csv.DictReader(f))
        self.assertGreater(len(rows), 0)  # a slow machine drops nearly all
        self.assertLessEqual(len(rows), 25)
        times = [float(r["time"]) for r in rows]
        self.assertEqual(times, sorted(set(times)))
        self.assertTrue(all(1 <= t < 2 for t in times))

    def test_frames(self):
        result = self.ends(self.play(SAMPLE, "--frames", "5", "-v"))
        shown, dropped = re.search(r"(\d+) frames? shown, (\d+) dropped", result.err).groups()
        self.assertEqual(int(shown) + int(dropped), 5, str(result))

    def test_a_pipe(self):
        with open(SAMPLE, "rb") as f:
            process = self.play("-", "--to", "0.6", stdin=f)
        self.ends(process)

    def test_a_picture_stays(self):
        picture = self.path("photo.png")
        ffmpeg("-f", "lavfi", "-i", "testsrc2=size=320x240", "-frames:v", "1", picture)
        process = self.play(picture)
        self.window(process)
        time.sleep(1)
        self.assertIsNone(process.poll(), "it is gone")
        self.key("q")
        self.ends(process)

    def test_signal(self):
        for number in (2, 15):
            process = self.play(SAMPLE)
            self.window(process)
            process.send_signal(number)
            self.ends(process, INTERRUPTED)

    def test_without_sound_device(self):
        process = self.play(SAMPLE, "--to", "0.5", "-v", env=self.environment(SDL_AUDIODRIVER="nonsense"))
        self.assertIn("No sound: ", self.ends(process).err)

    def test_without_display(self):
        result = self.ends(self.play(SAMPLE, env=self.environment(DISPLAY=":99999")), USAGE)
        self.assertEqual(len(result.lines), 1, str(result))
        self.assertIn("-o or --null works without a window", result.err)

    def test_nothing_is_played_unseen(self):
        env = self.environment()
        del env["DISPLAY"], env["SDL_VIDEODRIVER"]
        result = self.ends(self.play(SAMPLE, env=env), USAGE)
        self.assertIn("no display", result.err)

    def test_damaged(self):
        with open(SAMPLE, "rb") as f:
            self.write("cut.mkv", f.read()[:200000])
        result = self.ends(self.play(self.path("cut.mkv")), DAMAGED)
        self.assertIn("s early", result.err)
        process = self.play(self.path("cut.mkv"), "--loop")  # closed before its end
        self.window(process)
        self.key("q")
        self.ends(process)

    def test_old_opengl(self):
        env = self.environment(MESA_GL_VERSION_OVERRIDE="2.1", LIBGL_ALWAYS_SOFTWARE="1")
        result = self.ends(self.play(SAMPLE, env=env), USAGE)
        self.assertEqual(len(result.lines), 1, str(result))
        self.assertIn("3.3", result.err)

    def test_bad_input(self):
        result = self.ends(self.play("/nonexistent.mkv"), INPUT)
        self.assertEqual(len(result.lines), 1, str(result))
        result = self.ends(self.play(SAMPLE, "--audio-track", "7"), USAGE)
        self.assertIn("audio track 7", result.err)

    def test_odd_and_small(self):
        for size in ("16x16", "641x361", "90x160"):
            clip = make(self.path("small.mkv"), "-c:v", "ffv1", size=size, seconds=0.4)
            with self.subTest(size):
                self.ends(self.play(clip))


if __name__ == "__main__":
    unittest.main()
