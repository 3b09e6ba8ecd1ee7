# SPDX-License-Identifier: BSD-3-Clause
"""
What huddle profile says that huddle saves, of made-up times and made-up jobs, and the file of times
that huddle tune writes.  test_estimate.py SOURCE.
"""

import contextlib
import io
import os
import sys
import tempfile
import types
import unittest
from collections import defaultdict
from unittest import mock

sys.path.insert(0, os.path.abspath(sys.argv.pop(1)))

from cli.common import peers, times  # noqa: E402  (the path comes first)
from cli.common.layout import Trouble  # noqa: E402
from cli.common.records import ELSEWHERE, TOLD, UNTOLD, Cell, Comm, Rank  # noqa: E402
from cli.common.times import Row, Times  # noqa: E402
from cli.common.totals import UNKNOWN_TO_IT, Totals, why_not  # noqa: E402
from cli.profile import estimate, page, tables  # noqa: E402
from cli.profile.estimate import between, nearest  # noqa: E402
from cli.tune import tuning_file  # noqa: E402
from cli.tune.against import Against, is_calm  # noqa: E402
from cli.tune.grid import Team  # noqa: E402
from cli.tune.state import Cell as Place  # noqa: E402

MPI, SECOND = "Open MPI 4.1.4", 1e9
HEAD = "mpi,collective,ranks,oversubscribed,bytes,mpi_ns,huddle_ns,launches"


def collective(name, **more):
    usual = {"also": None, "moves": True, "counts": False, "views": False, "awaits": "all"}
    return {"name": name, **usual, **more}


COLLECTIVES = [
    collective("barrier", moves=False),
    collective("bcast"),
    collective("reduce_scatter", also="reduce_scatter_block", counts=True),
    collective("allgatherv", counts=True, views=True),
]
# Of huddle's counters: of a collective, and where its handled calls are.
COUNTS, REASONS = ["calls", "bytes"], ["handled", "one rank"]


def handled_at(kind):
    return 2 + (len(COUNTS) + len(REASONS)) * kind + len(COUNTS)


def row(name="bcast", ranks=2, size=1024, alone=3000, here=1000, over=False, mpi=MPI):
    return Row(mpi, name, ranks, over, size, float(alone), float(here), 3)


def of(*rows, cores=4):
    return Times(list(rows), "2026-11-25 09:00", "0.1.0", cores, "none", times.SOUND)


class Job:
    """Ranks of one communicator, and what each of them has called; a tick is a nanosecond."""

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
        """Of each rank."""
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

    def ask(self, *words, **_):
        """In the place of the library."""
        about = {"counts": COUNTS, "reasons": REASONS, "others": []}
        return COLLECTIVES if words[1] == "collectives" else about

    def saved(self, found):
        """({collective: Saving}, reasons)."""
        totals = Totals(self.ranks, self)
        known = {row["name"]: row for row in COLLECTIVES}
        return estimate.savings(totals, known, found, totals.by_collective())

    def collected(self, tuning="", tuned=TOLD):
        for rank in self.ranks:
            rank.tuned, rank.tuning = tuned, rank.tuning or tuning
        totals = Totals(self.ranks, self)
        return estimate.collect(totals, self, totals.by_collective())


class Between(unittest.TestCase):
    def test_on_a_line_of_logarithms(self):
        points = {1 << 10: 1000.0, 1 << 14: 16000.0, 1 << 16: 16000.0}
        self.assertEqual(1000, between(points, 1 << 10))
        self.assertAlmostEqual(4000, between(points, 1 << 12))
        self.assertAlmostEqual(2000, between(points, 1 << 11))
        self.assertAlmostEqual(16000, between(points, 1 << 15))

    def test_never_beyond_twice_what_was_measured(self):
        points = {1024: 1000.0, 4096: 4000.0}
        self.assertAlmostEqual(500, between(points, 512))
        self.assertAlmostEqual(8000, between(points, 8192))
        self.assertIsNone(between(points, 511))
        self.assertIsNone(between(points, 8193))
        self.assertEqual(7, between({8: 7}, 16))
        self.assertIsNone(between({8: 7}, 17))

    def test_what_has_no_bytes(self):
        self.assertEqual(5, between({0: 5}, 0))
        self.assertIsNone(between({0: 5}, 8))
        self.assertIsNone(between({8: 5}, 0))
        self.assertIsNone(between({}, 8))

    def test_the_nearest_number_of_ranks(self):
        self.assertEqual(4, nearest([2, 4, 8], 4))
        self.assertEqual(4, nearest([2, 4, 16], 5))
        self.assertEqual(2, nearest([2, 8], 4))
        self.assertEqual(2, nearest([2], 4))
        self.assertIsNone(nearest([2, 64], 5))
        self.assertIsNone(nearest([], 4))


