# SPDX-License-Identifier: BSD-3-Clause
"""The sizes that huddle explain is asked about: --bytes, for text and for JSON."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from ..common import validators
from ..common.exit_status import BAD_USE
from ..common.layout import CliError
from ..common.options import MAX, MAX_BYTES, bytes_within, span
from ..common.sizes import number

ACCEPTED = "64K, 8,4K,1M, 8:1M, 8:, 8:1M:8"

# What the words of --bytes ask for: one size; sizes one by one; all sizes of a range.
ONE, LISTED, RANGE = "one", "listed", "range"

# listed: the sizes of LISTED, in the order in which they were given.  From low to high; high None:
# no end.
Sizes = namedtuple("Sizes", "form low high listed")


def refuse(text: str, why: str, accepted: str) -> CliError:
    return CliError(f"--bytes {validators.shown(text)}: {why} (accepted: {accepted})", BAD_USE)


def size(text: str) -> int:
    """Parses a size below 2^63, as the library counts bytes in JSON."""
    try:
        found = number(text)
    except validators.BadValue as error:
        raise refuse(text, "not a size", ACCEPTED) from error
    if found > MAX:
        raise refuse(text, "not possible", "sizes below 2^63")
    return found


def steps(text: str) -> list[int]:
    """
    Parses a size, or LOW:HIGH:FACTOR as in 'huddle bench'.  The factor is 2 if it is not given.
    """
    if ":" not in text:
        return [size(text)]
    words = text.split(":")
    if len(words) in (2, 3):
        low, high, factor = (size(word) for word in [*words, "2"][:3])
        if 1 <= low <= high and factor >= 2:
            return span(low, high, factor)
    raise refuse(text, "not a range", "LOW:HIGH:FACTOR")


def sizes_of(text: str | None) -> Sizes:
    """Parses --bytes.  text: None if it is not given, which means all sizes."""
    if text is None:
        return Sizes(RANGE, 0, None, [])
    if "," in text or text.count(":") > 1:
        listed = [found for part in text.split(",") for found in steps(part)]
        return Sizes(LISTED, min(listed), max(listed), listed)
    low, colon, high = text.partition(":")
    first = size(low)
    if not colon:
        return Sizes(ONE, first, first, [first])
    last = size(high) if high else None
    if last is not None and last < first:
        raise refuse(text, "not a range", "LOW:HIGH")
    return Sizes(RANGE, first, last, [])


def stepped(text: str) -> list[int]:
    """
    Returns the sizes of --bytes in rising order.  Each size of a range is twice the one before.
    """
    sizes = sizes_of(text)
    if sizes.high is None:
        raise refuse(text, "has no end", "LOW:HIGH")
    found = span(sizes.low, sizes.high, 2) if sizes.form == RANGE else sizes.listed
    for one in found:
        bytes_within("--bytes", one, 0, MAX_BYTES)
    return sorted(set(found))


def cut(piece: dict[str, Any], low: int, high: int | None) -> tuple[int, int | None] | None:
    """
    Returns the (first, last) size of a piece from low to high, or None if there is none.  A
    high or last of None means no end.
    """
    ends = [end for end in (piece["max_bytes"], high) if end is not None]
    first, last = max(piece["min_bytes"], low), min(ends, default=None)
    return (first, last) if last is None or first <= last else None
