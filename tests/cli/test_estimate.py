# SPDX-License-Identifier: BSD-3-Clause
"""
Tests the savings that huddle profile reports, of made-up wisdom and jobs.
"""

import contextlib
import io
import os
import tempfile
import types
import unittest
from unittest import mock

import wisdom_files

from cli.common import rules, wisdom, wisdom_place
from cli.common.records import Cell, Comm, Rank
from cli.common.totals import UNKNOWN_TO_IT, Totals, why_not
from cli.profile import estimate, page, tables
from cli.profile.estimate import Row, between, nearest

MPI, SECOND = "Open MPI 4.1.4", 1e9


def collective(name, **more):
    usual = {"also": None, "moves": True, "sized": True, "counts": False, "views": False}
    usual["awaits"] = "all"
    return {"name": name, **usual, **more}


COLLECTIVES = [
    collective("barrier", moves=False, sized=False),
    collective("bcast"),
    collective("reduce_scatter", also="reduce_scatter_block", counts=True),
    collective("allgatherv", counts=True, views=True),
]
# Names of huddle's counters of a collective, and of the reasons of its calls.
COUNTS, REASONS = ["calls", "bytes"], ["handled", "one rank"]


def handled_at(kind):
    return 2 + (len(COUNTS) + len(REASONS)) * kind + len(COUNTS)


def row(name="bcast", ranks=2, size=1024, alone=3000, here=1000, over=False):
    return Row(name, ranks, over, size, float(alone), float(here))


def of(*rows, cores=4):
    return list(rows), cores


class Job:
    """The ranks of a communicator and the calls of each.  A tick is a nanosecond."""

    def __init__(self, size=2, hosts="", off=False, seen=None):
        self.hosts, self.off = hosts or "a" * size, off
        self.ranks = []
        for mine in range(size if seen is None else seen):
            core = [] if off else [len(COLLECTIVES), 0, *[0] * (len(COLLECTIVES) * 4)]
            host = self.hosts[mine]
            self.ranks.append(
                Rank(mine, mine, size, True, size, host, MPI, "p", 1.0, 2e9, 0, None, core)
            )
        self.size = size

    def call(self, name, size, calls, ticks=2000, reason=0, timed=None, comm=7):
        """Adds calls of each rank."""
        size_class = size.bit_length()
        for mine, rank in enumerate(self.ranks):
            where = Comm("world", comm, mine, self.size, False, 0, 1)
            clocked = calls if timed is None else timed
            counted = (calls, calls * size, clocked, clocked)
            ticks_timed = ticks * clocked
            caller = ("f", 1, "")
            rank.cells.append(
                Cell(where, name, caller, size_class, reason, *counted, ticks_timed, ticks)
            )
            for kind, known in enumerate(COLLECTIVES):
                if name.removeprefix("i") in (known["name"], known["also"]) and not self.off:
                    rank.core[handled_at(kind)] += calls if size_class and not reason else 0
        return self

    def ask(self, *words, stdin="", **_):
        """Answers in place of the library."""
        if words[0] == "lines":
            right = [i for i, line in enumerate(stdin.split("\n"), 1) if "->" in line]
            return wisdom_files.answer(right)
        about = {"counts": COUNTS, "reasons": REASONS, "others": [], "nodes_remedy": {}}
        return COLLECTIVES if words[1] == "collectives" else about

    def saved(self, found):
        """Returns ({collective: Saving}, reasons)."""
        totals = Totals(self.ranks, self)
        known = {row["name"]: row for row in COLLECTIVES}
        return estimate.savings(totals, known, *found, totals.by_collective())

    def collected(self):
        totals = Totals(self.ranks, self)
        return estimate.collect(totals, self, totals.by_collective())


