"""--doctor: its findings on this machine and on simulated ones. Nothing may make it hang."""

import ctypes
import json
import os
import re
import signal
import unittest

from common import DONE, LIVENESS, SANITIZED, SLOWER, USAGE, Case, environment, finish, lumeq, start
from test_options import on_terminal
from window import MISSING, WindowCase

DRIVER, MACHINE = os.environ.get("FAKE_DRIVER_LIBRARY", ""), os.environ.get("FAKE_MACHINE_LIBRARY", "")
WITH_DRIVER = MACHINE + ":" + DRIVER  # to preload
ATTACKER = os.environ.get("ATTACKER_LIBRARY", "")
CAMERA = os.environ.get("FAKE_CAMERA_LIBRARY", "")
WITH_CUDA = os.environ.get("FAKE_GPU_PROGRAM", "")  # a build with fake GPUs

SECTIONS = ["processor", "sandbox", "gpu", "nvdec", "encoders", "hardware_encoders", "cameras", "virtual_camera", "display",
            "sound", "versions"]
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def has_library(name):
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


class DoctorCase(Case):
    def examine(self, *args, code=DONE, env=None, preload=None, program=None, **more):
        """Runs --doctor --json, checks the layout of the JSON object, and returns it."""
        env = dict(env or environment(), **{"LUMEQ_DOCTOR_SECONDS": str(LIVENESS / 2), **more})
        if preload and "container" not in more:  # the simulated machine is not a container
            env.pop("container", None)
            env.pop("NVIDIA_VISIBLE_DEVICES", None)
        if preload:
            env["LD_PRELOAD"] = preload
            env["ASAN_OPTIONS"] += ":verify_asan_link_order=0"
        result = finish(start("--doctor", "--json", *args, stdout=-1, env=env, executable=program))
        self.assertEqual((result.code, result.err), (code, ""), str(result))
        found = json.loads(result.out)
        self.assertEqual(list(found), ["works"] + SECTIONS)
        self.assertEqual(found["works"], code == DONE)
        for name in SECTIONS:
            section = found[name]
            self.assertEqual(set(section), {"verdict", "state", "text", "mend"}, name)
            self.assertIn(section["verdict"], ("ok", "none", "mend"), name)
            self.assertTrue(section["text"], name)
            if section["verdict"] == "mend":
                self.assertTrue(section["mend"], name)
                self.assertNotIn("\n", section["mend"])
        return found


