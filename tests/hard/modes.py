"""The ways in which trials run the program, and the options that trials add at random."""

import collections

# command: {in} is the input, {good} an undamaged file; files: regular expression for all files that a run writes;
# least: minimum number of these files; stdin: the input is piped.
Mode = collections.namedtuple("Mode", "command files least stdin", defaults=(0,))

MODES = {
    "file": Mode("{in} -o out.mkv --vcodec ffv1 --lookahead off", r"out\.mkv", 1),
    "two-pass": Mode("{in} -o out.mp4 --vcodec libx264 --preset ultrafast --pix-fmt yuv420p", r"out\.mp4", 1),
    "null": Mode("{in} --null --stats s.csv", r"s\.csv", 1),
    "report": Mode("{in} --null --report r.html", r"r\.html", 1),
    "sample": Mode("{in} -o out.mkv --vcodec mpeg4 --pix-fmt yuv420p --sample=1", r"out\.mkv\.sample\.png", 0),
    "jobs": Mode("{in} -o out.mkv --vcodec ffv1 --jobs 2 --parts 3", r"out\.mkv", 1),
    "segments": Mode("{in} -o cam-%Y%m%d-%H%M%S.mkv --vcodec ffv1 --segment-time 1",
                     r"cam-[-0-9]+\.mkv|\.lumeq-pieces-[0-9a-f]{8}", 1),
    "sequence": Mode("{in} --sequence -o f%04d.png", r"f\d{4}\.png", 1),
    "pipe": Mode("- -o - --format nut --vcodec ffv1", "", 0, True),
    "many": Mode("{in} {good} -o many/ --format matroska --vcodec mpeg4 --pix-fmt yuv420p", r"many(/.*)?", 2),
    "window": Mode("{in} --no-config --backend cpu --speed 4 --keep-open no", "", 0),
}


def fits(mode, name):
    """True if a mode can use a seed. A pipe cannot carry a folder, and --sample needs a film of known length."""
    return not (mode == "pipe" and name.endswith("/") or
                mode == "sample" and name in ("apng.apng", "bare.h264", "bare.hevc"))


ALL = tuple(MODES)
HEADLESS = tuple(m for m in MODES if m != "window")
ENCODED = ("file", "two-pass", "jobs", "segments", "many", "pipe")  # these write sound and tags
FFV1 = ("file", "jobs", "segments", "pipe")
SINGLE = ("file", "two-pass", "null", "report", "pipe", "window")
WINDOW = ("window",)
NOT_JOBS = tuple(m for m in HEADLESS if m != "jobs")

