# SPDX-License-Identifier: BSD-3-Clause
"""What ./quickstart relies on: wrong results are noticed, and only figures of one class are compared.  test_bench.py SOURCE BUILD."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
sys.path[:0] = [os.path.join(SOURCE, "bench"), os.path.join(SOURCE, "cli")]

import hpcc  # noqa: E402
import measure  # noqa: E402
import quickstart  # noqa: E402
from jobs import JobFailed, Jobs  # noqa: E402

PROGRAM = os.path.join(BUILD, "libexec", "huddle", "bench-openmpi")

REPORT = """Found 0 errors in 131072 locations (passed).
WALL   200   200  40  40   1   2     0.00 PASSED    2.501  0.00
Solution Validates: avg error less than 1.000000e-13 on all three arrays
||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=        0.0117942 ...... PASSED
              0 tests completed and failed residual checks,
Success=1
"""


def figure(collective, size, median, before, after):
    return {"collective": collective, "bytes": size, "median_ns": median, "least_ns": median, "shots": 20, "late": 0, "line_before_ns": before, "line_after_ns": after}


class Hpcc(unittest.TestCase):
    def test_good_report(self):
        self.assertEqual(5, hpcc.checks_passed(REPORT))

    def test_every_line_counts(self):
        lines = REPORT.splitlines(keepends=True)
        for i, line in enumerate(lines):
            with self.subTest(missing=line), self.assertRaises(JobFailed):
                hpcc.checks_passed("".join(lines[:i] + lines[i + 1:]))

    def test_failures(self):
        for good, bad in (("...... PASSED", "...... FAILED"), ("Found 0 errors", "Found 3 errors"), ("Success=1", "Success=0")):
            with self.subTest(bad=bad), self.assertRaises(JobFailed):
                hpcc.checks_passed(REPORT.replace(good, bad))


class Classes(unittest.TestCase):
    def test_only_within_a_class(self):
        samples = measure.Samples()
        samples.add(2, measure.PLAIN, {"figures": [figure("barrier", 0, 1000, 60, 70), figure("bcast", 8, 500, 60, 60)]})
        samples.add(2, measure.HUDDLE, {"figures": [figure("barrier", 0, 400, 300, 310), figure("bcast", 8, 250, 55, -1)]})
        rows = samples.rows()
        self.assertEqual([("bcast", "near", 0.5, 0.25)], [(r.collective, r.line, r.plain_us, r.huddle_us) for r in rows])

    def test_wandering_processors_are_left_out(self):
        samples = measure.Samples()
        for variant in (measure.PLAIN, measure.HUDDLE):
            samples.add(2, variant, {"figures": [figure("barrier", 0, 1000, 60, 300), figure("bcast", 8, 500, -1, -1)]})
        self.assertEqual(([], 4), (samples.rows(), samples.unlabelled))


class Taken(unittest.TestCase):
    def test_nothing_taken_is_a_failure(self):
        for statistics in ({}, {"collectives": {"barrier": {"calls": 9, "taken": 0}}}):
            with self.assertRaises(JobFailed):
                quickstart.count_taken(statistics, "it")

    def test_counts(self):
        self.assertIn("4 of 9 barriers", quickstart.count_taken({"collectives": {"barrier": {"calls": 9, "taken": 4}}}, "it"))


class Collectives(unittest.TestCase):
    """The measuring program itself, on two ranks."""

    def setUp(self):
        self.jobs = Jobs(BUILD)
        self.command = [*self.jobs.on_openmpi(2, bound=True), PROGRAM, "--bytes", "8,1000,65536", "--figure-ms", "5"]
        if not os.path.exists(self.command[-5]):
            self.skipTest("no Open MPI here")

    def test_figures(self):
        for huddle in (False, True):
            output, _ = self.jobs.run(self.command, huddle)
            answer = json.loads(output)
            self.assertEqual([("barrier", 0), ("bcast", 8), ("bcast", 1000), ("bcast", 65536)], [(f["collective"], f["bytes"]) for f in answer["figures"]])
            self.assertEqual(0, answer["wrong"])

    def test_wrong_bytes_are_noticed(self):
        with tempfile.TemporaryDirectory() as scratch:
            library = os.path.join(scratch, "corrupt.so")
            subprocess.run(["mpicc.openmpi", "-shared", "-fPIC", os.path.join(SOURCE, "tests", "bench", "corrupt.c"), "-o", library], check=True)
            at = self.command.index(PROGRAM)
            with self.assertRaisesRegex(JobFailed, r'status 1[^\d](.|\n)*"wrong": [1-9]'):
                self.jobs.run([*self.command[:at], "env", f"LD_PRELOAD={library}", *self.command[at:]])


if __name__ == "__main__":
    unittest.main()
