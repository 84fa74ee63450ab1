"""Makes dark, dull and foggy video clear.

    clear = lumeq.equalize(gray)                  # one picture
    clear = lumeq.bgr(picture)                    # one picture from cv2.imread()
    eq = lumeq.Equalizer(fps=30)                  # video
    y, u, v = eq.process((y, u, v))               # call this for each frame
    for planes in lumeq.film(frames, fps=25):     # a film, with lookahead
        ...

A frame is an array, or a tuple of arrays: luma, Cb and Cr (such as yuv420p), or luma and interleaved Cb and Cr
(NV12, P010). With format='yuv420p' or 'nv12' it is one array that holds all planes, as in PyAV's to_ndarray() and
OpenCV. Arrays are uint8, or uint16 with 9 to 16 bits, of (rows, columns). Inputs are neither copied nor changed. Rows may
have any distance, even a negative one, but the samples of a row must be contiguous. NumPy arrays may also be floats from
0 to 1. If a GPU is found, it also equalizes NumPy arrays and CPU tensors. Arrays on an NVIDIA GPU stay there (CuPy,
PyTorch, or with __cuda_array_interface__ or __dlpack__), and the work is queued on the current stream.

Settings are keyword arguments, the same in all functions:

    profile     'fog', 'medical-gray', 'night', 'screen', 'surveillance', 'thermal' or 'water': sets several settings;
                other arguments override them
    mode        'global' (default), 'clahe', 'haze', 'stretch' or 'off'
    strength    'auto' (default: as much as the picture needs), or 0 to 1
    brightness  -1 to 1; gamma: 0.1 to 10; limit: 'none', 'darken' or 'lighten'
    clip        limit of contrast: 'auto', 0 (none), or 1 to 1000
    tiles       (columns, rows) for 'clahe', 1 to 16 each, (8, 8) by default
    smooth      time constant in seconds, 0.5 by default; scene_cut: False smooths cuts as well
    denoise     'auto', or 0 to 1: strength of the noise filter, which runs where dark video is lifted
    deflicker   0 to 1, for film() and History with lookahead
    chroma      'scale' (colours follow luma) or 'keep'
    bars        'auto' (black bars are left alone) or 'ignore'
    meter       'all', 'centre' or (x, y, width, height): the area that determines the curve
    reference   True: exactly the result of OpenCV's equalizeHist (of its CLAHE with mode='clahe'), for 8 bits
    code_range  'full' (default); 'auto' and 'used' stretch gray of more than 8 bits that uses few codes, as from thermal
                cameras. Only in equalize(), film() and Equalizer.process()
    transfer    'sdr' (default); 'pq' or 'hlg' for HDR: light above 203 nits stays unchanged
    dither, adaptive, lift, await_noise: as in lumeq.h, which explains all settings in detail

Bad arguments raise ValueError or TypeError, lack of memory raises MemoryError, and a failing GPU raises lumeq.Error. The
GIL is released while frames are processed. Objects may be used by several threads; calls on one Equalizer or History wait
for each other.
"""

from __future__ import annotations

import collections
import functools
import numbers
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, Optional, TypedDict, Union

import numpy as np

from . import _arrays, _library
from ._arrays import Samples, picture
from ._library import Error, Handle, Stats, addressof, byref, check, lib, nanoseconds, set_params

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Context", "Curve", "Equalizer", "Error", "History", "Measure", "Settings", "Stats", "apply", "bgr",
           "build_info", "equalize", "film", "measure", "planes", "rgb"]

