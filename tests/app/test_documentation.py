"""The commands of the documentation work. All except NOT_RUN run as written, on clips with the file names of the commands."""

import contextlib
import fnmatch
import glob

from common import *
from window import MISSING, WindowCase

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))

# Commands that are not run: a pattern for their beginning, and the reason.
NOT_RUN = [
    (r"sudo apt install", "installs packages"),
    (r"sudo cmake --install", "installs the program"),
    (r"cmake |ctest |CHECK_SEED=\S+ |cc program\.c", "builds lumeq; tests/install builds the library"),
    (r"mkdir -p ~/\.config/obs-studio/", "installs the filter for OBS"),
    (r"mkdir -p ~/\.frei0r-1/|ffmpeg .*frei0r=|melt ", "plugins_frei0r_hosts runs the filter, if it is built"),
    (r"vspipe |install -D ", "plugins_vspipe runs VapourSynth, if there is a Python for it"),
    (r"gst-(launch|inspect)-1\.0 ", "plugins_gst_launch runs it, if GStreamer is installed"),
    (r"mpv --vo", "shader_lumeq runs it, if mpv is installed"),
    (r"pip |CUDAARCHS=native pip |python -c", "plugins_python installs the module"),
    (r"sudo modprobe", "loads a kernel module"),
    (r"samples/demo\.sh|src/packaging/build_\w+\.sh|tests/(\w+/)?\w+\.sh|build/fuzz/", "builds everything, or runs this test"),
    (r"cpack ", "makes packages; tests/hosts makes them"),
    (r"podman ", "downloads and makes images"),
    (r"lumeq (--low-latency )?(rtsp|https|udp)://", "needs the network; test_network has its own servers"),
    (r"(LUMEQ_CPU_MASK=N )?lumeq-bench ", "measures for minutes, or needs a GPU"),
]

# Options in the pages that belong to other programs.
OTHERS = {"all", "hosts", "no-install", "build", "prefix", "install", "cflags", "libs", "test-dir",
          "output-on-failure", "preset", "parallel"}
HIDDEN = {"complete", "two-pass"}
BUILT = {"lumeq-params.hook"}


def pages():
    """The pages of the sources, as paths from the top folder."""
    found = ["README.md", ".github/CONTRIBUTING.md"] + [os.path.relpath(path, ROOT) for folder in ("include", "src", "shaders", "samples", "tests")
                             for path in glob.glob(os.path.join(ROOT, folder, "**", "*.md"), recursive=True)]
    return sorted(found)


def read(page):
    with open(os.path.join(ROOT, page), encoding="utf-8") as f:
        return f.read()


def blocks(page, language):
    return re.findall(r"^```%s\n(.*?)^```$" % language, read(page), re.M | re.S)


def without_blocks(page):
    return re.sub(r"^```.*?^```$", "", read(page), flags=re.M | re.S)


def commands():
    """Returns each command once, as (page, command): lines of shell blocks, and inline commands of README.md."""
    found = []
    for page in pages():
        for block in blocks(page, "sh"):
            for line in block.replace("\\\n", " ").splitlines():
                line = re.sub(r"(^|\s+)#.*", "", line)
                found += [(page, part.strip()) for part in line.split(";") if part.strip()]
    for code in re.findall(r"`([^`\n]+)`", without_blocks("README.md")):
        if re.match(r"lumeq\s", code):
            found.append(("README.md", code))
    return [(page, command) for command, page in dict((c, p) for p, c in reversed(found)).items()][::-1]


def why_not(command):
    for begin, why in NOT_RUN:
        if re.match(begin, command):
            return why
    if re.match(r"lumeq --(camera|list-)", command) or "--virtual-camera" in command:
        if glob.glob("/dev/video*"):
            return "would use the camera of this machine; test_camera has a fake one"
    return None


def has_window(command):
    """True if the last program of the line is lumeq with a window."""
    words = command.split("|")[-1].split()
    return words[0] == "lumeq" and not {"-o", "--null", "help"} & set(words) and not re.match(
        r"--(camera|list-|help|version|doctor)", words[1])


