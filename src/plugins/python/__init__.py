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
distance between rows is fine, also a negative one, but the samples of a row must be contiguous. NumPy arrays
may also be floats from 0 to 1. NumPy arrays and PyTorch tensors on the CPU are equalized there, or by the GPU if one is found. CuPy arrays, PyTorch tensors and others
with __cuda_array_interface__ or __dlpack__ on an NVIDIA GPU stay there: the work is queued on the current stream.

Settings are keyword arguments, the same everywhere:

    profile     'fog', 'medical-gray', 'night', 'screen', 'surveillance', 'thermal' or 'water': several settings at
                once, which the others here override
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
    code_range  'full' (default), 'auto' or 'used': stretch deep gray that uses few codes, as from thermal cameras, in
                equalize(), film() and Equalizer.process()
    transfer    'sdr' (default), 'pq' or 'hlg': HDR, whose light above 203 nits stays unchanged
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
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Optional, TypedDict, Union

import numpy as np

from . import _core
from ._core import Curve, Error, Measure

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Context", "Curve", "Equalizer", "Error", "History", "Measure", "Settings", "Stats", "apply", "bgr",
           "build_info", "equalize", "film", "measure", "planes", "rgb"]

__version__ = "%d.%d.%d" % (_core.version() // 1000000, _core.version() // 1000 % 1000, _core.version() % 1000)

Array = Any  #: of NumPy, CuPy, PyTorch, or with __cuda_array_interface__ or __dlpack__
Frame = Union[Array, Sequence[Array]]  #: luma, or luma and its chroma planes
Made = Any  #: an array, or a tuple of arrays, like the frame


class Settings(TypedDict, total=False):
    """The settings, all optional: see the module."""

    profile: Literal["fog", "medical-gray", "night", "screen", "surveillance", "thermal", "water", None]
    mode: Literal["global", "clahe", "haze", "stretch", "off"]
    strength: Union[float, Literal["auto"]]
    brightness: float
    gamma: float
    limit: Literal["none", "darken", "lighten"]
    clip: Union[float, Literal["auto"]]
    tiles: tuple[int, int]
    smooth: float
    scene_cut: bool
    denoise: Union[float, Literal["auto"]]
    deflicker: float
    chroma: Literal["scale", "keep"]
    bars: Literal["auto", "ignore"]
    meter: Union[tuple[int, int, int, int], Literal["all", "centre"]]
    reference: bool
    code_range: Literal["full", "auto", "used"]
    transfer: Literal["sdr", "pq", "hlg"]
    dither: bool
    adaptive: bool
    lift: bool
    await_noise: bool


class Options(Settings, total=False):
    """Settings, and how frames are stored and where they are equalized: see Equalizer."""

    backend: Literal["auto", "cpu", "cuda"]
    device: int
    threads: int
    depth: Optional[int]
    shift: int
    range: Literal["full", "limited", None]
    format: Literal["gray", "yuv420p", "nv12", None]


def build_info() -> str:
    """Backends in this build: "CPU and CUDA 12.4" or "CPU only (...)"."""
    return _core.build_info()


@dataclass(frozen=True, eq=False)
class Stats:
    """Statistics of a frame and its curve. Luma is in codes of the frame's depth; from 13 bits on, a bin counts several
    codes. After bgr() of 8 bits, means are in codes of 8 bits; histograms and the curve are those of luma of 10 bits."""

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
    if array is None:
        raise TypeError("a frame is an array, or a tuple of arrays; got None: did cv2.imread() find the file?")
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


def _is_float(array: Any) -> bool:
    return isinstance(array, np.ndarray) and array.dtype.kind == "f"


def _codes(array: np.ndarray) -> np.ndarray:
    """Floats from 0 to 1 as uint16."""
    if not array.size or not (array.min() >= 0 and array.max() <= 1):
        raise ValueError("got %s whose values are not all within 0..1: divide by the white level, or use uint8 or uint16"
                         % array.dtype)
    return np.rint(array * 65535).astype(np.uint16)


def _with_codes(call: Callable[[Any, Any], Made], frame: Frame, out: Optional[Frame]) -> Made:
    """call(frame, out), and for floats the same with codes of 16 bits."""
    many = isinstance(frame, (tuple, list))
    arrays: list[Any] = list(frame) if many else [frame]
    if not any(map(_is_float, arrays)):
        return call(frame, out)
    if not all(map(_is_float, arrays)):
        raise ValueError("planes are either all floats or none")
    codes = [_codes(array) for array in arrays]
    result = call(tuple(codes) if many else codes[0], None)
    made = [plane.astype(array.dtype) / array.dtype.type(65535)
            for plane, array in zip(result if many else [result], arrays)]
    if out is None:
        return tuple(made) if many else made[0]
    for to, plane in zip(out if many else [out], made):
        if not _is_float(to) or to.shape != plane.shape:
            raise ValueError("the output's size or type is not the frame's")
        to[...] = plane
    return out


class _Stretch:
    """Stretches gray of more than 8 bits if the settings say so."""

    def __init__(self, layout: _Layout, settings: Any):
        self._layout, self._native, self._mode = layout, _core.Stretch(), _core.code_range(dict(settings))

    def set(self, settings: Any) -> None:
        self._mode = _core.code_range(dict(settings))

    def reset(self) -> None:
        self._native.reset()

    def frame(self, frame: Frame, time: float) -> Frame:
        samples = self._layout.planes(frame)
        gray = samples[0] if isinstance(samples, (tuple, list)) and len(samples) == 1 else samples
        if not self._mode or isinstance(gray, (tuple, list)) or getattr(gray, "dtype", None) == np.uint8:
            return frame
        made = _like(gray)
        return made if self._native.frame(gray, made, self._layout.samples(frame), self._mode, time) else frame


def _rate(fps: Any) -> float:
    if not isinstance(fps, numbers.Real) or not float(fps) > 0:
        raise ValueError("fps is no number greater than 0")
    return float(fps)


class Equalizer:
    """Equalizes video, frame by frame.

    fps is for frames without time. backend is 'auto' (CUDA if it works), 'cpu' or 'cuda'; device is the number of the
    GPU; threads is the number of CPU threads, 0 for one on each core. batch, 0 to 16, is the number of frames that a GPU
    processes together in batch(); each takes up to 8 MB of its memory. depth (9 to 16 for uint16, 16 by default), shift
    (unused low bits: 6 for P010) and range ('full' or 'limited') describe the samples. Without range, frames without
    chroma are full and others are limited. format and settings: see the module.
    """

    def __init__(self, *, fps: float = 30, backend: str = "auto", device: int = 0, threads: int = 0,
                 batch: int = 0, depth: Optional[int] = None, shift: int = 0, range: Optional[str] = None,
                 format: Optional[str] = None, **settings: Unpack[Settings]):
        self.fps = _rate(fps)
        self._layout = _Layout(depth, shift, range, format)
        self._native = _core.Equalizer(backend, device, threads, batch)
        self._settings: dict[str, Any] = {}
        self._stretch = _Stretch(self._layout, {})
        self._count = 0
        self._native.set({"await_noise": True})
        self.set(**settings)

    def __enter__(self) -> Equalizer:
        return self

    def __exit__(self, *error: object) -> None:
        self.finish()

    def __repr__(self) -> str:
        shown = {"fps": self.fps, "backend": self.backend, **vars(self._layout), **self._settings}
        return "lumeq.Equalizer(%s)" % ", ".join("%s=%r" % (name, value) for name, value in shown.items()
                                                 if value is not None and (name, value) != ("shift", 0))

    def set(self, **settings: Unpack[Settings]) -> None:
        """Changes settings, fully visible in the next frame. A profile sets all but await_noise. After an error, all stay
        as they were."""
        self._native.set(dict(settings))
        if settings.get("profile"):
            self._settings = {name: value for name, value in self._settings.items() if name == "await_noise"}
        self._settings.update(settings)
        self._stretch.set(self._settings)

    def process(self, frame: Frame, *, out: Optional[Frame] = None, time: Optional[float] = None,
                follows: bool = True, interlaced: bool = False, stream: Optional[int] = None) -> Made:
        """Equalizes the next frame, and returns `out`, or new arrays.

        time is in seconds. The frame before is read again, to tell noise from detail, so its array must not change
        until this call returns; a program that overwrites the same array gets no noise filter. follows=False says that
        the frame does not follow the one before. On a GPU, the output is ready when the work queued so far on the
        current stream (or on `stream`, an address) has completed, and frames keep references to their arrays until
        later calls or finish().
        """
        def call(frame: Frame, out: Optional[Frame]) -> Made:
            layout = self._layout
            out = _output(frame, out)
            known = isinstance(time, numbers.Real)
            frame = self._stretch.frame(frame, float(time) if known else self._count / self.fps)  # type: ignore
            self._native.process(layout.planes(frame), layout.planes(out), layout.samples(frame), time, 1 / self.fps,
                                 bool(follows), bool(interlaced), _stream(frame, stream))
            self._count += 1
            return out

        return _with_codes(call, frame, out)

    def batch(self, frames: Frame, *, out: Optional[Frame] = None, stream: Optional[int] = None) -> Made:
        """Equalizes several frames in a row, and returns `out`, or new arrays.

        Planes are arrays of (frames, rows, columns). The results are those of process() for each frame. On a GPU this is
        faster, most of all for small frames with Equalizer(batch=16), but it waits: the output is complete when the
        call returns.
        """
        if self._layout.format not in (None, "gray"):
            raise ValueError("batch() takes planes: make the Equalizer without format='%s'" % self._layout.format)
        if _core.code_range(self._settings):
            raise ValueError("batch() does not stretch codes: use process(), or code_range='full'")
        out = _output(frames, out)
        self._native.batch(frames, out, self._layout.samples(frames), 1 / self.fps, _stream(frames, stream))
        return out

    def bgr(self, picture: np.ndarray, *, out: Optional[np.ndarray] = None, time: Optional[float] = None,
            rgb: bool = False) -> np.ndarray:
        """Equalizes a picture of (rows, columns, 3 or 4), as OpenCV has it, or several of (pictures, rows, columns, 3 or 4).

        Channels are uint8, uint16, or floats from 0 to 1; a fourth one is copied. Pictures of 8 bits are equalized in YCbCr
        with 10 bits, so colours that do not change keep their exact values.
        """
        picture = np.asarray(picture)
        if picture.dtype == object:
            raise TypeError("a colour picture is an array; got %s" % (
                "None: did cv2.imread() find the file?" if picture.ndim == 0 and picture[()] is None else "objects"))
        if picture.ndim not in (3, 4) or picture.shape[-1] not in (3, 4):
            raise ValueError("a colour picture is an array of (rows, columns, 3 or 4); got %r%s" % (
                picture.shape, ": equalize() takes gray pictures" if picture.ndim == 2 else ""))
        if _is_float(picture):
            return _with_codes(lambda codes, made: self.bgr(codes, out=made, time=time, rgb=rgb), picture, out)
        if picture.dtype not in (np.uint8, np.uint16):
            raise ValueError("got %s; a colour picture has uint8, uint16, or floats from 0 to 1" % picture.dtype)
        if picture.ndim == 4:
            out = np.empty(picture.shape, picture.dtype) if out is None else out
            if np.shape(out) != picture.shape:
                raise ValueError("the output's size is not the pictures'")
            for one, made in zip(picture, out):
                self.bgr(one, out=made, time=time, rgb=rgb)
            return out
        if picture.strides[1:] != (picture.shape[2] * picture.itemsize, picture.itemsize):
            picture = np.ascontiguousarray(picture)
        if out is None:
            out = np.empty(picture.shape, picture.dtype)
        self._native.bgr(picture, out, bool(rgb), time, 1 / self.fps)
        return out

    def rgb(self, picture: np.ndarray, *, out: Optional[np.ndarray] = None, time: Optional[float] = None) -> np.ndarray:
        """bgr() for pictures whose first channel is red, as Pillow and imageio have them."""
        return self.bgr(picture, out=out, time=time, rgb=True)

    def finish(self) -> None:
        """Waits for frames on a GPU, so that `stats` describes the last one. Other frames are always complete."""
        self._native.finish()

    def reset(self) -> None:
        """Forgets the frames before, after a seek for example."""
        self._stretch.reset()
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
                **settings: Unpack[Settings]) -> Measure:
        """Measures a frame for History.put(). previous is the frame before, to measure noise. Only the settings
        mode, tiles and reference matter here."""
        layout = self._layout
        before = None if previous is None else layout.planes(previous)
        return self._native.measure(layout.planes(frame), before, layout.samples(frame), dict(settings),
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

    def __init__(self, lookahead: float = 2.0, *, fps: float = 30, **settings: Unpack[Settings]):
        self.fps = _rate(fps)
        if _core.code_range(dict(settings)):
            raise ValueError("a History does not stretch codes: use film() or Equalizer, or code_range='full'")
        self._native = _core.History(dict(settings), lookahead)

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


def _split(arguments: Any) -> tuple[Context, Any]:
    """The shared context for these options, and the settings among them."""
    options = {name: arguments.pop(name) for name in _OPTIONS if name in arguments}
    return _context(**options), arguments


def measure(frame: Frame, *, previous: Optional[Frame] = None, stream: Optional[int] = None,
            **options: Unpack[Options]) -> Measure:
    """Context.measure() with a shared context; its options (backend, depth and so on) may be passed here."""
    context, settings = _split(options)
    return context.measure(frame, previous=previous, stream=stream, **settings)


def apply(curve: Curve, frame: Frame, *, previous: Sequence[Frame] = (), out: Optional[Frame] = None,
          stream: Optional[int] = None, **options: Unpack[Options]) -> Made:
    """Context.apply() with a shared context; its options (backend, depth and so on) may be passed here."""
    context, rest = _split(options)
    if rest:
        raise TypeError("apply() has no setting '%s': settings belong to History" % next(iter(rest)))
    return context.apply(curve, frame, previous=previous, out=out, stream=stream)


def equalize(frame: Frame, *, out: Optional[Frame] = None, stream: Optional[int] = None,
             **options: Unpack[Options]) -> Made:
    """Equalizes one picture, and returns `out`, or new arrays. Options and settings: see Equalizer and the module."""
    context, settings = _split(options)

    def call(frame: Frame, out: Optional[Frame]) -> Made:
        history = History(0, **{**settings, "code_range": "full"})
        frame = _Stretch(context._layout, settings).frame(frame, 0)
        history.put(context.measure(frame, stream=stream, **settings))
        curve: Any = history.get()  # there is one for each measure
        return context.apply(curve, frame, out=out, stream=stream)

    return _with_codes(call, frame, out)


def film(frames: Iterable[Frame], *, lookahead: float = 2.0, fps: float = 30,
         **options: Unpack[Options]) -> Iterator[Made]:
    """Yields the equalized frames of a film, with curves that know the next `lookahead` seconds.

    Holds the frames of that time; each must have arrays of its own. Cuts are then exact and fades smooth. Options and
    settings: see Equalizer and the module.
    """
    context, settings = _split(options)
    history = History(lookahead, fps=fps, **{**settings, "code_range": "full"})
    stretch = _Stretch(context._layout, settings)
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
    for i, frame in enumerate(frames):
        frame = stretch.frame(frame, i / fps)
        same = last is not None and _shapes(last) == _shapes(frame)
        history.put(context.measure(frame, previous=last if same else None, **settings))
        ahead.append(frame)
        last = frame
        yield from ready()
    history.end()
    yield from ready()


def bgr(picture: np.ndarray, *, out: Optional[np.ndarray] = None, rgb: bool = False,
        **options: Unpack[Options]) -> np.ndarray:
    """Equalizes one picture from cv2.imread(). For video, see Equalizer.bgr()."""
    arguments: Any = {"await_noise": False, **options}
    return Equalizer(**arguments).bgr(picture, out=out, rgb=rgb)


def rgb(picture: np.ndarray, *, out: Optional[np.ndarray] = None, **options: Unpack[Options]) -> np.ndarray:
    """Equalizes one picture whose first channel is red, as Pillow and imageio have it."""
    return bgr(picture, out=out, rgb=True, **options)
