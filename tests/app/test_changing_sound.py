"""Sound that changes in mid-stream, in containers that describe a track once."""

from common import *

QUICK = ("--preset", "ultrafast")
LOST = r"^lumeq: [12]\.\d+ s of sound is missing where the track changes$"


class ChangingSound(Case):
    def part(self, channels, tone=880, rate=48000, codec="aac"):
        pan = "pan=%s|%s" % ({1: "mono", 2: "stereo", 6: "5.1"}[channels], "|".join("c%d=c0" % i for i in range(channels)))
        return clip("%d-%d-%d-%s.ts" % (channels, tone, rate, codec), *X264, "-af",
                    "asetrate=%d,aresample=%d,%s" % (100 * tone, rate, pan), "-c:a", codec, "-b:a", "128k", seconds=2, sound=2 * tone / 441)

    def tones(self, path, errors=0):
        """Returns the number of channels, and the tone's frequency in the middle of each 2 s (0: silence). FFmpeg may
        print up to `errors` bytes."""
        run = subprocess.run(["ffmpeg", "-v", "error", "-i", path, "-map", "0:a", "-f", "null", "-"], capture_output=True)
        self.assertLessEqual(len(run.stderr), errors, run.stderr.decode())
        data = ffmpeg("-i", path, "-map", "0:a", "-af", "aresample=async=1:first_pts=0", "-ac", 1, "-ar", 8000, "-f", "s16le", "-")
        samples, found = memoryview(data).cast("h"), []
        for at in range(8000, len(samples) - 3999, 16000):
            part = samples[at:at + 4000]
            found.append(sum((a < 0) != (b < 0) for a, b in zip(part, part[1:])) if max(part) > 500 else 0)
        return streams(path, "audio")[0]["channels"], found

    def check(self, source, name, channels, tones, code, *options):
        result = self.exits(code, source, "-o", self.path(name), *QUICK, "-y", *options)
        self.assertEqual(sum("(aac) changes its format at" in l for l in result.lines), code == DAMAGED, str(result))
        got, found = self.tones(self.path(name))
        self.assertEqual(got, channels)
        self.near(found, tones, 15, str(result))
        return result

    def test_rate_and_channels(self):
        """Copied sound keeps only parts in the format of the track's beginning; converted sound is complete."""
        mono, stereo, low, six = self.part(1, 440), self.part(2), self.part(2, 660, 44100), self.part(6, 300)
        for parts, channels, tones in some((((stereo, mono, stereo, six), 2, (880, 440, 880, 300)),
                                            ((stereo, low, stereo), 2, (880, 660, 880)),
                                            ((low, stereo, low), 2, (660, 880, 660)))):
            source = joined(self.path("source.ts"), parts)
            copied = [tone if tone == tones[0] else 0 for tone in tones]
            for name in some(("a.mkv", "b.mp4", "c.mov")):
                with self.subTest(name, tones=tones):
                    result = self.check(source, name, channels, copied[:3] if not copied[-1] else copied, DAMAGED)
                    self.assertRegex(result.lines[-1], LOST.replace("[12]", "[1-4]"))
                    self.check(source, name, channels, tones, DONE, "--acodec", "aac")

    def test_ways_to_run(self):
        source = joined(self.path("source.ts"), (self.part(1, 440), self.part(2), self.part(1, 440)))
        tones = (440, 0, 440)
        self.check(source, "a.mkv", 1, tones, DAMAGED, "--jobs", 2, "--part-seconds", 1)
        self.check(source, "b.mp4", 1, tones, DAMAGED, "--acodec", "copy", "--lookahead", "off")
        self.exits(DAMAGED, source, "-o", self.path("piece-%Y%m%d-%H%M%S.mp4"), "--segment-time", 1, *QUICK)
        self.assertEqual(sum(f.startswith("piece") for f in self.files()), 6)

    def test_new_header(self):
        """In FLV, a new codec header announces the change of format."""
        data = b""
        for i, part in enumerate((self.part(1, 440), self.part(2), self.part(1, 440))):
            ffmpeg("-i", part, "-c", "copy", "-bsf:a", "aac_adtstoasc", "-output_ts_offset", 2 * i, self.path("%d.flv" % i))
            data += self.read("%d.flv" % i)[13 if i else 0:]
        source = self.write("both.flv", data)
        for name in "a.mkv", "b.mp4", "c.ts":
            result = self.check(source, name, 1, (440, 0, 440), DAMAGED)
            self.assertRegex(result.lines[-1], LOST)

    def test_containers_with_headers(self):
        """In a transport stream each packet has its own header, so all packets are copied."""
        source = joined(self.path("source.ts"), (self.part(1, 440), self.part(2)))
        result = self.ok(source, "-o", self.path("out.ts"), *QUICK)
        self.assertNotIn("changes its format at", result.err)
        self.assertEqual({f["channels"] for f in probe(self.path("out.ts"), "-select_streams", "a", "-show_frames")["frames"]},
                         {1, 2})
