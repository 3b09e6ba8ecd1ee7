#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
lint_edges.py and mutate.py complain when they should: on made-up algorithms, and with a checker
that finds all or nothing.
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "lint"))
from lint_edges import complaints, files, read  # noqa: E402

HEAD = (
    "/* SPDX-License-Identifier: BSD-3-Clause */\n/*\n * made/up.c\n *\n * Edges  R1 -> A1 "
    " this\n{more} */\n"
)


class Lint(unittest.TestCase):
    def said(self, body, more=""):
        with tempfile.NamedTemporaryFile("w", suffix=".c") as file:
            file.write(HEAD.format(more=more) + body)
            file.flush()
            return "; ".join(f"{line}: {what}" for line, what in complaints(file.name))

    good = "mem_post(m, f, 1); /* R1 */\nmem_await(m, f, 1); /* A1 */\n"

    def test_right(self):
        self.assertEqual(self.said(self.good), "")
        self.assertEqual(
            self.said(self.good + "x = mem_add(m, f, 1); /* R1, A1 */\nmem_peek(m, f); /* A1 */\n"),
            "",
        )

    def test_call_without_label(self):
        self.assertIn(
            "9: mem_await needs /* An */",
            self.said("mem_post(m, f, 1); /* R1 */\n\nmem_await(m, f, 1);\n"),
        )
        self.assertIn("mem_add needs", self.said(self.good + "mem_add(m, f, 1);"))

    def test_label_of_the_wrong_kind(self):
        self.assertIn(
            "mem_post needs /* Rn */",
            self.said("mem_post(m, f, 1); /* A1 */\nmem_await(m, f, 1); /* A1 */\n"),
        )

    def test_label_without_call(self):
        self.assertIn("without a call", self.said(self.good + "int x; /* R1 */\n"))

    def test_two_calls_on_a_line(self):
        self.assertIn(
            "one call a line", self.said("mem_post(m, f, 1); mem_await(m, f, 1); /* R1, A1 */\n")
        )

    def test_head_and_code_differ(self):
        self.assertIn(
            "R2 is declared in the head and used nowhere",
            self.said(self.good, " *        R2 -> A2  that\n"),
        )
        self.assertIn(
            "A3 is used and not declared", self.said(self.good + "mem_peek(m, f); /* A3 */\n")
        )


class Mutate(unittest.TestCase):
    def run_with(self, checker):
        done = subprocess.run(
            [sys.executable, "-B", ROOT / "tests/sim/mutate.py", "--checker", checker],
            capture_output=True,
            text=True,
        )
        return done.returncode, done.stdout

    def test_survivors_are_named(self):
        status, out = self.run_with("true")
        self.assertEqual(status, 1)
        for path in files(ROOT / "src"):
            for site in read(path)[1]:
                for label in site.labels:
                    self.assertIn(f"not found: {path.relative_to(ROOT)}:{site.line} {label}", out)

    def test_a_checker_that_finds_all(self):
        self.assertEqual(self.run_with("false")[0], 0)


if __name__ == "__main__":
    unittest.main()
