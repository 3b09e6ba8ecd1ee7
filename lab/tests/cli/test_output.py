# SPDX-License-Identifier: BSD-3-Clause
"""Tests that commands of the laboratory refuse files that cannot be written, before they work."""

import unittest

from harness import run_huddle
from paths import BUILD

from cli.common import output_files


def huddle(*words):
    return run_huddle(BUILD, ("lab", *words), timeout=60)


class Output(unittest.TestCase):
    def test_output_files_are_checked_before_the_work(self):
        there = ("--machine", "xeon-e5620")
        for words, option in (
            (("simulate", "bcast", *there), "--png"),
            (("model", *there), "--plot"),
            (("reproduce", "04"), "--page"),
            (("reproduce", "04"), "--figures"),
        ):
            with self.subTest(words):
                answer = huddle(*words, option, "/none/x")
                self.assertEqual((2, ""), (answer.returncode, answer.stdout))
                self.assertRegex(
                    answer.stderr,
                    rf"^huddle: {option} /none/x: cannot be written: there is no [^\n]*\n$",
                )

    def test_help_describes_how_files_are_written(self):
        for command in ("simulate", "model", "reproduce"):
            output = " ".join(huddle(command, "--help").stdout.split())
            self.assertIn(output_files.HELP, output, command)


if __name__ == "__main__":
    unittest.main()
