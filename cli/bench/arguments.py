# SPDX-License-Identifier: BSD-3-Clause
"""The options of `huddle bench`, those of IMB and OSU among them, and what they stand for."""

import argparse
import os
import re

from ..common import places
from ..common.layout import Trouble
from ..common.options import sizes_of, span, whole

EXAMPLES = """examples:
  huddle bench                                          the first MPI found, as it is and with huddle, 2 ranks
  huddle bench bcast --bytes 8:16M --ranks 2,8 --against ompi4,ompi4-sm,mpich5,intel --png bcast.png
  huddle bench barrier --algorithm all --bare           every barrier, beside two plain flags
  huddle bench IMB-MPI1 Bcast -off_cache 20,64 -iter 1000 -msglog 6:24 -root_shift 1
  huddle bench osu_bcast -m 8:1048576 -i 1000 -x 100 -f

Ctrl-C ends the running launch and shows what was measured until then.
""" + places.HELP


def msglog(text):
    """IMB's -msglog: '6:24' or '24', powers of two, after 0 bytes unless -zero_size is off."""
    low, colon, high = text.partition(":")
    try:
        first, last = (int(low), int(high)) if colon else (0, int(low))
    except ValueError:
        first, last = 1, 0
    if not 0 <= first <= last <= 30:
        raise argparse.ArgumentTypeError(f"{text!r}: expected LOW:HIGH, powers of two, at most 30")
    return [1 << k for k in range(first, last + 1)]


def osu_sizes(text):
    """OSU's -m: '1048576' (up to), '8:1048576'."""
    return sizes_of(text if ":" in text else f"1:{text}")


def list_of(kind):
    def parse(text):
        return [kind(part) for part in text.split(",")]

    parse.__name__ = "list"
    return parse


positive = whole(1, 1000000)


def first_number(text):
    """IMB's -iter: '5000,250' -> 5000."""
    return positive(text.partition(",")[0])


def switch(text):
    if text.lower() not in ("0", "1", "on", "off"):
        raise argparse.ArgumentTypeError(f"{text!r}: expected on, off, 1 or 0")
    return text.lower() in ("1", "on")


def place(text):
    name, equals, path = text.partition("=")
    if not equals or not os.path.exists(path):
        raise argparse.ArgumentTypeError(
            f"{text!r}: expected NAME=PLACE, a launcher or the folder whose bin holds it"
        )
    return name, os.path.abspath(path)


def add_what(parser):
    parser.add_argument(
        "collectives",
        nargs="*",
        metavar="COLLECTIVE",
        help=(
            "barrier, bcast, reduce, allreduce, ... (default: all); osu_bcast, IMB-MPI1 Bcast are"
            " the same; sizes are of the message, of alltoall those from one rank to one"
        ),
    )
    parser.add_argument(
        "--bytes",
        type=sizes_of,
        metavar="SIZES",
        help="8,1K,1M or 8:4M (powers of two) or 8:4M:8 (default: 8:2M:8)",
    )
    parser.add_argument(
        "--ranks",
        type=list_of(positive),
        default=[2],
        metavar="N,...",
        help="2,8: each in turn (default: 2)",
    )
    parser.add_argument(
        "--bind",
        choices=("core", "none"),
        default="core",
        help="ranks on cores of their own, where there are enough (default), or anywhere",
    )
    parser.add_argument(
        "--root", type=whole(), default=0, metavar="N", help="root of broadcasts (default: 0)"
    )
    parser.add_argument(
        "--root-shift", action="store_true", help="the next rank is the root in every call"
    )
    parser.add_argument(
        "--cold",
        "--off-cache",
        action="store_true",
        help="buffers are thrown out of the caches before each call",
    )
    parser.add_argument(
        "--warm", dest="cold", action="store_false", help="buffers as they come (default)"
    )
    late = parser.add_mutually_exclusive_group()
    late.add_argument(
        "--skew",
        type=positive,
        metavar="US",
        help="ranks arrive at random within so many microseconds; counted from the last arrival",
    )
    late.add_argument(
        "--late",
        type=positive,
        metavar="US",
        help="one rank, in turn, arrives so much later; the ranks' mean processor time is shown",
    )


def add_whom(parser):
    parser.add_argument(
        "--with",
        dest="hosts",
        type=list_of(str),
        metavar="MPI,...",
        help="MPIs that huddle is measured on (default: the first found)",
    )
    parser.add_argument(
        "--against",
        type=list_of(str),
        metavar="PEER,...",
        help=(
            "ompi4, ompi5, mpich4, mpich5, intel, and of Open MPI's own: ompi4-sm, -han; of its"
            " those of its coll/tuned: -linear, -doublering, -recursive, -bruck, -tree, -pipeline,"
            " -ring, -rabenseifner, -pairwise (default: the MPIs of --with as they are; none: no"
            " peer)"
        ),
    )
    parser.add_argument(
        "--mpi",
        action="append",
        type=place,
        default=[],
        metavar="NAME=PLACE",
        help="an MPI that is not on PATH: its mpirun or mpiexec, or the folder whose bin holds it",
    )
    parser.add_argument(
        "--algorithm",
        metavar="NAME",
        help="force an algorithm of huddle's; all: each of them, side by side",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting of huddle's, as in HUDDLE_LEASE=1M (see: huddle settings)",
    )
    parser.add_argument(
        "--bare",
        action="store_true",
        help=(
            "beside it, without MPI or huddle, a plain ring of buffers (the best of a few sizes and"
            " numbers of them) and a barrier of two flags"
        ),
    )


