"""Checks includes and calls between parts, that no dependency is circular, and some rules of style. LUMEQ_BUILD is the
build whose object files show the calls, and NM is the program that reads them."""

import collections
import os
import re
import subprocess
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))

# Allowed includes and calls. "equalizer-api" is the public header and its functions.
MAY_INCLUDE = {
    "app": {"app", "job", "report", "player", "run", "media", "panel", "equalizer-api"},
    "player": {"player", "run", "media", "panel"},
    "job": {"job", "run", "media", "panel", "equalizer-api"},
    "run": {"run", "media", "panel", "equalizer-api"},
    "report": {"report", "media", "equalizer-api"},
    "media": {"media", "equalizer-api"},
    "panel": {"panel"},
    "equalizer": {"equalizer", "equalizer-api"},
    "manual": {"manual", "app", "bench", "equalizer-api"},
    "plugins": {"plugins", "equalizer-api"},
    "bench": {"bench", "app", "run", "equalizer", "equalizer-api", "media"},
}

# src/run may use libavutil's data types.
FFMPEG = re.compile(r"lib(av|sw|postproc)\w+/")
FFMPEG_DATA = re.compile(r"libavutil/(error|fifo|time)\.h")
SDL_GL = re.compile(r"(SDL2?/|SDL|GL/|GLES|EGL/|epoxy/|glad/)")
CUDA = re.compile(r"(cuda|cub/|cooperative_groups|nvtx|nvml|thrust/|driver_types|vector_types)")
CUDA_HOMES = ("src/equalizer/cuda/", "src/player/view/view_cuda.c", "src/bench/")


def tracked(*patterns):
    """Files of the repository, and new ones that git does not ignore."""
    out = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others",
                          "--exclude-standard", "--"] + list(patterns), stdout=subprocess.PIPE, check=True)
    names = [n for n in out.stdout.decode().split("\0") if n]
    return sorted(n for n in names if os.path.isfile(os.path.join(ROOT, n)))


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as f:
        return f.read()


def sources():
    return [n for n in tracked("src", "include") if re.search(r"\.(c|h|cu|cuh|inc)$", n)]


def includes(name):
    """Yields (line number, included file, True if it is in quotes)."""
    for i, line in enumerate(read(name).splitlines(), 1):
        m = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if m:
            yield i, m.group(2), m.group(1) == '"'


def part(name):
    """The part of the program that a file belongs to."""
    if name.startswith("include/"):
        return "equalizer-api"
    return name.split("/")[1]


class Includes(unittest.TestCase):
    def fail_at(self, found):
        self.assertFalse(found, "\n" + "\n".join(found))

    def test_sources_are_found(self):
        self.assertGreater(len(sources()), 20)

    def test_parts_include_only_allowed_parts(self):
        found = []
        for name in sources():
            for line, what, quoted in includes(name):
                if not quoted:
                    continue
                beside = os.path.join(os.path.dirname(name), what)
                if what.startswith("lumeq/"):
                    other = "equalizer-api"
                elif os.path.isfile(os.path.join(ROOT, "src", what)):
                    other = part("src/" + what)
                elif os.path.isfile(os.path.join(ROOT, beside)):
                    other = part(beside)
                else:
                    continue  # generated, or not part of this project
                if other not in MAY_INCLUDE.get(part(name), {part(name), "equalizer-api"}):
                    found.append("%s:%d: %s may not include %s" % (name, line, part(name), what))
        self.fail_at(found)

    def test_cpu_and_cuda_do_not_include_each_other(self):
        found = ["%s:%d: %s" % (name, line, what) for name in sources()
                 for line, what, _ in includes(name)
                 if (name.startswith("src/equalizer/cpu/") and "cuda" in what) or
                 (name.startswith("src/equalizer/cuda/") and "cpu/" in what)]
        self.fail_at(found)

    def only_in(self, pattern, homes):
        return ["%s:%d: %s" % (name, line, what) for name in sources()
                for line, what, quoted in includes(name)
                if pattern.match(what) and not quoted and not name.startswith(homes)]

    def test_ffmpeg_only_in_media(self):
        found = self.only_in(FFMPEG, ("src/media/",))
        data = self.only_in(FFMPEG_DATA, ("src/media/", "src/run/"))
        self.fail_at([f for f in found if f in data or not FFMPEG_DATA.search(f)])

    def test_sdl_and_gl_only_in_player(self):
        self.fail_at(self.only_in(SDL_GL, ("src/player/",)))

    def test_cuda_only_in_its_homes(self):
        self.fail_at(self.only_in(CUDA, CUDA_HOMES))

    def test_text_reaches_the_terminal_in_one_place(self):
        """say() and say_answer() escape foreign text; other prints have only the program's own words and numbers."""
        homes = ("src/app/complete.c", "src/app/terminal.c", "src/app/progress.c", "src/app/doctor/",
                 "src/app/options/option_help.c", "src/app/main.c",
                 "src/app/play.c", "src/app/headless_many.c", "src/bench/", "src/manual/")
        prints = re.compile(r"\b(?:v?printf|puts|putchar|perror)\s*\(|\bstd(?:out|err)\b(?!\.)")
        self.fail_at(["%s:%d: %s" % (name, i, line.strip()) for name in sources() if not name.startswith(homes)
                      for i, line in enumerate(read(name).splitlines(), 1)
                      if not line.lstrip().startswith(("/*", "*")) and prints.search(line)])

    def test_public_header_needs_the_standard_library_only(self):
        for name in tracked("include"):
            for _, what, _ in includes(name):
                self.assertRegex(what, r"^(std\w+\.h|lumeq/\w+\.h)$", name)

    def test_names_are_unique(self):
        """Exceptions: each program's main.c, and kernels.h of the CPU and of CUDA."""
        names = [os.path.basename(n) for n in sources() if os.path.basename(n) != "main.c"]
        twice = sorted({n for n in names if names.count(n) > 1})
        self.assertEqual([n for n in twice if n not in ("kernels.h",)], [])


