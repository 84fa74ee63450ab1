"""After any run, OUTPUT is complete, unchanged, or does not exist."""

import resource
import stat

from common import *


def noise():
    """A clip whose lossless copy has about 1 MB."""
    return clip("noise.mkv", *FFV1, source="nullsrc=size=320x180:rate=25,geq=random(1)*255:128:128", seconds=0.8)


class Existing(Case):
    def test_exists(self):
        out = self.write("out.mkv", b"precious")
        self.refused(lumeq(simple(), "-o", out), USAGE, "out.mkv", "-y")
        self.assertEqual(self.read("out.mkv"), b"precious")
        self.assertEqual(self.files(), ["out.mkv"])

    def test_stats_exist(self):
        """-y applies to statistics as well."""
        stats = self.write("s.csv", b"precious")
        for output in (("--null",), ("-o", self.path("out.mkv"), "--preset", "ultrafast")):
            with self.subTest(output[0]):
                self.refused(lumeq(simple(), *output, "--stats", stats), USAGE, "--stats", "s.csv", "-y")
                self.assertEqual(self.read("s.csv"), b"precious")
                self.assertEqual(self.files(), ["s.csv"])
                self.ok(simple(), *output, "--stats", stats, "-y")
                self.assertEqual(self.read("s.csv").count(b"\n"), 26)
                self.write("s.csv", b"precious")

    def test_overwrite(self):
        out = self.write("out.mkv", b"precious")
        os.chmod(out, 0o640)
        self.ok(simple(), "-o", out, "-y")
        self.assertEqual(len(frame_times(out)), 25)
        self.assertEqual(stat.S_IMODE(os.stat(out).st_mode), 0o640)
        self.assertEqual(self.files(), ["out.mkv"])

    def test_new_file_has_the_usual_permissions(self):
        self.ok(simple(), "-o", self.path("out.mkv"), preexec_fn=lambda: os.umask(0o027))
        self.assertEqual(stat.S_IMODE(os.stat(self.path("out.mkv")).st_mode), 0o640)

    def test_failure_keeps_the_old_one(self):
        out = self.write("out.mkv", b"precious")
        for args in (("--vopt", "nosuch=1"), ("--vcodec", "nosuch"), ("--pix-fmt", "nosuch")):
            self.assertEqual(lumeq(simple(), "-o", out, "-y", *args).code, USAGE)
            self.assertEqual(self.read("out.mkv"), b"precious")
        self.assertEqual(lumeq(self.write("bad.mp4", b"bad"), "-o", out, "-y").code, INPUT)
        self.assertEqual(self.read("out.mkv"), b"precious")
        self.assertEqual(self.files(), ["bad.mp4", "out.mkv"])

    def test_directory(self):
        """If OUTPUT is an existing folder, the output gets the input's name with the format's ending."""
        self.assertEqual(lumeq(simple(), "-o", self.folder, "--format", "mkv", "--preset", "ultrafast").code, 0)
        self.assertEqual(self.files(), ["simple.mkv"])

    def test_output_is_input(self):
        data = read_bytes(simple())
        source = self.write("in.mp4", data)
        os.symlink("in.mp4", self.path("link.mp4"))
        os.link(source, self.path("hard.mp4"))
        before = self.files()
        for a, b in (("in.mp4", "in.mp4"), ("in.mp4", "link.mp4"), ("link.mp4", "in.mp4"),
                     ("in.mp4", "hard.mp4"), ("hard.mp4", "link.mp4"), ("in.mp4", "./in.mp4")):
            for more in ((), ("-y",)):
                with self.subTest(a, output=b, more=more):
                    self.refused(lumeq(self.path(a), "-o", self.path(b), *more), USAGE, "input")
                    self.assertEqual(self.files(), before)
                    self.assertEqual(self.read("in.mp4"), data)

    def test_output_is_standard_input(self):
        data = read_bytes(simple())
        source = self.write("in.mkv", data)
        with open(source, "rb") as f:
            self.refused(lumeq("-", "-o", source, "-y", stdin=f), USAGE, "input")
        self.assertEqual(self.read("in.mkv"), data)

    def test_symbolic_link(self):
        os.mkdir(self.path("elsewhere"))
        target = self.write("elsewhere/real.mkv", b"old")
        os.symlink("elsewhere/real.mkv", self.path("link.mkv"))
        self.refused(lumeq(simple(), "-o", self.path("link.mkv")), USAGE, "-y")
        self.ok(simple(), "-o", self.path("link.mkv"), "-y")
        self.assertTrue(os.path.islink(self.path("link.mkv")))
        self.assertEqual(len(frame_times(target)), 25)
        self.assertEqual(self.files(self.path("elsewhere")), ["real.mkv"])

    def test_chain_of_dangling_links(self):
        os.mkdir(self.path("d"))
        os.symlink("b.mkv", self.path("a.mkv"))
        os.symlink("d/c.mkv", self.path("b.mkv"))
        self.ok(simple(), "-o", self.path("a.mkv"))
        self.assertTrue(os.path.islink(self.path("a.mkv")) and os.path.islink(self.path("b.mkv")))
        self.assertEqual(self.files(self.path("d")), ["c.mkv"])
        self.assertEqual(len(frame_times(self.path("d/c.mkv"))), 25)


