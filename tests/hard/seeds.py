"""Makes the trials' seeds: 49 small videos that cover many containers and codecs. Each is made once, in $HARD_SEEDS."""

import functools
import os
import shutil
import tempfile

from common import Store, ffmpeg, has_encoder

VIDEO = "testsrc2=size=96x64:rate=24,lutyuv=y='64+val/4'"
SECONDS = 1.5
X264, X265 = ("-c:v", "libx264", "-preset", "ultrafast", "-g", "12"), ("-c:v", "libx265", "-preset", "ultrafast")
QUIET = ("-x265-params", "log-level=none:keyint=12")
VP8, VP9 = ("-c:v", "libvpx", "-cpu-used", "8"), ("-c:v", "libvpx-vp9", "-cpu-used", "8")
AV1 = ("-c:v", "libaom-av1", "-cpu-used", "8", "-g", "12")
SUBTITLES = "1\n00:00:00,100 --> 00:00:00,900\nHello <i>world</i>\n\n2\n00:00:01,000 --> 00:00:01,400\nBye\n"

# name: ffmpeg's options. A name ending in "/" is a folder of pictures.
SEEDS = {
    # Matroska and WebM
    "h264.mkv": (*X264, "-bf", "2", "-c:a", "aac"),
    "open-gop.mkv": ("-c:v", "libx264", "-g", "10", "-x264-params", "open-gop=1:bframes=3", "-c:a", "ac3"),
    "fields.mkv": ("-c:v", "libx264", "-g", "12", "-flags", "+ildct+ilme", "-x264-params", "tff=1", "-c:a", "flac"),
    "h264-444.mkv": (*X264, "-pix_fmt", "yuv444p"),
    "h264-10.mkv": (*X264, "-pix_fmt", "yuv420p10le"),
    "hevc-12.mkv": (*X265, *QUIET, "-pix_fmt", "yuv422p12le"),
    "av1.mkv": (*AV1, "-c:a", "libopus"),
    "ffv1.mkv": ("-c:v", "ffv1", "-level", "3", "-slicecrc", "1", "-g", "1", "-c:a", "pcm_s16le"),
    "ffv1-gray16.mkv": ("-c:v", "ffv1", "-level", "3", "-slicecrc", "1", "-pix_fmt", "gray16le"),
    "mjpeg.mkv": ("-c:v", "mjpeg", "-c:a", "libvorbis"),
    "raw.mkv": ("-c:v", "rawvideo", "-r", "8"),
    "subtitles.mkv": ("subtitles", *X264, "-c:s", "ass", "-c:a", "aac"),
    "vp8.webm": (*VP8, "-c:a", "libvorbis"),
    "vp9.webm": (*VP9, "-c:a", "libopus"),
    "vp9-10.webm": (*VP9, "-pix_fmt", "yuv420p10le"),
    # MP4 and QuickTime
    "h264.mp4": (*X264, "-c:a", "aac"),
    "front.mp4": (*X264, "-bf", "2", "-c:a", "aac", "-movflags", "+faststart"),
    "fragments.mp4": (*X264, "-c:a", "aac", "-movflags", "frag_keyframe+empty_moov+default_base_moof"),
    "hevc-10.mp4": (*X265, *QUIET, "-pix_fmt", "yuv420p10le", "-c:a", "aac"),
    "av1.mp4": (*AV1, "-c:a", "aac"),
    "mpeg4.mp4": ("subtitles", "-c:v", "mpeg4", "-bf", "2", "-c:a", "aac", "-c:s", "mov_text"),
    "prores.mov": ("-c:v", "prores_ks", "-c:a", "pcm_s24le"),
    "prores-4444.mov": ("-c:v", "prores_ks", "-profile:v", "4444", "-pix_fmt", "yuva444p10le"),
    "png.mov": ("-c:v", "png", "-pix_fmt", "rgb24", "-r", "8"),
    "mjpeg.mov": ("-c:v", "mjpeg", "-c:a", "pcm_s16be"),
    # AVI
    "mpeg4.avi": ("-c:v", "mpeg4", "-bf", "2", "-c:a", "libmp3lame"),
    "h264.avi": (*X264, "-bf", "0", "-c:a", "ac3"),
    "mjpeg.avi": ("-c:v", "mjpeg", "-c:a", "pcm_s16le"),
    "huffyuv.avi": ("-c:v", "huffyuv", "-pix_fmt", "yuv422p", "-r", "8"),
    "utvideo.avi": ("-c:v", "utvideo", "-r", "8"),
    # transport and program streams
    "h264.ts": (*X264, "-bf", "2", "-c:a", "aac"),
    "hevc.ts": (*X265, *QUIET, "-c:a", "ac3"),
    "mpeg2.ts": ("-c:v", "mpeg2video", "-bf", "2", "-c:a", "mp2"),
    "mpeg1.mpg": ("-c:v", "mpeg1video", "-c:a", "mp2"),
    "mpeg2.mpg": ("-c:v", "mpeg2video", "-f", "vob", "-bf", "2", "-c:a", "mp2"),
    # others
    "ffv1.nut": ("-c:v", "ffv1", "-level", "3", "-c:a", "flac"),
    "theora.ogv": ("-c:v", "libtheora", "-c:a", "libvorbis"),
    "flv1.flv": ("-c:v", "flv", "-c:a", "libmp3lame"),
    "h264.flv": (*X264, "-bf", "2", "-c:a", "aac"),
    "mpeg2.mxf": ("-c:v", "mpeg2video", "-r", "25", "-c:a", "pcm_s16le", "-ar", "48000"),
    "wmv2.wmv": ("-c:v", "wmv2", "-c:a", "wmav2"),
    "gif.gif": ("-c:v", "gif", "-r", "8"),
    "apng.apng": ("-c:v", "apng", "-r", "8"),
    # without a container
    "bare.h264": (*X264, "-bf", "2"),
    "bare.hevc": (*X265, *QUIET),
    "vp9.ivf": VP9,
    "8.y4m": ("-r", "8"),
    "12.y4m": ("-pix_fmt", "yuv422p12le", "-strict", "-1", "-r", "8"),
    # numbered pictures
    "pictures/": ("-c:v", "png", "-r", "8"),
}
SILENT = (".gif", ".apng", ".h264", ".hevc", ".ivf", ".y4m", "/")  # formats without sound


