"""Counts phrases that make comments, messages and pages hard to read, by folder.

python3 plain_english.py prints the counts of all folders; with FOLDER..., it lists the phrases there. Rewrite a phrase
unless it is good English. See .github/CONTRIBUTING.md.
"""

import collections
import os
import re
import sys
import unittest

from test_architecture import read, tracked

MOST_PER_1000 = 1.5  # phrases in 1,000 words of a folder
MOST_IN_SMALL = 4  # phrases in a folder of up to SMALL words
SMALL = 3000

PHRASES = [re.compile(p, re.M) for p in (
    r"(?:^|[.:;] )Of (?!course)[a-z]",
    r"(?:^|[.] )(?:What|Whose|Whom|Who) [a-z]+(?! is| are)[^?]*?[.;]",
    r"(?:^|[.] )(?:That|Which) (?:there|it|they|no|all|of) ",
    r"(?:^|[.] )Where (?:it|there|they|that|nothing|none|all|no|one|a|the)\b",
    r"\banew\b",
    r"\b(?:by|in) turns\b",
    r"\bso (?:many|long|much) (?:frames|bytes|rows|times|parts|cores|of|as are|that)\b",
    r"\b(?:is|are|was|were|be) (?:told|said|asked|wanted)\b",
    r"\bthat there (?:is|are|was|were)\b",
    r"\bwhat (?:is|are|was|were|comes|has|have|does) (?!the |wrong|happen)[a-z]+",
    r"\bwho (?:wants|has|looks|makes|takes|knows|waits|asks|begins|gives|needs|calls)\b",
    r"\b(?:is|are|has|have|there is|there are) none\b|\bno more of\b|\bnone (?:of|at|to|before|that)\b",
    r"\bfor want of\b|\bsuch (?:a|an) one\b|\bat its own pace\b|\bone after the other\b|\bwith that\b",
    r"\bbehind (?:it|them|that|this|those|the (?:frame|picture|last|first|one))\b",
    r"\bas (?:far|soon|long) as (?:it|that|there|they) (?:is|are|can|goes)\b",
    r"\bof (?:which|whom|whose)\b",
    r"\b(?:does|do|did) (?:so|it) (?:too|no more|by itself)\b|\bnot any more\b|\bany more\b",
    r"\bis (?:to|not to) be [a-z]+ed\b",
    r", too[.,;)]",
    r"\bbe had\b|\bhad back\b|\bmade of it\b|\bmakes of (?:it|them|that|what)\b|\bcomes? of (?:it|that)\b",
)]
C = (".c", ".h", ".cu", ".cuh", ".vert", ".frag", ".glsl")


def is_prose(text):
    """True if a string literal has at least two words."""
    return re.search(r"[a-z]{3} [a-z]{2}", text)


def prose_of_c(text):
    for m in re.finditer(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', text, re.S):
        words = re.sub(r"\s*\n\s*\*? ?", " ", m.group().strip('/* \n"'))
        if m.group()[0] != '"' or is_prose(words):
            yield text.count("\n", 0, m.start()) + 1, words


def prose_of_script(text):
    for m in re.finditer(r'"""(.*?)"""|^\s*#(?!!)(.*)$', text, re.S | re.M):
        yield text.count("\n", 0, m.start()) + 1, re.sub(r"\s+", " ", m.group(1) or m.group(2) or "").strip()


def prose_of_page(text):
    code = False
    for i, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            code = not code
        elif not code and not line.startswith("|--"):
            yield i, re.sub(r"`[^`]*`", "X", line)


def prose(name):
    """Returns an iterator of (line, text) over the comments, messages and text of a file."""
    kinds = ((".md", prose_of_page), (C, prose_of_c), ((".py", ".sh", ".cmake", "CMakeLists.txt"), prose_of_script))
    for ends, find in kinds:
        if name.endswith(ends):
            return find(read(name))
    return ()


def folder(name):
    return "/".join(name.split("/")[:2]) if name.count("/") > 1 else os.path.dirname(name) or "."


def count():
    """Returns ({folder: number of words}, {folder: places with a phrase})."""
    words, places = collections.Counter(), collections.defaultdict(list)
    for name in tracked():
        if name.endswith("plain_english.py"):
            continue
        for line, text in prose(name):
            words[folder(name)] += len(text.split())
            for phrase in PHRASES:
                for m in phrase.finditer(text):
                    places[folder(name)].append("%s:%d: %s" % (name, line, text[max(0, m.start() - 30):m.end() + 40]))
    return words, places


class PlainEnglish(unittest.TestCase):
    def test_folders(self):
        words, places = count()
        self.assertGreater(sum(words.values()), 10000)
        for name in sorted(words):
            most = words[name] * MOST_PER_1000 / 1000 if words[name] > SMALL else MOST_IN_SMALL
            with self.subTest(name):
                self.assertLessEqual(len(places[name]), most, "\n" + "\n".join(places[name][:40]))

    def test_the_list_finds_something(self):
        for text in ("Of the rows that are moved", "What it takes is freed.", "there is none", "is made anew", "at its own pace"):
            self.assertTrue(any(p.search(text) for p in PHRASES), text)
        for text in ("The caller owns the frame.", "Returns 0 when the queue is empty.", "Of course it may fail."):
            self.assertFalse(any(p.search(text) for p in PHRASES), text)


def main():
    words, places = count()
    for name in sorted(words, key=lambda r: -len(places[r])):
        if len(sys.argv) > 1 and name not in sys.argv[1:]:
            continue
        for place in places[name] if len(sys.argv) > 1 else ():
            print(place)
        print("%-28s %6d words %4d phrases %5.1f per 1,000" % (name, words[name], len(places[name]),
                                                               1000 * len(places[name]) / max(1, words[name])))


if __name__ == "__main__":
    main()