__version__ = "%d.%d.%d" % (lib.lumeq_version() // 1000000, lib.lumeq_version() // 1000 % 1000, lib.lumeq_version() % 1000)

Array = Any  #: an array of NumPy, CuPy, PyTorch, or with __cuda_array_interface__ or __dlpack__
Frame = Union[Array, Sequence[Array]]  #: luma, or luma and its chroma planes
Made = Any  #: an array, or a tuple of arrays, like the frame


class Settings(TypedDict, total=False):
    """The settings, all optional: see the module's docstring."""

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
    """Settings, how frames are stored, and where they are equalized: see Equalizer."""

    backend: Literal["auto", "cpu", "cuda"]
    device: int
    threads: int
    depth: Optional[int]
    shift: int
    range: Literal["full", "limited", None]
    format: Literal["gray", "yuv420p", "nv12", None]


def build_info() -> str:
    """Backends in this build: "CPU and CUDA 12.4" or "CPU only (...)"."""
    return lib.lumeq_build_info().decode()


def planes(image: Array, format: str) -> Made:
    """Views of the planes in an array that holds a whole frame: luma, then chroma, without gaps.

    format is 'gray', 'yuv420p' or 'nv12', for any depth. In yuv420p and nv12, the array has 3/2 of the picture's rows.
    """
    if format == "gray":
        return image
    if format not in ("yuv420p", "nv12"):
        raise ValueError("format must be one of 'gray', 'yuv420p', 'nv12'")
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


class _Layout:
    """How frames are stored: see Equalizer."""

    def __init__(self, depth: Optional[int] = None, shift: int = 0, range: Optional[str] = None,
                 format: Optional[str] = None):
        self.depth, self.shift, self.range, self.format = depth, shift, range, format
        if range not in (None, "full", "limited"):
            raise ValueError("range must be one of 'full', 'limited'")
        bits = _library.integer("depth", depth or 0), _library.integer("shift", shift)
        self._samples = [Samples(*bits, range == "full"), Samples(*bits, range != "limited")]  # with chroma; without

    def planes(self, frame: Frame) -> Frame:
        return frame if self.format is None else planes(frame, self.format)

    def samples(self, planes: Frame) -> Samples:
        return self._samples[not isinstance(planes, (tuple, list)) or len(planes) == 1]

    def pictures(self, *frames: Frame, outputs: int = 0) -> list[_arrays.Picture]:
        """Pictures of frames, all stored like the first one. The last `outputs` frames must be writable."""
        found = frames if self.format is None else [planes(frame, self.format) for frame in frames]
        samples = self.samples(found[0])
        return [picture(one, samples, i >= len(found) - outputs) for i, one in enumerate(found)]


def _like(array: Array) -> Array:
    """A new array of the same library, device, type and shape."""
    library: Any = sys.modules.get(type(array).__module__.split(".")[0])
    if isinstance(array, np.ndarray):
        return np.empty(array.shape, array.dtype)
    if hasattr(library, "empty_like"):
        return library.empty_like(array)
    if array is None:
        raise TypeError("a frame is an array, or a tuple of arrays; got None: did cv2.imread() find the file?")
    raise TypeError("cannot create an array like %s: pass out=" % type(array).__name__)


def _shapes(frame: Frame) -> list[Any]:
    return [np.shape(plane) for plane in (frame if isinstance(frame, (tuple, list)) else [frame])]


def _output(frame: Frame, out: Optional[Frame]) -> Frame:
    if out is not None:
        return out
    return tuple(map(_like, frame)) if isinstance(frame, (tuple, list)) else _like(frame)


def _stream(frame: Frame, stream: Optional[int]) -> Optional[int]:
    """Returns `stream` if given, else the address of the current stream of PyTorch or CuPy, else None."""
    array: Any = next(iter(frame), None) if isinstance(frame, (tuple, list)) else frame
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if not stream and torch and isinstance(array, torch.Tensor) and array.is_cuda:
        return torch.cuda.current_stream(array.device).cuda_stream
    if not stream and cupy and isinstance(array, cupy.ndarray):
        return cupy.cuda.get_current_stream().ptr
    return stream


def _sync(picture: _arrays.Picture, frame: Frame, stream: Optional[int], use: str = "stream") -> Any:
    """Syncs a picture on a GPU with a stream: `stream`, else the array's own, else the default stream, 1."""
    if not picture.image.memory:
        return None
    return _library.Sync(**{use: _stream(frame, stream) or picture.planes[0].stream or 1})


def _moment(time: Any) -> int:
    return _library.NO_TIME if time is None else nanoseconds(_library.number("time", time))


def _is_float(array: Any) -> bool:
    return isinstance(array, np.ndarray) and array.dtype.kind == "f"


def _has_floats(frame: Frame) -> bool:
    return any(map(_is_float, frame)) if isinstance(frame, (tuple, list)) else _is_float(frame)


def _codes(array: np.ndarray) -> np.ndarray:
    """Converts floats from 0 to 1 to uint16."""
    if not _is_float(array):
        raise ValueError("planes are either all floats or none")
    if not array.size or not (array.min() >= 0 and array.max() <= 1):
        raise ValueError("got %s whose values are not all within 0..1: divide by the white level, or use uint8 or uint16"
                         % array.dtype)
    return np.rint(array * 65535).astype(np.uint16)


def _with_codes(call: Callable[[Any], Made], frame: Frame, out: Optional[Frame]) -> Made:
    """Converts floats to codes of 16 bits for call(frame), and its result back to floats."""
    many = isinstance(frame, (tuple, list))
    arrays: list[Any] = list(frame) if many else [frame]
    codes = tuple(map(_codes, arrays))
    result = call(codes if many else codes[0])
    made = [plane.astype(array.dtype) / array.dtype.type(65535)
            for plane, array in zip(result if many else [result], arrays)]
    if out is None:
        return tuple(made) if many else made[0]
    for to, plane in zip(out if many else [out], made):
        if not _is_float(to) or to.shape != plane.shape:
            raise ValueError("the output must have the frame's size and type")
        to[...] = plane
    return out


class _Stretch:
    """Stretches gray of more than 8 bits if the settings say so."""

    def __init__(self, layout: _Layout, mode: int = 0):
        self.mode, self._layout, self._lock = mode, layout, threading.Lock()
        self._native = Handle(lib.lumeq_stretch_destroy)
        check(lib.lumeq_stretch_create(byref(self._native), None))

    def reset(self) -> None:
        with self._lock:
            lib.lumeq_stretch_reset(self._native)

    def frame(self, frame: Frame, time: float) -> Frame:
        if not self.mode:
            return frame
        samples = self._layout.planes(frame)
        gray = samples[0] if isinstance(samples, (tuple, list)) and len(samples) == 1 else samples
        if isinstance(gray, (tuple, list)) or getattr(gray, "dtype", None) == np.uint8:
            return frame
        made, window = _like(gray), _library.Codes()
        how = self._layout.samples(gray)
        images = [byref(one.image) for one in (picture(gray, how), picture(made, how, True))]
        with self._lock:
            found = check(lib.lumeq_stretch_window(self._native, self.mode, images[0], nanoseconds(time),
                                                   byref(window)))
            if found:
                check(lib.lumeq_stretch_write(self._native, byref(window), *images))
        return made if found else frame


def _rate(fps: Any) -> float:
    if not isinstance(fps, numbers.Real) or not float(fps) > 0:
        raise ValueError("fps must be a number greater than 0")
    return float(fps)


class Equalizer:
    """Equalizes video, frame by frame.

    fps applies to frames without time. backend is 'auto' (CUDA if it works), 'cpu' or 'cuda'; device is the number of the
    GPU; threads is the number of CPU threads, 0 for one on each core. batch, 0 to 16, is the number of frames that a GPU
    processes together in batch(); each frame takes up to 8 MB of GPU memory. depth (9 to 16 for uint16, 16 by default),
    shift (unused low bits: 6 for P010) and range describe the samples. The default range is 'limited' for frames with
    chroma, else 'full'. format and settings: see the module.
    """

    def __init__(self, *, fps: float = 30, backend: str = "auto", device: int = 0, threads: int = 0,
                 batch: int = 0, depth: Optional[int] = None, shift: int = 0, range: Optional[str] = None,
                 format: Optional[str] = None, **settings: Unpack[Settings]):
        self.fps = _rate(fps)
        self._layout = _Layout(depth, shift, range, format)
        self._native = _library.create(lib.lumeq_create, lib.lumeq_destroy, backend, device, threads, batch)
        self._lock, self._stats, self._frame = threading.Lock(), _library.StatsBuffer(), _library.Frame()
        #: Arrays of frames in flight, which the library reads and writes.
        self._flights: collections.deque[Any] = collections.deque()
        self._native.keep = self._flights
        self._address = addressof(self._frame)
        self._previous: Optional[_arrays.Picture] = None
        self._params = set_params(None, {"await_noise": True})
        self._stretch = _Stretch(self._layout)
        self._count = 0
        self.set(**settings)

    def __enter__(self) -> Equalizer:
        return self

    def __exit__(self, *error: object) -> None:
        self.finish()

    def set(self, **settings: Unpack[Settings]) -> None:
        """Changes settings. The next frame shows the whole change, because `smooth` does not delay it. A profile sets all
        settings except await_noise and transfer. After an error, all settings stay as they were."""
        with self._lock:
            params = set_params(self._params, settings)
            check(lib.lumeq_set_params(self._native, byref(params)), self._native)
            self._params, self._stretch.mode = params, params.code_range

    def _receive(self, most: int = 0) -> None:
        """Receives frames until at most `most` are in flight."""
        if self._flights and not most:
            lib.lumeq_flush(self._native)
        while len(self._flights) > most:
            code = lib.lumeq_receive(self._native, None, self._stats.address)
            if code in (0, _library.GPU):
                self._flights.popleft()
            check(code, self._native)

    def _submit(self, frame: int, arrays: Any) -> None:
        while (code := lib.lumeq_submit(self._native, frame)) == _library.AGAIN and self._flights:
            self._receive(len(self._flights) - 1)
        check(code, self._native)
        self._flights.append(arrays)

    def _fill(self, source: _arrays.Picture, target: _arrays.Picture, outputs: Any, time: int, follows: bool) -> Any:
        """Fills self._frame, and returns the objects to keep until this frame is received."""
        frame, previous = self._frame, self._previous
        if not (follows and previous and previous.kind == source.kind and
                previous.planes[0].data != source.planes[0].data and not _arrays.overlap(previous.planes, outputs)):
            previous = None
        frame.source, frame.out, frame.time, frame.duration = source.image, target.image, time, nanoseconds(1 / self.fps)
        frame.previous = addressof(previous.image) if previous else None
        return source, target, previous

    def process(self, frame: Frame, *, out: Optional[Frame] = None, time: Optional[float] = None,
                follows: bool = True, interlaced: bool = False, stream: Optional[int] = None) -> Made:
        """Equalizes the next frame, and returns `out`, or new arrays.

        time is in seconds. The previous frame's array must not change until this call returns, because the noise filter
        reads it. A program that overwrites one array for each frame gets no noise filter. Pass follows=False if the frame
        does not follow the previous one. On a GPU, the output is ready when the work queued so far on the current stream
        (or on `stream`, an address) has completed. Arrays are kept alive until later calls or finish().
        """
        if _has_floats(frame):
            return _with_codes(lambda codes: self.process(codes, time=time, follows=follows, interlaced=interlaced),
                               frame, out)
        made = _output(frame, out)
        if self._stretch.mode:
            known = isinstance(time, numbers.Real)
            frame = self._stretch.frame(frame, float(time) if known else self._count / self.fps)  # type: ignore
        source, target = self._layout.pictures(frame, made, outputs=1)
        _arrays.check_depth(source.image, source.planes)
        when, sync = _moment(time), _sync(source, frame, stream)
        with self._lock:
            # New arrays overlap no others.
            arrays = self._fill(source, target, target.planes if out is not None else (), when, follows)
            self._frame.interlaced, self._frame.sync = interlaced, sync and addressof(sync)
            if sync or self._flights:
                self._submit(self._address, arrays)
            else:
                check(lib.lumeq_process(self._native, self._address, self._stats.address), self._native)
            self._previous = source
            del arrays  # from here on, only self._flights keeps them
            if not sync:
                self._receive()
        self._count += 1
        return made

    def batch(self, frames: Frame, *, out: Optional[Frame] = None, stream: Optional[int] = None) -> Made:
        """Equalizes several frames in a row, and returns `out`, or new arrays.

        Planes are arrays of (frames, rows, columns). The results are those of process() for each frame. On a GPU, batch()
        is faster, most of all for small frames with Equalizer(batch=16). The output is complete when the call returns.
        """
        if self._layout.format not in (None, "gray"):
            raise ValueError("batch() takes planes: make the Equalizer without format='%s'" % self._layout.format)
        if self._params.code_range:
            raise ValueError("batch() does not stretch codes: use process(), or code_range='full'")
        out = _output(frames, out)
        how = self._layout.samples(frames)
        source, target = _arrays.Stack(frames, how), _arrays.Stack(out, how, True)
        if source.count != target.count:
            raise ValueError("the input and the output differ in their number of frames")
        if _arrays.overlap(source.planes, target.planes):
            raise ValueError("the output needs memory of its own: it overlaps the input")
        _arrays.check_depth(source.first.image, source.planes)
        sync = _sync(source.first, frames, stream, "after")
        with self._lock:
            arrays = self._fill(source.first, target.first, target.planes, _library.NO_TIME, True)
            self._frame.interlaced, self._frame.sync = False, None
            made = _arrays.frames(self._frame, source, target)
            made[0].sync = sync and addressof(sync)
            begin, size = addressof(made), _library.sizeof(_library.Frame)
            self._submit(begin, arrays)
            if sync:
                self._receive()  # the stream's work is complete now, so the other frames need no sync
            for frame in range(begin + size, begin + source.count * size, size):
                self._submit(frame, arrays)
            self._previous = source.last()
            del arrays
            self._receive()
        return out

    def bgr(self, picture: np.ndarray, *, out: Optional[np.ndarray] = None, time: Optional[float] = None,
            rgb: bool = False) -> np.ndarray:
        """Equalizes a picture of (rows, columns, 3 or 4), as in OpenCV, or several of (pictures, rows, columns, 3 or 4).

        Channels are uint8, uint16, or floats from 0 to 1; the fourth is copied. Pictures of 8 bits are equalized in YCbCr
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
            return _with_codes(lambda codes: self.bgr(codes, time=time, rgb=rgb), picture, out)
        if picture.dtype not in (np.uint8, np.uint16):
            raise ValueError("got %s; a colour picture has uint8, uint16, or floats from 0 to 1" % picture.dtype)
        if picture.ndim == 4:
            out = np.empty(picture.shape, picture.dtype) if out is None else out
            if np.shape(out) != picture.shape:
                raise ValueError("the output must have the size of the pictures")
            for one, made in zip(picture, out):
                self.bgr(one, out=made, time=time, rgb=rgb)
            return out
        if picture.strides[1:] != (picture.shape[2] * picture.itemsize, picture.itemsize):
            picture = np.ascontiguousarray(picture)
        if out is None:
            out = np.empty(picture.shape, picture.dtype)
        (source, a), (target, b) = _arrays.pixels(picture, False, rgb), _arrays.pixels(out, True, rgb)
        when = _moment(time)
        if a.data != b.data and _arrays.overlap([a], [b]):
            raise ValueError("the output overlaps a part of the picture")
        with self._lock:
            self._receive()
            self._previous = None
            check(lib.lumeq_process_pixels(self._native, byref(source), byref(target), when, nanoseconds(1 / self.fps),
                                           self._stats.address), self._native)
        return out

    def rgb(self, picture: np.ndarray, *, out: Optional[np.ndarray] = None, time: Optional[float] = None) -> np.ndarray:
        """bgr() for pictures whose first channel is red, as in Pillow and imageio."""
        return self.bgr(picture, out=out, time=time, rgb=True)

    def finish(self) -> None:
        """Waits for frames on a GPU, so that `stats` describes the last frame."""
        with self._lock:
            self._receive()

    def reset(self) -> None:
        """Forgets earlier frames. Call it after a seek, for example."""
        self._stretch.reset()
        with self._lock:
            lib.lumeq_reset(self._native)
            self._previous = None

    @property
    def stats(self) -> Stats:
        """Statistics of the last frame; on a GPU, of the last completed frame (see finish())."""
        with self._lock:
            return self._stats.stats()

    @property
    def backend(self) -> str:
        """'cpu' or 'cuda'. The CPU takes over if the GPU fails."""
        return lib.lumeq_backend_name(self._native).decode()


class Measure:
    """A frame's histogram and other statistics, for History.put()."""

    def __init__(self, *needs: Any) -> None:
        self._native, self._lock = Handle(lib.lumeq_measure_free), threading.Lock()
        self._native.keep = needs  # until the measure is finished


class Curve:
    """Everything needed to equalize one frame."""

    def __init__(self) -> None:
        self._native = Handle(lib.lumeq_curve_unref)

    @property
    def stats(self) -> Stats:
        buffer = _library.StatsBuffer()
        check(lib.lumeq_curve_stats(self._native, buffer.address))
        return buffer.stats()


class Context:
    """Measures and equalizes single frames, in any order and from any thread. Arguments: see Equalizer."""

    def __init__(self, *, backend: str = "auto", device: int = 0, threads: int = 0, depth: Optional[int] = None,
                 shift: int = 0, range: Optional[str] = None, format: Optional[str] = None):
        self._layout = _Layout(depth, shift, range, format)
        self._native = _library.create(lib.lumeq_context_create, lib.lumeq_context_destroy, backend, device, threads)

    def measure(self, frame: Frame, *, previous: Optional[Frame] = None, stream: Optional[int] = None,
                **settings: Unpack[Settings]) -> Measure:
        """Measures a frame for History.put(). previous is the previous frame, for measuring noise. Only the settings
        mode, tiles, meter and reference matter here."""
        params = set_params(None, settings)
        pictures = self._layout.pictures(frame, *([] if previous is None else [previous]))
        _arrays.check_depth(pictures[0].image, pictures[0].planes)
        sync, made = _sync(pictures[0], frame, stream), Measure(self._native, pictures)
        check(lib.lumeq_measure(self._native, byref(made._native), byref(params), byref(pictures[0].image),
                                byref(pictures[1].image) if pictures[1:] else None, sync and byref(sync)))
        return made

    def apply(self, curve: Curve, frame: Frame, *, previous: Sequence[Frame] = (), out: Optional[Frame] = None,
              stream: Optional[int] = None) -> Made:
        """Equalizes a frame by its curve, and returns `out`, or new arrays. previous lists earlier frames, the
        nearest first; the noise filter reads at most three."""
        if not isinstance(curve, Curve):
            raise TypeError("apply() takes a curve, as History.get() returns")
        out = _output(frame, out)
        source, *before, target = self._layout.pictures(frame, *previous, out, outputs=1)
        images = (_library.Image * len(before))(*[one.image for one in before])
        sync = _sync(source, frame, stream)
        check(lib.lumeq_apply(self._native, curve._native, byref(source.image), images, len(before), byref(target.image),
                              sync and byref(sync)))
        return out


class History:
    """Turns measures into curves, in order. lookahead is in seconds, 0 to 10. Settings: see the module.

    put() adds a measure. get() returns the next frame's curve, or None if more measures are needed. end() ends the film;
    after that, get() returns the remaining curves, then None.
    """

    def __init__(self, lookahead: float = 2.0, *, fps: float = 30, **settings: Unpack[Settings]):
        self.fps = _rate(fps)
        params = set_params(None, settings)
        if params.code_range:
            raise ValueError("a History does not stretch codes: use film() or Equalizer, or code_range='full'")
        self._native, self._lock, self._count = Handle(lib.lumeq_history_destroy), threading.Lock(), 0
        check(lib.lumeq_history_create(byref(self._native), byref(params),
                                       nanoseconds(_library.number("lookahead", lookahead))))

    def put(self, measure: Measure, *, time: Optional[float] = None, cut: bool = False,
            interlaced: bool = False) -> None:
        """Adds the next frame's measure. Before that, call get() until it returns None. time is in seconds. cut=True: the
        frame is unrelated to the previous one."""
        if not isinstance(measure, Measure):
            raise TypeError("put() takes what measure() returns")
        moment = _library.Moment(time=_moment(time), duration=nanoseconds(1 / self.fps), discontinuity=bool(cut),
                                 interlaced=bool(interlaced))
        with self._lock, measure._lock:
            moment.number = self._count
            check(lib.lumeq_measure_finish(measure._native, 1))
            measure._native.keep = None
            check(lib.lumeq_history_put(self._native, measure._native, byref(moment)))
            self._count += 1

    def get(self) -> Optional[Curve]:
        """Returns the next frame's curve, or None."""
        made = Curve()
        with self._lock:
            code = lib.lumeq_history_get(self._native, byref(made._native))
        return made if code not in (_library.AGAIN, _library.END) and not check(code) else None

    def end(self) -> None:
        with self._lock:
            check(lib.lumeq_history_put(self._native, None, None))
            self._count = 0


@functools.lru_cache(maxsize=8)
def _context(**options: Any) -> Context:
    return Context(**options)


_OPTIONS = ("backend", "device", "threads", "depth", "shift", "range", "format")


def _split(arguments: Any) -> tuple[Context, Any]:
    """Splits the arguments into options and settings. Returns the shared context with these options, and the settings."""
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
    if _has_floats(frame):
        return _with_codes(lambda codes: equalize(codes, **options), frame, out)
    context, settings = _split(options)
    layout, params = context._layout, set_params(None, settings)
    if params.code_range:
        frame = _Stretch(layout, params.code_range).frame(frame, 0)
        params.code_range = 0
    source, = layout.pictures(frame)
    _arrays.check_depth(source.image, source.planes)
    made = _output(frame, out)
    target, sync = picture(layout.planes(made), layout.samples(source.planes), True), _sync(source, frame, stream)
    moment, images = _library.Moment(time=_library.NO_TIME), (byref(source.image), byref(target.image))
    measure, history, curve = map(Handle, (lib.lumeq_measure_free, lib.lumeq_history_destroy, lib.lumeq_curve_unref))
    check(lib.lumeq_measure(context._native, byref(measure), byref(params), images[0], None, sync and byref(sync)))
    check(lib.lumeq_measure_finish(measure, 1))
    check(lib.lumeq_history_create(byref(history), byref(params), 0))
    check(lib.lumeq_history_put(history, measure, byref(moment)))
    check(lib.lumeq_history_get(history, byref(curve)))
    check(lib.lumeq_apply(context._native, curve, images[0], None, 0, images[1], sync and byref(sync)))
    return made


def film(frames: Iterable[Frame], *, lookahead: float = 2.0, fps: float = 30,
         **options: Unpack[Options]) -> Iterator[Made]:
    """Yields the equalized frames of a film. Curves know the next `lookahead` seconds, so cuts are exact and fades smooth.

    Keeps the frames of these seconds, so each frame needs its own arrays. Options: see Equalizer; settings: see the module.
    """
    context, settings = _split(options)
    history = History(lookahead, fps=fps, **{**settings, "code_range": "full"})
    stretch = _Stretch(context._layout, set_params(None, settings).code_range)
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
    """Equalizes one picture whose first channel is red, as in Pillow and imageio."""
    return bgr(picture, out=out, rgb=True, **options)
