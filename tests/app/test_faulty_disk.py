"""A disk that fails (faulty_disk.c): written data is kept, and a message names its file."""

from common import *

LIBRARY = os.environ.get("FAULTY_DISK_LIBRARY", "")
ONE_PASS = ("--lookahead", "off")  # writing begins at once


def noise():
    """A clip of large frames, which soon reach the disk."""
    return clip("noise.mkv", "-c:v", "mpeg4", "-q:v", 20, seconds=8,
                source="color=gray:size=320x180:rate=60,noise=alls=100:allf=t")


class FaultyDisk(Case):
    def environment(self, faults, **more):
        env = environment()
        env.update(LD_PRELOAD=LIBRARY, FAULTY_DISK=faults, FAULTY_DISK_IN=self.folder, **more)
        env["ASAN_OPTIONS"] += ":verify_asan_link_order=0"
        return env

    def run_with(self, faults, *args, **more):
        return finish(start(simple(), *args, "--vcodec", "ffv1", "-q", env=self.environment(faults, **more)))

    def interrupted(self, faults, name="out.mkv", *args, begun=False):
        """Interrupts a run while it writes. The faults begin at that moment. `begun`: wait until data is on the disk."""
        when = self.path("now")
        out = self.path(name)
        codec = "mpeg4" if name.endswith("mp4") else "ffv1"
        process = self.start(noise() if begun else long_clip(), "-o", out, *ONE_PASS, "--vcodec", codec, *args,
                        env=self.environment(faults, FAULTY_DISK_WHEN=when))
        folder = os.path.dirname(out)
        self.assertTrue(wait_for(lambda: any(os.path.getsize(os.path.join(folder, f)) >= begun
                                             for f in self.files(folder) if f.endswith(".part"))))
        process.send_signal(signal.SIGSTOP)  # so that faults and signal come at the same time
        self.write("now", b"")
        process.send_signal(SIGINT)
        process.send_signal(signal.SIGCONT)
        result = finish(process)
        os.unlink(when)
        self.assertEqual(result.code, INTERRUPTED, str(result))
        self.assertEqual(len(result.lines), 1, str(result))
        return result

    def named(self, result):
        """Checks that only one file is left, and that it is the last file in the message. Returns its name."""
        left = [f for f in self.files() if not f.endswith(".csv")]
        self.assertEqual(len(left), 1, str(result))
        self.assertEqual(re.findall(r"'([^']*)'", result.err)[-1], self.path(left[0]), str(result))
        return left[0]

    # ---- the end of a run that was not interrupted ----

    def test_finished_but_not_renamed(self):
        """The file keeps its temporary name, and the next run does not remove it."""
        result = self.run_with("rename", "-o", self.path("out.mkv"))
        self.refused(result, OUTPUT, "Input/output error")
        left = self.named(result)
        self.assertEqual(len(frame_times(self.path(left))), 25)
        self.ok(simple(), "-o", self.path("out.mkv"))
        self.assertEqual(self.files(), [left, "out.mkv"])

    def test_finished_but_not_synced(self):
        for fault in some(("fsync", "close")):
            with self.subTest(fault):
                self.write("out.mkv", b"precious")
                result = self.run_with(fault, "-o", self.path("out.mkv"), "-y")
                self.refused(result, OUTPUT, "Input/output error")
                self.assertEqual(self.read("out.mkv"), b"precious")
                os.unlink(self.path("out.mkv"))
                self.assertEqual(self.named(result), "out.partial.mkv")
                self.assertEqual(len(frame_times(self.path("out.partial.mkv"))), 25)
                os.unlink(self.path("out.partial.mkv"))

    def test_synced_before_and_after_it_is_renamed(self):
        """The data is synced before the rename, the folder after it."""
        os.mkdir(self.path("videos"))
        for old in (False, True):
            with self.subTest(old=old):
                log = self.path("videos/log-%s" % old)
                self.assertEqual(self.run_with("", "-o", self.path("videos/out.mkv"), "-y", FAULTY_DISK_LOG=log).code,
                                 DONE)
                with open(log, encoding="utf-8") as f:
                    calls = [line.split() for line in f]
                part = calls[0][1]
                self.assertRegex(part, r"/videos/\.out\.mkv\.lumeq-[0-9a-f]{8}\.part$")
                self.assertEqual(calls, [["fsync", part], ["rename", part], ["fsync", self.path("videos")]])

    def test_disk_full(self):
        for lookahead in some(("off", "auto")):
            result = self.run_with("write", "-o", self.path("out.mkv"), "--lookahead", lookahead)
            self.refused(result, OUTPUT, "out.mkv", "No space left")
            self.assertEqual(self.files(), [])

    # ---- file systems that lack functions ----

    def test_nothing_is_replaced(self):
        """An OUTPUT that appears during the run is kept, and so is the new file."""
        for faults in some(("", "renameat2", "renameat2 link")):
            with self.subTest(faults):
                out = self.path("out.mkv")
                self.assertEqual(self.run_with(faults, "-o", out).code, DONE)
                self.assertEqual(self.files(), ["out.mkv"])
                os.unlink(out)

                process = self.start("-", "-o", out, "-q", *ONE_PASS, stdin=subprocess.PIPE,
                                     env=self.environment(faults))
                with open(clip("piped.mkv", *X264), "rb") as f:
                    process.stdin.write(f.read())
                process.stdin.flush()
                self.assertTrue(wait_for(self.files), "the run does not begin to write")
                self.write("out.mkv", b"precious")
                self.refused(finish(process), OUTPUT, "was created in the meantime", self.path("out-2.mkv"))
                self.assertEqual(self.read("out.mkv"), b"precious")
                self.assertEqual(len(frame_times(self.path("out-2.mkv"))), 25)
                self.assertEqual(self.files(), ["out-2.mkv", "out.mkv"])
                os.unlink(out)
                os.unlink(self.path("out-2.mkv"))

    # ---- interrupted ----

    def test_interrupted(self):
        for faults, name in some((("rename", r"\.out\.mkv\.lumeq-[0-9a-f]{8}\.part"),
                                  ("fsync", r"out\.partial\.mkv"), ("close", r"out\.partial\.mkv"),
                                  ("write", r"out\.partial\.mkv"))):
            with self.subTest(faults):
                result = self.interrupted(faults, begun=faults == "write")
                left = self.named(result)
                self.assertRegex(left, "^%s$" % name)
                self.assertIn("No space left" if faults == "write" else "Input/output error", result.err)
                self.assertGreater(len(packets(self.path(left), "v:0")), 0)
                os.unlink(self.path(left))

    def test_interrupted_and_nothing_can_be_played(self):
        """If the part written before the disk was full cannot be played, it is deleted."""
        for name, begun, text in some((("out.mkv", False, "nothing of it could be written"),
                                       ("out.avi", False, "nothing of it could be written"),
                                       ("out.mp4", True, "the part written so far cannot be played and is deleted"))):
            with self.subTest(name):
                result = self.interrupted("write", name, begun=begun)
                self.assertIn("No space left on device; " + text, result.err)
                self.assertEqual(self.files(), [])

    # ---- interrupted twice ----

    def ending(self, *args, **more):
        """Starts a run that cannot end before release(), because syncing its file blocks."""
        env = self.environment("sleep", FAULTY_DISK_WHEN=self.write("now", b""))
        env["TSAN_OPTIONS"] += ":report_thread_leaks=0"  # a second signal ends the run before its threads have ended
        process = self.start(long_clip(), "-o", self.path("out.mkv"), *ONE_PASS, "--vcodec", "ffv1", *args, env=env,
                        **more)
        self.assertTrue(wait_for(lambda: [f for f in self.files() if f.startswith(".out.mkv")]))
        return process

    def release(self, process):
        os.unlink(self.path("now"))
        return finish(process)

    def test_quick_signals_count_as_one(self):
        """A closing terminal sends SIGHUP twice, and an ending session SIGTERM and SIGHUP."""
        for numbers in some(((signal.SIGHUP, signal.SIGHUP), (SIGTERM, signal.SIGHUP), (SIGINT, SIGINT))):
            with self.subTest([n.name for n in numbers]):
                process = self.ending()
                for number in numbers:
                    process.send_signal(number)
                    time.sleep(0.02)
                result = self.release(process)
                self.assertEqual(result.code, INTERRUPTED, str(result))
                self.assertEqual(self.named(result), "out.partial.mkv")
                self.assertGreater(len(packets(self.path("out.partial.mkv"), "v:0")), 0)
                os.unlink(self.path("out.partial.mkv"))

    def pressed(self, process):
        """Presses Ctrl-C repeatedly, and returns the seconds until the run ended."""
        begin = time.monotonic()
        while process.poll() is None and time.monotonic() < begin + LIVENESS:
            process.send_signal(SIGINT)
            time.sleep(0.05)
        return time.monotonic() - begin

    def test_a_later_signal_ends_the_run_at_once(self):
        for more in some(((), ("--stats", self.path("s.csv")))):
            with self.subTest(more):
                process = self.ending(*more)
                self.assertGreater(self.pressed(process), 1)
                result = self.ends(process, INTERRUPTED)
                self.assertEqual(sorted(result.lines), [
                    "lumeq: interrupted again: the unfinished '%s' is deleted" % self.path(name)
                    for name in ("out.mkv", "s.csv")[:1 + len(more) // 2]])
                self.assertEqual(self.files(), ["now"])

    # ---- statistics ----

    def test_stats_on_a_full_disk(self):
        """Statistics stop with a message, and the video is complete."""
        for row in some(("s.csv", "s.jsonl")):
            with self.subTest(row):
                result = self.run_with("write", "-o", self.path("out.mkv"), "--stats",
                                       self.path(row), FAULTY_DISK_NAME="s.")
                self.refused(result, OUTPUT, "--stats", row, "No space left")
                self.assertEqual(len(frame_times(self.path("out.mkv"))), 25)
                self.assertEqual(self.files(), ["out.mkv"])
                os.unlink(self.path("out.mkv"))

    def test_stats_beside_a_failed_rename_of_the_video(self):
        """Statistics and video are finished and kept."""
        result = self.run_with("rename", "-o", self.path("out.mkv"), "--stats", self.path("s.csv"),
                               FAULTY_DISK_NAME="out.mkv")
        self.refused(result, OUTPUT, "Input/output error")
        self.assertEqual(len(frame_times(self.path(self.named(result)))), 25)
        self.assertEqual(self.read("s.csv").count(b"\n"), 26)

    def test_failed_rename_of_the_stats(self):
        result = self.run_with("rename", "-o", self.path("out.mkv"), "--stats", self.path("s.csv"),
                               FAULTY_DISK_NAME="s.csv")
        self.refused(result, OUTPUT, "--stats", "Input/output error")
        left, out = self.files()
        self.assertEqual(out, "out.mkv")
        self.assertIn("'%s'" % self.path(left), result.err)
        self.assertEqual(len(self.read(left).splitlines()), 26)


if not LIBRARY:
    raise unittest.SkipTest("FAULTY_DISK_LIBRARY names no library")
