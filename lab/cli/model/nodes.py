# SPDX-License-Identifier: BSD-3-Clause
"""
huddle lab model --nodes: broadcasts between nodes by the model of src/cost/network.h, which chooses
the tree and the segment of a job, too.
"""

from __future__ import annotations

import json
from typing import Any

from cli.common import network
from cli.common.exit_status import BAD_USE, DONE
from cli.common.layout import CliError, Layout
from cli.common.options import sizes_of
from cli.common.text import bytes_text, table
from cli.common.types import Options

SIZES = "8:4M:8"
MAX_NODES = 1 << 16


def us(ns: Any) -> Any:
    return f"{ns / 1000:.1f}" if ns < 1e5 else f"{ns / 1000:.0f}"


def known(options: Options, layout: Layout) -> Any:
    """Returns (network, the source of its numbers)."""
    if options.network:
        return options.network, "as given"
    return network.known(layout)


def main(options: Options, layout: Layout) -> Any:
    if options.collective != "bcast":
        raise CliError(f"--nodes: no model of {options.collective} (accepted: bcast)", BAD_USE)
    sizes = options.bytes or sizes_of(SIZES)
    if not sizes[0]:
        raise CliError("--bytes 0: nothing to predict (accepted: sizes from 1)", BAD_USE)
    numbers, where = known(options, layout)
    points = network.broadcasts(layout, numbers, options.nodes, sizes)
    if options.json:
        rows = [{"bytes": size, **point} for size, point in zip(sizes, points)]
        about = {"nodes": options.nodes, "network": numbers._asdict(), "points": rows}
        print(json.dumps(about, indent=2))
        return DONE
    print(f"bcast, {options.nodes} nodes: {network.text(numbers)} ({where})")
    table(
        ["bytes", "tree of nodes", "segment", "us", "an MPI's", "bound", "one rank a node"],
        [
            [
                bytes_text(size),
                network.tree_text(p),
                network.segment_text(p, size),
                us(p["ns"]),
                us(p["mpi_ns"]),
                us(p["min_ns"]),
                "huddle" if p["gains"] else "the MPI's own",
            ]
            for size, p in zip(sizes, points)
        ],
        right=(0, 2, 3, 4, 5),
    )
    print(
        "  an MPI's: whole messages, the faster of a binomial tree and of scatter and allgather."
        "  The last column: HUDDLE_NODES=auto; with several ranks on nodes huddle takes all."
    )
    return DONE