class Savings(unittest.TestCase):
    def test_a_call_saves_what_the_mpi_alone_takes_longer(self):
        found, missing = (
            Job().call("bcast", 1024, 500).saved(of(row(), row(alone=9000, mpi="MPICH")))
        )
        one = found["bcast"]
        self.assertEqual((1000, 1000, {2}), (one.handled, one.covered, one.ranks))
        self.assertAlmostEqual(1000 * 2000 / SECOND, one.seconds)
        self.assertAlmostEqual(1000 * 2000 / SECOND, one.saved)
        self.assertEqual({}, dict(missing))

    def test_sizes_between_those_that_were_measured(self):
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

    def test_calls_that_have_bypassed_huddle(self):
        job = Job().call("bcast", 1024, 8)
        for rank in job.ranks:
            rank.core[handled_at(1)] = 2
        one = job.saved(of(row()))[0]["bcast"]
        self.assertEqual((4, 4), (one.handled, one.covered))
        self.assertAlmostEqual(4 * 2000 / SECOND, one.saved)

    def test_ranks_and_whether_they_are_oversubscribed(self):
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

    def test_barriers_and_blocks_of_a_sum(self):
        job = Job().call("barrier", 0, 1).call("reduce_scatter_block", 256, 1)
        for rank in job.ranks:
            rank.core[handled_at(0)] = 1
        sums = [row("reduce_scatter", size=size, alone=1000 + 8 * size) for size in (256, 512)]
        rows = [row("barrier", size=0), *sums]
        found, _ = job.saved(of(*rows))
        self.assertAlmostEqual(2 * 2000 / SECOND, found["barrier"].saved)
        self.assertAlmostEqual(2 * 8 * 512 / SECOND, found["reduce_scatter_block"].saved)

    def test_huddle_may_be_slower_but_no_time_is_less_than_none(self):
        slow = of(row(alone=1000, here=1500))
        self.assertAlmostEqual(-1e-6, Job().call("bcast", 1024, 1).saved(slow)[0]["bcast"].saved)
        short = Job().call("bcast", 1024, 1, ticks=100).saved(slow)[0]["bcast"]
        self.assertAlmostEqual(0, short.seconds + short.saved)

    def test_timed_calls_represent_those_that_are_not(self):
        """20 slow calls, all timed, and 160 quick ones, of which 10 were."""
        job = Job().call("bcast", 1024, 180, timed=30)
        for rank in job.ranks:
            cell = rank.cells[0]
            cell.represents, cell.ticks = 20 + 16 * 10, 20 * 90000 + 16 * 10 * 1000
        one = job.saved(of(row()))[0]["bcast"]
        self.assertAlmostEqual(2 * (20 * 90000 + 160 * 1000) / SECOND, one.seconds)

    def test_calls_without_a_time_of_their_own(self):
        one = Job().call("bcast", 1024, 5, timed=0).saved(of(row()))[0]["bcast"]
        self.assertEqual((10, 0, 0), (one.handled, one.covered, one.saved))


class Share(unittest.TestCase):
    """Of the time, in collectives."""

    def facts(self, seconds, threads=False):
        rank = {"in_collectives_seconds": seconds, "observed_seconds": 2.0}
        counts = {"timed_calls": 10, "calls": 80, "matched_calls": 3}
        return {"lateness": [rank, rank], "threads": threads, **counts}

    def test_of_the_time(self):
        self.assertEqual("75 %", tables.share_text(self.facts(1.5)))
        self.assertNotIn("add up", tables.basis_text(self.facts(1.5)))

    def test_more_than_there_was(self):
        for threads, why in ((False, "represents up to 16"), (True, "several threads overlap")):
            facts = self.facts(3.0, threads)
            self.assertEqual("100 %", tables.share_text(facts))
            self.assertRegex(tables.basis_text(facts), f"add up to 150 % of the time .*{why}")