def add_how(parser):
    parser.add_argument(
        "--launches",
        type=positive,
        default=5,
        metavar="N",
        help="times that each is started, in turn (default: 5)",
    )
    parser.add_argument(
        "--figure-ms",
        type=positive,
        default=40,
        metavar="MS",
        help="time for a figure in a launch (default: 40)",
    )
    parser.add_argument(
        "--shots", type=positive, metavar="N", help="so many calls a figure, whatever they take"
    )
    parser.add_argument(
        "--warmups",
        type=whole(),
        default=3,
        metavar="N",
        help="calls before those that count (default: 3)",
    )
    parser.add_argument(
        "--loop",
        type=positive,
        metavar="N",
        help=(
            "N calls back to back are one sample, as IMB and OSU measure (default: single calls"
            " from a common start)"
        ),
    )
    parser.add_argument(
        "--limit",
        type=positive,
        metavar="S",
        help="most that one launch may take (default: from what it has to do)",
    )


def add_output(parser):
    parser.add_argument(
        "--details",
        action="store_true",
        help="a line for each size and variant: interval, p99, launches",
    )
    for kind, words in (
        ("csv", "a row for each figure of each launch"),
        ("json", "rows and figures, the machine, the command"),
        ("png", "a picture"),
        ("html", "one file: tables, pictures, the machine, the command"),
    ):
        parser.add_argument(f"--{kind}", metavar="FILE", help=words)


def add_synonyms(parser):
    known = parser.add_argument_group("as IMB and OSU say it")
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
        help="IMB: --cold, whatever the sizes of cache and line (MB alone will do); 0: not",
    )
    known.add_argument(
        "-npmin",
        type=positive,
        metavar="N",
        help="IMB: from N ranks, doubling, up to the largest of --ranks",
    )
    known.add_argument(
        "-sync", type=switch, metavar="0|1", help="IMB: every call has a common start here anyway"
    )
    known.add_argument(
        "-imb_barrier",
        type=switch,
        metavar="0|1",
        help="IMB: likewise, and the MPI's barrier is not used for it",
    )
    known.add_argument("-zero_size", type=switch, metavar="0|1", help="IMB: 0 bytes too")
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


def add_arguments(parser):
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EXAMPLES
    for add in (add_what, add_whom, add_how, add_output, add_synonyms):
        add(parser)


def collectives_of(words, known):
    """The names as huddle has them, in its order."""
    wanted = {re.sub(r"^osu_", "", word.lower()) for word in words if word.upper() != "IMB-MPI1"}
    unknown = wanted - set(known)
    if unknown:
        raise Trouble(
            f"bench: no collective {', '.join(sorted(unknown))}; there are {', '.join(known)}", 2
        )
    return [name for name in known if name in wanted or not wanted]


def settle(options, known):
    """What synonyms and defaults stand for; known: the collectives there are."""
    options.collectives = collectives_of(options.collectives, known)
    options.bytes = options.bytes or sizes_of("8:2M:8")
    if options.zero_size and 0 not in options.bytes:
        options.bytes = [0, *options.bytes]
    options.cold = options.cold or (options.off_cache not in (None, "0"))
    options.details = options.details or options.full is not None
    if options.npmin:
        options.ranks = span(options.npmin, max(options.ranks), 2)
    for ranks in options.ranks:
        if not 2 <= ranks <= 1024:
            raise Trouble(
                f"bench: --ranks {ranks}: a figure needs 2 ranks at least, and at most 1024", 2
            )
    if not 0 <= options.root < min(options.ranks):
        raise Trouble(f"bench: --root {options.root}: there are {min(options.ranks)} ranks", 2)
    return options


def call_words(options, collectives, sizes):
    """The options of the measuring program that say which calls are made."""
    return [
        "--coll",
        ",".join(collectives),
        "--bytes",
        ",".join(map(str, sizes or [0])),
        "--root",
        "shift" if options.root_shift else str(options.root),
    ]


def program_words(options, collectives, sizes):
    """These, and how they are measured."""
    words = [
        *call_words(options, collectives, sizes),
        "--figure-ms",
        str(options.figure_ms),
        "--warmups",
        str(options.warmups),
    ]
    if options.shots:
        words += [
            "--least",
            str(options.shots),
            "--most",
            str(options.shots),
            "--figure-ms",
            "600000",
        ]
    for name, value in (
        ("--loop", options.loop),
        ("--skew-us", options.skew),
        ("--late-us", options.late),
    ):
        words += [name, str(value)] if value else []
    return words + (["--cold"] if options.cold else [])
