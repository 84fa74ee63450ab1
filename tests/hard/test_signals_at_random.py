"""Sends a signal at a random moment of every mode, checks the files that are left, and runs the mode again."""

from trial import *
import modes
import seeds

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL]
MOMENTS = 16  # per mode and signal
# Files that an interrupted or killed run may leave (src/media/output/README.md).
LEFT = re.compile(r"(.*/)?(.+\.partial(-\d+)?\.\w+|\..+\.lumeq-[0-9a-f]{8}\.part|out\.mkv\.lumeq/.*)")


def film():
    """A film that takes most modes half a second."""
    return repeated("film.mkv", 3, *X264, "-g", "12", "-c:a", "aac", seconds=1.5, sound=1.5, size="320x180")


class SignalsAtRandom(Trial):
    durations = {}

    def duration(self, mode):
        """Duration of a complete run, in seconds."""
        if mode not in self.durations:
            begin = time.monotonic()
            self.judge(self.started(mode, self.words(mode), self.work(), film()), (DONE,))
            self.durations[mode] = time.monotonic() - begin
        return self.durations[mode]

    def words(self, mode):
        return self.command(mode, film(), seeds.good()) + (["--speed=4"] if mode == "window" else [])

    def left(self, mode, folder, number):
        """Checks the files that a run has left."""
        for at, _, names in os.walk(folder):
            for name in names:
                path, short = os.path.join(at, name), os.path.relpath(os.path.join(at, name), folder)
                if re.fullmatch(modes.MODES[mode].files, short):
                    self.assertTrue(read_bytes(path) == b"precious" or self.is_whole(path), short)
                elif short != "out.mkv" or mode != "sample":
                    self.assertRegex(short, LEFT)
                    if ".partial" in short:
                        self.assertTrue(self.is_whole(path), short)
                    elif number != signal.SIGKILL:
                        self.assertRegex(short, r"out\.mkv\.lumeq/", "only SIGKILL leaves temporary files")

    def interrupts(self, mode, number, random):
        moment, words = random.random() * self.duration(mode), self.words(mode)
        precious, folder = [w for w in words if w.startswith(("out.", "s.csv", "r.html"))], self.work()
        for name in precious:
            write_bytes(os.path.join(folder, name), b"precious")
        words += ["-y"] if precious else []
        process = self.started(mode, words, folder, film())
        if number != signal.SIGKILL:
            self.catches(process, number)
        time.sleep(moment)
        process.send_signal(number)
        killed = number == signal.SIGKILL
        self.judge(process, (DONE, -number if killed else INTERRUPTED), least=not killed and mode != "window",
                   most=2 if mode == "many" else 1)
        self.left(mode, folder, number)
        if mode == "segments":  # the next run may start in the same second and need the same names
            shutil.rmtree(folder)
            os.mkdir(folder)
        more = ["--resume"] if mode == "jobs" else ["-y"] * (not precious)
        self.judge(self.started(mode, words + more, folder, film()), (DONE,))
        for at, _, names in os.walk(folder):
            for name in names:
                short = os.path.relpath(os.path.join(at, name), folder)
                if re.fullmatch(modes.MODES[mode].files, short):
                    self.assertTrue(self.is_whole(os.path.join(at, name)), short)
                elif short != "out.mkv":
                    self.assertIn(".partial", short, "the next run removes temporary files")

    def test_every_mode(self):
        cases = [(mode, number.name, i) for mode in modes.MODES for number in SIGNALS for i in range(MOMENTS)]
        for (mode, name, i), random in drawn(cases, 40):
            with self.subTest("%s %s %d" % (mode, name, i)):
                self.interrupts(mode, signal.Signals[name], random)


if __name__ == "__main__":
    unittest.main()
