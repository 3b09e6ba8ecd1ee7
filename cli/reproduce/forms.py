# SPDX-License-Identifier: BSD-3-Clause
"""
Rows about the papers' own forms and what they compare them with, where huddle's form is another
one: control words for each child (01), packed cells, exchanges of messages and counts of lines
(02), barriers of send and receive and open readings (03).
"""

from ..common import simulated
from .paper_01_buffers import BROADWELL, KB, gain
from .rows import GAIN, RATIO, Row, SAME, TIME, found

SIMULATED, NEHALEM = "simulated", "xeon-e5620"

# ---- paper 01 ----


def controls(q, machine, size, ranks, root=0, **parameters):
    """us of the paper's own broadcast: s = 64, f = 8192, q = 1, a binary tree."""
    form = {"fragment": 8 * KB, "buffers": 64, "sets": 1, "tree": "kary", "degree": 2}
    return q.us(machine, "controls", size, ranks, root=root, **{**form, **parameters})


def notified(q):
    """What the control words, and the counters, make of the time."""
    sizes = [64 * KB] if q.lab.brief else [KB, 64 * KB, 512 * KB]
    paper = [controls(q, BROADWELL, size, 16, tree="flat") for size in sizes]
    for words, parameters in (
        ("one word for all children, over one each", {"notify": "shared"}),
        ("acknowledgements in a line each, over counters", {"gate": "lines"}),
    ):
        ratios = [
            controls(q, BROADWELL, size, 16, tree="flat", **parameters) / time
            for size, time in zip(sizes, paper)
        ]
        yield Row(
            f"control words, flat: {words}, p = 16, {', '.join(f'{s // KB} KB' for s in sizes)}",
            "times",
            None,
            ", ".join(f"{ratio:.2f}" for ratio in ratios),
            SIMULATED,
        )


SCHEMES = {  # what the paper's form is compared with: figure, machine, ranks, scheme, gains
    "MVAPICH": (12, NEHALEM, 8, "slots", {"slots": 128}, (-40, -20)),
    "coll/sm as the paper has it": (13, BROADWELL, 16, "banks", {"from": "root"}, (-60, -20)),
    "coll/sm from parent to child": (13, BROADWELL, 16, "banks", {"from": "parent"}, (-60, -20)),
}


def moving_root(q):
    """
    Figures 12 and 13 with root_shift: the mean over a root on each socket.  coll/sm as the paper
    describes it, readers at the root's buffers; and as the component is.
    """
    sizes = [64 * KB] if q.lab.brief else [KB, 64 * KB, 512 * KB]
    for name, (figure, machine, ranks, scheme, parameters, (least, most)) in SCHEMES.items():
        form = {"fragment": 8 * KB, **({"buffers": 8} if scheme == "banks" else {}), **parameters}
        roots = (0, ranks - 1)
        gains = []
        for size in sizes:
            ours = [controls(q, machine, size, ranks, root) for root in roots]
            theirs = [q.us(machine, scheme, size, ranks, root=root, **form) for root in roots]
            gains.append(gain(sum(ours), sum(theirs)))
        outside = [f"{s // KB} KB" for s, part in zip(sizes, gains) if not least <= part <= most]
        row = Row.judged(
            f"figure {figure}, moving root: the paper's form against {name}, p = {ranks}",
            "",
            f"{most}..{least} %",
            f"{max(gains):.0f}..{min(gains):.0f} %"
            + (f", outside at {', '.join(outside)}" if outside else ""),
            SIMULATED,
            found("within it at all sizes", not outside),
        )
        yield row.alone() if q.lab.brief else row


def paper_01(q):
    return [*notified(q), *moving_root(q)]


# ---- paper 02 ----

TABLE_1 = {"two": (8.5, 6.1), "levels": (6.9, 4.9)}  # L2 misses, transfers between chips
BARRIERS = {  # form -> algorithm, parameters
    "two": ("two_queues", {}),
    "packed": ("two_queues", {"back": 0}),
    "one": ("queues", {"form": "one"}),
    "levels": ("queues", {"form": "levels"}),
}
FORMS = {"two": "two queues", "one": "one queue", "levels": "three levels"}


def lines_of(lab, machine, form):
    """{class of cores: lines that a rank fetches in a barrier}"""
    algorithm, parameters = BARRIERS[form]
    call = simulated.call(
        lab.layout,
        machine,
        "barrier",
        algorithm,
        ranks=16,
        method="loop",
        warmup=1,
        repetitions=20,
        parameters=parameters,
    )
    return call["lines"]


