"""Many files into a folder: names of outputs, refusals, and independence of files from each other."""

from common import *

FAST = ("--two-pass", "off", "--preset", "ultrafast")
LOSSLESS = ("--two-pass", "off", "--vcodec", "ffv1")


class ManyCase(Case):
    def put(self, *names, source=None):
        """Copies a clip into the test's folder."""
        for name in names:
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            shutil.copyfile(source or clip("tiny.mkv", seconds=0.2), self.path(name))

    def half(self, name):
        """Writes a video whose second half is missing."""
        data = read_bytes(clip("index-first.mp4", *X264, "-movflags", "+faststart", seconds=4))
        self.write(name, data[:len(data) // 2])

    def below(self, name):
        """Lists the files in a folder and its subfolders."""
        top = self.path(name)
        return sorted(os.path.relpath(os.path.join(folder, f), top) for folder, _, files in os.walk(top) for f in files)

    def many(self, *args):
        return lumeq(*FAST, *args, cwd=self.folder)

    def done(self, *args, code=DONE):
        return self.exits(code, *FAST, *args, cwd=self.folder)


class Names(ManyCase):
    def test_names_are_kept(self):
        """Each output equals that of a single run."""
        for name in ("a.mkv", "b two.mp4", "-c.mov"):
            ffmpeg("-i", simple(), "-c", "copy", os.path.join(self.folder, "./" + name))
        result = self.done("a.mkv", "b two.mp4", "-o", "out/", "--", "-c.mov")
        self.assertEqual(self.below("out"), ["-c.mov", "a.mkv", "b two.mp4"])
        self.assertEqual([re.search(": (.*? frames)", l)[1] for l in result.lines if " frames" in l],
                         ["'out/a.mkv': 25 frames", "'out/b two.mp4': 25 frames", "'out/-c.mov': 25 frames",
                          "3 files: 3 done; 75 frames"])
        for name in self.below("out"):
            self.ok("-o", self.path("one.mkv"), "-y", *FAST, "--", self.path(name))
            self.assertEqual(raw(self.path("out/" + name)), raw(self.path("one.mkv")))

    def test_one_file(self):
        self.put("a.mkv")
        for options in ((), ("--jobs", "auto", "-y")):
            self.assertEqual(len(self.done("a.mkv", "-o", "out/", *options).lines), 1)
            self.assertEqual(self.below("out"), ["a.mkv"])

    def test_container_by_option(self):
        """The container's ending replaces the input's ending."""
        self.put("a.mkv", "b.avi", "c.mka.mov", "d", "e.mk3d")
        self.done("a.mkv", "b.avi", "c.mka.mov", "d", "e.mk3d", "-o", "out/", "--format", "mkv")
        self.assertEqual(self.below("out"), ["a.mkv", "b.mkv", "c.mka.mkv", "d.mkv", "e.mkv"])
        self.done("a.mkv", "-o", "mp4/", "--format", "mp4")
        self.assertIn("mp4", probe(self.path("mp4/a.mp4"), "-show_format")["format"]["format_name"])

    def folder_of_all(self):
        """Makes the folder "in": two videos, a picture, a video in a subfolder, and other files."""
        self.put("in/b.mkv", "in/a.webm", "in/sub/c.mkv", "in/.hidden.mkv", "in/.folder/d.mkv", "in/o.mkv.lumeq/0.mkv")
        make(self.path("in/p.png"), "-frames:v", 1, seconds=0.04)
        ffmpeg("-f", "lavfi", "-t", 0.2, "-i", "sine", self.path("in/sound.m4a"))
        for name, text in (("notes.txt", b"a\n"), ("s.srt", b"1\n00:00:00,000 --> 00:00:01,000\nhi\n\n"),
                           ("noise.bin", bytes(range(7, 256)) * 9)):
            self.write("in/" + name, text)
        os.symlink("sub", self.path("in/linked"))
        os.mkfifo(self.path("in/fifo.mkv"))

    def test_folder(self):
        """Videos in a folder are found by their names, and a message counts the other files."""
        self.folder_of_all()
        result = self.done("in", "-o", "out/", "--format", "mkv", "--frames", "1", "--pix-fmt", "source")
        self.assertEqual(self.below("out"), ["a.mkv", "b.mkv", "p.mkv"])
        self.assertEqual(len(result.lines), 1 + 3 + 1, str(result))
        self.assertIn("skipping 5 files", result.lines[0])

    def test_subfolders(self):
        self.folder_of_all()
        self.put("other/sub/e.mkv")
        self.done("in/", "other", "-o", "out/", "--format", "mkv", "--frames", "1", "--recursive")
        self.assertEqual(self.below("out"), ["a.mkv", "b.mkv", "p.mkv", "sub/c.mkv", "sub/e.mkv"])

    def test_no_video_in_a_folder(self):
        self.write("notes.txt", b"a\n")
        self.refused(lumeq(self.folder, "-o", self.path("out/")), INPUT, "no video found in", "(1 file)", self.folder)
        self.assertEqual(self.files(), ["notes.txt"])

    def test_failures_in_a_folder_are_reported(self):
        self.put("in/a.mkv")
        self.write("in/b.mp4", b"")
        self.write("in/c.mkv", bytes(range(7, 256)) * 9)
        result = self.done("in", "-o", "out/", code=INPUT)
        self.assertIn("3 files: 1 done, 2 failed", result.err)
        self.assertEqual(self.below("out"), ["a.mkv"])

    def test_folder_without_permission(self):
        self.put("in/a.mkv")
        os.makedirs(self.path("in/closed"))
        os.chmod(self.path("in/closed"), 0)
        if os.access(self.path("in/closed"), os.R_OK):
            self.skipTest("root may read everything")
        result = self.many("in", "-o", "out/", "--recursive")
        os.chmod(self.path("in/closed"), 0o700)
        self.assertEqual(result.code, INPUT, str(result))
        self.assertIn("cannot read the folder 'in/closed'", result.err)
        self.assertEqual(self.below("out"), ["a.mkv"])

    def test_an_existing_folder_needs_no_slash(self):
        """As with cp, a name that does not exist is a file."""
        self.put("a.mkv", "b.mkv")
        os.mkdir(self.path("out"))
        os.mkdir(self.path("film.mkv"))
        os.symlink("out", self.path("link"))
        for folder, names in (("out", ["a.mkv"]), ("film.mkv", ["a.mkv", "b.mkv"]), ("link", ["b.mkv"])):
            self.done(*names, "-o", folder)
        self.assertEqual(self.below("."), ["a.mkv", "b.mkv", "film.mkv/a.mkv", "film.mkv/b.mkv", "out/a.mkv", "out/b.mkv"])
        self.refused(self.many("a.mkv", "-o", "."), USAGE, "'a.mkv' lies in the folder './'")
        self.refused(self.many("a.mkv", "-o", "new"), USAGE, "'new' does not say which container")
        self.refused(self.many("a.mkv", "-o", "out", "--sample"), USAGE, "--sample", "folder of outputs")


class Refused(ManyCase):
    """Errors that are found before anything is written."""

    def none(self, code, *args, words=()):
        self.refused(self.many(*args), code, *words)
        self.assertFalse(os.path.exists(self.path("out")))

    def test_two_inputs_with_one_output(self):
        self.put("a/x.mkv", "b/x.mkv", "a/y.mkv", "a/y.mp4")
        for args, words in ((("a/x.mkv", "b/x.mkv"), ("'a/x.mkv' and 'b/x.mkv'", "'out/x.mkv'")),
                            (("a", "b"), ("'a/x.mkv' and 'b/x.mkv'", "'out/x.mkv'")),
                            (("a/x.mkv", "a/../a/x.mkv"), ("'a/x.mkv' and 'a/../a/x.mkv'", )),
                            (("a/y.mkv", "a/x.mkv", "a/y.mp4", "--format", "mkv"),
                             ("'a/y.mkv' and 'a/y.mp4'", "'out/y.mkv'"))):
            with self.subTest(args):
                self.none(USAGE, *args, "-o", "out/", words=words)

    def test_inputs_without_a_name_are_refused(self):
        self.put("a.mkv")
        self.none(USAGE, "a.mkv", "-", "-o", "out/", words=("standard input has no file name", ))
        self.none(USAGE, "a.mkv", "http://localhost/b.mkv", "--network", "-o", "out/", words=("b.mkv' has no file name", ))

    def test_options(self):
        self.put("a.mkv")
        self.none(USAGE, "a.mkv", "--recursive", "-o", "out.mkv", words=("--recursive", "-o DIR/"))
        self.none(USAGE, "a.mkv", "-o", "out/", "--stats", "s.csv", words=("--stats", ))
        self.none(USAGE, "a.mkv", "b.mkv", "-o", "out", words=("with -o DIR/", ))
        self.none(USAGE, "a.mkv", "b.mkv", "--null", words=("at a time", ))

    def test_impossible_folder(self):
        self.put("a.mkv")
        self.none(OUTPUT, "a.mkv", "-o", "nowhere/out/", words=("'nowhere/out'", "No such file"))
        self.none(OUTPUT, "a.mkv", "-o", "a.mkv/", words=("'a.mkv'", "Not a directory"))

    def test_input_beside_its_output(self):
        self.put("a.mkv")
        os.symlink(".", self.path("here"))
        self.none(USAGE, "a.mkv", "-o", "./", words=("'a.mkv' lies in the folder './'", ))
        self.none(USAGE, "a.mkv", "-y", "-o", "here/", words=("lies in the folder", ))
        self.none(USAGE, ".", "-y", "-o", self.folder + "/", words=("'.' is the folder", ))
        self.assertEqual(self.files(), ["a.mkv", "here"])

    def test_output_is_an_input(self):
        """An output must not be any of the inputs, even by another path."""
        self.put("a.mkv", "in/b.mkv")
        before = self.read("a.mkv")
        os.mkdir(self.path("there"))
        os.link(self.path("a.mkv"), self.path("there/b.mkv"))
        self.refused(self.many("in/b.mkv", "a.mkv", "-y", "-o", "there/"), USAGE, "'there/b.mkv' is the input 'a.mkv'")
        os.unlink(self.path("there/b.mkv"))
        os.symlink("../in/b.mkv", self.path("there/b.mkv"))
        self.refused(self.many("in", "-y", "-o", "there/"), USAGE, "'there/b.mkv' is the input 'in/b.mkv'")
        self.assertEqual(self.read("a.mkv"), before)

    def test_existing_outputs_are_kept(self):
        self.put("a.mkv", "b.mkv", "c.mkv", "there/a.mkv", "there/c.mkv")
        self.refused(self.many("a.mkv", "b.mkv", "c.mkv", "-o", "there/"), USAGE, "2 of 3 outputs exist",
                     "'there/a.mkv'", "--resume", "-y")
        self.assertEqual(self.below("there"), ["a.mkv", "c.mkv"])
        self.done("a.mkv", "b.mkv", "-y", "-o", "there/")
        self.assertEqual(video(self.path("there/a.mkv"))["codec_name"], "h264")

    def test_folder_of_outputs_in_an_input(self):
        """The folder of outputs is skipped, because outputs must not be processed again."""
        self.put("in/a.mkv")
        self.done("in", "-o", "in/out/", "--recursive")
        self.put("in/b.mkv")
        result = self.done("in", "-o", "in/out/", "--recursive", "--resume")
        self.assertIn("skipping the output folder 'in/out'", result.lines[0])
        self.assertEqual(self.below("in"), ["a.mkv", "b.mkv", "out/a.mkv", "out/b.mkv"])


class Failures(ManyCase):
    def test_one_does_not_stop_the_rest(self):
        """Each failure gets one line, and the exit code is that of the first one."""
        self.put("a.mkv", "b.mkv")
        self.write("text.mkv", b"no video\n" * 100)
        self.put("c.xyz")
        for order, code in ((("text.mkv", "a.mkv", "c.xyz", "b.mkv"), INPUT),
                            (("a.mkv", "c.xyz", "b.mkv", "text.mkv"), USAGE)):
            with self.subTest(order):
                result = self.many(*order, "-o", "out/")
                self.assertEqual(result.code, code, str(result))
                self.assertEqual(self.below("out"), ["a.mkv", "b.mkv"])
                self.assertIn("4 files: 2 done, 2 failed; 10 frames, 0.40 s of video", result.err)
                self.assertEqual(len(result.lines), 4 + 1, str(result))
                reported = [l for l in result.lines if "failed: " in l]
                self.assertEqual(["text.mkv" in l for l in reported], ["text.mkv" in o for o in order if o[0] in "tc"])
                shutil.rmtree(self.path("out"))

    def test_damaged(self):
        self.half("a.mp4")
        self.put("b.mkv")
        result = self.done("a.mp4", "b.mkv", "-o", "out/", code=DAMAGED)
        self.assertIn("2 files: 1 done, 1 done, but damaged", result.err)
        self.assertRegex(result.lines[0], "damaged: 'a.mp4': .* frames, .*; the input is damaged: ")
        self.assertEqual(self.below("out"), ["a.mp4", "b.mkv"])

    def test_nothing_is_left_of_failures(self):
        self.write("text.mkv", b"no video\n" * 100)
        os.makedirs(self.path("in/sub"))
        self.write("in/sub/text.mkv", b"")
        self.done("text.mkv", "in", "-o", "out/", "--recursive", code=INPUT)
        self.assertEqual(self.files(), ["in", "text.mkv"])

    def test_notes_appear_once(self):
        """Each file has one line. A note that applies to several files is only in the first line."""
        self.put("in/a.mkv", "in/b.mkv", "in/c.mkv", source=clip("444.mkv", "-c:v", "ffv1", "-pix_fmt", "yuv444p", seconds=0.2))
        result = self.done("in", "-o", "out/")
        self.assertEqual(["converted from yuv444p" in line for line in result.lines], [True, False, False, False])
        for name, line in zip("abc", result.lines):
            self.assertRegex(line, "'out/%s.mkv': 5 frames, .* s of video in " % name)

    def test_many_pictures(self):
        """A picture gets a line only for a new note or a failure."""
        os.makedirs(self.path("in"))
        ffmpeg("-f", "lavfi", "-i", "testsrc2=s=32x32:r=10:d=3", self.path("in/p%02d.png"))
        self.write("in/p07.png", b"no picture")
        result = self.exits(INPUT, "in", "-o", "out/", cwd=self.folder)
        self.assertEqual(len(self.below("out")), 29)
        self.assertEqual(len(result.lines), 3, str(result))
        self.assertRegex(result.lines[0], "'out/p01.png': 1 frame, .*; frames are converted ")
        self.assertRegex(result.lines[1], "failed: 'in/p07.png'")
        self.assertRegex(result.lines[2], "30 files: 29 done, 1 failed; 29 frames")
        self.assertEqual(len(lumeq("in", "-o", "out/", "-y", "-q", cwd=self.folder).lines), 1)
        self.assertEqual(len(re.findall("'out/p", lumeq("in", "-o", "out/", "-y", "-v", cwd=self.folder).err)), 29)
        self.assertEqual(len(lumeq("in", "-o", "out/", "--resume", cwd=self.folder).lines), 2)
        shown = self.on_terminal("in", "-o", "out/", "-y", code=INPUT, cwd=self.folder)
        self.assertRegex(shown, r"[12]\d/30 files ")
        self.assertEqual(len(re.findall("lumeq:", shown)), 3)

    def test_quiet(self):
        """With -q, each error appears once, and nothing else."""
        self.put("a.mkv")
        self.refused(self.many("none.mkv", "a.mkv", "-o", "out/", "-q"), INPUT, "none.mkv")


class AtOnce(ManyCase):
    """--jobs processes several files at once."""

    def hidden(self):
        return [f for f in self.below("out") if f.endswith(".part")]

    def test_number_of_jobs(self):
        self.put(*("%d.mkv" % i for i in range(5)), source=long_clip())
        process = self.start("0.mkv", "1.mkv", "2.mkv", "3.mkv", "4.mkv", "-o", "out/", "--jobs", 3, *LOSSLESS, cwd=self.folder)
        self.assertTrue(wait_for(lambda: len(self.hidden()) == 3), self.hidden())
        process.send_signal(SIGTERM)
        result = self.ends(process, INTERRUPTED, SOON)
        self.assertEqual(self.below("out"), ["0.partial.mkv", "1.partial.mkv", "2.partial.mkv"])
        self.assertIn("5 files: 3 interrupted, 2 not started", result.err)

    def test_all_are_reported_in_whole_lines(self):
        names = ["%d.mkv" % i for i in range(12)]
        self.put(*names)
        self.write("5.mkv", b"no video\n" * 100)
        result = self.done(*names, "-o", "out/", "--jobs", "4", code=INPUT)
        self.assertEqual(self.below("out"), sorted(n for n in names if n != "5.mkv"))
        self.assertEqual(len(result.lines), 12 + 1, str(result))
        for line in result.lines:
            self.assertRegex(line, r"^lumeq: ('out/|failed: '5\.mkv' cannot |12 files: 11 done, 1 failed; 55 frames)")

    def test_progress(self):
        """The progress is that of all files together."""
        names = ["%d.mkv" % i for i in range(6)]
        self.put(*names)
        self.write("0.mkv", b"no video\n" * 100)
        result = self.done(*names, "-o", "out/", "--jobs", "3", "--progress", "json", "-q", code=INPUT)
        shown = [json.loads(line) for line in result.lines if line.startswith("{")]
        self.assertTrue(all(s["files"] == 6 for s in shown))
        for key in ("files_done", "frame", "percent"):
            self.assertEqual([s[key] for s in shown], sorted(s[key] for s in shown))
        last = shown[-1]
        self.assertEqual((last["files_done"], last["frame"], last["percent"], last["state"]), (6, 25, 100, "failed"))

    def test_progress_on_a_terminal(self):
        """The bar stays at the bottom, and messages never share its line."""
        names = ["%d.mkv" % i for i in range(4)]
        self.put(*names, source=long_clip())
        shown = self.on_terminal(*names, "-o", "out/", "--jobs", "2", *FAST, "--frames", 100, code=DONE,
                                 cwd=self.folder)
        bars = re.findall(r"([0-4])/4 files .*?frame \d+ .*? fps .*?ETA", shown)
        self.assertTrue(bars)
        self.assertEqual(bars, sorted(bars))
        said = re.findall(r"[^\r\n]*lumeq: [^\r\n]*", shown)
        self.assertEqual(len(said), 4 + 1)
        for line in said:
            self.assertRegex(line, r"^(\x1b\[K)?lumeq: ")


class Resume(ManyCase):
    def setUp(self):
        super().setUp()
        try:
            os.setxattr(self.folder, "user.lumeq.test", b"")
        except OSError as error:
            self.skipTest("the folder for tests has no extended attributes: %s" % error)

    def test_finished_outputs_are_left_alone(self):
        self.put("a.mkv", "b.mkv")
        self.done("a.mkv", "-o", "out/", "--resume")
        before = os.stat(self.path("out/a.mkv"))
        for more in ((), ("-y", )):
            result = self.done("a.mkv", "b.mkv", "-o", "out/", "--resume", *more)
            self.assertIn("'out/a.mkv' is done", result.lines[0])
            self.assertIn("done before", result.lines[-1])
            self.assertEqual(os.stat(self.path("out/a.mkv")).st_ino, before.st_ino)
        self.assertEqual(self.below("out"), ["a.mkv", "b.mkv"])

    def resumed(self, *args, code, count):
        """Continues the run, and returns which outputs were made. `count`: the number of files that were done before."""
        before = {name: os.stat(self.path("out/" + name)).st_ino for name in self.below("out")}
        result = self.many(*args, "-o", "out/", "--resume")
        self.assertEqual(result.code, code, str(result))
        self.assertIn("%d done before" % count if count else "", result.err)
        self.assertEqual("done before" in result.err, count > 0, str(result))
        return [name for name in self.below("out") if os.stat(self.path("out/" + name)).st_ino != before.get(name)]

    def test_other_settings_or_inputs(self):
        """Only outputs that the same settings made from the same input count as done; -y makes the others again."""
        names = ["a.mkv", "b.mkv", "sub/c.mkv"]
        for name in names:
            self.put("in/" + name)
        self.done("in", "-o", "out/", "--recursive")
        same = ("in", "--recursive")
        self.assertEqual(self.resumed(*same, code=DONE, count=3), [])
        self.assertEqual(self.resumed(*same, "-y", "--progress", "none", "--threads", 1, code=DONE, count=3), [])
        for settings in (("--gamma", 2), ("--pix-fmt", "yuv422p"), ("--crf", 30), ("--two-pass", "on"), ("--vopt", "g=5")):
            with self.subTest(settings):
                self.assertEqual(self.resumed(*same, *settings, code=USAGE, count=0), [])
                self.assertEqual(self.resumed(*same, *settings, "-y", code=DONE, count=0), names)
                self.assertEqual(self.resumed(*same, *settings, code=DONE, count=3), [])
        self.assertEqual(self.resumed(*same, "-y", code=DONE, count=0), names)
        for change in (lambda: self.put("in/b.mkv"), lambda: os.utime(self.path("in/b.mkv"), (1000, 1000)),
                       lambda: self.put("out/b.mkv"), lambda: os.utime(self.path("out/b.mkv"), (5e9, 5e9))):
            change()
            self.assertEqual(self.resumed(*same, code=USAGE, count=2), [])
            self.assertEqual(self.resumed(*same, "-y", code=DONE, count=2), ["b.mkv"])
        self.put("other/a.mkv", source=self.path("in/a.mkv"))
        shutil.copystat(self.path("in/a.mkv"), self.path("other/a.mkv"))
        self.refused(self.many("other/a.mkv", "-o", "out/", "--resume"), USAGE, "'out/a.mkv' exists", "-y overwrites it")

    def test_damage_is_reported_again(self):
        self.half("a.mp4")
        self.put("b.mkv")
        self.done("a.mp4", "b.mkv", "-o", "out/", code=DAMAGED)
        self.assertEqual(self.resumed("a.mp4", "b.mkv", code=DAMAGED, count=1), [])


class Signals(ManyCase):
    def started(self, *more):
        """Waits until the second of three files is being written. Returns the run and that file's process."""
        self.put("a.mkv")
        self.put("b.mkv", source=long_clip())
        self.put("c.mkv")
        process = self.start("a.mkv", "b.mkv", "c.mkv", "-o", "out/", *LOSSLESS, *more, cwd=self.folder)
        self.assertTrue(wait_for(lambda: any(f.endswith(".part") and ".b." in f for f in self.hidden())), "the second file is never begun")
        with open("/proc/%d/task/%d/children" % (process.pid, process.pid), encoding="ascii") as f:
            child, = f.read().split()
        return process, int(child)

    def hidden(self):
        return self.files(self.path("out")) if os.path.isdir(self.path("out")) else []

    def test_interrupted(self):
        """The current file is kept as a part, the others are not started, and --resume continues."""
        for number in (SIGINT, SIGTERM):
            with self.subTest(number.name):
                process, _ = self.started()
                process.send_signal(number)
                result = self.ends(process, INTERRUPTED, SOON)
                self.assertEqual(self.hidden(), ["a.mkv", "b.partial.mkv"])
                self.assertIn("the finished part is in 'out/b.partial.mkv'", result.err)
                self.assertIn("3 files: 1 done, 1 interrupted, 1 not started", result.err)
                self.assertIn("interrupted: 1 of 3 files was not started; --resume", result.lines[-1])
                shutil.copy(simple(), self.path("b.mkv"))
                result = self.ok("a.mkv", "b.mkv", "c.mkv", "-o", "out/", *LOSSLESS, "--resume", cwd=self.folder)
                self.assertIn("3 files: 2 done, 1 done before", result.lines[-1])
                shutil.rmtree(self.path("out"))

    def test_interrupted_over_old_outputs(self):
        """Old outputs that were not replaced yet do not count as done."""
        names = ["a.mkv", "b.mkv", "c.mkv"]
        for name in names:
            self.put("out/" + name)
            os.utime(self.path("out/" + name), (5e9, 5e9))  # newer than their inputs
        process, _ = self.started("-y")
        process.send_signal(SIGINT)
        self.assertIn("--resume continues", self.ends(process, INTERRUPTED, SOON).lines[-1])
        shutil.copy(simple(), self.path("b.mkv"))
        again = (*names, "-o", "out/", *LOSSLESS, "--resume")
        result = self.exits(USAGE, *again, cwd=self.folder)
        self.assertIn("3 files: 1 done before, 2 failed", result.err)
        result = self.ok(*again, "-y", cwd=self.folder)
        self.assertIn("3 files: 2 done, 1 done before", result.lines[-1])
        for name in names:
            self.assertEqual(video(self.path("out/" + name))["codec_name"], "ffv1")

    def test_signal_to_the_process_group(self):
        """A signal from a terminal reaches every process of the group, and counts once."""
        self.put("a.mkv", source=long_clip())
        self.put("b.mkv")
        process = self.start("a.mkv", "b.mkv", "-o", "out/", *LOSSLESS, cwd=self.folder, start_new_session=True)
        self.assertTrue(wait_for(self.hidden), "the run does not begin to write")
        os.killpg(process.pid, SIGINT)
        self.ends(process, INTERRUPTED, SOON)
        self.assertEqual(self.hidden(), ["a.partial.mkv"])

    def test_killed_process_of_one_file(self):
        process, child = self.started()
        os.kill(child, signal.SIGKILL)
        result = self.ends(process, INPUT)
        self.assertIn("failed: 'b.mkv': its process was killed by signal 9", result.err)
        self.assertIn("3 files: 2 done, 1 failed", result.err)
        self.assertEqual([f for f in self.hidden() if not f.endswith(".part")], ["a.mkv", "c.mkv"])

    def test_killed_run(self):
        """If the parent is killed, the current file's process ends as if by a signal."""
        process, _ = self.started()
        process.kill()
        self.assertTrue(wait_for(lambda: self.hidden() == ["a.mkv", "b.partial.mkv"]), self.hidden())
        finish(process)
