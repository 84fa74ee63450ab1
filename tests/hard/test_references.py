"""lumeq must open nothing that a playlist or another file refers to."""

from trial import *
import modes
import seeds

PORT = 9  # no server listens on it
TARGETS = {"local": "secret.ts", "absolute": "{folder}/secret.ts", "file": "file:{folder}/secret.ts",
           "http": "http://127.0.0.1:%d/secret.ts" % PORT, "concat": "concat:{folder}/secret.ts|{folder}/secret.ts",
           "crypto": "crypto:{folder}/secret.ts", "subfile": "subfile,,start,0,end,0,,:{folder}/secret.ts",
           "data": "data:video/mp2t;base64,R0AREABC8CUAAcEAAP8B/wAB"}
HLS = "#EXTM3U\n#EXT-X-TARGETDURATION:10\n%s#EXTINF:1,\n%s\n#EXT-X-ENDLIST\n"
DASH = ('<?xml version="1.0"?>\n<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011"'
        ' type="static" mediaPresentationDuration="PT1S"><Period><AdaptationSet><Representation id="0" bandwidth="1"'
        ' codecs="avc1.64001f" mimeType="video/mp4"><BaseURL>%s</BaseURL></Representation></AdaptationSet></Period></MPD>\n')
LISTS = {
    "list.m3u8": lambda t: HLS % ("", t),
    "key.m3u8": lambda t: HLS % ('#EXT-X-KEY:METHOD=AES-128,URI="%s"\n' % t, t),
    "map.m3u8": lambda t: HLS % ('#EXT-X-MAP:URI="%s"\n' % t, t),
    "master.m3u8": lambda t: "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n%s\n" % t,
    "list.ffconcat": lambda t: "ffconcat version 1.0\nfile '%s'\n" % t,
    "list.mpd": lambda t: DASH % t,
    "list.sdp": lambda t: "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=%s\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 9 RTP/AVP 96\n"
                          "a=rtpmap:96 H264/90000\n" % t,
    "list.asx": lambda t: '<asx version="3.0"><entry><ref href="%s"/></entry></asx>\n' % t,
    "list.ram": lambda t: t + "\n",
    "list.pls": lambda t: "[playlist]\nFile1=%s\nNumberOfEntries=1\n" % t,
    "list.svg": lambda t: '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9" '
                          'height="9"><image xlink:href="%s" width="9" height="9"/></svg>\n' % t,
    "list.ts": lambda t: HLS % ("", t),
    "movie.mov": lambda t: t,
}


def mov_with_reference(target):
    """A QuickTime film whose box dref refers to samples in the file `target`."""
    data = bytearray(read_bytes(seeds.seed("mjpeg.mov")))
    path = target.encode()
    alias = bytearray(150)
    alias[4:6], alias[6:8] = (150 + len(path) + 8).to_bytes(2, "big"), b"\0\2"
    alias += b"\0\x12" + len(path).to_bytes(2, "big") + path + b"\0" * (len(path) % 2) + b"\xff\xff\0\0"
    entry = (12 + len(alias)).to_bytes(4, "big") + b"alis" + b"\0\0\0\0" + alias
    at = data.index(b"dref") - 4
    old = int.from_bytes(data[at:at + 4], "big")
    new = (16 + len(entry)).to_bytes(4, "big") + b"dref" + b"\0\0\0\0\0\0\0\1" + entry
    grown = len(new) - old
    for box in (b"moov", b"trak", b"mdia", b"minf", b"dinf"):
        where = data.rindex(box, 0, at) - 4
        data[where:where + 4] = (int.from_bytes(data[where:where + 4], "big") + grown).to_bytes(4, "big")
    return bytes(data[:at]) + new + bytes(data[at + old:])


@unittest.skipUnless(shutil.which("strace"), "strace is missing")
class References(Trial):
    def traced(self, mode, source, folder, *more):
        """Runs lumeq under strace. Returns (result, lines of the trace)."""
        trace = self.path("trace")
        words = self.command(mode, source, seeds.good()) + list(more)
        stdin = open(source, "rb") if modes.MODES[mode].stdin else subprocess.DEVNULL
        env = dict(self.environment(mode), ASAN_OPTIONS=environment()["ASAN_OPTIONS"] + ":detect_leaks=0")
        process = subprocess.Popen(["strace", "-f", "-qq", "--seccomp-bpf", "-o", trace, "-e",
                                    "trace=open,openat,openat2,connect,sendto,execve", LUMEQ, *words], env=env, cwd=folder,
                                   stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if stdin != subprocess.DEVNULL:
            stdin.close()
        result = self.judge(process, (DONE, INPUT, DAMAGED), most=3)
        with open(trace, encoding="utf-8", errors="replace") as f:
            return result, f.read().splitlines()

    def reaches_out(self, lines):
        """Lines about the secret file or the network."""
        return [line for line in lines if "secret.ts" in line and "execve" not in line or "AF_INET" in line]

    def source(self, name, target):
        text = TARGETS[target].replace("{folder}", self.folder)
        shutil.copy(seeds.seed("h264.ts"), self.path("secret.ts"))
        return self.write(name, mov_with_reference(text) if name == "movie.mov" else LISTS[name](text).encode())

    def test_nothing_is_opened(self):
        cases = [(name, target, mode) for name in LISTS for target in TARGETS for mode in modes.MODES]
        for (name, target, mode), _ in drawn(cases, 30):
            with self.subTest(" ".join((name, target, mode))):
                result, lines = self.traced(mode, self.source(name, target), self.work())
                self.assertGreater(len(lines), 3)
                self.assertEqual(self.reaches_out(lines), [], str(result))

    def test_the_trace_sees_what_is_allowed(self):
        """With --allow-playlists, local files are opened, but no connections are made."""
        _, lines = self.traced("null", self.source("list.m3u8", "local"), self.work(), "--allow-playlists")
        self.assertTrue([line for line in lines if "secret.ts" in line])
        for target in ("http", "crypto"):
            _, lines = self.traced("null", self.source("list.m3u8", target), self.work(), "--allow-playlists")
            self.assertEqual([line for line in lines if "AF_INET" in line], [])


if __name__ == "__main__":
    unittest.main()
