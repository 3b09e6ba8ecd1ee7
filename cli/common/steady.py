# SPDX-License-Identifier: BSD-3-Clause
"""
Whether measured figures can be believed: the same thing is measured several times, and what does
not agree, or cannot be, is said.

Other work on a machine only makes things slower, and does so now and then; so the two best of
several values count, and they must agree.
"""

import os
import time

from . import transfers

AGREE = 1.25  # the better of two figures is better by no more
LOOK_S, BUSY, IDLE = 0.25, 0.25, slice(3, 5)  # idle, and waiting for a disk
# a call's median: of what was measured beside other work, which takes the processor now and then,
# more
MOST_OF_MIN = 4
SLACK_NS = 30  # of a call; what the clock may be off
MIN_RUNS, MAX_RUNS, PATIENCE_S = 2, 5, 30


def busy(before, after, cpus):
    """
    The busiest processor's share of the time between two readings of /proc/stat that it had work.
    """

    def times(text):
        return {
            name: list(map(int, counts))
            for name, *counts in map(str.split, text.splitlines())
            if name.startswith("cpu")
        }

    one, two, most = times(before), times(after), 0
    for name in {f"cpu{cpu}" for cpu in cpus} & one.keys() & two.keys():
        spent = [b - a for a, b in zip(one[name], two[name])][:8]  # the rest is counted twice
        most = max(most, 1 - sum(spent[IDLE]) / sum(spent) if sum(spent) > 0 else 0)
    return most


def others():
    """None, or in words how busy the machine is while this command does nothing."""

    def read():
        with open("/proc/stat", encoding="ascii") as file:
            return file.read()

    try:
        before = read()
        time.sleep(LOOK_S)
        share = busy(before, read(), os.sched_getaffinity(0))
    except OSError:
        return None
    return f"other work has {100 * share:.0f} % of a processor" if share > BUSY else None


def settled(values, more=False, slack=0):
    """
    The middle of the two best, and whether they agree, as one alone does not.  more: more is
    better; slack: a difference that says nothing.
    """
    if len(values) == 1:
        return values[0], False
    best, second = sorted(values, reverse=more)[:2]
    least, most = sorted((best, second))
    return (best + second) / 2, most <= max(least * AGREE, least + slack)


def enough(runs, seconds, agree, patience_s=PATIENCE_S):
    """Where one run takes longer than anybody waits, it is the only one."""
    return runs > 0 and (seconds > patience_s or (runs >= MIN_RUNS and (agree or runs >= MAX_RUNS)))


def usable(figure):
    """The processors stayed where they were, and were the program's own."""
    return transfers.usable(figure) and figure["median_ns"] <= MOST_OF_MIN * max(
        figure["min_ns"], SLACK_NS
    )


def measured(launch, step, patience_s=PATIENCE_S, holds=usable):
    """
    Runs launch() until what it gives agrees: figures of a measuring program, each with a key;
    holds(figure): it counts.  Returns key -> ns, and key -> all values of what does not agree.
    """
    values, runs, begin, doubts = {}, 0, time.monotonic(), {}
    while not enough(runs, time.monotonic() - begin, not doubts, patience_s):
        for key, figure in launch():
            values.setdefault(key, []).extend([figure["median_ns"]] if holds(figure) else [])
        runs += 1
        times = {
            key: settled(some, slack=SLACK_NS) if some else (None, False)
            for key, some in values.items()
        }
        doubts = {key: values[key] for key, (_, agree) in times.items() if not agree}
        step()
    return {key: ns for key, (ns, _) in times.items() if ns is not None}, doubts


def falls(times):
    """
    (smaller, larger) of neighbours, where the larger size took less than the smaller one by more
    than figures may differ.  times: size -> ns.
    """
    there = sorted(size for size, ns in times.items() if ns is not None)
    return [(a, b) for a, b in zip(there, there[1:]) if times[b] * AGREE < times[a]]


def range_text(values):
    if len(values) < 2:
        return f"one figure only, {values[0] / 1000:.3g} us" if values else "no figure holds"
    return f"{min(values) / 1000:.3g} to {max(values) / 1000:.3g} us"
