"""Describes arrays of all libraries as pictures of liblumeq. Each combination of shapes is checked once and cached."""

from __future__ import annotations

import ctypes
import functools
import sys
import types
from collections.abc import Sequence
from typing import Any, NamedTuple, Union

import numpy as np

from ._library import Frame, Image, Pixels

_new = tuple.__new__  # NamedTuple's own __new__ takes three times as long
_BYTES = {"|u1": 1, "<u2": 2}
_ELSEWHERE = ("an array must be in host memory or on an NVIDIA GPU; a GPU array that supports only DLPack needs CuPy or "
              "PyTorch: import one of them")


class Plane(NamedTuple):
    """Where an array's samples are. The array keeps them alive."""

    data: int
    form: tuple[Any, ...]  #: shape, strides in bytes, bytes of a sample, whether it is on a GPU
    stream: int  #: the CUDA stream that fills the array; 0: unknown
    array: Any


class Samples(NamedTuple):
    """How samples are stored."""

    depth: int  #: 0: all bits of the array's type
    shift: int
    full: bool


class Picture(NamedTuple):
    image: Any
    planes: Sequence[Plane]
    kind: tuple[Any, ...]  #: a previous picture must be of the same kind


def kind_of(array: Any) -> str:
    """The dtype of an array, such as 'float64', or the type of anything else."""
    if array is None:
        return "None: did cv2.imread() find the file?"
    return str(getattr(array, "dtype", type(array).__name__))


def _interface(about: Any) -> tuple[Any, ...]:
    """Reads __cuda_array_interface__: address, read-only flag, shape, strides, bytes of a sample, and stream."""
    try:
        (data, read_only), shape, size = about["data"], tuple(about["shape"]), _BYTES.get(about["typestr"], 0)
        strides = about.get("strides") or [size * int(np.prod(shape[i + 1:])) for i in range(len(shape))]
        return data, read_only, shape, tuple(strides), size, about.get("stream") or 0
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ValueError("__cuda_array_interface__ has no valid shape, strides, typestr, data or stream") from None


def plane(array: Any, writable: bool) -> Plane:
    """Describes an array by the attributes of known libraries, else by __cuda_array_interface__, else by DLPack. DLPack
    makes streams wait for each other."""
    stream, gpu, read_only = 0, False, False
    if isinstance(array, np.ndarray):
        about = array.__array_interface__
        (data, read_only), shape, size = about["data"], about["shape"], _BYTES.get(about["typestr"], 0)
        strides = about["strides"] or array.strides
    elif (torch := sys.modules.get("torch")) and isinstance(array, torch.Tensor):
        data, gpu, shape, size = array.data_ptr(), array.is_cuda, tuple(array.shape), array.element_size()
        if array.dtype not in (torch.uint8, getattr(torch, "uint16", None)):
            size = 0
        if not gpu and array.device.type != "cpu":
            raise ValueError(_ELSEWHERE)
        strides = tuple(step * size for step in array.stride())
    elif (cupy := sys.modules.get("cupy")) and isinstance(array, cupy.ndarray):
        data, gpu, shape, strides, size = array.data.ptr, True, array.shape, array.strides, _BYTES.get(array.dtype.str, 0)
    elif hasattr(array, "__cuda_array_interface__"):
        data, read_only, shape, strides, size, stream = _interface(array.__cuda_array_interface__)
        gpu = True
    elif hasattr(array, "__dlpack__"):
        library: Any = {1: np, 2: cupy or torch}.get(array.__dlpack_device__()[0])
        if not library:
            raise ValueError(_ELSEWHERE)
        return plane(library.from_dlpack(array), False)
    elif hasattr(array, "dtype"):
        size = 0
    else:
        raise TypeError("a frame is an array, or a tuple of arrays: luma, then Cb and Cr; got " + kind_of(array))
    if not size:
        raise ValueError("samples are neither uint8 nor uint16 in the machine's byte order, nor floats from 0 to 1: got " +
                         kind_of(array))
    if writable and read_only:
        raise ValueError("an output array is read-only")
    return _new(Plane, (data, (shape, strides, size, gpu), stream, array))


def planes(frame: Any, writable: bool) -> list[Plane]:
    """The planes of a frame: an array, or a tuple or list of one to three."""
    arrays = frame if isinstance(frame, (tuple, list)) else (frame,)
    if not 1 <= len(arrays) <= 3:
        raise ValueError("a frame has one to three planes: luma; luma, Cb and Cr; or luma and interleaved chroma")
    return [plane(array, writable) for array in arrays]


def _subsampling(image: Any, rows: int, columns: int) -> tuple[int, int]:
    """log2 of the number of luma columns and of luma rows per chroma sample."""
    def found(luma: int, chroma: int) -> Union[int, None]:
        return next((log for log in range(3) if chroma == ((luma - 1) >> log) + 1), None)

    x, y = found(image.width, columns), found(image.height, rows)
    if x is None or y is None:
        raise ValueError("a chroma plane of %dx%d does not fit luma of %dx%d: each side must be luma's divided by 1, 2 or "
                         "4, rounded up" % (columns, rows, image.width, image.height))
    return x, y


