# SPDX-License-Identifier: BSD-3-Clause
"""huddle explain --nodes: what serves a call of a communicator that spans nodes, and why."""

import json

from ..common import network
from ..common.layout import Trouble
from ..common.options import sizes_of
from ..common.text import bytes_text, table

SIZES = "8:4M:8"
NONE = ("scan", "exscan")  # huddle has no algorithm of these between nodes
RING = ("allreduce", "allgather", "allgatherv", "reduce_scatter")  # src/alg/lanes/ring.h


def whys(options, layout, name, sizes):
    """[(bytes, what serves, tree, segment, because)]"""
    alone = not options.ranks or options.ranks[1] <= options.nodes
    numbers, where = network.known(layout)
    ranks = options.nodes if name == "allgather" else 1  # bytes are of a block
    of_all = [max(size, 1) * ranks for size in sizes]
    points = network.broadcasts(layout, numbers, options.nodes, of_all)
    for size, point in zip(sizes, points):
        if name in NONE:
            yield size, "the MPI's own", "", "", "huddle has no algorithm between nodes"
        elif name == "bcast" and (point["gains"] or not alone):
            tree = network.tree_text(point)
            yield size, "nodes", tree, network.segment_text(point, size), f"the network: {where}"
        elif not alone:
            yield size, "huddle's", "", "", "several ranks share memory on each node"
        elif name in RING and point["fills"]:
            yield size, "lanes", "", "", f"its bytes fill the network: {where}"
        else:
            yield size, "the MPI's own", "", "", "one rank on each node, and nothing that gains"


def refuse(options):
    if options.ranks and options.ranks[1] < options.nodes:
        raise Trouble(f"--ranks {options.ranks[1]}: fewer than nodes ({options.nodes})", 2)


def main(options, layout, name):
    refuse(options)
    text = options.bytes if options.bytes is not None else SIZES
    sizes = [0] if name == "barrier" else sizes_of(text)
    rows = list(whys(options, layout, name, sizes))
    ranks = options.ranks[1] if options.ranks else options.nodes
    if options.json:
        keys = "bytes", "serves", "tree", "segment", "because"
        print(json.dumps([dict(zip(keys, row)) for row in rows], indent=2))
        return 0
    print(
        f"{name}, {ranks} ranks on {options.nodes} nodes, HUDDLE_NODES=auto (on: all of its own)\n"
        "Other settings, such as HUDDLE_NODES_TREE and HUDDLE_BCAST, are not looked at."
    )
    table(
        ["bytes", "algorithm", "tree of nodes", "segment", "because"],
        [[bytes_text(size) if size else "-", *row] for size, *row in rows],
        right=(0, 3),
    )
    return 0
