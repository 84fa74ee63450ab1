"""The scripts and programs of samples/ that make tables and pictures, on small clips."""

import importlib.util

from common import *

SAMPLES = os.path.join(HERE, "../../samples")
CONTACT_SHEET = os.path.join(os.path.dirname(LUMEQ), "samples/lumeq-contact-sheet")


class SampleScripts(Case):
    def script(self, name, *args):
        p = subprocess.run([sys.executable, os.path.join(SAMPLES, name), *map(str, args)], env=environment(),
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder,
                           timeout=5 * LIVENESS)
        self.assertEqual(p.returncode, 0, p.stderr.decode("utf-8", "replace"))
        return p.stdout.decode()

    def rows(self, text):
        """The rows of a Markdown table, without its heading."""
        table = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
        self.assertEqual(len({len(row) for row in table}), 1, text)
        return table[2:]

    def test_cost_of_parts(self):
        film = clip("parts.mkv", seconds=1, size="64x48")
        text = self.script("bench-parts.py", LUMEQ, "--clip", film, "--seconds", 2, "--parts", "1,2", "--jobs", 2)
        steps, jobs = (self.rows(table) for table in re.findall(r"(?:^\|.*\n)+", text, re.M))
        self.assertEqual([row[0].strip() for row in steps], ["one run", "1 part", "2 parts"])
        self.assertEqual([row[0].strip() for row in jobs][-1], "`--jobs 2`, CPU")

    def test_speed(self):
        film = clip("parts.mkv", seconds=1, size="64x48")
        text = self.script("bench-speed.py", LUMEQ, film, "--rounds", 1, "--frames", 5)
        self.assertEqual([cell.strip() for cell in self.rows(text)[0][:2]], ["software, CPU", "5"])
        self.assertEqual(len(self.rows(text)) + text.count("Left out: "), 3, text)

    def test_compares_with_ffmpeg(self):
        text = self.script("bench-ffmpeg.py", "--lumeq", LUMEQ, "--cores", 1, "--size", "320x180", "--seconds", "0.4,0.8",
                           "--rounds", 1, "--preset", "ultrafast")
        rows = [line.split() for line in text.splitlines()
                if line.startswith(("equalize ", "film ", "encode ")) and "memory" not in line]
        self.assertEqual([r[:4] for r in rows if r[1] == "lumeq"],
                         [[w, "lumeq", s, n] for w in ("equalize", "film", "encode")
                          for s, n in (("0.4s", "10"), ("0.8s", "20"))])
        self.assertIn("encoded packets of lumeq and ffmpeg: identical", text)

    @unittest.skipUnless(importlib.util.find_spec("cv2"), "not installed: python3-opencv")
    def test_look(self):
        rows = self.rows(self.script("bench-look.py", LUMEQ, clip("dull.mkv", seconds=1), "--frames", 5))
        self.assertEqual(len(rows), 2)

    @unittest.skipUnless(importlib.util.find_spec("cv2"), "not installed: python3-opencv")
    def test_calm(self):
        rows = self.rows(self.script("bench-calm.py", LUMEQ, clip("dull.mkv", seconds=2), "--frames", 40))
        self.assertEqual([row[1].strip() for row in rows][:6], ["source", "lumeq, live", "lumeq, lookahead", "OpenCV CLAHE",
                                                                "OpenCV equalizeHist", "ffmpeg `histeq`"])
        self.assertEqual(rows[0][2].strip(), "0.000")
        self.assertGreater(float(rows[4][2]), float(rows[2][2]))

    def test_the_contact_sheet(self):
        if not os.access(CONTACT_SHEET, os.X_OK):
            self.skipTest("lumeq-contact-sheet is not built")
        source = clip("dull.mkv", seconds=1)
        self.ok(source, "-o", "out.mkv", "--stats", "rows.jsonl", "--backend", "cpu", cwd=self.folder)
        p = subprocess.run([CONTACT_SHEET, source, "out.mkv", "rows.jsonl", "sheet.png"], cwd=self.folder, check=True,
                           env=environment(), stdout=subprocess.PIPE, timeout=LIVENESS)
        self.assertIn(b"mean", p.stdout.lower())
        sheet = streams(self.path("sheet.png"))[0]
        self.assertEqual(sheet["codec_name"], "png")
        self.assertGreater(sheet["width"], 300)

    @unittest.skipIf(SHORT or SANITIZED, "takes too long")
    def test_gain_of_a_lookahead(self):
        rows = self.rows(self.script("bench-lookahead.py", LUMEQ, "--folder", self.folder, "--width", 320))
        self.assertEqual(len(rows), 5)
        self.assertTrue(rows[0][2].strip().endswith("of 4"), rows[0])

    def test_the_pictures_of_the_front_page(self):
        film = clip("page.mkv", seconds=10, size="96x54", rate=5)
        p = subprocess.run(["bash", os.path.join(SAMPLES, "readme-pictures.sh"), LUMEQ, self.folder, film],
                           env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           timeout=LIVENESS)
        self.assertEqual(p.returncode, 0, p.stderr.decode("utf-8", "replace"))
        self.assertEqual(self.files(), ["dark.jpg", "fine.jpg", "flat.jpg", "fog.jpg", "hdr.jpg"])
        for name, pictures in (("dark.jpg", 3), ("fine.jpg", 2)):
            self.assertEqual(streams(self.path(name))[0]["width"], 480 * pictures)
