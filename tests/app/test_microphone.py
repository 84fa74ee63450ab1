"""Sound in recordings of a camera, from a file that SDL uses as a microphone, and from PulseAudio."""

import array
import math
import os
import re
import shutil
import signal
import statistics
import subprocess
import time
import unittest

from common import DONE, INTERRUPTED, LUMEQ, USAGE, Case, Result, ffmpeg, lumeq, packets, some, streams, wait_for
from test_camera import FAKE, CameraCase, camera_environment
from window import HEIGHT, MISSING, WIDTH, WindowCase

RATE = 48000
HERTZ = 440
FRAMES = 60
SECONDS = FRAMES / 30
SOURCE = "System audio capture device"  # SDL's name for every microphone that is a file


class SoundCase(CameraCase):
    def microphone(self, seconds=30, **more):
        """An environment in which SDL's microphone is a file with a hum."""
        wave = array.array("f", (0.5 * math.sin(2 * math.pi * HERTZ * i / RATE) for i in range(RATE)))
        stereo = array.array("f", (x for sample in wave for x in (sample, sample)))
        self.write("hum", stereo.tobytes() * seconds)
        return camera_environment(self.folder, SDL_AUDIODRIVER="disk", SDL_DISKAUDIOFILEIN=self.path("hum"), **more)

    def samples(self, path):
        """The first channel of a file's sound, from the start of the video."""
        times = [time for time, *_ in packets(self.path(path), "v:0") if not math.isnan(time)]
        start = min(times, default=0)  # AVI stores no timestamps
        data = ffmpeg("-ss", start, "-i", self.path(path), "-vn", "-af", "aresample=async=1:first_pts=0,pan=mono|c0=c0",
                      "-ar", RATE, "-f", "f32le", "-")
        return array.array("f", data)

    def hums(self, samples, level=0.5):
        """Checks for a sine of the right pitch and level."""
        loud = math.sqrt(sum(x * x for x in samples) / len(samples))
        self.assertAlmostEqual(loud, level / math.sqrt(2), delta=0.05)
        crossings = [i for i, (a, b) in enumerate(zip(samples, samples[1:])) if a < 0 <= b]
        period = statistics.median(b - a for a, b in zip(crossings, crossings[1:]))  # the median ignores gaps from late reads
        self.assertAlmostEqual(RATE / period, HERTZ, delta=0.04 * HERTZ)

    def has_sound(self, path, codec, seconds=SECONDS):
        sound = [s for s in streams(self.path(path)) if s["codec_type"] == "audio"]
        self.assertEqual([s["codec_name"] for s in sound], [codec])
        found = packets(self.path(path), "a:0")
        self.assertLess(found[0][0], 0.03)
        self.assertGreater(found[-1][0], seconds - 0.1)
        return self.samples(path)


