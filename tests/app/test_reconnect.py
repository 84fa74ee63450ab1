"""--reconnect: URLs that end, fail, go silent, or are not available yet, over the loopback interface."""

import socket
import threading

from common import *
from test_network import NetworkCase
from window import MISSING, WindowCase

PAUSE = 0.02  # seconds; replaces the first pause of 1 s
OUTAGE = 6  # seconds
HEAD = b"HTTP/1.0 200 OK\r\n\r\n"
# Options with which the first frame of each connection is equalized like the run's first frame.
STEADY = ("--strength", "0.6", "--dither", "off", "--denoise", "off")


def stream(name="live.ts", seconds=1, **more):
    """The data that a camera sends in one connection."""
    return read_bytes(clip(name, *X264, "-bf", "2", "-g", "10", *(("-c:a", "aac") if "sound" in more else ()),
                         seconds=seconds, **more))


class ReconnectCase(NetworkCase):
    process = None  # None until start() returns; the program may connect earlier

    def start(self, *args, pause=PAUSE, env=None):
        """Starts a run that logs to the file "said"."""
        env = dict(env or environment(), LUMEQ_RECONNECT_PAUSE=str(pause))
        with open(self.path("said"), "wb") as said:
            usual = [] if "--config" in args else ["--no-config"]
            process = warm.start([LUMEQ] + usual + ["--backend", "cpu"] + [str(a) for a in args], env,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.process = process
        return process

    def said(self):
        return self.read("said").decode()

    def waits_for(self, text, times=1):
        wait_for(lambda: self.said().count(text) >= times or self.process.poll() is not None)
        self.assertGreaterEqual(self.said().count(text), times, self.said())

    def send(self, *parts, then=None, port=0):
        """Starts a server that sends the next part in each connection, and repeats the last part. `then`, if given, is
        called before each part. Returns the URL."""
        self.connections = 0
        listener = socket.create_server(("127.0.0.1", port))

        def serve():
            while True:
                try:
                    connection = listener.accept()[0]
                except OSError:
                    return
                with connection:
                    try:
                        connection.recv(1 << 16)
                        part = parts[min(self.connections, len(parts) - 1)]
                        self.connections += 1
                        if then:
                            then()
                        connection.sendall(HEAD + part)
                        connection.shutdown(socket.SHUT_WR)
                        connection.recv(1)
                    except OSError:
                        pass

        def close():
            listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        threading.Thread(target=serve, daemon=True).start()
        self.addCleanup(close)
        return "http://127.0.0.1:%d/cam.ts" % listener.getsockname()[1]

    def rises(self, times, least=0):
        for a, b in zip(times, times[1:]):
            self.assertGreater(b, a + least - 1e-6)


class Headless(ReconnectCase):
    def test_goes_on(self):
        """Times rise, no frame is missing, and the equalizer's history begins again with each connection."""
        url = self.send(stream())
        process = self.start("--network", "--reconnect", url, "-o", self.path("o.mkv"), "--frames", 90, "--stats",
                             self.path("o.csv"), "--vcodec", "ffv1", *STEADY)
        result = self.finished(process)
        self.assertEqual(result.err.count("is gone: the connection has ended; waiting for it"),
                         result.err.count("is back after "), str(result))
        self.assertRegex(result.err, "[34] outages, 90 frames")  # the run may end before the last outage is noticed
        times = frame_times(self.path("o.mkv"))
        self.assertEqual(len(times), 90)
        self.rises(times)
        rows = [line.split(",") for line in self.read("o.csv").decode().splitlines()[1:]]
        self.assertEqual([int(row[0]) for row in rows], list(range(90)))
        of_picture = [row[3:9] for row in rows]
        for i in range(25, 90):
            self.assertEqual(of_picture[i], of_picture[i - 25], "frame %d" % i)
        self.assertNotEqual(of_picture[0], of_picture[24])  # otherwise the comparison proves nothing

    def test_sound_is_cut_where_the_picture_is(self):
        """After each outage, the time from the first picture to the first sound is the same as at the start."""
        url = self.send(stream(sound=1))
        self.finished(self.start("--network", "--reconnect", url, "-o", self.path("o.mkv"), "--frames", 60, pause=0.3))
        self.assertEqual(len(streams(self.path("o.mkv"))), 2)
        sound, pictures = [p[0] for p in packets(self.path("o.mkv"))], frame_times(self.path("o.mkv"))
        self.rises(sound)
        starts = [[times[0]] + [b for a, b in zip(times, times[1:]) if b - a > 0.2] for times in (sound, pictures)]
        self.assertEqual([len(times) for times in starts], [3, 3], starts)
        apart = [a - b for a, b in zip(*starts)]
        self.near(apart, apart[:1] * 3, 0.005, str(starts))

    def test_the_outage_takes_its_time(self):
        """Timestamps include the outage."""
        url = self.send(stream())
        begin = time.monotonic()
        self.finished(self.start("--network", "--reconnect", url, "-o", self.path("o.mkv"), "--frames", 50, pause=1))
        took = time.monotonic() - begin
        times = frame_times(self.path("o.mkv"))
        hole = max(b - a for a, b in zip(times, times[1:]))
        self.assertTrue(0.9 < hole < took + 0.05, (hole, took))  # a frame lasts .04 s

    def test_the_run_ends_with_the_last_requested_frame(self):
        for more in ({}, {"sound": 1}):
            url = self.send(stream(**more))
            process = self.start("--network", "--reconnect", url, "-o", self.path("o.mkv"), "--frames", 25, "-y",
                                 pause=1000)
            self.finished(process)
            self.assertEqual(len(frame_times(self.path("o.mkv"))), 25)

    def test_not_there_at_first(self):
        port = self.free_port()
        url = "http://127.0.0.1:%d/cam.ts" % port
        process = self.start("--network", "--reconnect", url, "-o", self.path("o.mkv"), "--frames", 40)
        self.waits_for("Connection refused; waiting for it")
        time.sleep(10 * PAUSE)
        self.send(stream(), port=port)
        result = self.finished(process)
        self.assertEqual(result.err.count("Connection refused"), 1, str(result))
        self.assertIn("is available", result.err)
        self.assertEqual(len(frame_times(self.path("o.mkv"))), 40)

    def test_pauses_grow(self):
        """Pauses double, and start over after a connection that gave pictures."""
        times, data = [], stream()

        def serve(connection):
            times.append(time.monotonic())
            if len(times) == 4:
                connection.recv(1 << 16)
                connection.sendall(HEAD + data)
            connection.shutdown(socket.SHUT_RDWR)
        url = "http://127.0.0.1:%d/cam.ts" % self.listen(serve)
        process = self.start("--network", "--reconnect", url, "--null", pause=0.1)
        self.assertTrue(wait_for(lambda: len(times) >= 8), times)
        process.send_signal(SIGINT)
        self.finished(process, INTERRUPTED)
        gaps = [b - a for a, b in zip(times, times[1:])]
        for gap, pause in zip(gaps, (0.1, 0.2, 0.4, 0.1, 0.2, 0.4, 0.8)):
            self.assertGreater(gap, 0.95 * pause, gaps)

    def test_no_waiting_without_a_video(self):
        sound = self.serve_file(clip("sound.mka", "-vn", "-c:a", "flac", sound=1))
        self.refused(lumeq("--network", "--reconnect", sound, "--null"), INPUT, "has no video")

    def test_silence(self):
        """A silent server counts as gone, although its connection stays open."""
        data, answered = stream(), []

        def serve(connection):
            answered.append(1)
            connection.recv(1 << 16)
            connection.sendall(HEAD + data)
        url = "http://127.0.0.1:%d/cam.ts" % self.listen(serve)
        for more in ((), ("--low-latency",)):  # alone, --low-latency would wait without a limit
            process = self.start("--network", "--reconnect", "--network-timeout", 1, url, "--null", "--frames", 40,
                                 *more)
            result = self.finished(process)
            self.assertIn("is gone: no data for 1 s; waiting for it", result.err)

    def test_interrupted(self):
        """A signal ends the run at once, even in a long pause, and the written file is complete."""
        url = self.send(stream())
        process = self.start("--network", "--reconnect", url, "-o", self.path("o.mkv"), pause=1000)
        self.waits_for("waiting for it")
        begin = time.monotonic()
        process.send_signal(SIGINT)
        self.finished(process, INTERRUPTED)
        self.assertLess(time.monotonic() - begin, SOON)
        self.assertGreater(len(frame_times(self.path("o.partial.mkv"))), 0)
        process = self.start("--network", "--reconnect", "http://127.0.0.1:%d/x" % self.free_port(), "-o",
                             self.path("none.mkv"), pause=1000)
        self.waits_for("waiting for it")
        process.send_signal(SIGINT)
        self.finished(process, INTERRUPTED)
        self.assertFalse([name for name in self.files() if name.startswith("none")])

    def test_another_size(self):
        """All frames keep the size of the first, also if the container stores the decoder's header outside the packets."""
        for name in ("live.ts", "apart.mkv"):
            url = self.send(stream(name), stream(name, size="320x240"))
            self.finished(self.start("--network", "--reconnect", url, "-o", self.path("o.mkv"), "-y", "--frames", 45))
            self.assertEqual(len(frame_times(self.path("o.mkv"))), 45)
            self.assertEqual([s["width"] for s in streams(self.path("o.mkv"))], [160])

    def test_another_codec(self):
        url = self.send(stream(), read_bytes(clip("other.ts", "-c:v", "mpeg2video")))
        result = self.finished(self.start("--network", "--reconnect", url, "-o", self.path("o.mkv")), DAMAGED)
        self.assertIn("came back with mpeg2video instead of h264: the input ends here", result.err)
        self.assertIn("(first: came back with mpeg2video instead of h264", result.lines[-1])
        self.assertEqual(len(frame_times(self.path("o.mkv"))), 25)

    def serve_live(self):
        """Serves a live HLS stream. Returns its URL, and a function that waits for its reader and ends the stream."""
        shown = self.path("live.m3u8")
        ffmpeg("-i", clip("live.ts", *X264, "-g", "25", seconds=2), "-c", "copy", "-hls_time", "1", shown)
        self.write("live.m3u8", self.read("live.m3u8").replace(b"#EXT-X-ENDLIST\n", b""))
        url = self.serve(self.folder) + "/live.m3u8"

        def end():
            wait_for(lambda: any(path.endswith(".ts") for path, _ in self.asked))
            os.remove(shown)
        return url, end

    def test_live_streams_reconnect_by_default(self):
        """A live HLS stream that goes away is opened again. A film over http is not."""
        url, end = self.serve_live()
        away = self.read("live.m3u8")
        process = self.start(url, "--null", "--frames", 60)
        end()
        self.waits_for("waiting for it")
        self.write("live.m3u8", away)
        self.finished(process)
        self.assertIn("is back after", self.said())
        self.ok(self.serve_file(simple()), "--null")
        self.refused(lumeq("rtsp://127.0.0.1:%d/x" % self.free_port(), "--null"), INPUT, "cannot open")

    def test_off(self):
        """With reconnecting off, a live stream that goes away ends the run."""
        self.write("config", b"reconnect = off\n")
        for more in (("--reconnect=off",), ("--no-reconnect",), ("--config", self.path("config"))):
            with self.subTest(more):
                url, end = self.serve_live()
                process = self.start(*more, url, "--null")
                end()
                process.wait(LIVENESS)
                self.assertIn(process.returncode, (0, DAMAGED), self.said())
                self.assertNotIn("waiting for it", self.said())

    def test_contradictions(self):
        self.refused(lumeq("--reconnect", simple(), "--null"), USAGE, "--reconnect", "INPUT is not one")
        self.refused(lumeq("--reconnect", "--no-reconnect", "http://127.0.0.1:1/x", "--null"), USAGE, "contradict")
        self.write("config", b"reconnect = yes\n")
        self.ok("--config", self.path("config"), simple(), "--null")


@unittest.skipIf(MISSING, "not installed: %s" % ", ".join(MISSING))
class Window(ReconnectCase, WindowCase):
    def test_the_last_picture_stays(self):
        there = threading.Event()
        url = self.send(stream(seconds=3, size="640x360"), then=lambda: self.connections > 1 and there.wait(LIVENESS))
        process = self.start("--network", "--reconnect", "--histogram", "off", url, env=self.environment())
        self.window(process)
        self.waits_for("waiting for it")
        seen = lambda rows: self.share(rows, 480, 1120, lambda r, g, b: max(r, g, b) > 40)
        self.assertTrue(wait_for(lambda: seen(self.grab()) > 0.2), "the last picture has disappeared")

        def is_still():
            before[:] = self.grab()
            time.sleep(0.3)
            return self.changed(before, 0, 1600) < 0.1
        before = []
        self.assertTrue(wait_for(is_still), "the picture does not stop")
        there.set()
        self.waits_for("is back after")
        self.assertTrue(wait_for(lambda: self.changed(before, 0, 1600) > 0.1), "the picture does not move again")
        self.key("q")
        self.finished(process)

    def test_goes_on_at_once_with_sound(self):
        """An outage is not filled with silence."""
        there = threading.Event()

        def refuse():
            if self.connections > 1 and not there.is_set():
                raise OSError("away")
        url = self.send(stream("first.ts", size="640x360", sound=1),
                        stream("then.ts", seconds=3 * OUTAGE, size="640x360", sound=3 * OUTAGE), then=refuse)
        process = self.start("--network", "--reconnect", "--histogram", "off", url, env=self.environment())
        self.window(process)
        self.waits_for("waiting for it")
        time.sleep(OUTAGE)
        there.set()
        self.waits_for("is back after")
        begin = time.monotonic()
        middle = range(400, 500)  # rows without messages
        for _ in range(3):  # with silence, only the first picture would come at once
            before = self.server.grab(middle)
            self.assertTrue(wait_for(lambda: self.server.grab(middle) != before), "the picture does not move again")
        self.assertLess(time.monotonic() - begin, OUTAGE - 2)
        self.key("q")
        self.finished(process)

    def test_quits_while_it_is_away(self):
        url = self.send(stream(seconds=1))
        process = self.start("--network", "--reconnect", url, pause=1000, env=self.environment())
        self.window(process)
        self.waits_for("waiting for it")
        begin = time.monotonic()
        self.key("q")
        self.finished(process)
        self.assertLess(time.monotonic() - begin, SOON)