class Between(unittest.TestCase):
    def test_times_are_interpolated_logarithmically(self):
        points = {1 << 10: 1000.0, 1 << 14: 16000.0, 1 << 16: 16000.0}
        self.assertEqual(1000, between(points, 1 << 10))
        self.assertAlmostEqual(4000, between(points, 1 << 12))
        self.assertAlmostEqual(2000, between(points, 1 << 11))
        self.assertAlmostEqual(16000, between(points, 1 << 15))

    def test_sizes_are_extrapolated_by_a_factor_of_two_at_most(self):
        points = {1024: 1000.0, 4096: 4000.0}
        self.assertAlmostEqual(500, between(points, 512))
        self.assertAlmostEqual(8000, between(points, 8192))
        self.assertIsNone(between(points, 511))
        self.assertIsNone(between(points, 8193))
        self.assertEqual(7, between({8: 7}, 16))
        self.assertIsNone(between({8: 7}, 17))

    def test_size_0_is_not_interpolated(self):
        self.assertEqual(5, between({0: 5}, 0))
        self.assertIsNone(between({0: 5}, 8))
        self.assertIsNone(between({8: 5}, 0))
        self.assertIsNone(between({}, 8))

    def test_the_nearest_number_of_ranks_is_used(self):
        self.assertEqual(4, nearest([2, 4, 8], 4))
        self.assertEqual(4, nearest([2, 4, 16], 5))
        self.assertEqual(2, nearest([2, 8], 4))
        self.assertEqual(2, nearest([2], 4))
        self.assertIsNone(nearest([2, 64], 5))
        self.assertIsNone(nearest([], 4))


class Savings(unittest.TestCase):
    def test_savings_are_the_difference_to_the_mpi_alone(self):
        found, missing = Job().call("bcast", 1024, 500).saved(of(row()))
        one = found["bcast"]
        self.assertEqual((1000, 1000, {2}), (one.handled, one.covered, one.ranks))
        self.assertAlmostEqual(1000 * 2000 / SECOND, one.seconds)
        self.assertAlmostEqual(1000 * 2000 / SECOND, one.saved)
        self.assertEqual({}, dict(missing))

    def test_times_between_measured_sizes_are_interpolated(self):
        rows = [row(size=256, alone=1000, here=500), row(size=4096, alone=16000, here=2000)]
        found, _ = Job().call("bcast", 1024, 1).saved(of(*rows))
        self.assertAlmostEqual(2 * (4000 - 1000) / SECOND, found["bcast"].saved)

    def test_calls_that_are_not_covered(self):
        job = Job().call("bcast", 1024, 10).call("bcast", 1 << 20, 5).call("ibcast", 1024, 3)
        job.call("allgatherv", 64, 2).call("reduce_scatter", 64, 1)
        found, missing = job.saved(of(row(), row("allgatherv")))
        self.assertEqual((30, 20), (found["bcast"].handled, found["bcast"].covered))
        self.assertAlmostEqual(20 * 2000 / SECOND, found["bcast"].saved)
        self.assertEqual((6, 0), (found["ibcast"].handled, found["ibcast"].covered))
        reasons = {estimate.NO_BYTES: 10, estimate.STARTED: 6, estimate.OWN_BYTES: 4}
        self.assertEqual({**reasons, estimate.NO_COLLECTIVE: 2}, dict(missing))

    def test_only_handled_calls_count(self):
        job = Job().call("bcast", 1024, 4).call("bcast", 1 << 20, 7, reason=1).call("bcast", 0, 9)
        found, missing = job.saved(of(row()))
        self.assertEqual((8, {}), (found["bcast"].handled, dict(missing)))

    def test_calls_that_bypass_huddle_are_not_counted(self):
        job = Job().call("bcast", 1024, 8)
        for rank in job.ranks:
            rank.core[handled_at(1)] = 2
        one = job.saved(of(row()))[0]["bcast"]
        self.assertEqual((4, 4), (one.handled, one.covered))
        self.assertAlmostEqual(4 * 2000 / SECOND, one.saved)

    def test_times_match_the_number_of_ranks_and_oversubscription(self):
        over = row(ranks=8, alone=9000, over=True)
        for size, cores, saved_ns in ((2, 2, 2000), (8, 4, 8000), (8, 8, None), (2, 1, None)):
            with self.subTest(size=size, cores=cores):
                found, missing = (
                    Job(size).call("bcast", 1024, 1).saved(of(row(), over, cores=cores))
                )
                if saved_ns is None:
                    self.assertEqual({estimate.NO_RANKS: size}, dict(missing))
                else:
                    self.assertAlmostEqual(size * saved_ns / SECOND, found["bcast"].saved)
        found, _ = Job(3).call("bcast", 1024, 1).saved(of(row()))
        self.assertEqual({2}, found["bcast"].ranks, "the nearest")

    def test_ranks_must_be_on_one_node_and_recorded(self):
        for job in (Job(2, hosts="ab"), Job(3, seen=2)):
            found, missing = job.call("bcast", 1024, 1).saved(of(row(), row(ranks=3)))
            self.assertEqual((0, {estimate.APART: 2}), (found["bcast"].covered, dict(missing)))

    def test_barrier_has_no_size_and_reduce_scatter_that_of_all_blocks(self):
        job = Job().call("barrier", 0, 1).call("reduce_scatter_block", 256, 1)
        for rank in job.ranks:
            rank.core[handled_at(0)] = 1
        sums = [row("reduce_scatter", size=size, alone=1000 + 8 * size) for size in (256, 512)]
        rows = [row("barrier", size=0), *sums]
        found, _ = job.saved(of(*rows))
        self.assertAlmostEqual(2 * 2000 / SECOND, found["barrier"].saved)
        self.assertAlmostEqual(2 * 8 * 512 / SECOND, found["reduce_scatter_block"].saved)

    def test_savings_may_be_negative_but_times_are_not(self):
        slow = of(row(alone=1000, here=1500))
        self.assertAlmostEqual(-1e-6, Job().call("bcast", 1024, 1).saved(slow)[0]["bcast"].saved)
        short = Job().call("bcast", 1024, 1, ticks=100).saved(slow)[0]["bcast"]
        self.assertAlmostEqual(0, short.seconds + short.saved)

    def test_timed_calls_represent_calls_that_were_not_timed(self):
        """Checks 20 slow calls, all timed, and 160 quick calls, of which 10 are timed."""
        job = Job().call("bcast", 1024, 180, timed=30)
        for rank in job.ranks:
            cell = rank.cells[0]
            cell.represents, cell.ticks = 20 + 16 * 10, 20 * 90000 + 16 * 10 * 1000
        one = job.saved(of(row()))[0]["bcast"]
        self.assertAlmostEqual(2 * (20 * 90000 + 160 * 1000) / SECOND, one.seconds)

    def test_calls_that_were_not_timed_save_nothing(self):
        one = Job().call("bcast", 1024, 5, timed=0).saved(of(row()))[0]["bcast"]
        self.assertEqual((10, 0, 0), (one.handled, one.covered, one.saved))


