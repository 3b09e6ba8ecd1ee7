# SPDX-License-Identifier: BSD-3-Clause
"""What must be true of a run in which one call of one rank fails."""

import collections
import re

OK, PASS = 0, 1
UNCLOSABLE = (
    "fstat",
    "munmap",
    # one that fails keeps what it was about: of a descriptor that cannot be told from others, it
    # may be the program's
)
# collectives that tests/mpi/rounds.c makes in their nonblocking forms: those are noted by the same
# name
NONBLOCKING = ("alltoallv", "bcast")
NO_MEMORY = re.compile("MPI_ERR_NO_MEM|memory", re.IGNORECASE)
OPEN = re.compile(r"rank (\d+) has (\d+) descriptors, (\d+) bytes mapped")


def lines_of(text):
    return [line[line.index("huddle: ") :] for line in text.splitlines() if "huddle: " in line]


def members(size, team_size):
    """
    The ranks of each team of that size; one of fewer than all is of every second rank (rounds.c).
    """
    return [range(size)] if team_size == size else [range(0, size, 2), range(1, size, 2)]


def may_be_unseen(program, nonblocking):
    """
    The collectives that a rank may not know of where no rank handles any: one of Open MPI that
    cannot find the MPI's functions does not know the program's nonblocking calls from the MPI's.
    """
    return NONBLOCKING if nonblocking and program.startswith("ompi") else ()


def alike(ranks, unseen=()):
    """
    Ranks of one team make the same calls of it and get the same answers.  Where one has no huddle,
    the others leave everything to the MPI.  It may see fewer calls of these collectives then.
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
    """In its order, with or without calls of these collectives between."""
    rest = iter(whole)
    lacking = collections.Counter(whole) - collections.Counter(part)
    return all(call in rest for call in part) and {name for name, _ in lacking} <= set(unseen)


def answers(rank, number):
    return {status for _, status in rank.calls.get(number, [])}


def differences(number, first, a, r, b):
    if a != b:
        at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        yield (
            f"team {number}: call {at} is {a[at:at + 1]} on rank {first}, {b[at:at + 1]} on"
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
    """One line for a reason: two that differ in numbers only are one too many."""
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
    """run: status, text, ranks, left; of a run that has ended in time."""
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
