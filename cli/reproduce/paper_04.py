# SPDX-License-Identifier: BSD-3-Clause
"""
Paper 04 (Kurnosov, Analysis and optimization of pipelined broadcast algorithms): the best degree
and the best segment of broadcasts by send and receive.

Each figure comes from the paper's time functions (src/cost/hockney.h), and from SimGrid, which runs
send and receive of bench/messages.c over a simulated network of the same alpha and beta.  They are
those of Gigabit Ethernet as the paper measured it.  1 MB is 2^20 bytes, which gives the paper's
2975.
"""

from ..common.pictures import Figure
from . import paper_04_measured, smpi
from .rows import Result, Row, SAME, found, good_as_printed, within

TITLE = "pipelined tree broadcasts over a network"

ALPHA_NS, BETA_NS, RANKS, MB = 5e4, 47.0, 128, 1 << 20
ETHERNET = {"alpha_ns": ALPHA_NS, "beta_ns": BETA_NS}
BRIEF = {"ranks": 8, "bytes": 1 << 16}

FUNCTION, SIMULATED = "function", "SimGrid"
FLAT = (
    "best segments: the optimum is flat. The division of the message into whole segments decides"
    " which of the segments within 1 % is the minimum"
)
DEGREES = range(2, 11)

# The paper's name of a tree -> the shape in src/shape that SimGrid runs, and its degree if fixed.
SHAPES = {
    "linear": ("flat", 2),
    "k-ary": ("kary", None),
    "k-nomial": ("knomial", None),
    "chain": ("chain", 2),
    "binary pipelined": ("kary", 2),
}


class Network:
    """Times in ms, by the functions and by SimGrid."""

    def __init__(self, lab):
        self.lab = lab
        self.ranks, self.bytes = (BRIEF["ranks"], BRIEF["bytes"]) if lab.brief else (RANKS, MB)
        self.simulates = smpi.here(lab.layout)
        lab.note(FLAT if self.simulates else smpi.MISSING)

    def asked(self, tree, degree=2, segment=0, size=None):
        return {
            "tree": tree,
            "ranks": self.ranks,
            "degree": degree,
            "bytes": self.bytes if size is None else size,
            "segment": segment,
        }

    def functions(self, points):
        """The functions' answer for each: ns, min_ns, steps, best_degree, best_segment."""
        return self.lab.model(
            "trees", model=ETHERNET, points=[self.asked(*point) for point in points]
        )["points"]

    def computed(self, points):
        return [point["ns"] / 1e6 for point in self.functions(points)]

    def simulated(self, points):
        """[] if SimGrid is missing."""
        if not self.simulates:
            return []
        words = []
        for tree, degree, segment, *size in points:
            shape, fixed = SHAPES[tree]
            words.append((shape, fixed or degree, segment, size[0] if size else self.bytes))
        return [ns / 1e6 for ns in smpi.run(self.lab.layout, ALPHA_NS, BETA_NS, self.ranks, words)]


def best_of(xs, times):
    return min(zip(times, xs))[1]


def as_good(xs, times):
    """Those whose times are within 1 % of the best."""
    return [x for x, time in zip(xs, times) if time <= 1.01 * min(times)]


# ---- degrees -------------------------------------------------------------------------------------


def degrees(net, tree, published):
    """Rows: the best k.  Lines of figure 6: time over k."""
    points = [(tree, k, 0) for k in DEGREES]
    asked = net.functions(points)
    simulated = net.simulated(points)
    exact = [point["steps"] * (ALPHA_NS + net.bytes * BETA_NS) / 1e6 for point in asked]
    rows = [
        Row.judged(
            f"{tree} tree: best k, {net.ranks} ranks",
            "",
            published,
            asked[0]["best_degree"],
            FUNCTION,
            SAME,
        )
    ]
    if simulated:
        best = as_good(DEGREES, simulated)
        max_degree = 4 if tree == "k-ary" else 2
        rows.append(
            Row.judged(
                f"{tree} tree: best k, all within 1 % of the best; published: measured",
                "",
                "small" if tree == "k-ary" else "2",
                ", ".join(str(k) for k in best),
                SIMULATED,
                found(f"none above {max_degree}", max(best) <= max_degree),
            )
        )
        rows.append(
            Row.checked(
                f"{tree} tree, k = 2: time / time of its steps",
                simulated[0] / exact[0],
                SIMULATED,
                0.02,
            )
        )
    lines = [(f"{tree}", list(DEGREES), [point["ns"] / 1e6 for point in asked], False)]
    if simulated:
        lines.append((f"{tree}: SimGrid", list(DEGREES), simulated, True))
        lines.append((f"{tree} by its steps", list(DEGREES), exact, False))
    return rows, lines


# ---- segments ------------------------------------------------------------------------------------


def around(best, size):
    """Segments to try: a coarse grid over the whole range, finer near the formula's best."""
    coarse = [best * 2 ** (e / 2) for e in range(-5, 6)]
    fine = [best * (1 + e / 40) for e in (-4, -3, -2, -1, 0, 1, 2, 3, 4)]
    return sorted({max(1, min(size, round(s))) for s in coarse + fine})


