# SPDX-License-Identifier: BSD-3-Clause
"""
What `huddle bench` compares: MPIs as they are, Open MPI's own components and algorithms, huddle on
an MPI, its algorithms forced, the bare limit.
"""

from __future__ import annotations

import os
from collections import namedtuple
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..common import bad_settings, launching, peers, validators
from ..common.exit_status import BAD_USE
from ..common.layout import CliError, Layout
from ..common.types import Options
from .stats import BARE

if TYPE_CHECKING:
    from ..common.peers import Mpi


def tuned(**algorithms: Any) -> tuple[dict[str, str], list[str]]:
    """Returns the settings that choose algorithms of Open MPI's coll/tuned by number."""
    return {
        "coll_tuned_use_dynamic_rules": "1",
        **{f"coll_tuned_{name}_algorithm": str(number) for name, number in algorithms.items()},
    }, list(algorithms)


# What may follow Open MPI's name: its parameters, and the collectives that they concern (None:
# all).
FLAVOURS = {
    "sm": ({"coll_sm_priority": "99"}, None),
    "han": ({"coll_han_priority": "99"}, None),
    "linear": tuned(barrier=1, reduce=1, allreduce=1, alltoall=1),
    "doublering": tuned(barrier=2),
    "recursive": tuned(barrier=3, allreduce=3, reduce_scatter=2),
    "bruck": tuned(barrier=4, alltoall=3),
    "tree": tuned(barrier=6, reduce=5),
    "pipeline": tuned(reduce=3, bcast=3),
    "ring": tuned(allreduce=4, reduce_scatter=3),
    "rabenseifner": tuned(reduce=7, allreduce=6),
    "pairwise": tuned(alltoall=2),
}
RINGS = (
    "8192:16",
    "16384:16",
    "32768:4",
    "65536:4",
)  # fragments and buffers that the bare ring tries; the best of each size counts
PLAIN = ["barrier", "bcast", "allreduce", "alltoall"]  # collectives that have a bare form

# kind: "peer", "huddle" or BARE.  settings: those of huddle; only: the collectives that it is for.
Variant = namedtuple("Variant", "name kind mpi parameters settings only")


def named_by(options: Options) -> list[Any]:
    """Returns the MPIs named by --mpi, then those named by the environment."""
    pairs, found = list(options.places), []
    for word in filter(None, os.environ.get(peers.VARIABLE, "").split(":")):
        name, equals, place = word.partition("=")
        if not equals:
            raise CliError(f"{peers.VARIABLE}: {word!r}: expected NAME=PLACE:NAME=PLACE", BAD_USE)
        pairs.append((name, place))
    for name, place in pairs:
        found.append(peers.under(name, place))
        if found[-1] is None:
            raise CliError(
                f"--place {name}={place}: no mpirun or mpiexec there or in its bin that reports its"
                " MPI",
                BAD_USE,
            )
    return found


def peer_of(name: str, found: dict[str, Mpi]) -> Variant | str:
    """
    Returns a variant, or a text if the MPI was not found.  Raises CliError for an unknown name.
    """
    base, dash, flavour = name.partition("-")
    known = found[base].kind if base in found else base if base in peers.NAMES else None
    if not known or (dash and (flavour not in FLAVOURS or peers.abi(known) != "openmpi")):
        raise CliError(
            f"--against {validators.shown(name)}: no MPI that bench knows (accepted:"
            f" {', '.join(peers.NAMES)}, or with Open MPI ompi4-{', -'.join(FLAVOURS)})",
            BAD_USE,
        )
    if base not in found:
        return f"{name}: not found here (PATH, --place {base}=PLACE)"
    parameters, only = FLAVOURS[flavour] if dash else ({}, None)
    return Variant(name, "peer", found[base], parameters, {}, only)


def forced(options: Options, layout: Layout) -> list[tuple[str, dict[str, str], list[str] | None]]:
    """Returns [(words for the name, settings, collectives)] of --algorithm."""
    if not options.algorithm:
        return [("", {}, None)]
    table = [
        (row["collective"], row["name"])
        for row in layout.ask("info", "algorithms")
        if row["collective"] in options.collectives
    ]
    chosen = [row for row in table if options.algorithm in ("all", row[1])]
    if not chosen:
        raise CliError(
            f"--algorithm {options.algorithm}: no such algorithm (accepted:"
            f" {', '.join(f'{name} ({coll})' for coll, name in table)}, or all)",
            BAD_USE,
        )
    own_choice: list[tuple[str, dict[str, str], list[str] | None]] = (
        [("", {}, None)] if options.algorithm == "all" else []
    )
    return own_choice + [
        (f" {name}", {f"HUDDLE_{coll.upper()}": name}, [coll]) for coll, name in chosen
    ]