# option: (modes that it is added to, its values; "" for a flag)
OPTIONS = {
    "recursive": (("many",), ("",)),
    "sequence-rate": (("file", "null"), ("12.5",)),  # only for a folder of numbered pictures
    "overwrite": (("file", "two-pass", "jobs", "many", "sequence"), ("",)),
    "keep": (("segments",), ("1M",)),
    "overlay": (("file", "two-pass", "jobs", "many"), ("",)),
    "mode": (ALL, ("global", "off", "clahe", "stretch", "haze")),
    "profile": (ALL, ("fog", "medical-gray", "night", "screen", "surveillance", "thermal", "water")),
    "strength": (ALL, ("0", "0.5", "1")),
    "clip": (ALL, ("0", "2")),
    "denoise": (ALL, ("off", "0.5")),
    "tiles": (ALL, ("1x1", "16x16")),
    "brightness": (ALL, ("-0.5", "0.5")),
    "gamma": (ALL, ("0.1", "3")),
    "limit": (ALL, ("darken", "lighten")),
    "smooth": (ALL, ("0", "2")),
    "scene-cut": (ALL, ("off", "on")),
    "chroma": (ALL, ("scale", "keep")),
    "dither": (ALL, ("on", "off")),
    "meter": (ALL, ("centre", "8,8,16,16")),
    "bars": (ALL, ("ignore",)),
    "deflicker": (("two-pass", "null", "jobs"), ("1",)),
    "range": (ALL, ("limited", "full")),
    "code-range": (ALL, ("used", "full")),
    "deinterlace": (ALL, ("on", "off")),
    "reference": (ALL, ("",)),
    "ss": (SINGLE, ("0.5", "1.2")),
    "to": (SINGLE, ("0.6", "1.4")),
    "frames": (SINGLE, ("1", "20")),
    "devices": (("jobs",), ("all",)),
    "resume": (("jobs", "many"), ("",)),
    "crf": (("two-pass",), ("0", "51")),
    "bitrate": (("two-pass", "many"), ("50K",)),
    "pix-fmt": (("file",), ("source", "auto10", "yuv420p")),
    "vopt": (FFV1, ("slicecrc=1",)),
    "video-track": (HEADLESS, ("0",)),
    "audio-track": (("file", "null"), ("0",)),
    "sub-track": (("file", "null", "window"), ("none",)),
    "acodec": (ENCODED, ("none", "copy", "aac")),
    "no-subs": (ENCODED, ("",)),
    "no-chapters": (ENCODED, ("",)),
    "no-metadata": (ENCODED, ("",)),
    "compare": (("file", "two-pass", "jobs", "window"), ("split", "side")),
    "histogram": (WINDOW, ("off", "panel", "overlay")),
    "hist-scale": (WINDOW, ("log",)),
    "scope": (WINDOW, ("waveform", "vectorscope", "all")),
    "osd-scale": (WINDOW, ("0.5", "4")),
    "screenshot-dir": (WINDOW, (".",)),
    "fullscreen": (WINDOW, ("",)),
    "volume": (WINDOW, ("10",)),
    "mute": (WINDOW, ("",)),
    "no-audio": (WINDOW, ("",)),
    "low-latency": (("pipe",), ("",)),
    "hwdec": (ALL, ("no",)),
    "device": (("null",), ("0",)),
    "threads": (ALL, ("1", "3")),
    "no-network": (ALL, ("",)),
    "open-timeout": (ALL, ("30",)),
    "allow-playlists": (NOT_JOBS, ("",)),
    "force-dolby-vision": (ALL, ("",)),
    "max-pixels": (ALL, ("100000",)),
    "sandbox": (HEADLESS, ("off",)),  # the default is auto, except with sanitizers
    "config": (("null",), ("/dev/null",)),
    "progress": (HEADLESS, ("none",)),
    "color": (ALL, ("always",)),
}

# option: why no trial adds it
UNTRIED = {
    "no-measure": "only for lumeq plan",
    "part-seconds": "like --parts",
    "idle": "the window waits",
    "loop": "never ends", "loop-all": "never ends",
    "shuffle": "only for lists",
    "remember": "writes the user's settings; see tests/app/test_window_live.py",
    "sub-file": "needs a second file; see tests/player/test_subtitle_files.c",
    "quiet": "every trial is quiet", "verbose": "no fixed number of lines",
    "network": "the default", "reconnect": "only for URLs", "no-reconnect": "only for URLs",
    "network-timeout": "only for URLs", "password-file": "only for URLs",
    "help": "opens no input", "version": "opens no input", "doctor": "opens no input", "json": "opens no input",
    "list-gpus": "opens no input", "list-devices": "opens no input", "list-formats": "cameras",
    "camera": "cameras", "video-size": "cameras", "framerate": "cameras", "input-format": "cameras",
    "mirror": "cameras", "record-raw": "cameras", "microphone": "cameras",
    "virtual-camera": "needs a device; see tests/app/test_virtual_camera.py",
}


def own_options():
    """The options in the modes' commands."""
    words = " ".join(mode.command for mode in MODES.values()).split()
    return {w[2:].partition("=")[0] for w in words if w.startswith("--")} | {"output"}


def extra(random, mode, name):
    """A random option that fits this mode and seed, or none, as words."""
    own = MODES[mode].command.split()
    fitting = [o for o, (modes, _) in OPTIONS.items() if mode in modes and "--" + o not in own]
    if not name.endswith("/"):
        fitting = [o for o in fitting if o != "sequence-rate"]
    if random.random() < 0.3:
        return []
    option = random.choice(fitting)
    value = random.choice(OPTIONS[option][1])
    return ["--%s=%s" % (option, value) if value else "--" + option]
