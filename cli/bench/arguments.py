# SPDX-License-Identifier: BSD-3-Clause
"""The options of `huddle bench`, including those of IMB and OSU, and their meaning."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

from ..common import output_files, validators
from ..common.command_line import Argument, Option
from ..common.exit_status import BAD_USE
from ..common.layout import CliError
from ..common.options import MAX_STARTED, real, sizes_of, span, whole
from ..common.types import Options
from . import plan
from .synonyms import SYNONYMS, positive

EXAMPLES = (
    """examples:
  huddle bench                                         first MPI found, without and with huddle, 2 ranks
  huddle bench bcast --bytes 8:16M --ranks 2,8 --against ompi4,ompi4-sm,mpich5,intel --png bcast.png
  huddle bench barrier --algorithm all --bare           every barrier, compared with plain flags
  huddle bench IMB-MPI1 Bcast -off_cache 20,64 -iter 1000 -msglog 6:24 -root_shift 1
  huddle bench osu_bcast -m 8:1048576 -i 1000 -x 100 -f
  huddle bench reduce --ranks 4 --compare "gather fragment=8K" --compare tree
  huddle bench --summary --quick --csv figures.csv      how huddle compares here, in five minutes

Ctrl-C ends the running launch and prints the figures measured so far.
"""
    + output_files.HELP
)

LAUNCHES, FIGURE_MS = 5, 40
CANDIDATE = "ALGORITHM [PARAMETER=VALUE ...] [HUDDLE_SETTING=VALUE ...]; own: huddle's choice"


def list_of(kind: Any) -> Callable[..., Any]:
    def parse(text: str) -> list[int | str]:
        return [kind(part) for part in text.split(",")]

    parse.__name__ = "list"
    return parse


def place(text: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if not equals or not os.path.exists(path):
        raise validators.argument(text, "NAME=PLACE, a launcher or the folder whose bin holds it")
    return name, os.path.abspath(path)


MPI_PLACES = Option(
    "--place",
    "places",
    multiple=True,
    type=place,
    metavar="NAME=PLACE",
    help=("an MPI that is not on PATH: its mpirun or mpiexec, or the folder that contains its bin"),
)

WHAT = (
    Argument(
        "collectives",
        nargs=-1,
        metavar="COLLECTIVE",
        help=(
            "barrier, bcast, reduce, allreduce, ... (default: all); osu_bcast, osu_ibcast and"
            " IMB-MPI1 Bcast are accepted too; sizes are bytes of the message, for alltoall bytes"
            " from one rank to one rank"
        ),
    ),
    Option(
        "--bytes",
        type=sizes_of,
        metavar="SIZES",
        help="8,1K,1M or 8:4M (powers of two) or 8:4M:8 (default: 8:2M:8)",
    ),
    Option(
        "--ranks",
        type=list_of(whole(2, MAX_STARTED)),
        metavar="N,...",
        help="numbers of ranks, such as 2,8 (default: 2; with --summary several)",
    ),
    Option(
        "--bind",
        choices=("core", "none"),
        default="core",
        help="core: one core per rank if there are enough (default); none: ranks are not bound",
    ),
    Option(
        "--way",
        choices=("blocking", "nonblocking"),
        help="blocking calls (default), or nonblocking calls that MPI_Wait completes at once",
    ),
    Option("--root", type=whole(), default=0, metavar="N", help="root of broadcasts (default: 0)"),
    Option("--root-shift", is_flag=True, help="use the next rank as the root in each call"),
    Option(
        "--cold/--warm",
        "--off-cache",
        default=False,
        help="flush the buffers from the caches before each call; --warm: do not flush (default)",
    ),
    Option(
        "--skew",
        type=positive,
        metavar="US",
        help=(
            "let ranks arrive at random times within US microseconds; a call is"
            " timed from the last arrival"
        ),
    ),
    Option(
        "--late",
        type=positive,
        metavar="US",
        help=(
            "delay a different rank by US microseconds in each call; also print the"
            " mean processor time of a rank"
        ),
    ),
)


SUMMARY = (
    Option(
        "--summary",
        is_flag=True,
        help=(
            "print a summary by collective and class of cache-line transfer: gains over the"
            " fastest MPI found, and over the same MPI without huddle. Measures 2 ranks in"
            " several placements, and more ranks than cores; takes about 30 minutes, at most"
            f" {plan.FULL.minutes}"
        ),
    ),
    Option(
        "--quick",
        is_flag=True,
        help=f"with --summary: fewer sizes and ranks, at most {plan.QUICK.minutes} minutes",
    ),
    Option(
        "--minutes",
        type=real(0, 10000),
        metavar="M",
        help="with --summary: time limit in minutes; no launch is started that would end later",
    ),
    Option(
        "--add",
        multiple=True,
        metavar="FILE",
        help=(
            "with --summary: include the figures of an earlier summary, from the FILE of its --csv"
        ),
    ),
)


WHOM = (
    Option(
        "--mpi",
        "hosts",
        type=list_of(str),
        metavar="MPI,...",
        help="MPIs to run huddle with (default: the first found)",
    ),
    Option(
        "--against",
        type=list_of(str),
        metavar="PEER,...",
        help=(
            "MPIs to compare with: ompi4, ompi5, mpich4, mpich5, intel; Open MPI's components"
            " ompi4-sm and -han; algorithms of its coll/tuned: -linear, -doublering, -recursive,"
            " -bruck, -tree, -pipeline, -ring, -rabenseifner, -pairwise (default: the MPIs of"
            " --mpi without huddle; none: no peer)"
        ),
    ),
    MPI_PLACES,
    Option(
        "--algorithm",
        metavar="NAME",
        help="force one of huddle's algorithms; all: measure each of them",
    ),
    Option(
        "--set",
        multiple=True,
        metavar="NAME=VALUE",
        help="a setting of huddle, for example HUDDLE_LEASE=1M (see huddle settings)",
    ),
    Option(
        "--compare",
        multiple=True,
        metavar="CANDIDATE",
        help=(
            "compare candidates without MPI, in turn on one team, as gains over the first"
            f" candidate: {CANDIDATE}. 'huddle settings --lab' prints the parameters"
        ),
    ),
    Option(
        "--bare",
        is_flag=True,
        help=(
            "also measure simple implementations of barrier, bcast, allreduce "
            "and alltoall without MPI or huddle: flags, a ring of buffers (the "
            "best of several), windows"
        ),
    ),
)


HOW = (
    Option(
        "--launches",
        type=positive,
        metavar="N",
        help=(
            f"number of launches of each variant, in turn (default: {LAUNCHES}; fewer give no"
            " confidence intervals)"
        ),
    ),
    Option(
        "--figure-ms",
        type=positive,
        metavar="MS",
        help=f"time to measure a figure in a launch, in ms (default: {FIGURE_MS})",
    ),
    Option("--shots", type=positive, metavar="N", help="make exactly N calls per figure"),
    Option(
        "--warmups",
        type=whole(),
        default=3,
        metavar="N",
        help="uncounted calls before a figure (default: 3)",
    ),
    Option(
        "--loop",
        type=positive,
        metavar="N",
        help=(
            "N back-to-back calls are one sample, as in IMB and OSU (default: single calls from a"
            " common start)"
        ),
    ),
    Option(
        "--limit",
        type=positive,
        metavar="S",
        help="time limit of one launch, in seconds (default: computed from its calls)",
    ),
)


OUTPUT = (
    Option(
        "--details",
        is_flag=True,
        help=(
            "print a line per size and variant: confidence interval, p99, min, avg, max, launches"
        ),
    ),
    *(
        Option(f"--{kind}", metavar="FILE", help=words)
        for kind, words in (
            ("csv", "write a row for each figure of each launch"),
            ("json", "write rows, figures, and a description of the machine and the command"),
            ("columns", "write bytes and medians in plain columns, for a plotting program"),
            ("png", "draw a plot"),
            ("html", "write one file with tables, plots, and the description of the machine"),
        )
    ),
)


PARAMETERS = (*WHAT, *WHOM, *HOW, *OUTPUT, *SUMMARY, *SYNONYMS)


def nonblocking(word: str, known: list[str]) -> bool:
    """Returns whether a name is a nonblocking collective's, such as ibcast."""
    return word not in known and word[:1] == "i" and word[1:] in known