class Collected(unittest.TestCase):
    """With a tuning file and its times."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.tuning = os.path.join(scratch.name, "tuning.toml")
        self.write('[[bcast]]\nalgorithm = "queue"\n')

    def write(self, content, path=None):
        with open(path or self.tuning, "w", encoding="utf-8") as file:
            file.write(content)

    def measure(self, *rows):
        found = of(*rows)._replace(rules=times.rules_digest(self.tuning))
        self.write(times.text(found, ["for people"]), times.place(self.tuning))

    def unknown(self, job=None):
        found = (job or Job().call("bcast", 1024, 1)).collected(self.tuning)
        self.assertEqual(["unknown"], list(found))
        return found["unknown"]

    def test_the_whole(self):
        self.measure(row(alone=4000), row("barrier", size=0, mpi="MPICH 4.0.2"))
        job = Job().call("bcast", 1024, 500).call("reduce_scatter", 8, 1)
        found = job.collected(self.tuning)
        self.assertIsNone(found["unknown"])
        self.assertEqual(times.place(self.tuning), found["file"])
        self.assertEqual(f"huddle 0.1.0, {MPI}", found["measured_with"])
        self.assertEqual((1000, [2]), (found["covered"], found["measured_ranks"]))
        self.assertEqual({estimate.NO_COLLECTIVE: 2}, found["not_covered"])
        self.assertAlmostEqual(0.002, found["seconds"])
        self.assertAlmostEqual(0.005, found["without_huddle_seconds"])
        self.assertAlmostEqual(0.003, found["saved_seconds"])
        self.assertIsNone(found["doubt"])
        found["doubt"] = "the machine was busy"
        words = ("3 ms", "60 %", "Not reliable: when it was measured, the machine was busy.")
        self.said({"saving": found, "ranks_seen": 2, "seconds": 2.0}, *words)

    def said(self, facts, *words):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            tables.show_saving(facts)
        for text in (out.getvalue(), page.saving(facts)):
            for word in ("an estimate: 1.5 ms per rank", "2026-11-25 09:00", "in all", *words):
                self.assertIn(word, text)

    def test_where_nothing_is_known_a_line_says_how_to_get_it(self):
        how = "; huddle tune --against ompi4 measures what it takes"
        self.assertIn("there is no", said := self.unknown())
        self.assertTrue(said.endswith(how), said)
        self.measure(row(mpi="MPICH 4.0.2"))
        self.assertIn(f"no times of {MPI}, but of MPICH 4.0.2{how}", self.unknown())
        self.measure()
        self.assertIn("but of no MPI", self.unknown())
        self.measure(row())
        self.write('[[bcast]]\nalgorithm = "single"\n')
        self.assertIn("measured with other rules", self.unknown())
        self.tuning = ""
        self.assertEqual(f"no tuning file is in force{how}", said := self.unknown())
        facts = {"saving": {"unknown": said}}
        with mock.patch("sys.stdout", io.StringIO()) as out:
            tables.show_saving(facts)
        for text in (out.getvalue(), page.saving(facts)):
            self.assertIn(f"not estimated: {said}.", text)

    def test_the_tuning_file_is_that_of_the_ranks(self):
        self.measure(row())
        found = Job().call("bcast", 1024, 1).collected(self.tuning, UNTOLD)
        self.assertIn("no rank has recorded its tuning file; ", found["unknown"])
        job = Job().call("bcast", 1024, 1)
        job.ranks[1].tuning = "/other.toml"
        self.assertIn(f"different tuning files: /other.toml, {self.tuning};", self.unknown(job))

    def test_times_of_another_processor(self):
        for machine, told in (
            ('[machine]\nprocessors = 96\ncpu = "EPYC 9"\n', " (EPYC 9, 96 processors)"),
            ("", ""),
        ):
            self.write(f'{machine}[[bcast]]\nalgorithm = "queue"\n')
            self.measure(row(alone=4000))
            job = Job().call("bcast", 1024, 500)
            self.assertIsNone(job.collected(self.tuning)["elsewhere"])
            found = job.collected(self.tuning, ELSEWHERE)
            self.assertEqual(f"on another processor{told}", found["elsewhere"])
            words = f"Not reliable: it was measured on another processor{told}."
            self.said({"saving": found, "ranks_seen": 2, "seconds": 2.0}, words)

    def test_where_huddle_did_nothing_there_is_nothing_to_estimate(self):
        self.measure(row())
        for job in (Job(), Job(off=True).call("bcast", 1024, 5), Job().call("bcast", 0, 5)):
            self.assertEqual("huddle handled no calls", self.unknown(job))

    def test_comments_and_the_network_are_no_rules(self):
        self.measure(row())
        self.write('# new\n[machine]\ncpu = "x"\n[[bcast]]\n# so\nalgorithm = "queue"\n[network]\n')
        self.assertIsNone(Job().call("bcast", 1024, 1).collected(self.tuning)["unknown"])

    def test_damaged_times(self):
        self.measure(row(), row("barrier", size=0))
        path = times.place(self.tuning)
        with open(path, encoding="utf-8") as file:
            whole = file.read()
        self.assertEqual(2, len(times.read(path).rows))
        for old, new in (
            (",3000,", ",0,"),
            (",3000,", ",nan,"),
            (",3000,", ",inf,"),
            (",3000,", ",x,"),
            (",3000,", ","),
            (",false,", ",no,"),
            (",2,", ",1,"),
            (",1024,", ",-8,"),
            ("# cores = 4\n", ""),
            ("# cores = 4\n", "# cores = x\n"),
            ("# rules = ", "# "),
            (HEAD, '"'),
            (HEAD, "\0"),
            ("Open", "\udc80"),
        ):
            with self.subTest(old=old, new=new):
                with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
                    file.write(whole.replace(old, new, 1))
                with self.assertRaisesRegex(Trouble, f"^{path}:.*(not understood|not valid)"):
                    times.read(path)
                self.assertTrue(self.unknown().startswith(path))
        self.write(whole.partition("MPI")[0], path)
        with self.assertRaises(Trouble):
            times.read(path)


class Written(unittest.TestCase):
    """By huddle tune."""

    def against(self, folder):
        work = Against.__new__(Against)
        output = os.path.join(folder, "tuning.toml")
        with open(output, "w", encoding="utf-8") as file:
            file.write(f"{tuning_file.MARK}'.\n")
        facts = {"version": "0.1.0", "cpu": "a, b", "processors": 4}
        work.campaign = types.SimpleNamespace(output=output, cores=4, facts=facts)
        work.place = times.place(output)
        work.calm, work.doubt = defaultdict(list), "other work"
        work.pairs = {"ompi4": "after", "mpich4": "after, mpich4"}
        work.versions = {"ompi4": MPI, "mpich4": "MPICH 4.0.2"}
        return work

    def test_cells_that_both_have(self):
        with tempfile.TemporaryDirectory() as folder:
            work = self.against(folder)
            self.assertFalse(work.write_times())
            self.assertFalse(os.path.exists(work.place))
            cell = Place("bcast", Team(8, "none", True, ""), 64)
            for name, ns in (
                ("ompi4", [440.0, 9000.0, 400.0]),
                ("after", [100.0, 120.0]),
                ("before", [90.0]),
                ("mpich4", [700.0, 700.0]),  # and nothing with huddle
            ):
                work.calm[cell, name] = ns
            for size, of_huddle in ((128, [300.0]), (256, [300.0, 380.0])):
                work.calm[cell._replace(size=size), "ompi4"] = [400.0, 400.0]
                work.calm[cell._replace(size=size), "after"] = of_huddle  # do not agree
            self.assertTrue(work.write_times())
            found = times.read(work.place)
            self.assertEqual([Row(MPI, "bcast", 8, True, 64, 420.0, 110.0, 2)], found.rows)
            self.assertEqual(("0.1.0", 4, "other work"), (found.huddle, found.cores, found.doubt))
            self.assertEqual(times.rules_digest(work.campaign.output), found.rules)
            with open(work.place, encoding="utf-8") as file:
                self.assertTrue(file.readline().startswith(tuning_file.MARK), "it is overwritten")

    def test_huddle_is_measured_with_each_mpi_that_it_has_a_front_end_for(self):
        found = {
            kind: peers.Mpi(kind, kind, kind, f"/{kind}/mpirun", {})
            for kind in ("ompi4", "mpich4", "ompi5")
        }
        work = Against.__new__(Against)
        built = {"openmpi-4.1": "", "mpich": ""}
        work.layout = types.SimpleNamespace(prefix="", front_ends=lambda: built)
        work.campaign = types.SimpleNamespace(base=None)
        work.pairs = {}
        with (
            mock.patch("cli.tune.against.launching.check_launcher"),
            mock.patch("cli.tune.against.peers.find", lambda *_: found),
            mock.patch("cli.tune.against.variants.program"),
        ):
            chosen = work.chosen("ompi4,ompi4-sm,mpich4,ompi5")
        self.assertEqual({"ompi4": "after", "mpich4": "after, mpich4"}, work.pairs)
        self.assertEqual(
            [
                *(("ompi4", {}), ("ompi4", {}), ("mpich4", {}), ("ompi5", {})),
                ("ompi4", {"HUDDLE_TUNING": "off"}),  # before
                ("ompi4", {"HUDDLE_TUNING": "new"}),
                ("mpich4", {"HUDDLE_TUNING": "new"}),
            ],
            [(one.mpi.name, work.settings(one, "new")) for one in chosen],
        )

    def test_figures_that_other_work_has_disturbed(self):
        bound, over = Team(2, "core", False, ""), Team(8, "none", True, "")
        for team, median_ns, calm in ((bound, 400, True), (bound, 401, False), (over, 401, True)):
            self.assertEqual(calm, is_calm(team, {"median_ns": median_ns, "min_ns": 100}))

    def test_its_place(self):
        self.assertEqual("/x/tuning.csv", times.place("/x/tuning.toml"))
        self.assertEqual("/x/a.b/t.csv", times.place("/x/a.b/t"))
        self.assertEqual("/x/t.csv.csv", times.place("/x/t.csv"))


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


if __name__ == "__main__":
    unittest.main()
