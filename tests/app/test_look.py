"""Options that change the look: profiles, modes, strength, chroma, dither, bars, HDR."""

from common import *

RAMP = "color=black:size=256x64,format=gray,geq=lum='80+X/8',format=yuv420p"


def middle_row(path):
    """Luma codes of the first frame's middle row; the video must have more than 8 bits."""
    about = video(path)
    width, height = about["width"], about["height"]
    return struct.unpack_from("<%dH" % width, raw(path), height // 2 * width * 2)


class Look(Case):
    def frames(self, *args, source=None):
        """The decoded frames that a run writes."""
        output = self.path("out.nut")
        self.ok(source or simple(), "-o", output, "-y", "--vcodec", "ffv1", *args)
        return raw(output)

    # ---- profiles ----

    def profiles(self):
        """The profiles' names and settings, as --profile help lists them."""
        lines = self.ok("--profile", "help").out.decode().splitlines()
        return {name.split()[0]: settings.split() for name, settings in zip(lines[::2], lines[1::2])}

    def test_profiles_are_sets_of_options(self):
        profiles = self.profiles()
        self.assertEqual(sorted(profiles),
                         ["fog", "medical-gray", "night", "screen", "surveillance", "thermal", "water"])
        plain = self.frames()
        for name, settings in profiles.items():
            with self.subTest(name):
                looks = self.frames("--profile", name)
                self.assertEqual(looks, self.frames(*settings))
                self.assertNotEqual(looks, plain)

    def test_options_win_over_the_profile(self):
        wanted = self.frames("--mode", "haze", "--strength", "0.2")
        for args in (("--profile", "fog", "--strength", "0.2"), ("--strength=0.2", "--profile=fog")):
            self.assertEqual(self.frames(*args), wanted)

    def test_profiles_in_the_settings_file(self):
        config = self.write("config", b"smooth = 0\nprofile = fog\n")
        self.assertEqual(self.frames("--config", config), self.frames("--profile", "fog", "--smooth", 0))
        self.assertEqual(self.frames("--config", config, "--profile", "surveillance"),
                         self.frames("--profile", "surveillance"))
        self.write("config", b"profile = help\n")
        self.refused(lumeq(simple(), "--null", "--config", config), USAGE, "profile", "command line")

    def test_wrong_values(self):
        for option, value, *words in (("--profile", "foggy", "fog|medical-gray|night|screen", "help"),
                                      ("--profile", "nightly", "medical-gray", "help"),
                                      ("--tiles", "8", "columns x rows"), ("--tiles", "0x8", "1 to 16"),
                                      ("--tiles", "8x17", "1 to 16"), ("--tiles", "8x8x8", "8x8"),
                                      ("--tiles", "-1x4", "1 to 16"), ("--strength", "much", "auto", "0 to 1"),
                                      ("--chroma", "off", "scale|keep"), ("--dither", "yes", "auto|on|off"),
                                      ("--bars", "off", "auto|ignore"), ("--limit", "up", "none|darken|lighten"),
                                      ("--brightness", "1.1", "-1 to 1"), ("--brightness", "auto", "-1 to 1"),
                                      ("--gamma", "0", "0.1 to 10"), ("--gamma", "10.5", "0.1 to 10"),
                                      ("--meter", "middle", "left,top,width,height", "centre"),
                                      ("--meter", "0,0,640", "0,0,640,360"),
                                      ("--meter", "0,0,0,9", "0,0,640,360"),
                                      ("--meter", "-1,0,9,9", "0,0,640,360")):
            with self.subTest("%s %s" % (option, value)):
                self.refused(lumeq(simple(), "--null", option, value), USAGE, option, value, *words)
        for option, value in (("--mode", "stretch"), ("--meter", "centre"), ("--denoise", "1"), ("--brightness", "-0.5"),
                              ("--gamma", "2"), ("--limit", "darken")):
            self.refused(lumeq(simple(), "--null", "--reference", option, value), USAGE, "contradict")
        self.ok(simple(), "--null", "--reference", "--brightness", "0", "--gamma", "1", "--limit", "none")
        self.refused(lumeq(simple(), "--null", "--reference", "--profile", "screen"), USAGE,
                     "--reference", "screen", "contradict")
        self.ok(simple(), "--null", "--profile", "screen", "--config", self.write("config", b"reference = yes"))

    # ---- strength ----

    def test_strength_is_literal_or_automatic(self):
        auto = self.frames()
        self.assertEqual(auto, self.frames("--strength", "auto"))
        self.assertEqual(self.frames("--strength", 0), self.frames("--mode", "off"))
        self.assertNotEqual(self.frames("--strength", 1), auto)

    def test_limit(self):
        """--limit darken raises no luma and --limit lighten lowers none."""
        noise = "geq=lum='%s+%s*X/256+mod(X*7+Y*13+N*5\\,9)':cb=128:cr=128"
        for name, light in ("bright", (150, 60)), ("dark", (20, 40)):
            source = clip("limit-%s.mkv" % name, *FFV1, seconds=0.3,
                          source="color=black:size=256x64:rate=10,format=yuv420p," + noise % light)
            before = raw(source, "gray")
            self.frames("--two-pass", "off", "--dither", "off", "--strength", 1, source=source)
            moves = [a - b for a, b in zip(raw(self.path("out.nut"), "gray"), before)]
            self.assertGreater(max(moves), 1)
            self.assertLess(min(moves), -1)
            for args in (), ("--strength", 1), ("--mode", "clahe", "--strength", 1), ("--mode", "stretch"), \
                        ("--gamma", 0.7), ("--gamma", 1.5):
                for passes in "on", "off":
                    with self.subTest("%s %s %s" % (name, args, passes)):
                        common = ("--two-pass", passes, "--dither", "off", *args)
                        self.frames(*common, "--limit", "darken", source=source)
                        after = raw(self.path("out.nut"), "gray")
                        self.assertLessEqual(max(b - a for a, b in zip(before, after)), 1)
                        if args == ("--strength", 1) or args == ("--gamma", 0.7):
                            self.assertNotEqual(after, before)
                        if args:
                            self.frames(*common, "--limit", "lighten", "--denoise", "off", source=source)
                            after = raw(self.path("out.nut"), "gray")
                            self.assertLessEqual(max(a - b for a, b in zip(before, after)), 1)

    def test_denoise(self):
        """--denoise affects only noisy video that is lifted."""
        self.assertEqual(self.frames("--denoise", "off"), self.frames())
        noisy = clip("noisy.mkv", *FFV1, source="color=0x181818:size=64x64:rate=10,noise=alls=8:allf=t")
        looks = {}
        for value in (None, "auto", 1, "1.0", "off", 0, 0.5):
            looks[value] = self.frames(*(() if value is None else ("--denoise", value)), source=noisy)
        for value in "auto", 1, "1.0":
            self.assertEqual(looks[value], looks[None], value)
        self.assertEqual(looks["off"], looks[0])
        self.assertEqual(len({looks[None], looks["off"], looks[0.5]}), 3)

    def test_denoise_without_effect(self):
        source = clip("evenly.mkv", *FFV1, seconds=0.2,
                      source="color=gray:size=160x90:rate=25,format=yuv420p,geq=lum='16+219*X/160':cb=128:cr=128")
        dark = clip("dark-ramp.mkv", *FFV1, seconds=0.2, source=RAMP.replace("80+X/8", "16+X/6"))
        for args in ((), ("--mode", "off", "--gamma", 2), ("--profile", "fog"), ("--limit", "darken"), ("--strength", 0.5)):
            for value in "off", 0.5:
                with self.subTest(args=args, value=value):
                    result = self.ok(source, "--null", "--denoise", value, *args)
                    reported = [line for line in result.lines if "--denoise" in line]
                    self.assertEqual(len(reported), 1, result)
                    self.assertIn("had no effect: nothing was lifted", reported[0])
        for args in (source, "--denoise", "auto", "--mode", "off"), (source,), (dark, "--denoise", "off"):
            self.assertNotIn("--denoise", self.ok(*args, "--null").err)

    def test_summary_reports_the_changes(self):
        """The line about the changes is the same in one pass, two passes and parts. -q hides it."""
        noise = "color=0x101010:s=160x90:r=25,noise=alls=12:allf=t"
        dark = clip("dark-ramp.mkv", *FFV1, source=RAMP.replace("80+X/8", "16+X/6"))
        page = clip("page.mkv", *FFV1, source="color=white:s=256x64:r=25,drawgrid=w=20:h=20:t=2:c=black")
        both = self.path("both.mkv")
        self.write("list", "".join("file '%s'\n" % path for path in (dark, page, page)).encode())
        ffmpeg("-f", "concat", "-safe", 0, "-i", self.path("list"), "-c", "copy", both)
        for source, words in ((dark, r"dark: lifted [1-7]\.\dx"),
                              (page, "page or screen recording: left alone"),
                              (clip("black.mkv", *FFV1, source="color=black:s=160x90:r=25"), "black: left alone"),
                              (clip("capped.mkv", *FFV1, seconds=3, source=noise), "noise only: left alone"),
                              (simple(), "low contrast: contrast raised"),
                              (clip("good.mkv", *FFV1, source="testsrc2=s=160x90:r=25"),
                               r"well exposed: hardly changed \(--strength 1 or --profile fog does more\)"),
                              (both, r"page or screen recording \(67 % of the frames\): left alone; "
                                     r"dark \(33 % of the frames\): lifted [1-7]\.\dx")):
            for args in ("--null",), ("--two-pass", "off"), ("--two-pass", "on"), ("--jobs", 2, "--parts", 2):
                with self.subTest(source, args=args):
                    output = () if "--null" in args else ("-o", self.path("a.mkv"), "-y", "--vcodec", "ffv1")
                    self.assertRegex(self.ok(source, *output, *args).lines[-2], "^lumeq: " + words)
        self.assertEqual(self.ok(dark, "--null", "-q").err, "")
        self.ok(dark, "-o", self.path("a.png"), "-y")
        self.assertRegex(self.ok(self.path("a.png"), "-o", self.path("b.png"), "-y").lines[-2], "lumeq: [a-z ]+: ")

    def test_summary_of_requested_settings(self):
        dark = clip("dark-ramp.mkv", *FFV1, source=RAMP.replace("80+X/8", "16+X/6"))
        for args, words in ((("--mode", "off"), "not equalized (--mode off)"),
                            (("--mode", "off", "--gamma", 1.2), "not equalized (--mode off): only midtones lightened by --gamma 1.2"),
                            (("--strength", 0.3), "--strength 0.3: contrast raised"),
                            (("--strength", 0), "--strength 0: hardly changed"),
                            (("--mode", "clahe", "--strength", 1), "--mode clahe: contrast raised in tiles, strength 1"),
                            (("--mode", "stretch", "--strength", 1), "--mode stretch: contrast raised, strength 1"),
                            (("--profile", "fog"), "--profile fog: haze removed, strength 1"),
                            (("--profile", "fog", "--mode", "clahe"), "--mode clahe: contrast raised in tiles, strength 1"),
                            (("--profile", "screen"), "--profile screen: contrast raised, strength 0.8"),
                            (("--reference",), "equalized like OpenCV (--reference)")):
            with self.subTest(args=args):
                self.assertEqual(self.ok(dark, "--null", *args).lines[-2], "lumeq: " + words)
        for args, words in ((("--profile", "night"), "midtones lightened by --profile night"),
                            (("--profile", "night", "--brightness", -0.1), "midtones darkened by --brightness -0.1")):
            for output in ("--null",), ("-o", self.path("a.mkv"), "-y", "--jobs", 2, "--parts", 2):
                with self.subTest(args=args, output=output):
                    self.assertRegex(self.ok(dark, *output, *args).lines[-2], r"^lumeq: dark: lifted [\d.]+x.*, %s$" % words)
        self.assertTrue(self.ok(dark, "--null", "--limit", "darken").lines[-2].startswith("lumeq: --limit darken: "))

    def test_summary_of_many(self):
        """Each line names its file."""
        names = [self.path(name) for name in ("a.mkv", "b.mkv")]
        for name in names:
            shutil.copy(simple(), name)
        for args in (), ("--jobs", 2):
            result = self.ok(*names, "-o", self.folder + "/out/", "-y", *args)
            for name in "a", "b":
                reported = [line for line in result.lines if re.match(r"lumeq: '.*/%s\.mkv': .*; [a-z ]+: " % name, line)]
                self.assertEqual(len(reported), 1, result)

    def test_brightness_and_gamma(self):
        source = Picture(simple())
        untouched = self.frames("--mode", "off")
        self.assertEqual(self.frames("--mode", "off", "--brightness", 0, "--gamma", 1), untouched)
        for option, value, lighter, passes in some((("--gamma", 1.3, True, "off"), ("--gamma", 0.5, False, "off"),
                                                    ("--gamma", 0.5, False, "on"), ("--gamma", 1.3, True, "on"),
                                                    ("--brightness", -0.4, False, "off"), ("--brightness", 0.4, True, "off"),
                                                    ("--brightness", 0.4, True, "on"), ("--brightness", -0.4, False, "on"))):
            with self.subTest("%s %s, two passes %s" % (option, value, passes)):
                args = (option, value, "--dither", "off", "--two-pass", passes)
                changed = Picture(self.lossless(simple(), "--mode", "off", *args))
                before, after = (sum(map(sum, p.luma)) for p in (source, changed))
                self.assertEqual(after > before, lighter)
                self.assertFalse(changed.chroma == source.chroma)
        for light in (("--gamma", 1.5), ("--brightness", -0.3)):
            self.assertEqual(self.frames("--strength", 0, *light), self.frames("--strength", 0, "--mode", "off", *light))
        self.assertNotEqual(self.frames("--gamma", 1.5), self.frames())
        self.assertNotEqual(self.frames("--mode", "clahe", "--gamma", 1.5), self.frames("--mode", "clahe"))

    def test_modes_differ(self):
        looks = [self.frames("--mode", mode) for mode in ("global", "clahe", "stretch", "haze", "off")]
        self.assertEqual(len(set(looks)), 5)
        self.assertNotEqual(self.frames("--mode", "clahe", "--tiles", "2x3"), looks[1])

    def test_wavering_light_in_haze(self):
        """If a hazy texture's brightness varies by three codes, clearing the haze hardly amplifies the variation."""
        lum = "120+24*sin(X/5)*cos(Y/7)+20*X/W+3*sin(N*1.3)"
        source = clip("wavers.mkv", *FFV1, seconds=2, source="color=gray:size=320x192,format=gray,geq=lum='%s',"
                      "format=yuv420p" % lum)

        def changes(path):
            data, size = raw(path), 320 * 192
            means = [sum(data[i:i + size]) / size for i in range(0, len(data), size * 3 // 2)]
            return sum(abs(b - a) for a, b in zip(means, means[1:]))

        for passes in "on", "off":
            with self.subTest(passes):
                output = self.lossless(source, "--profile", "fog", "--two-pass", passes)
                curved = self.lossless(source, "--two-pass", passes, name="curved.mkv")  # gray is not cleared by default
                self.assertLess(changes(output), (1.7 if passes == "on" else 1.25) * changes(curved))

    # ---- chroma ----

    def test_chroma(self):
        kept = Picture(self.lossless(simple(), "--chroma", "keep"))
        scaled = Picture(self.lossless(simple()))
        source = Picture(simple())
        self.assertNotEqual(kept.luma, scaled.luma)
        for a, b in zip(kept.luma, scaled.luma):  # with scaled chroma, luma rises less over saturated colours
            self.assertTrue(all(x >= y for x, y in zip(a, b)))
        self.assertEqual(kept.chroma, source.chroma)
        self.assertNotEqual(scaled.chroma, source.chroma)
        reference = Picture(self.lossless(simple(), "--reference"))
        self.assertEqual(reference.chroma, source.chroma)

    # ---- dither ----

    def test_dither_is_for_lossless_output(self):
        ramp = clip("ramp.mkv", *FFV1, source=RAMP, seconds=0.2)
        # A fixed strength, because automatic strength may lift, and lifted video is always dithered.
        literal = ("--strength", "0.8")
        on, off = (self.frames("--dither", value, *literal, source=ramp) for value in ("on", "off"))
        self.assertNotEqual(on, off)
        self.assertEqual(self.frames(*literal, source=ramp), on)
        for codec, same in ((("--vcodec", "ffv1"), "on"), (("--vcodec", "libx264"), "off"),
                            (("--vcodec", "libx264", "--vopt", "qp=0"), "on"),
                            (("--vcodec", "prores_ks"), "on"),  # 10 bits from 8
                            (("--vcodec", "libx264", "--pix-fmt", "yuv420p10le"), "on")):
            with self.subTest(codec):
                files = [raw(self.converted(ramp, "out.mkv", "-y", *codec, *literal, *args))
                         for args in ((), ("--dither", same))]
                self.assertEqual(files[0], files[1])

    # ---- bars ----

    def test_bars_stay_unchanged(self):
        boxed = clip("boxed.mkv", *FFV1, size="320x180", seconds=0.4,
                     filters="crop=320:120,pad=320:184:0:32:color=black")
        source = Picture(boxed)
        out = Picture(self.lossless(boxed))
        bar = 320 * 32
        for before, after in zip(source.luma, out.luma):
            self.assertEqual(before[:bar], after[:bar])
            self.assertEqual(before[-bar:], after[-bar:])
            self.assertNotEqual(before, after)
        # The picture equals one without bars. Both are gray, because haze in colour is cleared in cells of the whole
        # frame, bars included.
        gray = "format=gray,format=yuv420p,"
        boxed = clip("boxed-gray.mkv", *FFV1, size="320x180", seconds=0.4,
                     filters=gray + "crop=320:120,pad=320:184:0:32:color=black")
        out = Picture(self.lossless(boxed, "-y"))
        bare = clip("bare.mkv", *FFV1, size="320x180", seconds=0.4, filters=gray + "crop=320:120")
        self.assertEqual([y[bar:-bar] for y in out.luma], Picture(self.lossless(bare, "-y")).luma)
        self.assertNotEqual(out.luma, Picture(self.lossless(boxed, "--bars", "ignore", "-y")).luma)

    # ---- before the noise is measured ----

    def light(self, source, *options):
        """The mean luma of each frame, before and after."""
        mean = lambda path: [sum(y) / len(y) for y in Picture(path).luma]
        return mean(source), mean(self.lossless(source, *options))

    def test_a_covered_lens_is_black_in_one_pass(self):
        lens = clip("lens.mkv", *FFV1, seconds=0.4, source="color=0x020202:size=320x180:rate=25,format=gray,"
                    "noise=alls=10:allf=t:all_seed=1,format=yuv420p")
        before, after = self.light(lens, "--two-pass", "off")
        for frame in range(len(before)):
            self.assertLess(after[frame], before[frame] + 3, frame)

    def test_a_single_picture_is_not_a_covered_lens(self):
        # The range of codes is as narrow as noise, so a video's first frame may show a covered lens.
        narrow = "color=black:size=320x64:rate=25,format=gray,geq=lum='18+X/20',format=yuv420p"
        video = clip("narrow.mkv", *FFV1, seconds=0.2, source=narrow)
        picture = clip("narrow.mkv", *FFV1, "-frames:v", "1", seconds=0.2, source=narrow)
        before, after = self.light(video, "--two-pass", "off")
        self.assertLess(after[0], before[0] + 2)
        self.assertGreater(after[-1], after[0] + 2)
        before, after = self.light(picture)
        self.assertGreater(after[0], before[0] + 9)

    # ---- metering ----

    def test_the_curve_fits_the_metered_part(self):
        # The frame has the same picture twice, in different light. Each half is metered once.
        both = clip("halves.mkv", *FFV1, size="320x180", seconds=0.4,
                    filters="split[a][b];[b]eq=brightness=-0.3[c];[a][c]hstack")
        for part, crop in (("0,0,320,180", "crop=320:180:0:0"), ("320,0,320,180", "crop=320:180:320:0")):
            with self.subTest(part):
                half = clip("half%s.mkv" % part[0], *FFV1, size="320x180", seconds=0.4,
                            filters="split[a][b];[b]eq=brightness=-0.3[c];[a][c]hstack," + crop)
                left = int(part.split(",")[0])
                # A fixed strength turns off the noise filter, which would mix samples across the edge.
                args = ("--bars", "ignore", "--dither", "off", "--strength", "0.8")
                metered = Picture(self.lossless(both, "--meter", part, *args))
                alone = Picture(self.lossless(half, *args))
                rows = [b"".join(y[r * 640 + left:r * 640 + left + 320] for r in range(180)) for y in metered.luma]
                self.assertTrue(rows == alone.luma)
        args = ("--strength", "1", "--bars", "ignore")
        centre = Picture(self.lossless(both, "--meter", "centre", *args)).luma
        self.assertTrue(centre == Picture(self.lossless(both, "--meter", "160,45,320,90", *args)).luma)
        self.assertFalse(centre == Picture(self.lossless(both, *args)).luma)

    def test_metered_part_beyond_the_picture_is_refused(self):
        args = ("--frames", "2", "--strength", "1", "--bars", "ignore")
        for part, used in (("100,40,200,60", "100,40,60,50"), ("0,80,160,11", "0,80,160,10"),
                           ("90,0,9999,9999", "90,0,70,90")):
            with self.subTest(part):
                output = self.path("beyond.mkv")
                reported = [line for line in self.ok(simple(), "-o", output, "-y", "--vcodec", "ffv1", "--meter", part,
                                                 *args).err.splitlines() if "--meter" in line]
                self.assertEqual(len(reported), 1)
                for text in (part, "beyond", "160x90", used):
                    self.assertIn(text, reported[0])
                self.assertEqual(Picture(output).luma, Picture(self.lossless(simple(), "--meter", used, *args)).luma)
        self.assertNotIn("--meter", self.ok(simple(), "--null", "--meter", "0,0,160,90").err)
        self.refused(lumeq(simple(), "--null", "--meter", "5000,0,10,10"), USAGE, "--meter", "5000,0,10,10", "outside")

    # ---- HDR and depth ----

    def test_hdr_keeps_highlights(self):
        """A dark scene with white paper (203 nits) and a lamp (1000 nits), drawn in codes of full-range gray."""
        for transfer, name, scene, paper, lamp in (("smpte2084", "PQ", 160, 595, 770), ("arib-std-b67", "HLG", 80, 768, 1002)):
            with self.subTest(name):
                drawn = ("color=black:size=320x180,format=gray10le,geq=lum='if(lt(X,8),%d,if(lt(X,16),%d,%d+mod(X*7+Y*3,60)))',format=yuv420p10le"
                         % (lamp, paper, scene))
                source = clip("hdr.mkv", *FFV1, "-pix_fmt", "yuv420p10le", "-color_range", "tv", "-color_trc", transfer,
                              "-color_primaries", "bt2020", "-colorspace", "bt2020nc", seconds=0.2, source=drawn)
                for args in ((), ("--lookahead", "off"), ("--profile", "night"), ("--mode", "clahe"), ("--profile", "fog")):
                    result = self.ok(source, "-o", self.path("a.mkv"), "-y", "-v", "--vcodec", "ffv1", "--pix-fmt", "source", *args)
                    self.assertIn("this is HDR video (%s)" % name, result.err)
                    self.assertEqual(video(self.path("a.mkv"))["color_transfer"], transfer)
                    before, after = middle_row(source), middle_row(self.path("a.mkv"))
                    self.assertLessEqual(max(abs(a - b) for a, b in zip(before[:16], after[:16])), 1, args)
                    if args in ((), ("--profile", "night")):
                        self.assertGreater(sum(after[16:]), 1.2 * sum(before[16:]), args)
                self.assertEqual(raw(self.lossless(source, "--mode", "off")), raw(source))

    def test_constant_luminance_is_left_alone(self):
        source = clip("cl.mkv", *FFV1, "-pix_fmt", "yuv420p10le", "-color_trc", "bt709", "-color_primaries", "bt2020",
                      "-colorspace", "bt2020c", seconds=0.2)
        result = self.ok(source, "-o", self.path("a.mkv"), "-y", "--vcodec", "ffv1", "--pix-fmt", "source", "--brightness", 0.3)
        self.assertIn("constant luminance", result.err)
        self.assertEqual(raw(self.path("a.mkv")), raw(source))

    def test_reference_is_for_8_bits(self):
        deep = clip("deep.mkv", *FFV1, "-pix_fmt", "yuv420p10le", seconds=0.2)
        self.refused(lumeq(deep, "--null", "--reference"), USAGE, "--reference", "8 bits", "10")

    # ---- the defaults, on the bundled clip ----

    def rows(self):
        """The clip's statistics; cached."""
        path = Store.path("rows.jsonl")
        if not os.path.exists(path):
            self.ok(SMALL if SHORT else SAMPLE, "--null", "--stats", path)
        return read_rows(path)

    @unittest.skipIf(SANITIZED, "statistics of a whole film; other tests run this code with sanitizers")
    def test_dull_scenes_gain_and_nothing_else_is_lost(self):
        rows = self.rows()
        cut = [r["frame"] for r in rows if r["scene_cut"]]
        self.assertEqual(cut, [100])  # from fog to a room; later scenes are faded in
        for r in rows[:170] + rows[230:]:
            self.assertLess(r["stddev_in"], 25)
            self.assertGreaterEqual(r["stddev_out"], 1.6 * r["stddev_in"], r["frame"])
        for r in rows:
            for codes in (slice(0, 17), slice(235, 256)):
                self.assertLessEqual(sum(r["hist_out"][codes]) - sum(r["hist_in"][codes]),
                                     1e-4 * sum(r["hist_in"]), r["frame"])

    @unittest.skipIf(SANITIZED, "statistics of a whole film; other tests run this code with sanitizers")
    def test_brightness_is_steady(self):
        rows = self.rows()

        def flicker(first, end):
            steps = [(b["mean_out"] - a["mean_out"]) - (b["mean_in"] - a["mean_in"])
                     for a, b in zip(rows[first:end], rows[first + 1:end])]
            return sum(map(abs, steps)) / len(steps)

        self.assertLess(flicker(0, 100), 0.15)
        self.assertLess(flicker(240, len(rows)), 0.2)
        for r in rows[102:112]:  # from the second frame after the cut on
            self.assertLess(r["curve_speed"], 0.3, r["frame"])
        fade = [r["mean_out"] for r in rows[176:190]]
        self.assertEqual(fade, sorted(fade, reverse=True))
        fade = [r["mean_out"] for r in rows[192:207]]
        self.assertEqual(fade, sorted(fade))

    def test_amplification_is_reported(self):
        result = self.ok(simple(), "--null", "-v")
        self.assertRegex(result.err, r"contrast and grain of dark areas amplified at most \d\.\dx")
