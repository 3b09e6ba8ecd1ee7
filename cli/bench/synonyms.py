# SPDX-License-Identifier: BSD-3-Clause
"""The options of IMB and OSU that `huddle bench` understands."""

from __future__ import annotations

from ..common import validators
from ..common.command_line import Option
from ..common.options import MAX_STARTED, sizes_of, whole

positive = whole(1, 1000000)


def msglog(text: str) -> list[int]:
    """
    Parses IMB's -msglog: '6:24' or '24' are powers of two.  They follow 0 bytes unless -zero_size
    is off.
    """
    low, colon, high = text.partition(":")
    try:
        first, last = (int(low), int(high)) if colon else (0, int(low))
    except ValueError:
        first, last = 1, 0
    if not 0 <= first <= last <= 30:
        raise validators.argument(text, "LOW:HIGH, powers of two, at most 30")
    return [1 << k for k in range(first, last + 1)]


def osu_sizes(text: str) -> list[int]:
    """Parses OSU's -m: '1048576' (up to), '8:1048576'."""
    return sizes_of(text if ":" in text else f"1:{text}")


def first_number(text: str) -> int:
    """Parses the first number of IMB's -iter: '5000,250' -> 5000."""
    return positive(text.partition(",")[0])


def switch(text: str) -> bool:
    if text.lower() not in ("0", "1", "on", "off"):
        raise validators.argument(text, "on, off, 1 or 0")
    return text.lower() in ("1", "on")


SYNONYMS = (
    Option(
        "-msglog",
        synonym_of="bytes",
        type=msglog,
        metavar="LO:HI",
        help="IMB: sizes 2^LO to 2^HI; HI alone: 1 to 2^HI",
    ),
    Option("-iter", synonym_of="shots", type=first_number, metavar="N", help="IMB: --shots N"),
    Option(
        "-root_shift",
        "imb_root_shift",
        synonym_of="root_shift",
        type=switch,
        metavar="0|1",
        help="IMB: --root-shift",
    ),
    Option(
        "-off_cache",
        metavar="MB,LINE",
        help="IMB: --cold; the sizes of cache and line are ignored, LINE may be omitted; 0: off",
    ),
    Option(
        "-npmin",
        type=whole(2, MAX_STARTED),
        metavar="N",
        help="IMB: N ranks, 2N, 4N, ... up to the largest of --ranks",
    ),
    Option(
        "-sync",
        type=switch,
        metavar="0|1",
        help="IMB: ignored; ranks always start each call together",
    ),
    Option(
        "-imb_barrier",
        type=switch,
        metavar="0|1",
        help="IMB: ignored; the MPI's barrier is not used for the common start",
    ),
    Option("-zero_size", type=switch, metavar="0|1", help="IMB: also measure 0 bytes"),
    Option(
        "-m",
        synonym_of="bytes",
        type=osu_sizes,
        metavar="LO:HI",
        help="OSU: sizes in bytes; HI alone: 1 to HI",
    ),
    Option("-i", synonym_of="shots", type=positive, metavar="N", help="OSU: --shots N"),
    Option("-x", synonym_of="warmups", type=whole(), metavar="N", help="OSU: --warmups N"),
    Option(
        "-f", "full", is_flag=False, flag_value="full", choices=("full",), help="OSU: --details"
    ),
)
