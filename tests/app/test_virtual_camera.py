"""--virtual-camera: a fake device records the pictures that other programs would get."""

import http.server
import threading

from common import *
from test_camera import BITS, FAKE, RATE, SMALL, CameraCase, camera_environment, numbers
from test_upright import turned_by
from window import MISSING, WindowCase

DEVICE = "/dev/video9"
BYTES = {"YUYV": 2, "YU12": 1.5, "NV12": 1.5}
PIXELS = {"YUYV": "yuyv422", "YU12": "yuv420p", "NV12": "nv12"}


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


class OutputCase(CameraCase):
    def output_environment(self, modes=SMALL, state="", **more):
        return camera_environment(self.folder, modes, state, FAKE_OUTPUT=DEVICE, FAKE_OUTPUT_RECORD=self.path("out"),
                                  **more)

    def forget(self):
        for name in ("out", "out.log"):
            if os.path.exists(self.path(name)):
                os.unlink(self.path(name))

    def log(self):
        """The complete lines of the device's log, as words."""
        try:
            return [line.split() for line in self.read("out.log").decode().split("\n")[:-1]]
        except FileNotFoundError:
            return []

    def times(self):
        """The time of each written picture in seconds."""
        return [int(words[1]) / 1e6 for words in self.log() if words[0] == "frame"]

    def written(self, count):
        return len(self.times()) >= count

    def format(self):
        """Code, width and height of the pictures."""
        found = [words for words in self.log() if words[0] == "format"]
        self.assertEqual(len(found), 1, found)
        width, height = found[0][2].split("x")
        return found[0][1], int(width), int(height)

    def pictures(self):
        """The bytes of each picture without repeats."""
        code, width, height = self.format()
        size = int(width * height * BYTES[code])
        data, found = self.read("out"), []
        self.assertEqual(len(data), size * len(self.times()))
        for at in range(0, len(data), size):
            picture = data[at:at + size]
            if not found or picture != found[-1]:
                found.append(picture)
        return found

    def numbers_given(self, mirrored=False):
        """The number that the camera has drawn into each written picture, repeats included."""
        code, width, height = self.format()
        size, step = int(width * height * BYTES[code]), 2 if code == "YUYV" else 1
        data, found = self.read("out"), []
        for at in range(0, len(data) - size + 1, size):
            row = data[at + 4 * width * step:at + 5 * width * step:step]
            bits = [row[(2 * i + 1) * width // (2 * BITS)] > 127 for i in range(BITS)]
            if mirrored:
                bits.reverse()
            found.append(sum(bit << (BITS - 1 - i) for i, bit in enumerate(bits)))
        return found

    def in_order(self, mirrored=False):
        """The numbers of the camera's frames without repeats, after checking their order."""
        given = self.numbers_given(mirrored)
        self.assertEqual(given, sorted(given))
        return sorted(set(given))

    def captured(self):
        """The time of each frame's capture in seconds, by the frame's number."""
        return {int(words[1]): int(words[2]) / 1e6 for words in self.log() if words[0] == "captured"}


@unittest.skipIf(not FAKE, "FAKE_CAMERA_LIBRARY names no fake camera")
class Headless(OutputCase, Case):
    def give(self, *args, code=DONE, state="", **more):
        self.forget()
        return self.finished(self.start(*args, env=self.output_environment(state=state, **more)), code)

    def test_deep_gray(self):
        """Other programs get 8 bits of a 12-bit camera, in limited range."""
        self.give("--camera", "--virtual-camera", "--null", "--frames", "5", modes="Y12  320x240@30", state="planar")
        self.assertGreater(len(self.in_order()), 2)
        luma = self.pictures()[-1][::2]
        self.assertLess(max(luma), 236)
        self.assertGreater(max(luma), 150)

    def test_bits_of_a_file(self):
        """The device gets the same pictures as a file would, also mirrored or metered."""
        for pixels, code in some((("yuv420p", "YU12"), ("nv12", "NV12"), ("yuv422p", "YUYV"), ("yuv422p10le", "YUYV"))):
            name = "in-%s.nut" % pixels
            make(self.path(name), "-c:v", "rawvideo", "-pix_fmt", pixels, source="testsrc2=size=160x90:rate=25",
                 seconds=0.6, filters="eq=contrast=0.5")
            for more in ((), ("--mirror",), ("--meter", "centre", "--strength", "0.7")):
                with self.subTest(pixels=pixels, more=more):
                    result = self.give(name, "--virtual-camera", "--null", *more)
                    self.assertIn("virtual camera Fake Loopback (%s): %s 160x90 at 25 fps\n" % (DEVICE, PIXELS[code]),
                                  result.err)
                    self.assertEqual(self.format(), (code, 160, 90))
                    self.assertIn(["rate", "25/1"], self.log())
                    plain = [option for option in more if option != "--mirror"]
                    self.ok(self.path(name), "-o", self.path("x.nut"), "--vcodec", "rawvideo", "--two-pass", "off",
                            "-y", "-q", *plain)
                    if "--mirror" in more:
                        ffmpeg("-i", self.path("x.nut"), "-vf", "hflip", "-c:v", "rawvideo", "-y", self.path("y.nut"))
                        os.replace(self.path("y.nut"), self.path("x.nut"))
                    expected = raw(self.path("x.nut"), None if pixels in ("yuv420p", "nv12") else PIXELS[code])
                    given = b"".join(self.pictures())
                    self.assertEqual(len(given), len(expected))
                    if pixels.endswith("10le"):  # ffmpeg rounds differently
                        self.assertLessEqual(max(abs(a - b) for a, b in zip(given, expected)), 1)
                    else:
                        self.assertEqual(given, expected)

    def test_a_file_comes_in_real_time(self):
        make(self.path("in.nut"), "-c:v", "rawvideo", source="testsrc2=size=160x90:rate=10", seconds=1.5)
        self.give("in.nut", "--virtual-camera=9", "--null")
        times = self.times()
        self.assertEqual(times, sorted(times))
        self.assertGreater(times[-1] - times[0], 1.3)
        self.assertEqual(len(self.pictures()), 15)

    def test_a_url(self):
        make(self.path("in.mkv"), "-c:v", "ffv1", source="testsrc2=size=160x90:rate=25", seconds=0.4)
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=self.folder)) as server:
            threading.Thread(target=server.serve_forever).start()
            try:
                self.give("--network", "http://127.0.0.1:%d/in.mkv" % server.server_port, "--virtual-camera", "--null")
            finally:
                server.shutdown()
        self.assertEqual(len(self.pictures()), 10)

    def test_turned_videos_are_upright(self):
        make(self.path("in.mp4"), "-c:v", "mpeg4", source="testsrc2=size=160x96:rate=25", seconds=0.2)
        turned_by(self.path("in.mp4"), (0, -1, 1, 0))
        self.give("in.mp4", "--virtual-camera", "--null")
        self.assertEqual(self.format()[1:], (96, 160))

    def test_beside_an_output_file(self):
        """The device and the file get the same pictures; only the device is mirrored."""
        make(self.path("in.nut"), "-c:v", "rawvideo", source="testsrc2=size=160x90:rate=25", seconds=0.4)
        self.give("in.nut", "--virtual-camera", "--mirror", "-o", "x.nut", "--vcodec", "rawvideo")
        ffmpeg("-i", self.path("x.nut"), "-vf", "hflip", "-c:v", "rawvideo", self.path("y.nut"))
        self.assertEqual(b"".join(self.pictures()), raw(self.path("y.nut")))

    def test_every_frame_of_a_camera(self):
        for mirror in ((), ("--mirror",)):
            result = self.give("--camera", "--virtual-camera", "--frames", "40", "-o", "x.mkv", "-y", "--vcodec", "ffv1",
                               *mirror)
            self.assertIn("virtual camera Fake Loopback (%s): yuyv422 320x240 at 30 fps\n" % DEVICE, result.err)
            self.assertEqual(self.in_order(bool(mirror)), numbers(self.path("x.mkv")))
            self.assertEqual(len(self.in_order(bool(mirror))), 40)

    def test_formats_of_cameras(self):
        for code in ("YUYV", "NV12", "YU12"):
            with self.subTest(code):
                self.give("--camera", "--virtual-camera", "--null", "--frames", "5", modes=code + " 320x240@30")
                self.assertEqual(self.format()[0], code)
                self.assertEqual(len(self.in_order()), 5)

    def test_the_last_picture_stays_while_the_camera_is_away(self):
        for how in ("gone", "stall"):
            with self.subTest(how):
                self.forget()
                self.control("")
                process = self.start("--camera", "--virtual-camera", "--null", env=self.output_environment())
                self.assertTrue(wait_for(lambda: self.written(10)), self.said())
                self.control(how)
                self.waits_for("the camera is gone: ")
                before = len(self.times())
                self.assertTrue(wait_for(lambda: self.written(before + 20)), "the last picture is not repeated")
                self.control("")
                self.waits_for("the camera is back")
                last = self.numbers_given()[-1]
                self.assertTrue(wait_for(lambda: self.numbers_given()[-1] > last + 5), "no newer picture comes")
                process.send_signal(signal.SIGINT)
                self.finished(process, INTERRUPTED)
                self.in_order()
                times = self.times()[before:before + 20]
                self.assertGreater(times[-1] - times[0], 0.8 * 19 / RATE)  # not faster than the camera

    def test_late_frames_are_dropped(self):
        """After a stop, old frames that the driver has kept are dropped."""
        process = self.start("--camera", "--virtual-camera", "--null", env=self.output_environment())
        self.assertTrue(wait_for(lambda: self.written(5)), self.said())
        process.send_signal(signal.SIGSTOP)
        last = max(self.captured())
        time.sleep(20 / RATE)  # more frames than the fake driver keeps
        process.send_signal(signal.SIGCONT)
        self.assertTrue(wait_for(lambda: self.numbers_given()[-1] > last + 20), "no newer picture comes")
        process.send_signal(signal.SIGINT)
        self.finished(process, INTERRUPTED)
        captured = self.captured()
        kept = [n for n in range(last + 1, last + 9) if n in captured]
        self.assertGreater(len(kept), 2)
        self.assertTrue(set(kept) - set(self.in_order()), kept)

    def test_quits_while_the_camera_is_away(self):
        process = self.start("--camera", "--virtual-camera", "--null", env=self.output_environment())
        self.assertTrue(wait_for(lambda: self.written(3)), self.said())
        self.control("gone")
        self.waits_for("the camera is gone: ")
        process.send_signal(signal.SIGTERM)
        self.finished(process, INTERRUPTED)

    def test_delay(self):
        """On an idle machine the latency is less than a frame. The limit is five frames."""
        def delay():
            self.give("--camera", "--virtual-camera", "--null", "--frames", "60",
                      modes=SMALL if SANITIZED else "MJPG 1280x720@30")
            captured, times = self.captured(), self.times()
            found = [t - captured[n] for n, t in zip(self.numbers_given(), times)]
            print("capture to virtual camera: mean %.1f ms, at most %.1f ms" % (
                1e3 * sum(found) / len(found), 1e3 * max(found)))
            return sum(found) / len(found)
        self.soon(delay, 5 / RATE)

    def test_messages(self):
        result = self.give("--camera", "--virtual-camera", "--null", "--frames", "20", "-v")
        self.assertRegex(result.err, r"the virtual camera showed 20 pictures and repeated the last one \d+ times?")
        self.assertRegex(result.err, r"latency from capture to virtual camera: [\d.]+ ms, 95 % of")

    def test_unusable_devices_are_refused(self):
        make(self.path("in.nut"), "-c:v", "rawvideo", source="testsrc2=size=160x90:rate=25", seconds=0.2)
        for state, device, code, words in (
                ("out.gone", "", USAGE, ("apt install v4l2loopback-dkms", "modprobe v4l2loopback exclusive_caps=1")),
                ("out.gone", "=9", USAGE, ("'/dev/video9'", "apt install v4l2loopback-dkms")),
                ("out.other", "", USAGE, ("no virtual camera was found",)),
                ("", "=/dev/null", USAGE, ("'/dev/null'", "not a virtual camera")),
                ("", "=/dev/video0", USAGE, ("'/dev/video0'", "not a virtual camera")),
                ("out.denied", "", OUTPUT, (DEVICE, "no permission")),
                ("out.taken", "", OUTPUT, (DEVICE, "in use by another program")),
                ("out.busy", "", OUTPUT, (DEVICE, "in use by another program")),
                ("out.takes=GREY", "", OUTPUT, (DEVICE, "YUYV, NV12 or YU12")),
                ("out.size=64x48", "", OUTPUT, (DEVICE, "160x90", "64x48")),
                ("out.eio", "", OUTPUT, (DEVICE, "Input/output error"))):
            with self.subTest(state=state, device=device):
                result = self.give("in.nut", "--virtual-camera" + device, "--null", "-q", state=state, code=code)
                self.refused(result, code, *words)
        make(self.path("one.mkv"), "-c:v", "ffv1", source="testsrc2=size=160x90:rate=25,scale=1:1", seconds=0.2)
        self.refused(self.give("one.mkv", "--virtual-camera", "--null", "-q", code=OUTPUT), OUTPUT, "2x2", "1x1")
        self.assertEqual(self.read("out") if os.path.exists(self.path("out")) else b"", b"")

    def test_the_device_is_checked_before_the_input(self):
        self.refused(self.give("none.mkv", "--virtual-camera", "--null", state="out.gone", code=USAGE), USAGE,
                     "no virtual camera was found")

    def test_a_failure_ends_the_run(self):
        """A failure ends the run, also while the last picture is repeated, and leaves no incomplete output."""
        for how in ("", "gone"):
            with self.subTest(how):
                self.forget()
                self.control("")
                process = self.start("--camera", "--virtual-camera", "-o", "x.mkv", "--frames", "10000",
                                     env=self.output_environment())
                self.assertTrue(wait_for(lambda: self.written(3)), self.said())
                self.control(how)
                if how:
                    self.waits_for("the camera is gone: ")
                self.control(how + " out.eio")
                result = self.finished(process, OUTPUT)
                self.assertIn("cannot use the virtual camera '%s' (Fake Loopback): Input/output" % DEVICE, result.err)
                self.assertFalse([name for name in self.files() if name.startswith("x")])

    def test_contradictions(self):
        for args, *words in ((("--camera", "--record-raw", "-o", "x.mkv", "--frames", "3", "--virtual-camera"),
                              "--virtual-camera", "--record-raw"),
                             (("--virtual-camera",), "no INPUT"),
                             (("in.mkv", "-o", "x.mkv", "--jobs", "2", "--virtual-camera"), "--jobs", "--virtual-camera"),
                             (("in.mkv", "out.mkv", "-o", "x/", "--virtual-camera"), "--virtual-camera", "for one video"),
                             (("--virtual-camera=", "in.mkv"), "--virtual-camera")):
            with self.subTest(args):
                self.refused(self.give(*args, code=USAGE), USAGE, *words)

    def test_the_camera_itself(self):
        result = self.give("--camera=9", "--virtual-camera=9", "--null", "-q", code=USAGE, FAKE_CAMERA=DEVICE,
                           state="out.both")
        self.refused(result, USAGE, DEVICE, "the camera and the virtual camera")


