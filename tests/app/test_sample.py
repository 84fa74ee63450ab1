"""--sample predicts the size of a film within 15 %, and writes nothing but a sheet beside OUTPUT."""

from common import *

UNITS = {"bytes": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9}
SHEET = "out.mkv.sample.png"

# One thread and fixed settings give the same bytes each time.
ENCODERS = {
    "x264": ("--vcodec", "libx264", "--preset", "ultrafast", "--threads", "1"),
    "ffv1": ("--vcodec", "ffv1", "--threads", "1"),
}

# Moving pictures with sound; a dark video with grain; still pictures that change suddenly.
CLIPS = {
    "moving.mkv": dict(size="96x64", rate=12, seconds=27, sound=27),
    "grain.mkv": dict(size="96x64", rate=12, seconds=27, filters="lutyuv=y='16+val/5',noise=alls=9:allf=t"),
    "slides.mkv": dict(seconds=27, source="mandelbrot=size=96x64:rate=1/3,fps=12,lutyuv=y='60+val/4'"),
}


def film(name):
    return clip(name, *X264, "-c:a", "aac", **CLIPS[name])


def prediction(result):
    """The predicted bytes of the file, and of its video track."""
    match = re.search(r" would take about ([\d:]+), at [\d.]+ fps, and have about ([\d.]+) (\w+), "
                      r"including ([\d.]+) (\w+) of video$", result.err, re.M)
    if not match:
        raise AssertionError(result)
    return float(match[2]) * UNITS[match[3]], float(match[4]) * UNITS[match[5]]


