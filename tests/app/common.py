"""Helpers for the tests of the whole program. They run it, make clips and read files."""

import atexit
import csv
import fcntl
import functools
import hashlib
import json
import math
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "../warm_start"))
import warm

LUMEQ = os.path.abspath(os.environ.get("LUMEQ", os.path.join(HERE, "../../build/lumeq")))
SAMPLE = os.path.join(HERE, "../../samples/lumeq-sample.mkv")
SMALL = os.environ.get("SMALL_SAMPLE", SAMPLE)  # the sample with a tenth of the pixels, if ctest made it
SUPPRESSIONS = os.path.join(os.path.dirname(HERE), "tsan.supp")

# ctest reports a test that prints this line as skipped (SKIP_REGULAR_EXPRESSION).
if not shutil.which("ffmpeg") or not shutil.which("ffprobe"):
    print("SKIPPED: the programs ffmpeg and ffprobe are needed to make and read test clips")
    sys.exit(0)
if not os.access(LUMEQ, os.X_OK):
    sys.exit("no program at %s: set LUMEQ" % LUMEQ)

with open(LUMEQ, "rb") as program:
    found = re.search(rb"lib([at]san)\.so", program.read())
SANITIZER = found[1].decode() if found else None
SANITIZED = SANITIZER is not None

SLOWER = 5 if SANITIZED else 1
SHORT = "CHECK_SHORT" in os.environ
SEED = int(os.environ.get("CHECK_SEED", "0"), 0)
LIVENESS = 60 * SLOWER  # seconds after which a run counts as hanging
TRIALS = 10  # attempts at a time limit; one must succeed
IS_CROWDED = os.getloadavg()[0] > 2.5 * os.cpu_count()
SOON = 10 * SLOWER  # seconds: limit for "at once" on a busy machine
FILM = 3 if SANITIZED else 1  # seconds, enough to record some frames of a camera
BAR_FRAMES = 40  # frames of trickle(), enough to draw a progress bar several times

DONE, USAGE, INPUT, OUTPUT, INTERRUPTED, DAMAGED = range(6)


def share(cases, n):
    """Returns every n-th case with $CHECK_SHORT, every 2n-th under a sanitizer, otherwise all. The seed selects the first."""
    cases = list(cases)
    if not SHORT and not SANITIZED or not cases:
        return cases
    n = min(2 * n if SANITIZED else n, len(cases))
    return cases[SEED % n::n]


def some(cases):
    return share(cases, 3 if SANITIZED else 5)


def is_for_another_seed(name):
    """True if this build's sanitizer skips the test. The seed gives half of the tests to each sanitizer."""
    return SANITIZED and (zlib.crc32(name.encode()) + SEED + (SANITIZER == "tsan")) % 2 != 0


def environment():
    """A neutral environment. A sanitizer that finds an error ends the program with exit code 99."""
    env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "XDG_CONFIG_HOME")}
    env["TERM"] = "xterm"
    env["XDG_CONFIG_HOME"] = "/dev/null/none"  # no settings file; nothing can create one here
    env["PIPEWIRE_REMOTE"] = "no-pipewire"  # not the desktop's PipeWire
    env["LC_ALL"] = "C.UTF-8"
    env.setdefault("ASAN_OPTIONS", "exitcode=99")
    env.setdefault("UBSAN_OPTIONS", "halt_on_error=1:print_stacktrace=1:exitcode=99")
    env.setdefault("TSAN_OPTIONS", "exitcode=99:suppressions=" + SUPPRESSIONS)
    return env


class Result:
    """A run's exit code, standard output (bytes), standard error (text) and its lines."""

    def __init__(self, args, code, out, err):
        self.args, self.code, self.out = args, code, out
        self.err = err.decode("utf-8", "surrogateescape")
        self.lines = self.err.splitlines()

    def __str__(self):
        return "%s\nexit code %s\n%s" % (
            " ".join(repr(os.fsdecode(a)) for a in self.args), self.code, self.err)


def check_sanitizers(result):
    if result.code == 99 or "Sanitizer" in result.err or "runtime error:" in result.err:
        raise AssertionError("a sanitizer reports an error\n%s" % result)


