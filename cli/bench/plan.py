# SPDX-License-Identifier: BSD-3-Clause
"""The plan of `huddle bench --summary`: its numbers of ranks, sizes and rounds, and its options."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from ..common.exit_status import BAD_USE
from ..common.layout import CliError
from ..common.types import Options

# shared: sizes where ranks outnumber the cores.  There a figure takes an MPI that does not yield up
# to seconds.
Plan = namedtuple("Plan", "minutes rounds figure_ms ranks bytes shared")
FULL = Plan(40, 4, 10, (2, 3, 4, 6, 8, 16), "8,128,1K,4K,16K,64K,256K,1M", "8,1K,4K,16K,64K,256K")
QUICK = Plan(5, 2, 8, (2, 4, 8), "8,1K,16K,64K,256K,1M", "8,1K,16K,256K")
COLLECTIVES = (
    "barrier bcast reduce allreduce reduce_scatter alltoall allgather gather scatter scan exscan"
).split()  # collectives whose blocks have one size
LOOP = 100  # calls back to back
ITS_OWN: tuple[tuple[str, Any], ...] = (
    ("quick", False),
    ("minutes", None),
    ("add", []),
)  # options; as they are unless given
# Options that it leaves out: it has these ways to call itself, or no such output.
OTHERS = (
    *("compare", "bare", "algorithm", "details", "full", "npmin", "zero_size", "root"),
    *("root_shift", "loop", "skew", "late", "columns", "png", "html"),
)


def own_word(options: Options) -> str | None:
    """Returns the first option that only --summary accepts, or None."""
    return next((f"--{name}" for name, unset in ITS_OWN if getattr(options, name) != unset), None)


def of(options: Options) -> Plan:
    return QUICK if options.quick else FULL


def settle(options: Options, known: list[str]) -> None:
    """Checks the options, and sets what the user does not."""
    word = next((name for name in OTHERS if getattr(options, name)), None)
    if word or options.bind != "core":
        word = f"--{word.replace('_', '-')}" if word else f"--bind {options.bind}"
        raise CliError(f"bench: --summary and {word} exclude each other", BAD_USE)
    plan = of(options)
    options.ranks = options.ranks or list(plan.ranks)
    options.launches = options.launches or plan.rounds
    options.figure_ms = options.figure_ms or plan.figure_ms
    options.minutes = plan.minutes if options.minutes is None else options.minutes
    options.collectives = options.collectives or [name for name in COLLECTIVES if name in known]
