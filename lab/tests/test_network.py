# SPDX-License-Identifier: BSD-3-Clause
"""
Compares simulated messages between nodes with SimGrid: the broadcasts of src/alg/nodes, with a rank
on each node, and send and receive along the same trees (bench/messages.c) on a network of the same
alpha and beta.  The ports of both carry one message at a time, as in the Hockney model; here the
overhead is alpha.
"""

import json
import os
import subprocess
import types
import unittest

from paths import BUILD, SOURCE

from cli.common import machines
from cli.common.layout import CliError
from lab.cli.reproduce import smpi

TOOLS = os.path.join(BUILD, "libexec", "huddle")

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
CLOSE = 0.03  # SimGrid does not model copies into and out of shared memory
LAYOUT = types.SimpleNamespace(program=lambda name: os.path.join(TOOLS, name))


def simulated_ns(nodes, tree, degree, segment):
    machine = machines.read(os.path.join(SOURCE, "lab", "machines", "epyc-7742.toml"))
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


@unittest.skipUnless(smpi.here(LAYOUT), smpi.MISSING)
class Network(unittest.TestCase):
    def test_broadcasts_take_as_long_as_in_simgrid(self):
        for nodes, *point in CASES:
            (reference,) = smpi.run(LAYOUT, ALPHA_NS, BETA_NS, nodes, [(*point, BYTES)])
            with self.subTest(nodes=nodes, point=point):
                self.assertLess(abs(simulated_ns(nodes, *point) / reference - 1), CLOSE)


class Trees(unittest.TestCase):
    def test_programs_without_groups_refuse_trees_by_groups(self):
        for tree in ("grouped", "nested", "leaders", "elm"):
            with self.subTest(tree=tree):
                fit = os.path.join(TOOLS, "bench-fit")
                answer = subprocess.run([fit, "--tree", tree], capture_output=True, text=True)
                self.assertEqual(
                    (2, "huddle: bench-fit: --tree: not an option, or not a valid value\n"),
                    (answer.returncode, answer.stderr),
                )
                if smpi.here(LAYOUT):
                    with self.assertRaisesRegex(CliError, f"{tree}:2:0:8: not understood"):
                        smpi.run(LAYOUT, 1000, 1, 2, [(tree, 2, 0, 8)])
