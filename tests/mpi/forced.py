# SPDX-License-Identifier: BSD-3-Clause
"""Cases made from the output of `huddle info --json`: every algorithm in turn."""

import os
import pathlib
import re

from cases import (
    ALL,
    BOTH,
    COLLECTIVES,
    LEFT,
    NO_CMA,
    NOT_MPICH_4,
    PROGRAMS,
    Case,
    every,
    fixed,
    on_ranks,
)
from wrappers import fake_xpmem

# Intel MPI's own MPI_Allgather_c crashes in this program, without huddle too (2021.19).  Large
# blocks fall back to it if only `inline` may serve.
NOT_INTEL = tuple(mpi for mpi in ALL if mpi != "intel")

PROGRAM_OF = {
    collective: program
    for program, collectives in COLLECTIVES.items()
    for collective in collectives
}


def in_tree():
    """Returns (collective, name) of all algorithms, of the laboratory too if the tree has it."""
    tables = pathlib.Path(__file__).resolve().parents[2].glob("*/alg/alg.def")
    text = "".join(path.read_text(encoding="utf-8") for path in tables)
    return re.findall(r"^ALG\((\w+), (\w+)\)", text, re.MULTILINE)


def corners(parameter):
    """Returns the ends of a parameter's range, or each of its words."""
    return parameter["words"] or sorted({parameter["min"], parameter["max"]})


def setting_of(collective):
    return f"HUDDLE_{collective.upper()}"


def parameter_of(collective, algorithm, parameter):
    return f"HUDDLE_LAB_{collective}_{algorithm}_{parameter}".upper()


def in_vain(collective, name, why):
    """Returns the line about an algorithm that serves no call."""
    setting = f"{setting_of(collective)}={name}"
    return rf"{setting} does not serve \d+ ranks: {why}; using .* own {collective}"


UNREACHED = r"the ranks cannot reach each other's memory \(HUDDLE_CMA=\w+, HUDDLE_XPMEM=\w+\)"


def refused(collective, name):
    """
    Yields cases of algorithms that need single copy, on a rank without permission for single copy:
    from the start, for writing only, or after a while; or where another setting forbids single
    copy.
    """
    env = {setting_of(collective): name, **NO_CMA}

    def case(when, **more):
        return Case(
            "algorithms",
            f"{collective} {name} with single copy {when}",
            **{
                "mpis": NOT_MPICH_4,
                "ranks": 3,
                "command": PROGRAMS[PROGRAM_OF[collective]],
                "env": env,
                "collectives": (collective,),
                **more,
            },
        )

    def forbid(calls):
        return on_ranks("-eq 1", "{tools}/forbid", calls)

    # Communicators without this rank may use it.
    full = collective not in ("bcast", "allreduce")  # two programs represent all three
    yield case(
        "refused to one rank",
        again=collective != "bcast",
        each=forbid("process_vm_readv,process_vm_writev"),
        passed="no algorithm",
        says=[in_vain(collective, name, UNREACHED)],
    )
    yield case(
        "off",
        env={**env, "HUDDLE_CMA": "off"},
        handled=False,
        passed="no algorithm",
        also_passed=("one rank", *LEFT),
        says=[in_vain(collective, name, UNREACHED)],
        full=full,
        again=collective != "allreduce",
    )
    yield case(
        "refused for writing",
        full=full,
        again=collective != "bcast",
        each=forbid("process_vm_writev"),
        handled=True,
        also_passed=("one rank", *LEFT),
    )
    if collective == "bcast":
        yield case(
            "refused to one rank, own choice",
            ranks=2,
            env=NO_CMA,
            each=forbid("process_vm_readv,process_vm_writev"),
            handled=True,
        )
        yield case("and truncation, 2 ranks", ranks=2, command=["{bin}/truncate"], handled=True)
        yield case(
            "refused by and by, 2 ranks",
            ranks=2,
            command=["{bin}/denied"],
            handled=True,
            again=True,
        )
        yield case("refused by and by, 5 ranks", ranks=5, command=["{bin}/denied"], handled=True)


