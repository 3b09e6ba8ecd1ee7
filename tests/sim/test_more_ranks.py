# SPDX-License-Identifier: BSD-3-Clause
"""
Of a flat algorithm more ranks are never faster, in simulated time: whoever comes to those there are
only adds lines to read, fragments to copy and cores to wait for.

On 2 x Kunpeng 920, whose cores lie in four NUMA nodes, with all levels of the hierarchy left out.
test_more_ranks.py SOURCE SIMULATE.
"""

import json
import os
import subprocess
import sys
import unittest

SOURCE, SIMULATE = (os.path.abspath(path) for path in sys.argv[1:3])
del sys.argv[1:3]
sys.path.insert(0, SOURCE)

from cli.common import machines, repetitions  # noqa: E402

MACHINE = machines.read(os.path.join(SOURCE, "machines", "kunpeng-920.toml"))
FULL = bool(os.environ.get("HUD_TEST_FULL"))  # ./test --full
RANKS, LEVELS = (2, 4, 8, 16, 32, *((64,) if FULL else ())), "l2,l3,die,group,numa,socket"
SLOT = 320 << 10  # bytes of a rank

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
    said = subprocess.run(
        [SIMULATE],
        input=json.dumps(request),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert said.returncode == 0, said.stderr or said.stdout
    return json.loads(said.stdout)["call"]["times"]["time_ns"]


class MoreRanks(unittest.TestCase):
    def test_are_never_faster(self):
        for call in FLAT:
            times = [ns(*call, ranks) for ranks in RANKS]
            with self.subTest(call=call):
                self.assertEqual(sorted(times), times, dict(zip(RANKS, times)))


if __name__ == "__main__":
    unittest.main()
