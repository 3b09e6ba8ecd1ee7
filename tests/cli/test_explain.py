# SPDX-License-Identifier: BSD-3-Clause
"""huddle explain, here and on every machine that is described.  test_explain.py SOURCE BUILD."""

import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

from said import some

SOURCE, BUILD = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
MACHINES = sorted(
    os.path.splitext(os.path.basename(path))[0]
    for path in glob.glob(os.path.join(SOURCE, "machines", "*.toml"))
)
CORES = {
    "kunpeng-920": 128,
    "xeon-e5-2620v4": 16,
    "xeon-e5620": 8,
    "opteron-8347he": 16,
    "epyc-9654": 192,
    "epyc-7742": 128,
    "xeon-8358": 64,
}


def explain(*words, **environment):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("HUDDLE")}
    with tempfile.TemporaryDirectory() as empty:
        return subprocess.run(
            [os.path.join(BUILD, "bin", "huddle"), "explain", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**clean, "XDG_CONFIG_HOME": empty, **environment},
            timeout=60,
            check=False,
        )


def facts(*words, **environment):
    answer = explain(*words, "--json", **environment)
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


class Here(unittest.TestCase):
    def test_one_size(self):
        answer = explain("bcast", "--bytes", "8", "--ranks", "2")
        self.assertEqual((0, ""), (answer.returncode, answer.stderr))
        for words in (
            "8 B bcast, 2 ranks bound to cores in turn, on this machine",
            "serves ",
            "because  built-in table, line",
            "memory ",
            "serves\n",
        ):
            self.assertIn(words, answer.stdout)

    def test_a_range_is_cut_into_pieces(self):
        lines = explain("bcast", "--bytes", "8:1M", "--ranks", "2").stdout.split("\n")[2:]
        ranges = [line.split()[0] for line in lines if line]
        self.assertTrue(ranges[0].startswith("8-"), ranges)
        self.assertTrue(ranges[-1].endswith("-1M"), ranges)

    def test_a_list_is_a_table(self):
        lines = explain("bcast", "--bytes", "8,64K,1M", "--ranks", "2").stdout.split("\n")
        self.assertEqual(["8", "64", "1"], [line.split()[0] for line in lines[2:] if line])

    def test_operations_that_do_not_commute(self):
        environment = {"HUDDLE_ALLREDUCE": "tree"}
        self.assertIn(
            "  serves   tree",
            explain("allreduce", "--bytes", "64K", "--ranks", "4", **environment).stdout,
        )
        self.assertIn(
            "  in order the MPI's own, ",
            explain("allreduce", "--bytes", "64K", "--ranks", "4", **environment).stdout,
        )
        self.assertIn(
            "Operations that do not commute",
            explain("allreduce", "--ranks", "4", **environment).stdout,
        )
        self.assertNotIn("not commute", explain("bcast", "--ranks", "4").stdout)
        self.assertIsNone(facts("allreduce", "--ranks", "4", HUDDLE_ALLREDUCE="slices")["ordered"])

    def test_a_setting_and_a_tuning_file_are_named(self):
        self.assertIn("because  setting", explain("barrier", HUDDLE_BARRIER="groups").stdout)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.toml")
            with open(path, "w", encoding="utf-8") as file:
                file.write("\n[[barrier]]\nalgorithm = \"mpi\"\n")
            answer = explain("barrier", HUDDLE_TUNING=path).stdout
            self.assertIn("serves   the MPI's own", answer)
            self.assertIn(f"because  tuning file, line 2 of {path}", answer)
            self.assertIn(
                "none.toml: there is no such file",
                explain("bcast", HUDDLE_TUNING=os.path.join(folder, "none.toml")).stdout,
            )

    def test_names_of_what_is_served_as_another(self):
        for name, served in (
            ("reduce_scatter_block", "reduce_scatter"),
            ("alltoallw", "alltoallv"),
        ):
            self.assertEqual(served, json.loads(explain(name, "--json").stdout)["collective"])

    def test_errors_are_one_line(self):
        for words, said in (
            (("scan",), "scan"),
            (("bcast", "--bytes", "1X"), "1X"),
            (("bcast", "--bytes", "9:3"), "9:3"),
            (("bcast", "--bytes", ""), "--bytes ''"),
            (("barrier", "--bytes", "8"), "--bytes 8"),
            (("alltoallw", "--bytes", "8"), "huddle explain alltoallv, without it"),
            (("bcast", "--ranks", "0"), "--ranks 0"),
            (("bcast", "--machine", "abacus"), "abacus"),
        ):
            answer = explain(*words)
            with self.subTest(words=words):
                self.assertEqual((2, ""), (answer.returncode, answer.stdout))
                self.assertRegex(answer.stderr, r"^huddle: [^\n]*\n$")
                self.assertIn(said, answer.stderr)


class Described(unittest.TestCase):
    def test_list(self):
        answer = explain("--machine", "list")
        self.assertEqual(0, answer.returncode, answer.stderr)
        for name in MACHINES:
            self.assertIn(name, answer.stdout)

    def test_every_machine_once_and_twice_its_processors(self):
        self.assertEqual(sorted(CORES), MACHINES)
        for name in some(MACHINES):
            for times in (1, 2):
                answer = facts(
                    "bcast", "--bytes", "1M", "--ranks", str(times * CORES[name]), "--machine", name
                )
                with self.subTest(machine=name, times=times):
                    self.assertEqual(CORES[name], answer["facts"]["processors"])
                    self.assertEqual(times == 2, answer["facts"]["oversubscribed"])
                    self.assertEqual("machine", answer["facts"]["within"])
                    self.assertIsNotNone(answer["serves"])
                    self.assertGreater(
                        len(answer["facts"]["groups"]), 1, "the machine's levels make groups"
                    )

    def test_more_ranks_than_processors_is_said(self):
        for sizes in ((), ("--bytes", "8,1M"), ("--bytes", "8")):
            for ranks, oversubscribed in (("192", False), ("4096", True)):
                said = explain(
                    "bcast", "--machine", "epyc-9654", "--ranks", ranks, *sizes
                ).stdout.split("\n")[0]
                self.assertEqual(
                    oversubscribed,
                    said.endswith(", oversubscribed: more than its 192 processors"),
                    said,
                )

    def test_maps(self):
        within = {
            name: facts("barrier", "--ranks", "2", "--machine", "kunpeng-920", "--map", name)[
                "facts"
            ]["within"]
            for name in ("core", "numa", "socket", "none")
        }
        self.assertEqual(
            {"core": "group", "numa": "socket", "socket": "machine", "none": "machine"}, within
        )


if __name__ == "__main__":
    unittest.main()