# The parameter for the minimum size of blocks that the kernel copies.
KERNEL_BLOCKS = "cma"


def blocks_refused(algorithms):
    """
    Yields cases of algorithms that let the kernel copy only large blocks, where the kernel refuses.
    These blocks must be copied like the others, and every call must be handled.
    """
    able = [
        algorithm
        for algorithm in algorithms
        if KERNEL_BLOCKS in (parameter["name"] for parameter in algorithm["parameters"])
    ]
    for choice in in_turn(able):
        env = dict(NO_CMA)
        for collective, name in choice.items():
            force = setting_of(collective)
            env[force] = name
            env[parameter_of(collective, name, KERNEL_BLOCKS)] = "2K"

        def case(when, **more):
            return Case(
                "algorithms",
                f"{words(choice)}, blocks by single copy {when}",
                **{
                    "mpis": NOT_MPICH_4,
                    "ranks": 3,
                    "command": ["{bin}/denied"],
                    "env": env,
                    "collectives": tuple(choice),
                    "handled": True,
                    **more,
                },
            )

        each = on_ranks("-eq 1", "{tools}/forbid", "process_vm_readv,process_vm_writev")
        yield case("refused by and by")
        yield case("refused by and by, 2 ranks", ranks=2, again=True)
        yield case("refused by and by, 5 ranks", ranks=5, again=True)
        yield case("refused to one rank", each=each, command=PROGRAMS["gathers"])
        yield case("off", env={**env, "HUDDLE_CMA": "off"}, again=True)


def mapped(collective, name):
    """
    Yields the same cases with XPMEM's mappings, by a fake of its library: without the kernel's
    copies, unless it fails on a rank or on all.
    """

    def case(when, more_env=None, **more):
        env = {setting_of(collective): name, "HUDDLE_XPMEM": "copy"}
        return Case(
            "algorithms",
            f"{collective} {name} by mappings{when}",
            **{
                "mpis": ("ompi4", "mpich4"),
                "ranks": 3,
                "command": smaller(PROGRAM_OF[collective]),
                "env": {**env, "FAKE_XPMEM_COPIES": "1", "HUDDLE_CMA": "off", **(more_env or {})},
                "collectives": (collective,),
                "each": fake_xpmem(),
                "handled": True,
                "also_passed": ("one rank", *LEFT),
                **more,
            },
        )

    on_one = "-eq 1"
    yield case("", full=collective not in ("bcast", "allreduce", "alltoall"))
    if collective != "bcast":
        return
    yield case(", 5 ranks", ranks=5, again=True)
    for what in ("make", "get", "attach"):
        each = fake_xpmem(what, on_one)
        yield case(
            f" that fail on a rank ({what}), by the kernel",
            {"HUDDLE_CMA": "on"},
            each=each,
            again=what != "get",
        )
        yield case(
            f" that fail on a rank ({what})",
            each=each,
            handled=None,
            passed="no algorithm",
            says=[in_vain(collective, name, UNREACHED)],
            again=what != "attach",
        )
    yield case(" that fail after a while", each=fake_xpmem("late"))
    yield case(" that fail after a while on a rank", each=fake_xpmem("late", on_one))
    # Kept mappings.  The fake maps private memory as missing pages, which cause SIGBUS.  If it
    # cannot map other ranks' files either, the kernel copies.
    kept = {"HUDDLE_XPMEM": "keep", "FAKE_XPMEM_COPIES": "", "HUDDLE_CMA": "on"}
    yield case(" of what is not there", kept)


def in_turn(algorithms):
    """Yields choices of one algorithm per collective, until each algorithm has been chosen."""
    names = {}
    for algorithm in algorithms:
        names.setdefault(algorithm["collective"], []).append(algorithm["name"])
    for turn in range(max(map(len, names.values()), default=0)):
        yield {collective: of[turn % len(of)] for collective, of in names.items()}


