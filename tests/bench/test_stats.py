# SPDX-License-Identifier: BSD-3-Clause
"""Tests the statistics of `huddle bench` on made-up figures."""

import csv
import io
import itertools
import json
import os
import tempfile
import unittest
from types import SimpleNamespace
from unittest import mock

from cli.bench import chart, columns, report, stats, tables
from cli.common import pictures, transfers
from cli.common.layout import CliError


def figure(
    variant, median, before=60, after=60, collective="bcast", size=8, launch=1, ranks=2, **more
):
    return {
        "ranks": ranks,
        "bind": "core",
        "variant": variant,
        "mpi": "some MPI",
        "launch": launch,
        "collective": collective,
        "bytes": size,
        "median_ns": median,
        "p99_ns": 2 * median,
        "min_ns": median,
        "mean_ns": median,
        "max_ns": 3 * median,
        "shots": 20,
        "late": 0,
        "refused": 0,
        "wrong": 0,
        "cpu_ns": 0,
        "line_before_ns": before,
        "line_after_ns": after,
        **more,
    }


def rows(samples, ours=("huddle",), peers=("slow", "fast")):
    return stats.rows_of(samples, ours, peers)


class Classes(unittest.TestCase):
    def test_a_line_transfer_determines_the_class(self):
        for before, after, name in (
            (10, 39.9, "nearest"),
            (40, 149, "near"),
            (150, 9999, "far"),
            (60, -1, "near"),
            (-1, 200, "far"),
            (39, 41, None),
            (-1, -1, None),
            (60, 300, None),
        ):
            with self.subTest(before=before, after=after):
                self.assertEqual(name, transfers.class_of(figure("x", 1, before, after)))

    def test_oversubscribed_ranks_have_a_class(self):
        for bind, name in (("core", "far"), ("shared", "far"), ("none", "any")):
            with self.subTest(bind=bind):
                self.assertEqual(name, transfers.class_of(figure("x", 1, 200, 200, bind=bind)))
        found, _ = rows([figure("x", 1, 200, 200, bind="shared")])
        [(title, *_)] = tables.tables(found)
        self.assertIn("2 ranks, more than cores, not bound; a cache line crosses in 200 ns", title)

    def test_figures_are_compared_only_within_a_class(self):
        found, unlabelled = rows(
            [
                figure("slow", 1000, 60, 60),
                figure("huddle", 400, 300, 300),
                figure("huddle", 500, 60, 300),
            ]
        )
        self.assertEqual(
            [("near", {"slow"}, {}), ("far", {"huddle"}, {})],
            [(r.line, set(r.cells), r.ratios) for r in found],
        )
        self.assertEqual(1, unlabelled)

    def test_refused_or_missing_figures_are_left_out(self):
        found, unlabelled = rows([figure("huddle", 0, shots=0), figure("huddle", 5, refused=3)])
        self.assertEqual(([], 0), (found, unlabelled))


class Ratios(unittest.TestCase):
    def test_huddle_is_compared_with_the_best_peer_of_each_size(self):
        found, _ = rows(
            [
                figure("slow", 1000),
                figure("fast", 500),
                figure("huddle", 250),
                figure("slow", 100, size=64),
                figure("fast", 200, size=64),
                figure("huddle", 200, size=64),
            ]
        )
        self.assertEqual(
            [("fast", 0.5), ("slow", 2.0)], [(r.best, r.ratios["huddle"].value) for r in found]
        )
        [(ranks, bind, collective, line, name, mean, sizes)] = stats.summaries(found)
        self.assertEqual(
            (2, "core", "bcast", "near", "huddle", 2), (ranks, bind, collective, line, name, sizes)
        )
        self.assertAlmostEqual(1.0, mean)

    def test_median_of_the_launches(self):
        found, _ = rows([figure("fast", m, launch=i) for i, m in enumerate((100, 900, 110))])
        self.assertEqual(
            (110, 220, 3),
            (
                found[0].cells["fast"].median_ns,
                found[0].cells["fast"].p99_ns,
                found[0].cells["fast"].launches,
            ),
        )

    def test_bare_is_not_a_peer_and_only_its_best_ring_counts(self):
        found, _ = rows(
            [
                figure("bare", 50, ring="a"),
                figure("bare", 10, ring="b"),
                figure("bare", 12, ring="b"),
                figure("fast", 100),
                figure("huddle", 80),
            ]
        )
        self.assertEqual(
            (11, 2, "fast"),
            (found[0].cells["bare"].median_ns, found[0].cells["bare"].launches, found[0].best),
        )
        self.assertEqual(
            ["huddle, 2 ranks, near, compared with the bare forms: 7.27x slower with barriers"],
            tables.bare_lines([found[0]._replace(collective="barrier")]),
        )


