"""Runs on disks that are too small, or just large enough."""

from trial import *
import modes
import seeds

KILOBYTES = [4, 16, 64, 256, 1024, 4096]
WRITING = [mode for mode in modes.MODES if modes.MODES[mode].files]


class Disks(Trial):
    def disk(self, kilobytes):
        path = self.path("disk")
        os.makedirs(path, exist_ok=True)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%dk" % kilobytes, "none", path],
                                 stderr=subprocess.DEVNULL, check=False).returncode == 0
        if not mounted:
            self.skipTest("needs the right to mount a small tmpfs")
        return path

    def fills(self, mode, kilobytes, replaces):
        """Runs on the disk; if the run fails, makes room and runs again."""
        source, disk = seeds.seed("h264-10.mkv"), self.disk(kilobytes)
        try:
            words = self.command(mode, source, seeds.good())
            precious = [w for w in words if w.startswith(("out.", "s.csv", "r.html"))] if replaces else []
            for name in precious:
                write_bytes(os.path.join(disk, name), b"precious")
            words += ["-y"] if replaces else []
            result = self.judge(self.started(mode, words, disk, source), (DONE, OUTPUT), most=3 if mode == "many" else 1)
            if result.code == OUTPUT:
                self.assertRegex(result.err, "No space left|could not be written|cannot be written|cannot write")
                for name in precious:
                    self.assertEqual(read_bytes(os.path.join(disk, name)), b"precious")
                for at, _, names in os.walk(disk):
                    for name in names:
                        short = os.path.relpath(os.path.join(at, name), disk)
                        self.assertTrue(name in result.err or short in precious or ".lumeq/" in short or
                                        re.fullmatch(modes.MODES[mode].files, short), "%s is left over: %s" % (short, result))
                subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
                more = ["--resume"] if mode == "jobs" else ["-y"] * (not replaces)
                self.judge(self.started(mode, words + more, disk, source), (DONE,))
            for name in os.listdir(disk):
                if re.fullmatch(modes.MODES[mode].files, name) and os.path.isfile(os.path.join(disk, name)):
                    self.assertTrue(self.is_whole(os.path.join(disk, name)), name)
        finally:
            subprocess.run(["umount", disk], check=True)

    def test_every_size(self):
        cases = [(mode, size, old) for mode in WRITING for size in KILOBYTES for old in ("new", "replaced")]
        for (mode, kilobytes, old), _ in drawn(cases, 4):
            with self.subTest("%s %d %s" % (mode, kilobytes, old)):
                self.fills(mode, kilobytes, old == "replaced")


if __name__ == "__main__":
    unittest.main()
