#!/usr/bin/env python3
"""Compares times and output bits of lumeq and other libraries that equalize, on the same pictures; prints Markdown.

Uses OpenCV, CV-CUDA, kornia-rs, CuPy, VPI, DALI and vszip if they are installed, and prints why others are missing.
Frames repeat 16 different pictures. On a GPU, CuPy holds 64 frames, too many for a cache. Every result is checked once,
before timing. Then all libraries take turns, so that other load slows all of them. Times are medians over all turns and
include the calls from Python.
"""

import argparse
import csv
import datetime
import importlib
import os
import platform
import shutil
import statistics
import subprocess
import sys
import textwrap
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PICTURES = 16  # also the number of frames in a batch
FRAMES = 64  # number of frames in the memory of the GPU
CLIP, TILES = 2.0, (8, 8)
CONTENTS = "natural", "clouds", "dark", "ramp", "two-level", "noise"
SIZES = {(1920, 1080): "1080p", (3840, 2160): "4K"}
PEERS = {
    "cv2": ("OpenCV", "pip install opencv-python-headless"),
    "cvcuda": ("CV-CUDA", "pip install cvcuda-cu12"),
    "kornia_rs": ("kornia-rs", "pip install kornia-rs"),
    "cupy": ("CuPy", "pip install cupy-cuda12x"),
    "vpi": ("VPI", "it comes with NVIDIA's VPI packages"),
    "nvidia.dali": ("DALI", "pip install nvidia-dali-cuda120"),
    "vapoursynth": ("VapourSynth", "pip install vapoursynth vapoursynth-vszip, with Python 3.12"),
}
CLAHE = dict(mode="clahe", clip=CLIP, tiles=TILES)
LUMEQ = {"equalize": dict(reference=True), "clahe": dict(reference=True, **CLAHE), "video": {}, "history": CLAHE}
SKIPPED = 77


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", default="1920x1080,3840x2160", metavar="WxH,..", help="(1920x1080,3840x2160)")
    parser.add_argument("--content", default="natural", choices=CONTENTS, help="%s (natural)" % ", ".join(CONTENTS))
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="CPU threads of each library, 0 for all cores (1)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="turns of each library (5)")
    parser.add_argument("--seconds", type=float, default=0.3, metavar="S", help="length of a turn (0.3)")
    parser.add_argument("--bench", metavar="PROGRAM", help="lumeq-bench, for histograms (on the PATH or in build/)")
    a = parser.parse_args()
    try:
        a.size = [tuple(int(n) for n in size.split("x")) for size in a.size.split(",")]
        smallest = min(min(w, h) for w, h in a.size)
    except ValueError:
        parser.error("--size is a list of WIDTHxHEIGHT")
    if smallest < 16 or a.rounds < 1 or a.threads < 0 or not 0 < a.seconds <= 3600:
        parser.error("sides are at least 16, rounds at least 1, threads at least 0, and seconds within 0..3600")
    a.bench = a.bench or shutil.which("lumeq-bench") or os.path.join(ROOT, "build/lumeq-bench")
    return a


def sentence(error):
    return textwrap.shorten(str(error) or type(error).__name__, 160)


def find_peers():
    """Returns the installed modules by name, and why others are missing."""
    found, missing = {}, []
    for module, (name, how) in PEERS.items():
        try:
            found[module] = importlib.import_module(module)
        except ModuleNotFoundError:
            missing.append("%s: not installed (%s)" % (name, how))
        except Exception as error:  # an import may raise anything
            missing.append("%s: %s" % (name, sentence(error)))
    if "cupy" not in found:
        missing.append("frames in GPU memory: no CuPy, which holds them")
    else:
        try:
            found["cupy"].zeros(1)
            found["gpu"] = found["cupy"].cuda.runtime.getDeviceProperties(0)["name"].decode()
        except Exception as error:  # the driver may raise anything
            missing.append("frames in GPU memory: %s" % sentence(error))
    return found, missing


