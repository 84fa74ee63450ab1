"""Opening an input ends at a signal or a timeout. Limits and failures are reported as such, not as damage."""

from unittest import mock

import common
from common import *

FAULTS = os.environ.get("FAULTS_LIBRARY", "")


def element(name, data):
    return bytes.fromhex(name) + (len(data) | 1 << 56).to_bytes(8, "big") + data


def with_tags(path, count):
    """The content of the Matroska file, with this many tags added."""
    data = read_bytes(path)
    tags = b"".join(element("67c8", element("45a3", b"K%07d" % i) + element("4487", b"v")) for i in range(count))
    segment = data.index(bytes.fromhex("18538067"))
    return (data[:segment + 4] + b"\x01" + b"\xff" * 7 +
            element("1254c367", element("7373", element("63c0", b"") + tags)) + data[segment + 12:])


class Tags(Case):
    """Only 1000 tags are kept. FFmpeg compares each tag with all earlier tags, so many tags would take too long."""

    def test_the_first_ones_are_kept(self):
        for kind, count in some((("mkv", 1003), ("mp4", 1003), ("mkv", 900))):
            with self.subTest(kind, count=count):
                source = self.write("tags.mkv", with_tags(clip("few.mkv", *X264), count))
                self.ok(source, "-o", self.path("out." + kind), "-y")
                tags = probe(self.path("out." + kind), "-show_format")["format"]["tags"]
                if kind == "mkv":
                    kept = sum(re.fullmatch(r"K\d{7}", name) is not None for name in tags)
                    self.assertGreater(kept, min(count, 1000) - 10)  # the clip has some tags of its own
                    self.assertLessEqual(kept, min(count, 1000))


class Stuck(Case):
    """Inputs that would take minutes to open."""

    def source(self):
        return self.write("tags.mkv", with_tags(clip("few.mkv", *X264), 100000))

    def is_read(self, process):
        """True if the run has read more than 500 kB of the input."""
        folder = "/proc/%d/" % process.pid
        try:
            for fd in os.listdir(folder + "fd"):
                with open(folder + "fdinfo/" + fd) as f:
                    if os.readlink(folder + "fd/" + fd).endswith("tags.mkv") and int(f.readline().split()[1]) > 500000:
                        return True
        except OSError:
            pass  # the descriptor was closed meanwhile
        return False

    def test_the_first_signal_ends_it(self):
        source = self.source()
        for use in ((source,), ("-",)):
            for number in some((SIGINT, SIGTERM)):
                with self.subTest(use, number=number.name):
                    with open(source, "rb") as stdin:
                        process = start(*use, "-o", self.path("out.mkv"), stdin=stdin)
                    self.addCleanup(process.kill)
                    self.assertTrue(wait_for(lambda: self.is_read(process)), "the input is not read")
                    process.send_signal(number)
                    result = self.ends(process, INTERRUPTED, SOON)
                    self.assertEqual(len(result.lines), 1, str(result))
                    self.assertEqual(self.files(), ["tags.mkv"])

    def test_the_limit(self):
        source = self.source()
        with open(source, "rb") as stdin:
            for use, name in ((source, "tags.mkv"), ("-", "standard input")):
                self.refused(lumeq(use, "-o", self.path("out.mkv"), "--open-timeout", 1, stdin=stdin, limit=LIVENESS), INPUT,
                             name, "1 s", "--open-timeout")
        self.assertEqual(self.files(), ["tags.mkv"])

    def test_slow_pipes_are_read(self):
        """The timeout applies only to files."""
        os.mkfifo(self.path("in.mkv"))
        process = self.start(self.path("in.mkv"), "--null", "--open-timeout", 1)
        time.sleep(1.5)
        self.assertIsNone(process.poll())
        write_bytes(self.path("in.mkv"), read_bytes(clip("few.mkv", *X264)))
        self.ends(process)

    def test_values(self):
        for value in ("0", "-1", "4000", "x"):
            self.refused(lumeq("a.mkv", "--null", "--open-timeout", value), USAGE, "--open-timeout", value)


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width, height, rows=b"\0" * 1000):
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def bmp(width, height):
    return (b"BM" + struct.pack("<IHHI", 54 + 1000, 0, 0, 54) +
            struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, 0, 0, 0, 0, 0) + bytes(1000))


def ppm(width, height):
    return b"P6\n%d %d\n255\n" % (width, height) + bytes(1000)


def y4m(width, height):
    return b"YUV4MPEG2 W%d H%d F25:1 Ip A1:1 C420jpeg\nFRAME\n" % (width, height) + bytes(1000)


def gif(width, height):
    return (b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0) + bytes(6) + b"\x2c" +
            struct.pack("<HHHHB", 0, 0, width, height, 0) + b"\x02\x02\x4c\x01\x00;")


