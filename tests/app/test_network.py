"""Tests URLs as INPUT over the loopback interface."""

import base64
import http.server
import socket
import ssl
import threading

from common import *
from window import MISSING, WindowCase

SILENCE = 2  # --network-timeout of tests that wait for it, in seconds
IMPATIENT = ("--network", "--network-timeout", SILENCE)


PASSWORD = "p@ss/w:\u00f6 rd?#%&+"  # with characters that have a meaning in URLs


def is_allowed(method, authorization):
    """True if the Authorization header (Basic or Digest) is right for user bob."""
    if (authorization or "").startswith("Basic "):
        return base64.b64decode(authorization[6:]).decode() == "bob:" + PASSWORD
    md5 = lambda *parts: hashlib.md5(":".join(parts).encode()).hexdigest()
    field = dict(re.findall(r'(\w+)="(.*?)"', authorization or ""))
    return bool(field) and field["username"] == "bob" and field["response"] == md5(
        md5("bob", "here", PASSWORD), "once", md5(method, field["uri"]))


CHALLENGES = ('Basic realm="here"', 'Digest realm="here", nonce="once"')


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves a folder. `cut`: ends connections after this many bytes; `ranges`: supports ranges; `challenge`: asks for a
    password; `answer`: answers every request with this error."""
    cut = None
    tls = None
    ranges = False
    challenge = None
    answer = None

    def log_message(self, *args):
        pass

    def do_GET(self):
        self.server.asked.append((self.path, self.headers.get("Authorization")))
        if self.answer or self.challenge and not is_allowed("GET", self.headers.get("Authorization")):
            self.send_response(self.answer or 401)
            if self.challenge:
                self.send_header("WWW-Authenticate", self.challenge)
            self.end_headers()
            return
        if self.path.startswith("/moved/"):
            self.send_response(302)
            self.send_header("Location", self.path[6:])
            self.end_headers()
            return
        data = self.content()
        if data is None:
            return
        begin = re.match(r"bytes=(\d+)-", self.headers.get("Range") or "")
        begin = int(begin.group(1)) if begin and self.ranges else 0
        self.send_response(206 if self.ranges else 200)
        self.send_header("Content-Length", str(len(data) - begin))
        if self.ranges:
            self.send_header("Content-Range", "bytes %d-%d/%d" % (begin, len(data) - 1, len(data)))
        self.end_headers()
        try:
            self.wfile.write(data[begin:self.cut])
        except ConnectionError:
            pass

    def content(self):
        try:
            return read_bytes(self.translate_path(self.path))
        except OSError:
            self.send_error(404)
            return None


class NetworkCase(Case):
    def serve(self, folder, **settings):
        """Starts a web server for the folder. Returns its URL without a final slash."""
        handler = type("Of", (Handler,), settings)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=folder))
        server.daemon_threads = True
        if settings.get("tls"):
            server.socket = settings["tls"].wrap_socket(server.socket, server_side=True)
        server.asked = self.asked = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return "http://127.0.0.1:%d" % server.server_address[1]

    def serve_file(self, path, **settings):
        return self.serve(os.path.dirname(path), **settings) + "/" + os.path.basename(path)

    def same(self, a, b):
        a, b = self.path(a), self.path(b)
        self.assertEqual(len(streams(a)), len(streams(b)))
        for i in range(len(streams(a))):
            self.assertEqual(packets(a, str(i)), packets(b, str(i)))

    def listen(self, serve):
        """Starts a server that calls serve(connection) for each connection and keeps it open. Returns the port."""
        listener = socket.create_server(("127.0.0.1", 0))
        kept = []

        def accept():
            try:
                while True:
                    kept.append(listener.accept()[0])
                    serve(kept[-1])
            except OSError:
                pass

        def close():
            # close() alone does not wake accept(), so the port would stay open.
            listener.shutdown(socket.SHUT_RDWR)
            for connection in kept:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
                connection.close()
            thread.join(LIVENESS)
            listener.close()
        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        self.addCleanup(close)
        return listener.getsockname()[1]

    def silent_server(self, greeting=b""):
        """Starts a server that accepts, sends the greeting and then nothing. Returns its port."""
        return self.listen(lambda connection: connection.sendall(greeting))

    def full_server(self):
        """Starts a server that accepts no connection and whose queue of connections is full. Returns its port."""
        listener = socket.create_server(("127.0.0.1", 0), backlog=0)
        self.addCleanup(listener.close)
        for _ in range(3):
            other = socket.socket()
            self.addCleanup(other.close)
            other.setblocking(False)
            other.connect_ex(listener.getsockname())
        return listener.getsockname()[1]

    def bound(self, port):
        """Waits until lumeq has opened the port."""
        def look():
            for table in ("tcp", "udp"):
                with open("/proc/net/" + table, encoding="ascii") as f:
                    if any(line.split()[1].endswith(":%04X" % port) for line in list(f)[1:]):
                        return True
            return False
        self.assertTrue(wait_for(look), "port %d is not open" % port)

    @staticmethod
    def free_port():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.bind(("127.0.0.1", 0))
            return s.getsockname()[1]


class Headless(NetworkCase):
    def test_the_whole_file(self):
        whole = clip("whole.mkv", *X264, "-c:a", "aac", sound=1)
        for path, ranges in ((whole, False), (whole, True), (simple(), True)):  # the mp4's index is at the file's end
            with self.subTest(path, ranges=ranges):
                self.converted(path, "here.mkv", "-y", "--two-pass", "off")
                self.converted(self.serve_file(path, ranges=ranges), "there.mkv", "-y")
                self.same("here.mkv", "there.mkv")

    def test_part(self):
        path = clip("part.mkv", *X264, "-g", "25", seconds=6)
        for ranges in (True, False):
            with self.subTest(ranges=ranges):
                self.converted(path, "here.mkv", "--ss", 4, "--frames", 5, "-y", "--two-pass", "off")
                self.converted(self.serve_file(path, ranges=ranges), "there.mkv", "--network", "--ss", 4, "--frames", 5, "-y")
                self.same("here.mkv", "there.mkv")

    def test_moved(self):
        url = self.serve(os.path.dirname(simple()), ranges=True)
        self.ok("--network", url + "/moved/simple.mp4", "--null")
        self.assertEqual([path for path, _ in self.asked][:2], ["/moved/simple.mp4", "/simple.mp4"])

    def test_forbidden(self):
        url = self.serve_file(SAMPLE)
        self.write("config", b"network = off\n")
        self.refused(lumeq("--no-network", url, "--null"), USAGE, url, "--no-network forbids")
        self.refused(lumeq("--no-network", "udp://127.0.0.1:9", "--null"), USAGE, "udp://", "--no-network")
        self.refused(lumeq("--network", "--no-network", url, "--null"), USAGE, "contradict")
        self.refused(lumeq("--config", self.path("config"), url, "--null"), USAGE, url, "network = off")
        self.assertEqual(self.asked, [])
        self.ok("--config", self.path("config"), "--no-network", simple(), "--null")

    def test_a_file_named_like_a_url(self):
        os.makedirs(self.path("http:"))
        shutil.copy(simple(), self.path("http:/clip.mp4"))
        self.ok("http://clip.mp4", "--null", cwd=self.folder)
        self.ok("--network", "./http://clip.mp4", "--null", cwd=self.folder)
        self.ok("--network", simple(), "--null")

    def test_unknown_schemes(self):
        for url in ("file://%s" % SAMPLE, "concat://x", "data://x", "gopher://127.0.0.1/x", "pipe://0",
                    "subfile://x", "nonsense://x"):
            with self.subTest(url):
                self.refused(lumeq("--network", url, "--null"), USAGE, "that lumeq opens", "http://", "udp://")

    def test_contradictions(self):
        self.refused(lumeq("--network-timeout", "5", SAMPLE, "--null"), USAGE, "INPUT is not one")
        self.refused(lumeq("--network", "--network-timeout", "0", SAMPLE, "--null"), USAGE, "1 to 3600")
        self.write("config", b"network-timeout = 5\n")
        self.ok("--config", self.path("config"), simple(), "--null")

    def test_secrets_stay_secret(self):
        base = self.serve(self.folder).replace("http://", "http://alice:hunter2@")
        for more in ((), ("-v",)):
            result = self.exits(INPUT, "--network", base + "/none.mkv?key=Pa55word&x=1", "--null", *more)
            self.assertIn("none.mkv?...", result.err)
            for secret in ("alice", "hunter2", "Pa55word"):
                self.assertNotIn(secret, result.err)
        self.refused(lumeq("--no-network", base + "/x", "--null"), USAGE, "http://...@127.0.0.1")
        self.refused(lumeq("--network", "http://a:b@h/x", "http://c:dd@h/y", "--null"), USAGE, "http://...@h/x",
                     "http://...@h/y")
        result = self.exits(INPUT, *IMPATIENT, "srt://127.0.0.1:%d?mode=caller&passphrase=Pa55wordPa55word" % self.free_port(),
                            "--null", "-v")
        self.assertNotIn("Pa55word", result.err)

    def test_nothing_there(self):
        self.refused(lumeq("--network", self.serve(self.folder) + "/none.mkv", "--null"), INPUT, "none.mkv", "404")
        for answer in (403, 404, 500):
            self.refused(lumeq(self.serve_file(simple(), answer=answer), "--null"), INPUT, "cannot open", str(answer)[0])
        self.refused(lumeq("--network", "http://127.0.0.1:%d/x" % self.free_port(), "--null"), INPUT, "Connection refused")
        for url in ("http://alice:hunter2@127.0.0.1:9/x", "rtsp://alice:hunter2@127.0.0.1:9/x"):
            result = self.refused(lumeq(url, "--null"), INPUT, "127.0.0.1:9", "Connection refused")

    def test_playlists(self):
        ffmpeg("-i", simple(), "-c", "copy", "-hls_time", "1", "-hls_playlist_type", "vod", self.path("l.m3u8"))
        ffmpeg("-i", simple(), "-c", "copy", "-f", "dash", self.path("d.mpd"))
        self.write("master.m3u8", b"#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000\nl.m3u8\n")
        url, count = self.serve(self.folder, ranges=True), len(frame_times(simple()))
        for i, name in enumerate(("l.m3u8", "master.m3u8", "d.mpd", "moved/l.m3u8")):
            with self.subTest(name):
                self.converted(url + "/" + name, "o%d.mkv" % i, "--preset", "ultrafast")
                self.assertEqual(len(frame_times(self.path("o%d.mkv" % i))), count)

    def test_playlists_open_no_files(self):
        ffmpeg("-i", simple(), "-c", "copy", self.path("a.ts"))
        ffmpeg("-i", simple(), "-c", "copy", "-hls_playlist_type", "vod", self.path("l.m3u8"))
        self.write("key", b"0123456789abcdef")
        path, url = os.path.abspath(self.path("a.ts")), self.serve(self.folder)
        head = "#EXTM3U\n#EXT-X-TARGETDURATION:10\n"
        segment = head + "%s#EXTINF:1,\n%s\n#EXT-X-ENDLIST\n"
        key = '#EXT-X-KEY:METHOD=AES-128,URI="%s/key"\n' % url
        mpd = ('<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" '
               'mediaPresentationDuration="PT1S" profiles="urn:mpeg:dash:profile:isoff-main:2011"><Period>'
               '<AdaptationSet contentType="video"><Representation id="0" mimeType="video/mp4" bandwidth="1">'
               '<BaseURL>file:%s</BaseURL></Representation></AdaptationSet></Period></MPD>' % path)
        lists = {"%d.m3u8" % i: segment % more for i, more in enumerate((
            ("", "file:" + path), ("", "file://" + path), ("", "crypto+file:" + path), ("", "concat:" + path),
            ("", "subfile,,start,0,end,0,,:" + path), (key, "file:" + path), (key, "crypto+file:" + path),
            ('#EXT-X-KEY:METHOD=AES-128,URI="file:%s"\n' % path, "a.ts"), ("", "async:file:" + path)))}
        lists["nested.m3u8"] = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000\nfile://%s\n" % self.path("l.m3u8")
        lists["d.mpd"] = mpd
        lists["a.ffconcat"] = "ffconcat version 1.0\nfile '%s'\n" % path
        lists["a.sdp"] = ("v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\n"
                          "m=video 5000 RTP/AVP 33\n")
        self.write("config", b"allow-playlists = yes\n")
        for name, text in lists.items():
            self.write(name, text.encode())
            with self.subTest(name):
                self.refused(lumeq("--config", self.path("config"), url + "/" + name, "--null"), INPUT, name)
            with self.subTest(name, local=True):  # nor do lists on the disk
                self.refused(lumeq(self.path(name), "--null"), INPUT, name)
        with open(self.path("l.m3u8"), "rb") as f:
            self.refused(lumeq("-", "--null", stdin=f), INPUT, "playlist")

    def test_password_nowhere(self):
        """Passwords and keys are not in messages, tags, statistics, reports, file names or FFmpeg's own lines."""
        ffmpeg("-i", simple(), "-c", "copy", "-hls_time", "1", "-hls_playlist_type", "vod", self.path("l.m3u8"))
        out = self.path("out")
        os.mkdir(out)
        base = self.serve(self.folder, ranges=True).replace("http://", "http://alice:hunter2@")
        shutil.copy(simple(), self.path("simple.mp4"))
        said = ""
        for name in ("simple.mp4", "l.m3u8", "none.mkv"):
            for i, args in enumerate((("-o", out + "/a-%d-" + name + ".mkv"), ("--null", "--stats", out + "/%d.csv"),
                                      ("--null", "--stats", out + "/%d.jsonl"),
                                      ("--null", "--report", out + "/%d.html"), ("--null", "--report", out + "/%d.json"),
                                      ("-o", out + "/b-%Y%m%d-%H%M%S.mkv", "--segment-time", "60"),
                                      ("--jobs", "2", "-o", out + "/job.mkv"), ("--sample", "-o", out + "/s.mkv"))):
                args = [a.replace("%d.", "%d." % i).replace("a-%d", "a-%d" % i) if "segment" not in str(args) else a
                        for a in args]
                for more in (() if SHORT else ((), )) + (("-v", "--progress", "json"), ):
                    result = lumeq(base + "/" + name + "?key=Pa55word", "-y", *args, *more)
                    said += str(result.err)
        self.assertIn("http://...@", said)
        for folder, folders, names in os.walk(out):
            for name in folders + names:
                said += name
            for name in names:
                said += read_bytes(os.path.join(folder, name)).decode("latin-1")
        for secret in ("alice", "hunter2", "Pa55word"):
            self.assertNotIn(secret, said)

    def test_cut_in_the_middle(self):
        path = clip("cut.mkv", *X264, "-g", "10", seconds=4)
        url = self.serve_file(path, cut=os.path.getsize(path) * 2 // 3)
        self.assertIn("damaged", self.exits(DAMAGED, "--network", url, "-o", self.path("o.mkv")).lines[-1])
        count = len(frame_times(self.path("o.mkv")))
        self.assertTrue(40 < count < 100, count)

    def test_no_answer(self):
        started = time.monotonic()
        process = start("--no-config", "--network", "http://127.0.0.1:%d/x" % self.silent_server(), "--null")
        full = start("--no-config", "--network", "--network-timeout", 7, "tcp://127.0.0.1:%d" % self.full_server(),
                     "--null")
        urls = ("http://127.0.0.1:%d/x.mkv", "tcp://127.0.0.1:%d", "rtsp://127.0.0.1:%d/x", "rtmp://127.0.0.1:%d/a/b")
        for url in urls:
            with self.subTest(url):
                begin = time.monotonic()
                self.refused(lumeq(*IMPATIENT, url % self.silent_server(), "--null"), INPUT, " %d s" % SILENCE)
                self.assertTrue(SILENCE <= time.monotonic() - begin < SILENCE + SOON)
        self.refused(finish(full), INPUT, " 7 s")
        self.assertGreaterEqual(time.monotonic() - started, 7)
        self.refused(finish(process), INPUT, " 10 s")
        self.assertGreaterEqual(time.monotonic() - started, 10)

    def test_nobody_sends(self):
        self.refused(lumeq(*IMPATIENT, "udp://127.0.0.1:%d" % self.free_port(), "--null"), INPUT, "no data")

    def test_silent_in_the_middle(self):
        data = read_bytes(clip("cut.mkv", *X264, "-g", "10", seconds=4))
        head = b"HTTP/1.0 200 OK\r\nContent-Length: %d\r\n\r\n" % len(data)
        port = self.silent_server(head + data[:len(data) * 2 // 3])
        begin = time.monotonic()
        self.exits(DAMAGED, *IMPATIENT, "http://127.0.0.1:%d/x.mkv" % port, "-o", self.path("o.mkv"))
        self.assertLess(time.monotonic() - begin, SILENCE + 2 * SOON)
        self.assertGreater(len(frame_times(self.path("o.mkv"))), 40)

    def test_interrupted_while_it_waits(self):
        asked = threading.Event()
        port = self.listen(lambda connection: asked.set())
        process = start("--no-config", "--network", "http://127.0.0.1:%d/x.mkv" % port, "--null")
        self.assertTrue(asked.wait(LIVENESS))
        begin = time.monotonic()
        self.interrupt(process)
        self.assertLess(time.monotonic() - begin, SOON)

    def send(self, url, *args, seconds=4):
        """Starts a process that sends a video to the URL in real time."""
        process = subprocess.Popen(
            ["ffmpeg", "-v", "error", "-nostdin", "-re", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=30", "-t",
             str(seconds), "-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-g", "15", *args, url],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_datagrams_are_recorded(self):
        runs = []
        for scheme, muxer in (("udp", "mpegts"), ("rtp", "rtp_mpegts")):
            port = self.free_port() & ~1
            url = "%s://127.0.0.1:%d" % (scheme, port)
            runs.append((scheme, start("--no-config", "--no-reconnect", url, "-o", self.path(scheme + ".mkv"), "--preset",
                                       "ultrafast")))
            self.bound(port)
            self.send(url, "-f", muxer)
        for scheme, process in runs:
            with self.subTest(scheme):
                result = finish(process)
                self.assertIn(result.code, (0, DAMAGED), str(result))
                self.assertGreater(len(frame_times(self.path(scheme + ".mkv"))), 60 / SLOWER)

    def serve_rtsp(self, stream, seconds=0, challenge=None):
        """Starts an RTSP server that sends a transport stream spread over `seconds`. With a `challenge`, the server
        asks for a password. Returns the URL."""
        sdp = "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nt=0 0\r\nm=video 0 RTP/AVP 33\r\na=control:track\r\n"
        more = {"OPTIONS": "Public: DESCRIBE, SETUP, PLAY, TEARDOWN\r\n",
                "DESCRIBE": "Content-Type: application/sdp\r\nContent-Length: %d\r\n" % len(sdp),
                "SETUP": "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\nSession: 1\r\n", "PLAY": "Session: 1\r\n"}

        def talk(connection):
            with connection, connection.makefile("rb") as lines:
                while True:
                    asked = lines.readline().decode().split()
                    if not asked:
                        return
                    headers = dict(line.decode().strip().split(": ", 1) for line in iter(lines.readline, b"\r\n"))
                    number = "CSeq: %s\r\n" % headers["CSeq"]
                    if challenge and not is_allowed(asked[0], headers.get("Authorization")):
                        connection.sendall(("RTSP/1.0 401 Unauthorized\r\n%sWWW-Authenticate: %s\r\n\r\n" % (
                            number, challenge)).encode())
                        continue
                    connection.sendall(("RTSP/1.0 200 OK\r\n%s%s\r\n%s" % (
                        number, more[asked[0]], sdp if asked[0] == "DESCRIBE" else "")).encode())
                    if asked[0] == "PLAY":
                        break
                for i in range(0, len(stream), 7 * 188):
                    data = struct.pack(">BBHII", 0x80, 33, i // (7 * 188), i, 1) + stream[i:i + 7 * 188]
                    connection.sendall(b"$\0" + struct.pack(">H", len(data)) + data)
                    time.sleep(seconds * 7 * 188 / len(stream))
        return "rtsp://127.0.0.1:%d/live" % self.listen(talk)

    def test_rtsp(self):
        path = clip("rtsp.ts", *X264, "-g", "10", seconds=4)
        with open(path, "rb") as f:
            url = self.serve_rtsp(f.read())
        result = lumeq("--no-reconnect", url, "-o", self.path("o.mkv"))
        self.assertIn(result.code, (0, DAMAGED), str(result))
        self.assertGreater(len(frame_times(self.path("o.mkv"))), 90)

    def test_passwords(self):
        """Passwords in a file may contain any characters. A refused password is reported, without another attempt."""
        path = clip("rtsp.ts", *X264, "-g", "10", seconds=4)
        data = read_bytes(path)
        self.write("password", PASSWORD.encode() + b"\r\nanother line\n")
        for challenge in CHALLENGES:
            for url in (self.serve_file(path, challenge=challenge), self.serve_rtsp(data, challenge=challenge)):
                with self.subTest(url=url, challenge=challenge):
                    bob, wrong = url.replace("://", "://bob@"), url.replace("://", "://bob:hunter2@")
                    result = lumeq("--no-reconnect", "--password-file", self.path("password"), bob, "--null")
                    self.assertIn(result.code, (DONE, DAMAGED), str(result))
                    self.assertRegex(result.err, r" \d\d+ frames")
                    for more in ((), ("--reconnect", )):
                        self.refused(lumeq(*more, wrong, "--null"), INPUT, "user name or password refused")
                    self.refused(lumeq(url, "--null"), INPUT, "needs a user name and a password", "--password-file")

    def test_passwords_that_end_the_host(self):
        """An unescaped '#', '/' or '?' in a password ends the URL's host. The message hides the password, and says how to
        escape the character."""
        for secret in ("hun#ter", "hun/ter", "hun?ter", "hun/t@e#r"):
            for scheme in ("rtsp", "http"):
                result = lumeq("%s://bob:%s@127.0.0.1:9/x" % (scheme, secret), "--null")
                self.refused(result, INPUT, "%s://...@127.0.0.1:9/x" % scheme, "%23", "--password-file")
                self.assertNotRegex(result.err, "bob|hun|er@")

    def test_password_file(self):
        self.write("empty", b"\nsecond line\n")
        self.write("full", b"x\n")
        for name, url, words in (("none", "rtsp://bob@h/x", ("'%s'" % self.path("none"), "No such file")),
                                 (".", "rtsp://bob@h/x", ("Is a directory", )),
                                 ("empty", "rtsp://bob@h/x", ("first line is empty", )),
                                 ("full", "rtsp://h/x", ("URL with a user", "rtsp://user@")),
                                 ("full", "rtsp://bob:y@h/x", ("without a password", )),
                                 ("full", simple(), ("--password-file needs a URL", ))):
            with self.subTest(name=name, url=url):
                self.refused(lumeq("--password-file", self.path(name), url, "--null"), USAGE, *words)

    def test_list_of_processes(self):
        """Passwords and keys are overwritten in the command line that other processes see."""
        asked = threading.Event()
        port = self.listen(lambda connection: asked.set())
        url = "http://alice:hunter2@127.0.0.1:%d/x.mkv?key=Pa55word" % port
        process = subprocess.Popen([LUMEQ, "--no-config", "--null", url], stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertTrue(asked.wait(LIVENESS))
        shown = read_bytes("/proc/%d/cmdline" % process.pid).decode()
        self.assertEqual(shown.split("\0")[3], re.sub("alice:hunter2|key=Pa55word", lambda m: "*" * len(m[0]), url))

    def test_redirect_keeps_its_secrets(self):
        def talk(connection):
            connection.sendall(b"RTSP/1.0 302 Moved\r\nCSeq: 1\r\nLocation: %s\r\n\r\n" % there.encode())
            connection.recv(4096)
        port = self.listen(lambda connection: connection.close())
        there = "rtsp://user:hunter2@127.0.0.1:%d/live?token=secret" % port
        for more in ((), ("-v",)):
            result = self.exits(INPUT, "--network", "--null", *more, "rtsp://127.0.0.1:%d/live" % self.listen(talk))
            self.assertNotRegex(result.err, "hunter2|secret")
            self.assertEqual("Redirecting to rtsp://...@127.0.0.1" in result.err, more == ("-v",), str(result))

    def test_rtsp_in_real_time(self):
        """Probing for tracks may take longer than --network-timeout."""
        data = read_bytes(clip("slow.ts", *X264, "-g", "100", seconds=8))
        url = self.serve_rtsp(data[len(data) // 6 // 188 * 188:], seconds=6)  # starts between two keyframes
        self.ok("--no-reconnect", "--network-timeout", 1, url, "-o", self.path("o.mkv"))
        self.assertGreater(len(frame_times(self.path("o.mkv"))), 20)

    def test_joined_in_the_middle(self):
        """Frames that need data from before the first keyframe are dropped, and do not count as damage."""
        for name, more in (("closed", ()), ("open", ("-x264-params", "open-gop=1:bframes=3:b-adapt=0:scenecut=0"))):
            with self.subTest(name):
                data = read_bytes(clip("joined-%s.ts" % name, *X264, "-g", "25", *more, seconds=4))
                self.write(name + ".ts", data[len(data) * 2 // 5 // 188 * 188:])
                output = self.path(name + ".mkv")
                self.ok("--network", self.serve(self.folder) + "/" + name + ".ts", "-o", output)
                self.assertEqual(len(frame_times(output)) % 25, 0, len(frame_times(output)))
                self.assertGreater(len(frame_times(output)), 20)

    def test_certificates_are_checked(self):
        key = self.path("key.pem")
        if not shutil.which("openssl"):
            self.skipTest("openssl is not installed")
        if subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out",
                           self.path("cert.pem"), "-subj", "/CN=127.0.0.1"], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("openssl makes no certificate")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.path("cert.pem"), key)
        url = self.serve_file(simple(), tls=context)
        self.refused(lumeq("--network", url.replace("http:", "https:"), "--null"), INPUT, "https://")
        self.assertEqual(self.asked, [])

    def test_calling_sender(self):
        """lumeq listens with tcp:// or srt://, and the sender connects."""
        for scheme in ("tcp", "srt"):
            with self.subTest(scheme):
                port = self.free_port()
                mine, its = (("?listen=1", "") if scheme == "tcp" else ("?mode=listener", "?mode=caller"))
                process = start("--no-config", "--no-reconnect", "%s://127.0.0.1:%d%s" % (scheme, port, mine), "-o",
                                self.path(scheme + ".mkv"), "--preset", "ultrafast")
                self.bound(port)
                self.send("%s://127.0.0.1:%d%s" % (scheme, port, its), "-f", "mpegts", seconds=2)
                result = finish(process)
                self.assertIn(result.code, (0, DAMAGED), str(result))
                # Data sent before the receiver is ready is lost.
                self.assertGreater(len(frame_times(self.path(scheme + ".mkv"))), 10)


@unittest.skipIf(MISSING, "not installed: %s" % ", ".join(MISSING))
class Window(NetworkCase, WindowCase):
    send = Headless.send

    def test_low_latency(self):
        def delay():
            port = self.free_port()
            url = "udp://127.0.0.1:%d" % port
            process = self.play("--network", "--low-latency", "-v", url)
            self.bound(port)
            self.send(url, "-f", "mpegts", seconds=8)
            self.window(process)
            time.sleep(4)
            result = self.quits(process)
            shown = int(re.search(r"(\d+) frames? shown", result.err).group(1))
            frames = float(re.search(r"latency ([\d.]+) frames after", result.err).group(1))
            print("over UDP: %d frames shown, latency %.1f frames after decoding" % (shown, frames))
            return frames if shown > 20 else math.inf
        self.soon(delay, 10)

    def test_quits_while_nothing_comes(self):
        port = self.free_port()
        url = "udp://127.0.0.1:%d" % port
        process = self.play("--no-reconnect", "--network-timeout", 5, "--low-latency", url)
        self.bound(port)
        self.send(url, "-f", "mpegts", seconds=2)
        self.window(process)
        time.sleep(5 + 2)
        self.assertIsNone(process.poll(), "the window closed while it waited for the sender")
        begin = time.monotonic()
        self.quits(process)
        self.assertLess(time.monotonic() - begin, SOON)

    def test_seek_and_name(self):
        path = clip("seek.mkv", *X264, "-g", "25", seconds=35)
        url = self.serve_file(path, ranges=True).replace("http://", "http://alice:hunter2@")
        process = self.play("--network", url + "?key=Pa55word")
        window = self.window(process)
        title = self.xdotool("getwindowname", window)
        self.assertIn("seek.mkv", title)
        for secret in ("alice", "hunter2", "Pa55word"):
            self.assertNotIn(secret, title)
        time.sleep(1)
        for _ in range(6):
            self.key("Right")
            time.sleep(0.3)
        begin = time.monotonic()
        self.ends(process)
        self.assertLess(time.monotonic() - begin, 2 * SOON)

    def test_several(self):
        """A list may mix URLs and files. Titles show their names, and secrets appear nowhere."""
        paths = [clip(name, *X264, "-g", "25", size="320x180", seconds=20) for name in ("a.mkv", "b.mkv", "c.mkv")]
        url = self.serve(os.path.dirname(paths[0]), ranges=True).replace("http://", "http://alice:hunter2@")
        inputs = [url + "/" + os.path.basename(path) + "?key=Pa55word%d" % i for i, path in enumerate(paths[:2])]
        process = self.play("--network-timeout", 20, "-v", inputs[0], paths[2], inputs[1])
        window = self.window(process)
        titles = []
        for path in (paths[0], paths[2], paths[1]):
            name = os.path.basename(path)
            self.assertTrue(wait_for(lambda: name in self.xdotool("getwindowname", window)), name)
            titles.append(self.xdotool("getwindowname", window))
            self.key("greater")
        self.key("q")
        said = self.ends(process).err
        self.assertNotRegex(" ".join(titles) + said, "alice|hunter2|Pa55")

    def test_screenshot(self):
        path = clip("shot.mkv", *X264, seconds=5)
        process = subprocess.Popen([LUMEQ, "--no-config", "--backend", "cpu", "--network",
                                    self.serve_file(path) + "?key=Pa55word"], cwd=self.folder,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=self.environment())
        self.addCleanup(process.kill)
        self.window(process)
        shots = lambda: [name for name in self.files() if name.endswith(".png")]
        self.assertTrue(wait_for(lambda: self.key("s") or shots()), "no screenshot")
        self.quits(process)
        self.assertEqual(self.files(), shots())
        for name in shots():
            self.assertRegex(name, r"^shot-0\.00\.0\d\.\d+\.png$")
