# SPDX-License-Identifier: BSD-3-Clause
"""huddle explain --nodes: what serves a call of a communicator that spans nodes, and why."""

import json

from ..common import network
from ..common.options import sizes_of
from ..common.text import bytes_text, table

SIZES = "8:4M:8"
SUM_BYTES = 8 << 10  # allreduce: larger ones are the MPI's own (src/alg/nodes/nodes.h)
HANDLED = ("barrier", "bcast", "allreduce")


def whys(options, layout, name, sizes):
    """[(bytes, what serves, tree, segment, because)]"""
    alone = not options.ranks or options.ranks[1] <= options.nodes
    numbers, where = network.known(layout)
    points = network.broadcasts(layout, numbers, options.nodes, [max(size, 1) for size in sizes])
    for size, point in zip(sizes, points):
        if name == "bcast" and (point["gains"] or not alone):
            tree = network.tree_text(point)
            yield size, "nodes", tree, network.segment_text(point, size), f"the network: {where}"
        elif name not in HANDLED or (name == "allreduce" and size > SUM_BYTES):
            yield size, "the MPI's own", "", "", "huddle has no algorithm between nodes"
        elif alone:
            yield size, "the MPI's own", "", "", "one rank on each node, and no pipeline that gains"
        else:
            yield size, "nodes", "", "", "several ranks share memory on each node"


def main(options, layout, name):
    text = options.bytes if options.bytes is not None else SIZES
    sizes = [0] if name == "barrier" else sizes_of(text)
    rows = list(whys(options, layout, name, sizes))
    ranks = options.ranks[1] if options.ranks else options.nodes
    if options.json:
        keys = "bytes", "serves", "tree", "segment", "because"
        print(json.dumps([dict(zip(keys, row)) for row in rows], indent=2))
        return 0
    print(f"{name}, {ranks} ranks on {options.nodes} nodes, HUDDLE_NODES=auto (on: all of its own)")
    table(
        ["bytes", "algorithm", "tree of nodes", "segment", "because"],
        [[bytes_text(size) if size else "-", *row] for size, *row in rows],
        right=(0, 3),
    )
    return 0
