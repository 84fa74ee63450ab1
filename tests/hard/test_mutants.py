"""Runs every mode on damaged copies of 49 small videos, each time with a random option."""

import itertools

from trial import *
import modes
import seeds

CUTS = ["cut%d" % i for i in range(1, 10)]
KINDS = ["byte", "bytes", "burst", "head", *CUTS, "lost", "doubled", "swapped"]


def mutant(random, kind, data):
    """A damaged copy of `data`."""
    size = len(data)
    data = bytearray(data)
    if kind in CUTS:
        return bytes(data[:size * int(kind[3:]) // 10 + random.randrange(-20, 20)])
    if kind == "burst":
        at, length = random.randrange(size), random.choice((16, 200, 2000))
        data[at:at + length] = random.randbytes(len(data[at:at + length]))
        return bytes(data)
    if kind in ("byte", "bytes", "head"):
        last = min(size, 600) if kind == "head" else size
        for _ in range(1 if kind == "byte" else random.choice((2, 8, 40))):
            data[random.randrange(last)] ^= random.randrange(1, 256)
        return bytes(data)
    length = random.choice((188, 1000, size // 10))
    a = random.randrange(max(1, size - 2 * length))
    b = random.randrange(a + length, max(a + length + 1, size - length))
    one, other = data[a:a + length], data[b:b + length]
    if kind == "lost":
        return bytes(data[:a] + data[a + length:])
    if kind == "doubled":
        return bytes(data[:a] + one + data[a:])
    return bytes(data[:a] + other + data[a + length:b] + one + data[b + length:])


class Mutants(Trial):
    def damaged(self, random, kind, name):
        """The path of a damaged copy of a seed. In a folder of pictures, one picture is damaged."""
        whole, path = seeds.seed(name), self.path("mutant-" + name.rstrip("/"))
        if not name.endswith("/"):
            write_bytes(path, mutant(random, kind, read_bytes(whole)))
            return path
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(whole, path)
        picture = os.path.join(path, random.choice(sorted(os.listdir(path))))
        write_bytes(picture, mutant(random, kind, read_bytes(picture)))
        return path

    def run_one(self, mode, source, option):
        folder = self.work()
        process = self.started(mode, self.command(mode, source, seeds.good()) + option, folder, source)
        result = self.judge(process, (DONE, INPUT, DAMAGED), most=3 if mode == "many" else 1)
        if result.code in (DONE, DAMAGED):
            self.complete(mode, folder)
        elif mode == "jobs" and "--resume" in result.err:
            shutil.rmtree(os.path.join(folder, "out.mkv.lumeq"))  # the finished parts
        elif mode != "many":
            self.assertEqual(self.outputs(mode, folder), [], str(result))
        return result

    def test_every_mode(self):
        cases = itertools.product(seeds.names(), KINDS, modes.MODES)
        for (name, kind, mode), random in drawn(cases, 30):
            if not modes.fits(mode, name):
                continue
            option = modes.extra(random, mode, name)
            with self.subTest(" ".join((name, kind, mode)), option=option):
                self.run_one(mode, self.damaged(random, kind, name), option)


if __name__ == "__main__":
    unittest.main()