class Bootstrap(unittest.TestCase):
    def test_few_launches_have_no_interval(self):
        five = [50, 51, 52, 53, 54]
        for count in range(1, stats.MIN_LAUNCHES):
            with self.subTest(count=count):
                self.assertEqual((None, None), stats.median_interval(five[:count]))
                for ratio in (
                    stats.ratio_of(five[:count], five),
                    stats.ratio_of(five, five[:count]),
                ):
                    self.assertEqual((None, None), ratio[1:])
                    self.assertFalse(chart.significant(ratio._replace(value=0.5)))

    def test_the_plot_shows_gains(self):
        found, _ = rows([figure("fast", 500), figure("huddle", 250)])
        [(at, gain)] = chart.best_gains(found)
        self.assertEqual((0, 2.0, None), (at, gain.value, gain.low))
        gain = chart.inverse(stats.Ratio(0.5, 0.4, 0.8))
        self.assertEqual((2.0, 1.25, 2.5), gain)
        self.assertTrue(chart.significant(gain))

    def test_the_minimum_number_of_launches_nearly_covers_95_percent(self):
        """Checks that the extremes of 5 contain the median with a probability of 1 - 2 / 2^5."""
        values = [50, 51, 52, 53, 54]
        self.assertEqual((50, 54), stats.median_interval(values))
        self.assertEqual(5, stats.MIN_LAUNCHES)

    def test_holds_the_median_and_is_repeatable(self):
        values = [100 + (7 * i) % 31 for i in range(31)]
        low, high = stats.median_interval(values)
        self.assertTrue(min(values) < low < 115 < high < max(values), (low, high))
        self.assertEqual((low, high), stats.median_interval(values))

    def test_more_launches_narrow_the_interval(self):
        few, many = ([100 + (7 * i) % 31 for i in range(n)] for n in (6, 310))
        width = [high - low for low, high in map(stats.median_interval, (few, many))]
        self.assertLess(width[1], width[0])

    def test_intervals_cover_the_median_as_often_as_claimed(self):
        """
        Checks that, of 100 samples of 15 from a known distribution, about 95 % of the intervals
        contain its median: more than 85 and less than all.
        """
        import random

        source = random.Random(7)
        held = 0
        for _ in range(100):
            low, high = stats.median_interval([source.expovariate(1) for _ in range(15)])
            held += low <= 0.6931 <= high
        self.assertTrue(85 < held < 100, held)

    def test_the_interval_contains_the_ratio(self):
        ratio = stats.ratio_of([50, 51, 52, 53, 54], [100, 102, 104, 106, 108])
        self.assertEqual(0.5, ratio.value)
        self.assertTrue(50 / 108 <= ratio.low < 0.5 < ratio.high <= 54 / 100)