def unit(name):
    """A source file and its header count as one."""
    return re.sub(r"\.\w+$", "", name)


def cycles(graph):
    """Sets of nodes that depend on each other (Tarjan's algorithm)."""
    number, lowest, stack, found = {}, {}, [], []

    def visit(node):
        number[node] = lowest[node] = len(number)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in number:
                visit(other)
                lowest[node] = min(lowest[node], lowest[other])
            elif other in stack:
                lowest[node] = min(lowest[node], number[other])
        if lowest[node] == number[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(set(stack[at:]))
            del stack[at:]

    for node in sorted(graph):
        if node not in number:
            visit(node)
    return found


def included_files():
    """Yields (file, file of the repository that it includes)."""
    known = set(sources())
    for name in sources():
        for _, what, quoted in includes(name):
            for path in ("src/" + what, os.path.join(os.path.dirname(name), what), "include/" + what):
                if quoted and path in known:
                    yield name, path


class Cycles(unittest.TestCase):
    """Files in a cycle cannot be read, tested or replaced separately."""

    def test_cycles_are_found(self):
        graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}, "e": set()}
        self.assertEqual(cycles(graph), [{"a", "b", "c"}])
        self.assertEqual(cycles({"a": {"b"}, "b": {"c"}}), [])

    def test_headers(self):
        graph = collections.defaultdict(set)
        for name, other in included_files():
            if name.endswith((".h", ".cuh")):
                graph[name].add(other)
        self.assertEqual(cycles(graph), [])

    def test_files(self):
        """A source file counts with its header: x.c must not need a file that needs x.h."""
        graph = collections.defaultdict(set)
        for a, b in included_files():
            if unit(a) != unit(b):
                graph[unit(a)].add(unit(b))
        self.assertEqual([sorted(c) for c in cycles(graph)], [])

    def test_folders(self):
        """Folders in the same parent folder must not need each other."""
        graph = collections.defaultdict(set)
        for a, b in included_files():
            one, other = os.path.dirname(a).split("/"), os.path.dirname(b).split("/")
            for n in range(min(len(one), len(other))):
                if one[n] != other[n]:
                    graph["/".join(one[:n + 1])].add("/".join(other[:n + 1]))
                    break
        # Except src/ and include/: the equalizer includes the header that it implements.
        found = [c for c in cycles(graph) if c != {"src", "include"}]
        self.assertEqual([sorted(c) for c in found], [])


