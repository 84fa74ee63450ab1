"""Tests the Python module: kinds of arrays, OpenCV's bits, errors, and the examples of its page."""

import gc
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import threading
import typing
import types
import unittest
import unittest.mock
import weakref

import cv2
import lumeq
import numpy as np

try:
    import av
except ImportError:
    av = None
try:
    import cupy
    cupy.zeros(1)
    lumeq.Equalizer(backend="cuda")
    NO_GPU = None
except Exception as why:  # of CuPy or of the driver
    NO_GPU = "no GPU with CuPy: %s" % str(why).splitlines()[0]
try:
    import torch
except ImportError:
    torch = None

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PAGES = "src/plugins/python/README.md", "README.md"
RNG = np.random.default_rng(int(os.environ.get("CHECK_SEED", "1"), 0))


def picture(rows=91, columns=161, brightest=90, depth=8, shift=0):
    """A dark gradient with noise."""
    ramp = np.add.outer(np.arange(rows), np.arange(columns)) / (rows + columns)
    codes = ramp * brightest + RNG.integers(0, 6, (rows, columns))
    return ((codes * (1 << (depth - 8))).astype(np.int64) << shift).astype(np.uint8 if depth == 8 else np.uint16)


def yuv(rows=90, columns=160, **more):
    return tuple(picture(r, c, **more) for r, c in ((rows, columns), (-(-rows // 2), -(-columns // 2)),
                                                    (-(-rows // 2), -(-columns // 2))))


def same(a, b):
    a, b = ((x,) if isinstance(x, np.ndarray) else x for x in (a, b))
    return len(a) == len(b) and all((x == y).all() and x.dtype == y.dtype for x, y in zip(a, b))


def in_threads(work, arguments):
    threads = [threading.Thread(target=work, args=(a,)) for a in arguments]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


class Arrays(unittest.TestCase):
    def test_dark_pictures_get_lighter_and_good_ones_stay(self):
        dark = picture()
        self.assertGreater(lumeq.equalize(dark).mean(), 1.3 * dark.mean())
        fine = RNG.integers(0, 256, (90, 160)).astype(np.uint8)
        self.assertLess(abs(lumeq.equalize(fine).astype(int) - fine).mean(), 3)

    def test_strides_and_out(self):
        frame = picture()
        wanted = lumeq.equalize(frame)
        wide = np.full((100, 200), 7, np.uint8)
        inside = wide[3:94, 11:172]
        inside[:] = frame
        out = np.full((100, 200), 9, np.uint8)
        made = lumeq.equalize(inside, out=out[3:94, 11:172])
        self.assertTrue(same(made, wanted))
        out[3:94, 11:172] = 9
        self.assertTrue((out == 9).all(), "samples around the output changed")
        self.assertTrue(same(inside, frame), "the input changed")
        self.assertTrue(same(lumeq.equalize(frame[:, :, None])[:, :, 0], wanted))
        self.assertTrue(same(lumeq.equalize((frame,)), wanted))
        self.assertTrue(same(lumeq.equalize(np.broadcast_to(frame[0], (1, 161))), lumeq.equalize(frame[:1])))
        upright = lumeq.equalize(frame, mode="stretch")  # no dither: its pattern does not flip
        self.assertTrue(same(lumeq.equalize(frame[::-1], mode="stretch")[::-1], upright))

    def test_read_only_input(self):
        frame = picture()
        frame.flags.writeable = False
        lumeq.equalize(frame)
        context, history = lumeq.Context(), lumeq.History(0)
        history.put(context.measure(frame, previous=frame))
        context.apply(history.get(), frame, previous=[frame])
        for call in (lumeq.equalize, lumeq.Equalizer().process):
            with self.assertRaisesRegex(ValueError, "read-only"):
                call(picture(), out=frame)

    def test_planes_and_packed_images(self):
        y, u, v = yuv()
        wanted = lumeq.equalize((y, u, v))
        packed = np.concatenate([p.ravel() for p in (y, u, v)]).reshape(135, 160)
        made = lumeq.equalize(packed, format="yuv420p")
        self.assertTrue(same(lumeq.planes(made, "yuv420p"), wanted))
        pairs = lumeq.equalize((y, np.stack([u, v], -1)))
        self.assertTrue(same((pairs[0], pairs[1][..., 0], pairs[1][..., 1]), wanted))
        packed = np.concatenate([y.ravel(), np.stack([u, v], -1).ravel()]).reshape(135, 160)
        made = lumeq.planes(lumeq.equalize(packed, format="nv12"), "nv12")
        self.assertTrue(same((made[0], made[1][:, ::2], made[1][:, 1::2]), wanted))

    def test_subsampling(self):
        for rows, columns in ((90, 160), (45, 80), (90, 80), (23, 40)):
            y, u = picture(90, 160), picture(rows, columns)
            made = lumeq.equalize((y, u, u))
            self.assertEqual([p.shape for p in made], [(90, 160), (rows, columns), (rows, columns)])
            self.assertTrue(same(made[1], made[2]))

    def test_depths(self):
        for depth in range(9, 17):
            frame = picture(depth=depth)
            made = lumeq.equalize(frame, depth=depth)
            self.assertGreater(made.mean(), 1.3 * frame.mean())
            self.assertLess(int(made.max()), 1 << depth)
            if depth < 16:
                shifted = lumeq.equalize(frame << (16 - depth), depth=depth, shift=16 - depth)
                self.assertTrue(same(shifted >> (16 - depth), made), depth)
        self.assertTrue(same(lumeq.equalize(frame), made), "uint16 has 16 bits by default")

    def test_range(self):
        frame = picture() + np.uint8(16)
        full, limited = (lumeq.equalize(frame, range=r) for r in ("full", "limited"))
        self.assertFalse(same(full, limited))
        self.assertTrue(same(lumeq.equalize(frame), full))
        y, u, v = yuv()
        self.assertTrue(same(lumeq.equalize((y, u, v)), lumeq.equalize((y, u, v), range="limited")))

    def test_opencv_bits(self):
        for frame in (picture(), RNG.integers(0, 256, (480, 640)).astype(np.uint8), np.full((5, 7), 80, np.uint8)):
            self.assertTrue(same(lumeq.equalize(frame, reference=True), cv2.equalizeHist(frame)))
        frame = picture(90, 160)
        clahe = cv2.createCLAHE(clipLimit=3.0, tileGridSize=(4, 2)).apply(frame)
        self.assertTrue(same(lumeq.equalize(frame, reference=True, mode="clahe", clip=3, tiles=(4, 2)), clahe))


class Video(unittest.TestCase):
    def test_steps_are_the_live_way(self):
        frames = [yuv() for _ in range(12)]
        eq, history, context = lumeq.Equalizer(fps=25, await_noise=False), lumeq.History(0, fps=25), lumeq.Context()
        for i, frame in enumerate(frames):
            before = frames[i - 1:i][::-1]
            history.put(context.measure(frame, previous=before[0] if before else None))
            curve = history.get()
            wanted = context.apply(curve, frame, previous=before)
            self.assertTrue(same(eq.process(frame), wanted), i)
            self.assertEqual(eq.stats.strength, curve.stats.strength)
            self.assertTrue((eq.stats.histogram_in == curve.stats.histogram_in).all())
            self.assertEqual(eq.stats.histogram_in.sum(), 90 * 160)
            self.assertIsNone(history.get())
        self.assertGreater(eq.stats.lift, 1)
        self.assertGreater(eq.stats.noise, 0)

    def test_film(self):
        frames = [picture(brightest=30 if i < 40 else 200) for i in range(80)]
        made = list(lumeq.film(iter(frames), lookahead=1, fps=25))
        self.assertEqual(len(made), 80)
        self.assertFalse(same(made[0], frames[0]))
        self.assertEqual(list(lumeq.film([])), [])
        sizes = (9, 16), (9, 16), (20, 30), (20, 30), (9, 16)
        self.assertEqual([p.shape for p in lumeq.film([picture(*size) for size in sizes], fps=2)], list(sizes))
        steps = [p.mean() for p in made]
        self.assertLess(max(steps[:40]) - min(steps[:40]), 3, "the cut changes frames before it")

    def test_batches(self):
        for planes in (1, 3):
            film = [yuv()[:planes] for _ in range(20)]
            one, many = lumeq.Equalizer(), lumeq.Equalizer(batch=16)
            wanted = [one.process(frame) for frame in film]
            for begin, end in ((0, 1), (1, 18), (18, 20)):
                stacked = tuple(np.stack([frame[i] for frame in film[begin:end]]) for i in range(planes))
                made = many.batch(stacked)
                for i in range(end - begin):
                    self.assertTrue(same(tuple(p[i] for p in made), wanted[begin + i]))
            self.assertEqual(many.stats.noise, one.stats.noise)
        frames = np.stack([film[0][0]] * 3)
        out = np.zeros((3, 100, 200), np.uint8)[:, 5:95, 30:190]
        self.assertIs(lumeq.Equalizer().batch(frames, out=out), out)
        self.assertTrue(same(out[0], lumeq.Equalizer().process(frames[0])))

    def test_settings_change_at_once(self):
        eq, frame = lumeq.Equalizer(mode="off"), picture()
        self.assertTrue(same(eq.process(frame), frame))
        eq.set(brightness=0.5)
        self.assertGreater(eq.process(frame).mean(), 1.3 * frame.mean())
        with self.assertRaisesRegex(ValueError, "brightness"):
            eq.set(brightness=7, mode="stretch")
        self.assertGreater(eq.process(frame).mean(), 1.3 * frame.mean(), "a refused setting changed others")

    def test_reset_and_size_change(self):
        eq = lumeq.Equalizer()
        for rows, columns in ((90, 160), (1, 1), (33, 7)):
            for _ in range(3):
                self.assertEqual(eq.process(picture(rows, columns)).shape, (rows, columns))
        eq.reset()
        eq.process(picture())

    def test_overwritten_array(self):
        """If each frame overwrites the previous one, the noise stays unknown."""
        eq, frame = lumeq.Equalizer(), picture()
        for _ in range(4):
            frame[:] = picture()
            eq.process(frame)
        self.assertEqual(eq.stats.noise, -1)

    def test_bgr_keeps_what_it_does_not_change(self):
        colours = RNG.integers(0, 256, (301, 203, 3)).astype(np.uint8)
        self.assertTrue(same(lumeq.bgr(colours, mode="off"), colours))
        self.assertTrue(same(lumeq.rgb(colours, mode="off"), colours))
        corners = np.array(np.meshgrid([0, 255], [0, 255], [0, 255])).T.reshape(2, 4, 3).astype(np.uint8)
        self.assertTrue(same(lumeq.bgr(corners, mode="off"), corners))

    def test_bgr(self):
        dark = (RNG.integers(0, 256, (90, 160, 3)) * 0.2).astype(np.uint8)
        made = lumeq.bgr(dark)
        self.assertGreater(made.mean(), 1.3 * dark.mean())
        self.assertTrue(same(lumeq.rgb(dark[..., ::-1])[..., ::-1], made))
        four = np.dstack([dark, np.full((90, 160), 77, np.uint8)])
        self.assertTrue(same(lumeq.bgr(four), np.dstack([made, four[..., 3]])))
        out = np.zeros((92, 200, 3), np.uint8)
        lumeq.bgr(dark, out=out[1:91, 5:165])
        self.assertTrue(same(out[1:91, 5:165], made))
        self.assertEqual(int(out[0].max()) + int(out[:, :5].max()), 0)

    def test_colour_of_all_kinds(self):
        colours = (RNG.integers(0, 256, (90, 160, 3)) * 0.2).astype(np.uint8)
        wanted = lumeq.bgr(colours).astype(float)
        deep = lumeq.bgr(colours.astype(np.uint16) * 257)
        self.assertEqual(deep.dtype, np.uint16)
        self.assertLess(abs(deep / 257 - wanted).mean(), 3)
        for kind in np.float32, np.float64:
            made = lumeq.bgr((colours / 255).astype(kind))
            self.assertEqual(made.dtype, kind)
            self.assertLess(abs(made * 65535 - deep).max(), 1)
            self.assertTrue(0 <= made.min() and made.max() <= 1)
        out = np.zeros(colours.shape, np.float32)
        self.assertIs(lumeq.bgr((colours / 255).astype(np.float32), out=out), out)
        self.assertGreater(out.mean(), 0)
        unchanged = lumeq.bgr(colours.astype(np.uint16) * 257, mode="off").astype(int)
        self.assertLessEqual(abs(unchanged - colours.astype(int) * 257).max(), 2)
        many, one = lumeq.Equalizer(), lumeq.Equalizer()
        batch = np.stack([colours, colours // 2, colours])
        self.assertTrue(same(many.bgr(batch), np.stack([one.bgr(frame) for frame in batch])))
        self.assertTrue(same(lumeq.Equalizer().rgb(batch[..., ::-1]), lumeq.Equalizer().bgr(batch)[..., ::-1]))

    def test_floats(self):
        frame = picture(depth=16)
        wanted = lumeq.equalize(frame)
        made = lumeq.equalize(frame / 65535)
        self.assertTrue(same(made, wanted / 65535))
        planes = tuple(p / 65535 for p in yuv(depth=16))
        self.assertEqual([p.dtype for p in lumeq.Equalizer().process(planes)], [np.float64] * 3)

    def test_thermal(self):
        """A picture with 100 of 16,384 codes fills the output."""
        heat = picture(brightest=98).astype(np.uint16) + np.uint16(7754)
        self.assertLess(lumeq.equalize(heat, depth=14, mode="clahe", clip=4).std(), 200)
        made = lumeq.equalize(heat, depth=14, profile="thermal")
        self.assertGreater(made.std(), 16384 / 7)
        eq = lumeq.Equalizer(depth=14, profile="thermal")
        for _ in range(3):
            self.assertGreater(eq.process(heat).std(), 16384 / 7)
        self.assertGreater(list(lumeq.film([heat] * 3, depth=14, code_range="auto"))[2].std(), 16384 / 7)
        frame = picture()
        self.assertTrue(same(lumeq.equalize(frame, profile="thermal"),
                             lumeq.equalize(frame, mode="clahe", strength=0.8, clip=4, tiles=(4, 3), smooth=2)))
        self.assertTrue(same(lumeq.equalize(frame, profile="fog", mode="global", strength="auto", clip="auto"),
                             lumeq.equalize(frame)))

    def test_version(self):
        self.assertRegex(lumeq.__version__, r"^\d+\.\d+\.\d+$")

    def test_bgr_luma_is_opencvs(self):
        colours = RNG.integers(0, 256, (90, 160, 3)).astype(np.uint8)
        eq = lumeq.Equalizer(mode="off")
        eq.bgr(colours)
        luma = cv2.cvtColor(colours, cv2.COLOR_BGR2YCrCb)[..., 0]
        self.assertAlmostEqual(eq.stats.mean_in, luma.mean(), delta=0.2)

    def test_threads(self):
        frame = picture(480, 640)
        wanted, eq, wrong = lumeq.equalize(frame), lumeq.Equalizer(), []

        def work(number):
            for _ in range(20):
                eq.process(frame)
                if not same(lumeq.equalize(frame), wanted):
                    wrong.append(number)

        in_threads(work, range(4))
        self.assertEqual(wrong, [])

    def test_bgr_in_threads(self):
        """Threads with pictures of different sizes share one Equalizer."""
        eq, wrong = lumeq.Equalizer(mode="off"), []

        def work(side):
            colours = np.full((side, side, 3), side, np.uint8)
            for _ in range(100):
                if not same(eq.bgr(colours), colours):
                    wrong.append(side)

        in_threads(work, (20, 90, 200, 250))
        self.assertEqual(wrong, [])

    def test_the_gil_is_released(self):
        """Another thread runs although Python never switches threads by itself."""
        frame, go, ran = picture(2000, 2000), threading.Event(), []
        interval = sys.getswitchinterval()
        self.addCleanup(sys.setswitchinterval, interval)
        thread = threading.Thread(target=lambda: (go.wait(), ran.append(1)))
        thread.start()
        sys.setswitchinterval(1000)
        go.set()
        for _ in range(100):
            lumeq.measure(frame)
            if ran:
                break
        self.assertEqual(ran, [1])
        thread.join()


class Bench(unittest.TestCase):
    def test_bits_of_the_peers(self):
        for content in ("natural", "dark", "two-level"):
            p = subprocess.run([sys.executable, os.path.join(ROOT, "samples/bench-peers.py"), "--size", "64x48,161x91",
                                "--content", content, "--seconds", "0.001", "--rounds", "1"], stdout=subprocess.PIPE,
                               text=True)
            self.assertEqual(p.returncode, 0)
            bits = dict(re.findall(r"^\| (OpenCV|lumeq `reference`).*one CPU thread.*? \| [0-9., /|]+ \| (.*) \|$",
                                   p.stdout, re.M))
            self.assertEqual(bits, {"OpenCV": "same", "lumeq `reference`": "same"}, p.stdout)
            for name in "CV-CUDA", "kornia-rs", "CuPy", "VPI", "DALI", "VapourSynth":  # a row, or a reason
                self.assertRegex(p.stdout, r"(?m)^(\| %s [0-9]|- %s[ :].+)" % (name, name))


class Errors(unittest.TestCase):
    def test_messages(self):
        frame, deep = picture(), picture(depth=16)
        y, u, v = yuv()
        colours, larger = np.zeros((9, 9, 3), np.uint8), np.zeros((900, 900, 3), np.uint8)
        for error, words, call in (
                (TypeError, "a frame is an array.*got None: did cv2.imread", lambda: lumeq.equalize(None)),
                (TypeError, "got None: did cv2.imread", lambda: lumeq.bgr(None)),
                (ValueError, "got float64 .* 0..1", lambda: lumeq.equalize(frame.astype(float))),
                (ValueError, "got float32 .* 0..1", lambda: lumeq.bgr(np.full((9, 9, 3), np.nan, np.float32))),
                (ValueError, "got int16", lambda: lumeq.bgr(np.zeros((9, 9, 3), np.int16))),
                (ValueError, "profile 'nigth' is unknown", lambda: lumeq.equalize(frame, profile="nigth")),
                (TypeError, "profile", lambda: lumeq.equalize(frame, profile=1)),
                (ValueError, "more than depth=12 bits", lambda: lumeq.equalize(deep, depth=12)),
                (ValueError, "more than depth=12 bits", lambda: lumeq.Equalizer(depth=12).process(deep)),
                (ValueError, "more than depth=12 bits", lambda: lumeq.Equalizer(depth=12).batch(deep[None])),
                (ValueError, "stretch", lambda: lumeq.History(profile="thermal")),
                (ValueError, "stretch", lambda: lumeq.Equalizer(profile="thermal").batch(frame[None])),
                (ValueError, "automatic", lambda: lumeq.equalize(frame, strength=3)),
                (TypeError, "a frame is an array.*got str", lambda: lumeq.equalize(["a"])),
                (TypeError, "got None: did cv2.imread", lambda: lumeq.Equalizer().process(None)),
                (ValueError, "one to three planes", lambda: lumeq.equalize([])),
                (ValueError, "neither uint8 nor uint16.*got int16", lambda: lumeq.equalize(frame.astype(np.int16))),
                (ValueError, "dimensions", lambda: lumeq.equalize(frame[0])),
                (ValueError, "bgr\\(\\)", lambda: lumeq.equalize(np.dstack([frame] * 3))),
                (ValueError, "contiguous", lambda: lumeq.equalize(frame[:, ::2])),
                (ValueError, "contiguous", lambda: lumeq.equalize(frame.T)),
                (ValueError, "memory of its own", lambda: lumeq.equalize(frame, out=frame)),
                (ValueError, "size", lambda: lumeq.equalize(frame, out=frame[1:].copy())),
                (ValueError, "0..1", lambda: lumeq.equalize(frame, strength=3)),
                (TypeError, "number", lambda: lumeq.equalize(frame, clip="much")),
                (TypeError, "unknown setting 'sharpen'", lambda: lumeq.equalize(frame, sharpen=1)),
                (ValueError, "'global', 'off'", lambda: lumeq.equalize(frame, mode="best")),
                (ValueError, "columns, rows", lambda: lumeq.equalize(frame, tiles=8)),
                (ValueError, "centre", lambda: lumeq.equalize(frame, meter="left")),
                (ValueError, "does not fit luma", lambda: lumeq.equalize((y, u[:9], v))),
                (ValueError, "Cb and Cr differ", lambda: lumeq.equalize((y, u, y))),
                (ValueError, "type or memory", lambda: lumeq.equalize((y, u, v.astype(np.uint16)))),
                (ValueError, "depth of 8", lambda: lumeq.equalize(deep, depth=8)),
                (ValueError, "depth of 10", lambda: lumeq.equalize(frame, depth=10)),
                (ValueError, "'full', 'limited'", lambda: lumeq.equalize(frame, range="tv")),
                (ValueError, "3/2", lambda: lumeq.equalize(frame, format="nv12")),
                (ValueError, "'yuv420p'", lambda: lumeq.equalize(frame, format="rgb24")),
                (ValueError, "colour picture.*got \\(91, 161\\): equalize", lambda: lumeq.bgr(frame)),
                (ValueError, "fps", lambda: lumeq.Equalizer(fps=0)),
                (ValueError, "threads", lambda: lumeq.Equalizer(threads=-1)),
                (ValueError, "batch", lambda: lumeq.Equalizer(batch=17)),
                (ValueError, "'cuda'", lambda: lumeq.Equalizer(backend="gpu")),
                (lumeq.Error, ".", lambda: lumeq.Equalizer(backend="cuda")),
                (ValueError, "between", lambda: lumeq.Equalizer().process(frame, time=1e30)),
                (ValueError, "frames, rows", lambda: lumeq.Equalizer().batch(frame)),
                (ValueError, "frames, rows", lambda: lumeq.Equalizer().batch((y[None], u[None], np.stack([v, v])))),
                (ValueError, "number of frames",
                 lambda: lumeq.Equalizer().batch(frame[None], out=np.stack([frame] * 2))),
                (ValueError, "takes planes", lambda: lumeq.Equalizer(format="nv12").batch(frame[None])),
                (ValueError, "lookahead", lambda: lumeq.History(99)),
                (ValueError, "deflicker", lambda: lumeq.Equalizer(deflicker=1)),
                (TypeError, "belong to History", lambda: lumeq.apply(None, frame, clip=3)),
                (ValueError, "8 bits", lambda: lumeq.equalize(deep, reference=True)),
                (ValueError, "byte order", lambda: lumeq.equalize(frame.astype(">u2"))),
                (ValueError, "byte order", lambda: lumeq.equalize(np.zeros((9, 9), [("a", "u1"), ("b", "u1")]))),
                (ValueError, "empty", lambda: lumeq.equalize(frame[:0])),
                (ValueError, "stride 0", lambda: lumeq.equalize(np.broadcast_to(frame[:1], frame.shape))),
                (ValueError, "3/2", lambda: lumeq.equalize((y, u), format="nv12")),
                (ValueError, "3/2", lambda: lumeq.equalize(None, format="yuv420p")),
                (TypeError, "colour picture", lambda: lumeq.bgr(cv2.imread("missing.png"))),
                (ValueError, "picture's size and format", lambda: lumeq.bgr(colours, out=larger)),
                (ValueError, "picture's size and format", lambda: lumeq.bgr(np.dstack([frame] * 4), out=np.dstack([frame] * 3))),
                (TypeError, "neither True nor False", lambda: lumeq.equalize(frame, dither="no")),
                (ValueError, "mode", lambda: lumeq.equalize(frame, mode="\udc80")),
                (TypeError, "threads", lambda: lumeq.Equalizer(threads="4")),
                (TypeError, "device", lambda: lumeq.Context(device=10**20)),
                (ValueError, "backend", lambda: lumeq.Equalizer(backend=None)),
                (TypeError, "depth", lambda: lumeq.equalize(deep, depth="12")),
                (ValueError, "fps", lambda: lumeq.History(fps="30")),
                (TypeError, "time", lambda: lumeq.Equalizer().process(frame, time="1")),
                (TypeError, "lookahead", lambda: lumeq.History("2")),
                (TypeError, "what measure\\(\\) returns", lambda: lumeq.History().put(None)),
                (TypeError, "a curve", lambda: lumeq.apply(lumeq.History().get(), frame))):
            if error is lumeq.Error and "CPU only" not in lumeq.build_info():
                continue
            with self.subTest(words), self.assertRaisesRegex(error, words) as caught:
                call()
            self.assertNotIn("\n", str(caught.exception))
            self.assertNotRegex(str(caught.exception), "LUMEQ_(?!CUDA=)")

    def test_the_types_name_what_the_module_takes(self):
        with self.assertRaises(TypeError) as caught:
            lumeq.Equalizer(sharpen=1)
        named = set(re.findall(r"\w+", str(caught.exception).partition("settings are ")[2])) - {"and"}
        types = typing.get_type_hints(lumeq.Settings)
        self.assertEqual(named, set(types))
        for name, kind in types.items():
            for choice in (kind, *typing.get_args(kind)):
                for word in typing.get_args(choice) if typing.get_origin(choice) is typing.Literal else ():
                    lumeq.Equalizer(**{name: word})


class Interfaces(unittest.TestCase):
    GOOD = {"shape": (10, 20), "typestr": "|u1", "data": (4096, False), "strides": (20, 1), "stream": 1, "version": 3}

    def test_incomplete(self):
        for name in "shape", "typestr", "data":
            array = types.SimpleNamespace(__cuda_array_interface__={k: v for k, v in self.GOOD.items() if k != name})
            with self.subTest(name), self.assertRaisesRegex(ValueError, "no valid"):
                lumeq.equalize(array)


class Overlaps(unittest.TestCase):
    """Outputs that share samples with the input are refused. Outputs between its rows are allowed."""

    def test_frames(self):
        a, eq = np.zeros((200, 200), np.uint8), lumeq.Equalizer()
        u, v = (np.zeros((50, 50), np.uint8) for _ in range(2))
        for frame, out in ((a[:100], a[1:101]), (a[1:101], a[:100]), (a[:100], a[99:199]), (a[:, :90], a[:, 89:179]),
                           (a[:100], a[:100][::-1]), ((a[:100, :100], u, v), (a[100:, :100], u.copy(), a[99:149, :50])),
                           ([a[:100, :100], u, v], [a[100:, :100], v, u.copy()])):
            for call in eq.process, lumeq.equalize:
                with self.assertRaisesRegex(ValueError, "memory of its own"):
                    call(frame, out=out)
        for frame, out in ((a[:100], a[100:]), (a[:, :100], a[:, 100:]), (a[::2], a[1::2]), (a[:100], a[:99:-1])):
            self.assertIs(eq.process(frame, out=out), out)

    def test_batches(self):
        a, eq = np.zeros((8, 20, 30), np.uint8), lumeq.Equalizer()
        for frames, out in ((a, a), (a[:7], a[1:]), (a, a[::-1]), (a[:, :, :16], a[:, :, 14:])):
            with self.assertRaisesRegex(ValueError, "memory of its own"):
                eq.batch(frames, out=out)
        for frames, out in ((a[:4], a[4:]), (a[::2], a[1::2]), (a[:, :, :15], a[:, :, 15:])):
            self.assertIs(eq.batch(frames, out=out), out)

    def test_colours(self):
        a = RNG.integers(0, 60, (20, 30, 4)).astype(np.uint8)
        with self.assertRaisesRegex(ValueError, "overlaps"):
            lumeq.bgr(a[:-1], out=a[1:])
        wanted = lumeq.bgr(a)
        self.assertTrue(same(lumeq.bgr(a, out=a), wanted))

    def test_the_frame_before(self):
        """An output that overwrites the previous frame is allowed, but the noise then stays unknown."""
        a, eq = np.zeros((200, 161), np.uint8), lumeq.Equalizer()
        a[:91] = picture()
        eq.process(a[:91])
        eq.process(picture(), out=a[3:94])
        self.assertEqual(eq.stats.noise, -1)


class Temporary:
    """Exports a new array at each use. Only its reader keeps it."""

    def __init__(self, array):
        self.array, self.made = array, []

    def __dlpack__(self, **more):
        copy = self.array.copy()
        self.made.append(weakref.ref(copy))
        return copy.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Lifetimes(unittest.TestCase):
    def alive(self, frame):
        gc.collect()
        return sum(ref() is not None for ref in frame.made)

    def test_the_frame_before_is_kept(self):
        eq, frames = lumeq.Equalizer(), [Temporary(picture()) for _ in range(3)]
        for i, frame in enumerate(frames):
            eq.process(frame, out=picture())
            self.assertEqual([self.alive(f) for f in frames], [int(k == i) for k in range(3)])
        self.assertGreater(eq.stats.noise, 0)
        eq.reset()
        self.assertEqual(self.alive(frames[2]), 0)

    def test_a_measure_keeps_its_context(self):
        context = lumeq.Context()
        native = context._native
        before = sys.getrefcount(native)
        made = context.measure(picture())
        self.assertEqual(sys.getrefcount(native), before + 1)
        del made
        self.assertEqual(sys.getrefcount(native), before)

    def test_nothing_leaks(self):
        def once():
            frame, colours = np.full((1000, 1000), 40, np.uint8), np.full((1000, 1000, 3), 40, np.uint8)
            eq.process(frame)
            eq.bgr(colours)
            list(lumeq.film([frame] * 3, lookahead=0))
            for call in (lambda: eq.process(frame, out=frame), lambda: eq.process((frame, frame[:3])),
                         lambda: eq.bgr(colours, out=frame), lambda: lumeq.measure(frame, previous=frame[1:])):
                self.assertRaises(ValueError, call)

        def memory():
            with open("/proc/self/statm", encoding="ascii") as f:
                return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        eq = lumeq.Equalizer()
        for _ in range(10):
            once()
        before = memory()
        for _ in range(60):
            once()
        self.assertLess(memory() - before, 30e6, "each round leaks half a frame")

    def test_exit(self):
        """With running threads and reference cycles, Python exits without messages or a crash."""
        code = """if True:
            import lumeq, numpy, sys, threading, time
            eq, frame = lumeq.Equalizer(), numpy.zeros((300, 300), "u1")
            class Frame(numpy.ndarray):
                pass
            def work():
                while True:
                    eq.process(frame)
            cycle = frame.view(Frame)
            cycle.eq = lumeq.Equalizer()
            cycle.eq.process(cycle)
            for _ in range(3):
                threading.Thread(target=work, daemon=True).start()
            time.sleep(0.3)
        """
        for _ in range(3):
            p = subprocess.run([sys.executable, "-W", "error", "-c", code], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, timeout=300)
            self.assertEqual((p.returncode, p.stdout), (0, ""))


class Forks(unittest.TestCase):
    """Objects work in a forked process, and the process ends."""

    def child(self, call):
        process = multiprocessing.get_context("fork").Process(target=call)
        process.start()
        process.join(60)
        if process.is_alive():
            process.kill()
        self.assertEqual(process.exitcode, 0)

    def test_objects(self):
        frame, eq = picture(), lumeq.Equalizer(mode="stretch", threads=3)
        wanted, second = lumeq.equalize(frame), [eq.process(frame), eq.process(frame)][1]

        def work():
            assert same(lumeq.equalize(frame), wanted) and same(eq.process(frame), second)

        for _ in range(3):
            self.child(work)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            self.assertTrue(all(same(made, wanted) for made in pool.map(lumeq.equalize, [frame] * 10)))
        work()


@unittest.skipIf(NO_GPU, NO_GPU)
class OnGpu(unittest.TestCase):
    """Arrays on the GPU get the CPU's bits, on the caller's stream, without waiting."""

    def kinds(self):
        yield "cupy", cupy.asarray, lambda a: a.get()
        if torch:
            yield "torch", lambda a: torch.from_numpy(a.copy()).cuda(), lambda a: a.cpu().numpy()

    def test_bits(self):
        for name, there, back in self.kinds():
            for settings in ({}, {"mode": "clahe"}, {"reference": True}):
                cpu, gpu = lumeq.Equalizer(backend="cpu", **settings), lumeq.Equalizer(backend="cuda", **settings)
                self.assertEqual(gpu.backend, "cuda")
                for i in range(20):
                    with self.subTest(name, settings=settings, frame=i):
                        frame = yuv()
                        wanted = cpu.process(frame)
                        made = gpu.process(tuple(map(there, frame)))
                        self.assertTrue(same(tuple(map(back, made)), wanted))
                gpu.finish()
                self.assertEqual(gpu.stats.strength, cpu.stats.strength)

    def test_batches(self):
        for name, there, back in self.kinds():
            for settings in ({}, {"mode": "clahe"}, {"reference": True}):
                for batch in (0, 3, 16):
                    with self.subTest(name, settings=settings, batch=batch):
                        cpu = lumeq.Equalizer(backend="cpu", **settings)
                        gpu = lumeq.Equalizer(backend="cuda", batch=batch, **settings)
                        frames = np.stack([picture() for _ in range(40)])
                        made = back(gpu.batch(there(frames)))
                        self.assertTrue(same(made, np.stack([cpu.process(frame) for frame in frames])))
                        self.assertEqual(gpu.stats.strength, cpu.stats.strength)

    def test_host_arrays(self):
        cpu, gpu = lumeq.Equalizer(backend="cpu"), lumeq.Equalizer(backend="cuda")
        for _ in range(5):
            frame = yuv()
            self.assertTrue(same(gpu.process(frame), cpu.process(frame)))

    def test_16_bits_strides_and_packed(self):
        frame = picture(135, 160, depth=10)
        wanted = lumeq.Equalizer(backend="cpu", depth=10, format="nv12").process(frame)
        for name, there, back in self.kinds():
            if name == "torch":  # supports little arithmetic with uint16
                continue
            made = lumeq.Equalizer(backend="cuda", depth=10, format="nv12").process(there(frame))
            self.assertTrue(same(back(made), wanted))
        frame = picture()
        wide = cupy.zeros((91, 200), cupy.uint8)
        wide[:, 7:168] = cupy.asarray(frame)
        out = cupy.zeros((91, 300), cupy.uint8)
        made = lumeq.Equalizer(backend="cuda").process(wide[:, 7:168], out=out[:, 3:164])
        self.assertTrue(same(made.get(), lumeq.Equalizer(backend="cpu").process(frame)))
        self.assertEqual(int(out[:, :3].max()) + int(out[:, 164:].max()), 0)

    def test_steps_and_film(self):
        frames = [picture() for _ in range(30)]
        wanted = list(lumeq.film(frames, lookahead=0.5, backend="cpu"))
        made = list(lumeq.film(map(cupy.asarray, frames), lookahead=0.5, backend="cuda"))
        self.assertEqual(len(made), 30)
        for a, b in zip(made, wanted):
            self.assertTrue(same(a.get(), b))

    def test_stream_order(self):
        """process() reads what an earlier, slow kernel on the stream writes. With `reference`, the call does not wait."""
        spin = cupy.RawKernel("""extern "C" __global__ void spin(unsigned char *to, const unsigned char *from, int n,
                                                                 long long ticks) {
            for (long long begin = clock64(); clock64() - begin < ticks;) {}
            for (int i = threadIdx.x; i < n; i += blockDim.x) to[i] = from[i]; }""", "spin")
        frame = picture()
        real = cupy.asarray(frame)
        for reference in True, False:
            late, stream = cupy.zeros((91, 161), cupy.uint8), cupy.cuda.Stream(non_blocking=True)
            eq = lumeq.Equalizer(backend="cuda", reference=reference)
            eq.process(late)
            eq.reset()
            eq.finish()
            with stream:
                spin((1,), (256,), (late, real, real.size, 2_000_000_000))
                made = eq.process(late)
                self.assertFalse(reference and stream.done, "process() has waited for the stream")
            stream.synchronize()
            self.assertTrue(same(made.get(), lumeq.Equalizer(backend="cpu", reference=reference).process(frame)))

    def test_dlpack(self):
        class Plain:
            """An array that only speaks DLPack."""

            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **more):
                return self.array.__dlpack__(**more)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        frame = picture()
        out = cupy.zeros((91, 161), cupy.uint8)
        lumeq.Equalizer(backend="cuda").process(Plain(cupy.asarray(frame)), out=Plain(out))
        cupy.cuda.Device().synchronize()
        self.assertTrue(same(out.get(), lumeq.Equalizer(backend="cpu").process(frame)))

    def test_errors(self):
        frame = cupy.asarray(picture())
        with self.assertRaisesRegex(ValueError, "CUDA memory|backend is the CPU|cpu"):
            lumeq.Equalizer(backend="cpu").process(frame)
        with self.assertRaisesRegex(TypeError, "pass out="):
            lumeq.Equalizer().process(memoryview(b"x"))

    def test_example(self):
        with open(os.path.join(ROOT, PAGES[0]), encoding="utf-8") as f:
            block = re.search(r"```python\n(# gpu\n.*?)```", f.read(), re.S)[1]
        exec(compile(block, PAGES[0], "exec"), {})


@unittest.skipUnless(av, "no PyAV")
class Pages(unittest.TestCase):
    """Runs every example in Python that needs no GPU."""

    def setUp(self):
        self.folder = os.path.join(os.environ["LUMEQ_TEST_FOLDER"], "pages")
        os.makedirs(os.path.join(self.folder, "thermal"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        shutil.copy(os.environ["SMALL_SAMPLE"], "dark.mp4")  # FFmpeg detects the format by content
        cv2.imwrite("foggy.png", np.dstack([picture() + np.uint8(60 + i) for i in range(3)]))
        for i in range(3):
            cv2.imwrite("thermal/%d.png" % i, picture(depth=14))

    def test_examples(self):
        count = 0
        for page in PAGES:
            with open(os.path.join(ROOT, page), encoding="utf-8") as f:
                blocks = re.findall(r"```python\n(.*?)```", f.read(), re.S)
            for block in blocks:
                if block.startswith("# gpu"):
                    continue
                with self.subTest(block.split("\n", 1)[0]):
                    exec(compile(block, page, "exec"), {})
                    count += 1
        self.assertGreaterEqual(count, 5)
        self.assertGreater(cv2.imread("clear.png").std(), 1.2 * cv2.imread("foggy.png").std())
        self.assertTrue((cv2.imread("clear-pillow.png") == cv2.imread("clear.png")).all())
        self.assertGreater(cv2.imread("histogram.png").std(), 10)
        for i in range(3):
            self.assertEqual(cv2.imread("clear-%d.png" % i, cv2.IMREAD_UNCHANGED).dtype, np.uint16)
        with av.open("film.mp4") as made, av.open("dark.mp4") as source:
            counts = [sum(1 for _ in f.decode(video=0)) for f in (made, source)]
        self.assertEqual(*counts)


class Recipes(unittest.TestCase):
    """Runs the recipes of the plugins' page, with fakes of ROS 2 and Jupyter."""

    def test_recipes(self):
        sent, frame = [], picture()
        colours = np.dstack([frame + np.uint8(60 + i) for i in range(3)])

        class Node:
            def __init__(self, name):
                self.name = name

            def create_publisher(self, kind, topic, qos):
                return types.SimpleNamespace(publish=lambda message: sent.append((topic, message)))

            def create_subscription(self, kind, topic, call, qos):
                self.call = call

        def spin(node):
            for i in range(3):
                node.call(types.SimpleNamespace(header=i, data=colours))

        def module(name, **names):
            made = types.ModuleType(name)
            vars(made).update(names)
            return name, made

        bridge = types.SimpleNamespace(imgmsg_to_cv2=lambda message, encoding: message.data, cv2_to_imgmsg=lambda data,
                                       encoding, header: types.SimpleNamespace(header=header, data=data))
        fakes = dict([module("cv_bridge", CvBridge=lambda: bridge), module("rclpy", init=lambda: None, spin=spin),
                      module("rclpy.node", Node=Node), module("rclpy.qos", qos_profile_sensor_data=None),
                      module("sensor_msgs"), module("sensor_msgs.msg", Image=object), module("IPython"),
                      module("IPython.display", Image=lambda data: sent.append(("png", data)))])
        with open(os.path.join(ROOT, "src/plugins/README.md"), encoding="utf-8") as f:
            blocks = re.findall(r"```python\n(.*?)```", f.read(), re.S)
        self.assertEqual(len(blocks), 2)
        folder = os.environ["LUMEQ_TEST_FOLDER"]
        cv2.imwrite(os.path.join(folder, "foggy.png"), colours)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder)
        with unittest.mock.patch.dict(sys.modules, fakes):
            for block in blocks:
                exec(compile(block, "recipe", "exec"), {})
        self.assertEqual([topic for topic, _ in sent], ["png"] + 3 * ["image_clear"])
        self.assertEqual([message.header for _, message in sent[1:]], [0, 1, 2])
        pictures = [cv2.imdecode(np.frombuffer(sent[0][1], np.uint8), cv2.IMREAD_COLOR)]
        for made in pictures + [message.data for _, message in sent[1:]]:
            self.assertGreater(made.std(), 1.2 * colours.std())


if __name__ == "__main__":
    unittest.main(verbosity=2)