def picture(content, width, height, seed):
    random = numpy.random.default_rng(seed)
    x, y = numpy.meshgrid(numpy.arange(width, dtype=numpy.float32), numpy.arange(height, dtype=numpy.float32))
    shapes = 22 * numpy.sin(x / 211) * numpy.cos(y / 157) + 9 * numpy.sin((x + 2 * y) / 31)
    if content == "natural":
        made = numpy.where(y < height // 3, 140, 95) + shapes + random.normal(0, 3, x.shape)
    elif content == "clouds":
        made = 150 + shapes + 14 * numpy.sin(x / 47 + numpy.sin(y / 83)) + random.normal(0, 1.2, x.shape)
    elif content == "dark":
        made = 18 + shapes / 4 + random.normal(0, 2, x.shape)
    elif content == "ramp":
        made = x * 256 // width + seed
    elif content == "two-level":
        made = numpy.where(random.integers(0, 2, x.shape), 60, 180)
    else:
        made = random.integers(0, 256, x.shape)
    return made.clip(0, 255).astype(numpy.uint8)


class Frames:
    """The frames of one size, which all peers read, and the memory for outputs, which they share."""

    def __init__(self, content, width, height):
        self.size = width, height
        self.host = numpy.stack([picture(content, width, height, seed) for seed in range(PICTURES)])
        self.host_out = numpy.empty_like(self.host)
        self.wanted = {"copy": self.host, "counts": numpy.stack([numpy.bincount(p.ravel(), minlength=256)
                                                                 for p in self.host])}
        if "cv2" in found:
            apply = found["cv2"].createCLAHE(CLIP, TILES).apply
            self.wanted["equalize"] = numpy.stack([found["cv2"].equalizeHist(p) for p in self.host])
            self.wanted["clahe"] = numpy.stack([apply(p) for p in self.host])
        if "gpu" in found:
            for kind in ("video", "history"):
                eq = lumeq.Equalizer(backend="cpu", **LUMEQ[kind])
                self.wanted[kind] = numpy.stack([eq.process(p) for p in self.host])
            self.gpu = found["cupy"].tile(found["cupy"].asarray(self.host), (FRAMES // PICTURES, 1, 1))
            self.gpu_out = found["cupy"].empty_like(self.gpu)

    def clear(self):
        self.host_out.fill(0)
        if "gpu" in found:
            self.gpu_out.fill(0)


class Way:
    """One number of the table: microseconds per frame. A pass is call(0) to call(calls - 1), which together process
    `frames` frames. With `each`, wait() follows each call, otherwise only the last call. result() returns the first 16
    outputs as arrays, which are compared with `wanted`."""

    def __init__(self, call, calls, frames, wait, each, result=None, wanted=None):
        self.call, self.calls, self.frames, self.wait, self.each = call, calls, frames, wait, each
        self.result, self.wanted = result, wanted
        self.times = []
        self.bits = None  # samples that differ, all samples, the largest difference

    def check(self):
        self.turn(0)
        self.times = []
        if self.wanted is not None:
            made = self.result().reshape(self.wanted.shape)
            unequal = [m != w for m, w in zip(made, self.wanted)]
            differences = [abs(m[u].astype(int) - w[u]) for m, w, u in zip(made, self.wanted, unequal)]
            self.bits = (sum(map(len, differences)), self.wanted.size,
                         max((int(d.max()) for d in differences if len(d)), default=0))

    def turn(self, seconds):
        end = time.perf_counter() + seconds
        while True:
            begin = time.perf_counter()
            for i in range(self.calls):
                self.call(i)
                if self.each:
                    self.wait()
            self.wait()
            now = time.perf_counter()
            self.times.append((now - begin) * 1e6 / self.frames)
            if now >= end:
                break


class Measured:
    """A number of the table that another program has measured and checked."""

    def __init__(self, us):
        self.times, self.bits = [us], (0, 1, 0)

    def check(self):
        pass

    def turn(self, seconds):
        pass


def on_gpu(f, wanted, one, many=None, calls=FRAMES, wait=None, result=None):
    """Returns two ways. The first queues all frames, then waits; many() takes several frames. The second waits for each
    frame, which one() takes."""
    wait = wait or found["cupy"].cuda.runtime.deviceSynchronize
    result = result or (lambda: f.gpu_out[:PICTURES].get())
    wanted = f.wanted.get(wanted)
    return [Way(many or one, calls, FRAMES, wait, False, result, wanted),
            Way(one, FRAMES, FRAMES, wait, True, result, wanted)]


def copies(f):
    stream, there, out = found["cupy"].cuda.Stream(non_blocking=True), list(f.gpu), list(f.gpu_out)

    def copy(i):
        out[i].data.copy_from_device_async(there[i].data, there[i].nbytes, stream)
    with stream:
        stream.begin_capture()
        for i in range(FRAMES):
            copy(i)
        graph = stream.end_capture()
    return on_gpu(f, "copy", copy, lambda _: graph.launch(stream), 1)


def of_cvcuda(f, call, wanted, *settings):
    as_tensor, (width, height) = found["cvcuda"].as_tensor, f.size
    out = found["cupy"].zeros((FRAMES, 256), "int32") if wanted == "counts" else f.gpu_out

    def tensors(count):
        shape, layout = ((count, 256, 1), "HWC") if wanted == "counts" else ((count, height, width, 1), "NHWC")
        return [(as_tensor(to, layout), as_tensor(frames, "NHWC"))
                for to, frames in zip(out.reshape(-1, *shape), f.gpu.reshape(-1, count, height, width, 1))]
    one, batch = tensors(1), tensors(PICTURES)
    return on_gpu(f, wanted, lambda i: call(*one[i], *settings), lambda i: call(*batch[i], *settings), len(batch),
                  result=lambda: out[:PICTURES].get())


def of_lumeq(f, kind):
    row, live = (lumeq.Equalizer(backend="cuda", batch=batch, **LUMEQ[kind]) for batch in (PICTURES, 0))
    there, out = list(f.gpu), list(f.gpu_out)
    return on_gpu(f, kind, lambda i: live.process(there[i], out=out[i]),
                  lambda _: row.batch(f.gpu, out=f.gpu_out), 1)


def of_kornia_cuda(f):
    kornia = found["kornia_rs"]
    if not kornia.cuda.is_available():
        raise RuntimeError("kornia-rs finds no GPU")
    there = [kornia.image.Image.from_numpy(f.host[i % PICTURES][:, :, None]).to_cuda() for i in range(FRAMES)]
    made = {}

    def equalize(i):
        made[i] = kornia.imgproc.equalize_hist(there[i])

    def clahe(i):
        made[i] = kornia.imgproc.clahe(there[i], CLIP, TILES)

    def result():
        return numpy.stack([made[i].cpu().to_numpy() for i in range(PICTURES)])
    return [on_gpu(f, "equalize", equalize, result=result)[0], on_gpu(f, "clahe", clahe, result=result)[0]]


def of_vpi(f):
    vpi = found["vpi"]
    stream = vpi.Stream()
    there = [vpi.asimage(frame) for frame in f.gpu]
    out = [vpi.Image(f.size, vpi.Format.U8) for _ in there]
    return on_gpu(f, "equalize", lambda i: there[i].eqhist(backend=vpi.Backend.CUDA, out=out[i], stream=stream),
                  wait=stream.sync, result=lambda: numpy.stack([image.cpu() for image in out[:PICTURES]]))


def dali_operator(name, count, device, threads=1):
    """Returns a function that runs a pipeline of one operator on `count` frames and returns its output."""
    dali, settings = found["nvidia.dali"], {}
    if name == "clahe":
        settings = dict(tiles_x=TILES[0], tiles_y=TILES[1], clip_limit=CLIP)

    @dali.pipeline_def(batch_size=count, num_threads=threads, device_id=0 if device == "gpu" else None,
                       prefetch_queue_depth=1)
    def define():
        frames = dali.fn.external_source(name="frames", device=device, layout="HWC", no_copy=True)
        return getattr(dali.fn, name)(frames, **settings)
    pipeline = define()
    pipeline.build()

    def run(frames):
        pipeline.feed_input("frames", frames)
        return pipeline.run()[0]
    return run


def of_dali(f, name):
    one, batch = (dali_operator(name, count, "gpu") for count in (1, PICTURES))
    batches, made = f.gpu.reshape(-1, PICTURES, *f.gpu.shape[1:], 1), []

    def keep(output):
        made[:] = made[1 - PICTURES:] + [output]

    def result():
        frames = [frame for output in made for frame in output.as_cpu()]
        return numpy.stack([numpy.asarray(frame) for frame in frames[-PICTURES:]])
    return on_gpu(f, name, lambda i: keep(one(f.gpu[i:i + 1, :, :, None])), lambda i: keep(batch(batches[i])),
                  len(batches), result=result)


def of_dali_cpu(f, threads):
    made, ways = [None] * PICTURES, []
    for name in ("equalize", "clahe"):
        run = dali_operator(name, 1, "cpu", threads or os.cpu_count())

        def work(i, run=run):
            made[i] = run([f.host[i][:, :, None]])
        ways += on_cpu(f, {name: work})
        ways[-1].result = lambda: numpy.stack([numpy.array(output[0]) for output in made])
    return ways


def of_cupy(f):
    cupy, made = found["cupy"], {}

    def equalize(i):
        cdf = cupy.cumsum(cupy.bincount(f.gpu[i].ravel(), minlength=256))
        low = cdf[cupy.argmax(cdf > 0)]
        table = cupy.rint((cdf - low) * (255 / cupy.maximum(cdf[-1] - low, 1))).clip(0, 255).astype(cupy.uint8)
        made[i] = table[f.gpu[i]]
    return on_gpu(f, "equalize", equalize, result=lambda: numpy.stack([made[i].get() for i in range(PICTURES)]))


def histograms(f, program):
    """Runs lumeq-bench, which measures the histograms of CUB and lumeq on its own picture."""
    p = subprocess.run([program, "histogram", "--strategy", "cub,lumeq", "--size", "%dx%d" % f.size, "--csv"],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    rows = {row["strategy"]: row for row in csv.DictReader(p.stdout.splitlines())}
    if len(rows) != 2:
        raise RuntimeError(p.stderr)
    return [Measured(float(rows[strategy]["time_us"])) for strategy in ("cub", "lumeq")]


def on_cpu(f, works):
    """Returns one way for each kind of work: works[kind](i) writes f.host_out[i]."""
    return [Way(work, PICTURES, PICTURES, lambda: None, False, lambda: f.host_out, f.wanted.get(kind))
            for kind, work in works.items()]


def of_opencv(f, threads):
    found["cv2"].setNumThreads(threads or -1)
    apply = found["cv2"].createCLAHE(CLIP, TILES).apply
    return on_cpu(f, {"equalize": lambda i: found["cv2"].equalizeHist(f.host[i], f.host_out[i]),
                      "clahe": lambda i: apply(f.host[i], f.host_out[i])})


def of_kornia(f):
    imgproc = found["kornia_rs"].imgproc
    made = [None] * PICTURES

    def equalize(i):
        made[i] = imgproc.equalize_hist(f.host[i][:, :, None])

    def clahe(i):
        made[i] = imgproc.clahe(f.host[i][:, :, None], CLIP, TILES)
    ways = on_cpu(f, {"equalize": equalize, "clahe": clahe})
    for way in ways:
        way.result = lambda: numpy.stack(made)
    return ways


def of_vszip(f, threads):
    """Returns a way for vszip's CLAHE. VapourSynth keeps the source frames in its cache."""
    core, made = found["vapoursynth"].core, [None] * PICTURES
    core.num_threads = threads or os.cpu_count()
    blank = core.std.BlankClip(None, *f.size, found["vapoursynth"].GRAY8, PICTURES)

    def fill(n, f):
        frame = f.copy()
        numpy.copyto(numpy.asarray(frame[0]), pictures[n])
        return frame
    pictures = f.host
    source = core.std.ModifyFrame(blank, blank, fill)
    core.std.SetVideoCache(source, mode=1, fixedsize=1, maxsize=PICTURES)
    clip = core.vszip.CLAHE(source, limit=int(CLIP), tiles=TILES)
    core.std.SetVideoCache(clip, mode=0)

    def clahe(i):
        made[i] = clip.get_frame(i)
    ways = on_cpu(f, {"clahe": clahe})
    ways[0].result = lambda: numpy.stack([numpy.asarray(frame[0]) for frame in made])
    return ways


def of_lumeq_cpu(f, threads, *kinds):
    def work(settings):
        eq = lumeq.Equalizer(backend="cpu", threads=threads, **settings)
        return lambda i: eq.process(f.host[i], out=f.host_out[i])
    return on_cpu(f, {kind: work(LUMEQ[kind]) for kind in kinds})


def all_rows(a):
    """Returns pairs for the installed peers: the label of a row, and a function that makes its ways."""
    on = "one CPU thread" if a.threads == 1 else "%s CPU threads" % (a.threads or "all")
    gpu = [
        (None, "copy of the plane, in a row / one by one", copies),
        ("cvcuda", " `histogrameq`, batch of 16 / one by one",
         lambda f: of_cvcuda(f, found["cvcuda"].histogrameq_into, "equalize")),
        (None, "lumeq `reference`, in a row / live", lambda f: of_lumeq(f, "equalize")),
        (None, "lumeq as for video, in a row / live", lambda f: of_lumeq(f, "video")),
        ("cvcuda", " `clahe`, batch of 16 / one by one",
         lambda f: of_cvcuda(f, found["cvcuda"].clahe_into, "clahe", CLIP, TILES)),
        (None, "lumeq CLAHE `reference`, in a row / live", lambda f: of_lumeq(f, "clahe")),
        (None, "lumeq CLAHE with history, in a row / live", lambda f: of_lumeq(f, "history")),
        ("kornia_rs", " CUDA in a row, equalize / CLAHE", of_kornia_cuda),
        ("vpi", " `eqhist`, in a row / one by one", of_vpi),
        ("nvidia.dali", " `equalize`, batch of 16 / one by one", lambda f: of_dali(f, "equalize")),
        ("nvidia.dali", " `clahe`, batch of 16 / one by one", lambda f: of_dali(f, "clahe")),
        ("cupy", " `bincount` and a table, in a row / one by one", of_cupy),
        (None, "histogram alone: CUB / lumeq", lambda f: histograms(f, a.bench)),
        ("cvcuda", " histogram alone, batch of 16 / one by one",
         lambda f: of_cvcuda(f, found["cvcuda"].histogram_into, "counts")),
    ]
    cpu = [
        ("cv2", ", %s, equalize / CLAHE" % on, lambda f: of_opencv(f, a.threads)),
        ("kornia_rs", ", %s, equalize / CLAHE" % on, of_kornia),
        ("nvidia.dali", ", %s, equalize / CLAHE" % on, lambda f: of_dali_cpu(f, a.threads)),
        ("vapoursynth", " vszip CLAHE, %s" % on, lambda f: of_vszip(f, a.threads)),
        (None, "lumeq `reference`, %s, equalize / CLAHE" % on,
         lambda f: of_lumeq_cpu(f, a.threads, "equalize", "clahe")),
        (None, "lumeq as for video, %s, equalize / CLAHE" % on,
         lambda f: of_lumeq_cpu(f, a.threads, "video", "history")),
    ]
    return [(label if peer is None else "%s %s%s" % (PEERS[peer][0], found[peer].__version__, label), make)
            for peer, label, make in (gpu if "gpu" in found else []) + cpu if peer is None or peer in found]


def measure(a, rows, size, problems):
    """Returns the ways of each row that works."""
    f, ready = Frames(a.content, *size), {}
    for label, make in rows:
        try:
            ready[label] = make(f)
            for way in ready[label]:
                f.clear()
                way.check()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # after a Rust panic in one peer, the others still run
            problems[label] = sentence(error)
            ready.pop(label, None)
    for _ in range(a.rounds):
        for ways in ready.values():
            for way in ways:
                way.turn(a.seconds)
    return ready


def short(us):
    return "%.2f" % us if us < 10 else "%.1f" % us if us < 100 else "{:,.0f}".format(us)


def bits(ways):
    """Describes the differences of each way over all sizes, in one phrase if it is the same for all ways."""
    said = []
    for same_way in zip(*ways):
        counts = [way.bits for way in same_way if way.bits]
        different, samples, most = (sum(c[0] for c in counts), sum(c[1] for c in counts),
                                    max((c[2] for c in counts), default=0))
        said.append("not compared" if not counts else "same" if not different else
                    "%.3g %% differ, by %d at most" % (100 * different / samples, most))
    return " / ".join(said if len(set(said)) > 1 else said[:1])


def cpu_name():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown CPU"


def main():
    a = arguments()
    if a.threads:
        os.environ["RAYON_NUM_THREADS"] = str(a.threads)  # kornia-rs reads it when it first computes
    print("%s, %s\n%s; %s, %d cores; lumeq: %s; Python %s, NumPy %s\n" % (
        datetime.date.today(), " ".join(sys.argv), found.get("gpu", "no GPU"), cpu_name(), os.cpu_count(),
        lumeq.build_info(), platform.python_version(), numpy.__version__))
    rows, problems = all_rows(a), {}
    measured = [measure(a, rows, size, problems) for size in a.size]
    print("us per frame, 8 bits, content %s. In a row: %d frames are queued, then awaited. One by one, live: each\n"
          "frame is awaited. Bits are compared with OpenCV's. Those of copies and histograms are compared with NumPy's;\n"
          "those of lumeq for video and with history, with lumeq's on the CPU.\n" % (a.content, FRAMES))
    print("| | %s | bits |" % " | ".join(SIZES.get(size, "%dx%d" % size) for size in a.size))
    print("|---|%s---|" % ("---|" * len(a.size)))
    for label, _ in rows:
        ways = [ready[label] for ready in measured if label in ready]
        if ways:
            cells = [" / ".join(short(statistics.median(way.times)) for way in ready.get(label, [])) or "failed"
                     for ready in measured]
            print("| %s | %s | %s |" % (label, " | ".join(cells), bits(ways)))
    if missing or problems:
        print("\nMissing:\n")
        for why in missing + ["%s: %s" % problem for problem in problems.items()]:
            print("- " + why)


try:
    import lumeq
    import numpy
except ImportError:
    print("bench-peers.py: skipped: pip install ./src/plugins/python")
    sys.exit(SKIPPED)
found, missing = find_peers()

if __name__ == "__main__":
    main()
