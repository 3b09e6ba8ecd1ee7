# SPDX-License-Identifier: BSD-3-Clause
"""
Not of a paper: the fastest barrier, small broadcast and small allreduce that huddle can build on two large machines, simulated, beside their limits.

All algorithms with all values of their parameters that huddle tune would try, each with every subset of the machine's levels; the limit is the farthest line transfer
(src/cost/limits.h).  What huddle would choose by itself stands below.
"""
import itertools

from . import simulated
from .layout import Trouble
from .reproduce_rows import Result, Row
from .tune_grid import candidates, worth_trying

TITLE, PRINTED = "the fastest that huddle can build on large machines, beside the limit", "limit"
MACHINES = ("kunpeng-920", "epyc-9654")
CALLS = (("barrier", 0), ("bcast", 8), ("allreduce", 8))
SIMULATED = "simulated"
NOTES = (
    "the limit is one line transfer between the farthest two ranks; gathering and releasing by the groups, or dissemination, is what the lines alone allow (huddle model)",
    "revoke_ns of both machines is assumed (docs/machines.md): paper 03's table has the Kunpeng's barrier with copies that are revoked at once, too",
    "one seed, one call after one that warms up: differences of a few per cent say nothing",
)


def value(v):
    return v.bytes if v.bytes is not None else int(v.word) if v.word.isdigit() else v.word


def subsets(names):
    """Levels to leave out: '' first."""
    return [",".join(off) for count in range(len(names) + 1) for off in itertools.combinations(names, count)]


class Field:
    """One machine with all its cores."""

    def __init__(self, lab, name):
        self.lab, self.name, self.machine = lab, name, lab.machine(name)
        facts = lab.layout.question("simulate", {"machine": self.machine})["machine"]
        self.ranks = 16 if lab.brief else facts["cores"]
        self.levels = [""] if lab.brief else subsets([level["name"] for level in facts["levels"]])

    def ns(self, candidate, off, size):
        """None: it does not take the call."""
        try:
            return simulated.call_ns(self.lab.layout, self.machine, candidate.collective, candidate.algorithm, size, ranks=self.ranks, levels_off=off, repetitions=1,
                                     warmup=1, parameters={v.name: value(v) for v in candidate.values})
        except Trouble:
            return None

    def fastest(self, collective, size):
        """ns, in words what."""
        options = candidates(self.lab.layout, collective, self.ranks, baselines=True)
        tried = [options[number - 1] for number in worth_trying(options, size, 0, None)]
        timed = [(self.ns(candidate, off, size), (candidate, off)) for candidate in tried for off in self.levels]
        best, how = min((pair for pair in timed if pair[0] is not None), key=lambda pair: pair[0])
        words = [how[0].algorithm, *(f"{v.name} {v.word}" for v in how[0].values)]
        return best, ", ".join(words) + (f", without {how[1]}" if how[1] else "")

    def limit_ns(self, collective, size):
        answer = self.lab.model("machine", machine=self.machine, collective=collective, ranks=self.ranks, map="core", trees=[], bytes=[size])
        return answer["limits"][0]["ns"]

    def rows(self):
        for collective, size in CALLS:
            limit = self.limit_ns(collective, size) / 1000
            best, how = self.fastest(collective, size)
            own = simulated.chosen_ns(self.lab.layout, self.machine, collective, size, self.ranks, repetitions=1, warmup=1)
            what = f"{self.name}, {self.ranks} ranks, {collective}{f' {size} B' if size else ''}"
            yield Row(f"{what}: {how}", "us", limit, best / 1000, SIMULATED)
            yield Row(f"{what}: as huddle chooses", "us", limit, own and own / 1000, SIMULATED)


def reproduce(lab):
    for line in NOTES:
        lab.note(line)
    return Result([row for name in MACHINES for row in Field(lab, name).rows()], [])
