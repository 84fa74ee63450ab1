"""--lookahead and --deflicker: a second decoder measures ahead, so that curves take later frames into account."""

import itertools

from common import *

AHEAD = "lumeq: lookahead: "
NOT_AHEAD = "lumeq: no lookahead: "
OTHER_FRAME = "the lookahead has no curve for frame"

# A dark second and a bright one, with a cut in between. A lookahead changes the curves before the cut.
CUT = ("testsrc2=size=160x90:rate=25:duration=1,lutyuv=y='16+val/6'[a];"
       "testsrc2=size=160x90:rate=25:duration=1,lutyuv=y='120+val/3'[b];[a][b]concat")
# A source whose brightness varies by some 10 codes, three times a second.
PUMPING = "testsrc2=size=160x90:rate=25,lutyuv=y='64+val/4',eq=brightness='0.05*sin(2*PI*n/8)':eval=frame"


def large_clip():
    """A clip of intra-coded pictures, much larger than what FFmpeg reads to open it."""
    return clip("pictures.mkv", "-c:v", "png", "-pred", "none", "-compression_level", "0", seconds=8,
                source="color=0x404040:size=240x136:rate=25,format=rgb24,noise=alls=100:allf=t+u")


QUICK = ("--preset", "ultrafast", "--crf", "45", "--pix-fmt", "source")


class Lookahead(Case):
    def looks(self, result):
        """True if the run looked ahead, according to -v."""
        said = [line for line in result.lines if AHEAD in line or NOT_AHEAD in line]
        self.assertEqual(len(said), 1, str(result))
        return AHEAD in said[0]

    def ahead(self, source, name, *options):
        """Writes a lossless file, and checks that the run looked ahead and both decoders saw the same frames."""
        result = self.ok(source, "-o", self.path(name), "--vcodec", "ffv1", "--lookahead", "10", "-v", *options)
        self.assertTrue(self.looks(result), str(result))
        self.assertNotIn(OTHER_FRAME, result.err)
        return self.path(name)


