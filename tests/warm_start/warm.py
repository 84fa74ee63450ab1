"""Starts programs by forking processes that have already loaded their libraries (warm_start.c). Without
$WARM_START_LIBRARY, programs start normally."""

import array
import atexit
import os
import re
import select
import socket
import subprocess
import threading
import time

LIBRARY = os.environ.get("WARM_START_LIBRARY")
TOOLS = ("ffmpeg", "ffprobe")  # programs that are not under test
MOST = 1 << 16  # maximum size of a request, in bytes
# Variables that are read before main(). Runs with different values are forked from different processes.
AT_START = ("LD_", "ASAN_", "LSAN_", "TSAN_", "UBSAN_", "WARM_START_OPENS")
# Programs that get one of these variables start normally: the C library or a test's library uses it before main().
NEVER = re.compile("GLIBC_|MALLOC_|(FAULT_ALLOC|FAULT_READ|FAKE_DRIVER|FAKE_OPENGL|ATTACK_LOG)$")

programs = {}


class Program:
    def __init__(self, path, env):
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        loaded = dict(env, WARM_START=str(theirs.fileno()))
        loaded["LD_PRELOAD"] = ":".join(filter(None, (LIBRARY, env.get("LD_PRELOAD"))))
        # By default, AddressSanitizer refuses to start if it is not the first library.
        loaded["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        self.env = {name: value for name, value in loaded.items() if name not in ("LD_PRELOAD", "WARM_START")}
        if os.path.basename(path) in TOOLS:
            loaded["WARM_START_TOOL"] = "1"
        with theirs:
            self.process = subprocess.Popen([path], env=loaded, pass_fds=[theirs.fileno()],
                                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        atexit.register(self.close)

    def close(self):
        self.socket.close()
        self.process.wait()

    def differing(self, env):
        """The variables that a run with the environment `env` must set or unset."""
        names = sorted(n for n in {*env, *self.env} if env.get(n) != self.env.get(n))
        return ["%s=%s" % (n, env[n]) if n in env else n for n in names]


class Run:
    """One run of a program, with the parts of subprocess.Popen that the tests use."""

    def __init__(self, program, args, request, files):
        self.args, self.returncode, self.threads, self.data = args, None, [], {}
        self.stdin, self.stdout, self.stderr = files.near
        self.answers, theirs = os.pipe()
        try:
            socket.send_fds(program.socket, [request], files.far + [theirs])
        finally:
            os.close(theirs)
        self.pid = self.number()
        if self.pid is None:
            raise AssertionError("the warm-start process has ended: %r" % program.process.args)

    def number(self):
        data = os.read(self.answers, 4)
        return array.array("i", data)[0] if data else None

    def wait(self, timeout=None):
        if self.returncode is None:
            if not select.select([self.answers], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout)
            status = self.number()
            os.close(self.answers)
            self.returncode = os.waitstatus_to_exitcode(9 if status is None else status)
        return self.returncode

    def poll(self):
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        self.send_signal(9)

    def terminate(self):
        self.send_signal(15)

    def work(self, what, *args):
        self.threads.append(threading.Thread(target=what, args=args, daemon=True))
        self.threads[-1].start()

    def feed(self, data):
        try:
            with self.stdin:
                self.stdin.write(data)
        except BrokenPipeError:
            pass

    def read(self, name, file):
        with file:
            self.data[name] = file.read()

    def communicate(self, input=None, timeout=None):
        """May be called again after a timeout."""
        if not self.threads:
            for name, file in (("out", self.stdout), ("err", self.stderr)):
                if file and not file.closed:
                    self.work(self.read, name, file)
            if self.stdin and not self.stdin.closed:
                self.work(self.feed, input or b"")
        end = None if timeout is None else time.monotonic() + timeout
        for thread in self.threads:
            thread.join(end and max(0, end - time.monotonic()))
            if thread.is_alive():
                raise subprocess.TimeoutExpired(self.args, timeout)
        self.wait(end and max(0, end - time.monotonic()))
        return self.data.get("out"), self.data.get("err")


class Files:
    """The three standard files: the program's ends (far), and our ends of pipes (near)."""

    def __init__(self, *asked):
        self.far, self.near = [], []
        for number, file in enumerate(asked):
            near = None
            if file == subprocess.PIPE:
                ends = os.pipe()
                far, mine = ends if number == 0 else reversed(ends)
                near = os.fdopen(mine, "wb" if number == 0 else "rb")
            elif file == subprocess.DEVNULL:
                far = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
            else:
                far = os.dup(number if file is None else file if isinstance(file, int) else file.fileno())
            self.far.append(far)
            self.near.append(near)

    def close(self):
        for file in self.far:
            os.close(file)


def find(path, env):
    """Returns the warm-start process for a run, or None if the run needs a normal start."""
    if not LIBRARY or any(map(NEVER.match, env)):
        return None
    key = path, tuple(sorted((n, v) for n, v in env.items() if n.startswith(AT_START)))
    if key not in programs:
        programs[key] = Program(path, env)
    return programs[key]


def start(args, env, stdin=None, stdout=None, stderr=None, cwd=None, **more):
    """Like subprocess.Popen(), which is called for anything that a warm start cannot do."""
    program = None if more else find(args[0], env)
    if program:
        variables = program.differing(env)
        words = [cwd or os.getcwd(), str(len(variables))] + variables + args
        request = b"\0".join(os.fsencode(word) for word in words) + b"\0"
        if len(request) <= MOST:
            files = Files(stdin, stdout, stderr)
            try:
                return Run(program, args, request, files)
            finally:
                files.close()
    return subprocess.Popen(args, stdin=stdin, stdout=stdout, stderr=stderr, cwd=cwd, env=env, **more)


def run(args, env, input=None, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=None, **more):
    """Like subprocess.run() with a pipe for standard error."""
    process = start(args, env, stdin=stdin if input is None else subprocess.PIPE, stdout=stdout, stderr=subprocess.PIPE,
                    **more)
    try:
        out, err = process.communicate(input, timeout)
    except subprocess.TimeoutExpired as e:
        process.kill()
        e.stderr = process.communicate()[1]
        raise
    return subprocess.CompletedProcess(args, process.returncode, out, err)
