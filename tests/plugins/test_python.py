"""Installs the Python module with pip in a new virtual environment, and runs its checks there."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MODULE = os.path.join(ROOT, "src/plugins/python")
PACKAGES = "nanobind", "scikit-build-core", "numpy", "opencv-python-headless", "av", "auditwheel", "mypy"
LIMIT = 1500  # seconds


def run(*args, **more):
    p = subprocess.run([str(a) for a in args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True, timeout=LIMIT, **more)
    return p.returncode, p.stdout


@unittest.skipIf(os.environ.get("CHECK_SHORT"), "tests/run.sh --all runs it, as it fetches packages from PyPI")
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

    def pip(self, *args):
        code, said = run(self.python, "-m", "pip", "--disable-pip-version-check", *args)
        self.assertEqual(code, 0, said)

    def test_module(self):
        wheels = os.path.join(self.folder, "wheels")
        self.pip("wheel", "--no-build-isolation", "--no-deps", "-w", wheels, MODULE,
                 "-C", "build-dir=" + os.path.join(self.folder, "build"), "-C", "cmake.define.LUMEQ_CUDA=OFF")
        wheel, = (os.path.join(wheels, name) for name in os.listdir(wheels))
        code, said = run(self.python, "-m", "auditwheel", "show", wheel)
        self.assertEqual(code, 0, said)
        self.assertRegex(said, '"manylinux_2_[0-9]+_')
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
