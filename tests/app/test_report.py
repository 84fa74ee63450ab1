"""--report: its figures equal those of --stats and of the pictures, and the page is complete."""

import base64
import html.parser
import itertools

from common import *

ALSO = {"mean": "mean", "contrast": "stddev", "entropy": "entropy"}  # figures, and their columns in --stats
BLACK, WHITE = 16, 235
VOID = {"meta", "img", "link", "br"}


def cut_film():
    """Two noisy scenes, with a cut at 0.8 s."""
    path = Store.path("cut-film.mkv")
    if not os.path.exists(path):
        ffmpeg("-f", "lavfi", "-t", 0.8, "-i", "testsrc2=size=160x90:rate=25,lutyuv=y=val/4",
               "-f", "lavfi", "-t", 1.2, "-i", "testsrc2=size=160x90:rate=25,lutyuv=y=200-val/8",
               "-filter_complex", "[0][1]concat,noise=c0s=5:c0f=t", "-g", "5", *FFV1, "-pix_fmt", "yuv420p", path)
    return path


def mean_of_known(values):
    values = [v for v in values if v is not None]
    return values and sum(values) / len(values)


# ---- the figures, computed from raw frames ------------------------------------------------------

def deviation(values):
    count = len(values)
    return math.sqrt(max(0, count * sum(v * v for v in values) - sum(values) ** 2)) / count


