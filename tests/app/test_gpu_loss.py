"""Loss of a GPU that decodes and equalizes. A fake driver (fake_nvidia.c) returns the pictures, and a fake GPU equalizes
them and fails after some frames."""

from common import *

PROGRAM, FOLDER = os.environ.get("FAKE_GPU_PROGRAM"), os.environ.get("FAKE_DRIVER_FOLDER")
DECODING = os.environ.get("TEST_GPU_DECODING")

# The fake NVDEC returns pictures in decoding order. Without B-frames this is also the order of display.
H264 = ("-c:v", "libx264", "-preset", "veryfast", "-bf", "0", "-pix_fmt", "yuv420p")
SIZE, CODED = "160x90", "160x96"
DARK = "testsrc2=size=%s:rate=25,lutyuv=y='16+val/6',noise=alls=6:allf=t" % SIZE
FRAMES = 75


NOISY = "smptebars=size=%s:rate=25,lutyuv=y='16+val/6',noise=alls=12:allf=t"


def noisy():
    return clip("noisy.mkv", *H264, "-qp", 4, "-g", 25, seconds=3, source=NOISY % SIZE)


def film(keys=25):
    """Three seconds with sound; `keys`: frames from one key frame to the next."""
    return clip("film%d.mkv" % keys, *H264, "-g", keys, "-sc_threshold", 0, "-c:a", "aac", seconds=3, sound=3,
                source=DARK)


def flv_tags(path):
    """The file header, and the time in ms and the content of each video tag."""
    data = read_bytes(path)
    at, tags = 13, []
    while at < len(data):
        size = int.from_bytes(data[at + 1:at + 4], "big")
        time_ms = int.from_bytes(data[at + 4:at + 7], "big") | data[at + 7] << 24
        if data[at] == 9:
            tags.append((time_ms, data[at + 11:at + 11 + size]))
        at += size + 15
    return data[:13], tags


def other_headers(path):
    """Writes 1 s of video, then 7 s with other codec headers. Returns the number of frames."""
    flv = ("-f", "flv", "-flvflags", "no_sequence_end", "-g", 25)
    first, second = (flv_tags(clip(name, *H264, *more, *flv, seconds=seconds, source=DARK)) for name, more, seconds in (
        ("first.flv", (), 1), ("second.flv", ("-x264-params", "cabac=0:8x8dct=0", "-refs", 4), 7)))
    with open(path, "wb") as f:
        f.write(first[0])
        for time_ms, body in first[1] + [(t + 1000, b) for t, b in second[1]]:
            head = b"\t" + len(body).to_bytes(3, "big") + time_ms.to_bytes(3, "big") + bytes(4)
            f.write(head + body + (len(body) + 11).to_bytes(4, "big"))
    return 200


