# SPDX-License-Identifier: BSD-3-Clause
"""Tests what `huddle bench --summary` measures, and its statistics."""

import os
import tempfile
import unittest
from types import SimpleNamespace
from unittest import mock

from cli.bench import arguments, command, plan, report, rounds, summary, variants
from cli.common import jobs, peers
from cli.common.command_line import options_from
from cli.common.layout import CliError

NEAR, FAR = 60, 200  # ns of a line transfer
KNOWN = [*plan.COLLECTIVES, "alltoallv"]
FOUND = {name: peers.Mpi(name, name, name, "mpirun", {}) for name in ("mpich5", "ompi5", "ompi4")}


def figure(variant, us, size=8, line=NEAR, host="", **more):
    return {
        **{"ranks": 2, "bind": "core", "root": "shift", "loop": 0, "launch": 1, "ring": ""},
        **{"collective": "bcast", "bytes": size, "variant": variant, "host": host, "mpi": "an MPI"},
        **{"line_before_ns": line, "line_after_ns": line, "median_ns": 1000 * us, "shots": 20},
        **{f"{name}_ns": 1000 * us for name in ("p99", "min", "mean", "max", "cpu")},
        **{"late": 0, "refused": 0, "wrong": 0, **more},
    }


def four(ours, other, first, second, **more):
    """Returns figures of huddle on two MPIs, and of these MPIs alone."""
    return [
        figure("huddle on ompi4", ours, host="ompi4", **more),
        figure("huddle on mpich5", other, host="mpich5", **more),
        figure("ompi4", first, **more),
        figure("mpich5", second, **more),
    ]


class Cases(unittest.TestCase):
    def test_the_slowest_front_end_is_compared_with_the_fastest_mpi(self):
        [case] = summary.cases_of(four(3, 4, 5, 2))
        self.assertEqual(("mpich5", "mpich5", 2.0), (case.host, case.peer, case.ratio))
        self.assertEqual({"ompi4": 3 / 5, "mpich5": 4 / 2}, case.own)
        line = summary.line_of("bcast", "near", [case])
        self.assertEqual("2.00x 8 mpich5/mpich5", summary.row_of(line)[7])

    def test_the_median_of_the_launches_counts(self):
        samples = four(3, 3, 6, 9) + four(1, 1, 6, 9) + four(9, 2, 6, 9)
        [case] = summary.cases_of(samples)
        self.assertEqual((3 / 6, 3), (case.ratio, case.launches))

    def test_classes_are_not_mixed(self):
        """Checks that without an MPI's figure in a class only the same MPI is compared."""
        near, far = four(1, 1, 2, 4), four(8, 8, 4, 2, line=FAR)
        cases = summary.cases_of(near + far[:3])
        self.assertEqual([("near", 0.5), ("far", None)], [(c.line, c.ratio) for c in cases])
        self.assertEqual({"ompi4": 2.0}, cases[1].own)
        self.assertEqual(2, sum(c.ratio is not None for c in summary.cases_of(near + far)))

    def test_invalid_figures_do_not_count(self):
        for more in ({"refused": 1}, {"wrong": 8}, {"shots": 0}, {"line_after_ns": FAR}):
            with self.subTest(more=more):
                self.assertEqual([], summary.cases_of(four(1, 1, 2, 2, **more)))

    def test_an_mpi_without_figures_is_not_required(self):
        samples = four(1, 1, 2, 4) + [figure("intel", 3, collective="scan")]
        self.assertEqual([0.5], [case.ratio for case in summary.cases_of(samples)])

    def test_ways_to_call_are_different_cases(self):
        samples = four(1, 1, 2, 2) + four(4, 4, 2, 2, loop=100) + four(6, 6, 2, 2, root="0")
        self.assertEqual([0.5, 2.0, 3.0], [case.ratio for case in summary.cases_of(samples)])


