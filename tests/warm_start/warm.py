"""Programs that have been linked already: see warm_start.c. Without its library they start afresh."""

import array
import atexit
import os
import socket
import subprocess
import threading

LIBRARY = os.environ.get("WARM_START_LIBRARY")
MOST = 1 << 16  # bytes of a request
AT_START = ("LD_", "GLIBC_", "MALLOC_")  # variables that are read before main(), and a sanitizer's

programs = {}


class Program:
    def __init__(self, path, env):
        self.env, self.busy = env, threading.Lock()
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        loaded = dict(env, LD_PRELOAD=LIBRARY, WARM_START=str(theirs.fileno()))
        # A sanitizer's run-time wants to be first.
        loaded["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        with theirs:
            self.process = subprocess.Popen([path], env=loaded, pass_fds=[theirs.fileno()],
                                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        atexit.register(self.close)

    def close(self):
        self.socket.close()
        self.process.wait()

    def number(self):
        data = self.socket.recv(8)
        if not data:
            raise AssertionError("the warm start is gone: %r" % self.process.args)
        return int(array.array("i", data)[0])

    def run(self, request, files, limit):
        """Answers the exit code as subprocess does; None: it has run for too long, and is killed."""
        self.socket.settimeout(None)
        socket.send_fds(self.socket, [request], files)
        child = self.number()
        self.socket.settimeout(limit)
        try:
            return os.waitstatus_to_exitcode(self.number())
        except socket.timeout:
            os.kill(child, 9)
            self.socket.settimeout(None)
            self.number()
            return None


class Ends:
    """The near ends of the three standard files: what is fed, and what is read."""

    def __init__(self):
        self.theirs, self.threads, self.data = [], [], {}

    def give(self, file):
        self.theirs.append(os.dup(file if isinstance(file, int) else file.fileno()))

    def nothing(self):
        self.theirs.append(os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC))

    def work(self, what, *args):
        self.threads.append(threading.Thread(target=what, args=args, daemon=True))
        self.threads[-1].start()

    def feed(self, data):
        def write():
            try:
                with open(near, "wb") as f:
                    f.write(data)
            except BrokenPipeError:
                pass
        far, near = os.pipe()
        self.theirs.append(far)
        self.work(write)

    def read(self, name):
        def read():
            with open(near, "rb") as f:
                self.data[name] = f.read()
        near, far = os.pipe()
        self.theirs.append(far)
        self.work(read)

    def close(self):
        """Theirs, which then end with the program."""
        for f in self.theirs:
            os.close(f)
        self.theirs = []

    def join(self):
        for t in self.threads:
            t.join()


def differing(env, at_start):
    """The variables to set or to unset for another environment; None: they would come too late."""
    names = sorted(n for n in {*env, *at_start} if env.get(n) != at_start.get(n))
    if any(n.startswith(AT_START) or n.endswith("SAN_OPTIONS") for n in names):
        return None
    return ["%s=%s" % (n, env[n]) if n in env else n for n in names]


def find(path, env):
    """The program and the variables that are to be changed, when it can be asked now."""
    if not LIBRARY or "LD_PRELOAD" in env:
        return None, []
    if path not in programs:
        programs[path] = Program(path, env)
    found, variables = programs[path], differing(env, programs[path].env)
    if variables is None or not found.busy.acquire(blocking=False):
        return None, []
    return found, variables


def run(args, env, input=None, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=None, cwd=None, **more):
    """As subprocess.run() with a pipe for standard error; what a warm start cannot do is done by that."""
    program, variables = (None, []) if more or stdout is None else find(args[0], env)
    words = [cwd or os.getcwd(), str(len(variables))] + variables + args
    request = b"\0".join(os.fsencode(a) for a in words) + b"\0"
    if program and len(request) > MOST:
        program.busy.release()
        program = None
    if not program:
        return subprocess.run(args, input=input, stdin=None if input is not None else stdin, stdout=stdout,
                              stderr=subprocess.PIPE, timeout=timeout, cwd=cwd, env=env, **more)
    ends = Ends()
    try:
        if input is not None:
            ends.feed(input)
        elif stdin == subprocess.DEVNULL:
            ends.nothing()
        else:
            ends.give(stdin)
        if stdout == subprocess.PIPE:
            ends.read("out")
        elif stdout == subprocess.DEVNULL:
            ends.nothing()
        else:
            ends.give(stdout)
        ends.read("err")
        code = program.run(request, ends.theirs, timeout)
    finally:
        ends.close()
        program.busy.release()
    ends.join()
    out, err = ends.data.get("out"), ends.data["err"]
    if code is None:
        raise subprocess.TimeoutExpired(args, timeout, out, err)
    return subprocess.CompletedProcess(args, code, out, err)
