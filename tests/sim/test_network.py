# SPDX-License-Identifier: BSD-3-Clause
"""
Simulated messages between nodes against SimGrid: the broadcasts of src/alg/nodes, a rank on each
node, and send and receive along the same trees (bench/messages.c) on a network of the same alpha
and beta.  The ports of the two carry one message at a time, as in the Hockney model: here the
overhead is alpha.

    test_network.py SOURCE BUILD-TOOLS
"""

import json
import os
import subprocess
import sys
import types
import unittest

SOURCE, TOOLS = map(os.path.abspath, sys.argv[1:3])
sys.path.insert(0, SOURCE)

from cli.common import machines  # noqa: E402
from cli.reproduce import smpi  # noqa: E402

ALPHA_NS, BETA_NS, BYTES = 5e4, 47.0, 64 << 10
# nodes, tree, degree, segment
CASES = [
    (4, "chain", 2, 4096),
    (16, "chain", 2, 4096),
    (16, "chain", 2, 16384),
    (16, "flat", 2, BYTES // 2),
    (7, "kary", 3, BYTES // 2),
    (16, "knomial", 2, BYTES // 2),
    (16, "kary", 2, 8192),
]
CLOSE = 0.03  # copies into and out of shared memory are not in SimGrid's
LAYOUT = types.SimpleNamespace(program=lambda name: os.path.join(TOOLS, name))


def simulated_ns(nodes, tree, degree, segment):
    machine = machines.read(os.path.join(SOURCE, "machines", "epyc-7742.toml"))
    machine["network"] = {"latency_ns": ALPHA_NS, "message_ns": ALPHA_NS, "gbps": 1 / BETA_NS}
    request = {
        "machine": machine,
        "nodes": nodes,
        "ranks": nodes,
        "collective": "bcast",
        "algorithm": "nodes",
        "bytes": BYTES,
        "parameters": {"tree": tree, "degree": degree, "fragment": segment},
        "repetitions": 1,
    }
    done = subprocess.run(
        [os.path.join(TOOLS, "simulate")],
        input=json.dumps(request),
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    return json.loads(done.stdout)["call"]["times"]["time_ns"]


class Network(unittest.TestCase):
    def test_broadcasts_take_as_long_as_simgrid_says(self):
        for nodes, *point in CASES:
            (reference,) = smpi.run(LAYOUT, ALPHA_NS, BETA_NS, nodes, [(*point, BYTES)])
            with self.subTest(nodes=nodes, point=point):
                self.assertLess(abs(simulated_ns(nodes, *point) / reference - 1), CLOSE)


if __name__ == "__main__":
    if not smpi.here(LAYOUT):
        print("skipped: " + smpi.MISSING)
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
