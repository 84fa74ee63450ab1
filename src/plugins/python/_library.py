"""Calls liblumeq by ctypes: structs, functions, settings and statistics. Errors become exceptions."""

from __future__ import annotations

import ctypes
import operator
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

addressof, byref, sizeof = ctypes.addressof, ctypes.byref, ctypes.sizeof
lib = ctypes.CDLL(os.path.join(os.path.dirname(__file__), "liblumeq" + {"win32": ".dll", "darwin": ".dylib"}.get(
    sys.platform, ".so")))

AGAIN, END, GPU = -2, -3, -6  # LUMEQ_ERR_*
NO_TIME = -2**63
MAX_BINS = 4096

_KINDS: dict[str, Any] = {
    "": ctypes.c_int, "z": ctypes.c_size_t, "n": ctypes.c_ssize_t, "q": ctypes.c_int64, "d": ctypes.c_double,
    "p": ctypes.c_void_p, "3p": 3 * ctypes.c_void_p, "3n": 3 * ctypes.c_ssize_t, "3d": 3 * ctypes.c_double}


def _struct(name: str, members: str) -> Any:
    """Makes the class of a struct of lumeq.h. `members` lists NAME:KIND; a first member `size` is set automatically."""
    fields = [(member.partition(":")[0], _KINDS[member.partition(":")[2]]) for member in members.split()]
    made: Any = type(name, (ctypes.Structure,), {"_fields_": fields})
    if fields[0][0] == "size":
        made.__init__ = lambda self, **values: super(made, self).__init__(ctypes.sizeof(made), **values)
    _KINDS[name] = made
    return made


Rect = _struct("Rect", "x y width height")
Codes = _struct("Codes", "low high")
Image = _struct("Image", "plane:3p stride:3n width height chroma_x chroma_y depth shift range memory")
Pixels = _struct("Pixels", "data:p stride:n width height channels depth order")
Params = _struct("Params", "size:z mode reference strength:d adaptive clip:d smooth:d scene_cut tiles_x tiles_y chroma "
                 "dither bars deflicker:d meter:Rect lift denoise:d brightness:d gamma:d await_noise limit code_range "
                 "transfer")
Config = _struct("Config", "size:z backend device threads cpu_without cuda_context:p log:p log_user:p real_time "
                 "no_stage_times batch")
Sync = _struct("Sync", "size:z stream:p ready:p finished:p after:p")
Frame = _struct("Frame", "size:z source:Image out:Image time:q duration:q opaque:p number:q sync:p previous:p interlaced")
Moment = _struct("Moment", "size:z number:q time:q duration:q discontinuity interlaced")
FrameStats = _struct("FrameStats", "size:z hist_in:p hist_out:p curve:p active:Rect bins scene_cut mean_in:d mean_out:d "
                     "strength:d noise_gain:d curve_speed:d upload_us:d equalize_us:d download_us:d stage_begin_us:3d "
                     "stage_end_us:3d previous noise:d lift:d dark:d filtered cleared:d")

# Kinds of a function's arguments, one letter each: a key of _KINDS, or i for int.
for _name, _kinds in {
        "version": "", "build_info": "", "error_string": "i", "last_error": "p", "backend_name": "p",
        "params_default": "p", "params_profile": "pp", "create": "pppz", "destroy": "p", "set_params": "pp",
        "submit": "pp", "receive": "ppp", "process": "ppp", "process_pixels": "pppqqp", "flush": "p", "reset": "p",
        "context_create": "pppz", "context_destroy": "p", "measure": "pppppp", "measure_finish": "pi",
        "measure_free": "p", "apply": "ppppipp", "history_create": "ppq", "history_destroy": "p", "history_put": "ppp",
        "history_get": "pp", "curve_stats": "pp", "curve_unref": "p", "stretch_create": "pp", "stretch_destroy": "p",
        "stretch_reset": "p", "stretch_window": "pipqp", "stretch_write": "pppp"}.items():
    getattr(lib, "lumeq_" + _name).argtypes = [_KINDS[kind.replace("i", "")] for kind in _kinds]
for _name in "build_info", "error_string", "last_error", "backend_name":
    getattr(lib, "lumeq_" + _name).restype = ctypes.c_char_p


class Error(RuntimeError):
    """The GPU failed, or cannot be used."""


def check(code: int, equalizer: Any = None, why: Any = None) -> int:
    """Raises the exception for a LUMEQ_ERR_*, with the library's sentence."""
    if code >= 0:
        return code
    text = why.value if why else lib.lumeq_last_error(equalizer)
    text = (text or lib.lumeq_error_string(code)).decode(errors="replace")
    raise {-1: ValueError, -4: MemoryError}.get(code, Error)(text)


class Handle(ctypes.c_void_p):
    """A pointer to an object of the library. Deleting the pointer destroys the object; `keep` holds what the object uses."""

    keep: Any = None

    def __init__(self, destroy: Any):
        super().__init__()
        self.destroy = destroy

    def __del__(self, byref: Any = ctypes.byref) -> None:
        self.destroy(byref(self))


# ---- settings ----

_WORDS = {"mode": ("global", "off", "clahe", "stretch", "haze"), "chroma": ("scale", "keep"), "bars": ("auto", "ignore"),
          "code_range": ("full", "auto", "used"), "transfer": ("sdr", "pq", "hlg"), "limit": ("none", "darken", "lighten")}
