"""Interlaced frames are deinterlaced in the window, and in files only on request. The result equals FFmpeg's bwdif bit
for bit."""

from common import *
from window import MISSING, WindowCase

LOSSLESS = ("--mode", "off", "--vcodec", "ffv1")
WIDTH, HEIGHT, FRAMES = 160, 96, 12
# A bar that moves by 8 pixels from one field to the next.
MOVING = ("color=black:s=%dx%d:r=50,format=yuv444p,"
          "geq=lum='if(between(X\\,8*N\\,8*N+23)\\,235\\,16)':cb=128:cr=128,format=%%s,"
          "tinterlace=interleave_%%s,setfield=%%s" % (WIDTH, HEIGHT))


def interlaced(first="top", pix_fmt="yuv420p", frames=FRAMES):
    """An interlaced clip. `first`: its first field, "top" or "bottom"."""
    path = Store.path("fields-%s-%s-%d.mkv" % (first, pix_fmt, frames))
    if not os.path.exists(path):
        order = {"top": "tff", "bottom": "bff"}[first]
        ffmpeg("-f", "lavfi", "-i", MOVING % (pix_fmt, first, order), "-frames:v", frames, "-c:v", "ffv1",
               "-field_order", {"top": "tt", "bottom": "bb"}[first], path)
    return path


def filtered(path, deint):
    """The frames that FFmpeg's bwdif makes."""
    return ffmpeg("-i", path, "-vf", "bwdif=mode=send_frame:parity=auto:deint=" + deint, "-f", "rawvideo", "-")


def combs(path):
    """Measures combing in the first frame, in codes. A combed pixel differs more from its upper and lower neighbours than
    the neighbours differ from each other. Returns the mean excess."""
    luma = ffmpeg("-i", path, "-frames:v", 1, "-vf", "format=gray", "-f", "rawvideo", "-")
    total = 0
    for y in range(1, HEIGHT - 1):
        for x in range(WIDTH):
            above, here, below = (luma[(y + d) * WIDTH + x] for d in (-1, 0, 1))
            total += max(0, min(abs(here - above), abs(here - below)) - abs(above - below))
    return total / (WIDTH * HEIGHT)


class Files(Case):
    def written(self, source, *options):
        output = self.converted(source, "out.mkv", "-y", *LOSSLESS, *options)
        return output, raw(output)

    def test_fields_stay(self):
        source = interlaced()
        for options in ((), ("--deinterlace", "auto"), ("--deinterlace", "off")):
            output, frames = self.written(source, *options)
            self.assertEqual(frames, raw(source))
            self.assertEqual(video(output)["field_order"], "tt")

    def test_same_as_the_filter(self):
        for first, pix_fmt in some((("top", "yuv420p"), ("bottom", "yuv420p"), ("top", "yuv422p10le"), ("top", "gray"),
                                    ("bottom", "yuv444p"))):
            with self.subTest(first=first, pix_fmt=pix_fmt):
                source = interlaced(first, pix_fmt)
                output, frames = self.written(source, "--deinterlace", "on")
                self.assertEqual(frames, filtered(source, "all"))
                self.assertNotEqual(frames, raw(source))
                self.assertEqual(frame_times(output), frame_times(source))
                self.assertIn(video(output).get("field_order"), (None, "unknown", "progressive"))
        self.assertGreater(combs(source), 5)
        self.assertLess(combs(output), combs(source) / 5)

    def test_parts(self):
        """A single frame, and the last frame of a part, are not lost."""
        for frames in (1, 2, FRAMES):
            source = interlaced(frames=frames)
            self.assertEqual(len(frame_times(self.written(source, "--deinterlace", "on")[0])), frames)
        source = interlaced()
        for options, count in ((("--frames", "3"), 3), (("--ss", "0.16"), FRAMES - 4), (("--to", "0.2"), 5)):
            output, _ = self.written(source, "--deinterlace", "on", *options)
            self.assertEqual(len(frame_times(output)), count, options)

    def test_whole_frames(self):
        """With "on", progressive frames are deinterlaced as well."""
        source = clip("moving.mkv", "-c:v", "ffv1")
        output, frames = self.written(source, "--deinterlace", "on")
        self.assertEqual(frames, filtered(source, "all"))

    def test_refused(self):
        self.refused(lumeq(interlaced(), "--null", "--deinterlace", "yes"), USAGE, "--deinterlace", "auto", "on", "off")


class Filtered(Case):
    """The noise filter treats fields separately if frames stay interlaced."""

    # The lower field is one code brighter. A filter of whole frames would smooth the difference.
    DARK = "color=gray:size=%dx%d:rate=25,format=yuv420p,geq=lum='22+mod(Y\\,2)+X/4':cb=128:cr=128,setfield=%%s" % (
        WIDTH, HEIGHT)

    def apart(self, kind, *options):
        """Codes by which the lower field of the first written frame is brighter."""
        source = Store.path("dark-fields-%s.mkv" % kind)
        if not os.path.exists(source):
            order = ("-field_order", "tt") if kind == "tff" else ()
            ffmpeg("-f", "lavfi", "-i", self.DARK % kind, "-frames:v", 6, "-c:v", "ffv1", *order, source)
        output = self.converted(source, "out.mkv", "-y", "--vcodec", "ffv1", *options)
        luma = ffmpeg("-i", output, "-frames:v", 1, "-vf", "format=gray", "-f", "rawvideo", "-")
        rows = [sum(luma[y * WIDTH + 16:y * WIDTH + WIDTH - 16]) / (WIDTH - 32) for y in range(16, HEIGHT - 16)]
        return (sum(rows[1::2]) - sum(rows[::2])) / (len(rows) // 2)

    def test_by_field(self):
        for passes in "on", "off":
            with self.subTest(passes):
                fields = self.apart("tff", "--two-pass", passes)
                self.assertGreater(fields, 1.5)
                self.assertLess(self.apart("prog", "--two-pass", passes), fields / 3)
                self.assertLess(self.apart("tff", "--two-pass", passes, "--deinterlace", "on"), fields / 3)


@unittest.skipIf(MISSING, "not installed: %s" % ", ".join(MISSING))
class InTheWindow(WindowCase):
    def shot(self):
        before = set(self.files())
        new = lambda: [n for n in self.files() if n.endswith(".png") and n not in before]
        self.assertTrue(wait_for(lambda: self.key("s") or new()), "no screenshot")
        self.assertTrue(wait_for(lambda: os.path.getsize(self.path(new()[0])) > 0))
        return self.path(sorted(new())[-1])

    def test_combs_and_key(self):
        os.link(interlaced(frames=FRAMES), self.path("fields.mkv"))
        process = self.shown(self.path("fields.mkv"), "--loop", "--mode", "off")
        self.key("space")
        without = combs(self.shot())
        self.key("D")  # on
        self.key("D")  # off
        self.assertTrue(wait_for(lambda: combs(self.shot()) > 5 * without + 2), "the fields do not appear")
        self.key("D")  # auto
        self.assertTrue(wait_for(lambda: combs(self.shot()) <= without + 1), "the combing stays")
        self.quits(process)
