# SPDX-License-Identifier: BSD-3-Clause
"""The options of `huddle bench`, including those of IMB and OSU, and their meaning."""

import argparse
import os
import re

from ..common import places, refused
from ..common.layout import Trouble
from ..common.options import MAX_STARTED, real, sizes_of, span, whole
from . import plan
from .synonyms import add_synonyms, positive

EXAMPLES = """examples:
  huddle bench                                         first MPI found, without and with huddle, 2 ranks
  huddle bench bcast --bytes 8:16M --ranks 2,8 --against ompi4,ompi4-sm,mpich5,intel --png bcast.png
  huddle bench barrier --algorithm all --bare           every barrier, compared with plain flags
  huddle bench IMB-MPI1 Bcast -off_cache 20,64 -iter 1000 -msglog 6:24 -root_shift 1
  huddle bench osu_bcast -m 8:1048576 -i 1000 -x 100 -f
  huddle bench reduce --ranks 4 --compare "gather fragment=8K" --compare tree
  huddle bench --summary --quick --csv figures.csv      how huddle compares here, in five minutes

Ctrl-C ends the running launch and prints the figures measured so far.
""" + places.HELP

LAUNCHES, FIGURE_MS = 5, 40
CANDIDATE = "ALGORITHM [PARAMETER=VALUE ...] [HUDDLE_SETTING=VALUE ...]; own: huddle's choice"


def list_of(kind):
    def parse(text):
        return [kind(part) for part in text.split(",")]

    parse.__name__ = "list"
    return parse


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
        metavar="N,...",
        help="numbers of ranks, such as 2,8 (default: 2; with --summary several)",
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


def add_summary(parser):
    many = parser.add_argument_group("a summary of everything")
    many.add_argument(
        "--summary",
        action="store_true",
        help=(
            "by collective and class of line transfer: ratios to the fastest MPI that is found, and"
            " to the same MPI alone; 2 ranks in several ways, and more ranks than cores; about"
            f" half an hour, at most {plan.FULL.minutes} minutes"
        ),
    )
    many.add_argument(
        "--quick",
        action="store_true",
        help=f"with --summary: fewer sizes and ranks, at most {plan.QUICK.minutes} minutes",
    )
    many.add_argument(
        "--minutes",
        type=real(0, 10000),
        metavar="M",
        help="with --summary: start no launch that would end later",
    )
    many.add_argument(
        "--add",
        action="append",
        default=[],
        metavar="FILE",
        help="with --summary: count the figures of an earlier one, too, from its --csv FILE",
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
        metavar="N",
        help=(
            f"number of launches of each variant, in turn (default: {LAUNCHES}; with fewer there"
            " are no intervals)"
        ),
    )
    parser.add_argument(
        "--figure-ms",
        type=positive,
        metavar="MS",
        help=f"time per figure and launch (default: {FIGURE_MS})",
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


def add_arguments(parser):
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EXAMPLES
    for add in (add_what, add_whom, add_how, add_output, add_summary, add_synonyms):
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
    if options.summary:
        plan.settle(options, known)
    elif word := plan.own_word(options):
        raise Trouble(f"bench: {word}: only with --summary", 2)
    options.collectives, way = collectives_of(options.collectives, known)
    if way and options.way == "blocking":
        raise Trouble("bench: --way blocking: not possible with names of nonblocking calls", 2)
    options.way = options.way or way or "blocking"
    options.ranks = options.ranks or [2]
    options.launches = options.launches or LAUNCHES
    options.figure_ms = options.figure_ms or FIGURE_MS
    if options.way != "blocking" and (options.compare or options.bare):
        raise Trouble(f"bench: --way {options.way}: not possible with --compare or --bare", 2)
    if not options.summary:  # which has sizes of its own for each number of ranks
        options.bytes = options.bytes or sizes_of("8:2M:8")
    if options.zero_size and options.bytes and 0 not in options.bytes:
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
