"""Data that cameras store beside the pictures (position, speed, sensors) is kept, or reported as left out."""

from common import *

UUID = bytes.fromhex("00000102030405060708090a0b0c0d0e")
SIGNATURES = ("dc45e9bd-e6d9-48b7-962c-d820d923eeef", "2ca2de09-b517-47db-bb55-a4fe7fc2fc4e")  # of x264 and x265


# ---- SEI --------------------------------------------------------------------------------------------

def number(n):
    return b"\xff" * (n // 255) + bytes([n % 255])


def sei(hevc, messages):
    """An SEI NAL unit with these (type, payload) messages; Rec. ITU-T H.264 and H.265, 7.3."""
    body = b"".join(number(kind) + number(len(payload)) + payload for kind, payload in messages) + b"\x80"
    escaped, zeros = bytearray(), 0
    for byte in body:
        if zeros == 2 and byte <= 3:
            escaped.append(3)
            zeros = 0
        escaped.append(byte)
        zeros = 0 if byte else zeros + 1
    return b"\0\0\0\x01" + (bytes([39 << 1, 1]) if hevc else b"\x06") + bytes(escaped)


def with_sei(stream, hevc, make):
    """Inserts an SEI NAL unit with the messages make(n) before picture n of an Annex B stream."""
    out, count = b"", 0
    for unit in re.split(b"\0?\0\0\x01", stream)[1:]:
        is_slice = unit[0] >> 1 & 63 < 32 if hevc else unit[0] & 31 in (1, 5)
        if is_slice and unit[2 if hevc else 1] & 0x80:
            out += sei(hevc, make(count))
            count += 1
        out += b"\0\0\0\x01" + unit
    return out


def stream(hevc, *options, seconds=0.4):
    x265 = ("-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=none:bframes=2")
    return ffmpeg("-f", "lavfi", "-t", seconds, "-i", DULL % ("160x96", 25),
                  *(options or (x265 if hevc else (*X264, "-bf", "2"))), "-f", "hevc" if hevc else "h264", "-")


def user_data(path):
    """For each frame in display order, [(UUID, hexadecimal data), ...]."""
    p = subprocess.run(["ffmpeg", "-hide_banner", "-nostdin", "-i", path, "-fps_mode", "passthrough", "-vf", "showinfo",
                        "-f", "null", "-"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True, timeout=LIVENESS)
    frames = []
    for frame in re.split(r"n: +\d+ pts:", p.stderr.decode())[1:]:
        frames.append(re.findall(r"UUID=(\S+)\s+.*?User Data=(\w*)", frame, re.S))
    return frames


class UserData(Case):
    def source(self, name, make, hevc=False):
        return self.write(name, with_sei(stream(hevc), hevc, make))

    def place(self, n):
        return [(5, UUID + b"place %d\0\0\0\x01" % n), (5, b"other UUID, 1234" + b"speed %d" % n)]

    def own(self, path):
        return [[d for d in frame if d[0] not in SIGNATURES] for frame in user_data(path)]

    def test_is_kept(self):
        """The signature of the source's encoder is dropped."""
        for source in (self.source("a.h264", self.place), self.source("a.hevc", self.place, hevc=True)):
            wanted = self.own(source)
            self.assertEqual([len(frame) for frame in wanted], [2] * 10)
            with self.subTest(os.path.basename(source)):
                result = self.ok(source, "-o", self.path("o.mkv"), "--preset", "ultrafast", "-y")
                self.assertNotIn("SEI", result.err)
                self.assertEqual(self.own(self.path("o.mkv")), wanted)
                signed = [d[0] for frame in user_data(self.path("o.mkv")) for d in frame if d[0] in SIGNATURES]
                self.assertEqual(signed, [SIGNATURES[0]])

    def test_is_kept_by_jobs(self):
        source = self.path("a.mkv")
        self.write("a.h264", with_sei(stream(False, *X264, "-bf", "0", "-g", "5"), False, self.place))
        ffmpeg("-fflags", "+genpts", "-r", "25", "-i", self.path("a.h264"), "-c", "copy", source)
        self.ok(source, "-o", self.path("o.mp4"), "--preset", "ultrafast", "--jobs", "2")
        self.assertEqual(self.own(self.path("o.mp4")), self.own(source))

    def test_any_size(self):
        """User data is kept at sizes where the length field grows, and with bytes that look like start codes."""
        sizes = (16, 17, 239, 240, 254, 255, 256, 510, 511, 5000)
        make = lambda n: [(5, (bytes([0, 0, n % 4]) * 2000)[:sizes[n]])]
        source = self.source("a.h264", make)
        self.ok(source, "-o", self.path("o.mp4"), "--preset", "ultrafast")
        self.assertEqual(self.own(self.path("o.mp4")), self.own(source))

    def test_is_left_out(self):
        for encoder in "ffv1", "libx265":
            result = self.ok(self.source("a.h264", self.place), "-o", self.path("o.mkv"), "--vcodec", encoder, "-y")
            self.assertEqual([l for l in result.lines if "left out" in l],
                             ["lumeq: user data of the frames (SEI) is left out: %s does not store it" % encoder])
        result = self.ok(clip("signed.mp4", *X264), "-o", self.path("o.mkv"), "--vcodec", "ffv1", "-y")
        self.assertNotIn("left out", result.err)

    def test_dynamic_brightness(self):
        """FFmpeg 5.1 cannot store HDR10+ in any container, so a message reports the loss."""
        bits = "".join(format(value, "0%db" % size) for value, size in (
            (0xb5, 8), (0x3c, 16), (1, 16), (4, 8), (1, 8), (1, 2), (400, 27), (0, 1), (1000, 17), (1000, 17), (1000, 17),
            (100, 17), (0, 4), (5, 10), (0, 1), (0, 1), (0, 1)))
        bits += "0" * (-len(bits) % 8)
        hdr10_plus = int(bits, 2).to_bytes(len(bits) // 8, "big")
        pq = stream(True, "-pix_fmt", "yuv420p10", "-c:v", "libx265", "-preset", "ultrafast", "-x265-params",
                    "log-level=none:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc")
        source = self.write("a.hevc", with_sei(pq, True, lambda n: [(4, hdr10_plus)]))
        about = probe(source, "-show_frames", "-show_entries", "frame=side_data_list")["frames"]
        if "2094-40" not in str(about):
            self.skipTest("this FFmpeg does not recognize HDR10+")
        result = self.ok(source, "-o", self.path("o.mkv"), "--vcodec", "libx265", "--preset", "ultrafast")
        self.assertEqual(len([l for l in result.lines if "HDR10+ is left out" in l]), 1, str(result))


# ---- KLV in a transport stream ----------------------------------------------------------------------

def pes(data, pts):
    stamp = b"" if pts is None else bytes([0x21 | pts >> 29 & 14, pts >> 22 & 255, 1 | pts >> 14 & 254, pts >> 7 & 255,
                                           1 | pts << 1 & 254])
    body = bytes([0x80, 0x80 if stamp else 0, len(stamp)]) + stamp + data
    return b"\0\0\x01\xbd" + struct.pack(">H", len(body)) + body


def packet(pid, payload, counter):
    """A packet of 188 bytes, by ISO/IEC 13818-1."""
    room = 184 - len(payload) - 1
    return struct.pack(">BHBB", 0x47, 0x4000 | pid, 0x30 | counter & 15, room) + b"\0" + b"\xff" * (room - 1) + payload


def with_data(ts, descriptor, units, every):
    """Adds a track of private data to a transport stream: one unit before each `every`th picture."""
    out, count, sent, program = [], 0, 0, None
    for at in range(0, len(ts), 188):
        p = ts[at:at + 188]
        pid, begins = struct.unpack(">H", p[1:3])[0] & 0x1fff, p[1] & 0x40
        section = p[5 + p[4]:] if not p[3] & 0x20 else b""
        if begins and pid == 0:
            program = struct.unpack(">H", section[10:12])[0] & 0x1fff
        if begins and pid == program:
            length = struct.unpack(">H", section[1:3])[0] & 0xfff
            track = struct.pack(">BHH", 6, 0xe1f0, 0xf000 | len(descriptor)) + descriptor
            section = section[:1] + struct.pack(">H", 0xb000 | length + len(track)) + section[3:length - 1] + track
            section += crc32_mpeg(section)
            p = p[:4] + b"\0" + section + b"\xff" * (183 - len(section))
        if begins and pid == 0x100:
            if count % every == 0 and sent < len(units):
                out.append(packet(0x1f0, units[sent], sent))
                sent += 1
            count += 1
        out.append(p)
    return b"".join(out)


PIECES = [bytes.fromhex("060e2b34020b01010e01030101000000") + bytes([4, 2, 2, i, i]) for i in range(8)]  # SMPTE ST 336


class Klv(Case):
    def source(self, descriptor, timed):
        ts = read_bytes(clip("plain.ts", *X264, "-muxdelay", 0, "-muxpreload", 0, size="64x48", seconds=1.8))
        units = [pes(piece, 18000 * i if timed else None) for i, piece in enumerate(PIECES)]
        return self.write("klv.ts", with_data(ts, descriptor, units, 5))

    def kept(self, source, *options):
        result = self.ok(source, "-o", self.path("o.ts"), "--preset", "ultrafast", "-y", *options)
        self.assertNotIn("left out", result.err)
        data = ffmpeg("-i", self.path("o.ts"), "-map", "0:d", "-c", "copy", "-f", "data", "-")
        self.assertEqual(data, b"".join(PIECES))

    def spread(self):
        """For each unit of data, the number of pictures before it in the file."""
        numbers, pictures = [], 0
        for p in contents(self.path("o.ts"))["packets"]:
            pictures += p["codec_type"] == "video"
            numbers += [pictures] if p["codec_type"] == "data" else []
        return numbers

    def test_is_copied(self):
        for descriptor, timed in ((b"", True), (b"\x05\x04KLVA", True), (b"\x05\x04KLVA", False)):  # b"": unknown type
            with self.subTest("%r %r" % (descriptor, timed)):
                source = self.source(descriptor, timed)
                self.kept(source)
                self.near(self.spread(), [5 * i for i in range(8)], 3)
        self.kept(source, "--jobs", "2")

    def test_is_named(self):
        result = self.ok(self.source(b"\x05\x04KLVA", True), "-o", self.path("o.mkv"), "--preset", "ultrafast")
        self.assertEqual(len([l for l in result.lines if "klv" in l and "left out" in l]), 1, str(result))
