"""Tests a real window on a headless X server: its contents, keys, and how it ends."""

import test_code_range as code_range
from common import *
from window import HEIGHT, MISSING, THREADS_STAY, WIDTH, WindowCase

FAULTS = os.environ.get("FAULTS_LIBRARY")


def is_blue(r, g, b):
    """True for the colour of the input's histogram."""
    return b > 180 and b > r + 60


@unittest.skipIf(MISSING, "not installed: %s" % ", ".join(MISSING))
class Window(WindowCase):
    def test_picture_panel_and_keys(self):
        process = self.shown(SAMPLE, "--loop")
        is_grey = lambda r, g, b: 40 < r < 220 and abs(r - g) < 25 and abs(g - b) < 25
        middle = WIDTH // 2
        self.assertTrue(wait_for(lambda: self.share(self.grab(), middle - 300, middle, is_grey) > 0.3),
                        "no fog is visible")
        self.assertTrue(wait_for(lambda: self.share(self.grab(), middle, WIDTH, is_blue) > 0.005),
                        "no histogram beside the picture")
        self.key("h", "h", "h", "h", "h")  # moves the panel, shows each other scope, hides the panel
        self.assertTrue(wait_for(lambda: self.share(self.grab(), middle, WIDTH, is_blue) < 0.002),
                        "the histogram stays")
        self.key("space")
        time.sleep(2.5)  # until the message has gone
        before = self.grab()
        self.key("question")
        self.assertTrue(wait_for(lambda: self.changed(before, middle - 200, middle + 200) > 0.1),
                        "no help is visible")
        for _ in range(3):  # the pages of the help
            page = self.grab()
            self.key("question")
            self.assertTrue(wait_for(lambda: self.changed(page, 0, WIDTH) > 0), "the page stays")
            if wait_for(lambda: self.changed(before, 0, WIDTH) == 0, 4):
                break
        self.assertEqual(self.changed(before, 0, WIDTH), 0, "the help stays")
        self.key("f")
        self.assertTrue(wait_for(lambda: self.changed(before, 0, WIDTH) > 0.3), "the picture is not larger")
        self.key("q")
        self.assertEqual(self.ends(process).err, "")

    def test_thermal_video_is_stretched(self):
        process = self.shown(code_range.thermal(code_range.WARM), "--loop", "--histogram", "off", "--fullscreen")
        is_bright = lambda r, g, b: r > 180
        bright = lambda: self.share(self.grab(), 0, WIDTH, is_bright)
        self.assertTrue(wait_for(lambda: bright() > 0.1), "the picture is not stretched")
        self.key("e")
        time.sleep(2.5)  # until the message has gone
        self.assertTrue(wait_for(lambda: bright() < 0.01), "the picture is stretched without the equalizer")
        self.key("e")
        self.assertTrue(wait_for(lambda: bright() > 0.1), "the picture is not stretched again")
        self.quits(process)

    @unittest.skipIf(not FAULTS, "FAULTS_LIBRARY names no library of faults")
    def test_no_thread(self):
        """If a thread cannot be started, lumeq ends with a message, or continues without the thread's work."""
        source = make(self.path("in.mkv"), *X264, "-c:a", "aac", size="64x48", seconds=0.2, sound=0.2)
        codes = []
        for n in range(1, 30):
            env = self.environment(LD_PRELOAD=FAULTS, FAULT_THREAD=str(n), FAULT_THREAD_OF="lumeq")
            env["ASAN_OPTIONS"] += ":verify_asan_link_order=0"
            result = finish(self.play(source, "--threads", 2, env=env))
            lines = [line for line in result.lines if not line.startswith("fault: ")]
            codes.append(result.code)
            self.assertIn(result.code, (DONE, INPUT), str(result))
            self.assertEqual(len(lines), result.code == INPUT, str(result))
            self.assertTrue(all("thread" in line for line in lines), str(result))
            if lines == result.lines:
                break
        self.assertEqual(codes[-1], DONE)
        self.assertGreaterEqual(codes.count(INPUT), 6, codes)

    @unittest.skipIf(not FAULTS, "FAULTS_LIBRARY names no library of faults")
    def test_hung_driver(self):
        """A signal ends the program even if the driver never returns."""
        hung = self.path("hung")
        env = self.environment(LD_PRELOAD=FAULTS, FAULT_HANG="SDL_GL_SwapWindow:0", FAULT_HUNG=hung)
        env["ASAN_OPTIONS"] += ":verify_asan_link_order=0"
        process = self.play(SMALL, env=env)
        self.assertTrue(wait_for(lambda: os.path.exists(hung)))
        process.send_signal(signal.SIGTERM)
        result = self.ends(process, INTERRUPTED)
        self.assertEqual(result.lines, ["lumeq: interrupted, and stuck for 5 s: ended at once"])

    def picture_is_seen(self):
        return self.share(self.grab(), WIDTH // 2 - 150, WIDTH // 2, lambda r, g, b: r > 30) > 0.2

    def test_fullscreen_without_a_window_manager(self):
        """With the option or the key, the window covers the screen. Then it returns to its size."""
        for options in ((), ("--fullscreen",)):
            with self.subTest(options):
                process = self.play(SMALL, "--loop", *options)
                window = self.window(process)
                covers = lambda: self.size(window) == [WIDTH, HEIGHT]
                if options:
                    self.assertTrue(wait_for(covers), self.size(window))
                    self.key("f")
                    self.assertTrue(wait_for(lambda: not covers()), "the window stays fullscreen")
                before = self.size(window)
                self.key("f")
                self.assertTrue(wait_for(covers), self.size(window))
                edge = lambda: self.share(self.grab(), WIDTH - 300, WIDTH, is_blue)
                self.assertTrue(wait_for(lambda: edge() < 0.002), "fullscreen begins with the panel")
                self.key("P")
                self.assertTrue(wait_for(lambda: edge() > 0.005), "the panel is not at the edge")
                self.key("Escape")
                self.assertTrue(wait_for(lambda: self.size(window) == before), self.size(window))
                self.quits(process)

    def start_window(self, process):
        look = lambda: self.xdotool("search", "--onlyvisible", "--name", "^lumeq$").split()
        wait_for(lambda: process.poll() is not None or look())
        self.assertIsNone(process.poll(), "lumeq has ended")
        return look()[0]

    def choosing(self, *files):
        """Returns an environment with a file dialog that chooses these files, one in each call."""
        script = "#!/bin/sh\ncd '%s'\nn=$(cat n 2>/dev/null || echo 0)\necho $((n + 1)) > n\nshift $#\nset -- %s\nshift $n\necho \"$1\"\n"
        dialog = self.write("zenity", (script % (self.folder, " ".join("'%s'" % f for f in files))).encode())
        os.chmod(dialog, 0o700)
        return self.environment(PATH=self.folder + ":" + os.environ["PATH"])

    def test_start_window(self):
        """Without INPUT the window waits for a file, and remains if the chosen file has no video."""
        text = self.write("text.txt", b"no video")
        process = self.play(env=self.choosing(text, SMALL))
        start = self.start_window(process)
        seen = lambda: self.share(self.grab(), 0, WIDTH, lambda r, g, b: min(r, g, b) > 200)
        self.assertTrue(wait_for(lambda: seen() > 0.0001), "no text is visible")
        prompt = self.grab()
        self.key("ctrl+o")
        self.assertTrue(wait_for(lambda: self.changed(prompt, 0, WIDTH) > 0), "no message is visible")
        self.key("ctrl+o")
        self.assertEqual(self.window(process), start, "another window has opened")
        self.assertTrue(wait_for(self.picture_is_seen), "no picture is visible")
        result = self.quits(process)
        self.assertEqual(len(result.lines), 2, str(result))
        self.assertIn("no INPUT", result.lines[0])
        self.assertIn(text, result.lines[1])

    def test_start_window_closed(self):
        process = self.play()
        self.start_window(process)
        self.key("Escape")
        self.ends(process, DONE)
        process = self.play()
        self.start_window(process)
        self.interrupt(process)

    def test_idle(self):
        """If INPUT cannot be played, lumeq ends, but with --idle the window opens."""
        missing, text = self.path("missing.mkv"), self.write("text.mkv", b"no video")
        for name in missing, text:
            alone = self.ends(self.play(name), INPUT)
            process = self.play("--idle", name)
            self.start_window(process)
            self.key("q")
            self.assertEqual(self.ends(process, INPUT).lines, alone.lines)
        process = self.play("--idle", missing, "--ss", 5, env=self.choosing(SMALL))
        self.start_window(process)
        self.key("ctrl+o")
        self.window(process)
        self.quits(process)
        self.ends(self.play("--idle", SMALL, "--to", 0.2), DONE)

    def test_stats_of_a_part(self):
        self.ends(self.play(SMALL, "--ss", "1", "--to", "2", "--stats", self.path("s.csv")))
        rows = read_rows(self.path("s.csv"))
        self.assertGreater(len(rows), 0)  # a slow machine drops nearly all frames
        self.assertLessEqual(len(rows), 25)
        times = [float(r["time"]) for r in rows]
        self.assertEqual(times, sorted(set(times)))
        self.assertTrue(all(1 <= t < 2 for t in times))

    def test_frames(self):
        result = self.ends(self.play(SMALL, "--frames", "5", "-v"))
        shown, dropped = re.search(r"(\d+) frames? shown, (\d+) dropped", result.err).groups()
        self.assertEqual(int(shown) + int(dropped), 5, str(result))

    def test_first_of_several_files(self):
        """If the first files can be opened but not decoded, the next one is played."""
        data = bytearray(read_bytes(make(self.path("a.mkv"), "-c:v", "ffv1", "-level", "3", seconds=0.2)))
        at = data.index(b"FFV1") + 24  # in the decoder's configuration
        data[at:at + 16] = bytes(b ^ 0x5a for b in data[at:at + 16])
        self.write("no-decoder.mkv", data)
        data = bytearray(read_bytes(make(self.path("b.mp4"), *X264, seconds=0.2)))
        at, end = data.index(b"mdat") + 4, data.index(b"moov") - 4
        data[at:end] = b"\xaa" * (end - at)
        self.write("no-picture.mp4", data)
        good = make(self.path("good.mkv"), *X264, seconds=0.4)
        result = self.ends(self.play(self.path("no-decoder.mkv"), self.path("no-picture.mp4"), good))
        self.assertIn("no-decoder.mkv': cannot open the decoder ffv1", result.lines[0])
        self.assertIn("no frame of ", result.lines[1])
        self.assertEqual(len(result.lines), 2, str(result))
        self.assertIn("no frame of ", self.ends(self.play(self.path("no-picture.mp4")), INPUT).err)

    def test_unplayable_files_are_named(self):
        """Files that cannot be opened are named. If no file can be opened, the run ends."""
        self.write("a.mkv", b"no film\n")
        self.assertIn("a.mkv", self.ends(self.play(self.path("a.mkv"), SAMPLE, "--to", "0.2")).err)
        result = self.ends(self.play(self.path("a.mkv"), self.path("a.mkv")), INPUT)
        self.assertIn("cannot play any of 2 files", result.lines[-1])

    def test_a_pipe(self):
        with open(SMALL, "rb") as f:
            process = self.play("-", "--to", "0.6", stdin=f)
        self.ends(process)

    def test_a_picture_stays(self):
        for name in ("photo.png", "photo.gif", "photo.mp4"):
            with self.subTest(name):
                picture = self.path(name)
                ffmpeg("-f", "lavfi", "-i", "testsrc2=size=320x240", "-frames:v", "1", picture)
                process = self.shown(picture)
                time.sleep(0.7)
                self.assertIsNone(process.poll(), "the window has closed")
                self.quits(process)

    def test_keep_open(self):
        """If lumeq was started from a terminal, the window stays open at the end; otherwise it closes."""
        part = (SMALL, "--to", "0.4", "--histogram", "off")
        terminal, slave = pty.openpty()
        self.addCleanup(os.close, terminal)
        by_hand = lambda *more: subprocess.Popen([LUMEQ, "--no-config", "--backend", "cpu", *part, *more],
                                                 stdin=slave, stdout=slave, stderr=slave, env=self.environment())
        process = by_hand()
        self.addCleanup(process.kill)
        self.window(process)
        self.assertTrue(wait_for(self.picture_is_seen), "no picture is visible")
        time.sleep(2)
        self.assertIsNone(process.poll(), "the window has closed")
        self.assertTrue(self.picture_is_seen(), "the last picture has disappeared")
        self.key("q")
        self.assertEqual(process.wait(LIVENESS), DONE)
        process = by_hand("--keep-open", "no")
        self.addCleanup(process.kill)
        self.assertEqual(process.wait(LIVENESS), DONE)
        os.close(slave)
        process = self.shown(*part, "--keep-open", "yes")
        time.sleep(2)
        self.assertIsNone(process.poll(), "the window has closed")
        self.quits(process)

    def test_screenshot_dir(self):
        folder = self.path("shots")
        args = ("--mode", "off", "--histogram", "off", "--screenshot-dir", folder)
        result = self.ends(self.play("/nonexistent.mkv", *args), OUTPUT)
        self.assertEqual(result.err, "lumeq: cannot write screenshots into the folder '%s': "
                                     "No such file or directory\n" % folder)
        self.write("shots", b"")
        self.assertIn("'%s': Not a directory" % folder, self.ends(self.play(SMALL, *args), OUTPUT).err)
        os.remove(folder)
        os.mkdir(folder, 0o500)
        if os.geteuid():
            self.assertIn("'%s': Permission denied" % folder, self.ends(self.play(SMALL, *args), OUTPUT).err)
        os.chmod(folder, 0o700)
        settings = self.write("settings", ("screenshot-dir = %s/" % folder).encode())
        process = self.shown(SMALL, "--loop", config=settings)
        self.assertTrue(wait_for(lambda: self.key("s") or os.listdir(folder)), "no screenshot")
        self.quits(process)
        for name in os.listdir(folder):
            self.assertRegex(name, r"^lumeq-sample-0\.00\.\d\d\.\d\d\d(-\d+)?\.png$")

    def test_signal(self):
        """The statistics so far are kept under another name, so the same command may run again."""
        for number, part in ((2, "s.partial.jsonl"), (15, "s.partial-2.jsonl")):
            process = self.shown(SMALL, "--loop", "--histogram", "off", "--stats", self.path("s.jsonl"))
            self.assertTrue(wait_for(lambda: any(os.path.getsize(self.path(f)) for f in self.files()
                                                 if f.endswith(".part"))), "no rows are written")
            process.send_signal(number)
            result = self.ends(process, INTERRUPTED)
            self.assertEqual(result.err, "lumeq: interrupted; the statistics are in '%s'\n" % self.path(part))
            self.assertTrue(self.read(self.path(part)).startswith(b'{"frame":'))
        self.assertFalse(os.path.exists(self.path("s.jsonl")))

    def test_stats_of_the_watched_frames(self):
        process = self.shown(SMALL, "--loop", "--stats", self.path("s.csv"))
        time.sleep(0.5)
        self.quits(process)
        self.assertTrue(self.read(self.path("s.csv")).startswith(b"frame,"))
        self.assertEqual(finish(self.play(SMALL, "--stats", self.path("s.csv"))).code, USAGE)

    def test_without_sound_device(self):
        process = self.play(SMALL, "--to", "0.5", "-v", env=self.environment(SDL_AUDIODRIVER="nonsense"))
        self.assertIn("No sound: ", self.ends(process).err)

    def test_libraries_are_silent(self):
        """Messages that ALSA and Wayland print are hidden."""
        sound = self.environment(SDL_AUDIODRIVER="alsa", ALSA_CONFIG_PATH="/nonexistent")
        display = self.environment(SDL_VIDEODRIVER="wayland")
        display.pop("XDG_RUNTIME_DIR", None)
        self.assertEqual(self.ends(self.play(SMALL, "--to", "0.2", env=sound)).err, "")
        result = self.ends(self.play(SMALL, env=display), USAGE)
        self.assertEqual(len(result.lines), 1, str(result))
        self.assertIn("no display", result.err)
        for env, code in ((sound, DONE), (display, USAGE)):  # with -v, lumeq prints the details
            result = self.ends(self.play(SMALL, "--to", "0.2", "-v", env=env), code)
            self.assertEqual([line for line in result.lines if not line.startswith("lumeq: ")], [])

    def test_without_display(self):
        result = self.ends(self.play(SMALL, env=self.environment(DISPLAY=":99999")), USAGE)
        self.assertEqual(len(result.lines), 1, str(result))
        self.assertIn("-o or --null works without a window", result.err)

    def test_display_goes(self):
        for keys in ((), ("space",), ("f",)):
            with self.subTest(keys), self.other_display() as server:
                process = self.shown(SMALL, "--loop", env=self.environment(TSAN_OPTIONS=THREADS_STAY))
                self.key(*keys)
                time.sleep(0.3)
                server.kill()
                self.assertEqual(self.ends(process, OUTPUT).err, "lumeq: the display was lost\n")

    def test_nothing_is_played_unseen(self):
        env = self.environment()
        del env["DISPLAY"], env["SDL_VIDEODRIVER"]
        self.assertIn("no display", self.ends(self.play(SMALL, env=env), USAGE).err)

    def test_damaged(self):
        self.write("cut.mkv", read_bytes(SAMPLE)[:200000])
        self.assertIn("s early", self.ends(self.play(self.path("cut.mkv"), "-q"), DAMAGED).err)
        process = self.play(self.path("cut.mkv"), "--loop")  # closed before the video ends
        self.window(process)
        self.quits(process)

    def test_an_empty_packet_of_sound_is_no_damage(self):
        """FFmpeg's FLAC encoder ends with an empty packet."""
        self.ends(self.play(clip("flac.nut", "-c:v", "ffv1", "-c:a", "flac", seconds=1, sound=1), "--speed", 4))

    def test_old_opengl(self):
        env = self.environment(MESA_GL_VERSION_OVERRIDE="2.1", LIBGL_ALWAYS_SOFTWARE="1")
        result = self.ends(self.play(SMALL, env=env), USAGE)
        self.assertEqual(len(result.lines), 1, str(result))
        self.assertIn("3.3", result.err)

    def test_bad_input(self):
        result = self.ends(self.play("/nonexistent.mkv"), INPUT)
        self.assertEqual(len(result.lines), 1, str(result))
        result = self.ends(self.play(SMALL, "--audio-track", "7"), USAGE)
        self.assertIn("audio track 7; the input has 1, counted from 0", result.err)

    def test_odd_and_small(self):
        for size in ("16x16", "641x361", "90x160"):
            clip = make(self.path("small.mkv"), "-c:v", "ffv1", size=size, seconds=0.4)
            with self.subTest(size):
                self.ends(self.play(clip))
