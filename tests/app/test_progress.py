"""Progress: a bar on a terminal, JSON lines for programs, nothing in a pipe."""

import select

from common import *

KEYS = ["frame", "frames", "time", "duration", "percent", "fps", "speed", "eta", "dropped", "bytes", "state"]


class Json(Case):
    def lines(self, result):
        return [json.loads(line) for line in result.lines if line.startswith("{")]

    def test_keys_and_last_line(self):
        rows = self.lines(self.ok(simple(), "-o", self.path("out.mp4"), "--progress", "json"))
        for row in rows:
            self.assertEqual(list(row), KEYS)
        last = rows[-1]
        self.assertEqual((last["frame"], last["frames"], last["state"]), (25, 25, "done"))
        self.assertEqual(last["percent"], 100)
        self.assertAlmostEqual(last["time"], 1, delta=0.05)
        self.assertAlmostEqual(last["duration"], 1, delta=0.05)
        self.assertEqual(last["eta"], 0)
        self.assertEqual(last["dropped"], 0)
        self.assertEqual(last["bytes"], os.path.getsize(self.path("out.mp4")))
        self.assertGreater(last["fps"], 0)
        self.assertGreater(last["speed"], 0)

    @unittest.skipUnless(has_encoder("libx265"), "no libx265")
    def test_frames_in_the_encoder_are_not_done(self):
        """This encoder takes all frames before it returns one."""
        source = clip("delay.mkv", *FFV1, "-pix_fmt", "yuv420p", size="480x270", seconds=2.4)
        result = self.ok(source, "-o", self.path("out.mkv"), "--progress", "json", "--vcodec", "libx265", "--preset",
                         "slow", "--vopt", "x265-params=log-level=none:rc-lookahead=200:bframes=8:pools=none:frame-threads=1")
        rows = self.lines(result)
        between = [row for row in rows if row["state"] == "running" and 0 < row["frame"] < 60]
        self.assertGreater(len(between), 0, str(result))
        for row in between:
            self.assertAlmostEqual(row["time"], row["frame"] / 25, delta=0.001)
            self.assertAlmostEqual(row["percent"], 100 * row["frame"] / 60, delta=0.01)
            self.assertGreater(row["eta"], 0)
        self.assertEqual([rows[-1][k] for k in ("frame", "percent", "eta")], [60, 100, 0])

    def test_unknown_is_null(self):
        with open(clip("raw.y4m", "-c:v", "wrapped_avframe", "-pix_fmt", "yuv420p"), "rb") as f:
            result = self.ok("-", "--null", "--progress", "json", stdin=f.read())
        last = self.lines(result)[-1]
        self.assertEqual([last[k] for k in ("frames", "duration", "bytes")], [None] * 3)
        self.assertIn(last["percent"], (None, 100))
        self.assertEqual(last["state"], "done")

    def test_part(self):
        for options, frames in ((("--frames", "5"), 5), (("--ss", "0.4", "--frames", "3"), 3)):
            last = self.lines(self.ok(simple(), "--null", "--progress", "json", *options))[-1]
            self.assertEqual((last["frame"], last["frames"], last["percent"]), (frames, frames, 100))
        last = self.lines(self.ok(simple(), "--null", "--progress", "json", "--ss", "0.4"))[-1]
        self.assertAlmostEqual(last["duration"], 0.6, delta=0.05)
        self.assertAlmostEqual(last["time"], 0.6, delta=0.05)
        self.assertGreaterEqual(last["percent"], 90)

    def test_damaged_is_done(self):
        Store.path("cut.mp4")
        data = read_bytes(clip("front.mp4", *X264, "-movflags", "+faststart", seconds=3))
        self.write("cut.mp4", data[:len(data) // 2])
        result = self.exits(DAMAGED, self.path("cut.mp4"), "--null", "--progress", "json")
        self.assertEqual(self.lines(result)[-1]["state"], "done")

    def test_failed(self):
        result = self.exits(OUTPUT, simple(), "-o", "/dev/full", "--format", "mkv", "--progress", "json")
        self.assertEqual(self.lines(result)[-1]["state"], "failed")

    def test_interrupted_and_at_most_twice_a_second(self):
        source, begin = trickle(self), time.monotonic()
        process = self.start("-", "-o", self.path("out.mkv"), "--progress", "json", stdin=source)
        rows, at = [], []
        while len(rows) < 5:
            line = process.stderr.readline()
            self.assertTrue(line, "the run ended early")
            rows.append(json.loads(line))
            at.append(time.monotonic())
        process.send_signal(SIGINT)
        result = finish(process)
        self.assertEqual({row["state"] for row in rows}, {"running"})
        for i, t in enumerate(at):  # a line may be read late, but not before it is written
            self.assertGreater(t - begin, 0.5 * i)
        self.assertEqual(result.code, INTERRUPTED, str(result))
        self.assertEqual(self.lines(result)[-1]["state"], "interrupted")
        frames = [row["frame"] for row in rows]
        self.assertEqual(frames, sorted(frames))


class Bar(Case):
    def on_terminal(self, *args, columns=120, signal_after=None, term="xterm"):
        """Runs on trickle() with a terminal as standard error. Returns (exit code, text shown)."""
        master, slave = open_terminal(columns)
        env = environment()
        env["TERM"] = term
        process = subprocess.Popen([LUMEQ, "-", "--null"] + [str(a) for a in args], stdin=trickle(self),
                                   stdout=subprocess.DEVNULL, stderr=slave, env=env)
        os.close(slave)
        shown, end = b"", time.monotonic() + LIVENESS
        while time.monotonic() < end:
            if select.select([master], [], [], 0.05)[0]:
                try:
                    data = os.read(master, 65536)
                except OSError:
                    data = b""
                if not data:
                    break
                shown += data
            if signal_after and signal_after in shown:
                process.send_signal(SIGINT)
                signal_after = None
        os.close(master)
        try:
            process.wait(LIVENESS)
        finally:
            process.kill()
        return process.returncode, shown.decode()

    def screen(self, shown):
        """The final text of the terminal's lines."""
        lines = [""]
        for part in re.split("(\r\n|\n|\r|\x1b\\[K)", shown):
            if part in ("\n", "\r\n"):
                lines.append("")
            elif part == "\x1b[K" or (part and part != "\r"):
                lines[-1] = "" if part == "\x1b[K" else part
        return [line for line in lines if line]

    def test_bar(self):
        code, shown = self.on_terminal("--frames", BAR_FRAMES)
        self.assertEqual(code, DONE, shown)
        bars = [s for s in re.split("\r|\x1b\\[K", shown) if "fps" in s and "ETA" in s]
        self.assertTrue(bars, shown)
        self.assertRegex(bars[-1], r"\d+%.*frame \d+.* fps .*\d+(\.\d+)?x.*ETA \d+:\d\d")
        screen = self.screen(shown)
        self.assertEqual(len(screen), 2, screen)
        self.assertNotIn("ETA", "".join(screen))
        self.assertIn("%d frames" % BAR_FRAMES, screen[1])

    def test_erased_when_interrupted(self):
        code, shown = self.on_terminal(signal_after=b"fps")
        self.assertEqual(code, INTERRUPTED, shown)
        self.assertEqual(len(self.screen(shown)), 1, self.screen(shown))
        self.assertIn("interrupted", self.screen(shown)[0])

    def test_no_bar_without_a_terminal(self):
        for options in ((), ("--progress", "none")):
            result = self.ok(simple(), "--null", *options)
            self.assertNotIn("\r", result.err)
            self.assertNotIn("\x1b", result.err)
            self.assertEqual(len(result.lines), 2)

    def test_no_bar_on_request(self):
        for options in (("--progress", "none"), ("-q",)):
            with self.subTest(" ".join(options)):
                code, shown = self.on_terminal("--frames", BAR_FRAMES, *options)
                self.assertEqual(code, DONE)
                self.assertNotIn("ETA", shown)

    def test_quiet_says_nothing(self):
        self.assertEqual(self.ok(simple(), "--null", "-q").err, "")
