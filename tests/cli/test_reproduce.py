# SPDX-License-Identifier: BSD-3-Clause
"""huddle reproduce, briefly: rows and figures of each paper, and what is said where SimGrid is missing.  test_reproduce.py BUILD."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from said import without_progress

BUILD = os.path.abspath(sys.argv.pop(1))
SIMULATED = ("01", "02", "03", "05", "own")
SIMGRID = shutil.which("smpirun") and os.path.exists(os.path.join(BUILD, "libexec", "huddle", "messages-smpi"))

def reproduce(*words, **environment):
    return without_progress(subprocess.run([os.path.join(BUILD, "bin", "huddle"), "reproduce", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, **environment}, timeout=100, check=False))


def answer(*words, **environment):
    said = reproduce(*words, "--brief", "--json", **environment)
    assert said.returncode == 0, said.stderr
    return json.loads(said.stdout)


class Paper04(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.paper = answer("04")["04"]
        cls.rows = {(row["what"], row["by"]): row for row in cls.paper["rows"]}

    def found(self, start, by):
        rows = [row for (what, who), row in self.rows.items() if what.startswith(start) and who == by]
        self.assertTrue(rows, f"{start}, {by}")
        return rows[0]

    def test_functions_give_the_published_degrees(self):
        for tree in ("k-ary", "k-nomial"):
            row = self.found(f"{tree} tree: best k", "function")
            self.assertEqual(row["published"], row["here"])

    @unittest.skipUnless(SIMGRID, "SimGrid is not here")
    def test_simgrid_computes_the_model(self):
        for start in ("k-ary tree, k = 2", "k-nomial tree, k = 2", "linear, 1000 B", "linear, 100000 B", "chain: time"):
            row = self.found(start, "SimGrid")
            self.assertLess(abs(row["here"] / row["published"] - 1), 0.02, start)
        self.assertTrue(self.found("k-nomial tree: best k", "SimGrid")["agrees"])

    def test_figures_have_lines(self):
        names = {figure["name"] for figure in self.paper["figures"]}
        self.assertEqual({"figure-6", "figure-9", "figure-12", "figure-13", "figure-14"}, names)
        for figure in self.paper["figures"]:
            for label, x, y, _ in figure["lines"]:
                self.assertEqual(len(x), len(y), label)
                self.assertTrue(all(value > 0 for value in y), label)

    def test_without_simgrid_the_functions_are_left(self):
        with tempfile.TemporaryDirectory() as empty:
            os.symlink(sys.executable, os.path.join(empty, "python3"))
            os.symlink("/usr/bin/env", os.path.join(empty, "env"))
            paper = answer("04", PATH=empty)["04"]
        self.assertIn("libsimgrid-dev", " ".join(paper["notes"]))
        self.assertEqual({"function"}, {row["by"] for row in paper["rows"]})


@unittest.skipUnless(os.path.exists(os.path.join(BUILD, "libexec", "huddle", "simulate")), "built without the simulator")
class Simulated(unittest.TestCase):
    def test_what_is_simulated_is_the_same_each_time(self):
        self.assertEqual(*(answer("03")["03"]["rows"] for _ in range(2)))

    def test_each_paper_has_rows_and_figures(self):
        for paper, found in answer(*SIMULATED).items():
            self.assertIn("simulated", {row["by"] for row in found["rows"]}, paper)
            for figure in found["figures"]:
                for label, x, y, _ in figure["lines"]:
                    self.assertEqual(len(x), len(y), label)
                    self.assertTrue(all(value > 0 for value in y), label)

    def test_the_model_of_paper_01_gives_what_it_printed(self):
        rows = [row for row in answer("01")["01"]["rows"] if row["what"].startswith("figure 6") or row["what"].startswith("f* of a queue")]
        self.assertEqual(6, len(rows))
        for row in rows:
            self.assertLess(abs(row["here"] / row["published"] - 1), 0.005, row["what"])

    def test_the_central_counter_is_slowest(self):
        rows = {row["what"]: row for row in answer("03")["03"]["rows"]}
        self.assertEqual("sense-reversing", rows["slowest, 16 ranks"]["here"])


class Words(unittest.TestCase):
    def test_errors_are_one_line(self):
        said = reproduce("17")
        self.assertEqual((2, 1), (said.returncode, said.stderr.count("\n")))
        self.assertIn("accepted: ", said.stderr)

    def test_help_says_what_the_papers_are(self):
        said = " ".join(reproduce("--help").stdout.split())
        for words in ("01: Paper 01 (Kurnosov, Tokmasheva, ", "own: Not of a paper: the fastest barrier", "Debian's libsimgrid-dev", "two minutes"):
            self.assertIn(words, said)

    def test_a_page_is_written_or_it_is_said_why_not(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.md")
            said = reproduce("04", "--brief", "--page", path)
            if said.returncode == 0:
                with open(path, encoding="utf-8") as file:
                    page = file.read()
                self.assertIn("| k-ary tree: best k, 8 ranks | 3 | 3 | +0.0 % | function |", page)
                self.assertIn("![", page)
                self.assertIn("04-figure-6.png", os.listdir(os.path.join(folder, "figures")))
            else:
                self.assertIn("matplotlib", said.stderr)

    def test_figures_are_drawn_or_it_is_said_why_not(self):
        with tempfile.TemporaryDirectory() as folder:
            said = reproduce("04", "--brief", "--figures", folder)
            if said.returncode == 0:
                self.assertIn("04-figure-6.png", os.listdir(folder))
            else:
                self.assertIn("matplotlib", said.stderr)


if __name__ == "__main__":
    unittest.main()
