# SPDX-License-Identifier: BSD-3-Clause
"""
Paper 01, experiments: rows that show why figures do not come out, each with one number of a
machine's description changed.  The rows have no verdict.  See paper_01.py.
"""

from ..common.text import bytes_text
from .forms import controls
from .paper_01_buffers import BROADWELL, KB, MB, NEHALEM, SIMULATED, TREES, Queues, gain
from .rows import Row
from .unmeasured import scaled

# An MPI's own work for a message, by the rule of docs/machines.md: measured on an EPYC 9004, by the
# ratio of hit_ns, 1.6 / 1.12.  MPICH 5: 134 ns, as MVAPICH is an MPICH.  Open MPI 5: 115 ns.
MPICH_NS, OPEN_MPI_NS = 191, 164
SLOWER, SMALL_L3 = 10, MB  # times a transfer; bytes
NOTES = (
    (
        "f*: the model counts a whole notification down the chain for every fragment. In the"
        " simulation notifications overlap with copies. The experiment where transfers take 10"
        " times as long shows it: at p = 8 the time hardly grows, and the model's grows more than"
        " fivefold. At p = 16 the overlap is not complete"
    ),
    (
        "figure 10: in huddle's form a parent writes one word for all its children, in the paper's"
        " one for each. In the experiment each of these words costs its writer an MPI's own work"
        " for a message. Then chain and binary are fastest, as published. What a word costs in the"
        " paper is not known"
    ),
    (
        "figure 11: used queues are in the last-level caches wherever their pages are. In the"
        " experiment with an L3 of 1 MB, placement gains, and the more the larger the message. In"
        " the paper, readahead had put pages on the node of process 0. Here all queues on the node"
        " without the root are compared with queues on their owners' nodes"
    ),
    (
        "figure 13: in the experiment where each control word costs an MPI's own work, on both"
        " sides, all sizes but 4 MB come out"
    ),
    (
        "figure 12: in that experiment no size comes out. Where only MVAPICH has that work, four of"
        " six do, but the paper's form was in an MPI, too. So no experiment explains figure 12, nor"
        " the rows with a moving root"
    ),
)


def overlap(q):
    """Figure 5: what transfers that take longer make of the time, and of the model's."""
    size, queue, f = (MB, MB, 8 * KB) if q.lab.brief else (16 * MB, 4 * MB, 8 * KB)
    transfer = q.lab.machine(BROADWELL)["lines"]["transfer_ns"]
    other = Queues(q.lab, {"lines": {"transfer_ns": scaled(transfer, SLOWER)}})
    point = {"bytes": size, "fragment": f, "buffers": queue // f, "sets": 1}
    for ranks in (8, 16):
        here = [one.queue(BROADWELL, size, ranks, f, queue // f, "chain") for one in (other, q)]
        model = [
            q.lab.model("queue", model=one.model_of(ranks, "chain"), points=[point])["ns"][0]
            for one in (other, q)
        ]
        for what, (slow, fast), by in (
            ("time", here, SIMULATED),
            ("the model's", model, "function"),
        ):
            yield Row(
                f"experiment, transfers {SLOWER} times as long: figure 5, p = {ranks}, f = 8 KB:"
                f" {what}, against as described",
                "times",
                None,
                slow / fast,
                by,
            )


def words(q):
    """Figure 10: the paper's own form, with a control word for each child."""
    size = 64 * KB if q.lab.brief else 4 * MB
    other = Queues(q.lab, {"lines": {"post_ns": OPEN_MPI_NS}})
    for what, one in (("", q), (" that takes an MPI's own work for a message", other)):
        times = {
            name: controls(one, BROADWELL, size, 16, tree=tree, degree=degree)
            for name, (tree, degree) in TREES.items()
        }
        order = sorted(times, key=times.get)
        yield Row(
            f"experiment, a control word for each child{what}: figure 10: fastest trees,"
            f" {size // KB} KB",
            "",
            None if q.lab.brief else "binary, chain",
            ", ".join(order[:2]),
            SIMULATED,
        )


def small_cache(q):
    """Figure 11: queues that are not in the last-level cache."""
    sizes = [64 * KB] if q.lab.brief else [8 * KB, 512 * KB, 4 * MB, 16 * MB]
    other = Queues(q.lab, {"caches": {"shared_bytes": SMALL_L3}})
    form = {"fragment": 8 * KB, "buffers": 64, "sets": 1, "tree": "kary", "degree": 2}
    gains = []
    for size in sizes:
        on, off = (
            other.us(BROADWELL, "queue", size, 16, placing=placing, root=8, **form)
            for placing in ("on", "off")
        )
        gains.append(gain(on, off))
    yield Row(
        f"experiment, an L3 of 1 MB: figure 11: placement, p = 16,"
        f" {', '.join(bytes_text(size) for size in sizes)}",
        "",
        None if q.lab.brief else "faster, growing with the message",
        ", ".join(f"{part:.1f}" for part in gains) + " %",
        SIMULATED,
    )


def own_work(q):
    """Figures 12 and 13: an MPI's own work for each control word."""
    sizes = [64 * KB] if q.lab.brief else [64, KB, 8 * KB, 64 * KB, 512 * KB, 4 * MB]
    for number, machine, ranks, (scheme, form), ns, published in (
        (12, NEHALEM, 8, ("slots", {"slots": 128}), MPICH_NS, "-20..-40 %"),
        (13, BROADWELL, 16, ("banks", {"buffers": 8}), OPEN_MPI_NS, "-20..-60 %"),
    ):
        other = Queues(q.lab, {"lines": {"post_ns": ns}})
        theirs = [other.us(machine, scheme, s, ranks, fragment=8 * KB, **form) for s in sizes]
        for who, one in (("the other MPI alone", q), ("both sides", other)):
            ours = [one.queue(machine, size, ranks, 8 * KB, 64, "kary") for size in sizes]
            gains = [f"{gain(new, old):.0f}" for new, old in zip(ours, theirs)]
            yield Row(
                f"experiment, an MPI's own work for each control word, {who}: figure {number},"
                f" {', '.join(bytes_text(size) for size in sizes)}",
                "",
                None if q.lab.brief else published,
                ", ".join(gains) + " %",
                SIMULATED,
            )


def experiments(q):
    return [*overlap(q), *words(q), *small_cache(q), *own_work(q)]
