# SPDX-License-Identifier: BSD-3-Clause
"""
Paper 01 (Kurnosov, Tokmasheva, Shared memory based MPI broadcast algorithm for NUMA systems): the
parameters f, s, q and the tree of a broadcast through queues.

Two parts: the paper's model (src/cost/queue.h) with the parameters of its own plots, and
bcast/queue simulated on the paper's two machines, over f, over s, over trees, and compared with the
schemes of MVAPICH (bcast/slots) and of Open MPI's coll/sm (bcast/banks).  Each call has fresh data;
the time is that of the slowest rank.

There are p ranks.  A rank's queue has s buffers of f bytes, b = f s in all, refilled in q sets.
The model has four times: t, ns per byte copied; t_w, until a fragment's announcement has reached
the last rank; t_wo, to enter a set of buffers; t_a, to leave it.  f* is the best f of the model.
"""

from ..common.pictures import Figure
from ..common.text import bytes_text
from . import forms
from .paper_01_experiments import NOTES, experiments
from .paper_01_buffers import (
    BROADWELL,
    KB,
    MB,
    NEHALEM,
    SIMULATED,
    TREES,
    Queues,
    alone,
    by_model,
    gain,
    over_f,
    over_s,
    teeth,
)
from .rows import Result, Row, found

TITLE = "shared-memory broadcast for NUMA nodes"


def over_trees(q):
    """Figure 10: two Broadwell nodes, p = 16, s = 64, f = 8192."""
    sizes = [64 * KB] if q.lab.brief else [8 * KB, 64 * KB, 512 * KB, 4 * MB]
    times = {
        (name, size): q.queue(BROADWELL, size, 16, 8 * KB, 64, *tree)
        for name, tree in TREES.items()
        for size in sizes
    }
    order = sorted(TREES, key=lambda name: times[name, sizes[-1]])
    rows = alone(
        q,
        [
            Row.judged(
                f"figure 10: fastest trees, {sizes[-1] // KB} KB",
                "",
                "binary, chain",
                ", ".join(order[:2]),
                SIMULATED,
                found("the same two", set(order[:2]) == {"binary", "chain"}),
            )
        ],
    )
    rows += [
        Row(
            f"figure 10: {name} against flat, {sizes[-1] // KB} KB",
            "%",
            None,
            gain(times[name, sizes[-1]], times["flat", sizes[-1]]),
            SIMULATED,
        )
        for name in TREES
        if name != "flat"
    ]
    lines = [
        (name, sizes, [times[name, size] / times["flat", size] for size in sizes], False)
        for name in TREES
    ]
    return rows, [
        Figure(
            "figure-10",
            "Trees against flat: p = 16, s = 64, f = 8192, simulated (figure 10)",
            "message, bytes",
            "times flat",
            "x",
            lines,
        )
    ]


def placement(q):
    """
    Figure 11: two Broadwell nodes, p = 16, s = 64, f = 8192, a binary tree, the root on the second
    node: each queue on its owner's node, against all on that of process 0.
    """
    sizes = [64 * KB] if q.lab.brief else [8 * KB, 64 * KB, 512 * KB, 4 * MB, 16 * MB]
    ratios = []
    for size in sizes:
        on, off = (
            q.us(
                BROADWELL,
                "queue",
                size,
                16,
                placing=placing,
                root=8,
                fragment=8 * KB,
                buffers=64,
                sets=1,
                tree="kary",
                degree=2,
            )
            for placing in ("on", "off")
        )
        ratios.append(on / off)
    grows = max(ratios) < 1 and ratios[-1] == min(ratios)
    rows = alone(
        q,
        [
            Row.judged(
                f"figure 11: placement, p = 16, {bytes_text(sizes[0])} to {bytes_text(sizes[-1])}",
                "",
                "faster, growing with the message",
                f"{gain(ratios[0], 1):.1f} to {gain(ratios[-1], 1):.1f} %",
                SIMULATED,
                found("faster at all sizes, most at the largest", grows),
            )
        ],
    )
    return rows, [
        Figure(
            "figure-11",
            "Each queue on its owner's node, against all on one: p = 16, s = 64, f = 8192,"
            " simulated (figure 11)",
            "message, bytes",
            "times all on one",
            "x",
            [("each on its owner's", sizes, ratios, False)],
        )
    ]


def against(q):
    """
    Figures 12 and 13: ours (s = 64, f = 8192, q = 1, a binary tree) against MVAPICH's scheme and
    coll/sm's.
    """
    sizes = [64 * KB] if q.lab.brief else [64, KB, 8 * KB, 64 * KB, 512 * KB, 4 * MB]
    rows, figures = [], []
    for number, machine, ranks, name, scheme, published in (
        (12, NEHALEM, 8, "MVAPICH", ("slots", {"fragment": 8 * KB, "slots": 128}), "-20..-40"),
        (13, BROADWELL, 16, "coll/sm", ("banks", {"fragment": 8 * KB, "buffers": 8}), "-20..-60"),
    ):
        ours = [q.queue(machine, size, ranks, 8 * KB, 64, "kary") for size in sizes]
        theirs = [q.us(machine, scheme[0], size, ranks, **scheme[1]) for size in sizes]
        gains = [gain(new, old) for new, old in zip(ours, theirs)]
        low, high = (int(part) for part in published.split(".."))
        outside = [bytes_text(size) for size, part in zip(sizes, gains) if not high <= part <= low]
        rows += alone(
            q,
            [
                Row.judged(
                    f"figure {number}: against {name}, p = {ranks}, {len(sizes)} sizes",
                    "",
                    f"{published} %",
                    f"{max(gains):.0f}..{min(gains):.0f} %"
                    + (f", outside at {', '.join(outside)}" if outside else ""),
                    SIMULATED,
                    found("within it at all sizes", not outside),
                )
            ],
        )
        figures.append(
            Figure(
                f"figure-{number}",
                f"Against {name}'s scheme: p = {ranks}, simulated (figure {number})",
                "message, bytes",
                "us, simulated",
                "xy",
                [("ours", sizes, ours, False), (name, sizes, theirs, False)],
            )
        )
    return rows, figures


def reproduce(lab):
    q, rows, figures = Queues(lab), [], []
    for line in NOTES:
        lab.note(line)
    for part, arg in (
        (by_model, lab),
        (over_f, q),
        (over_s, q),
        (teeth, q),
        (over_trees, q),
        (placement, q),
        (against, q),
    ):
        more, drawn = part(arg)
        rows += more
        figures += drawn
    return Result([*rows, *forms.paper_01(q), *experiments(q)], figures)
