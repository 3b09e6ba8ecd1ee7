# SPDX-License-Identifier: BSD-3-Clause
"""
Tests huddle explain on described machines, and its table of all choices.
"""

import os
import tempfile
import types
import unittest

import described
from described import CORES, explain, facts
from harness import some

from cli.common import machines
from cli.common.layout import CliError


class OnMachines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder, cls.paths = scratch.name, described.write(scratch.name)

    def describe(self, content):
        """Writes a description and returns its path."""
        path = os.path.join(self.folder, "one.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
        return path


class Described(OnMachines):
    def test_the_list_has_all_machines(self):
        answer = explain("--machine", "list")
        self.assertEqual((0, ""), (answer.returncode, answer.stderr))
        self.assertRegex(answer.stdout, r"(?m)^ *this +the machine that this runs on")

    def test_unknown_machines_without_descriptions_name_the_package(self):
        for folder, named in ((self.folder, False), (os.path.join(self.folder, "none"), True)):
            layout = types.SimpleNamespace(machines=folder)
            with self.subTest(folder=folder), self.assertRaises(CliError) as refused:
                machines.path_of(layout, "abacus")
            self.assertIn("--machine abacus: not known (accepted: this, ", str(refused.exception))
            self.assertEqual(named, "the package huddle-lab has" in str(refused.exception))

    def test_machines_are_explained_up_to_twice_their_processors(self):
        for name in some(CORES):
            for times in (1, 2):
                ranks = str(times * CORES[name])
                words = ("bcast", "--bytes", "1M", "--ranks", ranks, "--machine", self.paths[name])
                answer = facts(*words)
                with self.subTest(machine=name, times=times):
                    self.assertEqual(CORES[name], answer["facts"]["processors"])
                    self.assertEqual(times == 2, answer["facts"]["oversubscribed"])
                    self.assertEqual("machine", answer["facts"]["within"])
                    self.assertIsNotNone(answer["serves"])
                    self.assertGreater(
                        len(answer["facts"]["groups"]), 1, "the machine's levels make groups"
                    )

    def test_facts_are_those_of_the_described_machine(self):
        """
        Checks when the described kernel counts as quick, whatever this machine's is.  A core copies
        64 KB at 10 GB/s in 6.55 us, and the kernel may take six times as long, 39.3 us.
        """
        self.assertEqual(10, described.OWN_GBPS)
        for gbps, call_ns, quick in (
            (10, 500, True),
            (1.7, 500, True),
            (1.6, 500, False),
            (1.7, 1000, False),
            (10, 32700, True),
            (10, 32800, False),
        ):
            path = self.describe(described.text("pack:2 core:2 pu:1", gbps, call_ns))
            one = facts("bcast", "--ranks", "2", "--machine", path)["facts"]
            table = facts("bcast", "--ranks", "2:3", "--machine", path)
            for known in (one, table):
                with self.subTest(gbps=gbps, call_ns=call_ns):
                    self.assertEqual((True, quick), (known["direct"], known["quick"]))

    def test_single_copy_serves_if_the_settings_allow_it(self):
        words = ("alltoall", "--ranks", "4", "--bytes", "256K", "--machine")
        words = (*words, self.paths["xeon-8358"])
        self.assertEqual("cma_write", facts(*words)["serves"]["algorithm"])
        self.assertEqual("windows", facts(*words, HUDDLE_CMA="off")["serves"]["algorithm"])

    def test_incomplete_descriptions_are_refused(self):
        good = described.text("pack:2 core:2 pu:1", 5)
        for old, new, complaint in (
            ("pack:2", "pack:nonsense", "topology: pack:nonsense core:2 pu:1 is not understood"),
            ("topology", "shape", "topology: missing (accepted: a text)"),
            ("[copy]", "[other]", "copy.kernel_call_ns: missing (accepted: a number above 0)"),
            ("kernel_gbps = 5", "kernel_gbps = 0", "copy.kernel_gbps: 0 (accepted: "),
            ("kernel_gbps = 5", "kernel_gbps = 'x'", "copy.kernel_gbps: x (accepted: "),
            ("cached_gbps.own", "cached_gbps.l3", "copy.cached_gbps.own: missing (accepted: "),
            ("kernel_gbps = 5", "kernel_gbps = true", "copy.kernel_gbps: true (accepted: "),
            ("kernel_gbps = 5", "kernel_gbps =", "Invalid value "),
        ):
            path = self.describe(good.replace(old, new))
            with self.subTest(new):
                answer = explain("bcast", "--machine", path)
                self.assertEqual((2, ""), (answer.returncode, answer.stdout))
                self.assertIn(f"huddle: --machine {path}: {complaint}", answer.stderr)
                self.assertEqual(1, answer.stderr.count("\n"))

    def test_oversubscription_is_printed(self):
        there = ("bcast", "--machine", self.paths["epyc-9654"])
        for sizes in ((), ("--bytes", "8,1M"), ("--bytes", "8")):
            for ranks, oversubscribed in (("192", False), ("4096", True)):
                output = explain(*there, "--ranks", ranks, *sizes).stdout.split("\n")[0]
                self.assertEqual(
                    oversubscribed,
                    output.endswith(", oversubscribed: more than its 192 processors"),
                    output,
                )

    def test_maps_place_ranks(self):
        words = ("barrier", "--ranks", "2", "--machine", self.paths["kunpeng-920"], "--map")
        within = {
            name: facts(*words, name)["facts"]["within"]
            for name in ("core", "numa", "socket", "none")
        }
        self.assertEqual(
            {"core": "group", "numa": "socket", "socket": "machine", "none": "machine"}, within
        )


def rows_of(text):
    """
    Returns (ranks, regime, (sizes), algorithm, ...) of the first table, including omitted
    repetitions.
    """
    rows, last = [], None
    for line in text.split("\n\n")[0].splitlines()[3:]:
        if line.startswith("  (") or line.startswith("  *"):
            continue
        words = line.split()
        if not line.startswith("   "):
            last = words[:2]
            words = words[2:]
        rows.append([*last, *words])
    return rows


class Choices(OnMachines):
    """
    Tests of the whole choice of a collective.  tests/unit/test_choices.c compares every piece.
    """

    def explain(self, collective, machine, *words, **environment):
        answer = explain(collective, "--machine", self.paths[machine], *words, **environment)
        self.assertEqual((0, ""), (answer.returncode, answer.stderr))
        return answer.stdout

    def rows(self, *words, **environment):
        return rows_of(self.explain(*words, **environment))

    def check_corners(self, collective, machine, **environment):
        """
        Checks that single questions have the answers of the table's cells, at the corners of each
        cell.
        """
        rows = self.rows(collective, machine, **environment)
        for ranks, regime, sizes, algorithm, *_ in some(rows):
            least, _, most = sizes.partition("-")
            first, _, last = ranks.partition("-")
            for team, size in {(first, least), (last or first, most or least)}:
                asked = (collective, machine, "--ranks", team, "--bytes", size)
                with self.subTest(asked=asked, environment=environment):
                    output = self.explain(*asked, **environment)
                    self.assertIn(f"  serves   {algorithm}", output)
                    self.assertEqual(
                        regime == "oversubscribed", "oversubscribed" in output.split("\n")[0]
                    )
        return rows

    def test_tables_agree_with_single_questions(self):
        self.assertGreater(len(self.check_corners("reduce", "xeon-8358")), 12)

    def test_tables_follow_settings_and_tuning_files(self):
        rows = self.check_corners("bcast", "xeon-e5620", HUDDLE_BCAST="levels")
        self.assertEqual({("levels", "setting")}, {(row[3], row[-1]) for row in rows})
        path = os.path.join(self.folder, "t.rules")
        with open(path, "w", encoding="utf-8") as file:
            file.write("bcast ranks=3-5 bytes=1K-64K -> levels\n")
        rows = self.check_corners("bcast", "xeon-e5620", HUDDLE_TUNING=path)
        self.assertIn("3-4 bound 513-64K levels tuning file, line 1".split(), rows)
        output = self.explain("bcast", "xeon-e5620", HUDDLE_TUNING=path)
        self.assertIn(f"tuning file: {path}", output)

    def test_ranges_of_ranks_and_sizes(self):
        rows = self.rows("bcast", "xeon-8358", "--ranks", "2:100", "--bytes", "8:64K")
        bands = list(dict.fromkeys(row[0] for row in rows))
        self.assertEqual(["2", "3-16", "17-32", "33-64", "65-100"], bands)
        self.assertEqual(["bound", "oversubscribed"], sorted({row[1] for row in rows}))
        for band in bands:
            sizes = [row[2] for row in rows if row[0] == band]
            self.assertTrue(sizes[0].startswith("8-") and sizes[-1].endswith("-64K"), rows)
        rows = self.rows("bcast", "xeon-8358", "--ranks", "2:3", "--bytes", "1K")
        self.assertEqual(["1K", "1K"], [row[2] for row in rows])

    def test_tables_fit_100_columns(self):
        for machine in list(CORES)[::3]:
            for collective in ("allreduce", "reduce", "alltoall", "barrier", "alltoallv"):
                lines = self.explain(collective, machine).splitlines()[1:]
                with self.subTest(machine=machine, collective=collective):
                    self.assertGreater(len(lines), 3)
                    wide = (line for line in lines if not line.startswith("Evidence"))
                    self.assertLessEqual(max(map(len, wide)), 100)

    def test_rows_name_their_evidence(self):
        answer = facts("allreduce", "--machine", self.paths["xeon-8358"])
        named = {
            number
            for band in answer["bands"]
            for piece in [*band["pieces"], *(band["ordered"] or ())]
            for number in piece["why"]["evidence"].replace("prior", "").split()
        }
        self.assertIn("E7", named)
        self.assertEqual(named, set(answer["evidence"]))
        text = self.explain("bcast", "epyc-9654")
        self.assertRegex(text, r"8193- +levels +nothing\n")
        output = self.explain("bcast", "epyc-9654", "--ranks", "64", "--bytes", "64K")
        self.assertIn("(no series has times of such calls)", output)
