# SPDX-License-Identifier: BSD-3-Clause
"""Tests the reader and writer of tables of choices (cli/common/rules.py)."""

import os
import tempfile
import unittest

from paths import SOURCE

from cli.common import rules

TABLE = os.path.join(SOURCE, "src", "core", "plan", "builtin.rules")


class Rules(unittest.TestCase):
    def test_built_in_rules_are_formatted_as_they_were_read(self):
        texts = [text for text in rules.content_of(TABLE) if text and text[0] != "#"]
        lines = rules.rules_of(TABLE)
        self.assertGreater(len(lines), 50)
        self.assertEqual(texts, [rules.folded(line) for line in lines])
        self.assertGreaterEqual(100, max(len(row) for text in texts for row in text.split("\n")))

    def test_the_parts_of_a_line(self):
        line = rules.parse("\tbcast bytes=1K- ranks=2 -> queue tree=chain | evidence=prior date=#x")
        self.assertEqual(("bcast", "queue"), (line.name, line.algorithm))
        self.assertEqual({"ranks": "2", "bytes": "1K-"}, line.conditions)
        self.assertEqual({"tree": "chain"}, line.params)
        self.assertEqual({"evidence": "prior", "date": ""}, line.notes)
        self.assertEqual(("bcast", {}, "mpi", {}, {}), rules.parse("bcast -> mpi"))
        for text in ("", "  \t", "# bcast -> mpi", "  # x"):
            self.assertIsNone(rules.parse(text))

    def test_a_text_with_spaces(self):
        line = rules.parse('machine processors=4 cpu="A # name, quick" # note')
        self.assertEqual({"processors": "4", "cpu": "A # name, quick"}, line.conditions)
        self.assertFalse(line.is_rule)
        self.assertEqual('machine processors=4 cpu="A # name, quick"', rules.line_text(line))

    def test_splitting_keeps_comments_with_the_line_below(self):
        texts = ["# head", "", "# of it", "network alpha_ns=1", "# b", "bcast -> mpi", "# end"]
        found, others = rules.split(texts, lambda line: line.name == rules.NETWORK)
        self.assertEqual(["# of it", "network alpha_ns=1"], found)
        self.assertEqual(["# head", "", "# b", "bcast -> mpi", "# end"], others)

    def test_values_of_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.rules")
            with open(path, "w", encoding="utf-8") as file:
                file.write("bcast -> mpi\nmachine processors=4\n")
            self.assertEqual({"processors": "4"}, rules.values_of(path, rules.MACHINE))
            self.assertIsNone(rules.values_of(path, rules.NETWORK))
            self.assertEqual(["bcast"], [line.name for line in rules.rules_of(path)])
