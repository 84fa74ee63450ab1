"""Decoded on a GPU, which is lost: a driver that is made up gives the pictures (fake_nvidia.c), a GPU that is made up
equalizes them, and is lost after some."""

import json
import os
import re
import subprocess
import time
import unittest

from common import DAMAGED, DONE, LIVENESS, Case, clip, environment, finish, frame_times, has_encoder, raw

PROGRAM, FOLDER = os.environ.get("FAKE_GPU_PROGRAM"), os.environ.get("FAKE_DRIVER_FOLDER")
DECODING = os.environ.get("TEST_GPU_DECODING")

# NVDEC's pictures come in the order of decoding: without B-frames, that of the clip.
H264 = ("-c:v", "libx264", "-preset", "veryfast", "-bf", "0", "-pix_fmt", "yuv420p")
SIZE = "160x90"
DARK = "testsrc2=size=%s:rate=25,lutyuv=y='16+val/6',noise=alls=6:allf=t" % SIZE
FRAMES = 75


NOISY = "smptebars=size=%s:rate=25,lutyuv=y='16+val/6',noise=alls=12:allf=t"


def noisy():
    return clip("noisy.mkv", *H264, "-qp", 4, "-g", 25, seconds=3, source=NOISY % SIZE)


def film(keys=25):
    """Three seconds; a key frame after so many frames."""
    return clip("film%d.mkv" % keys, *H264, "-g", keys, "-sc_threshold", 0, "-c:a", "aac", seconds=3, sound=3,
                source=DARK)


def flv_tags(path):
    """Type, time in ms and content of each, but for what is told of the file."""
    with open(path, "rb") as f:
        data = f.read()
    at, tags = 13, []
    while at < len(data):
        size = int.from_bytes(data[at + 1:at + 4], "big")
        time_ms = int.from_bytes(data[at + 4:at + 7], "big") | data[at + 7] << 24
        if data[at] == 9:
            tags.append((time_ms, data[at + 11:at + 11 + size]))
        at += size + 15
    return data[:13], tags


def other_headers(path):
    """One second, and seven that are coded with others, which are told once. Answers the number of frames."""
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
    def start_on_gpu(self, source, *options, stdin=None, **env):
        pictures = self.path("pictures.nv12")
        if not os.path.exists(pictures):
            with open(pictures, "wb") as f:
                f.write(raw(source, "nv12"))
        more = dict(environment(), LD_LIBRARY_PATH=FOLDER, FAKE_NVDEC_PICTURES=pictures, FAKE_NVDEC_SIZE=SIZE,
                    FAKE_NVIDIA_LOG=self.path("log"))
        more.update(env)
        return subprocess.Popen([PROGRAM, "-" if stdin else source, "--backend", "cuda", "--hwdec", "nvdec", "-v",
                                 "-y"] + [str(o) for o in options], stdin=stdin or subprocess.DEVNULL,
                                stderr=subprocess.PIPE, env=more, bufsize=0)

    def run_on_gpu(self, source, *options, **more):
        return finish(self.start_on_gpu(source, *options, **more), LIVENESS)

    def another_size_and_back(self):
        """A film, and what has its pictures: those of the first size are on the GPU, and those between them brought here,
        to that size."""
        sizes, films, pictures = ("160x96", "320x176", "160x96"), [], []
        for size in sizes:
            path = clip(size + ".h264", *H264, "-qp", 4, "-g", 25, "-f", "h264", seconds=1, source=NOISY % size)
            pictures.append(self.path(size + ".nv12"))
            with open(pictures[-1], "wb") as f:
                f.write(raw(path, "nv12"))
            with open(path, "rb") as f:
                films.append(f.read())
        joined = self.path("joined.h264")
        with open(joined, "wb") as f:
            f.write(b"".join(films))
        return joined, {"FAKE_NVDEC_PICTURES": ",".join(pictures), "FAKE_NVDEC_SIZE": ",".join(sizes)}

    @staticmethod
    def numbers(path):
        """Of the statistics, without what was timed."""
        with open(path, encoding="ascii") as f:
            rows = [line.rstrip("\n").split(",") for line in f if not line.startswith("#")]
        kept = [i for i, name in enumerate(rows[0]) if not name.endswith(("_us", "_ms"))]
        return [[row[i] for i in kept] for row in rows]

    def show(self, source, *options, **env):
        """In a window, to its end."""
        return self.run_on_gpu(source, "--no-config", *options, SDL_VIDEODRIVER="offscreen", SDL_AUDIODRIVER="dummy",
                               **env)


