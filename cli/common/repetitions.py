# SPDX-License-Identifier: BSD-3-Clause
"""
How many calls are simulated for one figure, where nobody says: some until the next are like all
that follow, and those that count.

Shared memory is new to the caches until it has been used.  A long message goes through it by
buffers; a short one by lines, of which an algorithm has a ring, taken back by halves: so that the
calls that count are such a ring, and none of its halves is all that is seen.
"""

LINE, RING = 128, 32
BUFFER, MAX_BUFFERS = 4096, 256
REPETITIONS = 5


def warmup(slot_bytes, size):
    """
    Calls after which nothing of a rank's shared memory that they use is new.  slot_bytes: what they
    use in turn.
    """
    buffers, lines = slot_bytes // max(size, BUFFER), slot_bytes // max(size, LINE)
    return 1 + max(min(MAX_BUFFERS, buffers), min(2 * RING, lines))


def repetitions(size, small=None):
    """Number of counted calls.  small: for small messages, if more than a ring of them."""
    return (small or RING) if size <= BUFFER else REPETITIONS


def calls(slot_bytes, size, small=None):
    """The fields of a request."""
    return {"warmup": warmup(slot_bytes, size), "repetitions": repetitions(size, small)}
