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
    said = simulate(*words, "--json")
    assert (said.returncode, said.stderr) == (0, ""), said
    return json.loads(said.stdout)["calls"]


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
        said = huddle(
            "lab", "simulate", *words, "--machine", "epyc-7742", "--ranks", "16", "--json"
        )
        (alone,) = json.loads(said.stdout)["calls"]
        self.assertEqual("cma_write", alone["algorithm"])
        self.assertAlmostEqual(1, call["alone_ns"] / alone["times"]["time_ns"], delta=0.1)

    def test_large_sums_go_by_rings_and_results_are_checked(self):
        small, large = calls("allreduce", "--nodes", "3", "--ranks", "12", "--bytes", "8,256K")
        self.assertEqual(("nodes", "rings"), (small["algorithm"], large["algorithm"]))
        self.assertTrue(large["checker"]["clean"])
        self.assertGreater(large["times"]["time_ns"], 2 * 2 / 3 * (256 << 10))

    def test_the_table_names_the_network(self):
        said = simulate("bcast", "--nodes", "4", "--ranks", "8", "--bytes", "64K")
        self.assertEqual(0, said.returncode, said.stderr)
        self.assertIn("alpha 10 us, beta 1 ns per byte, overhead 5 us (as given)", said.stdout)
        self.assertIn("ceil(log2 4) messages in a row: 20 us", said.stdout)

    def test_options_of_one_node_are_refused(self):
        for words, line in (
            (("--ranks", "7"), "--ranks: 7 (accepted: multiples of the 2 nodes)"),
            (("--timeline",), "--timeline: of one node"),
            (("--algorithm", "queue"), "huddle has no bcast/queue between nodes"),
            (("--algorithm", "nodes", "--param", "tree=nested"), "parameters.tree: nested"),
        ):
            said = simulate("bcast", "--nodes", "2", "--bytes", "8", *words)
            self.assertEqual(2, said.returncode, said)
            self.assertIn(line, said.stderr)
        said = huddle("lab", "simulate", "bcast", "--machine", "epyc-7742", "--network", NETWORK)
        self.assertIn("--network: of nodes", said.stderr)

    def test_paper_04_alone_is_measured(self):
        said = huddle("lab", "reproduce", "01", "--measure")
        self.assertEqual(2, said.returncode)
        self.assertIn("--measure: of paper 04", said.stderr)
