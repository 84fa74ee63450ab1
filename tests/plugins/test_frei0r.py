"""The frei0r filter in ffmpeg, gst-launch-1.0 and melt: each frame has the library's bits; the commands of the page."""

import os
import re
import shutil
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.append(os.path.join(ROOT, "tests/app"))
from common import Case, LIVENESS, SMALL, ffmpeg, read_bytes

PAGE = os.path.join(ROOT, "src/plugins/frei0r/README.md")
FOLDER = os.environ["LUMEQ_FREI0R_FOLDER"]
WIDTH, HEIGHT, FRAMES = 176, 100, 30
PROFILE = """description=small
frame_rate_num=25
frame_rate_den=1
width=176
height=100
progressive=1
sample_aspect_num=1
sample_aspect_den=1
display_aspect_num=44
display_aspect_den=25
colorspace=709
"""
# Settings by name, and as the library takes them: profile, strength (-1: automatic), brightness, denoise.
SETTINGS = [({}, ("", -1, 0, 1)),
            ({"profile": "night"}, ("night", -1, 0, 1)),
            ({"profile": "fog", "automatic": 0, "strength": 0.5}, ("fog", 0.5, 0, 1)),
            ({"brightness": 0.75, "denoise": 0.5}, ("", -1, 0.5, 0.5))]


def environment():
    return dict(os.environ, FREI0R_PATH=FOLDER, GST_REGISTRY=os.environ["GST_REGISTRY"], LC_ALL="C.UTF-8")


def has_element():
    return shutil.which("gst-inspect-1.0") and subprocess.run(
        ["gst-inspect-1.0", "--exists", "frei0r-filter-lumeq"], env=environment()).returncode == 0


class Frei0r(Case):
    def call(self, *command, **options):
        p = subprocess.run([str(c) for c in command], cwd=self.folder, env=environment(), stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, timeout=LIVENESS, **options)
        self.assertEqual(p.returncode, 0, p.stderr.decode("utf-8", "replace"))
        return p.stdout

    def film(self):
        ffmpeg("-i", SMALL, "-an", "-sn", "-vf", "scale=%d:%d,setsar=1,format=bgra" % (WIDTH, HEIGHT), "-r", 25, "-frames:v", FRAMES,
               "-c:v", "ffv1", self.path("in.mkv"))
        ffmpeg("-i", self.path("in.mkv"), "-f", "rawvideo", "-pix_fmt", "rgba", self.path("in.rgba"))
        return read_bytes(self.path("in.rgba"))

    def check(self, run):
        film = self.film()
        self.assertEqual(len(film), FRAMES * WIDTH * HEIGHT * 4)
        for settings, library in SETTINGS:
            with self.subTest(settings=settings):
                wanted = self.call(os.environ["LUMEQ_FREI0R_TEST"], "frames", WIDTH, HEIGHT, *library, input=film)
                self.assertNotEqual(wanted, film)
                run(settings)
                self.assertTrue(read_bytes(self.path("out.rgba")) == wanted)

    def test_ffmpeg(self):
        def run(s):
            words = [s.get("profile", ""), "ny"[s.get("automatic", 1)], s.get("strength", 0.8), s.get("brightness", 0.5),
                     s.get("denoise", 1)]
            self.call("ffmpeg", "-v", "error", "-y", "-i", "in.mkv", "-vf", "frei0r=lumeq:" + "|".join(map(str, words)),
                      "-f", "rawvideo", "-pix_fmt", "rgba", "out.rgba")
        filters = subprocess.run(["ffmpeg", "-hide_banner", "-filters"], stdout=subprocess.PIPE, check=True).stdout
        if b" frei0r " not in filters:
            self.skipTest("this ffmpeg has no frei0r")
        self.check(run)

    @unittest.skipUnless(has_element(), "GStreamer has no frei0r (gstreamer1.0-plugins-bad)")
    def test_gst_launch(self):
        self.check(lambda s: self.call(
            "gst-launch-1.0", "-q", "filesrc", "location=in.rgba", "!", "rawvideoparse", "width=%d" % WIDTH,
            "height=%d" % HEIGHT, "framerate=25/1", "format=rgba", "!", "frei0r-filter-lumeq",
            *("%s=%s" % item for item in s.items()), "!", "filesink", "location=out.rgba"))

    @unittest.skipUnless(shutil.which("melt"), "not installed: melt")
    def test_melt(self):
        with open(self.path("profile"), "w", encoding="ascii") as f:
            f.write(PROFILE)
        self.check(lambda s: self.call(
            "melt", "-quiet", "-profile", self.path("profile"), "in.mkv", "-filter", "frei0r.lumeq",
            *("%s=%s" % item for item in s.items()), "-consumer", "avformat:out.rgba", "f=rawvideo", "vcodec=rawvideo",
            "pix_fmt=rgba", "mlt_image_format=rgba", "real_time=-1", "an=1"))

    def test_commands_of_the_page(self):
        self.film()
        with open(PAGE, encoding="utf-8") as f:
            block = re.search(r"```sh\n(.*?)```", f.read().split("## Use")[1], re.S)[1]
        commands = [line for line in block.replace("\\\n", " ").splitlines() if line and not line.startswith("#")]
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
            commands += re.findall(r"^(?:ffmpeg|melt) .*frei0r.*", f.read(), re.M)
        self.assertEqual(len(commands), 5)
        for command in commands:
            program = command.split()[0]
            if not shutil.which(program) or program == "gst-launch-1.0" and not has_element():
                print("not run, as its program is not installed: " + command)
                continue
            if program == "gst-launch-1.0":  # Debian's has no FFV1
                ffmpeg("-i", self.path("in.mkv"), "-c:v", "mjpeg", self.path("jpeg.mkv"))
                command = command.replace("in.mkv", "jpeg.mkv").replace("autovideosink", "fakesink")
            with self.subTest(command):
                self.call("bash", "-c", command, stdin=subprocess.DEVNULL)
                out = re.search(r"\bout\w*\.mkv\b", command)
                if out:
                    self.assertGreater(os.path.getsize(self.path(out[0])), 1000)
                    os.remove(self.path(out[0]))


if __name__ == "__main__":
    unittest.main()
