# SPDX-License-Identifier: BSD-3-Clause
"""
Tests what huddle explain shows of the laboratory where it is installed: the names of its machines,
and the series of evidence.
"""

import glob
import json
import os
import unittest

from harness import run_huddle
from paths import BUILD, SOURCE


def explain(*words):
    return run_huddle(BUILD, ("explain", *words), timeout=60)


def facts(*words):
    answer = explain(*words, "--json")
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


def machines_in(*folder):
    paths = glob.glob(os.path.join(SOURCE, "lab", "machines", *folder, "*.toml"))
    return sorted(os.path.splitext(os.path.basename(path))[0] for path in paths)


class Machines(unittest.TestCase):
    def test_the_list_has_all_machines(self):
        names = machines_in() + machines_in("recorded")
        answer = explain("--machine", "list")
        self.assertEqual(0, answer.returncode, answer.stderr)
        for name in names:
            self.assertIn(name, answer.stdout)
        answer = explain("bcast", "--machine", "abacus")
        self.assertIn(f"(accepted: this, {', '.join(names)}, or ", answer.stderr)

    def test_recorded_machines_have_names(self):
        for name in machines_in("recorded"):
            with self.subTest(machine=name):
                asked = facts("bcast", "--bytes", "8", "--machine", name)["facts"]
                self.assertIn(f"-{asked['processors']}-cores", name)

    def test_machines_are_explained(self):
        for name in machines_in():
            with self.subTest(machine=name):
                known = facts("bcast", "--ranks", "2", "--machine", name)["facts"]
                quick = name != "opteron-8347he"  # its kernel takes 6.4 times as long as a core
                self.assertEqual((True, quick), (known["direct"], known["quick"]))


class Evidence(unittest.TestCase):
    def test_rows_name_their_evidence(self):
        for number, series in facts("allreduce", "--machine", "xeon-8358")["evidence"].items():
            with self.subTest(number=number):
                self.assertIn(series["kind"], ("measured", "simulated"))
                self.assertTrue(os.path.getsize(series["data"]) > 0)
        text = explain("allreduce", "--machine", "xeon-8358").stdout
        self.assertRegex(text, r"tree=nested.* E7 simulated\n")
        self.assertRegex(text, r"\n  measured on .*EPYC.*: .*E23")
        self.assertRegex(text, r"E7 +simulated +allreduce of ")
