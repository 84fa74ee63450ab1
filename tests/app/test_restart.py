"""A restart at any frame gives the frames and packets of an uninterrupted run (tests/media/test_restart.c)."""

import os
import subprocess
import unittest

from common import LIVENESS, Case, clip, environment, has_encoder, read_bytes, write_bytes

PROGRAM = os.environ.get("TEST_RESTART")
SOURCE = "testsrc2=size=160x90:rate=25,noise=alls=4:allf=t"
H264 = ("-c:v", "libx264", "-preset", "veryfast")
B_FRAMES = H264 + ("-bf", 3, "-g", 30)
OPEN = H264 + ("-bf", 3, "-x264-params", "open-gop=1:keyint=40:min-keyint=40:scenecut=0")
SECONDS = 6


def film(name, *output, sound=True):
    return clip(name, *output, seconds=SECONDS, source=SOURCE, sound=SECONDS if sound else None)


class Restart(Case):
    def check(self, path, *part):
        run = subprocess.run([PROGRAM, path] + [str(p) for p in part], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIVENESS, check=False,
                             env=environment())
        self.assertEqual(run.returncode, 0, run.stdout.decode())

    def write(self, name, *parts):
        path = self.path(name)
        write_bytes(path, b"".join(parts))
        return path

    @staticmethod
    def bytes_of(path):
        return read_bytes(path)

    def test_containers(self):
        films = [film("b.mp4", *B_FRAMES, "-c:a", "aac"),
                 film("fragments.mp4", *B_FRAMES, "-c:a", "aac", "-movflags",
                      "frag_keyframe+empty_moov"),
                 film("open.mkv", *OPEN, "-c:a", "aac"),
                 film("one_group.mkv", *H264, "-bf", 2, "-g", 250, "-c:a", "aac"),
                 film("b.ts", *B_FRAMES, "-c:a", "mp2"),
                 film("no_key_frames.ts", *H264, "-x264-params", "intra-refresh=1:keyint=40", "-c:a", "mp2"),
                 film("b.flv", *B_FRAMES, "-c:a", "aac"),
                 film("b.mpg", "-c:v", "mpeg2video", "-bf", 2, "-g", 12, "-c:a", "mp2"),
                 film("b.avi", "-c:v", "mpeg4", "-bf", 2, "-g", 30, "-c:a", "ac3"),
                 film("no_times.h264", *B_FRAMES, "-f", "h264", sound=False)]
        if has_encoder("libx265"):
            films.append(film("open.hevc.mkv", "-c:v", "libx265", "-preset", "ultrafast", "-x265-params",
                              "keyint=40:log-level=none", "-c:a", "aac"))
        if has_encoder("libvpx-vp9"):
            films.append(film("b.webm", "-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", 8, "-g", 60, "-c:a",
                              "libopus" if has_encoder("libopus") else "libvorbis"))
        for path in films:
            with self.subTest(os.path.basename(path)):
                self.check(path)

    def test_parts(self):
        for path in (film("b.mp4", *B_FRAMES, "-c:a", "aac"), film("b.ts", *B_FRAMES, "-c:a", "mp2")):
            for part in ((2500000, 5000000, -1), (2300000, -1, 70), (-1, -1, 120)):
                with self.subTest(os.path.basename(path), part=part):
                    self.check(path, *part)

    def test_several_tracks(self):
        """Also with sparse subtitles."""
        text = "".join("%d\n00:00:0%d,500 --> 00:00:0%d,900\nline\n\n" % (i + 1, s, s) for i, s in enumerate((0, 3, 6)))
        lines = self.write("lines.srt", text.encode())
        for name, sound, subtitles in (("three.mkv", "flac", "srt"), ("three.mp4", "ac3", "mov_text")):
            with self.subTest(name):
                self.check(clip(name, "-i", lines, "-map", 0, "-map", 1, "-map", 1, "-map", 2, "-t", SECONDS, *B_FRAMES,
                                "-c:a:0", "aac", "-c:a:1", sound, "-c:s", subtitles, seconds=SECONDS, source=SOURCE,
                                sound=SECONDS))

    def test_repeated_times(self):
        """A seek may land in the second half."""
        part = self.bytes_of(film("b.ts", *B_FRAMES, "-c:a", "mp2"))
        self.check(self.write("twice.ts", part, part))

    def test_damage(self):
        """It is counted once."""
        film_bytes = bytearray(self.bytes_of(film("b.ts", *B_FRAMES, "-c:a", "mp2")))
        for i in range(1, 4):
            at = len(film_bytes) // 4 * i // 188 * 188
            film_bytes[at + 20:at + 120] = bytes(100)
        self.check(self.write("damaged.ts", bytes(film_bytes)))


if __name__ == "__main__":
    unittest.main()
