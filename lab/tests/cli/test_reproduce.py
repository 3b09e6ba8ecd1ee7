# SPDX-License-Identifier: BSD-3-Clause
"""
Tests huddle lab reproduce with short runs: rows and figures of each paper, and the message without
SimGrid.
"""

import functools
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
from datetime import date
from unittest import mock

from harness import IN_BUILD, without_progress
from paths import BUILD

from cli.common import machines
from cli.common.layout import CliError, Layout
from lab.cli import simulated
from lab.cli.reproduce import engine, extra_rows, recorded, unmeasured
from lab.cli.reproduce import page as pages
from lab.cli.reproduce import rows as judged
from lab.cli.reproduce.candidates import Candidate, Value, differs
from lab.cli.reproduce.command import Lab
from lab.cli.reproduce.rows import Row

LAYOUT = Layout(BUILD, **IN_BUILD)
SIMULATED = ("01", "02", "03", "05", "held-out", "own")
SIMGRID = shutil.which("smpirun") and os.path.exists(
    os.path.join(BUILD, "libexec", "huddle", "messages-smpi")
)


def reproduce(*words, **environment):
    return without_progress(
        subprocess.run(
            [os.path.join(BUILD, "bin", "huddle"), "lab", "reproduce", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
            timeout=200,
            check=False,
        )
    )


def answer(*words, **environment):
    done = reproduce(*words, "--brief", "--json", **environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@functools.cache
def simulated_paper(paper):
    """Returns the answer for a paper, computed once for all tests."""
    return answer(paper)[paper]


class Paper04(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.paper = answer("04")["04"]
        cls.rows = {(row["what"], row["by"]): row for row in cls.paper["rows"]}

    def found(self, start, by):
        rows = [
            row for (what, who), row in self.rows.items() if what.startswith(start) and who == by
        ]
        self.assertTrue(rows, f"{start}, {by}")
        return rows[0]

    def test_functions_give_the_published_degrees(self):
        for tree in ("k-ary", "k-nomial"):
            row = self.found(f"{tree} tree: best k", "function")
            self.assertEqual(row["published"], row["here"])

    @unittest.skipUnless(SIMGRID, "SimGrid is not here")
    def test_simgrid_computes_the_model(self):
        for start in (
            "k-ary tree, k = 2",
            "k-nomial tree, k = 2",
            "linear, 1000 B",
            "linear, 100000 B",
            "chain: time",
        ):
            row = self.found(start, "SimGrid")
            self.assertEqual((None, True), (row["published"], row["agrees"]), start)
            self.assertLess(abs(row["here"] - 1), 0.02, start)
        self.assertTrue(self.found("k-nomial tree: best k", "SimGrid")["agrees"])

    def test_figures_have_lines(self):
        names = {figure["name"] for figure in self.paper["figures"]}
        self.assertEqual({"figure-6", "figure-9", "figure-12", "figure-13", "figure-14"}, names)
        for figure in self.paper["figures"]:
            for label, x, y, _ in figure["lines"]:
                self.assertEqual(len(x), len(y), label)
                self.assertTrue(all(value > 0 for value in y), label)

    def test_without_simgrid_only_functions_are_computed(self):
        with tempfile.TemporaryDirectory() as empty:
            os.symlink(sys.executable, os.path.join(empty, "python3"))
            os.symlink("/usr/bin/env", os.path.join(empty, "env"))
            paper = answer("04", PATH=empty)["04"]
        self.assertIn("libsimgrid-dev", " ".join(paper["notes"]))
        self.assertEqual({"function"}, {row["by"] for row in paper["rows"]})


@unittest.skipUnless(
    os.path.exists(os.path.join(BUILD, "libexec", "huddle", "simulate")),
    "built without the simulator",
)
class Simulated(unittest.TestCase):
    def test_simulations_are_repeatable(self):
        self.assertEqual(simulated_paper("03")["rows"], answer("03")["03"]["rows"])

    def test_each_paper_has_rows_and_figures(self):
        for paper in SIMULATED:
            found = simulated_paper(paper)
            self.assertIn("simulated", {row["by"] for row in found["rows"]}, paper)
            for figure in found["figures"]:
                for label, x, y, _ in figure["lines"]:
                    self.assertEqual(len(x), len(y), label)
                    self.assertTrue(all(value > 0 for value in y), label)

    def test_the_model_of_paper_01_gives_the_published_values(self):
        rows = [
            row
            for row in simulated_paper("01")["rows"]
            if row["what"].startswith("figure 6") or row["what"].startswith("f* of a queue")
        ]
        self.assertEqual(6, len(rows))
        for row in rows:
            self.assertLess(abs(row["here"] / row["published"] - 1), 0.005, row["what"])

    def test_inverting_the_papers_formula_is_an_own_check(self):
        """Checks b = f^2 t / t_w, which is computed here and not published."""
        (row,) = (row for row in simulated_paper("01")["rows"] if "table 1" in row["what"].lower())
        self.assertEqual((None, True), (row["published"], row["agrees"]))

    def test_the_slowest_barrier_depends_on_the_load_of_homes(self):
        """Checks that the rows agree with the notes."""
        rows = {row["what"]: row["here"] for row in simulated_paper("03")["rows"]}
        self.assertEqual("sense-reversing", rows["slowest, 16 ranks"])
        experiment = "experiment, a request occupies a home {}: fastest and slowest without groups"
        slowest = [
            here.split(", ")[1]
            for words in ("as long as a spin lock's", "for no time")
            for what, here in rows.items()
            if what.startswith(experiment.format(words))
        ]
        self.assertEqual(["dissemination", "sense-reversing"], slowest)

    def test_huddles_choice_comes_from_the_table(self):
        """Checks any content of the table: here a barrier of the paper, and the MPI's own."""
        about = engine.contents("03")
        about = engine.merged(about, about["brief"])
        (part,) = (part for part in about["part"] if "choice(" in str(part.get("let")))
        lab = Lab(LAYOUT, True)
        layout, base = engine.Remembering(LAYOUT), lab.machine(about["machine"])
        serves = {"algorithm": "central", "parameters": {}, "slot_bytes": simulated.LEASE}
        for choice in (serves, None):
            bench = engine.Bench(lab, about, layout, base)
            barriers, whole = (bench.names.value(name) for name in ("barriers", "whole"))
            fastest = min(bench.us(name, ranks=whole) for name in barriers)
            here = choice and bench.us("sense-reversing", ranks=whole) / fastest
            with mock.patch.object(simulated, "choice", return_value=choice):
                (row,) = bench.rows(part)
            self.assertEqual(here, row.here)

    def test_messages_include_the_work_of_an_mpi(self):
        """Checks that only the tree of messages is slower by the MPI's own work."""
        rows = {row["what"]: row["here"] for row in simulated_paper("03")["rows"]}
        tree = "send/receive tree over combining, 16 ranks"
        alone = rows[f"experiment, messages without an MPI's own work: {tree}"]
        self.assertGreater(rows[tree], 1.2 * alone)

    def test_rows_of_other_sizes_are_compared_with_nothing(self):
        for paper in ("01", "02", "03", "05"):
            for row in simulated_paper(paper)["rows"]:
                self.assertEqual(row["agrees"] is None, not row["when"], row["what"])
                if (
                    paper != "02"
                    and row["by"] == "simulated"
                    and not row["what"].startswith("figure 7: s")
                ):  # rows with the paper's own ranks and sizes
                    self.assertIsNone(row["published"], row["what"])

    def test_send_and_receive_are_simulated(self):
        papers = {paper: simulated_paper(paper) for paper in ("03", "05")}
        rows = {row["what"]: row for row in papers["03"]["rows"]}
        self.assertEqual("simulated", rows["send/receive tree over combining, 16 ranks"]["by"])
        self.assertIn(
            "send/receive tree",
            {label for figure in papers["03"]["figures"] for label, *_ in figure["lines"]},
        )
        self.assertTrue(
            all("computed" not in figure["title"] for figure in papers["05"]["figures"])
        )

    def test_leaving_out_levels_gives_every_grouping(self):
        for name in extra_rows.MACHINES:
            machine = machines.load(LAYOUT, name)
            ranks = LAYOUT.question("simulate", {"machine": machine})["machine"]["cores"]

            def groups(off):
                request = {
                    "machine": machine,
                    "collective": "barrier",
                    "algorithm": "counters",
                    "ranks": ranks,
                    "levels_off": off,
                    "repetitions": 1,
                }
                return tuple(
                    level["groups"]
                    for level in LAYOUT.question("simulate", request)["call"]["groups"]
                )

            offs = extra_rows.groupings(Lab(LAYOUT, False), machine, ranks)
            *inner, top = groups("")
            self.assertGreaterEqual(len(inner), 2, name)
            every = {
                (*some, top)
                for count in range(len(inner) + 1)
                for some in itertools.combinations(inner, count)
            }
            self.assertEqual(sorted(every), sorted(groups(off) for off in offs), name)
            self.assertEqual("", offs[0])


class Asked(unittest.TestCase):
    """Tests of the requests to the simulator, with a layout that answers with made-up times."""

    def setUp(self):
        self.requests = []

    def question(self, _program, request):
        self.requests.append(request)
        if request["algorithm"] == "none":
            raise CliError("bytes: it does not take them", 2)
        clean = request["algorithm"] != "wrong"
        once = request["repetitions"] == 1
        ns = {
            "a": 100 if once else 130 + request.get("seed", 0),
            "b": 110 if once else 105,
            "c": 500 if once else 1,
        }.get(request["algorithm"], 0)
        return {
            "call": {
                "checker": {"clean": clean, "report": "a race"},
                "times": {"time_ns": ns},
                "slot_bytes": 64 << 10,
            }
        }

    def ways(self, *names):
        return [(name, {"collective": "bcast", "algorithm": name, "size": 8}) for name in names]

    def test_the_best_candidates_are_measured_with_all_seeds(self):
        self.assertEqual(
            (105, "b"), simulated.fastest_ns(self, {}, self.ways("a", "b", "c", "none"))
        )
        measured = [request for request in self.requests if request["repetitions"] != 1]
        self.assertEqual({"a", "b"}, {request["algorithm"] for request in measured})
        self.assertEqual(
            [(32, 65, seed) for seed in (1, 2, 3)],
            [(r["repetitions"], r["warmup"], r["seed"]) for r in measured if r["algorithm"] == "b"],
        )

    def test_the_median_of_the_seeds_counts(self):
        self.assertEqual(132, simulated.measured_ns(self, {}, "bcast", "a", 8))

    def test_races_are_reported_as_errors(self):
        with self.assertRaisesRegex(CliError, "a race"):
            simulated.fastest_ns(self, {}, self.ways("a", "wrong"))

    def test_notes_describe_the_measured_calls(self):
        self.assertIn(simulated.MEASURED, extra_rows.NOTES)
        for paper in ("05", "held-out"):
            self.assertIn("{measured}", " ".join(engine.contents(paper)["notes"]), paper)


class Criteria(unittest.TestCase):
    def agrees(self, criterion, published, here):
        return Row.judged("what", "", published, here, "simulated", criterion).agrees

    def test_each_criterion_can_fail(self):
        cases = (
            (judged.within(0.1), 100, 109, 111),
            (judged.factor(1.5), 2, 2.9, 1.3),
            (judged.GAIN, -30, -16, 30),
            (judged.RATIO, 0.9, 0.99, 1.01),
            (judged.RATIO, 0.8, 0.7, 0.6),
            (judged.SAME, "a", "a", "b"),
            (judged.at_most(7, "%"), 7, 7, 7.1),
        )
        for criterion, published, good, bad in cases:
            self.assertEqual(
                (True, False),
                (self.agrees(criterion, published, good), self.agrees(criterion, published, bad)),
                criterion.words,
            )

    def test_the_published_parameter_is_as_good(self):
        grid, times = [4, 8, 12, 16], [1, 1.01, 1.03, 1.04]
        for low, high, good in ((8, None, True), (12, None, False), (12, 16, False), (8, 16, True)):
            self.assertEqual(good, judged.good_as_printed(grid, times, low, high), (low, high))
        alike = judged.good_as_printed(grid, [1, 1.01, 1.015, 1.02], 4)
        self.assertIsNone(self.agrees(judged.found("as good", alike), 4, 4))  # all are equally good
        self.assertIsNone(judged.good_as_printed(grid, times, 6))  # not tried

    def test_own_checks_are_counted_separately(self):
        rows = [
            Row.own(name, "times", ratio, "SimGrid", judged.found("2 %", abs(ratio - 1) <= 0.02))
            for name, ratio in (("one", 1.01), ("two", 1.03))
        ]
        self.assertEqual(
            [(None, True), (None, False)], [(row.published, row.agrees) for row in rows]
        )
        rows.append(Row.judged("three", "us", 1, 1, "simulated", judged.TIME))
        self.assertEqual(
            [
                "1 of 1 rows agree",
                "1 of 2 checks of our own hold",
                "rows that do not agree: two (1.03 times)",
            ],
            judged.summary(rows),
        )

    def test_rows_without_a_published_value_have_no_verdict(self):
        self.assertIsNone(self.agrees(judged.SAME, None, "a"))
        self.assertEqual("", Row.judged("what", "us", None, 3, "simulated", judged.TIME).verdict())
        row = Row.judged("what", "us", 3, 3, "simulated", judged.TIME)
        self.assertEqual("yes: within a factor of 1.5", row.verdict())
        self.assertEqual((None, ""), (row.alone().published, row.alone().verdict()))
        self.assertEqual(["above 1", "2 times"], Row("", "times", "above 1", 2, "").words()[1:3])
        self.assertEqual(["1-2 B", "1-3 B"], Row("", "B", "1-2", "1-3", "").words()[1:3])

    def test_the_summary_names_rows_that_disagree(self):
        rows = [
            Row.judged(name, "us", 1, here, "simulated", judged.TIME)
            for name, here in (("one", 1), ("two", 2))
        ]
        self.assertEqual(
            ["1 of 2 rows agree", "rows that do not agree: two (+100.0 %)"], judged.summary(rows)
        )
        self.assertEqual([], judged.summary([row.alone() for row in rows]))


class Candidates(unittest.TestCase):
    def test_parameters_beyond_the_message_are_tried_once(self):
        some = [
            Candidate("bcast", "queue", values)
            for values in ((), (Value("fragment", "4K", 4096),), (Value("fragment", "8K", 8192),))
        ]
        self.assertEqual([True, True, False], [differs(one, 4096, some) for one in some])
        self.assertEqual([True, True, True], [differs(one, 4097, some) for one in some])


class Ranges(unittest.TestCase):
    """Tests of the ranges of a made-up machine's unmeasured numbers."""

    LINES = {
        "transfer_ns": {"numa": 40, "machine": 90},
        "gap_ns": {"numa": 3, "machine": 9},
        "serve_ns": {"numa": 6, "machine": 12},
    }

    def ends(self, **more):
        machine = {"name": "small", "lines": {**self.LINES, **more}}
        return [end["lines"] for end in unmeasured.ends(machine)]

    def test_unmeasured_numbers_change_one_at_a_time(self):
        ends = self.ends()
        self.assertEqual({"numa": 0, "machine": 0}, ends[0]["revoke_ns"])
        self.assertEqual(self.LINES["gap_ns"], ends[0]["gap_ns"])
        self.assertEqual(
            [(1, 6), (9, 6), (3, 2), (3, 18)],
            [(end["gap_ns"]["numa"], end["serve_ns"]["numa"]) for end in ends[1:]],
        )
        self.assertTrue(all("home_busy_ns" not in end for end in ends))

    def test_optional_numbers_of_a_machine_are_changed_too(self):
        ends = self.ends(scan_gap_ns={"numa": 30, "machine": 60}, home_busy_ns=25)
        self.assertEqual([30, 10, 90, 30, 30, 30, 30], [end["scan_gap_ns"]["numa"] for end in ends])
        self.assertEqual([25] * 5 + [0, 125], [end["home_busy_ns"] for end in ends])

    def test_ranges_have_the_minimum_and_the_maximum(self):
        def rows(*here):
            return [Row("a", "us", 4, value, "simulated") for value in here]

        one, text = unmeasured.ranged(rows(2.0, "x"), [rows(1.0, "x"), rows(3.0, "y")])
        self.assertEqual((1.0, 3.0), (one.low, one.high))
        self.assertEqual((None, "x or y"), (text.low, text.range()))
        (alike,) = unmeasured.ranged(rows("x"), [rows("x")])
        self.assertEqual("the same", alike.range())
        (nothing,) = unmeasured.ranged(rows(2.0), [rows(None)])
        self.assertEqual("", nothing.range())
        self.assertEqual("1 to 3", one.range())
        self.assertEqual((0.5, 0.25, 0.75), one.ratios())
        head, lines = judged.table_of([one, text], "published")
        self.assertEqual(len(head), len(lines[0]))
        self.assertIn("range", head)
        self.assertIn("range", judged.table_of([text], "published")[0])
        self.assertNotIn("range", judged.table_of([nothing], "published")[0])

    def test_a_verdict_must_be_the_same_at_all_ends(self):
        def row(here):
            if isinstance(here, str):
                return Row.judged("a", "", "x", here, "simulated", judged.SAME)
            return Row.judged("a", "us", 4, here, "simulated", judged.TIME)

        cases = (  # here, at the ends, agrees, verdict
            ("x", ("x", "x"), True, "yes: the same"),
            ("x", ("x", "y"), False, "not at every end: the same"),
            ("y", ("x", "y"), False, "only at an end: the same"),
            ("y", ("z", "y"), False, "no: the same"),
            (4.0, (3.0, 5.0), True, "yes: within a factor of 1.5"),
            (4.0, (4.0, 9.0), False, "not at every end: within a factor of 1.5"),
            (9.0, (4.0, 9.0), False, "only at an end: within a factor of 1.5"),
        )
        found = []
        for here, at_ends, agrees, verdict in cases:
            found += unmeasured.ranged([row(here)], [[row(other)] for other in at_ends])
            self.assertEqual((agrees, verdict), (found[-1].agrees, found[-1].verdict()))
        self.assertEqual(
            ["2 of 7 rows agree, 2 more not at every end of the range"], judged.counts(found)
        )
        self.assertIn("a (+0.0 %, not at every end)", judged.summary(found)[1])
        self.assertEqual(("", []), (found[1].alone().verdict(), judged.counts([found[1].alone()])))
        self.assertIn("*Not at every end* means", pages.head_of(["03"], found, False))

    def test_barrier_rankings_have_a_range(self):
        """Checks rows of paper 03 that are texts, whose differences were not on the page."""
        rows = {row["what"]: row for row in simulated_paper("03")["rows"]}
        for what in ("fastest barrier without groups, 16 ranks", "slowest, 16 ranks"):
            self.assertIn(rows[what]["here"], rows[what]["texts"])
        for start in ("topo-NUMA over combining, 32", "fastest send/receive barrier over"):
            (ratio,) = (row for what, row in rows.items() if what.startswith(start))
            self.assertLess(ratio["low"], ratio["high"])

    def test_rows_of_paper_02_have_a_range(self):
        """Checks the rows of paper 02."""
        for row in simulated_paper("02")["rows"]:
            if row["what"].startswith(("table 1", "figure 2", "barrier: ")):
                self.assertIsNotNone(row["low"], row["what"])

    def test_gains_of_opposite_sign_have_no_ratio(self):
        self.assertIsNone(Row("a", "%", -4, 4, "simulated").ratios())
        self.assertEqual((2, 1, 2), Row("a", "%", -4, -8, "simulated", low=-8, high=-4).ratios())


class HeldOut(unittest.TestCase):
    def test_the_description_has_no_number_of_the_paper(self):
        path = os.path.join(LAYOUT.machines, engine.contents("held-out")["machine"])
        with open(path, encoding="utf-8") as file:
            numbers = [line for line in file if re.match(r"[\w.]+ = \d", line)]
        self.assertEqual([], [line for line in numbers if "XHC" in line])
        here, other = machines.read(path), machines.load(LAYOUT, "xeon-8358")
        for key in ("revoke_ns", "scan_gap_ns"):  # measured by that paper; here they follow a rule
            self.assertNotIn(key, here["lines"])
        for key in ("memory_gbps", "cached_gbps"):
            self.assertNotEqual(other["copy"][key]["machine"], here["copy"][key]["machine"], key)


class Recorded(unittest.TestCase):
    """Tests of the measured rows from lab/evidence."""

    def test_every_recorded_speedup_has_a_row(self):
        rows, lines = recorded.reproduce(Lab(LAYOUT, True)).rows, 0
        for name in recorded.FILES:
            with open(os.path.join(LAYOUT.evidence, name), encoding="utf-8") as file:
                lines += sum(not line.startswith("#") for line in file) - 1
        self.assertEqual((lines, {"recorded"}), (len(rows), {row.by for row in rows}))
        for row in rows:
            self.assertRegex(row.what, r"^(16|2) cores of an? [\w ]+, \d+ ranks: 0[15][:,] ")
            sizes = re.search(r"speedup over coll/tuned, (8[\w,]*\w)", row.what)
            values = sizes and row.here.split(", ")
            self.assertTrue(sizes is None or len(values) == len(sizes[1].split(",")), row.what)
        speedups = {(r.published, r.agrees) for r in rows if "largest speedup" in r.what}
        self.assertEqual({(6.5, None), (3.3, None), (None, None)}, speedups)
        goals = {(r.published, r.agrees) for r in rows if "huddle's own goal" in r.what}
        self.assertEqual({(None, True), (None, False)}, goals)

    def test_the_head_of_a_page_names_the_measured_part(self):
        rows = [Row("a", "us", None, 1, by) for by in ("simulated", "recorded")]
        head = pages.head_of(["03", "recorded"], rows, False)
        self.assertIn("Only the part *Measured* has measured times", head)
        self.assertNotIn("No time in the column", head)

    def test_evidence_that_is_not_installed_is_noted(self):
        lab = Lab(types.SimpleNamespace(evidence="/nowhere"), True)
        self.assertEqual([], recorded.reproduce(lab).rows)
        self.assertEqual(len(recorded.FILES), len(lab.notes))


class Words(unittest.TestCase):
    def test_bad_options_are_reported_in_one_line(self):
        done = reproduce("17")
        self.assertEqual((2, 1), (done.returncode, done.stderr.count("\n")))
        self.assertIn("accepted: ", done.stderr)

    def test_help_describes_the_papers(self):
        output = " ".join(reproduce("--help").stdout.split())
        for words in (
            "01: Paper 01 (Kurnosov, Tokmasheva, ",
            "held-out: Broadcasts of XHC's paper",
            "recorded: Papers 01 and 05 measured",
            "own: From no paper: the fastest barrier",
            "Debian's libsimgrid-dev",
            "two minutes",
        ):
            self.assertIn(words, output)

    def test_a_page_is_written(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.md")
            self.assertEqual(0, reproduce("04", "--brief", "--page", path).returncode)
            self.assertEqual(["page.md"], os.listdir(folder))
            with open(path, encoding="utf-8") as file:
                page = file.read()
        self.assertIn(
            "| k-ary tree: best k, 8 ranks | 3 | 3 | +0.0 % | yes: the same | function |", page
        )
        head = page[: page.index("\n## ")]
        for words in (
            "column *agrees*",
            "*function*",
            "Written by `huddle lab reproduce 04 --brief --page page.md`",
            "`huddle lab reproduce 04 --brief --figures DIR` draws",
            "Paper 04: ",
            "brief page",
            f"{date.today():%Y}",
        ):
            self.assertIn(words, head)
        for words in ("*simulated*", "from no paper", "five papers"):
            self.assertNotIn(words, head)

    def test_the_head_of_a_page_lists_its_papers(self):
        rows = [Row("a", "", None, 1, "simulated")]
        three, all_of_them = (
            pages.head_of(papers, rows, False) for papers in (["03"], ["01", "03", "own"])
        )
        self.assertIn("Paper 03: ", three)
        for words in ("from no paper", "*function*", "*agrees*", "brief", "no measurement"):
            self.assertNotIn(words, three)
        self.assertIn(
            "simulated with a description that has no measurement of their paper",
            pages.head_of(["held-out"], rows, False),
        )
        for words in (
            "Papers 01, 03: ",
            "from no paper",
            "No time in the column *here* was measured",
        ):
            self.assertIn(words, all_of_them)

    def test_figures_are_drawn_or_matplotlib_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            done = reproduce("04", "--brief", "--figures", folder)
            if done.returncode == 0:
                for name in ("04-figure-6.png", "04-rows.png"):
                    self.assertIn(name, os.listdir(folder))
            else:
                self.assertIn("matplotlib", done.stderr)
