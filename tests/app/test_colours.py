"""Colour tags, chroma location and aspect ratio are carried into the output."""

from common import *

KEYS = ("color_range", "color_space", "color_transfer", "color_primaries")


class Colours(Case):
    SETS = (
        ("tv", "bt709", "bt709", "bt709"),
        ("pc", "bt709", "bt709", "bt709"),
        ("tv", "smpte170m", "smpte170m", "smpte170m"),
        ("tv", "bt470bg", "smpte170m", "bt470bg"),
        ("tv", "bt2020nc", "arib-std-b67", "bt2020"),
    )

    def source(self, range_, space, transfer, primaries, *more):
        name = "-".join(("colour", range_, space) + more) + ".mp4"
        return clip(name, *X264, "-color_range", range_, "-colorspace", space, "-color_trc", transfer,
                    "-color_primaries", primaries, *more, seconds=0.2)

    def test_tags(self):
        for tags in self.SETS:
            source = self.source(*tags)
            self.assertEqual(tuple(video(source).get(k) for k in KEYS), tags)
            for name in ("out.mp4", "out.mkv", "out.mov"):
                with self.subTest(tags=tags, output=name):
                    output = self.converted(source, name, "-y", "--preset", "ultrafast")
                    self.assertEqual(tuple(video(output).get(k) for k in KEYS), tags)

    def test_no_tags_stay_no_tags(self):
        source = clip("untagged.mp4", *X264, seconds=0.2)
        output = self.converted(source, "out.mp4", "--preset", "ultrafast")
        for key in KEYS[1:]:
            self.assertEqual(video(source).get(key), video(output).get(key))
        self.assertIn(video(output).get("color_range"), (None, "tv"))

    def test_webm(self):
        source = self.source(*self.SETS[0])
        output = self.converted(source, "out.webm")
        self.assertEqual(tuple(video(output).get(k) for k in KEYS), self.SETS[0])

    def test_chroma_location(self):
        for location in ("left", "center", "topleft"):
            with self.subTest(location):
                source = self.source(*self.SETS[0], "-chroma_sample_location", location)
                self.assertEqual(video(source).get("chroma_location"), location)
                output = self.converted(source, "out.mp4", "-y", "--preset", "ultrafast")
                self.assertEqual(video(output).get("chroma_location"), location)

    def test_chroma_location_in_matroska(self):
        source = self.source(*self.SETS[0], "-chroma_sample_location", "topleft")
        output = self.lossless(source)
        self.assertEqual(video(output).get("chroma_location"), "topleft")

    def test_aspect_ratio(self):
        for sar in ("16:11", "4:3", "1:2"):
            source = clip("sar%s.mp4" % sar.replace(":", "-"), *X264, seconds=0.2,
                          filters="setsar=%s" % sar.replace(":", "/"))
            for name in ("out.mp4", "out.mkv", "out.y4m"):
                with self.subTest(sar, output=name):
                    self.assertEqual(video(self.converted(source, name, "-y"))["sample_aspect_ratio"], sar)

    def test_aspect_ratio_of_the_container_only(self):
        source = self.path("aspect.mkv")
        ffmpeg("-i", clip("square.mkv", *FFV1, "-pix_fmt", "yuv420p", seconds=0.2), "-c", "copy",
               "-aspect", "2.5", source)
        want = video(source)["display_aspect_ratio"]
        self.assertEqual(video(self.lossless(source))["display_aspect_ratio"], want)

    def test_range_in_y4m(self):
        source = self.source(*self.SETS[1])
        self.assertIn(b"XCOLORRANGE=FULL", self.ok(source, "-o", "-").out.split(b"\n")[0])

    def test_rotation(self):
        """A phone's upright video stays upright."""
        source = self.path("phone.mp4")
        ffmpeg("-i", clip("upright.mp4", *X264, seconds=0.2), "-c", "copy", "-metadata:s:v:0", "rotate=90", source)
        side = lambda path: [s.get("rotation") for s in video(path).get("side_data_list", [])]
        if side(source) in ([], [None]):
            self.skipTest("this ffmpeg does not write the rotation")
        output = self.converted(source, "out.mp4", "--preset", "ultrafast")
        self.assertEqual(side(source), side(output))
