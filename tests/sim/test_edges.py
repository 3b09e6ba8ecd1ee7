#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Tests the complaints of lint_edges.py and mutate.py: on made-up algorithms, and with a checker that
finds all or nothing.
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
import mutate
from lint_edges import complaints, files, read

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

    def test_correct_edges_pass(self):
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
    def run_with(self, checker, *paths):
        done = subprocess.run(
            [sys.executable, "-B", ROOT / "tests/sim/mutate.py", "--checker", checker, *paths],
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

    def test_reasons_for_found_mutations_are_reported(self):
        self.assertEqual(self.run_with("false", ROOT / "src/alg/windows/windows.h")[0], 0)
        status, out = self.run_with("false", ROOT / "src/alg/queue/cursor.h")
        self.assertEqual(status, 1)  # a reason why one of them is not found
        self.assertNotIn("not found: ", out)
        self.assertIn("cursor.h: R1 by allreduce/tree", out)

    def test_each_algorithm_of_a_family_must_be_found(self):
        with tempfile.TemporaryDirectory() as folder:
            checker = pathlib.Path(folder) / "checker"
            checker.write_text(
                '#!/bin/sh\ncase "$* " in *alltoall/windows*:R\\ *) exit 0 ;; esac\nexit 1\n'
            )
            checker.chmod(0o755)
            status, out = self.run_with(checker, ROOT / "src/alg/windows/windows.h")
        self.assertEqual(status, 1)
        self.assertIn("not found: src/alg/windows/windows.h R1 by alltoall/windows", out)
        self.assertNotIn("by allgather/windows", out)
        self.assertNotIn("A1 by", out)

    def test_a_header_belongs_to_the_units_that_include_it(self):
        family = ROOT / "src/alg/single_copy"
        offers = mutate.programs_of(family / "offers.h")
        self.assertIn("alltoall/cma_read", offers)
        self.assertNotIn("bcast/cma_read", offers)
        self.assertLess(set(offers), set(mutate.programs_of(family / "single_copy.h")))

    def test_every_choice_of_a_last_read_is_tried(self):
        folder = ROOT / "src/alg"
        chosen = [path for path in folder.rglob("*.[ch]") if mutate.CHOICE.search(path.read_text())]
        self.assertEqual(
            set(mutate.SHARED_READS), {str(path.relative_to(folder)) for path in chosen}
        )
        places = [place for path in chosen for place in mutate.shared_reads(path)]
        for place in places:
            lines = place.path.read_text(encoding="utf-8").splitlines()
            self.assertRegex(lines[place.site.line - 1], rf"^ *mem_{place.site.call}\(.*;$")
        status, out = self.run_with("true", ROOT / "src/alg/block.h")
        self.assertEqual(status, 1)
        self.assertIn("block.h L by allgatherv/publish", out)

    def test_reasons_are_read_from_heads(self):
        head = (
            "/* x\n * Not needed\n *   R1, A2 by a/b,\n *   c/d: as it is\n *   R3 by e/f:\n */\n#"
        )
        self.assertEqual(
            mutate.unneeded(head), {("R1", "a/b"), ("R1", "c/d"), ("A2", "a/b"), ("A2", "c/d")}
        )
        self.assertEqual(mutate.unneeded("/* x */\n#include\n/* R1 by a/b: no head */"), set())