class OnGpu(Case):
    def write_pictures(self, source, coded=CODED):
        """Writes the pictures that the fake driver returns for this coded size."""
        write_bytes(self.path(coded + ".nv12"),
                    ffmpeg("-i", source, "-fps_mode", "passthrough", "-vf", "pad=" + coded.replace("x", ":"), "-pix_fmt",
                           "nv12", "-f", "rawvideo", "-"))

    def start_on_gpu(self, source, *options, stdin=None, stdout=None, **env):
        if not os.path.exists(self.path(CODED + ".nv12")):
            self.write_pictures(source)
        more = dict(environment(), LD_LIBRARY_PATH=FOLDER, FAKE_NVDEC_PICTURES=self.path("."))
        more.update(env)
        return subprocess.Popen([PROGRAM, "-" if stdin else source, "--backend", "cuda", "--hwdec", "nvdec", "-v",
                                 "-y"] + [str(o) for o in options], stdin=stdin or subprocess.DEVNULL,
                                stdout=stdout, stderr=subprocess.PIPE, env=more, bufsize=0)

    def run_on_gpu(self, source, *options, code=DONE, **more):
        result = finish(self.start_on_gpu(source, *options, **more), LIVENESS)
        self.assertEqual(result.code, code, str(result))
        return result

    def lost(self, result):
        """The number of lost frames that the run reports."""
        self.assertNotIn("starting again", result.err)
        return int(re.search(r"(\d+) frames? w(?:as|ere) lost because the GPU failed", result.err).group(1))

    def another_size_and_back(self):
        """A film that has another size for one second. Pictures of the first size stay on the GPU, and the others are
        scaled on the host."""
        joined, films = self.path("joined.h264"), []
        for size in (CODED, "320x176", CODED):
            path = clip(size + ".h264", *H264, "-qp", 4, "-g", 25, "-f", "h264", seconds=1, source=NOISY % size)
            self.write_pictures(path, size)
            films.append(read_bytes(path))
        write_bytes(joined, b"".join(films))
        return joined

    @staticmethod
    def numbers(path):
        """The rows of statistics, without timings."""
        with open(path, encoding="ascii") as f:
            rows = [line.rstrip("\n").split(",") for line in f if not line.startswith("#")]
        kept = [i for i, name in enumerate(rows[0]) if not name.endswith(("_us", "_ms"))]
        return [[row[i] for i in kept] for row in rows]

    def show(self, source, *options, **env):
        """Plays the source in a window to its end."""
        return self.run_on_gpu(source, "--no-config", *options, SDL_VIDEODRIVER="offscreen", SDL_AUDIODRIVER="dummy",
                               **env)