_AUTOMATIC = "strength", "clip", "denoise"
_NUMBERS = "smooth", "deflicker", "brightness", "gamma"
_TRUTHS = "reference", "adaptive", "scene_cut", "dither", "lift", "await_noise"


def choice(name: str, value: Any, words: Sequence[str]) -> int:
    if not isinstance(value, str) or value not in words:
        raise ValueError("%s must be one of %s" % (name, ", ".join(map(repr, words))))
    return words.index(value)


def number(name: str, value: Any, sentence: str = "is not a number") -> float:
    try:
        return ctypes.c_double(value).value
    except (TypeError, OverflowError):
        raise TypeError("%s %s" % (name, sentence)) from None


def integer(name: str, value: Any) -> int:
    try:
        found = operator.index(value)
    except TypeError:
        found = 2**31
    if not -2**31 <= found < 2**31:
        raise TypeError("%s must be an integer of 32 bits" % name)
    return found


def nanoseconds(seconds: float) -> int:
    if not -9e9 < seconds < 9e9:
        raise ValueError("a time must be between -9e9 and 9e9 seconds")
    return round(seconds * 1e9)


def _integers(name: str, value: Any, count: int, sentence: str) -> list[int]:
    if not isinstance(value, Sequence) and not isinstance(value, np.ndarray) or len(value) != count:
        raise ValueError("%s is not %s" % (name, sentence))
    return [integer(name, one) for one in value]


def set_params(params: Any, settings: Mapping[str, Any]) -> Any:
    """Returns a copy of `params` (None: the defaults) with these settings. A profile is applied before the others."""
    made = Params.from_buffer_copy(params) if params else Params()
    if not params:
        lib.lumeq_params_default(byref(made))
    profile = settings.get("profile")
    if profile is not None:
        if not isinstance(profile, str):
            raise TypeError("profile is not a string")
        check(lib.lumeq_params_profile(byref(made), profile.encode(errors="replace")))
    for name, value in settings.items():
        if name in _WORDS:
            setattr(made, name, choice(name, value, _WORDS[name]))
        elif name in _AUTOMATIC:
            automatic = isinstance(value, str) and value == "auto"
            setattr(made, name, -1 if automatic else number(name, value, "is neither a number nor 'auto'"))
        elif name in _NUMBERS:
            setattr(made, name, number(name, value))
        elif name in _TRUTHS:
            setattr(made, name, number(name, value, "is neither True nor False") != 0)
        elif name == "tiles":
            made.tiles_x, made.tiles_y = _integers(name, value, 2, "(columns, rows)")
        elif name == "meter" and isinstance(value, str):
            middle = choice(name, value, ("all", "centre"))
            made.meter = Rect(0, 0, -middle, -middle)
        elif name == "meter":
            made.meter = Rect(*_integers(name, value, 4, "'all', 'centre' or (x, y, width, height)"))
        elif name != "profile":
            names = ("profile", *_WORDS, *_AUTOMATIC, *_NUMBERS, *_TRUTHS, "tiles")
            raise TypeError("unknown setting '%s'; settings are %s and meter" % (name, ", ".join(names)))
    return made


def create(function: Any, destroy: Any, backend: Any, device: Any, threads: Any, batch: Any = 0) -> Handle:
    """Creates an object of the library. On failure, the exception has the library's reason."""
    made, why = Handle(destroy), ctypes.create_string_buffer(256)
    config = Config(backend=choice("backend", backend, ("auto", "cpu", "cuda")), device=integer("device", device),
                    threads=integer("threads", threads), batch=integer("batch", batch), no_stage_times=1)
    check(function(byref(made), byref(config), why, len(why)), why=why)
    return made


# ---- statistics ----

@dataclass(frozen=True, eq=False)
class Stats:
    """Statistics of a frame and its curve. Luma is in codes of the frame's depth; from 13 bits on, a bin counts several
    codes. After bgr() with 8 bits, means are in 8-bit codes, histograms and the curve in 10-bit codes."""

    strength: float  #: of the equalization, 0 to 1
    lift: float  #: gain of the darkest tones before equalization, at least 1
    dark: float  #: darkness of the picture, 0 to 1
    noise: float  #: standard deviation in codes of 8 bits, -1 if unknown
    filtered: bool  #: the noise filter ran
    scene_cut: bool  #: treated as the first frame of a scene
    mean_in: float
    mean_out: float
    active: tuple[int, int, int, int]  #: x, y, width and height of the picture without bars
    previous: int  #: number of earlier frames that apply() can use
    histogram_in: np.ndarray  #: samples in each bin
    histogram_out: np.ndarray
    curve: np.ndarray  #: output code of each bin


class StatsBuffer:
    """Memory into which the library writes statistics."""

    def __init__(self) -> None:
        self.bins = np.empty((3, MAX_BINS), np.uint32)
        begin, row = self.bins.ctypes.data, self.bins.strides[0]
        self.c = FrameStats(hist_in=begin, hist_out=begin + row, curve=begin + 2 * row)
        self.address = ctypes.addressof(self.c)

    def stats(self) -> Stats:
        c, bins = self.c, self.bins[:, :self.c.bins].astype(float)
        return Stats(c.strength, c.lift, c.dark, c.noise, bool(c.filtered), bool(c.scene_cut), c.mean_in, c.mean_out,
                     (c.active.x, c.active.y, c.active.width, c.active.height), c.previous, bins[0], bins[1],
                     bins[2] / 65536)
