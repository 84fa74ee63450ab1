"""Checks that the trials' table has every option, and that its values and all undamaged seeds work."""

import itertools

from trial import *
import modes
import seeds


class Table(Trial):
    def test_every_option_is_in_the_table(self):
        """A new option needs a row in OPTIONS of modes.py, a mode that uses it, or a reason in UNTRIED."""
        listing = lumeq("--complete", "-").out.decode().splitlines()
        options = {line.partition("\t")[0][2:] for line in listing if line.startswith("--")}
        rows = set(modes.OPTIONS) | modes.own_options()
        self.assertGreater(len(options), 90)
        self.assertEqual(options - rows - set(modes.UNTRIED), set(), "options that no trial uses")
        self.assertEqual((rows | set(modes.UNTRIED)) - options, set(), "rows without an option")
        self.assertEqual(rows & set(modes.UNTRIED), set(), "both tried and untried")

    def succeeds(self, mode, source, *more):
        folder = self.work()
        words = self.command(mode, source, seeds.good()) + list(more)
        result = self.judge(self.started(mode, words, folder, source), (DONE,))
        if result.code == DONE:  # some modes and options refuse pictures
            self.complete(mode, folder)

    def test_every_value_works(self):
        """Without this test, trials might only test that lumeq refuses a value."""
        cases = [(o, m, v) for o, (fitting, values) in modes.OPTIONS.items() for m in fitting for v in values]
        for (option, mode, value), _ in drawn(cases, 20):
            with self.subTest(option, mode=mode, value=value):
                self.succeeds(mode, seeds.seed("pictures/" if option == "sequence-rate" else "subtitles.mkv"),
                              "--%s=%s" % (option, value) if value else "--" + option)

    def test_every_seed_works(self):
        self.assertEqual(len(seeds.SEEDS), 49)
        for (name, mode), _ in drawn(itertools.product(seeds.names(), modes.MODES), 20):
            if modes.fits(mode, name):
                with self.subTest(name, mode=mode):
                    self.succeeds(mode, seeds.seed(name))


if __name__ == "__main__":
    unittest.main()
