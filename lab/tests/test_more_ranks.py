# SPDX-License-Identifier: BSD-3-Clause
"""
Tests that a flat algorithm is never faster with more ranks, in simulated time: each further rank
only adds lines to read, fragments to copy and cores to wait for.

The machine is 2 x Kunpeng 920, with cores in four NUMA nodes, without all levels of the hierarchy.

"""

import json
import os
import subprocess
import unittest

from paths import BUILD, SOURCE

from cli.common import machines
from lab.cli import repetitions

SIMULATE = os.path.join(BUILD, "libexec", "huddle", "simulate")

MACHINE = machines.read(os.path.join(SOURCE, "lab", "machines", "kunpeng-920.toml"))
FULL = bool(os.environ.get("HUD_TEST_FULL"))  # ./test --full
RANKS, LEVELS = (2, 4, 8, 16, 32, *((64,) if FULL else ())), "l2,l3,die,group,numa,socket"
SLOT = 320 << 10  # bytes per rank

# collective, algorithm, bytes, parameters
FLAT = (
    ("barrier", "central", 0, {}),
    ("barrier", "counters", 0, {}),
    ("barrier", "gather", 0, {}),
    ("barrier", "groups", 0, {}),
    ("barrier", "cells", 0, {}),
    ("bcast", "inline", 8, {}),
    ("bcast", "queue", 8 << 10, {"tree": "flat"}),
    ("bcast", "queue", 256 << 10, {"tree": "flat", "fragment": 8 << 10}),
    ("bcast", "slots", 64 << 10, {}),
    ("bcast", "messages", 4 << 10, {"tree": "flat"}),
    ("reduce", "inline", 8, {}),
    ("reduce", "gather", 32 << 10, {}),
    ("allreduce", "inline", 8, {}),
    ("allreduce", "exchange", 32 << 10, {}),
    ("alltoall", "inline", 8, {}),
)


def ns(collective, algorithm, size, parameters, ranks):
    request = {
        "machine": MACHINE,
        "collective": collective,
        "algorithm": algorithm,
        "bytes": size,
        "ranks": ranks,
        "map": "core",
        "levels_off": LEVELS,
        "parameters": parameters,
        "slot_bytes": SLOT,
        **repetitions.calls(SLOT, size),
    }
    answer = subprocess.run(
        [SIMULATE],
        input=json.dumps(request),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr or answer.stdout
    return json.loads(answer.stdout)["call"]["times"]["time_ns"]


class MoreRanks(unittest.TestCase):
    def test_more_ranks_are_never_faster(self):
        for call in FLAT:
            times = [ns(*call, ranks) for ranks in RANKS]
            with self.subTest(call=call):
                self.assertEqual(sorted(times), times, dict(zip(RANKS, times)))