def patched(name, *output):
    """A small picture by ffmpeg. The caller changes the dimensions in its header."""
    return bytearray(read_bytes(clip(name, *output, "-frames:v", "1")))


def jpg(width, height):
    data = patched("small.jpg", "-c:v", "mjpeg")
    at = data.index(b"\xff\xc0")
    data[at + 5:at + 9] = struct.pack(">HH", height, width)
    return bytes(data)


def tiff(width, height):
    data = patched("small.tiff", "-c:v", "tiff")
    folder, = struct.unpack_from("<I", data, 4)
    for i in range(struct.unpack_from("<H", data, folder)[0]):
        at = folder + 2 + 12 * i
        tag, = struct.unpack_from("<H", data, at)
        if tag in (256, 257):
            struct.pack_into("<HHII", data, at, tag, 4, 1, width if tag == 256 else height)
    return bytes(data)


def webp(width, height):
    """WebP has 14 bits per dimension."""
    data = patched("small.webp", "-c:v", "libwebp")
    struct.pack_into("<HH", data, data.index(b"\x9d\x01\x2a") + 3, min(width, 16383), min(height, 16383))
    return bytes(data)


def mkv(width, height):
    """A Matroska file with FFV1, whose frame size is stored in the container."""
    data = bytes(patched("small.mkv", *FFV1, "-fflags", "+bitexact"))  # no random UIDs, which might contain the bytes below
    at = data.index(b"\xb0\x81\xa0")
    assert data[at + 3:at + 6] == b"\xba\x81\x5a", data[at:at + 8]
    head = b"\xb0\x82" + struct.pack(">H", width) + b"\xba\x82" + struct.pack(">H", height)
    for name in (b"\xe0", b"\xae", b"\x16\x54\xae\x6b", b"\x18\x53\x80\x67"):
        start = data.rindex(name, 0, at) + len(name)
        length = 9 - data[start].bit_length()
        size = int.from_bytes(data[start:start + length], "big") + len(head) - 6
        data = data[:start] + size.to_bytes(length, "big") + data[start + length:]
    return data[:at] + head + data[at + 6:]


class Large(Case):
    """Frames beyond a limit are refused. The message names the limit and the option that raises it."""

    KINDS = {"png": png, "bmp": bmp, "ppm": ppm, "y4m": y4m, "gif": gif, "jpg": jpg, "tiff": tiff, "webp": webp,
             "mkv": mkv}

    def test_every_format(self):
        for kind, write in self.KINDS.items():
            if kind == "webp" and not has_encoder("libwebp"):
                continue
            for side in (20000, 65535):
                with self.subTest(kind, side=side):
                    path = self.write("large." + kind, write(side, side))
                    shown = 16383 if kind == "webp" else side
                    self.refused(lumeq(path, "--null"), INPUT, path, "%dx%d" % (shown, shown), "--max-pixels",
                                 "67108864")

    def test_limits_of_ffmpeg(self):
        path = self.write("large.png", png(20000, 20000))
        self.refused(lumeq(path, "--null", "--max-pixels", 2147483647), INPUT, "20000x20000", "FFmpeg", "--max-pixels")

    def test_just_beyond(self):
        path = self.write("a.png", png(100, 101, b"\0" * 101 * 101))
        self.refused(lumeq(path, "--null", "--max-pixels", 10099), INPUT, "100x101", "--max-pixels allows 10099")
        self.ok(path, "--null", "--max-pixels", 10100)

    def pictures(self, *sizes):
        """A video of JPEGs with these sizes."""
        return self.write("a.mjpeg", b"".join(
            read_bytes(clip("%dx%d.jpg" % size, "-c:v", "mjpeg", "-frames:v", 1, size="%dx%d" % size))
            for size in sizes))

    def test_in_the_middle(self):
        """lumeq refuses 102x100 after decoding. FFmpeg itself refuses 2200x2200."""
        for size in some(((102, 100), (2200, 2200))):
            with self.subTest(size):
                path = self.pictures((64, 48), (64, 48), size, (64, 48))
                for use in (("--null",), ("-o", self.path("out.mkv"))):
                    self.refused(lumeq(path, *use, "--max-pixels", 10000), INPUT, path, "%dx%d" % size,
                                 "--max-pixels allows 10000")
                self.assertEqual(self.files(), ["a.mjpeg"])
                self.ok(path, "--null", "--max-pixels", size[0] * size[1])

    def test_limits_of_encoders(self):
        path = self.write("wide.png", png(20000, 16, b"\0" * 20001 * 16))
        result = lumeq(path, "-o", self.path("out.mkv"), "-q", "--vcodec", "mpeg4")
        self.refused(result, OUTPUT, "mpeg4", "20000x16", "limit the frame size", "ffv1")
        self.converted(path, "out.mkv", "--vcodec", "ffv1")