class Lines(unittest.TestCase):
    def setUp(self):
        ratios = {8: 0.5, 4096: 2.0, 16 << 10: 1.04, 1 << 20: 4.16}
        self.samples = [
            sample
            for size, ratio in ratios.items()
            for sample in four(ratio, ratio, 1, 2, size=size)
        ]
        self.samples += four(6, 3, 6, 6, line=FAR, collective="barrier", size=0)

    def lines(self):
        return summary.lines_of(summary.cases_of(self.samples))

    def test_a_line_has_means_numbers_and_the_worst(self):
        bcast, barrier, everything = self.lines()
        self.assertEqual(
            ("bcast", "near", 4, 3, 2),
            (bcast.collective, bcast.line, bcast.cases, bcast.above, bcast.clearly),
        )
        self.assertAlmostEqual(1.0, bcast.small)
        self.assertAlmostEqual(2.08, bcast.large)
        self.assertEqual((1 << 20, "ompi4"), (bcast.worst.bytes, bcast.worst.peer))
        self.assertEqual(
            ["1.00x faster", "2.08x slower", "4.16x 1M ompi4/ompi4", "4.16x 1M ompi4"],
            summary.row_of(bcast)[5:],
        )
        self.assertEqual(["1.00x faster", "", "", ""], summary.row_of(barrier)[5:])
        self.assertEqual((4.16, "ompi4", 1 << 20), bcast.own)
        self.assertEqual(("far", 1.0, None), (barrier.line, barrier.small, barrier.large))
        self.assertEqual((5, 3), (everything.cases, everything.above))

    def test_tables_fit_a_terminal(self):
        """Checks the width with the longest names."""
        more = {"collective": "reduce_scatter", "size": 256 << 10, "line": 10}
        self.samples += [figure("ompi4-sm", 0.01, **more), *four(99, 99, 10, 10, **more)]
        [(title, headers, rows, _)] = summary.tables(summary.cases_of(self.samples))
        self.assertIn("2 ranks, one core per rank; single calls, roots in turn", title)
        widths = [max(len(row[i]) for row in [headers, *rows]) for i in range(len(headers))]
        self.assertLessEqual(2 + sum(widths) + 2 * (len(widths) - 1), 125)
        self.assertIn("4.16x 1M ompi4", rows[0])

    def test_classes_without_comparisons_have_no_line(self):
        others = four(1, 1, 2, 2, line=10)
        self.samples += others[:1]
        self.assertEqual(3, len(self.lines()))

    def test_the_last_lines_count_missing_comparisons(self):
        self.samples += four(1, 1, 2, 2, size=512)[:3]
        self.samples.append(figure("ompi4", 1, line_after_ns=FAR))
        text = "\n".join(summary.last_lines(summary.cases_of(self.samples), self.samples))
        self.assertIn("5 cases, 3 slower, 2 more than 1.05x slower; 1.34x slower in the", text)
        self.assertIn("1 of 6 sizes are not compared", text)
        self.assertIn("near 60 ns, far 200 ns", text)
        self.assertIn(f"1 of {len(self.samples)} figures left out", text)

    def test_the_slowest_front_ends_are_counted(self):
        cases = summary.cases_of(four(3, 4, 5, 2) + four(3, 1, 5, 2, size=64))
        output = (
            "huddle's time is that of its slowest front end: of 2 cases, mpich5 in 1, ompi4 in 1"
        )
        self.assertIn(output, summary.last_lines(cases, []))
        self.assertEqual("", summary.slowest_text(cases[:1]))

    def test_launches_that_did_not_end_are_a_failure(self):
        for wrong, left_out, expected in (
            (0, set(), []),
            (3, set(), ["3 bytes were wrong"]),
            (0, {"ompi4"}, ["launches failed or did not end, as the notes say"]),
        ):
            campaign = SimpleNamespace(wrong=wrong, left_out=left_out)
            self.assertEqual(expected, command.failures(campaign))

    def test_no_comparison_is_no_error(self):
        self.assertEqual(
            ["0 cases, 0 slower, 0 more than 1.05x slower"], summary.last_lines([], [])
        )


class Earlier(unittest.TestCase):
    """Tests of --add."""

    def test_figures_are_read_back_from_csv(self):
        samples = four(1.5, 1, 2, 4) + four(1, 1, 2, 4, line=FAR, loop=100, root="0")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "figures.csv")
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(report.as_csv(samples))
            self.assertEqual(summary.cases_of(samples), summary.cases_of(summary.read(path)))

    def test_another_file_is_an_error(self):
        for text in ("", "ranks\n2\n", "no table at all"):
            with self.subTest(text=text), tempfile.NamedTemporaryFile("w") as file:
                file.write(text)
                file.flush()
                with self.assertRaisesRegex(CliError, f"--add {file.name}: not figures"):
                    summary.read(file.name)


def settled(*words):
    return arguments.settle(options_from("huddle bench", arguments.PARAMETERS, words), KNOWN)