class Choice(Lookahead):
    def test_auto(self):
        out = self.path("out.mkv")
        cases = (
            (True, ("-o", out)),
            (False, ("-o", out, "--lookahead", "off")),
            (False, ("-o", out, "--two-pass", "off")),
            (False, ("-o", out, "--mode", "off")),
            (False, ("-o", out, "--reference")),
            (False, ("-o", self.path("out.png"))),
            (True, ("-o", "-")),
            (False, ("-o", "-", "--low-latency")),
            (True, ("-o", "/dev/null", "--format", "matroska")),
            (False, ("--null",)),
            (False, ("--null", "--stats", self.path("rows.csv"))),
            (True, ("-o", out, "--stats", self.path("rows.csv"))),
            (True, ("--null", "--lookahead", "2.5")),
            (True, ("--null", "--two-pass", "on")),
            (True, ("--null", "--lookahead", "10", "--stats", self.path("rows.csv"))),
            (True, ("-o", out, "--mode", "off", "--lookahead", "10")),
            (True, ("-o", out, "--reference", "--lookahead", "10")),
            (True, ("-o", out, "--mode", "off", "--deflicker", "0.5")),
        )
        for looks, options in some(cases):
            with self.subTest(" ".join(options)):
                result = self.ok(simple(), "-v", "-y", *options)
                self.assertEqual(self.looks(result), looks, str(result))

    def test_existing_output_is_kept(self):
        self.write("out.mkv", b"old")
        self.assertTrue(self.looks(self.ok(simple(), "-v", "-y", "-o", self.path("out.mkv"))))
        os.symlink("out.mkv", self.path("link.mkv"))
        self.assertTrue(self.looks(self.ok(simple(), "-v", "-y", "-o", self.path("link.mkv"))))

    def test_pipes(self):
        result = self.ok("-", "-v", "-o", self.path("out.mkv"), stdin=read_bytes(clip("raw.y4m", "-pix_fmt", "yuv420p")))
        self.assertTrue(self.looks(result), str(result))
        with open(simple(), "rb") as f:  # two decoders would share the file's position
            result = self.ok("-", "-v", "-y", "-o", self.path("out.mkv"), stdin=f)
        self.assertFalse(self.looks(result), str(result))
        os.mkfifo(self.path("fifo.mkv"))
        reader = subprocess.Popen(["cat", self.path("fifo.mkv")], stdout=subprocess.DEVNULL)
        self.addCleanup(reader.wait)
        self.addCleanup(reader.kill)
        result = self.ok(simple(), "-v", "-o", self.path("fifo.mkv"), "--acodec", "none")
        self.assertTrue(self.looks(result), str(result))

    def test_refused(self):
        out = self.path("out.mkv")
        for asked in (("--lookahead", "3"), ("--deflicker", "0.3")):
            for case in some(((simple(), "-o", self.path("out.png")), (simple(), "-o", "-", "--low-latency"),
                              ("/dev/zero", "-o", out), ("--camera", "--frames", "3", "-o", out),
                              ("--network", "http://localhost:1/x.mkv", "-o", out), (simple(),))):
                with self.subTest(asked[0] + " " + " ".join(case)):
                    self.refused(lumeq(*case, *asked), USAGE, asked[0])
        self.assertEqual(self.files(), [])

    def test_contradictions(self):
        out = self.path("out.mkv")
        for options in (("--deflicker", "0.3", "--lookahead", "off"), ("--deflicker", "1", "--reference")):
            self.refused(lumeq(simple(), "-o", out, *options), USAGE, "--deflicker", "contradict")
        self.refused(lumeq(simple(), "-o", out, "--deflicker", "2"), USAGE, "--deflicker")
        for value in ("maybe", "-1", "10.1", ""):
            self.refused(lumeq(simple(), "-o", out, "--lookahead", value), USAGE, "--lookahead")
        self.refused(lumeq(simple(), "-o", out, "--lookahead", "11"), USAGE, "--lookahead", "auto", "off", "10")
        self.ok(simple(), "-o", out, "--deflicker", "0", "--lookahead", "0")

    def test_settings_file(self):
        """The file's settings apply only to runs that can look ahead."""
        settings = self.write("config", b"lookahead = 10\ndeflicker = 0.5\n")
        self.assertTrue(self.looks(self.ok(simple(), "--null", "--config", settings, "-v")))
        result = self.ok(simple(), "-o", "-", "--low-latency", "--config", settings, "-v")
        self.assertFalse(self.looks(result))
        self.assertIn("deflicker", result.err)
        self.assertFalse(self.looks(self.ok(simple(), "--null", "--config", settings, "-v", "--lookahead", "off")))
        self.assertTrue(self.looks(self.ok(simple(), "--null", "--config", settings, "-v", "--reference")))


