# SPDX-License-Identifier: BSD-3-Clause
"""Tests that a fault has the same exit status in all commands (cli/common/exit_status.py)."""

import ast
import glob
import os
import unittest

from paths import BUILD, SOURCE
from wisdom_files import OWN, QUEUE, Folder

from cli.common.exit_status import BAD_USE, DONE, FAILED, MEANINGS
from cli.main import COMMANDS

RUNS = ("--", "true")  # a command that none of these starts
NOWHERE = "/nowhere/x"


class Statuses(Folder):
    def expect(self, status, *cases, **environment):
        for words in cases:
            with self.subTest(words=words):
                answer = self.run_it(*words, **environment)
                self.assertEqual(status, answer.returncode, answer.stdout + answer.stderr)
                if status == BAD_USE:
                    self.assertEqual("", answer.stdout, "nothing was done")
                    self.assertRegex(answer.stderr, r"^huddle: [^\n]*\n$")

    def in_home(self, name, text):
        path = os.path.join(self.home, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test_a_word_that_is_no_option(self):
        self.expect(BAD_USE, *((name, "--nonsense") for name in COMMANDS if name != "lab"))

    def test_a_name_that_is_not_known(self):
        self.expect(
            BAD_USE,
            *(("wisdom", "show", "rotate"), ("explain", "rotate"), ("tune", "rotate")),
            *(("bench", "rotate"), ("settings", "rotate"), ("wisdom", "forget", "rotate")),
            *((name, "--mpi", "lam") for name in ("wisdom", "explain", "tune", "bench")),
        )

    def test_a_named_file_that_cannot_be_written(self):
        self.write(QUEUE)
        self.expect(
            BAD_USE,
            ("wisdom", "export", NOWHERE),
            ("tune", "barrier", "--output", NOWHERE),
            ("bench", "barrier", "--json", NOWHERE),
            ("profile", "--json", NOWHERE, *RUNS),
            ("compare", "--json", NOWHERE, *RUNS),
            ("run", f"--stats={NOWHERE}", *RUNS),
        )

    def test_a_file_that_must_not_be_replaced(self):
        self.write(QUEUE)
        mine = self.in_home("mine", "mine\n")
        self.expect(BAD_USE, ("wisdom", "export", mine), ("tune", "barrier", "--output", mine))

    def test_a_named_file_that_is_missing_or_wrong(self):
        garbage, other = self.in_home("x.toml", "garbage\n"), self.in_home("other.rules", "")
        self.write(OWN, path=other)
        self.expect(
            BAD_USE,
            *(("wisdom", action, f) for action in ("import", "merge") for f in (NOWHERE, garbage)),
            ("wisdom", "import", other),
            *(("explain", "--machine", file) for file in (f"{NOWHERE}.toml", garbage)),
            ("profile", "--from", NOWHERE),
        )

    def test_a_wrong_file_after_a_good_one_changes_nothing(self):
        good, other = self.in_home("good.rules", ""), self.in_home("other.rules", "")
        self.write(QUEUE, path=good, machine=self.place()[1])
        self.write(OWN, path=other)
        self.expect(BAD_USE, ("wisdom", "merge", good, other))
        self.assertFalse(os.path.exists(self.place()[0]))

    def test_a_cache_that_cannot_be_written(self):
        path, machine = self.place()
        self.write(QUEUE, path=path, machine=machine)
        self.expect(FAILED, ("wisdom", "import", path), XDG_CACHE_HOME="/proc/x")

    def test_without_an_mpi(self):
        if os.path.isdir(os.path.join(BUILD, "peers")):
            self.skipTest("MPIs are installed in the build")
        nothing = {"PATH": "/nowhere", "MPI_PREFIXES": ""}
        words = (("tune", "barrier"), ("bench", "barrier"), ("doctor",))
        self.expect(FAILED, *words, **nothing)

    def test_where_nothing_is_known(self):
        self.expect(
            DONE,
            *(("wisdom",), ("wisdom", "show", "bcast"), ("wisdom", "--mpi", "mpich4")),
            *(("wisdom", "forget", "bcast"), ("wisdom", "forget", "--all", "--mpi", "mpich4")),
            ("explain", "bcast", "--bytes", "8", "--ranks", "2", "--mpi", "mpich4"),
        )
        self.expect(FAILED, ("wisdom", "export"), ("wisdom", "export", "--mpi", "mpich4"))

    def test_help_and_the_documents_have_the_table(self):
        text = " ".join(self.run_it("--help").stdout.split())
        with open(os.path.join(SOURCE, "docs", "running.md"), encoding="utf-8") as file:
            page = file.read()
        for status, meaning in MEANINGS.items():
            self.assertIn(f"{status}: {meaning}", text)
            self.assertIn(f"| {status} | {meaning} |\n", page)


class Source(unittest.TestCase):
    def test_errors_have_statuses_of_the_table(self):
        names = {"BAD_USE", "FAILED", "error.status"}
        for path in glob.glob(os.path.join(SOURCE, "cli", "**", "*.py"), recursive=True):
            with open(path, encoding="utf-8") as file:
                calls = [node for node in ast.walk(ast.parse(file.read())) if is_error(node)]
            for call in calls:
                more = [*call.args[1:], *(word.value for word in call.keywords)]
                for status in map(ast.unparse, more):
                    self.assertTrue("BAD_USE" in status or status in names, f"{path}: {status}")


def is_error(node):
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "CliError"
