# SPDX-License-Identifier: BSD-3-Clause
"""
Paper 01, the buffers of a queue: the model (src/cost/queue.h) with the parameters of the paper's
own plots, and bcast/queue simulated over f and over s.  See paper_01.py.
"""

import math

from ..common import simulated
from ..common.pictures import Figure
from .rows import GAIN, Row, factor, found, good_as_printed, within

FUNCTION, SIMULATED = "function", "simulated"
KB, MB, PAGE = 1 << 10, 1 << 20, 4096
BROADWELL, NEHALEM = "xeon-e5-2620v4", "xeon-e5620"  # p = 16, p = 8
TREES = {
    "flat": ("flat", 2),
    "binary": ("kary", 2),
    "4-ary": ("kary", 4),
    "binomial": ("knomial", 2),
    "chain": ("chain", 2),
}

PLOTS = {
    "byte_ns": 1,
    "notify_ns": 50,
    "enter_ns": 100,
    "leave_ns": 10,
}  # t, t_w, t_wo, t_a of figures 4 and 6
FIGURE_6_MS = {1: 32.3, 2: 24.2, 8: 18.1, 32: 16.6, 256: 16.2}  # s -> ms, f = 8192, 16e6 bytes


class Queues:
    """Simulated times in us.  changed: section of a machine's description -> its changed keys."""

    def __init__(self, lab, changed=()):
        self.lab, self.changed = lab, dict(changed)
        self.calls = {"repetitions": 1, "warmup": 1, "slot_bytes": 24 * MB}

    def machine(self, name):
        found = self.lab.machine(name)
        changed = {section: {**found[section], **keys} for section, keys in self.changed.items()}
        return {**found, **changed}

    def us(self, machine, algorithm, size, ranks, placing="on", root=0, **parameters):
        return (
            simulated.call_ns(
                self.lab.layout,
                self.machine(machine),
                "bcast",
                algorithm,
                size,
                ranks=ranks,
                root=root,
                parameters=parameters,
                placement=placing,
                **self.calls,
            )
            / 1000
        )

    def model_of(self, ranks, tree):
        """The model's four times for the Broadwell machine."""
        return self.lab.model(
            "machine",
            machine=self.machine(BROADWELL),
            collective="bcast",
            ranks=ranks,
            map="core",
            trees=[{"tree": tree}],
            bytes=[MB],
        )["trees"][0]

    def queue(self, machine, size, ranks, f, s, tree="flat", degree=2, sets=1):
        return self.us(
            machine,
            "queue",
            size,
            ranks,
            fragment=f,
            buffers=s,
            sets=sets,
            tree=tree,
            degree=degree,
        )


def alone(q, rows):
    """With --brief, sizes are not those of the paper."""
    return [row.alone() for row in rows] if q.lab.brief else rows


def gain(new, old):
    """-30 for 30 % less."""
    return 100 * (new / old - 1)


# ---- the model -----------------------------------------------------------------------------------


def model_ms(lab, forms, size=16e6):
    """forms: (f, s)."""
    return [
        ns / 1e6
        for ns in lab.model(
            "queue",
            model=PLOTS,
            points=[{"bytes": size, "fragment": f, "buffers": s, "sets": 1} for f, s in forms],
        )["ns"]
    ]


def table_1(lab):
    """
    The table has b = f^2 t / t_w for f = 4096 to 65536 and t_w / t = 2 to 512; the model has f* for
    b.  One is the inverse of the other: this checks src/cost and not the paper.
    """
    ratios = []
    for power in range(1, 10):
        queues = [(4096 * 2**row, 16 * MB * 4**row / 2**power) for row in range(5)]
        forms = lab.model(
            "choose",
            model={**PLOTS, "byte_ns": 1, "notify_ns": 2**power},
            wishes=[{"queue": queue} for _, queue in queues],
        )["forms"]
        ratios += [form["exact"] / fragment for form, (fragment, _) in zip(forms, queues)]
    farthest = max(ratios, key=lambda ratio: abs(math.log(ratio)))
    what = f"f* of the {len(ratios)} queues b = f^2 t / t_w of table 1, by f, the farthest"
    return Row.checked(what, farthest, FUNCTION, 0.005)


def by_model(lab):
    times = model_ms(lab, [(8192, s) for s in FIGURE_6_MS])
    best, whole = (
        lab.model("choose", model=PLOTS, wishes=[{"queue": 4 * MB, "page": page}])["forms"][0]
        for page in (0, PAGE)
    )
    rows = [
        Row.judged(f"figure 6: f = 8192, s = {s}", "ms", printed, ms, FUNCTION, within(0.005))
        for (s, printed), ms in zip(FIGURE_6_MS.items(), times)
    ]
    rows += [
        table_1(lab),
        Row.judged("f* of a queue of 4 MB", "B", 14482, best["exact"], FUNCTION, within(0.005)),
        Row.judged("the same in whole pages", "B", 16384, whole["fragment"], FUNCTION, within(0)),
    ]
    sizes = [2**e * (1 + i / 4) for e in range(11, 18) for i in range(4)]
    over_f = Figure(
        "figure-4",
        "The model over f: 16 MB, b = 4 MB, q = 1 (figure 4)",
        "f, bytes",
        "ms",
        "x",
        [("model", sizes, model_ms(lab, [(f, 4 * MB / f) for f in sizes], 16 * MB), False)],
    )
    buffers = [2**e for e in range(0, 12)]
    over_s = Figure(
        "figure-6",
        "The model over s: 16e6 bytes, f = 8192 (figure 6)",
        "s",
        "ms",
        "x",
        [("model", buffers, model_ms(lab, [(8192, s) for s in buffers]), False)],
    )
    return rows, [over_f, over_s]