def preferred(choice):
    """
    Returns settings for a tuning file that selects each collective's algorithm for all accepted
    calls.  The usual algorithm serves the other calls.
    """

    def prepare(folder):
        with open(os.path.join(folder, "tuning.rules"), "w") as file:
            file.writelines(f"{collective} -> {name}\n" for collective, name in choice.items())

    return dict(prepare=prepare, each=every("env", "HUDDLE_TUNING={folder}/tuning.rules"))


def words(choice):
    return ", ".join(f"{collective} {name}" for collective, name in choice.items())


def smaller(program):
    """
    Returns a program with smaller reductions on oversubscribed ranks, since every rank computes all
    contributions.
    """
    return (
        [*PROGRAMS[program], "--most", "150000"] if program == "reductions" else PROGRAMS[program]
    )


def forced(algorithms, single_copy):
    """
    Yields cases that force each algorithm alone, with a single algorithm of each other collective
    of its program; in full tests with each parameter at its limits.  Unaccepted calls fall back to
    the MPI, as do calls with single copy if the kernel forbids single copy.
    """

    def case(program, name, env, **more):
        return Case(
            "algorithms",
            name,
            env=env,
            **{"command": smaller(program), "collectives": COLLECTIVES[program], **more},
            also_passed=("one rank", "no algorithm", *LEFT),
            may_say=[r"HUDDLE_\w+=\w+ does not serve \d+ ranks: .* own"] * len(env),
        )

    here = [algorithm for algorithm in algorithms if single_copy or not algorithm["direct"]]
    for program, collectives in COLLECTIVES.items():
        turns = in_turn([algorithm for algorithm in here if algorithm["collective"] in collectives])
        for turn, choice in enumerate(turns):
            env = {setting_of(collective): name for collective, name in choice.items()}
            more, whole = dict(handled=True, seconds=300), dict(command=PROGRAMS[program])
            if len(choice) < len(collectives):
                more["collectives"] = tuple(choice)
            yield case(
                program,
                f"{words(choice)}, 3 ranks",
                env,
                mpis=("mpich4",),
                ranks=3,
                again=turn > 0,  # the unit test of all collectives has every algorithm
                **more,
                **whole,
            )
            yield case(
                program,
                f"{words(choice)}, 8 ranks",
                env,
                mpis=("ompi4",),
                ranks=8,
                full=True,
                **more,
            )
            yield case(
                program,
                f"{words(choice)}, 2 ranks",
                env,
                mpis=NOT_INTEL if choice.get("allgather") == "inline" else ALL,
                ranks=2,
                bind=True,
                full=True,
                **more,
                **whole,
            )
            yield case(
                program, f"{words(choice)}, 13 ranks", env, mpis=BOTH, ranks=13, full=True, **more
            )
    reductions = COLLECTIVES["reductions"]
    turns = in_turn([algorithm for algorithm in here if algorithm["collective"] in reductions])
    for turn, choice in enumerate(turns):
        again = turn > 0
        yield fixed(f"fixed, {words(choice)}", ("ompi4",), 5, again=again, **preferred(choice))
        yield Case(
            "order",
            f"as it comes, {words(choice)}",
            ("ompi4",),
            4,
            ["{bin}/order", "--brief"],
            again=again,
            **preferred(choice),
        )
    for algorithm in here:
        if algorithm["direct"]:
            yield from refused(algorithm["collective"], algorithm["name"])
            yield from mapped(algorithm["collective"], algorithm["name"])
    yield from blocks_refused(here if single_copy else [])
    for algorithm in algorithms:
        force = setting_of(algorithm["collective"])
        for parameter in algorithm["parameters"]:
            setting = parameter_of(algorithm["collective"], algorithm["name"], parameter["name"])
            for value in corners(parameter):
                yield case(
                    PROGRAM_OF[algorithm["collective"]],
                    f"{setting}={value}",
                    {force: algorithm["name"], setting: str(value)},
                    mpis=("ompi4",),
                    ranks=5,
                    seconds=300,
                    full=True,
                )