@functools.lru_cache(None)
def folder():
    """The seeds' folder: $HARD_SEEDS, or a temporary one."""
    path = os.environ.get("HARD_SEEDS") or Store.path("seeds")
    os.makedirs(path, exist_ok=True)
    return path


def names():
    """The names of the seeds that this FFmpeg can make."""
    return [name for name, options in SEEDS.items()
            if all(has_encoder_once(options[i + 1]) for i, o in enumerate(options) if o in ("-c:v", "-c:a"))]


has_encoder_once = functools.lru_cache(None)(has_encoder)


def seed(name):
    """The path of a seed. Several tests may make a seed at once, so each test renames a complete copy of its own."""
    path = os.path.join(folder(), name.rstrip("/"))
    if not os.path.exists(path):
        work = tempfile.mkdtemp(prefix="making-", dir=folder())
        make(name, os.path.join(work, os.path.basename(path)), work)
        try:
            os.rename(os.path.join(work, os.path.basename(path)), path)
        except OSError:  # another test has made this folder
            pass
        shutil.rmtree(work)
    return path


def good():
    """The path of an undamaged video."""
    path = os.path.join(folder(), "good.mkv")
    if not os.path.exists(path):
        shutil.copy(seed("h264.mkv"), path + str(os.getpid()))
        os.rename(path + str(os.getpid()), path)
    return path


def make(name, path, work):
    options = list(SEEDS[name])
    inputs = ["-f", "lavfi", "-t", SECONDS, "-i", VIDEO]
    if not name.endswith(SILENT) and "-c:a" in options:
        inputs += ["-f", "lavfi", "-t", SECONDS, "-i", "sine=frequency=440:sample_rate=48000"]
    if options[0] == "subtitles":
        del options[0]
        text = os.path.join(work, "text.srt")
        with open(text, "w", encoding="utf-8") as f:
            f.write(SUBTITLES)
        inputs += ["-i", text]
    if name.endswith("/"):
        os.mkdir(path)
        path = os.path.join(path, "f%02d.png")
    ffmpeg(*inputs, *options, "-threads", 1, "-flags", "+bitexact", "-fflags", "+bitexact", path)
