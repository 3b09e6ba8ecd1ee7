# SPDX-License-Identifier: BSD-3-Clause
"""
How many calls are simulated for one figure, where nobody says: some until the next are like all
that follow, and those that count.

Shared memory is new to the caches until it has been used.  A long message goes through it by
buffers; a short one by lines, of which an algorithm has a ring, taken back by halves: so that the
calls that count are such a ring, and none of its halves is all that is seen.
"""

from __future__ import annotations

LINE, RING = 128, 32
BUFFER, MAX_BUFFERS = 4096, 256
REPETITIONS = 5


def warmup(slot_bytes: int, size: int) -> int:
    """
    Returns how many calls are needed to use all shared memory of later calls once.  slot_bytes: the
    memory that the calls use in turn.
    """
    buffers, lines = slot_bytes // max(size, BUFFER), slot_bytes // max(size, LINE)
    return 1 + max(min(MAX_BUFFERS, buffers), min(2 * RING, lines))


def repetitions(size: int, small: int | None = None) -> int:
    """
    Returns the number of counted calls.  `small` is the number for small messages, if it exceeds a
    ring of them.
    """
    return (small or RING) if size <= BUFFER else REPETITIONS


def calls(slot_bytes: int, size: int, small: int | None = None) -> dict[str, int]:
    """Returns the fields of a request that number its calls."""
    return {"warmup": warmup(slot_bytes, size), "repetitions": repetitions(size, small)}