def lumeq(*args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, cwd=None, limit=LIVENESS, **more):
    """Runs the program to its end."""
    args = [LUMEQ] + [a if isinstance(a, bytes) else str(a) for a in args]
    feed = None
    if isinstance(stdin, bytes):
        feed, stdin = stdin, None
    try:
        p = warm.run(args, environment(), input=feed, stdin=stdin, stdout=stdout, timeout=limit, cwd=cwd, **more)
    except subprocess.TimeoutExpired as e:
        raise AssertionError("hangs: %r\n%s" % (args, e.stderr))
    result = Result(args, p.returncode, p.stdout or b"", p.stderr)
    check_sanitizers(result)
    return result


def start(*args, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=None, **more):
    """Starts the program in the background; finish() waits for its end."""
    return warm.start([LUMEQ] + [str(a) for a in args], env or environment(), stdin=stdin, stdout=stdout,
                      stderr=subprocess.PIPE, **more)


def finish(process, limit=LIVENESS):
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError("hangs: %r\n%s" % (process.args, process.communicate()[1]))
    result = Result(process.args, process.returncode, out or b"", err or b"")
    check_sanitizers(result)
    return result


def wait_for(condition, limit=LIVENESS):
    """Polls until condition() is true. Returns False if this takes longer than `limit` seconds."""
    pause, end = 0.01, time.monotonic() + limit
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(pause)
        pause = min(1.2 * pause, 0.1)
    return False


def tool(*args, **more):
    """Runs ffmpeg or ffprobe, and returns its standard output."""
    env = more.pop("env", None) or dict(os.environ)
    p = warm.run([a if isinstance(a, bytes) else str(a) for a in args], env, timeout=LIVENESS, **more)
    if p.returncode:
        raise AssertionError("%r failed:\n%s" % (args, p.stderr.decode("utf-8", "replace")))
    return p.stdout


def ffmpeg(*args, **more):
    return tool("ffmpeg", "-v", "error", "-nostdin", "-y", *args, **more)


def read_bytes(path):
    with open(path, "rb") as f:
        return f.read()


def write_bytes(path, data):
    with open(path, "wb") as f:
        f.write(data)


def joined(path, parts):
    write_bytes(path, b"".join(map(read_bytes, parts)))
    return path


def read_rows(path):
    """Reads the rows of statistics from CSV or JSON lines."""
    with open(path, newline="", encoding="utf-8") as f:
        return [json.loads(line) for line in f] if path.endswith("l") else list(csv.DictReader(f))


def has_encoder(name):
    listing = tool("ffmpeg", "-v", "error", "-hide_banner", "-encoders").decode()
    return re.search(r"^ \S+ %s " % re.escape(name), listing, re.M) is not None


# ---- clips --------------------------------------------------------------------------------------

X264 = ("-c:v", "libx264", "-preset", "ultrafast")
FFV1 = ("-c:v", "ffv1")

# A moving picture of low contrast. The format takes size and rate.
DULL = "testsrc2=size=%s:rate=%s,lutyuv=y='64+val/4'"


class Store:
    """A temporary folder for clips that several tests use."""

    folder = None

    @classmethod
    def path(cls, name):
        if not cls.folder:
            cls.folder = tempfile.mkdtemp(prefix="lumeq-clips-")
            atexit.register(shutil.rmtree, cls.folder, ignore_errors=True)
        return os.path.join(cls.folder, name)


def make(path, *output, size="160x90", rate=25, seconds=1, source=None, sound=None, filters=None):
    """Makes a clip at `path`. `output`: ffmpeg's options for the file; `sound`: its length in seconds."""
    source = source or DULL % (size, rate)
    if filters:
        source += "," + filters
    inputs = ["-f", "lavfi", "-t", seconds, "-i", source]
    if sound:
        inputs += ["-f", "lavfi", "-t", sound, "-i", "sine=frequency=440:sample_rate=44100"]
    ffmpeg(*inputs, *(output or X264), "-flags", "+bitexact", path)
    return path


def clip(name, *output, **more):
    """Like make(), but only once for the same arguments."""
    key = hashlib.md5(repr((output, sorted(more.items()))).encode()).hexdigest()[:8]
    folder = Store.path(key)
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        make(path, *output, **more)
    return path