def end_all(process):
    """Kills a shell and its children after a failure."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def clips():
    """Clips for the file names in the commands."""
    dull = clip("dull.mkv", seconds=1, sound=1)
    film = Store.path("film.mov")
    if not os.path.exists(film):
        make(film, "-c:v", "mpeg4", source="testsrc2=size=32x32:rate=2", seconds=125)
    mp4 = Store.path("dull.mp4")
    if not os.path.exists(mp4):
        ffmpeg("-i", dull, "-c", "copy", mp4)
        ffmpeg("-i", dull, "-c", "copy", Store.path("dull.mov"))
        ffmpeg("-i", dull, "-c:v", "mpeg4", "-an", Store.path("dull.avi"))
    shots = Store.path("shots")
    if not os.path.isdir(shots):
        os.mkdir(shots)
        make(os.path.join(shots, "frame%04d.png"), "-c:v", "png", seconds=0.2)
    films = Store.path("films")
    if not os.path.isdir(films):
        os.mkdir(films)
        for name in ("alps.mkv", "ghosts.mkv", "night.mkv", "tunnel.mkv"):
            os.symlink(dull, os.path.join(films, name))
    return {"films": films, "shots": shots, "foggy.mkv": dull, "in.mkv": dull, "dark.mp4": mp4, "talk.mp4": mp4,
            "flat.mov": Store.path("dull.mov"), "scan.avi": Store.path("dull.avi"), "in.mov": film}


@unittest.skipIf(MISSING, "not installed: %s" % ", ".join(MISSING))
class Commands(WindowCase):
    def script(self, folder, name, text):
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\n%s\n" % text)
        os.chmod(path, 0o755)

    def place(self):
        """Fills the folder with clips and with fakes of the programs that commands name. Returns the fakes' folder."""
        shutil.rmtree(self.folder, ignore_errors=True)
        programs = os.path.join(self.folder, "programs")
        os.makedirs(programs)
        for name, target in clips().items():
            os.symlink(target, os.path.join(self.folder, name))
        self.script(programs, "lumeq", 'case "$1" in plan|measure|segment|join) exec "%s" "$@";; esac\n'
                    'exec "%s" --no-config --backend cpu "$@"' % (LUMEQ, LUMEQ))
        # "|| :": the player may close the pipe early.
        self.script(programs, "curl", "cat '%s' 2>/dev/null || :" % clips()["foggy.mkv"])
        self.script(programs, "rpicam-vid", "cat '%s' 2>/dev/null || :" % clips()["foggy.mkv"])
        self.script(programs, "some-sender", "cat '%s' 2>/dev/null || :" % clips()["foggy.mkv"])
        self.script(programs, "mpv", "cat >received && test -s received")
        return programs

    def run_one(self, command):
        programs = self.place()
        env = self.environment()
        env["PATH"] = programs + ":" + env["PATH"]
        process = subprocess.Popen(["bash", "-c", "set -o pipefail; " + command], cwd=self.folder, env=env,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   start_new_session=True)
        self.addCleanup(end_all, process)
        if has_window(command):
            # Short clips may end the run before the key does.
            self.assertTrue(wait_for(lambda: process.poll() is not None or self.xdotool(
                "search", "--onlyvisible", "--name", " - lumeq$")), "no window: " + command)
            self.assertTrue(wait_for(lambda: process.poll() is not None or self.key("q")),
                            "the key q does not end the command: " + command)
        out, err = process.communicate(timeout=LIVENESS)
        return process.returncode, out, err.decode("utf-8", "replace")

    def check(self, command):
        code, out, err = self.run_one(command)
        if "--virtual-camera" in command:
            self.assertEqual(code, USAGE, err)
            self.assertIn("no virtual camera", err, command)
            return
        if re.match(r"lumeq --(camera|list-)", command):
            # Without a camera, lumeq reports that none is found. An empty list is no failure.
            self.assertEqual(code, DONE if "--list-" in command else INPUT, err)
            self.assertRegex(err, "camera", command)
            return
        self.assertEqual(code, DONE, "%s\n%s" % (command, err))
        made = re.search(r" -o (\S+\.\w+)| --stats (\S+)", command)
        if made:
            path = os.path.join(self.folder, (made.group(1) or made.group(2)).replace("%04d", "0001"))
            path += ".sample.png" if "--sample" in command else ""
            self.assertGreater(os.path.getsize(path), 0, command)
        elif re.search(r"--(help|version|profile help)", command):
            self.assertTrue(out, command)

    def test_every_command(self):
        run = []
        for page, command in commands():
            why = why_not(command)
            if why:
                print("not run: %s (%s): %s" % (command, page, why))
            else:
                run.append((page, command))
        self.assertGreater(len(run), 30)
        for page, command in some(run):
            with self.subTest(page=page, command=command):
                self.check(command)


