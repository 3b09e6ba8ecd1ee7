# SPDX-License-Identifier: BSD-3-Clause
"""
huddle simulate --nodes: collectives of a communicator that spans nodes, each of them the described
machine, over a network of one port each way (src/sim/ports.h).
"""

import json
import math

from ..common import machines, network, simulated
from ..common.collectives import find
from ..common.layout import Trouble
from ..common.options import sizes_of
from ..common.progress import Progress
from ..common.text import bytes_text, heading, parameters_text, table
from .options import OPTIONS, PAIR_SIZES, SIZES, parameters
from .tables import time_text

SLOT_BYTES = 4 << 20  # all that the algorithms of src/alg/nodes and src/alg/lanes may want
NOT_HERE = ("alternate", "measure", "timeline", "png")


def refuse(options):
    for name in NOT_HERE:
        if getattr(options, name):
            raise Trouble(f"--{name}: of one node (accepted: without --nodes)", 2)
    if options.network and options.network.send_ns != options.network.overhead_ns:
        raise Trouble(
            "--network: a simulated node starts messages one OVERHEAD apart"
            " (accepted: ALPHA,BETA,OVERHEAD)",
            2,
        )
    if options.set:
        raise Trouble("--set: of one node (accepted: without --nodes)", 2)
    if options.algorithm and "," in options.algorithm:
        raise Trouble(f"--algorithm {options.algorithm}: accepted is one, with --nodes", 2)


def network_of(options, layout, machine):
    """(Network, where its numbers are from): as given, of the description, as jobs know it."""
    said = machine.get("network")
    if options.network:
        return options.network, "as given"
    if not said:
        numbers, where = network.known(layout)
        return numbers._replace(send_ns=numbers.overhead_ns), where
    beta_ns = 1 / said["gbps"] if said.get("gbps") else 0
    message_ns = said.get("message_ns", 0)
    return network.Network(said["latency_ns"], beta_ns, message_ns, message_ns), "described"


def described(machine, numbers):
    """The machine with that network."""
    about = {"latency_ns": numbers.alpha_ns, "message_ns": numbers.overhead_ns}
    if numbers.beta_ns:
        about["gbps"] = 1 / numbers.beta_ns
    return {**machine, "network": about}


def value(text):
    return int(text) if text.isdecimal() else text


class Asked:
    def __init__(self, options, layout, machine):
        refuse(options)
        self.options, self.layout = options, layout
        self.about = find(layout, options.collective, "simulate")
        self.network, self.where = network_of(options, layout, machine)
        self.machine = described(machine, self.network)
        cores = self.question({"machine": self.machine})["machine"]["cores"]
        self.machine_words = machines.asked(layout, options.machine, self.machine)
        self.ranks = options.ranks or options.nodes * cores
        sizes = options.bytes or sizes_of(PAIR_SIZES if self.about.blocks else SIZES)
        self.sizes = sizes if self.about.moves else [0]

    def question(self, request):
        said = {"machine": f"--machine {self.options.machine}", "nodes": "--nodes"}
        return self.layout.question(
            "simulate", request, {**said, **{key: f"--{key}" for key in OPTIONS}}
        )

    def call(self, size):
        o = self.options
        request = {
            "machine": self.machine,
            "nodes": o.nodes,
            "collective": self.about.name,
            "parameters": {name: value(word) for name, word in parameters(o.param).items()},
            "slot_bytes": SLOT_BYTES,
            "bytes": size,
            "ranks": self.ranks,
            "map": o.map,
            "root": o.root or 0,
            "method": o.method,
            "repetitions": o.repetitions or 3,
            "warmup": 1 if o.warmup is None else o.warmup,
            "skew_ns": o.skew or 0,
            "seed": o.seed,
        }
        if o.algorithm:
            request["algorithm"] = o.algorithm
        answer = self.question(request)["call"]
        return simulated.clean(answer, self.about.name, answer["algorithm"])

    def alone_ns(self, size):
        """What huddle's choice takes the ranks of one node; None: there is one, or no choice."""
        here = self.ranks // self.options.nodes
        if here < 2:
            return None
        serves = simulated.choice(self.layout, self.machine_words, self.about.name, size, here)
        return serves and simulated.call_ns(
            self.layout,
            self.machine,
            self.about.name,
            serves["algorithm"],
            size,
            ranks=here,
            parameters=serves["parameters"],
            slot_bytes=serves["slot_bytes"],
            repetitions=3,
            warmup=3,
        )

    def latencies_ns(self):
        """Of the rounds that any of these needs: ceil(log2 N) messages one after the other."""
        return math.ceil(math.log2(self.options.nodes)) * self.network.alpha_ns


def calls_of(asked):
    found = {}
    with Progress(len(asked.sizes), "simulating") as progress:
        for size in reversed(asked.sizes):
            found[size] = {**asked.call(size), "alone_ns": asked.alone_ns(size)}
            progress.step()
    return [found[size] for size in asked.sizes]


def main(options, layout, machine):
    if options.nodes < 2:
        raise Trouble(f"--nodes {options.nodes}: a span has two nodes or more", 2)
    asked = Asked(options, layout, machine)
    calls = calls_of(asked)
    if options.json:
        about = {"nodes": options.nodes, "network": asked.network._asdict()}
        print(json.dumps({"simulated": True, **about, "calls": calls}, indent=1))
        return 0
    doubt = machines.doubt_text(machine.get("doubt"))
    heading(
        f"Simulated {asked.about.name}, {asked.ranks} ranks on {options.nodes} x"
        f" {machine['name']}{doubt}"
    )
    table(
        ["bytes", "algorithm", "simulated", "one node alone", "parameters"],
        [
            [
                bytes_text(call["bytes"]) if asked.about.moves else "",
                call["algorithm"],
                time_text(call["times"]["time_ns"]),
                time_text(call["alone_ns"]) if call["alone_ns"] else "-",
                parameters_text(call),
            ]
            for call in calls
        ],
        right=(0, 2, 3),
    )
    print(f"  network: {network.text(asked.network)} ({asked.where})")
    print(f"  ceil(log2 {options.nodes}) messages in a row: {time_text(asked.latencies_ns())}")
    return 0