def segments(net, tree, published, measured):
    """
    Rows: the best s by the formula, and by SimGrid compared with the paper's measurement.  Lines:
    time over s.
    """
    formula = net.functions([(tree,)])[0]["best_segment"]
    tried = around(formula, net.bytes)
    tried = tried[::5] if net.lab.brief else tried
    points = [(tree, 2, s) for s in tried]
    computed, simulated = net.computed(points), net.simulated(points)
    words = f"{tree}: best segment, {net.ranks} ranks, {net.bytes >> 10} KB"
    rows = [
        Row.judged(
            words, "B", None if net.lab.brief else published, formula, FUNCTION, within(0.01)
        )
    ]
    if simulated:
        best, good = best_of(tried, simulated), as_good(tried, simulated)
        rows.append(
            Row.judged(
                words,
                "B",
                None if net.lab.brief else published,
                best,
                SIMULATED,
                good_as_printed(tried, simulated, 0.99 * published, 1.01 * published),
            )
        )
        if not net.lab.brief:
            rows.append(
                Row.judged(
                    f"{words}, all within 1 % of the best; published: measured",
                    "B",
                    "-".join(str(s) for s in measured),
                    f"{good[0]}-{good[-1]}",
                    SIMULATED,
                    found("they overlap", good[0] <= measured[-1] and measured[0] <= good[-1]),
                )
            )
        rows.append(
            Row.checked(
                f"{tree}: time at that segment / time of the function",
                min(simulated) / computed[tried.index(best)],
                SIMULATED,
                0.02,
            )
        )
    lines = [(tree, tried, computed, False)]
    if simulated:
        lines.append((f"{tree}: SimGrid", tried, simulated, True))
    return rows, lines


# ---- over messages -------------------------------------------------------------------------------


def at_best_segment(net, tree, sizes):
    best = [
        point["best_segment"] for point in net.functions([(tree, 2, 0, size) for size in sizes])
    ]
    return net.computed([(tree, 2, segment, size) for segment, size in zip(best, sizes)])


def over_messages(net):
    """Figures 10, 13 and 14, by the functions alone."""
    sizes = [2**e for e in range(0, 25)]
    binomial = net.computed([("k-nomial", 2, 0, size) for size in sizes])
    bound = [
        point["min_ns"] / 1e6
        for point in net.functions([("k-nomial", 2, 0, size) for size in sizes])
    ]
    chain, binary = (at_best_segment(net, tree, sizes) for tree in ("chain", "binary pipelined"))
    ratio = [time / limit for time, limit in zip(binomial, bound)]
    steps = (net.ranks - 1).bit_length()
    best = [
        min(range(3), key=lambda i, at=at: (binomial, binary, chain)[i][at])
        for at in range(len(sizes))
    ]
    order = [("binomial", "binary pipelined", "chain")[i] for i in dict.fromkeys(best)]
    rows = [
        Row.judged(
            "binomial tree over the lower bound: 1 byte",
            "times",
            1,
            ratio[0],
            FUNCTION,
            within(0.01),
        ),
        Row.judged(
            f"binomial tree over the lower bound: {sizes[-1] >> 20} MB",
            "times",
            steps,
            ratio[-1],
            FUNCTION,
            within(0.01),
        ),
        Row.judged(
            "fastest as messages grow",
            "",
            "binomial, binary pipelined, chain",
            ", ".join(order),
            FUNCTION,
            found("the same order", len(order) == 3 and best == sorted(best)),
        ),
    ]
    figures = [
        Figure(
            "figure-14",
            f"Broadcasts in the Hockney model, {net.ranks} ranks (figures 10 and 14)",
            "message, bytes",
            "ms",
            "xy",
            [
                ("binomial", sizes, binomial, False),
                ("binary pipelined, best s", sizes, binary, False),
                ("chain, best s", sizes, chain, False),
                ("lower bound", sizes, bound, False),
            ],
        ),
        Figure(
            "figure-13",
            "Binomial tree over the lower bound (figure 13)",
            "message, bytes",
            "times",
            "x",
            [("binomial", sizes, ratio, False)],
        ),
    ]
    return rows, figures


def against_functions(net):
    """Checks that SimGrid computes the model, with the only function that does not round up."""
    points = [("linear", 2, 0, 1000), ("linear", 2, 0, 100000)]
    return [
        Row.checked(
            f"linear, {size} B: time / time of the function", simulated / computed, SIMULATED, 0.02
        )
        for (_, _, _, size), computed, simulated in zip(
            points, net.computed(points), net.simulated(points)
        )
    ]


def reproduce(lab):
    net = Network(lab)
    rows, figures, over_k = [], [], []
    for tree, published in (("k-ary", 3), ("k-nomial", 2)):
        more, lines = degrees(net, tree, published)
        rows += more
        over_k += lines
    figures.append(
        Figure(
            "figure-6",
            f"Time over the degree, {net.ranks} ranks, {net.bytes >> 10} KB (figure 6)",
            "k",
            "ms",
            "",
            over_k,
        )
    )
    for tree, name, published, measured in (
        ("chain", "figure-9", 2975, (1536, 3072)),
        ("binary pipelined", "figure-12", 13632, (13312,)),
    ):
        more, lines = segments(net, tree, published, measured)
        rows += more
        figures.append(
            Figure(
                name,
                f"{tree}: time over the segment, {net.ranks} ranks, {net.bytes >> 10} KB"
                f" ({name.replace('-', ' ')})",
                "segment, bytes",
                "ms",
                "x",
                lines,
            )
        )
    more, drawn = over_messages(net)
    measured, pictures = paper_04_measured.measure(lab) if lab.measure else ([], [])
    return Result(rows + more + against_functions(net) + measured, figures + drawn + pictures)
