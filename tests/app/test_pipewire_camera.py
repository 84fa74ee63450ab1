"""--virtual-camera through PipeWire. The test starts PipeWire, and GStreamer receives the pictures."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
import unittest

from common import DONE, INTERRUPTED, LIVENESS, SANITIZED, Case, environment, raw, wait_for
from test_camera import BITS, FAKE, IS_CROWDED, CameraCase, camera_environment
from window import MISSING, WindowCase

NAME = "lumeq.Fake Webcam"
YUYV, NV12, LARGE = "YUYV 320x240@30", "NV12 320x240@30", "YUYV 1280x720@30"
WIDTH, HEIGHT = 320, 240
BYTES = {"YUY2": 2, "NV12": 1.5}
PIXELS = {"YUY2": "yuyv422", "NV12": "nv12"}


def find_missing():
    """The programs that are not installed, and "PipeWire in lumeq" if lumeq is built without PipeWire."""
    missing = [name for name in ("pipewire", "wireplumber", "pw-dump", "gst-launch-1.0") if not shutil.which(name)]
    if not missing:
        if subprocess.run(["gst-inspect-1.0", "pipewiresrc"], capture_output=True).returncode:
            missing.append("gstreamer1.0-pipewire")
        linked = subprocess.run(["ldd", os.environ["LUMEQ"]], stdout=subprocess.PIPE).stdout
        if b"libpipewire" not in linked:
            missing.append("PipeWire in lumeq")
    return missing


LACKS = find_missing()


class PipeWireCase(CameraCase):
    def setUp(self):
        super().setUp()
        self.daemons = []
        self.watchers = 0
        os.mkdir(self.path("run"), 0o700)
        self.start_pipewire()
        self.addCleanup(self.stop_pipewire)

    def sees_pipewire(self, env):
        """Adds the test's own PipeWire to an environment."""
        env.pop("PIPEWIRE_REMOTE", None)
        for name in ("DBUS_SESSION_BUS_ADDRESS", "PIPEWIRE_RUNTIME_DIR"):
            env.pop(name, None)
        env.update(XDG_RUNTIME_DIR=self.path("run"), XDG_STATE_HOME=self.path("state"))
        return env

    def daemon(self, *command):
        env = self.sees_pipewire(environment())
        env.pop("DISPLAY", None)
        with open(self.path("daemons"), "ab") as log:
            self.daemons.append(subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log))

    def start_pipewire(self):
        self.daemon("pipewire")
        self.assertTrue(wait_for(lambda: os.path.exists(self.path("run/pipewire-0"))), self.read("daemons"))
        old = os.path.exists("/usr/share/wireplumber/policy.conf")  # before WirePlumber 0.5
        self.daemon("wireplumber", *(("-c", "policy.conf") if old else ("-p", "policy")))  # without devices, which need D-Bus

    def stop_pipewire(self):
        while self.daemons:
            process = self.daemons.pop()
            process.terminate()
            try:
                process.wait(LIVENESS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def lumeq(self, *args, modes=YUYV, state=""):
        """Starts a run with the fake camera, and waits until PipeWire has its node."""
        env = self.sees_pipewire(camera_environment(self.folder, modes, state))
        process = self.start("--camera", "--virtual-camera", *args, env=env)
        size = modes.split()[1].partition("@")[0]
        self.waits_for("virtual camera lumeq (Fake Webcam) (PipeWire): %s at 30 fps\n" % size)
        self.waits_until(self.node)
        return process

    def node(self, name=NAME):
        """PipeWire's information about lumeq's node, or None."""
        found = subprocess.run(["pw-dump"], env=self.sees_pipewire(environment()), stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, timeout=LIVENESS)
        for thing in json.loads(found.stdout or b"[]"):
            about = thing.get("info") or {}
            if thing["type"].endswith(":Node") and (about.get("props") or {}).get("node.name") == name:
                return about
        return None

    def watch(self, form="YUY2", count=8, caps="", name=NAME):
        """Starts a watcher that ends after `count` pictures."""
        self.watchers += 1
        command = ["gst-launch-1.0", "-v", "pipewiresrc", "target-object=" + name, "num-buffers=%d" % count, "!",
                   "video/x-raw,format=%s%s" % (form, caps), "!", "identity", "silent=false", "!", "filesink",
                   "location=" + self.path("seen-%d" % self.watchers)]
        with open(self.path("watcher-%d" % self.watchers), "wb") as said:
            process = subprocess.Popen(command, env=self.sees_pipewire(environment()), stdin=subprocess.DEVNULL,
                                       stdout=said, stderr=said)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def watches(self, form="YUY2", count=8, name=NAME):
        """Runs a watcher to its end, and returns its pictures."""
        watcher = self.watch(form, count, name=name)
        said = lambda: self.read("watcher-%d" % self.watchers).decode()
        try:
            watcher.wait(LIVENESS)
        except subprocess.TimeoutExpired:
            self.fail("no pictures come: %s; lumeq: %s" % (said(), self.said()))
        self.assertEqual(watcher.returncode, 0, said())
        for words in ("format=(string)" + form, "width=(int)%d" % WIDTH, "height=(int)%d" % HEIGHT,
                      "framerate=(fraction)30/1"):
            self.assertIn(words, said())
        data, size = self.read("seen-%d" % self.watchers), int(WIDTH * HEIGHT * BYTES[form])
        self.assertEqual(len(data), count * size)
        return [data[at:at + size] for at in range(0, len(data), size)]

    def number(self, picture, form="YUY2"):
        """The number that the camera has drawn into a picture."""
        step = 2 if form == "YUY2" else 1
        row = picture[4 * WIDTH * step:5 * WIDTH * step:step]
        return sum((row[(2 * i + 1) * WIDTH // (2 * BITS)] > 127) << (BITS - 1 - i) for i in range(BITS))

    def times(self):
        """The timestamps that the last watcher has received, in seconds."""
        found = re.findall(r"pts: (\d+):(\d+):([\d.]+)", self.read("watcher-%d" % self.watchers).decode())
        return [3600 * int(h) + 60 * int(m) + float(s) for h, m, s in found]

    def interrupt(self, process):
        process.send_signal(signal.SIGINT)
        return self.finished(process, INTERRUPTED)


@unittest.skipIf(LACKS, "not installed: %s" % ", ".join(LACKS))
@unittest.skipIf(not FAKE, "FAKE_CAMERA_LIBRARY names no fake camera")
class Headless(PipeWireCase, Case):
    def test_pictures(self):
        """A watcher gets the pixels of the output file. Another watcher may choose the other format."""
        for modes, exact in ((YUYV, "YUY2"), (NV12, "NV12")):
            with self.subTest(exact):
                process = self.lumeq("-o", exact + ".mkv", "--vcodec", "ffv1", "--frames", "100000", modes=modes)
                seen = self.watches(exact, 20)
                times = self.times()
                other = "NV12" if exact == "YUY2" else "YUY2"
                later = self.watches(other)
                self.interrupt(process)
                data = raw(self.path(exact + ".partial.mkv"), PIXELS[exact])
                size = len(seen[0])
                written = [data[at:at + size] for at in range(0, len(data), size)]
                self.assertEqual([i for i, p in enumerate(seen) if p not in written], [])
                places = [written.index(p) for p in seen]
                self.assertEqual(places, sorted(places))
                self.assertEqual(times, sorted(times))
                if not SANITIZED and not IS_CROWDED:  # a slow machine repeats frames
                    self.assertGreater(len(set(places)), 10)
                    self.keeps_time(times, places)
                numbers = [self.number(p, other) for p in later]
                self.assertEqual(numbers, sorted(numbers))
                self.assertGreater(numbers[0], self.number(seen[-1], exact))

    def keeps_time(self, times, places):
        """Checks that frames have the times of their capture. Frames captured before GStreamer started have time 0."""
        first = [i for i in range(1, len(places)) if places[i] != places[i - 1] and times[i] > 0]
        start = times[first[0]] - places[first[0]] / 30
        self.near([times[i] for i in first], [start + places[i] / 30 for i in first], 0.02)

    def test_the_node(self):
        process = self.lumeq("--null")
        about = self.node()
        for key, value in (("media.class", "Video/Source"), ("media.role", "Camera"),
                           ("node.description", "lumeq (Fake Webcam)")):
            self.assertEqual(about["props"].get(key), value, key)
        formats = about["params"]["EnumFormat"]
        self.assertEqual([f["format"] for f in formats], ["YUY2", "NV12"])
        for offered in formats:
            self.assertEqual(offered["size"], {"width": WIDTH, "height": HEIGHT})
            self.assertEqual(offered["framerate"], {"num": 30, "denom": 1})
            self.assertIn("colorRange", offered)
            self.assertIn("colorMatrix", offered)
        self.interrupt(process)
        self.assertTrue(wait_for(lambda: self.node() is None), "the node remains")

    def test_the_last_picture_stays(self):
        """A watcher that starts after the camera has gone gets the last picture."""
        process = self.lumeq("--null")
        last = self.number(self.watches()[-1])
        self.control("gone")
        self.waits_for("the camera is gone: ")
        pictures = self.watches()
        self.assertEqual(len(set(pictures)), 1)
        self.assertGreaterEqual(self.number(pictures[0]), last)
        self.control("")
        self.waits_for("the camera is back")
        last = self.number(pictures[0])
        self.assertTrue(wait_for(lambda: self.number(self.watches()[-1]) > last), "no newer picture comes")
        self.interrupt(process)

    def cpu_time(self, process):
        """The CPU time that a process takes in 2 s."""
        def seconds():
            with open("/proc/%d/stat" % process.pid) as stat:
                return sum(int(n) for n in stat.read().rsplit(")", 1)[1].split()[11:13]) / os.sysconf("SC_CLK_TCK")
        begin = seconds()
        time.sleep(2)
        return seconds() - begin

    def test_unwatched(self):
        """While nobody watches, one frame per second is equalized."""
        begin = time.monotonic()
        process = self.lumeq("--null", "-v", modes=LARGE)
        rest = self.cpu_time(process)
        result = self.interrupt(process)
        count = int(re.search(r"the virtual camera showed (\d+) picture", result.err)[1])
        self.assertLessEqual(count, time.monotonic() - begin + 2)
        process = self.lumeq("--null", modes=LARGE)
        self.watch("NV12", 1000)
        self.assertTrue(wait_for(lambda: len(self.times()) > 3), "no pictures come")
        work = self.cpu_time(process)
        self.interrupt(process)
        print("CPU time in 2 s: %.2f s unwatched, %.2f s watched" % (rest, work))
        if not SANITIZED and not IS_CROWDED and work > 0.1:
            self.assertLess(rest, work / 1.5)

    def test_pipewire_ends_and_returns(self):
        process = self.lumeq("--null")
        self.watches()
        self.stop_pipewire()
        self.waits_for("PipeWire has ended: the virtual camera is gone; waiting for it\n")
        self.start_pipewire()
        self.waits_for("PipeWire is back, and so is the virtual camera\n")
        self.waits_until(self.node)
        self.watches()
        self.stop_pipewire()
        self.waits_until(lambda: self.said().count("PipeWire has ended") == 2)
        self.interrupt(process)

    def test_the_doctor(self):
        found = subprocess.run([os.environ["LUMEQ"], "--doctor", "--json"], env=self.sees_pipewire(environment()),
                               stdout=subprocess.PIPE, timeout=LIVENESS)
        about = json.loads(found.stdout)["virtual_camera"]
        self.assertEqual((about["state"], about["text"]), ("ok", "by PipeWire"))


@unittest.skipIf(LACKS, "not installed: %s" % ", ".join(LACKS))
@unittest.skipIf(MISSING, "not installed: %s" % ", ".join(MISSING))
@unittest.skipIf(not FAKE, "FAKE_CAMERA_LIBRARY names no fake camera")
class Window(PipeWireCase, WindowCase):
    def test_preview(self):
        """While the preview is paused, its last picture stays."""
        env = self.sees_pipewire(self.environment(**camera_environment(self.folder, YUYV)))
        env.update(DISPLAY=self.display, SDL_VIDEODRIVER="x11", SDL_AUDIODRIVER="dummy")
        process = self.start("--histogram", "off", "--camera", "--virtual-camera", env=env)
        self.window(process)
        self.waits_until(self.node)
        self.assertTrue(wait_for(lambda: len({self.number(p) for p in self.watches()}) > 1), "the picture does not move")
        self.key("space")
        self.assertTrue(wait_for(lambda: len(set(self.watches())) == 1), "the picture moves in spite of the pause")
        self.key("q")
        self.finished(process, DONE)
