#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests that run.py fails if it has tried nothing, with the expected message."""

import collections
import importlib.util
import pathlib
import types
import unittest

HERE = pathlib.Path(__file__).resolve().parent
import judge

# under another name, since it imports tests/mpi/run.py
spec = importlib.util.spec_from_file_location("faults_run", HERE / "run.py")
run = importlib.util.module_from_spec(spec)
spec.loader.exec_module(run)


class Untested(unittest.TestCase):
    def test_no_points(self):
        self.assertIn("no points", run.untested(collections.Counter()))

    def test_points_that_are_never_reached_are_reported(self):
        self.assertIn("none", run.untested(collections.Counter({"not reached": 3})))

    def test_a_single_point_that_was_reached_suffices(self):
        self.assertIsNone(run.untested(collections.Counter({"not reached": 3, "handled": 1})))


class Alike(unittest.TestCase):
    """Tests of ranks of a team of which one rank has seen fewer calls."""

    @staticmethod
    def told(first, second, unseen=("b",)):
        ranks = [
            types.SimpleNamespace(teams={0: (2, r, 0)}, calls={0: c})
            for r, c in enumerate((first, second))
        ]
        return list(judge.alike(ranks, unseen))

    def test_missing_passed_calls_are_allowed(self):
        self.assertEqual(self.told([("a", 1), ("b", 1), ("c", 1)], [("a", 1), ("c", 1)]), [])

    def test_missing_passed_calls_of_other_collectives_are_found(self):
        self.assertTrue(self.told([("a", 1), ("b", 1), ("c", 1)], [("a", 1), ("c", 1)], ("c",)))
        self.assertTrue(self.told([("a", 1), ("b", 1)], [("a", 1)], ()))

    def test_only_nonblocking_calls_of_open_mpi(self):
        self.assertIn("bcast", judge.may_be_unseen("ompi4", True))
        self.assertEqual(judge.may_be_unseen("ompi4", False), ())
        self.assertEqual(judge.may_be_unseen("mpich4", True), ())

    def test_missing_handled_calls_are_found(self):
        self.assertTrue(self.told([("a", 0), ("b", 1)], [("a", 0)]))

    def test_different_orders_are_found(self):
        self.assertTrue(self.told([("a", 1), ("b", 1)], [("b", 1), ("a", 1)]))

    def test_different_answers_are_found(self):
        self.assertTrue(self.told([("a", 1), ("b", 1)], [("a", 1), ("b", 0)]))
