"""INPUT and OUTPUT are plain file names, whatever characters they contain."""

from common import *


class Names(Case):
    NAMES = (
        b"12:30 clip.mp4", b"frame%03d.mp4", b"%s%n%d.mp4", b"two\nlines.mp4", b"it's \"quoted\".mp4",
        b"latin1-\xe4\xf6\xfc-\xff.mp4", b"  spaces  .mp4", b"http:clip.mp4", b"file:clip.mp4",
        b"pipe:1.mp4", b"concat:a|b.mp4", b"a,b;c=d[e]{f}.mp4", b"~.mp4", b"*?.mp4", b"back\\slash.mp4",
        b"\xf0\x9f\x8e\xac.mp4", b".hidden.mp4", b"#hash.mp4", b"$HOME.mp4", b"tab\there.mp4",
        b"UPPER.MP4", b"subfile,,start,0,end,0,,:x.mp4", b"crypto:x.mp4", b"data:text,x.mp4",
    )

    def test_absolute_and_relative(self):
        for name in some(self.NAMES):
            with self.subTest(repr(name)):
                folder = os.fsencode(self.folder) + b"/work"
                os.mkdir(folder)
                try:
                    shutil.copy(os.fsencode(simple()), folder + b"/" + name)
                    for source, output in ((name, b"out-" + name), (folder + b"/" + name,
                                                                    folder + b"/" + b"o2" + name)):
                        result = self.ok(source, b"-o", output, "--preset", "ultrafast", "--frames", 1, cwd=folder)
                        self.assertEqual(len(result.lines), 2, str(result))
                        self.assertNotIn("\x1b", result.err)
                    self.assertEqual(sorted(os.listdir(folder)), sorted([name, b"out-" + name, b"o2" + name]))
                    frames = tool("ffprobe", "-v", "error", "-count_packets", "-select_streams", "v:0",
                                  "-show_entries", "stream=nb_read_packets", "-of", "csv=p=0", "-i",
                                  b"file:" + folder + b"/o2" + name)
                    self.assertEqual(frames.strip(), b"1")
                finally:
                    shutil.rmtree(folder)

    def test_output_names(self):
        for name in some((b"http:x.mp4", b"pipe:1.mp4", b"%03d.mp4", b"-dash.mp4", b"new\nline.mp4",
                          b"tcp://localhost:1.mp4")):
            if b"/" in name:
                os.makedirs(os.path.join(os.fsencode(self.folder), b"tcp:"), exist_ok=True)
            with self.subTest(repr(name)):
                self.ok(simple(), "-o", name, "--preset", "ultrafast", "--frames", 2, cwd=self.folder)
                self.assertTrue(os.path.exists(os.path.join(os.fsencode(self.folder), name)))

    def test_dash(self):
        shutil.copy(simple(), self.path("-dash.mp4"))
        self.refused(lumeq("-dash.mp4", "--null", cwd=self.folder), USAGE, "-dash.mp4")
        self.ok("--null", "--", "-dash.mp4", cwd=self.folder)
        self.ok("--null", "./-dash.mp4", cwd=self.folder)
        self.ok("-o", "-out.mp4", "--frames", 2, "--", "-dash.mp4", cwd=self.folder)
        self.assertEqual(self.files(), ["-dash.mp4", "-out.mp4"])

    def test_file_named_dash(self):
        shutil.copy(simple(), self.path("-"))
        self.ok("./-", "--null", cwd=self.folder)
        self.ok(simple(), "-o", "./-", "--format", "mkv", "-y", "--frames", 2, cwd=self.folder)
        self.assertEqual(len(frame_times(self.path("-"))), 2)

    def test_messages_stay_one_line(self):
        for name in (b"no\nsuch.mp4", b"no\x1b[31msuch.mp4", b"no\rsuch.mp4", b"no\xff\xfe.mp4"):
            with self.subTest(repr(name)):
                result = lumeq(name, "--null", cwd=self.folder)
                self.refused(result, INPUT, "No such file")
                self.assertNotIn("\x1b", result.err)
                self.assertNotIn("\r", result.err)

    # Escape sequences, a forged line, control characters, and characters that reverse text.
    HOSTILE = ("\x1b]0;gone\x07\x1b[31m", "a\nlumeq: FORGED", "a\b\x7f", "\x9b31mC1",
               "abc\u202etxt.exe\u2066\u200f\u061c")

    def plain(self, result):
        """Checks that all lines come from the program and have no control characters."""
        self.assertRegex(result.err, r"\A(lumeq: [^\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
                                     r"\ud800-\udfff]*\n)*\Z")
        for line in result.lines:
            self.assertFalse(line.startswith("lumeq: FORGED"), line)

    def test_tags_are_escaped(self):
        for text in self.HOSTILE:
            with self.subTest(repr(text)):
                meta = self.path("meta")
                with open(meta, "w", encoding="utf-8", newline="") as f:
                    escaped = re.sub(r"([=;#\\\n])", r"\\\1", text)
                    f.write(";FFMETADATA1\ntitle=%s\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=500\ntitle=%s\n"
                            % ((escaped,) * 2))
                source = self.path("in.mkv")
                ffmpeg("-i", simple(), "-i", meta, "-map", "0", "-map_metadata", "1", "-map_chapters", "1",
                       "-c", "copy", "-attach", __file__, "-metadata:s:t", "mimetype=text/plain", "-metadata:s:t",
                       "filename=" + text, "-metadata:s:v", "title=" + text, source)
                result = self.ok(source, "-v", "-y", "-o", self.path("out.avi"), "--preset", "ultrafast", "--frames", 2)
                self.plain(result)
                self.assertIn("attachment", result.err)

    def test_arguments_are_escaped(self):
        for text in self.HOSTILE + ("a\rb", "bytes\udc9b31m"):
            for args in (("--" + text,), ("--mode", text), ("in.mkv", "--vcodec", text), ("in.mkv", "--vopt", text),
                         (simple(), "-o", "out." + text), (simple(), "--null", "--stats", "none/" + text),
                         ("join", text), (simple(), "-o", "out.mkv", "--vopt", "tune=" + text)):
                with self.subTest(repr(args)):
                    result = lumeq(*(os.fsencode(a) for a in args), cwd=self.folder)
                    self.assertNotEqual(result.code, DONE)
                    self.plain(result)

    def test_wrong_extension(self):
        """The file's content decides, not its name."""
        for name in ("clip.mkv", "clip.txt", "clip.jpg", "clip.m3u8", "clip.mp3"):
            with self.subTest(name):
                shutil.copy(simple(), self.path(name))
                self.ok(self.path(name), "--null")

    def test_references_are_not_followed(self):
        text = "ffconcat version 1.0\nfile '%s'\n" % simple()
        self.refused(lumeq(self.write("a.mp4", text.encode()), "--null"), INPUT)