def repeated(name, times, *output, **more):
    """Like clip(), but repeats the clip by stream copy."""
    once = clip("once-" + name, *output, **more)
    path = os.path.join(os.path.dirname(once), "%d-%s" % (times, name))
    if not os.path.exists(path):
        ffmpeg("-stream_loop", times - 1, "-i", once, "-c", "copy", path)
    return path


def simple():
    """One second of H.264 and AAC."""
    return clip("simple.mp4", *X264, "-c:a", "aac", sound=1)


def long_clip():
    """A clip that takes seconds to process, so that signals arrive during the run."""
    return repeated("long.mkv", 60, *X264, source="color=gray:size=640x360:rate=60")


def trickle(case):
    """A slow standard input: 25 small frames a second for ten minutes."""
    process = subprocess.Popen(["ffmpeg", "-v", "quiet", "-nostdin", "-re", "-f", "lavfi", "-i", DULL % ("64x48", 25),
                                "-t", "600", "-f", "yuv4mpegpipe", "-"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE)
    case.addCleanup(process.stdout.close)
    case.addCleanup(process.wait)
    case.addCleanup(process.kill)
    return process.stdout


def box(kind, data):
    """A box of an mp4."""
    return struct.pack(">I4s", len(data) + 8, kind) + data


def crc32_mpeg(data):
    """The checksum of a transport stream's tables."""
    crc = 0xffffffff
    for byte in data:
        crc ^= byte << 24
        for _ in range(8):
            crc = crc << 1 ^ (0x104c11db7 if crc & 0x80000000 else 0)
    return crc.to_bytes(4, "big")


# ---- reading files ------------------------------------------------------------------------------

@functools.lru_cache(1000)
def probe_once(path, state, args):
    return tool("ffprobe", "-v", "error", "-of", "json", *args, path)


def probe(path, *args):
    """ffprobe's output about a file, cached until the file changes."""
    state = os.stat(path)
    return json.loads(probe_once(path, (state.st_ino, state.st_size, state.st_mtime_ns), args))


def contents(path):
    """Streams, chapters, tags and packets, by one run, because ffprobe starts slowly."""
    return probe(path, "-show_streams", "-show_format", "-show_chapters", "-show_packets", "-show_data_hash", "MD5")


def streams(path, kind=None):
    found = contents(path)["streams"]
    return [s for s in found if kind in (None, s["codec_type"])]


def video(path):
    return streams(path, "video")[0]


def frame_times(path):
    """The time of every decoded video frame, in seconds."""
    frames = probe(path, "-select_streams", "v:0", "-show_entries",
                   "frame=pts_time,best_effort_timestamp_time")["frames"]
    return [float(f.get("pts_time", f.get("best_effort_timestamp_time", "nan"))) for f in frames]


def begin(path):
    """Start of the earliest video or audio track, in seconds."""
    return min(float(s["start_time"]) for s in streams(path)
               if s["codec_type"] in ("video", "audio") and "start_time" in s)


def packets(path, track="a:0"):
    """(seconds, size, hash of the data) of every packet of a track."""
    kinds = {"v": "video", "a": "audio", "s": "subtitle"}
    kind, _, number = track.rpartition(":")
    wanted = streams(path, kinds[kind] if kind else None)[int(number):][:1]
    found = [p for p in contents(path)["packets"] if [p["stream_index"]] == [s["index"] for s in wanted]]
    return [(float(p.get("pts_time", "nan")), int(p["size"]), p.get("data_hash")) for p in found]


def payloads(path, track="a:0"):
    return [p[1:] for p in packets(path, track)]


def raw(path, pix_fmt=None, track="v:0"):
    """All decoded frames, without duplicates or drops."""
    return ffmpeg("-i", path, "-map", "0:" + track, "-fps_mode", "passthrough",
                  *(("-pix_fmt", pix_fmt) if pix_fmt else ()), "-f", "rawvideo", "-")


def frame_size(pix_fmt, width, height):
    """Bytes of (luma, all planes) of a frame of 8-bit YUV or gray."""
    shifts = {"yuv420p": (1, 1), "yuvj420p": (1, 1), "yuv422p": (1, 0), "yuvj422p": (1, 0),
              "yuv444p": (0, 0), "yuvj444p": (0, 0), "yuv440p": (0, 1), "yuvj440p": (0, 1),
              "yuv411p": (2, 0), "yuv410p": (2, 2), "nv12": (1, 1)}
    luma = width * height
    if pix_fmt == "gray":
        return luma, luma
    x, y = shifts[pix_fmt]
    return luma, luma + 2 * -(-width // (1 << x)) * -(-height // (1 << y))


class Picture:
    """The decoded frames of a file: luma[i] and chroma[i] as bytes."""

    def __init__(self, path):
        about = video(path)
        self.width, self.height = about["width"], about["height"]
        self.format = about["pix_fmt"]
        luma, size = frame_size(self.format, self.width, self.height)
        data = raw(path)
        if len(data) % size:
            raise AssertionError("%s: %d bytes are no whole frames" % (path, len(data)))
        frames = [data[i:i + size] for i in range(0, len(data), size)]
        self.luma = [f[:luma] for f in frames]
        self.chroma = [f[luma:] for f in frames]

    def hashes(self):
        return [hashlib.md5(y + c).hexdigest() for y, c in zip(self.luma, self.chroma)]


def histogram(luma):
    return [luma.count(bytes([i])) for i in range(256)]


# ---- a model of the arithmetic -------------------------------------------------------------------

def float32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def reference_table(hist):
    """OpenCV's equalizeHist, as a table of 256 bytes."""
    total = sum(hist)
    first = next(i for i in range(256) if hist[i])
    if hist[first] == total:
        return bytes([first]) * 256
    scale = float32(255.0 / (total - hist[first]))
    table, so_far = [0] * 256, 0
    for i in range(first + 1, 256):
        so_far += hist[i]
        table[i] = max(0, min(255, round(float32(float32(so_far) * scale))))
    return bytes(table)


# ---- the test case ------------------------------------------------------------------------------

def open_terminal(columns):
    """Returns both ends of a pseudo-terminal; the program uses the second."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    return master, slave


def shown_on(master, slave):
    """Reads everything that programs write to the terminal until they end."""
    os.close(slave)
    shown = b""
    try:
        while True:
            shown += os.read(master, 65536)
    except OSError:  # the programs have ended
        pass
    os.close(master)
    return shown


class Case(unittest.TestCase):
    maxDiff = 2000
    halved = True  # each sanitizer runs half of the tests

    def setUp(self):
        if self.halved and is_for_another_seed(self.id()):
            self.skipTest("this sanitizer runs the test with another seed")
        self.folder = tempfile.mkdtemp(prefix="lumeq-test-")
        self.addCleanup(self.remove_folder)

    def remove_folder(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def files(self, folder=None):
        return sorted(os.listdir(folder or self.folder))

    def on_its_side(self, upright, degrees, turn, *lossless):
        """Makes a phone's video of the clip `upright`. ffmpeg's filter `turn` turns the frames, and the container's
        rotation by `degrees` turns them back."""
        stored, source = self.path("stored.mp4"), self.path("phone%d.mp4" % degrees)
        ffmpeg("-i", upright, "-vf", turn, *lossless, stored)
        ffmpeg("-i", stored, "-c", "copy", "-metadata:s:v:0", "rotate=%d" % degrees, source)
        if not video(source).get("side_data_list"):
            self.skipTest("this ffmpeg does not write the rotation")
        if raw(source) != raw(upright):
            self.skipTest("this ffmpeg rotates in the other direction")
        return source

    def catches(self, process, number):
        """Waits until the run has a handler for the signal."""
        def look():
            try:
                with open("/proc/%d/status" % process.pid, encoding="utf-8") as f:
                    caught = int(re.search(r"^SigCgt:\s*(\w+)", f.read(), re.M)[1], 16)
            except FileNotFoundError:  # the run has ended
                return True
            return process.poll() is not None or caught >> (number - 1) & 1
        self.assertTrue(wait_for(look), "no handler for %s" % number.name)

    def write(self, name, data):
        with open(self.path(name), "wb") as f:
            f.write(data)
        return self.path(name)

    def read(self, name):
        return read_bytes(self.path(name))

    def finished(self, process, code=DONE):
        """Waits for a run that logs to the file "said", and returns its result."""
        try:
            process.wait(LIVENESS)
        except subprocess.TimeoutExpired:
            self.fail("hangs: %s" % self.read("said").decode())
        result = Result(process.args, process.returncode, b"", self.read("said"))
        check_sanitizers(result)
        self.assertEqual(result.code, code, str(result))
        return result

    def on_terminal(self, *args, code=None, stdin=subprocess.DEVNULL, **more):
        """Runs the program with standard error on a terminal, and returns what it shows. `code`: None means USAGE."""
        master, slave = open_terminal(120)
        process = warm.start([LUMEQ] + [str(a) for a in args], environment(), stdin=stdin, stdout=subprocess.DEVNULL,
                             stderr=slave, **more)
        shown = shown_on(master, slave)
        self.assertEqual(process.wait(LIVENESS), USAGE if code is None else code, shown)
        return shown.decode()

    def exits(self, code, *args, **more):
        """Runs the program, checks its exit code, and returns the result."""
        result = lumeq(*args, **more)
        self.assertEqual(result.code, code, str(result))
        return result

    def ok(self, *args, **more):
        return self.exits(DONE, *args, **more)

    def ends(self, process, code=DONE, limit=LIVENESS):
        """Like exits(), for a run that start() began."""
        result = finish(process, limit)
        self.assertEqual(result.code, code, str(result))
        return result

    def converted(self, source, name, *options):
        """Runs the program successfully, and returns the output's path."""
        self.ok(source, "-o", self.path(name), "-q", *options)
        self.assertTrue(os.path.exists(self.path(name)))
        return self.path(name)

    def lossless(self, source, *options, name="lossless.mkv"):
        return self.converted(source, name, "--vcodec", "ffv1", "-y", *options)

    def refused(self, result, code, *words):
        """Checks the exit code, and that the only message contains all the words."""
        self.assertEqual(result.code, code, str(result))
        self.assertEqual(len(result.lines), 1, "expected one line\n%s" % result)
        line = result.lines[0]
        self.assertTrue(line.startswith("lumeq: "), line)
        for word in words:
            self.assertIn(word, line)
        self.assertEqual(result.out, b"")

    def soon(self, measure, limit):
        """Checks that one of several results of measure() is below the limit. On a busy machine or under a sanitizer,
        any result passes."""
        least = math.inf
        for _ in range(TRIALS):
            least = min(least, measure())
            if least < limit or SANITIZED or IS_CROWDED:
                return
        self.assertLess(least, limit)

    def start(self, *args, **more):
        """Starts a run, which is killed if it outlives the test."""
        process = start(*args, **more)
        self.addCleanup(process.kill)
        return process

    def interrupt(self, process):
        process.send_signal(SIGINT)
        return self.ends(process, INTERRUPTED)

    def near(self, a, b, within, text=""):
        self.assertEqual(len(a), len(b), text)
        for i, (x, y) in enumerate(zip(a, b)):
            self.assertLessEqual(abs(x - y), within, "%s, number %d: %r and %r differ" % (text, i, x, y))

    def same_times(self, source, output, within=0.0011, shifted=False):
        """Checks that the output starts at 0, and that every frame keeps its time since the earliest track's start.
        `within`: tolerance in seconds. `shifted`: priming samples may shift the whole file by less than 50 ms."""
        self.assertAlmostEqual(begin(output), 0, delta=0.008)  # Opus' priming samples take 6.5 ms
        a, b = ([t - begin(path) for t in frame_times(path)] for path in (source, output))
        if shifted:
            self.assertLess(abs(a[0] - b[0]), 0.05)
            sound = packets(source)[0][0] - a[0], packets(output)[0][0] - b[0]
            self.assertAlmostEqual(*sound, delta=0.008)  # FFmpeg's Matroska loses Opus' 6.5 ms
            a, b = [t - a[0] for t in a], [t - b[0] for t in b]
        self.near(a, b, within, "%s -> %s" % (os.path.basename(source), os.path.basename(output)))


SIGINT, SIGTERM = signal.SIGINT, signal.SIGTERM
