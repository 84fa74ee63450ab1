"""The recipes in src/plugins/README.md that pipe lumeq into ffmpeg, ffmpeg into lumeq, or both."""

import os
import re
import subprocess
import unittest

from common import LIVENESS, LUMEQ, Case, environment, ffmpeg, frame_times, packets, payloads, raw, video

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/plugins/README.md")
START = 7  # seconds
LATER = 0.2  # seconds from the first picture to the first sound


class Recipes(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with open(PAGE, encoding="utf-8") as f:
            page = f.read().split("## With ffmpeg")[1].split("\n## ")[0]
        cls.commands = re.search(r"```sh\n(.*?)```", page, re.S)[1].replace("\\\n", " ").strip().splitlines()

    def film(self):
        """A film of 10 bits, with irregular times that begin at START, and sound that begins later."""
        path = self.path("in.mkv")
        times = "N*40+mod(N*N\\,31)+%d" % (START * 1000)
        ffmpeg("-f", "lavfi", "-t", 2, "-i", "testsrc2=size=160x90:rate=25,lutyuv=y='64+val/4',format=yuv420p10le",
               "-f", "lavfi", "-t", 2, "-i", "sine=frequency=440:sample_rate=48000",
               "-vf", "settb=1/1000,setpts='%s'" % times, "-af", "asetpts=PTS+%s/TB" % (START + LATER),
               "-fps_mode", "passthrough", "-enc_time_base", "1:1000", "-copyts", "-c:v", "ffv1", "-c:a", "flac", path)
        found = frame_times(path)
        self.assertEqual(found[0], START)
        self.assertGreater(len({round(b - a, 3) for a, b in zip(found, found[1:])}), 5)
        self.assertEqual(video(path)["pix_fmt"], "yuv420p10le")
        return path

    def shell(self, command):
        """Runs a documented command with the tested lumeq."""
        env = environment()
        os.makedirs(self.path("bin"), exist_ok=True)
        link = self.path("bin/lumeq")
        if not os.path.exists(link):
            os.symlink(LUMEQ, link)
        env["PATH"] = "%s:%s" % (self.path("bin"), env["PATH"])
        run = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=os.path.dirname(self.path("in.mkv")),
                             env=env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=LIVENESS)
        self.assertEqual(run.returncode, 0, "%s\n%s" % (command, run.stderr.decode("utf-8", "replace")))

    def check(self, film, out, begin, tolerance=0.0011):
        """Checks the frames' times and depth, and that the sound is unchanged and keeps its offset from the video."""
        before, after = frame_times(film), frame_times(out)
        self.assertEqual(len(after), len(before))
        for a, b in zip(before, after):
            self.assertAlmostEqual(b - begin, a - START, delta=tolerance)
        self.assertEqual(video(out)["pix_fmt"], "yuv420p10le")
        self.assertEqual(payloads(out), payloads(film))
        self.assertAlmostEqual(packets(out)[0][0] - after[0], packets(film)[0][0] - before[0], delta=tolerance)

    def test_every_line(self):
        film = self.film()
        self.assertEqual(len(self.commands), 4)
        for command in self.commands:
            out = self.path(re.search(r"\bout\w*\.mkv", command)[0])
            with self.subTest(command):
                self.shell(command)
                self.check(film, out, START if "offset" in command else 0)

    def test_the_same_pictures(self):
        """The frames are those of a run without ffmpeg."""
        film = self.film()
        self.shell("lumeq -q in.mkv -o direct.mkv --vcodec ffv1")
        direct = raw(self.path("direct.mkv"))
        self.assertNotEqual(direct, raw(film))
        for command in self.commands:
            out = re.search(r"\bout\w*\.mkv", command)[0]
            if "ffv1" not in command:
                continue
            with self.subTest(command):
                self.shell(command)
                self.assertEqual(raw(self.path(out)), direct)


if __name__ == "__main__":
    unittest.main()
