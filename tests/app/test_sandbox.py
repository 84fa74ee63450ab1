"""--sandbox: every kind of run works inside, and a hijacked decoder (../faults/attacker.c) gains no rights."""

import collections
import ctypes
import errno
import glob
import http.server
import socket
import threading

from common import *

ATTACKER = os.environ.get("ATTACKER_LIBRARY", "")
LANDLOCK = ctypes.CDLL(None).syscall(444, None, 0, 1)
NO_LANDLOCK = "this kernel does not support Landlock 2 (landlock_create_ruleset() returned %d)" % LANDLOCK
SUFFICES = "with a sanitizer, test_one_file suffices"
FAST = ("--preset", "ultrafast", "--frames", 12)
needs_landlock = unittest.skipIf(LANDLOCK < 2, NO_LANDLOCK)
on_by_default = unittest.skipIf(SANITIZED, "the default is off with a sanitizer")
once = unittest.skipIf(LANDLOCK < 2 or SANITIZED, NO_LANDLOCK if LANDLOCK < 2 else SUFFICES)

DENIED, FORBIDDEN, UNKNOWN = errno.EACCES, errno.EPERM, errno.ENOSYS
ALLOWED = ("read-input", "write-inside", "kill-own", "affinity-own", "scheduler-own", "priority-own", "prlimit-read",
           "O_NONBLOCK")
# The errors that a decoder gets: FILES from Landlock, CALLS from seccomp.
FILES = {"write-input": DENIED, "read-outside": DENIED, "list-outside": DENIED, "append-outside": DENIED,
         "truncate-outside": DENIED, "create-outside": DENIED, "folder-outside": DENIED, "rename-out": DENIED,
         "rename-in": DENIED, "link-in": errno.EXDEV, "symlink-inside": DENIED, "remove-outside": DENIED,
         "write-proc": DENIED, "write-usr": DENIED}
CALLS = {"connect": errno.ENOENT, "clone3": UNKNOWN, "openat2": UNKNOWN, "unknown-call": UNKNOWN, "fchmod": UNKNOWN,
         **dict.fromkeys(
             ("exec", "fexecve", "fork", "clone", "clone-no-signal", "setsid", "setpgid", "death-signal", "unshare",
              "kill", "tgkill", "tkill", "pidfd_open", "process_vm_readv", "prlimit", "prlimit-own", "affinity", "scheduler",
              "parameters", "priority", "priority-group", "priority-user", "ioprio", "ptrace",
              "chmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utimensat", "futimens", "utimes",
              "utime", "setxattr", "fsetxattr", "lsetxattr", "removexattr", "truncate", "truncate-input",
              "open-truncate", "open-truncate-3", "fifo-inside",
              "shmget", "semget", "msgget", "mq_open", "F_SETOWN", "F_SETOWN_EX", "F_SETSIG", "O_ASYNC", "FIOSETOWN",
              "SIOCSPGRP", "F_NOTIFY", "type", "socket-inet", "socket-unix", "socket-packet", "datagram",
              "io_uring", "bpf", "keyctl", "userfaultfd"), FORBIDDEN)}
if os.uname().machine != "x86_64":  # other CPUs have no system call fork
    del CALLS["fork"]
# These succeed without a sandbox, also for ordinary users.
POSSIBLE = ("read-outside", "list-outside", "append-outside", "truncate-outside", "create-outside", "folder-outside",
            "rename-out", "rename-in", "link-in", "symlink-inside", "remove-outside", "exec", "fexecve", "clone",
            "death-signal", "kill", "tgkill", "tkill", "pidfd_open", "prlimit", "affinity", "scheduler", "parameters",
            "priority", "priority-group", "ioprio", "ptrace", "chmod", "fchmod", "fchmodat", "chown", "fchown", "lchown",
            "fchownat", "utimensat", "futimens", "utimes", "utime", "truncate", "shmget", "semget", "msgget", "mq_open",
            "F_SETOWN", "F_SETOWN_EX", "F_SETSIG", "O_ASYNC", "socket-inet", "socket-unix",
            "connect", "datagram", "fifo-inside")

