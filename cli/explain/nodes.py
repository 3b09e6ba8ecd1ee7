# SPDX-License-Identifier: BSD-3-Clause
"""huddle explain --nodes: what serves a call of a communicator that spans nodes, and why."""

import json

from ..common import network
from ..common.layout import Trouble
from ..common.text import bytes_text, table
from .sizes import stepped

SIZES = "8:4M:8"


def whys(options, layout, about, sizes):
    """[(bytes, what serves, tree, segment, because)]; src/core/team/span_choose.c decides alike."""
    alone = not options.ranks or options.ranks[1] <= options.nodes
    ring = "lanes" in about.spans and not about.rooted  # a rooted one passes pieces down a chain
    numbers, where = network.known(layout)
    of_all = [max(size, 1) * (options.nodes if about.blocks else 1) for size in sizes]
    points = network.broadcasts(layout, numbers, options.nodes, of_all)
    for size, point in zip(sizes, points):
        if not about.spans:
            yield size, "the MPI's own", "", "", "huddle has no algorithm between nodes"
        elif about.name == "bcast" and (point["gains"] or not alone):
            tree = network.tree_text(point)
            yield size, "nodes", tree, network.segment_text(point, size), f"the network: {where}"
        elif not alone:
            yield size, "huddle's", "", "", "several ranks share memory on each node"
        elif ring and point["fills"]:
            yield size, "lanes", "", "", f"its bytes fill the network: {where}"
        else:
            yield size, "the MPI's own", "", "", "one rank on each node, and nothing that gains"


def refuse(options, about):
    if options.bytes is not None and not about.moves:
        raise Trouble(f"--bytes {options.bytes}: {about.unsized} (accepted: without it)", 2)
    if options.ranks and options.ranks[1] < options.nodes:
        raise Trouble(f"--ranks {options.ranks[1]}: fewer than nodes ({options.nodes})", 2)


def main(options, layout, about):
    """about: the collective."""
    refuse(options, about)
    sizes = stepped(SIZES if options.bytes is None else options.bytes) if about.moves else [0]
    rows = list(whys(options, layout, about, sizes))
    ranks = options.ranks[1] if options.ranks else options.nodes
    if options.json:
        keys = "bytes", "serves", "tree", "segment", "because"
        print(json.dumps([dict(zip(keys, row)) for row in rows], indent=2))
        return 0
    print(
        f"{about.name}, {ranks} ranks on {options.nodes} nodes, HUDDLE_NODES=auto (on: all of its"
        " own)\nOther settings, such as HUDDLE_NODES_TREE and HUDDLE_BCAST, are not looked at."
    )
    table(
        ["bytes", "algorithm", "tree of nodes", "segment", "because"],
        [[bytes_text(size) if size else "-", *row] for size, *row in rows],
        right=(0, 3),
    )
    return 0