@unittest.skipIf(MISSING, "not installed: %s" % ", ".join(MISSING))
@unittest.skipIf(not FAKE, "FAKE_CAMERA_LIBRARY names no fake camera")
class Window(OutputCase, WindowCase):
    def shows(self, *args, state="", **more):
        env = self.environment(**self.output_environment(state=state))
        env.update(DISPLAY=self.display, SDL_VIDEODRIVER="x11", SDL_AUDIODRIVER="dummy")
        process = self.start("--histogram", "off", *args, env=env, **more)
        self.window(process)
        return process

    def goes_on(self):
        """True if newer pictures of the camera come."""
        self.assertTrue(wait_for(lambda: self.written(1)), self.said())
        last = self.numbers_given()[-1]
        return wait_for(lambda: self.numbers_given()[-1] > last + 5)

    def test_camera(self):
        process = self.shows("--camera", "--virtual-camera")
        self.waits_for("virtual camera Fake Loopback (%s): yuyv422 320x240 at 30 fps\n" % DEVICE)
        self.assertTrue(self.goes_on())
        self.key("space")  # pauses, and the paused picture is repeated
        self.assertTrue(wait_for(lambda: len(set(self.numbers_given()[-10:])) == 1), "the picture moves in spite of the pause")
        before = len(self.times())
        self.assertTrue(wait_for(lambda: self.written(before + 10)), "the last picture is not repeated")
        self.key("space")
        self.assertTrue(self.goes_on(), "no newer picture comes")
        self.control("gone")
        self.waits_for("the camera is gone")
        before = len(self.times())
        self.assertTrue(wait_for(lambda: self.written(before + 10)), "the last picture is not repeated")
        self.assertEqual(self.said().count("the camera is gone"), 1, self.said())
        self.control("")
        self.waits_for("the camera is back")
        self.assertTrue(self.goes_on(), "no newer picture comes")
        self.key("q")
        self.finished(process)
        self.in_order()

    def test_mirror(self):
        """--mirror and its key mirror the device like the window; a recording is not mirrored."""
        process = self.shows("--camera", "--virtual-camera", "--mirror", "-o", "x.mkv")
        self.assertTrue(wait_for(lambda: self.written(10)))
        self.in_order(mirrored=True)
        self.key("M")

        def is_plain():
            given = self.numbers_given()[-5:]
            return given == sorted(given) and given[-1] < 1 << 12  # mirrored, small numbers become large
        self.assertTrue(wait_for(is_plain), "the pictures stay mirrored")
        self.key("q")
        self.finished(process)
        self.assertEqual(numbers(self.path("x.mkv")), sorted(numbers(self.path("x.mkv"))))

    def test_file(self):
        """The device gets the pictures that the window shows, in order."""
        make(self.path("in.nut"), "-c:v", "rawvideo", source="testsrc2=size=160x90:rate=10", seconds=2)
        # A window drops late frames, so no picture may depend on earlier frames.
        exact = ("--smooth", "0", "--strength", "0.6", "--denoise", "off", "--dither", "off", "--bars", "ignore")
        self.finished(self.shows("in.nut", "--virtual-camera", "--keep-open", "no", *exact))
        self.ok(self.path("in.nut"), "-o", self.path("x.y4m"), "--two-pass", "off", "-q", *exact)
        frames = self.read("x.y4m").split(b"FRAME\n")[1:]
        places = [frames.index(picture) if picture in frames else -1 for picture in self.pictures()]
        self.assertNotIn(-1, places)
        self.assertEqual(places, sorted(places))
        self.assertGreater(len(places), 1)

    def test_a_failure_ends_the_run(self):
        for state, words in (("out.size=64x48", "refuses 320x240 and has 64x48 instead"),
                             ("out.eio", "Input/output error")):
            with self.subTest(state):
                self.forget()
                env = self.environment(**self.output_environment(state=state))
                env.update(DISPLAY=self.display, SDL_VIDEODRIVER="x11", SDL_AUDIODRIVER="dummy")
                process = self.start("--camera", "--virtual-camera", "-q", env=env)
                self.refused(self.finished(process, OUTPUT), OUTPUT, DEVICE, words)
