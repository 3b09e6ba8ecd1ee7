# SPDX-License-Identifier: BSD-3-Clause
"""
The network between nodes, by its numbers (src/cost/network.h): alpha, of a message; beta, of a
byte; overhead, of one more message of several on their way; send, to start one.
"""

from __future__ import annotations

import os
import re
from collections import namedtuple
from typing import Any

from . import rules
from .layout import CliError, Layout
from .text import bytes_text

Network = namedtuple("Network", "alpha_ns beta_ns overhead_ns send_ns")

USUAL = Network(5e4, 47, 5e4, 5e4)
USUAL_TEXT = "that of paper 04, Gigabit Ethernet"
# The line of HUDDLE_STATS=1 (src/core/job/stats.c).
MEASURED = re.compile(
    r"network +alpha (\d+) ns, beta (\d+) ps per byte, overhead (\d+) ns, send (\d+) ns"
)
LARGEST = 32 << 10  # bytes of a segment, without HUDDLE_LAB_NODES_FRAGMENT


def usual(layout: Layout, site: bool) -> str:
    if site:
        return os.path.join(layout.sysconf, "huddle", rules.USUAL_NAME)
    base = os.environ.get("XDG_CONFIG_HOME", "")
    return os.path.join(
        base if os.path.isabs(base) else os.path.expanduser("~/.config"), "huddle", rules.USUAL_NAME
    )


def of_file(layout: Layout, path: str) -> Network | None:
    """Returns the network of a tuning file, or None if the file or its network line is missing."""
    if not os.path.exists(path):
        return None
    error = layout.tuning_error(path)
    if error:
        raise CliError(error)
    try:
        about = rules.values_of(path, rules.NETWORK)
    except OSError as error:
        raise CliError(f"{path}: {error}") from error
    if about is None:
        return None
    alpha_ns, beta_ps, overhead_ns = (
        float(about[key]) for key in ("alpha_ns", "beta_ps", "overhead_ns")
    )
    send_ns = float(about.get("send_ns", overhead_ns))
    return Network(alpha_ns, beta_ps / 1000, overhead_ns, send_ns)


def measured(output: str) -> Network | None:
    """
    Returns the network that a job has measured, from its output with HUDDLE_STATS=1, or None if no
    message crossed nodes.
    """
    found = MEASURED.search(output)
    if not found:
        return None
    alpha_ns, beta_ps, *others = (int(number) for number in found.groups())
    return Network(alpha_ns, beta_ps / 1000, *others)


def text(network: Network) -> str:
    differs = network.send_ns != network.overhead_ns
    return (
        f"alpha {network.alpha_ns / 1000:.3g} us, beta {network.beta_ns:.3g} ns per byte, overhead"
        f" {network.overhead_ns / 1000:.3g} us"
        + (f", send {network.send_ns / 1000:.3g} us" if differs else "")
    )


def broadcasts(
    layout: Layout, network: Network, nodes: int, sizes: list[int]
) -> list[dict[str, Any]]:
    """Returns the model's answer for each size: {"tree", "degree", "segment", "ns", ...}."""
    points = [{"nodes": nodes, "bytes": size, "largest": LARGEST} for size in sizes]
    question = {"model": network._asdict(), "points": points}
    return layout.question("network", question)["points"]


def tree_text(point: dict[str, Any]) -> str:
    if (point["tree"], point["degree"]) == ("k-ary", 1):
        return "chain"
    if (point["tree"], point["degree"]) == ("k-nomial", 2):
        return "binomial"
    return f"{point['degree']}{point['tree'][1:]}"


def segment_text(point: dict[str, Any], size: int) -> str:
    return "whole" if point["segment"] >= size else bytes_text(round(point["segment"]))


def known(layout: Layout) -> tuple[Network, str]:
    """Returns (the network that jobs know before they measure, the source of its numbers)."""
    named = os.environ.get("HUDDLE_TUNING", "")
    paths = [named] if named else [usual(layout, False), usual(layout, True)]
    for path in paths:
        found = of_file(layout, path)
        if found:
            return found, path
    return USUAL, USUAL_TEXT
