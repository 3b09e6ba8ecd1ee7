# SPDX-License-Identifier: BSD-3-Clause
"""
Tests that simulations reproduce the published figures of a machine's memory on which its
description is based.

GB/s as published: bytes read and written.  Equal nodes have one row.
"""

import glob
import json
import os
import subprocess
import unittest

from paths import BUILD, SOURCE

from cli.common.machines import tomllib

PROGRAM = os.path.join(BUILD, "test", "sim_stream")

PUBLISHED = (  # machine, operation, cores, the node whose memory it is, GB/s
    ("kunpeng-920", "copy", 1, 0, 11.1),
    ("kunpeng-920", "copy", 1, 1, 10.1),
    ("kunpeng-920", "copy", 1, 2, 7.25),
    ("kunpeng-920", "copy", 32, 0, 33.3),
    ("xeon-e5-2620v4", "load", 1, 0, 8.0),
    ("xeon-e5-2620v4", "copy", 8, 0, 35.3),
    ("xeon-e5620", "triad", 1, 0, 9.5),
    ("xeon-e5620", "triad", 4, 0, 22.5 / 2),
    ("opteron-8347he", "triad", 1, 0, 2.68),
    ("opteron-8347he", "triad", 4, 0, 14.59 / 4),
    ("epyc-7742", "triad", 64, 0, 207 / 2),
    ("epyc-9654", "triad", 96, 0, 497 / 2),
)
NOTHING = ("xeon-8358",)  # its memory is assumed
WITHIN = 0.03


def machine(name):
    with open(os.path.join(SOURCE, "lab", "machines", f"{name}.toml"), "rb") as file:
        return tomllib.load(file)


def stream_gbps(name, kind, cores, node):
    request = {"machine": machine(name), "kind": kind, "cores": cores, "node": node}
    return float(
        subprocess.run(
            [PROGRAM],
            input=json.dumps(request),
            stdout=subprocess.PIPE,
            text=True,
            timeout=600,
            check=True,
        ).stdout
    )


@unittest.skipIf(tomllib is None, "no tomllib here")
class Published(unittest.TestCase):
    def test_every_machine_has_a_published_figure_or_a_reason(self):
        described = {
            os.path.basename(path).removesuffix(".toml")
            for path in glob.glob(os.path.join(SOURCE, "lab", "machines", "*.toml"))
        }
        self.assertEqual(described, {row[0] for row in PUBLISHED} | set(NOTHING))

    def test_simulated_stream_rates_match_published_ones(self):
        for name, kind, cores, node, published in PUBLISHED:
            with self.subTest(machine=name, kind=kind, cores=cores, node=node):
                self.assertAlmostEqual(
                    1, stream_gbps(name, kind, cores, node) / published, delta=WITHIN
                )
