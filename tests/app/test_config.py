"""The settings file, which the command line overrides, and colours on terminals."""

from unittest import mock

import common
from common import *

RED, YELLOW, CYAN = "\x1b[1;31m", "\x1b[33m", "\x1b[36m"


class WithEnvironment(Case):
    """Runs use the test's own home folder."""

    def setUp(self):
        super().setUp()
        self.variables = {"HOME": self.path("home"), "XDG_CONFIG_HOME": ""}
        usual = common.environment
        patch = mock.patch.object(common, "environment", lambda: {**usual(), **self.variables})
        patch.start()
        self.addCleanup(patch.stop)

    def settings(self, text, name="settings"):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        return self.write(name, text if isinstance(text, bytes) else text.encode())


class Config(WithEnvironment):
    def refuse_line(self, text, *words, line=1):
        """Checks that the file is refused at this line, before INPUT is opened."""
        path = self.settings(text)
        result = lumeq("none.mp4", "--null", "--config", path)
        self.refused(result, USAGE, "'%s' line %d: " % (path, line), *words)
        self.assertNotIn("none.mp4", result.err)

    def refuse_all(self, text, *words, code=USAGE):
        self.refused(lumeq("none.mp4", "--null", "--config", self.settings(text)), code, *words)

    def frames(self, text, *args):
        """Hashes of the frames that a run with these settings writes."""
        path = self.settings(text)
        return Picture(self.lossless(simple(), "--config", path, *args)).hashes()

    def plain(self, *args):
        return Picture(self.lossless(simple(), *args)).hashes()

    def test_it_is_used(self):
        self.assertEqual(self.frames("mode = off\n"), self.plain("--mode", "off"))
        self.assertEqual(self.frames("strength = 0.3\nclip=2\nsmooth =0\n"),
                         self.plain("--strength", "0.3", "--clip", "2", "--smooth", "0"))

    def test_command_line_wins(self):
        self.assertEqual(self.frames("strength = 0.3\nmode = off", "--mode", "global", "--strength=1"),
                         self.plain("--strength", "1"))
        self.assertEqual(self.frames("reference = yes", "--reference=no"), self.plain())

    def test_command_line_wins_over_contradictions(self):
        for text, args in (("crf = 30", ("--bitrate", "300K")), ("bitrate = 300K", ("--crf", "30")),
                           ("quiet = yes", ("-v",)), ("verbose = yes", ("-q",)),
                           ("no-subs = yes", ("--sub-track", "none")), ("mode = off", ("--reference",)),
                           ("reference = yes", ("--mode", "off"))):
            with self.subTest(text):
                path = self.settings(text)
                self.ok(simple(), "-o", self.path("a.mkv"), "-y", "--frames", 2, "--config", path, *args)
        self.assertEqual(self.frames("reference = yes", "--mode", "global"), self.plain("--reference"))
        self.assertEqual(self.frames("mode = off", "--reference"), self.plain("--reference"))

    def test_syntax(self):
        text = ("\ufeff# settings\r\n\r\n  strength = 0.3   # gently\r\n\tclip\t=\t\"2\" # in quotes\r\n"
                "smooth='0'\r\n   \r\n#mode = off\r\nreference = no")
        self.assertEqual(self.frames(text), self.plain("--strength", "0.3", "--clip", "2", "--smooth", "0"))

    def test_lists_add_up(self):
        output = self.path("a.mkv")
        for text in ("vopt = x264-params=keyint=7:scenecut=0\nvopt = bf=0",
                     "vopt = \"x264-params=keyint=7:scenecut=0\" # comment\nvopt = 'bf=0'"):
            path = self.settings(text + "\nvcodec = libx264")
            self.ok(simple(), "-o", output, "-y", "--config", path, "--vopt", "refs=2", "--frames", 5)
            for word in (b"keyint=7 ", b"bframes=0 ", b"ref=2 "):
                self.assertIn(word, self.read("a.mkv"))

    def test_default_place(self):
        self.settings("color = never\nmode = off\nverbose = yes\n", "home/.config/lumeq/config")
        result = self.ok(simple(), "--null")
        self.assertIn("settings file: '%s'" % self.path("home/.config/lumeq/config"), result.err)
        self.assertNotIn("settings", self.ok(simple(), "--null", "-v", "--no-config").err)

    def test_xdg_config_home(self):
        self.settings("verbose = yes\n", "xdg/lumeq/config")
        self.settings("verbose = no\n", "home/.config/lumeq/config")
        for folder, used in ((self.path("xdg"), "xdg/lumeq/config"), ("", "home/.config/lumeq/config"),
                             ("xdg", "home/.config/lumeq/config"), (self.path("none"), None)):
            with self.subTest(folder):
                self.variables["XDG_CONFIG_HOME"] = folder
                result = self.ok(simple(), "--null", "-v", cwd=self.folder)
                if used:
                    self.assertIn("settings file: '%s'" % self.path(used), result.err)
                else:
                    self.assertNotIn("settings file:", result.err)

    def test_no_home(self):
        for home in ("", "home", "/nonexistent", "/dev/null", "/" + "x" * 5000):
            with self.subTest(home[:20]):
                self.variables["HOME"] = home
                self.ok(simple(), "--null", "--frames", 1)

    def test_named_file_instead_of_the_default(self):
        self.settings("nonsense\n", "home/.config/lumeq/config")
        self.ok(simple(), "--null", "--frames", 1, "--config", self.settings("mode = off"))

    def test_help_does_not_read_it(self):
        self.settings("nonsense\n", "home/.config/lumeq/config")
        self.refused(lumeq(simple(), "--null"), USAGE, "line 1", "nonsense")
        self.ok("--help")
        self.ok("--version")
        self.ok(simple(), "--null", "--frames", 1, "--no-config")

    def test_unknown_key(self):
        self.refuse_line("\n# x\nstrenght = 1\n", "unknown key 'strenght'", "did you mean strength?", line=3)
        self.refuse_line("--strength = 1\n", "unknown key '--strength'", "did you mean strength?")
        self.refuse_line("nosuch = 1", "unknown key 'nosuch'", "--help=full")
        self.refuse_line("a\x01b = 1", "'a\\x01b'")

    def test_values(self):
        for text, *words in (("strength = 2", ": strength '2'", "0 to 1"), ("clip = 0.5", "clip '0.5'", "0 or", "1"),
                             ("mode = globl", "mode 'globl'", "global|off|clahe|stretch|haze", "did you mean global?"),
                             ("strength =", "strength ''", "number"), ("vcodec =", "vcodec needs a value"),
                             ("reference = 1", "reference '1'", "yes or no"),
                             ("reference = ", "reference ''", "yes or no"),
                             ("vopt = x", "vopt 'x'", "KEY=VALUE"),
                             ("reference", "'reference'", "key = value", "yes or no"),
                             ("= 1", "key = value"), ("[section]", "'[section]'", "key = value"),
                             ("vcodec = 'x", "vcodec", "quote"), ("vcodec = \"x\" y", "vcodec", "quote")):
            with self.subTest(text):
                self.refuse_line(text, *words)

    def test_options_of_a_single_run_are_refused(self):
        for key in ("output", "null", "overwrite", "stats", "ss", "to", "frames", "help", "version", "list-gpus",
                    "config", "no-config", "doctor", "json"):
            with self.subTest(key):
                self.refuse_line("mode = off\n%s = yes" % key, key, "command line", line=2)
        self.refuse_line("input = a.mp4", "unknown key")

    def test_contradictions_within_it(self):
        self.refuse_all("crf = 20\nbitrate = 1M", self.path("settings"), "--crf and --bitrate")

    def test_files_that_are_not_text(self):
        self.refuse_all(b"mode = off\0\n", "settings", "not text")
        self.refuse_all(b"#" * (1 << 20) + b"\n", "settings", "1 MiB")
        self.refuse_all(os.urandom(4096) + b"\n", "settings")

    def test_unreadable_files_are_refused(self):
        for path, words in ((self.path("none"), "No such file"), (self.folder, "Is a directory"),
                            ("-", "name a file"), ("", "needs a value")):
            with self.subTest(path):
                self.refused(lumeq("none.mp4", "--null", "--config", path), USAGE, words)
        os.makedirs(self.path("home/.config/lumeq/config"))
        self.refused(lumeq("none.mp4", "--null"), USAGE, "Is a directory")

    def test_only_regular_files_are_read(self):
        os.mkfifo(self.path("pipe"))
        terminal = os.openpty()
        for fd in terminal:
            self.addCleanup(os.close, fd)
        for path in (self.path("pipe"), "/dev/zero", os.ttyname(terminal[1])):
            with self.subTest(path):
                self.refused(lumeq("none.mp4", "--null", "--config", path, limit=SOON), USAGE,
                             "'%s'" % path, "not a regular file")
        os.makedirs(self.path("home/.config/lumeq"))
        os.mkfifo(self.path("home/.config/lumeq/config"))
        self.refused(lumeq("none.mp4", "--null", limit=SOON), USAGE, "not a regular file", "--no-config")

    def test_dev_null_means_no_settings(self):
        """The settings file may be /dev/null, or a link to it."""
        self.settings("nonsense\n", "home/.config/lumeq/config")
        self.ok(simple(), "--null", "--frames", 1, "--config", "/dev/null")
        os.remove(self.path("home/.config/lumeq/config"))
        os.symlink("/dev/null", self.path("home/.config/lumeq/config"))
        self.ok(simple(), "--null", "--frames", 1)


