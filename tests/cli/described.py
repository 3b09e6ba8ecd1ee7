# SPDX-License-Identifier: BSD-3-Clause
"""Machines on which tests ask huddle explain: real ones, with the facts that choices depend on."""

import json
import os

from harness import run_huddle
from paths import BUILD

TOPOLOGIES = {
    "epyc-7742": "pack:2 [numa(memory=256GiB)] l3:16(size=16MiB) l2:4(size=512KiB) core:1 pu:1",
    "epyc-9654": "pack:2 [numa(memory=384GiB)] l3:12(size=32MiB) l2:8(size=1MiB) core:1 pu:1",
    "kunpeng-920": (
        "pack:2 l3:2(size=32MiB) [numa(memory=134894530560)] group:8 l2:4(size=512KiB) core:1 pu:1"
    ),
    "opteron-8347he": "pack:4 [numa(memory=8GiB)] l3:1(size=2MiB) l2:4(size=512KiB) core:1 pu:1",
    "xeon-8358": "pack:2 [numa(memory=128GiB)] l3:1(size=48MiB) l2:32(size=1280KiB) core:1 pu:1",
    "xeon-e5-2620v4": "pack:2 [numa(memory=32GiB)] l3:1(size=20MiB) l2:8(size=256KiB) core:1 pu:1",
    "xeon-e5620": "pack:2 [numa(memory=12GiB)] l3:1(size=12MiB) l2:4(size=256KiB) core:1 pu:1",
}
CORES = {
    "epyc-7742": 128,
    "epyc-9654": 192,
    "kunpeng-920": 128,
    "opteron-8347he": 16,
    "xeon-8358": 64,
    "xeon-e5-2620v4": 16,
    "xeon-e5620": 8,
}
CALL_NS, OWN_GBPS = 500, 10


def kernel_gbps(name):
    """Returns how fast a machine's kernel copies: slowly on one of them."""
    return 1 if name == "opteron-8347he" else 5


def text(topology, kernel_gbps, call_ns=CALL_NS):
    """Returns a description."""
    return "\n".join(
        (
            'name = "a machine"',
            f'topology = "{topology}"',
            "[copy]",
            f"cached_gbps.own = {OWN_GBPS}",
            f"kernel_gbps = {kernel_gbps}",
            f"kernel_call_ns = {call_ns}\n",
        )
    )


def write(folder):
    """Writes NAME.toml of each machine, and returns {name: path}."""
    paths = {name: os.path.join(folder, f"{name}.toml") for name in TOPOLOGIES}
    for name, path in paths.items():
        with open(path, "w", encoding="utf-8") as file:
            file.write(text(TOPOLOGIES[name], kernel_gbps(name)))
    return paths


def explain(*words, **environment):
    return run_huddle(BUILD, ("explain", *words), timeout=60, **environment)


def facts(*words, **environment):
    answer = explain(*words, "--json", **environment)
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)
