"""Copied sound that changes in mid-stream, in containers that describe a track once."""

from common import *

QUICK = ("--preset", "ultrafast")


class ChangingSound(Case):
    def part(self, channels, tone=880, rate=48000, codec="aac"):
        pan = "pan=%s|%s" % ({1: "mono", 2: "stereo", 6: "5.1", 8: "7.1(wide)"}[channels],
                             "|".join("c%d=c0" % i for i in range(channels)))
        return clip("%d-%d-%d-%s.ts" % (channels, tone, rate, codec), *X264, "-af",
                    "asetrate=%d,aresample=%d,%s" % (100 * tone, rate, pan), "-c:a", codec, "-b:a", "128k", seconds=2, sound=2 * tone / 441)

    def tones(self, path):
        """Channels, and the frequency in the middle of each 2 seconds. Nothing may fail to decode."""
        told = subprocess.run(["ffmpeg", "-v", "error", "-i", path, "-map", "0:a", "-f", "null", "-"], capture_output=True)
        self.assertEqual(told.stderr, b"")
        data = ffmpeg("-i", path, "-map", "0:a", "-af", "aresample=async=1:first_pts=0", "-ac", 1, "-ar", 8000, "-f", "s16le", "-")
        samples, found = memoryview(data).cast("h"), []
        for at in range(8000, len(samples) - 3999, 16000):
            part = samples[at:at + 4000]
            found.append(sum((a < 0) != (b < 0) for a, b in zip(part, part[1:])) if max(part) > 500 else 0)
        return streams(path, "audio")[0]["channels"], found

    def check(self, parts, name, channels, tones, code=DONE, *options):
        source = joined(self.path("source.ts"), parts)
        result = self.exits(code, source, "-o", self.path(name), *QUICK, "-y", *options)
        self.assertEqual(len([l for l in result.lines if "(aac) changes at" in l or "(mp2) changes at" in l]), 1, str(result))
        got, found = self.tones(self.path(name))
        self.assertEqual(got, channels)
        self.near(found, tones, 15, str(result))
        return result

    def test_rate_and_channels(self):
        mono, stereo, low, six = self.part(1, 440), self.part(2), self.part(2, 660, 44100), self.part(6, 300)
        for parts, channels, tones in some((((mono, stereo), 1, (440, 880)), ((stereo, mono), 2, (880, 440)),
                                            ((stereo, low), 2, (880, 660)), ((low, stereo), 2, (660, 880)),
                                            ((six, stereo), 6, (300, 880)),
                                            ((stereo, mono, stereo, six), 2, (880, 440, 880, 300)))):
            for name in some(("a.mkv", "b.mp4", "c.mov")):
                with self.subTest(name, tones=tones):
                    self.check(parts, name, channels, tones)

    def test_copying_resumes(self):
        """The packets of the first kind are those of the input."""
        parts = [self.part(2), self.part(1, 440), self.part(2)]
        self.check(parts, "out.mkv", 2, (880, 440, 880))
        before = [p["data_hash"] for p in self.packets(joined(self.path("plain.ts"), parts[:1]))]
        after = [p["data_hash"] for p in self.packets(self.path("out.mkv"))]
        self.assertEqual(after[:len(before) - 1], before[:-1])
        self.assertEqual(after[-len(before) + 1:], before[1:])

    def packets(self, path):
        """Packets of sound without headers."""
        ffmpeg("-i", path, "-map", "0:a", "-c", "copy", self.path("plain.mkv"))
        return probe(self.path("plain.mkv"), "-show_packets", "-show_data_hash", "md5")["packets"]

    def test_another_codec(self):
        aac, mp2 = self.part(2), self.part(2, 550, codec="mp2")
        for parts, tones in ((mp2, aac), (550, 880)), ((aac, mp2), (880, 550)):
            for name in "a.mkv", "b.mp4", "c.ts":
                with self.subTest(name, tones=tones):
                    self.check(parts, name, 2, tones)

    def test_ways_to_run(self):
        parts = self.part(1, 440), self.part(2)
        self.check(parts, "a.mkv", 1, (440, 880), DONE, "--jobs", 2, "--part-seconds", 1)
        self.check(parts, "b.mp4", 1, (440, 880), DONE, "--acodec", "copy", "--lookahead", "off")
        self.check(parts, "c.mp4", 1, (880,), DONE, "--ss", 1.5, "--to", 3)
        source = joined(self.path("source.ts"), parts)
        self.ok(source, "-o", self.path("piece-%Y%m%d-%H%M%S.mp4"), "--segment-time", 1, *QUICK)
        pieces = [f for f in self.files() if f.startswith("piece")]
        self.assertEqual(len(pieces), 4)
        for piece in pieces:
            self.assertEqual(self.tones(self.path(piece))[0], 1)

    def test_new_header(self):
        """FLV announces another configuration with a header; the second file's times continue the first's."""
        data = b""
        for i, part in enumerate((self.part(1, 440), self.part(2))):
            ffmpeg("-i", part, "-c", "copy", "-bsf:a", "aac_adtstoasc", "-output_ts_offset", 2 * i, self.path("%d.flv" % i))
            data += self.read("%d.flv" % i)[13 if i else 0:]
        source = self.write("both.flv", data)
        for name in "a.mkv", "b.mp4", "c.ts":
            result = self.ok(source, "-o", self.path(name), *QUICK)
            self.assertEqual(sum("audio track 0 (aac) changes at" in l for l in result.lines), 1, str(result))
            channels, found = self.tones(self.path(name))
            self.assertEqual(channels, 1)
            self.near(found, (440, 880), 15)

    def test_no_encoder(self):
        """Silence if no encoder matches the beginning, here 7.1."""
        parts = self.part(8, 300), self.part(2), self.part(8, 300)
        result = self.check(parts, "a.mkv", 8, (300, 0, 300), DAMAGED)
        self.assertRegex(result.lines[-1], r"^lumeq: [12]\.\d+ s of sound is missing where the track changes$")

    def test_containers_with_headers(self):
        """A transport stream holds the packets as they are."""
        source = joined(self.path("source.ts"), (self.part(1, 440), self.part(2)))
        result = self.ok(source, "-o", self.path("out.ts"), *QUICK)
        self.assertNotIn("changes at", result.err)
        self.assertEqual({f["channels"] for f in probe(self.path("out.ts"), "-select_streams", "a", "-show_frames")["frames"]},
                         {1, 2})

    def test_no_message_without_a_change(self):
        for codec in "aac", "mp2", "ac3":
            source = joined(self.path("source.ts"), (self.part(2, codec=codec), self.part(2, 440, codec=codec)))
            self.assertNotIn("changes", self.ok(source, "-o", self.path("out.mkv"), "-y", *QUICK).err)
