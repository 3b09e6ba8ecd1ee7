# SPDX-License-Identifier: BSD-3-Clause
"""
From no paper: the fastest barrier, small broadcast and small allreduce that huddle can build on two
large machines, simulated, compared with their limits.

All algorithms are tried with all parameters that huddle tune would try, each with every grouping
that leaving out levels gives there.  The limit is the farthest line transfer (src/cost/limits.h).
Further rows have huddle's own choice.
"""

import itertools

from ..common import simulated
from ..common.candidates import candidates_of, worth_trying
from .rows import Result, Row

TITLE, PRINTED = "the fastest that huddle can build on large machines, and the limit", "limit"
MACHINES = ("kunpeng-920", "epyc-9654")
CALLS = (("barrier", 0), ("bcast", 8), ("allreduce", 8))
SIMULATED, SKEW_NS = "simulated", 20  # one reading of a clock: the skew of a common start
LEVELS = ("l2", "l3", "die", "group", "numa", "socket")
NOTES = (
    (
        "the limit is one line transfer between the two ranks that are farthest apart. huddle model"
        " prints the times of gather and release by groups, and of dissemination, by line transfers"
        " alone"
    ),
    (
        "revoke_ns is assumed for both machines (docs/machines.md). Therefore some rows assume"
        " instead that copies are revoked in no time"
    ),
    (
        "ranks that enter at exactly the same moment post before any rank polls, so that no copy"
        " has to be revoked. Ranks that enter a few ns apart do not, as measurements show (huddle"
        " validate). There are rows with both; the wait for the last rank to enter is"
        " subtracted"
    ),
    "back-to-back calls, as osu_barrier and paper 03 measure: the mean of 32 calls",
    simulated.MEASURED,
)


def value(v):
    return v.bytes if v.bytes is not None else int(v.word) if v.word.isdigit() else v.word


def groupings(lab, machine, ranks):
    """
    Lists of levels to leave out, each of which gives different groups; '' is first.  A unit may
    have several names (an L3 that is a NUMA node); then leaving out one of them changes nothing.
    The simulator is asked for the groups.
    """
    found = {}
    for count in range(len(LEVELS) + 1):
        for off in itertools.combinations(LEVELS, count):
            request = {
                "machine": machine,
                "collective": "barrier",
                "algorithm": "counters",
                "ranks": ranks,
                "levels_off": ",".join(off),
                "repetitions": 1,
                "warmup": 0,
            }
            groups = lab.layout.question("simulate", request)["call"]["groups"]
            found.setdefault(tuple(level["groups"] for level in groups), ",".join(off))
    return list(found.values())


class Field:
    """One machine with all its cores."""

    def __init__(self, lab, name):
        self.lab, self.name, self.machine = lab, name, lab.machine(name)
        facts = lab.layout.question("simulate", {"machine": self.machine})["machine"]
        self.ranks = 16 if lab.brief else facts["cores"]
        self.levels = [""] if lab.brief else groupings(lab, self.machine, self.ranks)

    def way(self, candidate, off, size):
        """A candidate for simulated.fastest_ns."""
        name = ", ".join(
            [candidate.algorithm, *(f"{v.name} {v.word}" for v in candidate.values)]
        ) + (f", without {off}" if off else "")
        return name, {
            "collective": candidate.collective,
            "algorithm": candidate.algorithm,
            "size": size,
            "ranks": self.ranks,
            "levels_off": off,
            "parameters": {v.name: value(v) for v in candidate.values},
        }

    def fastest(self, collective, size):
        """ns, and a text that names the candidate."""
        options = candidates_of(self.lab.layout, collective, self.ranks, baselines=True)
        tried = [options[number - 1] for number in worth_trying(options, size, 0, None)]
        return simulated.fastest_ns(
            self.lab.layout,
            self.machine,
            [self.way(candidate, off, size) for candidate in tried for off in self.levels],
        )

    def limit_ns(self, collective, size):
        answer = self.lab.model(
            "machine",
            machine=self.machine,
            collective=collective,
            ranks=self.ranks,
            map="core",
            trees=[],
            bytes=[size],
        )
        return answer["limits"][0]["ns"]

    def ways_of_choice(self, collective):
        """Ways to time huddle's choice: (a text, machine, arguments of measured_ns)."""
        lines = self.machine["lines"]
        at_once = {
            **self.machine,
            "lines": {**lines, "revoke_ns": dict.fromkeys(lines["transfer_ns"], 0)},
        }
        yield "", self.machine, {}
        yield ", copies revoked in no time", at_once, {}
        yield (
            f", ranks entering within {SKEW_NS} ns of each other",
            self.machine,
            {"skew_ns": SKEW_NS},
        )
        if collective == "barrier":
            yield ", back to back", self.machine, {"method": "loop"}

    def rows(self):
        for collective, size in CALLS:
            limit = self.limit_ns(collective, size) / 1000
            best, how = self.fastest(collective, size)
            what = f"{self.name}, {self.ranks} ranks, {collective}{f' {size} B' if size else ''}"
            yield Row(f"{what}: {how}", "us", limit, best / 1000, SIMULATED)
            for when, machine, more in self.ways_of_choice(collective):
                own = simulated.chosen_measured_ns(
                    self.lab.layout, machine, collective, size, self.ranks, **more
                )
                yield Row(
                    f"{what}: as huddle chooses{when}", "us", limit, own and own / 1000, SIMULATED
                )


def reproduce(lab):
    for line in NOTES:
        lab.note(line)
    return Result([row for name in MACHINES for row in Field(lab, name).rows()], [])
