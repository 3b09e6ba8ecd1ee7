# SPDX-License-Identifier: BSD-3-Clause
"""Tests that commands name bad settings of the environment before they start jobs."""

import unittest

from harness import run_huddle
from paths import BUILD

STARTING = (  # commands that start jobs; "true" would start, and leave no records
    ("tune", "barrier", "--ranks", "2", "--minutes", "0.02"),
    ("tune", "--network", "mpirun -np 2"),
    ("bench", "barrier", "--ranks", "2", "--launches", "1"),
    ("profile", "--", "true"),
    ("compare", "--runs", "1", "--", "true"),
)
REFUSED = r"^huddle: HUDDLE_BARRIER=foo is not valid \(accepted: [^\n]*\): huddle handles no calls"


class Refused(unittest.TestCase):
    def test_a_bad_setting_is_one_line_before_a_job_starts(self):
        for words in STARTING:
            for more, end in (
                ({}, r"\n$"),
                ({"HUDDLE_MEMORY": "lots"}, r" \(1 more: huddle settings\)\n$"),
            ):
                with self.subTest(words=words, more=more):
                    answer = run_huddle(BUILD, words, 60, HUDDLE_BARRIER="foo", **more)
                    self.assertEqual((2, ""), (answer.returncode, answer.stdout))
                    self.assertRegex(answer.stderr, REFUSED + end)

    def test_settings_that_the_jobs_do_not_get_are_not_refused(self):
        words = ("profile", "--off", "--", "true")
        self.assertNotRegex(run_huddle(BUILD, words, 60, HUDDLE_BARRIER="foo").stderr, REFUSED)
        words = ("tune", "barrier", "--mpi", "lam")
        answer = run_huddle(BUILD, words, 60, HUDDLE_TUNING="/nowhere/t.rules")
        self.assertIn("--mpi lam", answer.stderr)
