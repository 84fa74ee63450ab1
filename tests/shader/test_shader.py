"""Compares shaders/lumeq.hook in ffmpeg and mpv with the program."""

import collections
import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.append(os.path.join(ROOT, "tests/app"))
from common import Case, LIVENESS, SANITIZED, SHORT, SMALL, ffmpeg, lumeq, raw, read_bytes, write_bytes

HOOK = os.path.join(ROOT, "shaders/lumeq.hook")
PARAMS = os.environ.get("PARAMS_HOOK", os.path.join(ROOT, "build/lumeq-params.hook"))
SECOND = 25  # frames
SIZE = 192, 112
DRAWN = SECOND + 10  # frames of each drawing
DRAWING = ("geq=lum='128+45*sin(X/9+T)*cos(Y/7)+35*sin((X+2*Y)/31)+15*cos(Y/3)':cb='128+9*sin(X/25)':"
           "cr='128+9*cos(Y/19)'")
# Tone curves that make the drawing dark, hazy or neither.
LIGHT = {"dark": "16+(val-16)*0.16", "hazy": "140+(val-16)*0.22", "exposed": "val"}


def skipped_ffmpeg():
    """Returns why the shader cannot run in ffmpeg; 0 if it can."""
    if SANITIZED:
        return "the program's part is tested without sanitizers"
    p = subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-init_hw_device", "vulkan=v", "-filter_hw_device", "v",
                        "-f", "lavfi", "-i", "color=s=64x64", "-frames:v", "1", "-vf",
                        "format=yuv420p,hwupload,libplacebo,hwdownload,format=yuv420p", "-f", "null", "-"],
                       stderr=subprocess.PIPE, text=True, timeout=LIVENESS)
    return p.returncode and "ffmpeg has no libplacebo or no Vulkan here: " + (p.stderr.splitlines() or ["killed"])[-1]


WHY = skipped_ffmpeg()


def shade(source, output, hook=HOOK, pix_fmt="yuv420p"):
    p = subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", "-init_hw_device", "vulkan=v", "-filter_hw_device",
                        "v", "-i", source, "-an", "-sn", "-vf", "format=%s,hwupload,libplacebo=custom_shader_path=%s:"
                        "dithering=none,hwdownload,format=%s" % (pix_fmt, hook, pix_fmt), "-strict", "-1", output],
                       stderr=subprocess.PIPE, text=True, timeout=5 * LIVENESS)
    if p.returncode or p.stderr:
        raise AssertionError("ffmpeg (%d): %s" % (p.returncode, p.stderr))


