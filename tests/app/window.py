"""Helpers for tests of windows: a headless X server, keys, mouse, and pictures of the screen."""

import contextlib
import glob
import os
import re
import shutil
import struct
import subprocess
import tempfile

from common import LUMEQ, Case, environment, finish, wait_for, warm

WIDTH, HEIGHT = 1600, 900
# For runs that end without waiting for their threads.
THREADS_STAY = environment()["TSAN_OPTIONS"] + ":report_thread_leaks=0"
# Libraries that SDL and Mesa load for each window. Loading takes most of a short run.
DRIVER = ":".join(["libGL.so.1", "libGLX_mesa.so.0", *glob.glob("/usr/lib*/dri/swrast_dri.so"),
                   *glob.glob("/usr/lib/*/dri/swrast_dri.so")])
MISSING = [t for t in ("Xvfb", "xdotool") if not shutil.which(t)]


class Server:
    """An X server on a free display, whose screen is a file."""

    def __init__(self):
        read, write = os.pipe()
        self.folder = tempfile.mkdtemp(prefix="lumeq-screen-")
        self.process = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "%dx%dx24" % (WIDTH, HEIGHT),
                                         "-nolisten", "tcp", "-noreset", "-fbdir", self.folder], pass_fds=[write],
                                        stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as f:
            self.display = ":" + f.readline().strip()

    def kill(self):
        self.process.kill()

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def grab(self, rows):
        """Rows of the screen as RGB bytes. The screen's file is an XWD of 32-bit pixels, blue first."""
        with open(os.path.join(self.folder, "Xvfb_screen0"), "rb") as f:
            header = struct.unpack(">25I", f.read(100))
            if header[4:6] != (WIDTH, HEIGHT) or header[7] or header[11] != 32:
                raise AssertionError("unknown screen: %r" % (header,))
            begin, stride, found = header[0] + 12 * header[19], header[12], []
            for y in rows:
                rgb, pixels = bytearray(3 * WIDTH), os.pread(f.fileno(), 4 * WIDTH, begin + y * stride)
                for i in range(3):
                    rgb[i::3] = pixels[2 - i::4]
                found.append(bytes(rgb))
        return found


class WindowCase(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.close()
        super().tearDownClass()

    @property
    def display(self):
        return self.server.display

    def environment(self, **more):
        env = environment()
        env.update(DISPLAY=self.display, SDL_VIDEODRIVER="x11", SDL_AUDIODRIVER="dummy", WARM_START_OPENS=DRIVER)
        # SDL unloads the OpenGL driver with the window, so the driver's leaks cannot be suppressed by name.
        # test_session keeps the driver, and looks for lumeq's own leaks.
        env["ASAN_OPTIONS"] += ":detect_leaks=0"
        env.update(more)
        return env

    @contextlib.contextmanager
    def other_display(self):
        """Replaces the server by another one, which the test may kill."""
        self.server = Server()  # hides the class's server
        try:
            yield self.server
        finally:
            self.server.close()
            del self.server

    def play(self, *args, env=None, stdin=subprocess.DEVNULL, config=None):
        settings = ["--config", config] if config else ["--no-config"]
        process = warm.start([LUMEQ, *settings, "--backend", "cpu"] + [str(a) for a in args], env or self.environment(),
                             stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        return process

    def shown(self, *args, **more):
        process = self.play(*args, **more)
        self.window(process)
        return process

    def quits(self, process, code=0):
        self.key("q")
        return self.ends(process, code)

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
            self.fail("the program has ended: %s" % finish(process))
        return found[0]

    def size(self, window):
        found = self.xdotool("getwindowgeometry", "--shell", window)
        return [int(n) for n in re.findall(r"(?:WIDTH|HEIGHT)=(\d+)", found)]

    def key(self, *names):
        self.xdotool("key", "--delay", "30", *names)

    def grab(self):
        return self.server.grab(range(0, HEIGHT, 7))

    @staticmethod
    def share(rows, left, right, wanted):
        """The share of pixels between two columns for which wanted(r, g, b) is true."""
        count = total = 0
        for row in rows:
            for x in range(left, right, 3):
                count += wanted(*row[x * 3:x * 3 + 3])
                total += 1
        return count / total

    def changed(self, before, left, right):
        after = self.grab()
        return sum(a[left * 3:right * 3] != b[left * 3:right * 3] for a, b in zip(before, after)) / len(before)
