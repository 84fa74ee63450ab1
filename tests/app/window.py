"""What tests of a window share: an X server without a screen, and hands and eyes on it."""

import contextlib
import os
import shutil
import subprocess

from common import DONE, LUMEQ, Case, environment, finish, tool, wait_for

WIDTH, HEIGHT = 1600, 900
# Of a run that ends without waiting for its threads.
THREADS_STAY = environment()["TSAN_OPTIONS"] + ":report_thread_leaks=0"
MISSING = [t for t in ("Xvfb", "xdotool") if not shutil.which(t)]


def start_server():
    """An X server on a free display: (process, its name)."""
    read, write = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "%dx%dx24" % (WIDTH, HEIGHT),
                               "-nolisten", "tcp", "-noreset"], pass_fds=[write], stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as f:
        return server, ":" + f.readline().strip()


class WindowCase(Case):
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

    @contextlib.contextmanager
    def other_display(self):
        """A server that a test may end; what it starts meanwhile is shown there."""
        usual = self.display
        server, self.display = start_server()
        try:
            yield server
        finally:
            self.display = usual
            server.kill()
            server.wait()

    def play(self, *args, env=None, stdin=subprocess.DEVNULL, config=None):
        settings = ["--config", config] if config else ["--no-config"]
        process = subprocess.Popen([LUMEQ, *settings, "--backend", "cpu"] + [str(a) for a in args],
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
        data = tool("ffmpeg", "-v", "error", "-f", "x11grab", "-draw_mouse", "0", "-video_size",
                    "%dx%d" % (WIDTH, HEIGHT), "-i", self.display, "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "rgb24", "-")
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

    def changed(self, before, left, right):
        after = self.grab()
        return sum(a[left * 3:right * 3] != b[left * 3:right * 3] for a, b in zip(before, after)) / HEIGHT
