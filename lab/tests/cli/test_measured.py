# SPDX-License-Identifier: BSD-3-Clause
"""
Tests huddle lab reproduce measured: the rows from the output of `huddle bench`; and a short run
with rows of papers 01 and 05 by Open MPI on this machine.
"""

import json
import os
import re
import shutil
import subprocess
import types
import unittest
from unittest import mock

import pytest
from harness import long_test
from paths import BUILD

from cli.common.layout import CliError
from lab.cli.reproduce import measured
from lab.cli.reproduce.command import Lab


class Left(unittest.TestCase):
    """Tests of the rows from a `huddle bench` of which a part may have failed."""

    def rows(self, status, answer):
        """Returns (rows, notes)."""

        def run(command, **_):
            if answer:
                with open(command[command.index("--json") + 1], "w", encoding="utf-8") as file:
                    json.dump(answer, file)
            return types.SimpleNamespace(returncode=status, stderr="huddle: it failed\n")

        lab = Lab(types.SimpleNamespace(launcher="huddle"), brief=False)
        with mock.patch.object(measured.subprocess, "run", run):
            return measured.bench(lab, "bcast"), lab.notes

    def test_failed_launches_are_noted_and_the_others_count(self):
        note = "ompi4-sm, 2 ranks: left out: mpirun: status 1"
        answer = {"rows": [1], "notes": [f"{note}\n    its last lines"], "samples": [{"wrong": 0}]}
        self.assertEqual(([1], [f"bcast: {note}"]), self.rows(1, answer))
        self.assertEqual(([1], []), self.rows(0, {**answer, "notes": []}))

    def test_failed_benches_give_no_rows(self):
        answer = {"rows": [1], "notes": [], "samples": [{"wrong": 0}]}
        for status, found in (
            (1, None),
            (1, {**answer, "rows": []}),
            (1, {**answer, "samples": [{"wrong": 8}]}),
            (2, None),
            (130, answer),
        ):
            with (
                self.subTest(status=status),
                self.assertRaisesRegex(CliError, "^huddle: it failed$"),
            ):
                self.rows(status, found)

    def speedups(self, ns):
        cells = {measured.TUNED: {"median_ns": 1000 * ns}, "huddle": {"median_ns": 1000}}
        lab = Lab(types.SimpleNamespace(), brief=False)
        rows = [{"bytes": 4096, "line": line, "cells": cells} for line in ("near", "far")]
        with mock.patch.object(measured, "bench", return_value=rows):
            return list(measured.speedups(lab, "bcast", 6.5))

    def test_goals_are_kept_apart_from_published_figures(self):
        """
        Checks that huddle's own goal has a row of its own, since the published figure is of other
        ranks.
        """
        for factor, holds in ((5.64, True), (3.43, False)):
            published, goal, near, far = self.speedups(factor)
            self.assertEqual(f"4 KB: {factor:.2f}", near.here)
            self.assertTrue(near.what.endswith("near") and far.what.endswith("far"))
            self.assertEqual(
                (6.5, factor, ""), (published.published, published.here, published.verdict())
            )
            self.assertEqual((None, holds), (goal.published, goal.agrees))
            self.assertIn("huddle's own goal", goal.what)


@pytest.mark.serial
@long_test
@unittest.skipUnless(shutil.which("mpirun.openmpi"), "there is no Open MPI")
class Measured(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        answer = subprocess.run(
            [
                os.path.join(BUILD, "bin", "huddle"),
                "lab",
                "reproduce",
                "measured",
                "--brief",
                "--json",
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=500,
            check=False,
        )
        if answer.returncode != 0:
            raise AssertionError(answer.stderr)
        cls.rows = json.loads(answer.stdout)["measured"]["rows"]

    def test_all_rows_are_measured(self):
        self.assertEqual({"measured"}, {row["by"] for row in self.rows})

    def test_speedups_are_over_coll_tuned(self):
        largest = [row for row in self.rows if "largest speedup" in row["what"]]
        self.assertEqual([6.5, 3.3, None], [row["published"] for row in largest])
        for row in largest:
            self.assertGreater(row["here"], 0)

    def test_no_baseline_is_recommended(self):
        for row in self.rows:
            if "recommended" in row["what"]:
                self.assertRegex(row["here"], r"^8 B: [\w-]+, 512 B: ")
                self.assertFalse(re.search("messages|banks|controls|slots|release", row["here"]))

    def test_figure_13_has_both_forms(self):
        self.assertEqual(2, sum(row["what"].startswith("01, figure 13") for row in self.rows))
