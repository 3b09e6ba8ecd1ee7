# SPDX-License-Identifier: BSD-3-Clause
"""
Descriptions of machines as the simulator and the models use them, of which each number counts.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from typing import Any

from cli.common import machines, validators
from cli.common.layout import Layout
from cli.common.network import Network

FACTOR = 1.5  # maximum ratio to a described line transfer


def measured_file() -> str:
    """Returns the path of this machine's description, the default file of huddle lab machine."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    return os.path.join(
        base if os.path.isabs(base) else os.path.expanduser("~/.config"), "huddle", "machine.toml"
    )


def check(layout: Layout, machine: dict[str, Any], said_as: str) -> None:
    """
    Raises CliError if a simulation would refuse a description.  said_as: the words with which the
    complaint begins.
    """
    layout.question("model", {"ask": "description", "machine": machine}, {"machine": said_as})


def words(name: str, machine: dict[str, Any]) -> list[str]:
    """
    Returns the library's arguments for --machine NAME.  This machine needs none beyond its
    topology, since the library knows its tuning file, processors and kernel.
    """
    is_here = name == machines.THIS
    return [machine["topology"]] if is_here else machines.words(machine, name)


def doubt_text(doubt: str | None) -> str:
    """
    Returns the text after a machine's name.  `doubt` is the description's own warning, or None.
    """
    return f", by a description that is not reliable: {doubt}" if doubt else ""


def network_of(text: str) -> Network:
    """Parses '21000,8.1,4000', in ns."""
    try:
        numbers = [float(word) for word in text.split(",")]
        found = Network(*(numbers if len(numbers) != 3 else [*numbers, numbers[2]]))
    except (TypeError, ValueError) as error:
        raise validators.argument(text, "ALPHA,BETA,OVERHEAD[,SEND], in ns") from error
    in_order = 0 <= found.send_ns <= found.overhead_ns <= found.alpha_ns < math.inf
    if not found.alpha_ns > 0 or not in_order or not 0 <= found.beta_ns < math.inf:
        raise validators.argument(
            text, "alpha above 0, beta, overhead up to alpha, send up to that"
        )
    return found


def hops_of(machine: dict[str, Any]) -> Iterable[Any]:
    """
    Returns a described machine's line transfers as figures measure them: two processes poll a word
    and store to it in turn.  Such a store also revokes the reader's copy, which some machines do
    concurrently.
    """
    lines = machine["lines"]
    return lines.get("hop_ns", lines["transfer_ns"]).values()


def as_described(ns: float, described: Iterable[Any]) -> bool:
    """
    Returns whether a line transfer is about as long as a described one.  Only then was the figure
    measured on the described machine, since the processors of a virtual machine may move.
    """
    return any(1 / FACTOR <= ns / hop_ns <= FACTOR for hop_ns in described)


def moved_text(far: list[float]) -> str:
    """Returns a text about the figures that do not count.  `far` has their line transfers in ns."""
    return (
        f"{len(far)} figures do not count, since the processors had moved: a line transfer took"
        f" {min(far):.0f} to {max(far):.0f} ns"
    )
