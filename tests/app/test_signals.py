"""SIGINT and SIGTERM end a run at once, and the finished part of the output is kept under another name."""

from common import *

FAULTS, FAKE_GPU = os.environ.get("FAULTS_LIBRARY"), os.environ.get("FAKE_GPU_PROGRAM")


class Signals(Case):
    def hidden(self):
        return [f for f in self.files() if f.endswith(".part")]

    def started(self, *args, name="out.mkv", **more):
        """Starts a run, and waits until its temporary file exists."""
        process = self.start(long_clip(), "-o", self.path(name), "--two-pass", "off", "--format", "matroska", "--vcodec", "ffv1",
                        *args, **more)
        self.assertTrue(wait_for(lambda: [f for f in self.hidden() if ".csv" not in f]), "the run does not begin to write")
        return process

    def test_interrupted(self):
        for number in (SIGINT, SIGTERM):
            with self.subTest(number.name):
                process = self.started()
                time.sleep(0.3)
                process.send_signal(number)
                begin = time.monotonic()
                result = finish(process)
                self.assertLess(time.monotonic() - begin, SOON)
                self.assertEqual(result.code, INTERRUPTED, str(result))
                self.assertEqual(len(result.lines), 1, str(result))
                self.assertEqual(self.files(), ["out.partial.mkv"])
                frames = len(packets(self.path("out.partial.mkv"), "v:0"))
                self.assertGreater(frames, 0)
                self.assertLess(frames, 3600)
                self.assertIn("%d frame" % frames, result.err)
                tool("ffmpeg", "-v", "error", "-xerror", "-i", self.path("out.partial.mkv"), "-f", "null", "-")
                os.unlink(self.path("out.partial.mkv"))

    def test_partial_mp4_is_playable(self):
        process = self.start(long_clip(), "-o", self.path("out.mp4"), "--two-pass", "off", "--preset", "ultrafast")
        self.assertTrue(wait_for(lambda: self.hidden()))
        time.sleep(0.3)
        self.interrupt(process)
        self.assertEqual(self.files(), ["out.partial.mp4"])
        self.assertGreater(len(frame_times(self.path("out.partial.mp4"))), 0)

    def test_existing_files_are_left_alone(self):
        """An interrupted run keeps the old output and, even with -y, the finished parts of other runs."""
        self.write("out.mkv", b"precious")
        self.write("out.partial.mkv", b"precious")
        os.symlink("nothing", self.path("out.partial-2.mkv"))
        self.assertIn("'%s'" % self.path("out.partial-3.mkv"), self.interrupt(self.started("-y")).err)
        self.assertEqual((self.read("out.mkv"), self.read("out.partial.mkv")), (b"precious",) * 2)
        self.assertGreater(len(packets(self.path("out.partial-3.mkv"), "v:0")), 0)
        self.assertEqual(self.files(), ["out.mkv", "out.partial-2.mkv", "out.partial-3.mkv", "out.partial.mkv"])

    def test_long_name(self):
        """The part's name is cut between two characters to fit the file system."""
        for name, partial in (("x" * 251 + ".mkv", "x" * 243 + ".partial.mkv"),
                              ("\u00e4" * 125 + "x.mkv", "\u00e4" * 121 + ".partial.mkv"),
                              (b"\xa4" * 251 + b".mkv", b"\xa4" * 240 + b".partial.mkv"),
                              ("x" * 250, "x" * 247 + ".partial"),
                              ("x" * 10 + "." + "y" * 244, "x" * 10 + "." + "y" * 236 + ".partial")):
            with self.subTest(name):
                name, partial = os.fsdecode(name), os.fsdecode(partial)
                process = self.started(name=name)
                result = self.interrupt(process)
                self.assertEqual(self.files(), [partial])
                if partial.isprintable():
                    self.assertIn("'%s'" % self.path(partial), result.err)
                os.unlink(self.path(partial))

    def test_leftover_of_a_killed_run(self):
        """The next run with the same OUTPUT removes the leftover, and no other file."""
        for name in ("out.mkv", "x" * 250 + ".mkv"):
            with self.subTest(name):
                process = self.started(name=name)
                process.kill()
                finish(process)
                left, = self.files()
                stem = left[:-len("01234567.part")]
                others = [stem + "0123456.part", stem + "0123456g.part", left[1:],
                          left.replace("out", "ou").replace("x~", "y~")]
                for other in others:
                    self.write(other, b"x")
                os.symlink(others[0], self.path(stem + "00000000.part"))
                os.mkfifo(self.path(stem + "00000001.part"))
                others += [stem + "00000000.part", stem + "00000001.part"]
                self.ok(simple(), "-o", self.path(name), "--preset", "ultrafast", limit=SOON)
                self.assertEqual(self.files(), sorted(others + [name]))
                for other in self.files():
                    os.unlink(self.path(other))

    def test_two_runs_with_one_output(self):
        """Neither run removes the other's temporary file."""
        first = self.started()
        self.ok(simple(), "-o", self.path("out.mkv"), "--preset", "ultrafast")
        self.assertEqual(len(self.hidden()), 1)
        first.send_signal(SIGINT)
        self.assertEqual(finish(first).code, INTERRUPTED)
        self.assertEqual(self.files(), ["out.mkv", "out.partial.mkv"])

    def family(self, process):
        """The states of a run and its children, without ended processes; "T" means stopped."""
        states = {}
        for pid in [process.pid] + [int(p) for p in subprocess.run(
                ["ps", "--ppid", str(process.pid), "-o", "pid="], stdout=subprocess.PIPE).stdout.split()]:
            try:
                with open("/proc/%d/stat" % pid) as f:
                    states[pid] = f.read().rpartition(")")[2].split()[0]
            except OSError:
                pass
        return {pid: state for pid, state in states.items() if state != "Z"}

    def test_a_terminal_and_children(self):
        """Children have their own process groups, so Ctrl-Z and Ctrl-C reach them through their parent."""
        for args in (("-o", self.path("out.mkv"), "--jobs", 2), ("-o", self.path("many/"))):
            with self.subTest(args):
                process = start(long_clip(), *args, "--vcodec", "ffv1", preexec_fn=os.setpgrp)
                self.addCleanup(process.kill)
                self.assertTrue(wait_for(lambda: len(self.family(process)) > 1), "there are no children")
                for pid in self.family(process):
                    if pid != process.pid:
                        self.assertTrue(wait_for(lambda: not os.path.exists("/proc/%d" % pid) or os.getpgid(pid) == pid))
                time.sleep(0.3)
                for _ in range(2):
                    self.assertTrue(wait_for(lambda: len(self.family(process)) > 1), "there are no children")
                    os.killpg(process.pid, signal.SIGTSTP)
                    self.assertTrue(wait_for(lambda: set(self.family(process).values()) == {"T"}), self.family(process))
                    os.killpg(process.pid, signal.SIGCONT)
                    self.assertTrue(wait_for(lambda: "T" not in self.family(process).values()), self.family(process))
                os.killpg(process.pid, SIGINT)
                self.ends(process, INTERRUPTED)

    def test_two_at_the_same_time(self):
        """Two signals at once count as one, so the part is kept."""
        process = self.started()
        process.send_signal(signal.SIGSTOP)
        process.send_signal(SIGINT)
        process.send_signal(SIGTERM)
        process.send_signal(signal.SIGCONT)
        result = self.ends(process, INTERRUPTED)
        self.assertEqual(len(result.lines), 1, str(result))
        self.assertIn("the finished part is in '%s'" % self.path("out.partial.mkv"), result.err)
        self.assertEqual(self.files(), ["out.partial.mkv"])
        self.assertGreater(len(packets(self.path("out.partial.mkv"), "v:0")), 0)

    def test_silent_standard_input(self):
        for sent in (b"", b"\x1aE", None):
            with self.subTest(sent):
                if sent is None:
                    sent = read_bytes(clip("front.mkv", *X264))[:20000]
                process = self.start("-", "-o", self.path("out.mkv"), stdin=subprocess.PIPE)
                process.stdin.write(sent)
                process.stdin.flush()
                self.catches(process, SIGINT)
                time.sleep(0.6)
                process.send_signal(SIGINT)
                self.assertEqual(process.wait(SOON), INTERRUPTED)
                result = finish(process)
                self.assertEqual(len(result.lines), 1, str(result))
                self.assertIn(self.files(), ([], ["out.partial.mkv"]))

    def test_fifos_without_another_end(self):
        """The signal arrives before the FIFO is opened, or while the run waits for a writer or reader."""
        os.mkfifo(self.path("a.mkv"))
        reads, writes = (self.path("a.mkv"), "--null"), (simple(), "-o", self.path("a.mkv"))
        for args, after in ((reads, 0.4), *((writes, after) for after in (0, 0.05, 0.1, 0.2, 0.6))):
            process = self.start(*args)
            self.catches(process, SIGTERM)
            time.sleep(after)
            process.send_signal(SIGTERM)
            self.assertEqual(finish(process, SOON).code, INTERRUPTED)

    def test_unread_standard_output(self):
        read, write = os.pipe()
        process = self.start(long_clip(), "-o", "-", stdout=write)
        os.close(write)
        self.catches(process, SIGINT)
        time.sleep(0.8)
        process.send_signal(SIGINT)
        result = finish(process, SOON)
        os.close(read)
        self.assertEqual(result.code, INTERRUPTED, str(result))

    def test_null(self):
        process = self.start(long_clip(), "--null", "--threads", 1)
        self.catches(process, SIGINT)
        time.sleep(0.15)
        process.send_signal(SIGINT)
        result = finish(process)
        if result.code == DONE:
            self.skipTest("the run ended before the signal")
        self.assertEqual(result.code, INTERRUPTED, str(result))
        self.assertEqual(len(result.lines), 1)
        self.assertNotIn("partial", result.err)

    def test_while_seeking(self):
        """A signal ends the run at once while it decodes up to --ss, far from the last key frame."""
        source = clip("far.mkv", "-c:v", "libx264", "-preset", "ultrafast", "-g", "100000",
                      seconds=18, source="color=gray:size=1280x720:rate=60")
        def took():
            process = self.start(source, "-o", self.path("out.mkv"), "--ss", "17.9", "--threads", 1, "--stats",
                                 self.path("s.csv"))
            self.catches(process, SIGINT)
            time.sleep(0.15)
            process.send_signal(SIGINT)
            begin = time.monotonic()
            result = finish(process)
            if result.code == DONE:
                self.skipTest("the run ended before the signal")
            self.assertEqual(result.code, INTERRUPTED, str(result))
            self.assertEqual(self.files(), [])
            return time.monotonic() - begin
        self.soon(took, 0.5)

    def test_stats_are_kept(self):
        """The message names the part's statistics. Existing statistics are kept."""
        for old in (None, b"precious"):
            with self.subTest(old):
                if old:
                    self.write("s.csv", old)
                process = self.started("--stats", self.path("s.csv"), *(("-y",) if old else ()))
                result = self.interrupt(process)
                self.assertRegex(result.err, r"\Alumeq: interrupted after \d+ frames?; the finished part is in '%s'; "
                                 "the statistics are in '%s'\n\\Z" % tuple(
                                     re.escape(self.path(f)) for f in ("out.partial.mkv", "s.partial.csv")))
                rows = self.read("s.partial.csv").splitlines()
                self.assertEqual(len(rows) - 1, len(packets(self.path("out.partial.mkv"), "v:0")))
                self.assertEqual(self.files(), ["out.partial.mkv"] + ["s.csv"] * bool(old) + ["s.partial.csv"])
                for name in self.files():
                    self.assertTrue(name != "s.csv" or self.read(name) == old)
                    os.unlink(self.path(name))

    def test_stats_alone_are_kept(self):
        process = self.start(long_clip(), "--null", "--stats", self.path("s.jsonl"), "--threads", 1)
        self.assertTrue(wait_for(lambda: any(os.path.getsize(self.path(f)) for f in self.hidden())))
        process.send_signal(SIGINT)
        result = finish(process)
        self.assertRegex(result.err, "frames?; the statistics are in '%s'" % re.escape(self.path("s.partial.jsonl")))
        self.assertEqual(self.files(), ["s.partial.jsonl"])

    def hung(self, number, *args, program=LUMEQ, **faults):
        """Starts a run in its own folder. Returns the run, the folder, and the file that is created when the run hangs."""
        folder, hung = self.path("w%d" % number), self.path("w%d/hung" % number)
        os.mkdir(folder)
        env = dict(environment(), LD_PRELOAD=FAULTS, FAULT_HUNG=hung, **faults)
        env["ASAN_OPTIONS"] += ":verify_asan_link_order=0:detect_leaks=0"
        env["TSAN_OPTIONS"] += ":report_thread_leaks=0"  # hung threads stay
        process = subprocess.Popen([program, *args], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        return process, folder, hung

    @unittest.skipIf(not FAULTS or not FAKE_GPU, "FAULTS_LIBRARY or FAKE_GPU_PROGRAM is not set")
    def test_hung_runs_end(self):
        """If an encoder, a decoder or the GPU hangs, the run and its child processes end five seconds after a signal.
        Unfinished files are removed, and existing files stay."""
        packet, frame = "avcodec_receive_packet:%d", "avcodec_receive_frame:%d"
        film, one = repeated("film.mkv", 10, *X264, size="64x48", rate=60), ("--two-pass", "off")
        runs = [self.hung(0, film, "-o", "out.mkv", *one, FAULT_HANG=packet % 20),
                self.hung(1, film, "-o", "out.mkv", *one, FAULT_HANG=frame % 20),
                self.hung(2, film, simple(), "-o", "./", "--jobs", "2", *one, FAULT_HANG=packet % 0),
                self.hung(3, film, "-o", "out.mkv", "--jobs", "2", FAULT_HANG=packet % 100),
                self.hung(4, film, "-o", "out.mkv", *one, program=FAKE_GPU, FAKE_GPU_HANGS=self.path("w4/hung"))]
        for process, folder, hung in runs:
            self.assertTrue(wait_for(lambda: os.path.exists(hung)))
            self.write(os.path.join(folder, "other.mkv"), b"precious")
        time.sleep(1)  # until both processes of --jobs 2 hang
        for process, folder, _ in runs:
            process.send_signal(SIGTERM)
        for process, folder, _ in runs:
            with self.subTest(os.path.basename(folder)):
                result = self.ends(process, INTERRUPTED)
                self.assertIn("interrupted", result.err)
                if not folder.endswith("3"):  # in w3 the parts' processes hang, not the one that prints messages
                    self.assertIn("stuck for 5 s", result.err)
                self.assertFalse([f for f in self.files(folder) if f.endswith(".part")], str(result))
                self.assertFalse(os.path.exists(os.path.join(folder, "out.mkv")))
                self.assertEqual(self.read(os.path.join(folder, "other.mkv")), b"precious")

    @unittest.skipIf(not FAULTS, "FAULTS_LIBRARY is not set")
    def test_slow_end_is_left_alone(self):
        """A run that is ending is not aborted, even if its encoder needs seconds for the last packets."""
        env = dict(environment(), LD_PRELOAD=FAULTS, FAULT_SLOW="200")
        env["ASAN_OPTIONS"] += ":verify_asan_link_order=0:detect_leaks=0"
        process = self.start(long_clip(), "-o", self.path("out.mkv"), "--two-pass", "off", "--vcodec", "libx264", env=env)
        self.assertTrue(wait_for(self.hidden))
        time.sleep(1)
        process.send_signal(SIGTERM)
        result = self.ends(process, INTERRUPTED)
        self.assertEqual(self.files(), ["out.partial.mkv"], str(result))
        self.assertIn("the finished part is in", result.err)

    def test_ignored_signals_stay_ignored(self):
        """If SIGINT is ignored at the start, as in the background of a shell script, it stays ignored."""
        process = self.start("-", "--null", "--frames", BAR_FRAMES, stdin=trickle(self),
                        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        time.sleep(0.3)
        process.send_signal(SIGINT)
        self.ends(process)
