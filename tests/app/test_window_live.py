"""The window: writing what it shows, keys and mouse on a real X server, and remembered state."""

import errno
import shlex

from common import *
from window import MISSING, WIDTH, WindowCase

BAR = 338  # the bar's row in a window of 360 rows


@unittest.skipIf(MISSING, "not installed: %s" % ", ".join(MISSING))
class Window(WindowCase):
    def short(self):
        return make(self.path("it's short.mkv"), "-c:v", "ffv1", size="160x90", seconds=1)

    def set_fog(self):
        """Sets the profile, the panel's second row, to fog."""
        self.key("Tab", "Down", "Right", "Tab")

    def children(self, process):
        found = subprocess.run(["ps", "--ppid", str(process.pid), "-o", "pid="], stdout=subprocess.PIPE)
        return [int(pid) for pid in found.stdout.split()]

    def written(self, process):
        self.assertTrue(wait_for(lambda: not self.children(process)), "the write goes on")

    def whole(self, *names):
        """Waits until the folder has exactly these files."""
        self.assertTrue(wait_for(lambda: sorted(self.files()) == sorted(names)), self.files())

    def test_writes_the_shown_part(self):
        clip = self.short()
        process = self.shown(clip, "--loop", "--vcodec", "ffv1")
        self.set_fog()
        self.key("W")
        self.key("w")
        self.whole("it's short.mkv", "it's short-lumeq.mkv")
        self.written(process)
        self.key("w")  # existing files are kept
        self.whole("it's short.mkv", "it's short-lumeq.mkv", "it's short-lumeq-2.mkv")
        self.written(process)
        result = self.quits(process)
        self.assertEqual(result.err.count("Written: "), 2, str(result))
        command = shlex.split(result.out.decode())
        self.assertEqual(command, ["lumeq", clip, "-o", self.path("it's short-lumeq.mkv"), "--profile=fog",
                                   "--vcodec=ffv1"])
        command[3] = self.path("by-hand.mkv")
        self.ok(*command[1:], "--no-config", "--two-pass", "on", "--backend", "cpu")
        self.assertEqual(raw(command[3]), raw(self.path("it's short-lumeq.mkv")))
        self.assertEqual(raw(command[3]), raw(self.path("it's short-lumeq-2.mkv")))

    @unittest.skipUnless(os.environ.get("ATTACKER_LIBRARY"), "run by ctest, which builds the library")
    @unittest.skipIf(SANITIZED, "the sandbox is off with a sanitizer")
    def test_calls_that_no_player_needs(self):
        """A hijacked decoder cannot make system calls that no player needs. A window has no other sandbox."""
        film, other = (make(self.path(name), *X264) for name in ("film.mkv", "other.mkv"))
        server = subprocess.Popen(["sleep", "600"])
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        for name in ("outside", "inside"):
            os.mkdir(self.path(name))
        for name in ("secret", "other", "kept"):
            write_bytes(self.path("outside/" + name), b"x")
        more = {"LD_PRELOAD": os.environ["ATTACKER_LIBRARY"], "ATTACK_OUTSIDE": self.path("outside"),
                "ATTACK_INSIDE": self.path("inside"), "ATTACK_INPUT": other, "ATTACK_SOCKET": self.path("none"),
                "ATTACK_VICTIM": str(server.pid)}
        needless = ("ptrace", "process_vm_readv", "io_uring", "bpf", "keyctl", "userfaultfd")
        for option in ("auto", "off"):
            write_bytes(self.path("log"), b"")
            process = self.play(film, "--loop", "--sandbox", option,
                                env=self.environment(**more, ATTACK_LOG=self.path("log")))
            self.window(process)
            found = {}

            def look():
                with open(self.path("log")) as f:
                    found.update({line.split()[1]: int(line.split()[2]) for line in f if line.endswith("\n")})
                return "bpf" in found
            self.assertTrue(wait_for(look), found)
            self.quits(process)
            refused = all(found[name] == errno.EPERM for name in needless)
            self.assertEqual(refused, option == "auto", {name: found[name] for name in needless})
            self.assertEqual((found["exec"], found["socket-unix"]), (0, 0), "dialogs need exec, and sound needs a socket")

    def test_reference_is_written_as_shown(self):
        """All printed commands run. They omit settings that contradict --reference, and omit --reference while the
        equalizer is off."""
        clip = self.short()
        process = self.shown(clip, "--loop", "--vcodec", "ffv1", "--reference")
        self.key("B", "g", "1", "5", "W", "e", "W", "e")
        self.key("Tab", "Down", "Left", "Left", "Left", "Tab", "W")  # selects the profile night
        self.key("q")
        commands = [shlex.split(line) for line in self.ends(process).out.decode().splitlines()]
        options = [sorted(command[4:]) for command in commands]
        self.assertEqual(options[:2], [["--reference=yes", "--vcodec=ffv1"], ["--mode=off", "--vcodec=ffv1"]])
        self.assertIn("--reference=yes", options[2])
        self.assertIn("--profile=night", options[2])
        for command in commands:
            self.ok(*command[1:], "-y", "--no-config", "--two-pass", "on", "--backend", "cpu")

    def test_the_container_of_the_source(self):
        """mp4 and mov keep their container. Other sources, and sources with --vcodec, become mkv."""
        film = clip("film.mp4", *X264, seconds=1)
        for name, options, written in (("film.mp4", (), "film-lumeq.mp4"), ("film.MOV", (), "film-lumeq.mov"),
                                       ("film.m4v", (), "film-lumeq.mp4"), ("film.3gp", (), "film-lumeq.mkv"),
                                       ("film.mov", ("--vcodec", "libx265"), "film-lumeq.mkv"),
                                       ("film.mp4", ("--vcodec", "ffv1"), "film-lumeq.mkv")):
            with self.subTest(name + str(options)):
                shutil.copy(film, self.path(name))
                process = self.shown(self.path(name), "--loop", *options)
                self.key("W", "w")
                self.whole(name, written)
                self.written(process)
                self.key("q")
                command = shlex.split(self.ends(process).out.decode())
                self.assertEqual(command[3], self.path(written))
                kind = probe(command[3], "-show_format")["format"]["format_name"]
                self.assertIn(written.rsplit(".", 1)[1].replace("mkv", "matroska"), kind)
                os.unlink(self.path(name))
                os.unlink(command[3])

    def writes_long(self):
        """Starts a long write. The window is paused, so it takes no CPU time from the write."""
        shutil.copy(SMALL, self.path("long.mkv"))
        process = self.shown(self.path("long.mkv"), "--loop", "--preset", "placebo")
        self.key("p", "w")
        self.assertTrue(wait_for(lambda: self.children(process)), "nothing is written")
        return process

    def test_quitting_twice_cancels_the_write(self):
        process = self.writes_long()
        child = self.children(process)
        self.assertTrue(wait_for(lambda: len(self.files()) > 1), "nothing is written")
        self.key("w")  # ignored while the first write goes on
        self.key("q")
        self.assertEqual(self.children(process), child)
        # the key is repeated, as a slow machine may miss the 3 seconds of the warning
        self.assertTrue(wait_for(lambda: self.key("Escape") or process.poll() is not None), "the window stays open")
        result = self.ends(process)
        self.assertEqual(result.err, "lumeq: '%s' was not finished and is removed\n" % self.path("long-lumeq.mkv"))
        self.assertEqual(self.files(), ["long.mkv"])
        self.assertFalse(os.path.exists("/proc/%d" % child[0]), "the write goes on")

    def test_a_signal_also_ends_the_write(self):
        process = self.writes_long()
        self.interrupt(process)
        self.assertEqual(self.files(), ["long.mkv"])

    def test_the_end_of_the_video_does_not_end_the_write(self):
        clip = self.short()
        process = self.shown(clip, "--vcodec", "ffv1", "--speed", "0.25")
        self.key("w")
        self.whole("it's short.mkv", "it's short-lumeq.mkv")
        self.written(process)
        if process.poll() is None:  # the video may have ended meanwhile
            self.quits(process)

    def title(self, window, position):
        self.assertTrue(wait_for(lambda: "(0:%02d / " % position in self.xdotool("getwindowname", window)),
                        "at %s" % self.xdotool("getwindowname", window))

    def test_keys_and_mouse(self):
        """Some keys and mouse actions on a real X server. test_controls.c, test_mouse.c and test_session.c test all keys."""
        film = clip("minute.mkv", *X264, "-g", "5", "-c:a", "aac", size="640x360", rate=5, seconds=60, sound=1)
        shutil.copy(film, self.path("a.mkv"))
        shutil.copy(film, self.path("b.mkv"))
        dialog = self.write("zenity", b"#!/bin/sh\necho '%s'\n" % self.path("b.mkv").encode())
        os.chmod(dialog, 0o700)
        process = self.play(self.path("a.mkv"), "--histogram", "off", "--remember",
                            env=self.state(PATH=self.folder + ":" + os.environ["PATH"]))
        window = self.window(process)
        place = dict(line.split("=") for line in self.xdotool("getwindowgeometry", "--shell", window).split())
        self.assertEqual((place["WIDTH"], place["HEIGHT"]), ("640", "360"))
        self.left, self.top = int(place["X"]), int(place["Y"])
        self.key("p")
        for key, position in (("Home", 0), ("Right", 5), ("Left", 0), ("Up", 59), ("Home", 0), ("End", 59),
                              ("Down", 0)):
            self.key(key)
            self.title(window, position)
        self.mouse(276, BAR, "sleep", 0.5, "click", 1)
        self.assertTrue(wait_for(lambda: re.search(r"\(0:(29|30) / ", self.xdotool("getwindowname", window))),
                        "the bar does not seek")
        self.mouse(350, BAR, "mousedown", 1)
        self.mouse(70, BAR, "mouseup", 1)
        self.title(window, 0)
        self.mouse(555, BAR, "mousedown", 1)  # the volume
        self.mouse(500, BAR, "mouseup", 1)
        self.key("0", "0", "0", "9")
        self.mouse(300, 150, "click", 5, "click", 4, "click", 4)
        self.key("z", "Return", "2", "4", "6", "B", "G", "D", "W", "r", "Tab")
        self.mouse(130, 166, "click", 1)  # beside the value of chroma in the panel
        self.key("W", "Tab", "r")
        before = self.grab()  # without a window manager, lumeq itself makes the window fill the screen
        self.mouse(300, 150, "click", "--repeat", 2, "--delay", 50, 1)
        self.assertTrue(wait_for(lambda: self.changed(before, self.left, self.left + 640) > 0.2),
                        "a double click does nothing")
        self.mouse(300, 150, "click", 3)  # resumes
        self.assertTrue(wait_for(lambda: re.search(r"\(0:(0[2-9]|[1-5]\d) / ", self.xdotool("getwindowname", window))),
                        "a right click does not resume")
        self.key("ctrl+o")
        self.assertTrue(wait_for(lambda: self.xdotool("getwindowname", window).startswith("b.mkv (")),
                        self.xdotool("getwindowname", window))
        self.key("q")
        self.assertEqual([{option.split("=")[0] for option in shlex.split(line)[4:]}
                          for line in self.ends(process).out.decode().splitlines()],
                         [{"--strength", "--clip", "--smooth", "--brightness", "--gamma", "--deinterlace", "--meter"},
                          {"--chroma"}])
        self.assertIn("volume 15", self.lines())

    def mouse(self, x, y, *more):
        self.xdotool("mousemove", self.left + x, self.top + y, "sleep", 0.1, *more)

    def test_chapters_beginning_within_a_frame(self):
        self.write("chapters", b";FFMETADATA1\n" + b"".join(
            b"[CHAPTER]\nTIMEBASE=1/10\nSTART=%d\nEND=%d\n" % part for part in ((0, 103), (103, 203), (203, 300))))
        ffmpeg("-i", clip("slow.mkv", *X264, rate=2, seconds=30), "-i", self.path("chapters"), "-map", 0,
               "-map_metadata", 1, "-c", "copy", self.path("a.mkv"))
        process = self.play(self.path("a.mkv"))
        window = self.window(process)
        self.key("p")
        for key, position in (("Page_Up", 10), ("Page_Up", 20), ("Page_Down", 10), ("Page_Down", 0)):
            self.key(key)
            self.title(window, position)
        self.quits(process)

    # ---- remembered state ----

    def state(self, **more):
        return self.environment(XDG_STATE_HOME=self.path("state"), **more)

    def state_file(self):
        return self.path("state/lumeq/state")

    def lines(self):
        return read_bytes(self.state_file()).decode().splitlines()

    def minute(self):
        """A film longer than a minute."""
        path = self.path("minute.mkv")
        shutil.copy(clip("minute.mkv", *X264, "-g", "50", size="320x180", rate=5, seconds=80), path)
        return path

    def leave_at(self, clip, *keys, args=("--remember",), env=None):
        """Opens a window, presses keys while paused, prints the command and quits; returns the command's settings."""
        process = self.play(clip, "-v", *args, env=env or self.state())
        window = self.window(process)
        self.key("p", *keys)
        colourful = lambda r, g, b: max(r, g, b) - min(r, g, b) > 120
        self.assertTrue(wait_for(lambda: self.share(self.grab(), 0, WIDTH, colourful) > 0.0005), "no picture is shown")
        self.key("W")
        self.size_of_it = self.size(window)
        self.result = self.quits(process)
        return shlex.split(self.result.out.decode())[4:]

    def test_nothing_is_remembered_by_default(self):
        self.leave_at(self.minute(), "Right", "Right", "3", args=())
        self.assertEqual(self.files(), ["minute.mkv"])

    def test_remembers(self):
        clip = self.minute()
        self.assertEqual(self.leave_at(clip, "Home", "3", "9", "9", "Right", "Right", "Right"), ["--clip=2.67"])
        lines = self.lines()
        self.assertEqual(lines[:3], ["lumeq-state 1", "clip 2.67", "volume 90"])
        self.assertFalse([line for line in lines if line.startswith("window ")])  # the size was not changed
        self.assertEqual(os.stat(os.path.dirname(self.state_file())).st_mode & 0o077, 0)
        place = [line.split(" ", 4) for line in lines if line.startswith("position ")]
        self.assertEqual(len(place), 1, lines)
        self.assertEqual(place[0][4], clip)
        self.assertAlmostEqual(int(place[0][1]), 15e6, delta=0.3e6)
        again = self.leave_at(clip, args=("--remember", "--stats", self.path("s.csv")))
        self.assertEqual(again, ["--clip=2.67"])
        first = read_rows(self.path("s.csv"))[0]
        self.assertAlmostEqual(float(first["time"]), int(place[0][1]) / 1e6, delta=0.21)
        self.assertEqual(self.lines()[:3], lines[:3])

    def test_a_fifo_is_ignored(self):
        os.makedirs(os.path.dirname(self.state_file()))
        os.mkfifo(self.state_file())
        process = self.play(self.short(), "-v", "--remember", "--keep-open", "no", env=self.state())
        self.assertIn("--remember ignores", self.ends(process).err)

    def test_the_command_line_wins(self):
        clip = self.minute()
        self.leave_at(clip, "3", "9", "Right", "Right")
        self.assertTrue([line for line in self.lines() if line.startswith("position ")], self.lines())
        # Home, because a busy machine may play on for long before it pauses.
        self.assertEqual(self.leave_at(clip, "Home", args=("--remember", "--clip", "5", "--volume", "50", "--ss", "0",
                                                           "--stats", self.path("s.csv"))), ["--clip=5"])
        self.assertLess(float(read_rows(self.path("s.csv"))[0]["time"]), 10)  # the remembered position is 10 s
        self.assertEqual(self.lines()[1:3], ["clip 2.67", "volume 95"])
        self.assertFalse([line for line in self.lines() if line.startswith("position ")])  # the run ended at the film's start
        self.assertEqual(self.leave_at(clip, "r"), [])  # reset settings are forgotten
        self.assertFalse([line for line in self.lines() if line.startswith("clip ")])

    def test_the_settings_file_can_request_it(self):
        config = self.write("config", b"remember = yes\n")
        process = self.shown(self.minute(), config=config, env=self.state())
        self.key("p", "9", "q")
        self.ends(process)
        self.assertIn("volume 95", self.lines())

    def test_size(self):
        clip = self.minute()
        process = self.play(clip, "--remember", "--histogram", "off", env=self.state())
        window = self.window(process)
        self.xdotool("windowsize", window, "640", "360")
        self.assertTrue(wait_for(lambda: self.size(window) == [640, 360]), "the window keeps its size")
        self.quits(process)
        self.assertIn("window 640x360", self.lines())
        self.leave_at(clip, args=("--remember", "--histogram", "off"))
        self.assertEqual(self.size_of_it, [640, 360])

    def test_no_position_of_short_films_and_ends(self):
        self.leave_at(make(self.path("short.mkv"), "-c:v", "ffv1", size="160x90", rate=5, seconds=30), "Right", "Right")
        self.leave_at(self.minute(), "End", args=("--remember", "--keep-open", "yes"))
        self.assertFalse([line for line in self.lines() if line.startswith("position ")], self.lines())

    def test_unusable_folder(self):
        self.write("state", b"")
        self.leave_at(self.minute(), "9")
        self.assertRegex(self.result.err, "--remember: .*Not a directory")