def hosts_of(options: Options, found: dict[str, Mpi]) -> list[str]:
    names = options.hosts or list(found)[:1]
    for name in names:
        if name not in found:
            raise CliError(
                f"--mpi {name}: not found here (PATH, --place {name}=PLACE); found:"
                f" {', '.join(found) or 'no MPI'}",
                BAD_USE,
            )
    if not names:
        raise CliError(
            "no MPI found: no mpirun or mpiexec on PATH reports an MPI; --place NAME=FOLDER names"
            " one"
        )
    return names


ABIS = ("openmpi", "mpich")
HOSTS = ("ompi4", "ompi5", "mpich5", "mpich4", "intel")  # the first of an ABI has huddle


def everything(options: Options, found: dict[str, Mpi], layout: Layout) -> None:
    """Fills in --summary: a front end of huddle for each ABI, and every MPI found here."""
    if options.hosts is None:
        able = [mpi for mpi in found.values() if has_front_end(layout, mpi)]
        able.sort(key=lambda mpi: (*HOSTS, mpi.kind).index(mpi.kind))
        first = {abi: [m.name for m in able if peers.abi(m.kind) == abi][:1] for abi in ABIS}
        options.hosts = [name for names in first.values() for name in names]
    if options.against is None:
        options.against = []
        for name, mpi in found.items():
            options.against += [name, f"{name}-sm"] if mpi.kind == "ompi4" else [name]


def choose(
    options: Options, layout: Layout, say: Callable[..., Any]
) -> tuple[list[Variant], list[Any]]:
    """
    Returns the variants in the order of their turns, and the names of missing peers.  Reports each
    missing peer by say(line).
    """
    settings = {**launching.unlearned(), **launching.settings_of(options.set, layout)}
    bad_settings.refuse(layout, **settings)
    found = peers.find(layout, named_by(options), os.path.join(layout.prefix, "peers"))
    if options.summary:
        everything(options, found, layout)
    hosts = hosts_of(options, found)
    variants: list[Variant] = []
    missing: list[str] = []
    for name in (
        hosts if options.against is None else [name for name in options.against if name != "none"]
    ):
        peer = peer_of(name, found)
        if isinstance(peer, str):
            say(peer)
            missing.append(name)
        elif peer.only is None or set(peer.only) & set(options.collectives):
            variants.append(peer)
    for host in hosts:
        suffix = f" on {host}" if len(hosts) > 1 else ""
        variants += [
            Variant(f"huddle{words}{suffix}", "huddle", found[host], {}, {**settings, **more}, only)
            for words, more, only in forced(options, layout)
        ]
    if options.bare:
        if not set(PLAIN) & set(options.collectives):
            named = ", ".join(options.collectives)
            raise CliError(
                f"bench: --bare: no plain form of {named} (accepted: {', '.join(PLAIN)})", BAD_USE
            )
        variants.append(Variant(BARE, BARE, None, {}, launching.unlearned(), PLAIN))
    return variants, missing


def has_front_end(layout: Layout, mpi: Mpi) -> bool:
    """Returns whether huddle was built for the MPI."""
    built = layout.front_ends()
    if peers.abi(mpi.kind) == "mpich":
        return "mpich" in built
    return any(name.startswith(f"openmpi-{mpi.kind.removeprefix('ompi')}.") for name in built)


def program(layout: Layout, variant: Variant) -> str:
    """Returns the path of a variant's measuring program.  Raises CliError if it was not built."""
    name = "bench-team" if variant.kind == BARE else f"bench-{peers.abi(variant.mpi.kind)}"
    path = os.path.join(layout.tools, name)
    if not os.path.exists(path):
        raise CliError(
            f"{path} is missing: huddle was built without mpicc.{peers.abi(variant.mpi.kind)}"
            if variant.mpi
            else f"{path} is missing"
        )
    return path


def command_of(
    layout: Layout, variant: Variant, ranks: int, bind: bool, words: list[str]
) -> tuple[list[str], dict[Any, Any]]:
    """Returns (command, environment) of one launch of the measuring program."""
    if variant.kind == BARE:
        return asked_of_team(layout, variant, ranks, bind, words)
    extra = [word for name, value in variant.parameters.items() for word in ("--mca", name, value)]
    command, env = peers.launch(variant.mpi, ranks, bind, extra)
    if variant.kind == "huddle":
        command = launching.with_huddle(variant.settings, command, layout)
    return [*command, program(layout, variant), *words], env


def asked_of_team(
    layout: Layout, variant: Variant, ranks: int, bind: bool, words: list[str]
) -> tuple[list[str], dict[str, str]]:
    """
    Returns (command, environment) of a launch in a team without an MPI, under the variant's
    settings.
    """
    return [
        program(layout, variant._replace(kind=BARE)),
        "--ranks",
        str(ranks),
        "--bind",
        "core" if bind else "none",
        *words,
    ], variant.settings