class Sample(Case):
    def sample(self, *args, code=DONE):
        return self.exits(code, *args, "--sample", "--backend", "cpu", cwd=self.folder)

    def predict(self, name, encoder, *more):
        """Returns the prediction, the size of the real file, and its path."""
        options = (film(name), "-o", "out.mkv", *ENCODERS[encoder], *more)
        result = self.ok(*options, "--backend", "cpu", "--sample", "4", cwd=self.folder)
        self.assertEqual(self.files(), [SHEET], result)
        self.assertIn("4 pieces of 6 s", result.err)
        self.ok(*options, "--backend", "cpu", cwd=self.folder)
        path = os.path.join(self.folder, "out.mkv")
        return prediction(result), os.path.getsize(path), path

    def close_to(self, predicted, real):
        self.assertLess(abs(predicted - real), 0.15 * real, "%d predicted, %d written" % (predicted, real))

    def test_sizes(self):
        cases = [(name, encoder) for name in CLIPS for encoder in ENCODERS]
        for name, encoder in some(cases):
            with self.subTest(name, encoder=encoder):
                (size, video), real, path = self.predict(name, encoder)
                self.close_to(size, real)
                packets = contents(path)["packets"]
                self.close_to(video, sum(int(p["size"]) for p in packets if p["codec_type"] == "video"))
                for left in self.files():
                    os.unlink(os.path.join(self.folder, left))

    def test_bitrate_is_the_requested_one(self):
        result = self.sample(film("moving.mkv"), "-o", "out.mkv", "--bitrate", "80K", "--sample=2", *ENCODERS["x264"])
        size, video = prediction(result)
        self.assertAlmostEqual(video, 27 * 10e3, delta=2e3)  # the message rounds it
        self.assertGreater(size, video)

    def test_the_sheet(self):
        """Each column has a picture of the film above the same picture from the output."""
        self.ok(film("moving.mkv"), "-o", "out.mkv", "--sample=3", "--ss", "2", "--mode", "off",
                *ENCODERS["x264"], cwd=self.folder)
        sheet = streams(os.path.join(self.folder, SHEET))[0]
        self.assertEqual((sheet["codec_name"], sheet["width"], sheet["height"]),
                         ("png", 3 * (480 + 8) + 8, 32 + 2 * 320 + 4 + 8 + 8))
        pixels = tool("ffmpeg", "-v", "error", "-i", os.path.join(self.folder, SHEET), "-f", "rawvideo", "-pix_fmt",
                      "gray", "-")
        rows = [pixels[y * sheet["width"]:(y + 1) * sheet["width"]] for y in range(sheet["height"])]
        for column in range(3):
            x = 8 + column * 488
            before = [row[x:x + 480] for row in rows[40:40 + 320]]
            after = [row[x:x + 480] for row in rows[40 + 324:40 + 644]]
            self.assertEqual(before, after, "--mode off changed the picture")
            self.assertGreater(len(set(before[132])), 20, "no picture in column %d" % column)
        self.assertNotEqual(rows[100][8:488], rows[100][496:976], "two columns have the same picture")

    def test_a_short_film_is_tried_as_a_whole(self):
        """The predicted size is right even if the muxer goes back to rewrite bytes."""
        short = clip("short.mkv", *X264, "-c:a", "aac", seconds=2, sound=2)
        webm = ("--vcodec", "libvpx", "--threads", "1")
        cases = [("out.mkv", ENCODERS["x264"] + more) for more in
                 some(((), ("--two-pass", "off"), ("--frames", "7"), ("--compare", "side", "--overlay")))]
        cases += [(name, ENCODERS["x264"]) for name in ("out.mp4", "out.mov", "out.ts")]
        cases += [] if SHORT or SANITIZED else [("out.avi", ENCODERS["x264"]), ("out.webm", webm)]
        for name, options in cases:
            with self.subTest(name, options=options):
                result = self.sample(short, "-o", name, *options)
                self.assertIn("from 1 piece of ", result.err)
                self.assertEqual(self.files(), [name + ".sample.png"])
                self.ok(short, "-o", name, "--backend", "cpu", *options, cwd=self.folder)
                real = os.path.getsize(self.path(name))
                self.assertAlmostEqual(prediction(result)[0], real, delta=0.03 * real)
                for left in self.files():
                    os.unlink(self.path(left))

    def test_pieces_without_a_picture(self):
        """Pieces without a picture are skipped. A slide show counts as whole, a truncated film as damaged. If no piece has a
        picture, the sample is refused."""
        make(self.path("slow.mkv"), *X264, rate="1/20", seconds=200)
        make(self.path("whole.mp4"), *X264, "-movflags", "+faststart", rate=5, seconds=60)
        data = self.read("whole.mp4")
        index = data.index(b"mdat")
        for name, bytes in (("half.mp4", data[:(len(data) + index) // 2]), ("none.mp4", data[:index + 100])):
            with open(self.path(name), "wb") as cut:
                cut.write(bytes)
        for name, code in (("slow.mkv", DONE), ("half.mp4", DAMAGED)):
            with self.subTest(name):
                result = self.exits(code, name, "-o", "out.mkv", "-y", "--sample=4", *ENCODERS["x264"], cwd=self.folder)
                self.assertRegex(result.err, "[123] of 4 pieces had no picture and were skipped")
                prediction(result)
                self.assertIn(SHEET, self.files())
                os.unlink(self.path(SHEET))
        result = lumeq("none.mp4", "-o", "out.mkv", "--sample=4", *ENCODERS["x264"], cwd=self.folder)
        self.refused(result, INPUT, "no frame", "none.mp4")
        self.assertNotIn(SHEET, self.files())

    def test_existing_files(self):
        short = clip("short.mkv", *X264, "-c:a", "aac", seconds=2, sound=2)
        for name in (SHEET, "out.mkv"):
            write_bytes(os.path.join(self.folder, name), b"mine")
        self.refused(lumeq(short, "-o", "out.mkv", "--sample", cwd=self.folder), USAGE, SHEET, "exists", "-y")
        self.sample(short, "-o", "out.mkv", "-y", *ENCODERS["x264"])
        with open(os.path.join(self.folder, SHEET), "rb") as f:
            self.assertEqual(f.read(4), b"\x89PNG")
        with open(os.path.join(self.folder, "out.mkv"), "rb") as f:
            self.assertEqual(f.read(), b"mine", "OUTPUT was touched")
        # The sheet would replace the input, which -y does not allow.
        os.replace(os.path.join(self.folder, "out.mkv"), os.path.join(self.folder, "old.mkv"))
        with open(short, "rb") as f, open(os.path.join(self.folder, "x.mkv.sample.png"), "wb") as to:
            to.write(f.read())
        self.refused(lumeq("x.mkv.sample.png", "-o", "x.mkv", "-y", "--sample", cwd=self.folder), USAGE, "is the input")

    def test_progress(self):
        result = self.sample(clip("short.mkv", *X264, "-c:a", "aac", seconds=2, sound=2), "-o", "out.mkv",
                             "--progress", "json", *ENCODERS["x264"])
        last = [line for line in result.lines if line.startswith("{")][-1]
        self.assertEqual(json.loads(last)["state"], "done")

    def test_interrupted(self):
        process = start(long_clip(), "-o", "out.mkv", "--sample", "--progress", "json", "--backend", "cpu",
                        cwd=self.folder)
        process.stderr.readline()
        result = self.interrupt(process)
        self.assertIn("interrupted; nothing was written", result.err)
        self.assertEqual(self.files(), [])

    def test_impossible_samples_are_refused(self):
        short = clip("short.mkv", *X264, "-c:a", "aac", seconds=2, sound=2)
        picture = clip("one.png", "-c:v", "png", "-frames:v", "1")
        out = ("-o", "out.mkv", "--sample")
        for args, words in (
                ((short, "--sample"), ("-o FILE",)), ((short, "--null", "--sample"), ("-o FILE",)),
                ((short, "-o", "-", "--sample"), ("standard output",)), (("-", *out), ("standard input",)),
                (("--camera", *out), ("--camera",)), ((short, "-o", "many/", "--sample"), ("folder",)),
                ((self.folder, *out), ("film in one file",)), ((picture, *out), ("picture",)),
                (("http://localhost:1/x.mkv", *out), ("URL",)),
                ((short, *out, "--stats", "x.csv"), ("--stats",)), ((short, *out, "--report", "x.html"), ("--report",)),
                ((short, *out, "--jobs", "2"), ("--jobs", "--sample")),
                ((short, *out, "--resume"), ("--resume",)), ((short, *out, "--segment-time", "5"), ("--segment-time",)),
                ((short, *out, "--low-latency"), ("--low-latency",)),
                (("plan", short, *out), ("lumeq plan", "--sample")),
                ((short, "-o", "out.mkv", "--sample=0"), ("from 1 to 48",)),
                ((short, "-o", "out.mkv", "--sample", "99"), ("from 1 to 48",)),
                ((short, "-o", "out.mkv", "--sample=x"), ("from 1 to 48",)),
                ((short, "-o", "out.xyz", "--sample"), ("out.xyz",)),
                ((short, *out, "--vcodec", "nosuch"), ("nosuch",)),
                (("segment", "out.mkv.lumeq/plan", "0", "--sample"), ("--sample",))):
            with self.subTest(args):
                self.refused(lumeq(*args, cwd=self.folder), USAGE, *words)
                self.assertEqual(self.files(), [])

    def test_no_length(self):
        """Nothing is predicted for a stream of unknown length."""
        path = os.path.join(self.folder, "raw.h264")
        make(path, *X264, "-f", "h264")
        self.refused(lumeq(path, "-o", os.path.join(self.folder, "out.mkv"), "--sample"), INPUT, "known length")
        self.assertEqual(self.files(), ["raw.h264"])
