# SPDX-License-Identifier: BSD-3-Clause
"""The options of IMB and OSU that `huddle bench` understands."""

from ..common import refused
from ..common.options import MAX_STARTED, sizes_of, whole

positive = whole(1, 1000000)


def msglog(text):
    """IMB's -msglog: '6:24' or '24', powers of two, after 0 bytes unless -zero_size is off."""
    low, colon, high = text.partition(":")
    try:
        first, last = (int(low), int(high)) if colon else (0, int(low))
    except ValueError:
        first, last = 1, 0
    if not 0 <= first <= last <= 30:
        raise refused.argument(text, "LOW:HIGH, powers of two, at most 30")
    return [1 << k for k in range(first, last + 1)]


def osu_sizes(text):
    """OSU's -m: '1048576' (up to), '8:1048576'."""
    return sizes_of(text if ":" in text else f"1:{text}")


def first_number(text):
    """IMB's -iter: '5000,250' -> 5000."""
    return positive(text.partition(",")[0])


def switch(text):
    if text.lower() not in ("0", "1", "on", "off"):
        raise refused.argument(text, "on, off, 1 or 0")
    return text.lower() in ("1", "on")


def add_synonyms(parser):
    known = parser.add_argument_group("options of IMB and OSU")
    known.add_argument(
        "-msglog",
        dest="bytes",
        type=msglog,
        metavar="LO:HI",
        help="IMB: sizes 2^LO to 2^HI; HI alone: 1 to 2^HI",
    )
    known.add_argument("-iter", dest="shots", type=first_number, metavar="N", help="IMB: --shots N")
    known.add_argument(
        "-root_shift", dest="root_shift", type=switch, metavar="0|1", help="IMB: --root-shift"
    )
    known.add_argument(
        "-off_cache",
        dest="off_cache",
        metavar="MB,LINE",
        help="IMB: --cold; the sizes of cache and line are ignored, LINE may be missing; 0: off",
    )
    known.add_argument(
        "-npmin",
        type=whole(2, MAX_STARTED),
        metavar="N",
        help="IMB: from N ranks, doubling, up to the largest of --ranks",
    )
    known.add_argument(
        "-sync", type=switch, metavar="0|1", help="IMB: ignored; every call has a common start"
    )
    known.add_argument(
        "-imb_barrier",
        type=switch,
        metavar="0|1",
        help="IMB: ignored; the MPI's barrier is not used for the common start",
    )
    known.add_argument("-zero_size", type=switch, metavar="0|1", help="IMB: also measure 0 bytes")
    known.add_argument(
        "-m",
        dest="bytes",
        type=osu_sizes,
        metavar="LO:HI",
        help="OSU: sizes in bytes; HI alone: 1 to HI",
    )
    known.add_argument("-i", dest="shots", type=positive, metavar="N", help="OSU: --shots N")
    known.add_argument("-x", dest="warmups", type=whole(), metavar="N", help="OSU: --warmups N")
    known.add_argument(
        "-f", dest="full", choices=("full",), nargs="?", const="full", help="OSU: --details"
    )
