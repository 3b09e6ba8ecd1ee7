# SPDX-License-Identifier: BSD-3-Clause
"""
Paper 05 (Romanyuta, Kurnosov: MPI reduction and broadcast algorithms based on shared memory): how much faster collectives through shared queues are than trees of
messages, on one server.

huddle's choice is simulated.  Messages are computed (src/cost/hockney.h) from the same machine's numbers: a message is copied into a queue of its pair and out of it, and
two lines cross; the best of a binomial tree, a chain and a pipelined binary tree at each size, as a tuned MPI would choose.  A reduction by messages adds the sum of
what has come at each step.  The paper's text at hand names no server: Ice Lake, 2 x 32 cores, stands for it.
"""
from . import simulated
from .reproduce_rows import Figure, Result, Row

TITLE = "reduction and broadcast through shared queues"
MACHINE, RANKS, SIMULATED = "xeon-8358", 64, "simulated"
KB, MB = 1 << 10, 1 << 20
TREES = ("k-nomial", "chain", "binary pipelined")
LARGEST = {"bcast": 6.5, "reduce": 3.3, "allreduce": None}  # times faster, at most
NOTES = (
    "a message is computed as one between the farthest two ranks, though most steps of a tree stay on a socket: trees come out up to twice too slow, and the factors too large",
    "what a message costs an MPI besides its copies and lines is not in these figures: matching, requests, progress; small messages by trees would be slower than computed",
    "reduce: huddle's root reads what all others have written, one line or fragment after the other; a binomial tree of messages spreads that over log2 p ranks",
)


class Server:
    def __init__(self, lab):
        self.lab = lab
        self.ranks = 16 if lab.brief else RANKS
        self.machine = lab.machine(MACHINE)
        self.messages = self.asked("bcast", 0)["messages"]

    def asked(self, collective, size):
        return self.lab.model("machine", machine=self.machine, collective=collective, ranks=self.ranks, map="core", trees=[], bytes=[size])

    def huddle_us(self, collective, size):
        return simulated.chosen_ns(self.lab.layout, self.machine, collective, size, self.ranks, repetitions=1, warmup=1) / 1000

    def tree_us(self, size, more_ns=0):
        """more_ns: of a byte, at each step."""
        model = {**self.messages, "beta_ns": self.messages["beta_ns"] + more_ns}

        def timed(segments):
            points = [{"tree": tree, "ranks": self.ranks, "degree": 2, "bytes": size, "segment": segment} for tree, segment in zip(TREES, segments)]
            return self.lab.model("trees", model=model, points=points)["points"]
        segments = [round(point["best_segment"]) for point in timed([0] * len(TREES))]
        return min(point["ns"] for point in timed(segments)) / 1000

    def messages_us(self, collective, size):
        """Not below the limit: the functions know no memory that fills up."""
        adding = 1 / self.machine["reduce"]["core_gbps"]
        computed = {"bcast": lambda: self.tree_us(size), "reduce": lambda: self.tree_us(size, adding), "allreduce": lambda: self.tree_us(size, adding) + self.tree_us(size)}[collective]()
        return max(computed, self.asked(collective, size)["limits"][0]["ns"] / 1000)


def reproduce(lab):
    server, rows, figures = Server(lab), [], []
    sizes = [8, 64 * KB] if lab.brief else [8, 64, 512, 4 * KB, 32 * KB, 256 * KB, 2 * MB]
    for line in NOTES:
        lab.note(line)
    for collective, printed in LARGEST.items():
        ours, trees = [server.huddle_us(collective, size) for size in sizes], [server.messages_us(collective, size) for size in sizes]
        factors = [old / new for old, new in zip(trees, ours)]
        most = max(range(len(sizes)), key=lambda i: factors[i])
        rows.append(Row(f"{collective}: at most so many times faster than trees of messages ({sizes[most]} B), {server.ranks} ranks", "times", printed, factors[most], SIMULATED))
        rows.append(Row(f"{collective}: over all sizes", "", None, f"{min(factors):.2g} to {max(factors):.2g} times", SIMULATED))
        figures.append(Figure(collective, f"{collective}, {server.ranks} ranks on 2 x Xeon 8358: huddle simulated, messages computed", "message, bytes", "us", "xy",
                              [("huddle, simulated", sizes, ours, False), ("trees of messages, computed", sizes, trees, False)]))
    return Result(rows, figures)
