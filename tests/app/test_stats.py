"""--stats: the documented columns, and figures that agree with the pictures."""

from common import *

COLUMNS = ("frame,pts,time,mean_in,mean_out,stddev_in,stddev_out,entropy_in,entropy_out,scene_cut,"
           "curve_speed,decode_us,upload_us,equalize_us,download_us,sink_us").split(",")


def figures(luma):
    count, hist = len(luma), histogram(luma)
    mean = sum(i * n for i, n in enumerate(hist)) / count
    variance = sum(n * (i - mean) ** 2 for i, n in enumerate(hist)) / count
    entropy = -sum(n / count * math.log2(n / count) for n in hist if n)
    return mean, math.sqrt(variance), entropy


class Stats(Case):
    def rows(self, name="s.csv"):
        return read_rows(self.path(name))

    def source(self):
        return clip("stats.mkv", *FFV1, "-pix_fmt", "yuv420p", seconds=0.4)

    def test_header(self):
        self.ok(self.source(), "--null", "--stats", self.path("s.csv"))
        self.assertEqual(self.read("s.csv").split(b"\n")[0].decode(), ",".join(COLUMNS))

    def test_figures(self):
        # Without these options, lifted luma is also filtered, and limited over saturated colours.
        literal = ("--strength", "0.8", "--chroma", "keep")
        for options in (literal, ("--reference",), ("--mode", "off"), literal + ("--smooth", "0", "--clip", "0")):
            with self.subTest(" ".join(options)):
                output = self.lossless(self.source(), "--stats", self.path("s.csv"), "--dither", "off", *options)
                a, b, rows = Picture(self.source()), Picture(output), self.rows()
                times = frame_times(self.source())
                self.assertEqual(len(rows), len(a.luma))
                for i, row in enumerate(rows):
                    self.assertEqual(int(row["frame"]), i)
                    self.assertAlmostEqual(float(row["time"]), times[i], delta=0.0005)
                    for key, luma in (("in", a.luma[i]), ("out", b.luma[i])):
                        for name, value in zip(("mean", "stddev", "entropy"), figures(luma)):
                            self.assertAlmostEqual(float(row[name + "_" + key]), value, delta=0.0002,
                                                   msg="%s_%s of frame %d" % (name, key, i))
                    for key in ("decode_us", "upload_us", "equalize_us", "download_us", "sink_us", "curve_speed"):
                        self.assertGreaterEqual(float(row[key]), 0)
                    self.assertIn(row["scene_cut"], "01")

    def test_same_figures_with_null(self):
        keys = COLUMNS[:11]
        self.ok(self.source(), "--null", "--stats", self.path("null.csv"))
        self.lossless(self.source(), "--stats", self.path("file.csv"), "--two-pass", "off")
        pick = lambda name: [[row[k] for k in keys] for row in self.rows(name)]
        self.assertEqual(pick("null.csv"), pick("file.csv"))

    def test_json_lines(self):
        self.lossless(self.source(), "--stats", self.path("s.jsonl"), "--dither", "off", "--strength", "0.8",
                      "--chroma", "keep")
        a = Picture(self.source())
        b = Picture(self.path("lossless.mkv"))
        rows = self.rows("s.jsonl")
        self.assertEqual(len(rows), len(a.luma))
        for i, row in enumerate(rows):
            self.assertEqual(list(row), COLUMNS + ["hist_in", "hist_out", "curve"])
            self.assertEqual(row["hist_in"], histogram(a.luma[i]))
            self.assertEqual(row["hist_out"], histogram(b.luma[i]))
            self.assertEqual(len(row["curve"]), 256)
            for x, y in set(zip(a.luma[i], b.luma[i])):
                self.assertLessEqual(abs(row["curve"][x] - y), 0.5001)

    def test_a_flat_picture(self):
        """The deviation and the entropy of a black picture are 0, and no figure is -0.0."""
        source = make(self.path("black.mkv"), *FFV1, source="color=black:size=32x32:rate=25", seconds=0.2)
        self.ok(source, "--null", "--stats", self.path("s.jsonl"))
        for line in self.read("s.jsonl").splitlines():
            row = json.loads(line)
            self.assertEqual((row["stddev_in"], row["entropy_in"]), (0, 0))
            self.assertNotIn(b"-0.0", line)

    def test_a_cut_is_marked(self):
        source = self.path("cut.mkv")
        ffmpeg("-f", "lavfi", "-t", 0.2, "-i", "testsrc2=size=64x64:rate=25,lutyuv=y=val/4",
               "-f", "lavfi", "-t", 0.2, "-i", "testsrc2=size=64x64:rate=25,lutyuv=y=200-val/8",
               "-filter_complex", "[0][1]concat", *FFV1, source)
        self.ok(source, "--null", "--stats", self.path("s.csv"))
        self.assertEqual([r["scene_cut"] for r in self.rows()], list("0000010000"))

    def test_pts_is_the_written_one(self):
        self.ok(self.source(), "--null", "--stats", self.path("s.csv"), "--ss", "0.2")
        self.assertEqual([float(r["time"]) for r in self.rows()], [0, 0.04, 0.08, 0.12, 0.16])

    def test_cannot_be_written(self):
        self.refused(lumeq(self.source(), "--null", "--stats", self.path("no/such/s.csv")), OUTPUT, "no/such/s.csv")
        self.refused(lumeq(self.source(), "--null", "--stats", self.folder + "/x.txt"), USAGE, "--stats")

    def test_not_the_input_or_the_output(self):
        before = read_bytes(self.source())
        copy = self.write("in.csv", before)
        self.refused(lumeq(copy, "--null", "--stats", copy), USAGE, "--stats")
        self.assertEqual(self.read("in.csv"), before)
        out = self.path("out.csv")
        self.refused(lumeq(self.source(), "-o", out, "--format", "mkv", "--stats", out), USAGE, "--stats")

    def test_failed_run_leaves_no_file(self):
        self.refused(lumeq(self.source(), "-o", "/dev/full", "--format", "mkv", "--stats", self.path("s.csv")), OUTPUT)
        self.assertEqual(self.files(), [])