def table_1(f):
    """A line that a rank fetches from another core is a miss of its L2."""
    lab, machine = f.lab, f.machine
    counts = {form: lines_of(lab, machine, form) for form in FORMS}
    across = {form: lines["machine"] for form, lines in counts.items()}
    misses = {form: sum(lines.values()) for form, lines in counts.items()}
    for form, (printed, crossing) in TABLE_1.items():
        for what, count, here in (
            ("L2 misses of a barrier", printed, misses[form]),
            ("lines between chips", crossing, across[form]),
        ):
            yield Row.judged(f"table 1: {what}, {FORMS[form]}", "", count, here, SIMULATED, TIME)
    alone = sum(lines_of(lab, machine, "packed").values())
    yield Row(
        "table 1: L2 misses of a barrier, two queues, not set back", "", None, alone, SIMULATED
    )
    for what, found_here, printed in (
        ("L2 misses", misses, 6.9 / 8.5),
        ("lines between chips", across, 4.9 / 6.1),
    ):
        yield Row.judged(
            f"table 1: {what}, three levels over two queues",
            "times",
            printed,
            found_here["levels"] / found_here["two"],
            SIMULATED,
            RATIO,
        )


def messages(f, size, form):
    """us of MVAPICH's exchange of that form."""
    return f.us("alltoall", "messages", size, slot=8192 * KB, form=form)


def exchanges(f):
    """
    Tiles against the pairwise exchange of messages, the paper's "original algorithm for large
    messages" (5.3); which of MVAPICH's three is best when.
    """
    sizes = [64 * KB] if f.lab.brief else [64 * KB, 256 * KB]
    for size in sizes:
        tiles = f.us("alltoall", "windows", size, slot=8192 * KB, budget=128 * KB)
        yield Row.judged(
            f"alltoall: tiles against pairwise exchange of messages, {size // KB} KB per pair",
            "%",
            -4 if size == 64 * KB else None,
            gain(tiles, messages(f, size, "pairwise")),
            SIMULATED,
            GAIN,
        )

    def fastest(size, *names):
        return min(names, key=lambda form: messages(f, size, form))

    yield Row.judged(
        "alltoall: fastest of MVAPICH's, 8 B per pair",
        "",
        "bruck",
        fastest(8, "pairwise", "isend", "bruck"),
        SIMULATED,
        SAME,
    )
    yield Row(
        "alltoall: fastest of MVAPICH's, 16 KB per pair",
        "",
        "isend or pairwise",
        fastest(16 * KB, "pairwise", "isend"),
        SIMULATED,
    )


def figure_2(f):
    """Four ranks on one chip, over four on a chip each."""
    for size, printed in ((64, "below 1"), (256 * KB if f.lab.brief else 1024 * KB, "above 1")):
        one, four = (
            f.us(
                "alltoall",
                "messages",
                size,
                slot=8192 * KB,
                more={"ranks": 4, "map": places},
                form="isend",
            )
            for places in ("core", "numa")
        )
        holds = one / four < 1 if printed == "below 1" else one / four > 1
        yield Row.judged(
            f"figure 2: alltoall of four ranks, one chip over four,"
            f" {f'{size // KB} KB' if size >= KB else f'{size} B'}",
            "times",
            printed,
            one / four,
            SIMULATED,
            found("on the same side", holds),
        )


# ---- paper 03 ----

SEND_RECEIVE = {
    "send/receive linear": ("messages", {"form": "linear"}, ""),
    "send/receive double ring": ("messages", {"form": "double_ring"}, ""),
    "send/receive recursive doubling": ("messages", {"form": "doubling"}, ""),
    "send/receive Bruck": ("messages", {"form": "bruck"}, ""),
}
TREES = ("combining", "MCS", "tournament", "dissemination")  # in shared memory
READINGS = {
    "combining, woken by one flag": ("combining", {"degree": 2, "wake": "flag"}, ""),
    "combining, counters on the nodes of ranks": ("combining", {"degree": 2}, ""),
    "MCS, four children in one line": ("mcs", {"word": "one"}, ""),
}


def over_trees(b, ranks):
    trees = max(b.us(name, ranks) for name in TREES)
    fastest = min([*SEND_RECEIVE, "send/receive tree"], key=lambda name: b.us(name, ranks))
    yield Row.judged(
        f"fastest send/receive barrier over the slowest tree in shared memory, {ranks} ranks:"
        f" {fastest}",
        "times",
        "above 1",
        b.us(fastest, ranks) / trees,
        SIMULATED,
        found("above 1", b.us(fastest, ranks) > trees),
    )


def paper_03(b, half, whole):
    for name in (*SEND_RECEIVE, *READINGS):
        yield Row(
            f"{name}, {half} and {whole} ranks",
            "us",
            None,
            f"{b.us(name, half):.3g}, {b.us(name, whole):.3g}",
            SIMULATED,
        )
