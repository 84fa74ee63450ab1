"""The walls of the house (design.md), as a look at the #include lines, and a few rules of style."""

import os
import re
import subprocess
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))

# Who may include whom. Everyone may include the public header, lumeq/lumeq.h, but for media and the
# panel: they know nothing of the equalizer.
MAY_INCLUDE = {
    "app": {"app", "player", "media", "panel", "equalizer-api"},
    "player": {"player", "media", "panel"},
    "media": {"media"},
    "panel": {"panel"},
    "equalizer": {"equalizer", "equalizer-api"},
    "bench": {"bench", "app", "equalizer", "equalizer-api", "media"},
}

FFMPEG = re.compile(r"lib(av|sw|postproc)\w+/")
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
    """(line number, what is included, whether it is in quotes)"""
    for i, line in enumerate(read(name).splitlines(), 1):
        m = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if m:
            yield i, m.group(2), m.group(1) == '"'


def part(name):
    """The house's part a file lies in."""
    if name.startswith("include/"):
        return "equalizer-api"
    return name.split("/")[1]


class Walls(unittest.TestCase):
    def fail_at(self, found):
        self.assertFalse(found, "\n" + "\n".join(found))

    def test_there_is_something_to_look_at(self):
        self.assertGreater(len(sources()), 20)

    def test_who_includes_whom(self):
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
                    continue  # generated, or not of this project
                if other not in MAY_INCLUDE.get(part(name), {part(name), "equalizer-api"}):
                    found.append("%s:%d: %s may not include %s" % (name, line, part(name), what))
        self.fail_at(found)

    def test_cpu_and_cuda_do_not_know_each_other(self):
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
        self.fail_at(self.only_in(FFMPEG, ("src/media/",)))

    def test_sdl_and_gl_only_in_player(self):
        self.fail_at(self.only_in(SDL_GL, ("src/player/",)))

    def test_cuda_only_in_its_homes(self):
        self.fail_at(self.only_in(CUDA, CUDA_HOMES))

    def test_public_header_needs_the_standard_library_only(self):
        for name in tracked("include"):
            for _, what, _ in includes(name):
                self.assertRegex(what, r"^(std\w+\.h|lumeq/\w+\.h)$", name)

    def test_names_are_unique(self):
        """But for the parts' own main.c."""
        names = [os.path.basename(n) for n in sources() if os.path.basename(n) != "main.c"]
        twice = sorted({n for n in names if names.count(n) > 1})
        self.assertEqual([n for n in twice if n not in ("kernels.h",)], [])


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


if __name__ == "__main__":
    unittest.main()
