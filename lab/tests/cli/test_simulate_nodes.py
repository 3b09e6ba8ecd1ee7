# SPDX-License-Identifier: BSD-3-Clause
"""Tests huddle lab simulate --nodes, and its required options."""

import json
import unittest

from harness import run_huddle
from paths import BUILD

NETWORK = "10000,1,5000"


def huddle(*words):
    return run_huddle(BUILD, words, timeout=120)


def simulate(*words):
    return huddle("lab", "simulate", *words, "--machine", "epyc-7742", "--network", NETWORK)


def calls(*words):
    answer = simulate(*words, "--json")
    assert (answer.returncode, answer.stderr) == (0, ""), answer
    return json.loads(answer.stdout)["calls"]


class Nodes(unittest.TestCase):
    def test_a_barrier_takes_its_messages_and_little_more(self):
        (call,) = calls("barrier", "--nodes", "5", "--ranks", "40")
        self.assertEqual(("nodes", 5, 40), (call["algorithm"], call["nodes"], call["ranks"]))
        self.assertGreater(call["times"]["time_ns"], 3 * 10000)
        self.assertLess(call["times"]["time_ns"], 3 * 10000 + 5000)
        self.assertGreater(call["alone_ns"], 0)

    def test_a_node_takes_as_long_as_in_a_simulation_of_one_node(self):
        words = ("gather", "--bytes", "64K")
        (call,) = calls(*words, "--nodes", "2", "--ranks", "32")
        answer = huddle(
            "lab", "simulate", *words, "--machine", "epyc-7742", "--ranks", "16", "--json"
        )
        (alone,) = json.loads(answer.stdout)["calls"]
        self.assertEqual("cma_write", alone["algorithm"])
        self.assertAlmostEqual(1, call["alone_ns"] / alone["times"]["time_ns"], delta=0.1)

    def test_large_sums_go_by_rings_and_results_are_checked(self):
        small, large = calls("allreduce", "--nodes", "3", "--ranks", "12", "--bytes", "8,256K")
        self.assertEqual(("nodes", "rings"), (small["algorithm"], large["algorithm"]))
        self.assertTrue(large["checker"]["clean"])
        self.assertGreater(large["times"]["time_ns"], 2 * 2 / 3 * (256 << 10))

    def test_the_table_names_the_network(self):
        answer = simulate("bcast", "--nodes", "4", "--ranks", "8", "--bytes", "64K")
        self.assertEqual(0, answer.returncode, answer.stderr)
        self.assertIn("alpha 10 us, beta 1 ns per byte, overhead 5 us (as given)", answer.stdout)
        self.assertIn("ceil(log2 4) messages in a row: 20 us", answer.stdout)

    def test_options_of_one_node_are_refused(self):
        for words, line in (
            (("--ranks", "7"), "--ranks: 7 (accepted: multiples of the 2 nodes)"),
            (("--timeline",), "--timeline: of one node"),
            (("--algorithm", "queue"), "huddle has no bcast/queue between nodes"),
            (("--algorithm", "nodes", "--param", "tree=nested"), "parameters.tree: nested"),
        ):
            answer = simulate("bcast", "--nodes", "2", "--bytes", "8", *words)
            self.assertEqual(2, answer.returncode, answer)
            self.assertIn(line, answer.stderr)
        answer = huddle("lab", "simulate", "bcast", "--machine", "epyc-7742", "--network", NETWORK)
        self.assertIn("--network: of nodes", answer.stderr)

    def test_paper_04_alone_is_measured(self):
        answer = huddle("lab", "reproduce", "01", "--measure", "mpirun -np 2")
        self.assertEqual(2, answer.returncode)
        self.assertIn("--measure: of paper 04", answer.stderr)
