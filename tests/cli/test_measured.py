# SPDX-License-Identifier: BSD-3-Clause
"""
huddle reproduce measured, briefly: rows of papers 01 and 05 by Open MPI on this machine.
test_measured.py BUILD.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import unittest

BUILD = os.path.abspath(sys.argv.pop(1))


@unittest.skipUnless(shutil.which("mpirun.openmpi"), "there is no Open MPI")
class Measured(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        said = subprocess.run(
            [os.path.join(BUILD, "bin", "huddle"), "reproduce", "measured", "--brief", "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=500,
            check=False,
        )
        if said.returncode != 0:
            raise AssertionError(said.stderr)
        cls.rows = json.loads(said.stdout)["measured"]["rows"]

    def test_all_are_measured(self):
        self.assertEqual({"measured"}, {row["by"] for row in self.rows})

    def test_speedups_are_over_coll_tuned(self):
        largest = [row for row in self.rows if "largest speedup" in row["what"]]
        self.assertEqual([6.5, 3.3, None], [row["published"] for row in largest])
        for row in largest:
            self.assertGreater(row["here"], 0)

    def test_no_baseline_is_recommended(self):
        for row in self.rows:
            if "recommended" in row["what"]:
                self.assertRegex(row["here"], r"^8 B: [\w-]+, 512 B: ")
                self.assertFalse(re.search("messages|banks|controls|slots|release", row["here"]))

    def test_figure_13_has_both_forms(self):
        self.assertEqual(2, sum(row["what"].startswith("01, figure 13") for row in self.rows))


if __name__ == "__main__":
    unittest.main()
