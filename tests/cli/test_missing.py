# SPDX-License-Identifier: BSD-3-Clause
"""
A library that libhuddle loads at its first use is missing: what reports that, and by how many
ranks.  test_missing.py BUILD.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop()).resolve()
RANKS = 4


class Missing(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def without_topology(self):
        """A folder with libhuddle alone."""
        for library in BUILD.glob("lib*/libhuddle.so*"):
            shutil.copy(library, self.folder / library.name)

    def without_jansson(self):
        """A folder with a file of that name that is no library."""
        (self.folder / "libjansson.so.4").write_text("no library\n", encoding="utf-8")

    def run_with(self, *command, **settings):
        env = {k: v for k, v in os.environ.items() if not k.startswith("HUDDLE")}
        env.update(settings, LD_LIBRARY_PATH=str(self.folder))
        return subprocess.run(
            command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120
        )

    def probe(self, *words):
        return self.run_with(next(BUILD.glob("libexec*/huddle/probe")), *words)

    def team(self, **settings):
        return self.run_with(BUILD / "examples" / "team", str(RANKS), "14", **settings)

    def test_one_rank_names_the_topology_library(self):
        self.without_topology()
        done = self.team()
        lines = [line for line in done.stderr.splitlines() if "libhuddle-topology.so" in line]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertIn("huddle: the machine is not known", lines[0])
        self.assertIn(" 0 wrong", done.stdout + done.stderr)
        self.assertEqual(self.team(HUDDLE_LOG="error").stderr.count("libhuddle-topology.so"), 0)

    def test_probe_names_the_topology_library(self):
        self.without_topology()
        for words in (
            ("info", "machine"),
            ("explain", "bcast", "8", "4", "core"),
            ("choices", "bcast", "2", "4", "core"),
        ):
            done = self.probe(*words)
            self.assertIn("libhuddle-topology.so: cannot open", done.stderr)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1))

    def test_probe_names_jansson(self):
        self.without_jansson()
        done = self.probe("info", "settings")
        self.assertIn("libjansson.so.4: ", done.stderr)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1))

    def test_statistics_name_jansson(self):
        self.without_jansson()
        file = self.folder / "stats"
        done = self.team(HUDDLE_STATS=f"json:{file}")
        lines = [line for line in done.stderr.splitlines() if "HUDDLE_STATS" in line]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertIn(f"cannot write {file}: ", lines[0])
        self.assertIn("libjansson.so.4: ", lines[0])

    def test_statistics_name_what_a_file_lacks(self):
        done = self.team(HUDDLE_STATS="json:/nowhere/stats")
        self.assertIn("cannot write /nowhere/stats: No such file or directory", done.stderr)

    def test_a_wrong_question_is_still_one(self):
        done = self.probe("info", "nothing")
        self.assertEqual((done.returncode, done.stderr), (2, "huddle: probe: no topic nothing\n"))


if __name__ == "__main__":
    unittest.main()
