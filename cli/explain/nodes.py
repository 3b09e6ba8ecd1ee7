# SPDX-License-Identifier: BSD-3-Clause
"""huddle explain --nodes: what serves a call of a communicator that spans nodes, and why."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..common import network
from ..common.exit_status import BAD_USE, DONE
from ..common.layout import CliError, Layout
from ..common.text import bytes_text, table
from ..common.types import Options
from .sizes import stepped

if TYPE_CHECKING:
    from ..common.collectives import Collective

SIZES = "8:4M:8"


def whys(
    options: Options, layout: Layout, about: Any, sizes: list[int]
) -> Iterator[tuple[int, str, str, str, str]]:
    """
    Yields (bytes, what serves, tree, segment, because) of each size.  src/core/span/span_choose.c
    decides alike, if each rank has a processor.
    """
    alone = not options.ranks or options.ranks[1] <= options.nodes
    ring = "rings" in about.spans and not about.rooted  # a rooted one passes pieces down a chain
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
            yield size, "rings", "", "", f"its bytes fill the network: {where}"
        else:
            yield size, "the MPI's own", "", "", "one rank on each node, and no gain by the model"


def refuse(options: Options, about: Collective) -> None:
    if options.bytes is not None and not about.moves:
        raise CliError(f"--bytes {options.bytes}: {about.unsized} (accepted: without it)", BAD_USE)
    if options.ranks and options.ranks[1] < options.nodes:
        raise CliError(f"--ranks {options.ranks[1]}: fewer than nodes ({options.nodes})", BAD_USE)


def main(options: Options, layout: Layout, about: Collective) -> int:
    """Prints what serves a collective of several nodes.  Returns an exit status."""
    refuse(options, about)
    sizes = stepped(SIZES if options.bytes is None else options.bytes) if about.moves else [0]
    rows = list(whys(options, layout, about, sizes))
    ranks = options.ranks[1] if options.ranks else options.nodes
    if options.json:
        keys = "bytes", "serves", "tree", "segment", "because"
        print(json.dumps([dict(zip(keys, row)) for row in rows], indent=2))
        return DONE
    print(
        f"{about.name}, {ranks} ranks on {options.nodes} nodes, HUDDLE_NODES=auto (with on,"
        " or if ranks share processors, huddle serves all calls)\nOther settings, such as"
        " HUDDLE_LAB_NODES_TREE and HUDDLE_BCAST, are ignored."
    )
    table(
        ["bytes", "algorithm", "tree of nodes", "segment", "because"],
        [[bytes_text(size) if size else "-", *row] for size, *row in rows],
        right=(0, 3),
    )
    return DONE