class Shown(unittest.TestCase):
    def setUp(self):
        self.samples = [
            figure(name, time * (1 + size / 100) + launch, size=size, launch=launch)
            for launch in (1, 2)
            for size in (8, 64)
            for name, time in (("fast", 500), ("huddle", 300))
        ]
        self.samples += [
            figure(name, 200, collective="barrier", size=0) for name in ("fast", "huddle")
        ]
        self.rows, _ = rows(self.samples)
        self.about = {
            "command": ["huddle", "bench", "<&>"],
            "mpi": "some MPI",
            "machine": {"processor": "some"},
            "notes": ["a note"],
            "variants": [],
        }

    def test_tables(self):
        (first, _, barriers, _), (second, headers, sizes, _) = tables.tables(self.rows)
        self.assertTrue(
            first.startswith("barrier") and second.startswith("bcast") and "60 ns (near" in second
        )
        self.assertEqual(
            (2, ["size", "fast", "huddle", "huddle vs fast"]), (len(barriers), headers)
        )
        self.assertEqual(["8 B", "0.54", "0.33*", "1.66x faster"], sizes[0])
        _, headers, details, _ = tables.tables(self.rows, details=True)[1]
        self.assertEqual(4, len(details))
        shown = dict(zip(headers, details[0]))
        self.assertEqual(["0.54", "0.54", "1.63"], [shown[name] for name in ("min", "avg", "max")])

    def test_tables_without_intervals_have_only_values(self):
        self.assertRegex(tables.tables(self.rows)[1][2][0][-1], r"^1\.6\dx faster$")
        _, headers, details, _ = tables.tables(self.rows, details=True)[1]
        self.assertEqual("", dict(zip(headers, details[0]))["95 %"])

    def test_columns(self):
        text = columns.text(self.rows)
        self.assertIn("\n# bytes fast huddle\n8 0.5415 0.3255\n", text)
        self.assertEqual(2, len(text.split("\n\n\n")), "a block for each collective")

    def test_comparisons_come_first(self):
        found, _ = rows(
            [
                figure("huddle", 300, 10, 10),
                figure("huddle", 300),
                figure("fast", 500),
                figure("fast", 900, 300, 300),
            ]
        )
        self.assertEqual(
            ["near", "nearest", "far"],
            [title.split("(")[1].split(":")[0] for title, *_ in tables.tables(found)],
        )

    def test_without_matplotlib_png_fails_and_html_has_no_pictures(self):
        output, none = [], dict.fromkeys(("csv", "json", "columns", "png", "html"))
        with (
            tempfile.TemporaryDirectory() as scratch,
            mock.patch.object(pictures, "missing", lambda: "pictures need it"),
        ):
            path = os.path.join(scratch, "x")
            report.check_files(SimpleNamespace(**{**none, "html": path}), output.append)
            self.assertEqual([f"--html {path}: without pictures: pictures need it"], output)
            with self.assertRaisesRegex(CliError, "--png .*: pictures need it"):
                report.check_files(SimpleNamespace(**{**none, "png": path}), output.append)

    def test_columns_keep_their_order(self):
        found, _ = rows(
            [
                figure("slow", 100, size=64),
                figure("fast", 100, before=-1, after=-1),
                figure("huddle", 100),
                figure("fast", 100, size=64),
            ]
        )
        self.assertEqual(["slow", "fast", "huddle"], tables.variants_of(found))

    def test_csv_has_a_row_for_each_figure_of_each_launch(self):
        read = list(csv.DictReader(io.StringIO(report.as_csv(self.samples))))
        self.assertEqual(len(self.samples), len(read))
        self.assertEqual(
            ("fast", "bcast", "8", "1", "near"),
            tuple(read[0][name] for name in ("variant", "collective", "bytes", "launch", "class")),
        )

    def test_json(self):
        answer = json.loads(report.as_json(self.rows, self.samples, self.about))
        self.assertEqual((3, len(self.samples)), (len(answer["rows"]), len(answer["samples"])))
        self.assertIn("huddle", answer["rows"][1]["ratios"])

    def test_html_is_one_file(self):
        page = report.as_html(self.rows, self.about, b"\x89PNG")
        self.assertIn("data:image/png;base64,", page)
        self.assertIn("huddle bench &lt;&amp;&gt;", page)
        self.assertNotRegex(page, r'(?:src|href)=(?!"?data:)')

    def test_lines_of_a_plot_look_different(self):
        self.assertEqual(40, len(set(itertools.islice(pictures.distinct_styles(), 40))))
        names = [f"huddle {i}" for i in range(16)] + [f"peer {i}" for i in range(16)]
        self.assertEqual(32, len({shown[:2] for shown in chart.styles_of(names).values()}))

    @unittest.skipIf(pictures.missing(), "no matplotlib")
    def test_picture(self):
        """Checks that a factor is written only with intervals, and the title has the word."""
        from matplotlib import pyplot

        more = [{**sample, "launch": launch} for sample in self.samples for launch in range(5)]
        for samples, count, title in ((self.samples, 0, "median"), (more, 2, "interval")):
            with (
                mock.patch.object(pyplot.Axes, "annotate") as annotate,
                mock.patch.object(pyplot.Figure, "suptitle") as suptitle,
            ):
                self.assertTrue(chart.draw(rows(samples)[0], "an MPI").startswith(b"\x89PNG"))
            self.assertEqual(count, annotate.call_count)
            self.assertTrue(suptitle.call_args[0][0].endswith(title))