def block_places(length, count):
    return [i * (length - 8) // (count - 1) if count > 1 else 0 for i in range(count)]


def blocks(luma, width, height):
    """The codes of blocks of 8x8 samples, which are spread over the picture."""
    columns, rows = min(width // 8, 40), min(height // 8, 25)
    return [[c for row in range(y, y + 8) for c in luma[row * width + x:row * width + x + 8]]
            for y in block_places(height, rows) for x in block_places(width, columns)]


def noise_of(now, then):
    """The noise between two frames as [before, after], or None if unknown. A frame is a pair: its blocks before and after."""
    if now[0] == then[0]:
        return None
    means = [sum(b) / 64 for b in now[0]]
    light = sorted(m for m in means if m >= BLACK + 1.5)
    if not light:
        return None
    most, dark, found = light[(len(light) - 1) // 2], 0, ([], [])
    for i, mean in enumerate(means):
        if not BLACK + 1.5 <= mean <= most:
            continue
        dark += 1
        apart = [a - b for a, b in zip(now[0][i], then[0][i])]
        if abs(sum(apart)) / 64 <= 0.35 * sum(map(abs, apart)) / 64 + 0.15:
            for side in range(2):
                found[side].append(deviation([a - b for a, b in zip(now[side][i], then[side][i])]) / math.sqrt(2))
    if len(found[0]) < 8 or 4 * len(found[0]) < dark:
        return None
    return [sorted(f)[(len(f) - 1) // 4] for f in found]


class Pages(html.parser.HTMLParser):
    """The elements of a page. `open` and `wrong` are empty if every element is closed correctly."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.texts = [], [], []
        self.wrong = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else None, data))

    def all(self, tag):
        return [attrs for name, attrs in self.elements if name == tag]


class Base(Case):
    def report(self, name="r.json"):
        return json.loads(self.read(name))

    def rows(self, name="s.csv"):
        return read_rows(self.path(name))

    def same_as_stats(self, report, rows, depth=8):
        codes = 2 ** (depth - 8)
        self.assertEqual(report["frames"], len(rows))
        self.assertEqual(report["plots"]["frames_per_point"], 1)
        for (key, column), (side, end) in itertools.product(ALSO.items(), (("before", "_in"), ("after", "_out"))):
            scale = 1 if key == "entropy" else codes
            values = [float(r[column + end]) / scale for r in rows]
            with self.subTest(key=key, side=side):
                for a, b in zip(report["plots"][key][side]["mean"], values):
                    self.assertAlmostEqual(a, b, delta=0.00011)
                found = report["figures"][key][side]
                self.assertAlmostEqual(found["mean"], sum(values) / len(values), delta=0.00011)
                self.assertAlmostEqual(found["least"], min(values), delta=0.00011)
                self.assertAlmostEqual(found["most"], max(values), delta=0.00011)
                self.assertEqual(found["frames"], len(rows))
        means = [[float(r[c]) / codes for r in rows] for c in ("mean_in", "mean_out")]
        pairs = [i for i in range(1, len(rows)) if rows[i]["scene_cut"] == "0"]
        change = [[m[i] - m[i - 1] for i in pairs] for m in means]
        for side, values in zip(("before", "after"), change):
            self.assertAlmostEqual(report["figures"]["mabd"][side]["mean"], mean_of_known(map(abs, values)), delta=0.0002)
        self.assertAlmostEqual(report["figures"]["excess_flicker"]["after"]["mean"],
                               mean_of_known(abs(b - a) for a, b in zip(*change)), delta=0.0002)


class Figures(Base):
    def test_figures_of_stats(self):
        for output in (("--null", ), ("-o", self.path("o.mkv"), "--two-pass", "on")):
            with self.subTest(output):
                self.ok(cut_film(), *output, "--report", self.path("r.json"), "--stats", self.path("s.csv"), "-y")
                self.same_as_stats(self.report(), self.rows())

    def test_ten_bits(self):
        source = clip("ten.mkv", *FFV1, "-pix_fmt", "yuv420p10le", seconds=0.4)
        self.ok(source, "--null", "--report", self.path("r.json"), "--stats", self.path("s.csv"))
        self.assertEqual(self.report()["depth"], 10)
        self.same_as_stats(self.report(), self.rows(), 10)

    def test_figures_of_the_pictures(self):
        """The figures equal those of raw frames. Without filter and chroma limit, luma follows the curve exactly."""
        options = ("--strength", "0.8", "--chroma", "keep", "--dither", "off", "--two-pass", "off")
        output = self.lossless(cut_film(), "--report", self.path("r.json"), *options)
        report, pictures = self.report(), (Picture(cut_film()), Picture(output))
        parts = [[blocks(luma, p.width, p.height) for luma in p.luma] for p in pictures]
        for side, (name, picture) in enumerate(zip(("before", "after"), pictures)):
            plots = {k: report["plots"][k][name]["mean"] for k in report["figures"] if name in report["figures"][k]}
            for i, luma in enumerate(picture.luma):
                hist = histogram(luma)
                share = lambda values: 100 * sum(values) / len(luma)
                entropy = -sum(n / len(luma) * math.log2(n / len(luma)) for n in hist if n)
                expected = {"contrast": deviation(luma), "entropy": entropy, "mean": sum(luma) / len(luma),
                            "clipped_black": share(hist[:BLACK + 1]), "clipped_white": share(hist[WHITE:]),
                            "local_contrast": mean_of_known(deviation(b) for b in parts[side][i])}
                for key, value in expected.items():
                    self.assertAlmostEqual(plots[key][i], value, delta=0.0002, msg="%s %s of %d" % (key, name, i))
        cuts = {shot["first"] for shot in report["shots"]}
        known = 0
        for i in range(len(parts[0])):
            noise = None if i in cuts else noise_of([p[i] for p in parts], [p[i - 1] for p in parts])
            for side, name in enumerate(("before", "after")):
                found = report["plots"]["noise"][name]["mean"][i]
                self.assertEqual(found is None, noise is None, "frame %d" % i)
                if noise:
                    self.assertAlmostEqual(found, noise[side], delta=0.0002)
                    known += 1
        self.assertGreater(known, 20)

    def test_mode_off(self):
        self.ok(cut_film(), "--null", "--mode", "off", "--report", self.path("r.json"))
        report = self.report()
        for key, sides in report["figures"].items():
            if "before" in sides:
                self.assertEqual(sides["before"], sides["after"], key)
        self.assertEqual(report["figures"]["excess_flicker"]["after"]["most"], 0)
        self.assertEqual(report["options"], ["--mode=off"])
        self.assertIsNone(report["output"])

    def test_shots(self):
        self.ok(cut_film(), "--null", "--report", self.path("r.json"))
        report = self.report()
        shots = report["shots"]
        self.assertEqual([(s["first"], s["frames"]) for s in shots], [(0, 20), (20, 30)])
        self.assertEqual([s["begin"] for s in shots], [0, 0.8])
        self.assertEqual((report["cuts"], report["end"]), (1, 2))
        for shot in shots:
            picture = shot["picture"]
            self.assertIn(picture["frame"], range(shot["first"], shot["first"] + shot["frames"]))
            self.assertEqual(len(picture["curve"]), 256)
            self.assertEqual(picture["curve"], sorted(picture["curve"]))
            self.assertTrue(picture["words"])
        whole = report["figures"]["contrast"]["after"]["mean"] * report["frames"]
        self.assertAlmostEqual(sum(s["figures"]["contrast"]["after"]["mean"] * s["frames"] for s in shots), whole,
                               delta=0.01)

    def test_the_words_of_a_profile(self):
        """The sentence about a profile begins with two dashes, which the page keeps."""
        self.ok(simple(), "--null", "--profile", "fog", "--report", self.path("r.json"))
        for shot in self.report()["shots"]:
            self.assertIn("--profile fog: haze removed", shot["picture"]["words"])
        self.ok(simple(), "--null", "--profile", "fog", "--report", self.path("r.html"))
        page = self.read("r.html").decode()
        self.assertIn("--profile fog: haze removed", page)
        self.assertNotIn("text-transform", page)

    def test_a_black_picture(self):
        """Unknown figures are null, and never NaN."""
        source = make(self.path("black.mkv"), *FFV1, source="color=black:size=4x4:rate=25", seconds=0.04)
        self.ok(source, "--null", "--report", self.path("r.json"))
        figures = self.report()["figures"]
        self.assertEqual(figures["noise"]["before"], {"mean": None, "least": None, "most": None, "frames": 0})
        self.assertEqual(figures["local_contrast"]["after"]["mean"], None)
        self.assertEqual(figures["clipped_black"]["before"]["mean"], 100)
        self.assertEqual(figures["mabd"]["before"]["frames"], 0)
        self.ok(source, "--null", "--report", self.path("r.html"))
        self.assertNotRegex(self.read("r.html").decode(), r"\bnan\b|\binf\b")

    def test_overlay(self):
        """The report does not measure the overlay in the video."""
        for number, more in enumerate(((), ("--compare", "side", "--overlay"))):
            self.ok(cut_film(), "-o", self.path("%d.mkv" % number), *more, "--report", self.path("r%d.json" % number))
        one, other = self.report("r0.json"), self.report("r1.json")
        for report in (one, other):
            del report["options"], report["output"]
        self.assertEqual(one, other)


class Page(Base):
    def page(self, *more, source=None):
        self.ok(source or cut_film(), "--null", "--report", self.path("r.html"), "-y", *more)
        self.text = self.read("r.html").decode("utf-8")
        return Pages(self.text)

    def test_html(self):
        page = self.page()
        self.assertEqual((page.open, page.wrong), ([], []))
        ids = [a["id"] for _, a in page.elements if "id" in a]
        self.assertEqual(len(ids), len(set(ids)))
        for _, attrs in page.elements:
            for key in ("aria-labelledby", "aria-describedby"):
                for name in attrs.get(key, "").split():
                    self.assertIn(name, ids)
            if attrs.get("href"):
                self.assertIn(attrs["href"].lstrip("#"), ids)
        self.assertEqual(len(page.all("h1")), 1)
        self.assertEqual(page.all("html"), [{"lang": "en"}])
        levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
        self.assertTrue(all(b - a <= 1 for a, b in zip(levels, levels[1:])), levels)
        self.assertEqual({a.get("scope") for a in page.all("th")}, {"row", "col"})
        self.assertEqual(len(page.all("caption")), len(page.all("table")))
        self.assertIn("prefers-color-scheme:dark", self.text)
        self.assertIn("@media print", self.text)

    def test_page_is_self_contained(self):
        page = self.page()
        text = re.sub(r"data:image/jpeg;base64,[\w+/=]+", "", self.text)
        self.assertNotIn("data:image", text)
        self.assertIsNone(re.search(r"https?:|//[a-z]|url\(|@import", text))
        self.assertEqual(page.all("script") + page.all("link"), [])
        self.assertEqual([a for _, a in page.elements if any(k.startswith("on") for k in a)], [])

    def test_pictures(self):
        """The page has pictures of each shot, before and after, with their declared size."""
        page = self.page()
        images = page.all("img")
        self.assertEqual(len(images), 4)
        kept = set()
        for i, attrs in enumerate(images):
            kind, data = attrs["src"].split(",")
            self.assertEqual(kind, "data:image/jpeg;base64")
            about = video(self.write("%d.jpg" % i, base64.b64decode(data, validate=True)))
            self.assertEqual((about["codec_name"], about["width"], about["height"]), ("mjpeg", 160, 90))
            self.assertEqual((attrs["width"], attrs["height"]), ("160", "90"))
            kept.add(data)
        self.assertEqual(len(kept), 4)

    def test_pictures_are_upright_and_square(self):
        turned = self.path("turned.mp4")
        flat = make(self.path("flat.mp4"), *X264, "-vf", "setsar=2", size="320x90", seconds=0.2)
        ffmpeg("-i", flat, "-c", "copy", "-metadata:s:v:0", "rotate=90", turned)
        if not any("rotation" in s for s in video(turned).get("side_data_list", [])):
            self.skipTest("this ffmpeg does not write the rotation")
        for attrs in self.page(source=turned).all("img"):
            self.assertEqual((attrs["width"], attrs["height"]), ("45", "320"))

    def test_figures(self):
        """The page has the figures of the JSON report, rounded."""
        page = self.page()
        self.ok(cut_film(), "--null", "--report", self.path("r.json"))
        texts = [t for tag, t in page.texts if tag == "td"]
        for key, sides in self.report()["figures"].items():
            for side in sides.values():
                self.assertIn("%.*f" % (2 if side["mean"] < 10 else 1, side["mean"]), texts, key)

    def test_strange_names(self):
        name = 'a<b>&"c"\n\udcff'
        source = os.path.join(self.folder, name + ".mkv")
        shutil.copy(cut_film(), source)
        page = self.page(source=os.fsencode(source))
        self.assertEqual((page.open, page.wrong), ([], []))
        self.assertIn('a<b>&"c"\ufffd\ufffd.mkv', [t for tag, t in page.texts if tag == "h1"])
        self.assertNotIn(self.folder, self.text)
        self.ok(os.fsencode(source), "--null", "--report", self.path("r.json"))
        self.assertEqual(self.report()["input"], 'a<b>&"c"\n\ufffd.mkv')


class Runs(Base):
    def test_interrupted(self):
        process = start("-", "--null", "--report", self.path("r.json"), stdin=trickle(self))
        self.assertTrue(wait_for(lambda: self.files()))
        time.sleep(0.5)
        self.assertIn("r.partial.json", self.interrupt(process).err)
        report = self.report("r.partial.json")
        self.assertEqual((report["state"], report["input"]), ("interrupted", "standard input"))
        self.assertEqual(self.files(), ["r.partial.json"])

    def test_refused(self):
        source, page, copy = simple(), self.path("r.html"), shutil.copy(cut_film(), self.path("in.json"))
        for args, words in (((source, "--null", "--report", self.path("r.txt")), (".html", ".json")),
                            ((copy, "--null", "--report", copy, "-y"), ()),
                            ((source, "--report", page), ("window", "--null")),
                            (("--camera", "--report", page), ("window", "--frames")),
                            ((source, "-o", self.path("d/"), "--report", page), ("one video", )),
                            (("--camera", "--record-raw", "-o", self.path("o.mkv"), "--frames", 5, "--report", page),
                             ("--record-raw", )),
                            ((source, "-o", self.path("o.mkv"), "--jobs", 1, "--report", page), ("no effect on a film in parts", )),
                            ((source, "-o", page, "--format", "mkv", "--report", page), ("is the output", ))):
            with self.subTest(words):
                self.refused(lumeq(*args), USAGE, "--report", *words)
        self.refused(lumeq(source, "--null", "--report", self.path("no/such/r.html")), OUTPUT, "no/such/r.html")
        self.write("r.html", b"precious")
        self.refused(lumeq(source, "--null", "--report", page), USAGE, "--report", "exists", "-y")
        self.assertEqual(self.read("r.html"), b"precious")
        self.assertEqual(self.files(), ["in.json", "r.html"])

    def test_full_disk(self):
        """If the report cannot be written, a message says so, and the video is complete."""
        os.symlink("/dev/full", self.path("r.html"))
        result = lumeq(cut_film(), "-o", self.path("o.mkv"), "--report", self.path("r.html"), "-q", "-y")
        self.refused(result, OUTPUT, "--report", "No space left")
        self.assertEqual(len(frame_times(self.path("o.mkv"))), 50)
