"""Output that other programs read while it is written: -o - with --format mpegts and --low-latency."""

import shlex
import threading

from common import *
from test_network import NetworkCase

README = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/app/README.md")
HEAD = b"HTTP/1.0 200 OK\r\n\r\n"
MPEGTS = ("-o", "-", "--format", "mpegts")


def bytes_of(path):
    return read_bytes(path)


def pictures(data, pid=0x100):
    """The number of frames that have begun in a transport stream's first track."""
    heads = (data[i:i + 3] for i in range(0, len(data) - 187, 188))
    return sum(head[1] & 0x40 != 0 and (head[1] & 0x1f) << 8 | head[2] == pid for head in heads)


class Piped(NetworkCase):
    def reads(self, process):
        """Starts a thread that reads the output. Returns the bytearray that the thread fills."""
        data = bytearray()

        def read():
            while True:
                part = os.read(process.stdout.fileno(), 1 << 16)
                if not part:
                    return
                data.extend(part)
        thread = threading.Thread(target=read, daemon=True)
        thread.start()
        self.addCleanup(process.kill)
        self.addCleanup(thread.join, LIVENESS)
        return data

    def live(self, data):
        """Starts a server that sends `data` and keeps the connection open. Returns its URL."""
        def serve(connection):
            connection.recv(1 << 16)
            connection.sendall(HEAD + data)
        return "http://127.0.0.1:%d/cam.ts" % self.listen(serve)

    def written(self, *args):
        return self.write("o.ts", self.ok(*args, *MPEGTS).out)

    def test_nothing_is_held_back(self):
        """Only the last few pictures may wait to be interleaved with sound."""
        path = clip("flow.ts", *X264, "-bf", "0", "-g", "10", "-c:a", "aac", seconds=2, sound=2)
        for more in ((), ("--vcodec", "mpeg2video"), ("--acodec", "mp2")):
            with self.subTest(more):
                process = start("--no-config", "--network", "--low-latency", self.live(bytes_of(path)), *MPEGTS, *more,
                                stdout=subprocess.PIPE)
                data = self.reads(process)
                self.assertTrue(wait_for(lambda: pictures(data) >= 42), pictures(data))
                process.kill()
                process.wait()
                process.stderr.close()

    def test_order_and_key_frames(self):
        url = self.serve_file(clip("long.ts", *X264, "-bf", "2", seconds=5))
        live = self.written("--network", "--low-latency", url)
        frames = probe(live, "-select_streams", "v:0", "-show_packets")["packets"]
        self.assertEqual(len(frames), 125)
        self.assertTrue(all(f["pts"] == f["dts"] for f in frames))
        keys = [float(f["pts_time"]) for f in frames if f["flags"].startswith("K")]
        self.assertGreaterEqual(len(keys), 3)
        self.assertLessEqual(max(b - a for a, b in zip(keys, keys[1:])), 2.01)
        usual = probe(self.written("--network", url), "-select_streams", "v:0", "-show_packets")["packets"]
        self.assertFalse(all(f["pts"] == f["dts"] for f in usual))

    def test_a_file_in_real_time(self):
        path = clip("own.mkv", *X264, "-c:a", "aac", seconds=2, sound=2)
        begin = time.monotonic()
        out = self.written(path, "--low-latency")
        self.assertGreater(time.monotonic() - begin, 1.8)
        self.assertEqual(len(packets(out, "v:0")), 50)
        self.assertEqual([s["codec_name"] for s in streams(out)], ["h264", "aac"])

    def test_the_reader_goes_away(self):
        path = clip("gone.ts", *X264, seconds=20)
        for more in (("--low-latency",), ()):
            process = start("--no-config", "-q", path, *MPEGTS, *more, stdout=subprocess.PIPE)
            os.read(process.stdout.fileno(), 1000)
            process.stdout.close()
            process.stdout = None
            self.refused(finish(process), OUTPUT, "cannot write '-'", "Broken pipe")

    def test_the_example(self):
        """The documented command for go2rtc writes video and sound to its pipe."""
        with open(README, encoding="utf-8") as f:
            line = re.search(r"exec:lumeq (.*)", f.read())[1]
        self.assertEqual(len(re.findall(r"rtsp://\S+", line)), 1)
        url = self.live(bytes_of(clip("flow.ts", *X264, "-bf", "0", "-g", "10", "-c:a", "aac", seconds=2, sound=2)))
        args = shlex.split(re.sub(r"rtsp://\S+", url, line))
        process = subprocess.Popen([LUMEQ, "--no-config"] + args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        data = self.reads(process)
        self.assertTrue(wait_for(lambda: pictures(data) >= 42), pictures(data))
        process.kill()
        process.wait()
        self.write("o.ts", bytes(data))
        self.assertEqual([s["codec_name"] for s in streams(self.path("o.ts"))], ["h264", "aac"])
        self.assertGreaterEqual(len(packets(self.path("o.ts"), "v:0")), 42)

    def test_contradictions(self):
        self.refused(lumeq(simple(), "--low-latency", "-o", self.path("o.mkv")), USAGE, "--low-latency", "is a file")
        self.write("config", b"low-latency = yes\n")
        usual = self.converted(simple(), "a.mkv", "--two-pass", "off")
        other = self.converted(simple(), "b.mkv", "--two-pass", "off", "--config", self.path("config"))
        self.assertEqual(packets(usual, "v:0"), packets(other, "v:0"))
