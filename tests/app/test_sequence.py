"""Reading and writing numbered pictures, and reading folders of pictures, as video."""

from common import *


class Sequence(Case):
    def pictures(self, pattern="in/f%04d.png", first=7, count=12, size="64x48"):
        """Makes different gray pictures, and returns the pattern's path."""
        os.makedirs(os.path.dirname(self.path(pattern)), exist_ok=True)
        make(self.path(pattern), "-start_number", first, size=size, seconds=count / 25, filters="format=gray")
        return self.path(pattern)

    def gray(self, path):
        """The samples of each frame."""
        data = raw(path, "gray")
        return [data[i:i + 64 * 48] for i in range(0, len(data), 64 * 48)]

    def each(self, *names):
        return [self.gray(self.path(name))[0] for name in names]

    def test_reads_a_pattern(self):
        """A pattern may begin with any number. Each picture becomes a frame at its time."""
        source = self.pictures()
        output = self.lossless(source, "--sequence", "--mode", "off")
        self.assertEqual(self.gray(output), self.each(*("in/f%04d.png" % i for i in range(7, 19))))
        self.near(frame_times(output), [i / 25 for i in range(12)], 0.002)

    def test_reads_a_folder(self):
        """A folder's pictures are read in natural order of their names."""
        self.pictures("in/f%d.png", first=8)
        os.rename(self.path("in/f10.png"), self.path("in/f 9b.png"))
        self.write("in/notes.txt", b"no picture\n")
        self.write("in/.hidden.png", b"neither\n")
        output = self.lossless(self.path("in"), "--mode", "off", "--sequence-rate", 12.5)
        names = ["in/f 9b.png"] + ["in/f%d.png" % i for i in range(8, 20) if i != 10]
        self.assertEqual(self.gray(output), self.each(*names))
        self.near(frame_times(output), [i / 12.5 for i in range(12)], 0.002)

    def test_part(self):
        output = self.lossless(self.pictures(), "--sequence", "--mode", "off", "--ss", 0.2, "--frames", 3)
        self.assertEqual(self.gray(output), self.each(*("in/f%04d.png" % i for i in (12, 13, 14))))

    def test_lookahead(self):
        result = self.ok(self.pictures(), "--sequence", "-o", self.path("o.mkv"), "-v")
        self.assertIn("12 frames", result.err)
        self.assertIn("lookahead: curves see up to 10 s", result.err)

    def test_plain_name(self):
        """A name is a pattern only with --sequence."""
        self.refused(lumeq(self.pictures(), "--null"), INPUT, "No such file", "--sequence")
        shutil.copy(self.path("in/f0007.png"), self.path("f%04d.png"))
        self.ok(self.path("f%04d.png"), "--null")

    def test_missing_number(self):
        source = self.pictures()
        os.remove(self.path("in/f0010.png"))
        self.refused(lumeq(source, "--sequence", "--null"), INPUT, "number 10", "f%04d.png")
        self.assertIn("11 frames", self.ok(self.path("in"), "--null").lines[-1])  # numbers may be missing in a folder

    def test_unequal_sizes(self):
        source = self.pictures()
        make(self.path("in/f0010.png"), "-frames:v", 1, "-update", 1, size="32x16", filters="format=gray")
        for name in (source, self.path("in")):
            result = self.ok(name, "--sequence", "-o", self.path("o.mkv"), "-y")
            self.assertIn("from 0.120 s on it is 32x16, fitted into 64x48 with black bars", result.err)
            self.assertEqual(len(frame_times(self.path("o.mkv"))), 12)

    def test_no_pictures(self):
        os.mkdir(self.path("in"))
        self.write("in/notes.txt", b"no picture\n")
        self.refused(lumeq(self.path("in"), "--null"), INPUT, self.path("in"), "no pictures")
        self.refused(lumeq(self.path("in/f%d.png"), "--sequence", "--null"), INPUT, "no picture", "f%d.png")
        self.refused(lumeq(self.path("none/f%d.png"), "--sequence", "--null"), INPUT, "folder", "none/f%d.png")

    def test_broken_picture(self):
        """A broken picture is treated like any damaged frame, and all others are written."""
        source = self.pictures()
        self.write("in/f0010.png", self.read("in/f0010.png")[:60])
        self.exits(DAMAGED, source, "--sequence", "-o", self.path("o.mkv"), "--vcodec", "ffv1")
        self.assertGreaterEqual(len(frame_times(self.path("o.mkv"))), 11)

    def test_writes(self):
        """Each frame is written once, the numbers begin at 1, and no other file is left."""
        source = clip("gray.mkv", *FFV1, size="64x48", seconds=0.48, filters="format=gray")
        self.ok(source, "-o", self.path("out%03d.png"), "--sequence", "--mode", "off")
        names = ["out%03d.png" % i for i in range(1, 13)]
        self.assertEqual(self.files(), names)
        self.assertEqual(self.each(*names), self.gray(source))

    def test_existing_pictures_are_kept(self):
        """Existing pictures are replaced only with -y. An input is never replaced."""
        source = self.pictures()
        self.write("out5.png", b"mine")
        self.refused(lumeq(source, "--sequence", "-o", self.path("out%d.png")), USAGE, "out5.png", "-y")
        self.assertEqual(self.files(), ["in", "out5.png"])
        self.ok(source, "--sequence", "-o", self.path("out%d.png"), "-y")
        self.assertEqual(len(self.gray(self.path("out5.png"))), 1)
        before = self.read("in/f0007.png")
        self.refused(lumeq(source, "--sequence", "-o", self.path("in/f%04d.png"), "-y"), USAGE, "would overwrite the input")
        self.assertEqual(self.read("in/f0007.png"), before)

    def test_interrupted(self):
        """Finished pictures stay, and each is complete."""
        process = start(long_clip(), "-o", self.path("out%d.png"), "--sequence", "--two-pass", "off")
        self.assertTrue(wait_for(lambda: os.path.exists(self.path("out20.png"))), "nothing is written")
        result = self.interrupt(process)
        self.assertIn("out%d.png", result.lines[-1])
        count = len(self.files())
        self.assertEqual(self.files(), sorted("out%d.png" % i for i in range(1, count + 1)))
        for name in self.files():
            self.assertTrue(self.read(name).endswith(b"IEND\xaeB`\x82"), name)

    def test_killed(self):
        """The next run removes only the unfinished picture."""
        pattern = self.path("out%03d.png")
        process = start(long_clip(), "-o", pattern, "--sequence", "--two-pass", "off")
        unfinished = re.compile(r"\.out%03d\.png\.lumeq-[0-9a-f]{8}\.part")
        for _ in range(1000):  # between two pictures there is no unfinished file
            process.send_signal(signal.SIGSTOP)
            # An empty file may not be locked yet, so the next run may remove it.
            left = [name for name in self.files() if unfinished.fullmatch(name) and os.path.getsize(self.path(name))]
            if left:
                break
            process.send_signal(signal.SIGCONT)
            time.sleep(0.003)
        self.assertTrue(left, "nothing is written")
        foreign = [".out.png.lumeq-01234567.part", ".out%03d.jpg.lumeq-01234567.part", ".out%03d.png.lumeq-0123456.part"]
        for other in foreign:
            self.write(other, b"mine")
        foreign.append(".out%03d.png.lumeq-01234567.part")
        os.symlink(self.write("precious", b"mine"), self.path(foreign[-1]))
        again = lambda: self.ok(simple(), "-o", pattern, "--sequence", "--frames", "1", "-y")
        again()
        self.assertTrue(set(left + foreign) <= set(self.files()), "a file was removed while it was written")
        process.kill()
        process.wait()
        again()
        self.assertEqual([name for name in self.files() if name.endswith(".part")], sorted(foreign))

    def test_contradictions(self):
        source, output = simple(), self.path("o.mkv")
        for args, words in (
                ((source, "-o", output, "--sequence"), ("--sequence", "neither INPUT nor OUTPUT")),
                ((source, "-o", output, "--sequence-rate", 10), ("--sequence-rate", )),
                ((source, "-o", self.path("o%d.mkv"), "--sequence"), ("not the name of one", ".png")),
                ((source, "-o", self.path("o%d.webp"), "--sequence"), ("not the name of one", ".png")),
                ((source, "-o", self.folder + "/", "--sequence"), ("--sequence", "for one video")),
                ((self.pictures(), "-o", output, "--sequence", "--jobs", 2), ("--jobs", "pictures")),
                ((self.path("in"), "-o", output, "--resume"), ("--resume", "pictures")),
                (("plan", self.path("in"), "-o", output), ("plan", "pictures"))):
            with self.subTest(words):
                self.refused(lumeq(*args), USAGE, *words)
        self.assertEqual(self.files(), ["in"])
        self.refused(lumeq(source, "-o", self.path("none/o%d.png"), "--sequence"), OUTPUT, "none/o%d.png")
