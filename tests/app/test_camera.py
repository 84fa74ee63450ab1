"""Tests with a fake camera (tests/camera): choice of mode, messages, window and recordings."""

import glob
import resource
import select

from common import *
from window import HEIGHT, MISSING, THREADS_STAY, WIDTH, WindowCase

FAKE = os.environ.get("FAKE_CAMERA_LIBRARY", "")
SMALL = "MJPG 320x240@30,15;YUYV 320x240@15"
RATE = 30
BITS = 16


def camera_environment(folder, modes=SMALL, state="", **more):
    """Environment of a program that sees the fake camera and no microphone."""
    env = environment()
    env.update(LD_PRELOAD=FAKE, SDL_AUDIODRIVER="dummy", FAKE_CAMERA_MODES=modes, FAKE_CAMERA_STATE=state,
               FAKE_CAMERA_CONTROL=os.path.join(folder, "control"))
    env["ASAN_OPTIONS"] += ":verify_asan_link_order=0:detect_leaks=0"
    env.update(more)
    return env


def numbers(path):
    """The number that the camera has drawn into each frame of a file."""
    about = video(path)
    width, height = about["width"], about["height"]
    data = raw(path, "gray")
    found = []
    for start in range(0, len(data), width * height):
        row = data[start + 4 * width:start + 5 * width]
        bits = [row[(2 * i + 1) * width // (2 * BITS)] > 127 for i in range(BITS)]
        found.append(sum(bit << (BITS - 1 - i) for i, bit in enumerate(bits)))
    return found


class CameraCase:
    """Shared by the tests with and without a window."""

    def control(self, words):
        self.write("control.new", words.encode())
        os.rename(self.path("control.new"), self.path("control"))

    def start(self, *args, env, **more):
        """Starts a run that logs to the file "said"."""
        with open(self.path("said"), "wb") as said:
            process = warm.start([LUMEQ, "--no-config", "--backend", "cpu"] + [str(a) for a in args], env,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said, cwd=self.folder, **more)
        self.addCleanup(process.kill)
        self.process = process
        return process

    def said(self):
        return self.read("said").decode()

    def waits_until(self, says):
        """Waits for a condition on the log; fails if the run ends first."""
        wait_for(lambda: says() or self.process.poll() is not None)
        self.assertTrue(says(), "lumeq printed: %s" % self.said())

    def waits_for(self, text):
        self.waits_until(lambda: text in self.said())

    def has_done(self, frames):
        """Waits until a run with --progress json has processed this many frames."""
        self.waits_until(lambda: any(int(n) >= frames for n in re.findall(r'"frame":(\d+)', self.said())))

    def has_capture_times(self, path, rate=RATE):
        """Checks that timestamps fit the frames' numbers, at Matroska's precision. Returns times and numbers."""
        times, seen = frame_times(path), numbers(path)
        self.assertEqual(len(times), len(seen))
        self.assertGreater(len(seen), 1)
        self.assertEqual(seen, sorted(set(seen)))
        self.near(times, [times[0] + (n - seen[0]) / rate for n in seen], 0.0021, str(seen))
        return times, seen

    def has_an_outage(self, path):
        """Checks that one interval between frames includes an outage of about a second. Frame numbers do not advance
        in an outage."""
        times, seen = frame_times(path), numbers(path)
        self.assertEqual(len(times), len(seen))
        extra = [b - a - (n - m) / RATE for a, b, m, n in zip(times, times[1:], seen, seen[1:])]
        longest = extra.index(max(extra))
        self.assertGreater(extra.pop(longest), 0.9)
        self.near(extra, [0] * len(extra), 0.0041, str(times))
        return times


@unittest.skipIf(not FAKE, "FAKE_CAMERA_LIBRARY names no fake camera")
class Headless(CameraCase, Case):
    def run_camera(self, *args, code=DONE, modes=SMALL, state="", **more):
        return self.finished(self.start(*args, env=camera_environment(self.folder, modes, state, **more)), code)

    def output(self, *args, modes=SMALL, state=""):
        p = subprocess.run([LUMEQ] + list(args), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           env=camera_environment(self.folder, modes, state))
        return Result(args, p.returncode, p.stdout, p.stderr)

    def test_the_format_of_the_highest_rate(self):
        modes = "YUYV 1280x720@10,5;MJPG 1280x720@30,15;YUYV 640x480@30"
        result = self.run_camera("--camera", "--null", "--frames", "3", modes=modes)
        self.assertIn("camera Fake Webcam (/dev/video0): mjpeg 1280x720 at 30 fps\n", result.err)
        result = self.run_camera("--camera=0", "--null", "--frames", "2", "--input-format", "yuyv422", "--video-size",
                                 "1280x720", modes=modes)
        self.assertIn("yuyv422 1280x720 at 10 fps", result.err)

    def test_lists(self):
        result = self.output("--list-devices")
        self.assertEqual((result.code, result.err), (DONE, ""), str(result))
        self.assertIn(b"/dev/video0: Fake Webcam", result.out)
        result = self.output("--list-formats")
        self.assertEqual((result.code, result.err), (DONE, ""), str(result))
        for words in (b"mjpeg (MJPG", b"320x240 at 30, 15 fps", b"yuyv422 (YUYV"):
            self.assertIn(words, result.out)
        result = self.output("--list-formats", modes="Y12  320x240@9;Y16- 320x240@9;BA10 320x240@9")
        for words in (b"gray12le (Y12, 12-bit Greyscale)", b"gray16be (Y16-BE, 16-bit Greyscale BE)",
                      b"BA10 (10-bit Bayer GRGR/BGBG): not supported\n   the sensor's raw data needs libcamera"):
            self.assertIn(words, result.out)
        result = self.output("--list-formats=/dev/video7")
        self.refused(result, INPUT, "/dev/video7")
        for option in ("--list-devices", "--list-formats"):  # an empty list is no failure
            self.refused(self.output(option, state="at=/dev/nowhere"), DONE, "no camera found")

    def test_unusable_cameras_are_refused(self):
        self.write("unreadable", b"")
        os.chmod(self.path("unreadable"), 0)
        for device, state, words in (("/dev/video9", "", ("/dev/video9", "does not exist")),
                                     ("/dev/null", "", ("/dev/null", "not a camera")),
                                     ("/dev", "", ("/dev", "directory")),
                                     ("99", "", ("/dev/video99", "does not exist")),
                                     ("abc", "", ("'abc'", "/dev/videoN", "path of its device")),
                                     ("unreadable", "", ("unreadable", "not a camera")),
                                     ("", "busy", ("/dev/video0", "another program")),
                                     ("", "denied", ("/dev/video0", "group")),
                                     ("", "at=/dev/nowhere", ("no camera was found",))):
            with self.subTest(state or device):
                option = "--camera=" + device if device else "--camera"
                result = self.run_camera(option, "-o", "x.mkv", "--frames", "2", code=INPUT, state=state)
                self.refused(result, INPUT, *words)
        self.assertFalse(os.path.exists(self.path("x.mkv")))

    def test_modes_not_offered_are_refused(self):
        for args in (("--video-size", "4000x3000"), ("--input-format", "h264"), ("--framerate", "90")):
            with self.subTest(args):
                self.refused(self.run_camera("--camera", "--null", "--frames", "2", *args, code=USAGE), USAGE, args[1])

    def test_contradictions(self):
        for args, *words in ((("--camera", SAMPLE), "--camera", "lumeq-sample"),
                             (("--camera", "/dev/video0"), "--camera=/dev/video0"),
                             (("--camera", "--ss", "1"), "--ss", "--camera"),
                             (("--camera", "--to", "1"), "--to", "--camera"),
                             (("--camera", "--loop"), "--loop", "--camera"),
                             (("--camera", "--keep-open", "yes"), "--keep-open", "--camera"),
                             (("--camera", "--speed", "2"), "--speed", "--camera"),
                             (("--camera", "--video-track", "0"), "--video-track", "--camera"),
                             (("--camera", "-o", "x.mkv", "--record-raw", "--crf", "20"), "--crf", "--record-raw"),
                             (("--camera", "--record-raw", "--null"), "--null", "--record-raw"),
                             (("--camera", "-o", "x.mkv", "--frames", "3", "--mirror"), "--mirror"),
                             (("--video-size", "640x480", SAMPLE), "--video-size", "--camera"),
                             (("--framerate", "30", SAMPLE), "--framerate", "--camera"),
                             (("--input-format", "mjpeg", SAMPLE), "--input-format", "--camera"),
                             (("--record-raw", SAMPLE), "--record-raw", "--camera"),
                             (("--low-latency", SAMPLE), "--low-latency", "lumeq-sample"),
                             (("--camera", "--video-size", "640"), "--video-size", "'640'"),
                             (("--camera", "--video-size", "0x480"), "--video-size", "'0x480'"),
                             (("--camera", "--framerate", "0"), "--framerate", "'0'"),
                             (("--camera=",), "--camera")):
            with self.subTest(args):
                self.refused(lumeq(*args, cwd=self.folder), USAGE, *words)

    def test_camera_settings_do_not_affect_files(self):
        self.write("config", b"video-size = 640x480\nrecord-raw = yes\nlow-latency = yes\nmirror = yes\n")
        self.ok("--config", self.path("config"), SAMPLE, "--frames", "2", "-o", self.path("x.mkv"))
        self.assertEqual(video(self.path("x.mkv"))["codec_name"], "h264")

    def test_recording_keeps_the_times_of_capture(self):
        result = self.run_camera("--camera", "-o", "x.mkv", "--frames", "40")
        self.assertIn("40 frames", result.err)
        times, _ = self.has_capture_times(self.path("x.mkv"))
        self.assertEqual(len(times), 40)
        self.assertAlmostEqual(times[0], 0, delta=0.1)

    def test_containers(self):
        for name in ("x.mp4", "x.avi"):
            with self.subTest(name):
                self.run_camera("--camera", "-o", name, "--frames", "10")
                self.assertEqual(len(numbers(self.path(name))), 10)
        self.run_camera("--camera", "-o", "x.png", "--frames", "1")
        self.assertEqual(video(self.path("x.png"))["width"], 320)

    def test_raw_has_the_cameras_bytes(self):
        """Frames have the same bytes as in a recording by ffmpeg."""
        self.run_camera("--camera", "--record-raw", "-o", "x.mkv", "--frames", "20")
        self.assertEqual(video(self.path("x.mkv"))["codec_name"], "mjpeg")
        self.assertEqual(len(self.has_capture_times(self.path("x.mkv"))[0]), 20)
        ffmpeg("-f", "v4l2", "-input_format", "mjpeg", "-video_size", "320x240", "-i", "/dev/video0",
               "-frames:v", "30", "-c", "copy", self.path("y.mkv"), env=camera_environment(self.folder))
        known = dict(zip(numbers(self.path("y.mkv")), packets(self.path("y.mkv"), "v:0")))
        same = 0
        for number, packet in zip(numbers(self.path("x.mkv")), packets(self.path("x.mkv"), "v:0")):
            if number in known:
                self.assertEqual(packet[1:], known[number][1:])
                same += 1
        self.assertGreater(same, 5)

    def test_raw_without_compression(self):
        self.run_camera("--camera", "--input-format", "yuyv422", "--record-raw", "-o", "x.mkv", "--frames", "10")
        about = video(self.path("x.mkv"))
        self.assertEqual((about["codec_name"], about["pix_fmt"]), ("rawvideo", "yuyv422"))
        self.assertEqual(len(self.has_capture_times(self.path("x.mkv"), 15)[0]), 10)
        result = self.run_camera("--camera", "--input-format", "yuyv422", "--record-raw", "-o", "x.webm", "--frames", "2",
                                 code=USAGE)
        self.assertIn("cannot hold rawvideo", result.err)
        self.assertFalse(os.path.exists(self.path("x.webm")))

    def test_deep_gray(self):
        """Only raw recordings keep the depth."""
        for code, pixels, state in (("Y12 ", "gray12le", ""), ("Y16 ", "gray16le", ""), ("Y16-", "gray16be", "")):
            with self.subTest(code):
                modes = code + " 320x240@30"
                result = self.run_camera("--camera", "-o", "x.mkv", "--frames", "5", "-y", modes=modes, state=state)
                self.assertIn("%s 320x240 at 30 fps" % pixels, result.err)
                self.assertEqual(video(self.path("x.mkv"))["pix_fmt"], "yuv420p10le")
                seen = numbers(self.path("x.mkv"))
                self.assertEqual((len(seen), seen), (5, sorted(set(seen))))
                self.run_camera("--camera", "--record-raw", "-o", "x.nut", "--frames", "5", "-y", modes=modes, state=state)
                self.assertEqual(video(self.path("x.nut"))["pix_fmt"], pixels)
                seen = numbers(self.path("x.nut"))
                self.assertEqual((len(seen), seen), (5, sorted(set(seen))))
        for name in ("x.mkv", "x.avi"):  # players would show another format
            result = self.run_camera("--camera", "--record-raw", "-o", name, "--frames", "2", "-y", code=USAGE, modes=modes)
            self.assertIn("cannot hold rawvideo as it is; nut can", result.err)

    def test_few_codes_are_visible(self):
        """Thermal cameras deliver 16-bit gray of few codes, or with the lower 14 bits only."""
        for state, words in (("few", "of 65535: stretched"), ("low", "dark: lifted")):
            result = self.run_camera("--camera", "-o", "x.mkv", "--frames", "30", "-y", modes="Y16  320x240@30", state=state)
            self.assertIn(words, result.err)
            last = raw(self.path("x.mkv"), "gray")[-320 * 200:]
            self.assertGreater(max(last) - min(last), 60, state)  # without lumeq: 4 and 38
            self.assertGreater(max(last), 120, state)

    def test_samples_above_their_depth(self):
        self.run_camera("--camera", "--null", "--frames", "5", modes="Y12  320x240@30", state="wide")

    def test_bayer_is_refused(self):
        result = self.run_camera("--camera", "-o", "x.mkv", "--frames", "2", code=INPUT, modes="RGGB 320x240@30")
        self.refused(result, INPUT, "offers no supported format", "--list-formats")
        self.assertFalse(os.path.exists(self.path("x.mkv")))

    def recorded(self, *args, name="x.mkv", frames=1000):
        """Starts a recording, and waits for its first frames."""
        self.control("")
        process = self.start("--camera", "-o", name, "--frames", frames, "-y", "--progress", "json", *args,
                             env=camera_environment(self.folder))
        self.has_done(10)
        return process

    def test_gone_in_the_middle(self):
        for raw_too in ((), ("--record-raw",)):
            with self.subTest(raw_too):
                process = self.recorded("--reconnect", "off", *raw_too)
                self.control("gone")
                result = self.finished(process, DAMAGED)
                self.assertRegex(result.lines[-1], r"the camera disappeared after \d+ of 1000 frames: unplugged")
                self.assertEqual(len(self.has_capture_times(self.path("x.mkv"))[0]),
                                 int(re.search(r"after (\d+) of", result.err).group(1)))

    def test_signal(self):
        """A signal ends the run, also while the camera is gone."""
        for raw_too in ((), ("--record-raw",)):
            for gone in (False, True):
                with self.subTest(raw_too, gone=gone):
                    process = self.recorded(*raw_too)
                    if gone:
                        self.control("gone")
                        self.waits_for("waiting for it")
                    process.send_signal(signal.SIGINT)
                    self.finished(process, INTERRUPTED)
                    self.assertFalse(os.path.exists(self.path("x.mkv")))
                    self.has_capture_times(self.path("x.partial.mkv"))
                    os.unlink(self.path("x.partial.mkv"))

    def test_stalled(self):
        process = self.start("--camera", "--null", "--no-reconnect", env=camera_environment(self.folder))
        self.waits_for("camera Fake")
        self.control("stall")
        self.assertIn("no picture for", self.finished(process, DAMAGED).err)

    def test_goes_on_when_it_returns(self):
        """The recording goes on with complete frames, and its timestamps include the outage."""
        for name, *more in (("x.mkv",), ("x.mkv", "--record-raw"), ("x.mp4",), ("x.avi",), ("x.ts",)):
            with self.subTest(name + str(more)):
                process = self.recorded(*more, name=name, frames=50)
                self.control("gone")
                self.waits_for("lumeq: the camera is gone: unplugged (No such device); waiting for it")
                time.sleep(1)
                self.control("")
                result = self.finished(process)
                self.assertRegex(result.err, r"the camera is back after \d+\.\d s\n")
                self.assertRegex(result.lines[-1], "1 outage, 50 frames" if not more else "50 frames, .*, 1 outage")
                missed = re.search(r"(\d+) frames? of the camera w.* dropped", result.err)  # if the machine is busy
                self.assertLess(int(missed.group(1)) if missed else 0, 0.8 * RATE, result.err)
                self.assertEqual(len(self.has_an_outage(self.path(name))), 50)

    def test_another_size_format_or_rate_begins_a_second_file(self):
        self.write("x-2.mkv", b"mine")
        for words, size, more in (("size=160x120", (160, 120), ()), ("rate=15", (320, 240), ()),
                                  ("refuse=MJPG", (320, 240), ("--stats", "x.csv")),
                                  ("size=160x120", (160, 120), ("--record-raw",))):
            with self.subTest(words + str(more)):
                process = self.recorded(*more, frames=50)
                self.control("gone")
                self.waits_for("the camera is gone: unplugged")
                self.control(words)
                result = self.finished(process)
                self.assertRegex(result.err, r"the camera is back after \d+\.\d s with another size, format or rate\n")
                self.assertIn("'x-3.mkv': ", result.lines[-1])
                counts = [len(numbers(self.path(name))) for name in ("x.mkv", "x-3.mkv")]
                self.assertEqual(sum(counts), 50)
                self.assertGreater(min(counts), 5)
                self.assertEqual([video(self.path(n))["width"] for n in ("x.mkv", "x-3.mkv")], [320, size[0]])
                if "--stats" in more:
                    rows = [self.read(name).count(b"\n") - 1 for name in ("x.csv", "x-3.csv", "x-2.csv")
                            if os.path.exists(self.path(name))]
                    self.assertEqual(rows, counts)
                os.unlink(self.path("x-3.mkv"))
        self.assertEqual(self.read("x-2.mkv"), b"mine")

    def test_a_virtual_camera_waits_for_the_first_size(self):
        process = self.start("--camera", "--null", "--virtual-camera=/dev/video9", "--frames", "40", "--progress", "json",
                             env=camera_environment(self.folder, FAKE_OUTPUT="/dev/video9"))
        self.has_done(10)
        self.control("gone")
        self.waits_for("the camera is gone: unplugged")
        self.control("size=160x120")
        self.waits_for("camera: other size or format than before, waiting")
        self.control("")
        self.finished(process)

    def test_frames_lost_by_the_camera_are_counted(self):
        """The camera loses every fourth frame; a busy machine may lose more."""
        for more in ((), ("--record-raw",)):
            with self.subTest(more):
                args = ("--camera", "-v", "-y", "-o", "x.mkv", "--frames", "20", *more)
                result = self.run_camera(*args, state="lost=4")
                seen = numbers(self.path("x.mkv"))
                self.assertFalse([n for n in seen if n % 4 == 0])
                lost = re.search(r"(\d+) frames were lost in the camera, as counted by its driver", result.err)
                self.assertTrue(lost, result.err)
                # Losses after the file's last frame may also be counted.
                absent = seen[-1] - seen[0] + 1 - len(seen)
                self.assertGreaterEqual(absent, 6)
                self.assertGreaterEqual(int(lost.group(1)), absent)
                self.assertNotIn("lost in the camera", self.run_camera(*args, state="uncounted lost=4").err)

    def test_standard_output(self):
        p = subprocess.run([LUMEQ, "--no-config", "--camera", "-o", "-", "--frames", "3", "-q"], stdout=subprocess.PIPE,
                           env=camera_environment(self.folder), timeout=LIVENESS)
        self.assertEqual(p.returncode, DONE)
        self.assertTrue(p.stdout.startswith(b"YUV4MPEG2 W320 H240"))
        self.assertEqual(p.stdout.count(b"FRAME\n"), 3)

    def test_missed_frames_are_counted(self):
        """Frames are dropped while the output's reader sleeps."""
        process = subprocess.Popen([LUMEQ, "--no-config", "--camera", "-o", "-", "--frames", "60"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=camera_environment(self.folder))
        self.addCleanup(process.kill)
        self.assertTrue(select.select([process.stdout], [], [], LIVENESS)[0], "nothing is written")
        time.sleep(3)
        out, err = process.communicate(timeout=LIVENESS)
        self.assertEqual(process.returncode, DONE, err)
        self.write("x.y4m", out)
        seen = numbers(self.path("x.y4m"))
        missed = re.search(r"(\d+) frames of the camera were dropped while others waited", err.decode())
        self.assertTrue(missed, err)
        # A busy machine may also read frames too late.
        missing = seen[-1] - seen[0] + 1 - len(seen)
        self.assertLessEqual(int(missed.group(1)), missing + 2)
        self.assertGreater(int(missed.group(1)), missing / 2)


@unittest.skipIf(MISSING, "not installed: %s" % ", ".join(MISSING))
@unittest.skipIf(not FAKE, "FAKE_CAMERA_LIBRARY names no fake camera")
class Window(CameraCase, WindowCase):
    def preview(self, *args, modes=SMALL, **more):
        env = self.environment(**camera_environment(self.folder, modes, **more))
        env.update(DISPLAY=self.display, SDL_VIDEODRIVER="x11", SDL_AUDIODRIVER="dummy")
        process = self.start("--camera", "--histogram", "off", *args, env=env)
        self.window(process)
        self.assertTrue(wait_for(self.picture), "there is no picture")
        return process

    def picture(self):
        """Some rows of the camera's picture on the screen, without the black around it; [] if there is none."""
        rows = self.server.grab(range(HEIGHT // 2, HEIGHT // 2 + 60, 7))
        lit = [x for x in range(0, WIDTH) if rows[0][3 * x] > 40]
        if len(lit) < 100:
            return []
        return [row[3 * lit[0]:3 * lit[-1] + 3] for row in rows]

    def moves(self, limit=LIVENESS):
        """True if the picture changes within the limit."""
        before = self.picture()
        return wait_for(lambda: self.picture() != before, limit)

    def holds(self):
        return wait_for(lambda: not self.moves(1.5))

    def quits(self, process):
        self.key("q")
        return self.finished(process)

    def recordings(self):
        return sorted(glob.glob(self.path("lumeq-*.mkv")))

    @staticmethod
    def is_red(r, g, b):
        return r > 180 and g < 90 and b < 90

    def test_goes_and_returns(self):
        process = self.preview()
        self.waits_for("camera Fake Webcam (/dev/video0): mjpeg 320x240 at 30 fps")
        self.assertTrue(self.moves())
        for how in ("gone", "stall"):
            self.control(how)
            self.waits_for("the camera is gone")
            self.assertTrue(self.holds(), "the picture still moves")
            self.assertTrue(self.picture(), "the picture has disappeared")
            self.control("")
            self.waits_for("the camera is back")
            self.assertTrue(self.moves(), "the picture does not move again")
            os.truncate(self.path("said"), 0)
        self.quits(process)

    def test_says_why_it_cannot_be_used(self):
        process = self.preview()
        self.control("gone")
        self.waits_for("the camera is gone")
        self.control("busy")
        self.waits_for("camera: in use by another program, waiting")
        self.control("")
        self.waits_for("the camera is back")
        self.control("malformed")
        self.waits_for("the camera's pictures are damaged")
        self.control("")
        self.assertTrue(self.moves())
        self.assertEqual(self.quits(process).err.count("pictures are damaged"), 1, self.said())

    def test_quits_while_it_is_gone(self):
        """The key q works while the camera is gone, even before lumeq notices the loss."""
        for how, says in (("gone", "the camera is gone"), ("stall", "the camera is gone"), ("stall", "")):
            self.control("")
            process = self.preview()
            self.control(how)
            self.waits_for(says)
            self.quits(process)

    def test_keys_without_a_meaning_do_nothing(self):
        process = self.preview()
        self.key("Left", "Right", "Up", "Down", "bracketleft", "bracketright", "l", "m", "0", "j", "v", "numbersign",
                 "BackSpace", "i", "i", "question", "question")  # the last four show and hide panels
        self.assertTrue(self.moves())
        self.key("comma", "period")  # these pause
        self.key("space")
        self.assertTrue(self.moves())
        self.quits(process)

    def test_frames_lost_by_the_camera_are_counted(self):
        process = self.preview("-v")
        self.control("lost=2")
        self.assertTrue(self.moves())
        time.sleep(FILM)
        result = self.quits(process)
        lost = re.search(r"\d+ late, (\d+) lost in the camera", result.err)
        self.assertTrue(lost, result.err)
        self.assertGreater(int(lost.group(1)), 0)

    def test_pause_holds_the_picture(self):
        process = self.preview()
        self.key("space")
        self.assertTrue(self.holds(), "the picture moves in spite of the pause")
        self.key("space")
        self.assertTrue(self.moves())
        self.quits(process)

    def test_mirror(self):
        process = self.preview()
        self.control("stall")  # the picture stands still
        self.waits_for("the camera is gone")
        time.sleep(0.5)
        turned = lambda rows: [b"".join(row[i:i + 3] for i in range(len(row) - 3, -1, -3)) for row in rows]
        before = self.picture()
        self.key("M")
        self.assertTrue(wait_for(lambda: self.picture() != before), "the picture has not changed")
        after = turned(self.picture())
        near = [abs(a - b) < 12 for x, y in zip(before, after) for a, b in zip(x, y)]
        self.assertGreater(sum(near) / len(near), 0.95)
        self.key("M")
        self.assertTrue(wait_for(lambda: self.picture() == before), "the picture stays mirrored")
        self.quits(process)

    def test_records_by_a_key(self):
        process = self.preview("--mirror")
        self.assertLess(self.share(self.grab(), 0, WIDTH, self.is_red), 1e-5)
        self.key("R")
        self.assertTrue(wait_for(lambda: self.share(self.grab(), 0, WIDTH, self.is_red) > 1e-5), "no red light")
        self.assertTrue(self.moves())
        time.sleep(1.5 * FILM)
        self.key("R")
        self.waits_for("recorded")
        self.key("R")  # the second recording gets its own name
        time.sleep(FILM)
        self.quits(process)
        self.assertEqual(len(self.recordings()), 2)
        for path in self.recordings():
            self.assertEqual(self.has_capture_times(path)[0][0], 0)  # the numbers are not mirrored

    def test_records_from_the_start(self):
        for codec, about, *more in (("h264", "; H.264 .*, yuv420p$"), ("mjpeg", "", "--record-raw")):
            with self.subTest(codec):
                process = self.preview("-o", "x.mkv", "-y", *more)
                time.sleep(1.5 * FILM)
                result = self.quits(process)
                self.assertEqual(video(self.path("x.mkv"))["codec_name"], codec)
                count = int(re.search(r"recorded 'x.mkv': (\d+) frame.*" + about, result.err, re.M).group(1))
                self.assertEqual(len(self.has_capture_times(self.path("x.mkv"))[0]), count)

    def test_a_recording_goes_on_when_the_camera_returns(self):
        for more in ((), ("--record-raw",)):
            with self.subTest(more):
                self.control("")
                process = self.preview("-o", "x.mkv", "-y", *more)
                time.sleep(FILM)
                self.control("gone")
                self.waits_for("the camera is gone")
                time.sleep(1)
                self.control("")
                self.waits_for("the camera is back")
                time.sleep(FILM)
                result = self.quits(process)
                self.assertRegex(result.err, r"recorded 'x.mkv': \d+ frames, .* s, 1 outage")
                self.has_an_outage(self.path("x.mkv"))

    def test_the_key_while_the_camera_is_gone(self):
        """The key R ends a recording, which leaves no file without frames. A waiting recording begins when the camera
        returns."""
        process = self.preview("-o", "x.mkv")
        time.sleep(FILM)
        self.control("gone")
        self.waits_for("the camera is gone")
        self.key("R")
        self.waits_for("recorded 'x.mkv'")
        self.has_capture_times(self.path("x.mkv"))
        self.key("R")
        self.assertTrue(wait_for(lambda: self.share(self.grab(), 0, WIDTH, self.is_red) > 1e-5), "no red light")
        self.key("R")
        self.waits_for("nothing was recorded")
        self.key("R")
        self.control("")
        self.waits_for("the camera is back")
        time.sleep(FILM)
        result = self.quits(process)
        self.assertNotIn("outage", result.err)
        self.assertEqual(len(self.recordings()), 1)
        self.assertEqual(self.has_capture_times(self.recordings()[0])[0][0], 0)

    def test_a_lost_camera_ends_the_run_without_reconnecting(self):
        process = self.preview("-o", "x.mkv", "--reconnect", "off")
        time.sleep(FILM)
        self.control("gone")
        self.assertIn("the camera is gone: unplugged", self.finished(process, DAMAGED).err)
        self.has_capture_times(self.path("x.mkv"))

    def test_signal(self):
        process = self.preview("-o", "x.mkv")
        time.sleep(FILM)
        process.send_signal(signal.SIGINT)
        self.finished(process, INTERRUPTED)
        self.assertFalse(os.path.exists(self.path("x.mkv")))
        self.has_capture_times(self.path("x.partial.mkv"))

    def test_a_recording_is_whole_when_the_display_goes(self):
        for raw_too in ((), ("--record-raw",)):
            with self.subTest(raw_too), self.other_display() as server:
                process = self.preview("-o", "x.mkv", "-y", *raw_too, TSAN_OPTIONS=THREADS_STAY)
                time.sleep(FILM)
                server.kill()
                result = self.finished(process, OUTPUT)
                self.assertEqual(result.lines[-1], "lumeq: the display was lost")
                count = int(re.search(r"recorded 'x.mkv': (\d+) frame", result.err).group(1))
                self.assertEqual(len(self.has_capture_times(self.path("x.mkv"))[0]), count)
                self.assertEqual([n for n in self.files() if n.endswith(".part")], [])

    def test_impossible_outputs_are_refused(self):
        self.write("x.mkv", b"mine")
        env = self.environment(**camera_environment(self.folder))
        for args, code in ((("-o", "x.mkv"), USAGE), (("-o", "no/where.mkv"), 3), (("-o", "x.nonsense"), USAGE)):
            with self.subTest(args):
                self.assertEqual(len(self.finished(self.start("--camera", *args, env=env), code).lines), 1)
        self.assertEqual(self.read("x.mkv"), b"mine")

    def test_a_failed_start_ends_the_run(self):
        env = self.environment(**camera_environment(self.folder))
        env["DISPLAY"] = ":nowhere"
        result = self.finished(self.start("--camera", "-o", "x.mkv", env=env), USAGE)
        self.assertEqual(len(result.lines), 3, str(result))
        self.assertFalse(os.path.exists(self.path("x.mkv")))

    def test_preview_survives_a_failed_recording(self):
        """The preview goes on, and the exit code reports the failure."""
        limit = 4 << 20  # bytes; the fake camera needs less
        env = self.environment(**camera_environment(self.folder))
        env.update(DISPLAY=self.display, SDL_VIDEODRIVER="x11", SDL_AUDIODRIVER="dummy")
        process = self.start("--camera", "-q", "--input-format", "yuyv422", "--record-raw", "-o", "x.mkv", env=env,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.window(process)
        self.waits_for("recording failed: cannot write 'x.mkv'")
        self.assertIsNone(process.poll())
        self.key("R")
        time.sleep(0.5)
        self.key("R")
        self.assertTrue(wait_for(self.recordings), "the key starts no recording")
        self.key("q")
        self.finished(process, 3)
        self.assertNotIn("recorded", self.said())  # -q hides the success of the second recording
        self.assertFalse(os.path.exists(self.path("x.mkv")))

    def test_delay(self):
        """The limit is five times the latency on an idle machine, which is two frames."""
        def delay():
            process = self.preview("-v", modes="YUYV 1280x720@10;MJPG 1280x720@30")
            time.sleep(3)
            result = self.quits(process)
            found = re.search(r"latency from capture to screen: ([\d.]+) ms, 95 % of frames within (\d+) ms", result.err)
            print("capture to screen: mean %s ms, 95 %% within %s ms" % found.groups())
            return float(found.group(1))
        self.soon(delay, 5 * 2000 / RATE)

    def live_pipe(self, *args, rate=()):
        make_it = ["ffmpeg", "-v", "error", *rate, "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=30", "-t", "3",
                   "-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-f", "mpegts", "-"]
        feed = subprocess.Popen(make_it, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        self.addCleanup(feed.kill)
        process = self.play("-", "-v", *args, stdin=feed.stdout)
        feed.stdout.close()
        result = self.ends(process)
        feed.wait()
        shown, dropped = re.search(r"(\d+) frames? shown, (\d+) dropped", result.err).groups()
        frames = float(re.search(r"latency ([\d.]+) frames after", result.err).group(1))
        return int(shown), int(dropped), frames

    def test_low_latency_of_a_pipe(self):
        def delay():  # a window that opens late shows only the end of the stream
            shown, dropped, frames = self.live_pipe("--low-latency", rate=["-re"])
            print("with --low-latency, frames were seen %.1f frames after decoding" % frames)
            self.assertGreater(shown, 0)
            self.assertLessEqual(shown + dropped, 90)
            return frames
        self.soon(delay, 10)

    def test_the_newest_of_many_is_shown(self):
        start = time.monotonic()
        shown, dropped, _ = self.live_pipe("--low-latency")
        self.assertGreater(shown, 0)
        self.assertLessEqual(shown + dropped, 90)
        self.assertLess(time.monotonic() - start, LIVENESS)

    def heard(self, seconds):
        """Plays a pipe with this many seconds of sound and 1 s of video. Returns the seconds that reach the device."""
        rate = 48000
        feed = subprocess.Popen(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=30:duration=1",
                                 "-f", "lavfi", "-i", "aevalsrc=0.5:s=%d:d=%g" % (rate, seconds), "-c:v", "rawvideo",
                                 "-c:a", "pcm_s16le", "-f", "matroska", "-"],
                                stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        self.addCleanup(feed.kill)
        env = self.environment(SDL_AUDIODRIVER="disk", SDL_DISKAUDIOFILE=self.path("heard"))
        process = self.play("-", "--low-latency", stdin=feed.stdout, env=env)
        feed.stdout.close()
        self.ends(process)
        feed.wait()
        data = self.read("heard")
        samples = struct.unpack("<%df" % (len(data) // 4), data[:len(data) // 4 * 4])
        return sum(s > 0.4 for s in samples) / rate

    def test_sound_of_a_pipe_plays_out(self):
        self.assertTrue(any(self.heard(0.15) > 0.14 for _ in range(TRIALS)))
        self.assertLess(self.heard(5), 2)  # the window does not stay open for the rest of the sound
