# SPDX-License-Identifier: BSD-3-Clause
"""
Paper 02 (Zhang, Meng, Huo, Multi-core aware Barrier, Bcast and Alltoall): 16 ranks on four
quad-core Opterons, 4 x 4.

The forms of the paper, simulated.  A barrier: with two queues of packed cells, with one queue that
has a line for each cell, and with one queue per chip (`barrier/queues`).  A broadcast: all readers
at once, four readers at a time, and from segments on all nodes.  An exchange: by blocks, by tiles,
and by messages.  Each call has fresh data.
"""

from ..common import simulated
from ..common.pictures import Figure
from . import forms
from .rows import GAIN, RATIO, Result, Row, TIME
from .unmeasured import ends, ranged

TITLE = "barrier, broadcast and alltoall on multi-core nodes"
MACHINE, RANKS, SIMULATED = "opteron-8347he", 16, "simulated"
KB, MB = 1 << 10, 1 << 20
LIMITED, PLACED = "4 readers at a time", "segments on all nodes"
LIMITED_PRINTED = {512 * KB: -15, 16 * MB: -3.5}  # bytes -> %
PLACED_PRINTED = {128 * KB: -34.6, 16 * MB: -34.58}
ALL_LEVELS = "l2,l3,die,group,numa,socket"
NOTES = (
    (
        "the published times are those of MVAPICH with its other costs, which are not simulated;"
        " that counts for more in the times than in the gains from form to form"
    ),
    (
        "segments on all nodes, 16 MB: the gain comes from an L3 that takes what the L2 evicts, and"
        " not what its cores read; with an L3 that fills on reads, an experiment, there is none"
    ),
    (
        "segments on all nodes, 128 KB: with dirty lines that go to memory when another chip reads"
        " them, an experiment, there is a gain, and with no other policy; AMD's manual says that"
        " such lines stay with their owner, so the root's buffer may have been in memory for"
        " another reason"
    ),
    (
        "4 readers at a time: they lose in each experiment, whatever the L3 has, where dirty lines"
        " go, and how much a chip carries; not explained"
    ),
    (
        "tiles, and barriers over two queues, are not explained; exchanges of 16 MB per pair, with"
        " a published gain of -14 %, would need 8 GB of buffers"
    ),
)


class Forms:
    def __init__(self, lab, machine=None):
        self.lab, self.machine = lab, machine or lab.machine(MACHINE)

    def us(
        self, collective, algorithm, size=0, off="", method="single", slot=1536 * KB, **parameters
    ):
        return (
            simulated.call_ns(
                self.lab.layout,
                self.machine,
                collective,
                algorithm,
                size,
                ranks=RANKS,
                levels_off=off,
                method=method,
                slot_bytes=slot,
                warmup=1,
                repetitions=20 if method == "loop" else 1,
                parameters=parameters,
            )
            / 1000
        )


def barriers(f):
    """MVAPICH 1.1's barrier, one queue with a line for each cell, and one queue per chip."""
    two, one, three = (f.us("barrier", "queues", method="loop", form=form) for form in forms.FORMS)
    printed = {
        "two queues": (5.7, two),
        "one queue, a line for each cell": (4.97, one),
        "three levels": (2.28, three),
    }
    rows = [
        Row.judged(f"barrier: {name}", "us", us, here, SIMULATED, TIME)
        for name, (us, here) in printed.items()
    ]
    rows += [
        Row.judged("barrier: one queue over two", "times", 4.97 / 5.7, one / two, SIMULATED, RATIO),
        Row.judged(
            "barrier: three levels over one queue",
            "times",
            2.28 / 4.97,
            three / one,
            SIMULATED,
            RATIO,
        ),
        Row.judged(
            "barrier: three levels over two queues",
            "times",
            2.28 / 5.7,
            three / two,
            SIMULATED,
            RATIO,
        ),
        Row(
            "barrier: three levels, a leader answers by one line (cells)",
            "us",
            None,
            f.us("barrier", "cells", method="loop"),
            SIMULATED,
        ),
        Row(
            "barrier: huddle's own (groups)",
            "us",
            None,
            f.us("barrier", "groups", method="loop"),
            SIMULATED,
        ),
    ]
    return rows, []


EXPERIMENTS = (  # what is otherwise, section, its keys
    ("an L3 that fills on reads", "caches", {"shared_fill": "read"}),
    ("dirty lines that go to the L3", "caches", {"dirty_share": "cache"}),
    ("dirty lines that go to memory", "caches", {"dirty_share": "memory"}),
    ("chips that carry half as much", "links", {"mesh_gbps": {"numa": 7.5}}),
)


