# SPDX-License-Identifier: BSD-3-Clause
"""The options of huddle lab simulate, and which of them have a meaning together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.common import machines, network, output_files
from cli.common.collectives import HELP
from cli.common.command_line import Argument, Option
from cli.common.exit_status import BAD_USE
from cli.common.layout import CliError
from cli.common.options import MAPS, real, sizes_of, whole
from cli.common.types import Options

from .. import described, repetitions

if TYPE_CHECKING:
    from cli.common.collectives import Collective

SIZES, PAIR_SIZES = (
    "8:1M:8",
    "8:32K:8",
)  # bytes of a message; bytes of a block from each rank to each
MAX_SKEW_NS = 1e9
OPTIONS = ("ranks", "bytes", "root", "repetitions", "warmup", "seed")  # names of the request


MACHINE = Option(
    "--machine",
    default=machines.THIS,
    metavar="NAME",
    help=(
        "a described machine, or a file NAME.toml; list: print the known ones (default: this"
        " machine, as described by huddle lab machine)"
    ),
)
PARAMETERS = (
    Argument("collective", required=False, default="bcast", help=HELP),
    MACHINE,
    Option(
        "--ranks",
        type=whole(2),
        metavar="N",
        help="number of ranks, one core per rank (default: all cores)",
    ),
    Option(
        "--nodes",
        type=whole(2),
        metavar="N",
        help=(
            "simulate N such machines, connected by a network; --ranks is the "
            "number on all of them together"
        ),
    ),
    Option(
        "--network",
        type=described.network_of,
        metavar="ALPHA,BETA,OVERHEAD",
        help=(
            "with --nodes: ns of a message, of a byte, of one more message (default: as described,"
            f" else of the tuning file; else {network.USUAL_TEXT})"
        ),
    ),
    Option(
        "--map",
        choices=[name for name in MAPS if name != "none"],
        default="core",
        help="bind ranks to cores in turn, or in turn over NUMA nodes or sockets (default: core)",
    ),
    Option(
        "--bytes",
        type=sizes_of,
        metavar="SIZES",
        help=(
            "sizes of the message, or of a block from one rank to one rank: 8,1K,1M or 8:4M:8"
            f" (default: {SIZES}; blocks {PAIR_SIZES})"
        ),
    ),
    Option(
        "--algorithm",
        metavar="NAMES",
        help="algorithms, separated by commas; all: each of them (default: huddle's choice)",
    ),
    Option(
        "--param",
        multiple=True,
        metavar="NAME=VALUE",
        help="a parameter of the algorithm; only with a single algorithm",
    ),
    Option(
        "--alternate",
        metavar="COLLECTIVE[/ALGORITHM]",
        help=(
            "make an uncounted call of this collective, with the same number of"
            " bytes, before each call: its effect is the cost of taking over "
            "the team's window from another algorithm"
        ),
    ),
    Option(
        "--set",
        multiple=True,
        metavar="NAME=VALUE",
        help="a setting, for example HUDDLE_LAB_LEVELS_OFF=l2,socket (see huddle settings --lab)",
    ),
    Option(
        "--root",
        type=whole(),
        metavar="N",
        help="root of collectives that have a root (default: 0)",
    ),
    Option(
        "--method",
        choices=("single", "loop"),
        default="single",
        help=(
            "single: calls from a common start with fresh data, median of the slowest rank"
            " (default); loop: back-to-back calls, their mean"
        ),
    ),
    Option(
        "--repetitions",
        type=whole(),
        metavar="N",
        help=(
            f"number of counted calls (default: {repetitions.REPETITIONS}; {repetitions.RING} for"
            " messages up to 4 KB, a ring of lines)"
        ),
    ),
    Option(
        "--warmup",
        type=whole(),
        metavar="N",
        help=(
            "uncounted calls before them (default: until all buffers and lines of the algorithm"
            " have been used)"
        ),
    ),
    Option(
        "--skew",
        type=real(0, MAX_SKEW_NS),
        metavar="NS",
        help="ranks enter a single call at random within NS ns (default: 0)",
    ),
    Option(
        "--seed", type=whole(), default=1, metavar="N", help="seed of random numbers (default: 1)"
    ),
    Option(
        "--measure",
        is_flag=True,
        help="also measure the same calls; only possible for this machine",
    ),
    Option(
        "--timeline",
        is_flag=True,
        help=(
            "print what each rank does and when, its waits, and the critical path of the last call"
        ),
    ),
    Option(
        "--png",
        metavar="FILE",
        help="draw the timeline; for several sizes, a plot of time over size",
    ),
    Option("--json", is_flag=True, help="print the simulator's answer as JSON"),
)
EPILOG = (
    "A call takes from less than a second to minutes, longer for more ranks and longer"
    " messages; a table takes the sum of its calls. If a parameter (fragment, budget) is 0, the"
    f" algorithm computes it: 'huddle settings --lab' explains how. {output_files.HELP}"
)


def parameters(words: list[str]) -> dict[str, str]:
    found = dict(word.partition("=")[::2] for word in words if "=" in word)
    if len(found) != len(words):
        raise CliError(
            f"--param {next((w for w in words if '=' not in w), words[-1])}: not valid"
            " (accepted: NAME=VALUE, each once)",
            BAD_USE,
        )
    return found


def check_meaning(options: Options, collective: Collective, rooted: list[str]) -> None:
    """Refuses options that have no meaning for these calls."""
    if options.bytes and not collective.moves:
        raise CliError(f"--bytes: {collective.unsized}", BAD_USE)
    if options.root is not None and not collective.rooted:
        raise CliError(
            f"--root: {options.collective} has none (accepted: with {' and '.join(rooted)})",
            BAD_USE,
        )
    if options.skew is not None and options.method == "loop":
        raise CliError(
            "--skew: back-to-back calls have no common start (accepted: with --method single)",
            BAD_USE,
        )
    if options.measure and options.skew is not None:
        raise CliError(
            "--skew: the clock determines when measured ranks enter a call (accepted: without"
            " --measure)",
            BAD_USE,
        )
    if options.measure and options.alternate:
        raise CliError("--alternate: is not measured (accepted: without --measure)", BAD_USE)
    if options.measure and options.json:
        raise CliError(
            "--measure: JSON has the simulator's answer only (accepted: without --json)", BAD_USE
        )
