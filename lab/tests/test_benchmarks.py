# SPDX-License-Identifier: BSD-3-Clause
"""
Tests the parts of the program simulate that model published benchmarks: cores that copy their own
memory (STREAM), and broadcasts whose root moves (the Intel MPI Benchmarks).
PROGRAM.
"""

import os
import unittest

import ask
from paths import BUILD, SOURCE

from cli.common import machines

PROGRAM = os.path.join(BUILD, "libexec", "huddle", "simulate")

KB, MB = 1 << 10, 1 << 20
MACHINE = machines.read(os.path.join(SOURCE, "lab", "machines", "opteron-8347he.toml"))
LINES, COPY, MEMORY = (MACHINE[section] for section in ("lines", "copy", "memory"))


def simulate(**request):
    return ask.simulate(PROGRAM, {"machine": MACHINE, **request})


def answer(**request):
    return ask.answer(PROGRAM, {"machine": MACHINE, **request})


class Apart(unittest.TestCase):
    """Tests of times, computed by hand from the rates in lab/sim/copies.h."""

    def ns(self, size, cores, repetitions=4):
        asked = {"bytes": size, "cores": cores, "repetitions": repetitions}
        return answer(own_copies=asked)["own_copies"]["time_ns"]

    def test_own_caches_serve_small_buffers(self):
        took = LINES["hit_ns"] + 64 * KB / COPY["cached_gbps"]["own"]
        for cores in ([0], [0, 1, 2, 3], [3, 4, 15]):
            self.assertAlmostEqual(took, self.ns(128 * KB, cores), places=3)

    def test_a_core_alone_is_limited_by_its_memory_rate(self):
        own, local = COPY["cached_gbps"]["own"], COPY["memory_gbps"]["local"]
        byte_ns = 1 / local + 1 / local - 1 / own
        took = MEMORY["latency_ns"]["local"] + 8 * MB * byte_ns
        for cores in ([0], [0, 4, 8, 12]):  # one core of each chip
            self.assertAlmostEqual(1, self.ns(16 * MB, cores) / took, places=3)

    def test_cores_of_a_node_share_its_memory(self):
        # read, fetched for the stores, and written back when they are evicted
        took = 4 * 3 * 8 * MB / MEMORY["node_gbps"]
        for cores in ([0, 1, 2, 3], range(16)):
            self.assertAlmostEqual(1, self.ns(16 * MB, list(cores)) / took, places=1)

    def test_complaints(self):
        good = {"bytes": 4096, "cores": [0], "repetitions": 1}
        for change in (
            {"bytes": 1},
            {"bytes": 2**40},
            {"cores": []},
            {"cores": [16]},
            {"cores": [-1]},
            {"cores": [2, 2]},
            {"cores": ["a"]},
            {"repetitions": 0},
        ):
            done = simulate(own_copies={**good, **change})
            self.assertEqual((2, ""), (done.returncode, done.stdout), change)
            self.assertRegex(done.stderr, r"^huddle: simulate: own_copies: accepted are [^\n]+\n$")


class Root(unittest.TestCase):
    CALL = {
        "collective": "bcast",
        "algorithm": "segments",
        "bytes": 40000,
        "ranks": 5,
        "method": "loop",
    }

    def test_algorithms_are_clean_with_a_moving_root(self):
        for name in ("segments", "queue", "levels", "messages", "slots"):
            call = {**self.CALL, "algorithm": name, "root_shift": True, "repetitions": 7}
            self.assertTrue(answer(**call)["call"]["checker"]["clean"], name)

    def test_a_moving_root_keeps_ranks_together(self):
        # a constant root finishes before the ranks that copy out
        call = {**self.CALL, "algorithm": "messages", "ranks": 2, "repetitions": 100}
        still, moves = (
            answer(**call, root_shift=shift)["call"]["times"] for shift in (False, True)
        )
        self.assertLess(moves["max_ns"] / moves["min_ns"], still["max_ns"] / still["min_ns"] + 0.01)

    def test_complaints(self):
        for change in (
            {"method": "single"},
            {"collective": "barrier", "algorithm": "groups", "bytes": 0},
            {"collective": "reduce", "algorithm": "slices"},
            {"warmup": 0, "repetitions": 1},
        ):
            done = simulate(**{**self.CALL, "root_shift": True, **change})
            self.assertEqual(2, done.returncode, change)
            self.assertIn("simulate: root_shift: accepted is a broadcast, in a loop", done.stderr)
