# SPDX-License-Identifier: BSD-3-Clause
"""Tests huddle lab simulate --alternate: the cost of a handover."""

import json
import unittest

from harness import run_huddle
from paths import BUILD

THERE = ("--machine", "kunpeng-920", "--ranks", "4")


def simulate(*words):
    return run_huddle(BUILD, ("lab", "simulate", "bcast", *THERE, *words), timeout=120)


def text(*words):
    done = simulate(*words)
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout


def answer(*words):
    return json.loads(text(*words, "--json"))["calls"]


class Alternate(unittest.TestCase):
    def test_handovers_between_algorithms_take_time(self):
        words = ("--bytes", "256K", "--algorithm", "queue", "--alternate")
        (call,) = answer(*words, "allreduce/slices")
        other = call["alternate"]
        self.assertEqual(
            ("allreduce", "slices", 256 << 10, True),
            tuple(other[key] for key in ("collective", "algorithm", "bytes", "handover")),
        )
        self.assertLess(call["without_handover_ns"], call["times"]["time_ns"])
        self.assertRegex(
            text(*words, "allreduce"),
            r"each after one of allreduce\n(.*\n)* +simulated handover from allreduce/\w+:"
            r" [\d.]+ ns of this time; [\d.]+ us if each had a window of its own\n",
        )

    def test_algorithms_of_one_collective_can_alternate(self):
        (call,) = answer("--bytes", "256K", "--algorithm", "queue", "--alternate", "bcast/levels")
        self.assertEqual(("queue", "levels"), (call["algorithm"], call["alternate"]["algorithm"]))

    def test_another_collective_without_shared_memory_needs_no_handover(self):
        words = ("--bytes", "256K", "--algorithm", "queue", "--alternate", "barrier")
        (call,) = answer(*words)
        self.assertFalse(call["alternate"]["handover"])
        self.assertNotIn("without_handover_ns", call)
        self.assertIn("no handover    bcast/queue and barrier/", text(*words))

    def test_a_table_names_calls_without_a_handover(self):
        output = text(
            *("--bytes", "8,256K", "--algorithm", "inline,queue", "--alternate", "reduce/slices")
        )
        (note,) = (line for line in output.splitlines() if "no handover" in line)
        self.assertIn("8 B inline", note)
        self.assertNotIn("256 KB queue", note)

    def test_complaints(self):
        for words, complaint in (
            (
                ("--alternate", "x/y"),
                "simulate --alternate x: huddle has no such collective (accepted: ",
            ),
            (
                ("--alternate", "reduce/y"),
                "--alternate reduce/y: reduce has no such algorithm (accepted: reduce/",
            ),
            (
                ("--alternate", "reduce", "--measure"),
                "--alternate: is not measured (accepted: without --measure)",
            ),
            (
                ("--algorithm", "queue", "--bytes", "8", "--alternate", "bcast/queue"),
                "--alternate bcast/queue: bcast/queue shares the slot of bcast/queue, so nothing",
            ),
        ):
            done = simulate(*words)
            self.assertEqual((2, "", 1), (done.returncode, done.stdout, done.stderr.count("\n")))
            self.assertTrue(done.stderr.startswith(f"huddle: {complaint}"), done.stderr)