# Arguments of runs in a folder that furnish() makes.
MODES = {
    "video": ("media/clip.mkv", "-o", "out/a.mkv"),
    "index first": ("media/clip.mkv", "-o", "out/a.mp4"),
    "here": ("media/clip.mkv", "-o", "a.mkv"),
    "replaced": ("media/clip.mkv", "-o", "out/old.mkv", "-y"),
    "not replaced": ("media/clip.mkv", "-o", "out/old.mkv"),
    "input by a link": ("link.mkv", "-o", "out/a.mkv"),
    "output by a link": ("media/clip.mkv", "-o", "outlink.mkv"),
    "output is input": ("link.mkv", "-o", "media/clip.mkv", "-y"),
    "no folder": ("media/clip.mkv", "-o", "none/a.mkv"),
    "no input": ("media/none.mkv", "-o", "out/a.mkv"),
    "no video": ("media/list.ffconcat", "-o", "out/a.mkv"),
    "playlist": ("media/list.ffconcat", "--allow-playlists", "-o", "out/a.mkv"),
    "standard output": ("media/clip.mkv", "-o", "-"),
    "standard input": ("-", "-o", "out/a.mkv"),
    "device": ("media/clip.mkv", "-o", "/dev/null", "--format", "matroska"),
    "full": ("media/clip.mkv", "-o", "/dev/full", "--format", "matroska"),
    "statistics": ("media/clip.mkv", "-o", "out/a.mkv", "--stats", "stats/a.csv"),
    "null": ("media/clip.mkv", "--null", "--stats", "stats/a.jsonl"),
    "report": ("media/clip.mkv", "--null", "--report", "report/a.json"),
    "panel": ("media/clip.mkv", "-o", "out/a.mkv", "--overlay"),
    "compared": ("media/clip.mkv", "-o", "out/a.mkv", "--compare", "side"),
    "picture": ("pictures/frame001.png", "-o", "out/a.png"),
    "from pictures": ("--sequence", "pictures/frame%03d.png", "-o", "out/a.mkv"),
    "from links": ("links", "-o", "out/a.mkv"),
    "to pictures": ("--sequence", "media/clip.mkv", "-o", "out/frame%03d.png"),
    "pieces": ("media/clip.mkv", "-o", "out/%s.mkv", "--segment-time", 1, "--keep", "100M"),
    "sample": ("media/clip.mkv", "-o", "out/a.mkv", "--sample", 1),
    "parts": ("media/clip.mkv", "-o", "out/a.mkv", "--jobs", 2, "--parts", 2, "--stats", "stats/a.csv"),
    "resumed": ("media/clip.mkv", "-o", "out/a.mkv", "--resume"),
    "planned": ("plan", "media/clip.mkv", "-o", "out/a.mkv"),
    "many": ("media/clip.mkv", "pictures/frame001.png", "-o", "folder/"),
    "folder": ("media", "-o", "folder/", "--jobs", 2),
    "10 bits": ("media/clip.mkv", "-o", "out/a.mkv", "--pix-fmt", "auto10"),
}


class SandboxCase(Case):
    def setUp(self):
        super().setUp()
        self.clip = clip("sandbox.mkv", *X264, seconds=2)

    def furnish(self, name):
        folder = self.path(name)
        for below in ("media", "pictures", "links", "out", "stats", "report"):
            os.makedirs(os.path.join(folder, below))
        shutil.copy(self.clip, os.path.join(folder, "media/clip.mkv"))
        shutil.copy(self.clip, os.path.join(folder, "out/old.mkv"))
        write_bytes(os.path.join(folder, "media/list.ffconcat"), b"ffconcat version 1.0\nfile clip.mkv\n")
        ffmpeg("-i", self.clip, "-frames:v", 3, os.path.join(folder, "pictures/frame%03d.png"))
        for picture in os.listdir(os.path.join(folder, "pictures")):
            os.symlink("../pictures/" + picture, os.path.join(folder, "links", picture))
        os.symlink("media/clip.mkv", os.path.join(folder, "link.mkv"))
        os.symlink("out/target.mkv", os.path.join(folder, "outlink.mkv"))
        return folder


def files_below(folder):
    found = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names]
    return sorted(re.sub(r"\d{9,}", "SECONDS", os.path.relpath(f, folder)) for f in found)


def plain(text):
    """Messages, with "N" for each number."""
    return re.sub(r"[\d.]+", "N", text)


