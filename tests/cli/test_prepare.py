# SPDX-License-Identifier: BSD-3-Clause
"""Tests what ./quickstart prints while a step takes long (.ci/prepare.sh)."""

import os
import subprocess
import tempfile
import unittest

from paths import SOURCE


def prepare(folder, script):
    """Runs a script of functions of prepare.sh.  Returns its status and its output."""
    path = os.path.join(folder, "said")
    with open(path, "w", encoding="utf-8") as output:
        status = subprocess.run(
            ["bash", "-euc", f". .ci/prepare.sh; {script}"],
            cwd=SOURCE,
            env={**os.environ, "PROGRESS_S": "0.05", "SAID": path},
            stdout=output,
            stderr=output,
            timeout=60,
            check=False,
        ).returncode
    with open(path, encoding="utf-8") as output:
        return status, output.read()


class Quietly(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def test_a_build_reports_its_progress(self):
        build = 'echo "[3/20] Building C object"; until grep -q "3 of 20" "$SAID"; do sleep 0.05;'
        status, output = prepare(self.folder, f"quietly sh -c '{build} done'")
        self.assertEqual((0, "huddle: 3 of 20 steps are done\n"), (status, output))

    def test_only_a_failure_shows_the_output(self):
        self.assertEqual((0, ""), prepare(self.folder, "quietly echo much"))
        failing = "quietly sh -c 'echo much; exit 3'; echo more"
        self.assertEqual((1, "much\n"), prepare(self.folder, failing))
