#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Kills a rank at the places where the source posts or waits, and checks the other ranks.

usage: drive.py --job EDGE_JOB [--lab] [--full] [--seconds S] [--seed N] [--only TEXT]
[--kill CONFIGURATION FILE:LINE:N RANK]

Each configuration (an algorithm, a number of ranks, with groups or without) is run once without a
death, which records how often each rank comes to each place.  Then a rank dies there the first
time, once in the middle and the last time.  Without --full: a sample, by the seed, for --seconds
seconds.
"""

import argparse
import collections
import concurrent.futures
import functools
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

SRC = pathlib.Path(__file__).resolve().parents[2] / "src"
LAB = SRC.parent / "lab"
sys.path.insert(0, str(SRC.parent / "cmake"))
from edges import files, place, read

SHAPES = ((3, ()), (4, ("--groups",)), (8, ("--groups",)))
KERNEL_COPIES = ("cma_read", "cma_write")  # algorithms that use kernel copies
SINGLE_COPY = "single_copy/single_copy.h"  # entered by all algorithms of that family
WINDOW = "alg/window.c"
TRIES = 5  # attempts to kill while others wait in the handover, or, rarely, before they come to it
LIMIT = 90  # seconds of a job, which ends itself earlier
HOST = {
    ("host", 1): "before the host's allgather",
    ("host", 2): "within it",
    ("host", 3): "after it",
    ("host", 4): "while descriptors are handed over",
}


# Two collectives in turn in the team's shared window, with one algorithm each, in each shape.
TURNS = (
    (("bcast", "queue"), ("allreduce", "slices")),
    (("alltoall", "windows"), ("bcast", "queue")),
    (("reduce", "slices"), ("allgather", "windows")),
)


class Configuration(NamedTuple):
    name: str
    collective: str
    ranks: int
    options: tuple
    settings: tuple  # (name, value)
    places: str  # pattern of the files with the configuration's own places


class Kill(NamedTuple):
    configuration: Configuration
    place: tuple  # file, line
    nth: int
    rank: int


def algorithms(lab):
    """
    Returns (collective, name) of each algorithm, with those of the laboratory if `lab` is set.
    """
    folders = (SRC, LAB) if lab else (SRC,)
    rows = "".join((folder / "alg/alg.def").read_text(encoding="utf-8") for folder in folders)
    return re.findall(r"^ALG\((\w+), (\w+)\)", rows, re.MULTILINE)


def in_algorithm(name):
    """Returns whether a place, by its file, is in an algorithm."""
    return name.startswith(("alg/", "lab/alg/"))


def configurations(lab):
    """
    Yields each algorithm in each shape, and variants for code that its presets do not reach; then
    the code around the algorithms.
    """
    more = {
        "bcast/segments": ((("HUDDLE_LAB_BCAST_SEGMENTS_LIMIT", "1"),),),
        "allreduce/groups": (
            (("HUDDLE_LAB_ALLREDUCE_GROUPS_EXCHANGE", "1"),),
            (("HUDDLE_LAB_ALLREDUCE_GROUPS_RELEASE", "each"),),
        ),
        "barrier/groups": (
            (("HUDDLE_LAB_BARRIER_GROUPS_EXCHANGE", "1"),),
            (("HUDDLE_LAB_BARRIER_GROUPS_FLAT", "2"),),
            (("HUDDLE_LAB_BARRIER_GROUPS_RELEASE", "each"),),
        ),
    }
    for shape, (ranks, options) in enumerate(SHAPES):
        for collective, name in algorithms(lab):
            forced = ((f"HUDDLE_{collective.upper()}", name),)
            own = r"(lab/)?alg/" + ("" if collective == "barrier" else r"(?!barrier/|groups/)")
            if (collective, name) == ("allreduce", "groups"):
                own = r"alg/groups/(?!barrier)"
            for i, extra in enumerate(((),) + more.get(f"{collective}/{name}", ())):
                yield Configuration(
                    f"{collective}/{name}/{ranks}{'+' * i}",
                    collective,
                    ranks,
                    options,
                    forced + extra,
                    own,
                )
        collective = ("bcast", "allreduce", "alltoall")[shape]
        yield Configuration(
            f"check/{ranks}",
            collective,
            ranks,
            options,
            (("HUDDLE_CHECK", "on"),),
            r"core/watch/rollcall|host$",
        )
        yield Configuration(
            f"free/{ranks}", collective, ranks, options, (), r"core/slice/team_leave|host$"
        )
        for kind, name in sorted(row for row in algorithms(lab) if row[1] in KERNEL_COPIES):
            yield Configuration(
                f"{kind}/{name}/packed/{ranks}",
                kind,
                ranks,
                options + ("--packed",),
                ((f"HUDDLE_{kind.upper()}", name),),
                r"(lab/)?alg/(?!barrier/)",
            )
        for kind in ("bcast", "reduce"):
            yield Configuration(
                f"{kind}/ring/{ranks}",
                kind,
                ranks,
                options + ("--rounds", "150"),
                ((f"HUDDLE_{kind.upper()}", "inline"),),
                rf"alg/{kind}/",
            )
        (one, _), (other, _) = TURNS[shape]
        yield Configuration(
            f"window/{ranks}",
            one,
            ranks,
            options + ("--alternate", other),
            tuple((f"HUDDLE_{c.upper()}", name) for c, name in TURNS[shape]),
            r"alg/(?!barrier/)",
        )
        yield Configuration(
            f"handover/{ranks}", collective, ranks, options + ("--handover",), (), r"host$"
        )


def run(job, configuration, kill=None, more=(), record=None):
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("HUDDLE", "HUD_TEST", "HWLOC"))
    }
    env.update(configuration.settings, HUDDLE_TUNING="off", XDG_CACHE_HOME="/dev/null")
    if kill:
        env.update(
            HUD_TEST_KILL=f"{kill.place[0]}:{kill.place[1]}:{kill.nth}",
            HUD_TEST_KILL_RANK=str(kill.rank),
        )
    if record:
        env["HUD_TEST_EDGES"] = record
    command = [
        job,
        *configuration.options,
        *more,
        configuration.collective,
        str(configuration.ranks),
    ]
    done = subprocess.run(
        command, env=env, capture_output=True, text=True, timeout=LIMIT, check=False
    )
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {
            "fault": f"no answer: {done.stdout}{done.stderr}",
            "struck": True,
            "call": -1,
            "lines": 0,
            "line_ms": -1,
            "failed": 0,
            "waited": [],
        }


def record(job, configuration):
    """Returns {place: {rank: times}} of a configuration's own places."""
    with tempfile.NamedTemporaryFile(mode="r", suffix=".edges") as file:
        answer = run(job, configuration, record=file.name)
        if answer["fault"]:
            sys.exit(f"{configuration.name}, with nobody killed: {answer['fault']}")
        found = collections.defaultdict(dict)
        for line in file:
            rank, name, number, times = line.split()
            if re.match(configuration.places, name):
                found[name, int(number)][int(rank)] = int(times)
    return found


