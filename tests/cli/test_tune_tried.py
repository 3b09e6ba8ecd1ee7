# SPDX-License-Identifier: BSD-3-Clause
"""What huddle tune tries: teams, sizes, values of parameters.  test_tune_tried.py BUILD."""

import os
import sys
import types
import unittest

BUILD = os.path.abspath(sys.argv.pop(1))
sys.path.insert(0, os.path.join(BUILD, "libexec", "huddle"))

from huddle_cli.common import candidates  # noqa: E402
from huddle_cli.common.candidates import Candidate, Value  # noqa: E402
from huddle_cli.common.layout import Layout  # noqa: E402
from huddle_cli.tune import grid, parameters, screen, tuning_file  # noqa: E402
from huddle_cli.tune.grid import Team  # noqa: E402

TWO = Team(2, "core", False, "")


class Grid(unittest.TestCase):
    def test_ranks(self):
        self.assertEqual([2, 8], grid.usual_ranks(2))
        self.assertEqual([2, 4, 6, 24], grid.usual_ranks(6))
        self.assertEqual([2, 4, 8, 16, 32, 64, 128, 256], grid.usual_ranks(128))
        self.assertEqual([4], grid.usual_ranks(1))

    def test_each_number_of_ranks_represents_those_up_to_the_next(self):
        teams = [Team(2, "core", False, ""), Team(4, "core", False, ""), Team(16, "none", True, "")]
        self.assertEqual(["2-3", "4-", "2-"], list(tuning_file.ranks_texts(teams).values()))

    def test_of_values_that_a_message_does_not_reach_the_least_represents_all(self):
        some = [
            Candidate("bcast", "queue", values)
            for values in ((), (Value("fragment", "4K", 4096),), (Value("fragment", "8K", 8192),))
        ]
        self.assertEqual([True, True, False], [candidates.differs(c, 4096, some) for c in some])
        self.assertEqual([True, True, True], [candidates.differs(c, 4097, some) for c in some])

    def test_a_parameter_may_reach_beyond_the_message(self):
        some = [
            Candidate("bcast", "queue", (Value("budget", f"{k}K", k << 10),))
            for k in (64, 512, 1024)
        ]
        for size, reach, tried in (
            (512 << 10, None, [True, True, False]),
            (512 << 10, {"budget": 1 << 20}, [True, True, True]),
            (128 << 10, {"budget": 256 << 10}, [True, True, False]),
            (8 << 10, {"budget": 16 << 10, "tile": 1 << 20}, [True, False, False]),
        ):
            with self.subTest(size=size, reach=reach):
                found = [candidates.differs(c, size, some, reach) for c in some]
                self.assertEqual(tried, found)

    def test_the_window_of_the_largest_messages_is_tried_where_two_of_them_fill_it(self):
        campaign = types.SimpleNamespace(
            algorithms=[self.row("windows", budget=dict(tune="512K", max=1 << 28))],
            options=types.SimpleNamespace(baselines=False),
            built_in={"alltoall": {TWO: {}}},
            lease=None,
            sizes=lambda *_: [],
            bounds=lambda *_: (0, None),
        )
        collective = types.SimpleNamespace(name="alltoall", blocks=True)
        group = screen.Group(campaign, TWO, collective)
        for size, words in ((64, ["512K", "64K"]), (256, ["512K", "64K", "1M"])):
            tried = [c.values[0].word for c in group.candidates[1:] if group.differs(c, size << 10)]
            self.assertEqual(words, tried)

    def test_sizes_that_take_too_long_are_left_out(self):
        team, coll = Team(16, "none", True, ""), types.SimpleNamespace(moves=True, blocks=True)
        self.assertEqual(grid.TOTAL_BYTES, 16 * 16 * grid.sizes(team, coll)[-1])
        coll.blocks = False
        self.assertEqual(grid.TOTAL_BYTES, 16 * grid.sizes(team, coll)[-1])
        coll.moves = False
        self.assertEqual([0], grid.sizes(team, coll))

    def test_coarse_sizes_are_first(self):
        self.assertEqual([1, 5, 3, 2, 4], grid.coarse_first([1, 2, 3, 4, 5]))

    @staticmethod
    def row(name, **parameters):
        usual = {"unit": "B", "tune": "", "tune_with": "", "min": 0, "max": 1 << 24, "default": 0}
        rows = [{"name": key, **usual, **more} for key, more in parameters.items()]
        return {"collective": "alltoall", "name": name, "baseline": False, "parameters": rows}

    def test_values_of_the_built_in_table_are_tried_as_far_as_the_lease(self):
        rows = [self.row("windows", budget=dict(tune="512K", default=128 << 10), tile={})]
        table = {
            ("windows", "budget"): {24 << 10, 128 << 10, 512 << 10, 768 << 10},
            ("windows", "tile"): {16 << 10},
            ("queue", "budget"): {32 << 10},
        }
        for lease, budgets in (
            (None, ["512K", "24K", "64K", "768K", "1M"]),
            (1 << 20, ["512K", "24K", "64K", "768K", "1M"]),
            (1 << 19, ["512K", "24K", "64K"]),
            (1 << 16, ["24K", "64K"]),
        ):
            with self.subTest(lease=lease):
                some = parameters.singles(rows, "alltoall", 2, table=table, lease=lease)
                found = [v.word for c in some for v in c.values if v.name == "budget"]
                self.assertEqual(budgets, found)
                tiles = [v.word for c in some for v in c.values if v.name == "tile"]
                self.assertEqual(["16K", "64K"], tiles)

    def test_what_the_built_in_table_has_for_two_ranks(self):
        places = dict(programs="bin", libs="lib", plugins="lib/huddle", sysconf="etc")
        layout = Layout(BUILD, tools="libexec/huddle", share="share/huddle", **places)
        found = parameters.built_in(layout, "exscan", [TWO])[TWO]
        self.assertIn(768 << 10, found["chain", "budget"])
        leased = parameters.lease_bytes([{"name": "HUDDLE_LEASE", "value": "1536K"}])
        self.assertEqual(1536 << 10, leased)

    def test_each_parameter_is_tried_alone_then_the_best_together(self):
        row = {
            "collective": "bcast",
            "name": "queue",
            "baseline": False,
            "parameters": [
                {
                    "name": "fragment",
                    "unit": "B",
                    "tune": "4K",
                    "tune_with": "",
                    "min": 0,
                    "max": 1 << 16,
                    "default": 0,
                },
                {
                    "name": "budget",
                    "unit": "B",
                    "tune": "",
                    "tune_with": "",
                    "min": 0,
                    "max": 1 << 18,
                    "default": 0,
                },
                {
                    "name": "sets",
                    "unit": "1",
                    "tune": "",
                    "tune_with": "",
                    "min": 1,
                    "max": 8,
                    "default": 3,
                },
            ],
        }
        rows = [row, {**row, "name": "x", "baseline": True}]
        some = parameters.singles(rows, "bcast", 4)
        self.assertEqual(
            ["", "FRAGMENT=4K", "BUDGET=64K"],
            [candidates.settings_text(c).partition("QUEUE_")[2] for c in some],
        )
        pairs = parameters.combinations(some)
        self.assertEqual([("budget", "fragment")], [tuple(v.name for v in c.values) for c in pairs])

    def test_what_does_nothing_alone_is_tried_with_others(self):
        places = dict(programs="bin", libs="lib", plugins="lib/huddle", sysconf="etc")
        layout = Layout(BUILD, tools="libexec/huddle", share="share/huddle", **places)
        table = {("windows", "piece"): {128 << 10}}
        some = parameters.singles(layout.ask("info", "algorithms"), "scatter", 4, table=table)
        tried = [{f"{v.name}={v.word}" for v in c.values} for c in some if c.algorithm == "windows"]
        self.assertIn({"single=8K", "piece=128K"}, tried)
        self.assertIn({"single=8K", "piece=64K", "tiled=640K"}, tried)
        for one in tried:
            self.assertTrue(len(one) < 2 or "single=8K" in one, one)

    def test_settings(self):
        self.assertEqual(
            "HUDDLE_BCAST=queue\nHUDDLE_BCAST_QUEUE_FRAGMENT=8K",
            candidates.settings_text(Candidate("bcast", "queue", (Value("fragment", "8K", 8192),))),
        )


if __name__ == "__main__":
    unittest.main()