class Color(WithEnvironment):
    def test_on_a_terminal(self):
        self.assertTrue(self.on_terminal("--nosuch").startswith(RED + "lumeq:"))
        for option in ("always", "auto"):
            self.assertIn(RED, self.on_terminal("--color", option, "--nosuch"))
        self.assertNotIn("\x1b", self.on_terminal("--color", "never", "--nosuch"))

    def test_no_color(self):
        for value, there in (("1", False), ("0", False), ("", True)):
            with self.subTest(value):
                self.variables["NO_COLOR"] = value
                self.assertEqual(RED in self.on_terminal("--nosuch"), there)
        self.variables["NO_COLOR"] = "1"
        self.assertIn(RED, self.on_terminal("--color", "always", "--nosuch"))

    def test_dumb_terminal(self):
        self.variables["TERM"] = "dumb"
        self.assertNotIn("\x1b", self.on_terminal("--nosuch"))

    def test_in_a_pipe(self):
        self.assertNotIn("\x1b", lumeq("--nosuch").err)
        self.assertNotIn("\x1b", lumeq("--color", "auto", "--nosuch").err)
        self.assertTrue(lumeq("--color", "always", "--nosuch").err.startswith(RED + "lumeq:\x1b[0m unknown"))

    def test_summary_is_plain(self):
        result = self.ok(simple(), "--null", "--color", "always")
        self.assertEqual(result.lines[-1].count("\x1b"), 0, result.lines[-1])

    def test_warnings(self):
        result = self.ok(simple(), "-o", self.path("a.gif"), "--color", "always", "--frames", 3)
        self.assertIn(YELLOW + "lumeq:", result.err)

    def test_from_the_file(self):
        path = self.settings("color = always\n")
        result = self.exits(INPUT, "none.mp4", "--null", "--config", path)
        self.assertIn(RED, result.err)
        self.assertNotIn("\x1b", lumeq("none.mp4", "--null", "--config", path, "--color=never").err)

    def test_bar(self):
        run = ("-", "--null", "--frames", BAR_FRAMES)
        for color, there in (("auto", True), ("never", False)):
            with self.subTest(color):
                shown = self.on_terminal(*run, "--color", color, code=DONE, stdin=trickle(self))
                self.assertIn("█", shown)
                self.assertEqual((CYAN + "█") in shown, there)
                self.assertEqual("\x1b[2m░" in shown, there)
                self.assertIn("%d frames" % BAR_FRAMES, shown)

    def test_json_has_no_colours(self):
        self.assertNotIn("\x1b", self.ok(simple(), "--null", "--progress", "json", "--color", "always", "-q").err)
