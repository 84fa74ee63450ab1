"""Makes dark, dull and foggy video clear.

    clear = lumeq.equalize(gray)                  # one picture
    clear = lumeq.bgr(picture)                    # one picture from cv2.imread()
    eq = lumeq.Equalizer(fps=30)                  # video: call this for each frame
    y, u, v = eq.process((y, u, v))
    for planes in lumeq.film(frames, fps=25):     # a film, whose curves look ahead
        ...

A frame is an array, or a tuple of arrays: luma, Cb and Cr (yuv420p and its kin), or luma and interleaved Cb and Cr
(NV12, P010). With format='yuv420p' or 'nv12' it is one array that holds all planes, as PyAV's to_ndarray() and OpenCV
have it. Arrays are uint8, or uint16 with 9 to 16 bits, of (rows, columns). They are neither copied nor changed: any
distance between rows is fine, also a negative one, but the samples of a row must be contiguous. NumPy arrays and
PyTorch tensors on the CPU are equalized there, or by the GPU if one is found. CuPy arrays, PyTorch tensors and others
with __cuda_array_interface__ or __dlpack__ on an NVIDIA GPU stay there: the work is queued on the current stream.

Settings are keyword arguments, the same everywhere:

    mode        'global' (default), 'clahe', 'haze', 'stretch' or 'off'
    strength    'auto' (default: as much as the picture needs), or 0 to 1
    brightness  -1 to 1; gamma: 0.1 to 10; limit: 'none', 'darken' or 'lighten'
    clip        limit of contrast: 'auto', 0 (none), or 1 to 1000
    tiles       (columns, rows) for 'clahe' and 'haze', 1 to 16 each, (8, 8) by default
    smooth      time constant in seconds, 0.5 by default; scene_cut: False smooths cuts as well
    denoise     'auto', or 0 to 1: noise filter in lifted video
    deflicker   0 to 1, for film() and History with lookahead
    chroma      'scale' (colours follow luma) or 'keep'
    bars        'auto' (black bars are left alone) or 'ignore'
    meter       'all', 'centre' or (x, y, width, height): the area that determines the curve
    reference   True: OpenCV's equalizeHist (or CLAHE, with mode='clahe'), bit for bit, for 8 bits
    dither, adaptive, lift, await_noise: as in lumeq.h, which has the details of all of them

Bad arguments raise ValueError or TypeError, lack of memory MemoryError, and a GPU that fails lumeq.Error, each with one
sentence. The GIL is released while frames are processed. Objects may be used by several threads; calls on one Equalizer
or History wait for each other. A call inside another one, by a __del__ for example, raises RuntimeError.
"""

from __future__ import annotations

import collections
import functools
import numbers
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Optional, Union

import numpy as np

from . import _core
from ._core import Curve, Error, Measure

__all__ = ["Context", "Curve", "Equalizer", "Error", "History", "Measure", "Stats", "apply", "bgr", "build_info",
           "equalize", "film", "measure", "planes", "rgb"]

Array = Any  #: of NumPy, CuPy, PyTorch, or with __cuda_array_interface__ or __dlpack__
Frame = Union[Array, Sequence[Array]]  #: luma, or luma and its chroma planes
Made = Any  #: an array, or a tuple of arrays, like the frame


def build_info() -> str:
    """Backends in this build: "CPU and CUDA 12.4" or "CPU only (...)"."""
    return _core.build_info()


@dataclass(frozen=True, eq=False)
class Stats:
    """Statistics of a frame and its curve. Luma is in codes of the frame's depth; from 13 bits on, a bin counts several codes."""

    strength: float  #: of the equalization, 0 to 1
    lift: float  #: gain of the darkest tones before equalization, at least 1
    dark: float  #: darkness of the picture, 0 to 1
    noise: float  #: standard deviation in codes of 8 bits, -1 if unknown
    filtered: bool  #: the noise filter ran
    scene_cut: bool  #: treated as the first frame of a scene
    mean_in: float
    mean_out: float
    active: tuple[int, int, int, int]  #: x, y, width and height of the picture without bars
    previous: int  #: frames before this one that apply() can use
    histogram_in: np.ndarray  #: samples in each bin
    histogram_out: np.ndarray
    curve: np.ndarray  #: output code of each bin