class Frames(Lookahead):
    def test_times_and_sound_are_unchanged(self):
        one = self.converted(simple(), "one.mkv", "--lookahead", "off")
        two = self.converted(simple(), "two.mkv", "--lookahead", "10")
        self.assertEqual(frame_times(one), frame_times(two))
        self.assertEqual(packets(one), packets(two))
        self.assertEqual(len(frame_times(two)), 25)

    def test_pipe(self):
        """The output is the same as from a file, whether the pipe is fast or slow."""
        source = clip("cut.ts", *X264, "-c:a", "aac", source=CUT, seconds=2, sound=2)
        data = read_bytes(source)
        self.ahead(source, "file.mkv")
        self.ok("-", "-o", self.path("pipe.mkv"), "--vcodec", "ffv1", stdin=data)
        self.ok("-", "-o", self.path("plain.mkv"), "--vcodec", "ffv1", "--lookahead", "off", stdin=data)
        process = start("-", "-o", self.path("slow.mkv"), "--vcodec", "ffv1", stdin=subprocess.PIPE)
        for i in range(0, len(data), 5000):
            process.stdin.write(data[i:i + 5000])
            process.stdin.flush()
            time.sleep(0.002)
        self.ends(process)
        for name in "pipe.mkv", "slow.mkv":
            self.assertEqual(raw(self.path(name)), raw(self.path("file.mkv")), name)
            self.assertEqual(packets(self.path(name)), packets(self.path("plain.mkv")), name)

    def test_large_pipe(self):
        """For large video the lookahead is shorter, to limit memory."""
        source = "testsrc2=size=1920x1080:rate=25"
        feed = subprocess.Popen(["ffmpeg", "-v", "error", "-f", "lavfi", "-t", "6", "-i", source, "-pix_fmt", "yuv420p",
                                 "-f", "yuv4mpegpipe", "-"], stdout=subprocess.PIPE)
        self.addCleanup(feed.stdout.close)
        self.addCleanup(feed.wait)
        process = start("-", "--null", "--lookahead", "10", "-v", stdin=feed.stdout)
        peak = 0
        while process.poll() is None:
            try:
                with open("/proc/%d/status" % process.pid) as f:
                    found = re.search(r"VmHWM:\s+(\d+) kB", f.read())
            except OSError:
                found = None
            peak = int(found.group(1)) if found else peak
            time.sleep(0.02)
        self.assertRegex(self.ends(process).err, "the video from the pipe is large: curves see only up to 0.86 s")
        self.assertGreater(peak, 100000)
        if not SANITIZED:
            self.assertLess(peak, 450000)

    def test_parts(self):
        """Only the requested part is measured, so later frames have no effect."""
        dark = "testsrc2=size=160x90:rate=25,lutyuv=y='16+val/6'"
        options = ("-c:v", "libx264", "-qp", "0", "-g", "10", "-c:a", "aac")
        a, b = (clip("after%d.mkv" % i, *options, seconds=4, sound=4,
                     source=dark + what)
                for i, what in enumerate((",lutyuv=y=235-val:enable='gte(n,50)'", "")))
        for number, (part, count) in some(enumerate(((("--ss", "0.6", "--to", "2"), 35),
                                                     (("--ss", "1", "--frames", "20"), 20),
                                                     (("--frames", "50"), 50)))):
            with self.subTest(" ".join(part)):
                outputs = [raw(self.ahead(source, "%d%s.mkv" % (number, name), *part))
                           for source, name in ((a, "a"), (b, "b"))]
                self.assertEqual(len(outputs[0]), count * 160 * 90 * 3 // 2)
                self.assertEqual(*(hashlib.md5(o).hexdigest() for o in outputs))

    def test_kinds_of_input(self):
        sources = (clip("deep.mkv", *FFV1, "-pix_fmt", "yuv420p10le"),
                   clip("gray.mkv", *FFV1, "-pix_fmt", "gray"),
                   clip("rgb.mkv", "-c:v", "png"),
                   clip("sound.ts", *X264, "-c:a", "aac", sound=2, seconds=2),
                   clip("full.mkv", *FFV1, "-pix_fmt", "yuv444p", "-color_range", "pc"))
        every = ((), ("--mode", "clahe"), ("--mode", "stretch", "--range", "full"))
        for source, options in some(itertools.product(sources, every)):
            with self.subTest(os.path.basename(source) + " " + " ".join(options)):
                out = self.ahead(source, "out.mkv", "-y", *options)
                self.assertEqual(len(frame_times(out)), len(frame_times(source)))

    def test_statistics(self):
        source = clip("cut.mkv", *X264, source=CUT, seconds=2)
        out = self.ahead(source, "out.mkv", "--stats", self.path("rows.jsonl"), "--dither", "off", "--strength", "0.8",
                        "--chroma", "keep")  # else luma over saturated colours rises less
        rows = read_rows(self.path("rows.jsonl"))
        luma = Picture(out).luma
        self.assertEqual([row["frame"] for row in rows], list(range(50)))
        self.assertEqual([row["scene_cut"] for row in rows], [int(i == 25) for i in range(50)])
        for row in rows[::7] + rows[24:27]:
            self.assertEqual(histogram(luma[row["frame"]]), row["hist_out"])
            self.assertGreater(row["equalize_us"], 0)
        self.ok(source, "--null", "--lookahead", "off", "--stats", self.path("one.jsonl"))
        one = read_rows(self.path("one.jsonl"))
        for key in ("frame", "pts", "time", "mean_in", "hist_in"):
            self.assertEqual([row[key] for row in rows], [row[key] for row in one], key)

    def test_deflicker_alone(self):
        """With --mode off, --deflicker changes brightness, and chroma with it."""
        source = clip("light.mkv", *FFV1, "-pix_fmt", "yuv420p", seconds=2,
                      source="testsrc2=size=160x90:rate=25,format=yuv420p,geq=lum='16+(lum(X,Y)-16)*(0.6+0.15*"
                      "sin(N*PI/4))':cb='128+(cb(X,Y)-128)*(0.6+0.15*sin(N*PI/4))':cr='128+(cr(X,Y)-128)*"
                      "(0.6+0.15*sin(N*PI/4))'")
        out = self.ahead(source, "out.mkv", "--mode", "off", "--deflicker", "1", "--dither", "off",
                        "--stats", self.path("rows.jsonl"))
        rows = read_rows(self.path("rows.jsonl"))
        before, after = Picture(source), Picture(out)
        for i in (0, 11, 30, 49):
            self.assertEqual(histogram(after.luma[i]), rows[i]["hist_out"])

        def change(planes, zero):
            levels = [sum(abs(x - zero) for x in plane) / len(plane) for plane in planes]
            return sum(abs(b - a) for a, b in zip(levels, levels[1:])) / (len(levels) - 1)

        self.assertLess(change(after.luma, 16), 0.3 * change(before.luma, 16))
        self.assertLess(change(after.chroma, 128), 0.7 * change(before.chroma, 128))

    def test_deflicker(self):
        source = clip("pumping.mkv", *FFV1, "-pix_fmt", "yuv420p", source=PUMPING, seconds=3)
        changes = []
        for amount in ("0", "0.5", "1"):
            rows = self.path("rows%s.jsonl" % amount)
            result = self.ok(source, "-o", self.path("out%s.mkv" % amount), "--deflicker", amount,
                             "--lookahead", "10", "--stats", rows)
            means = [row["mean_out"] for row in read_rows(rows)]
            changes.append(sum(abs(b - a) for a, b in zip(means, means[1:])) / (len(means) - 1))
            said = re.search(r"brightness changed by ([\d.]+) codes per frame, after equalizing by ([\d.]+)", result.err)
            self.assertEqual(said is not None, amount != "0", str(result))
            if said:
                self.assertAlmostEqual(float(said.group(2)), changes[-1], delta=0.01)
                self.assertGreater(float(said.group(1)), 3)
        self.assertLess(changes[1], 1.05 * changes[0])
        self.assertLess(changes[2], 0.3 * changes[0])


class Stopped(Lookahead):
    def positions(self, process, path):
        """The positions of the program's open descriptors of the input."""
        found, folder = [], "/proc/%d/" % process.pid
        try:
            for fd in os.listdir(folder + "fd"):
                if os.readlink(folder + "fd/" + fd) == os.path.realpath(path):
                    with open(folder + "fdinfo/" + fd) as f:
                        found.append(int(f.readline().split()[1]))
        except (OSError, ValueError):
            return []
        return found

    def has_begun(self, process):
        """True if the lookahead thread runs. Before that, opening may read the whole input."""
        folder = "/proc/%d/task/" % process.pid
        try:
            for thread in os.listdir(folder):
                with open(folder + thread + "/comm") as f:
                    if f.read() == "lookahead\n":
                        return True
            return False
        except OSError:
            return False

    def repeated(self, once, what):
        """Calls once() until it returns a run that it stopped in time. Other runs continue to their end."""
        before = self.files()
        for _ in range(20):
            process, is_there = once()
            if is_there:
                return process
            self.assertEqual(self.go_on(process).code, DONE)
            for name in set(self.files()) - set(before):
                os.unlink(self.path(name))
        self.fail(what)

    def stopped(self, source, share, *options):
        """Stops a run when this share of the input is measured and at most a tenth is equalized."""
        size = os.path.getsize(source)

        def once():
            process = start(source, "-o", self.path("out.mkv"), *QUICK, *options)
            self.addCleanup(process.kill)

            def is_there():
                process.send_signal(signal.SIGSTOP)
                at = self.positions(process, source)
                if len(at) == 2 and max(at) >= share * size and self.has_begun(process):
                    return True
                process.send_signal(signal.SIGCONT)
                return process.poll() is not None

            self.assertTrue(wait_for(is_there), "the lookahead does not get this far")
            at = self.positions(process, source)
            return process, len(at) == 2 and min(at) < 0.1 * size + (1 << 20)
        return self.repeated(once, "too much is equalized")

    def own(self):
        """A copy of the clip that may be changed."""
        shutil.copy(large_clip(), self.path("in.mkv"))
        return self.path("in.mkv")

    def go_on(self, process):
        process.send_signal(signal.SIGCONT)
        return finish(process)

    def test_interrupted(self):
        for number in some((SIGINT, SIGTERM)):
            process = self.stopped(large_clip(), 0.3, "--stats", self.path("rows.csv"))
            self.assertEqual([f for f in self.files() if not f.endswith(".part")], [])
            process.send_signal(number)
            result = self.go_on(process)
            self.refused(result, INTERRUPTED, "interrupted after")
            frames = int(re.search(r"after (\d+) frame", result.err).group(1))
            self.assertEqual(self.files(), ["out.partial.mkv", "rows.partial.csv"] if frames else [])
            if frames:
                self.assertEqual(len(frame_times(self.path("out.partial.mkv"))), frames)
            for name in self.files():
                os.unlink(self.path(name))

    def test_changed_in_between(self):
        def touch(path):
            os.utime(path)

        def append(path):
            os.truncate(path, os.path.getsize(path) + 4)

        def replace(path):
            shutil.copy2(path, path + ".new")
            os.rename(path + ".new", path)

        for change in some((touch, append, replace)):
            with self.subTest(change.__name__):
                source = self.own()
                process = self.stopped(source, 0.3)
                change(source)
                self.refused(self.go_on(process), INPUT, "in.mkv", "changed")
                self.assertEqual(self.files(), ["in.mkv"])

    def spoil(self, path, share):
        """Damages one picture; the file keeps its size and time."""
        state = os.stat(path)
        with open(path, "r+b") as f:
            at = int(state.st_size * share)
            f.seek(at)
            f.seek(at + f.read(1 << 20).index(b"\x89PNG"))
            f.write(bytes(16))
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))

    def test_damage_after_the_lookahead(self):
        source = self.own()
        process = self.stopped(source, 0.8)
        self.spoil(source, 0.6)
        result = self.go_on(process)
        self.assertEqual(result.code, DAMAGED, str(result))
        said = [line for line in result.lines if OTHER_FRAME in line]
        self.assertEqual(len(said), 1, str(result))
        first = int(re.search(r"frame (\d+)", said[0]).group(1))
        self.assertAlmostEqual(first, 120, delta=2)
        one = self.exits(DAMAGED, source, "-o", self.path("one.mkv"), "--lookahead", "off", *QUICK)
        times = frame_times(self.path("out.mkv"))
        self.assertEqual(times, frame_times(self.path("one.mkv")))
        self.assertGreater(len(times), 190)

    def empty_out(self, path, begin, end):
        """Replaces whole pictures of a transport stream by null packets. The packet counters stay consistent."""
        state = os.stat(path)
        data = bytearray(read_bytes(path))
        starts = [i for i in range(0, len(data), 188)
                  if data[i + 1] & 0x40 and (data[i + 1] & 0x1f) << 8 | data[i + 2] == 0x100]
        first = next(i for i in starts if i >= begin * len(data))
        last = next((i for i in starts if i >= end * len(data) and data[i + 3] & 15 == data[first + 3] & 15), len(data))
        for i in range(first, last, 188):
            data[i:i + 4] = b"\x47\x1f\xff\x10"
        write_bytes(path, data)
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))

    def pictures(self):
        """A transport stream of intra-coded pictures."""
        source = self.path("in.ts")
        shutil.copy(clip("pictures.ts", "-c:v", "mpeg2video", "-q:v", "1", "-g", "1", seconds=8,
                         source="color=gray:size=320x180:rate=25,noise=c0s=100:c0f=t+u"), source)
        return source

    def test_other_frames_without_damage(self):
        """If frames differ without damage, the file must have changed, even if its size and time are the same."""
        source = self.pictures()
        process = self.stopped(source, 0.8)
        self.empty_out(source, 0.6, 0.65)
        result = self.go_on(process)
        self.assertEqual(result.code, INPUT, str(result))
        self.assertIn(OTHER_FRAME, result.err)
        self.assertIn("the lookahead saw different frames", result.lines[-1])
        self.assertEqual(self.files(), ["in.ts"])

    def test_progress(self):
        result = self.ok(large_clip(), "-o", self.path("out.mkv"), "--progress", "json", *QUICK)
        rows = [json.loads(line) for line in result.lines if line.startswith("{")]
        percent = [row["percent"] for row in rows]
        self.assertEqual(percent, sorted(percent))
        for row in rows:
            self.assertAlmostEqual(row["frame"] / 200, row["percent"] / 100, delta=0.01)
        self.assertEqual((rows[-1]["frame"], rows[-1]["percent"], rows[-1]["state"]), (200, 100, "done"))