class Order(Case):
    """An mp4 through a pipe."""

    def piped(self, path):
        return lumeq("-", "--null", stdin=read_bytes(path))

    def test_the_index_at_the_end(self):
        """A pipe cannot be read if the index comes after more data than probing keeps."""
        noise = dict(size="320x180", filters="noise=alls=100:allf=t")
        at_end = clip("end.mp4", *X264, "-qp", "1", **noise)
        self.assertGreater(os.path.getsize(at_end), 1 << 20)
        self.ok(at_end, "--null")
        self.refused(self.piped(at_end), INPUT, "standard input", "index", "-movflags +faststart")
        for name, flags in (("front.mp4", "+faststart"), ("pieces.mp4", "+frag_keyframe+empty_moov")):
            result = self.piped(clip(name, *X264, "-qp", "1", "-movflags", flags, **noise))
            self.assertEqual(result.code, DONE, str(result))
        half = read_bytes(at_end)[:os.path.getsize(at_end) // 2]
        self.refused(lumeq("-", "--null", stdin=half), INPUT, "moov atom not found")


@unittest.skipIf(not FAULTS, "FAULTS_LIBRARY names no library of faults")
class Faults(Case):
    """A bad disk and lack of memory are reported as such, whatever FFmpeg returns."""

    def faulty(self, *args, **faults):
        env = {**environment(), "LD_PRELOAD": FAULTS, **faults}
        env["ASAN_OPTIONS"] += ":verify_asan_link_order=0:detect_leaks=0:allocator_may_return_null=1"
        with mock.patch.object(common, "environment", lambda: env):
            return lumeq(*args)

    def fails(self, *args, **faults):
        result = self.faulty(*args, **faults)
        self.assertNotIn("damaged", result.err)
        return result

    def test_no_thread(self):
        """If lumeq or FFmpeg cannot start a thread, the run ends with one message."""
        source = clip("threads.mkv", *X264, size="64x48", seconds=0.2)
        for args, more in ((["--null"], ""), (["--null"], "+"), (["-o", self.path("out.mkv")], "")):
            for n in range(1, 50):
                with self.subTest(args=args, thread="%d%s" % (n, more)):
                    result = self.faulty(source, *args, FAULT_THREAD="%d%s" % (n, more))
                    hit = "fault: " in result.err
                    result.lines = [line for line in result.lines if not line.startswith("fault: ")]
                    if not hit:
                        self.assertEqual(result.code, DONE, str(result))
                    else:
                        self.refused(result, INPUT)
                        self.assertRegex(result.err, "thread|Resource temporarily unavailable")
                        self.assertEqual(self.files(), [])
                if not hit:
                    break
            self.assertGreater(n, 7)

    def test_reading(self):
        """Reading the index or the first frame fails."""
        film, other = clip("disk.mp4", *X264, "-qp", "5", size="320x180"), clip("disk.mkv", *X264)
        moov = read_bytes(film).index(b"moov") - 4
        places = [(film, at) for at in (0, 20, moov + 4, moov + 100, moov + 400, os.path.getsize(film) - 8)]
        for source, at in some(places + [(other, at) for at in (100, 800, 1500)]):
            with self.subTest(source, at=at):
                faults = "%s:%d" % (os.path.basename(source), at)
                self.refused(self.fails(source, "--null", FAULT_READ=faults), INPUT, source, "Input/output error")

    def test_reading_fragments(self):
        """Each fragment has its own index. The index at the end of the file is optional."""
        for flags in some(("frag_keyframe+empty_moov", "frag_keyframe")):
            source = clip("pieces.mp4", *X264, "-qp", "5", "-g", "5", "-movflags", flags, size="320x180")
            size = os.path.getsize(source)
            for at, least in ((size - 8, 25), (size // 2, 10)):
                with self.subTest(flags, at=at):
                    result = self.faulty(source, "-o", self.path("out.mkv"), "-y", FAULT_READ="pieces.mp4:%d" % at)
                    self.assertEqual(result.code, DAMAGED, str(result))
                    self.assertNotRegex(result.lines[-1], "of [0-9]+ frames|[0-9]{2} packets")
                    self.assertGreaterEqual(len(frame_times(self.path("out.mkv"))), least)

    def test_no_memory(self):
        """Large allocations fail (FAULT_ALLOC). A frame has 1382400 bytes, its luma 921600."""
        for codec in some(("mpeg2video", "ffv1")):
            source = clip(codec + ".mkv", "-c:v", codec, size="1280x720", rate=25, seconds=0.2)
            for size, code in ((500000, INPUT), (900000, INPUT), (1300000, OUTPUT)):
                with self.subTest(codec, size=size):
                    result = self.fails(source, "-o", self.path("out.mkv"), "--vcodec", "rawvideo", "-q",
                                        FAULT_ALLOC=str(size))
                    self.refused(result, code, "out of memory")
                    self.assertEqual(self.files(), [])
