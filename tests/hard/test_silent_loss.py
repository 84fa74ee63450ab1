"""One damage per file: a run that ends with 0 has all frames, or FFmpeg noticed no damage either."""

import itertools

from trial import *
import seeds
import test_mutants

KINDS = ["byte", "burst", "lost", "doubled", "swapped", "cut3", "cut6", "cut9"]
SECOND = 24  # frames
HARMLESS = ("mmco: unref short failure", "first frame is no keyframe")  # FFmpeg also prints these for undamaged streams
NAMES[None] = "undetected damage"


def frames(path):
    """The hashes of all frames, in order."""
    text = ffmpeg("-i", path, "-map", "0:v:0", "-fps_mode", "passthrough", "-f", "framemd5", "-").decode()
    return [line.rsplit(",", 1)[1].strip() for line in text.splitlines() if not line.startswith("#")]


class SilentLoss(Trial):
    wholes = {}

    def frames_of(self, source, allowed):
        folder = self.work()
        process = self.started("file", self.command("file", source) + ["--mode", "off"], folder, source)
        result = self.judge(process, allowed)
        return result, frames(os.path.join(folder, "out.mkv")) if result.code in (DONE, DAMAGED) else []

    def whole(self, name):
        if name not in self.wholes:
            self.wholes[name] = self.frames_of(seeds.seed(name), (DONE,))[1]
            self.assertGreater(len(self.wholes[name]), 10, name)
        return self.wholes[name]

    def ffmpegs(self, path):
        """(number of frames, messages) of FFmpeg's own program."""
        p = warm.run(["ffmpeg", "-v", "error", "-nostdin", "-threads", "1", "-flags", "+output_corrupt", "-i", path,
                      "-map", "0:v:0", "-fps_mode", "passthrough", "-f", "framemd5", "-"], dict(os.environ),
                     timeout=LIVENESS)
        return sum(not line.startswith(b"#") for line in p.stdout.splitlines()), p.stderr.decode("utf-8", "replace")

    def is_documented(self, name, kind, whole, ours):
        """True for a documented loss (src/app/README.md, src/media/input/README.md): up to a second at the end of a film, any
        part at the end of a stream without container, or the beginning of a stream."""
        is_stream = name.endswith((".ts", ".mpg")) or name.startswith("bare.")
        missing = len(whole) - len(ours)
        ends_early = kind.startswith("cut") or ours == whole[:len(ours)]
        return (ends_early and (missing <= SECOND or name.startswith("bare.")) or is_stream and ours == whole[missing:])

    def test_no_frame_is_lost_silently(self):
        names = [name for name in seeds.names() if not name.endswith("/")]
        for (name, kind), random in drawn(itertools.product(names, KINDS), 8):
            with self.subTest(" ".join((name, kind))):
                whole, path = self.whole(name), self.path("mutant-" + name)
                write_bytes(path, test_mutants.mutant(random, kind, read_bytes(seeds.seed(name))))
                result, ours = self.frames_of(path, (DONE, INPUT, DAMAGED))
                lost = collections.Counter(whole) - collections.Counter(ours)
                if result.code == DONE and lost and not self.is_documented(name, kind, whole, ours):
                    theirs, said = self.ffmpegs(path)
                    messages = "".join(line for line in said.splitlines(True) if not any(h in line for h in HARMLESS))
                    self.assertGreaterEqual(len(ours), theirs, "FFmpeg decodes more frames: %s" % messages)
                    self.assertEqual(messages, "", "%d frames are lost or changed; FFmpeg notices it" % lost.total())
                    counts[DONE] -= 1
                    counts[None] += 1


if __name__ == "__main__":
    unittest.main()