@unittest.skipIf(not FAKE, "FAKE_CAMERA_LIBRARY names no fake camera")
class Headless(SoundCase, Case):
    def record(self, *args, code=DONE, env=None):
        return self.finished(self.start("--camera", *args, env=env or self.microphone()), code)

    def test_containers(self):
        """Sound lasts from the first picture to the last, in the container's usual codec."""
        for name, codec, *more in some((("x.mkv", "opus"), ("x.mp4", "aac"), ("x.mov", "aac"), ("x.avi", "mp3"),
                                   ("raw.mkv", "opus", "--record-raw"), ("own.mkv", "flac", "--acodec", "flac"))):
            with self.subTest(name):
                result = self.record("-o", name, "--frames", FRAMES, *more)
                self.assertEqual(result.err.count("recording sound from %s\n" % SOURCE), 1)
                samples = self.has_sound(name, codec)
                self.hums(samples[RATE // 10:int((SECONDS - 0.2) * RATE)])

    def test_sound_can_be_off(self):
        for args in (("--microphone", "off"), ("--acodec", "none"), ("--low-latency",)):
            with self.subTest(args):
                self.assertNotIn("sound", self.record("-y", "-o", "x.mkv", "--frames", 5, *args).err)
                self.assertEqual([s["codec_type"] for s in streams(self.path("x.mkv"))], ["video"])
        self.assertNotIn("sound", self.record("-o", "x.png", "--frames", 1).err)

    def test_a_name_in_the_settings_file_is_no_contradiction(self):
        self.write("settings", b"microphone = Blue\n")
        for args in (("-o", "x.png", "--frames", 1), ("-o", "x.mkv", "--low-latency", "--frames", 2)):
            p = subprocess.run([LUMEQ, "--config", self.path("settings"), "--camera", *map(str, args)], cwd=self.folder,
                               env=self.microphone(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual(p.returncode, DONE, p.stderr)

    def test_no_microphone(self):
        env = camera_environment(self.folder, SDL_AUDIODRIVER="nonsense")
        result = self.record("-o", "x.mkv", "--frames", 5, env=env)
        self.assertEqual(result.err.count("recording without sound"), 1)
        self.assertEqual([s["codec_type"] for s in streams(self.path("x.mkv"))], ["video"])

    def test_sound_is_complete_after_a_signal(self):
        process = self.start("--camera", "-o", "x.mkv", "--frames", 10000, "--progress", "json", env=self.microphone())
        self.has_done(45)
        process.send_signal(signal.SIGINT)
        self.finished(process, INTERRUPTED)
        self.has_sound("x.partial.mkv", "opus", 1.2)

    def test_segments(self):
        self.record("-o", "%H%M%S-%s.mkv", "--segment-time", 4, "--frames", 270)
        segments = sorted(f for f in self.files() if f.endswith(".mkv"))
        self.assertGreaterEqual(len(segments), 2)
        for segment in segments[:-1]:
            self.hums(self.has_sound(segment, "opus", 3.9)[RATE // 10:int(3.8 * RATE)])

    def test_refusals(self):
        env = self.microphone()
        for args, *words in ((("--microphone", "Blue", "-o", "x.mkv"), "'Blue'", "found: '%s'" % SOURCE),
                             (("--microphone", SOURCE, "-o", "x.y4m"), "--microphone", "x.y4m", "cannot hold sound"),
                             (("--microphone", SOURCE, "-o", "x.mkv", "--low-latency"), "--microphone", "--low-latency")):
            with self.subTest(args):
                self.refused(self.record(*args, "--frames", 3, code=USAGE, env=env), USAGE, *words)
        self.refused(lumeq("--microphone", "off", "x.mkv"), USAGE, "--microphone", "--camera")

    def test_list(self):
        p = subprocess.run([LUMEQ, "--microphone", "help"], env=self.microphone(), stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE)
        result = Result([], p.returncode, p.stdout, p.stderr)
        self.assertEqual((result.code, result.out.decode()), (DONE, SOURCE + "\n"), str(result))


@unittest.skipIf(not FAKE, "FAKE_CAMERA_LIBRARY names no fake camera")
@unittest.skipIf(not shutil.which("pulseaudio"), "not installed: pulseaudio")
class PulseAudio(SoundCase, Case):
    """The test starts a PulseAudio server, whose microphone is a pipe."""

    def serve(self):
        socket, pipe = self.path("socket"), self.path("pipe")
        modules = ("module-native-protocol-unix auth-anonymous=1 socket=" + socket, "module-null-sink",
                   "module-pipe-source file=%s rate=48000 channels=1 format=float32le "
                   "source_properties=device.description=Pipe" % pipe,
                   "module-null-source source_name=quiet")
        env = dict(os.environ, HOME=self.folder, XDG_RUNTIME_DIR=self.folder)
        with open(self.path("server"), "wb") as log:
            server = subprocess.Popen(["pulseaudio", "-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=-1",
                                       *("--load=" + m for m in modules)], env=env, stdout=log, stderr=log)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        if not wait_for(lambda: os.path.exists(socket) and os.path.exists(pipe)):
            self.skipTest("pulseaudio does not start: %s" % self.read("server").decode())
        feed = subprocess.Popen(["ffmpeg", "-v", "quiet", "-y", "-re", "-f", "lavfi", "-i",
                                 "sine=%d:r=48000,volume=4" % HERTZ, "-f", "f32le", pipe], stdin=subprocess.DEVNULL)
        self.addCleanup(feed.wait)
        self.addCleanup(feed.kill)
        return server, camera_environment(self.folder, SDL_AUDIODRIVER="pulseaudio", PULSE_SERVER="unix:" + socket,
                                          HOME=self.folder)

    def test_selection_and_loss(self):
        server, env = self.serve()
        for name in some(("Pipe", "pIp")):  # part of a name is enough
            result = self.finished(self.start("--camera", "-y", "-o", "x.mkv", "--frames", FRAMES, "--microphone", name,
                                              env=env))
            self.assertIn("recording sound from Pipe\n", result.err)
            self.hums(self.has_sound("x.mkv", "opus")[int(0.8 * RATE):int((SECONDS - 0.2) * RATE)])
        process = self.start("--camera", "-o", "y.mkv", "--frames", 150, "--progress", "json", "--microphone", "Pipe",
                             env=env)
        self.has_done(60)
        server.kill()
        result = self.finished(process)
        self.assertEqual(result.err.count("the microphone 'Pipe' was disconnected: recording silence"), 1, result.err)
        samples = self.has_sound("y.mkv", "opus", 5)
        self.hums(samples[RATE:int(1.5 * RATE)])
        self.assertLess(max(map(abs, samples[-RATE:])), 0.001)


@unittest.skipIf(MISSING, "not installed: %s" % ", ".join(MISSING))
@unittest.skipIf(not FAKE, "FAKE_CAMERA_LIBRARY names no fake camera")
class Window(SoundCase, WindowCase):
    def test_the_level_and_a_pause(self):
        """The recording light has a bar for the level. Sound is also recorded while the window is paused."""
        env = self.environment(**self.microphone())
        env.update(DISPLAY=self.display, SDL_VIDEODRIVER="x11")
        process = self.start("--camera", "--histogram", "off", "-o", "x.mkv", env=env)
        self.window(process)
        is_accent = lambda r, g, b: r > 180 and g > 120 and b < r - 80
        self.assertTrue(wait_for(lambda: self.share(self.server.grab(range(0, HEIGHT, 2)), 0, WIDTH, is_accent) > 1e-4), "no bar for the level")
        time.sleep(1)
        self.key("space")
        time.sleep(2.5)
        self.key("space")
        time.sleep(0.5)
        self.key("q")
        result = self.finished(process)
        length = float(re.search(r"frames?, ([\d.]+) s", result.err).group(1))
        samples = self.has_sound("x.mkv", "opus", length)
        self.hums(samples[RATE // 2:int((length - 0.3) * RATE)])
