# SPDX-License-Identifier: BSD-3-Clause
"""Judges a run in which one call of one rank fails."""

import collections
import re

OK, PASS = 0, 1
UNCLOSABLE = (
    "fstat",
    "munmap",
    # if it fails, its object is kept: it may be the program's, like a descriptor that cannot be
    # identified
)
# Collectives that tests/mpi/rounds.c makes in their nonblocking forms, which are recorded by the
# same name.
NONBLOCKING = ("alltoallv", "bcast")
NO_MEMORY = re.compile("MPI_ERR_NO_MEM|memory", re.IGNORECASE)
OPEN = re.compile(r"rank (\d+) has (\d+) descriptors, (\d+) bytes mapped")


def lines_of(text):
    return [line[line.index("huddle: ") :] for line in text.splitlines() if "huddle: " in line]


def members(size, team_size):
    """
    Returns the ranks of each team of this size.  A team of fewer than all ranks has every second
    rank (rounds.c).
    """
    return [range(size)] if team_size == size else [range(0, size, 2), range(1, size, 2)]


def may_be_unseen(program, nonblocking):
    """
    Returns the collectives that a rank may miss if no rank handles any.  A rank of Open MPI without
    access to the MPI's functions cannot distinguish the program's nonblocking calls from the MPI's
    calls.
    """
    return NONBLOCKING if nonblocking and program.startswith("ompi") else ()


def alike(ranks, unseen=()):
    """
    Yields complaints unless the ranks of a team make the same calls and get the same answers.  If a
    rank has no huddle, all calls of the others must fall back to the MPI, and the rank may miss
    calls of the collectives in `unseen`.
    """
    for number in sorted({number for rank in ranks for number in rank.teams}):
        size = next(rank.teams[number][0] for rank in ranks if number in rank.teams)
        for part in members(len(ranks), size):
            here = [r for r in part if ranks[r].teams]
            if len(here) < len(part):
                yield from (
                    f"team {number}: rank {r} handles calls, though others have no huddle"
                    for r in here
                    if OK in answers(ranks[r], number)
                )
            calls = {r: ranks[r].calls.get(number, []) for r in here}
            most = max(here, key=lambda r: len(calls[r]), default=None)
            passed = all(answers(ranks[r], number) <= {PASS} for r in here)
            for r in here:
                if not (passed and is_part(calls[r], calls[most], unseen)):
                    yield from differences(number, most, calls[most], r, calls[r])


def is_part(part, whole, unseen):
    """Reports whether `part` is a subsequence of `whole` that lacks only calls of `unseen`."""
    rest = iter(whole)
    lacking = collections.Counter(whole) - collections.Counter(part)
    return all(call in rest for call in part) and {name for name, _ in lacking} <= set(unseen)


def answers(rank, number):
    return {status for _, status in rank.calls.get(number, [])}


def differences(number, first, a, r, b):
    if a != b:
        at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        yield (
            f"team {number}: call {at} is {a[at : at + 1]} on rank {first}, {b[at : at + 1]} on"
            f" rank {r}"
        )


def leaks(ranks, clean):
    if any(point.split("@")[0] in UNCLOSABLE for rank in ranks for point in rank.failed):
        return
    for r, (rank, before) in enumerate(zip(ranks, clean)):
        for site, (_, held) in rank.sites.items():
            had = before.sites.get(site, (0, 0))[1]
            if held > had:
                yield f"rank {r} holds {held} of {site} at its end, {had} in a clean run"


def still_open(ranks, text, clean_text):
    if any(point.split("@")[0] in UNCLOSABLE for rank in ranks for point in rank.failed):
        return
    clean = {r: (int(fds), int(mapped)) for r, fds, mapped in OPEN.findall(clean_text)}
    for r, fds, mapped in OPEN.findall(text):
        if r in clean and int(fds) > clean[r][0]:
            yield f"rank {r} has {fds} descriptors, {clean[r][0]} in a clean run"
        if r in clean and int(mapped) > clean[r][1]:
            yield f"rank {r} maps {mapped} bytes of huddle's, {clean[r][1]} in a clean run"


def repeated(text):
    """Yields complaints about reasons reported more than once, even with different numbers."""
    seen = set()
    for line in lines_of(text):
        reason = re.sub(r"\d+", "N", line)
        if reason in seen:
            yield f"said twice: {line}"
        seen.add(reason)


def verdict(ranks, text):
    if {status for rank in ranks for calls in rank.calls.values() for _, status in calls} <= {OK}:
        return "handled"
    return "fell back with a line" if lines_of(text) else "fell back silently"


def complaints(run, clean):
    """Returns the complaints about a run (status, text, ranks, left) that has ended in time."""
    bad = list(run.left)
    bad += [
        f"rank {r} did not come to its end" for r, rank in enumerate(run.ranks) if not rank.ended
    ]
    bad += run.wrong()
    bad += (
        list(alike(run.ranks, may_be_unseen(run.program, run.nonblocking)))
        + list(leaks(run.ranks, clean.ranks))
        + list(still_open(run.ranks, run.text, clean.text))
        + list(repeated(run.text))
    )
    strange = {
        (call, status)
        for rank in run.ranks
        for calls in rank.calls.values()
        for call, status in calls
        if status not in (OK, PASS)
    }
    return bad + [f"{call} answered {status}" for call, status in sorted(strange)]
