# SPDX-License-Identifier: BSD-3-Clause
"""
Tests the engine of huddle lab reproduce: the rows of a made-up paper, and the papers' files.
"""

import json
import unittest
from unittest import mock

from harness import IN_BUILD
from paths import BUILD

from cli.common import machines
from cli.common.layout import Layout
from lab.cli.reproduce import engine
from lab.cli.reproduce import rows as judged
from lab.cli.reproduce.command import FILES, Lab

LAYOUT = Layout(BUILD, **IN_BUILD)


class Engine(unittest.TestCase):
    """Tests of the rows and figures of a made-up paper, on a simulator with made-up times."""

    MACHINE = {"name": "small", "lines": {"transfer_ns": {"numa": 40}, "home_busy_ns": 10}}
    PAPER = """
        machine = "small"
        notes = ["{measured[:6]}"]
        call = { collective = "barrier", ranks = 4 }
        forms.a = { algorithm = "a", degree = 2 }
        machines.slow.change = { "lines.transfer_ns" = "scaled(lines['transfer_ns'], 10)" }
        let = { sizes = "[8, 16]", never = "1 / 0", us_of = "lambda size: us('a', size)" }
        brief.let.sizes = "[8]"

        [[part]]
        range = true
        let.first = "us_of(sizes[0])"
        [[part.row]]
        id = "time"
        each = [{ size = 8, published = 0.05 }, { size = 16, published = 0.5 }]
        when = "size in sizes"
        what = "{size} B of {len(sizes)}"
        unit = "us"
        here = "us_of(size)"
        agrees = "time"
        cite = "figure 1"
        [[part.figure]]
        name = "figure-1"
        title = "Time"
        x = "bytes"
        y = "us"
        line = [{ each = [{ on = "" }, { on = "slow" }], name = "on {on}", x = "sizes", y = "[us('a', size, on) for size in sizes]" }]

        [[part]]
        again = ["time"]
        on = "slow"
        what = "slow"

        [[part]]
        [[part.row]]
        what = "a check"
        here = "1.5"
        agrees = "at least 1"
        holds = "here >= 1"
        check = true
        in_brief = true
    """

    def reproduced(self, brief, paper=PAPER):
        """Returns the result and the requests; a call takes as long as a transfer."""
        requests = []

        def question(_layout, program, request, names=None):
            requests.append(request)
            lines = request["machine"]["lines"]
            ns = lines["transfer_ns"]["numa"] + lines["home_busy_ns"] + request["bytes"]
            return {"call": {"checker": {"clean": True}, "times": {"time_ns": ns}}}

        lab = Lab(LAYOUT, brief)
        with (
            mock.patch.object(Layout, "question", question),
            mock.patch.object(lab, "machine", return_value=self.MACHINE),
            mock.patch.object(engine, "contents", return_value=machines.tomllib.loads(paper)),
        ):
            return engine.reproduce(lab, "made-up"), requests, lab.notes

    def test_rows_are_compared_at_all_ends(self):
        result, requests, notes = self.reproduced(False)
        one, two, slow, slower, check = result.rows
        self.assertEqual(["single"], notes)
        self.assertEqual(("8 B of 2", 0.058, 0.05), (one.what, one.here, one.published))
        self.assertEqual((0.048, 0.098), (one.low, one.high))  # home_busy_ns of 0 and 50
        self.assertEqual((False, True), (one.agrees, one.partly))  # not at every end
        self.assertEqual((False, None, "figure 1"), (two.agrees, two.partly, two.cite))
        self.assertEqual(("slow: 8 B of 2", 0.418, None), (slow.what, slow.here, slow.agrees))
        self.assertEqual(0.426, slower.here)
        self.assertEqual((None, True), (check.published, check.agrees))
        self.assertEqual({"degree": 2}, requests[0]["parameters"])
        self.assertEqual(4, requests[0]["ranks"])

    def test_each_question_is_sent_once_to_the_simulator(self):
        _, requests, _ = self.reproduced(False)
        self.assertEqual(len({json.dumps(one) for one in requests}), len(requests))

    def test_figures_have_a_line_for_each_element(self):
        (figure,) = self.reproduced(False)[0].figures
        self.assertEqual(
            [("on ", [8, 16], [0.058, 0.066], False), ("on slow", [8, 16], [0.418, 0.426], False)],
            figure.lines,
        )

    def test_brief_rows_are_compared_with_nothing(self):
        one, slow, check = self.reproduced(True)[0].rows
        self.assertEqual(("8 B of 1", None, None), (one.what, one.published, one.agrees))
        self.assertEqual((0.418, True), (slow.here, check.agrees))

    def test_a_wrong_expression_is_an_error(self):
        with self.assertRaises(ZeroDivisionError):
            self.reproduced(False, self.PAPER.replace('"us_of(size)"', '"never"'))

    def test_published_figures_cite_their_place(self):
        for paper in ("01", "02", "03", "04", "05"):
            for part in engine.contents(paper)["part"]:
                for row in part.get("row", ()):
                    if "published" in " ".join([*row, str(row.get("each"))]):
                        self.assertRegex(row.get("cite", ""), r"figure|table|^\d|abstract|section")

    def test_papers_have_no_unknown_keys(self):
        texts = "what unit here text by agrees holds check cite published published_from in_brief"
        known = {
            "row": {*texts.split(), "id", "each", "when", "let"},
            "figure": set("name title x y log line each when let".split()),
            "line": set("name x y marks each when".split()),
            "part": set("row figure range again on what judged each when let".split()),
        }

        def unknown(kind, table):
            yield from (f"{kind}: {key}" for key in set(table) - known[kind])
            for inner in ("row", "figure", "line"):
                for one in table.get(inner, ()):
                    yield from unknown(inner, one)

        for paper in FILES:
            for part in engine.contents(paper)["part"]:
                self.assertEqual([], list(unknown("part", part)), paper)

    def test_criteria_are_parsed_from_words(self):
        for words, published, good, bad in (
            ("within 0.5 %", 100, 100.4, 101),
            ("within a factor of 2", 1, 1.9, 2.1),
            ("at most 7 %", 7, 6, 8),
            ("time", 1, 1.4, 1.6),
            ("the same", "a", "a", "b"),
        ):
            holds = judged.criterion(words).holds
            self.assertEqual((True, False), (holds(published, good), holds(published, bad)), words)
        self.assertIsNone(judged.criterion("something else").holds(1, 1))
