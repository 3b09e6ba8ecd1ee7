# SPDX-License-Identifier: BSD-3-Clause
"""
Tests that a missing library which libhuddle loads at its first use, or which `query` needs, is
reported, and by how many ranks.
"""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from paths import BUILD

BUILD = pathlib.Path(BUILD)
RANKS = 4


class Missing(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def without_topology(self):
        """Makes a folder with libhuddle alone."""
        for library in BUILD.glob("lib*/libhuddle.so*"):
            shutil.copy(library, self.folder / library.name)

    def without_jansson(self):
        """Makes a folder with a file of this name that is not a library."""
        (self.folder / "libjansson.so.4").write_text("no library\n", encoding="utf-8")

    def run_with(self, *command, **settings):
        env = {k: v for k, v in os.environ.items() if not k.startswith("HUDDLE")}
        env.update(settings, LD_LIBRARY_PATH=str(self.folder))
        return subprocess.run(
            command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120
        )

    def query(self, *words):
        return self.run_with(next(BUILD.glob("libexec*/huddle/query")), *words)

    def team(self, **settings):
        return self.run_with(BUILD / "examples" / "team", str(RANKS), "14", **settings)

    def test_one_rank_reports_the_missing_topology_library(self):
        self.without_topology()
        done = self.team()
        lines = [line for line in done.stderr.splitlines() if "libhuddle-topology.so" in line]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertIn("huddle: the topology of the machine is unknown", lines[0])
        self.assertIn(" 0 wrong", done.stdout + done.stderr)
        self.assertEqual(self.team(HUDDLE_LOG="error").stderr.count("libhuddle-topology.so"), 0)

    def test_query_needs_jansson(self):
        self.without_jansson()
        done = self.query("info", "settings")
        self.assertIn("libjansson.so.4: ", done.stderr)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (127, 1))

    def test_statistics_need_no_jansson(self):
        self.without_jansson()
        file = self.folder / "stats"
        done = self.team(HUDDLE_STATS=f"json:{file}")
        self.assertNotIn("HUDDLE_STATS", done.stderr)
        with open(file, encoding="utf-8") as text:
            stats = json.load(text)
        self.assertEqual(stats["ranks_seen"], RANKS)
        self.assertGreater(stats["collectives"]["bcast"]["calls"], 0)

    def test_statistics_name_the_missing_parts_of_a_file(self):
        done = self.team(HUDDLE_STATS="json:/nowhere/stats")
        self.assertIn("cannot write /nowhere/stats: No such file or directory", done.stderr)

    def test_a_wrong_question_is_an_error_without_jansson(self):
        done = self.query("info", "nothing")
        self.assertEqual((done.returncode, done.stderr), (2, "huddle: query: no topic nothing\n"))