@functools.lru_cache(maxsize=256)
def _describe(forms: tuple[Any, ...], samples: Samples) -> tuple[Any, ...]:
    """An image without addresses, and the members that must be equal in the previous frame."""
    image = Image()
    for i, (shape, strides, size, gpu) in enumerate(forms):
        if len(shape) not in (2, 3):
            raise ValueError("a plane has two dimensions or three; got an array of %d" % len(shape))
        if not shape[0] or not shape[1]:
            raise ValueError("an array is empty")
        pairs, channels = i == 1 and len(forms) == 2, shape[2] if len(shape) == 3 else 1
        if len(shape) == 3 and channels != 1 + pairs:
            raise ValueError("interleaved chroma has two samples in its last dimension" if pairs else
                             "a plane has one sample for each pixel: pass a tuple of planes, or use bgr() or rgb() for "
                             "colour pictures")
        if (channels > 1 and strides[2] != size) or (shape[1] > 1 and strides[1] != size * channels):
            raise ValueError("the samples of a row are not contiguous: copy the array")
        if i == 0:
            image.height, image.width, image.memory = shape[0], shape[1], gpu
        elif (size, gpu) != forms[0][2:]:
            raise ValueError("the planes of a frame differ in their type or memory")
        elif pairs and len(shape) == 2 and shape[1] % 2:
            raise ValueError("interleaved Cb and Cr have an odd number of columns")
        else:
            chroma = _subsampling(image, shape[0], shape[1] // 2 if pairs and len(shape) == 2 else shape[1])
            if i == 2 and chroma != (image.chroma_x, image.chroma_y):
                raise ValueError("Cb and Cr differ in size")
            image.chroma_x, image.chroma_y = chroma
        image.stride[i] = strides[0] if shape[0] > 1 else size * shape[1] * channels
    size = forms[0][2]
    image.depth, image.shift, image.range = samples.depth or 8 * size, samples.shift, samples.full
    if (image.depth > 8) != (size == 2):
        raise ValueError("a depth of %d does not fit samples of %d bits: uint8 has 8 bits, uint16 has 9 to 16" % (
            image.depth, 8 * size))
    return bytes(image), (len(forms), *(getattr(image, name) for name, _ in Image._fields_[2:]))


def describe(planes: Sequence[Plane], samples: Samples) -> Picture:
    template, kind = _describe(tuple([one.form for one in planes]), samples)
    image = Image.from_buffer_copy(template)
    address = image.plane
    for i, one in enumerate(planes):
        address[i] = one.data
    return _new(Picture, (image, planes, kind))


def picture(frame: Any, samples: Samples, writable: bool = False) -> Picture:
    return describe(planes(frame, writable) if isinstance(frame, (tuple, list)) else [plane(frame, writable)], samples)


def _view(one: Plane) -> np.ndarray:
    """A NumPy array of the plane's samples. If the samples are on a GPU, only the array's bounds may be used."""
    shape, strides, size, _ = one.form
    return np.asarray(types.SimpleNamespace(__array_interface__={
        "data": (one.data, False), "shape": shape, "strides": strides, "typestr": "<u%d" % size, "version": 3}))


def overlap(a: Sequence[Plane], b: Sequence[Plane]) -> bool:
    """True if a plane of `a` shares bytes with a plane of `b`."""
    views = list(map(_view, b))
    return any(np.shares_memory(_view(x), y) for x in a for y in views)


def check_depth(image: Any, planes: Sequence[Plane]) -> None:
    """Refuses samples beyond the depth, which the library would treat as the highest code."""
    if image.depth == 8 or image.memory or image.depth + image.shift == 16:
        return
    if any(_view(one).max() >> image.depth + image.shift for one in planes):
        raise ValueError("samples have more than depth=%d bits%s" % (
            image.depth, " above shift=%d" % image.shift if image.shift else ""))


def pixels(array: Any, writable: bool, order: int) -> tuple[Any, Plane]:
    """A colour picture, whose channels are contiguous."""
    one = plane(array, writable)
    shape, strides, size, gpu = one.form
    if gpu:
        raise ValueError("bgr() and rgb() need arrays in host memory")
    if len(shape) != 3 or strides[2] != size or strides[1] != shape[2] * size:
        raise ValueError("the output is not of (rows, columns, channels), or the channels of a row are not contiguous")
    return Pixels(one.data, strides[0], shape[1], shape[0], shape[2], 8 * size, order), one


class Stack:
    """The frames of a batch, whose planes are arrays of (frames, rows, columns)."""

    def __init__(self, arrays: Any, samples: Samples, writable: bool = False):
        self.planes, self._samples = planes(arrays, writable), samples
        self.count = self.planes[0].form[0][0]
        self.steps = [one.form[1][0] for one in self.planes]  #: bytes from one frame to the next
        for one in self.planes:
            if len(one.form[0]) != 3 or one.form[0][0] != self.count:
                raise ValueError("the planes of a batch are arrays of (frames, rows, columns), with the same number of "
                                 "frames")
        if not self.count:
            raise ValueError("an array is empty")
        self.first = self._frame(0)

    def _frame(self, i: int) -> Picture:
        return describe([Plane(one.data + i * step, (one.form[0][1:], one.form[1][1:], *one.form[2:]), one.stream, one.array)
                         for one, step in zip(self.planes, self.steps)], self._samples)

    def last(self) -> Picture:
        return self._frame(self.count - 1)


def frames(first: Any, source: Stack, target: Stack) -> Any:
    """The frames to submit for a batch: copies of `first`, each with its own addresses."""
    made = (Frame * source.count)()
    values = np.frombuffer(made, np.int64).reshape(source.count, -1)
    values[:] = np.frombuffer(first, np.int64)
    for stack, offset in (source, Frame.source.offset), (target, Frame.out.offset):
        for i, step in enumerate(stack.steps):
            values[:, offset // 8 + i] += np.arange(source.count) * step
    if source.steps[0]:
        before = ctypes.addressof(made) + Frame.source.offset + np.arange(source.count - 1) * ctypes.sizeof(Frame)
        values[1:, Frame.previous.offset // 8] = before
    return made
