# SPDX-License-Identifier: BSD-3-Clause
"""
Tests the computations of huddle compare and profile on made-up figures.
"""

import random
import unittest
from unittest import mock

from cli.common import waiting
from cli.common.collectives import ALL, ALL_AT_ROOT, BEFORE, ROOT
from cli.common.records import Cell, Comm, Rank, Stamp
from cli.compare import ratios
from cli.compare.command import Run, output_verdict


class Ratios(unittest.TestCase):
    def test_a_clear_difference(self):
        source = random.Random(3)
        pairs = [(10 + source.random(), 8 + source.random()) for _ in range(9)]
        ratio = ratios.of_pairs(pairs)
        self.assertEqual("faster", ratios.verdict(ratio))
        self.assertTrue(0.7 < ratio.low <= ratio.value <= ratio.high < 1)
        turned = ratios.of_pairs([(b, a) for a, b in pairs])
        self.assertEqual("slower", ratios.verdict(turned))

    def test_noise(self):
        pairs = [(10, 9), (9, 10), (10, 8), (8, 10), (9, 9), (10, 11), (11, 10)]
        self.assertIsNone(ratios.verdict(ratios.of_pairs(pairs)))
        few = [(10, 5)] * (ratios.MIN_PAIRS - 1)
        self.assertIsNone(ratios.verdict(ratios.of_pairs(few)))
        self.assertIsNone(ratios.of_pairs([(0.0, 0.0)]))
        enough = [(10, 5)] * ratios.MIN_PAIRS
        self.assertEqual("faster", ratios.verdict(ratios.of_pairs(enough)))

    def test_false_verdicts_are_as_rare_as_promised(self):
        """
        Checks runs of one program against itself, of which a few are much longer, as on a busy
        machine.
        """
        source, trials = random.Random(5), 4000
        for pairs in (6, 7, 12, 20):
            told = 0
            for _ in range(trials):
                times = [(source.paretovariate(2), source.paretovariate(2)) for _ in range(pairs)]
                told += ratios.verdict(ratios.of_pairs(times)) is not None
            self.assertLess(told / trials, (100 - ratios.PERCENT) / 100 + 0.01)
            self.assertGreater(told, 0)


class Outputs(unittest.TestCase):
    def verdict(self, without, with_it):
        runs = [
            [Run(1.0, 1.0, {}, text, 0, [], 1, 1, {}) for text in texts]
            for texts in (without, with_it)
        ]
        return output_verdict(*runs)[0]

    def test_outputs(self):
        for same, without, with_it in (
            (True, [b"a\nb"] * 2, [b"a\nb"] * 2),
            (True, [b"a\nb", b"b\na"], [b"b\na"] * 2),
            (False, [b"a\nb"] * 2, [b"a\nc"] * 2),
            (False, [b"a\nb"] * 2, [b"a\nb\nb"] * 2),
            (None, [b"1 s", b"2 s"], [b"3 s", b"4 s"]),
            (None, [b"a", b"a"], [b"a", b"b"]),
            (None, [b"1 s"], [b"2 s"]),
        ):
            with self.subTest(without=without, with_it=with_it):
                self.assertIs(same, self.verdict(without, with_it))


class Waits(unittest.TestCase):
    """Tests of three ranks of one machine.  A tick is a nanosecond."""

    AWAITS = {"allreduce": ALL, "bcast": ROOT, "reduce": ALL_AT_ROOT, "scan": BEFORE}

    def ranks(self, name, calls, root=0, hosts="aaa"):
        """Returns ranks with one call each; `calls` has (enter, ticks) per rank."""
        made = []
        for mine, (enter, ticks) in enumerate(calls):
            comm = Comm("world", 7, mine, 3, False, 0, 1)
            cell = Cell(comm, name, ("f", 1, ""), 4, 0, 1, 8, 1, 1, ticks, ticks)
            rank = Rank(
                mine, mine, 3, True, 3, hosts[mine], "MPI", "p", 1.0, 1, 0, None, [], [cell]
            )
            rank.stamps = [Stamp(1, cell, root, enter, ticks)]
            made.append(rank)
        return made

    def waited(self, *args, **more):
        ranks = self.ranks(*args, **more)
        waits = waiting.split(ranks, self.AWAITS)
        return waits, [
            waits.splits[waiting.key_of(rank.cells[0]), number].waiting_ns
            for number, rank in enumerate(ranks)
        ]

    def test_waits_are_for_the_last_rank(self):
        waits, waited = self.waited("allreduce", [(0, 110), (40, 70), (100, 10)])
        self.assertEqual([100, 60, 0], waited)
        late = waits.lateness[2]
        self.assertEqual((1, 1, 100, 160), (late.calls, late.last, late.late_ns, late.caused_ns))

    def test_waits_are_no_longer_than_the_call(self):
        self.assertEqual([20, 60, 0], self.waited("allreduce", [(0, 20), (40, 70), (100, 10)])[1])

    def test_rooted_collectives_and_scans_wait_for_some_ranks(self):
        calls = [(30, 100), (0, 100), (50, 100)]
        self.assertEqual([0, 30, 0], self.waited("bcast", calls)[1])
        self.assertEqual([0, 0, 0], self.waited("bcast", calls, root=1)[1])
        self.assertEqual([20, 0, 0], self.waited("reduce", calls)[1])
        self.assertEqual([0, 30, 0], self.waited("scan", calls)[1])

    def test_descriptors_decide_which_entries_are_awaited(self):
        """
        Checks that descriptors, not names, decide: a collective of the same name may await other
        ranks.
        """
        calls = [(30, 100), (0, 100), (50, 100)]
        for way, waited in (
            (ROOT, [0, 30, 0]),
            (ALL_AT_ROOT, [20, 0, 0]),
            (BEFORE, [0, 30, 0]),
            (ALL, [20, 50, 0]),
        ):
            with self.subTest(way=way), mock.patch.dict(self.AWAITS, allreduce=way):
                waits, found = self.waited("allreduce", calls)
                self.assertEqual(waited, found)
                self.assertEqual(1 if way == ALL else 0, waits.lateness[2].calls)
        self.assertEqual([20, 50, 0], self.waited("not_of_huddle", calls)[1])

    def test_only_calls_of_all_ranks_on_one_machine_are_matched(self):
        self.assertEqual(0, self.waited("allreduce", [(0, 9)] * 3, hosts="aab")[0].matched)
        ranks = self.ranks("allreduce", [(0, 9)] * 3)
        ranks[1].stamps = []
        self.assertEqual(0, waiting.split(ranks, self.AWAITS).matched)
