"""GStreamer's own programs with the element: the bits of the program lumeq, the commands of the page, errors."""

import array
import os
import re
import shutil
import socket
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.append(os.path.join(ROOT, "tests/app"))
from common import Case, LIVENESS, SMALL, ffmpeg, lumeq, raw, read_bytes, some, wait_for, write_bytes

PAGE = os.path.join(ROOT, "src/plugins/gstreamer/README.md")
PROGRAMS = "gst-launch-1.0", "gst-inspect-1.0"
ELEMENTS = ("y4menc rawvideoparse jpegenc jpegdec rtpjpegpay rtpjpegdepay udpsrc udpsink vp8enc webmmux "
            "matroskademux").split()


def environment():
    env = dict(os.environ, LC_ALL="C.UTF-8", GST_PLUGIN_PATH=os.environ["LUMEQ_GST_FOLDER"])
    env.setdefault("GST_REGISTRY", os.path.join(env["GST_PLUGIN_PATH"], "registry.bin"))
    return env


def gst(*args, program="gst-launch-1.0"):
    p = subprocess.run([program] + [str(a) for a in args], env=environment(), stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIVENESS)
    return p.returncode, p.stdout


def why_skipped():
    missing = [p for p in PROGRAMS if not shutil.which(p)]
    missing = missing or [e for e in ELEMENTS if gst("--exists", e, program="gst-inspect-1.0")[0]]
    return missing and "GStreamer has no " + ", ".join(missing)


WHY = why_skipped()
RTSP_SERVER = os.environ["LUMEQ_RTSP_SERVER"]


def why_no_rtsp():
    if not RTSP_SERVER:
        return "the build found no gstreamer-rtsp-server-1.0 (libgstrtspserver-1.0-dev)"
    missing = [e for e in ("rtspclientsink", "x264enc", "rtph264depay")
               if gst("--exists", e, program="gst-inspect-1.0")[0]]
    return missing and "GStreamer has no " + ", ".join(missing)


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def why_no_cuda():
    if "memory:CUDAMemory" not in gst("lumeq", program="gst-inspect-1.0")[1]:
        return "the element was built without CUDA or gstreamer-cuda-1.0 (libgstreamer-plugins-bad1.0-dev)"
    if gst("--exists", "cudaupload", program="gst-inspect-1.0")[0]:
        return "GStreamer has no cudaupload (a GPU and gstreamer1.0-plugins-bad)"
    return None