class Texts(unittest.TestCase):
    def test_scripts_exist(self):
        for page, command in commands():
            if re.match(r"(samples|tests)/", command):
                out = subprocess.run([os.path.join(ROOT, command.split()[0]), "--help"], stdout=subprocess.PIPE,
                                     check=True, timeout=10 * SLOWER).stdout.decode()
                for option in re.findall(r"--[\w-]+", command):
                    self.assertIn(option, out, page)

    def test_files_exist(self):
        """A page may name a file by its name, a pattern, or a path from the page's folder or the top folder."""
        every = [name for name in subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                                                 cwd=ROOT, stdout=subprocess.PIPE, check=True,
                                                 encoding="utf-8").stdout.split("\0") if name]
        found, missing = 0, []
        for page in pages():
            for word in re.findall(r"[^\s`]+", " ".join(re.findall(r"`([^`\n]+)`", without_blocks(page)))):
                word = word.rstrip(",;:")
                if word in BUILT or not re.fullmatch(r"[\w*-][\w./*-]*\.(c|h|cu|cuh|py|sh|md|hook|glsl)", word):
                    continue
                found += 1
                here = os.path.normpath(os.path.join(os.path.dirname(page), word))
                if not any(fnmatch.fnmatch(name, pattern) for name in every for pattern in (word, "*/" + word, here)):
                    missing.append("%s: %s" % (page, word))
        self.assertGreater(found, 400)
        self.assertEqual(missing, [])

    def test_build_folders(self):
        """README.md installs build/, so builds without the program use other folders."""
        found = [c for _, c in commands() if "LUMEQ_PROGRAM=OFF" in c]
        self.assertGreater(len(found), 2)
        for command in found:
            self.assertRegex(command, r" -B build/\w+ ")

    def test_options_exist(self):
        shown = set(re.findall(r"--([a-z][\w-]+)", lumeq("--help=full").out.decode()))
        self.assertFalse(shown & HIDDEN)
        known = shown | HIDDEN | OTHERS | {"help", "version"}
        for page in pages():
            if page.startswith(("src/bench/", "samples/", ".github/")):
                continue  # such a page also names options of other programs
            for code in re.findall(r"`([^`\n]+)`", without_blocks(page)):
                if code.startswith("samples/"):
                    continue  # options of a script
                for option in re.findall(r"(?<![\w-])--([a-z][\w-]+)", code):
                    self.assertIn(option, known, "%s: %s" % (page, code))

    def test_commands_of_the_bench(self):
        """Checks only that commands and options exist: benchmarks take minutes, and most need a GPU."""
        bench = os.path.join(os.path.dirname(LUMEQ), "lumeq-bench")
        found = [" ".join(c.split()) for c in re.findall(r"`(lumeq-bench [^`]+)`", without_blocks("src/bench/README.md"))]
        self.assertGreater(len(found), 2)
        for command in found:
            print("not run: %s (src/bench/README.md): measures for minutes, or needs a GPU" % command)
            out = subprocess.run([bench, command.split()[1], "--help"], stdout=subprocess.PIPE, check=True,
                                 timeout=10 * SLOWER).stdout.decode()
            for option in re.findall(r"--[a-z][\w-]*", command):
                self.assertRegex(out, re.escape(option) + r"\b", command)

    def test_quoted_decisions_are_printed(self):
        said = lumeq(clip("fine.mkv", "-c:v", "ffv1", source="testsrc2=s=160x90:r=25"), "--null", "--no-config").err
        quotes = [(page, quote) for page in pages() for quote in re.findall(r'"(well exposed: [^"]+)"', read(page))]
        self.assertGreater(len(quotes), 1)
        for page, quote in quotes:
            self.assertIn(quote, said, page)

    def test_profiles_exist(self):
        names = re.findall(r"^(\S+) ", lumeq("--profile", "help").out.decode(), re.M)
        self.assertEqual(re.findall(r"^\| ([\w-]+) \| .*`--", read("src/app/options/README.md").split("## Profiles")[1],
                                    re.M), names)

    def test_functions_exist(self):
        header = set(re.findall(r"^LUMEQ_API [^;]*?\b(lumeq_\w+)\(", read("include/lumeq/lumeq.h"), re.M))
        self.assertLess(set(re.findall(r"`(lumeq_\w+)\(\)`", read("include/lumeq/README.md"))), header)

    @unittest.skipUnless(shutil.which("cc"), "no compiler")
    def test_code_compiles(self):
        ran = 0
        for page in pages():
            for block in blocks(page, "c"):
                code = ("#include <lumeq/lumeq.h>\n#include <stdio.h>\n"
                        "int use(int width, int height, int64_t time_in_ns, void **planes, void **out_planes,\n"
                        "    const ptrdiff_t *strides, const ptrdiff_t *out_strides);\n"
                        "int use(int width, int height, int64_t time_in_ns, void **planes, void **out_planes,\n"
                        "    const ptrdiff_t *strides, const ptrdiff_t *out_strides)\n{\n%sreturn 0;\n}\n" % block)
                p = subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-xc", "-",
                                    "-I", os.path.join(ROOT, "include")], input=code.encode(),
                                   stderr=subprocess.PIPE, check=False)
                self.assertEqual(p.returncode, 0, "%s\n%s" % (page, p.stderr.decode()))
                ran += 1
        self.assertGreater(ran, 0)