@unittest.skipUnless(PROGRAM and FOLDER, "this build has no CUDA")
class Loss(OnGpu):
    def on_cpu(self, source, *options):
        out, stats = self.path("cpu.mkv"), self.path("cpu.csv")
        run = subprocess.Popen([PROGRAM, source, "-o", out, "--stats", stats, "--backend", "cpu", "-q", "-y", "--vcodec",
                                "ffv1", *options], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment())
        self.assertEqual(finish(run, LIVENESS).code, DONE)
        return raw(out), self.numbers(stats)

    def check(self, source, *options, stdin=False, frames=FRAMES, **env):
        expected, stats = self.on_cpu(source, *options)
        out, written = self.path("gpu.mkv"), self.path("gpu.csv")
        if stdin:
            with open(source, "rb") as f:
                result = self.run_on_gpu(source, "-o", out, "--stats", written, "--vcodec", "ffv1", *options, stdin=f,
                                         **env)
        else:
            result = self.run_on_gpu(source, "-o", out, "--stats", written, "--vcodec", "ffv1", *options, **env)
        self.assertEqual(result.code, DONE, str(result))
        self.assertEqual(len(frame_times(out)), frames)
        self.assertTrue(raw(out) == expected, str(result))
        self.assertEqual(self.numbers(written), stats)
        return result

    def test_undisturbed(self):
        """Decoded on the GPU, and there is no context but lumeq's."""
        for options in (("--two-pass", "off"), ("--two-pass", "on")):
            with self.subTest(options):
                result = self.check(film(), *options)
                self.assertIn("decoded on the GPU", result.err)
                with open(self.path("log"), encoding="ascii") as f:
                    self.assertEqual(f.read(), "contexts 0 blocks 0\n")

    def test_too_little_memory(self):
        """Of the GPU: frames come to the host as they are decoded, or software decodes; the same pictures, and no
        memory is counted that was given back."""
        result = self.check(film(), "--two-pass", "off")
        most, limit = [int(n) for n in re.search(r"memory: (\d+) of (\d+) MiB of GPU 0", result.err).groups()]
        self.assertTrue(0 < most < limit, result.err)
        self.assertNotIn("no room", result.err)
        for room, decoded in ((1 << 20, "on the GPU"), (1 << 10, "in software")):
            with self.subTest(room):
                result = self.check(film(), "--two-pass", "off", FAKE_GPU_LIMIT=str(room))
                self.assertEqual(result.err.count("no room for"), 1, result.err)
                self.assertIn("decoded " + decoded, result.err)

    def test_the_same_pictures(self):
        """Whenever it is lost, in one pass: frames in flight, those that wait, and those before them."""
        for after in (0, 1, 2, 20, 26, 49, 50, 74):
            with self.subTest(after):
                result = self.check(film(), "--two-pass", "off", FAKE_GPU_LOST=str(after))
                self.assertIn("the CPU goes on without the GPU", result.err)

    def test_a_decoder_that_fails(self):
        """Software goes on: what its first frame is compared with was on the GPU."""
        for passes in ("off", "on"):
            for after in (1, 30, 60):
                with self.subTest(after, passes=passes):
                    result = self.check(film(), "--two-pass", passes, FAKE_NVDEC=str(after))
                    self.assertIn("decoded in software", result.err)

    def test_two_passes(self):
        for after in (0, 30, 73):
            with self.subTest(after):
                self.check(film(), "--two-pass", "on", FAKE_GPU_LOST=str(after))
        with self.subTest("while it measures"):
            self.check(film(), "--two-pass", "on", FAKE_GPU_LOST_MEASURES="40")

    def test_two_passes_of_noise(self):
        """Curves look at three frames before, which the filter wants."""
        source = noisy()
        for after in (0, 30):
            with self.subTest(after):
                result = self.check(source, "--two-pass", "on", "--denoise", "1", FAKE_GPU_LOST=str(after))
                self.assertRegex(result.err, "dark: lifted .*noise reduced")

    def test_another_size_and_back(self):
        """The first frame behind those of another size is compared with the last of them, as it is in software."""
        joined, pictures = self.another_size_and_back()
        for passes in ("off", "on"):
            for more in ((), ("--compare", "split")):
                with self.subTest(more, passes=passes):
                    result = self.check(joined, "--two-pass", passes, "--denoise", "1", *more, **pictures)
                    self.assertIn("decoded on the GPU", result.err)

    def test_statistics_alone(self):
        """Of pictures that nobody wants; the decoder fails, or the GPU is lost."""
        rows = []
        for backend, env in ((("--backend", "cpu", "--hwdec", "no"), {}), ((), {"FAKE_NVDEC": "30"}),
                             ((), {"FAKE_GPU_LOST": "30"})):
            stats = self.path("stats.csv")
            result = self.run_on_gpu(noisy(), "--null", "--mode", "off", "--stats", stats, *backend, **env)
            self.assertEqual(result.code, DONE, str(result))
            rows.append(self.numbers(stats))
        self.assertEqual(rows[1], rows[0])
        self.assertEqual(rows[2], rows[0])

    def test_live(self):
        """What is live is not read again: frames on the GPU are lost, and counted; all others are there."""
        out = self.path("gpu.mkv")
        with open(film(), "rb") as f, subprocess.Popen(["cat"], stdin=f, stdout=subprocess.PIPE) as pipe:
            result = self.run_on_gpu(film(), "-o", out, "--vcodec", "ffv1", "--low-latency", stdin=pipe.stdout,
                                     FAKE_GPU_LOST="30")
        self.assertEqual(result.code, DAMAGED, str(result))
        lost = int(re.search(r"(\d+) frames? w(as|ere) lost with the GPU", result.err).group(1))
        self.assertTrue(0 < lost < 25, result.err)
        self.assertEqual(len(frame_times(out)), FRAMES - lost)

    def test_frames_that_came_to_the_host(self):
        """The GPU that equalizes them is lost: it decodes no more, either, whichever pass that is in."""
        for passes, lost in (("off", "FAKE_GPU_LOST"), ("on", "FAKE_GPU_LOST"), ("on", "FAKE_GPU_LOST_MEASURES")):
            with self.subTest(lost, passes=passes):
                result = self.check(film(), "--two-pass", passes, "--deinterlace", "on", FAKE_NVIDIA_TELLS="1",
                                    **{lost: "20"})
                self.assertIn("decoded in software since the GPU was lost", result.err)
                behind = result.err.split("the CPU goes on without the GPU", 1)[1]
                self.assertNotIn("is given back", behind)

    def test_other_groups(self):
        """Of one picture each, and of one group."""
        for keys in (1, 3, 250):
            with self.subTest(keys):
                os.path.exists(self.path("pictures.nv12")) and os.unlink(self.path("pictures.nv12"))
                self.check(film(keys), "--two-pass", "off", FAKE_GPU_LOST="40")

    def test_other_headers(self):
        """Those that hold for the packets that are decoded anew came with one that is kept no more."""
        source = self.path("headers.flv")
        frames = other_headers(source)
        for lost in ({"FAKE_NVDEC": "20"}, {"FAKE_NVDEC": "190"}, {"FAKE_GPU_LOST": "190"}):
            with self.subTest(lost):
                result = self.check(source, "--two-pass", "off", frames=frames, **lost)
                self.assertIn("decoded in software", result.err)

    def test_standard_input(self):
        """A file there is read again; a pipe cannot be, and is decoded in software from the start."""
        self.check(film(), "--two-pass", "off", stdin=True, FAKE_GPU_LOST="33")
        with open(film(), "rb") as f, subprocess.Popen(["cat"], stdin=f, stdout=subprocess.PIPE) as pipe:
            out = self.path("gpu.mkv")
            result = self.run_on_gpu(film(), "-o", out, "--vcodec", "ffv1", "--two-pass", "off", stdin=pipe.stdout,
                                     FAKE_GPU_LOST="33")
        self.assertEqual(result.code, DONE, str(result))
        self.assertIn("decoded in software", result.err)
        self.assertTrue(raw(out) == self.on_cpu(film(), "--two-pass", "off")[0])

    def test_an_input_that_ends_later(self):
        """The GPU is lost while more is waited for, which does not come."""
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
            time.sleep(0.5)  # what is there is decoded
        process.stdin = None
        self.assertEqual(finish(process, LIVENESS).code, DONE)
        self.assertTrue(raw(out) == self.on_cpu(film(), "--two-pass", "off")[0])

    def test_pictures_that_are_wanted_here(self):
        """They are equalized on the GPU, and brought here beside that, until it fails: the same frame comes from
        software."""
        for passes in ("off", "on"):
            for lost in ({}, {"FAKE_GPU_LOST": "33"}, {"FAKE_CUDA_COPIES": "0"}, {"FAKE_CUDA_COPIES": "77"}):
                with self.subTest(lost, passes=passes):
                    result = self.check(film(), "--two-pass", passes, "--compare", "split", **lost)
                    self.assertEqual("decoded on the GPU" in result.err, not lost)
                    self.assertFalse(not lost and "copied into pinned memory" in result.err, result.err)

    def test_reports(self):
        """What looks at decoded pictures, also where there is nothing to equalize."""
        for options in ((), ("--mode", "off")):
            reports = []
            for backend in (("--backend", "cpu", "--hwdec", "no"), ("--hwdec", "nvdec")):
                path = self.path("report.json")
                result = self.run_on_gpu(film(), "--null", "--report", path, *options, *backend)
                self.assertEqual(result.code, DONE, str(result))
                with open(path, encoding="utf-8") as f:
                    reports.append(json.load(f))
            self.assertIn("decoded on the GPU", result.err)
            self.assertEqual(*[r["shots"] for r in reports])

    def test_auto(self):
        """The GPU where few cores would decode, of what it decodes."""
        films = {"h264": (film(), 4), "mpeg2": (clip("film.mpg", "-c:v", "mpeg2video", source=DARK), 0)}
        if has_encoder("libvpx"):
            films["vp8"] = (clip("film.webm", "-c:v", "libvpx", "-g", 25, source=DARK), 3)
        for name, (source, most) in films.items():
            for threads in (1, 3, 4, 5):
                with self.subTest(name, threads=threads):
                    result = self.run_on_gpu(source, "--null", "--hwdec", "auto", "--threads", threads,
                                             FAKE_NVDEC="999", FAKE_NVDEC_PICTURES="")
                    self.assertEqual(result.code, DONE, str(result))
                    self.assertEqual("decoded on the GPU" in result.err, threads <= most, str(result))