class Doctor(DoctorCase):
    def test_this_machine(self):
        found = self.examine()
        self.assertEqual(found["processor"]["state"], "ok")
        self.assertIn(found["encoders"]["state"], ("ok", "no-h264"))
        self.assertIn(lumeq("--version").out.decode().splitlines()[0] + ", ", found["versions"]["text"])

    def test_text(self):
        result = lumeq("--doctor")
        self.assertEqual((result.code, result.err), (DONE, ""))
        text = result.out.decode()
        for words in ("  ok  Processor ", " GPU ", " NVDEC ", " Encoders ", " Cameras ", " Display ", " Sound ",
                      "lumeq works here"):
            self.assertIn(words, text)
        self.assertNotIn("\x1b", text)
        self.assertIn("\x1b[32m", lumeq("--doctor", "--color", "always").out.decode())

    def test_on_a_terminal(self):
        for columns in (80, 44):
            shown, _ = on_terminal("--doctor", columns=columns)
            lines = ESCAPES.sub("", shown.decode()).split("\r\n")
            self.assertGreater(len(lines), 15)
            long = [line for line in lines if len(line) > columns and " " in line[24:].strip()]
            self.assertEqual(long, [])

    def test_sandbox(self):
        """Simulated kernels lack Landlock or seccomp."""
        states = [self.examine(**more)["sandbox"]["state"] for more in
                  ({}, dict(preload=ATTACKER, NO_LANDLOCK="1"), dict(preload=ATTACKER, NO_SECCOMP="1"))]
        self.assertIn(states[0], ("ok", "no-landlock", "no-seccomp"))
        if states[0] == "ok":
            self.assertEqual(states[1:], ["no-landlock", "no-seccomp"])

    def test_fewer_kernels(self):
        found = self.examine(LUMEQ_CPU_MASK="0")["processor"]
        self.assertEqual(found["state"], "ok")
        self.assertIn("plain C kernels", found["text"])
        self.assertIn("LUMEQ_CPU_MASK", found["mend"])

    def test_ignored_child_signals(self):
        """--doctor works while SIGCHLD is ignored, as under some daemons."""
        result = self.ends(start("--doctor", "--json", stdout=-1,
                                 preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)))
        self.assertEqual(json.loads(result.out)["encoders"]["state"], "ok")

    def test_json_alone(self):
        for args in (("--json",), ("--list-devices", "--json"), ("none.mp4", "--null", "--json")):
            self.refused(lumeq(*args), USAGE, "--json needs --doctor")

    def test_a_file_is_no_machine(self):
        self.refused(lumeq("--doctor", "film.mkv"), USAGE, "--doctor", "this machine", "'film.mkv'")

    def test_standard_output_is_full(self):
        with open("/dev/full", "wb") as full:
            self.assertIn("cannot write to standard output", lumeq("--doctor", stdout=full).err)

    def test_no_display(self):
        env = {k: v for k, v in environment().items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")}
        for more, verdict, text in (({}, "none", "there is no display"), ({"DISPLAY": ":12345"}, "mend", "DISPLAY=:12345")):
            found = self.examine(env=env, **more)["display"]
            self.assertEqual((found["state"], found["verdict"]), ("no-display", verdict))
            self.assertIn(text, found["text"])


@unittest.skipIf(not DRIVER or not MACHINE, "FAKE_DRIVER_LIBRARY names no fake driver")
class Driver(DoctorCase):
    def gpu(self, words, preload=WITH_DRIVER, **more):
        return self.examine(preload=preload, FAKE_DRIVER=words, **more)["gpu"]

    def test_causes_are_distinguished(self):
        in_container = "start the container with docker run --gpus all, which needs the NVIDIA Container Toolkit"
        cases = [("init=100 none", "no-gpu", "none", "no NVIDIA GPU", "an NVIDIA GPU from 2018 or later", WITH_DRIVER),
                 ("init=100 denied", "no-permission", "mend", "no permission to use the GPU", "usermod -aG video,render",
                  WITH_DRIVER)]
        if not has_library("libcuda.so.1"):
            cases += [("node", "no-driver", "mend", "the driver of the NVIDIA GPU is not installed",
                       "sudo apt install nvidia-driver", MACHINE)]
        for words, state, verdict, text, mend, preload in cases:
            with self.subTest(words):
                found = self.gpu(words, preload)
                self.assertEqual((found["state"], found["verdict"]), (state, verdict))
                self.assertIn(text, found["text"])
                self.assertIn(mend, found["mend"])
                self.assertEqual(self.gpu(words, preload, container="made-up")["mend"], in_container)
        if "and CUDA" not in lumeq("--version").out.decode():
            self.assertEqual(self.gpu("node")["state"], "no-cuda")

    @unittest.skipUnless(WITH_CUDA, "FAKE_GPU_PROGRAM names no program with fake GPUs")
    def test_a_build_with_cuda(self):
        no_code = "this build has no code for Made-up GPU 0 (GPU 0): invalid device function"
        for refuses, state, verdict, version, said in ((None, "ok", "ok", "580.65.06", ""),
                                                       (no_code, "fails", "mend", "", ": unusable: " + no_code)):
            more = {"FAKE_GPU_REFUSES": refuses} if refuses else {}
            found = self.gpu(version and "version=" + version, program=WITH_CUDA, **more)
            self.assertEqual((found["state"], found["verdict"]), (state, verdict))
            self.assertEqual(found["text"].split("\n")[0], "driver " + (version or "of unknown version"))
            self.assertIn("0: Made-up GPU 0" + said, found["text"])

    def test_nvdec_in_a_container(self):
        if has_library("libnvcuvid.so.1"):
            self.skipTest("this machine has NVIDIA's decoder")
        found = self.examine(preload=WITH_DRIVER, FAKE_DRIVER="", container="made-up")["nvdec"]
        self.assertEqual(found["state"], "no-library")
        self.assertRegex(found["mend"], "NVIDIA_DRIVER_CAPABILITIES=.*video")

    def test_nvdec(self):
        for nvdec, state, text in (
                ("", "ok", "decodes h264, hevc, hevc 10 bits, vp8, vp9, vp9 10 bits, av1, av1 10 bits"),
                ("only 8", "ok", "decodes hevc, hevc 10 bits; not h264, vp8, vp9, vp9 10 bits, av1, av1 10 bits"),
                ("only 3", "none", "the GPU decodes no common codec; the CPU decodes instead")):
            found = self.examine(preload=WITH_DRIVER, FAKE_DRIVER="", FAKE_NVDEC=nvdec,
                                 LD_LIBRARY_PATH=os.path.dirname(DRIVER))["nvdec"]
            self.assertEqual((found["state"], found["text"]), (state, text))

    def test_crashing_or_hanging_driver(self):
        for how, state, seconds in (("crash", "crashes", LIVENESS / 2), ("hang", "hangs", 3 * SLOWER)):
            found = self.examine(preload=WITH_DRIVER, FAKE_DRIVER=how, LUMEQ_DOCTOR_SECONDS=str(seconds))
            self.assertEqual([found[n]["state"] for n in ("nvdec", "processor")], [state, "ok"])

    @unittest.skipIf(SANITIZED, "a sanitizer has an allocator of its own")
    def test_out_of_memory(self):
        found = self.examine(preload=WITH_DRIVER, FAKE_DRIVER="no-memory init=100", code=USAGE)["processor"]
        self.assertEqual(found["state"], "fails")
        self.assertIn("out of memory", found["text"])


@unittest.skipIf(not CAMERA, "FAKE_CAMERA_LIBRARY names no fake camera")
class Cameras(DoctorCase):
    def test_cameras(self):
        loaded = os.path.exists("/sys/module/v4l2loopback")  # then the denied camera may be virtual
        for state, more, section, expected in (
                ("", {"FAKE_CAMERA_NAME": 'A "made-up\\one"'}, "cameras",
                 ("ok", "ok", r'^/dev/video0: A "made-up\\one"$', None)),
                ("", {}, "virtual_camera", ("none", "none", ".", "v4l2loopback")),
                ("denied", {}, "cameras", ("no-permission", "mend", "/dev/video0", "group")),
                ("denied", {}, "virtual_camera", None if loaded else ("none", "none", "not loaded", "modprobe")),
                ("gone", {}, "cameras", ("none", "none", "none connected", "connect one")),
                ("", {"FAKE_OUTPUT": "/dev/video9"}, "virtual_camera", ("ok", "ok", "^/dev/video9, ", None)),
                ("out.taken", {"FAKE_OUTPUT": "/dev/video9"}, "virtual_camera", ("busy", "mend", ".", "."))):
            with self.subTest(state, section=section, **more):
                found = self.examine(preload=CAMERA, FAKE_CAMERA_MODES="MJPG 320x240@30", FAKE_CAMERA_STATE=state,
                                     **more)[section]
                if expected:
                    state, verdict, text, mend = expected
                    self.assertEqual((found["state"], found["verdict"]), (state, verdict))
                    self.assertRegex(found["text"], text)
                    self.assertRegex(found["mend"] or "", mend or "^$")


@unittest.skipIf(MISSING, "not installed: %s" % ", ".join(MISSING))
class Display(DoctorCase, WindowCase):
    def test_display(self):
        found = self.examine(env=self.environment())
        self.assertEqual((found["display"]["state"], found["sound"]["state"]), ("ok", "none"))
        self.assertRegex(found["display"]["text"], r"^OpenGL \S.* on x11\n\S.*, \S")

    @unittest.skipIf(not DRIVER, "FAKE_DRIVER_LIBRARY names no fake driver")
    def test_broken_opengl(self):
        for how, state, seconds in (("", "no-opengl", LIVENESS / 2), ("crash", "crashes", LIVENESS / 2),
                                    ("hang", "hangs", 3 * SLOWER)):
            with self.subTest(how):
                found = self.examine(env=self.environment(), SDL_OPENGL_LIBRARY=DRIVER, FAKE_OPENGL=how,
                                     LUMEQ_DOCTOR_SECONDS=str(seconds))
                self.assertEqual((found["display"]["state"], found["processor"]["state"]), (state, "ok"))