@needs_landlock
@unittest.skipIf(SANITIZED, "a sanitizer needs more rights")
class Modes(SandboxCase):
    def test_everything_works_inside(self):
        """Files and messages are the same as without a sandbox."""
        for name, args in some(MODES.items()):
            with self.subTest(name):
                results = {}
                for mode in ("off", "on"):
                    folder = self.furnish("run")
                    with open(self.clip, "rb") as stdin:
                        r = lumeq(*args, *FAST, "--sandbox", mode, "--threads", 2, cwd=folder, stdin=stdin)
                    results[mode] = r.code, len(r.out), plain(r.err), files_below(folder)
                    shutil.rmtree(folder)
                self.assertEqual(results["on"], results["off"])

    def test_a_plan_step_by_step(self):
        folder = self.furnish("steps")
        plan = "out/a.mkv.lumeq/plan"
        for step in (("plan", "media/clip.mkv", "-o", "out/a.mkv", "--parts", 2, "--no-measure"),
                     ("measure", plan, 0), ("measure", plan, 1), ("plan", plan), ("segment", plan, 0),
                     ("segment", plan, 1), ("join", plan)):
            self.ok(*step, "--sandbox", "on", "-q", cwd=folder)
        self.assertEqual(sorted(os.listdir(os.path.join(folder, "out"))), ["a.mkv", "old.mkv"])

    def test_a_named_pipe(self):
        folder = self.furnish("pipe")
        os.mkfifo(os.path.join(folder, "pipe"))
        process = start("media/clip.mkv", "-o", "pipe", "--format", "matroska", "--sandbox", "on", *FAST, cwd=folder)
        with open(os.path.join(folder, "pipe"), "rb") as pipe:
            self.assertGreater(len(pipe.read()), 1000)
        self.ends(process)

    def test_interrupted(self):
        """The finished part is kept."""
        process = start(long_clip(), "-o", self.path("out.mkv"), "--sandbox", "on", "--progress", "json")
        for line in process.stderr:
            if b'"frame":' in line and not line.startswith(b'{"frame":0,'):
                break
        process.send_signal(signal.SIGTERM)
        self.ends(process, INTERRUPTED)
        self.assertEqual(self.files(), ["out.partial.mkv"])


