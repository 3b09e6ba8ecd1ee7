# SPDX-License-Identifier: BSD-3-Clause
"""
Rows of paper 02 about broadcasts (4.2, 5.2).

The paper limits the readers of a segment: "as each process copies out of shared memory, the number
of processes that access each segment at the same time is limited" (4.2, figure 3).  Its second form
"does not change how the shared buffer is allocated" (5.2): the segments are all on rank 0's node.
Its third has one on each node.  An experiment reads the second form otherwise: one segment, four
readers at a time.
"""

from ..common import network
from ..common.pictures import Figure
from .rows import GAIN, Row, TIME

KB, MB, RANKS, SIMULATED = 1 << 10, 1 << 20, 16, "simulated"
SLOT = 40 * MB  # a segment may hold the whole message, as in the paper
IMB_BYTES = 40 * MB  # of all calls of a size; IMB 3.2 makes fewer calls of large messages
LIMITED, PLACED = "4 readers of a segment", "segments on all nodes"
PUBLISHED = {  # bytes -> %
    LIMITED: {512 * KB: -15, 16 * MB: -3.5},
    PLACED: {128 * KB: -34.6, 16 * MB: -34.58},
}
ALL_LEVELS = "l2,l3,die,group,numa,socket"
AT_ONCE = ({"levels_off": ALL_LEVELS}, RANKS)  # fields of a request; k
FORMS = {LIMITED: ({"placement": "off"}, 4), PLACED: ({}, 4)}
FOUR = ({"levels_off": ALL_LEVELS}, 4)
EXPERIMENTS = (  # what is otherwise, section of the description, its keys
    ("an L3 that fills on reads", "caches", {"shared_fill": "read"}),
    ("dirty lines that go to the L3", "caches", {"dirty_share": "cache"}),
    ("dirty lines that go to memory", "caches", {"dirty_share": "memory"}),
    ("chips that carry half as much", "links", {"mesh_gbps": {"numa": 7.5}}),
)
# 20 Gb/s with 8b/10b, as the paper's; latency, 2 us, and overhead, .5 us, assumed. The paper has no
# broadcasts between nodes.
NETWORK = network.Network(2000, 0.5, 500, 500)
NODES = 16  # of 16 ranks: the paper's 256 processes
NOTES = (
    (
        "bcast, by experiments: dirty lines that go to memory give both gains at 128 KB and 512 KB"
        " within a factor of 2. AMD's manual has such lines stay with their owner. Four readers of"
        " four chips give the gain of 16 MB. With an L3 that fills on reads, segments on all nodes"
        " gain nothing at 16 MB"
    ),
)


def us(f, size, form, **more):
    fields, limit = form
    calls = max(2, min(RANKS, IMB_BYTES // size))
    return f.us(
        "bcast",
        "segments",
        size,
        slot=SLOT,
        calls=calls,
        more={"root_shift": True, **fields, **more},
        limit=limit,
    )


def gain(f, size, form, **more):
    """% against all at once."""
    return 100 * (us(f, size, form, **more) / us(f, size, AT_ONCE, **more) - 1)


def experiments(f, sizes):
    """The gains on other machines; of four chips that read at a time; of four readers of all."""
    for what, section, keys in EXPERIMENTS:
        other = type(f)(f.lab, {**f.machine, section: {**f.machine[section], **keys}})
        for name, published in PUBLISHED.items():
            for size, percent in published.items():
                if size in sizes:
                    yield Row(
                        f"experiment, {what}: {name}, {size // KB} KB",
                        "%",
                        percent,
                        gain(other, size, FORMS[name]),
                        SIMULATED,
                    )
    for words, mapping in (("", "core"), (", of four chips", "numa")):
        for size, percent in PUBLISHED[LIMITED].items():
            if size in sizes:
                yield Row(
                    f"experiment, one segment, 4 readers at a time{words}, {size // KB} KB",
                    "%",
                    percent,
                    gain(f, size, FOUR, map=mapping),
                    SIMULATED,
                )


def between_nodes(f):
    """MVAPICH's scatter and allgather among leaders, and huddle's tree of nodes."""
    said = {"latency_ns": NETWORK.alpha_ns, "message_ns": NETWORK.overhead_ns}
    other = type(f)(f.lab, {**f.machine, "network": {**said, "gbps": 1 / NETWORK.beta_ns}})
    size = 64 * KB if f.lab.brief else MB
    nodes = 4 if f.lab.brief else NODES
    ways = {"nodes": nodes, "ranks": nodes * RANKS, "method": "single"}
    leaders, tree = (
        other.us("bcast", name, size, slot=4 * MB, calls=1, more=ways)
        for name in ("scatter_allgather", "nodes")
    )
    yield Row(
        f"bcast on {nodes} nodes: scatter and allgather of leaders over huddle's tree of nodes,"
        f" {size // KB} KB",
        "times",
        None,
        leaders / tree,
        SIMULATED,
    )


def broadcasts(f):
    """Rows and a figure."""
    sizes = [128 * KB] if f.lab.brief else [32 * KB, 128 * KB, 512 * KB, 2 * MB, 16 * MB]
    at_once = {size: us(f, size, AT_ONCE) for size in sizes}
    times = {name: {size: us(f, size, form) for size in sizes} for name, form in FORMS.items()}
    rows = [
        Row.judged(
            f"bcast: {name} against all at once, {size // KB} KB",
            "%",
            percent,
            100 * (times[name][size] / at_once[size] - 1),
            SIMULATED,
            GAIN,
        )
        for name, published in PUBLISHED.items()
        for size, percent in published.items()
        if size in sizes
    ]
    if 16 * MB in sizes:
        last = times[PLACED][16 * MB]
        rows.append(Row.judged(f"bcast: {PLACED}, 16 MB", "us", 41648.18, last, SIMULATED, TIME))
    lines = {"all at once": at_once, **times}
    return [*rows, *experiments(f, sizes), *between_nodes(f)], [
        Figure(
            "bcast",
            "Limited readers, placed segments: 16 ranks on 4 x 4 cores, simulated",
            "message, bytes",
            "us, simulated",
            "xy",
            [
                (name, sizes, [found[size] for size in sizes], False)
                for name, found in lines.items()
            ],
        )
    ]
