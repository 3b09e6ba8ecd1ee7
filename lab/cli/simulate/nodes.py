# SPDX-License-Identifier: BSD-3-Clause
"""
huddle lab simulate --nodes: collectives of a communicator that spans nodes, each of them the
described machine, over a network of one port each way (lab/sim/ports.h).
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from cli.common import network
from cli.common.collectives import find
from cli.common.exit_status import BAD_USE, DONE
from cli.common.layout import CliError, Layout
from cli.common.options import sizes_of
from cli.common.progress import Progress
from cli.common.text import bytes_text, heading, parameters_text, table
from cli.common.types import Options

from .. import described, simulated
from .options import OPTIONS, PAIR_SIZES, SIZES, parameters
from .tables import time_text

if TYPE_CHECKING:
    from cli.common.network import Network

SLOT_BYTES = 4 << 20  # all that the algorithms of src/alg/nodes and src/alg/rings may want
NOT_HERE = ("alternate", "measure", "timeline", "png")


def refuse(options: Options) -> None:
    for name in NOT_HERE:
        if getattr(options, name):
            raise CliError(f"--{name}: of one node (accepted: without --nodes)", BAD_USE)
    if options.network and options.network.send_ns != options.network.overhead_ns:
        raise CliError(
            "--network: a simulated node starts messages one OVERHEAD apart"
            " (accepted: ALPHA,BETA,OVERHEAD)",
            BAD_USE,
        )
    if options.set:
        raise CliError("--set: of one node (accepted: without --nodes)", BAD_USE)
    if options.algorithm and "," in options.algorithm:
        raise CliError(f"--algorithm {options.algorithm}: accepted is one, with --nodes", BAD_USE)


def network_of(options: Options, layout: Layout, machine: dict[str, Any]) -> tuple[Network, str]:
    """Returns (Network, the source of its numbers): as given, as described, or as jobs know it."""
    link = machine.get("network")
    if options.network:
        return options.network, "as given"
    if not link:
        numbers, where = network.known(layout)
        return numbers._replace(send_ns=numbers.overhead_ns), where
    beta_ns = 1 / link["gbps"] if link.get("gbps") else 0
    message_ns = link.get("message_ns", 0)
    return network.Network(link["latency_ns"], beta_ns, message_ns, message_ns), "described"


def with_network(machine: dict[str, Any], numbers: Network) -> dict[str, Any]:
    """Returns the machine with the network."""
    about = {"latency_ns": numbers.alpha_ns, "message_ns": numbers.overhead_ns}
    if numbers.beta_ns:
        about["gbps"] = 1 / numbers.beta_ns
    return {**machine, "network": about}


def value(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


class Simulation:
    def __init__(self, options: Options, layout: Layout, machine: dict[str, Any]) -> None:
        refuse(options)
        self.options, self.layout = options, layout
        self.about = find(layout, options.collective, "simulate")
        self.network, self.where = network_of(options, layout, machine)
        self.machine = with_network(machine, self.network)
        cores = self.question({"machine": self.machine})["machine"]["cores"]
        self.machine_words = described.words(options.machine, self.machine)
        self.ranks = options.ranks or options.nodes * cores
        sizes = options.bytes or sizes_of(PAIR_SIZES if self.about.blocks else SIZES)
        self.sizes = sizes if self.about.moves else [0]

    def question(self, request: dict[str, Any]) -> dict[str, Any]:
        names = {"machine": f"--machine {self.options.machine}", "nodes": "--nodes"}
        return self.layout.question(
            "simulate", request, {**names, **{key: f"--{key}" for key in OPTIONS}}
        )

    def call(self, size: int) -> dict[str, Any]:
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

    def alone_ns(self, size: int) -> float | None:
        """
        Returns the time of huddle's choice for the ranks of one node, or None for a single rank or
        without a choice.
        """
        here = self.ranks // self.options.nodes
        if here < 2:
            return None
        serves = simulated.choice(self.layout, self.machine_words, self.about.name, size, here)
        if not serves:
            return None
        return simulated.call_ns(
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

    def latencies_ns(self) -> float:
        """
        Returns the time of the rounds that all of these need: ceil(log2 N) messages in succession.
        """
        return math.ceil(math.log2(self.options.nodes)) * self.network.alpha_ns


def calls_of(simulation: Simulation) -> list[dict[str, Any]]:
    found = {}
    with Progress(len(simulation.sizes), "simulating") as progress:
        for size in reversed(simulation.sizes):
            found[size] = {**simulation.call(size), "alone_ns": simulation.alone_ns(size)}
            progress.step()
    return [found[size] for size in simulation.sizes]


def main(options: Options, layout: Layout, machine: dict[str, Any]) -> int:
    if options.nodes < 2:
        raise CliError(f"--nodes {options.nodes}: a span has two nodes or more", BAD_USE)
    simulation = Simulation(options, layout, machine)
    calls = calls_of(simulation)
    if options.json:
        about = {"nodes": options.nodes, "network": simulation.network._asdict()}
        print(json.dumps({"simulated": True, **about, "calls": calls}, indent=1))
        return DONE
    doubt = described.doubt_text(machine.get("doubt"))
    heading(
        f"Simulated {simulation.about.name}, {simulation.ranks} ranks on {options.nodes} x"
        f" {machine['name']}{doubt}"
    )
    table(
        ["bytes", "algorithm", "simulated", "one node alone", "parameters"],
        [
            [
                bytes_text(call["bytes"]) if simulation.about.moves else "",
                call["algorithm"],
                time_text(call["times"]["time_ns"]),
                time_text(call["alone_ns"]) if call["alone_ns"] else "-",
                parameters_text(call),
            ]
            for call in calls
        ],
        right=(0, 2, 3),
    )
    print(f"  network: {network.text(simulation.network)} ({simulation.where})")
    print(f"  ceil(log2 {options.nodes}) messages in a row: {time_text(simulation.latencies_ns())}")
    return DONE
