"""One of a run's calls fails: an allocation, the start of a thread, or a call of the file system."""

from trial import *
import modes
import seeds

LIBRARY = os.environ.get("FAILING_CALL_LIBRARY")
CALLS = {"malloc": 24, "pthread_create": 8, "open": 6, "write": 6, "fsync": 4, "rename": 4, "close": 6, "unlink": 4,
         "mkdir": 2}  # tries per mode; in the last try, all later calls fail, too
FRAMES = 36


class FailingCalls(Trial):
    def environment_of(self, mode, **more):
        env = self.environment(mode)
        env.update(LD_PRELOAD=LIBRARY, FAULT_IN=self.folder, **more)
        env["ASAN_OPTIONS"] += ":verify_asan_link_order=0:detect_leaks=0"
        return env

    def words(self, mode, *more):
        """The command of a run whose input is in self.folder, where calls for files fail."""
        source = self.path("in.mkv")
        shutil.copy(seeds.good(), source)
        return self.command(mode, source, seeds.good()) + list(more)

    @functools.lru_cache(None)
    def calls(self, mode):
        """Counts each function's calls in a run without failures. For several processes, returns the maximum."""
        env = self.environment_of(mode, FAULT_CALL="none", FAULT_COUNTS="1")
        told = self.judge(self.started(mode, self.words(mode), self.work(), seeds.good(), env), (DONE,)).err
        found = collections.Counter()
        for name, number in re.findall(r"^fault: (\w+) (\d+)$", told, re.M):
            found[name] = max(found[name], int(number))
        self.assertGreater(found["malloc"], 1000)
        return found

    def is_precious(self, path):
        """True if the file from before the run is unchanged."""
        return os.path.isfile(path) and read_bytes(path) == b"precious"

    def check_outputs(self, mode, folder, result, call):
        """Checks that each file is complete, unchanged, or named in a message, unless the run could not delete it."""
        for at, _, names in os.walk(folder):
            for name in names:
                path = os.path.join(at, name)
                finished = re.fullmatch(modes.MODES[mode].files, os.path.relpath(path, folder))
                removable = call != "unlink" and result.code >= 0
                if self.is_precious(path) or ".lumeq/" in path or not removable and not finished:
                    continue
                if finished and result.code in (DONE, DAMAGED) or name in result.err:
                    self.assertTrue(call == "write" or self.is_whole(path), "%s: %s" % (name, result))
                else:
                    self.assertTrue(finished and self.is_whole(path), "%s is left over: %s" % (name, result))

    def fails(self, mode, call, which, replaces):
        """Lets a call fail, and then runs the same command without failures."""
        folder = self.work()
        words = self.words(mode, *(["-y"] if replaces else []))
        precious = [w for w in words if w.startswith(("out.", "s.csv", "r.html"))] if replaces else []
        for name in precious:
            write_bytes(os.path.join(folder, name), b"precious")
        source = self.path("in.mkv")
        env = self.environment_of(mode, FAULT_CALL="%s:%s" % (call, which))
        allowed = (DONE, INPUT, OUTPUT, DAMAGED) + ((-signal.SIGABRT,) if call == "malloc" else ())
        result = self.judge(self.started(mode, words, folder, source, env), allowed, most=4)
        if result.code < 0:
            self.assertRegex(result.err, " failed at src/libav|out of memory", "lumeq aborted for another reason")
        if result.code == DONE and "fault: " not in result.err:
            return  # threads ran in another order, and made fewer calls
        self.check_outputs(mode, folder, result, call)
        if result.code == DONE and mode in ("file", "jobs", "two-pass"):
            path = os.path.join(folder, "out.mp4" if mode == "two-pass" else "out.mkv")
            self.assertEqual(len(packets(path, "v:0")), FRAMES, "frames are lost silently")
        more = [] if replaces else ["-y"]
        self.judge(self.started(mode, words + more, folder, source), (DONE,))
        for name in precious:
            path = os.path.join(folder, name)
            written = re.fullmatch(modes.MODES[mode].files, name)
            self.assertTrue(self.is_whole(path) if written else self.is_precious(path), name)

    def test_one_call(self):
        cases = [(mode, call, i) for mode in modes.MODES for call, n in CALLS.items() for i in range(n)]
        for (mode, call, i), random in drawn(cases, 8):
            total = self.calls(mode)[call]
            if not total:
                continue
            which = random.randrange(1, total + 1)
            which = "%d%s" % (which, "+" if i == CALLS[call] - 1 else "")
            with self.subTest("%s %s %d" % (mode, call, i), which=which):
                self.fails(mode, call, which, random.random() < 0.5)


if not LIBRARY:
    raise unittest.SkipTest("FAILING_CALL_LIBRARY names no library")

if __name__ == "__main__":
    unittest.main()
