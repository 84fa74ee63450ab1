"""Tests that wrong options are refused before anything is opened, and what the help and messages say."""

from common import *


def on_terminal(*args, columns=80, code=DONE):
    """Runs the program with a terminal as standard output. Returns the terminal's text and the result."""
    master, slave = open_terminal(columns)
    process = start(*args, stdout=slave)
    shown = shown_on(master, slave)
    result = finish(process)
    if result.code != code:
        raise AssertionError("%s\n%s" % (result, shown))
    return shown, result


class Options(Case):
    def refuse(self, *args, words=(), code=USAGE):
        """Checks the exit code. INPUT usually does not exist, so this code shows that INPUT was not opened."""
        self.refused(lumeq(*args, cwd=self.folder), code, *words)
        self.assertEqual(self.files(), [])

    NULL = ("none.mp4", "--null")

    def test_unknown(self):
        for option in ("--nosuch", "-Z", "--ss1", "--nosuch=1", "-vq", "--=x", "---", "--qqqqqqqq", "--=", "--" + "strength" * 20):
            with self.subTest(option):
                result = lumeq(*self.NULL, option, cwd=self.folder)
                self.refused(result, USAGE, "unknown option", option[:20])
                self.assertEqual("did you mean" in result.err, option == "--ss1")

    def test_values(self):
        for option, value, allowed in (
                ("--mode", "histeq", "global"), ("--mode", "", "global"), ("--mode", "Global", "global"),
                ("--strength", "1.1", "1"), ("--strength", "-0.1", "0"), ("--strength", "abc", "number"),
                ("--strength", "nan", "number"), ("--strength", "0x1", "number"),
                ("--strength", " 1", "number"), ("--strength", "1e400", "number"),
                ("--clip", "0.5", "1"), ("--clip", "-1", "0"), ("--clip", "1e9", "1000"),
                ("--denoise", "-1", "0 to 1"), ("--denoise", "1.01", "0 to 1"), ("--denoise", "on", "auto, off or"),
                ("--smooth", "-1", "0"), ("--smooth", "inf", "number"), ("--smooth", "1,5", "number"),
                ("--scene-cut", "maybe", "on"), ("--range", "wide", "limited"),
                ("--backend", "opencl", "cuda"), ("--threads", "-1", "0"), ("--threads", "1.5", "whole"),
                ("--threads", "100000", "256"), ("--ss", "x", "time"), ("--ss", "-1", "time"),
                ("--ss", "1:2:3:4", "time"), ("--ss", "1:60", "time"), ("--ss", "", "time"),
                ("--to", "1:", "time"), ("--frames", "0", "1"), ("--frames", "-5", "1"),
                ("--frames", "many", "number"), ("--frames", "99999999999999999999", "number"),
                ("--max-pixels", "0", "1"),
                ("--osd-scale", "0.4", "0.5"), ("--osd-scale", "4.1", "4"), ("--osd-scale", "big", "number"),
                ("--osd-scale", "-1", "0.5"), ("--osd-scale", "", "number"), ("--crf", "x", "number"), ("--bitrate", "4P", "bits"),
                ("--bitrate", "", "bits"), ("--bitrate", "-1M", "bits"), ("--bitrate", "M", "bits"),
                ("--vopt", "novalue", "KEY=VALUE"), ("--vopt", "=x", "KEY=VALUE"),
                ("--acodec", "", "copy"), ("--progress", "dots", "json"), ("--color", "red", "always"),
                ("--video-track", "-1", "0"), ("--video-track", "x", "number"),
                ("--video-track", "none", "number"), ("--audio-track", "1.5", "whole"),
                ("--sub-track", "all", "none"), ("--sub-track", "-2", "0"),
                ("--stats", "s.txt", ".csv"), ("--format", "", "value"), ("--vcodec", "", "value")):
            with self.subTest(option, value=value):
                self.refuse(*self.NULL, option, value, words=(option, allowed))

    def test_value_is_quoted(self):
        self.refuse(*self.NULL, "--mode", "a\nb", words=("--mode", "'a\\nb'"))

    def test_equals_sign(self):
        self.refuse(*self.NULL, "--mode=nosuch", words=("--mode", "nosuch"))
        self.refuse(*self.NULL, "--reference=1", words=("--reference", "takes only =yes or =no", "=no"))
        self.refuse(*self.NULL, "--reference=", words=("--reference", "takes only =yes or =no"))
        self.ok(simple(), "--null", "--mode=off", "--frames=2")
        self.ok(simple(), "--null", "--mode=off", "--frames=2", "--reference=yes", "--reference=no")

    def test_nearest_option(self):
        for typed, meant in (("--strenght", "--strength"), ("--strenght=1", "--strength"),
                             ("--Mode", "--mode"), ("--scene_cut", "--scene-cut"), ("--vop", "--vopt"),
                             ("--bit-rate", "--bitrate"), ("--colour", "--color"), ("--over", "--overwrite"),
                             ("--codec", "--vcodec"), ("--verbos", "--verbose"), ("-ss", "--ss"),
                             ("-crf", "--crf"), ("-stats=a.csv", "--stats")):
            with self.subTest(typed):
                self.refuse(*self.NULL, typed, words=("unknown option '%s'" % typed,
                                                      "did you mean %s?" % meant, "lumeq --help"))

    def test_nearest_choice(self):
        for option, typed, meant in (("--mode", "globl", "global"), ("--mode", "Off", "off"),
                                     ("--backend", "cdua", "cuda"), ("--range", "lim", "limited"),
                                     ("--color", "alway", "always"), ("--help", "ful", "full"),
                                     ("--profile", "nigth", "night"), ("--profile", "Fog", "fog"),
                                     ("--profile", "surveilance", "surveillance"), ("--profile", "hlep", "help")):
            with self.subTest(typed):
                self.refuse(*self.NULL, "%s=%s" % (option, typed),
                            words=("%s '%s'" % (option, typed), "did you mean %s?" % meant))
        self.assertNotIn("did you mean", lumeq(*self.NULL, "--mode", "histeq").err)

    def test_lists_of_nothing(self):
        """The devices are printed on stdout. If no device is found, a sentence is printed on stderr."""
        for option in ("--list-devices", "--list-gpus"):
            with self.subTest(option):
                result = self.ok(option)
                self.assertNotEqual(bool(result.out), bool(result.err), str(result))

    def test_value_missing(self):
        for option in ("--mode", "--ss", "-o", "--output", "--vopt", "--stats"):
            with self.subTest(option):
                self.refuse("none.mp4", option, words=("needs a value",))

    def test_no_input(self):
        self.refuse(words=("INPUT",))
        self.refuse("--null", words=("INPUT",))
        self.refuse("", "--null", words=("INPUT",))

    def test_contradictions(self):
        for args in (("-o", "a.mkv", "--null"), ("--reference", "--mode", "off", "--null"),
                     ("--crf", "20", "--bitrate", "1M", "-o", "a.mkv"), ("-q", "-v", "--null"),
                     ("--ss", "2", "--to", "1", "--null"), ("--ss", "2", "--to", "2", "--null"),
                     ("--to", "0", "--null"), ("--no-subs", "--sub-track", "2", "--null"),
                     ("--acodec", "none", "--audio-track", "1", "--null"),
                     ("--config", "a", "--no-config", "--null")):
            with self.subTest(" ".join(args)):
                self.refuse("none.mp4", *args, words=(args[0].split("=")[0],) if args[0] != "-o" else ())

    def test_encoder_and_container(self):
        for args, words in (
                (("-o", "a.mkv", "--vcodec", "nosuch"), ("--vcodec", "nosuch")),
                (("-o", "a.mkv", "--vcodec", "nosuch"), ("--vcodec help",)),
                (("-o", "a.mkv", "--vcodec", "aac"), ("aac",)),
                (("-o", "a.mkv", "--vcodec", "h264"), ("--vcodec 'h264'", "--vcodec help")),
                (("-o", "a.mkv", "--vcodec", "copy"), ("--vcodec copy", "re-encoded")),
                (("-o", "a.mkv", "--acodec", "nosuch"), ("--acodec 'nosuch'", "--acodec help")),
                (("-o", "a.nosuch",), ("a.nosuch", "--format")),
                (("-o", "noextension",), ("noextension", "--format")),
                (("-o", "a.mkv", "--format", "nosuch"), ("--format", "nosuch")),
                (("-o", "a.webm", "--vcodec", "libx264"), ("webm", "h264")),
                (("-o", "a.mkv", "--format", "mp3"), ("--format 'mp3'", "holds no video")),
                (("-o", "-", "--format", "wav"), ("--format 'wav'", "holds no video")),
                (("-o", "a.mp3", "--vcodec", "png"), ("'a.mp3'", "without video")),
                (("-o", "a.m3u8",), ("hls",)),
                (("-o", "a.mkv", "--format", "segment"), ("segment",)),
                (("-o", "a.mkv", "--format", "tee"), ("tee",)),
                (("-o", "-", "--format", "dash"), ("dash",))):
            with self.subTest(" ".join(args)):
                self.refuse("none.mp4", *args, words=words)

    def test_containers_without_video(self):
        """Output names of sound files are refused. With --format mp4, .m4a is allowed."""
        for end in ("mp3", "flac", "aiff", "wav", "oga", "opus", "m4a", "m4b", "wma", "mka", "aac", "ac3", "srt"):
            with self.subTest(end):
                self.refuse("none.mp4", "-o", "a." + end, words=("'a.%s'" % end, "without video", ".mkv", "--format"))
        for end in ("mp3", "flac"):
            self.assertNotIn(end.encode() + b" ", self.ok("--format", "help").out)
            self.refused(lumeq(simple(), "-o", self.path("a." + end), "--jobs", 2), USAGE, "without video")
        self.ok(simple(), "-o", self.path("a.m4a"), "--format", "mp4", "--frames", 2)

    def test_video_is_not_written_to_a_terminal(self):
        for args in ((simple(),), ("none.mp4",), (simple(), "--format", "mpegts")):
            with self.subTest(args=args):
                shown, result = on_terminal(*args, "-o", "-", code=USAGE)
                self.assertEqual(shown, b"")
                self.refused(result, USAGE, "-o -", "terminal", "| mpv -")
        os.symlink("/proc/self/fd/1", self.path("link"))
        for name in ("/dev/stdout", self.path("link")):
            with self.subTest(name):
                shown, result = on_terminal("none.mp4", "-o", name, "--format", "yuv4mpegpipe", "-y", code=USAGE)
                self.assertEqual(shown, b"")
                self.refused(result, USAGE, "-o '%s'" % name, "terminal", "| mpv -")

    def test_where_it_ran(self):
        """Only -v says why the GPU was not used."""
        says = lambda *args: self.ok(simple(), "--null", "--frames", 2, *args).err
        self.assertRegex(says("--backend", "cpu"), r"on the CPU\n$")
        if "CPU only" in self.ok("--version").out.decode():
            self.assertRegex(says(), r"on the CPU\n$")
            self.assertRegex(says("-v"), r"equalizing on the CPU, .*; the GPU is not used: .*\n(?s:.*)on the CPU\n$")

    def test_encoder_settings(self):
        """Most wrong settings are found only after the input is opened."""
        for *args, words in (("--pix-fmt", "nosuch", ("--pix-fmt", "nosuch")),
                             ("--pix-fmt", "rgb24", ("--pix-fmt", "rgb24", "libx264")),
                             ("--vopt", "nosuch=1", ("--vopt", "nosuch", "libx264")),
                             ("--vcodec", "ffv1", "--crf", 20, ("--crf", "ffv1")),
                             ("--vcodec", "ffv1", "--preset", "fast", ("--preset", "ffv1")),
                             ("--preset", "nosuch", ("preset", "nosuch")), ("--vopt", "crf=abc", ("crf",))):
            self.refused(lumeq(simple(), "-o", self.path("a.mkv"), *args), USAGE, *words)
            self.assertEqual(self.files(), [])

    def test_encoder_options_reach_the_encoder(self):
        output = self.path("a.mkv")
        self.ok(simple(), "-o", output, "--preset", "ultrafast", "--vopt", "x264-params=keyint=7:scenecut=0",
                "--vopt", "bf=0")
        self.assertIn(b"keyint=7 ", self.read("a.mkv"))
        self.ok(simple(), "-o", output, "-y", "--bitrate", "200K", "--pix-fmt", "yuv444p")
        self.assertIn(b"bitrate=200 ", self.read("a.mkv"))
        self.assertEqual(video(output)["pix_fmt"], "yuv444p")

    def test_options_after_two_dashes(self):
        """After -- every argument is a file name. A message says so if an argument looks like an option."""
        for args, option in ((("--", "-x.mp4", "--null"), "--null"), (("--", "a.mp4", "-o", "b.mp4"), "-o"),
                             (("--", "a.mp4", "--crf=20"), "--crf=20"), (("--null", "--", "-y", "a.mp4"), "-y")):
            result = lumeq(*args)
            self.refused(result, USAGE, "'%s' after -- is a file name" % option)
            self.assertNotIn("did you mean", result.err)
        self.refused(lumeq("--", "a.mp4", "-y.mp4"), USAGE, "'a.mp4' to '-y.mp4'")

    def test_missing_backend(self):
        version = self.ok("--version").out.decode()
        if "CPU only" not in version:
            self.skipTest("this build has CUDA")
        why = "(it was configured with LUMEQ_CUDA=OFF)" if os.environ.get("LUMEQ_CUDA") == "OFF" else "was"
        self.refused(lumeq(simple(), "--null", "--backend", "cuda"), USAGE, "--backend cuda: this build has no CUDA", why)
        self.ok(simple(), "--null", "--backend", "cpu")

    def test_decoding_on_a_gpu(self):
        """--hwdec nvdec is refused if the CPU equalizes, and with --jobs."""
        self.refuse(SMALL, "--null", "--backend", "cpu", "--hwdec", "nvdec", words=("--hwdec nvdec", "equalizes on the CPU"))
        self.refuse(SMALL, "-o", "out.mkv", "--jobs", "2", "--hwdec", "nvdec", words=("--hwdec nvdec", "in software"))
        for how in "auto", "no":
            result = self.ok(SMALL, "--null", "--frames", 1, "--backend", "cpu", "--hwdec", how, "-v")
            self.assertNotIn("decod", str(result.lines))

    def test_sound_and_subtitles(self):
        """--acodec none leaves out sound, and a later --acodec overrides it."""
        subtitles = self.write("a.srt", b"1\n00:00:00,000 --> 00:00:01,000\nHello\n")
        source = self.path("in.mkv")
        ffmpeg("-i", simple(), "-i", subtitles, "-map", "0", "-map", "1", "-c", "copy", "-c:s", "srt", source)
        for args, kinds in (((), ["audio", "subtitle", "video"]),
                            (("--acodec", "copy"), ["audio", "subtitle", "video"]),
                            (("--acodec", "none"), ["subtitle", "video"]),
                            (("--acodec", "none", "--acodec", "copy"), ["audio", "subtitle", "video"])):
            with self.subTest(" ".join(args)):
                output = self.lossless(source, *args)
                self.assertEqual(sorted(s["codec_type"] for s in streams(output)), kinds)

    def help(self, *args):
        result = self.ok(*args)
        self.assertEqual(result.err, "")
        return result.out.decode()

    def test_short_and_full_help(self):
        short, full = self.help("--help"), self.help("--help=full")
        self.assertEqual(short, self.help("-h"))
        self.assertEqual(short, self.help("--help=short"))
        self.assertIn("--help=full", short)
        self.assertLess(len(short.splitlines()), 30)
        listed = [set(re.findall(r"^  (?:-\w, |    )(--[a-z-]+)", text, re.M)) for text in (short, full)]
        self.assertTrue(10 <= len(listed[0]) <= 15, listed[0])
        self.assertLess(listed[0], listed[1])
        for word in ("Usage", "--mode", "--smooth", "--ss", "--vcodec", "-o"):
            self.assertIn(word, short)
        for name in ("--video-track", "--sub-track", "--no-metadata", "--config", "--color", "--allow-playlists",
                     "--force-dolby-vision", "--version", "--vopt", "--stats"):
            self.assertIn(name, listed[1])
        for text in (short, full):
            self.assertLessEqual(max(len(line) for line in text.splitlines()), 80)
        self.assertGreater(len(re.findall(r"^\S.*\n  +-", full, re.M)), 6, "too few groups")

    def test_list_of_video_encoders(self):
        lines = self.help("--vcodec", "help").splitlines()
        self.assertEqual([line for line in lines if not line.startswith(" ") and len(line) > 80], [])
        self.assertEqual([line for line in lines if line != line.rstrip()], [])
        rows = {line.split()[0]: line.split()[1:] for line in lines}
        self.assertEqual(len(rows), len(lines), "an encoder is listed twice")
        self.assertEqual(rows["libx264"], ["h264", "CPU", "8-10", "bits"])
        self.assertNotIn("wrapped_avframe", rows)
        places = [row[1] for row in rows.values()]
        self.assertEqual(places, sorted(places, key=["hardware", "CPU"].index))
        self.assertEqual([name for name in rows if name.endswith("_vaapi")], [])

    def test_other_lists(self):
        self.assertRegex(self.help("--acodec=help"), r"(?m)^aac +aac$")
        self.assertRegex(self.help("--format", "help", "-o", "a.mkv"), r"(?m)^webm +libvpx-vp9 +webm$")
        self.refused(lumeq("a.mp4", "b.mp4", "c.mp4", "--format", "help", "--vcodec"), USAGE, "--vcodec needs")
        self.write("settings", b"vcodec = help\n")
        self.refused(lumeq("--config", self.path("settings"), simple(), "--null"), USAGE,
                     "vcodec = help belongs on the command line")

    def test_every_option_of_the_help_exists(self):
        for name in re.findall(r"^  (?:-\w, |    )(--[a-z-]+)", self.help("--help=full"), re.M):
            self.assertNotIn("unknown", lumeq(name, "--nosuch").err.replace("unknown option '--nosuch'", ""))

    def test_help_and_version(self):
        self.assertIn("Usage", self.help("-h", "a", "--null"))
        version = self.ok("--version").out.decode()
        self.assertRegex(version, r"^lumeq \d+\.\d+\.\d+\n")
        self.assertIn("libavcodec", version)

    def test_help_to_a_full_disk(self):
        with open("/dev/full", "w") as full:
            result = self.exits(OUTPUT, "--help", stdout=full)
        self.refused(result, OUTPUT, "No space left")
