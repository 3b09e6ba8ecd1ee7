# SPDX-License-Identifier: BSD-3-Clause
"""The options of `huddle bench`, including those of IMB and OSU, and their meaning."""

import argparse
import os
import re

from ..common import places, refused
from ..common.layout import Trouble
from ..common.options import MAX_STARTED, sizes_of, span, whole

EXAMPLES = """examples:
  huddle bench                                         first MPI found, without and with huddle, 2 ranks
  huddle bench bcast --bytes 8:16M --ranks 2,8 --against ompi4,ompi4-sm,mpich5,intel --png bcast.png
  huddle bench barrier --algorithm all --bare           every barrier, compared with plain flags
  huddle bench IMB-MPI1 Bcast -off_cache 20,64 -iter 1000 -msglog 6:24 -root_shift 1
  huddle bench osu_bcast -m 8:1048576 -i 1000 -x 100 -f
  huddle bench reduce --ranks 4 --compare "gather fragment=8K" --compare tree

Ctrl-C ends the running launch and prints the figures measured so far.
""" + places.HELP

CANDIDATE = "ALGORITHM [PARAMETER=VALUE ...] [HUDDLE_SETTING=VALUE ...]; own: huddle's choice"


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
        raise refused.argument(text, "on, off, 1 or 0")
    return text.lower() in ("1", "on")


def place(text):
    name, equals, path = text.partition("=")
    if not equals or not os.path.exists(path):
        raise refused.argument(text, "NAME=PLACE, a launcher or the folder whose bin holds it")
    return name, os.path.abspath(path)