def collectives_of(words: list[str], known: list[str]) -> tuple[list[str], str | None]:
    """
    Returns the collectives in huddle's spelling and order, and how the names say that calls are
    made.
    """
    asked = {re.sub(r"^osu_", "", word.lower()) for word in words if word.upper() != "IMB-MPI1"}
    starts = {word for word in asked if nonblocking(word, known)}
    if starts and starts != asked:
        raise CliError(
            f"bench: {', '.join(sorted(asked))}: blocking and nonblocking calls (accepted: one of"
            " both)",
            BAD_USE,
        )
    wanted = {word[1:] for word in starts} or asked
    unknown = wanted - set(known)
    if unknown:
        raise CliError(
            f"bench: no such collective: {', '.join(sorted(unknown))} (accepted:"
            f" {', '.join(known)})",
            BAD_USE,
        )
    names = [name for name in known if name in wanted or not wanted]
    return names, "nonblocking" if starts else None


def settle(options: Options, known: list[str]) -> Options:
    """Resolves synonyms and defaults.  known: the names of all collectives."""
    if options.skew and options.late:
        raise CliError("--late: not with --skew (accepted: one of the two)", BAD_USE)
    if options.summary:
        plan.settle(options, known)
    elif word := plan.own_word(options):
        raise CliError(f"bench: {word}: only with --summary", BAD_USE)
    options.collectives, way = collectives_of(options.collectives, known)
    if way and options.way == "blocking":
        raise CliError(
            "bench: --way blocking: not possible with names of nonblocking calls", BAD_USE
        )
    options.way = options.way or way or "blocking"
    options.ranks = options.ranks or [2]
    options.launches = options.launches or LAUNCHES
    options.figure_ms = options.figure_ms or FIGURE_MS
    if options.way != "blocking" and (options.compare or options.bare):
        raise CliError(
            f"bench: --way {options.way}: not possible with --compare or --bare", BAD_USE
        )
    if not options.summary:  # a summary has sizes of its own for each number of ranks
        options.bytes = options.bytes or sizes_of("8:2M:8")
    if options.zero_size and options.bytes and 0 not in options.bytes:
        options.bytes = [0, *options.bytes]
    options.cold = options.cold or (options.off_cache not in (None, "0"))
    options.details = options.details or options.full is not None
    if options.npmin:
        options.ranks = span(options.npmin, max(options.ranks), 2)
    if not 0 <= options.root < min(options.ranks):
        raise CliError(
            f"--root {options.root}: not possible (accepted: 0 to {min(options.ranks) - 1})",
            BAD_USE,
        )
    return options


def call_words(options: Options, collectives: list[str], sizes: list[int]) -> list[str]:
    """Returns the measuring program's options that say which calls to make."""
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


def program_words(options: Options, collectives: list[str], sizes: list[int]) -> list[str]:
    """Returns the measuring program's options: which calls to make, and how to measure them."""
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