class Objects:
    """The build's object files: which file of src/ defines a symbol, and which files use it."""

    def __init__(self, build):
        self.defined = {}
        self.used = []
        known = set(sources())
        self.files = {}  # {path of the object: source}
        for folder, _, names in os.walk(os.path.join(build, "CMakeFiles")):
            for path in (os.path.join(folder, name) for name in names):
                # Objects of deleted sources may remain in the folder.
                source = path.partition(".dir/")[2][:-len(".o")]
                if path.endswith(".o") and source in known:
                    self.files[path] = source
        if self.files:
            self.read()

    def read(self):
        out = subprocess.run([os.environ.get("NM", "nm"), "--no-demangle", "--print-file-name"] + sorted(self.files),
                             check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for line in out.stdout.decode().splitlines():
            path, _, rest = line.partition(".o:")
            source = self.files[path + ".o"]
            kind, symbol = rest.split()[-2:]
            if kind == "U":
                self.used.append((source, symbol))
            elif kind.isupper():
                self.defined[symbol] = source


@unittest.skipUnless(os.environ.get("LUMEQ_BUILD"), "LUMEQ_BUILD names no build")
class Calls(unittest.TestCase):
    """A function can be called without its header, so calls are checked as well."""

    @classmethod
    def setUpClass(cls):
        cls.objects = Objects(os.environ["LUMEQ_BUILD"])
        header = read("include/lumeq/lumeq.h")
        cls.api = set(re.findall(r"\b(lumeq_\w+)\(", header))

    def fail_at(self, found):
        self.assertFalse(found, "\n" + "\n".join(sorted(set(found))))

    def between(self):
        """Yields (file, symbol that it uses, other file that defines the symbol)."""
        for source, symbol in self.objects.used:
            other = self.objects.defined.get(symbol)
            if other and other != source:
                yield source, symbol, other

    def test_objects_are_found(self):
        self.assertGreater(len(self.objects.files), 100)
        self.assertIn(("app", "equalizer"), {(part(a), part(b)) for a, _, b in self.between()})

    def test_parts_call_only_allowed_parts(self):
        found = []
        for source, symbol, other in self.between():
            callee = "equalizer-api" if symbol in self.api else part(other)
            if callee not in MAY_INCLUDE[part(source)] and part(source) != part(other):
                found.append("%s: %s may not use %s of %s" % (source, part(source), symbol, other))
        self.fail_at(found)

    def test_cpu_and_cuda_do_not_call_each_other(self):
        homes = ("src/equalizer/cpu/", "src/equalizer/cuda/")
        found = ["%s: %s of %s" % call for call in self.between()
                 if call[0].startswith(homes) and call[2].startswith(homes) and
                 call[0].split("/")[2] != call[2].split("/")[2]]
        self.fail_at(found)

    def test_files_do_not_call_in_cycles(self):
        """Files that share a header may call each other without including each other."""
        graph = collections.defaultdict(set)
        for source, _, other in self.between():
            if unit(source) != unit(other):
                graph[unit(source)].add(unit(other))
        self.fail_at([" and ".join(sorted(c)) for c in cycles(graph)])

    def test_folders_do_not_call_in_cycles(self):
        graph = collections.defaultdict(set)
        for source, _, other in self.between():
            one, two = os.path.dirname(source).split("/"), os.path.dirname(other).split("/")
            for n in range(min(len(one), len(two))):
                if one[n] != two[n]:
                    graph["/".join(one[:n + 1])].add("/".join(two[:n + 1]))
                    break
        self.fail_at([" and ".join(sorted(c)) for c in cycles(graph)])

    def only_in(self, pattern, homes):
        self.fail_at(["%s: %s" % (source, symbol) for source, symbol in self.objects.used
                      if re.match(pattern, symbol) and symbol not in self.objects.defined and
                      not source.startswith(homes)])

    def test_ffmpeg_beyond_its_data_types_only_in_media(self):
        """libavutil's frames, memory, fractions and queues are allowed, except in the equalizer and the panel."""
        self.only_in(r"(avcodec|avformat|avfilter|avdevice|avio|sws|swr|swscale)_|"
                     r"av_(read|write|interleaved|guess|seek|find|codec|bsf|parser|buffersrc|"
                     r"buffersink|muxer|demuxer|input)_", ("src/media/",))
        self.only_in(r"av_", tuple("src/%s/" % p for p in MAY_INCLUDE
                                   if p not in ("equalizer", "panel")))

    def test_sdl_only_in_player(self):
        self.only_in(r"SDL_", ("src/player/",))

    def test_cuda_only_in_its_homes(self):
        self.only_in(r"(cuda|cu[A-Z]|__cuda)", CUDA_HOMES)


class Files(unittest.TestCase):
    def test_every_source_is_built(self):
        lists = "".join(read(n) for n in tracked("*CMakeLists.txt", "*.cmake"))
        missing = [n for n in sources() if n.endswith((".c", ".cu")) and n not in lists and
                   not re.search(r"(?<![\w/])%s\b" % re.escape(os.path.basename(n)), lists)]
        self.assertEqual(missing, [])

    def test_every_header_guards_itself(self):
        for name in sources():
            if name.endswith(".h"):
                with self.subTest(name):
                    self.assertRegex(read(name), r"#ifndef LUMEQ_\w+_H\n#define LUMEQ_\w+_H\n")

    def test_lines(self):
        found = []
        for name in sources() + tracked("tests/*.[ch]", "samples/*.[ch]"):
            for i, line in enumerate(read(name).splitlines(), 1):
                if "\t" in line:
                    found.append("%s:%d: a tab" % (name, i))
                if line != line.rstrip():
                    found.append("%s:%d: a space at the end" % (name, i))
                if len(line) > 100:
                    found.append("%s:%d: %d columns" % (name, i, len(line)))
        self.assertFalse(found, "\n" + "\n".join(found))

    def test_files_end_with_one_newline(self):
        found = [n for n in sources() if not read(n).endswith("\n") or read(n).endswith("\n\n")]
        self.assertEqual(found, [])