def planes(image: Array, format: str) -> Made:
    """Views of the planes of a frame in one array: luma, then chroma, without gaps.

    format is 'gray', 'yuv420p' or 'nv12' (also for their 16-bit kinds). The last two have 3/2 of the picture's rows.
    """
    if format == "gray":
        return image
    if format not in ("yuv420p", "nv12"):
        raise ValueError("format is not one of 'gray', 'yuv420p', 'nv12'")
    flags = getattr(image, "flags", None)
    whole = image.is_contiguous() if hasattr(image, "is_contiguous") else getattr(flags, "c_contiguous", False)
    if not whole or len(image.shape) != 2 or image.shape[0] % 3 or image.shape[1] % 2:
        raise ValueError("an image in %s is a contiguous array with 3/2 of an even number of rows, and with an even "
                         "number of columns" % format)
    rows, columns = image.shape[0] * 2 // 3, image.shape[1]
    chroma = image[rows:].reshape(-1)
    if format == "nv12":
        return image[:rows], chroma.reshape(rows // 2, columns)
    half = rows // 2 * (columns // 2)
    return image[:rows], chroma[:half].reshape(rows // 2, -1), chroma[half:].reshape(rows // 2, -1)


@dataclass(frozen=True)
class _Layout:
    """How frames are stored: see Equalizer."""

    depth: Optional[int] = None
    shift: int = 0
    range: Optional[str] = None
    format: Optional[str] = None

    def __post_init__(self) -> None:
        if self.range not in (None, "full", "limited"):
            raise ValueError("range is not one of 'full', 'limited'")

    def planes(self, frame: Frame) -> Frame:
        return frame if self.format is None else planes(frame, self.format)

    def samples(self, frame: Frame) -> _core.Format:
        found = self.planes(frame)
        gray = not isinstance(found, (tuple, list)) or len(found) == 1
        return _core.Format(self.depth or 0, self.shift, self.range == "full" or (self.range is None and gray))


def _like(array: Array) -> Array:
    """A new array of the same library, device, type and shape."""
    library: Any = sys.modules.get(type(array).__module__.split(".")[0])
    if isinstance(array, np.ndarray):
        return np.empty(array.shape, array.dtype)
    if hasattr(library, "empty_like"):
        return library.empty_like(array)
    raise TypeError("no array can be made like %s: pass out=" % type(array).__name__)


def _shapes(frame: Frame) -> list[Any]:
    return [np.shape(plane) for plane in (frame if isinstance(frame, (tuple, list)) else [frame])]


def _output(frame: Frame, out: Optional[Frame]) -> Frame:
    if out is not None:
        return out
    return tuple(map(_like, frame)) if isinstance(frame, (tuple, list)) else _like(frame)


def _stream(frame: Frame, stream: Optional[int]) -> Optional[int]:
    """The CUDA stream to work on, as an address. None: the array's own, or the default stream."""
    array: Any = next(iter(frame), None) if isinstance(frame, (tuple, list)) else frame
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if not stream and torch and isinstance(array, torch.Tensor) and array.is_cuda:
        return torch.cuda.current_stream(array.device).cuda_stream
    if not stream and cupy and isinstance(array, cupy.ndarray):
        return cupy.cuda.get_current_stream().ptr
    return stream


def _rate(fps: Any) -> float:
    if not isinstance(fps, numbers.Real) or not float(fps) > 0:
        raise ValueError("fps is no number greater than 0")
    return float(fps)


class Equalizer:
    """Equalizes video, frame by frame.

    fps is for frames without time. backend is 'auto' (CUDA if it works), 'cpu' or 'cuda'; device is the number of the
    GPU; threads is the number of CPU threads, 0 for one on each core. batch, 0 to 16, is the number of frames that a GPU
    processes together in batch(); each takes 4 MB of its memory. depth (9 to 16 for uint16, 16 by default), shift
    (unused low bits: 6 for P010) and range ('full' or 'limited') describe the samples. Without range, frames without
    chroma are full and others are limited. format and settings: see the module.
    """

    def __init__(self, *, fps: float = 30, backend: str = "auto", device: int = 0, threads: int = 0,
                 batch: int = 0, depth: Optional[int] = None, shift: int = 0, range: Optional[str] = None,
                 format: Optional[str] = None, **settings: Any):
        self.fps = _rate(fps)
        self._layout = _Layout(depth, shift, range, format)
        self._native = _core.Equalizer(backend, device, threads, batch)
        self.set(**{"await_noise": True, **settings})

    def set(self, **settings: Any) -> None:
        """Changes settings, fully visible in the next frame. After an error, all stay as they were."""
        self._native.set(settings)

    def process(self, frame: Frame, *, out: Optional[Frame] = None, time: Optional[float] = None,
                follows: bool = True, interlaced: bool = False, stream: Optional[int] = None) -> Made:
        """Equalizes the next frame, and returns `out`, or new arrays.

        time is in seconds. The frame before is read again, to tell noise from detail, so its array must not change
        until this call returns; a program that overwrites the same array gets no noise filter. follows=False says that
        the frame does not follow the one before. On a GPU, the output is ready when the work queued so far on the
        current stream (or on `stream`, an address) has completed, and frames keep references to their arrays until
        later calls or finish().
        """
        out = _output(frame, out)
        layout = self._layout
        self._native.process(layout.planes(frame), layout.planes(out), layout.samples(frame), time, 1 / self.fps,
                             bool(follows), bool(interlaced), _stream(frame, stream))
        return out

    def batch(self, frames: Frame, *, out: Optional[Frame] = None, stream: Optional[int] = None) -> Made:
        """Equalizes several frames in a row, and returns `out`, or new arrays.

        Planes are arrays of (frames, rows, columns). The results are those of process() for each frame. On a GPU this is
        faster, most of all for small frames with Equalizer(batch=16), but it waits: the output is complete when the
        call returns.
        """
        if self._layout.format not in (None, "gray"):
            raise ValueError("batch() takes planes: make the Equalizer without format='%s'" % self._layout.format)
        out = _output(frames, out)
        self._native.batch(frames, out, self._layout.samples(frames), 1 / self.fps, _stream(frames, stream))
        return out

    def bgr(self, picture: np.ndarray, *, out: Optional[np.ndarray] = None, time: Optional[float] = None,
            rgb: bool = False) -> np.ndarray:
        """Equalizes a uint8 picture of (rows, columns, 3 or 4), as OpenCV has it; a fourth channel is copied.

        The picture is equalized in YCbCr with 10 bits, so colours that do not change keep their exact values.
        """
        picture = np.asarray(picture)
        if picture.dtype != np.uint8 or picture.ndim != 3 or picture.shape[2] not in (3, 4):
            raise ValueError("a colour picture is a uint8 array of (rows, columns, 3 or 4)")
        if picture.strides[1:] != (picture.shape[2] * picture.itemsize, picture.itemsize):
            picture = np.ascontiguousarray(picture)
        if out is None:
            out = np.empty(picture.shape, picture.dtype)
        self._native.bgr(picture, out, bool(rgb), time, 1 / self.fps)
        return out

    def finish(self) -> None:
        """Waits for frames on a GPU, so that `stats` describes the last one. Other frames are always complete."""
        self._native.finish()

    def reset(self) -> None:
        """Forgets the frames before, after a seek for example."""
        self._native.reset()

    @property
    def stats(self) -> Stats:
        """The last frame's; on a GPU, the last completed one's: see finish()."""
        return self._native.stats

    @property
    def backend(self) -> str:
        """'cpu' or 'cuda'. The CPU takes over if the GPU fails."""
        return self._native.backend


class Context:
    """Measures and equalizes single frames, in any order and from any thread. Arguments: see Equalizer."""

    def __init__(self, *, backend: str = "auto", device: int = 0, threads: int = 0, depth: Optional[int] = None,
                 shift: int = 0, range: Optional[str] = None, format: Optional[str] = None):
        self._layout = _Layout(depth, shift, range, format)
        self._native = _core.Context(backend, device, threads)

    def measure(self, frame: Frame, *, previous: Optional[Frame] = None, stream: Optional[int] = None,
                **settings: Any) -> Measure:
        """Measures a frame for History.put(). previous is the frame before, to measure noise. Only the settings
        mode, tiles and reference matter here."""
        layout = self._layout
        before = None if previous is None else layout.planes(previous)
        return self._native.measure(layout.planes(frame), before, layout.samples(frame), settings,
                                    _stream(frame, stream))

    def apply(self, curve: Curve, frame: Frame, *, previous: Sequence[Frame] = (), out: Optional[Frame] = None,
              stream: Optional[int] = None) -> Made:
        """Equalizes a frame by its curve, and returns `out`, or new arrays. previous are frames before it, the nearest
        first; the noise filter reads at most three."""
        if not isinstance(curve, Curve):
            raise TypeError("apply() takes a curve, as History.get() returns")
        out = _output(frame, out)
        layout = self._layout
        self._native.apply(curve, layout.planes(frame), [layout.planes(f) for f in previous], layout.planes(out),
                           layout.samples(frame), _stream(frame, stream))
        return out


class History:
    """Turns measures into curves, in order: it looks `lookahead` seconds ahead, 0 to 10. Settings: see the module.

    put() adds a measure, get() returns the next frame's curve or None if it needs more measures, and end() ends the
    film, so that get() returns the remaining curves and then None.
    """

    def __init__(self, lookahead: float = 2.0, *, fps: float = 30, **settings: Any):
        self.fps = _rate(fps)
        self._native = _core.History(settings, lookahead)

    def put(self, measure: Measure, *, time: Optional[float] = None, cut: bool = False,
            interlaced: bool = False) -> None:
        """Adds the next frame's measure; call get() until it returns None before. time is in seconds. cut=True: the
        frame has nothing to do with the one before."""
        if not isinstance(measure, Measure):
            raise TypeError("put() takes what measure() returns")
        self._native.put(measure, time, 1 / self.fps, bool(cut), bool(interlaced))

    def get(self) -> Optional[Curve]:
        """The next frame's curve; its `stats` are a Stats."""
        return self._native.get()

    def end(self) -> None:
        self._native.end()


@functools.lru_cache(maxsize=8)
def _context(**options: Any) -> Context:
    return Context(**options)


_OPTIONS = ("backend", "device", "threads", "depth", "shift", "range", "format")


def _split(arguments: dict[str, Any]) -> tuple[Context, dict[str, Any]]:
    """The shared context for these options, and the settings among them."""
    options = {name: arguments.pop(name) for name in _OPTIONS if name in arguments}
    return _context(**options), arguments


def measure(frame: Frame, *, previous: Optional[Frame] = None, stream: Optional[int] = None,
            **options: Any) -> Measure:
    """Context.measure() with a shared context; its options (backend, depth and so on) may be passed here."""
    context, settings = _split(options)
    return context.measure(frame, previous=previous, stream=stream, **settings)


def apply(curve: Curve, frame: Frame, *, previous: Sequence[Frame] = (), out: Optional[Frame] = None,
          stream: Optional[int] = None, **options: Any) -> Made:
    """Context.apply() with a shared context; its options (backend, depth and so on) may be passed here."""
    context, rest = _split(options)
    if rest:
        raise TypeError("apply() has no setting '%s': settings belong to History" % next(iter(rest)))
    return context.apply(curve, frame, previous=previous, out=out, stream=stream)


def equalize(frame: Frame, *, out: Optional[Frame] = None, stream: Optional[int] = None, **options: Any) -> Made:
    """Equalizes one picture, and returns `out`, or new arrays. Options and settings: see Equalizer and the module."""
    context, settings = _split(options)
    history = History(0, **settings)
    history.put(context.measure(frame, stream=stream, **settings))
    curve: Any = history.get()  # there is one for each measure
    return context.apply(curve, frame, out=out, stream=stream)


def film(frames: Iterable[Frame], *, lookahead: float = 2.0, fps: float = 30, **options: Any) -> Iterator[Made]:
    """Yields the equalized frames of a film, with curves that know the next `lookahead` seconds.

    Holds the frames of that time; each must have arrays of its own. Cuts are then exact and fades smooth. Options and
    settings: see Equalizer and the module.
    """
    context, settings = _split(options)
    history = History(lookahead, fps=fps, **settings)
    ahead: collections.deque[Any] = collections.deque()
    before: collections.deque[Any] = collections.deque(maxlen=3)

    def ready() -> Iterator[Frame]:
        while (curve := history.get()) is not None:
            frame = ahead.popleft()
            if before and _shapes(before[0]) != _shapes(frame):
                before.clear()
            yield context.apply(curve, frame, previous=list(before))
            before.appendleft(frame)

    last: Any = None
    for frame in frames:
        same = last is not None and _shapes(last) == _shapes(frame)
        history.put(context.measure(frame, previous=last if same else None, **settings))
        ahead.append(frame)
        last = frame
        yield from ready()
    history.end()
    yield from ready()


def bgr(picture: np.ndarray, *, out: Optional[np.ndarray] = None, rgb: bool = False, **options: Any) -> np.ndarray:
    """Equalizes one picture from cv2.imread(). For video, see Equalizer.bgr()."""
    return Equalizer(**{"await_noise": False, **options}).bgr(picture, out=out, rgb=rgb)


def rgb(picture: np.ndarray, *, out: Optional[np.ndarray] = None, **options: Any) -> np.ndarray:
    """Equalizes one picture whose first channel is red, as Pillow and imageio have it."""
    return bgr(picture, out=out, rgb=True, **options)
