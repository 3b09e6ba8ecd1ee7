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
from .unmeasured import scaled

TITLE = "reduction and broadcast through shared queues"
MACHINE, RANKS, SIMULATED = "xeon-8358", 64, "simulated"
KB = 1 << 10
TREES, CELLS = {"binomial": ("knomial", 2), "binary": ("kary", 2), "chain": ("chain", 2)}, 4
LARGEST = {"bcast": 6.5, "reduce": 3.3, "allreduce": None}  # times faster, at most
# The trees of Open MPI's fixed rules (coll_tuned_decision_fixed.c at 010080ec) on 64 ranks, by the
# message's maximum size; its split binary tree is a binary one here.  Its fragments of 1 KB are of
# 4 KB here, the least that huddle's messages have.
RULES = {
    "bcast": ((2 * KB, "binomial"), (370728, "binary"), (1 << 30, "chain")),
    "reduce": ((104 * KB, "binary"), (1 << 30, "chain")),
}
NOTES = (
    (
        "bcast: the best of all trees counts here. coll/tuned does not always take it. In the"
        " experiment with the trees of its fixed rules, the largest speedup is as published within"
        " a factor of 1.25. The published Open MPI's version and rules are not known"
    ),
    (
        "reduce: neither that experiment nor one with an MPI's own work twice as long gives as much"
        " as published. So no experiment explains it"
    ),
    (
        "a message takes an MPI's own work besides copies and lines, as measured of Open MPI 5 on"
        " another machine, once for each fragment. The handshake of a long message is not simulated"
    ),
    (
        "allreduce by messages is a reduce, then a broadcast; recursive doubling, which a tuned MPI"
        " uses for small messages, is not simulated"
    ),
    f"both sides: {simulated.MEASURED}",
)


class Server:
    def __init__(self, lab, work=1):
        """work: times an MPI's own work for a message."""
        self.lab, self.known = lab, {}
        self.ranks = 16 if lab.brief else RANKS
        machine = lab.machine(MACHINE)
        self.machine = {**machine, "call": scaled(machine["call"], work)}

    def huddle_us(self, collective, size):
        """Simulated once."""
        if (collective, size) not in self.known:
            ns = simulated.chosen_measured_ns(
                self.lab.layout, self.machine, collective, size, self.ranks
            )
            self.known[collective, size] = ns / 1000
        return self.known[collective, size]

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


def by_rule(server, collective, size):
    """us of the tree that coll/tuned's rules take."""
    tree = next(name for most, name in RULES[collective] if size < most)
    fragment = 8 * KB if (collective, tree) == ("bcast", "chain") else 4 * KB
    _, way = server.form(collective, size, tree, fragment)
    return simulated.once(server.lab.layout, server.machine, **way)[0] / 1000


def experiments(server, sizes):
    """The largest speedup by coll/tuned's rules; and with an MPI's own work twice as long."""
    other = Server(server.lab, 2)
    for collective in RULES:
        ours = {size: server.huddle_us(collective, size) for size in sizes}
        for what, theirs in (
            ("the trees of coll/tuned's rules", lambda size: by_rule(server, collective, size)),
            (
                "an MPI's own work twice as long",
                lambda size: other.messages_us(collective, size)[0],
            ),
        ):
            best, size = max((theirs(size) / ours[size], size) for size in sizes)
            yield Row(
                f"experiment, {what}: {collective}: largest speedup ({size} B),"
                f" {server.ranks} ranks",
                "times",
                None if server.lab.brief else LARGEST[collective],
                best,
                SIMULATED,
            )


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
    sizes = [8, 64 * KB] if lab.brief else [8, 64, 512, 4 * KB, 32 * KB, 128 * KB, 512 * KB]
    for collective, printed in LARGEST.items():
        more, figure = compare(server, collective, printed, sizes)
        rows += more
        figures.append(figure)
    middle = [size for size in sizes if 4 * KB <= size <= 128 * KB]  # where it is largest
    return Result([*rows, *experiments(server, middle)], figures)