@unittest.skipUnless(PROGRAM and FOLDER, "this build has no CUDA")
class Window(OnGpu):
    def shown(self, source, env, *options):
        """The statistics of all frames. A machine that is busy may drop some: then they are shown once more."""
        stats, dropped = self.path("stats.csv"), "1"
        for _ in range(8):
            result = self.show(source, *options, "--denoise", "1", "--stats", stats, FAKE_NVIDIA_TELLS="1", **env)
            self.assertEqual(result.code, DONE, str(result))
            dropped = re.search(r"shown, (\d+) dropped", result.err).group(1)
            if dropped == "0":
                break
        self.assertEqual(dropped, "0", result.err)
        self.assertEqual("a picture is given back" in result.err, "cpu" not in options, result.err)
        return self.numbers(stats)

    def test_all_frames_are_shown(self):
        """Whenever it is lost, of a file and of what cannot be read twice; compared as well."""
        for after in (0, 1, 20, 60):
            for stdin, options in ((False, ()), (True, ()), (False, ("--compare", "split"))):
                with self.subTest(after, stdin=stdin, options=options), open(film(), "rb") as f:
                    result = self.show(film(), *options, stdin=f if stdin else None, FAKE_GPU_LOST=str(after))
                    self.assertEqual(result.code, DONE, str(result))
                    self.assertEqual(result.err.count("without the GPU"), 1, result.err)
                    shown, dropped = re.search(r"(\d+) frames? shown, (\d+) dropped", result.err).groups()
                    self.assertEqual(int(shown) + int(dropped), FRAMES, result.err)

    def test_another_size_and_back(self):
        """The first frame behind those of another size is compared with the last of them, as it is in software."""
        joined, pictures = self.another_size_and_back()
        rows = [self.shown(joined, pictures, *backend) for backend in (("--backend", "cpu", "--hwdec", "no"), ())]
        self.assertEqual(rows[1], rows[0])

    def test_what_cannot_be_brought(self):
        """For the picture it is compared with: software decodes it, and goes on."""
        result = self.show(film(), "--compare", "split", FAKE_CUDA_COPIES="20")
        self.assertEqual(result.code, DONE, str(result))

    def test_it_is_let_alone(self):
        """Frames that wait, that may be equalized anew, and those on the screen: nothing is given back to a GPU that is
        lost, in which that might never end."""
        for options in ((), ("--null",)):
            for after in (20, 40):
                with self.subTest(after, options=options):
                    show = self.run_on_gpu if options else self.show
                    result = show(film(), *options, FAKE_GPU_LOST=str(after), FAKE_NVIDIA_TELLS="1")
                    self.assertEqual(result.code, DONE, str(result))
                    before, behind = result.err.split("the CPU goes on without the GPU", 1)
                    self.assertIn("is given back", before)
                    self.assertNotIn("is given back", behind)