def kills_of(configuration, found, chance):
    """
    Yields kills at the first time, in the middle and at the last time, each of another rank if
    several come there.  Rank 0 is chosen as often as any other.
    """
    for place, ranks in sorted(found.items()):
        order = chance.sample(sorted(ranks), len(ranks))
        picked = [(order[i % len(order)], i) for i in range(3)]
        times = {(rank, (1, (ranks[rank] + 1) // 2, ranks[rank])[i]) for rank, i in picked}
        for rank, nth in sorted(times):
            yield Kill(configuration, place, nth, rank)


def late(job, kill):
    """
    Delays another rank, by turns the first team's root, until the others have given up the call.
    """
    before = run(job, kill.configuration, kill)
    if before["fault"] or not before["struck"]:
        return before
    ranks = kill.configuration.ranks
    root = before["call"] % ranks
    rank = str(root if root != kill.rank and kill.nth % 2 else (kill.rank + 1) % ranks)
    return run(job, kill.configuration, kill, ("--late", rank, str(before["call"])))


def ways(kill, job):
    """Returns the other ways to try a sample of kills, by name."""
    other = str((kill.rank + 1) % kill.configuration.ranks)
    return {
        "wait": functools.partial(run, job, kill.configuration, kill, ("--wait",)),
        "abort": functools.partial(run, job, kill.configuration, kill, ("--abort",)),
        "late": functools.partial(late, job, kill),
        "second": functools.partial(run, job, kill.configuration, kill, ("--second", other)),
    }


def in_call(answer, call):
    """
    Checks that the rank died in this call, since its death elsewhere would test something else.
    """
    if answer["fault"] or (answer["struck"] and answer["call"] == call):
        return answer
    where = f"in call {answer['call']}" if answer["struck"] else "in none"
    return {**answer, "struck": True, "fault": f"the rank died {where}, not in call {call}"}


def late_root(job):
    """
    Returns a kill of a late root.  The receivers of a broadcast give up because a receiver dies.
    The root comes later, and must not write into their buffers.  Rank 3 is the root in two of eight
    calls, with an entry for each other rank, and has one entry in each other call.  The 13th entry
    belongs to call 8, whose root is rank 0.
    """
    nth, call = 13, 8
    configuration = next(c for c in configurations(False) if c.name == "bcast/cma_read/4")
    site = next(site for site in read(SRC / "alg" / SINGLE_COPY)[1] if "R1" in site.labels)
    kill = Kill(configuration, (f"alg/{SINGLE_COPY}", site.line), nth, 3)

    def strike():
        return in_call(run(job, configuration, kill, ("--late", "0", str(call))), call)

    return kill, "late root", strike


def window_places():
    """Returns the places of the shared window's handover: (of R1, of A1)."""
    sites = read(SRC / WINDOW)[1]
    return tuple(
        next((WINDOW, site.line) for site in sites if label in site.labels)
        for label in ("R1", "A1")
    )


def waits_there(answer):
    """Reports whether a call has failed in the handover's wait."""
    return "{}:{}".format(*window_places()[1]) in answer["waited"]


def in_handover(job, kill):
    """
    Kills a rank just before the post by which the rank leaves the window.  So the others leave that
    call, and wait for the rank in the next handover.
    """
    for _ in range(TRIES):
        answer = run(job, kill.configuration, kill)
        if answer["fault"] or waits_there(answer):
            return answer
    return {**answer, "fault": f"others do not wait in the handover, but at {answer['waited']}"}


def handovers(job, chosen):
    """
    Yields, for each configuration with a handover, a kill at either edge, in the middle of the
    calls.
    """
    for configuration in (c for c in chosen if c.name.startswith("window/")):
        left, wait = (
            Kill(configuration, place, configuration.ranks, configuration.ranks - 1)
            for place in window_places()
        )
        yield left, "handover", functools.partial(in_handover, job, left)
        yield wait, "handover", functools.partial(run, job, configuration, wait)


class Results:
    def __init__(self):
        self.kills = collections.Counter()
        self.places, self.times, self.faults = set(), [], []
        self.missed = 0
        self.handovers = 0  # handovers in which ranks waited for a dead rank

    def add(self, kill, way, answer):
        if not answer["struck"] and not answer["fault"]:
            self.missed += 1  # the number of polls at a place varies
            return
        self.kills[way] += 1
        self.places.add(kill.place)
        self.handovers += waits_there(answer)
        if answer["lines"] and way != "late":
            self.times.append(answer["line_ms"])
        if answer["fault"]:
            self.faults.append(
                f"{kill.configuration.name} {kill.place[0]}:{kill.place[1]}:{kill.nth} rank"
                f" {kill.rank}, {way}: {answer['fault']}"
            )
            print(self.faults[-1], flush=True)


def labelled(lab):
    return {
        (place(path, SRC), site.line)
        for path in files(SRC, LAB if lab else None)
        for site in read(path)[1]
        if site.call and site.labels
    }


def report(results, reached, lab):
    places = labelled(lab)
    print(
        f"{len(reached & places)} of {len(places)} labelled places reached, and"
        f" {len(reached - places)} of the host; {len(results.places)} places with a kill; "
        + ", ".join(f"{n} kills ({way})" for way, n in sorted(results.kills.items()))
        + (f"; {results.missed} were not come to" if results.missed else "")
    )
    if results.handovers:
        print(f"{results.handovers} kills ended waits in the handover of the shared window")
    if results.times:
        print(
            f"from the kill until the line: median {statistics.median(results.times):.0f} ms,"
            f" maximum {max(results.times):.0f} ms, of {len(results.times)}"
        )
    if places - reached:
        print(
            "not reached: " + ", ".join(f"{name}:{line}" for name, line in sorted(places - reached))
        )


def make_plan(job, chosen, chance, workers):
    """Returns the kills, ordered so that new places come first, and all places reached."""
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        found = list(zip(chosen, pool.map(functools.partial(record, job), chosen)))
    kills = [
        kill for configuration, places in found for kill in kills_of(configuration, places, chance)
    ]
    chance.shuffle(kills)
    seen = collections.Counter()
    order = []
    for kill in kills:
        order.append((seen[kill.place], len(order), kill))
        seen[kill.place] += 1
    return [kill for _, _, kill in sorted(order)], {
        place for _, places in found for place in places
    }


def tasks(job, chosen, kills, full):
    """
    Yields (kill, way, function to call): all kills, and at intervals another way at the next place.
    """
    others = ("wait", "abort", "late", "second")
    yield late_root(job)
    yield from handovers(job, chosen)
    for i, kill in enumerate(kills):
        yield kill, "kill", functools.partial(run, job, kill.configuration, kill)
        if i % 4 == 0 and in_algorithm(kill.place[0]):
            way = others[i // 4 % len(others)]
            yield kill, way, ways(kill, job)[way]
        single = re.search(rf"/({'|'.join(KERNEL_COPIES)})/\d", kill.configuration.name)
        if full and single and in_algorithm(kill.place[0]):
            yield kill, "late", ways(kill, job)["late"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.strip().split("\n\n")[0])
    parser.add_argument("--job", required=True)
    parser.add_argument("--lab", action="store_true", help="the job has the laboratory's, too")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--seconds", type=float, default=25)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--only", default="", help="configurations whose name contains this")
    parser.add_argument("--kill", nargs=3)
    args = parser.parse_args()
    chance = random.Random(args.seed)
    workers = max(2, len(os.sched_getaffinity(0)) // 2)
    chosen = [c for c in configurations(args.lab) if args.only in c.name]
    if args.kill:
        configuration = next(c for c in chosen if c.name == args.kill[0])
        name, line, nth = args.kill[1].split(":")
        print(
            run(
                args.job,
                configuration,
                Kill(configuration, (name, int(line)), int(nth), int(args.kill[2])),
            )
        )
        return
    print(f"seed {args.seed}", flush=True)
    if not args.full and not args.only:
        chosen = [c for c in chosen if not c.name.startswith("handover")]
        by_kind = collections.defaultdict(list)
        for c in chosen:
            by_kind[c.name.rsplit("/", 1)[0]].append(c)
        chosen = [chance.choice(of) for of in by_kind.values()]
    kills, reached = make_plan(args.job, chosen, chance, workers)
    results, end = Results(), time.monotonic() + args.seconds
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:

        def one(task):
            if args.full or time.monotonic() < end:
                results.add(*task[:2], task[2]())

        for _ in pool.map(one, tasks(args.job, chosen, kills, args.full)):
            pass
    report(results, reached, args.lab)
    if any(c.name.startswith("window/") for c in chosen):
        results.faults += [
            f"no rank was killed at {name}:{line}"
            for name, line in sorted(set(window_places()) - results.places)
        ]
    print(f"{len(results.faults)} faults")
    sys.exit(1 if results.faults or not results.kills else 0)


if __name__ == "__main__":
    main()