class Choice(SandboxCase):
    def said(self, *args, **more):
        """The line of -v about the sandbox."""
        result = self.ok(self.clip, *FAST, "-v", *args, **more)
        return [line for line in result.lines if re.search(r"\bsandbox\b", line)]

    @needs_landlock
    @on_by_default
    def test_auto(self):
        self.assertRegex(self.said("--null")[0], r"^lumeq: sandbox: Landlock \d+ and seccomp$")
        self.assertEqual(self.said("--null", "--sandbox", "off"), ["lumeq: no sandbox: --sandbox off"])
        out = ("-o", self.path("out.mkv"), "-y")
        for value in ("qpfile=/dev/null", "x264-params=stats=a.log"):
            self.assertEqual(lumeq(self.clip, *out, *FAST, "-v", "--vopt", value).lines[0],
                             "lumeq: no sandbox: a --vopt may name a file")
        for value in ("qmin=2", "aq-strength=0.8", "x264-params=keyint=50:psy-rd=1.0,0.1"):
            self.assertRegex(self.said(*out, "--vopt", value)[0], "sandbox: Landlock")

    @on_by_default
    def test_local_names(self):
        """Only the name of the host counts: .local elsewhere in the URL must not turn the sandbox off."""
        line = "lumeq: no sandbox: names in .local need the socket of a service"
        for host in ("a.local", "A.LOCAL", "a.local.", "a.local:1", "user:word@a.local", "a.local?x=1", "user@b@a.local"):
            with self.subTest(host):
                result = self.exits(INPUT, "http://%s" % host, "--null", "--open-timeout", 1, "--network-timeout", 1)
                self.assertEqual(result.lines[0], line)
        for rest in ("127.0.0.1:1/x.local", "127.0.0.1:1/?a=.local", "127.0.0.1:1#.local", "127.0.0.1:1/@a.local",
                     "a.local@127.0.0.1:1", "a.local:b.local@127.0.0.1:1/", "127.0.0.1:1?@a.local", "[::1]:1/x.local"):
            with self.subTest(rest):
                result = self.exits(INPUT, "http://" + rest, "--null", "-v", "--open-timeout", 1, "--network-timeout", 1)
                self.assertIn("lumeq: sandbox: ", result.lines[0])

    @on_by_default
    def test_a_line_without_a_sandbox(self):
        """A line reports that the sandbox is off, except with -q or --sandbox off."""
        for args in ((self.clip, "-o", self.path("out.mkv"), "-y", *FAST, "--vopt", "x264-params=stats=a.log"),
                     (self.clip, "-o", self.path("many/"), "-y", *FAST, "--vopt", "x264-params=stats=a.log"),
                     (self.clip, "-o", self.path("out.mkv"), "-y", "--jobs", 2, *FAST, "--vopt", "x264-params=zones=0/1,q=9")):
            for more, count in (((), 1), (("-q",), 0), (("--sandbox", "off"), 0)):
                with self.subTest(args=args, more=more):
                    result = lumeq(*args, *more)
                    said = [line for line in result.lines if "sandbox:" in line]
                    self.assertEqual(said, ["lumeq: no sandbox: a --vopt may name a file"] * count, str(result))

    @needs_landlock
    def test_options_that_name_files(self):
        """If a --vopt names a file, the error says how to turn the sandbox off."""
        folder = self.furnish("options")
        for name, value in (("libx264", "x264-params=pass=1:stats=name"), ("libx265", "x265-params=csv=name"),
                            ("libx265", "x265-params=analysis-save=name")):
            if not has_encoder(name):
                continue
            args = ("media/clip.mkv", "-o", "out/a.mkv", *FAST, "--vcodec", name, "--vopt", value)
            with self.subTest(value):
                result = self.exits(OUTPUT, *args, "--sandbox", "on", cwd=folder)
                self.assertIn("if a --vopt names a file, use --sandbox off", result.err)
                self.assertEqual(os.path.exists(os.path.join(folder, "name")), False)
                self.assertNotIn("--sandbox off", lumeq(*args, "-y", "--sandbox", "off", cwd=folder).err)
                os.unlink(os.path.join(folder, "out/a.mkv"))
                for made in glob.glob(os.path.join(folder, "name*")):
                    os.unlink(made)
        result = lumeq("media/clip.mkv", "-o", "out/a.mkv", "--vcodec", "libx264", "--preset", "none", cwd=folder)
        self.assertNotIn("--sandbox", result.err)

    @needs_landlock
    @on_by_default
    def test_foreign_files_do_not_turn_it_off(self):
        """Anyone can create the folder in /tmp that CUDA's service uses, so it must not turn the sandbox off."""
        folder = "/tmp/nvidia-mps"
        try:
            os.mkdir(folder)
        except OSError:
            self.skipTest(folder + " exists")
        self.addCleanup(shutil.rmtree, folder)
        write_bytes(os.path.join(folder, "control"), b"")
        self.assertRegex(self.said("--null")[0], "^lumeq: sandbox: Landlock")

    @needs_landlock
    @on_by_default
    def test_datagrams(self):
        """In the sandbox, a run with a udp:// URL can wait for datagrams."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.refused(lumeq("udp://127.0.0.1:%d" % port, "--null", "--network-timeout", 1, "--sandbox", "on"), INPUT,
                     "no data")

    def test_refused_with_a_window(self):
        for args in ((self.clip,), ("--camera",), ("--camera", "-o", "a.mkv", "--frames", 1),
                     (self.clip, "--null", "--virtual-camera")):
            self.refused(lumeq(*args, "--sandbox", "on"), USAGE, "--sandbox on is for files and URLs")

    def test_in_the_settings_file(self):
        config = self.write("config", b"sandbox = off\n")
        self.assertEqual(self.said("--null", "--config", config), ["lumeq: no sandbox: --sandbox off"])


@unittest.skipUnless(ATTACKER, "run by ctest, which builds the library")
class Attack(SandboxCase):
    result = None

    def attack(self, *args, env=(), code=DONE, **more_of_start):
        """Runs with the attacker preloaded. Returns {attempt: errno} for each process."""
        for name in ("outside", "inside"):
            shutil.rmtree(self.path(name), ignore_errors=True)
            os.mkdir(self.path(name))
        for name in ("outside/secret", "outside/other", "outside/kept"):
            self.write(name, b"secret")
        clip = self.path("input.mkv")  # a copy, which the attacker may change
        shutil.copy(self.clip, clip)
        args = [clip if a == self.clip else a for a in args]
        server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        server.bind(self.path("outside/socket"))
        server.listen(8)
        datagrams = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        datagrams.bind(self.path("outside/socket-datagrams"))
        victim = subprocess.Popen(["sleep", "600"])
        self.addCleanup(victim.wait)
        self.addCleanup(victim.kill)
        more = {"LD_PRELOAD": ATTACKER, "ATTACK_OUTSIDE": self.path("outside"), "ATTACK_INSIDE": self.path("inside"),
                "ATTACK_INPUT": clip, "ATTACK_SOCKET": self.path("outside/socket"), "ATTACK_VICTIM": str(victim.pid)}
        env = {**environment(), **more, **dict(env), "ATTACK_LOG": self.write("inside/log", b"")}
        env["ASAN_OPTIONS"] += ":verify_asan_link_order=0:detect_leaks=0"
        with server, datagrams:
            result = finish(start(*args, "--threads", 4, "-y", env=env, **more_of_start))
        if code is not None:
            self.assertEqual(result.code, code, str(result))
        self.assertIsNone(victim.poll(), "another process was ended")
        processes = collections.defaultdict(dict)
        for line in self.read("inside/log").decode().splitlines():
            process, name, number = line.split()
            processes[process][name] = int(number)
        self.result = result
        self.assertTrue(processes or "ATTACK_MESSAGE" in env, "no thread of the decoder has attacked\n%s" % result)
        return list(processes.values())

    def outside_is_whole(self):
        self.assertEqual(self.files(self.path("outside")), ["kept", "other", "secret", "socket", "socket-datagrams"])
        self.assertEqual(self.read("outside/secret"), b"secret")
        self.assertEqual(self.read("input.mkv"), read_bytes(self.clip))

    def check(self, found, expected):
        self.assertEqual({name: found[name] for name in ALLOWED}, dict.fromkeys(ALLOWED, 0))
        self.assertEqual({name: found.get(name) for name in expected}, expected)

    def test_without_a_sandbox_attacks_succeed(self):
        found, = self.attack(self.clip, "-o", self.path("inside/out.mkv"), "--sandbox", "off", code=None)
        self.assertEqual({name: found[name] for name in POSSIBLE if found[name]}, {})

    @needs_landlock
    def test_one_file(self):
        found, = self.attack(self.clip, "-o", self.path("inside/out.mkv"), "--sandbox", "on")
        self.check(found, {**FILES, **CALLS})
        self.assertEqual(found["name-thread"], 0, "CUDA would not start")
        self.outside_is_whole()

    @once
    def test_by_default(self):
        found, = self.attack(self.clip, "-o", self.path("inside/out.mkv"))
        self.check(found, {**FILES, **CALLS})

    def attack_without(self, part, expected):
        """If the kernel lacks `part` ("Landlock" or "seccomp"), `auto` uses the other part, and `on` is refused."""
        lacks = {"NO_" + part.upper(): "1"}
        found, = self.attack(self.clip, "-o", self.path("inside/out.mkv"), env=lacks, code=None)
        self.check(found, expected)
        result = finish(start(self.clip, "--null", "--sandbox", "on",
                              env=dict(environment(), LD_PRELOAD=ATTACKER, **lacks)))
        self.refused(result, USAGE, "--sandbox on", part)

    @unittest.skipIf(SANITIZED, SUFFICES)
    def test_without_landlock(self):
        """Without Landlock, programs and sockets are still forbidden."""
        self.attack_without("Landlock", {**CALLS, "read-outside": 0})

    @once
    def test_without_seccomp(self):
        self.attack_without("seccomp", {**FILES, "exec": DENIED})

    @unittest.skipIf(LANDLOCK < 4, NO_LANDLOCK)
    @unittest.skipIf(SANITIZED, SUFFICES)
    def test_older_kernels(self):
        """Seccomp forbids what older versions of Landlock cannot: truncation, signals and abstract sockets."""
        for version in ("2", "4"):
            found, = self.attack(self.clip, "-o", self.path("inside/out.mkv"), "--sandbox", "on",
                                 env={"LANDLOCK_VERSION": version})
            self.check(found, {**FILES, **CALLS})
            self.outside_is_whole()

    @once
    def test_terminal_and_inherited_files(self):
        """The terminal cannot be read, and only files that the command line names stay open."""
        master, slave = open_terminal(80)
        self.addCleanup(os.close, master)
        with open(self.clip, "rb") as film, open(self.path("private"), "w+b") as private:
            for fd, number in ((film.fileno(), 40), (private.fileno(), 41)):
                os.dup2(fd, number)
                self.addCleanup(os.close, number)
            for name, more, kept in (("a", {"pass_fds": [41]}, ()), ("b", {"pass_fds": [40, 41]}, (40,)),
                                     ("c", {"stdin": slave, "stdout": slave}, (0, 1))):
                with self.subTest(name):
                    args = ("/dev/fd/40" if 40 in kept else self.clip, "-o", self.path("inside/out.mkv"), "--sandbox", "on")
                    found, = self.attack(*args, **more)
                    self.assertNotIn("descriptor-41", found)
                    self.assertEqual([n for n in kept if "descriptor-%d" % n in found], list(kept))
                    for fd in (0, 1):
                        self.assertEqual(found.get("read-terminal-%d" % fd), errno.EBADF if name == "c" else None)
        os.close(slave)

    @once
    def test_a_pipe_of_the_shell(self):
        for quiet in ("", " -q"):
            shell = subprocess.run(["bash", "-c", "%s <(cat %s) -o >(cat >%s) --format matroska --sandbox on --preset ultrafast%s"
                                    % (LUMEQ, self.clip, self.path("out.mkv"), quiet)], env=environment(),
                                   stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=LIVENESS)
            self.assertEqual(shell.returncode, DONE, shell.stderr)
            self.assertTrue(wait_for(lambda: os.path.getsize(self.path("out.mkv")) > 1000))

    @once
    def test_a_folder_of_pictures(self):
        """Links in the folder give access to linked files, but not to the contents of linked folders."""
        folder = self.furnish("pictures")
        os.symlink(self.path("outside"), os.path.join(folder, "links/below"))
        found, = self.attack(os.path.join(folder, "links"), "-o", self.path("inside/out.mkv"), "--sandbox", "on",
                             env={"ATTACK_INPUT": os.path.join(folder, "links/frame001.png")})
        self.check(found, {name: n for name, n in {**FILES, **CALLS}.items() if name != "fchmod"})
        self.assertEqual(self.files(self.path("outside")), ["kept", "other", "secret", "socket", "socket-datagrams"])

    def test_a_message_from_inside(self):
        """The parent process limits the numbers, and cuts the text, of a message from a hijacked process."""
        os.mkdir(self.path("films"))
        for name in ("one.mkv", "two.mkv"):
            shutil.copy(self.clip, self.path("films/" + name))
        for code, said in ((OUTPUT, "2199023255552 frames, 2000000000.00 s of video"), (77, "its process ended with exit code 77")):
            self.attack(self.path("films"), "-o", self.path("inside/"), env={"ATTACK_MESSAGE": str(code)},
                        code=OUTPUT if code == OUTPUT else INPUT)
            self.assertIn(said, self.result.err)
            self.assertNotIn("x" * 1024, self.result.err)
        self.attack(self.clip, "-o", self.path("inside/out.mkv"), "--jobs", 2, env={"ATTACK_MESSAGE": "3"}, code=OUTPUT)
        self.assertIn("xxx", self.result.err)
        self.assertNotIn("x" * 1024, self.result.err)

    @once
    def test_parts(self):
        """The first process, which starts the others, opens no media."""
        processes = self.attack(self.clip, "-o", self.path("inside/out.mkv"), "--jobs", 2, "--parts", 2, "--sandbox", "on")
        self.assertEqual(len(processes), 6)  # one for the plan, two for each part, one for the join
        for found in processes:
            self.check(found, {**FILES, **CALLS})
        self.outside_is_whole()

    @once
    def test_a_folder(self):
        folder = self.path("films")
        os.mkdir(folder)
        shutil.copy(self.clip, os.path.join(folder, "one.mkv"))
        for found in self.attack(folder, "-o", self.path("inside/"), "--sandbox", "on",
                                 env={"ATTACK_INPUT": os.path.join(folder, "one.mkv")}):
            self.assertEqual(found["read-input"], 0)
            self.check(found, {**FILES, **CALLS})
        self.outside_is_whole()

    @once
    def test_a_url(self):
        """A run with a URL may use the internet, but not the sockets of this machine's services."""
        class Quiet(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *_):
                pass
        handler = functools.partial(Quiet, directory=os.path.dirname(self.clip))
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            url = "http://127.0.0.1:%d/%s" % (server.server_address[1], os.path.basename(self.clip))
            found, = self.attack(url, "-o", self.path("inside/out.mkv"), "--sandbox", "on")
            server.shutdown()
        inputs = {"read-input": DENIED, "write-inside": 0, "socket-inet": 0, "connect": FORBIDDEN}
        unread = ("fchmod", "fchown", "futimens", "fsetxattr")  # there is no descriptor of the input
        expected = {name: n for name, n in {**FILES, **CALLS, **inputs}.items() if name not in unread}
        self.assertEqual({name: found.get(name) for name in expected}, expected)
        self.outside_is_whole()
