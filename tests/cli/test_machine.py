# SPDX-License-Identifier: BSD-3-Clause
"""huddle tune --machine: the file from made-up measurements, and a short real run that huddle simulate reads.  test_machine.py SOURCE BUILD."""
import os
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
sys.path.insert(0, SOURCE)
from cli import tune_machine  # noqa: E402
from cli.machines import tomllib  # noqa: E402

MEASURED = {"name": 'A "machine"', "cores": 4, "topology": "pack:1 core:4 pu:1", "xml": None, "shared_level": "numa",
            "numbers": [{"table": "lines", "key": "transfer_ns.numa", "value": 61.594, "note": "measured: somehow"},
                        {"table": "caches", "key": "private_bytes", "value": 2097152.0, "note": "hwloc's"}]}


def huddle(home, *words):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("HUDDLE")}
    return subprocess.run([os.path.join(BUILD, "bin", "huddle"), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**clean, "XDG_CONFIG_HOME": home}, timeout=250, check=False)


class File(unittest.TestCase):
    def test_text(self):
        lines = tune_machine.text_of(MEASURED, MEASURED["topology"], "2026-01-02").split("\n")
        for line in ("# Written by 'huddle tune --machine'.", 'name = "A \\"machine\\""', 'source = "measured by huddle tune --machine on 2026-01-02, 4 cores"', 'topology = "pack:1 core:4 pu:1"',
                     "[lines]", "transfer_ns.numa = 61.59        # measured: somehow", "private_bytes = 2097152         # hwloc's", "[links]", "[reduce]"):
            self.assertIn(line, lines)
        self.assertTrue(any(line.startswith('shared_level = "numa" ') for line in lines))


@unittest.skipIf(tomllib is None, "no tomllib here")
@unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one processor")
class Real(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.home = self.folder.name

    def tearDown(self):
        self.folder.cleanup()

    def test_what_is_measured_can_be_simulated(self):
        said = huddle(self.home, "tune", "--machine")
        self.assertEqual((0, ""), (said.returncode, said.stderr))
        path = os.path.join(self.home, "huddle", "machine.toml")
        self.assertIn(f"Written: {path}", said.stdout)
        with open(path, "rb") as file:
            machine = tomllib.load(file)
        self.assertLess(machine["lines"]["hit_ns"], machine["lines"]["transfer_ns"]["machine"])
        simulated = huddle(self.home, "simulate", "barrier", "--ranks", "2")
        self.assertEqual((0, ""), (simulated.returncode, simulated.stderr))
        self.assertIn(f"on {machine['name']}", simulated.stdout)
        beside = huddle(self.home, "simulate", "bcast", "--ranks", "2", "--bytes", "8,64K", "--algorithm", "queue,slots", "--measure")
        self.assertEqual((0, ""), (beside.returncode, beside.stderr))
        for line in (r"Simulated and measured bcast, 2 ranks .*; line transfer: simulated machine [\d.]+ ns, measured ", r"8 B +queue +\S+ ns +", r"64 KB +slots ", r"simulated / measured: geometric mean \d"):
            self.assertRegex(beside.stdout, line)
        self.assertEqual(0, huddle(self.home, "tune", "--machine", path).returncode, "what tune wrote, tune overwrites")

    def test_complaints(self):
        mine = os.path.join(self.home, "mine.toml")
        with open(mine, "w", encoding="utf-8") as file:
            file.write("name = 1\n")
        for words, complaint in (
                (("--machine", "/none/x.toml"), "/none/x.toml cannot be written: there is no directory /none (another place: --machine FILE)"),
                (("--machine", mine), f"{mine} was not written by 'huddle tune': not overwritten (--force does; another place: --machine FILE)"),
                (("--machine", mine, "--quick"), "tune: --quick: not with --machine (accepted: --machine FILE, --force)")):
            said = huddle(self.home, "tune", *words)
            self.assertNotEqual(0, said.returncode)
            self.assertEqual(f"huddle: {complaint}\n", said.stderr)


if __name__ == "__main__":
    unittest.main()
