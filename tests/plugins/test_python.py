"""Installs the Python module with pip in a new virtual environment, and runs its checks there."""

import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PACKAGES = ("scikit-build-core", "build", "numpy", "opencv-python-headless", "av", "pillow", "matplotlib", "auditwheel",
            "mypy")
TINY = """if True:
    import lumeq, numpy
    dark = numpy.add.outer(numpy.arange(90), numpy.arange(120)).astype("u1") // 5
    print("lighter" if lumeq.equalize(dark).mean() > 1.3 * dark.mean() else "wrong")
"""
LIMIT = 1500  # seconds


def run(*args, **more):
    p = subprocess.run([str(a) for a in args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True, timeout=LIMIT, **more)
    return p.returncode, p.stdout


@unittest.skipIf(os.environ.get("CHECK_SHORT"), "tests/run.sh --all runs it, as it fetches packages")
class Python(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="lumeq-python-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        venv = os.path.join(cls.folder, "venv")
        code, said = run(sys.executable, "-m", "venv", venv)
        if code:
            raise unittest.SkipTest("no virtual environment (python3-venv): " + said.strip().splitlines()[-1])
        cls.python = os.path.join(venv, "bin/python")
        code, said = run(cls.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES)
        if code:
            raise unittest.SkipTest("pip cannot fetch packages: " + said.strip().splitlines()[-1])

    def in_other_pythons(self, wheel):
        """Installs the wheel in every Python from 3.9 on that is found."""
        found = {}
        for path in (os.environ["PATH"].split(":") + glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin"))):
            for minor in range(9, 20):
                python = os.path.join(path, "python3.%d" % minor)
                if os.path.exists(python) and run(python, "-c", "import venv, ensurepip")[0] == 0:
                    found.setdefault(minor, python)
        for minor, python in sorted(found.items()):
            with self.subTest(python):
                venv = os.path.join(self.folder, "venv%d" % minor)
                self.assertEqual(run(python, "-m", "venv", venv)[0], 0)
                bare = {"PATH": "/no/compiler", "HOME": self.folder}
                code, said = run(venv + "/bin/python", "-m", "pip", "install", "--only-binary", ":all:", wheel, env=bare)
                self.assertEqual(code, 0, said)
                code, said = run(venv + "/bin/python", "-c", TINY, env=bare, cwd=self.folder)
                self.assertEqual((code, said), (0, "lighter\n"))
                print("the same wheel works in Python 3.%d" % minor)

    def pip(self, *args):
        code, said = run(self.python, "-m", "pip", "--disable-pip-version-check", *args)
        self.assertEqual(code, 0, said)

    def test_module(self):
        """The wheel built from the sdist works in this Python, and in others without a compiler."""
        made = os.path.join(self.folder, "made")
        path = os.path.dirname(self.python) + ":" + os.environ["PATH"]
        code, said = run(os.path.join(ROOT, "src/packaging/build_sdist.sh"), made, env=dict(os.environ, PATH=path))
        self.assertEqual(code, 0, said)
        sdist, = os.listdir(made)
        self.pip("wheel", "--no-build-isolation", "--no-deps", "-w", made, os.path.join(made, sdist),
                 "-C", "cmake.define.LUMEQ_CUDA=OFF")
        wheel, = (os.path.join(made, name) for name in os.listdir(made) if name != sdist)
        self.assertIn("-py3-none-", wheel)
        code, said = run(self.python, "-m", "auditwheel", "show", wheel)
        self.assertEqual(code, 0, said)
        self.assertRegex(said, '"manylinux_2_[0-9]+_')
        self.in_other_pythons(wheel)
        self.pip("install", "--no-deps", wheel)
        environment = dict(os.environ, LUMEQ_TEST_FOLDER=self.folder)
        code, said = run(self.python, os.path.join(HERE, "python_checks.py"), env=environment, cwd=self.folder)
        print(said)
        self.assertEqual(code, 0)
        code, said = run(self.python, "-m", "mypy", "-p", "lumeq", cwd=self.folder)
        self.assertEqual(code, 0, said)
        wrong = "import lumeq\nlumeq.Equalizer(stregth=1)\nlumeq.equalize(None, mode='best')\nlumeq.bgr(b, tiles=8)\n"
        code, said = run(self.python, "-m", "mypy", "-c", wrong.replace("(b,", "(lumeq.planes(0, ''),"), cwd=self.folder)
        self.assertEqual(code, 1, said)
        for line in 2, 3, 4:
            self.assertIn("<string>:%d: error" % line, said)


if __name__ == "__main__":
    unittest.main(verbosity=2)