@unittest.skipUnless(DECODING and FOLDER, "this build has no CUDA")
class OtherFilms(Case):
    """VP9 and AV1 show what was decoded long before: their decoders number it as what it was decoded from."""

    def decode(self, path, *tests):
        """Answers what the tests say."""
        run = subprocess.run([DECODING, *tests], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, timeout=LIVENESS, check=False,
                             env=dict(environment(), LD_LIBRARY_PATH=FOLDER, LUMEQ_TEST_CLIP=path))
        self.assertEqual(run.returncode, 0, run.stdout)
        return run.stdout.decode()

    def check(self, name, *output, tests=("a_decoder_that_fails", "pictures_that_cannot_be_looked_at")):
        encoder = output[output.index("-c:v") + 1]
        if not has_encoder(encoder):
            self.skipTest("this ffmpeg has no %s" % encoder)
        path = clip(name, *output, "-g", 30, seconds=9, source="testsrc2=size=%s:rate=25,noise=alls=3:allf=t" % SIZE)
        return self.decode(path, *tests)

    def test_vp9(self):
        self.check("film.webm", "-c:v", "libvpx-vp9", "-deadline", "good", "-cpu-used", 5, "-auto-alt-ref", 6,
                   "-lag-in-frames", 16, "-b:v", "200k")

    def test_many_references(self):
        """For as many frames as a window holds there is room beside few references; with 16 of them frames come to the
        host, and surfaces do not run out either."""
        for refs, on_gpu in ((3, 80), (16, 0)):
            with self.subTest(refs):
                said = self.check("refs%d.mkv" % refs, "-c:v", "libx264", "-preset", "medium", "-x264-params",
                                  "ref=%d:bframes=3:b-pyramid=normal" % refs, "-pix_fmt", "yuv420p",
                                  tests=("as_many_as_were_asked_for", "frames_that_are_held"))
                self.assertIn("%d of 80 frames on the GPU" % on_gpu, said)

    def test_changes_in_mid_stream(self):
        """To another size: it stays on the GPU, and frames are brought to the first one's; to many references, beside which
        there is no room for frames, and back; to 4:2:2, which a GPU may decode, but FFmpeg has no surfaces for: software
        goes on. No frame is lost."""
        def part(name, size, pixels, *more, seconds=1.6):
            path = clip(name + ".h264", "-c:v", "libx264", "-preset", "veryfast", "-g", 20, "-bf", 0, "-pix_fmt", pixels,
                        *more, "-f", "h264", seconds=seconds, source="testsrc2=size=%s:rate=25" % size)
            with open(path, "rb") as f:
                return f.read()

        def joined(name, *parts):
            path = self.path(name)
            with open(path, "wb") as f:
                f.write(b"".join(parts))
            return path

        first = part("first", SIZE, "yuv420p")
        said = self.decode(joined("size.h264", first, part("larger", "320x180", "yuv420p")), "as_many_as_were_asked_for")
        self.assertIn("40 of 80 frames on the GPU", said)
        few = part("few", SIZE, "yuv420p", seconds=0.8)
        many = part("many", "320x180", "yuv420p", "-refs", 16, "-bf", 2, seconds=0.8)
        said = self.decode(joined("refs.h264", few, many, few), "as_many_as_were_asked_for")
        self.assertIn("39 of 60 frames on the GPU", said)
        self.decode(joined("profile.h264", first, part("other", SIZE, "yuv422p")), "a_change_to_software")

    def test_av1(self):
        self.check("film.mkv", "-c:v", "libsvtav1", "-preset", 10)