# ---- simulated -----------------------------------------------------------------------------------


def over_f(q):
    """
    Figure 5: b = 4 MB, q = 1, a chain, p = 8 and 16, both on the Broadwell machine; and the model's
    f* for that machine.
    """
    size, queue = (MB, MB) if q.lab.brief else (16 * MB, 4 * MB)
    fragments = (
        [8 * KB, 32 * KB]
        if q.lab.brief
        else [4 * KB, 8 * KB, 12 * KB, 16 * KB, 24 * KB, 32 * KB, 48 * KB, 64 * KB, 128 * KB]
    )
    rows, lines = [], []
    for ranks, printed in ((8, 8192), (16, 12288)):
        times = [q.queue(BROADWELL, size, ranks, f, queue // f, tree="chain") for f in fragments]
        best = min(zip(times, fragments))[1]
        good = [f for f, us in zip(fragments, times) if us <= 1.02 * min(times)]
        star = q.lab.model("choose", model=q.model_of(ranks, "chain"), wishes=[{"queue": queue}])[
            "forms"
        ][0]["exact"]
        rows += [
            Row.judged(
                f"figure 5, p = {ranks}: best f",
                "B",
                printed,
                best,
                SIMULATED,
                good_as_printed(fragments, times, printed),
            ),
            Row(
                f"figure 5, p = {ranks}: f within 2 % of the best",
                "",
                None,
                f"{good[0]}-{good[-1]} B",
                SIMULATED,
            ),
            Row.judged(
                f"figure 5, p = {ranks}: f* by the model, of that machine",
                "B",
                printed,
                star,
                FUNCTION,
                factor(2),
            ),
        ]
        lines.append((f"p = {ranks}", fragments, [us / 1000 for us in times], False))
    return alone(q, rows), [
        Figure(
            "figure-5",
            f"Over f: {size // MB} MB, b = {queue // MB} MB, chain, simulated (figure 5)",
            "f, bytes",
            "ms, simulated",
            "x",
            lines,
        )
    ]


def over_s(q):
    """Figure 7: one NUMA node, p = 8, f = 8192, flat, against s = 1."""
    sizes = [16 * KB, 32 * KB] if q.lab.brief else [16 * KB, 32 * KB, 128 * KB, MB, 4 * MB]
    buffers = [1, 2, 4, 32] if q.lab.brief else [1, 2, 4, 8, 16, 32, 64, 128, 512]
    times = {(s, size): q.queue(BROADWELL, size, 8, 8 * KB, s) for s in buffers for size in sizes}
    rows = [
        Row.judged(
            "figure 7: s = 2 against s = 1, 16 KB",
            "%",
            -30,
            gain(times[2, sizes[0]], times[1, sizes[0]]),
            SIMULATED,
            GAIN,
        ),
        Row.judged(
            "figure 7: s = 4 against s = 1, 32 KB",
            "%",
            -43,
            gain(times[4, sizes[1]], times[1, sizes[1]]),
            SIMULATED,
            GAIN,
        ),
    ]
    last = sizes[-1]
    over_last = [times[s, last] for s in buffers]
    best = min(zip(over_last, buffers))[1]
    rows += alone(
        q,
        [
            Row.judged(
                f"figure 7: best s, {last // KB} KB",
                "",
                "32-64",
                best,
                SIMULATED,
                good_as_printed(buffers, over_last, 32, 64),
            )
        ],
    )
    lines = [
        (
            f"{size // KB} KB",
            buffers,
            [gain(times[s, size], times[1, size]) + 100 for s in buffers],
            False,
        )
        for size in sizes
    ]
    return rows, [
        Figure(
            "figure-7",
            "Over s, against s = 1: p = 8, f = 8192, simulated (figure 7)",
            "s",
            "% of s = 1",
            "x",
            lines,
        )
    ]


def teeth(q):
    """
    Figures 8 and 9: p = 2, 16 MB, s = 32, q = 1.  Time over f has the shape of a saw; from one f to
    the next it should rise and fall with the model for that machine.
    """
    size, step = (MB, 8 * KB) if q.lab.brief else (16 * MB, 4 * KB)
    fragments = list(range(step, 24 * step + 1, step))
    times = [q.queue(BROADWELL, size, 2, f, 32) for f in fragments]
    model = [
        ns / 1000
        for ns in q.lab.model(
            "queue",
            model=q.model_of(2, "flat"),
            points=[{"bytes": size, "fragment": f, "buffers": 32, "sets": 1} for f in fragments],
        )["ns"]
    ]
    ways = [(b > a) == (d > c) for a, b, c, d in zip(times, times[1:], model, model[1:])]
    rises = sum(b > a for a, b in zip(times, times[1:]))
    rows = [
        Row(
            "figure 9: over f, p = 2",
            "",
            None,
            f"{rises} rises, {len(ways) - rises} falls",
            SIMULATED,
        ),
        Row.judged(
            "figure 9: steps from one f to the next that have the model's sign",
            "",
            "saw-toothed like the model",
            f"{sum(ways)} of {len(ways)}",
            SIMULATED,
            found("at least 3 in 4", 4 * sum(ways) >= 3 * len(ways)),
        ),
    ]
    lines = [
        (name, fragments, [us / 1000 for us in line], False)
        for name, line in (("simulated", times), ("model, of that machine", model))
    ]
    return alone(q, rows), [
        Figure(
            "figure-9",
            f"Over f: p = 2, {size // MB} MB, s = 32 (figures 8 and 9)",
            "f, bytes",
            "ms",
            "",
            lines,
        )
    ]