class Permissions(Case):
    """The new file gets the permissions of the file that it replaces."""

    def old(self, name, mode):
        path = self.write(name, b"precious")
        os.chmod(path, mode)
        return path

    def modes(self):
        return {name: oct(stat.S_IMODE(os.lstat(self.path(name)).st_mode)) for name in self.files()}

    def test_stay(self):
        """Only set-uid and set-gid are dropped."""
        self.old("out.mkv", 0o000), self.old("s.csv", 0o600), self.old("r.html", 0o6777)
        self.ok(simple(), "-o", self.path("out.mkv"), "--preset", "ultrafast", "--stats", self.path("s.csv"),
                "--report", self.path("r.html"), "-y")
        self.assertEqual(self.modes(), {"out.mkv": "0o0", "s.csv": "0o600", "r.html": "0o777"})
        self.assertNotIn(8, [os.stat(self.path(name)).st_size for name in self.files()])

    def test_of_pictures(self):
        names = ["f%02d.png" % i for i in range(1, 4)]
        for name, mode in zip(names, (0o600, 0o444, 0o4750)):
            self.old(name, mode)
        self.ok(simple(), "-o", self.path("f%02d.png"), "--sequence", "--frames", "3", "-y")
        self.assertEqual(self.modes(), {"f01.png": "0o600", "f02.png": "0o444", "f03.png": "0o750"})
        self.old("one.png", 0o640)
        self.ok(simple(), "-o", self.path("one.png"), "-y")
        self.assertEqual(self.modes()["one.png"], "0o640")

    def test_of_a_job(self):
        """Only the owner may read the folder of a job."""
        self.old("out.mkv", 0o640)
        self.ok("plan", simple(), "-o", self.path("out.mkv"), "-y")
        self.assertEqual(self.modes(), {"out.mkv": "0o640", "out.mkv.lumeq": "0o700"})

    def test_while_it_is_written(self):
        """From the start, temporary files are as private as the files that they will replace."""
        old = [self.old(name, 0o600) for name in ("out.mkv", "s.csv", "r.html")]
        process = start("-", "-o", old[0], "--preset", "ultrafast", "--stats", old[1], "--report", old[2], "-y",
                        stdin=trickle(self))
        self.assertTrue(wait_for(lambda: len(self.files()) >= 6), "nothing is written")
        modes = self.modes()
        process.send_signal(signal.SIGTERM)
        finish(process)
        self.assertEqual(set(modes.values()), {"0o600"}, modes)

    def test_of_a_part(self):
        """The part of an interrupted run is as private as the old file."""
        out = self.old("out.mkv", 0o600)
        process = start("-", "-o", out, "--preset", "ultrafast", "-y", stdin=trickle(self))
        self.assertTrue(wait_for(lambda: len(self.files()) >= 2), "nothing is written")
        process.send_signal(signal.SIGINT)
        self.assertEqual(finish(process).code, INTERRUPTED)
        self.assertEqual(self.modes(), {"out.mkv": "0o600", "out.partial.mkv": "0o600"})


