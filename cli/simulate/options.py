# SPDX-License-Identifier: BSD-3-Clause
"""The options of huddle simulate, and which of them have a meaning together."""

from ..common import machines, network, places, repetitions
from ..common.collectives import HELP
from ..common.layout import Trouble
from ..common.options import MAPS, real, sizes_of, whole

SIZES, PAIR_SIZES = (
    "8:1M:8",
    "8:32K:8",
)  # bytes of a message; bytes of a block from each rank to each
MAX_SKEW_NS = 1e9
OPTIONS = ("ranks", "bytes", "root", "repetitions", "warmup", "seed")  # by the names of the request


def add_arguments(parser):
    parser.add_argument("collective", nargs="?", default="bcast", help=HELP)
    parser.add_argument(
        "--machine",
        default=machines.THIS,
        metavar="NAME",
        help=(
            "a described machine, or a file NAME.toml; list: print the known ones (default: this"
            " machine, as described by huddle tune --machine)"
        ),
    )
    parser.add_argument(
        "--ranks",
        type=whole(2),
        metavar="N",
        help="number of ranks, one core per rank (default: all cores)",
    )
    parser.add_argument(
        "--nodes",
        type=whole(2),
        metavar="N",
        help="N such machines instead, over a network; --ranks: of all of them together",
    )
    parser.add_argument(
        "--network",
        type=network.network_of,
        metavar="ALPHA,BETA,OVERHEAD",
        help=(
            "with --nodes: ns of a message, of a byte, of one more message (default: as described,"
            f" else of the tuning file; else {network.USUAL_TEXT})"
        ),
    )
    parser.add_argument(
        "--map",
        choices=[name for name in MAPS if name != "none"],
        default="core",
        help="bind ranks to cores in turn, or in turn over NUMA nodes or sockets (default: core)",
    )
    parser.add_argument(
        "--bytes",
        type=sizes_of,
        metavar="SIZES",
        help=(
            "sizes of the message, or of a block from one rank to one rank: 8,1K,1M or 8:4M:8"
            f" (default: {SIZES}; blocks {PAIR_SIZES})"
        ),
    )
    parser.add_argument(
        "--algorithm",
        metavar="NAMES",
        help="algorithms, separated by commas; all: each of them (default: huddle's choice)",
    )
    parser.add_argument(
        "--param",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of the algorithm, if there is only one",
    )
    parser.add_argument(
        "--alternate",
        metavar="COLLECTIVE[/ALGORITHM]",
        help=(
            "before each call, one of this collective with as many bytes, which does not count:"
            " shows what it costs to take the team's window over from another algorithm"
        ),
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help=(
            "a setting of huddle, for example HUDDLE_LEVELS_OFF=group,socket (see huddle settings)"
        ),
    )
    parser.add_argument(
        "--root", type=whole(), metavar="N", help="root, of collectives that have one (default: 0)"
    )
    parser.add_argument(
        "--method",
        choices=("single", "loop"),
        default="single",
        help=(
            "single: calls from a common start with fresh data, median of the slowest rank"
            " (default); loop: back-to-back calls, their mean"
        ),
    )
    parser.add_argument(
        "--repetitions",
        type=whole(),
        metavar="N",
        help=(
            f"number of counted calls (default: {repetitions.REPETITIONS}; {repetitions.RING} for"
            " messages up to 4 KB, a ring of lines)"
        ),
    )
    parser.add_argument(
        "--warmup",
        type=whole(),
        metavar="N",
        help=(
            "uncounted calls before them (default: until all buffers and lines of the algorithm"
            " have been used)"
        ),
    )
    parser.add_argument(
        "--skew",
        type=real(0, MAX_SKEW_NS),
        metavar="NS",
        help="ranks enter a single call at random within NS ns (default: 0)",
    )
    parser.add_argument(
        "--seed", type=whole(), default=1, metavar="N", help="seed of random numbers (default: 1)"
    )
    parser.add_argument(
        "--measure", action="store_true", help="also measure the same calls; only for this machine"
    )
    parser.add_argument(
        "--timeline",
        action="store_true",
        help="print what each rank does when, the waits, and the critical path, of the last call",
    )
    parser.add_argument(
        "--png",
        metavar="FILE",
        help="draw the timeline; for several calls, their times over the size",
    )
    parser.add_argument("--json", action="store_true", help="print the simulator's answer as JSON")
    parser.epilog = (
        "A call takes from less than a second to minutes, longer for more ranks and longer"
        " messages; a table takes the sum of its calls. If a parameter (fragment, budget) is 0, the"
        f" algorithm computes it: huddle settings explains how. {places.HELP}"
    )


def parameters(words):
    found = dict(word.partition("=")[::2] for word in words if "=" in word)
    if len(found) != len(words):
        raise Trouble(
            f"--param {next((w for w in words if '=' not in w), words[-1])}: not valid"
            " (accepted: NAME=VALUE, each once)",
            2,
        )
    return found


def check_meaning(options, collective, rooted):
    """Refuses options that have no meaning for these calls."""
    if options.bytes and not collective.moves:
        raise Trouble(f"--bytes: {collective.unsized}", 2)
    if options.root is not None and not collective.rooted:
        raise Trouble(
            f"--root: {options.collective} has none (accepted: with {' and '.join(rooted)})", 2
        )
    if options.skew is not None and options.method == "loop":
        raise Trouble(
            "--skew: back-to-back calls have no common start (accepted: with --method single)", 2
        )
    if options.measure and options.skew is not None:
        raise Trouble(
            "--skew: the clock determines when measured ranks enter a call (accepted: without"
            " --measure)",
            2,
        )
    if options.measure and options.alternate:
        raise Trouble("--alternate: is not measured (accepted: without --measure)", 2)
    if options.measure and options.json:
        raise Trouble(
            "--measure: JSON has the simulator's answer only (accepted: without --json)", 2
        )
