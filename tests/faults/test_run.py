#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""run.py fails where it has tried nothing, and in the way that it says."""

import collections
import importlib.util
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
# under another name: it imports tests/mpi/run.py
spec = importlib.util.spec_from_file_location("faults_run", HERE / "run.py")
run = importlib.util.module_from_spec(spec)
spec.loader.exec_module(run)


class Untested(unittest.TestCase):
    def test_no_points(self):
        self.assertIn("no points", run.untested(collections.Counter()))

    def test_none_reached(self):
        self.assertIn("none", run.untested(collections.Counter({"not reached": 3})))

    def test_one_reached(self):
        self.assertIsNone(run.untested(collections.Counter({"not reached": 3, "handled": 1})))


if __name__ == "__main__":
    unittest.main()