class Options(unittest.TestCase):
    def test_the_defaults_are_those_of_the_plan(self):
        options = settled("--summary")
        self.assertEqual(
            (list(plan.FULL.ranks), plan.FULL.rounds, plan.FULL.minutes, plan.COLLECTIVES),
            tuple(getattr(options, n) for n in ("ranks", "launches", "minutes")) + (KNOWN[:-1],),
        )
        self.assertEqual(set(plan.COLLECTIVES), set(options.collectives))
        options = settled("--summary", "--quick", "--ranks", "3", "alltoallv", "--minutes", "0")
        self.assertEqual(
            ([3], 0, ["alltoallv"]), (options.ranks, options.minutes, options.collectives)
        )

    def test_options_that_exclude_each_other_are_errors(self):
        for words, expected in (
            (["--summary", "--bare"], "--summary and --bare exclude"),
            (["--summary", "--root-shift"], "--summary and --root-shift exclude"),
            (["--summary", "--bind", "none"], "--summary and --bind none exclude"),
            (["--quick"], "--quick: only with --summary"),
            (["--minutes", "0"], "--minutes: only with --summary"),
        ):
            with self.subTest(words=words), self.assertRaisesRegex(CliError, expected):
                settled(*words)

    def test_huddle_is_measured_on_an_mpi_of_each_abi(self):
        options = SimpleNamespace(hosts=None, against=None)
        for built, hosts in (
            (["mpich", "openmpi-4", "openmpi-5"], ["ompi4", "mpich5"]),
            (["openmpi-5"], ["ompi5"]),
        ):
            layout = SimpleNamespace(
                front_ends=lambda b=built: dict.fromkeys(f"{n}.1" if "-" in n else n for n in b)
            )
            options.hosts = None
            variants.everything(options, FOUND, layout)
            self.assertEqual(hosts, options.hosts)
        self.assertEqual(["mpich5", "ompi5", "ompi4", "ompi4-sm"], options.against)


class Layout:
    """A layout that tells which collectives have a root."""

    @staticmethod
    def ask(*_words):
        return [{"name": name, "rooted": name in ("bcast", "reduce")} for name in KNOWN]


class Measured(unittest.TestCase):
    """
    Tests of rounds that launch nothing: a launch takes `took_s`, with figures of the next class.
    """

    def setUp(self):
        self.now, self.launched, self.classes = 0.0, [], []
        patches = [
            mock.patch.object(rounds.time, "monotonic", lambda: self.now),
            mock.patch.object(jobs, "cores", lambda: 2),
            mock.patch.object(os, "sched_getaffinity", lambda _: {0, 1}),
            mock.patch.object(rounds.Part, "take", self.take),
        ]
        for patch in patches:
            patch.start()
            self.addCleanup(patch.stop)

    def take(self, launch, ranks, variant):
        self.launched.append((launch, ranks, variant.name))
        self.now += self.took_s
        line = self.classes.pop(0) if self.classes else NEAR
        self.made.samples.append(figure(variant.name, 1, line=line))

    def rounds(self, *words, took_s=1):
        self.took_s, options = took_s, settled("--summary", *words)
        some = [
            variants.Variant("huddle", "huddle", FOUND["ompi4"], {}, {}, None),
            variants.Variant("ompi4", "peer", FOUND["ompi4"], {}, {}, None),
            variants.Variant("ompi5", "peer", FOUND["ompi5"], {}, {}, None),
        ]
        self.made = rounds.Rounds(options, rounds.parts_of(options, Layout, some))
        return self.made

    def run_rounds(self, *words, **more):
        made = self.rounds(*words, **more)
        self.assertIsNone(made.run(mock.Mock(done=0)))
        return [name for _, _, name in self.launched]

    def test_two_bound_ranks_are_measured_in_four_ways(self):
        parts = self.rounds("--ranks", "2,4").parts
        self.assertEqual(
            [
                "2 ranks, single calls, roots in turn",
                "2 ranks, back to back, roots in turn",
                "2 ranks, single calls, root 0",
                "2 ranks, back to back, root 0",
                "4 ranks, single calls, roots in turn",
            ],
            [part.text() for part in parts],
        )
        self.assertEqual(["bcast", "reduce"], parts[2].options.collectives)
        self.assertEqual(1 << 20, parts[0].options.bytes[-1])
        self.assertEqual(256 << 10, parts[4].options.bytes[-1])

    def test_variants_take_turns(self):
        self.assertEqual(
            ["huddle", "ompi4", "ompi5"] * 2, self.run_rounds("--ranks", "4", "--launches", "2")
        )

    def test_a_launch_of_another_class_is_repeated(self):
        self.classes = [NEAR, FAR, NEAR, FAR, NEAR]
        names = self.run_rounds("--ranks", "4", "--launches", "1")
        self.assertEqual(["huddle", "ompi4", "ompi5", "ompi4", "ompi4"], names)

    def test_rounds_end_when_the_time_is_over(self):
        words = ("--ranks", "4", "--launches", "9", "--minutes", "1")
        self.assertEqual(["huddle", "ompi4"], self.run_rounds(*words, took_s=28))
        self.assertIn("the 1 minutes ended in round 1 of 9, at 4 ranks", self.made.notes[0])

    def test_a_launch_ends_when_the_time_of_all_is_over(self):
        part = self.rounds("--ranks", "16").parts[0]
        usual_s, part.left_s = part.limit_s(None), 7
        self.assertGreater(usual_s, 60)
        self.assertEqual(7 + rounds.SLACK_S, part.limit_s(None))
