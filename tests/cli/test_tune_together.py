# SPDX-License-Identifier: BSD-3-Clause
"""huddle tune: which rules the final measurement keeps.  test_tune_together.py BUILD."""

import io
import os
import sys
import types
import unittest
from unittest import mock

BUILD = os.path.abspath(sys.argv.pop(1))
sys.path.insert(0, os.path.join(BUILD, "libexec", "huddle"))

from huddle_cli.common.candidates import Candidate  # noqa: E402
from huddle_cli.tune import show, together, tuning_file  # noqa: E402
from huddle_cli.tune.grid import Team  # noqa: E402
from huddle_cli.tune.state import Cell  # noqa: E402
from huddle_cli.tune.stats import OWN, Figure  # noqa: E402

TWO = Team(2, "core", False, "")
NOISE = [0, 1, -1, 2, -2, 3, -3, 0, 1, -1]  # per cent
CONTEST = Figure(80, 100, None, None, 0.8, 0.8, 0.8, 3, True, 0.0)
LEVEL = CONTEST._replace(ns=100, ratio=1.0, better=False)


def launch(one, loop=None):
    """Ratios to what serves now, in the two ways of calling."""

    def times(ratio):
        return [1000 * ratio * (1 + n / 100) for n in NOISE]

    ways = {"one": one, "loop": one if loop is None else loop}
    return {way: {together.FILE: times(r), OWN: times(1)} for way, r in ways.items()}


def cell(size):
    return Cell("bcast", TWO, size)


class Made(together.Together):
    """A team whose launches are known.  turns: for each file, {size: [launch]}."""

    def __init__(self, contests, turns):
        clock = types.SimpleNamespace(now=lambda: 0.0, left=lambda _: 100.0)
        super().__init__(types.SimpleNamespace(budget=clock, notes=[]), TWO, [])
        self.cells = [cell(size) for size in contests]
        self.contests, self.turns, self.files = contests, list(turns), []

    def choose_forms(self, share):
        candidate = Candidate("bcast", "queue", ())
        return [tuning_file.Rule("bcast", TWO, "2-3", candidate, 0, None, self.contests, None)]

    def measure(self, files, cells, launches, share):
        rules = files[together.FILE]
        self.files.append([size for rule in rules for size in rule.figures])
        now = self.turns.pop(0) if self.turns else {}
        return {one: now.get(one.size, []) for one in cells}


class Promise(unittest.TestCase):
    """What docs/tuning.md says of a rule."""

    def run_of(self, contests, *turns):
        """(sizes of the rules that are kept, of those not decided, rules that lose)"""
        self.work = Made(contests, turns)
        self.rules, self.figures = self.work.run(1)
        left = self.work.left(self.rules)
        kept = [list(rule.figures) for rule in self.rules]
        return kept, [one.size for one in left.undecided], left.lost

    def one(self, *launches):
        return self.run_of({64: CONTEST}, {64: list(launches)})

    def test_two_launches_that_agree(self):
        self.assertEqual(([[64]], [], 0), self.one(launch(0.9), launch(0.92)))
        self.assertEqual(([], [64], 0), self.one(launch(0.9)), "one launch")
        self.assertEqual(([], [64], 0), self.one(launch(0.8), launch(1.01)), "one says no")
        self.assertEqual(([], [64], 0), self.one(), "there was no time")

    def test_the_margin(self):
        self.assertEqual(([[64]], [], 0), self.one(*[launch(0.94)] * 2))
        self.assertEqual(([], [64], 0), self.one(*[launch(0.96)] * 2))

    def test_neither_way_of_calling_is_worse(self):
        self.assertEqual(([[64]], [], 0), self.one(*[launch(1.04, 0.8)] * 2))
        self.assertEqual(([], [64], 0), self.one(*[launch(1.07, 0.8)] * 2), "single shots")
        self.assertEqual(([], [64], 0), self.one(*[launch(0.7, 1.07)] * 2), "back to back")
        self.assertEqual(([], [], 1), self.one(*[launch(1.07)] * 2), "it loses")
        self.assertEqual(([], [64], 0), self.one(launch(1.07)), "one launch does not tell")

    def test_launches_of_all_files_count(self):
        some = {64: [launch(0.9)]}
        self.assertEqual(([[64]], [], 0), self.run_of({64: CONTEST}, some, some))
        self.assertEqual(2, self.rules[0].figures[64].launches)

    def test_a_size_that_loses_is_taken_out_and_the_rest_measured_again(self):
        contests = {8: CONTEST, 16: CONTEST, 32: CONTEST}
        good, bad = [launch(0.8)] * 2, [launch(1.2)] * 2
        first, again = {8: good, 16: bad, 32: good}, {8: good, 16: [launch(1.0)], 32: good}
        self.assertEqual(([[8], [32]], [], 0), self.run_of(contests, first, again))
        self.assertEqual([[8, 16, 32], [8, 32]], self.work.files)
        self.assertEqual(4, self.rules[0].figures[8].launches)
        self.assertEqual(1, self.figures[cell(16)].launches, "without the rule")
        self.run_of(contests, first)
        self.assertEqual([cell(8), cell(32)], list(self.figures), "nothing is known of 16 B so")

    def test_a_rule_of_sizes_that_gain_little_is_cut_to_those_that_gain(self):
        contests = {8: LEVEL, 16: CONTEST, 32: LEVEL}
        level, seems = [launch(1.0)] * 2, [launch(0.96)] * 2
        clear = {8: level, 16: [launch(0.7)] * 2, 32: seems}
        self.assertEqual(([[8, 16, 32]], [], 0), self.run_of(contests, clear))
        little = {8: level, 16: [launch(0.9)] * 2, 32: seems}
        self.assertEqual(([[16]], [], 0), self.run_of(contests, little))

    def test_a_launch_leaves_the_next_ones_time_to_start(self):
        self.assertEqual(12, together.end_of_launch(10, 16, 2, 2))
        self.assertAlmostEqual(12.4, together.end_of_launch(10, 16, 2, 0))
        self.assertEqual(16, together.end_of_launch(10, 16, 1, 2))
        self.assertEqual(12, together.end_of_launch(10, 12, 2, 3), "there is no next one")


class Said(unittest.TestCase):
    def test_what_is_not_decided_is_listed_and_what_loses_counted(self):
        campaign = types.SimpleNamespace(
            minutes=0.5,
            teams=[TWO],
            cells=lambda: [cell(64), cell(8)],
            state=types.SimpleNamespace(has=lambda _: True),
        )
        with mock.patch("sys.stdout", io.StringIO()) as out:
            show.show_undecided(campaign, [], together.Left([cell(64)], 1))
        said = out.getvalue()
        self.assertIn("Not decided in the final measurement of all rules: 1 size(s)", said)
        self.assertIn("faster alone: bcast (2 ranks) 64.\n", said)
        self.assertIn("1 other rule was faster alone, but not in the final", said)
        self.assertIn("--minutes 1.", said)


if __name__ == "__main__":
    unittest.main()
