# SPDX-License-Identifier: BSD-3-Clause
"""
The network between nodes, by its numbers (src/cost/network.h): alpha, of a message; beta, of a
byte; overhead, of one more message of several on their way; send, to start one.
"""

import math
import os
from collections import namedtuple

from . import machines, refused
from .layout import Trouble
from .text import bytes_text

Network = namedtuple("Network", "alpha_ns beta_ns overhead_ns send_ns")

USUAL = Network(5e4, 47, 5e4, 5e4)
USUAL_TEXT = "that of paper 04, Gigabit Ethernet"
LARGEST = 32 << 10  # bytes of a segment, without HUDDLE_NODES_FRAGMENT


def network_of(text):
    """'21000,8.1,4000', in ns"""
    try:
        numbers = [float(word) for word in text.split(",")]
        found = Network(*numbers, numbers[2]) if len(numbers) == 3 else Network(*numbers)
    except (TypeError, ValueError) as error:
        raise refused.argument(text, "ALPHA,BETA,OVERHEAD[,SEND], in ns") from error
    in_order = 0 <= found.send_ns <= found.overhead_ns <= found.alpha_ns < math.inf
    if not found.alpha_ns > 0 or not in_order or not 0 <= found.beta_ns < math.inf:
        raise refused.argument(text, "alpha above 0, beta, overhead up to alpha, send up to that")
    return found


def usual(layout, site):
    if site:
        return os.path.join(layout.sysconf, "huddle", "tuning.toml")
    base = os.environ.get("XDG_CONFIG_HOME", "")
    return os.path.join(
        base if os.path.isabs(base) else os.path.expanduser("~/.config"), "huddle", "tuning.toml"
    )


def of_file(layout, path):
    """[network] of a tuning file; None: there is no such file, or it has none."""
    if not os.path.exists(path) or machines.tomllib is None:
        return None
    error = layout.tuning_error(path)
    if error:
        raise Trouble(error)
    try:
        with open(path, "rb") as file:
            about = machines.tomllib.load(file).get("network")
    except (OSError, ValueError) as error:
        raise Trouble(f"{path}: {error}") from error
    if not about:
        return None
    about = about[-1] if isinstance(about, list) else about
    alpha_ns, beta_ps, overhead_ns = (
        float(about[key]) for key in ("alpha_ns", "beta_ps", "overhead_ns")
    )
    send_ns = float(about.get("send_ns", overhead_ns))
    return Network(alpha_ns, beta_ps / 1000, overhead_ns, send_ns)


def text(network):
    differs = network.send_ns != network.overhead_ns
    return (
        f"alpha {network.alpha_ns / 1000:.3g} us, beta {network.beta_ns:.3g} ns per byte, overhead"
        f" {network.overhead_ns / 1000:.3g} us"
        + (f", send {network.send_ns / 1000:.3g} us" if differs else "")
    )


def broadcasts(layout, network, nodes, sizes):
    """What the model says of each size: {"tree", "degree", "segment", "ns", ...}."""
    points = [{"nodes": nodes, "bytes": size, "largest": LARGEST} for size in sizes]
    question = {"ask": "nodes", "model": network._asdict(), "points": points}
    return layout.question("model", question)["points"]


def tree_text(point):
    if (point["tree"], point["degree"]) == ("k-ary", 1):
        return "chain"
    if (point["tree"], point["degree"]) == ("k-nomial", 2):
        return "binomial"
    return f"{point['degree']}{point['tree'][1:]}"


def segment_text(point, size):
    return "whole" if point["segment"] >= size else bytes_text(round(point["segment"]))


def known(layout):
    """(the network that jobs know before they measure, where its numbers are from)"""
    named = os.environ.get("HUDDLE_TUNING", "")
    paths = [named] if named else [usual(layout, False), usual(layout, True)]
    for path in paths:
        found = of_file(layout, path)
        if found:
            return found, path
    return USUAL, USUAL_TEXT
