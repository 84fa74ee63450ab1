"""Recordings of a camera: pipes, --frames, --record-raw, reports, lists, refusals."""

import select
import threading

from common import *
from test_camera import FAKE, RATE, CameraCase, camera_environment
from window import MISSING, WindowCase


class PipeCase(CameraCase):
    """Runs that write to standard output, which is a pipe."""

    def piped(self, *args, env=None):
        with open(self.path("said"), "wb") as said:
            process = warm.start([LUMEQ, "--no-config", "--backend", "cpu", "--camera", "--format", "matroska", "-o", "-",
                                  *args], env or camera_environment(self.folder), stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=said)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdout.close)
        self.process = process
        return process

    def read_all(self, process):
        """Starts a thread that copies the output to a file."""
        def run():
            with open(self.path("x.mkv"), "wb") as f:
                while data := process.stdout.read1(1 << 16):
                    f.write(data)
        reader = threading.Thread(target=run)
        reader.start()
        self.addCleanup(reader.join)
        return reader

    def is_whole(self, result):
        """Checks that the file decodes without errors. Returns the number of its packets."""
        self.assertNotIn("cannot write", result.err)
        p = subprocess.run(["ffmpeg", "-v", "error", "-xerror", "-i", self.path("x.mkv"), "-f", "null", "-"],
                           stderr=subprocess.PIPE)
        self.assertEqual((p.returncode, p.stderr), (0, b""))
        return len(packets(self.path("x.mkv"), "v:0"))


@unittest.skipIf(not FAKE, "FAKE_CAMERA_LIBRARY names no fake camera")
class Headless(PipeCase, Case):
    def run_camera(self, *args, code=DONE, **more):
        return self.finished(self.start(*args, env=camera_environment(self.folder, **more)), code)

    def test_signal_and_a_pipe(self):
        for raw_too in ((), ("--record-raw",)):
            with self.subTest(raw_too):
                process = self.piped("--frames", "1000", "--progress", "json", *raw_too)
                reader = self.read_all(process)
                self.has_done(10)
                process.send_signal(signal.SIGINT)
                result = self.finished(process, INTERRUPTED)
                reader.join()
                self.assertGreater(self.is_whole(result), 1)

    def test_a_signal_ends_a_run_with_an_unread_pipe(self):
        # The watchdog may end the run before its threads have ended.
        env = camera_environment(self.folder)
        env["TSAN_OPTIONS"] += ":report_thread_leaks=0"
        process = self.piped("--frames", "1000", "--vcodec", "rawvideo", env=env)
        self.waits_for("camera Fake")
        time.sleep(FILM)
        process.send_signal(signal.SIGINT)
        self.finished(process, INTERRUPTED)

    def test_raw_waits_for_a_slow_reader(self):
        """While the queue is full, frames that the camera cannot hold are dropped and counted. No other frame is lost."""
        process = self.piped("--record-raw", "--input-format", "yuyv422", "--framerate", "60", "--frames", "150",
                             env=camera_environment(self.folder, "YUYV 640x480@60"))
        self.assertTrue(select.select([process.stdout], [], [], LIVENESS)[0], "nothing is written")
        time.sleep(3)
        reader = self.read_all(process)
        result = self.finished(process)
        reader.join()
        self.assertEqual(self.is_whole(result), 150)
        times = frame_times(self.path("x.mkv"))
        missed = re.search(r"(\d+) frames of the camera were dropped while others waited", result.err)
        self.assertTrue(missed, result.err)
        # A machine that is too slow for 60 frames a second loses frames before lumeq can take them.
        absent = round((times[-1] - times[0]) * 60) + 1 - 150
        share = 0.5 if SANITIZED else 0.8
        self.assertTrue(share * absent - 2 <= int(missed.group(1)) <= absent + 2, (missed.group(), absent))

    def test_report(self):
        self.run_camera("--camera", "--null", "--frames", "20", "--report", self.path("r.json"))
        with open(self.path("r.json"), encoding="utf-8") as f:
            report = json.load(f)
        self.assertEqual((report["frames"], report["input"], report["state"]), (20, "a camera", "done"))

    def test_progress_of_raw(self):
        result = self.run_camera("--camera", "--record-raw", "-o", "x.mkv", "--frames", "30", "--progress", "json")
        rows = [json.loads(line) for line in result.lines if line.startswith("{")]
        last = rows[-1]
        self.assertEqual(rows[0]["state"], "running")
        self.assertEqual((last["frame"], last["frames"], last["percent"], last["state"]), (30, 30, 100, "done"))
        times = frame_times(self.path("x.mkv"))
        self.assertGreater(last["time"], 29 / RATE)
        self.assertAlmostEqual(last["time"], times[-1] - times[0] + 1 / RATE, delta=0.05)
        self.assertEqual(last["bytes"], os.path.getsize(self.path("x.mkv")))

    def test_raw_is_refused_at_the_start(self):
        for args, *words in ((("-o", "x.y4m"), "x.y4m", "cannot hold mjpeg"),
                             (("-o", "x.mkv", "--stats", "x.csv"), "--stats", "--record-raw")):
            with self.subTest(args):
                result = self.run_camera("--camera", "--record-raw", "--frames", "3", *args, code=USAGE)
                for word in words:
                    self.assertIn(word, result.lines[-1])
                self.assertFalse({"x.y4m", "x.mkv", "x.csv"} & set(os.listdir(self.folder)))

    def test_lists_and_a_camera(self):
        for args in (("--list-formats", "--camera=5"), ("--camera", "--list-devices")):
            with self.subTest(args):
                self.refused(self.run_camera(*args, code=USAGE), USAGE, "--camera", [a for a in args if "list" in a][0])

    def test_ends_with_the_last_frame(self):
        """The run does not wait for other tracks."""
        def took():
            begin = time.monotonic()
            result = self.run_camera("--camera", "-o", "x.mkv", "-y", "--preset", "ultrafast", "--frames", "3")
            self.assertIn("3 frames, 0.10 s of video", result.err)
            return time.monotonic() - begin
        self.soon(took, 1.9)


@unittest.skipIf(MISSING, "not installed: %s" % ", ".join(MISSING))
@unittest.skipIf(not FAKE, "FAKE_CAMERA_LIBRARY names no fake camera")
class Window(PipeCase, WindowCase):
    def preview(self, *args):
        env = self.environment(**camera_environment(self.folder))
        env.update(DISPLAY=self.display, SDL_VIDEODRIVER="x11", SDL_AUDIODRIVER="dummy")
        process = self.piped("--histogram", "off", *args, env=env)
        reader = self.read_all(process)
        self.window(process)
        time.sleep(1.5 * FILM)
        return process, reader

    def test_into_a_pipe(self):
        for args in ((), ("--record-raw",)):
            for interrupted in (0, 1):
                with self.subTest((args, interrupted)):
                    process, reader = self.preview(*args)
                    if interrupted:
                        process.send_signal(signal.SIGINT)
                    else:
                        self.key("q")
                    result = self.finished(process, INTERRUPTED if interrupted else DONE)
                    reader.join()
                    count = self.is_whole(result)
                    self.assertGreater(count, 1)
                    if not interrupted:
                        self.assertIn("recorded '-': %d frames" % count, result.err)
