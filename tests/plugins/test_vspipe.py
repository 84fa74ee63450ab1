"""vspipe with the filter: the bits of the program lumeq, the script of the page, errors."""

import glob
import os
import re
import shutil
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.append(os.path.join(ROOT, "tests/app"))
from common import Case, LIVENESS, SMALL, ffmpeg, lumeq, raw

PAGE = os.path.join(ROOT, "src/plugins/vapoursynth/README.md")
PLUGIN = os.environ["LUMEQ_VS_PLUGIN"]
VENV = os.environ["LUMEQ_VS_VENV"]
PACKAGES = "vapoursynth", "vapoursynth-bestsource"


def why_skipped():
    """Installs VapourSynth, which needs Python 3.12. Returns None, or why it cannot be installed."""
    if os.path.exists(os.path.join(VENV, "done")):
        return None
    found = [shutil.which("python3.%d" % i) for i in range(20, 11, -1)] + [sys.executable]
    found += glob.glob(os.path.expanduser("~/.pyenv/versions/3.1[2-9]*/bin/python3"))
    for python in filter(None, found):
        new = subprocess.run([python, "-c", "import sys; sys.exit(sys.version_info < (3, 12))"],
                             stderr=subprocess.DEVNULL)
        if new.returncode == 0:
            break
    else:
        return "VapourSynth needs Python 3.12"
    if subprocess.run([python, "-m", "venv", "--clear", VENV], stdout=subprocess.DEVNULL).returncode:
        return "no virtual environment of " + python
    p = subprocess.run([os.path.join(VENV, "bin/pip"), "install", "-q", "--only-binary=:all:", *PACKAGES],
                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if p.returncode:
        return "pip cannot install %s: %s" % (" ".join(PACKAGES), p.stderr[-300:])
    open(os.path.join(VENV, "done"), "w").close()
    return None


WHY = why_skipped()


@unittest.skipIf(WHY, WHY)
class Vspipe(Case):
    def vspipe(self, script, *options):
        """Runs a script. Returns the exit code, the output and the messages."""
        with open(self.path("script.vpy"), "w", encoding="utf-8") as f:
            f.write(script)
        env = dict(os.environ, PATH=os.path.join(VENV, "bin") + ":" + os.environ["PATH"], HOME=self.folder)
        p = subprocess.run(["vspipe", *options, "script.vpy", "-"], cwd=self.folder, env=env, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIVENESS)
        return p.returncode, p.stdout, p.stderr.decode("utf-8", "replace")

    def script(self, arguments):
        """The page's script, with these arguments of the filter; None: unchanged."""
        with open(PAGE, encoding="utf-8") as f:
            text = re.search(r"```python\n(.*?)```", f.read(), re.S)[1]
        self.assertIn("core = vs.core\n", text)
        text = text.replace("core = vs.core\n", "core = vs.core\ncore.std.LoadPlugin(%r)\n" % PLUGIN)
        return text if arguments is None else text.replace('(clip, profile="fog")', "(clip%s)" % arguments)

    def test_has_the_bits_of_the_program(self):
        for pix_fmt, arguments, options in (
                ("yuv420p", None, "--profile fog"), ("yuv420p", "", ""), ("yuv422p10le", "", ""),
                ("yuv420p", ", lookahead=0, mode='clahe', tiles_x=6", "--lookahead off --mode clahe --tiles 6x8"),
                ("yuv444p", ", lookahead=1, strength=1, chroma='keep'", "--lookahead 1 --strength 1 --chroma keep")):
            with self.subTest(pix_fmt=pix_fmt, arguments=arguments):
                ffmpeg("-i", SMALL, "-an", "-sn", "-vf", "scale=176:100,format=" + pix_fmt, "-frames:v", 80,
                       "-c:v", "ffv1", self.path("in.mkv"))
                code, out, said = self.vspipe(self.script(arguments))
                self.assertEqual(code, 0, said)
                options = options.split() if "--lookahead" in options else ["--lookahead", "2", *options.split()]
                self.ok(self.path("in.mkv"), "-o", self.path("out.mkv"), "-y", "--vcodec", "ffv1", "--dither", "off",
                        "--pix-fmt", "source", *options)
                self.assertEqual(out, raw(self.path("out.mkv"), pix_fmt))

    def test_command_of_the_page(self):
        """Runs the command without the encoder after the pipe."""
        with open(PAGE, encoding="utf-8") as f, open(os.path.join(ROOT, "README.md"), encoding="utf-8") as front:
            command = re.search(r"^vspipe (.*) script\.vpy - \| .*$", f.read(), re.M)
            self.assertIn(command[0] + "\n", front.read())
        ffmpeg("-i", SMALL, "-an", "-sn", "-frames:v", 5, "-c:v", "ffv1", self.path("in.mkv"))
        code, out, said = self.vspipe(self.script(None), *command[1].split())
        self.assertEqual(code, 0, said)
        self.assertEqual((out[:10], out.count(b"FRAME\n")), (b"YUV4MPEG2 ", 5))

    def test_error_messages(self):
        for arguments, message in ((", mode='best'", "lumeq: mode is \"best\", but must be one of global off clahe"),
                                    (", lookahead=11", "lumeq: ")):
            ffmpeg("-i", SMALL, "-an", "-sn", "-frames:v", 2, "-c:v", "ffv1", self.path("in.mkv"))
            code, _, said = self.vspipe(self.script(arguments))
            self.assertNotEqual(code, 0)
            self.assertIn(message, said)

    def test_the_page_names_each_argument(self):
        code, out, said = self.vspipe("import sys, vapoursynth as vs\nvs.core.std.LoadPlugin(%r)\n"
                                      "print(vs.core.lumeq.Equalize.signature, file=sys.stderr)\n"
                                      "vs.core.std.BlankClip(length=1).set_output()\n" % PLUGIN)
        self.assertEqual(code, 0, said)
        with open(PAGE, encoding="utf-8") as f:
            table = f.read().split("| argument |")[1].split("\n\n")[0]
        known = set(re.findall(r"(\w+):\w+(?:\[\])?(?::opt)?;", said))
        self.assertLessEqual(known, set(re.findall(r"`(\w+)`", table)))


if __name__ == "__main__":
    unittest.main()
