"""A video track copied beside the equalized one decodes to the same frames."""

import glob

from common import *

TWO = ("-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=2", "-f", "lavfi", "-i", "mandelbrot=s=64x64:r=25",
       "-t", "2", "-map", "0", "-map", "1")
ENCODERS = {
    "b-frames": ("-c:v", "libx264", "-preset", "veryfast", "-bf", "3", "-g", "25"),
    "open groups": ("-c:v", "libx264", "-preset", "veryfast", "-x264-params",
                    "open-gop=1:keyint=20:bframes=3:b-adapt=0"),
    "hevc": ("-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=none:keyint=20:bframes=4"),
    "mpeg2": ("-c:v", "mpeg2video", "-bf", "2", "-g", "12"),
    "mpeg4": ("-c:v", "mpeg4", "-bf", "2", "-g", "12"),
}


def md5(path, track="0:v:1"):
    return ffmpeg("-i", path, "-map", track, "-f", "md5", "-")


def frame_md5s(path, track="0:v:1"):
    """Hashes of the frames in presentation order."""
    lines = ffmpeg("-i", path, "-map", track, "-fps_mode", "passthrough", "-f", "framemd5", "-").decode().splitlines()
    return [line.split(",")[-1].strip() for line in lines if not line.startswith("#")]


class Bits:
    """An H.264 bit stream."""

    def __init__(self):
        self.bits = ""

    def u(self, count, value):
        self.bits += format(value, "0%db" % count)

    def ue(self, *values):
        for value in values:
            text = format(value + 1, "b")
            self.bits += "0" * (len(text) - 1) + text

    def align(self):
        self.bits += "0" * (-len(self.bits) % 8)

    def unit(self, head):
        self.bits += "1"
        self.align()
        data, zeros = bytearray(), 0
        for byte in int(self.bits, 2).to_bytes(len(self.bits) // 8, "big"):
            if zeros >= 2 and byte <= 3:
                data.append(3)
                zeros = 0
            data.append(byte)
            zeros = 0 if byte else zeros + 1
        return b"\0\0\0\1" + bytes([head]) + bytes(data)


def field(number, bottom, idr, reference, order):
    """A field of 32x16 luma samples, coded as I_PCM if other fields refer to it, else as a copy of the last reference."""
    bits = Bits()
    bits.ue(0, 7 if reference else 5, 0)
    bits.u(4, number)
    bits.u(2, 2 + bottom)
    if idr:
        bits.ue(0)
    bits.u(8, order)
    if reference:
        bits.u(2 if idr else 1, 0)
    else:
        bits.u(2, 0)
    bits.ue(0, 1)
    if not reference:
        bits.ue(2)
    for block in range(2 if reference else 0):
        bits.ue(25)
        bits.align()
        for i in range(384):
            bits.u(8, 20 + (order * 3 + block * 11 + i % 16) % 200)
    return bits.unit((0x20 if reference else 0) + (5 if idr else 1))


def field_pairs(frames):
    """A stream of frames that are coded as two fields. Every second frame is shown before its predecessor.
    FFmpeg cannot encode such a stream."""
    sps, pps = Bits(), Bits()
    sps.u(24, 77 << 16 | 30)
    sps.ue(0, 0, 0, 4, 2)
    sps.u(1, 0)
    sps.ue(1, 0)
    sps.u(4, 2)  # fields; direct_8x8
    sps.u(5, 16)
    sps.u(1, 1)
    sps.u(32, 1)
    sps.u(32, 50)
    sps.u(6, 0b100011)
    sps.ue(0, 0, 10, 10, 1, 3)
    pps.ue(0, 0)
    pps.u(2, 0)
    pps.ue(0, 0, 0)
    pps.u(3, 0)
    pps.ue(0, 0, 0)
    pps.u(3, 4)
    data = sps.unit(0x67) + pps.unit(0x68)
    for i in range(frames):
        shown = 0 if i == 0 else i + 1 if i % 2 else i - 1
        reference = i == 0 or i % 2 == 1
        for bottom in (0, 1):
            data += b"\0\0\0\1\x09\x10" + field((i + 1) // 2 % 16, bottom, not i and not bottom, reference,
                                                2 * shown + bottom)
    return data


@functools.lru_cache(None)
def two_tracks(kind, name):
    """A clip with two tracks by this encoder, in the container of `name`."""
    path = Store.path("%s-%s" % (kind.replace(" ", "-"), name))
    if name in ("in.mp4", "in.avi") and (kind == "mpeg4" or name == "in.mp4"):
        ffmpeg(*TWO, *ENCODERS[kind], path)
    else:
        ffmpeg("-i", two_tracks(kind, "in.mp4"), "-map", "0", "-c", "copy", path)
    return path


class SecondVideo(Case):
    def same(self, source, name, *options):
        result = self.ok(source, "-o", self.path(name), "-y", "--preset", "ultrafast", *options)
        self.assertEqual(md5(self.path(name)), md5(source), str(result))

    def test_containers(self):
        cases = [(kind, "in." + a, "out." + b) for kind in ("b-frames", "open groups", "hevc") for a in ("mkv", "mp4", "ts")
                 for b in ("mkv", "mp4", "mov", "ts")]
        cases += [("b-frames", "in.%s" % a, "out.avi") for a in ("mkv", "mp4", "ts")]
        cases += [(kind, source, "out." + b) for kind, source in (("mpeg2", "in.ts"), ("mpeg4", "in.mp4"))
                  for b in ("mkv", "mp4", "ts", "avi")]
        for kind, source, name in some(cases):
            with self.subTest(kind, source=source, output=name):
                self.same(two_tracks(kind, source), name)

    def test_field_pairs(self):
        fields = self.write("fields.h264", field_pairs(40))
        frame = "floor(N/2)"
        shown = "if(%s,%s-1+2*mod(%s,2),0)" % (frame, frame, frame)
        source = self.path("fields.ts")
        ffmpeg("-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=1.6", "-i", fields, "-map", "0", "-map", "1",
               *X264, "-c:v:1", "copy", "-bsf:v:1",
               "setts=pts=1800*(2*(%s)+2+mod(N,2)):dts=1800*N:duration=1800".replace(",", "\\,") %
               shown.replace(",", "\\,"), source)
        self.assertEqual(len(frame_md5s(source)), 40)
        for name in some(("out.mkv", "out.mp4", "out.ts")):
            with self.subTest(name):
                self.same(source, name)

    def test_jobs(self):
        self.same(two_tracks("open groups", "in.mkv"), "out.mkv", "--jobs", 2)

    def test_part_begins_with_a_key_frame(self):
        source = two_tracks("open groups", "in.mp4")
        result = self.ok(source, "-o", self.path("out.mkv"), "--ss", 0.5, "--to", 1.5)
        self.assertIn("video track 1 (h264) begins with its first key frame, at 0.28 s", result.err)
        whole, part = frame_md5s(source), frame_md5s(self.path("out.mkv"))
        first = whole.index(part[0])
        self.assertEqual(first, 20)
        self.assertEqual(part[:17], whole[first:first + 17])  # the frames up to 1.5 s, and their reference frames

    def test_part_without_a_key_frame(self):
        result = self.ok(two_tracks("b-frames", "in.mp4"), "-o", self.path("out.mkv"), "--ss", 1.2, "--frames", 5)
        self.assertIn("video track 1 (h264) is left out: it has no key frame in the part", result.err)
        self.assertNotIn("damaged", result.err)

    def test_pieces_begin_with_a_key_frame(self):
        source = two_tracks("b-frames", "in.mkv")
        self.ok(source, "-o", self.path("piece-%s.mkv"), "--segment-time", 1, "-y")
        pieces = sorted(glob.glob(self.path("piece-*.mkv")))
        self.assertEqual([len(frame_md5s(piece)) for piece in pieces], [25, 25])
        self.assertEqual(sum((frame_md5s(piece) for piece in pieces), []), frame_md5s(source))