@unittest.skipIf(WHY, WHY)
class GstLaunch(Case):
    def launch(self, *pipeline):
        code, said = gst("-q", *(word for part in pipeline for word in str(part).split()))
        self.assertEqual((code, said), (0, ""))

    def clip(self, pix_fmt, size="176x100", frames=20):
        path = self.path("in-%s-%s.mkv" % (pix_fmt, size))
        ffmpeg("-i", SMALL, "-an", "-sn", "-vf", "scale=%s,format=%s" % (size.replace("x", ":"), pix_fmt),
               "-frames:v", frames, "-c:v", "ffv1", path)
        return path

    def program(self, source, *options):
        out = self.path("program.mkv")
        p = lumeq(source, "-o", out, "-y", "--vcodec", "ffv1", "--lookahead", "off", "--dither", "off",
                  "--pix-fmt", "source", *options)
        self.assertEqual(p.code, 0, p)
        return out

    def test_has_the_bits_of_the_program(self):
        cases = [("yuv420p", "i420", "", ""), ("nv12", "nv12", "", ""),
                 ("yuv420p10le", "i420-10le", "", ""), ("yuv444p", "y444", "", ""),
                 ("gray", "gray8", "", "--range full"), ("gray16le", "gray16-le", "", "--range full"),
                 ("yuv420p", "i420", "profile=surveillance brightness=0.1", "--profile surveillance --brightness 0.1"),
                 ("yuv420p", "i420", "mode=clahe strength=0.7 clip=2.5 tiles-x=6", "--mode clahe --strength 0.7 --clip 2.5 "
                  "--tiles 6x8"),
                 ("yuv420p", "i420", "brightness=0.3 gamma=1.4 limit=lighten chroma=keep smooth=2",
                  "--brightness 0.3 --gamma 1.4 --limit lighten --chroma keep --smooth 2"),
                 ("yuv420p", "i420", "mode=haze", "--mode haze"),
                 ("yuv420p", "i420", "reference=true", "--reference"),
                 ("yuv420p", "i420", "mode=stretch meter-width=-1 meter-height=-1", "--mode stretch --meter centre")]
        for pix_fmt, name, properties, options in cases[:1] + some(cases[1:]):
            with self.subTest(format=name, properties=properties):
                source = self.clip("yuv420p" if pix_fmt == "nv12" else pix_fmt)
                planes, out = self.path("in.raw"), self.path("out.raw")
                write_bytes(planes, raw(source, pix_fmt))
                self.launch("filesrc location=%s ! rawvideoparse width=176 height=100 framerate=25/1 format=%s" %
                            (planes, name), "! lumeq", properties, "! filesink location=%s" % out)
                made = raw(self.program(source, *options.split(), "--code-range", "full"), pix_fmt)
                self.assertEqual(read_bytes(out), made)

    def test_odd_sizes(self):
        """GStreamer pads rows to a multiple of 4 bytes, and luma to an even number of rows."""
        source = self.clip("yuv420p", "161x91")
        planes, out = self.path("in.raw"), self.path("out.raw")
        write_bytes(planes, raw(source, "yuv420p"))
        self.launch("filesrc location=%s ! rawvideoparse width=161 height=91 framerate=25/1 format=i420" % planes,
                    "plane-strides=<161,81,81> plane-offsets=<0,%d,%d>" % (161 * 91, 161 * 91 + 81 * 46),
                    "frame-size=%d ! lumeq ! filesink location=%s" % (161 * 91 + 2 * 81 * 46, out))
        padded, got = read_bytes(out), b""
        while padded:
            for stride, all_rows, width, height in ((164, 92, 161, 91), (84, 46, 81, 46), (84, 46, 81, 46)):
                got += b"".join(padded[y * stride:y * stride + width] for y in range(height))
                padded = padded[stride * all_rows:]
        self.assertEqual(got, raw(self.program(source), "yuv420p"))

    def test_cuda_memory_has_the_bits_of_system_memory(self):
        why = why_no_cuda()
        if why:
            self.skipTest(why)
        formats = "NV12 I420 YV12 Y42B Y444 I420_10LE P010_10LE I422_10LE I422_12LE P016_LE Y444_16LE".split()
        cuda = "video/x-raw(memory:CUDAMemory)"
        host, gpu = self.path("host.raw"), self.path("gpu.raw")
        for name in formats[:1] + some(formats[1:]):
            # The GPU pads rows of this size. With dark noise, the filter reads the previous frame.
            for source in ("smpte ! %s ! identity", "snow ! %s ! lumeq backend=cpu mode=off brightness=-1"):
                source = ("videotestsrc num-buffers=30 pattern=" + source) % (
                    "video/x-raw,format=%s,width=328,height=248" % name)
                with self.subTest(source=source):
                    self.launch(source, "! lumeq backend=cpu ! filesink location=" + host)
                    self.launch(source, "! cudaupload !", cuda, "! lumeq !", cuda,
                                "! cudadownload ! video/x-raw ! filesink location=" + gpu)
                    self.assertEqual(os.path.getsize(host) % 30, 0)
                    self.assertTrue(read_bytes(gpu) == read_bytes(host))

    def test_cuda_memory_is_refused_without_a_gpu(self):
        if not why_no_cuda():
            self.skipTest("there is a GPU")
        process = self.shell("gst-launch-1.0 fakesrc num-buffers=2 sizetype=fixed sizemax=115200 ! "
                             "'video/x-raw(memory:CUDAMemory),format=I420,width=320,height=240,framerate=25/1' ! "
                             "lumeq ! fakesink")
        self.addCleanup(self.end, process)
        said = next((line for line in process.stdout if "ERROR: " in line or "WARNING: " in line), "")
        self.assertRegex(said, "GStreamer finds no CUDA device|could not link")

    def test_inspect_lists_properties(self):
        code, said = gst("lumeq", program="gst-inspect-1.0")
        self.assertEqual(code, 0, said)
        self.assertLess({"profile", "strength", "tiles-x"}, set(re.findall(r"^  ([a-z-]+) +: ", said, re.M)))
        self.assertRegex(said, r"License +BSD")

    def test_thermal(self):
        """Frames with 100 of 65,536 codes fill the output."""
        planes, out = self.path("in.raw"), self.path("out.raw")
        samples = array.array("H", (7754 + (x + y * 3 + 5 * frame) % 100 for frame in range(5) for y in range(100)
                                    for x in range(176)))
        write_bytes(planes, samples.tobytes())
        for properties in "profile=thermal", "code-range=auto":
            self.launch("filesrc location=%s ! rawvideoparse width=176 height=100 framerate=25/1 format=gray16-le" %
                        planes, "! lumeq", properties, "! filesink location=%s" % out)
            made = array.array("H", read_bytes(out))
            for i in range(5):
                frame = sorted(made[i * 17600:(i + 1) * 17600])
                self.assertGreater(frame[-1000] - frame[1000], 30000)

    def test_error_is_that_of_the_library(self):
        """Kills gst-launch-1.0, which sometimes does not end after an early error."""
        process = self.shell("gst-launch-1.0 videotestsrc num-buffers=2 ! video/x-raw,format=I420_10LE ! "
                             "lumeq reference=true ! fakesink")
        self.addCleanup(self.end, process)
        said = next((line for line in process.stdout if line.startswith("ERROR: ")), "")
        self.assertIn("Cannot equalize this video: the reference is defined for 8 bits per sample, not for 10.", said)

    def commands(self):
        """Returns the page's commands, without a camera, and with a free port."""
        with open(PAGE, encoding="utf-8") as f:
            page = f.read().split("## Pipelines")[1].split("\n## ")[0]
        text = re.search(r"```sh\n(.*?)```", page, re.S)[1].replace("\\\n", " ")
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
            for line in re.findall(r"^gst-launch-1\.0 .*", f.read(), re.M):
                self.assertIn(line, text)
        self.assertEqual(text.count("v4l2src"), 3)
        text = text.replace("v4l2src", "videotestsrc is-live=true num-buffers=300 pattern=ball")
        text = text.replace("port=5004", "port=%d" % free_port())
        return [line for line in text.strip().splitlines() if not line.startswith("#")]

    def shell(self, command):
        return subprocess.Popen(["bash", "-c", "exec " + command], env=environment(), cwd=self.path(""),
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def end(self, process):
        process.kill()
        return process.communicate()[0]

    def finish(self, process):
        try:
            said = process.communicate(timeout=LIVENESS)[0]
        except subprocess.TimeoutExpired:
            raise AssertionError("hangs: " + self.end(process))
        self.assertEqual(process.returncode, 0, said)

    def test_documented_film_and_camera(self):
        film, camera = self.commands()[:2]
        ffmpeg("-i", SMALL, "-an", "-sn", "-frames:v", 10, "-c:v", "mjpeg", self.path("in.mkv"))
        self.finish(self.shell(film))
        self.assertEqual(len(raw(self.path("out.webm"), "gray")), 10 * 400 * 224)
        self.finish(self.shell(camera.replace("num-buffers=300", "num-buffers=10")
                               .replace("autovideosink", "fakesink")))

    def test_documented_rtp_over_loopback(self):
        send, receive = self.commands()[2:4]
        receive, found = re.subn(r"! autovideosink", "! identity eos-after=9 ! videoconvert ! "
                                 "video/x-raw,format=I420 ! y4menc ! filesink location=got.y4m", receive)
        self.assertEqual(found, 1)
        receiver, sender = self.shell(receive), self.shell(send)
        self.addCleanup(self.end, sender)
        self.finish(receiver)
        frames = raw(self.path("got.y4m"), "gray")
        self.assertGreaterEqual(len(frames), 8 * 320 * 240)
        self.assertGreater(max(frames[-320 * 240:]), 200)  # the ball

    def test_documented_rtsp_over_loopback(self):
        """The encoder is lossless here, so the server must get the element's bits. The test kills the sender, because
        rtspclientsink sometimes does not end."""
        why = why_no_rtsp()
        if why:
            self.skipTest(why)
        got, sent = self.path("got.h264"), self.path("sent.raw")
        receive = ("( rtph264depay name=depay0 ! video/x-h264,stream-format=byte-stream ! "
                   "filesink location=%s sync=false buffer-mode=unbuffered )" % got)
        server = self.shell("'%s' '%s'" % (RTSP_SERVER, receive))
        self.addCleanup(self.end, server)
        send = self.commands()[4]
        for old, new in ((":8554", ":" + server.stdout.readline().strip()),
                         ("num-buffers=300", "num-buffers=30"),
                         ("! videoconvert ! x264enc", "! videoconvert ! video/x-raw,format=I420 ! tee name=t t. ! queue ! "
                          "filesink location=sent.raw t. ! queue ! x264enc pass=quant quantizer=0")):
            self.assertEqual(send.count(old), 1, old)
            send = send.replace(old, new)
        sender = self.shell(send)
        self.addCleanup(self.end, sender)
        size = 30 * 320 * 240 * 3 // 2
        wait_for(lambda: sender.poll() is not None or os.path.exists(sent) and os.path.getsize(sent) == size)
        self.assertTrue(wait_for(lambda: raw(got, "yuv420p") == read_bytes(sent)))
        self.assertEqual(os.path.getsize(sent), size)


if __name__ == "__main__":
    unittest.main()