def add_what(parser):
    parser.add_argument(
        "collectives",
        nargs="*",
        metavar="COLLECTIVE",
        help=(
            "barrier, bcast, reduce, allreduce, ... (default: all); osu_bcast, osu_ibcast and"
            " IMB-MPI1 Bcast are accepted too; sizes are bytes of the message, for alltoall bytes"
            " from one rank to one rank"
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
        type=list_of(whole(2, MAX_STARTED)),
        default=[2],
        metavar="N,...",
        help="numbers of ranks, such as 2,8 (default: 2)",
    )
    parser.add_argument(
        "--bind",
        choices=("core", "none"),
        default="core",
        help="core: one core per rank if there are enough (default); none: ranks are not bound",
    )
    parser.add_argument(
        "--way",
        choices=("blocking", "nonblocking"),
        help=(
            "how a call is made (default: blocking); nonblocking: started, and completed at once by"
            " MPI_Wait"
        ),
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
        help="flush buffers from the caches before each call",
    )
    parser.add_argument(
        "--warm", dest="cold", action="store_false", help="do not flush buffers (default)"
    )
    late = parser.add_mutually_exclusive_group()
    late.add_argument(
        "--skew",
        type=positive,
        metavar="US",
        help="ranks arrive at random within US microseconds; time counts from the last arrival",
    )
    late.add_argument(
        "--late",
        type=positive,
        metavar="US",
        help=(
            "delay one rank by US microseconds, round-robin; also prints the mean processor time"
            " of a rank"
        ),
    )


def add_whom(parser):
    parser.add_argument(
        "--with",
        dest="hosts",
        type=list_of(str),
        metavar="MPI,...",
        help="MPIs to run huddle with (default: the first found)",
    )
    parser.add_argument(
        "--against",
        type=list_of(str),
        metavar="PEER,...",
        help=(
            "MPIs to compare with: ompi4, ompi5, mpich4, mpich5, intel; Open MPI's components"
            " ompi4-sm and -han; algorithms of its coll/tuned: -linear, -doublering, -recursive,"
            " -bruck, -tree, -pipeline, -ring, -rabenseifner, -pairwise (default: the MPIs of"
            " --with without huddle; none: no peer)"
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
        help="force one of huddle's algorithms; all: measure each of them",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting of huddle, for example HUDDLE_LEASE=1M (see huddle settings)",
    )
    parser.add_argument(
        "--compare",
        action="append",
        default=[],
        metavar="CANDIDATE",
        help=(
            f"without MPI: settings in turn, on one team; ratios to the first.  {CANDIDATE}."
            "  huddle settings prints the parameters"
        ),
    )
    parser.add_argument(
        "--bare",
        action="store_true",
        help=(
            "also measure plain forms of barrier, bcast, allreduce and alltoall, without MPI or"
            " huddle: flags, a ring of buffers (the best of a few), windows"
        ),
    )


def add_how(parser):
    parser.add_argument(
        "--launches",
        type=positive,
        default=5,
        metavar="N",
        help=(
            "number of launches of each variant, in turn (default: 5; with fewer there are no"
            " intervals)"
        ),
    )
    parser.add_argument(
        "--figure-ms",
        type=positive,
        default=40,
        metavar="MS",
        help="time per figure and launch (default: 40)",
    )
    parser.add_argument(
        "--shots", type=positive, metavar="N", help="make exactly N calls per figure"
    )
    parser.add_argument(
        "--warmups",
        type=whole(),
        default=3,
        metavar="N",
        help="uncounted calls before a figure (default: 3)",
    )
    parser.add_argument(
        "--loop",
        type=positive,
        metavar="N",
        help=(
            "N back-to-back calls are one sample, as in IMB and OSU (default: single calls from a"
            " common start)"
        ),
    )
    parser.add_argument(
        "--limit",
        type=positive,
        metavar="S",
        help="time limit of one launch (default: computed from its work)",
    )


def add_output(parser):
    parser.add_argument(
        "--details",
        action="store_true",
        help="print a line per size and variant: interval, p99, min, avg, max, launches",
    )
    for kind, words in (
        ("csv", "write a row for each figure of each launch"),
        ("json", "write rows and figures, the machine, the command"),
        ("columns", "write bytes and medians in plain columns, for a plotting program"),
        ("png", "draw a plot"),
        ("html", "write one file with tables, plots, the machine, the command"),
    ):
        parser.add_argument(f"--{kind}", metavar="FILE", help=words)


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


def add_arguments(parser):
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EXAMPLES
    for add in (add_what, add_whom, add_how, add_output, add_synonyms):
        add(parser)


def nonblocking(word, known):
    """Whether a name is that of a nonblocking collective: ibcast."""
    return word not in known and word[:1] == "i" and word[1:] in known


def collectives_of(words, known):
    """The names in huddle's spelling and order, and how calls are made, where names tell it."""
    words = {re.sub(r"^osu_", "", word.lower()) for word in words if word.upper() != "IMB-MPI1"}
    starts = {word for word in words if nonblocking(word, known)}
    if starts and starts != words:
        raise Trouble(
            f"bench: {', '.join(sorted(words))}: blocking and nonblocking calls (accepted: one of"
            " both)",
            2,
        )
    wanted = {word[1:] for word in starts} or words
    unknown = wanted - set(known)
    if unknown:
        raise Trouble(
            f"bench: no such collective: {', '.join(sorted(unknown))} (accepted:"
            f" {', '.join(known)})",
            2,
        )
    names = [name for name in known if name in wanted or not wanted]
    return names, "nonblocking" if starts else None


def settle(options, known):
    """Resolves synonyms and defaults.  known: the names of all collectives."""
    options.collectives, way = collectives_of(options.collectives, known)
    if way and options.way == "blocking":
        raise Trouble("bench: --way blocking: not possible with names of nonblocking calls", 2)
    options.way = options.way or way or "blocking"
    if options.way != "blocking" and (options.compare or options.bare):
        raise Trouble(f"bench: --way {options.way}: not possible with --compare or --bare", 2)
    options.bytes = options.bytes or sizes_of("8:2M:8")
    if options.zero_size and 0 not in options.bytes:
        options.bytes = [0, *options.bytes]
    options.cold = options.cold or (options.off_cache not in (None, "0"))
    options.details = options.details or options.full is not None
    if options.npmin:
        options.ranks = span(options.npmin, max(options.ranks), 2)
    if not 0 <= options.root < min(options.ranks):
        raise Trouble(
            f"--root {options.root}: not possible (accepted: 0 to {min(options.ranks) - 1})", 2
        )
    return options


def call_words(options, collectives, sizes):
    """Options of the measuring program: which calls to make."""
    return [
        "--coll",
        ",".join(collectives),
        "--bytes",
        ",".join(map(str, sizes or [0])),
        "--root",
        "shift" if options.root_shift else str(options.root),
        "--way",
        options.way,
    ]


def program_words(options, collectives, sizes):
    """Options of the measuring program: which calls to make, and how to measure them."""
    words = [
        *call_words(options, collectives, sizes),
        "--figure-ms",
        str(options.figure_ms),
        "--warmups",
        str(options.warmups),
    ]
    if options.shots:
        words += ["--min", str(options.shots), "--max", str(options.shots), "--figure-ms", "600000"]
    for name, value in (
        ("--loop", options.loop),
        ("--skew-us", options.skew),
        ("--late-us", options.late),
    ):
        words += [name, str(value)] if value else []
    return words + (["--cold"] if options.cold else [])
