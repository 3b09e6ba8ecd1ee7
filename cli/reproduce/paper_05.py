# SPDX-License-Identifier: BSD-3-Clause
"""
Paper 05 (Romanyuta, Kurnosov: MPI reduction and broadcast algorithms based on shared memory): how
much faster collectives through shared queues are than trees of messages, on one server.

huddle's choice and trees of messages (src/alg/messages/messages.c: send and receive copy through a
queue of each pair of ranks) are both simulated.  For messages, the best of a binomial tree, a
binary tree and a chain counts, each with fragments of two sizes, as a tuned MPI would choose.  The
paper does not name its server; the figures here are for Ice Lake, 2 x 32 cores.
"""

from ..common import simulated
from ..common.pictures import Figure
from .rows import RATIO, Result, Row

TITLE = "reduction and broadcast through shared queues"
MACHINE, RANKS, SIMULATED = "xeon-8358", 64, "simulated"
KB = 1 << 10
TREES, CELLS = {"binomial": ("knomial", 2), "binary": ("kary", 2), "chain": ("chain", 2)}, 4
LARGEST = {"bcast": 6.5, "reduce": 3.3, "allreduce": None}  # times faster, at most
NOTES = (
    (
        "a message takes an MPI's own work besides copies and lines, as measured of Open MPI 5 on"
        " another machine, once for each fragment; the handshake of a long message is not simulated"
    ),
    (
        "allreduce by messages is a reduce, then a broadcast; recursive doubling, which a tuned MPI"
        " uses for small messages, is not simulated"
    ),
    f"both sides: {simulated.MEASURED}",
)


class Server:
    def __init__(self, lab):
        self.lab = lab
        self.ranks = 16 if lab.brief else RANKS
        self.machine = lab.machine(MACHINE)

    def huddle_us(self, collective, size):
        return (
            simulated.chosen_measured_ns(
                self.lab.layout, self.machine, collective, size, self.ranks
            )
            / 1000
        )

    def form(self, collective, size, name, fragment):
        """
        A candidate for simulated.fastest_ns.  A call uses only the cells of some pairs of the slot.
        """
        tree, degree = TREES[name]
        slot = (self.ranks * CELLS + 2) * (fragment + 256) + 256 * self.ranks
        call = {
            "collective": collective,
            "algorithm": "messages",
            "size": size,
            "ranks": self.ranks,
            "slot_bytes": slot,
            "used_bytes": CELLS * fragment,
            "parameters": {"tree": tree, "degree": degree, "fragment": fragment, "cells": CELLS},
        }
        return f"{name}, {fragment // KB} KB", call

    def messages_us(self, collective, size):
        """us, and the name of the tree."""
        fragments = [4 * KB] if size <= 4 * KB else [8 * KB, 32 * KB]
        best, how = simulated.fastest_ns(
            self.lab.layout,
            self.machine,
            [self.form(collective, size, name, f) for name in TREES for f in fragments],
        )
        return best / 1000, how


def compare(server, collective, printed, sizes):
    """Rows, and a figure."""
    ours = [server.huddle_us(collective, size) for size in sizes]
    trees, ways = zip(*(server.messages_us(collective, size) for size in sizes))
    factors = [old / new for old, new in zip(trees, ours)]
    best = max(range(len(sizes)), key=lambda i: factors[i])
    row = Row.judged(
        f"{collective}: largest speedup over trees of messages ({sizes[best]} B,"
        f" {ways[best]}), {server.ranks} ranks",
        "times",
        printed,
        factors[best],
        SIMULATED,
        RATIO,
    )
    rows = [
        row.alone() if server.lab.brief else row,
        Row(
            f"{collective}: speedup over all sizes",
            "",
            None,
            f"{min(factors):.2g} to {max(factors):.2g} times",
            SIMULATED,
        ),
    ]
    return rows, Figure(
        collective,
        f"{collective}, {server.ranks} ranks on 2 x Xeon 8358, simulated",
        "message, bytes",
        "us, simulated",
        "xy",
        [("huddle", sizes, ours, False), ("trees of messages", sizes, list(trees), False)],
    )


def reproduce(lab):
    server, rows, figures = Server(lab), [], []
    for line in NOTES:
        lab.note(line)
    for collective, printed in LARGEST.items():
        more, figure = compare(
            server,
            collective,
            printed,
            [8, 64 * KB] if lab.brief else [8, 64, 512, 4 * KB, 32 * KB, 128 * KB, 512 * KB],
        )
        rows += more
        figures.append(figure)
    return Result(rows, figures)