def experiments(lab, sizes):
    """The gains of broadcasts on other machines."""
    for what, section, keys in EXPERIMENTS:
        machine = lab.machine(MACHINE)
        f = Forms(lab, {**machine, section: {**machine[section], **keys}})
        for name, off, printed in (
            (LIMITED, ALL_LEVELS, LIMITED_PRINTED),
            (PLACED, "", PLACED_PRINTED),
        ):
            for size, percent in printed.items():
                if size not in sizes:
                    continue
                at_once = f.us("bcast", "segments", size, ALL_LEVELS, slot=40 * MB, limit=RANKS)
                other = f.us("bcast", "segments", size, off, slot=40 * MB, limit=4)
                yield Row(
                    f"experiment, {what}: {name}, {size // KB} KB",
                    "%",
                    percent,
                    100 * (other / at_once - 1),
                    SIMULATED,
                )


def broadcasts(f):
    """
    Segments that hold the whole message, as in the paper: on one node, read by all at once or by
    four; on all nodes, read by groups of four.
    """
    sizes = [128 * KB] if f.lab.brief else [32 * KB, 128 * KB, 512 * KB, 2 * MB, 16 * MB]
    slot = 40 * MB
    at_once = {
        size: f.us("bcast", "segments", size, ALL_LEVELS, slot=slot, limit=RANKS) for size in sizes
    }
    limited = {
        size: f.us("bcast", "segments", size, ALL_LEVELS, slot=slot, limit=4) for size in sizes
    }
    placed = {size: f.us("bcast", "segments", size, slot=slot, limit=4) for size in sizes}

    def gains(name, times, printed):
        return [
            Row.judged(
                f"bcast: {name} against all at once, {size // KB} KB",
                "%",
                percent,
                100 * (times[size] / at_once[size] - 1),
                SIMULATED,
                GAIN,
            )
            for size, percent in printed.items()
            if size in sizes
        ]

    rows = gains(LIMITED, limited, LIMITED_PRINTED) + gains(PLACED, placed, PLACED_PRINTED)
    if 16 * MB in sizes:
        rows.append(
            Row.judged(
                "bcast: segments on all nodes, 16 MB",
                "us",
                41648.18,
                placed[16 * MB],
                SIMULATED,
                TIME,
            )
        )
    rows += experiments(f.lab, sizes)
    names = (("all at once", at_once), ("4 at a time", limited), ("segments on all nodes", placed))
    return rows, [
        Figure(
            "bcast",
            "Limited readers, placed segments: 16 ranks on 4 x 4 cores, simulated",
            "message, bytes",
            "us, simulated",
            "xy",
            [(name, sizes, [times[size] for size in sizes], False) for name, times in names],
        )
    ]


def exchanges(f):
    """Tiles of a window that fits the shared cache, or blocks as a whole."""
    sizes = [64 * KB] if f.lab.brief else [16 * KB, 64 * KB, 256 * KB, MB]
    slot = 40 * MB
    blocks = {
        size: f.us("alltoall", "windows", size, slot=slot, tile=size, budget=4 * RANKS * size)
        for size in sizes
    }
    tiles = {size: f.us("alltoall", "windows", size, slot=slot, budget=128 * KB) for size in sizes}
    rows = [
        Row.judged(
            f"alltoall: tiles against blocks, {size // KB} KB per pair",
            "%",
            percent,
            100 * (tiles[size] / blocks[size] - 1),
            SIMULATED,
            GAIN,
        )
        for size, percent in ((64 * KB, -4), (MB, None))
        if size in sizes
    ]
    return rows, [
        Figure(
            "alltoall",
            "Tiles and blocks: 16 ranks on 4 x 4 cores, simulated",
            "bytes per pair",
            "us, simulated",
            "xy",
            [
                (name, sizes, [times[size] for size in sizes], False)
                for name, times in (("blocks", blocks), ("tiles", tiles))
            ],
        )
    ]


def reproduce(lab):
    f, rows, figures = Forms(lab), [], []
    for line in NOTES:
        lab.note(line)
    at_ends = [barriers(Forms(lab, machine))[0] for machine in ends(f.machine)]
    for part in (barriers, broadcasts, exchanges):
        more, drawn = part(f)
        rows += ranged(more, at_ends) if part is barriers else more
        figures += drawn
    return Result(rows + forms.paper_02(f, MACHINE), figures)