class Share(unittest.TestCase):
    """Tests of the share of time in collectives."""

    def facts(self, seconds, threads=False):
        rank = {"in_collectives_seconds": seconds, "observed_seconds": 2.0}
        counts = {"timed_calls": 10, "calls": 80, "matched_calls": 3}
        return {"lateness": [rank, rank], "threads": threads, **counts}

    def test_the_share_is_of_the_programs_time(self):
        self.assertEqual("75 %", tables.share_text(self.facts(1.5)))
        self.assertNotIn("add up", tables.basis_text(self.facts(1.5)))

    def test_shares_are_at_most_100_percent(self):
        for threads, why in ((False, "represents up to 16"), (True, "several threads overlap")):
            facts = self.facts(3.0, threads)
            self.assertEqual("100 %", tables.share_text(facts))
            self.assertRegex(tables.basis_text(facts), f"add up to 150 % of the time .*{why}")


class Lines(unittest.TestCase):
    def test_lines_of_wisdom_become_times(self):
        for text, found in (
            (
                "bcast ranks=2 bytes=513-1K oversubscribed=yes -> queue | ns=1000 mpi_ns=3000",
                row(over=True),
            ),
            ("bcast ranks=2 bytes=513-1K -> mpi | ns=3000", row(alone=3000, here=3000)),
            ("barrier ranks=2 -> flags | ns=1000 mpi_ns=3000", row("barrier", size=0)),
            ("bcast ranks=2 bytes=513-1K -> queue | ns=1000", None),
            ("bcast ranks=2 bytes=513-1K -> queue | mpi_ns=1000", None),
            ("bcast ranks=2 bytes=33554433- -> queue | ns=1 mpi_ns=2", None),
            ("bcast ranks=2 nodes=2 bytes=0-8 -> queue | ns=1 mpi_ns=2", None),
        ):
            self.assertEqual(found, estimate.row_of(rules.parse(text), True), text)

    def test_without_wisdom_the_time_is_that_of_the_first_choice(self):
        text = "bcast ranks=2 bytes=513-1K -> queue | ns=1000 mpi_ns=3000 before=inline:2500"
        for is_used, here in ((True, 1000), (False, 2500)):
            self.assertEqual(row(here=here), estimate.row_of(rules.parse(text), is_used))