class Unwritable(Case):
    def test_no_such_folder(self):
        self.refused(lumeq(simple(), "-o", self.path("none/out.mkv")), OUTPUT, "none")
        self.refused(lumeq(simple(), "-o", simple() + "/out.mkv"), OUTPUT)

    def test_folder_without_permission(self):
        os.mkdir(self.path("locked"), 0o555)
        if os.access(self.path("locked"), os.W_OK):
            self.skipTest("root may write everywhere")
        self.refused(lumeq(simple(), "-o", self.path("locked/out.mkv")), OUTPUT, "locked", "Permission denied")

    def test_name_too_long(self):
        """A name that is too long is refused before the input is opened."""
        for name in ("x" * 252 + ".mkv", "\u00e4" * 126 + ".mkv"):
            with self.subTest(name):
                self.refused(lumeq("-", "-o", self.path(name), stdin=b""), OUTPUT, name[:100], "256 bytes", "255")
        self.refused(lumeq(simple(), "--null", "--stats", self.path("x" * 253 + ".csv")), OUTPUT,
                     "--stats", "257 bytes")
        self.assertEqual(self.files(), [])

    def test_dev_full(self):
        for name, source in (("small", simple()), ("large", noise())):
            for args in (("--format", "mkv", "--vcodec", "ffv1"), ("--format", "y4m")):
                with self.subTest(name, args=args):
                    result = lumeq(source, "-o", "/dev/full", "--acodec", "none", "-q", *args)
                    self.refused(result, OUTPUT, "/dev/full", "No space left")

    def test_standard_output_full(self):
        with open("/dev/full", "wb") as full:
            self.refused(lumeq(simple(), "-o", "-", "-q", stdout=full), OUTPUT, "No space left")

    def test_standard_output_closed(self):
        self.exits(OUTPUT, simple(), "-o", "-", "-q", stdout=None, preexec_fn=lambda: os.close(1))

    def test_disk_full(self):
        disk = self.path("disk")
        os.mkdir(disk)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", disk],
                                 stderr=subprocess.DEVNULL).returncode == 0 \
            if os.geteuid() == 0 else False
        if not mounted:
            self.skipTest("mounting a tmpfs is not permitted")
        try:
            source = noise()
            for name, codec in (("out.mkv", "ffv1"), ("out.avi", "ffv1"), ("out.mov", "libx264"),
                                ("out.mp4", "libx264")):
                with self.subTest(name):
                    result = lumeq(source, "-o", os.path.join(disk, name), "--vcodec", codec)
                    self.refused(result, OUTPUT, name, "No space left")
                    self.assertEqual(self.files(disk), [])
            self.write("disk/out.mkv", b"precious")
            self.exits(OUTPUT, source, "-o", self.path("disk/out.mkv"), "--vcodec", "ffv1", "-y")
            self.assertEqual(self.read("disk/out.mkv"), b"precious")
        finally:
            subprocess.run(["umount", disk])

    def test_file_size_limit(self):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
        result = lumeq(noise(), "-o", self.path("out.mkv"), "--vcodec", "ffv1", preexec_fn=limit)
        self.refused(result, OUTPUT, "out.mkv", "File too large")
        self.assertEqual(self.files(), [])

    def test_broken_pipe(self):
        source = noise()
        for form in ("y4m", "mkv"):
            with self.subTest(form):
                process = start(source, "-o", "-", "--format", form, "--vcodec",
                                "wrapped_avframe" if form == "y4m" else "ffv1",
                                stdout=subprocess.PIPE)
                process.stdout.read(100)
                process.stdout.close()
                process.stdout = None
                self.refused(finish(process), OUTPUT, "Broken pipe")


class Special(Case):
    def test_fifo(self):
        fifo = self.path("pipe.mkv")
        os.mkfifo(fifo)
        process = start(simple(), "-o", fifo, "--preset", "ultrafast")
        data = read_bytes(fifo)
        self.ends(process)
        self.assertEqual(len(frame_times(self.write("copy.mkv", data))), 25)
        self.assertTrue(stat.S_ISFIFO(os.stat(fifo).st_mode))
        self.assertEqual(self.files(), ["copy.mkv", "pipe.mkv"])

    def test_fifo_without_reader(self):
        """A signal ends the wait for a reader."""
        os.mkfifo(self.path("p.mkv")), os.mkfifo(self.path("p.csv")), os.mkfifo(self.path("p.html"))
        for args in (("-o", "p.mkv"), ("--null", "--stats", "p.csv"), ("--null", "--report", "p.html")):
            process = start(simple(), *args, cwd=self.folder)
            self.catches(process, signal.SIGTERM)
            process.send_signal(signal.SIGTERM)
            self.assertEqual(finish(process, SOON).code, INTERRUPTED, args)
        self.assertEqual(self.files(), ["p.csv", "p.html", "p.mkv"])

    def test_dev_null(self):
        self.ok(simple(), "-o", "/dev/null", "--format", "mkv", "--preset", "ultrafast")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))

    def test_several_at_once_into_one_folder(self):
        runs = [start(simple(), "-o", self.path("%d.mkv" % i)) for i in range(4)]
        for process in runs:
            self.ends(process)
        self.assertEqual(self.files(), ["0.mkv", "1.mkv", "2.mkv", "3.mkv"])
