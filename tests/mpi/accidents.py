# SPDX-License-Identifier: BSD-3-Clause
"""
Cases of run.py: accidents at the start of a job on two nodes, with the default settings.  All ranks
reach the same verdict, so that no job hangs and no result is wrong.
"""

from cases import ALL, BOTH, NODES, OPEN, Case, nodes_exist
from wrappers import every, odd, on_ranks, one_namespace

OTHER_NODE = "-ge 2"
OWN = r"own collectives"


def accident(
    name, each, mpis=BOTH, command=("{bin}/differential", "--brief", "--most", "5000"), **more
):
    return Case(
        "nodes",
        f"accident: {name}",
        mpis,
        4,
        list(command),
        launch=NODES,
        prepare=nodes_exist,
        seconds=60,
        each=each,
        **more,
    )


def differs(name, setting, mpis=BOTH, ranks=OTHER_NODE, **more):
    """Makes a case in which some ranks have an environment variable of another value."""
    return accident(name, on_ranks(ranks, "env", setting), mpis, handled=False, **more)


ACCIDENTS = [
    accident("no secret", every("env", "-u", "HUDDLE_JOB"), ALL, handled=True),
    accident("no secret on a node", on_ranks(OTHER_NODE, "env", "-u", "HUDDLE_JOB"), handled=True),
    accident(
        "another secret", on_ranks(OTHER_NODE, "env", "HUDDLE_JOB=" + 4 * "another"), handled=True
    ),
    accident(
        "a rank without huddle on each node",
        odd("env", "-u", "LD_PRELOAD"),
        passed="ranks without huddle here",
    ),
    accident("rank 0 without huddle", on_ranks("-eq 0", "env", "-u", "LD_PRELOAD"), ALL),
    differs(
        "huddle is off on a node", "HUDDLE=off", passed="switched off|ranks without huddle here"
    ),
    differs(
        "a bad setting on a node",
        "HUDDLE_BCAST=nonsense",
        passed="bad setting",
        says=[f"rank 2: HUDDLE_BCAST=nonsense .*{OWN}"],
    ),
    differs(
        "another value of HUDDLE_NODES on a node",
        "HUDDLE_NODES=on",
        ALL,
        passed="settings differ",
        says=[f"HUDDLE_NODES=auto on rank 0, HUDDLE_NODES=on on rank 2.*{OWN}"],
    ),
    differs(
        "one rank does not span nodes",
        "HUDDLE_NODES=off",
        ranks="-eq 3",
        passed="ranks without huddle here|settings differ",
        may_say=[f"HUDDLE_NODES=auto on rank 0, HUDDLE_NODES=off on rank 3.*{OWN}"],
    ),
    differs("calls are checked on a node", "HUDDLE_CHECK=on", passed="ranks without huddle here"),
    accident(
        "no shared memory on a node",
        on_ranks(OTHER_NODE, "{tools}/forbid", "memfd_create"),
        passed="no shared memory",
        handled=False,
        says=[f"rank 2 has no shared memory.*{OWN}"],
    ),
    accident(
        "no /proc on a node",
        one_namespace(OTHER_NODE, ["--mount"], "mount -t tmpfs none /proc"),
        OPEN,  # UCX of MPICH does not start there
    ),
    *[
        accident(
            f"a rank is killed {when}",
            every(),
            BOTH,
            ["{bin}/death", "allreduce", *more],
            fails=True,
            may_say=2 * ["rank 1 of .* has ended", "rank [023] of .* cannot continue its calls"],
        )
        for when, more in (("before its first call", ["--recover", "--first"]), ("in a call", []))
    ],
]