class Collected(unittest.TestCase):
    """Tests of estimates from a file of learned choices."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.file = os.path.join(scratch.name, "wisdom.rules")
        place = wisdom.Wisdom(self.file, {}, [])
        for name, answer in (("place", place), ("setting", "on")):
            patch = mock.patch.object(wisdom_place, name, mock.Mock(return_value=answer))
            patch.start()
            self.addCleanup(patch.stop)

    def write(self, *lines):
        with open(self.file, "w", encoding="utf-8") as file:
            file.write(f'machine processors=4 mpi="{MPI}"\n' + "\n".join(lines) + "\n")

    def learn(self, mpi_ns=4000):
        when = "date=2026-11-25"
        self.write(
            f"bcast ranks=2 bytes=513-1K -> queue | ns=1000 samples=9 mpi_ns={mpi_ns} {when}"
        )

    def collected(self, job=None):
        job = job or Job().call("bcast", 1024, 1)
        return job.collected()

    def unknown(self, job=None):
        found = self.collected(job)
        self.assertEqual(["unknown"], list(found))
        return found["unknown"]

    def test_savings_are_collected_from_a_learned_file(self):
        self.learn()
        found = self.collected(Job().call("bcast", 1024, 500).call("reduce_scatter", 8, 1))
        self.assertIsNone(found["unknown"])
        self.assertEqual(self.file, found["file"])
        self.assertEqual(MPI, found["measured_with"])
        self.assertEqual((1000, [2]), (found["covered"], found["measured_ranks"]))
        self.assertEqual({estimate.NO_COLLECTIVE: 2}, found["not_covered"])
        self.assertAlmostEqual(0.002, found["seconds"])
        self.assertAlmostEqual(0.005, found["without_huddle_seconds"])
        self.assertAlmostEqual(0.003, found["saved_seconds"])
        facts = {"saving": found, "ranks_seen": 2, "seconds": 2.0}
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            tables.show_saving(facts)
        output = ("an estimate: 1.5 ms per rank", f"{MPI}, 2026-11-25.", "in all", "3 ms", "60 %")
        for text in (out.getvalue(), page.saving(facts)):
            for word in output:
                self.assertIn(word, text)

    def test_missing_times_name_the_command_that_measures_them(self):
        how = "; huddle tune --mpi ompi4 measures the missing times"
        output = self.unknown()
        self.assertEqual(f"no times of {MPI} were learned on this machine{how}", output)
        facts = {"saving": {"unknown": output}}
        with mock.patch("sys.stdout", io.StringIO()) as out:
            tables.show_saving(facts)
        for text in (out.getvalue(), page.saving(facts)):
            self.assertIn(f"not estimated: {output}.", text)
        self.write("bcast ranks=2 bytes=513-1K -> queue | ns=1000 samples=9")
        self.assertEqual(f"{self.file} has no times of {MPI} alone{how}", self.unknown())
        self.write("#" * (wisdom.LARGEST + 1))
        self.assertEqual(f"{self.file}: too large (accepted: at most 256 KB){how}", self.unknown())

    def test_without_handled_calls_there_is_no_estimate(self):
        self.learn()
        for job in (Job(), Job(off=True).call("bcast", 1024, 5), Job().call("bcast", 0, 5)):
            self.assertEqual("huddle handled no calls", self.unknown(job))


class WhyNot(unittest.TestCase):
    def test_persistent_collectives_are_handled_in_open_mpi_only(self):
        core = types.SimpleNamespace(kind_of=lambda name: 0, reasons=["handled"])
        for mpi, name, why in (
            ("Open MPI 4.1.4", "allreduce_init", None),
            ("MPICH 4.0.2", "allreduce_init", UNKNOWN_TO_IT),
            ("Intel MPI 2021.18", "barrier_init", UNKNOWN_TO_IT),
            ("MPICH 4.0.2", "iallreduce", None),
        ):
            with self.subTest(mpi=mpi, name=name):
                rank = types.SimpleNamespace(mpi=mpi)
                core.ranks = [rank]
                comm = types.SimpleNamespace(inter=False, size=2)
                cell = types.SimpleNamespace(comm=comm, name=name, reason=0)
                self.assertEqual(why, why_not(rank, cell, core))
