"""Checks the pages: links lead somewhere, each folder has a page, and pages name only existing files."""

import os
import re
import unittest

from test_architecture import read, tracked

MAX_README_LINES = 220
FOLDERS = ("src/", "shaders/", "tests/")  # every folder in them has a page


def anchors(page):
    """The anchors that GitHub makes from a page's headings."""
    text = re.sub(r"^```.*?^```$", "", read(page), flags=re.M | re.S)
    found = set()
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        plain = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        found.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return found


def links(page):
    text = re.sub(r"^```.*?^```$", "", read(page), flags=re.M | re.S)
    return re.findall(r"\]\(([^)\s]+)\)", text)


def is_there(path):
    """True for a file or folder of the repository; ignored files do not count."""
    return path in KNOWN or any(n.startswith(path.rstrip("/") + "/") for n in KNOWN)


KNOWN = set(tracked())


class Pages(unittest.TestCase):
    def test_links(self):
        found, count = [], 0
        for page in tracked("*.md"):
            for link in links(page):
                if re.match(r"\w+:", link):
                    continue
                count += 1
                path, _, anchor = link.partition("#")
                target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
                if not is_there(target):
                    found.append("%s: %s does not exist" % (page, link))
                elif anchor and (not target.endswith(".md") or anchor not in anchors(target)):
                    found.append("%s: %s has no such heading" % (page, link))
        self.assertFalse(found, "\n" + "\n".join(found))
        self.assertGreater(count, 30)

    def test_tables(self):
        """Each row has as many cells as the heading."""
        for page in tracked("*.md"):
            text = re.sub(r"^```.*?^```$", "", read(page), flags=re.M | re.S)
            for table in re.findall(r"(?:^\|.*\|\n)+", text, re.M):
                rows = [len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()]
                self.assertEqual(rows, [rows[0]] * len(rows), "%s: %s" % (page, table.splitlines()[0]))

    def test_code_is_closed(self):
        for page in tracked("*.md"):
            self.assertEqual(len(re.findall(r"^```", read(page), re.M)) % 2, 0, page)

    def test_readme_is_short(self):
        self.assertLessEqual(len(read("README.md").splitlines()), MAX_README_LINES)

    def test_each_folder_has_a_page(self):
        """Exceptions: src, and the inputs of fuzz targets."""
        folders = {os.path.dirname(n) for n in KNOWN if n.startswith(FOLDERS) and "/corpus/" not in n} - {"src"}
        self.assertGreater(len(folders), 30)
        self.assertLess({"src/player/view", "shaders", "tests", "tests/app"}, folders)
        self.assertEqual(sorted(f for f in folders if not is_there(f + "/README.md")), [])

    def test_pages_of_folders_name_existing_files(self):
        for page in (n for n in KNOWN if n.startswith(FOLDERS) and n.endswith("/README.md")):
            with self.subTest(page):
                self.assertRegex(read(page), r"\A# \S.*\n\n\w|\A# \S.*\n\n`")
                folder = os.path.dirname(page)
                for name in re.findall(r"`([\w./]+\.(?:c|h|cu|cuh|py|sh|vert|frag|glsl|cmake))`", read(page)):
                    where = [os.path.normpath(os.path.join(folder, name)), name]
                    self.assertTrue(any(is_there(w) for w in where), "%s: %s" % (page, name))

    def test_the_example_of_an_option(self):
        """CONTRIBUTING.md names every file of src/app that mentions its example option."""
        page = read(".github/CONTRIBUTING.md").split("## An option that reaches the library")[1].split("\n## ")[0]
        name = re.search(r"`--([a-z-]+)` is the example", page)[1]
        field = name.replace("-", "_")
        used = re.compile(r'"%s"|\bo(?:ptions)?->%s\b' % (name, field))
        found = sorted(os.path.basename(n) for n in tracked("src/app/*.[ch]") if n.startswith("src/app/options/") and
                       re.search(r"\b%s\b|\b%s\b" % (name, field), read(n)))
        self.assertEqual(found, ["option_table.c", "options.c", "options.h"])
        self.assertEqual([n for n in tracked("src/app") if not n.startswith("src/app/options/") and
                          n.endswith((".c", ".h")) and used.search(read(n))], [])
        for file in found + ["lumeq.h"]:
            self.assertIn("%s`" % file, page)
        tested = read("tests/app/test_command_line.c").split("picture_options[] =")[1].split("};")[0]
        self.assertIn('"%s"' % name, tested)