@unittest.skipUnless(PROGRAM and FOLDER, "this build has no CUDA")
class Loss(OnGpu):
    def on_cpu(self, source, *options):
        out, stats = self.path("cpu.mkv"), self.path("cpu.csv")
        run = subprocess.Popen([PROGRAM, source, "-o", out, "--stats", stats, "--backend", "cpu", "-q", "-y", "--vcodec",
                                "ffv1", *options], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment())
        self.ends(run)
        return raw(out), self.numbers(stats)

    def check(self, source, *options, stdin=False, frames=FRAMES, **env):
        expected, stats = self.on_cpu(source, *options)
        out, written = self.path("gpu.mkv"), self.path("gpu.csv")
        with open(source, "rb") as f:
            result = self.run_on_gpu(source, "-o", out, "--stats", written, "--vcodec", "ffv1", *options,
                                     stdin=f if stdin else None, **env)
        self.assertEqual(len(frame_times(out)), frames)
        self.assertTrue(raw(out) == expected, str(result))
        self.assertEqual(self.numbers(written), stats)
        return result

    def test_undisturbed(self):
        """Decoding stays on the GPU. lumeq creates no CUDA context of its own, and frees all GPU memory."""
        for options in (("--two-pass", "off"), ("--two-pass", "on")):
            with self.subTest(options):
                result = self.check(film(), *options, FAKE_NVIDIA_TELLS="1")
                self.assertIn("decoded on the GPU", result.err)
                self.assertEqual(re.findall("contexts .*", result.err)[-1], "contexts 0 blocks 0")

    def test_too_little_memory(self):
        """With too little GPU memory, frames come to the host, or software decodes them."""
        result = self.check(film(), "--two-pass", "off")
        most, limit = [int(n) for n in re.search(r"memory: (\d+) of (\d+) MiB of GPU 0", result.err).groups()]
        self.assertTrue(0 < most < limit, result.err)
        self.assertNotIn("no room", result.err)
        for room, decoded in ((1 << 20, "on the GPU"), (1 << 10, "in software")):
            with self.subTest(room):
                result = self.check(film(), "--two-pass", "off", FAKE_GPU_LIMIT=str(room))
                self.assertEqual(result.err.count("no room for"), 1, result.err)
                self.assertIn("decoded " + decoded, result.err)

    def check_again(self, source, *options, **more):
        """Checks that the run starts again in software, because no program can have read its output."""
        result = self.check(source, *options, **more)
        self.assertEqual(result.err.count("starting again"), 1, result.err)
        return result

    def test_the_same_pictures(self):
        """No picture is lost, whenever the GPU fails."""
        for passes in ("off", "on"):
            for lost in ("FAKE_GPU_LOST", "FAKE_NVDEC"):
                for after in (1, 30, 74):
                    with self.subTest(lost, after=after, passes=passes):
                        self.check_again(film(), "--two-pass", passes, **{lost: str(after)})
        with self.subTest("loss in the first pass"):
            self.check_again(film(), "--two-pass", "on", FAKE_GPU_LOST_MEASURES="40")

    def test_visible_output(self):
        """An output that a program may have read continues at the next key frame. Missing frames are counted, and the others
        keep their times."""
        headers, out = self.path("headers.flv"), self.path("visible.mkv")
        for source, frames, lost, after in ((film(), FRAMES, "FAKE_GPU_LOST", 30), (film(), FRAMES, "FAKE_NVDEC", 30),
                                            (film(250), FRAMES, "FAKE_NVDEC", 30),
                                            (headers, other_headers(headers), "FAKE_NVDEC", 160)):
            self.write_pictures(source)
            self.on_cpu(source)
            expected = frame_times(self.path("cpu.mkv"))
            for passes in ("off", "on"):
                with self.subTest(source, lost=lost, passes=passes), open(out, "wb") as f:
                    result = self.run_on_gpu(source, "-o", "-", "--format", "matroska", "--vcodec", "ffv1", "--two-pass",
                                             passes, "--sandbox", "off", stdout=f, code=DAMAGED, **{lost: str(after)})
                    times = frame_times(out)
                    self.assertEqual(len(times), frames - self.lost(result))
                    self.assertEqual(times, [t for t in expected if t in times])
                    self.assertEqual(times[-1] == expected[-1], source != film(250), times)

    def test_visible_segments(self):
        """Segments, numbered pictures, and statistics in a pipe can be read before the end."""
        pipe = self.path("pipe.csv")
        os.mkfifo(pipe)
        for options in (("-o", self.path("%H%M%S.mkv"), "--segment-time", 1), ("-o", self.path("%d.png"), "--sequence"),
                        ("--null", "--stats", pipe)):
            with self.subTest(options), open(pipe, "rb+", buffering=0):
                result = self.run_on_gpu(film(), *options, "--sandbox", "off", code=DAMAGED, FAKE_GPU_LOST="30")
                self.assertIn("%d frames, " % (FRAMES - self.lost(result)), result.err)

    def test_another_size_and_back(self):
        """The noise filter makes the same frames as in software, even after a change of size."""
        joined = self.another_size_and_back()
        for passes in ("off", "on"):
            for more in ((), ("--compare", "split")):
                with self.subTest(more, passes=passes):
                    result = self.check(joined, "--two-pass", passes, "--denoise", "1", *more)
                    self.assertIn("decoded on the GPU", result.err)

    def test_live(self):
        """A live input cannot be read again. Frames on the GPU are lost and counted, and all others are written."""
        out = self.path("gpu.mkv")
        with open(film(), "rb") as f, subprocess.Popen(["cat"], stdin=f, stdout=subprocess.PIPE) as pipe:
            result = self.run_on_gpu(film(), "-o", out, "--vcodec", "ffv1", "--low-latency", stdin=pipe.stdout,
                                     code=DAMAGED, FAKE_GPU_LOST="30")
        lost = self.lost(result)
        self.assertTrue(0 < lost < 45, result.err)
        self.assertEqual(len(frame_times(out)), FRAMES - lost)

    def test_standard_input(self):
        """A file as standard input can be read again. A pipe cannot, so only software decodes a pipe."""
        self.check_again(film(), "--two-pass", "off", stdin=True, FAKE_GPU_LOST="33")
        with open(film(), "rb") as f, subprocess.Popen(["cat"], stdin=f, stdout=subprocess.PIPE) as pipe:
            out = self.path("gpu.mkv")
            result = self.run_on_gpu(film(), "-o", out, "--vcodec", "ffv1", "--two-pass", "off", stdin=pipe.stdout,
                                     FAKE_GPU_LOST="33")
        self.assertIn("decoded in software", result.err)
        self.assertTrue(raw(out) == self.on_cpu(film(), "--two-pass", "off")[0])

    def test_loss_while_waiting_for_input(self):
        out = self.path("gpu.mkv")
        process = self.start_on_gpu(film(), "-o", out, "--vcodec", "ffv1", "--two-pass", "off", stdin=subprocess.PIPE,
                                    FAKE_GPU_LOST=str(FRAMES // 2))
        with open(film(), "rb") as f, process.stdin:
            process.stdin.write(f.read())
            said = b""
            while b"goes on without the GPU" not in said:
                line = process.stderr.readline()
                self.assertTrue(line, said)
                said += line
            time.sleep(0.5)  # enough to decode the received part
        process.stdin = None
        self.ends(process)
        self.assertTrue(raw(out) == self.on_cpu(film(), "--two-pass", "off")[0])

    def test_pictures_needed_on_the_host(self):
        """Frames are equalized on the GPU and copied to the host. If the GPU or a copy fails, software gives the same
        frames."""
        for passes in ("off", "on"):
            for lost in ({}, {"FAKE_GPU_LOST": "33"}, {"FAKE_CUDA_COPIES": "0"}, {"FAKE_CUDA_COPIES": "77"}):
                with self.subTest(lost, passes=passes):
                    check = self.check_again if lost else self.check
                    result = check(film(), "--two-pass", passes, "--compare", "split", **lost)
                    self.assertEqual("decoded on the GPU" in result.err, not lost)
                    self.assertFalse(not lost and "copied into pinned memory" in result.err, result.err)

    def test_auto(self):
        """`--hwdec auto` decodes on the GPU up to a number of CPU threads, which depends on the codec."""
        films = {"h264": (film(), 4), "mpeg2": (clip("film.mpg", "-c:v", "mpeg2video", source=DARK), 0)}
        if has_encoder("libvpx"):
            films["vp8"] = (clip("film.webm", "-c:v", "libvpx", "-g", 25, source=DARK), 3)
        for name, (source, most) in films.items():
            for threads in (1, 3, 4, 5):
                with self.subTest(name, threads=threads):
                    result = self.run_on_gpu(source, "--null", "--hwdec", "auto", "--threads", threads,
                                             FAKE_NVDEC_PICTURES="")
                    self.assertEqual("decoded on the GPU" in result.err, threads <= most, str(result))


@unittest.skipUnless(PROGRAM and FOLDER, "this build has no CUDA")
class Window(OnGpu):
    def shown(self, source, *options):
        """Plays the source, and plays it again if a busy machine drops frames. Returns the statistics."""
        stats, dropped = self.path("stats.csv"), "1"
        for _ in range(8):
            result = self.show(source, *options, "--denoise", "1", "--stats", stats, FAKE_NVIDIA_TELLS="1")
            dropped = re.search(r"shown, (\d+) dropped", result.err).group(1)
            if dropped == "0":
                break
        self.assertEqual(dropped, "0", result.err)
        self.assertEqual("a picture is given back" in result.err, "cpu" not in options, result.err)
        return self.numbers(stats)

    def test_all_frames_are_shown(self):
        """No frame of a file, a pipe or a comparison is lost, whenever the GPU fails."""
        for after in (0, 1, 20, 60):
            for stdin, options in ((False, ()), (True, ()), (False, ("--compare", "split"))):
                with self.subTest(after, stdin=stdin, options=options), open(film(), "rb") as f:
                    result = self.show(film(), *options, stdin=f if stdin else None, FAKE_GPU_LOST=str(after))
                    self.assertEqual(result.err.count("without the GPU"), 1, result.err)
                    shown, dropped = re.search(r"(\d+) frames? shown, (\d+) dropped", result.err).groups()
                    self.assertEqual(int(shown) + int(dropped), FRAMES, result.err)

    def test_another_size_and_back(self):
        joined = self.another_size_and_back()
        rows = [self.shown(joined, *backend) for backend in (("--backend", "cpu", "--hwdec", "no"), ())]
        self.assertEqual(rows[1], rows[0])

    def test_a_lost_gpu_is_not_used(self):
        """Waiting frames and those on the screen are not returned to a lost GPU."""
        for options in ((), ("--null", "--sandbox", "off")):  # no sandbox: the fake decoder reads a file
            for after in (20, 40):
                with self.subTest(after, options=options):
                    show = self.run_on_gpu if options else self.show
                    result = show(film(), *options, FAKE_GPU_LOST=str(after), FAKE_NVIDIA_TELLS="1")
                    before, behind = result.err.split("the CPU goes on without the GPU", 1)
                    self.assertIn("is given back", before)
                    self.assertNotIn("is given back", behind)


@unittest.skipUnless(DECODING and FOLDER, "this build has no CUDA")
class OtherFilms(Case):
    """Films that need many surfaces, show old frames again, or change their format."""

    def decode(self, path, *tests):
        """Runs tests of test_gpu_decoding.c on this file, and returns their output."""
        run = subprocess.run([DECODING, *tests], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, timeout=LIVENESS, check=False,
                             env=dict(environment(), LD_LIBRARY_PATH=FOLDER, LUMEQ_TEST_CLIP=path))
        self.assertEqual(run.returncode, 0, run.stdout)
        return run.stdout.decode()

    def check(self, name, *output, tests=("software_takes_over",)):
        encoder = output[output.index("-c:v") + 1]
        if not has_encoder(encoder):
            self.skipTest("this ffmpeg has no %s" % encoder)
        path = clip(name, *output, "-g", 30, seconds=9, source="testsrc2=size=%s:rate=25,noise=alls=3:allf=t" % SIZE)
        return self.decode(path, *tests)

    def test_vp9(self):
        self.check("film.webm", "-c:v", "libvpx-vp9", "-deadline", "good", "-cpu-used", 5, "-auto-alt-ref", 6,
                   "-lag-in-frames", 16, "-b:v", "200k")

    def test_many_references(self):
        """With few references the frames for a window fit into GPU memory. With 16 references, frames are copied to the
        host, so that the decoder always has enough surfaces."""
        for refs, on_gpu in ((3, 80), (16, 0)):
            with self.subTest(refs):
                said = self.check("refs%d.mkv" % refs, "-c:v", "libx264", "-preset", "medium", "-x264-params",
                                  "ref=%d:bframes=3:b-pyramid=normal" % refs, "-pix_fmt", "yuv420p",
                                  tests=("requested_frames_can_be_held", "too_many_held_frames_lead_to_software"))
                self.assertIn("%d of 80 frames on the GPU" % on_gpu, said)

    def test_changes_in_mid_stream(self):
        """No frame is lost at a change of format. Frames of another size or with many references come to the host.
        FFmpeg has no surfaces for 4:2:2, so software continues."""
        def part(name, size, pixels, *more, seconds=1.6):
            path = clip(name + ".h264", "-c:v", "libx264", "-preset", "veryfast", "-g", 20, "-bf", 0, "-pix_fmt", pixels,
                        *more, "-f", "h264", seconds=seconds, source="testsrc2=size=%s:rate=25" % size)
            return read_bytes(path)

        def joined(name, *parts):
            path = self.path(name)
            write_bytes(path, b"".join(parts))
            return path

        first = part("first", SIZE, "yuv420p")
        said = self.decode(joined("size.h264", first, part("larger", "320x180", "yuv420p")),
                           "requested_frames_can_be_held")
        self.assertIn("40 of 80 frames on the GPU", said)
        few = part("few", SIZE, "yuv420p", seconds=0.8)
        many = part("many", "320x180", "yuv420p", "-refs", 16, "-bf", 2, seconds=0.8)
        said = self.decode(joined("refs.h264", few, many, few), "requested_frames_can_be_held")
        self.assertIn("39 of 60 frames on the GPU", said)
        self.decode(joined("profile.h264", first, part("other", SIZE, "yuv422p")), "change_to_software")

    def test_av1(self):
        self.check("film.mkv", "-c:v", "libsvtav1", "-preset", 10)