def luma(path, size=SIZE):
    """Luma of each frame."""
    data, area = raw(path, "yuv420p"), size[0] * size[1]
    return [data[i:i + area] for i in range(0, len(data), area * 3 // 2)]


def curve(before, after):
    """Returns {code: median output}."""
    counts = collections.defaultdict(list)
    for (code, out), n in sorted(collections.Counter(zip(before, after)).items()):
        counts[code].append((out, n))
    medians = {}
    for code, outs in counts.items():
        left = sum(n for _, n in outs) / 2
        for out, n in outs:
            left -= n
            if left <= 0:
                medians[code] = out
                break
    return medians


def agreement(before, shaded, program):
    """Returns the share of samples within 2 codes of the program's curve."""
    medians = curve(before, program)
    pairs = collections.Counter(zip(before, shaded))
    return sum(n for (code, out), n in pairs.items() if abs(out - medians[code]) <= 2) / len(before)


def mean(frame):
    return sum(frame) / len(frame)


def setting(name, value):
    """Returns the shader's text with another value of a setting."""
    text, found = re.subn(r"(const float %s = )[-0-9.]+" % name, r"\g<1>%s" % value, read_bytes(HOOK).decode())
    assert found == 1, name
    return text


class Source(unittest.TestCase):
    """Checks the shader's text, without a player."""

    HEADERS = ("rule/transfer.c", "rule/lift.h", "rule/lift.c", "rule/curve.h", "rule/curve.c", "rule/epoch.h", "rule/epoch.c",
               "haze.h", "rule/haze.c", "noise.h", "rule/noise.c", "samples.h",
               "settings.c", "lift_filter.h")

    def in_headers(self):
        """Returns the values of the macros; fixed-point values as shares of 1."""
        values = {"CURVE_ONE": 1.0, "CURVE_GAIN_ONE": 1.0}
        for name in self.HEADERS:
            text = read_bytes(os.path.join(ROOT, "src/equalizer", name)).decode()
            for macro, value in re.findall(r"^#define (\w+) (\(?[\w(]+.*?)(?: /\*.*)?$", text, re.M):
                value = re.sub(r"(\d)u\b", r"\1", value.replace("(int32_t)", ""))
                value = re.sub(r"\b65536\b", "1.0", value) if macro.startswith("CURVE") else value
                value = re.sub(r"LIFT_PERCENT\((\d+)\)", r"(\1 / 100)", value)
                with contextlib.suppress(SyntaxError, NameError, TypeError):
                    values.setdefault(macro, eval(value, {"__builtins__": {}}, values))
        return values

    def test_constants_are_those_of_the_program(self):
        headers, found = self.in_headers(), 0
        for name, value in re.findall(r"^const \w+ ([A-Z_]+) = ([-0-9.]+)", read_bytes(HOOK).decode(), re.M):
            if name in ("LAST", "WORDS", "MOST", "REACH", "NOISE_UNKNOWN"):
                continue
            self.assertIn(name, headers)
            self.assertAlmostEqual(float(value), headers[name], 6, name)
            found += 1
        self.assertGreater(found, 50)

    def test_the_file_with_parameters(self):
        text, settings = read_bytes(PARAMS).decode(), re.findall(
            r"const float ([a-z]+) = (\S+); // (\S+)\.\.(\S+): (.*)", read_bytes(HOOK).decode())
        self.assertEqual(re.findall(r"^//!PARAM (\w+)\n//!DESC (.*)\n//!TYPE float\n//!MINIMUM (\S+)\n//!MAXIMUM (\S+)\n"
                                    r"(\S+)\n\n", text, re.M),
                         [(name, what, least, most, usual) for name, usual, least, most, what in settings])
        self.assertGreater(len(settings), 5)
        self.assertNotIn("const float strength", text)


@unittest.skipIf(WHY, WHY)
class InFfmpeg(Case):
    def both(self, source, size=SIZE):
        """Returns (source, shader, program) for each frame, without noise filters."""
        shaded, written = self.path("shaded.y4m"), self.path("program.y4m")
        write_bytes(self.path("sharp.hook"), setting("denoise", "0.0").encode())
        shade(source, shaded, self.path("sharp.hook"))
        # The shader does not clear haze cell by cell. With --meter, the program does not either.
        result = lumeq(source, "-o", written, "--lookahead", "off", "--dither", "off", "--denoise", "off",
                       "--meter", "0,0,%d,%d" % (size[0] - 1, size[1]))
        self.assertEqual(result.code, 0, result.err)
        frames = [luma(path, size) for path in (source, shaded, written)]
        self.assertEqual(len({len(f) for f in frames}), 1)
        return list(zip(*frames))

    def draw(self, *lights, noise=4, frames=DRAWN):
        """Writes a clip with a drawing in each light, in 8 bits."""
        source = self.path("drawn.y4m")
        parts = [ffmpeg_source(light, noise, frames) for light in lights]
        joined = "".join("%s[v%d];" % (part, i) for i, part in enumerate(parts))
        ffmpeg("-filter_complex", joined + "".join("[v%d]" % i for i in range(len(parts))) +
               "concat=n=%d,format=yuv420p" % len(parts), source)
        return source

    def assert_flicker(self, frames):
        """The shader adds little flicker; cuts do not count."""
        means = [[mean(plane) for plane in frame[:2]] for frame in frames]
        moves = [(b[1] - a[1]) - (b[0] - a[0]) for a, b in zip(means, means[1:]) if abs(b[0] - a[0]) < 4]
        self.assertLessEqual(sum(map(abs, moves)) / len(moves), 0.15)

    def test_matches_the_program(self):
        """A dark, a hazy and a well exposed scene; at the cuts between them, the curve changes at once."""
        frames = self.both(self.draw(*LIGHT))
        shares = [agreement(*frame) for frame in frames]
        for i, light in enumerate(LIGHT):
            with self.subTest(light):
                begin = i * DRAWN
                self.assertGreaterEqual(min(shares[begin + SECOND:begin + DRAWN]), 0.95)
                self.assertGreaterEqual(shares[begin], 0.95, "first frame of the scene")
                self.assert_flicker(frames[begin + SECOND:begin + DRAWN])
        dark, hazy, exposed = ([mean(plane) for plane in frames[i * DRAWN + SECOND]] for i in range(3))
        self.assertGreater(dark[1], 1.5 * dark[0])
        self.assertLess(abs(hazy[1] - hazy[0]), 8)
        self.assertLess(abs(exposed[1] - exposed[0]), 8)

    @unittest.skipIf(SHORT, "long")
    def test_the_bundled_clip(self):
        """The clip is small, but has the matrix of HD. The shader must detect it."""
        frames = self.both(SMALL, (400, 224) if SMALL.endswith("tests/lumeq-sample.mkv") else (1280, 720))
        shares = [agreement(*frame) for frame in frames]
        self.assertGreaterEqual(sum(shares[SECOND:]) / len(shares[SECOND:]), 0.95)

    def test_hdr(self):
        """A dark scene beside white paper and a lamp."""
        for transfer, number, scene, paper, lamp in (("smpte2084", "1.0", 160, 595, 770), ("arib-std-b67", "2.0", 80, 768, 1002)):
            with self.subTest(transfer):
                source, shaded, written = (self.path(name) for name in ("hdr.mkv", "shaded.mkv", "program.mkv"))
                ffmpeg("-f", "lavfi", "-t", 1.5, "-i", "color=black:size=192x112,format=gray10le,geq=lum='if(lt(X,8),%d,if("
                       "lt(X,16),%d,%d+mod(X*7+Y*3,60)))',format=yuv420p10le,"
                       "geq=lum='lum(X,Y)':cb='512+if(lt(X,16),0,20*sin(Y/9))':cr='512+if(lt(X,16),0,12*cos(Y/7))'"
                       % (lamp, paper, scene), "-c:v", "ffv1", "-color_range", "tv", "-color_trc", transfer, "-color_primaries", "bt2020", "-colorspace", "bt2020nc",
                       source)
                hook = setting("denoise", "0.0").replace("const float transfer = 0.0", "const float transfer = " + number)
                hook = hook.replace("const float matrix = 0.0", "const float matrix = 2020.0")
                write_bytes(self.path("hdr.hook"), hook.encode())
                shade(source, shaded, self.path("hdr.hook"), pix_fmt="yuv420p10le")
                result = lumeq(source, "-o", written, "-y", "--vcodec", "ffv1", "--pix-fmt", "source", "--lookahead", "off",
                               "--dither", "off", "--denoise", "off")
                self.assertEqual(result.code, 0, result.err)
                planes = [memoryview(raw(path))[-192 * 112 * 3:].cast("H") for path in (source, shaded, written)]
                before, shade_row, program = (plane[:192 * 112] for plane in planes)
                self.assertLessEqual(max(abs(a - b) for a, b in zip(shade_row[:16], program[:16])), 2)
                was, shown, made = (mean(row[16:192]) for row in (before, shade_row, program))
                self.assertLess(abs(shown - made), 8)
                colours = [mean([abs(code - 512) for code in plane[192 * 112:]]) for plane in planes]
                self.assertLess(abs(colours[1] / colours[2] - 1), 0.1, colours)
                self.assertGreater(made, 1.2 * was)

    @unittest.skipIf(SHORT, "long")
    def test_ten_bits(self):
        source, shaded, written = (self.path(name) for name in ("ten.mkv", "shaded.mkv", "program.mkv"))
        ffmpeg("-i", self.draw("dark"), "-pix_fmt", "yuv420p10le", "-c:v", "ffv1", source)
        write_bytes(self.path("sharp.hook"), setting("denoise", "0.0").encode())
        shade(source, shaded, self.path("sharp.hook"), pix_fmt="yuv420p10le")
        result = lumeq(source, "-o", written, "--vcodec", "ffv1", "--lookahead", "off", "--dither", "off", "--denoise",
                       "off")
        self.assertEqual(result.code, 0, result.err)
        before, after, program = ([mean(frame) for frame in luma(path)[SECOND:]] for path in (source, shaded, written))
        for frame in zip(before, after, program):
            self.assertGreater(frame[1], 1.5 * frame[0])
            self.assertLess(abs(frame[1] - frame[2]), 2)

    def test_noise_filter(self):
        """Removes most of a dark picture's noise, keeps edges, and hardly changes a picture with a flat curve."""
        def noise(frame):
            return sum(abs(frame[i - 1] - 2 * frame[i] + frame[i + 1]) for i in range(1, len(frame) - 1)) / len(frame)

        def sides(frame):
            """Means of a column on each side of the edge."""
            return [mean([frame[y * SIZE[0] + x] for y in range(SIZE[1])]) for x in (SIZE[0] // 2 - 3, SIZE[0] // 2 + 3)]

        source, sharp, soft = (self.path(name) for name in ("edge.y4m", "sharp.y4m", "soft.y4m"))
        ffmpeg("-filter_complex", "color=s=%dx%d:r=25:d=1.4,format=yuv420p,geq=lum='if(lt(X,%d),30,60)':cb=128:cr=128,"
               "noise=c0s=6:c0f=t" % (*SIZE, SIZE[0] // 2), source)
        write_bytes(self.path("sharp.hook"), setting("denoise", "0.0").encode())
        shade(source, sharp, self.path("sharp.hook"))
        shade(source, soft)
        before, off, on = (luma(path)[-1] for path in (source, sharp, soft))
        self.assertGreater(noise(off), 1.2 * noise(before))
        self.assertLess(noise(on), 0.5 * noise(off))
        for a, b in zip(sides(on), sides(off)):
            self.assertLess(abs(a - b), 4)
        source = self.draw("exposed", frames=SECOND)
        shade(source, sharp, self.path("sharp.hook"))
        shade(source, soft)
        self.assertLess(mean([abs(a - b) for a, b in zip(luma(sharp)[-1], luma(soft)[-1])]), 0.3)

    def test_settings(self):
        """Strength 0 changes nothing; split 0.5 leaves the left half unchanged."""
        source = self.draw("hazy", frames=3)
        hook, shaded = self.path("set.hook"), self.path("set.y4m")
        write_bytes(hook, setting("strength", "0.0").encode())
        shade(source, shaded, hook)
        for before, after in zip(luma(source), luma(shaded)):
            self.assertLessEqual(max(abs(a - b) for a, b in zip(before, after)), 1)
        write_bytes(hook, setting("split", "0.5").encode())
        shade(source, shaded, hook)
        width = SIZE[0]
        for before, after in zip(luma(source), luma(shaded)):
            left = [abs(a - b) for i, (a, b) in enumerate(zip(before, after)) if i % width < width // 2]
            right = [abs(a - b) for i, (a, b) in enumerate(zip(before, after)) if i % width >= width // 2]
            self.assertLessEqual(max(left), 1)
            self.assertGreater(mean(right), 10)


def ffmpeg_source(light, noise, frames):
    return "color=s=%dx%d:r=25:d=%f,format=yuv420p,%s,lutyuv=y='%s',noise=c0s=%d:c0f=t" % (
        *SIZE, frames / 25, DRAWING, LIGHT[light], noise)


def skipped_mpv():
    missing = [name for name in ("mpv", "Xvfb") if not shutil.which(name)]
    return missing and "not installed: " + ", ".join(missing)


@unittest.skipIf(SANITIZED, "mpv is not sanitized")
@unittest.skipIf(skipped_mpv(), skipped_mpv() or "")
class InMpv(Case):
    def show(self, source, *options):
        """Returns a screenshot of mpv's window, in gray, and mpv's messages."""
        place = tempfile.mkdtemp(dir=self.folder)
        read, write = os.pipe()
        server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "640x480x24", "-nolisten", "tcp"],
                                  pass_fds=[write], stderr=subprocess.DEVNULL)
        os.close(write)
        try:
            with os.fdopen(read) as display:
                env = dict(os.environ, DISPLAY=":" + display.readline().strip())
            control = os.path.join(place, "control")
            player = subprocess.Popen(
                ["mpv", "--no-config", "--vo=gpu-next", "--gpu-api=opengl", "--gpu-sw=yes", "--hwdec=no", "--no-audio",
                 "--no-osc", "--osd-level=0", "--pause", "--msg-level=all=warn", "--screenshot-format=png",
                 "--screenshot-directory=" + place, "--input-ipc-server=" + control, *options, source],
                env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            try:
                self.take(control, place, player)
            finally:
                player.kill()
            messages = player.communicate()[0]
        finally:
            server.kill()
            server.wait()
        pictures = sorted(f for f in os.listdir(place) if f.endswith(".png"))
        self.assertTrue(pictures, messages)
        return raw(os.path.join(place, pictures[-1]), "gray"), messages

    def take(self, control, place, player):
        """Asks for screenshots until one is written."""
        end = time.monotonic() + LIVENESS
        with socket.socket(socket.AF_UNIX) as s:
            while time.monotonic() < end and player.poll() is None:
                with contextlib.suppress(OSError):
                    s.connect(control)
                    break
                time.sleep(0.05)
            while time.monotonic() < end and player.poll() is None:
                s.sendall(b'{"command": ["screenshot", "window"]}\n')
                answer = s.recv(65536)
                if b'"success"' in answer and any(f.endswith(".png") for f in os.listdir(place)):
                    s.sendall(b'{"command": ["quit"]}\n')
                    player.wait(LIVENESS)
                    return
                time.sleep(0.2)

    def test_options_of_the_readme(self):
        """With the options of README.md, the window is lighter, and mpv has no complaint."""
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
            documented = re.search(r"^mpv --vo=gpu-next --glsl-shader=(\S+) foggy.mkv$", f.read(), re.M)
        self.assertEqual(os.path.join(ROOT, documented[1]), HOOK)
        source = self.path("dark.y4m")
        ffmpeg("-filter_complex", ffmpeg_source("dark", 2, 2) + ",format=yuv420p", source)
        plain, messages = self.show(source)
        shaded, messages = self.show(source, "--glsl-shader=" + HOOK)
        self.assertGreater(mean(shaded), 1.2 * mean(plain))  # a low limit, as smoothing needs several redraws
        self.assertNotIn("shader", messages.lower())


if __name__ == "__main__":
    unittest.main()
